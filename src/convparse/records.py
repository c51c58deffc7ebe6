"""The records: what a conversation is made of, whatever product wrote it.

Everything reachable from a record is immutable, hashable and picklable. A field that is None was not recorded; a derived value
says that it is derived. Text stands verbatim. Nothing here knows a product, opens a file or looks at a clock.

Which facts a cut file can still be trusted for: a *unit fact* is settled by its own unit (line, row, operation); a *file fact*
needs the rest of the file. ``FILE_FACTS`` names the latter for every record; all others are unit facts.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs

from convparse.blocks import Block, Json, Text, Thinking, ToolCall, many, short

if TYPE_CHECKING:
    from convparse.views import Edits, Responses, ToolUses, Turns


@attrs.frozen
class Origin:
    """Where something was read: a run of bytes in a file, or a row of a database, and a place inside its JSON."""

    path: str
    """The file as it was given or found."""
    line: int | None = None
    """1-based line of the file; None where lines mean nothing."""
    offset: int | None = None
    """0-based byte offset in the decoded bytes of the file."""
    length: int | None = None
    """Bytes, the line end included. Entries of one unit have the same run of bytes; otherwise runs never overlap."""
    table: str | None = None
    key: str | None = None
    rowid: int | None = None
    pointer: str = ""
    """RFC 6901, exact; empty for the whole unit."""


@attrs.frozen
class Usage:
    """Tokens of one model request. The three inputs are disjoint for every product, so that their sum is
    what the model read.
    """

    input_tokens: int | None = None
    """Tokens read that were neither taken from nor written to the cache."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    """The part of ``cache_write_tokens`` kept for an hour."""
    output_tokens: int | None = None
    """All tokens written, thinking included."""
    reasoning_tokens: int | None = None
    """The part of ``output_tokens`` spent on thinking."""
    cost: float | None = None
    """As the product recorded it, in ``cost_unit``; never computed from prices."""
    cost_unit: str | None = None
    """``mixed`` for a sum over several units, which has no cost."""
    provisional: bool = False
    """True when the product never recorded the final numbers: they are a lower bound."""

    def __add__(self, other: "Usage") -> "Usage":
        if not isinstance(other, Usage):
            return NotImplemented
        same = None in (self.cost_unit, other.cost_unit) or self.cost_unit == other.cost_unit
        unit = _first(self.cost_unit, other.cost_unit) if same else "mixed"
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.cache_read_tokens, other.cache_read_tokens),
            _sum(self.cache_write_tokens, other.cache_write_tokens),
            _sum(self.cache_write_1h_tokens, other.cache_write_1h_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            None if unit == "mixed" else _sum(self.cost, other.cost),
            unit,
            self.provisional or other.provisional,
        )


def _first(a: str | None, b: str | None) -> str | None:
    return b if a is None else a


def _sum(a: Any, b: Any) -> Any:
    if a is None:
        return b
    return a if b is None else a + b


@attrs.frozen
class Context:
    """Under what circumstances an entry was written, as its own row says it. One shared record per change."""

    cwd: str | None = None
    git_branch: str | None = None
    """As recorded; Claude Code since 2.1.42 writes ``HEAD`` outside a repository too."""
    version: str | None = None
    """The product's version."""
    permission_mode: str | None = None
    sandbox: str | None = None
    entrypoint: str | None = None
    """How the product was started: ``cli``, ``sdk-py``, ``claude-vscode``, …"""
    effort: str | None = None
    """The reasoning effort asked of the model."""


State: TypeAlias = Literal["withdrawn", "undone", "superseded", "orphan", "pending", "active"]
"""``withdrawn`` by the product; ``undone``: rewound, rolled back, off the active branch; ``superseded`` by a later version of
the same; ``orphan``: in no list of the product; ``pending``: never sent; else ``active``. The first that fits."""
Author: TypeAlias = Literal["human", "model", "tool", "harness"]


@attrs.frozen
class Message:
    """One stored row of a conversation. Compare products by turns, not by messages: some write a row a block."""

    key: str
    """Unique in the result and stable: the product's id where that is unique, else derived from the session and a count."""
    id: str | None
    """The product's id, verbatim; it may repeat."""
    role: str
    """The product's word, an open set."""
    author: Author | None
    """Who really wrote the ``Text`` blocks; None if untold. A sub-agent's task has the author ``model``."""
    blocks: tuple[Block, ...] = attrs.field(default=(), repr=short)
    timestamp: datetime | None = None
    """Aware, or None where none was recorded or it could not be read."""
    timestamp_origin: Literal["recorded", "derived"] | None = None
    timestamp_text: str | None = None
    """The product's text, where the datetime does not say all of it."""
    parent_id: str | None = None
    """As written."""
    response_id: str | None = None
    """Rows of one model response share it."""
    turn_id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    """On one message of a response only, so that a plain sum is right."""
    stop_reason: str | None = None
    context: Context | None = None
    state: State = "active"
    inherited: bool = False
    """True for a copy from a parent thread or fork: its usage is counted where it was made."""
    merged: tuple[Origin, ...] = ()
    """Other places that say the same."""
    origin: Origin | None = None
    extra: Json | None = attrs.field(default=None, repr=short)
    """What the row holds beyond the fields above: an object of JSON Pointers and raw values, unknown fields among them."""

    @property
    def text(self) -> str:
        """The ``Text`` blocks, joined by newlines: what the author wrote."""
        return "\n".join(block.text for block in self.blocks if type(block) is Text)

    @property
    def thinking(self) -> str:
        """The recorded reasoning, joined by newlines."""
        return "\n".join(block.text for block in self.blocks if type(block) is Thinking)

    @property
    def has_tool_use(self) -> bool:
        """True if a tool is called in this message."""
        return any(type(block) is ToolCall for block in self.blocks)


