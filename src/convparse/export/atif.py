"""ATIF, the Agent Trajectory Interchange Format of Harbor, version 1.7: one trajectory for every root conversation.

What comes in: a result. What goes out: a list of trajectories as plain dicts. A step is one thing said to the model, or one
response of it with its calls and what came of them; sub-agents are embedded, and the result of the call that started one refers
to it. What a record says beyond the fields of the format stands under ``extra``, which the format keeps for that: by the key of
the message, and the place in it.

Never done here: a trajectory holds one line of talk, so that events and messages that are not active are named as dropped.
Where the format demands what is not recorded (the agent's version, the id of a call), a stand-in is named.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import attrs

from convparse.blocks import Image, Json, Thinking, ToolCall, ToolResult
from convparse.export._account import NOT_ALLOWED, REWORDED, STAND_IN, Book, Export, Given, finish, jsonable, talks
from convparse.export._family import family, lineage
from convparse.export._steps import Step, call_ids, steps
from convparse.export._texts import address, has_text, joined, texts
from convparse.records import Usage
from convparse.result import ParseResult

VERSION: Final = "ATIF-v1.7"
"""What the trajectories say they are."""
IMAGES: Final = frozenset(f"image/{kind}" for kind in ("jpeg", "png", "gif", "webp"))
"""The pictures that the format knows."""
UNKNOWN: Final = "unknown"
"""The version of an agent where none is recorded."""
_SOURCES: Final = {"agent": "agent", "user": "user", "system": "system", "tool": "system"}
_APART: Final = frozenset({Thinking, ToolCall, ToolResult})
"""Blocks that have fields of their own."""

Plain: TypeAlias = dict[str, Any]


def export(result: ParseResult) -> Export[list[Plain]]:
    """The result as trajectories, in the order of the conversations, sub-agents inside the one that started them.

    Raises ``ConvparseError`` for anything but a ``ParseResult``.
    """
    book = Book()
    given = talks(result, book)
    lines = {talk: steps(talk) for talk in given}
    for talk in given:
        if not lines[talk] and talk.has_more:
            talk.leave(NOT_ALLOWED)  # a trajectory has at least one step
    roots, children = family(talk for talk in given if lines[talk])
    made: dict[Given, Plain] = {}
    for talk in reversed(list(lineage(roots, children))):
        made[talk] = _trajectory(talk, lines[talk], [made[child] for child in children[talk]])
    return finish([made[talk] for talk in roots], given, book)


def _trajectory(talk: Given, line: list[Step], within: list[Plain]) -> Plain:
    embedded = {child["trajectory_id"] for child in within}
    started: dict[str, list[str]] = {}
    for link in talk.record.links:
        if link.call_id is not None and link.id in embedded:
            started.setdefault(link.call_id, []).append(link.id)
    made = [_step(step, number, started) for number, step in enumerate(line, 1)]
    for step, plain in zip(line, made, strict=True):
        plain |= _some(extra={place: rest for message in step.begins for place, rest in _rests(message)})
    id = talk.take("id")
    return _some(
        schema_version=VERSION,
        session_id=id,
        trajectory_id=id,
        agent=_agent(talk),
        steps=made,
        final_metrics=_final_metrics(made),
        extra=talk.rest(),
        subagent_trajectories=within,
    )


def _some(**fields: Any) -> Plain:
    """The fields in which something stands."""
    return {name: value for name, value in fields.items() if value is not None and value not in ({}, [])}


def _rests(message: Given) -> Iterable[tuple[str, Plain]]:
    """What has no field, by key and pointer."""
    return ((message.record.key + pointer, rest) for pointer, rest in message.rests().items())


def _agent(talk: Given) -> Plain:
    context = talk.inner("context")
    version = None if context is None else context.take("version")
    if version is None:
        talk.name(STAND_IN, "context/version")
    extra = {} if context is None else context.rest()
    return _some(name=talk.take("source"), version=UNKNOWN if version is None else version, extra=extra)


# ---- steps -----------------------------------------------------------------------------------------------------------------


def _step(step: Step, number: int, started: dict[str, list[str]]) -> Plain:
    agent = step.speaker == "agent"
    calls = _calls(step)
    return _some(
        step_id=number,
        timestamp=_timestamp(step.begins),
        source=_SOURCES[step.speaker],
        model_name=_model(step.begins) if agent else None,
        reasoning_effort=_effort(step.begins) if agent else None,
        message=_content(block for block in step.blocks if type(block.record) not in _APART),
        reasoning_content=_reasoning(step.blocks),
        tool_calls=calls,
        observation=_some(results=_results(step, calls, started)),
        metrics=_metrics(step.begins) if agent else None,
        is_copied_context=_copied(step),
    )


def _timestamp(begins: list[Given]) -> str | None:
    """The first row's time; those of other rows stay with them."""
    return begins[0].take("timestamp").isoformat() if begins and begins[0].record.timestamp is not None else None


