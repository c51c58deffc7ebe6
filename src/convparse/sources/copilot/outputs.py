"""What tools gave back: ``toolCallResults`` of the extension, and what the editor's own side of a call shows.

Values are decoded by their shape, because the editor renumbered its type marks: ``value`` a string is text, ``value.node`` a
tree of prompt elements, ``mimeType`` with ``data`` a picture or file. Of a tree the texts are joined as the extension joins
them, depth first, with a line end where an element asks for one.
"""

import re
from base64 import b64encode
from typing import Any, Final

from convparse.blocks import Attachment, Image, Part, Unknown
from convparse.ledger import escape
from convparse.sources._reading import json_of, make_text
from convparse.sources.copilot.fields import OUTPUT, OUTPUT_PART
from convparse.sources.copilot.state import Reader

_AT: Final = "/result/metadata/toolCallResults"
_PATTERN: Final = f"{_AT}/*"
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def read_output(reader: Reader, name: str, value: Any) -> tuple[Part, ...] | None:
    """What the model saw of one call; None where the value is of an unexpected make, which is named."""
    at = f"{_AT}/{escape(name)}"
    if type(value) is not dict or type(value.get("content")) is not list:
        reader.extra[at] = value
        reader.state.ledger.part(
            "unexpected-type", reader.home.place, reader.pattern(_PATTERN), record="toolCallResult", pointer=reader.pointer(at)
        )
        return None
    reader.keep(OUTPUT, value, at, _PATTERN)
    parts: list[Part] = []
    for i, item in enumerate(value["content"]):
        parts.extend(_part(reader, item, f"{at}/content/{i}"))
    return tuple(parts)


def _part(reader: Reader, item: Any, at: str) -> list[Part]:
    pattern = f"{_PATTERN}/content/*"
    if type(item) is dict:
        found = _known(reader, item, at)
        if found is not None:
            reader.keep(OUTPUT_PART, item, at, pattern)
            return found
    place = reader.home.place
    reader.state.ledger.part(
        "unknown-block", place, reader.pattern(pattern), record="toolCallResult", pointer=reader.pointer(at)
    )
    return [Unknown("toolCallResult", json_of(item))]


def _known(reader: Reader, item: dict[str, Any], at: str) -> list[Part] | None:
    value, media_type, data = item.get("value"), item.get("mimeType"), item.get("data")
    if type(value) is str and data is None and media_type is None:
        return [make_text(value)]
    if type(value) is dict and type(value.get("node")) is dict and data is None and media_type is None:
        ledger, pattern = reader.state.ledger, f"{_PATTERN}/content/*/value"
        pointer = reader.pointer(f"{at}/value")
        ledger.part("skipped-field", reader.home.place, reader.pattern(pattern), record="prompt-element", pointer=pointer)
        return read_tree(value["node"])
    if type(media_type) is str and "value" not in item:
        text = base64_of(data)
        if text is not None:
            return [media(media_type, text)]
    return None


def media(media_type: str, data: str, name: str | None = None) -> Image | Attachment:
    """A picture, or any other file."""
    if media_type.startswith("image/"):
        return Image(media_type, data)
    return Attachment("data", name, media_type, None, data)


def base64_of(value: Any) -> str | None:
    """The base64 text of bytes in any form that the editor has written them in; None for anything else."""
    if type(value) is str:
        return value
    if type(value) is not dict:
        return None
    if type(value.get("$base64")) is str and len(value) == 1:
        return str(value["$base64"])
    if type(value.get("data")) is str and len(value) == 1:
        return str(value["data"])
    if value and list(value) == [str(i) for i in range(len(value))]:
        return _of_bytes(list(value.values()))
    return None


def _of_bytes(values: list[Any]) -> str | None:
    if all(type(byte) is int and 0 <= byte < 256 for byte in values):
        return b64encode(bytes(values)).decode()
    return None


def read_tree(root: dict[str, Any]) -> list[Part]:
    """The texts and pictures of a tree of prompt elements, in their order."""
    parts: list[Part] = []
    texts: list[str] = []
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if type(node) is not dict:
            continue
        if node.get("type") == 2 or (type(node.get("text")) is str and "children" not in node):
            texts.append("\n" if node.get("lineBreakBefore") else "")
            texts.append(node["text"] if type(node.get("text")) is str else "")
            continue
        props = node.get("props")
        source = props.get("src") if type(props) is dict else None
        if type(source) is str:
            parts.extend([make_text("".join(texts))] if any(texts) else [])
            texts.clear()
            is_place = source.startswith(("http:", "https:", "file:"))
            parts.append(Image(None, None if is_place else source, source if is_place else None))
        children = node.get("children")
        stack.extend(reversed(children) if type(children) is list else ())
    if any(texts) or not parts:
        parts.append(make_text("".join(texts)))
    return parts


def shown_output(part: dict[str, Any]) -> tuple[Part, ...]:
    """What the editor's side of a call kept of its output, where the model's side is not recorded."""
    data, details = part.get("toolSpecificData"), part.get("resultDetails")
    data = data if type(data) is dict else {}
    terminal = data.get("terminalCommandOutput")
    text = terminal.get("text") if type(terminal) is dict else None
    for candidate in (text, data.get("output"), data.get("result")):
        if type(candidate) is str:
            return (make_text(plain_terminal(candidate)),)
    output = details.get("output") if type(details) is dict else None
    if type(output) is str:
        return (make_text(output),)
    if type(output) is dict:
        output = [output]
    parts: list[Part] = []
    for item in output if type(output) is list else ():
        shown = _shown(item) if type(item) is dict else None
        parts.extend([shown] if shown is not None else [])
    return tuple(parts)


def _shown(item: dict[str, Any]) -> Part | None:
    media_type = item.get("mimeType")
    media_type = media_type if type(media_type) is str else "application/octet-stream"
    if type(item.get("base64Data")) is str:
        return media(media_type, item["base64Data"])
    value = item.get("value")
    if type(value) is str:
        return make_text(value) if item.get("isText") is not False else media(media_type, value)
    return None


def plain_terminal(text: str) -> str:
    """A terminal's output without colours and with plain line ends."""
    return _ANSI.sub("", text).replace("\r\n", "\n") if "\x1b" in text or "\r" in text else text
