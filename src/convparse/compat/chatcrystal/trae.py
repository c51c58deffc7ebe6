"""Trae: a message's own content; where it has none, an agent's proposal and the words of its step ``finish``.

What comes in: the one list of sessions of a workspace's database. What goes out: conversations that have messages, in the order
of turns, their times made to grow.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import attrs

from convparse.compat.chatcrystal.account import Ruled
from convparse.compat.chatcrystal.javascript import (
    ABSENT,
    NEVER,
    Stops,
    either,
    elements,
    field,
    iso,
    milliseconds,
    shown,
    sort,
    string,
    trim,
    truthy,
    within,
    word,
)
from convparse.compat.chatcrystal.records import LeftOut, ReferenceMessage
from convparse.compat.chatcrystal.units import UNREAD, every, key_of, parse, rows
from convparse.reading.tables import Table
from convparse.records import Entry
from convparse.result import ParseResult

TABLE: Final = Table("ItemTable", "key", "value")
KEY: Final = "memento/icube-ai-agent-storage"


def rule(result: ParseResult, data: bytes | None) -> Ruled:
    """The conversations of a workspace's database."""
    ruled = Ruled(result)
    folder = _folder(Path(result.path).with_name("workspace.json"))
    if folder is None:
        return ruled.refuse("chatcrystal/no-workspace")
    ruled.otherwise = "chatcrystal/other-place"
    entries: dict[str, Entry] = {}
    for entry in every(result):
        if entry.origin is not None and entry.origin.key == KEY:
            entries.setdefault(entry.origin.pointer, entry)
    found = rows(result, TABLE, (KEY,))[KEY] if entries else []
    value = parse((found[0].value or b"").decode("utf-8", "replace")) if found else None
    try:
        sessions = list(_sessions(value))
    except Stops:
        ruled.pass_over(entries.values(), "chatcrystal/stopped")
        return ruled
    for at, session in sessions:
        _conversation(ruled, f"/list/{at}", session, folder, entries)
    ruled.pass_over(entries.values(), "chatcrystal/not-a-message")
    return ruled


def _folder(workspace: Path) -> str | None:
    """The folder of a workspace, without the slash it begins with; None if nothing can be read of it."""
    try:
        value = parse(workspace.read_bytes().decode("utf-8", "replace"))
    except OSError:
        return None
    if value is UNREAD or value is None:
        return None
    folder = either(field(value, "folder"), "")
    return unquote(folder.removeprefix("file:///")) if isinstance(folder, str) else None


def _sessions(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """The sessions that have messages, the first of each id."""
    listed = field(value, "list") if value is not UNREAD and value is not None else None
    seen = set()
    for at, session in enumerate(elements(listed) if truthy(listed) else ()):
        messages, id = field(session, "messages"), field(session, "sessionId")
        if isinstance(messages, list) and messages and within(id) not in seen:
            seen.add(within(id))
            yield at, session


class _Made(NamedTuple):
    """What the rules make of one message."""

    raw: Any
    entries: list[Entry]
    made: ReferenceMessage | str


def _conversation(ruled: Ruled, pointer: str, session: dict[str, Any], folder: str, entries: dict[str, Entry]) -> None:
    found: list[_Made] = []
    id, least = word(session.get("sessionId")), session.get("createdAt", ABSENT)
    try:
        for number, raw in sort(list(enumerate(session["messages"])), lambda item: _turn(item[1])):
            entry = entries.get(f"{pointer}/messages/{number}")
            own = [] if entry is None else [entry]
            made = _message(raw, within(id), key_of(own))
            if isinstance(made, ReferenceMessage):
                when = _later(either(raw.get("timestamp"), 0), least)
                made, least = attrs.evolve(made, timestamp=iso(when)), when + 1
            found.append(_Made(raw, own, made))
    except Stops:
        ruled.pass_over(
            [e for at, e in entries.items() if at == pointer or at.startswith(f"{pointer}/")], "chatcrystal/stopped"
        )
        return
    messages = []
    for raw, own, made in found:
        if isinstance(made, str):
            ruled.pass_over(own, made)
        else:
            messages.append(made)
            ruled.rest[made.key] = "chatcrystal/beside-content" if trim(raw.get("content") or "") else "chatcrystal/step-text"
            if raw.get("timestamp") != milliseconds(made.timestamp):
                ruled.left.append(LeftOut("chatcrystal/made-time", "time", made.key))
    ruled.add(id, messages, cwd=folder or None)


def _later(stamp: Any, least: Any) -> Any:
    """The time of a message, which is never before the least that is left for it."""
    least = 0 if least is None else least
    if not isinstance(stamp, int | float) or not isinstance(least, int | float):
        raise Stops
    return max(stamp, least)


def _turn(message: Any) -> float:
    index = field(message, "turnIndex")
    return 0 if index is None else index if isinstance(index, int | float) else NEVER


def _message(message: Any, session: str, key: str) -> ReferenceMessage | str:
    """The message, still without its time; or why there is none."""
    role = field(message, "role")
    if role not in ("user", "assistant"):
        return "chatcrystal/other-role"
    content = message.get("content")
    if role == "user" or content is None:
        content = either(content, "")
    text, thinking = trim(string(content)), None
    if role == "assistant" and not text:
        text, thinking = _task(message.get("agentTaskContent"))
    if not text and not thinking:
        return "chatcrystal/empty" if role == "user" else "chatcrystal/no-text"
    made = f"{session}-{within(message.get('turnIndex', ABSENT))}"
    id = either(message.get("agentMessageId"), message.get("turnId"), made)
    tool = role == "assistant" and _uses_tools(message)
    return ReferenceMessage(shown(id), None, role, role, text, tool, "```" in text, thinking, None, key)


def _steps(task: Any) -> list[Any]:
    guideline = task.get("guideline") if type(task) is dict else None
    items = guideline.get("planItems") if type(guideline) is dict else None
    if truthy(items) and type(items) is not list:
        raise Stops
    return items or []


def _task(task: Any) -> tuple[str, str | None]:
    """Text and reasoning of an agent: its proposal, and the words of the step ``finish``."""
    if type(task) is not dict:
        return "", None
    said, thought = [task.get("proposal")], [task.get("proposalReasoningContent")]
    for step in _steps(task):
        thought.append(field(step, "reasoningContent"))
        if field(step, "toolName") == "finish":
            said.append(step.get("thought"))
    texts, thoughts = ([shown(text) for text in some if truthy(text)] for some in (said, thought))
    guideline = task.get("guideline")
    if not texts and type(guideline) is dict and truthy(guideline.get("thought")):
        texts = [shown(guideline["thought"])]
    return trim("\n\n".join(texts)), "\n".join(thoughts) if thoughts else None


def _uses_tools(message: dict[str, Any]) -> bool:
    names = [field(step, "toolName") for step in _steps(message.get("agentTaskContent"))]
    return any(truthy(name) and name != "finish" for name in names)
