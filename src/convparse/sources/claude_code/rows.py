"""Rows of a transcript, to drafts: one plain function a record type, found in ``ROWS``.

What comes in: one decoded row and its place. What goes out: a draft whose open record holds every unit fact of the row, or a
draft without a record for what ``SKIPPED`` names. A row of an unexpected make becomes an event of kind ``unknown`` that holds
it whole. Never looked at: any other row but what ``State`` remembers of those before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from convparse._json import encode
from convparse.ledger import Ledger, Place
from convparse.sources._source import Unit
from convparse.sources.claude_code.content import make_json
from convparse.sources.claude_code.envelope import Row, is_tidy, read_group, read_time, tidied
from convparse.sources.claude_code.events import odd_record, read_attachment, read_progress, read_system, unknown_row
from convparse.sources.claude_code.fields import RECORDS, SKIPPED
from convparse.sources.claude_code.messages import read_assistant, read_queued_command, read_user
from convparse.sources.claude_code.state import Draft, Extra, State, open_event


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a transcript's rows, in file order."""
    state = State(ledger)
    for value, place in units:
        if type(value) is not dict:
            ledger.part("not-an-object", place)
            yield odd_record(value, place, state, "not-an-object")
            continue
        kind = value.get("type")
        handler = ROWS.get(kind) if type(kind) is str else None
        yield handler(value, place, state) if handler is not None else unknown_row(value, place, state)


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
    uuid, parent = row.get("uuid"), row.get("parentUuid")
    uuid, parent = uuid if type(uuid) is str else None, parent if type(parent) is str else None
    group, side = read_group(row, {})
    return Draft(None, name, place, group if type(group) is str else None, uuid, parent, side)


def _beside(row: Row, place: Place, state: State) -> Draft:
    name = row["type"]
    kind, text_key, fields = RECORDS[name]
    extra: Extra = {}
    if not is_tidy(row):
        row = tidied(row, name, place, state, extra)
    shape = state.ledger.look(fields, row, place)
    data = {key: row[key] for key, _ in shape.kept} | extra
    text = row.get(text_key) if text_key else None
    if text_key and text is not None and type(text) is not str:
        data[text_key] = text
        text = None
    group = row.get("sessionId")
    when, when_origin, when_text = read_time(row, name, place, state)
    event = open_event(
        state.count(group, name),
        kind,
        name,
        text,
        make_json(encode(data)) if data else None,
        None,
        when,
        when_origin,
        when_text,
        origin=state.origin(place),
    )
    return Draft(event, name, place, group, facts=data or None)


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
