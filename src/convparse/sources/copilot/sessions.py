"""Sessions, to drafts: flat session files, exports, the values of ``interactive.sessions``, and what a mutation log leaves.

What comes in: the one value of a document, or a replayed log. What goes out: a draft a session, its entries in the
session's own order. Of a log, every operation stands for something in the end: it wrote what a record says (its origin, or
``merged``), it was bookkeeping, or later operations say the same again; ``erased`` sees to what was taken away.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs

from convparse.ledger import Ledger, Place, escape
from convparse.reading.operations import Log, Operation
from convparse.sources._reading import json_of, open_event
from convparse.sources._source import Unit
from convparse.sources.copilot import erased
from convparse.sources.copilot.answers import Told
from convparse.sources.copilot.drafts import has_draft, read_draft
from convparse.sources.copilot.fields import NEWEST_SESSION, OPERATION, PENDING, SESSION, SESSION_AND_DRAFT, SKIPPED
from convparse.sources.copilot.requests import read_request
from convparse.sources.copilot.state import Draft, Home, Reader, State
from convparse.times import epoch_ms

_TITLES: Final = ("customTitle", "computedTitle")


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The sessions of a document: one, or a list of them."""
    yield from _documents(units, State(ledger))


def read_with_drafts(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The same with what stands unsent in the input box."""
    yield from _documents(units, State(ledger, drafts=True))


def _documents(units: Iterable[Unit], state: State) -> Iterator[Draft]:
    for value, place in units:
        if type(value) is list:
            if not value:
                state.ledger.blank(place[2])
            for at, item in enumerate(value):
                yield _session(state, item, Home(state.path, place, (at,)))
        else:
            yield _session(state, value, Home(state.path, place))


def read_log(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The session that a log leaves."""
    state = State(ledger)
    for log, place in units:
        yield _replayed(state, log, place)


def read_log_with_drafts(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The same with what stands unsent in the input box."""
    state = State(ledger, drafts=True)
    for log, place in units:
        yield _replayed(state, log, place)


def _session(state: State, value: Any, home: Home) -> Draft:
    if type(value) is not dict:
        draft = Draft(None)
        draft.entries.append(_odd(state, value, home, "not-an-object"))
        return draft
    reader = Reader(state, home)
    draft = _head(reader, value)
    for told in _requests(state, value, home, draft, reader):
        draft.entries.extend(told.entries)
    draft.entries.extend(_pending(state, value, home, draft, reader))
    draft.entries.extend(read_draft(state, value, home, draft.id))
    return draft


def _odd(state: State, value: Any, home: Home, code: str) -> Any:
    Reader(state, home).note(code, "", "session")
    return open_event(state.keys.count(None, "session"), "unknown", "session", None, json_of(value), origin=home.origin())


def _head(reader: Reader, value: dict[str, Any]) -> Draft:
    """The draft of a session, with an event for what it says of itself."""
    reader.keep(SESSION_AND_DRAFT if has_draft(reader.state, value) else SESSION, value, "")
    id = reader.text(value, "sessionId", "", "session")
    draft = Draft(id if id is not None else _id_in_results(value))
    for key in _TITLES:
        title = reader.text(value, key, "", "session")
        if title is not None and draft.title is None:
            draft.title, draft.title_origin = title, key
        elif title is not None:
            reader.extra[f"/{key}"] = title
    for key, name in (("creationDate", "created"), ("lastMessageDate", "updated")):
        stamp = reader.count(value, key, "", "session")
        when = epoch_ms(stamp)[0] if stamp is not None else None
        setattr(draft, name, when)
        if stamp is not None and when is None:
            reader.note("bad-timestamp", f"/{key}", "session")
            reader.extra[f"/{key}"] = stamp
    place, version = value.get("initialLocation"), value.get("version")
    draft.place = place if type(place) is str else None
    draft.newer = type(version) is int and version > NEWEST_SESSION
    data = {pointer[1:]: item for pointer, item in reader.extra.items()}
    key = reader.state.keys.count(draft.id, "session")
    event = open_event(key, "session-start", "session", None, json_of(data) if data else None)
    event.timestamp, event.timestamp_origin = draft.created, "recorded" if draft.created is not None else None
    event.origin = reader.root.origin()
    draft.entries.append(event)
    reader.extra = {}
    return draft


def _id_in_results(value: dict[str, Any]) -> str | None:
    """An export says its session's id only in what the extension kept of its turns."""
    requests = value.get("requests")
    for request in requests if type(requests) is list else ():
        result = request.get("result") if type(request) is dict else None
        metadata = result.get("metadata") if type(result) is dict else None
        id = metadata.get("sessionId") if type(metadata) is dict else None
        if type(id) is str:
            return id
    return None


def _requests(state: State, value: dict[str, Any], home: Home, draft: Draft, reader: Reader) -> Iterator[Told]:
    requests = value.get("requests")
    if requests is not None and type(requests) is not list:
        _add_to_head(draft, "requests", requests)
        reader.note("unexpected-type", "/requests", "session")
    for at, request in enumerate(requests if type(requests) is list else ()):
        if request is not None:
            told = read_request(state, request, home.at("requests", at), draft.id, draft.place)
            take_children(draft, told)
            yield told


def _add_to_head(draft: Draft, key: str, value: Any) -> None:
    event = draft.entries[0]
    event.data = json_of({**(event.data.value if event.data is not None else {}), key: value})


def take_children(draft: Draft, told: Told) -> None:
    """Put what sub-agents did into the draft."""
    for agent, entries in told.children.items():
        draft.children.setdefault(agent, []).extend(entries)
        draft.calls.setdefault(agent, told.calls.get(agent))


def _pending(state: State, value: dict[str, Any], home: Home, draft: Draft, reader: Reader) -> Iterator[Any]:
    """What was typed while a turn ran and is still to be sent."""
    pending = value.get("pendingRequests")
    if pending is not None and type(pending) is not list:
        _add_to_head(draft, "pendingRequests", pending)
        reader.note("unexpected-type", "/pendingRequests", "session")
    for at, item in enumerate(pending if type(pending) is list else ()):
        if item is not None:
            yield from read_pending(state, item, home.at("pendingRequests", at), draft.id)


def read_pending(state: State, item: Any, home: Home, session: str | None, how: str = "pending") -> list[Any]:
    """A queued or steering request: its message, and what is said of it."""
    request = item.get("request") if type(item) is dict else None
    if type(request) is not dict:
        return [_odd(state, item, home, "unexpected-type")]
    reader = Reader(state, home)
    reader.keep(PENDING, item, "")
    about = {**reader.extra, **{f"/{key}": item[key] for key in ("id", "kind") if key in item}}
    told = read_request(state, request, home.at("request"), session, None)
    for entry in told.entries:
        entry.state = how
    first = told.entries[0]
    own = first.extra.value if getattr(first, "extra", None) is not None else {}
    first.extra = json_of({**{f"/request{at}" if at in about else at: value for at, value in own.items()}, **about})
    return told.entries


# ---- logs ------------------------------------------------------------------------------------------------------------------


def _replayed(state: State, log: Log, place: Place) -> Draft:
    """The session of a log. Where a log ends as something else, its session was taken away like anything that was replaced."""
    home = Home(state.path, place, (), log if log.operations else None, log.node if log.operations else None)
    home = home.at() if log.operations else home
    value = log.state
    if log.erased and type(value) is not dict:
        log = attrs.evolve(log, state={})
    if type(log.state) is dict:
        reader = Reader(state, home)
        draft = _head(reader, log.state)
        told = list(_requests(state, log.state, home, draft, reader))
        draft.entries.extend(erased.with_undone(state, log, home, draft, told))
        draft.entries.extend(_pending(state, log.state, home, draft, reader))
        draft.entries.extend(read_draft(state, log.state, home, draft.id))
        _merge_head(log, home, draft)
    else:
        draft = Draft(None)
    if log.operations and value is not None and type(value) is not dict:
        draft.entries.append(_odd(state, value, home, "not-an-object"))
    draft.partial = log.headless
    for key, places in (("kind", log.operations), ("i", [one for one in log.operations if one.base is not None])):
        if places:
            state.ledger.parts("skipped-field", [one.place for one in places], f"/{key}", record=OPERATION.record)
    for value, at in log.others:
        draft.entries.append(_other(state, value, at))
    for number, operation in enumerate(log.operations):
        if operation.more is not None:
            home.used.add(number)
            draft.entries.append(_more(state, operation))
    _account(state, log, home, draft)
    return draft


def _merge_head(log: Log, home: Home, draft: Draft) -> None:
    """The operations that wrote the session's own fields."""
    below = log.node.below or {}
    names = [key for key in below if key not in ("requests", "pendingRequests") and key not in SKIPPED]
    lists = [below[key].operation for key in ("requests", "pendingRequests") if key in below]
    own = [at for name in names for at in below[name].operations()]
    draft.entries[0].merged = home.merged([*own, *lists])


def _other(state: State, value: Any, place: Place) -> Any:
    """A record that is no operation, held whole."""
    code = "unknown-record" if type(value) is dict else "not-an-object"
    state.ledger.part(code, place, record="operation")
    key = state.keys.count(None, "operation")
    return open_event(key, "unknown", "operation", None, json_of(value), origin=Home(state.path, place).origin())


def _more(state: State, operation: Operation) -> Any:
    """What an operation's record says that nobody knows, or that could not be applied."""
    assert operation.more is not None
    for key in operation.more:
        code = "unexpected-type" if key == "v" else "unknown-field"
        state.ledger.part(code, operation.place, f"/{escape(key)}", record="operation")
    event = open_event(state.keys.count(None, "operation"), "unknown", "operation", None, json_of(operation.more))
    event.origin = Home(state.path, operation.place).origin()
    return event


def _account(state: State, log: Log, home: Home, draft: Draft) -> None:
    """Every operation that no record stands for is bookkeeping, idle, or said again by a later one."""
    for at, operation in enumerate(log.operations):
        if at in home.used:
            continue
        first = operation.path[0] if operation.path else ""
        if not operation.changes:
            state.ledger.unit("idle-operation", operation.place)
        elif type(first) is str and first in SKIPPED:
            state.ledger.unit("skipped-record", operation.place, record=first)
        else:
            state.ledger.unit("replaced-value", operation.place)
