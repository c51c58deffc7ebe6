"""What reading one file of Claude Code remembers from row to row, and the drafts it makes.

A draft is an open record with the few facts that only the whole file can use. ``State`` looks back, never ahead.
"""

from typing import Any, Final, TypeAlias

from convparse._make import maker, opener
from convparse.ledger import Ledger, Place
from convparse.records import Context, Event, Message, Origin

STRING: Final = frozenset({str, type(None)})
"""Types of a field that is a string or not there."""
Extra: TypeAlias = dict[str, Any]
"""Exact pointers of a row and the raw values that stand there."""

make_origin = maker(Origin)
open_message = opener(Message)
open_event = opener(Event)


class Draft:
    """A row that was read: its open record (None where it is left out by name) and its place in the chain.

    ``entry`` is a ``Message`` or ``Event`` that can still be assigned to; ``resolve`` freezes it.
    """

    __slots__ = ("entry", "facts", "group", "name", "parent", "place", "sidechain", "uuid")

    def __init__(
        self,
        entry: Any,
        name: str,
        place: Place,
        group: str | None,
        uuid: str | None = None,
        parent: str | None = None,
        sidechain: bool = False,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.entry = entry
        self.name = name
        self.place = place
        self.group = group
        self.uuid = uuid
        self.parent = parent
        self.sidechain = sidechain
        self.facts = facts


class State:
    """The memory of one file's reading."""

    __slots__ = ("contexts", "counts", "ledger", "path", "turns", "uuids")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.path = ledger.path
        self.contexts: dict[tuple[Any, ...], Context] = {}
        self.uuids: dict[str, int] = {}
        self.counts: dict[tuple[str | None, str], int] = {}
        self.turns: dict[str | None, str] = {}
        """The last prompt id of each group."""

    def key(self, uuid: str) -> str:
        """A key for a row with an id: the id, with a number added where it has been seen."""
        if uuid not in self.uuids:
            self.uuids[uuid] = 1
            return uuid
        self.uuids[uuid] += 1
        return f"{uuid}#{self.uuids[uuid]}"

    def count(self, group: str | None, name: str) -> str:
        """A key for a record without an id: its session, its name and how many there were before."""
        n = self.counts[group, name] = self.counts.get((group, name), 0) + 1
        return f"{group or ''}:{name}:{n}"

    def origin(self, place: Place, pointer: str = "") -> Origin:
        """The origin of a unit of this file."""
        return make_origin(self.path, place[0], place[1], place[2], None, None, None, pointer)
