"""Calls and their results as events and completed items tell them, for where no item of the Responses API does.

What comes in: what was told, as read. What goes out: the call or the result. The texts are the product's; what was the model's
own call and what it saw are not recorded here.
"""

from typing import Any, Final, TypeAlias

from convparse.blocks import Image, Json, Part, Text, ToolCall, ToolResult
from convparse.sources._reading import json_of, make_result

Told: TypeAlias = dict[str, Any]

_KINDS: Final = {
    "exec_command_end": "execute",
    "CommandExecution": "execute",
    "patch_apply_end": "edit",
    "FileChange": "edit",
    "web_search_end": "search",
    "WebSearch": "search",
    "view_image_tool_call": "read",
    "ImageView": "read",
    "Extension": "search",
}
_INPUT: Final = {
    "exec_command_end": "command cwd",
    "CommandExecution": "command cwd",
    "patch_apply_end": "changes",
    "FileChange": "changes",
    "web_search_end": "query action",
    "WebSearch": "query action",
    "view_image_tool_call": "path",
    "ImageView": "path",
    "image_generation_end": "revised_prompt",
    "ImageGeneration": "revised_prompt",
    "Sleep": "duration_ms",
    "Extension": "kind query action",
}
_CALLED: Final = "invocation tool namespace arguments prompt receiver_thread_id receiver_thread_ids"
_OUTPUTS: Final = ("aggregated_output", "formatted_output", "stdout")


def call_of(told: Told, call_id: str | None) -> ToolCall:
    """The call that an event is about."""
    kind = str(told.get("type"))
    names = _INPUT.get(kind, _CALLED).split()
    invocation = told.get("invocation")
    name = invocation.get("tool") if type(invocation) is dict else told.get("tool")
    return ToolCall(
        call_id,
        name if type(name) is str else kind,
        _KINDS.get(kind, "other"),
        json_of({key: told[key] for key in names if key in told}),
    )


Outcome: TypeAlias = tuple[bool | None, int | None, float | None, str | None, Json]
"""Fields of a result: ``is_error``, ``exit_code``, ``duration``, ``status``, and as ``full`` all that was told."""


def outcome_of(told: Told, full: Json) -> Outcome:
    """What is told of a result beside its content."""
    code, status, error, took = told.get("exit_code"), told.get("status"), told.get("success"), told.get("duration")
    return (
        not error if type(error) is bool else None,
        code if type(code) is int else None,
        seconds(took) if took is not None else None,
        status if type(status) is str else None,
        full,
    )


def result_of(told: Told, call_id: str | None, outcome: Outcome) -> ToolResult:
    """What came of a call of which no output tells."""
    return with_outcome(ToolResult(call_id, _content(told)), outcome)


def with_outcome(result: ToolResult, outcome: Outcome) -> ToolResult:
    """A result with the event's richer twin, and what its own text does not say."""
    is_error, exit_code, duration, status, full = outcome
    return make_result(
        result.call_id,
        result.content,
        is_error,
        exit_code if result.exit_code is None else result.exit_code,
        duration if result.duration is None else result.duration,
        status if result.status is None else result.status,
        result.truncated,
        full,
    )


SPAWNING: Final = frozenset({"collab_agent_spawn_end", "CollabAgentToolCall"})
"""Events that may tell of threads which a call started."""


def spawned_by(told: Told) -> list[str]:
    """The threads that a call started, as its event tells them."""
    ids: Any = told.get("receiver_thread_ids") if told.get("tool") == "spawn_agent" else None
    if told.get("type") == "collab_agent_spawn_end":
        ids = [told.get("new_thread_id")]
    return [id for id in ids if type(id) is str] if type(ids) is list else []


def _content(told: Told) -> tuple[Part, ...]:
    for name in _OUTPUTS:
        text = told.get(name)
        if type(text) is str and text:
            return (Text(text),)
    result = told.get("result")
    if type(result) is str:
        return (Image(None, result),)
    inside = result.get("Ok", result) if type(result) is dict else None
    content = inside.get("content") if type(inside) is dict else told.get("content_items")
    texts = [part.get("text") for part in content if type(part) is dict] if type(content) is list else []
    return tuple(Text(text) for text in texts if type(text) is str)


def seconds(value: Any) -> float | None:
    """A duration as Rust writes it: whole seconds and nanoseconds."""
    if type(value) is not dict:
        return None
    secs, nanos = value.get("secs"), value.get("nanos")
    return secs + nanos / 1_000_000_000 if type(secs) is int and type(nanos) is int else None
