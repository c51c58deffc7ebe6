"""What reading one event file remembers from event to event, and the drafts it makes.

A draft is an open record with the few facts that only the whole file can use. ``State`` looks back, never ahead.
"""

from collections.abc import Mapping
from typing import Any

from convparse.ledger import Fields, Ledger, Place
from convparse.records import Context
from convparse.sources._reading import Extra, Keys, keep
from convparse.sources.copilot_cli.fields import ENVELOPE
from convparse.times import NO_TIME, iso_time

Row = dict[str, Any]


class Draft:
    """An event that was read: its open record, and the thread it belongs to (None is the main one)."""

    __slots__ = ("entry", "facts", "group", "name", "place")

    def __init__(self, entry: Any, name: str, place: Place, group: str | None, facts: dict[str, Any] | None = None) -> None:
        self.entry = entry
        self.name = name
        self.place = place
        self.group = group
        self.facts = facts or {}


class State:
    """The memory of one file's reading."""

    __slots__ = ("assets", "calls", "context", "contexts", "keys", "ledger", "origin", "path", "prompts", "session", "turns")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.origin = ledger.origin
        self.path = ledger.path
        self.keys = Keys()
        self.session: str | None = None
        self.context: Context | None = None
        """The circumstances that the last start or resume told."""
        self.contexts: dict[Context, Context] = {}
        self.turns: dict[str | None, str] = {}
        """The last interaction of each thread."""
        self.calls: dict[str, Any] = {}
        """Arguments of the calls that messages asked for, by their ids."""
        self.assets: dict[str, tuple[str | None, str]] = {}
        """Media type and data of binary assets, by their ids."""
        self.prompts: set[str] = set()
        """System prompts seen."""


class Event:
    """One event while it is read: its envelope, and what no field is made from."""

    __slots__ = ("at", "data", "extra", "group", "id", "key", "name", "parent", "place", "row", "state", "when", "when_text")

    def __init__(self, row: Row, place: Place, state: State, at: str = "") -> None:
        self.row = row
        self.place = place
        self.state = state
        self.at = at
        """Where the event stands in its unit."""
        self.name: str = row["type"]
        self.data: dict[str, Any] = row["data"]
        self.extra: Extra = {}
        self.keep(ENVELOPE, row, "")
        self.id = self.string(row, "id", "")
        self.parent = self.string(row, "parentId", "")
        agent = self.string(row, "agentId", "")
        call = self.string(self.data, "parentToolCallId")
        self.group = agent or call or None
        if agent and call is not None:
            self.extra["/data/parentToolCallId"] = call
        self.key = state.keys.count(state.session, self.name) if self.id is None else self._unique(self.id)
        self.when, self.when_text = self._time()

    def _unique(self, id: str) -> str:
        if id in self.state.keys.seen:
            self.note("duplicate-id", "/id")
            return self.state.keys.again(id)
        return self.state.keys.of(id)

    def _time(self) -> Any:
        text = self.row.get("timestamp")
        if text is None:
            return NO_TIME
        when, kept = iso_time(text) if type(text) is str else (None, None)
        if when is None:
            self.note("bad-timestamp", "/timestamp")
            if type(text) is not str:
                self.extra["/timestamp"] = text
        return when, kept

    @property
    def recorded(self) -> Any:
        """Whether the time was recorded."""
        return "recorded" if self.when is not None else None

    def keep(self, fields: Fields, value: Mapping[str, Any], at: str) -> None:
        """Keep and name what an object holds beyond what records are made from."""
        keep(self.extra, self.state.ledger.look(fields, dict(value), self.place), value, at)

    def note(self, code: str, at: str, pattern: str | None = None) -> None:
        """Enter a place in the event."""
        self.state.ledger.part(code, self.place, at if pattern is None else pattern, record=self.name, pointer=self.at + at)

    def odd(self, value: Any, at: str, pattern: str | None = None) -> None:
        """A known field with a value of a type that is not: kept raw and named."""
        self.extra[at] = value
        self.note("unexpected-type", at, pattern)

    def string(self, value: Mapping[str, Any], key: str, at: str = "/data", pattern: str | None = None) -> str | None:
        """A string field; None where it is not there, or is none."""
        item = value.get(key)
        if item is None or type(item) is str:
            return item
        self.odd(item, f"{at}/{key}", None if pattern is None else f"{pattern}/{key}")
        return None

    def turn(self) -> str | None:
        """The interaction that an event names, which later ones of its thread belong to."""
        turn = self.string(self.data, "interactionId")
        if turn is not None:
            self.state.turns[self.group] = turn
        return turn if turn is not None else self.state.turns.get(self.group)
