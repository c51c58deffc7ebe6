"""Claude Code: rows of the types ``user`` and ``assistant`` that have a ``uuid``, their texts without six kinds of tags.

What comes in: the lines of a transcript. What goes out: its one conversation, and why each line gave no message. Side chains
inside the file are part of it; files of sub-agents are not read.
"""

import re
from pathlib import PurePath
from typing import Any, Final

from convparse.compat.chatcrystal.account import Ruled
from convparse.compat.chatcrystal.javascript import elements, field, searched, shown, time, trim, truthy, word
from convparse.compat.chatcrystal.records import ReferenceMessage
from convparse.compat.chatcrystal.units import UNREAD, Unit, key_of, lines, main
from convparse.result import ParseResult

SMALL: Final = 100
"""Bytes below which a file is passed over."""
_TAGS: Final = tuple(
    re.compile(f"<{tag}>{body}</{tag}>")
    for tag, body in (
        ("system-reminder", r"[\s\S]*?"),
        ("command-name", "[^<]*"),
        ("command-message", "[^<]*"),
        ("command-args", "[^<]*"),
        ("local-command-stdout", "[^<]*"),
        ("local-command-caveat", r"[\s\S]*?"),
    )
)


def rule(result: ParseResult, data: bytes | None) -> Ruled:
    """The conversation of a transcript."""
    ruled = Ruled(result)
    if result.accounts[0].size < SMALL:
        return ruled.refuse("chatcrystal/small-file")
    told: dict[str, str] = {}
    found = []
    for unit in lines(result, data):
        made = _row(unit, told)
        if isinstance(made, str):
            ruled.pass_over(unit.entries, made)
        else:
            found.append(made)
    return ruled.add(PurePath(main(result)).stem, found, told.get("slug"), told.get("cwd"), told.get("gitBranch"))


def _row(unit: Unit, told: dict[str, str]) -> ReferenceMessage | str:
    """The message of a row, or why there is none."""
    row = unit.value
    if row is UNREAD:
        return "chatcrystal/unread-line"
    uuid, kind = field(row, "uuid"), field(row, "type")
    if kind not in ("user", "assistant"):
        return "chatcrystal/not-a-message"
    if not truthy(uuid):
        return "chatcrystal/no-uuid"
    for name in ("cwd", "gitBranch", "slug"):
        if truthy(row.get(name)):
            told.setdefault(name, shown(row[name]))
    text, thinking, tool, code = _content(row.get("message"))
    if not text and not thinking and not tool:
        return "chatcrystal/empty"
    message = row.get("message")
    role = word(message.get("role"))
    parent, when = word(row.get("parentUuid")), time(row.get("timestamp"))
    key = key_of(unit.entries)
    return ReferenceMessage(shown(uuid), parent, kind, kind if role is None else role, text, tool, code, thinking, when, key)


def _content(message: Any) -> tuple[str, str | None, bool, bool]:
    """Text, reasoning, and whether there are a tool call and code. Only list content has the last three but code."""
    content = message.get("content") if type(message) is dict else None
    if not truthy(content):
        return "", None, False, False
    if type(content) is str:
        text = _stripped(content)
        return text, None, False, "```" in text
    texts, thoughts, tool, code = [], [], False, False
    for block in elements(content):
        kind = field(block, "type")
        if kind == "text" and truthy(block.get("text")):
            said, fenced = searched(block["text"])
            texts.append(said)
            code = code or fenced
        elif kind == "thinking" and truthy(block.get("thinking")):
            thoughts.append(shown(block["thinking"]))
        tool = tool or kind == "tool_use"
    return _stripped("\n".join(texts)), "\n".join(thoughts) if thoughts else None, tool, code


def _stripped(text: str) -> str:
    for tag in _TAGS:
        text = tag.sub("", text)
    return trim(text)
