"""What a file's header says of its thread; what in the file is copied from another; what was taken back.

What comes in: the drafts of one file, twins already folded. What goes out: marks on them. A time is only ever compared with the
time of the line before it, to see where a burst of copied lines ends.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, Final

import attrs
import orjson

from convparse.blocks import ToolCall, ToolResult
from convparse.records import Link
from convparse.sources.codex.state import Draft
from convparse.times import iso_time

_TIMED: Final = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
"""A UUID of version 7, which begins with a time."""
_BURST: Final = timedelta(milliseconds=5)
"""Copied lines are written within a millisecond or two of each other."""


@attrs.define
class Header:
    """What the first header of a file says; all None without one."""

    id: str | None = None
    created_at: datetime | None = None
    forked_from: str | None = None
    base: str | None = None
    base_end: int | None = None
    first_ordinal: int | None = None
    """Of a sub-agent's own history."""
    agent: str | None = None
    """What kind of sub-agent the thread belongs to, if any."""
    version: str | None = None
    known: frozenset[str] = frozenset()
    """The ids of the thread and of those that lines were copied from."""
    headers: int = 0
    copied: bool = False
    """True if the header of another thread follows at once: its lines were copied."""


def header_of(drafts: Sequence[Draft]) -> Header:
    """The thread that a file belongs to."""
    found = [draft for draft in drafts if draft.name in ("session_meta", "header", "session") and draft.facts is not None]
    if not found:
        return Header()
    facts = found[0].facts or {}
    base = facts.get("history_base")
    base = base if type(base) is dict else {}
    stamp = facts.get("timestamp")
    names = [(draft.facts or {}).get("id") for draft in found]
    forked = _string(facts.get("forked_from_id"))
    return Header(
        _string(facts.get("id")),
        iso_time(stamp)[0] if type(stamp) is str else None,
        forked,
        _string(base.get("thread_id")),
        _number(base.get("end_ordinal_exclusive")),
        _number(facts.get("subagent_history_start_ordinal")),
        _agent(facts.get("source")),
        _string(facts.get("cli_version")),
        frozenset(name for name in (*names, forked) if type(name) is str),
        len(found),
        len(found) > 1 and names[1] != names[0] and found[1] is drafts[drafts.index(found[0]) + 1],
    )


def _string(value: Any) -> str | None:
    return value if type(value) is str else None


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def _agent(source: Any) -> str | None:
    if type(source) is not dict:
        return None
    agent = source.get("subagent")
    if type(agent) is str:
        return agent
    if type(agent) is dict and agent:
        return str(next(iter(agent)))
    return "internal" if "internal" in source else None


def mark_inherited(drafts: Sequence[Draft], header: Header) -> None:
    """Mark what a file's beginning has copied from another thread."""
    end = _own_start(drafts, header)
    for draft in drafts[1:end]:
        draft.entry.inherited = True


def _own_start(drafts: Sequence[Draft], header: Header) -> int:
    """Where a thread's own lines begin."""
    if header.first_ordinal is not None and header.headers > 1:
        own = [i for i, d in enumerate(drafts) if d.ordinal is not None and d.ordinal >= header.first_ordinal]
        return own[0] if own else 1  # a boundary behind the last line would hide everything
    if header.base is not None or not (header.copied or header.forked_from is not None):
        return 1
    return _burst_end(drafts, header)


def _burst_end(drafts: Sequence[Draft], header: Header) -> int:
    """Behind the burst of copied lines that follows the header, and behind what surely is older than the thread."""
    sure = 1
    for i, draft in enumerate(drafts):
        if draft.name in ("task_started", "task_complete") and draft.facts is not None:
            age = _age(draft.facts, header)
            if age < 0:
                sure = i
            elif age > 0 and draft.name == "task_started":
                return max(i, sure)
    for i in range(max(sure, 1) + 1, len(drafts)):
        before, here = drafts[i - 1].entry.timestamp, drafts[i].entry.timestamp
        if before is not None and here is not None and here - before >= _BURST:
            return i
    return len(drafts)


