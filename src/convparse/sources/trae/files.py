"""Which files are Trae's, and which belong to one database or session.

``detect`` reads content; names only tell apart what has no shape. ``gather`` is the one place of this source that looks at the
file system. It lists by name what it gives out and nothing else: ``storage.json``, ``trae-jwt-token``, ``mcp.json`` and
cookies, which hold credentials, are never opened; of the encrypted database no more than the first 16 bytes are.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from convparse.reading.tables import bounds
from convparse.sources._source import Gathered, Head, Match
from convparse.sources.codex import files as codex
from convparse.sources.trae.editor import ITEM
from convparse.sources.trae.memory import BLOCK
from convparse.sources.trae.resolve import SNAPSHOT, STORE
from convparse.sources.trae.runtime import reads
from convparse.sources.trae.workspaces import LONG, WORKSPACE

if TYPE_CHECKING:
    from convparse.reading.sqlite import Database

AGENTS: Final = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline")
"""Extensions that keep conversations of their own below ``globalStorage``."""
_BEGINNING: Final = ("task", "agent_id", "steps", "chat_session_id", "message_id", "agent_process_support", "chat_start_time")
_PAYLOADS: Final = ("agent_start", "agent_end", "tool_call", "message")
_ENVELOPE: Final = {"id", "session_id", "created_at"}
_RUN: Final = ("llm_interactions", "llm_interaction", "agent_steps")
_CLI: Final = {"session.json": "cli-session", "events.jsonl": "cli-events", "traces.jsonl": "cli-traces"}
_NOTES: Final = frozenset({"project_memory.md", "user_profile.md"})
_LISTED: Final = 10_000
_DEPTH: Final = 3


# ---- content ---------------------------------------------------------------------------------------------------------------


def is_memory(value: dict[str, Any]) -> bool:
    """True for a line of the memory library."""
    return "intent" in value and ("message_summary_time" in value or "compact_summary_meta" in value)


def is_event(value: dict[str, Any]) -> bool:
    """True for a line of ``events.jsonl`` of TRAE CLI 1.x."""
    return value.keys() >= _ENVELOPE and len(value) == len(_ENVELOPE) + 1


def is_span(value: dict[str, Any]) -> bool:
    """True for a line of ``traces.jsonl``."""
    return "traceID" in value and "spanID" in value


def detect(head: Head) -> Match | None:
    """Which of Trae's formats a file has, if any."""
    if head.database is not None:
        return _detect_database(head.database)
    if len(head.records) == 1 and head.whole:
        only = head.records[0]
        match = _detect_document(only) if type(only) is dict else None
        if match is None and reads(only):
            match = Match("runtime", "messages with `message_id` and `chat_session_id`")
        if match is not None:
            return match
    for record in head.records:
        match = _detect_line(record) if type(record) is dict else None
        if match is not None:
            return match
    return _detect_bytes(head) or _as_codex(head)


def _detect_database(database: "Database") -> Match | None:
    if not database.has(ITEM):
        return None
    for prefix in ("memento/icube-ai-", "icube-ai-agent-", "icube_session_agent_map", "ai-chat-v2."):
        if database.next_key(ITEM, *bounds(prefix)) is not None:
            return Match("editor", f"keys that begin with `{prefix}` in `ItemTable`")
    found = database.next_key(ITEM, *bounds("icube")) or database.next_key(ITEM, *bounds("iCube"))
    return Match("editor", "keys of the editor in `ItemTable`", False) if found is not None else None


def _detect_document(value: dict[str, Any]) -> Match | None:
    if "task" in value and any(type(value.get(key)) is list for key in _RUN):
        return Match("trajectory", "a run with `task` and its interactions or steps")
    if "agent_id" in value and "task" in value and type(value.get("steps")) is list:
        return Match("trajectory", "a run with `agent_id`, `task` and `steps`")
    metadata = value.get("metadata")
    if value.keys() >= {"id", "created_at", "updated_at"} and type(metadata) is dict and "permission_mode" in metadata:
        return Match("cli-session", "a session with `metadata.permission_mode`")
    return None


def _detect_line(value: dict[str, Any]) -> Match | None:
    if is_memory(value):
        return Match("memory", "summaries with `intent`")
    if is_event(value) and any(key in value for key in _PAYLOADS):
        return Match("cli-events", "events whose one key names their type")
    if is_span(value):
        return Match("cli-traces", "spans with `traceID`")
    payload = value.get("payload")
    if codex.is_line(value) and type(payload) is dict and payload.get("model_provider") == "trae":
        return Match("traex", "a rollout whose provider is `trae`")
    return None


def _detect_bytes(head: Head) -> Match | None:
    if BLOCK.search(head.data[:4096]):
        return Match("topics", "blocks that begin with `[session_id:`")
    if not head.records and head.name in _NOTES:
        return Match("topics", "a file of notes of the memory library, by its name", False)
    match = None if any(type(record) is dict for record in head.records) else _detect_beginning(head.data)
    if match is not None:
        return match
    if not head.records and head.name == "database.db" and _is_cipher(head.data):
        return Match("encrypted-store", "bytes that are no SQLite header, in a file named like the encrypted database", False)
    return None


