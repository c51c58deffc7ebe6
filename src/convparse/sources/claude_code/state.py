"""What reading one file of Claude Code remembers from row to row, and the drafts it makes.

A draft is an open record with the few facts that only the whole file can use. ``State`` looks back, never ahead.
"""

from typing import Any, Final, TypeAlias

from convparse._make import maker, opener
from convparse.ledger import Fields, Ledger, Look, Place
from convparse.records import Context, Event, Message, Origin, Usage
from convparse.sources.claude_code.fields import ASSISTANT, ASSISTANT_MESSAGE, USAGE, USER

STRING: Final = frozenset({str, type(None)})
"""Types of a field that is a string or not there."""
Extra: TypeAlias = dict[str, Any]
"""Exact pointers of a row and the raw values that stand there."""

_OFTEN: Final = (ASSISTANT, ASSISTANT_MESSAGE, USER, USAGE)
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

    __slots__ = (
        "assistant",
        "assistant_message",
        "context",
        "contexts",
        "counts",
        "facts",
        "ledger",
        "looks",
        "path",
        "repeats",
        "token_counts",
        "turns",
        "usage",
        "user",
        "uuids",
    )

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.path = ledger.path
        self.looks: dict[Fields, Look] = {}
        self.contexts: dict[tuple[Any, ...], Context] = {}
        self.facts: tuple[Any, ...] = ()
        self.context: Context | None = None
        """The context of the last row, and the facts it was made from."""
        self.usage: tuple[Any, Usage | None, Extra] = ({}, None, {})
        """The last token counts: as they stand, as a record, and what was kept beside it."""
        self.assistant, self.assistant_message, self.user, self.token_counts = map(ledger.judge, _OFTEN)
        self.uuids: dict[str, Place] = {}
        """The ids seen, each with the place of its first row."""
        self.repeats: dict[str, int] = {}
        self.counts: dict[tuple[str | None, str], int] = {}
        self.turns: dict[str | None, str] = {}
        """The last prompt id of each group."""

    def look(self, fields: Fields) -> Look:
        """What judges the shapes of one kind of object."""
        look = self.looks.get(fields)
        if look is None:
            look = self.looks[fields] = self.ledger.judge(fields)
        return look

    def key(self, uuid: str, place: Place) -> str:
        """A key for a row with an id: the id, with a number added where it has been seen."""
        return uuid if self.uuids.setdefault(uuid, place) is place else self.again(uuid)

    def again(self, uuid: str) -> str:
        """A key for a row whose id has been seen."""
        n = self.repeats[uuid] = self.repeats.get(uuid, 1) + 1
        return f"{uuid}#{n}"

    def count(self, group: str | None, name: str) -> str:
        """A key for a record without an id: its session, its name and how many there were before."""
        n = self.counts[group, name] = self.counts.get((group, name), 0) + 1
        return f"{group or ''}:{name}:{n}"

    def origin(self, place: Place, pointer: str = "") -> Origin:
        """The origin of a unit of this file."""
        if pointer:
            return make_origin(self.path, *place, None, None, None, pointer)
        return make_origin(self.path, *place)
