"""The JSON values of one file, whatever its container, and the file again with one of them changed.

The bytes of a file come in; units go out: ``number`` is what drops say of its place (a line, or a row id), and
``rebuilt(value)`` gives the bytes of the file with another value there. Text files and compressed ones have no units.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any, Final, NamedTuple

from tests.leaves import Tokens, decoded, encoded, pointer_of

MAGIC: Final = b"SQLite format 3\0"
LINES: Final = frozenset({"jsonl", "jsonl-joined", "mutation-log"})


class Unit(NamedTuple):
    """A JSON value in a file."""

    number: int
    value: Any
    rebuilt: Callable[[Any], bytes]
    alone: bool = False
    """True if a parse of its line alone may say what becomes of it."""
    whole: bool = False
    """True if drops name its places whatever the line: a document, or an operation on one."""
    operation: bool = False
    """True for an operation of a log, whose places are named as those of the session that it makes."""
    families: tuple[str, ...] = ()
    """For a row: its table and key, and what a count of rows may call it."""

    def pointer(self, path: Tokens) -> str:
        """How drops name a place in the value."""
        if not self.operation or path[:1] != ("v",):
            return pointer_of(path)
        keys = self.value.get("k", ()) if self.value.get("kind") != 0 else ()
        return pointer_of((*(keys if isinstance(keys, list) else ()), *path[1:]))


def units(data: bytes, container: str) -> Iterator[Unit]:
    """The units of a file."""
    if data.startswith(MAGIC):
        yield from _rows(data)
    elif container in LINES:
        yield from _lines(data, container == "mutation-log")
    elif container in ("document", "racing-document"):
        yield from _document(data)


def _lines(data: bytes, log: bool) -> Iterator[Unit]:
    offset = 0
    lines = data.split(b"\n")
    starts = []
    for line in lines:
        starts.append(offset)
        offset += len(line) + 1
    for number, line, value in decoded(data):
        begin, end = starts[number - 1], starts[number - 1] + len(line.rstrip(b"\r"))

        def rebuilt(new: Any, begin: int = begin, end: int = end) -> bytes:
            return data[:begin] + encoded(new) + data[end:]

        operation = log and isinstance(value, dict)
        yield Unit(number, value, rebuilt, alone=not log, whole=operation, operation=operation)


def _document(data: bytes) -> Iterator[Unit]:
    with suppress(ValueError, RecursionError):
        value = json.loads(data)
        yield Unit(1, value, encoded, whole=isinstance(value, dict))


def _rows(data: bytes) -> Iterator[Unit]:
    """The rows whose value is JSON, in tables of keys and values; columns beside them are no leaves."""
    data = data[:18] + b"\1\1" + data[20:]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.deserialize(data)
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
            select = f'SELECT rowid, "{columns[0]}", "{columns[-1]}" FROM "{table}"'
            for rowid, key, stored in db.execute(select).fetchall():
                yield from _row(data, f'UPDATE "{table}" SET "{columns[-1]}" = ? WHERE rowid = ?', table, rowid, key, stored)


def _row(data: bytes, update: str, table: str, rowid: int, key: Any, stored: Any) -> Iterator[Unit]:
    try:
        value = json.loads(stored)
    except (ValueError, TypeError, RecursionError):
        return
    if not isinstance(value, dict | list):
        return

    def rebuilt(new: Any) -> bytes:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
            db.deserialize(data)
            text = encoded(new)
            db.execute(update, (text.decode("utf-8", "surrogatepass") if isinstance(stored, str) else text, rowid))
            return db.serialize()

    yield Unit(rowid, value, rebuilt, families=(str(key).partition(":")[0], table, str(key)))
