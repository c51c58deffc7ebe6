"""What reading one file remembers from record to record, and the drafts it makes.

A draft is an open record with what ``resolve`` must do about it, its ``step``. ``State`` looks back, never ahead, and changes
no draft that was handed out.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any, Final

from convparse.ledger import Fields, Ledger, Look, Place
from convparse.records import Origin
from convparse.sources._reading import Extra, Keys, keep, make_origin
from convparse.times import NO_TIME, Time, iso_time

Row = dict[str, Any]
TOLD: Final = "told"
"""The step of what is in no list of the product's: an event of ours, or a record that is not known."""


class Draft:
    """A record that was read, and its step.

    ``say``: a message that follows the others. ``listed``: one that a list of the same unit holds. ``extend``, ``repeat``:
    no record of its own, but more of the message ``key``, or the same. ``list``, ``rewind``, ``patch``: what the product's list
    of messages becomes. Any other: ``TOLD``.
    """

    __slots__ = ("entry", "facts", "inside", "key", "name", "place", "step")

    def __init__(
        self,
        entry: Any,
        name: str,
        place: Place,
        step: str,
        key: str,
        facts: dict[str, Any] | None = None,
        inside: "tuple[Draft, ...]" = (),
    ) -> None:
        self.entry = entry
        self.name = name
        self.place = place
        self.step = step
        self.key = key
        self.facts = facts or {}
        self.inside = inside
        """Drafts of the same unit, which follow this one. They are kept as they are: ``resolve`` takes copies."""

    def copied(self) -> "Draft":
        """A draft that says the same, and can be settled."""
        return Draft(copy(self.entry), self.name, self.place, self.step, self.key, dict(self.facts))


class Version:
    """The last version of a message: its key, what was written, and the facts that no other version may change."""

    __slots__ = ("facts", "key", "raw")

    def __init__(self, key: str, raw: Row, facts: tuple[Any, ...]) -> None:
        self.key = key
        self.raw = raw
        self.facts = facts


class State:
    """The memory of one file's reading."""

    __slots__ = ("calls", "is_agent", "keys", "ledger", "looks", "path", "responses", "session", "tasked", "versions")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.path = ledger.path
        self.looks: dict[Fields, Look] = {}
        self.keys = Keys()
        self.session: str | None = None
        self.is_agent = False
        """True once the file said that it is a sub-agent's."""
        self.tasked = False
        """True once a sub-agent had its task."""
        self.versions: dict[str, Version] = {}
        """By the product's id, the last version of each message."""
        self.calls: dict[str, str] = {}
        """Names of the tools called, by the ids of the calls."""
        self.responses: dict[str, tuple[Version, Row]] = {}
        """By the ids of calls, the message that holds the result, and the part itself."""

    def look(self, fields: Fields) -> Look:
        """What judges the keys of a kind of object, asked for once."""
        look = self.looks[fields] = self.ledger.judge(fields)
        return look

    def origin(self, place: Place, pointer: str = "") -> Origin:
        """The origin of a unit of this file."""
        return make_origin(self.path, *place, None, None, None, pointer)


class Record:
    """One object while it is read: where it stands, and what no field is made from."""

    __slots__ = ("at", "extra", "name", "pattern", "place", "row", "state")

    def __init__(self, row: Row, name: str, place: Place, state: State, at: str = "", pattern: str = "") -> None:
        self.row = row
        self.name = name
        self.place = place
        self.state = state
        self.at = at
        """Where it stands in its unit."""
        self.pattern = pattern
        """The same, with ``*`` for indices."""
        self.extra: Extra = {}

    def note(self, code: str, at: str, pattern: str | None = None) -> None:
        """Enter a place in the record."""
        told = self.pattern + (at if pattern is None else pattern)
        self.state.ledger.part(code, self.place, told, record=self.name, pointer=self.at + at)

    def odd(self, value: Any, at: str, pattern: str | None = None) -> None:
        """A known field with a value of a type that is not: kept raw and named."""
        self.extra[at] = value
        self.note("unexpected-type", at, pattern)

    def string(self, value: Mapping[str, Any], key: str, at: str = "", pattern: str | None = None) -> str | None:
        """A string field; None where it is not there, or is none."""
        item = value.get(key)
        if item is None or type(item) is str:
            return item
        self.odd(item, f"{at}/{key}", None if pattern is None else f"{pattern}/{key}")
        return None

    def keep(self, fields: Fields, value: Row, at: str = "") -> None:
        """Keep and name what an object holds beyond what records are made from."""
        look = self.state.looks.get(fields) or self.state.look(fields)
        keep(self.extra, look(value, self.place), value, at)

    def time(self, value: Mapping[str, Any], key: str, at: str = "") -> Time:
        """A time; where it cannot be read its text is kept and named."""
        text = value.get(key)
        if text is None:
            return NO_TIME
        when, kept = iso_time(text) if type(text) is str else NO_TIME
        if when is None:
            self.note("bad-timestamp", f"{at}/{key}")
            if type(text) is not str:
                self.extra[f"{at}/{key}"] = text
        return when, kept

    def origin(self, pointer: str = "") -> Origin:
        """The origin of the record, or of a place in it."""
        return self.state.origin(self.place, self.at + pointer)
