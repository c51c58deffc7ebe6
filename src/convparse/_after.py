"""Reading on where an earlier parse stopped, so that an appended log costs only what was appended.

What comes in: an open log of JSON lines and what an earlier parse kept of it, if anything. What goes out: its drafts and its
ledger, equal to those of a first reading, or None for a file that this module leaves alone; and what the next parse goes on
from.

What is kept of a file is the reader of its source, stopped behind the last whole line, with the ledger and the drafts as they
were before ``resolve`` settled anything. ``resolve`` always gets copies: a later line may change any file fact. So a parse that
reads on decodes the new lines alone, and settles everything anew.

A file is read on if it has the device and inode of the one that was read, is not shorter than what was read of it, and has the
same bytes in the first and the last ``PROVED`` bytes of that. In all other cases it is read from its beginning, and also:

- if its last line had no line end and yet was read as a record, or was left out by a reader without a draft for it;
- the first time: what is kept costs time and memory, so only a parse that has an ``after`` keeps anything;
- if it was read by a source from outside of the library, with other limits, or by another parse that went on from the same
  result: what is kept is handed over, and there is one reader.

Never kept: bytes of the file but a hash of them, decoded rows, anything of databases, documents and mutation logs.
"""

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from typing import Any, BinaryIO, Final, TypeAlias, cast

import attrs

from convparse.ledger import Ledger, Place
from convparse.limits import Limits
from convparse.records import Event, Message
from convparse.result import ParseResult
from convparse.sources import SOURCES
from convparse.sources._source import FilePart, Source, Unit

Container: TypeAlias = Callable[[BinaryIO, int, Ledger], Iterable[Unit]]
"""What reads so many bytes of a file from where it stands as units."""

PROVED: Final = 64 << 10
"""So many bytes at the beginning and at the end of what was read must be the same."""
_APPENDED: Final = frozenset({"jsonl", "jsonl-joined"})
"""Containers of files that are written by appending lines."""
_BLOCK: Final = 64 << 10
_BOM: Final = b"\xef\xbb\xbf"


class Kept:
    """What one parse leaves for the next: the files that can be read on, by path and variant."""

    __slots__ = ("files", "terms")

    def __init__(self, source: Source, limits: Limits, excerpts: bool, drafts: bool) -> None:
        self.terms = (source.name, limits, excerpts, drafts)
        self.files: dict[tuple[str, str], _Log] = {}


class Following:
    """One parse: what it may go on from, and what it keeps."""

    def __init__(self, old: ParseResult | None, source: Source, limits: Limits, excerpts: bool, drafts: bool) -> None:
        self._source = source
        self._limits = limits
        self._excerpts = excerpts
        self._drafts = drafts
        self._own = old is not None and SOURCES.get(source.name) is source
        self.kept = Kept(source, limits, excerpts, drafts)
        before: Kept | None = getattr(old, "_kept", None)
        self._old = before.files if before is not None and before.terms == self.kept.terms else {}

    def read(self, file: BinaryIO, status: os.stat_result, path: str, variant: str, container: Container) -> FilePart | None:
        """The drafts and the ledger of a file, its new lines read only; None for what cannot be read on."""
        shape = self._source.variants[variant]
        if not self._own or shape.container not in _APPENDED:
            return None
        log = self._old.pop((path, variant), None)
        if log is None or not log.is_begun_by(file, status):
            ledger = Ledger(path, self._limits, excerpts=self._excerpts, codes=self._source.codes)
            log = _Log(ledger, shape.reader(self._drafts), shape.container == "jsonl-joined")
        part = FilePart(path, variant, *log.read_on(file, status.st_size, container))
        if log.prove(file, status):
            self.kept.files[path, variant] = log
        return part

    def hand_over(self, result: ParseResult) -> ParseResult:
        """The result, from which a later parse can go on."""
        if self.kept.files:
            object.__setattr__(result, "_kept", self.kept)
        return result


