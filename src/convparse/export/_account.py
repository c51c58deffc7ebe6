"""What all exports share: the document, what it lacks, and how the two are kept in balance.

What comes in: a result. An exporter reads its records through ``Given``, which notes every field that is taken. What goes out:
an ``Export``, the document with the list of everything that is not in it, or not as it stood: a field that nobody took is named
by itself, so that no exporter can forget one, and a field that records get one day is named until somebody writes it.

Never done here: no format is known, nothing is written. A field without content (None, nothing in it, its default) is no loss.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Final, Generic, TypeVar, get_args

import attrs

from convparse.blocks import Block, Json, many
from convparse.drops import CODES, Fate, plain
from convparse.errors import ContentDropped, ConvparseError
from convparse.records import Conversation
from convparse.result import ParseResult
from convparse.tables import tag_of

T = TypeVar("T")

NO_FIELD: Final = "export-no-field"
NOT_ACTIVE: Final = "export-not-active"
NOT_ALLOWED: Final = "export-not-allowed"
JOINED: Final = "export-joined"
MOVED: Final = "export-moved"
REWORDED: Final = "export-reworded"
STAND_IN: Final = "export-stand-in"


@attrs.frozen
class Where:
    """A place in the records of a result."""

    conversation_id: str | None
    """None for entries that belong to no conversation, and where the product recorded no id."""
    key: str | None
    """The key of the message or event; None for a field of the conversation itself."""
    pointer: str
    """From the message, event or conversation: names of fields, and numbers. Empty: all of it."""


@attrs.frozen
class Omission:
    """Everything of one code, record and field that is not in the document as it stands in the records."""

    code: str
    fate: Fate
    """``lost``: not in the document; ``altered``: in it, less exact or in other words."""
    record: str
    """The class of the record, such as ``ToolResult``."""
    pattern: str
    """The pointer with ``*`` for numbers; empty for whole messages and events."""
    places: tuple[Where, ...] = attrs.field(repr=many)
    """All of them."""
    message: str = ""
    """For people; not part of the API."""

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self.places)

    def __str__(self) -> str:
        about = " ".join(part for part in (self.record, self.pattern) if part)
        times = f" (x{self.count})" if self.count > 1 else ""
        return plain(f"{self.fate} {self.code}: {self.message} {about}{times}")


@attrs.frozen
class Export(Generic[T]):
    """A document in another format, and what of the records is not in it."""

    document: T = attrs.field(repr=False)
    """Text, or plain lists and dicts that any JSON encoder takes."""
    dropped: tuple[Omission, ...] = attrs.field(default=(), repr=many)
    """What is lost or altered."""

    @property
    def lost(self) -> tuple[Omission, ...]:
        """What is not in the document at all."""
        return tuple(omission for omission in self.dropped if omission.fate == "lost")

    def raise_if(self, *codes: str, ignore: Iterable[str] = ()) -> "Export[T]":
        """Raise ``ContentDropped`` if anything of these codes (all, if none is named) is dropped, but for codes to ignore.

        Returns the export itself otherwise, so that calls can be chained.
        """
        passed = frozenset({ignore} if isinstance(ignore, str) else ignore)
        if unknown := {*codes, *passed} - CODES.keys():
            raise ConvparseError(f"no such code: {', '.join(sorted(unknown))}")
        if found := [item for item in self.dropped if item.code not in passed and item.code in (codes or CODES)]:
            raise ContentDropped("the document lacks content\n  " + "\n  ".join(map(str, found)))
        return self


class Book:
    """The list of omissions while it is written."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], dict[Where, None]] = {}

    def name(self, code: str, record: str, where: Where) -> None:
        """Enter one place; to enter it again changes nothing."""
        self._found.setdefault((code, record, _pattern(where.pointer)), {})[where] = None

    def close(self) -> tuple[Omission, ...]:
        """Everything entered, folded."""
        return tuple(
            Omission(code, CODES[code].fate, record, pattern, tuple(places), CODES[code].summary)
            for (code, record, pattern), places in self._found.items()
        )


@lru_cache(maxsize=4096)
def _pattern(pointer: str) -> str:
    return re.sub(r"/\d+(?=/|$)", "/*", pointer)


