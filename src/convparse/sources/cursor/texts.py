"""Agents' transcripts as text (January to March 2026).

Headers ``user:`` and ``assistant:`` begin messages; marks inside them begin thinking, calls and results. Nothing is escaped, so
that words which look like a mark are taken for one; the text of every message is therefore kept whole as well.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final

from convparse.blocks import Block
from convparse.ledger import Ledger, Place
from convparse.records import Conversation
from convparse.sources._reading import json_of, make_call, make_result, make_thinking, open_event, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.cursor import wrappers
from convparse.sources.cursor.resolve import freeze
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.tools import kind_of

_HEADER: Final = re.compile(rb"^(?:(user|assistant):|(Turn ended): ?)", re.MULTILINE)
_MARK: Final = re.compile(r"^\[(Thinking|Tool call|Tool result)\] ?", re.MULTILINE)


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a block of text; the blocks join without gaps."""
    state = State(ledger)
    group = PurePath(ledger.path).stem or None
    for data, _ in units:
        starts = [match.start() for match in _HEADER.finditer(data)]
        edges = [0, *(at for at in starts if at), len(data)]
        line = 1
        for begin, end in pairwise(edges):
            yield _block(data[begin:end], (line, begin, end - begin), state, group)
            line += data.count(b"\n", begin, end)


def _block(data: bytes, place: Place, state: State, group: str | None) -> Draft:
    text = data.decode("utf-8", "replace")
    if text.encode() != data:
        state.ledger.part("invalid-utf8", place)
    header = _HEADER.match(data)
    if header is None:
        if data.strip():
            state.ledger.part("unknown-record", place, record="text")
        event = open_event(state.keys.count(group, "text"), "unknown", "text", text, origin=state.line(place))
        return Draft(event, "odd", place, group)
    body = text[header.end() :]
    if header[2]:
        kind = "error" if body.strip().startswith("error") else "turn-end"
        event = open_event(state.keys.count(group, "turn-end"), kind, "Turn ended", body, origin=state.line(place))
        return Draft(event, "turn_ended", place, group)
    role = header[1].decode()
    blocks: list[Any] = _person(body) if role == "user" else _model(body)
    when = wrappers.stamp(blocks[0].text.strip()) if role == "user" and _is_stamp(blocks) else (None, None, None)
    entry = open_message(
        state.keys.count(group, role),
        None,
        role,
        "human" if role == "user" else "model",
        tuple(blocks),
        *when,
        origin=state.line(place),
        extra=json_of({"": text}),
    )
    return Draft(entry, "message", place, group)


def _is_stamp(blocks: list[Any]) -> bool:
    return bool(blocks) and getattr(blocks[0], "kind", None) == "timestamp"


def _person(body: str) -> list[Any]:
    return wrappers.person(body.strip("\n").removeprefix(" "))[0]


def _model(body: str) -> list[Block]:
    blocks: list[Block] = []
    marks = list(_MARK.finditer(body.removeprefix(" ")))
    text = body.removeprefix(" ")
    prose = text[: marks[0].start()] if marks else text
    if prose.strip():
        blocks += wrappers.model(prose.strip("\n"))
    for mark, after in zip(marks, [*(m.start() for m in marks[1:]), len(text)], strict=False):
        blocks += _marked(mark[1], text[mark.end() : after].strip("\n"))
    return blocks


def _marked(mark: str, body: str) -> list[Block]:
    if mark == "Thinking":
        return [make_thinking(body, None, not body)]
    name, _, rest = body.partition("\n")
    if mark == "Tool call":
        return [make_call(None, name, kind_of(name), rest)]
    return [make_result(None, (), None, None, None, None, False, json_of({"toolName": name}))]


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation."""
    return [
        Conversation(PurePath(part.path).stem or None, "cursor", entries=tuple(freeze(draft.entry) for draft in part.drafts))
        for part in parts
    ], []
