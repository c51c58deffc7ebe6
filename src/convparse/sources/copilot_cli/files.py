"""Which files are Copilot CLI's, and which belong to one session.

``detect`` reads content, never names. ``gather`` is the one place of this source that looks at the file system: what lies in a
session's own folder, beside ``events.jsonl``.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from convparse.sources._source import Gathered, Head, Match

_PREFIXES: Final = ("session.", "assistant.", "user.", "tool.", "subagent.", "custom_agent.", "system.", "hook.", "permission.")
_NOTES: Final = frozenset({"workspace.yaml", "plan.md", "rewind-file-snapshots/index.json"})
_BOOKKEEPING: Final = (
    "inuse.",
    ".workspace-fork",
    "vscode.metadata",
    "vscode.requests",
    "session.db",
    "rewind-file-snapshots/",
)
_DEPTH: Final = 4


def is_event(value: dict[str, Any]) -> bool:
    """True for what can stand as an event."""
    return type(value.get("type")) is str and type(value.get("data")) is dict and "id" in value


def detect(head: Head) -> Match | None:
    """Which of Copilot CLI's formats a file has, if any."""
    records = [record for record in head.records if type(record) is dict]
    if len(head.records) == 1 and head.whole and records:
        only = records[0]
        if type(only.get("chatMessages")) is list and type(only.get("timeline")) is list and "sessionId" in only:
            return Match("history", "an object with `chatMessages` and `timeline`")
    for record in records:
        if is_event(record) and record["type"].startswith(_PREFIXES) and not _is_extension(record):
            return Match("events", f"a `{record['type']}` event with `data`")
    return None


def _is_extension(record: dict[str, Any]) -> bool:
    return record["type"] == "session.start" and "vscodeVersion" in record["data"]


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """The events of a session, and the documents in its folder."""
    given = Path(path)
    main = given / "events.jsonl" if given.is_dir() else given
    if variant != "events" or main.name != "events.jsonl":
        return Gathered(((str(main), variant),))
    notes, unread = {}, []
    for name in _walk(main.parent, 0):
        inside = Path(name).relative_to(main.parent).as_posix()
        if inside == "events.jsonl":
            continue
        if inside in _NOTES or (inside.startswith("checkpoints/") and inside.endswith(".md")):
            notes[inside] = name
        else:
            own = inside.startswith(_BOOKKEEPING)
            unread.append((name, "skipped-file" if own else "unread-file"))
    return Gathered(((str(main), variant),), notes, tuple(unread))


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
        elif entry.is_file():
            yield entry.path
