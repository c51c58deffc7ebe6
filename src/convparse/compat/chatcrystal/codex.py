"""Codex: prompts from ``user_message`` events alone; the model's texts from events and items, compared with the last one alone.

What comes in: the lines of a rollout. What goes out: its conversation, and why each line gave no message. Tool calls become a
mark on the last text before them. A rollout's base and its compressed form are not read.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Final

import attrs

from convparse.compat.chatcrystal.account import Ruled
from convparse.compat.chatcrystal.javascript import either, elements, field, shown, string, time, trim, truthy, word
from convparse.compat.chatcrystal.records import ReferenceMessage, Type
from convparse.compat.chatcrystal.units import UNREAD, Unit, key_of, lines, main
from convparse.result import ParseResult

SMALL: Final = 50
"""Bytes below which a file is passed over."""
_NAME: Final = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)", re.ASCII)
_MARKER: Final = "## My request for Codex:\n"


class _Thread:
    """What is known of a rollout so far."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.cwd: str | None = None
        self.branch: str | None = None
        self.messages: list[ReferenceMessage] = []
        self.last: int | None = None
        """The place of the last text of the model."""
        self.told: set[str] = set()

    def add(self, unit: Unit, kind: Type, text: str) -> None:
        when, key = time(either(unit.value.get("timestamp"), None)), key_of(unit.entries)
        if kind == "assistant":
            self.last = len(self.messages)
        self.messages.append(ReferenceMessage(None, None, kind, kind, text, False, "```" in text, None, when, key))


def rule(result: ParseResult, data: bytes | None) -> Ruled:
    """The conversation of a rollout."""
    ruled = Ruled(result)
    if result.accounts[0].size < SMALL:
        return ruled.refuse("chatcrystal/small-file")
    thread = _Thread(_file_id(main(result)))
    for unit in lines(result, data):
        code = _line(unit, thread)
        if code is not None:
            ruled.pass_over(unit.entries, code)
    ruled.told = thread.told
    return ruled.add(thread.id, thread.messages, None, thread.cwd, thread.branch)


def _file_id(path: str) -> str:
    """The id in a rollout's name, behind its time; the whole name of another file."""
    name = PurePath(path).stem
    found = _NAME.search(name)
    return found[1] if found is not None else name


def _line(unit: Unit, thread: _Thread) -> str | None:
    """Takes what a line says; why it says nothing, else None."""
    if unit.value is UNREAD:
        return "chatcrystal/unread-line"
    kind, payload = field(unit.value, "type"), field(unit.value, "payload")
    if not truthy(payload):
        return "chatcrystal/not-a-message"
    if kind == "session_meta":
        return _header(payload, thread)
    name = field(payload, "type")
    reader = READERS.get((kind, name)) if isinstance(kind, str) and isinstance(name, str) else None
    return "chatcrystal/not-a-message" if reader is None else reader(unit, payload, thread)


def _header(payload: Any, thread: _Thread) -> str:
    """The last header counts, that of a copied thread too."""
    git = field(payload, "git")
    thread.id = shown(either(field(payload, "id"), thread.id))
    thread.cwd = word(either(field(payload, "cwd"), thread.cwd))
    thread.branch = word(either(git.get("branch") if type(git) is dict else None, thread.branch))
    return "chatcrystal/not-a-message"


def _user(unit: Unit, payload: Any, thread: _Thread) -> str | None:
    text = string(either(payload.get("message"), ""))
    text = trim(text.partition(_MARKER)[2] if _MARKER in text else text)
    if not text:
        return "chatcrystal/empty"
    thread.add(unit, "user", text)
    return None


def _agent(unit: Unit, payload: Any, thread: _Thread) -> str | None:
    text = string(either(payload.get("message"), ""))
    if not trim(text):
        return "chatcrystal/empty"
    thread.add(unit, "assistant", text)
    return None


def _item(unit: Unit, payload: Any, thread: _Thread) -> str | None:
    role, content = payload.get("role"), payload.get("content")
    if role != "assistant":
        return "chatcrystal/no-user-message" if role == "user" else "chatcrystal/not-a-message"
    blocks = elements(content) if truthy(content) else ()
    said = [block for block in blocks if field(block, "type") == "output_text" and truthy(block.get("text"))]
    text = trim("\n".join(shown(block["text"]) for block in said))
    if not text:
        return "chatcrystal/empty"
    if thread.last is not None and thread.messages[thread.last].content == text:
        return "chatcrystal/repeated-text"
    thread.add(unit, "assistant", text)
    return None


def _call(unit: Unit, payload: Any, thread: _Thread) -> str | None:
    if thread.last is not None:
        thread.messages[thread.last] = attrs.evolve(thread.messages[thread.last], has_tool_use=True)
        thread.told.update(entry.key for entry in unit.entries)
    return "chatcrystal/not-a-message"


READERS: Final[Mapping[tuple[str, str], Callable[[Unit, Any, _Thread], str | None]]] = {
    ("event_msg", "user_message"): _user,
    ("event_msg", "agent_message"): _agent,
    ("response_item", "message"): _item,
    ("response_item", "function_call"): _call,
    ("response_item", "custom_tool_call"): _call,
}
