"""What reading one file of VS Code's chat remembers, and the drafts it makes.

A session is one value; what it says of its requests is read through a ``Reader``, which knows where the request stands: in a
document, or in a log, where every field may have been written by another operation. Pointers in ``extra`` are relative to the
request; those of drops name the place in the session.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from convparse.ledger import Fields, Ledger, Place, escape
from convparse.reading.operations import Key, Log, Node, Path
from convparse.records import Origin
from convparse.sources._reading import Extra, Keys, json_of, keep, make_origin

_INDEX: Final = re.compile(r"/\d+(?=/|$)")


class Draft:
    """A session that was read: its entries in order, still open where ``resolve`` settles something."""

    __slots__ = (
        "calls",
        "children",
        "created",
        "entries",
        "id",
        "newer",
        "partial",
        "place",
        "title",
        "title_origin",
        "updated",
    )

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.title: str | None = None
        self.title_origin: str | None = None
        self.created: Any = None
        self.updated: Any = None
        self.place: str | None = None
        """Where in the editor it was."""
        self.newer = False
        self.partial = False
        self.entries: list[Any] = []
        self.children: dict[str, list[Any]] = {}
        """The entries of sub-agents, by the id of the call that started each."""
        self.calls: dict[str, str | None] = {}
        """Those ids to the ids that the calls have in the records."""


class Home:
    """Where a value stands: which unit wrote it and where in that unit."""

    __slots__ = ("base", "log", "node", "path", "place", "used")

    def __init__(self, path: str, place: Place, base: Path = (), log: Log | None = None, node: Node | None = None) -> None:
        self.path = path
        self.place = place
        self.base = base
        """The keys that lead to the value."""
        self.log = log
        self.node = node
        self.used: set[int] = set()
        """Operations that stand in some record; shared by all homes of a log."""

    def at(self, *keys: Key) -> "Home":
        """The home of a value inside."""
        home = Home(self.path, self.place, (*self.base, *keys), self.log, self.node)
        home.used = self.used
        if home.log is not None and home.node is not None:
            for key in keys:
                home.node = home.node.at(key)
            home.place = home.log.operations[home.node.operation].place
        return home

    def origin(self) -> Origin:
        """The unit that wrote the value, and where in it."""
        if self.log is None or self.node is None:
            pointer = "".join(f"/{key}" for key in self.base)
            return make_origin(self.path, *self.place, None, None, None, pointer)
        self.used.add(self.node.operation)
        return make_origin(self.path, *self.place, None, None, None, self.log.pointer(self.node, self.base))

    def operations(self) -> set[int]:
        """The operations that wrote the value or something in it."""
        return set(self.node.operations()) if self.node is not None else set()

    def written(self, names: Iterable[str]) -> set[int]:
        """The operations that wrote any of these fields after the value as a whole."""
        below = self.node.below if self.node is not None else None
        return {at for name in names if below and name in below for at in below[name].operations()}

    def merged(self, operations: Iterable[int]) -> tuple[Origin, ...]:
        """The units of operations that no record has yet."""
        if self.log is None:
            return ()
        new = sorted(set(operations) - self.used)
        self.used.update(new)
        return tuple(make_origin(self.path, *self.log.operations[at].place) for at in new)


class State:
    """The memory of one file's reading."""

    __slots__ = ("_tables", "drafts", "keys", "ledger", "path")

    def __init__(self, ledger: Ledger, drafts: bool = False) -> None:
        self.ledger = ledger
        self.drafts = drafts
        """True if the unsent draft is asked for."""
        self.path = ledger.path
        self.keys = Keys()
        self._tables: dict[tuple[Fields, str], Fields] = {}

    def table(self, fields: Fields, at: str) -> Fields:
        """A table of fields for objects that stand at a pattern."""
        found = self._tables.get((fields, at))
        if found is None:
            found = attrs.evolve(fields, at=at)
            if len(self._tables) < self.ledger.limits.patterns:
                self._tables[fields, at] = found
        return found