@cache
def _fields(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Names and defaults."""
    return tuple((field.name, field.default) for field in attrs.fields(cls))


def _contents(record: Any) -> Iterator[tuple[str, Any]]:
    """The fields in which something stands."""
    cls: Any = type(record)
    for name, default in _fields(cls):
        value = getattr(record, name)
        if value is not None and value != () and value != default:
            yield name, value


class Given:
    """One record that is written out, with what of it is not taken yet."""

    __slots__ = ("_book", "_inner", "_left", "_touched", "record", "where")

    def __init__(self, record: Any, book: Book, where: Where) -> None:
        self.record = record
        self.where = where
        self._book = book
        self._left = dict(_contents(record))
        self._inner: list[Given] = []
        self._touched = False

    @property
    def has_more(self) -> bool:
        """True if some field of its own is not taken yet."""
        return bool(self._left)

    def take(self, *names: str) -> Any:
        """The value of a field that goes into the document; of several fields, the last one's."""
        self._touched = True
        for name in names:
            self._left.pop(name, None)
        return getattr(self.record, names[-1])

    def take_if(self, name: str, value: object) -> None:
        """Take a field that says just what the document says already."""
        if getattr(self.record, name) == value:
            self.take(name)

    def inner(self, name: str) -> "Given | None":
        """The record in a field, read on its own; None if there is none."""
        value = self.take(name)
        return None if value is None else self._child(value, name)

    def each(self, name: str) -> tuple["Given", ...]:
        """The records in a field, each read on its own."""
        return tuple(self._child(value, f"{name}/{index}") for index, value in enumerate(self.take(name)))

    def entries(self) -> tuple["Given", ...]:
        """The entries of a conversation, each read on its own; from here on pointers begin at the entry."""
        about = self.where.conversation_id
        found = tuple(Given(entry, self._book, Where(about, entry.key, "")) for entry in self.take("entries"))
        self._inner += found
        return found

    def _child(self, record: Any, name: str) -> "Given":
        place = attrs.evolve(self.where, pointer=f"{self.where.pointer}/{name}")
        child = Given(record, self._book, place)
        self._inner.append(child)
        return child

    def name(self, code: str, field: str = "") -> None:
        """Enter a field, or the record, as not standing in the document as it stands here."""
        pointer = f"{self.where.pointer}/{field}" if field else self.where.pointer
        self._book.name(code, type(self.record).__name__, attrs.evolve(self.where, pointer=pointer))

    def leave(self, code: str) -> None:
        """Enter the whole record, and be done with it; the entries of a conversation are records of their own."""
        self.name(code)
        self._left, self._touched = {}, True
        self._inner = [inner for inner in self._inner if inner.where.key != self.where.key]

    def rest(self) -> dict[str, Any]:
        """All that is not taken yet, as plain JSON values; it is taken with that."""
        self._touched = True
        left, self._left = self._left, {}
        return {name: jsonable(value) for name, value in left.items()}

    def rests(self) -> dict[str, Any]:
        """``rest`` of this record and of those read in it, by pointer; where nothing else was taken, with the type."""
        tag = {} if self._touched else {"type": tag_of(type(self.record))}
        rest = tag | self.rest()
        found = {self.where.pointer: rest} if rest else {}
        for inner in self._inner:
            found |= inner.rests()
        return found

    def close(self) -> None:
        """Name what is not taken: the whole record if nothing is, else field by field."""
        if not self._touched:
            self.leave(NO_FIELD)
        for name in self._left:
            self.name(NO_FIELD, name)
        for inner in self._inner:
            inner.close()


_BLOCKS: Final = frozenset(get_args(Block))


def jsonable(value: Any) -> Any:
    """A value of a record as plain JSON: fields without content left out, blocks with a type, ``Json`` as what it holds."""
    if isinstance(value, Json):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [jsonable(item) for item in value]
    if not attrs.has(type(value)):
        return value
    tag = {"type": tag_of(type(value))} if type(value) in _BLOCKS else {}
    return tag | {name: jsonable(item) for name, item in _contents(value)}


def talks(result: ParseResult, book: Book) -> tuple[Given, ...]:
    """The conversations of a result, and last one without an id that holds the loose entries, if there are any.

    Raises ``ConvparseError`` for anything but a result.
    """
    if not isinstance(result, ParseResult):
        raise ConvparseError(f"an export takes a ParseResult, not {type(result).__name__}")
    found = [Given(talk, book, Where(talk.id, None, "")) for talk in result.conversations]
    if result.loose:
        loose = Given(Conversation(None, result.source, entries=result.loose), book, Where(None, None, ""))
        loose.take("source")  # said of no conversation
        found.append(loose)
    return tuple(found)


def finish(document: T, given: Iterable[Given], book: Book) -> Export[T]:
    """The export, once all that its format can hold is taken."""
    for talk in given:
        talk.close()
    return Export(document, book.close())
