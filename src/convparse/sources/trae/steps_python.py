"""Interactions and steps of the Python program of ``trae-agent``, to drafts, and the pieces that its ports share.

What comes in: a run and its arrays. What goes out: messages and the events of steps. Interactions and steps tell of the same
requests, but not one to one: a step with a response takes the next interaction, and only what it says otherwise is kept of it.
"""

from collections.abc import Iterator
from typing import Any, Final

from convparse._json import encode
from convparse.blocks import Block, ToolResult
from convparse.ledger import escape
from convparse.records import Usage
from convparse.sources._reading import Extra, json_of, make_call, make_result, make_text, make_usage, open_message
from convparse.sources.trae.fields import AGENT_STEP, INPUT, INTERACTION, KINDS, REQUESTED, RESPONSE, RESULT
from convparse.sources.trae.messages import read_content
from convparse.sources.trae.state import Draft, Opened, equal
from convparse.sources.trae.steps import decoded
from convparse.sources.trae.times import NEVER, When, read_time

ROLES: Final = {"system": "harness", "assistant": "model", "tool": "tool"}
_TOKENS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens", "reasoning_tokens")


def read_python(run: Opened, interactions: list[Any], steps: list[Any]) -> Iterator[Draft]:
    """Interactions in their order, each with the step that tells of it; steps without one where they stand."""
    given = [item for item in interactions if type(item) is dict]
    at = 0
    before = False
    for number, step in enumerate(steps):
        if type(step) is not dict:
            yield run.state.odd_event(step, "agent_step", run.place, None, f"/agent_steps/{number}")
            continue
        matched = step.get("llm_response") is not None and at < len(given)
        if matched:
            following = given[at + 1] if at + 1 < len(given) else None
            yield from _interaction(run, given[at], f"/llm_interactions/{at}", at == 0)
            yield from _step(run, step, f"/agent_steps/{number}", given[at], following)
            at += 1
        else:
            yield from _step(run, step, f"/agent_steps/{number}", given[at - 1] if at else None, None, True, not (at or before))
        before = True
    for number in range(at, len(given)):
        yield from _interaction(run, given[number], f"/llm_interactions/{number}", number == 0)
    for number, item in enumerate(interactions):
        if type(item) is not dict:
            yield run.state.odd_event(item, "llm_interaction", run.place, None, f"/llm_interactions/{number}")


def _interaction(run: Opened, value: dict[str, Any], at: str, first: bool) -> Iterator[Draft]:
    extra: Extra = {}
    item = run.state.open(value, INTERACTION, run.place, at, extra)
    when = time_of(item.first("timestamp", str, int, float))
    listed = item.first("input_messages", list)
    for number, asked in enumerate(listed or ()):
        yield _input(run, asked, f"{at}/input_messages/{number}", first)
    yield response_of(run, item, "response", when, extra)


def _input(run: Opened, value: Any, at: str, first: bool) -> Draft:
    """A message to the model: instructions, the prompt, a result of a tool, or what the program says in between."""
    if type(value) is not dict:
        return run.state.odd_event(value, "llm_message", run.place, None, at)
    extra: Extra = {}
    item = run.state.open(value, INPUT, run.place, at, extra)
    role = item.text("role")
    blocks = read_content(run.state, value.get("content"), run.place, f"{at}/content", extra)
    result = item.first("tool_result", dict)
    if value.get("tool_call") is not None:
        extra[f"{at}/tool_call"] = value["tool_call"]
    if result is not None:
        blocks.append(result_of(run, result, f"{at}/tool_result", extra))
        return message(run, at, role or "", "tool", blocks, NEVER, extra)
    if role == "user":
        return message(run, at, role, "human" if first else "harness", blocks, NEVER, extra, prompt=first)
    if role not in ROLES:
        item.name("trae/unknown-role", "role")
    return message(run, at, role or "", ROLES.get(role), blocks, NEVER, extra)


