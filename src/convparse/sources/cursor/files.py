"""Which files are Cursor's, and which belong to one session.

``detect`` reads content: tables of a database and the shape of lines. ``gather`` is the one place of this source that looks at
the file system: ``workspace.json`` and the product's own copies beside a database, ``meta.json`` beside a store, the
sub-agents of a transcript.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from convparse.sources._source import Gathered, Head, Match
from convparse.sources.cursor.agents import BLOBS, META
from convparse.sources.cursor.editor import ITEM, KV
from convparse.sources.cursor.fields import CHAT, GENERATIONS, HEADS, PROMPTS, READ

if TYPE_CHECKING:
    from convparse.reading.sqlite import Database

_FRAMES: Final = frozenset({"system", "user", "assistant", "thinking", "tool_call", "result"})
_ENDS: Final = frozenset({"turn_ended", "error", "metadata"})


def is_line(value: dict[str, Any]) -> bool:
    """True for a line of an agent's transcript."""
    if type(value.get("role")) is str and type(value.get("message")) is dict:
        return "uuid" not in value and "sessionId" not in value
    kind = value.get("type")
    return type(kind) is str and kind in _ENDS and "session_id" not in value


def is_frame(value: dict[str, Any]) -> bool:
    """True for a frame of ``cursor-agent``'s stdout."""
    kind = value.get("type")
    return type(kind) is str and kind in _FRAMES and type(value.get("session_id")) is str and "uuid" not in value


def detect(head: Head) -> Match | None:
    """Which of Cursor's formats a file has, if any."""
    if head.database is not None:
        return _detect_database(head.database)
    records = [record for record in head.records if type(record) is dict]
    if len(head.records) == 1 and head.whole and records and _is_result(records[0]):
        return Match("json", "a result object with `session_id` and `request_id`")
    frames = [record for record in records if is_frame(record)]
    if any(frame["type"] in ("tool_call", "thinking") or "apiKeySource" in frame for frame in frames):
        return Match("stream-json", "frames with `session_id`, tool calls of their own")
    if any(is_line(record) for record in records if "role" in record or record.get("type") == "turn_ended"):
        return Match("agent-transcript", "lines with `role` and `message` alone")
    text = head.data.lstrip()
    if text.startswith((b"user:", b"assistant:")) and not records:
        return Match("agent-text", "blocks that begin with `user:` and `assistant:`")
    return None


def _is_result(value: dict[str, Any]) -> bool:
    return value.get("type") == "result" and is_frame(value) and "request_id" in value


def _detect_database(database: "Database") -> Match | None:
    if database.has(BLOBS) and database.has(META):
        return Match("agent-store", "tables `blobs` and `meta`")
    if database.has(KV) and any(database.next_key(KV, f"{family}:", f"{family};") is not None for family in READ):
        return Match("editor", "conversations in the table `cursorDiskKV`")
    keys = (*HEADS, CHAT, PROMPTS, GENERATIONS)
    if database.has(ITEM) and any(database.row(ITEM, key) is not None for key in keys):
        return Match("editor", "keys of conversations in `ItemTable`", database.has(KV))
    return Match("editor", "a table `cursorDiskKV`") if database.has(KV) else None


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """The files of the session, or what stands beside a database."""
    given = Path(path)
    if variant == "editor":
        return Gathered(((path, variant),), _note(given, "workspace.json"), tuple(_copies(given)))
    if variant == "agent-store":
        return Gathered(((path, variant),), _note(given, "meta.json"))
    if given.is_dir():
        given = given / f"{given.name}.jsonl"
        path = str(given)
    if variant != "agent-transcript":
        return Gathered(((path, variant),))
    folder = given.parent / "subagents"
    found = sorted(_names(folder)) if given.parent.name == given.stem else []
    agents = [str(folder / name) for name in found if name.endswith(".jsonl")]
    if not subagents:
        return Gathered(((path, variant),), {}, tuple((agent, "skipped-file") for agent in agents))
    return Gathered(((path, variant), *((agent, variant) for agent in agents)))


def _note(given: Path, name: str) -> dict[str, str]:
    beside = given.with_name(name)
    return {name: str(beside)} if beside.is_file() else {}


def _copies(given: Path) -> list[tuple[str, str]]:
    """The product's copies of a database: the backup, and what it could not open (which then is older or newer)."""
    marks = (f"{given.name}.backup", f"{given.name}.corrupted.")
    return [(str(given.with_name(name)), "cursor/backup") for name in sorted(_names(given.parent)) if name.startswith(marks)]


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if entry.is_file()]
    except OSError:
        return []
