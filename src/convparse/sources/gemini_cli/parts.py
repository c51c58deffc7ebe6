"""What a message says: parts as the Gemini API has them, to blocks; and what came of tools.

A content is a text or a list of parts. Texts that the program puts in are told by what it writes around them. Of a tool's
result ``output`` and ``error`` are text; anything else stays JSON.
"""

import re
from typing import Any, Final

import attrs

from convparse.blocks import Attachment, Block, Image, Json, Part, Text, ToolResult, Unknown
from convparse.sources._reading import json_of, make_call, make_injected, make_result, make_text, make_thinking
from convparse.sources.gemini_cli.fields import KINDS, Tables
from convparse.sources.gemini_cli.state import Record
from convparse.sources.gemini_cli.versions import parts_of

_STARTS: Final = (
    ("<session_context>", "session_context"),
    ("This is the Gemini CLI. We are setting up the context for our chat.", "session_context"),
    ("<hook_context>", "hook_context"),
    ("I ran the following shell command:\n", "shell_command"),
)
"""Beginnings of texts that the program writes, and what they are called here."""
SUMMARY: Final = "compaction_summary"
_SNAPSHOT: Final = "<state_snapshot>"
_FILES: Final = "--- Content from referenced files ---"
_END_OF_FILES: Final = "--- End of content ---"
_CODE: Final = "Exit Code: "
_EXIT: Final = re.compile(rf"^{_CODE}(-?\d{{1,9}})$", re.MULTILINE)
_MODELLED: Final = ("text", "functionCall", "functionResponse", "inlineData", "fileData")
_KNOWN: Final = ("executableCode", "codeExecutionResult")
"""Parts that are known, and kept as JSON."""
FINAL: Final = frozenset({"success", "error", "cancelled"})
"""What a tool call's status is once it is over."""


def injected_kind(text: str) -> str | None:
    """What a text of the program's own is called; None if it is not known for one."""
    if _SNAPSHOT in text:
        return SUMMARY
    return next((kind for start, kind in _STARTS if text.startswith(start)), None)


def read_content(record: Record, content: Any, tables: Tables, at: str = "/content") -> list[Block]:
    """The blocks of a content, as they were written."""
    if content is not None and type(content) not in (str, list):
        record.odd(content, at)
        return []
    alone = type(content) is str
    return [_read_part(record, part, tables, at if alone else f"{at}/{i}") for i, part in enumerate(parts_of(content))]


def told_apart(blocks: list[Block]) -> list[Block]:
    """The blocks of a person's message with the texts that the program put in."""
    found: list[Block] = []
    inside = False
    for block in blocks:
        if isinstance(block, Text):
            inside = inside or block.text.strip() == _FILES
            kind = "referenced_files" if inside else injected_kind(block.text)
            inside = inside and block.text.strip() != _END_OF_FILES
            block = block if kind is None else make_injected(kind, block.text)
        found.append(block)
    return found


def _read_part(record: Record, part: Any, tables: Tables, at: str) -> Block:
    if type(part) is str:
        return make_text(part)
    kind = next((name for name in _MODELLED if name in part), None) if type(part) is dict else None
    made = _PARTS[kind](record, part, tables, at) if kind is not None else None
    if made is not None:
        record.keep(tables.text if kind == "text" else tables.part, part, at)
        return made
    name = next((name for name in part if name in _KNOWN), None) if type(part) is dict else None
    if name is None:
        record.note("unknown-block", at, _pattern(at))
    return Unknown(name or "part", json_of(part))


def _pattern(at: str) -> str:
    return f"{at.rpartition('/')[0]}/*"


def _text(record: Record, part: dict[str, Any], tables: Tables, at: str) -> Block | None:
    text, thought = part["text"], part.get("thought")
    if type(text) is not str or type(thought) not in (bool, type(None)):
        return None
    if thought is True:
        signature = part.get("thoughtSignature")
        return make_thinking(text, signature if type(signature) is str else None, not text)
    return make_text(text)


