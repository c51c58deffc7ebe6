"""Files that are one JSON document: sessions up to 0.24, saved checkpoints, and the log of prompts. Each is one unit.

A session's document holds its messages as a log's lines do. A checkpoint (``/chat save``, and what the program saves before a
tool changes files) holds the talk as the model's API has it, without times and ids. ``logs.json`` has what was typed, of all
sessions of a project, commands too.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from convparse.blocks import Text
from convparse.ledger import Ledger, Place
from convparse.records import Entry
from convparse.sources._reading import json_of, open_event
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.gemini_cli.fields import CHECKPOINT, PROMPT, tables
from convparse.sources.gemini_cli.messages import asked, author_of, message, read_unknown, responses
from convparse.sources.gemini_cli.parts import read_content, told_apart
from convparse.sources.gemini_cli.resolve import frozen
from convparse.sources.gemini_cli.rows import read_header
from convparse.sources.gemini_cli.state import TOLD, Draft, Record, State


def read_session(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The draft of a session, with its messages inside."""
    state = State(ledger)
    for value, place in units:
        if type(value) is dict:
            yield read_header(value, place, state)
        else:
            yield _not_an_object(value, place, state, "metadata")


def _not_an_object(value: Any, place: Place, state: State, name: str, at: str = "", pattern: str = "") -> Draft:
    record = Record(value, name, place, state, at, pattern)
    return read_unknown(record, state.keys.count(state.session, name), "not-an-object")


# ---- checkpoints -----------------------------------------------------------------------------------------------------------


def read_checkpoint(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The draft of a checkpoint, with the turns of its talk inside."""
    state = State(ledger)
    for value, place in units:
        if type(value) is dict:
            name = "clientHistory" if type(value.get("clientHistory")) is list else "history"
            record = Record(value, "checkpoint", place, state)
            record.keep(CHECKPOINT, value)
            told = value.get(name)
            if type(told) is not list and told is not None:
                record.odd(told, f"/{name}")
            rest = {key: item for key, item in value.items() if key != name or type(item) is not list}
            yield _head(rest, _turns(told, f"/{name}", place, state), place, state)
        elif type(value) is list:
            yield _head(None, _turns(value, "", place, state), place, state)
        else:
            yield _not_an_object(value, place, state, "checkpoint")


def _head(rest: Any, turns: list[Draft], place: Place, state: State) -> Draft:
    key = state.keys.count(None, "checkpoint")
    entry = open_event(key, "checkpoint", "checkpoint", None, json_of(rest) if rest else None, origin=state.origin(place))
    return Draft(entry, "checkpoint", place, TOLD, key, None, tuple(turns))


def _turns(told: Any, at: str, place: Place, state: State) -> list[Draft]:
    drafts = []
    for i, item in enumerate(told if type(told) is list else ()):
        if type(item) is dict and type(item.get("role")) is str:
            drafts.append(_turn(Record(item, "turn", place, state, f"{at}/{i}", f"{at}/*")))
        else:
            drafts.append(_not_an_object(item, place, state, "turn", f"{at}/{i}", f"{at}/*"))
    return drafts


def _turn(record: Record) -> Draft:
    role, parts = record.row["role"], record.row.get("parts")
    known = tables("turn", record.pattern, "/parts")
    record.keep(known.content, record.row)
    blocks = read_content(record, parts, known, "/parts")
    if role != "model":
        blocks = told_apart(blocks)
    key = record.state.keys.count(None, role)
    entry = message(record, key, role, "model" if role == "model" else author_of(blocks, record.state), blocks)
    facts = {"calls": asked(record, blocks, "/parts"), "responses": responses(parts), "content": parts, "inside": "/parts"}
    return Draft(entry, "turn", record.place, "say", key, facts)


# ---- prompts ---------------------------------------------------------------------------------------------------------------


def read_prompts(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a prompt."""
    state = State(ledger)
    for value, place in units:
        if type(value) is list and value:
            for i, item in enumerate(value):
                yield _prompt(item, place, state, i)
        else:
            code = "unexpected-type" if value != [] else None
            yield _no_prompts(value, place, state, code)


def _no_prompts(value: Any, place: Place, state: State, code: str | None) -> Draft:
    if code is not None:
        ledger = state.ledger
        ledger.part(code, place, record="logs")
    key = state.keys.count(None, "logs")
    entry = open_event(key, "unknown" if code else "prompts", "logs", None, json_of(value), origin=state.origin(place))
    return Draft(entry, "logs", place, TOLD, key)


def _prompt(item: Any, place: Place, state: State, i: int) -> Draft:
    if type(item) is not dict or type(item.get("message")) is not str:
        return _not_an_object(item, place, state, "prompt", f"/{i}", "/*")
    record = Record(item, "prompt", place, state, f"/{i}", "/*")
    record.keep(PROMPT, item)
    key = state.keys.count(None, "prompt")
    entry = message(record, key, "user", "human", [Text(item["message"])])
    return Draft(entry, "prompt", place, TOLD, key)


def resolve_prompts(parts: list[FilePart], session: Session) -> Resolved:
    """Loose entries: they are of many sessions."""
    loose: list[Entry] = [frozen(draft.entry) for part in parts for draft in part.drafts]
    return [], loose
