"""Which files are Claude Code's, and which belong to one session.

``detect`` reads content, never names. ``gather`` is the one place of this source that looks at the file system: it lists what
lies beside a transcript, follows no links to folders and decodes no folder name into a path. Paths are plain texts here, for
``discover`` gathers thousands of sessions, and ``pathlib`` would take half of its time.
"""
# ruff: noqa: PTH112, PTH113, PTH118, PTH119, PTH120, PTH122

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from convparse.reading.opening import read_beginning
from convparse.sources._source import Gathered, Head, Match

_TRANSCRIPT: Final = frozenset({"sessionId", "leafUuid", "messageId", "parentUuid"})
_FRAMES: Final = frozenset(
    {"assistant", "user", "result", "system", "stream_event", "control_response", "control_request", "rate_limit_event"}
)
_OWN: Final = frozenset({"uuid", "tools", "total_cost_usd"})
"""Keys of frames that no other product's frames have."""
_DEPTH: Final = 8
_BEGINNING: Final = 64 << 10
_SESSION: Final = re.compile(rb'"sessionId":"([^"]*)"')


def is_row(value: dict[str, Any]) -> bool:
    """True for what can stand as a row of a transcript: records nested in others lack one of these keys."""
    return type(value.get("type")) is str and not _TRANSCRIPT.isdisjoint(value)


def is_frame(value: dict[str, Any]) -> bool:
    """True for a frame of the stdout grammar."""
    return type(value.get("type")) is str and "session_id" in value and "sessionId" not in value


def is_prompt(value: dict[str, Any]) -> bool:
    """True for a line of ``history.jsonl``."""
    return "display" in value and "timestamp" in value


def detect(head: Head) -> Match | None:
    """Which of Claude Code's formats a file has, if any."""
    records = [record for record in head.records if type(record) is dict]
    if len(head.records) == 1 and head.whole:
        only = head.records[0]
        if type(only) is list and only and all(type(item) is dict and is_frame(item) for item in only):
            return Match("json", "an array of frames with `session_id`")
        if type(only) is dict and only.get("type") == "result" and is_frame(only):
            return Match("json", "a result object with `session_id`")
    for record in records:
        if is_frame(record) and record["type"] in _FRAMES and not _OWN.isdisjoint(record):
            return Match("stream-json", f"a `{record['type']}` frame with `session_id`")
        if is_prompt(record) and ("pastedContents" in record or "project" in record):
            return Match("history", "prompts with `display` and `project`")
        if is_row(record) and _is_claude(record):
            return Match("transcript", f"a `{record['type']}` row with `sessionId`")
    return None


def _is_claude(row: dict[str, Any]) -> bool:
    kind = row["type"]
    if kind in ("user", "assistant", "system", "attachment", "progress"):
        return "uuid" in row and "parentUuid" in row and ("sessionId" in row or "message" in row)
    if kind == "summary":
        return "leafUuid" in row and "summary" in row
    if kind == "file-history-snapshot":
        return "snapshot" in row
    return kind in _BESIDE and "sessionId" in row


_BESIDE: Final = frozenset(
    "agent-color agent-name agent-setting ai-title atis-latch bridge-session content-replacement continued-in cost-state"
    " custom-title fork-context-ref last-prompt mode permission-mode pr-link queue-operation relocated tag tools-used"
    " worktree-state api-request api-request-shape api-request-blob".split()
)


_Beside: TypeAlias = Callable[[str], Mapping[str, list[str]]]
"""Of a folder the agent files in it (2.0.x), by the session that they name."""


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """The files of the session that a path names: ``<id>.jsonl`` and the folder ``<id>`` both mean it."""
    return _gather(path, variant, subagents, _agents_in)


def gathering() -> Callable[[str, str, bool], Gathered]:
    """A ``gather`` that looks only once at what lies beside the sessions of a folder."""
    beside = cache(_agents_in)
    return lambda path, variant, subagents: _gather(path, variant, subagents, beside)


def _gather(path: str, variant: str, subagents: bool, beside: _Beside) -> Gathered:
    if variant != "transcript":
        return Gathered(((path, variant),))
    given = str(Path(path))
    main = f"{given}.jsonl" if os.path.isdir(given) else given
    folder, name = os.path.split(main)
    stem, suffix = os.path.splitext(name)
    if name.startswith("agent-"):
        return Gathered(((path, variant),), _metas([main]))
    everything = list(_walk(os.path.join(folder, stem), 0)) if suffix == ".jsonl" else []
    found = [entry for entry in everything if entry.is_file(follow_symlinks=False)]
    agents = [entry.path for entry in found if _is_agent(entry.name)] + beside(folder).get(stem, [])
    journals = [entry.path for entry in found if entry.name == "journal.jsonl"]
    notes = _metas(agents)
    notes |= {f"tool-results/{entry.name}": entry.path for entry in found if _folder(entry) == "tool-results"}
    workflows = [entry for entry in found if _folder(entry) == "workflows" and entry.name.endswith(".json")]
    notes |= {f"workflow/{entry.name}": entry.path for entry in workflows}
    notes |= {f"title/{entry.name}": entry.path for entry in found if entry.name == "custom-title.json"}
    logs = ([(main, variant)] if os.path.isfile(main) else []) + [(name, variant) for name in (*agents, *journals)]
    left: list[tuple[str, str]] = []
    if not subagents:
        metas = [path for name, path in notes.items() if name.startswith("meta/")]
        left = [(name, "skipped-file") for name in (*(name for name, _ in logs[1:]), *metas)]
        logs, notes = logs[:1], {name: path for name, path in notes.items() if not name.startswith("meta/")}
    read = {*(name for name, _ in logs), *notes.values(), *(name for name, _ in left)}
    left += [(entry.path, "unread-file") for entry in everything if entry.path not in read]
    return Gathered(tuple(logs), notes, tuple(left))


def _is_agent(name: str) -> bool:
    return name.startswith("agent-") and name.endswith(".jsonl")


def _folder(entry: "os.DirEntry[str]") -> str:
    return os.path.basename(os.path.dirname(entry.path))


def _metas(agents: list[str]) -> dict[str, str]:
    pairs = ((agent, f"{agent.removesuffix('.jsonl')}.meta.json") for agent in agents)
    return {f"meta/{agent}": meta for agent, meta in pairs if os.path.isfile(meta)}


def _agents_in(folder: str) -> dict[str, list[str]]:
    """The agent files that lie in a folder with the sessions (2.0.x), by the session that they name."""
    found: dict[str, list[str]] = {}
    for name in sorted(entry.name for entry in _entries(folder or os.curdir) if _is_agent(entry.name)):
        path = os.path.join(folder, name)
        for id in dict.fromkeys(_SESSION.findall(_beginning(path))):
            found.setdefault(os.fsdecode(id), []).append(path)
    return found


def _beginning(path: str) -> bytes:
    try:
        return read_beginning(path, _BEGINNING)
    except OSError:
        return b""


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _walk(folder: str, depth: int) -> Iterator["os.DirEntry[str]"]:
    """The files below a folder, in the order of their names; links to folders are not followed."""
    for entry in sorted(_entries(folder), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            if depth < _DEPTH:
                yield from _walk(entry.path, depth + 1)
        else:
            yield entry
