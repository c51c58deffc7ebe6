"""A session as one JSON document, as the TypeScript CLI of spring 2025 saved it: ``{session, items}``.

An item has no time, and the document no place of work and no model. Every save of 0.1.2504… made a new file with a new id, each
a longer prefix of one conversation; saves of 0.1.2505… could race, so that the tail of a longer copy stands behind a shorter
one: items there that the document has too are folded into it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from convparse.ledger import Ledger, Place
from convparse.records import Entry
from convparse.sources._reading import json_of, odd, open_event
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.codex import resolve
from convparse.sources.codex.fields import DOCUMENT, SESSION
from convparse.sources.codex.items import Spot, read_item
from convparse.sources.codex.state import Draft, State
from convparse.times import NO_TIME, iso_time


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """A draft for the session, and one for every item."""
    state = State(ledger)
    for value, place in units:
        items = value.get("items") if type(value) is dict else None
        if type(value) is dict and type(value.get("session")) is dict and type(items) is list:
            yield _session(value, place, state)
            for i, item in enumerate(items):
                yield _item(item, Spot(place, f"/items/{i}", "/items/*"), state)
        else:
            yield _item(value, Spot(place, "", ""), state)


def _session(value: dict[str, Any], place: Place, state: State) -> Draft:
    session = value["session"]
    state.look(SESSION)(session, place)
    shape = state.look(DOCUMENT)(value, place)
    extra = {f"/{key}": value[key] for key, _ in shape.kept}
    id, stamp = session.get("id"), session.get("timestamp")
    if state.thread is None and type(id) is str:
        state.thread = id
    when, text = iso_time(stamp) if type(stamp) is str else NO_TIME
    if stamp is not None and when is None:
        if type(stamp) is str:
            state.ledger.part("bad-timestamp", place, "/session/timestamp", record="session")
        else:
            odd(state.ledger, {}, place, "session", "/session/timestamp", stamp)
    event = open_event(
        state.keys.count(state.thread, "session"),
        "session",
        "session",
        None,
        json_of(session | extra),
        None,
        when,
        "recorded" if when is not None else None,
        text,
        origin=state.origin(place, "/session"),
    )
    draft = Draft(event, "session")
    draft.facts = session
    return draft


def _item(item: Any, spot: Spot, state: State) -> Draft:
    if type(item) is dict:
        draft = read_item(item, spot, state)
        if draft is not None:
            return draft
    kind = item.get("type") if type(item) is dict else None
    name = kind if type(kind) is str else "item"
    code = "unknown-record" if type(item) is dict else "not-an-object"
    state.ledger.part(code, spot.place, record=name, pointer=spot.at)
    event = open_event(
        state.keys.count(state.thread, name), "unknown", name, None, json_of(item), origin=state.origin(spot.place, spot.at)
    )
    return Draft(event, "unknown")


def resolve_document(parts: list[FilePart], session: Session) -> Resolved:
    """The conversation, in which what the tail of a longer copy repeats has become one."""
    for part in parts:
        part.drafts = _fold_tail(part.drafts, part.ledger)
    conversations, loose = resolve.resolve(parts, session)
    return conversations, list[Entry](loose)


def _fold_tail(drafts: list[Draft], ledger: Ledger) -> list[Draft]:
    """The drafts without those behind the document that have the id and the words of one inside it."""
    known: dict[tuple[str, str | None, str | None], Draft] = {}
    left = []
    for draft in drafts:
        twin = known.setdefault((draft.name, draft.id, draft.call_id), draft)
        named = draft.id is not None or draft.call_id is not None
        if named and twin.place != draft.place and _same(twin, draft):
            twin.entry.merged = (*twin.entry.merged, draft.entry.origin)
            ledger.part("repeated-record", draft.place, record=draft.name)
        else:
            left.append(draft)
    return left


def _same(a: Draft, b: Draft) -> bool:
    tails = ({pointer.rpartition("/")[2]: value for pointer, value in draft.opened().items()} for draft in (a, b))
    return a.entry.role == b.entry.role and a.entry.blocks == b.entry.blocks and next(tails) == next(tails)
