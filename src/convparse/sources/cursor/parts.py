"""Parts of messages, in agents' transcripts and in the blobs of stores; to blocks.

Transcripts write the Anthropic names (``tool_use``), stores those of the AI SDK (``tool-call``); exporters mix them. A part
that is not known stands as it is, and is named.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from convparse.blocks import Attachment, Block, Image, Unknown
from convparse.ledger import Place
from convparse.sources._reading import Extra, json_of, make_call, make_result, make_text, make_thinking
from convparse.sources.cursor import wrappers
from convparse.sources.cursor.bubbles import beside
from convparse.sources.cursor.state import State
from convparse.sources.cursor.tools import exit_code, kind_of

Part = dict[str, Any]
_TEXT: Final = (str, type(None))


def read_content(state: State, content: Any, role: str, place: Place, at: str, extra: Extra) -> list[Block]:
    """The blocks of a message's content: a text, or a list of parts."""
    if type(content) is str:
        return _said(content, role, state, place, at, extra)
    if type(content) is not list:
        if content is not None:
            state.typed(content, list, extra, place, "message", at, at)
        return []
    blocks: list[Block] = []
    for number, part in enumerate(content):
        blocks += read_part(state, part, role, place, f"{at}/{number}", extra)
    return blocks


def read_part(state: State, part: Any, role: str, place: Place, at: str, extra: Extra) -> list[Block]:
    """The blocks of one part."""
    kind = part.get("type") if type(part) is dict else None
    reader = READERS.get(kind) if type(kind) is str else None
    if kind == "text" and type(part.get("text")) is str:
        blocks, taken = _said(part["text"], role, state, place, f"{at}/text", extra), {"type", "text"}
    else:
        found = reader(part) if reader is not None else None
        if found is None:
            name = kind if type(kind) is str else type(part).__name__
            code = "unknown-block" if reader is None and kind != "text" else "unexpected-type"
            state.ledger.part(code, place, f"{at.rpartition('/')[0]}/*", record=name, pointer=at)
            return [Unknown(name, json_of(part))]
        blocks, taken = [found[0]], {"type", *found[1]}
    unknown = part.keys() - taken
    if unknown:
        beside(part, at, taken, extra)
    return blocks


def _said(text: str, role: str, state: State, place: Place, at: str, extra: Extra) -> list[Block]:
    if text.startswith("[Oversize transcript blob omitted: "):
        state.ledger.part("cursor/oversize-blob", place, at, record="text", pointer=at)
    if role == "user":
        blocks, whole = wrappers.person(text)
        if not whole:
            extra[at] = text
        return blocks
    return wrappers.model(text) if role == "assistant" else [make_text(text)]


Read = tuple[Block, set[str]] | None
"""A block and the keys that it is made from; None for a part of another make."""


def _thinking(part: Part) -> Read:
    key = "thinking" if "thinking" in part else "text"
    text, signature = part.get(key), part.get("signature")
    if type(text) is not str or type(signature) not in _TEXT:
        return None
    return make_thinking(text, signature, not text), {key, "signature"}


def _redacted(part: Part) -> Read:
    data = part.get("data")
    return (make_thinking("", data, True), {"data"}) if type(data) is str else None


def _call(part: Part) -> Read:
    names = ("id", "name", "input") if part["type"] == "tool_use" else ("toolCallId", "toolName", "args")
    id, name = part.get(names[0]), part.get(names[1])
    given = part.get(names[2])
    if type(id) not in _TEXT or type(name) is not str:
        return None
    return make_call(id, name, kind_of(name), given if type(given) is str else json_of(given)), set(names)


def _result(part: Part) -> Read:
    old = part["type"] == "tool_result"
    id_key, content_key, error_key = ("tool_use_id", "content", "is_error") if old else ("toolCallId", "result", "isError")
    id, content, failed = part.get(id_key), part.get(content_key), part.get(error_key)
    if type(id) not in _TEXT or type(failed) not in (bool, type(None)):
        return None
    text = content if type(content) is str else _joined(content)
    full = None if type(content) is str or content is None else json_of(content)
    inside = (make_text(text),) if text is not None else ()
    return make_result(id, inside, failed, exit_code(content), None, None, False, full), {id_key, content_key, error_key}


def _joined(content: Any) -> str | None:
    """The text of a list of text parts."""
    parts = content if type(content) is list else []
    texts = [part["text"] for part in parts if type(part) is dict and type(part.get("text")) is str]
    return "\n".join(texts) if texts else None


def _image(part: Part) -> Read:
    image = part.get("image", part.get("source"))
    media = part.get("mediaType", part.get("mimeType"))
    key = "image" if "image" in part else "source"
    if type(image) is str and type(media) in _TEXT:
        return Image(media, None, image) if "://" in image[:10] else Image(media, image), {key, "mediaType", "mimeType"}
    return (Image(), set()) if type(image) is dict else None


def _file(part: Part) -> Read:
    name = part.get("filename")
    return (Attachment("file", name), {"filename"}) if type(name) is str else None


READERS: Final[Mapping[str, Callable[[Part], Read]]] = MappingProxyType(
    {
        "thinking": _thinking,
        "reasoning": _thinking,
        "redacted-reasoning": _redacted,
        "redacted_thinking": _redacted,
        "tool_use": _call,
        "tool-call": _call,
        "tool_result": _result,
        "tool-result": _result,
        "image": _image,
        "file": _file,
    }
)
"""What reads each kind of part but texts."""
