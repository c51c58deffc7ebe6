"""The file facts of a session, and its conversations.

What comes in: the drafts of a session's events, and the files beside them. What goes out: one conversation for the session and
one for every sub-agent; every record is frozen here. Order is file order, never that of parents or clocks. Token counts of an
API call (since 1.0.102) go to the message that came of it, or to one of their own where none did; the totals that a process
writes at its end add up over all processes and are never summed.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from convparse._make import close
from convparse.blocks import Json, Thinking, ToolCall
from convparse.ledger import Ledger, escape
from convparse.records import Context, Conversation, Entry, Event, Link, Message, Usage
from convparse.sources._reading import open_message
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.copilot_cli.fields import NEWEST
from convparse.sources.copilot_cli.state import Draft
from convparse.sources.copilot_cli.yaml import read_mapping
from convparse.times import iso_time

_ID: Final = re.compile(r"\(([0-9A-Za-z][\w-]{7,80})\)")
_NUMBERS: Final = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens", "reasoningTokens", "cost")

_OUTPUT: Final = "/data/outputTokens"
"""Where a message says how many tokens were written: kept where the count of its call says otherwise."""


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """The conversations of one session."""
    return resolve_as("copilot-cli", parts, session)


def resolve_as(source: str, parts: list[FilePart], session: Session | None) -> Resolved:
    """The conversations of one session, of the source that reads it; None: without what lies beside it."""
    conversations: list[Conversation] = []
    for part in parts:
        drafts = _once([draft for draft in part.drafts if draft.entry is not None], part.ledger)
        _settle_fork(drafts, part.ledger)
        _settle_usage(drafts)
        conversations.extend(_conversations(source, drafts, session, first=part is parts[0]))
    return conversations, []


def _once(drafts: list[Draft], ledger: Ledger) -> list[Draft]:
    """Without reasoning that a message of the same thread has too (some versions wrote both)."""
    thought = {
        (draft.group, block.text)
        for draft in drafts
        if draft.name == "assistant.message" and isinstance(draft.entry, Message)
        for block in draft.entry.blocks
        if isinstance(block, Thinking)
    }
    kept = []
    for draft in drafts:
        blocks = draft.entry.blocks if draft.name == "assistant.reasoning" and isinstance(draft.entry, Message) else ()
        if any((draft.group, block.text) in thought for block in blocks if isinstance(block, Thinking)):
            ledger.unit("copilot-cli/repeated-reasoning", draft.place, record=draft.name)
        else:
            kept.append(draft)
    return kept


# ---- usage -----------------------------------------------------------------------------------------------------------------


def _settle_usage(drafts: list[Draft]) -> None:
    """Give the counts of every API call to the first message that came of it, and to no other one."""
    said: dict[str, list[Any]] = {}
    for draft in drafts:
        if draft.name == "assistant.message" and isinstance(draft.entry, Message) and draft.entry.response_id is not None:
            said.setdefault(draft.entry.response_id, []).append(draft.entry)
    for at, draft in enumerate(drafts):
        usage = draft.facts.get("usage") if draft.name == "session.usage_record" else None
        if type(usage) is not dict:
            continue
        call = usage.get("apiCallId")
        entries = said.pop(call, []) if type(call) is str else []
        for other in entries[1:]:
            _uncount(other, None)
        if entries:
            entry = entries[0]
            _uncount(entry, _usage(usage))
            entry.stop_reason = _word(usage.get("finishReason"))
            if entry.model is None:
                entry.model = _word(usage.get("model"))
        else:
            drafts[at] = _unsaid(draft, usage)


def _uncount(entry: Any, usage: Usage | None) -> None:
    """What a message says of its output stands raw where the record of the call says otherwise."""
    told, entry.usage = entry.usage, usage
    if told is not None and (usage is None or told.output_tokens != usage.output_tokens):
        entry.extra = Json.of({**(entry.extra.value if entry.extra is not None else {}), _OUTPUT: told.output_tokens})


def _unsaid(draft: Draft, usage: dict[str, Any]) -> Draft:
    """A call whose answer was thrown away: a message without words."""
    event = draft.entry
    call = usage.get("apiCallId")
    entry = open_message(event.key, event.id, "assistant", "model", (), event.timestamp, event.timestamp_origin)
    entry.timestamp_text, entry.parent_id, entry.context = event.timestamp_text, event.parent_id, event.context
    entry.response_id, entry.model = _word(call), _word(usage.get("model"))
    entry.usage, entry.stop_reason = _usage(usage), _word(usage.get("finishReason"))
    entry.origin = event.origin
    data = event.data.value if event.data is not None else {}
    entry.extra = Json.of({f"/data/{escape(key)}": item for key, item in data.items()})
    return Draft(entry, draft.name, draft.place, draft.group, draft.facts)


def _word(value: Any) -> str | None:
    return value if type(value) is str else None


def _usage(usage: dict[str, Any]) -> Usage:
    """Disjoint counts: what is said to be read from and written to the cache is part of the input here."""
    numbers = [usage.get(key) for key in _NUMBERS]
    given, read, written, output, thought = (n if type(n) is int else None for n in numbers[:-1])
    cost = numbers[-1] if type(numbers[-1]) in (int, float) else None
    if given is not None:
        rest = given - (read or 0) - (written or 0)
        given = rest if rest >= 0 else given
    return Usage(given, read, written, None, output, thought, cost, "premium-requests" if cost is not None else None)


# ---- forks -----------------------------------------------------------------------------------------------------------------


def _settle_fork(drafts: list[Draft], ledger: Ledger) -> None:
    """What stands before the note of a fork was copied, with its ids: its tokens are counted where they were used."""
    at = next((i for i, draft in enumerate(drafts) if _fork(draft) is not None and _is_child(draft)), None)
    for draft in drafts[1:at] if at is not None else ():
        draft.entry.inherited = True
        usage = getattr(draft.entry, "usage", None)
        if usage is not None:
            draft.entry.usage = None
            ledger.part("inherited-usage", draft.place, _OUTPUT, record=draft.name)
        if draft.name == "session.usage_record":
            draft.facts.pop("usage", None)


def _fork(draft: Draft) -> str | None:
    """The id that the note of a fork names."""
    if draft.name != "session.info" or draft.facts.get("infoType") != "fork":
        return None
    text = draft.facts.get("message")
    match = _ID.search(text) if type(text) is str else None
    return match[1] if match else None


def _is_child(draft: Draft) -> bool:
    return str(draft.facts.get("message")).startswith("Forked from")


# ---- conversations ---------------------------------------------------------------------------------------------------------


def freeze(entry: Any) -> Entry:
    """The record that nothing can change any more."""
    return close(entry, Event) if isinstance(entry, Event) else close(entry, Message)


def _conversations(source: str, drafts: list[Draft], session: Session | None, first: bool) -> Iterator[Conversation]:
    groups: dict[str | None, list[Draft]] = {None: []}
    for draft in drafts:
        groups.setdefault(draft.group, []).append(draft)
    start = next((draft.facts for draft in drafts if draft.name == "session.start"), {})
    beside = list(_beside(session)) if first and session is not None else []
    calls = _calls(drafts)
    links: dict[str | None, list[Link]] = {}
    for agent, call in _agents(drafts, groups).items():
        links.setdefault(calls.get(call), []).append(Link("subagent", agent, call))
    named = next((event for event in beside if event.name == "workspace.yaml"), None)
    about = named.data.value if named is not None and named.data is not None else {}
    yield _root(source, groups.pop(None), start, links.get(None, []), beside, about)
    for group, inside in groups.items():
        entries = tuple(freeze(draft.entry) for draft in inside)
        yield Conversation(group, source, context=_context(entries), links=tuple(links.get(group, ())), entries=entries)


def _root(
    source: str, drafts: list[Draft], start: dict[str, Any], links: list[Link], beside: list[Event], about: dict[str, Any]
) -> Conversation:
    parent = start.get("detachedFromSpawningParentSessionId")
    forks = [_fork(draft) for draft in drafts if _is_child(draft)]
    links = [*links, *(Link("fork", other) for other in forks if other is not None)]
    if type(parent) is str:
        links.append(Link("base", parent))
    title = about.get("name") or about.get("summary")
    entries = (*(freeze(draft.entry) for draft in drafts), *beside)
    context = _context(entries)
    if context is None and about.get("cwd"):
        context = Context(about["cwd"], about.get("branch"))
    id = start.get("sessionId")
    created = start.get("startTime", about.get("created_at"))
    updated = about.get("updated_at")
    return Conversation(
        id if type(id) is str else about.get("id"),
        source,
        title,
        ("workspace.yaml name" if about.get("name") else "workspace.yaml summary") if title else None,
        context,
        iso_time(created)[0] if type(created) is str else None,
        iso_time(updated)[0] if type(updated) is str else None,
        links=tuple(links),
        body="complete" if any(draft.name == "session.start" for draft in drafts) or not drafts else "partial",
        newer=any(_number(e.context.version) > _number(NEWEST) for e in entries if e.context and e.context.version)
        if source == "copilot-cli"
        else False,
        entries=entries,
    )


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isascii() and part.isdigit() and len(part) < 9)


def _context(entries: tuple[Entry, ...]) -> Context | None:
    return next((entry.context for entry in entries if entry.context is not None), None)


def _calls(drafts: list[Draft]) -> dict[str, str | None]:
    """In which thread each tool call stands."""
    return {
        block.id: draft.group
        for draft in drafts
        if isinstance(draft.entry, Message)
        for block in draft.entry.blocks
        if isinstance(block, ToolCall) and block.id is not None
    }


def _agents(drafts: list[Draft], groups: dict[str | None, list[Draft]]) -> dict[str, str]:
    """The call that started each sub-agent; before agents had ids they were known by it."""
    found = {group: group for group in groups if group is not None}
    for draft in drafts:
        call = draft.facts.get("toolCallId")
        if draft.name == "subagent.started" and type(call) is str and draft.group is not None:
            found[draft.group] = call
    return found


_KINDS: Final = {"plan.md": "plan", "rewind-file-snapshots/index.json": "rewind", "workspace.yaml": "workspace"}


def _beside(session: Session) -> Iterator[Event]:
    """Events for the documents beside a session."""
    for name in session.names():
        found = session.note(name)
        if found is None:
            continue
        origin, data = found
        text = data.decode("utf-8", "replace")
        kind = _KINDS.get(name, "checkpoint")
        if name == "workspace.yaml":
            about, odd = read_mapping(text)
            whole = Json.of(about)
            yield Event(f"workspace:{name}", kind, name, text if odd else about.get("name"), whole, origin=origin)
        else:
            yield Event(f"{kind}:{name}", kind, name, text, origin=origin)