class Reader:
    """One request, or the head of a session, while it is read."""

    __slots__ = ("_prefix", "_root", "extra", "home", "state")

    def __init__(self, state: State, home: Home) -> None:
        self.state = state
        self.home = home
        self.extra: Extra = {}
        """What no field is made from, by its pointer in the request."""
        self._root = home
        self._prefix = "".join("/*" if type(key) is int else f"/{key}" for key in home.base)

    def enter(self, *keys: Key) -> None:
        """From now on, what is said is said of this part of the request."""
        self.home = self._root.at(*keys)

    @property
    def root(self) -> Home:
        """Where the request stands."""
        return self._root

    def pattern(self, at: str) -> str:
        """The place in the session, with ``*`` for indices."""
        return self._prefix + _INDEX.sub("/*", at)

    def keep(self, fields: Fields, value: Mapping[str, Any], at: str, pattern: str | None = None) -> tuple[str, ...]:
        """Keep and name what an object holds beyond what records are made from; the keys that were kept."""
        where = self.pattern(at) if pattern is None else self._prefix + pattern
        shape = self.state.ledger.look(self.state.table(fields, where), dict(value), self.home.place)
        keep(self.extra, shape, value, at)
        return tuple(key for key, _ in shape.kept)

    def judged(self, fields: Fields, value: Mapping[str, Any], at: str) -> dict[str, Any]:
        """Name what is unknown in an object or left out; what it holds beyond what records are made from."""
        shape = self.state.ledger.look(self.state.table(fields, self.pattern(at)), dict(value), self.home.place)
        return {key: value[key] for key, silent in shape.kept if value[key] is not silent and value[key] != silent}

    def odd(self, value: Any, at: str, record: str = "request") -> None:
        """A known field with a value of a type that is not: kept raw and named."""
        self.extra[at] = value
        self.note("unexpected-type", at, record)

    def note(self, code: str, at: str, record: str = "request") -> None:
        """Enter a place in the request."""
        self.state.ledger.part(code, self.home.place, self.pattern(at), record=record, pointer=self.pointer(at))

    def pointer(self, at: str) -> str:
        """The exact place in the session."""
        return "".join(f"/{key}" for key in self._root.base) + at

    def text(self, value: Mapping[str, Any], key: str, at: str, record: str = "request") -> str | None:
        """A string field; None where it is not there, or is none."""
        item = value.get(key)
        if item is None or type(item) is str:
            return item
        self.odd(item, f"{at}/{key}", record)
        return None

    def object(self, value: Mapping[str, Any], key: str, at: str, record: str = "request") -> dict[str, Any]:
        """An object field; an empty one where it is not there, or is none."""
        item = value.get(key)
        if item is None:
            return {}
        if type(item) is dict:
            return item
        self.odd(item, f"{at}/{key}", record)
        return {}

    def items(self, value: Mapping[str, Any], key: str, at: str, record: str = "request") -> list[Any]:
        """A list field; an empty one where it is not there, or is none."""
        item = value.get(key)
        if item is None:
            return []
        if type(item) is list:
            return item
        self.odd(item, f"{at}/{key}", record)
        return []

    def count(self, value: Mapping[str, Any], key: str, at: str = "", record: str = "request") -> int | None:
        """A whole number; None where it is not there, or is none."""
        item = value.get(key)
        if item is None or type(item) is int:
            return item
        if type(item) is float and item.is_integer():
            return int(item)
        self.odd(item, f"{at}/{key}", record)
        return None


def strings(value: Any) -> Iterator[tuple[str, str]]:
    """Every string in a value, with its pointer; without recursion."""
    stack: list[tuple[Any, str]] = [(value, "")]
    while stack:
        node, at = stack.pop()
        if type(node) is str:
            yield node, at
        elif type(node) is dict:
            stack.extend((item, f"{at}/{escape(key)}") for key, item in node.items())
        elif type(node) is list:
            stack.extend((item, f"{at}/{i}") for i, item in enumerate(node))


def add_extra(entry: Any, extra: Mapping[str, Any]) -> None:
    """Put more into the ``extra`` of an open message."""
    if extra:
        entry.extra = json_of({**(entry.extra.value if entry.extra is not None else {}), **extra})
