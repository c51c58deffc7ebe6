"""OpenTelemetry's semantic conventions for generative AI: the attributes of one ``chat`` operation for every model response.

What comes in: a result. What goes out: a list of dicts of span attributes. ``gen_ai.input.messages`` holds what is new since
the response before, not the whole history again, ``gen_ai.output.messages`` the response; one after the other they are the
conversation. What was said after the last response stands in an operation without output.

Never done here: no spans are made, since no product records when a request began; messages are one line of talk. Whatever has
neither an attribute nor a part of a message is named as dropped. ``finish_reason`` is the product's own word.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from convparse.blocks import Attachment, Edit, Image, Json, Thinking, ToolCall, ToolResult, Unknown
from convparse.export._account import REWORDED, STAND_IN, Book, Export, Given, finish, talks
from convparse.export._steps import Step, agree, steps
from convparse.export._texts import has_text, texts
from convparse.records import Usage
from convparse.result import ParseResult

Plain: TypeAlias = dict[str, Any]

UNKNOWN: Final = "unknown"
"""The finish reason where none is recorded."""
_ROLES: Final = {"agent": "assistant", "user": "user", "system": "system", "tool": "tool"}
_MODALITIES: Final = frozenset({"image", "video", "audio"})


def export(result: ParseResult) -> Export[list[Plain]]:
    """The result as the attributes of chat operations, conversation by conversation.

    Raises ``ConvparseError`` for anything but a ``ParseResult``.
    """
    book = Book()
    given = talks(result, book)
    return finish([operation for talk in given for operation in _operations(talk)], given, book)


def _operations(talk: Given) -> list[Plain]:
    found: list[Plain] = []
    heard: list[Plain] = []
    for step in steps(talk):
        if step.speaker != "agent":
            heard += _input(step)
            continue
        reason = _same(step.ends, "stop_reason")
        told = _some(**{"gen_ai.input.messages": heard, "gen_ai.output.messages": [_output(step, reason)]})
        found.append(_response(step.begins, reason) | told)
        heard = _results(step)
    if heard:
        found.append({"gen_ai.input.messages": heard})
    about = _about(talk) if found else {}
    return [about | operation for operation in found]


def _some(**fields: Any) -> Plain:
    """The fields in which something stands."""
    return {name: value for name, value in fields.items() if value is not None and value != []}


def _about(talk: Given) -> Plain:
    """What is the same for all operations of a conversation."""
    context = talk.inner("context")
    return _some(
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": talk.take("id"),
            "gen_ai.agent.name": talk.take("source"),
            "gen_ai.agent.version": None if context is None else context.take("version"),
        }
    )


# ---- messages --------------------------------------------------------------------------------------------------------------


def _input(step: Step) -> list[Plain]:
    role = _ROLES[step.speaker]
    parts = [part for block in step.blocks for part in _parts(block)]
    if parts:
        agree(step, role)
    return [{"role": role, "parts": parts}] if parts else []


def _output(step: Step, reason: str | None) -> Plain:
    agree(step, "assistant")
    if reason is None:
        next(iter(step.messages)).name(STAND_IN, "stop_reason")
    parts = [part for block in step.blocks for part in _parts(block)]
    return {"role": "assistant", "parts": parts, "finish_reason": UNKNOWN if reason is None else reason}


def _results(step: Step) -> list[Plain]:
    parts = [part for _, results in step.results for result in results for part in _parts(result)]
    return [{"role": "tool", "parts": parts}] if parts else []


def _same(rows: list[Given], name: str) -> str | None:
    """What the last row says that says something, taken of all that say the same."""
    found = next((value for row in reversed(rows) if (value := getattr(row.record, name)) is not None), None)
    for row in rows:
        row.take_if(name, found)
    return found


# ---- parts -----------------------------------------------------------------------------------------------------------------


def _parts(block: Given) -> list[Plain]:
    """The parts of a message that hold a block; none if there is no place for it."""
    kind = type(block.record)
    if kind is Thinking:
        return [{"type": "reasoning", "content": block.take("text")}] if block.record.text else []
    if kind is ToolCall:
        return [_call(block)]
    if kind is ToolResult:
        return [{"type": "tool_call_response", "id": block.take("call_id"), "response": _content(block)}]
    if kind in (Edit, Unknown):
        return [{"type": "edit" if kind is Edit else "unknown"} | block.rest()]
    said = [{"type": "text", "content": text} for text in texts(block)] if has_text(block) else []
    return [*said, *_media(block)]


def _call(call: Given) -> Plain:
    given = call.take("input")
    arguments = given.value if isinstance(given, Json) else given
    return {"type": "tool_call", "id": call.take("id"), "name": call.take("name"), "arguments": arguments}


def _content(result: Given) -> str | list[Plain]:
    """What the model saw: a text, or parts where it is not just one."""
    parts = [part for given in result.each("content") for part in _parts(given)]
    return parts[0]["content"] if [part["type"] for part in parts] == ["text"] else parts if parts else ""


def _media(block: Given) -> Iterable[Plain]:
    """Pictures and documents: the data, else the place that was named."""
    record = block.record
    if type(record) not in (Image, Attachment) or (record.data is None and record.uri is None):
        return
    kind = (record.media_type or "").partition("/")[0]
    modality = kind if kind in _MODALITIES else "image" if type(record) is Image else "document"
    about = {"modality": modality, "mime_type": block.take("media_type")}
    if record.data is not None:
        yield {"type": "blob", **about, "content": block.take("data")}
    else:
        yield {"type": "uri", **about, "uri": block.take("uri")}


# ---- responses -------------------------------------------------------------------------------------------------------------

_TOKENS: Final = {
    "gen_ai.usage.cache_read.input_tokens": "cache_read_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
}


def _response(rows: list[Given], reason: str | None) -> Plain:
    return _some(
        **{
            "gen_ai.response.id": _same(rows, "response_id"),
            "gen_ai.response.model": _same(rows, "model"),
            "gen_ai.response.finish_reasons": [] if reason is None else [reason],
            **_usage(rows),
        }
    )


def _usage(rows: list[Given]) -> Plain:
    """The tokens of a response. All that were read are one number, as are those of several rows; that is named."""
    found = [row for row in rows if row.record.usage is not None]
    usage = sum((row.record.usage for row in found), Usage())
    read = [n for n in (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) if n is not None]
    for given in filter(None, (row.inner("usage") for row in found)):
        given.take("input_tokens", *_TOKENS.values())
        if len(found) > 1:
            given.name(REWORDED)
        elif usage.input_tokens is not None and sum(read) != usage.input_tokens:
            given.name(REWORDED, "input_tokens")
    held = {attribute: getattr(usage, name) for attribute, name in _TOKENS.items()}
    return {"gen_ai.usage.input_tokens": sum(read) if read else None, **held}
