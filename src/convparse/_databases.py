"""``parse`` and its kin for databases: take a moment, find the source, read rows as units, close the account.

Imported only when a database is read, and with it ``sqlite3``. What a moment cannot give (it changed while it was read, it is
damaged and a copy may be recovered) is read again from the next one, with a fresh account.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from convparse import _detect
from convparse._parse import _Run, _variant_of
from convparse.errors import ConvparseError, SourceChanged, UnknownSource
from convparse.ledger import NOWHERE
from convparse.limits import Limits
from convparse.reading.rows import Rows
from convparse.reading.snapshot import Moment, Refused, moments
from convparse.reading.sqlite import Database
from convparse.records import Conversation
from convparse.result import ParseResult, Snapshot
from convparse.sources import SOURCES
from convparse.sources._source import FilePart, Gathered, Head, Source, Store, Variant

T = TypeVar("T")
_LISTED: Final = 10
_ALL: Final = ("direct", "in-place", "copy", "locked-read")


def parse(
    path: str, source: Source | None, conversation_id: str | None, limits: Limits, excerpts: bool, drafts: bool
) -> ParseResult:
    """All conversations of a database, or one."""
    return _settled(path, source, limits, excerpts, drafts, lambda reader: reader.read(conversation_id))


def parse_bytes(
    data: bytes,
    name: str,
    source: Source | None,
    conversation_id: str | None,
    limits: Limits,
    excerpts: bool,
    drafts: bool,
) -> ParseResult:
    """The same for the bytes of a database, which are read from a private file."""
    with tempfile.TemporaryDirectory(prefix="convparse-", ignore_cleanup_errors=True) as folder:
        file = Path(folder, "db")
        file.write_bytes(data)
        os.utime(file, (0, 0))
        result = _settled(str(file), source, limits, excerpts, drafts, lambda reader: reader.read(conversation_id), name)
        return attrs.evolve(result, snapshot=Snapshot("bytes"), stamp="")


def each(
    path: str,
    source: Source | None,
    known: frozenset[str],
    messages: bool,
    limits: Limits,
    excerpts: bool,
    drafts: bool,
) -> Iterator[ParseResult]:
    """One conversation at a time, then what belongs to none."""
    try:
        with closing(moments(path)) as found:
            for moment in found:
                reader = _Reader(path, moment, source, limits, excerpts, drafts)
                if reader.database.damaged and moment.method == "direct":
                    continue
                for result in reader.each(known, messages):
                    if not moment.proved():
                        raise SourceChanged(f"{path} changed while it was read; begin again, with `known`")
                    yield result
                return
    except Refused as refused:
        yield _nothing(path, source, limits, excerpts, refused.code)
        return
    yield _nothing(path, source, limits, excerpts, "busy-database")


def detect(path: str) -> _detect.Detection:
    """Which source a database is from."""
    with closing(moments(path)) as found:
        for moment in found:
            head = _head(path, Database(moment.connection, Limits()))
            return _detect.detect_head(head, list(SOURCES.values()), path)
    return _detect.detect_head(Head(Path(path).name, b"SQLite format 3\x00", (), False), list(SOURCES.values()), path)


def _settled(
    path: str,
    source: Source | None,
    limits: Limits,
    excerpts: bool,
    drafts: bool,
    read: Callable[["_Reader"], ParseResult],
    name: str | None = None,
) -> ParseResult:
    """What is read of the first moment that can be trusted."""
    best = None
    try:
        with closing(moments(path)) as found:
            for moment in found:
                reader = _Reader(path if name is None else name, moment, source, limits, excerpts, drafts)
                reader.alone = name is not None
                result = read(reader)
                if not moment.proved():
                    continue
                best = attrs.evolve(result, snapshot=moment.snapshot())
                if not (reader.database.damaged and moment.method == "direct"):
                    return best
    except Refused as refused:
        return _nothing(path, source, limits, excerpts, refused.code, name)
    return best or _nothing(path, source, limits, excerpts, "busy-database", name)


def _head(path: str, database: Database) -> Head:
    return Head(Path(path).name, b"SQLite format 3\x00", (), False, database)


def _nothing(
    path: str, source: Source | None, limits: Limits, excerpts: bool, code: str, name: str | None = None
) -> ParseResult:
    """The result of a database of which nothing can be had."""
    shown = path if name is None else name
    if source is None:
        raise UnknownSource(
            f"{shown or 'the data'}: an SQLite database that cannot be read ({code}); known sources: {', '.join(SOURCES)}."
            " Pass `source=` for an account of it"
        )
    variant = next((name for name, v in source.variants.items() if v.container == "sqlite"), next(iter(source.variants)))
    run = _Run(source, limits, excerpts)
    size = os.stat(path).st_size  # noqa: PTH116 - a path stays the text that was given
    run.ledger(shown, size, "").unit(code, (0, 0, size))
    return attrs.evolve(run.finish(shown, variant, Gathered(())), snapshot=Snapshot("none"))


class _Reader:
    """One moment of a database, read with a source."""

    def __init__(self, path: str, moment: Moment, source: Source | None, limits: Limits, excerpts: bool, drafts: bool) -> None:
        self.path = path
        self.moment = moment
        self.limits = limits
        self.excerpts = excerpts
        self.drafts = drafts
        self.database = Database(moment.connection, limits)
        self.database.damaged |= moment.loose
        detection = _variant_of(_head(path, self.database), source, path)
        self.source = source or SOURCES[detection.source]
        self.name = detection.variant
        if self.source.variants[self.name].store is None:
            self.name = next((name for name, v in self.source.variants.items() if v.store is not None), self.name)
        self.shared: dict[str, Any] = {}
        self.alone = False
        """True if there is nothing beside the database."""

    @property
    def variant(self) -> Variant:
        """The variant, one that reads databases."""
        variant = self.source.variants[self.name]
        if variant.store is None:
            raise ConvparseError(f"{self.path} is an SQLite database; the source {self.source.name!r} does not read it")
        return variant

    def read(self, conversation_id: str | None) -> ParseResult:
        """All conversations, or one."""
        run, rows, store, variant = self._begin()
        if conversation_id is not None:
            self._add(run, rows, variant, store.units(rows, conversation_id, True))
            result = self._finish(run, rows, Gathered(()))
            if not result.account.size and not any(c.id == conversation_id for c in result.conversations):
                self._refuse(store, rows, conversation_id)
            return result
        size = self.moment.look.size + (self.moment.look.wal or 0)
        if size > self.limits.database_bytes:
            raise ConvparseError(
                f"{self.path} has {size} bytes, more than Limits.database_bytes: give a conversation_id, "
                "or take one conversation after the other from iter_conversations"
            )
        for table in self.source_tables():
            self.database.audit(table)
        for id in store.ids(rows):
            self._add(run, rows, variant, store.units(rows, id, True))
        self._add(run, rows, variant, store.beside(rows))
        result = self._finish(run, rows, self._beside())
        stamps = {c.id: rows.stamp(store.ranges(c.id)) for c in result.conversations if c.id is not None}
        return attrs.evolve(result, conversations=tuple(_stamped(c, stamps) for c in result.conversations))

    def source_tables(self) -> list[Any]:
        """The tables that conversations lie in."""
        store = self.variant.store
        return list(dict.fromkeys(table for table, _, _ in store.ranges("x"))) if store is not None else []

    def each(self, known: frozenset[str], messages: bool) -> Iterator[ParseResult]:
        """One conversation at a time."""
        _, rows, store, variant = self._begin()
        self.shared["partial"] = bool(known) or not messages
        for id in store.ids(rows):
            stamp = rows.stamp(store.ranges(id)) if messages else None
            if stamp in known:
                continue
            run, own, _, _ = self._begin()
            self._add(run, own, variant, store.units(own, id, messages))
            result = self._finish(run, own, Gathered(()))
            if not messages and not any(c.id == id for c in result.conversations):
                headless = Conversation(id, self.source.name)
                result = attrs.evolve(result, conversations=(headless, *result.conversations))
            yield self._told(result, stamp, messages)
        run, own, _, _ = self._begin()
        self._add(run, own, variant, store.beside(own))
        yield self._told(self._finish(run, own, self._beside()), None, True)

    def _told(self, result: ParseResult, stamp: str | None, messages: bool) -> ParseResult:
        body: dict[str, Any] = {} if messages else {"body": "unread"}
        conversations = tuple(attrs.evolve(c, stamp=stamp, **body) for c in result.conversations)
        return attrs.evolve(result, conversations=conversations, snapshot=self.moment.snapshot())

    def _beside(self) -> Gathered:
        return Gathered(()) if self.alone else self.source.gather(self.path, self.name, True)

    def _begin(self) -> tuple[_Run, Rows, Store, Variant]:
        variant = self.variant
        run = _Run(self.source, self.limits, self.excerpts, self.drafts)
        rows = Rows(self.database, run.ledger(self.path, 0, ""), self.shared)
        assert variant.store is not None
        return run, rows, variant.store, variant

    def _add(self, run: _Run, rows: Rows, variant: Variant, units: Iterator[Any]) -> None:
        run.parts.append(FilePart(self.path, self.name, rows.ledger, list(variant.reader(self.drafts)(units, rows.ledger))))

    def _finish(self, run: _Run, rows: Rows, gathered: Gathered) -> ParseResult:
        look = self.moment.look
        if self.database.damaged:
            rows.ledger.part("malformed-database", NOWHERE)
        if self.moment.wal == "ignored":
            rows.ledger.part("wal-ignored", NOWHERE)
        stamp = f"{look.identity[0]:x}.{look.identity[1]:x}.{look.size:x}.{look.mtime:x}.{look.header[24:28].hex()}"
        run.sizes[self.path] = (rows.size, f"{stamp}.{look.wal or 0:x}.{look.wal_header.hex()}")
        return run.finish(self.path, self.name, gathered)

    def _refuse(self, store: Store, rows: Rows, id: str) -> None:
        ids = [found for found, _ in zip(store.ids(rows), range(_LISTED), strict=False)]
        raise ConvparseError(f"{self.path} has no conversation {id!r}; it has: {', '.join(ids) or 'none'}")


def _stamped(conversation: Conversation, stamps: dict[str, str]) -> Conversation:
    return attrs.evolve(conversation, stamp=stamps.get(conversation.id or ""))
