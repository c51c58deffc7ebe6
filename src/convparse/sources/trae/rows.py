"""Rows of ``state.vscdb``, to drafts: one plain function a kind of row.

What comes in: what one row says of one conversation, or a row that belongs to none. What goes out: drafts that hold unit facts.
A value of an unexpected make becomes an event of kind ``unknown`` that holds it whole.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from convparse.ledger import Fields, Ledger, Place
from convparse.reading.tables import Record
from convparse.sources._reading import Extra, json_of, make_text, open_message
from convparse.sources._source import Unit
from convparse.sources.trae.editor import decode, is_list, is_session, named, relation, sessions, unwrap
from convparse.sources.trae.fields import ACTIVE, AGENTS, HISTORY, NAMED, PER_SESSION, SESSION
from convparse.sources.trae.messages import read_content, read_media, read_message, read_prompt
from convparse.sources.trae.state import Draft, State
from convparse.sources.trae.steps import opened
from convparse.sources.trae.times import id_time

PROMPT: Final = Fields("prompt", "/*", typed=frozenset({"inputText", "parsedQuery", "multiMedia", "files"}))


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a database's rows, in the order in which they come."""
    state = State(ledger)
    for record, place in units:
        yield from ROWS.get(record.table, _loose)(record, place, state)


# ---- sessions --------------------------------------------------------------------------------------------------------------


def _session(record: Record, place: Place, state: State) -> list[Draft]:
    """A session of a list: its head, then its messages."""
    group, at, value, wanted = record.value
    extra: Extra = {}
    session = state.open(value, SESSION, place, at, extra)
    title, name = session.text("title"), session.text("name")
    if title and name is not None and name != title:
        extra[f"{at}/name"] = name
    made, changed = session.time("createdAt"), session.time("updatedAt")
    if value.get("updatedAt") is not None:
        extra[f"{at}/updatedAt"] = value["updatedAt"]
    parent = session.text("parentSessionId")
    listed, here = opened(value.get("messages"), f"{at}/messages", extra)
    if type(listed) is not list and listed is not None:
        session.odd("messages")
    items = listed if type(listed) is list else []
    facts: dict[str, Any] = {
        "title": title or name or None,
        "made": made[0],
        "changed": changed[0],
        "parent": parent,
        "count": len(items),
        "read": wanted,
        "at": at,
    }
    data = {pointer.removeprefix(f"{at}/"): item for pointer, item in extra.items()}
    when = made if made[0] is not None or made[2] is not None else id_time(group)
    head = state.event(
        "session",
        "session",
        place,
        group,
        json_of(data) if data else None,
        at,
        text=title or name or None,
        id=group,
        timestamp=when[0],
        timestamp_origin=when[1],
        timestamp_text=when[2],
        parent_id=parent,
    )
    drafts = [Draft(head, "session", place, group, facts)]
    for number, item in enumerate(items if wanted else ()):
        pointer = f"{here}/{number}"
        if type(item) is dict:
            drafts.append(read_message(state, item, place, group, pointer))
        else:
            drafts.append(state.odd_event(item, "message", place, group, pointer))
            drafts[-1].facts["raw"] = item
    return drafts


def _map(record: Record, place: Place, state: State) -> list[Draft]:
    """What a map says of one session: its agent, its model, its mode."""
    group, at, value, _ = record.value
    name = relation(record.key) or ("current" if is_list(record.key) else record.key)
    when = id_time(group)
    event = state.event(
        "index",
        name,
        place,
        group,
        json_of(value),
        at,
        text=value if type(value) is str and record.key != ACTIVE and name != "current" else None,
        id=group,
        timestamp=when[0],
        timestamp_origin=when[1],
    )
    return [Draft(event, "index", place, group)]


def _named(record: Record, place: Place, state: State) -> list[Draft]:
    """What is kept under a session's name; a draft is a prompt that was never sent."""
    group, data = record.value
    if data is None:
        return [Draft(None, "named", place, group)]
    told = named(record.key)
    kind = NAMED[told[1]] if told is not None else "index"
    value, mark = decode(data, state.ledger, place, True)
    when = id_time(group)
    event = state.event(
        kind,
        record.key.replace(group, "*", 1),
        place,
        group,
        json_of(value),
        mark,
        text=value if type(value) is str else None,
        id=group,
        timestamp=when[0],
        timestamp_origin=when[1],
    )
    return [Draft(event, "index", place, group)]


