"""Rows that are events: ``system``, ``attachment`` and ``progress``, and rows that are not known.

An event holds what a person would read as ``text`` and the rest of its row as ``data``.
"""

from typing import Any

from convparse.ledger import Fields, Place
from convparse.sources._reading import Extra, json_of, open_event
from convparse.sources.claude_code.envelope import Row, read_envelope
from convparse.sources.claude_code.fields import ATTACHMENT, ATTACHMENTS, PROGRESS, PROGRESSES, SUBTYPES, SYSTEM
from convparse.sources.claude_code.state import Draft, State
from convparse.times import iso_time


def odd_record(value: Any, place: Place, state: State, name: str) -> Draft:
    """A record that is no row at all, held whole."""
    event = open_event(state.keys.count(None, name), "unknown", name, None, json_of(value), origin=state.origin(place))
    return Draft(event, name, place, None)


def unknown_row(row: Row, place: Place, state: State, name: str | None = None) -> Draft:
    """A row of a type that is not known: an event that holds it whole, still a link of the chain if it has an id."""
    kind = row.get("type")
    name = name or (kind if type(kind) is str else "record")
    state.ledger.part("unknown-record", place, record=name)
    uuid, parent, session, stamp = (_string(row, key) for key in ("uuid", "parentUuid", "sessionId", "timestamp"))
    when, text = iso_time(stamp) if stamp else (None, None)
    event = open_event(
        state.keys.of(uuid) if uuid is not None else state.keys.count(session, name),
        "unknown",
        name,
        None,
        json_of(row),
        uuid,
        when,
        when and "recorded",
        text,
        parent,
        origin=state.origin(place),
    )
    return Draft(event, "unknown", place, session, uuid, parent, row.get("isSidechain") is True)


def _string(row: Row, key: str) -> str | None:
    value = row.get(key)
    return value if type(value) is str else None


def chain_event(row: Row, place: Place, state: State, fields: Fields, name: str, kind: str) -> Draft:
    """An event of the chain: what no field is made from is its ``data``."""
    extra: Extra = {}
    shape = state.look(fields)(row, place)
    data = {key: row[key] for key, _ in shape.kept}
    key, uuid, parent, when, when_origin, when_text, context, group, side = read_envelope(
        shape.pick((*row.values(), None)), name, place, state, extra
    )
    event = open_event(
        key,
        kind,
        name,
        None,
        json_of({**data, **extra}) if data or extra else None,
        uuid,
        when,
        when_origin,
        when_text,
        parent,
        context,
        origin=state.origin(place),
    )
    return Draft(event, name, place, group, uuid, parent, side)


def read_attachment(row: Row, place: Place, state: State) -> Draft:
    """What the harness put beside the talk; its text, where a person would read one, is the event's."""
    attachment = row.get("attachment")
    kind = attachment.get("type") if type(attachment) is dict else None
    if type(attachment) is not dict or type(kind) is not str or kind not in ATTACHMENTS:
        return unknown_row(row, place, state, f"attachment/{kind}" if type(kind) is str else "attachment")
    event, text_key = ATTACHMENTS[kind]
    text = attachment.get(text_key) if text_key is not None else None
    if type(text) is not str:
        return chain_event(row, place, state, ATTACHMENT, f"attachment/{kind}", event)
    rest = {key: value for key, value in attachment.items() if key != text_key}
    draft = chain_event({**row, "attachment": rest}, place, state, ATTACHMENT, f"attachment/{kind}", event)
    draft.entry.text = text
    return draft


def read_system(row: Row, place: Place, state: State) -> Draft:
    """What the product noted for itself and the person: compactions, hooks, errors, the end of a turn."""
    subtype = row.get("subtype")
    if subtype is not None and (type(subtype) is not str or subtype not in SUBTYPES):
        return unknown_row(row, place, state, f"system/{subtype}" if type(subtype) is str else "system")
    extra = {name: row[name] for name, kind in (("content", str), ("durationMs", int)) if _odd(row.get(name), kind)}
    tidy = {key: value for key, value in row.items() if key not in extra} if extra else row
    name = "system" if subtype is None else f"system/{subtype}"
    draft = chain_event(tidy, place, state, SYSTEM, name, SUBTYPES[subtype] if subtype is not None else "notice")
    draft.entry.text = tidy.get("content")
    took = tidy.get("durationMs")
    draft.entry.duration = took / 1000 if took is not None else None
    for name, value in extra.items():
        state.ledger.part("unexpected-type", place, f"/{name}", record="system")
        data = draft.entry.data.value if draft.entry.data is not None else {}
        draft.entry.data = json_of({**data, name: value})
    facts = ("forkedFrom", "logicalParentUuid", "compactMetadata", "retractedMessageUuids")
    draft.facts = {key: row[key] for key in facts if row.get(key) is not None} or None
    return draft


def _odd(value: Any, kind: type) -> bool:
    return value is not None and type(value) is not kind


def read_progress(row: Row, place: Place, state: State) -> Draft:
    """How far a tool or hook had come: shown while it ran, and a link of the chain (2.1.12 to 2.1.71)."""
    data = row.get("data")
    kind = data.get("type") if type(data) is dict else None
    if type(kind) is not str or kind not in PROGRESSES:
        return unknown_row(row, place, state, f"progress/{kind}" if type(kind) is str else "progress")
    return chain_event(row, place, state, PROGRESS, f"progress/{kind}", "progress")