@attrs.frozen
class Event:
    """Something that happened beside the talk: a compaction, a hook, a title, an error, a change of model."""

    key: str
    kind: str
    """Our word, an open set: compaction, title, queue, hook, error, reminder, environment, …"""
    name: str
    """The product's own name of the record."""
    text: str | None = attrs.field(default=None, repr=short)
    """What a person would read of it."""
    data: Json | None = attrs.field(default=None, repr=short)
    """The product's record without what stands in the other fields."""
    id: str | None = None
    timestamp: datetime | None = None
    timestamp_origin: Literal["recorded", "derived"] | None = None
    timestamp_text: str | None = None
    parent_id: str | None = None
    context: Context | None = None
    duration: float | None = None
    """Seconds that it took, where the product recorded them."""
    state: State = "active"
    inherited: bool = False
    merged: tuple[Origin, ...] = ()
    origin: Origin | None = None


Entry: TypeAlias = Message | Event
Body: TypeAlias = Literal["complete", "partial", "encrypted", "missing", "unread"]


@attrs.frozen
class Link:
    """How a conversation hangs together with another."""

    kind: str
    """subagent, fork, resume, continuation or base."""
    id: str
    """The other conversation's id."""
    call_id: str | None = None
    """The tool call that made the link, where one did."""
    until: int | None = None
    """Of a base that is shared only up to a place: the number, in the product's own count of its records, of the first one that
    no longer belongs to this conversation."""


@attrs.frozen
class Conversation:
    """One thread of talk in the product's own order, which is never the order of timestamps."""

    id: str | None
    """The product's."""
    source: str
    title: str | None = attrs.field(default=None, repr=short)
    title_origin: str | None = None
    """Which of the product's records gave the title; None when there is none."""
    context: Context | None = None
    """The first one recorded."""
    created_at: datetime | None = None
    """As recorded by the product; see ``first_at`` for what the entries say."""
    updated_at: datetime | None = None
    links: tuple[Link, ...] = attrs.field(default=(), repr=many)
    body: Body = "complete"
    newer: bool = False
    """True if a version wrote it that is newer than the newest known here."""
    stamp: str | None = attrs.field(default=None, eq=False, repr=False)
    entries: tuple[Entry, ...] = attrs.field(default=(), repr=many)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, whatever their state."""
        return tuple(entry for entry in self.entries if type(entry) is Message)

    @property
    def events(self) -> tuple[Event, ...]:
        """The events."""
        return tuple(entry for entry in self.entries if type(entry) is Event)

    @property
    def active_messages(self) -> tuple[Message, ...]:
        """The messages that the product itself would go on from."""
        return tuple(message for message in self.messages if message.state == "active")

    @property
    def prompts(self) -> tuple[Message, ...]:
        """What a person wrote, as far as it is active."""
        return tuple(message for message in self.active_messages if message.author == "human")

    @property
    def usage(self) -> Usage:
        """The sum over the messages; copies from elsewhere carry none."""
        return sum((m.usage for m in self.messages if m.usage is not None), Usage())

    @property
    def first_at(self) -> datetime | None:
        """The earliest time on any entry."""
        return min((e.timestamp for e in self.entries if e.timestamp is not None), default=None)

    @property
    def last_at(self) -> datetime | None:
        """The latest time on any entry."""
        return max((e.timestamp for e in self.entries if e.timestamp is not None), default=None)

    def turns(self) -> "Turns":
        """The turns: prompts and what was done about them, without what was undone."""
        from convparse import views

        return views.turns(self)

    def responses(self) -> "Responses":
        """The model's responses, each with all its rows."""
        from convparse import views

        return views.responses(self)

    def tool_calls(self) -> "ToolUses":
        """Every call with its result, or several, or none."""
        from convparse import views

        return views.tool_uses(self)

    def edits(self) -> "Edits":
        """Every recorded change of a file."""
        from convparse import views

        return views.edits(self)

    def _repr_html_(self) -> str:
        from convparse import _html

        return _html.of_conversation(self)


FILE_FACTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "Message": frozenset({"author", "blocks", "usage", "state", "inherited", "merged", "origin"}),
        "Event": frozenset({"state", "inherited", "merged", "origin"}),
        "Conversation": frozenset(
            {"id", "title", "title_origin", "context", "created_at", "updated_at", "links", "body", "newer", "stamp", "entries"}
        ),
    }
)
"""The fields that the rest of a file may still change. ``origin`` is among them only because a cut may take a line's end.
``blocks`` is: products that describe one thing twice fill one side from the other."""