def _age(turn: dict[str, Any], header: Header) -> int:
    """Below zero for a turn that is older than the thread, above for a younger one, zero where nothing tells.

    The ids of threads and turns have the millisecond of their making in them (threads since 0.39, turns since 0.104); the time
    beside a turn's id has whole seconds, and of the thread's own second says nothing.
    """
    thread, made = _minted(header.id), _minted(turn.get("turn_id"))
    if thread is not None and made is not None:
        return 1 if made >= thread else -1
    at = turn.get("started_at", turn.get("completed_at"))
    if type(at) is not int or header.created_at is None:
        return 0
    return at - int(header.created_at.timestamp() // 1)


def _minted(id: Any) -> int | None:
    """The millisecond in which an id was made, where it says so."""
    return int(id[:8] + id[9:13], 16) if type(id) is str and _TIMED.fullmatch(id) else None


def mark_undone(drafts: Sequence[Draft]) -> None:
    """Mark the turns that were rolled back: the newest first, by as many as each rollback says."""
    if not any(draft.name == "thread_rolled_back" for draft in drafts):
        return
    starts: list[tuple[int, str | None]] = []
    begun: int | None = None
    steps = [0] * (len(drafts) + 1)
    """Where what is undone begins and ends, as often as it was."""
    for i, draft in enumerate(drafts):
        entry = draft.entry
        if draft.name == "task_started":
            begun = i
        elif draft.name in ("task_complete", "turn_aborted"):
            begun = None
        elif draft.grammar and entry.author == "human":
            if not starts or entry.turn_id is None or entry.turn_id != starts[-1][1]:
                starts.append((i if begun is None else begun, entry.turn_id))
        elif draft.name == "thread_rolled_back" and starts:
            count = (draft.facts or {}).get("num_turns")
            if type(count) is int and count > 0:
                at = starts[-min(count, len(starts))][0]
                del starts[-min(count, len(starts)) :]
                steps[at] += 1
                steps[i] -= 1
    for draft, depth in zip(drafts, accumulate(steps), strict=False):
        if depth:
            draft.entry.state = "undone"


def links_of(drafts: Sequence[Draft], header: Header) -> tuple[Link, ...]:
    """Where a thread comes from, and the sub-agents that it started."""
    found = [Link("fork", header.forked_from)] if header.forked_from is not None else []
    if header.base is not None:
        found.append(Link("base", header.base, None, header.base_end))
    found.extend(Link("subagent", id, call_id) for id, call_id in _spawned(drafts) if id != header.id)
    return tuple(dict.fromkeys(found))


def _spawned(drafts: Sequence[Draft]) -> list[tuple[str, str | None]]:
    """The threads that calls started, by what tells of the call: an activity, its event, or its output."""
    spawned: dict[str, str | None] = {}
    spawners: set[str | None] = set()
    for draft in drafts:
        if draft.entry.inherited:
            continue
        if draft.name in ("SubAgentActivity", "sub_agent_activity"):
            facts = draft.facts or {}
            id, call_id = facts.get("agent_thread_id"), facts.get("id", facts.get("event_id"))
            if type(id) is str and facts.get("kind") == "started":
                spawned.setdefault(id, _string(call_id))
        elif draft.talk in ("call", "output", "end"):
            if type(draft.facts) is dict:
                spawned.update((id, draft.call_id) for id in draft.facts["spawned"] if id not in spawned)
            for block in draft.entry.blocks:
                if type(block) is ToolCall and block.name == "spawn_agent":
                    spawners.add(block.id)
                elif type(block) is ToolResult and block.full is None and block.call_id in spawners:
                    for id in _agent_ids(block.text):
                        spawned.setdefault(id, block.call_id)
    return list(spawned.items())


def _agent_ids(text: str) -> list[str]:
    """The threads that the output of a call names as started (up to 0.134)."""
    try:
        value = orjson.loads(text) if text.startswith("{") else None
    except orjson.JSONDecodeError:
        return []
    id = value.get("agent_id") if type(value) is dict else None
    return [id] if type(id) is str else []
