"""Chat messages as OpenAI's API takes them, and with it what Hugging Face calls conversational data.

What comes in: a result. What goes out: a list with ``{"id": …, "messages": […]}`` for every conversation, sub-agents too: the
rows of a data set. A response of the model is one assistant message, followed by one tool message for each of its calls.

Never done here: messages hold what was said, called and answered, in one line of talk; everything else is named as dropped,
reasoning too, for which the format has no field. A call without a result is answered with nothing, which is named.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from convparse.blocks import Attachment, Image, Json, ToolResult
from convparse.export._account import JOINED, NOT_ALLOWED, STAND_IN, Book, Export, Given, finish, talks
from convparse.export._steps import Step, agree, call_ids, steps
from convparse.export._texts import address, data_uri, has_text, joined, texts
from convparse.result import ParseResult

Plain: TypeAlias = dict[str, Any]

_ROLES: Final = {"agent": "assistant", "user": "user", "system": "system", "tool": "user"}


def export(result: ParseResult) -> Export[list[Plain]]:
    """The result as one row of chat messages for every conversation; loose entries make one without an id.

    The content of a message is text, but for what a user says with pictures or files: that is a list of parts. Raises
    ``ConvparseError`` for anything but a ``ParseResult``.
    """
    book = Book()
    given = talks(result, book)
    return finish([_row(talk) for talk in given], given, book)


def _row(talk: Given) -> Plain:
    return {"id": talk.take("id"), "messages": [message for step in steps(talk) for message in _messages(step)]}


def _messages(step: Step) -> Iterable[Plain]:
    for block in step.blocks:
        if type(block.record) is ToolResult:
            block.leave(NOT_ALLOWED)  # a tool message answers a call
    return _response(step) if step.speaker == "agent" else _said(step)


def _said(step: Step) -> Iterable[Plain]:
    role = _ROLES[step.speaker]
    if role == "system" and step.begins and step.begins[0].record.role == "developer":
        role = "developer"
    blocks = [block for block in step.blocks if has_text(block) or (role == "user" and _is_media(block))]
    if blocks:
        agree(step, role)
        yield {"role": role, "content": _content(blocks)}


def _is_media(block: Given) -> bool:
    record = block.record
    has_data = type(record) in (Image, Attachment) and record.data is not None and record.media_type is not None
    return has_data or (type(record) is Image and record.uri is not None)


def _content(blocks: list[Given]) -> str | list[Plain]:
    if any(_is_media(block) for block in blocks):
        return [part for block in blocks for part in _parts(block)]
    return joined(blocks)


def _parts(block: Given) -> Iterable[Plain]:
    if has_text(block):
        yield from ({"type": "text", "text": text} for text in texts(block))
    if _is_media(block):
        if type(block.record) is Image:
            yield {"type": "image_url", "image_url": {"url": address(block)}}
        else:
            name = {} if block.record.name is None else {"filename": block.take("name")}
            yield {"type": "file", "file": {"file_data": data_uri(block), **name}}


# ---- responses -------------------------------------------------------------------------------------------------------------


def _response(step: Step) -> Iterable[Plain]:
    words = [block for block in step.blocks if has_text(block)]
    if not words and not step.results:
        return
    agree(step, "assistant")
    ids = call_ids(step)
    calls = [_call(call, id) for (call, _), id in zip(step.results, ids, strict=True)]
    message: Plain = {"role": "assistant", "content": joined(words) if words else None}
    yield message | ({"tool_calls": calls} if calls else {})
    for (call, results), id in zip(step.results, ids, strict=True):
        yield {"role": "tool", "tool_call_id": id, "content": _answer(call, results, id)}


def _call(call: Given, id: str) -> Plain:
    name, given = call.take("name"), call.take("input")
    if isinstance(given, Json):
        return {"id": id, "type": "function", "function": {"name": name, "arguments": given.text}}
    return {"id": id, "type": "custom", "custom": {"name": name, "input": given}}


def _answer(call: Given, results: list[Given], id: str) -> str:
    """What came of a call, in one text."""
    if not results:
        call.name(STAND_IN)
    for result in results[1:]:
        result.name(JOINED)
    for result in results:
        result.take_if("call_id", id)
    return joined(part for result in results for part in result.each("content") if has_text(part))
