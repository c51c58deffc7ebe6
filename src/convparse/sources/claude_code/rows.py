"""Rows of a transcript, to drafts: one plain function a record type, found in ``ROWS``.

What comes in: one decoded row and its place. What goes out: a draft whose open record holds every unit fact of the row, or a
draft without a record for what ``SKIPPED`` names. A row of an unexpected make becomes an event of kind ``unknown`` that holds
it whole. Never looked at: any other row but what ``State`` remembers of those before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from convparse.ledger import Ledger, Place
from convparse.sources._reading import Extra, json_of, open_event
from convparse.sources._source import Unit
from convparse.sources.claude_code.envelope import Row
from convparse.sources.claude_code.events import odd_record, read_attachment, read_progress, read_system, unknown_row
from convparse.sources.claude_code.fields import RECORDS, SKIPPED
from convparse.sources.claude_code.messages import read_assistant, read_queued_command, read_user
from convparse.sources.claude_code.state import Draft, State
from convparse.times import NO_TIME, iso_time


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a transcript's rows, in file order."""
    state = State(ledger)
    rows = dict(ROWS)
    for value, place in units:
        if type(value) is not dict:
            ledger.part("not-an-object", place)
            yield odd_record(value, place, state, "not-an-object")
            continue
        kind = value.get("type")
        handler = rows.get(kind) if type(kind) is str else None
        draft = handler(value, place, state) if handler is not None else unknown_row(value, place, state)
        if draft.entry is not None or draft.uuid is not None:
            yield draft


def _attachment(row: Row, place: Place, state: State) -> Draft:
    attachment = row.get("attachment")
    kind = attachment.get("type") if type(attachment) is dict else None
    if kind == "queued_command":
        return read_queued_command(row, place, state)
    if kind == "prompt_snapshot":
        return _skipped(row, place, state, "attachment/prompt_snapshot")
    return read_attachment(row, place, state)


def _skipped(row: Row, place: Place, state: State, name: str) -> Draft:
    """A record left out by name; it may still be a link of the chain."""
    state.ledger.unit("skipped-record", place, record=name)
    uuid, parent, session, agent = (_string(row, key) for key in ("uuid", "parentUuid", "sessionId", "agentId"))
    return Draft(None, name, place, agent or session, uuid, parent, row.get("isSidechain") is True and agent is None)


def _beside(row: Row, place: Place, state: State) -> Draft:
    """A record beside the chain: an event without an id."""
    name = row["type"]
    kind, text_key, fields = RECORDS[name]
    extra: Extra = {}
    shape = state.look(fields)(row, place)
    data = {key: row[key] for key, _ in shape.kept}
    group, stamp, text = (_typed(row, key, name, place, state, extra) for key in ("sessionId", "timestamp", text_key))
    if group is None and name == "fork-context-ref":
        group = _string(row, "agentId")
    when, when_text = iso_time(stamp) if stamp is not None else NO_TIME
    if stamp is not None and when is None:
        state.ledger.part("bad-timestamp", place, "/timestamp", record=name)
    data |= {pointer[1:]: value for pointer, value in extra.items()}
    event = open_event(
        state.keys.count(group, name),
        kind,
        name,
        text,
        json_of(data) if data else None,
        None,
        when,
        "recorded" if when is not None else None,
        when_text,
        origin=state.origin(place),
    )
    return Draft(event, name, place, group, facts=data or None)


def _string(row: Row, key: str) -> str | None:
    value = row.get(key)
    return value if type(value) is str else None


def _typed(row: Row, key: str | None, name: str, place: Place, state: State, extra: Extra) -> str | None:
    """A string; what is none goes to ``extra``, and is named unless it is a text that may be a list of blocks."""
    value = row.get(key) if key is not None else None
    if value is None or type(value) is str:
        return value
    extra[f"/{key}"] = value
    if key != "content":
        state.ledger.part("unexpected-type", place, f"/{key}", record=name)
    return None


def _skipped_beside(row: Row, place: Place, state: State) -> Draft:
    return _skipped(row, place, state, row["type"])


ROWS: Final[Mapping[str, Callable[[Row, Place, State], Draft]]] = MappingProxyType(
    {
        "user": read_user,
        "assistant": read_assistant,
        "attachment": _attachment,
        "system": read_system,
        "progress": read_progress,
        **dict.fromkeys(RECORDS, _beside),
        **{name: _skipped_beside for name in SKIPPED if "/" not in name},
    }
)
"""What reads each record type."""
