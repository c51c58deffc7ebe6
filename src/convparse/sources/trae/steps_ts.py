"""Steps of the TypeScript port of ``trae-agent``: each repeats the whole talk before it, and one file may hold several runs.

The talk of a step begins with that of the step before; only what follows is new, and what of that the step before has said
already is passed over when it is exactly the same. Where the talk is shorter, another run begins. Results may lack the id of
their call: they then belong to the call in the same place.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from convparse._json import encode
from convparse.blocks import Block
from convparse.ledger import escape
from convparse.sources._reading import Extra, json_of, make_result, make_text
from convparse.sources.trae.cli import requested
from convparse.sources.trae.fields import TS_STEP
from convparse.sources.trae.messages import read_content
from convparse.sources.trae.state import Draft, Opened, equal
from convparse.sources.trae.steps import said_by
from convparse.sources.trae.steps_python import message
from convparse.sources.trae.times import NEVER, When, read_time

_ROLES = {"system": "harness", "user": "human", "assistant": "model", "tool": "tool"}


def read_steps(run: Opened, steps: list[Any]) -> Iterator[Draft]:
    """The drafts of all steps."""
    before: list[bytes] = []
    expected: Counter[bytes] = Counter()
    for number, value in enumerate(steps):
        at = f"/steps/{number}"
        if type(value) is not dict:
            yield run.state.odd_event(value, "step", run.place, None, at)
            continue
        extra: Extra = {}
        step = run.state.open(value, TS_STEP, run.place, at, extra)
        talk = step.first("messages", list) or []
        told = [encode(item) for item in talk]
        going_on = told[: len(before)] == before and number > 0
        begin = len(before) if going_on else 0
        if not going_on:
            expected.clear()
            if number:
                yield _begins(run, value, at)
        for place, item in enumerate(talk[begin:], begin):
            here = f"{at}/messages/{place}"
            if expected[told[place]] > 0:
                expected[told[place]] -= 1
            elif going_on and type(item) is dict and item.get("role") in ("assistant", "tool"):
                extra[here] = item
            else:
                yield _said(run, item, here)
        if step.value.get("task") is not None and not equal(value["task"], run.value.get("task")):
            extra[f"{at}/task"] = value["task"]
        yield from _did(run, step, extra)
        before, expected = told, Counter(encode(item) for item in _repeats(value))


def _begins(run: Opened, value: dict[str, Any], at: str) -> Draft:
    """The mark between two runs of one file."""
    task = value.get("task")
    event = run.state.event("session", "run", run.place, None, None, at, text=task if type(task) is str else None)
    return Draft(event, "run", run.place, None)


def _said(run: Opened, value: Any, at: str) -> Draft:
    role = value.get("role") if type(value) is dict else None
    if type(value) is not dict or type(role) is not str:
        return run.state.odd_event(value, "message", run.place, None, at)
    extra: Extra = {}
    blocks = read_content(run.state, value.get("content"), run.place, f"{at}/content", extra)
    if role not in _ROLES:
        pattern = "/steps/*/messages/*/role"
        run.state.ledger.part("trae/unknown-role", run.place, pattern, record="message", pointer=f"{at}/role")
    extra.update({f"{at}/{escape(key)}": item for key, item in value.items() if key not in ("role", "content")})
    return _message(run, at, role, blocks, NEVER, extra, role == "user")


def _message(run: Opened, at: str, role: str, blocks: list[Block], when: When, extra: Extra, prompt: bool = False) -> Draft:
    return message(run, at, role, _ROLES.get(role), blocks, when, extra, prompt=prompt)


def _did(run: Opened, step: Opened, extra: Extra) -> Iterator[Draft]:
    """What the model said in a step, and what its tools gave."""
    value = step.first("timestamp", int, float, str)
    when = read_time(value) if value is not None else NEVER
    said = step.text("llm_response_content")
    blocks: list[Block] = [make_text(said)] if said else []
    calls = step.first("tool_calls", list) or []
    blocks += requested(run.state, calls, run.place, f"{step.at}/tool_calls", extra)
    results = step.first("tool_results", list) or []
    yield _message(run, step.at, "assistant", blocks, when, extra)
    for number, result in enumerate(results):
        here = f"{step.at}/tool_results/{number}"
        inside: Extra = {}
        if type(result) is dict:
            call = calls[number] if number < len(calls) else None
            block = _result(result, call, here, inside)
            yield _message(run, here, "tool", [block], NEVER, inside)
        else:
            yield run.state.odd_event(result, "tool_result", run.place, None, here)


def _result(value: dict[str, Any], call: Any, at: str, extra: Extra) -> Block:
    id, done, told, error = (value.get(key) for key in ("tool_call_id", "success", "result", "error"))
    taken = {"result", "error"}
    if type(id) is str:
        taken.add("tool_call_id")
    else:
        id = call.get("id") if type(call) is dict and type(call.get("id")) is str else None
    if type(done) is bool:
        taken.add("success")
    extra.update({f"{at}/{escape(key)}": item for key, item in value.items() if key not in taken and item is not None})
    parts = [*said_by(told), *([error] if type(error) is str and error else [])]
    plain = type(told) is str and error is None
    full = None if plain else json_of({key: value[key] for key in ("result", "error") if key in value})
    failed = not done if type(done) is bool else None
    return make_result(id, tuple(make_text(part) for part in parts), failed, None, None, None, False, full)


def _repeats(value: dict[str, Any]) -> list[Any]:
    """The messages by which the next step will tell of this one."""
    calls, results = value.get("tool_calls"), value.get("tool_results")
    said = {"role": "assistant", "content": value.get("llm_response_content")}
    found: list[Any] = [{**said, "tool_calls": calls} if calls else said]
    for number, result in enumerate(results if type(results) is list else ()):
        call = calls[number] if type(calls) is list and number < len(calls) else None
        id = result.get("tool_call_id") if type(result) is dict else None
        id = id if id is not None else call.get("id") if type(call) is dict else None
        tools = (result, result.get("result")) if type(result) is dict else (result,)
        texts = [text for told in tools for text in (told if type(told) is str else None, _compact(told))]
        found += [{"role": "tool", "content": text, "tool_call_id": id} for text in texts]
    return found


def _compact(value: Any) -> str | None:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        return None
