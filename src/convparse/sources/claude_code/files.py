"""Which files are Claude Code's, and which belong to one session.

``detect`` reads content, never names. ``gather`` is the one place of this source that looks at the file system: it lists what
lies beside a transcript, follows no links to folders and decodes no folder name into a path.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from convparse.reading.opening import open_regular
from convparse.sources._source import Gathered, Head, Match

_TRANSCRIPT: Final = frozenset({"sessionId", "leafUuid", "messageId", "parentUuid"})
_FRAMES: Final = frozenset(
    {"assistant", "user", "result", "system", "stream_event", "control_response", "control_request", "rate_limit_event"}
)
_OWN: Final = frozenset({"uuid", "tools", "total_cost_usd"})
"""Keys of frames that no other product's frames have."""
_DEPTH: Final = 8


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


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """The files of the session that a path names: ``<id>.jsonl`` and the folder ``<id>`` both mean it."""
    if variant != "transcript":
        return Gathered(((path, variant),))
    given = Path(path)
    main = given.with_name(f"{given.name}.jsonl") if given.is_dir() else given
    folder = main.with_suffix("") if main.suffix == ".jsonl" else None
    if main.name.startswith("agent-"):
        return Gathered(((path, variant),), _metas([str(main)]))
    everything = list(_walk(folder, 0)) if folder is not None else []
    found = [name for name in everything if Path(name).is_file() and not Path(name).is_symlink()]
    agents = [name for name in found if _is_agent(Path(name))] + _flat_agents(main)
    journals = [name for name in found if Path(name).name == "journal.jsonl"]
    notes = _metas(agents)
    notes |= {f"tool-results/{Path(n).name}": n for n in found if Path(n).parent.name == "tool-results"}
    notes |= {f"workflow/{Path(n).name}": n for n in found if Path(n).parent.name == "workflows" and n.endswith(".json")}
    notes |= {f"title/{Path(n).name}": n for n in found if Path(n).name == "custom-title.json"}
    logs = ([(str(main), variant)] if main.is_file() else []) + [(name, variant) for name in (*agents, *journals)]
    left: list[tuple[str, str]] = []
    if not subagents:
        metas = [path for name, path in notes.items() if name.startswith("meta/")]
        left = [(name, "skipped-file") for name in (*(name for name, _ in logs[1:]), *metas)]
        logs, notes = logs[:1], {name: path for name, path in notes.items() if not name.startswith("meta/")}
    read = {*(name for name, _ in logs), *notes.values(), *(name for name, _ in left)}
    left += [(name, "unread-file") for name in everything if name not in read]
    return Gathered(tuple(logs), notes, tuple(left))


def _is_agent(path: Path) -> bool:
    return path.suffix == ".jsonl" and path.name.startswith("agent-")


def _metas(agents: list[str]) -> dict[str, str]:
    pairs = ((agent, f"{agent.removesuffix('.jsonl')}.meta.json") for agent in agents)
    return {f"meta/{agent}": meta for agent, meta in pairs if Path(meta).is_file()}


def _flat_agents(main: Path) -> list[str]:
    """Agent files beside the session (2.0.x), those that name it."""
    names: list[str] = []
    try:
        with os.scandir(main.parent) as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith("agent-") and entry.name.endswith(".jsonl"))
    except OSError:
        pass
    mark = f'"sessionId":"{main.stem}"'.encode()
    return [str(main.parent / name) for name in names if mark in _beginning(main.parent / name)]


def _beginning(path: Path) -> bytes:
    try:
        file, _ = open_regular(str(path))
        with file:
            return file.read(1 << 16)
    except OSError:
        return b""


def _walk(folder: Path, depth: int) -> Iterator[str]:
    """The files below a folder, in the order of their names; links to folders are not followed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth < _DEPTH:
                yield from _walk(Path(entry.path), depth + 1)
        else:
            yield entry.path
