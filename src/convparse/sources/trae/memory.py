"""The memory library (``~/.trae-cn/memory``): summaries that a model wrote of sessions, never the sessions.

``session_memory_<id>.jsonl`` has one summary a line; ``topics.md`` has blocks that name their session, sometimes without a line
break before them; ``project_memory.md`` and ``user_profile.md`` are notes. All become events. A time without a
zone stays a text.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final

from convparse.ledger import NOWHERE, Ledger, Place
from convparse.records import Conversation, Entry
from convparse.sources._reading import Extra, json_of
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.trae.fields import MEMORY
from convparse.sources.trae.resolve import freeze
from convparse.sources.trae.state import Draft, State
from convparse.sources.trae.times import NEVER, read_time

BLOCK: Final = re.compile(rb"\[session_id:[ \t]*([^|\]\n]*?)[ \t]*\|[ \t]*\w+_time:[ \t]*([^\]\n]*)\]")
_NO_SESSION: Final = frozenset({"", "auto"})


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a line."""
    state = State(ledger)
    group = _session_of(ledger.path)
    for value, place in units:
        if type(value) is dict and type(value.get("intent")) is str:
            yield _summary(value, place, state, group)
        else:
            yield state.odd_event(value, "session_memory", place, group)


def _session_of(path: str) -> str | None:
    """The session that a file's name names."""
    stem = PurePath(path).stem
    return stem.removeprefix("session_memory_") or None if stem.startswith("session_memory_") else None


def _summary(value: dict[str, Any], place: Place, state: State, group: str | None) -> Draft:
    extra: Extra = {}
    line = state.open(value, MEMORY, place, "", extra)
    id = line.text("message_id")
    meta = value.get("compact_summary_meta")
    made = meta.get("created_at_ms") if type(meta) is dict else None
    when = read_time(made) if type(made) is int else NEVER
    local = value.get("message_summary_time")
    text = local if when[0] is None and type(local) is str else when[2]
    event = state.event(
        "summary",
        "session_memory",
        place,
        group,
        json_of({pointer[1:]: item for pointer, item in extra.items()}) if extra else None,
        text=value["intent"],
        id=id,
        timestamp=when[0],
        timestamp_origin=when[1],
        timestamp_text=text,
    )
    return Draft(event, "summary", place, group)


def read_topics(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a block of text; the blocks join without gaps."""
    state = State(ledger)
    for data, _ in units:
        marks = list(BLOCK.finditer(data))
        edges = [0, *(mark.start() for mark in marks if mark.start()), len(data)]
        starts = {mark.start(): mark for mark in marks}
        line = 1
        for begin, end in pairwise(edges):
            yield _topic(data[begin:end], starts.get(begin), (line, begin, end - begin), state)
            line += data.count(b"\n", begin, end)


def _topic(data: bytes, mark: re.Match[bytes] | None, place: Place, state: State) -> Draft:
    text = data.decode("utf-8", "replace")
    if text.encode() != data:
        state.ledger.part("invalid-utf8", place, record="memory")
    if mark is None:
        return Draft(state.event("memory", "notes", place, None, None, text=text), "memory", place, None)
    id, when = (mark[n].decode("utf-8", "replace") for n in (1, 2))
    group = None if id in _NO_SESSION else id
    event = state.event("summary", "topics", place, group, None, text=text, timestamp_text=when or None)
    return Draft(event, "summary", place, group)


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a session, of which there are only summaries."""
    groups: dict[str, list[Entry]] = {}
    loose: list[Entry] = []
    for part in parts:
        for draft in part.drafts:
            entry = freeze(draft.entry)
            if draft.group is None:
                loose.append(entry)
            else:
                if draft.group not in groups:
                    part.ledger.part("trae/summary-only", draft.place or NOWHERE, record=draft.name)
                groups.setdefault(draft.group, []).append(entry)
    return [Conversation(id, "trae", body="missing", entries=tuple(entries)) for id, entries in groups.items()], loose
