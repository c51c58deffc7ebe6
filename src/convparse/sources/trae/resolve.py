"""The file facts of the editor's conversations: order, copies, what a session of which no message is here can still tell.

What comes in: the drafts of one conversation or of all. What goes out: frozen records. The order is that of turn indices, and
of the list among equals. Never done: sorting by time, a time changed, an empty conversation shown as if nothing had been said.
"""

from typing import Any

from convparse._json import encode
from convparse._make import close
from convparse.ledger import NOWHERE, Ledger
from convparse.records import Context, Conversation, Entry, Event, Link, Message
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.trae.fields import MESSAGE
from convparse.sources.trae.state import Draft
from convparse.sources.trae.times import id_time
from convparse.sources.trae.workspaces import pasted, workspace

STORE = "store"
SNAPSHOT = "snapshot/"
"""Names under which ``gather`` tells of the encrypted database, and of folders of checkpoints."""


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """Conversations and loose entries."""
    groups: dict[str, tuple[Ledger | None, list[Draft]]] = {}
    loose: list[Entry] = []
    for part in parts:
        for draft in part.drafts:
            if draft.group is None:
                loose.append(freeze(draft.entry))
            else:
                groups.setdefault(draft.group, (part.ledger, []))[1].append(draft)
    place = workspace(session)
    if place is not None:
        loose.append(place)
    loose += pasted(session)
    names = set(session.names())
    snapshots = [name.removeprefix(SNAPSHOT) for name in session.names() if name.startswith(SNAPSHOT)]
    for id in snapshots:
        groups.setdefault(id, (parts[0].ledger if parts else None, []))
    where = place.context if place is not None else None
    kept = set(snapshots)
    return [_conversation(id, *group, where, STORE in names, id in kept) for id, group in groups.items()], loose


def freeze(entry: Any) -> Entry:
    """The record, which nothing can change any more."""
    return close(entry, Event) if isinstance(entry, Event) else close(entry, Message)


def _conversation(
    id: str, ledger: Ledger | None, drafts: list[Draft], where: Context | None, encrypted: bool, kept: bool
) -> Conversation:
    heads = [draft for draft in drafts if draft.name == "session"]
    facts = heads[0].facts if heads else {}
    indexes = [draft for draft in drafts if draft.name == "index"]
    talk = _in_order(drafts, ledger)
    entries: list[Any] = [draft.entry for draft in (*heads, *indexes, *talk)]
    if kept:
        when = id_time(id)[0]
        made: Any = "derived" if when is not None else None
        entries.append(Event(f"{id}:snapshot", "checkpoint", "snapshot", id=id, timestamp=when, timestamp_origin=made))
    body: Any = "complete"
    if not any(head.facts["count"] for head in heads):
        body = "encrypted" if encrypted else "missing"
        if ledger is not None and facts.get("read", True):
            place, at = (heads[0].place, facts["at"]) if heads else (drafts[0].place, "") if drafts else (NOWHERE, "")
            ledger.part(f"trae/{body}-body", place, "", record="session", pointer=at)
    elif any(draft.name == "odd" for draft in talk):
        body = "partial"
    return Conversation(
        id,
        "trae",
        facts.get("title"),
        "session" if facts.get("title") else None,
        where,
        facts.get("made"),
        facts.get("changed"),
        (Link("base", facts["parent"]),) if facts.get("parent") else (),
        body,
        entries=tuple(freeze(entry) for entry in entries),
    )


def _in_order(drafts: list[Draft], ledger: Ledger | None) -> list[Draft]:
    """The messages of the first copy in the product's order, then what other copies say otherwise."""
    copies: list[tuple[Draft, list[Draft]]] = []
    for draft in drafts:
        if draft.name == "session":
            copies.append((draft, []))
        elif draft.name in ("message", "odd"):
            copies[-1][1].append(draft)
    if not copies or ledger is None:
        return []
    ordered = by_turn(copies[0][1])
    _name_repeated(ordered, ledger)
    _name_earlier(ordered, ledger)
    known: dict[bytes, Draft] = {}
    for draft in ordered:
        known.setdefault(_told(draft), draft)
    for head, copy in copies[1:]:
        ledger.part("trae/duplicate-session", head.place, record="session", pointer=head.facts["at"])
        for draft in by_turn(copy):
            same = known.get(_told(draft))
            if same is not None:
                same.entry.merged = (*same.entry.merged, draft.entry.origin)
            else:
                draft.entry.state = "superseded"
                ordered.append(draft)
    return ordered


def _told(draft: Draft) -> bytes:
    """What tells a copy of a message from another message: all of it."""
    return encode(draft.facts["raw"])


def by_turn(talk: list[Draft]) -> list[Draft]:
    """By turn index and place in the list; a message without an index stays behind the one before it, or before the next."""
    ranks: list[Any] = [draft.facts.get("index") for draft in talk]
    for at in range(1, len(ranks)):
        if ranks[at] is None:
            ranks[at] = ranks[at - 1]
    first = next((rank for rank in ranks if rank is not None), 0)
    order = sorted(range(len(talk)), key=lambda at: first if ranks[at] is None else ranks[at])
    return [talk[at] for at in order]


def _name_repeated(ordered: list[Draft], ledger: Ledger) -> None:
    seen: set[Any] = set()
    for draft in ordered:
        id = draft.entry.id
        if id is not None and id in seen:
            ledger.part("duplicate-id", draft.place, MESSAGE.at, record="message", pointer=draft.entry.origin.pointer)
        seen.add(id)


def _name_earlier(ordered: list[Draft], ledger: Ledger) -> None:
    last = None
    for draft in ordered:
        when = draft.facts.get("when")
        if when is None:
            continue
        if last is not None and when < last:
            name = "timestamp" if draft.facts["raw"].get("timestamp") is not None else "createdAt"
            pointer = f"{draft.facts['at']}/{name}"
            ledger.part("trae/earlier-time", draft.place, f"{MESSAGE.at}/{name}", record="message", pointer=pointer)
        last = when