def _model(begins: list[Given]) -> str | None:
    """The model of the last row that names one, taken of all that name the same."""
    model = next((row.record.model for row in reversed(begins) if row.record.model is not None), None)
    for row in begins:
        row.take_if("model", model)
    return model


def _effort(begins: list[Given]) -> str | None:
    """The first row's; those of other rows stay with them."""
    context = begins[0].inner("context") if begins else None
    return None if context is None else context.take("effort")


def _reasoning(blocks: list[Given]) -> str | None:
    return joined(block for block in blocks if type(block.record) is Thinking and block.record.text) or None


def _copied(step: Step) -> bool | None:
    if not all(row.record.inherited for row in step.messages):
        return None
    for row in step.begins:
        row.take("inherited")
    return True


def _content(blocks: Iterable[Given]) -> str | list[Plain]:
    """What was said, as one text; in parts if there is a picture among it. What is neither stays with the rest."""
    shown = [block for block in blocks if has_text(block) or _is_picture(block)]
    if any(type(block.record) is Image for block in shown):
        return [part for block in shown for part in _parts(block)]
    return joined(shown)


def _is_picture(block: Given) -> bool:
    record = block.record
    return type(record) is Image and record.media_type in IMAGES and (record.data is not None or record.uri is not None)


def _parts(block: Given) -> Iterable[Plain]:
    if type(block.record) is Image:
        return ({"type": "image", "source": {"media_type": block.take("media_type"), "path": address(block)}},)
    return ({"type": "text", "text": text} for text in texts(block))


# ---- tools -----------------------------------------------------------------------------------------------------------------


def _calls(step: Step) -> list[Plain]:
    ids = call_ids(step)
    return [_call(call, id) for (call, _), id in zip(step.results, ids, strict=True)]


def _call(call: Given, id: str) -> Plain:
    name, arguments = call.take("name"), _arguments(call)
    return {"tool_call_id": id, "function_name": name, "arguments": arguments} | _some(extra=call.rest())


def _arguments(call: Given) -> Plain:
    """The arguments, which have to be an object; anything else becomes one, under ``input``."""
    given = call.take("input")
    value = given.value if isinstance(given, Json) else given
    if isinstance(value, dict):
        return value
    call.name(REWORDED, "input")
    return {"input": value}


def _results(step: Step, calls: list[Plain], started: dict[str, list[str]]) -> list[Plain]:
    """What came of the calls, in their order, with the sub-agents that they started; and results without a call."""
    found = [_result(block, None) for block in step.blocks if type(block.record) is ToolResult]
    for (call, results), plain in zip(step.results, calls, strict=True):
        id = plain["tool_call_id"]
        of_call = [_result(result, id) for result in results]
        if agents := started.pop(call.record.id, None):
            of_call = of_call or [{"source_call_id": id}]
            of_call[-1]["subagent_trajectory_ref"] = [{"trajectory_id": agent, "session_id": agent} for agent in agents]
        found += of_call
    return found


def _result(result: Given, id: str | None) -> Plain:
    if id is not None:
        result.take_if("call_id", id)
    content = _content(result.each("content"))
    return _some(source_call_id=id, extra=result.rest()) | {"content": content}


# ---- tokens ----------------------------------------------------------------------------------------------------------------

_TOTALS: Final[Mapping[str, str]] = {
    "prompt_tokens": "total_prompt_tokens",
    "completion_tokens": "total_completion_tokens",
    "cached_tokens": "total_cached_tokens",
    "cost_usd": "total_cost_usd",
}


def _metrics(begins: list[Given]) -> Plain | None:
    """The tokens of a response. Where several rows have some, the sum, and their own stay with them."""
    rows = [row for row in begins if row.record.usage is not None]
    if not rows:
        return None
    usage = rows[0].take("usage") if len(rows) == 1 else sum((row.record.usage for row in rows), Usage())
    read = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
    dollars = usage.cost_unit is not None and usage.cost_unit.lower() == "usd"
    held = {"output_tokens": None, "cache_read_tokens": None} | ({"cost": None} if dollars else {})
    return _some(
        prompt_tokens=None if read == [None] * 3 else sum(tokens for tokens in read if tokens is not None),
        completion_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
        cost_usd=usage.cost if dollars else None,
        extra=jsonable(attrs.evolve(usage, **held)),
    )


def _final_metrics(made: list[Plain]) -> Plain:
    totals: Plain = {}
    for metrics in (step["metrics"] for step in made if "metrics" in step):
        for name, total in _TOTALS.items():
            if name in metrics:
                totals[total] = totals.get(total, 0) + metrics[name]
    return totals | {"total_steps": len(made)}
