"""What reading one rollout remembers from line to line, and the drafts it makes.

A draft is an open record with the few facts that only the whole file can use. ``State`` looks back, never ahead.
"""

from typing import Any, Final

from convparse.ledger import Fields, Ledger, Look, Place
from convparse.records import Context
from convparse.sources._reading import Extra, Keys, json_of
from convparse.sources.codex.fields import LINES
from convparse.times import NO_TIME, Time

RESPONSE: Final = "response"
EVENT: Final = "event"
ITEM: Final = "item"
"""The three grammars in which one thing may be told: the item of the Responses API, the event message, the completed item."""


class Draft:
    """A line that was read: its open record, and what may join it to other lines.

    ``entry`` is a ``Message`` or ``Event`` that can still be assigned to; ``resolve`` freezes it. ``extra`` becomes the
    message's when it is frozen; of what seldom has a twin it is encoded at once, for decoded values take room and a collection
    looks at each of them. ``opened`` gives it in any case.
    """

    __slots__ = ("call_id", "entry", "extra", "facts", "grammar", "name", "ordinal", "parts", "talk", "thread")

    def __init__(
        self,
        entry: Any,
        name: str,
        extra: Extra | None = None,
        ordinal: int | None = None,
        grammar: str = "",
        talk: str = "",
        parts: tuple[str, ...] = (),
        call_id: str | None = None,
    ) -> None:
        self.entry = entry
        self.name = name
        self.extra: Extra = {} if extra is None else extra
        self.ordinal = ordinal
        self.grammar = grammar
        """How it is told, if it is a message: response, event or item; empty for an event's entry."""
        self.talk = talk
        """What it tells of: user, assistant, reasoning, call, output or end; empty for all else."""
        self.parts = parts
        """The texts by which twins are known."""
        self.call_id = call_id
        self.thread: str | None = None
        """The thread that the line itself names."""
        self.facts: Any = None
        """What else ``resolve`` wants of it: of ends an outcome, of counts numbers, of others values by their keys."""

    def seal(self) -> None:
        """Encode ``extra``."""
        self.entry.extra, self.extra = json_of(self.extra), {}

    def opened(self) -> Extra:
        """``extra``, to be read or written to."""
        if not self.extra and self.entry.extra is not None:
            self.extra, self.entry.extra = self.entry.extra.value, None
        return self.extra

    @property
    def id(self) -> str | None:
        """The product's."""
        id: str | None = self.entry.id
        return id

    @property
    def place(self) -> Place:
        """The place of its line."""
        origin = self.entry.origin
        return origin.line or 0, origin.offset, origin.length


class State:
    """The memory of one file's reading."""

    __slots__ = (
        "_context",
        "blocks",
        "context",
        "keys",
        "last_time",
        "ledger",
        "lines",
        "look",
        "model",
        "ordinal",
        "origin",
        "path",
        "said",
        "stamp",
        "thread",
        "turn",
    )

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.path = ledger.path
        self.look, self.origin = ledger.judge, ledger.origin
        self.lines: dict[str, Look] = {kind: ledger.judge(fields) for kind, fields in LINES.items()}
        """What judges lines, by their type."""
        self.keys = Keys()
        self.thread: str | None = None
        """The id of the first header: the file's own thread."""
        self.turn: str | None = None
        self.model: str | None = None
        self.context: Context | None = None
        self.said: set[str] = set()
        """The texts of all messages so far."""
        self.blocks: dict[tuple[str, str], Look] = {}
        """What judges content blocks, by their place and type."""
        self.ordinal: int | None = None
        self._context: dict[str, str] = {}
        self.stamp = ""
        self.last_time: Time = NO_TIME
        """The last time that could be read, and its text: many lines in a row have the same."""

    def check(self, fields: Fields, value: dict[str, Any], place: Place) -> None:
        """Name what is not known of an object that is kept whole."""
        if not fields.known.issuperset(value):
            self.look(fields)(value, place)

    def settle(self, **facts: Any) -> None:
        """Take up new circumstances; what is not a string leaves them as they are."""
        told = self._context | {name: fact for name, fact in facts.items() if type(fact) is str}
        if told != self._context:
            self._context = told
            self.context = Context(**told)
