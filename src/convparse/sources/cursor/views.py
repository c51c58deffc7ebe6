"""The model's view of an editor's conversation: blobs of ``agentKv``, as ``store.db`` has them.

They hold what bubbles lack: the system prompt, results exactly as the model saw them, what a compaction took away. They say the
same talk a second time, so that they become events behind it, not messages. Which blobs are a conversation's only its root
tells: the one in its head, else the one that its checkpoint names.
"""

import base64
import binascii
from collections.abc import Iterator
from copy import copy
from typing import Any, Final

from convparse._json import decode_shallow
from convparse.ledger import Place
from convparse.reading.rows import Rows
from convparse.reading.tables import Record, Table
from convparse.sources._reading import json_of, open_event
from convparse.sources._source import Unit
from convparse.sources.cursor import protobuf
from convparse.sources.cursor.agents import Walk
from convparse.sources.cursor.protobuf import Malformed
from convparse.sources.cursor.state import Draft, State

BLOB: Final = "agentKv:blob:"
CHECKPOINT: Final = "agentKv:checkpoint:"


def units(rows: Rows, table: Table, id: str, state: Any) -> Iterator[Unit]:
    """The blobs of a conversation, from the root that its head or its checkpoint gives."""
    walk = Walk(rows, table, BLOB)
    found = _root(state)
    for record, place in rows.data(table, CHECKPOINT + id):
        rows.shared.setdefault("checkpoints", set()).add(id)
        yield Record("agentKv", id, ("checkpoint", record.value, ""), record.kind), place
        if found is None:
            try:
                named = record.value.decode("ascii").lower()
            except UnicodeDecodeError:
                named = record.value.hex()
            for inner, at in walk.root(named):
                yield Record("agentKv", id, (inner.table, inner.value, inner.key), inner.kind), at
    if found is not None:
        for inner, at in walk.state(found):
            yield Record("agentKv", id, (inner.table, inner.value, inner.key), inner.kind), at
    rows.shared.setdefault("blobs", set()).update(walk.seen)


def _root(state: Any) -> protobuf.Fields | None:
    """The root that stands in a head: ``~`` and base64, in older versions hex; ``~`` alone is none."""
    if type(state) is not str or len(state) < 2:
        return None
    try:
        data = base64.b64decode(state[1:], validate=True) if state[0] == "~" else bytes.fromhex(state)
        return protobuf.fields(data)
    except (binascii.Error, ValueError):
        return None


def read_blob(record: Record, place: Place, state: State) -> list[Draft]:
    """One blob, as an event: a message in JSON, or the fields of protobuf."""
    kind, value, blob = record.value
    name, data = kind, value
    if kind == "again":
        entry = copy(state.said[blob].entry)
        entry.key = state.keys.count(record.key, "agentKv")
        return [Draft(entry, "view", place, record.key)]
    if kind == "message":
        try:
            data = decode_shallow(value)
        except ValueError:
            state.said[blob] = _undecodable(value, place, state, record.key)
            return [state.said[blob]]
        role = data.get("role") if type(data) is dict else None
        name = role if type(role) is str else kind
    elif kind == "undecodable":
        return [_undecodable(value, place, state, record.key)]
    elif kind == "checkpoint":
        data = value.decode("utf-8", "replace")
    else:
        data = {str(n): [protobuf.plain(v) for v in values] for n, values in value["fields"].items()}
    event = open_event(
        state.keys.count(record.key, "agentKv"),
        "model-view",
        f"agentKv/{name}",
        None,
        json_of(data),
        origin=state.origin(place),
    )
    draft = Draft(event, "view", place, record.key)
    if kind == "message":
        state.said[blob] = draft
    return [draft]


def _undecodable(value: bytes, place: Place, state: State, group: str) -> Draft:
    try:
        found = protobuf.fields(value)
    except Malformed:
        found = {}
        state.ledger.part("cursor/undecodable-blob", place, record="message")
    data = {str(n): [protobuf.plain(v) for v in values] for n, values in found.items()} if found else {"hex": value.hex()}
    event = open_event(
        state.keys.count(group, "agentKv"), "model-view", "agentKv/blob", None, json_of(data), origin=state.origin(place)
    )
    return Draft(event, "view", place, group)
