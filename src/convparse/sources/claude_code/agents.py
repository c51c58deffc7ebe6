"""How sub-agents hang together with the call that spawned them.

Best evidence first: the result that names the agent, the agent's ``meta.json``, progress rows, the notification that brings its
answer, and for side chains inside a main file (up to 2.0.0) the very text of the task.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs

from convparse.blocks import Injected, Json, ToolCall, ToolResult
from convparse.records import Event, Link, Message
from convparse.sources._source import Session
from convparse.sources.claude_code.threads import Thread

_NAMED: Final = re.compile(r"agentId: ?([A-Za-z0-9_-]+)")
_TASK: Final = re.compile(r"<task-id>([^<]+)</task-id>")
_USE: Final = re.compile(r"<tool-use-id>([^<]+)</tool-use-id>")
SPAWNERS: Final = frozenset({"Task", "Agent"})


@attrs.define
class Links:
    """The links of every thread, by its identity."""

    found: dict[int, list[Link]]

    def of(self, thread: Thread) -> tuple[Link, ...]:
        """The links of one thread."""
        return tuple(self.found.get(id(thread), ()))


def links(threads: list[Thread], session: Session) -> Links:
    """Who started whom."""
    result = Links({})
    for thread in threads:
        own = [Link("fork", name) for name in _sources(thread)]
        own.extend(Link("continuation", name) for name in _continued(thread))
        result.found[id(thread)] = own
    if len(threads) > 1:
        claimed = _claim_by_rows(threads, result)
        claimed |= _claim_by_meta([t for t in threads if t.id not in claimed], threads, session, result)
        claimed |= _claim_by_text([t for t in threads if t.sidechain and t.id not in claimed], threads, result)
        for thread in threads:
            if thread.id is not None and thread.id not in claimed and _is_agent(thread, threads[0]):
                result.found[id(threads[0])].append(Link("subagent", thread.id))
    return result


def _is_agent(thread: Thread, main: Thread) -> bool:
    """True for agents that no call tells of (warm-ups, compactions, workflows): they lie in the session's folder or file."""
    return thread is not main and (thread.sidechain or thread.part is not main.part)


def _claim_by_rows(threads: list[Thread], result: Links) -> set[str | None]:
    by_id = {thread.id: thread for thread in threads if thread.id is not None}
    claimed: set[str | None] = set()
    for thread in threads:
        for agent, call_id in _spawned(thread):
            if agent in by_id and by_id[agent] is not thread and agent not in claimed:
                claimed.add(agent)
                result.found[id(thread)].append(Link("subagent", agent, call_id))
    return claimed


def _claim_by_meta(orphans: list[Thread], threads: list[Thread], session: Session, result: Links) -> set[str | None]:
    owners = {block.id: thread for thread in threads for block in _blocks(thread, ToolCall) if block.id is not None}
    claimed: set[str | None] = set()
    for thread in orphans:
        call_id = (_meta(thread, session) or {}).get("toolUseId")
        if thread.id is not None and type(call_id) is str and owners.get(call_id, thread) is not thread:
            claimed.add(thread.id)
            result.found[id(owners[call_id])].append(Link("subagent", thread.id, call_id))
    return claimed


def _blocks(thread: Thread, kind: type) -> Iterator[Any]:
    for draft in thread.drafts:
        if isinstance(draft.entry, Message):
            yield from (block for block in draft.entry.blocks if type(block) is kind)


def _sources(thread: Thread) -> list[str]:
    """The sessions that a thread's rows were copied from."""
    named: list[Any] = sorted(thread.others)
    for draft in thread.drafts:
        if draft.facts is not None:
            forked = draft.facts.get("forkedFrom")
            named.append(forked.get("sessionId") if type(forked) is dict else None)
            named.append(draft.facts.get("parentSessionId"))
            if draft.facts.get("requestSessionId") != draft.group:
                named.append(draft.facts.get("requestSessionId"))
    return list(dict.fromkeys(name for name in named if type(name) is str and name != thread.id))


def _continued(thread: Thread) -> list[str]:
    return [d.entry.text for d in thread.drafts if d.name == "continued-in" and d.entry.text is not None]


def _spawned(thread: Thread) -> Iterable[tuple[str, str | None]]:
    """``(agent id, call id)`` as a thread's rows tell them."""
    for draft in thread.drafts:
        entry = draft.entry
        if isinstance(entry, Message):
            results = [block for block in entry.blocks if type(block) is ToolResult]
            named = (draft.facts or {}).get("agentId")
            for result in results:
                if named is not None:
                    yield named, result.call_id
                elif (found := _NAMED.search(result.text[-2000:])) is not None:
                    yield found[1], result.call_id
            for block in entry.blocks:
                if type(block) is Injected and block.kind == "task-notification":
                    task, use = _TASK.search(block.text), _USE.search(block.text)
                    if task is not None:
                        yield task[1].strip(), use[1].strip() if use is not None else None
        elif draft.name == "progress/agent_progress" and isinstance(entry, Event) and entry.data is not None:
            data = entry.data.value
            agent, call_id = (data.get("data") or {}).get("agentId"), data.get("parentToolUseID")
            if type(agent) is str:
                yield agent, call_id if type(call_id) is str else None


def _claim_by_text(sides: list[Thread], threads: list[Thread], result: Links) -> set[str | None]:
    """Match side chains to calls by the text of the task, each call once, in order."""
    claimed: set[str | None] = set()
    calls: dict[str, deque[tuple[Thread, str | None]]] = {}
    for thread in threads:
        if not thread.sidechain:
            for call in _blocks(thread, ToolCall):
                task = _task(call)
                if task is not None:
                    calls.setdefault(task, deque()).append((thread, call.id))
    for side in sides:
        first = next((draft.entry for draft in side.drafts if isinstance(draft.entry, Message)), None)
        waiting = calls.get(first.text) if first is not None else None
        if waiting:
            thread, call_id = waiting.popleft()
            result.found[id(thread)].append(Link("subagent", side.id or "", call_id))
            claimed.add(side.id)
    return claimed


def _task(call: ToolCall) -> str | None:
    """What a call asks an agent to do."""
    given = call.input.value if call.name in SPAWNERS and isinstance(call.input, Json) else None
    task = given.get("prompt") if type(given) is dict else None
    return task if type(task) is str else None


def _meta(thread: Thread, session: Session) -> dict[str, Any] | None:
    found = session.document(f"meta/{thread.part.path}")
    return found[1] if found is not None and type(found[1]) is dict else None


def described(thread: Thread, session: Session) -> tuple[list[Event], tuple[str | None, str | None]]:
    """What stands beside an agent's file about it: an event for its ``meta.json``, and a title."""
    found = session.document(f"meta/{thread.part.path}") if not thread.sidechain else None
    if found is not None:
        origin, meta = found
        description = meta.get("description") if type(meta) is dict else None
        event = Event(f"{thread.id}:agent-meta", "agent", "agent-meta", data=Json.of(meta), origin=origin)
        return [event], (description, "agent-meta") if type(description) is str else (None, None)
    messages = [draft.entry for draft in thread.drafts if isinstance(draft.entry, Message)]
    warm = bool(messages) and messages[0].text == "Warmup" and thread.drafts[0].name == "user"
    return [], ("Warmup", "warm-up") if warm else (None, None)