# ---- rows of no conversation -----------------------------------------------------------------------------------------------


def _loose(record: Record, place: Place, state: State) -> list[Draft]:
    if record.key in HISTORY:
        return _history(record, place, state)
    if record.key == ACTIVE:
        value, _ = decode(record.value, state.ledger, place, True)
        return [_left(state, record.key, None if type(value) is str and value else value, place)]
    value, mark = unwrap(record.value, state.ledger, place)
    if is_list(record.key):
        return [_list(state, record.key, value, mark, place)]
    if type(value) is not dict:
        return [state.odd_event(value, record.key, place, None, mark)]
    name = relation(record.key)
    per_session = record.key == AGENTS or name in PER_SESSION
    rest = {id: item for id, item in value.items() if not per_session or not id}
    return [_left(state, name or record.key, rest or None, place, mark)]


def _left(state: State, name: str, rest: Any, place: Place, at: str = "") -> Draft:
    """A row as such, without what stands in its conversations."""
    data = None if rest is None else json_of(rest)
    return Draft(state.event("index", name, place, None, data, at), "index", place, None)


def _list(state: State, key: str, value: Any, mark: str, place: Place) -> Draft:
    at, listed = sessions(value)
    if listed is None:
        return state.odd_event(value, "list", place, None, mark)
    if at != "/list":
        state.ledger.part("trae/list-alias", place, at or "/", record="list", pointer=mark + at)
    rest: dict[str, Any] = {}
    if type(value) is dict:
        rest = {name: item for name, item in value.items() if name != at.split("/")[1]}
        if at == "/data/list":
            rest["data"] = {name: item for name, item in value["data"].items() if name != "list"}
        for name in rest.keys() - {"currentSessionId", "data"}:
            state.ledger.part("unknown-field", place, f"/{name}", record="list", pointer=f"{mark}/{name}")
    odd = {str(number): item for number, item in enumerate(listed) if not is_session(item)}
    for number in odd:
        state.ledger.part("unexpected-type", place, "/list/*", record="list", pointer=f"{mark}{at}/{number}")
    return _left(state, key, {**rest, **({"list": odd} if odd else {})}, place, mark)


def _history(record: Record, place: Place, state: State) -> list[Draft]:
    """Prompts without their conversations; there is no telling when they were sent."""
    value, mark = unwrap(record.value, state.ledger, place)
    if type(value) is not list:
        return [state.odd_event(value, "input-history", place, None, mark)]
    drafts = [_left(state, record.key, None, place, mark)]
    for number, item in enumerate(value):
        at = f"{mark}/{number}"
        odd = type(item) not in (dict, str)
        drafts.append(state.odd_event(item, "prompt", place, None, at) if odd else _prompt(state, item, place, at))
    return drafts


def _prompt(state: State, item: Any, place: Place, at: str) -> Draft:
    extra: Extra = {}
    blocks: list[Any] = []
    if type(item) is str:
        blocks = [make_text(item)]
    else:
        prompt = state.open(item, PROMPT, place, at, extra)
        blocks += read_content(state, item.get("inputText"), place, f"{at}/inputText", extra)
        parsed = prompt.first("parsedQuery", list)
        if parsed and parsed != [item.get("inputText")]:
            extra[f"{at}/parsedQuery"] = parsed
            blocks += [b for b in read_prompt(parsed) if not blocks or type(b).__name__ == "Reference"]
        blocks += read_media(prompt, "multiMedia", extra)
        files = prompt.first("files", list)
        if files:
            extra[f"{at}/files"] = files
    message = open_message(
        state.keys.count(None, "prompt"), None, "prompt", "human", tuple(blocks), state="orphan", origin=state.origin(place, at)
    )
    message.extra = json_of(extra) if extra else None
    return Draft(message, "prompt", place, None)


Handler = Callable[[Record, Place, State], list[Draft]]
ROWS: Final[Mapping[str, Handler]] = MappingProxyType({"list": _session, "map": _map, "named": _named})
"""What reads each kind of row; all others belong to no conversation."""
