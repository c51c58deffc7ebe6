"""What reading one file of Trae remembers, and the drafts it makes.

A draft is an open record with the few facts that only the whole conversation can use.
"""

from collections.abc import Mapping
from typing import Any

from convparse._json import encode
from convparse.ledger import Fields, Ledger, Place
from convparse.sources._reading import Extra, Keys, json_of, keep, odd, open_event
from convparse.sources.trae.times import NEVER, When, read_time


class Draft:
    """Something read: its open record, what it is, and the conversation that it belongs to; None if to none."""

    __slots__ = ("entry", "facts", "group", "name", "place")

    def __init__(self, entry: Any, name: str, place: Place, group: str | None, facts: dict[str, Any] | None = None) -> None:
        self.entry = entry
        self.name = name
        self.place = place
        self.group = group
        self.facts = {} if facts is None else facts


class State:
    """The memory of one reading."""

    __slots__ = ("keys", "ledger", "look", "origin")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.look, self.origin = ledger.judge, ledger.origin
        self.keys = Keys()

    def open(self, value: dict[str, Any], fields: Fields, place: Place, at: str, extra: Extra) -> "Opened":
        """An object whose keys are judged; what no record is made from is in ``extra``."""
        keep(extra, self.look(fields)(value, place, at), value, at)
        return Opened(self, value, fields, place, at, extra)

    def event(self, kind: str, name: str, place: Place, group: str | None, data: Any, at: str = "", **facts: Any) -> Any:
        """An open event with a key of its own."""
        origin = self.origin(place, at) if place[1] >= 0 else None
        return open_event(self.keys.count(group, name), kind, name, data=data, origin=origin, **facts)

    def odd_event(self, value: Any, name: str, place: Place, group: str | None, at: str = "") -> Draft:
        """An event that holds a value whole which is not what should stand there."""
        code = "unknown-record" if type(value) is dict else "not-an-object"
        self.ledger.part(code, place, pattern_of(at), record=name, pointer=at)
        return Draft(self.event("unknown", name, place, group, json_of(value), at), "odd", place, group)


class Opened:
    """The known fields of one object, taken one by one; a value of a type that is not known is kept raw and named."""

    __slots__ = ("at", "extra", "fields", "place", "state", "value")

    def __init__(self, state: State, value: Mapping[str, Any], fields: Fields, place: Place, at: str, extra: Extra) -> None:
        self.state = state
        self.value = value
        self.fields = fields
        self.place = place
        self.at = at
        self.extra = extra

    def first(self, names: str, *kinds: type) -> Any:
        """The first value of these names, if it has one of these types; the others are kept where they say something else."""
        found = None
        for name in names.split():
            value = self.value.get(name)
            if value is None or (found is not None and equal(value, found)):
                continue
            if type(value) not in kinds:
                self.odd(name)
            elif found is None:
                found = value
            else:
                self.extra[f"{self.at}/{name}"] = value
        return found

    def text(self, names: str) -> Any:
        """The first text of these names."""
        return self.first(names, str)

    def time(self, names: str) -> When:
        """The first time of these names, as a fact of a record; one that cannot be read is named, and its text kept."""
        value = self.first(names, int, float, str)
        if value is None:
            return NEVER
        when = read_time(value)
        if when[0] is None:
            name = next(name for name in names.split() if self.value.get(name) is value)
            self.name("bad-timestamp", name)
        return when

    def odd(self, name: str) -> None:
        """Keep a field raw, and name it."""
        pattern = f"{self.fields.at}/{name}"
        odd(self.state.ledger, self.extra, self.place, self.fields.record, f"{self.at}/{name}", self.value[name], pattern)

    def name(self, code: str, name: str) -> None:
        """Name a field with a code of its own."""
        pointer, pattern = (f"{at}/{name}" if name else at for at in (self.at, self.fields.at))
        self.state.ledger.part(code, self.place, pattern, record=self.fields.record, pointer=pointer)


def equal(a: Any, b: Any) -> bool:
    """True if two values are the same JSON: 1, 1.0 and true are three."""
    return a is b or encode(a) == encode(b)


def pattern_of(at: str) -> str:
    """An exact pointer with ``*`` for indices."""
    return "/".join("*" if token.isdigit() else token for token in at.split("/"))
