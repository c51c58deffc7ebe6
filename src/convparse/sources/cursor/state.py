"""What reading a store of Cursor remembers, and the drafts it makes.

A draft is an open record with the few facts that only the whole conversation can use.
"""

from typing import Any

from convparse.ledger import Ledger, Place
from convparse.records import Origin
from convparse.sources._reading import Extra, Keys, make_origin, odd


class Draft:
    """Something read: its open record, what it is, and where it belongs.

    ``group`` is the conversation, ``id`` the product's id inside it (of a bubble, or of the message it is about).
    """

    __slots__ = ("entry", "facts", "group", "id", "name", "place")

    def __init__(
        self,
        entry: Any,
        name: str,
        place: Place,
        group: str | None,
        id: str | None = None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.entry = entry
        self.name = name
        self.place = place
        self.group = group
        self.id = id
        self.facts = {} if facts is None else facts


class State:
    """The memory of one reading."""

    __slots__ = ("keys", "ledger", "look", "origin", "path", "said")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.path = ledger.path
        self.look, self.origin = ledger.judge, ledger.origin
        self.keys = Keys()
        self.said: dict[str, Draft] = {}
        """Messages by the blobs that hold them: one that is said twice is one blob."""

    def line(self, place: Place) -> Origin:
        """The origin of a line."""
        return make_origin(self.path, *place)

    def typed(
        self,
        value: Any,
        kind: type | tuple[type, ...],
        extra: Extra,
        place: Place,
        record: str,
        pointer: str,
        pattern: str | None = None,
    ) -> Any:
        """A value of these types, or None; any other is kept raw and named."""
        if value is None or (isinstance(value, kind) and type(value) is not bool) or (type(value) is bool and kind is bool):
            return value
        odd(self.ledger, extra, place, record, pointer, value, pattern)
        return None