def result_of(run: Opened, value: dict[str, Any], at: str, extra: Extra) -> ToolResult:
    """What a tool gave: its output, and behind it what it wrote to stderr."""
    item = run.state.open(value, RESULT, run.place, at, extra)
    id, done, said, error = item.text("call_id"), item.first("success", bool), item.text("result"), item.text("error")
    parts = tuple(make_text(text) for text in (said, error) if text)
    full = json_of({"result": said, "error": error}) if said and error else None
    if not said and error:
        full = json_of({"error": error})
    return make_result(id, parts, None if done is None else not done, None, None, None, False, full)


def response_of(run: Opened, item: Opened, name: str, when: When, extra: Extra) -> Draft:
    """The model's answer to a request; without blocks where none is recorded."""
    at = f"{item.at}/{name}"
    value = item.first(name, dict)
    model = item.text("model") if "model" in item.fields.typed else None
    if value is None:
        if model is not None:
            extra[f"{item.at}/model"] = model
        return message(run, at, "assistant", "model", [], when, extra)
    response = run.state.open(value, RESPONSE, run.place, at, extra)
    named = response.text("model")
    if model is not None and named is not None and model != named:
        extra[f"{item.at}/model"] = model
    blocks = read_content(run.state, value.get("content"), run.place, f"{at}/content", extra)
    calls = response.first("tool_calls", list)
    for number, call in enumerate(calls or ()):
        blocks += _call(run, call, f"{at}/tool_calls/{number}", extra)
    if calls == []:
        extra[f"{at}/tool_calls"] = calls
    return message(
        run,
        at,
        "assistant",
        "model",
        blocks,
        when,
        extra,
        model=named or model,
        usage=_usage(run, response, extra),
        stop_reason=response.text("finish_reason"),
    )


def _call(run: Opened, value: Any, at: str, extra: Extra) -> list[Block]:
    id, name = (value.get(key) for key in ("call_id", "name")) if type(value) is dict else (None, None)
    if type(value) is not dict or type(name) is not str or not (id is None or type(id) is str):
        extra[at] = value
        run.state.ledger.part("unexpected-type", run.place, REQUESTED.at, record="tool_call", pointer=at)
        return []
    run.state.open(value, REQUESTED, run.place, at, extra)
    given = value.get("arguments")
    inner, same = decoded(given) if type(given) is str else (given, True)
    if inner is not None and not same:
        extra[f"{at}/arguments"] = given
    told = given if inner is None and type(given) is str else "" if given is None else json_of(inner)
    return [make_call(id, name, KINDS.get(name, "other"), told)]


def _usage(run: Opened, response: Opened, extra: Extra) -> Usage | None:
    """The tokens of a response; but for Anthropic's, the input holds what was read from the cache."""
    usage = response.first("usage", dict)
    if usage is None:
        return None
    asked, cached, made, wrote, thought = (usage.get(name) if type(usage.get(name)) is int else None for name in _TOKENS)
    known = dict(zip(_TOKENS, (asked, cached, made, wrote, thought), strict=True))
    extra.update({f"{response.at}/usage/{escape(k)}": v for k, v in usage.items() if known.get(k) is None})
    if asked is not None and cached is not None and cached <= asked and run.value.get("provider") != "anthropic":
        asked -= cached
    return make_usage(asked, cached, made, None, wrote, thought)