def _asked(record: Record, part: dict[str, Any], tables: Tables, at: str) -> Block | None:
    call = part["functionCall"]
    if type(call) is not dict or type(call.get("name")) is not str or type(call.get("id")) not in (str, type(None)):
        return None
    record.keep(tables.call, call, f"{at}/functionCall")
    return read_call(record, call, f"{at}/functionCall", f"{_pattern(at)}/functionCall")


def read_call(record: Record, call: dict[str, Any], at: str, pattern: str) -> Block:
    """A call, of which id and name are strings."""
    id, name = call.get("id"), call["name"]
    if "args" not in call:
        record.note("missing-arguments", at, pattern)
    if id is not None:
        record.state.calls[id] = name
    return make_call(id, name, KINDS.get(name, "other"), json_of(call.get("args")))


def _answered(record: Record, part: dict[str, Any], tables: Tables, at: str) -> Block | None:
    response = part["functionResponse"]
    if type(response) is not dict or type(response.get("id")) not in (str, type(None)):
        return None
    record.keep(tables.response, response, f"{at}/functionResponse")
    name = response.get("name")
    if name is not None and (response.get("id") is None or record.state.calls.get(response["id"]) != name):
        record.extra[f"{at}/functionResponse/name"] = name
    return read_result(response, name)


def read_result(response: dict[str, Any], name: Any) -> ToolResult:
    """What came of a call, as the model was told."""
    told = response.get("response")
    content: tuple[Part, ...] = (Unknown("response", json_of(told)),) if "response" in response else ()
    text = None
    for key in ("output", "error"):
        if type(told) is dict and len(told) == 1 and type(told.get(key)) is str:
            text = told[key]
            content = (make_text(text),)
    failed = type(told) is dict and "error" in told
    code = _exit_code(text) if name == "run_shell_command" and text is not None else None
    return make_result(response.get("id"), content, True if failed else None, code)


def read_results(parts: Any, call: dict[str, Any]) -> ToolResult:
    """The same, of the list of parts that a call's record has: the result itself, and media beside it."""
    told = make_result(call.get("id"))
    media: list[Part] = []
    for part in parts if type(parts) is list else ():
        held = part.get("functionResponse") if type(part) is dict else None
        if type(held) is dict and held.get("id") == call.get("id"):
            told = read_result(held, call["name"])
        elif type(part) is dict and (made := _beside(part)) is not None:
            media.append(made)
    return attrs.evolve(told, content=(*told.content, *media)) if media else told


def _beside(part: dict[str, Any]) -> Part | None:
    return _media(part.get("inlineData"), "data") or _media(part.get("fileData"), "fileUri")


def _exit_code(text: str) -> int | None:
    """The last line that tells one: the program writes it behind the output."""
    found = _EXIT.findall(text) if _CODE in text else ()
    return int(found[-1]) if found else None


def _inline(record: Record, part: dict[str, Any], tables: Tables, at: str) -> Block | None:
    return _media(part["inlineData"], "data")


def _file(record: Record, part: dict[str, Any], tables: Tables, at: str) -> Block | None:
    return _media(part["fileData"], "fileUri")


def _media(held: Any, key: str) -> Image | Attachment | None:
    if type(held) is not dict or not held.keys() <= {"mimeType", "displayName", key}:
        return None
    if not all(type(item) is str for item in held.values()) or key not in held:
        return None
    kind, name, value = held.get("mimeType"), held.get("displayName"), held[key]
    data, uri = (value, None) if key == "data" else (None, value)
    if name is None and (kind or "").startswith("image/"):
        return Image(kind, data, uri)
    return Attachment("file", name, kind, None, data, uri)


_PARTS: Final = {
    "text": _text,
    "functionCall": _asked,
    "functionResponse": _answered,
    "inlineData": _inline,
    "fileData": _file,
}


def rest_of(call: dict[str, Any], typed: tuple[str, ...]) -> Json | None:
    """What a tool call tells beyond these keys: how it was shown, and more than the model saw."""
    rest = {key: item for key, item in call.items() if key not in typed}
    return json_of(rest) if rest else None
