"""What a source is: the knowledge of one product's files, in two steps.

``read(units, ledger)`` takes what a container yields, one unit at a time, and yields drafts that hold unit facts; it never
looks ahead. ``resolve(parts, session)`` takes the drafts of all files of one session, settles the file facts and freezes each
record once. A source opens no file: what belongs to a session is named by ``gather`` and read for it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import attrs

from convparse.blocks import Edit
from convparse.drops import Code
from convparse.ledger import Ledger, Place
from convparse.records import Conversation, Entry, Origin
from convparse.views import ToolUse

if TYPE_CHECKING:
    from convparse.reading.rows import Rows
    from convparse.reading.sqlite import Database
    from convparse.reading.tables import Table

Unit: TypeAlias = tuple[Any, Place]
"""A decoded value and the place of its unit."""


@attrs.frozen
class Head:
    """The beginning of a file, for detection: content first; the name only breaks ties."""

    name: str
    data: bytes
    """The first bytes, at most 256 KiB."""
    records: tuple[Any, ...]
    """The JSON values of its first whole lines, or its one document where that is complete."""
    whole: bool
    """True if ``data`` is all there is."""
    database: "Database | None" = None
    """The tables, where the file is an SQLite database."""


@attrs.frozen
class Match:
    """A source's claim on a file."""

    variant: str
    reason: str
    """What in the content decided it."""
    certain: bool = True
    """False if another product writes the same; the path then decides, and the detection says so."""


@attrs.frozen
class Gathered:
    """The files of one session, found beside the given path."""

    logs: tuple[tuple[str, str], ...]
    """``(path, variant)`` of every file to read as units, the main one first."""
    notes: Mapping[str, str] = attrs.field(factory=dict)
    """Small files read whole, by the name ``resolve`` asks for."""
    unread: tuple[tuple[str, str], ...] = ()
    """``(path, code)`` of files that are named instead of read."""


@attrs.define
class FilePart:
    """One file of a session, read: its drafts and its ledger."""

    path: str
    variant: str
    ledger: Ledger
    drafts: list[Any]


class Session(Protocol):
    """What ``resolve`` may ask for beyond the drafts."""

    def names(self) -> Iterable[str]:
        """The names of the side files there are."""
        ...

    def note(self, name: str) -> tuple[Origin, bytes] | None:
        """Origin and bytes of a side file; None if there is none. It counts as read if some record has the origin."""
        ...

    def document(self, name: str) -> tuple[Origin, Any] | None:
        """Origin and value of a side file that is one JSON document; None if there is none, or it does not decode."""
        ...


Resolved: TypeAlias = tuple[list[Conversation], list[Entry]]
"""Conversations and loose entries."""


@attrs.frozen
class Store:
    """How conversations lie in a database; a database's units are ``Record``s of ``convparse.reading.tables``."""

    ids: Callable[["Rows"], Iterable[str]]
    """The ids of all conversations, each once."""
    ranges: Callable[[str], tuple[tuple["Table", str, bool], ...]]
    """Where the rows of one conversation are: table, key or prefix, and True for a key. Its stamp is made from them."""
    units: Callable[["Rows", str, bool], Iterator[Unit]]
    """The units of one conversation; only those of its head if the last argument is False."""
    beside: Callable[["Rows"], Iterator[Unit]]
    """The units of no conversation; every other family of keys is counted in the ledger."""


def _has_type(value: dict[str, Any]) -> bool:
    return "type" in value


def _no_edits(use: ToolUse) -> tuple[Edit, ...]:
    return ()


@attrs.frozen
class Variant:
    """One of a source's formats."""

    container: str
    """``jsonl``, ``document``, ``mutation-log`` or ``sqlite``."""
    read: Callable[[Iterable[Unit], Ledger], Iterator[Any]]
    resolve: Callable[[list[FilePart], Session], Resolved]
    is_record: Callable[[dict[str, Any]], bool] = _has_type
    """True for what can stand as a record of its own: it decides where a damaged line starts anew."""
    store: Store | None = None
    """For databases."""
    read_drafts: Callable[[Iterable[Unit], Ledger], Iterator[Any]] | None = None
    """``read`` for those who ask for unsent drafts too; None where there are none, or where ``read`` gives them anyway."""

    def reader(self, drafts: bool) -> Callable[[Iterable[Unit], Ledger], Iterator[Any]]:
        """What reads the units, unsent drafts too if they are asked for."""
        return self.read_drafts if drafts and self.read_drafts is not None else self.read


@attrs.frozen
class Source:
    """A product's adapter. Provisional until 1.0."""

    name: str
    product: str
    newest: str
    """The newest product version whose files were seen."""
    variants: Mapping[str, Variant]
    detect: Callable[[Head], Match | None]
    gather: Callable[[str, str, bool], Gathered]
    """``(path, variant, subagents)`` to the files of the session."""
    gathering: "Callable[[], Callable[[str, str, bool], Gathered]] | None" = None
    """A fresh ``gather`` for many sessions at one moment, which may keep what it has seen beside one of them; None if it
    would have nothing to keep."""
    codes: Mapping[str, Code] = attrs.field(factory=dict)
    """The source's own codes, ``vendor/slug``."""
    skipped: Mapping[str, str] = attrs.field(factory=dict)
    """What ``skipped-record`` leaves out: record type to reason."""
    edits: Callable[[ToolUse], tuple[Edit, ...]] = _no_edits
    """The changes of files that a tool call recorded."""