def _step(
    run: Opened,
    value: dict[str, Any],
    at: str,
    interaction: dict[str, Any] | None,
    following: dict[str, Any] | None,
    alone: bool = False,
    first: bool = False,
) -> Iterator[Draft]:
    """What a step says beyond its interaction; all of it where it has none."""
    extra: Extra = {}
    step = run.state.open(value, AGENT_STEP, run.place, at, extra)
    asked = step.first("llm_messages", list) or []
    results = step.first("tool_results", list) or []
    heard = {encode(item) for item in (*_inputs(interaction), *_inputs(following))}
    gave = {encode(result) for result in results}
    if alone:
        for number, item in enumerate(asked):
            given = item.get("tool_result") if type(item) is dict else None
            own = given is not None and encode(given) in gave
            if encode(item) in heard or (own and equal(item, {"role": "user", "content": None, "tool_result": given})):
                continue
            if own:
                extra[f"{at}/llm_messages/{number}"] = item
            else:
                yield _input(run, item, f"{at}/llm_messages/{number}", first)
        if value.get("llm_response") is not None:
            yield response_of(run, step, "llm_response", NEVER, extra)
    else:
        extra.update({f"{at}/llm_messages/{n}": item for n, item in enumerate(asked) if encode(item) not in heard})
        _compare(step, interaction or {}, extra)
    reply = value.get("llm_response")
    calls = reply.get("tool_calls") if type(reply) is dict else None
    if value.get("tool_calls") is not None and not equal(value["tool_calls"], calls):
        extra[f"{at}/tool_calls"] = value["tool_calls"]
    given = {encode(item.get("tool_result")) for item in _inputs(following) if type(item) is dict}
    for number, result in enumerate(results):
        here = f"{at}/tool_results/{number}"
        if encode(result) in given:
            continue
        if type(result) is dict:
            inside: Extra = {}
            block = result_of(run, result, here, inside)
            yield message(run, here, "user", "tool", [block], NEVER, inside)
        else:
            extra[here] = result
    yield _end(run, value, at, extra)


def _end(run: Opened, value: dict[str, Any], at: str, extra: Extra) -> Draft:
    """The event that closes a step: its error or reflection, and what stands nowhere else."""
    error, thought = value.get("error"), value.get("reflection")
    text = error if type(error) is str and error else thought if type(thought) is str and thought else None
    data = {pointer.removeprefix(f"{at}/"): item for pointer, item in extra.items()}
    when = time_of(value.get("timestamp"))
    event = run.state.event(
        "error" if error else "step",
        "agent_step",
        run.place,
        None,
        json_of(data) if data else None,
        at,
        text=text,
        timestamp=when[0],
        timestamp_origin=when[1],
        timestamp_text=when[2],
    )
    return Draft(event, "step", run.place, None)


def _inputs(interaction: dict[str, Any] | None) -> list[Any]:
    listed = interaction.get("input_messages") if interaction is not None else None
    return listed if type(listed) is list else []


def _compare(step: Opened, interaction: dict[str, Any], extra: Extra) -> None:
    """Keep of a step's response what is not in that of its interaction."""
    ours, theirs = step.value.get("llm_response"), interaction.get("response")
    if type(ours) is not dict or type(theirs) is not dict:
        if not equal(ours, theirs):
            extra[f"{step.at}/llm_response"] = ours
        return
    for key, item in ours.items():
        other = theirs.get(key)
        if key == "usage" and type(item) is dict and type(other) is dict and _is_part(item, other):
            continue
        if key not in theirs or not equal(item, other):
            extra[f"{step.at}/llm_response/{escape(key)}"] = item


def _is_part(usage: dict[str, Any], of: dict[str, Any]) -> bool:
    """True if every number of a usage stands in the other, which may hold more."""
    return all(key in of and equal(count, of[key]) for key, count in usage.items())


def time_of(value: Any) -> When:
    """A time of a run; without a zone it stays a text, and nobody is to blame."""
    return read_time(value) if type(value) in (int, float, str) and type(value) is not bool else NEVER


def message(
    run: Opened, at: str, role: str, author: str | None, blocks: list[Block], when: When, extra: Extra, **facts: Any
) -> Draft:
    """A message of a run; what stands in no record goes into ``extra``."""
    known = {key: facts.pop(key) for key in ("model", "usage", "stop_reason") if key in facts}
    key, origin = run.state.keys.count(None, role), run.state.origin(run.place, at)
    entry = open_message(key, None, role, author, tuple(blocks), *when, origin=origin, **known)
    entry.extra = json_of(extra) if extra else None
    return Draft(entry, "message", run.place, None, facts)
