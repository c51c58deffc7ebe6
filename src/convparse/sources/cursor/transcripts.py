"""Agents' transcripts (since January 2026): one line a message, without ids, times or results of tools.

Rewritten by the product from its store: results never appear, encrypted reasoning is a mark, plain reasoning stands behind the
prose without one. A file may hold nothing but ``turn_ended``.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, Final

from convparse.ledger import Fields, Ledger, Place, escape
from convparse.records import Conversation, Entry, Link
from convparse.sources._reading import Extra, json_of, keep, open_event, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.cursor import copies, wrappers
from convparse.sources.cursor.parts import read_content
from convparse.sources.cursor.resolve import freeze
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.times import NEVER, recorded

Line = dict[str, Any]
LINE: Final = Fields("line", typed=frozenset({"role", "message", "timestamp", "id"}), kept={})
MESSAGE: Final = Fields("line", "/message", typed=frozenset({"role", "content", "model"}), kept={})
ENDS: Final = {"turn_ended": "turn-end", "error": "error", "metadata": "session"}


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a line."""
    state = State(ledger)
    group = PurePath(ledger.path).stem or None
    for value, place in units:
        if type(value) is dict and type(value.get("role")) is str and type(value.get("message")) is dict:
            yield _message(value, place, state, group)
        else:
            yield _event(value, place, state, group)


def _message(line: Line, place: Place, state: State, group: str | None) -> Draft:
    extra: Extra = {}
    message, role = line["message"], line["role"]
    keep(extra, state.look(LINE)(line, place), line, "")
    keep(extra, state.look(MESSAGE)(message, place), message, "/message")
    if message.get("role") not in (None, role):
        extra["/message/role"] = message["role"]
    model = state.typed(message.get("model"), str, extra, place, "line", "/message/model")
    id = state.typed(line.get("id"), str, extra, place, "line", "/id")
    blocks = read_content(state, message.get("content"), role, place, "/message/content", extra)
    when = recorded(line.get("timestamp"))
    if line.get("timestamp") is not None and when[0] is None:
        state.ledger.part("bad-timestamp", place, "/timestamp", record="line")
    first = blocks[0] if blocks else None
    if when == NEVER and role == "user" and getattr(first, "kind", None) == "timestamp":
        when = wrappers.stamp(first.text.strip())  # type: ignore[union-attr]
    entry = open_message(
        state.keys.count(group, role),
        id,
        role,
        {"user": _user(blocks), "assistant": "model", "tool": "tool", "system": "harness"}.get(role),
        tuple(blocks),
        *when,
        model=model,
        origin=state.line(place),
        extra=json_of(extra) if extra else None,
    )
    return Draft(entry, "message", place, group, id)


def _user(blocks: list[Any]) -> str:
    """Who wrote a user's line: a person, a tool, or the product alone."""
    kinds = {type(block).__name__ for block in blocks}
    if "ToolResult" in kinds and "Text" not in kinds:
        return "tool"
    return "harness" if kinds == {"Injected"} else "human"


def _event(value: Any, place: Place, state: State, group: str | None) -> Draft:
    kind = value.get("type") if type(value) is dict else None
    if type(kind) is not str or kind not in ENDS:
        code = "unknown-record" if type(value) is dict else "not-an-object"
        name = kind if type(kind) is str else "line"
        state.ledger.part(code, place, record=name)
        event = open_event(state.keys.count(group, name), "unknown", name, None, json_of(value), origin=state.line(place))
        return Draft(event, "odd", place, group)
    told = value.get("error")
    word = "error" if value.get("status") == "error" else ENDS[kind]
    data = {key: item for key, item in value.items() if key != "type" and not (key == "error" and type(item) is str)}
    for key in data.keys() - {"status", "error", "metadata"}:
        odd_field(state, place, kind, key)
    event = open_event(
        state.keys.count(group, kind),
        word,
        kind,
        told if type(told) is str else None,
        json_of(data) if data else None,
        origin=state.line(place),
    )
    return Draft(event, kind, place, group)


def odd_field(state: State, place: Place, record: str, key: str) -> None:
    """Name a field that no table has; it is kept with its record."""
    state.ledger.part("unknown-field", place, f"/{escape(key)}", record=record)


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a file; the first is the session, the others are its sub-agents."""
    conversations: list[Conversation] = []
    loose: list[Entry] = []
    keys: set[str] = set()
    ids = [PurePath(part.path).stem for part in parts[1:]]
    for number, part in enumerate(parts):
        agent = number > 0 or PurePath(part.path).parent.name == "subagents"
        entries = []
        copies.tell_apart([draft.entry for draft in part.drafts], keys)
        for draft in part.drafts:
            if agent and getattr(draft.entry, "author", None) == "human":
                draft.entry.author = "model"
            entries.append(freeze(draft.entry))
        if not entries and number:
            continue
        links = tuple(Link("subagent", id) for id in ids) if not number else ()
        conversations.append(Conversation(PurePath(part.path).stem or None, "cursor", links=links, entries=tuple(entries)))
    return conversations, loose