class _Log:
    """One file that grows: its reader, and all that was read, as it was before ``resolve``."""

    def __init__(self, ledger: Ledger, read: Callable[[Iterable[Unit], Ledger], Iterator[Any]], joined: bool) -> None:
        self.ledger = ledger
        self._feed = _Feed(read, ledger)
        self._drafts = _Drafts()
        self._joined = joined
        self._lines = self._offset = 0
        self._identity = (-1, -1)
        self._ends = b""
        self._alive = True

    # -- is it the same file --

    def is_begun_by(self, file: BinaryIO, status: os.stat_result) -> bool:
        """True if the file begins with what was read, as far as that is looked at."""
        if (status.st_dev, status.st_ino) != self._identity or status.st_size < self._offset:
            return False
        file.seek(self._offset)
        marked = file.read(len(_BOM)) == _BOM  # see _gives
        return not marked and self._hash(file) == self._ends

    def prove(self, file: BinaryIO, status: os.stat_result) -> bool:
        """Note what the file is known by; False if it cannot be read on."""
        if self._alive:
            self._identity = (status.st_dev, status.st_ino)
            self._ends = self._hash(file)
        return self._alive

    def _hash(self, file: BinaryIO) -> bytes:
        found = blake2b()
        for start in (0, max(0, self._offset - PROVED)):
            file.seek(start)
            found.update(file.read(min(PROVED, self._offset - start)))
        return found.digest()

    # -- reading on --

    def read_on(self, file: BinaryIO, size: int, container: Container) -> tuple[Ledger, list[Any]]:
        """Ledger and drafts of the whole file, of which only what follows ``_offset`` is read now."""
        old = self._drafts.copies()
        end = size if self._joined else _end_of_lines(file, self._offset, size)
        if end < size and self._gives(file, end, size, container):
            end, self._alive = size, False  # its line end is still to come: what reads it now must not be asked again
        new = self._read_lines(file, end, container)
        if self._joined and (self.ledger.bins["lost"].units or not _ends_a_line(file, size)):
            self._alive = False  # a later line may belong to one that is torn
        self._alive = self._alive and self._drafts.add(new)
        ledger = _copy_of(self.ledger) if self._alive else self.ledger
        if end < size:
            file.seek(end)
            assert not list(self._units(file, size, ledger, container))
        return ledger, old + new

    def _gives(self, file: BinaryIO, start: int, size: int, container: Container) -> bool:
        """True if a last line without a line end gives records, or must not be read by itself."""
        file.seek(start)
        if start and file.read(len(_BOM)) == _BOM:  # it means nothing but at the beginning of what a container reads
            return True
        file.seek(start)
        return any(True for _ in container(file, size - start, Ledger(self.ledger.path, self.ledger.limits)))

    def _read_lines(self, file: BinaryIO, end: int, container: Container) -> list[Any]:
        file.seek(self._offset)
        drafts = self._feed.drafts(self._units(file, end, self.ledger, container))
        self._alive = self._alive and not self._feed.ended and file.tell() == end
        line, at, _ = self._feed.last or (self._lines + 1, self._offset, 0)
        self._lines, self._offset = line - 1 + _line_ends(file, at, end), end
        return drafts

    def _units(self, file: BinaryIO, end: int, ledger: Ledger, container: Container) -> Iterator[Unit]:
        """The units from ``_offset`` on, where the file stands, at their places in the whole file."""
        if not self._offset:
            return iter(container(file, end, ledger))
        return _shifted(self._lines, self._offset, file, end, ledger, container)


class _Feed:
    """A reader that is never asked for more than there is, for that would end it; so it can be given more later."""

    def __init__(self, read: Callable[[Iterable[Unit], Ledger], Iterator[Any]], ledger: Ledger) -> None:
        self._reader = read(self._fed(), ledger)
        self._units: Iterator[Unit] = iter(())
        self._dry = False
        self.last: Place | None = None
        """The place of the last unit of the last reading."""
        self.ended = False
        """True if the last units were left out without a draft, so that the reader saw the end."""

    def drafts(self, units: Iterator[Unit]) -> list[Any]:
        """The drafts of these units."""
        self.last = None
        found: list[Any] = []
        for first in units:
            self._units, self._dry = chain((first,), units), False
            for draft in self._reader:
                found.append(draft)
                if self._dry:
                    return found
            self.ended = True
        return found

    def _fed(self) -> Iterator[Unit]:
        while not self._dry:
            unit = next(self._units)
            for following in self._units:
                yield unit
                unit = following
            self.last, self._dry = unit[1], True
            yield unit


def _shifted(lines: int, offset: int, file: BinaryIO, end: int, ledger: Ledger, container: Container) -> Iterator[Unit]:
    shifted = cast("Ledger", _Shifted(ledger, lines, offset))
    for value, (line, at, length) in container(file, end - offset, shifted):
        yield value, (line + lines, at + offset, length)


class _Shifted:
    """A ledger for a container that began in the middle of a file."""

    def __init__(self, ledger: Ledger, lines: int, offset: int) -> None:
        self._ledger = ledger
        self._by = (lines, offset)
        self.limits = ledger.limits
        self.blank = ledger.blank

    def unit(self, code: str, place: Place, **about: Any) -> None:
        self._ledger.unit(code, self._moved(place), **about)

    def part(self, code: str, place: Place, *args: Any, **about: Any) -> None:
        self._ledger.part(code, self._moved(place), *args, **about)

    def _moved(self, place: Place) -> Place:
        return place[0] + self._by[0], place[1] + self._by[1], place[2]


