"""Rows of the editor's databases, to drafts: one plain function a family, found in ``ROWS``.

What comes in: records of one conversation, or those that belong to none. What goes out: drafts that hold unit facts. A value
of an unexpected make becomes an event of kind ``unknown`` that holds it whole.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from convparse.ledger import Ledger, Place
from convparse.reading.tables import Record
from convparse.sources._reading import json_of, open_event
from convparse.sources._source import Unit
from convparse.sources.cursor import views, workspaces
from convparse.sources.cursor.bubbles import read_bubble
from convparse.sources.cursor.composers import odd_value, read_composer
from convparse.sources.cursor.state import Draft, State


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a database's rows, in the order in which they come."""
    state = State(ledger)
    for record, place in units:
        for draft in _handler(record)(record, place, state):
            yield draft
            if "nested" in draft.facts:
                yield from _nested(draft, state)


def _handler(record: Record) -> "Handler":
    if record.table == "ItemTable":
        return workspaces.ITEMS.get(record.key, workspaces.read_pane)
    if record.table in TABLES:
        return TABLES[record.table]
    return ROWS.get(record.key.partition(":")[0], _content)


def _nested(draft: Draft, state: State) -> list[Draft]:
    """A sub-agent's conversation, which stands whole inside the result of the tool that started it."""
    id, at, value = draft.facts["nested"]
    return read_composer(state, value, draft.place, id, at)


def _split(record: Record) -> tuple[str, str | None]:
    """The conversation and the id behind it that a key names."""
    _, group, *rest = record.key.split(":", 2)
    return group, rest[0] if rest else None


def _composer(record: Record, place: Place, state: State) -> list[Draft]:
    group, id = _split(record)
    if type(record.value) is not dict or id is not None:
        return [odd_value(state, record.value, place, group, "composerData")]
    return read_composer(state, record.value, place, group)


def _bubble(record: Record, place: Place, state: State) -> list[Draft]:
    group, id = _split(record)
    if type(record.value) is not dict or id is None:
        return [odd_value(state, record.value, place, group, "bubbleId")]
    return [read_bubble(state, record.value, place, group, id)]


def _about(record: Record, place: Place, state: State) -> list[Draft]:
    """What is kept beside a bubble: the context it was sent with, the diffs it made, what became of them."""
    group, id = _split(record)
    name = record.key.partition(":")[0]
    event = open_event(f"{group}/{id}:{name}", ABOUT[name], name, None, json_of(record.value), id, origin=state.origin(place))
    return [Draft(event, "about", place, group, id)]


def _content(record: Record, place: Place, state: State) -> list[Draft]:
    """The contents of a file, which a tool's result names; of a damaged file also a row that stands under another's key."""
    if type(record.value) is not bytes:
        return [odd_value(state, record.value, place, None, "row")]
    text = record.value.decode("utf-8", "replace")
    if "\ufffd" in text and text.encode() != record.value:
        state.ledger.part("invalid-utf8", place, record="composer.content")
    return [Draft(None, "content", place, None, record.key, {"text": text, "origin": state.origin(place)})]


def _task(record: Record, place: Place, state: State) -> list[Draft]:
    return [Draft(None, "task", place, _split(record)[0], None, record.value)]


def _unread(record: Record, place: Place, state: State) -> list[Draft]:
    """A mark: of this conversation the head alone was read."""
    return [Draft(None, "unread", place, _split(record)[0])]


def _table_head(record: Record, place: Place, state: State) -> list[Draft]:
    """A row of the table ``composerHeaders`` (since 3.9)."""
    return [workspaces.head_event(state, record.value, place, record.key, "composerHeaders", "", record.value["value"])]


def _index_head(record: Record, place: Place, state: State) -> list[Draft]:
    index, _, id = record.key.partition(":")
    number, head = record.value
    return [workspaces.head_event(state, head, place, id, index, f"/allComposers/{number}", head)]


Handler = Callable[[Record, Place, State], list[Draft]]
ABOUT: Final[Mapping[str, str]] = MappingProxyType(
    {"messageRequestContext": "context", "codeBlockDiff": "edit", "codeBlockPartialInlineDiffFates": "edit"}
)
ROWS: Final[Mapping[str, Handler]] = MappingProxyType(
    {"composerData": _composer, "bubbleId": _bubble, "task": _task, "unread": _unread, **dict.fromkeys(ABOUT, _about)}
)
"""What reads each family of ``cursorDiskKV``."""
TABLES: Final[Mapping[str, Handler]] = MappingProxyType(
    {
        "composerHeaders": _table_head,
        "ItemTable/head": _index_head,
        "ItemTable/tab": workspaces.read_tab,
        "agentKv": views.read_blob,
    }
)
