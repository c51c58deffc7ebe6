"""The units behind records: the rows of a file as its lines, or as a database holds them.

What comes in: a result. What goes out: decoded units, each with the entries that stand for it. Records say which units there
are and where; here they are read once more, because records join what a product says twice and split what it says in one.
Decoded as ``JSON.parse`` does it: what a tolerant parser made of a damaged line is not there.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from convparse._stamps import database_facts, database_stamp
from convparse.errors import ConvparseError, SourceChanged
from convparse.limits import Limits
from convparse.reading.tables import Row, Table
from convparse.records import Entry, Event, Origin
from convparse.result import ParseResult
from convparse.sources import SOURCES

if TYPE_CHECKING:
    from convparse.reading.sqlite import Database

UNREAD: Final = object()
"""In the place of a value: no plain JSON, or not alone on its line."""


class Unit(NamedTuple):
    """A unit with the entries that stand for it."""

    value: Any
    entries: tuple[Entry, ...]


def every(result: ParseResult) -> Iterator[Entry]:
    """All entries, the loose ones last."""
    for conversation in result.conversations:
        yield from conversation.entries
    yield from result.loose


def main(result: ParseResult) -> str:
    """The path of the session's own file."""
    return result.accounts[0].path


def parse(text: str) -> Any:
    """A value as ``JSON.parse`` gives it, or ``UNREAD``."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return UNREAD


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def bytes_of(result: ParseResult, data: bytes | None) -> bytes:
    """The main file, whole; ``data`` where the result was made of bytes."""
    if data is not None:
        return data
    account = result.accounts[0]
    return result.read(Origin(account.path, None, 0, account.size))


def lines(result: ParseResult, data: bytes | None) -> list[Unit]:
    """The units of the main file that records stand for, in file order."""
    whole, path = bytes_of(result, data), main(result)
    found: dict[int, tuple[Origin, list[Entry]]] = {}
    for entry in every(result):
        for origin in (entry.origin, *entry.merged):
            if origin is not None and origin.path == path and origin.offset is not None:
                found.setdefault(origin.offset, (origin, []))[1].append(entry)
    return [Unit(_line(whole, origin), tuple(entries)) for _, (origin, entries) in sorted(found.items())]


_ENDS: Final = (b"\n", b"\r", b"")
"""What a line ends with; nothing stands before the first one."""


def _line(whole: bytes, origin: Origin) -> Any:
    assert origin.offset is not None
    assert origin.length is not None
    begin, end = origin.offset, origin.offset + origin.length
    alone = whole[begin - 1 : begin] in _ENDS and (whole[end - 1 : end] in _ENDS or end == len(whole))
    return parse(whole[begin:end].decode("utf-8", "replace")) if alone else UNREAD


def key_of(entries: Iterable[Entry]) -> str:
    """The key of the message among the entries of a unit, else of the first; empty where no entry stands for it."""
    found = sorted(entries, key=lambda entry: isinstance(entry, Event))
    return found[0].key if found else ""


def rows(result: ParseResult, table: Table, keys: Iterable[str], *, prefixes: bool = False) -> dict[str, list[Row]]:
    """The rows of a database with each of some keys, or with keys that begin with it, all of one moment.

    Raises ``ConvparseError`` for a result of bytes, ``SourceChanged`` if the database is no longer the one that was parsed.
    """
    from convparse.reading.snapshot import Refused, moments  # sqlite3 is imported only when a database is read
    from convparse.reading.sqlite import Database

    if result.snapshot is not None and result.snapshot.method == "bytes":
        raise ConvparseError("the rows of a database that was given as bytes cannot be read again; parse it from a file")
    if _stamp(result) != result.stamp:
        raise SourceChanged(f"{result.path} has changed since it was parsed; parse it again")
    with closing(moments(result.path)) as taken, suppress(Refused):
        for moment in taken:
            database = Database(moment.connection, Limits())
            found = {key: _rows(database, table, key, prefixes=prefixes) for key in keys}
            if moment.proved():
                return found
    raise SourceChanged(f"{result.path} is being written to; try again")


def _rows(database: "Database", table: Table, key: str, *, prefixes: bool) -> list[Row]:
    if prefixes:
        return list(database.rows(table, key))
    row = database.row(table, key)
    return [] if row is None else [row]


def _stamp(result: ParseResult) -> str:
    beside = SOURCES[result.source].gather(result.path, result.variant, True)
    return database_stamp(result.path, database_facts(result.path), beside)