def _end_of_lines(file: BinaryIO, start: int, size: int) -> int:
    """Where the last whole line before ``size`` ends; ``start`` if none does."""
    end = size
    while end > start:
        begin = max(start, end - _BLOCK)
        file.seek(begin)
        at = file.read(end - begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return start


def _line_ends(file: BinaryIO, start: int, end: int) -> int:
    file.seek(start)
    found = 0
    while block := file.read(min(_BLOCK, end - start)):
        found += block.count(b"\n")
        start += len(block)
    return found


def _ends_a_line(file: BinaryIO, size: int) -> bool:
    file.seek(max(0, size - 1))
    return file.read(1) in (b"\n", b"")


# ---- what resolve must not change ------------------------------------------------------------------------------------------


def _copy_of(ledger: Ledger) -> Ledger:
    """A ledger that says the same, and can be written on."""
    other = copy.copy(ledger)
    other.at = other._in_file  # of the copy, which may be written on longer than the other lives
    other.bins = dict(ledger.bins)
    other._looks = {}
    other._folds = {key: _with_lines(fold) for key, fold in ledger._folds.items()}
    other._shapes = {
        fields: {keys: _with_lines(shape) for keys, shape in shapes.items()} for fields, shapes in ledger._shapes.items()
    }
    return other


def _with_lines(counted: Any) -> Any:
    other = copy.copy(counted)
    other.lines = list(counted.lines)
    return other


class _Drafts:
    """Drafts as ``read`` made them, in lists of the values of their slots: the cheapest copy that there is.

    A draft is an object with slots, one of them an open ``entry``. What stands in a slot is not changed by ``resolve``, but
    for dicts, lists and sets, which are copied as well; values inside of these are not changed.
    """

    def __init__(self) -> None:
        self._kind: type | None = None
        self._names: tuple[str, ...] = ()
        self._values: list[Any] = []
        self._mutable: set[int] = set()
        self._entries: list[type | Message | Event | None] = []
        """Of every draft what its entry is: the class of an open one, or the entry itself where nothing can change it."""
        self._open: dict[type, list[Any]] = {}

    def add(self, drafts: list[Any]) -> bool:
        """Take up what was read; False if it is nothing that can be copied."""
        if not drafts:
            return True
        kinds = set(map(type, drafts))
        self._kind = self._kind or next(iter(kinds))
        self._names = self._names or _slots(self._kind)
        if kinds != {self._kind} or "entry" not in self._names:
            return False
        self._add_values(drafts)
        entries = [draft.entry for draft in drafts]
        kinds = set(map(type, entries)) - {Message, Event, type(None)}
        for kind in kinds:
            take = attrgetter(*(field.name for field in attrs.fields(kind)))
            of_kind = [entry for entry in entries if type(entry) is kind]
            self._open.setdefault(kind, []).extend(chain.from_iterable(map(take, of_kind)))
        self._entries += [type(entry) if type(entry) in kinds else entry for entry in entries]
        return True

    def _add_values(self, drafts: list[Any]) -> None:
        width = len(self._names)
        values = list(chain.from_iterable(map(attrgetter(*self._names), drafts)))
        for at in range(width):
            if not _MUTABLE.isdisjoint(map(type, values[at::width])):
                self._mutable.add(at)
                values[at::width] = [_copied(value) for value in values[at::width]]
        self._values += values

    def copies(self) -> list[Any]:
        """All drafts, made anew."""
        if self._kind is None:
            return []
        kind: Any = self._kind
        names, width = self._names, len(self._names)
        entry_at = names.index("entry")
        opened = {cls: zip(*[iter(values)] * len(attrs.fields(cls)), strict=True) for cls, values in self._open.items()}
        drafts = []
        for at, entry in enumerate(self._entries):
            values = self._values[at * width : (at + 1) * width]
            for i in self._mutable:
                values[i] = _copied(values[i])
            values[entry_at] = entry(*next(opened[entry])) if isinstance(entry, type) else entry
            draft = kind.__new__(kind)
            for name, value in zip(names, values, strict=True):
                setattr(draft, name, value)
            drafts.append(draft)
        return drafts


_MUTABLE: Final = frozenset({dict, list, set})


def _copied(value: Any) -> Any:
    return value.copy() if type(value) in _MUTABLE else value


def _slots(kind: type) -> tuple[str, ...]:
    return tuple(getattr(kind, "__slots__", ()))