def _detect_beginning(data: bytes) -> Match | None:
    """The same of a document that is cut, or too large to be looked at whole."""
    names = {name for name in (*_RUN, *_BEGINNING) if f'"{name}"'.encode() in data}
    if not data.lstrip().startswith((b"{", b"[")):
        return None
    if "task" in names and (names.intersection(_RUN) or names >= {"agent_id", "steps"}):
        return Match("trajectory", "the beginning of a run", False)
    if "chat_session_id" in names and names & {"message_id", "agent_process_support", "chat_start_time"}:
        return Match("runtime", "the beginning of messages with `chat_session_id`", False)
    return None


def _is_cipher(data: bytes) -> bool:
    """True for what begins neither as a database nor as text."""
    try:
        data[:16].decode()
    except UnicodeDecodeError:
        return True
    return b"\0" in data[:16] and not data.startswith(b"SQLite format 3\0")


def _as_codex(head: Head) -> Match | None:
    """The terminal agent's files without a provider: the same as Codex's, so that only who asks can know."""
    match = codex.detect(head)
    if match is None or match.variant not in _AS_CODEX:
        return None
    return Match(_AS_CODEX[match.variant], f"{match.reason}, as Codex writes them", False)


_AS_CODEX: Final = {"rollout": "traex", "rollout-zst": "traex-zst", "history": "traex-history", "index": "traex-index"}


# ---- the files of a session ------------------------------------------------------------------------------------------------


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """The files of the session, or what stands beside a database."""
    given = Path(path)
    if variant == "editor":
        return _beside(given)
    if variant == "encrypted-store":
        notes = {STORE: path, **_snapshots(given.parent)}
        return Gathered((), notes, _named(notes))
    if variant in _CLI.values():
        folder = given if given.is_dir() else given.parent
        whole = given.is_dir() or given.name in _CLI
        found = [(str(folder / name), kind) for name, kind in _CLI.items() if whole and (folder / name).is_file()]
        return Gathered(tuple(found or [(path, variant)]))
    if variant in ("traex", "traex-zst"):
        logs = codex.gather(path, variant.replace("traex", "rollout"), subagents).logs
        return Gathered(tuple((name, kind.replace("rollout", "traex")) for name, kind in logs))
    return Gathered(((path, variant),))


def _beside(given: Path) -> Gathered:
    """What belongs to a database: its folder's name, pasted texts, the encrypted database, copies, files of other agents."""
    folder = given.parent
    notes = {WORKSPACE: str(folder / WORKSPACE)} if (folder / WORKSPACE).is_file() else {}
    notes |= {name: str(folder / name) for name in _walk(folder, LONG.rstrip("/"), 0)}
    store = _store(given)
    if store is not None:
        notes[STORE] = str(store)
        if folder.name == "globalStorage" or store.parents[2] == folder:
            notes |= _snapshots(store.parent)
    left = [(str(folder / name), "trae/backup") for name in (f"{given.name}.backup",) if (folder / name).is_file()]
    others = ["chatSessions", "emptyWindowChatSessions", *(f"{agent}/tasks" for agent in AGENTS)]
    left += [(str(folder / name), "unread-file") for name in _walk(folder, "paste-files", 0)]
    left += [(str(folder / name), "trae/other-agent") for other in others for name in _walk(folder, other, 0)]
    return Gathered(((str(given), "editor"),), notes, (*_named(notes), *left))


def _named(notes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What is named and never opened: the encrypted database with its log, and folders of checkpoints."""
    named = [(path, "trae/encrypted-store") for name, path in notes.items() if name == STORE]
    named += [(path + end, code) for path, code in named for end in ("-wal",) if Path(path + end).is_file()]
    return (*named, *((path, "trae/checkpoint") for name, path in notes.items() if name.startswith(SNAPSHOT)))


def _store(given: Path) -> Path | None:
    """The encrypted database of the installation that a database is part of."""
    for folder in given.parents[:4]:
        store = folder / "ModularData" / "ai-agent" / "database.db"
        if store.is_file():
            return store if not _is_plain(store) else None
    return None


def _is_plain(store: Path) -> bool:
    """True if the first bytes are those of a database that is not encrypted."""
    try:
        with store.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _snapshots(folder: Path) -> dict[str, str]:
    """The sessions of which there are checkpoints of files, each with a file of the repository."""
    try:
        found = sorted(entry.name for entry in os.scandir(folder / "snapshot") if entry.is_dir())
    except OSError:
        return {}
    return {f"{SNAPSHOT}{name}": str(folder / "snapshot" / name / "v2" / ".git" / "HEAD") for name in found[:_LISTED]}


def _walk(root: Path, name: str, depth: int) -> Iterator[str]:
    """The files below a folder, by their names from the root; links to folders are not followed."""
    try:
        entries = sorted(os.scandir(root / name), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries[:_LISTED]:
        inside = f"{name}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if depth < _DEPTH:
                yield from _walk(root, inside, depth + 1)
        elif entry.is_file(follow_symlinks=False):
            yield inside
