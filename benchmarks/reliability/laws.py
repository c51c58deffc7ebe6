"""What must hold of any result, whatever the bytes were. ``shallow`` is checked of every input, ``deep`` of some.

Both give sentences that say what is broken; no sentence is no finding. Nothing is caught here: an exception of a record's own
methods is a finding as much as one of the parse.
"""

import copy
import json
import pickle
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import attrs

import convparse
from convparse import CODES, Event, Json, Message, ParseResult
from convparse.tables import TABLES

LEVELS: Final = 254
SHARED: Final = frozenset({"racing-document", "document", "text", "sqlite"})
"""Containers whose records may share the bytes of one unit."""


def entries(result: ParseResult) -> Iterator[Message | Event]:
    """Every entry, loose ones too."""
    for conversation in result.conversations:
        yield from conversation.entries
    yield from result.loose


def shallow(result: ParseResult, size: int, container: str) -> list[str]:
    """The account balances and has the size of the data; every drop has its fate; keys are unique."""
    broken = ["an account that does not balance" for account in result.accounts if not account.balanced]
    if not result.account.balanced:
        broken.append("the sum of the accounts does not balance")
    if container not in ("sqlite", "jsonl-zstd") and result.account.size != size:
        broken.append("the account is not of the size of the data")
    if not result.accounts:
        broken.append("no account")
    for drop in (*result.dropped, *result.skipped):
        if drop.code in CODES and drop.fate != CODES[drop.code].fate:
            broken.append(f"the fate of {drop.code} is {drop.fate}")
        if drop.count < 1 or drop.bytes < 0:
            broken.append(f"a drop of nothing: {drop.code}")
    keys = [entry.key for entry in entries(result)]
    if len(keys) != len(set(keys)):
        broken.append("two entries have one key")
    return broken


def deep(result: ParseResult, data: bytes, container: str) -> list[str]:
    """Records can be compared, copied, pickled, shown and written; views can be had; bins agree with the records' places."""
    broken = _spans(result, data, container)
    if pickle.loads(pickle.dumps(result)) != result:
        broken.append("not equal once pickled")
    if copy.deepcopy(result) != result:
        broken.append("not equal once copied")
    hash(result)
    repr(result).encode()
    str(result)
    for drop in (*result.dropped, *result.skipped):
        str(drop).encode()
    if convparse.from_json(convparse.to_json(result)) != result:
        broken.append("not equal once written as JSON")
    json.dumps(attrs.asdict(result), default=str, allow_nan=False).encode()
    broken += _views(result)
    broken += ["JSON deeper than the limit"] if any(depth > LEVELS for depth in _depths(result)) else []
    for name in TABLES:
        list(convparse.iter_rows(result, name))
    return broken


def _spans(result: ParseResult, data: bytes, container: str) -> list[str]:
    if container in SHARED or container == "jsonl-zstd":
        return []
    first = {(e.origin.offset, e.origin.length) for e in entries(result) if e.origin is not None}
    spans = sorted(first | {(o.offset, o.length) for e in entries(result) for o in e.merged})
    account = result.account
    broken = ["two units share bytes"] if any(a + length > b for (a, length), (b, _) in pairwise(spans)) else []
    if container != "mutation-log" and sum(length for _, length in first) != account.mapped.bytes:
        broken.append("the bytes of the records are not those that are mapped")
    if sum(length for _, length in spans) - account.mapped.bytes > account.folded.bytes:
        broken.append("more is merged than folded")
    return broken


def _views(result: ParseResult) -> list[str]:
    broken = []
    for conversation in result.conversations:
        if [m for turn in conversation.turns() for m in turn.messages] != list(conversation.active_messages):
            broken.append("turns hold other messages than the conversation")
        for use in conversation.tool_calls():
            str((use.outcome, use.command, use.edits))
        conversation.responses()
        conversation.edits()
        str((conversation.usage, conversation.first_at, conversation.last_at, result.children(conversation)))
    str(result.roots)
    return broken


def _depths(record: Any) -> Iterator[int]:
    """How deep the JSON is that a record holds."""
    if isinstance(record, Json):
        yield _depth(record.value)
    elif isinstance(record, tuple):
        for item in record:
            yield from _depths(item)
    elif attrs.has(type(record)):
        for field in attrs.fields(type(record)):
            yield from _depths(getattr(record, field.name))


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [one for one in level if isinstance(one, dict | list)]:
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
        depth += 1
    return depth
