"""``history.jsonl``, the prompts typed into the terminal, and ``session_index.jsonl``, the names that threads were given.

Both belong to no one conversation and come back as ``loose``. The history has prompts only, may have been cut at its beginning,
and is not written by ``codex exec`` or the app server.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convparse.blocks import Text, Unknown
from convparse.ledger import ALWAYS, Fields, Ledger, Place
from convparse.records import Entry, Event, Message
from convparse.sources._reading import Extra, json_of, keep, odd
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.codex.state import Draft, State
from convparse.times import NO_TIME, epoch_ms, iso_time

PROMPT: Final = Fields("prompt", typed=frozenset({"ts", "text"}), kept={"session_id": ALWAYS, "conversation_id": ALWAYS})
NAME: Final = Fields("name", typed=frozenset({"thread_name"}), kept={"id": ALWAYS, "updated_at": ALWAYS})


def read_history(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a prompt."""
    state = State(ledger)
    for value, place in units:
        yield Draft(_prompt(value, place, state), "prompt")


def _prompt(value: Any, place: Place, state: State) -> Message:
    key = state.keys.count(None, "prompt")
    if type(value) is not dict or type(value.get("text")) is not str:
        state.ledger.part("unknown-record" if type(value) is dict else "not-an-object", place, record="prompt")
        return Message(key, None, "prompt", None, (Unknown("prompt", json_of(value)),), origin=state.origin(place))
    extra: Extra = {}
    keep(extra, state.ledger.look(PROMPT, value, place), value, "")
    stamp = value.get("ts")
    when, text = epoch_ms(stamp * 1000) if type(stamp) is int else NO_TIME
    if when is None:
        odd(state.ledger, extra, place, "prompt", "/ts", stamp)
    return Message(
        key,
        None,
        "prompt",
        "human",
        (Text(value["text"]),),
        when,
        "recorded" if when is not None else None,
        text,
        origin=state.origin(place),
        extra=json_of(extra) if extra else None,
    )


def read_index(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a name; of one thread the last counts."""
    state = State(ledger)
    for value, place in units:
        yield Draft(_name(value, place, state), "name")


def _name(value: Any, place: Place, state: State) -> Event:
    key = state.keys.count(None, "name")
    if type(value) is not dict or type(value.get("thread_name")) is not str:
        state.ledger.part("unknown-record" if type(value) is dict else "not-an-object", place, record="name")
        return Event(key, "unknown", "name", None, json_of(value), origin=state.origin(place))
    shape = state.ledger.look(NAME, value, place)
    data = {name: value[name] for name, _ in shape.kept}
    stamp = value.get("updated_at")
    when, text = iso_time(stamp) if type(stamp) is str else NO_TIME
    return Event(
        key,
        "title",
        "session_index",
        value["thread_name"],
        json_of(data) if data else None,
        None,
        when,
        "recorded" if when is not None else None,
        text,
        origin=state.origin(place),
    )


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """Loose entries, in file order."""
    loose: list[Entry] = [draft.entry for part in parts for draft in part.drafts]
    return [], loose
