"""A database as rows of tables of keys and values, whatever is wrong with it.

A guarded connection (``snapshot``) comes in; rows go out by ranges of keys, in the order of the keys, each with the bytes of
its value or with what is wrong with it. Only tables are read: views, virtual tables, tables with generated columns or without
row ids are refused by name, and an authorizer sees to it. Values over the limit are measured, not loaded. Where the file is
damaged the rest is read row by row (``salvage``), and ``damaged`` says so.

Never done: SQL of the file run, a value read that nobody asked for by its key or prefix, LIKE. Time is bounded by steps of
SQLite's machine, not by a clock, so that the same file always reads the same.
"""

import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from convparse.limits import Limits
from convparse.reading import salvage
from convparse.reading.snapshot import TROUBLE
from convparse.reading.tables import Row, Table, bounds

_STEP: Final = 20_000
"""Steps of SQLite's machine between two looks at the count."""
_HEAD: Final = 256
_LEAST: Final = 1 << 16
"""Bytes that SQLite may hold in any case: its own schema is among them."""
_FUNCTIONS: Final = frozenset({"count", "length", "typeof", "max"})


class Database:
    """The tables of one moment of a database."""

    def __init__(self, connection: sqlite3.Connection, limits: Limits) -> None:
        self.damaged = False
        self._limits = limits
        self._connection = connection
        self._steps = 0
        self._salvaged: dict[Table, list[tuple[str, int]]] = {}
        self.columns: Mapping[str, tuple[str, ...]] = {}
        """The columns of every table that can be read."""
        self.refused: Mapping[str, str] = {}
        """What else is called a table or a view, with the reason."""
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(limits.line_bytes, _LEAST), 2**31 - 1))
        connection.set_progress_handler(self._progress, _STEP)
        try:
            self._read_schema()
            self.damaged = not self.columns and not self.refused and self._has_orphans()
        except TROUBLE:
            self.damaged = True
            self._read_damaged_schema()
        connection.set_authorizer(_authorize)

    # ---- the schema --------------------------------------------------------------------------------------------------------

    def _read_schema(self) -> None:
        columns: dict[str, tuple[str, ...]] = {}
        refused: dict[str, str] = {}
        for kind, name, root in self._run("SELECT type, name, rootpage FROM sqlite_master WHERE type IN ('table', 'view')"):
            told = _text(name)
            if kind != b"table" or not root:
                refused[told] = "a view" if kind == b"view" else "a virtual table"
            elif not told.startswith("sqlite_"):
                found, why = self._judge(told)
                if why:
                    refused[told] = why
                else:
                    columns[told] = found
        self.columns, self.refused = columns, refused

    def _has_orphans(self) -> bool:
        """True if pages are in use that no table can own, since there is none: the schema is lost."""
        (count,), (free,) = (next(iter(self._run(f"PRAGMA {pragma}"))) for pragma in ("page_count", "freelist_count"))
        return bool(count - free > 1)

    def _read_damaged_schema(self) -> None:
        try:
            salvage.loosen(self._connection)
            self._read_schema()
        except TROUBLE:
            self.columns = {}

    def _judge(self, name: str) -> tuple[tuple[str, ...], str]:
        quoted = _quoted(name)
        rows = list(self._run(f"PRAGMA table_xinfo({quoted})"))
        if any(row[6] for row in rows):
            return (), "a table with generated columns"
        names = tuple(_text(row[1]) for row in rows)
        if {"rowid", "_rowid_", "oid"} & {column.lower() for column in names}:
            return (), "a table with a column in the place of row ids"
        try:
            list(self._run(f"SELECT rowid FROM {quoted} LIMIT 0"))  # noqa: S608 - a quoted name
        except sqlite3.OperationalError:
            return (), "a table without row ids"
        return names, ""

    def has(self, table: Table) -> bool:
        """True if there is such a table, with these columns."""
        return {table.key, table.value} <= set(self.columns.get(table.name, ()))

    # ---- reading -----------------------------------------------------------------------------------------------------------

    def rows(self, table: Table, prefix: str) -> Iterator[Row]:
        """The rows whose keys have a prefix, in the order of the keys."""
        if not self.has(table):
            return
        low, high = bounds(prefix)
        last = low
        first = True
        if table not in self._salvaged:
            try:
                for rowid, key, kind, value in self._run(_sql(table, _ROWS), low, high):
                    row = self._row(table, rowid, key, kind, value)
                    first, last = False, key
                    if row.key is not None and row.key.startswith(prefix):
                        yield row
            except TROUBLE as error:
                if _is_large(error):
                    yield from self._singly(table, last, high, prefix, first)
                    return
                self.damaged = True
            else:
                return
        yield from self._saved(table, prefix, None if first else _text(last))

    def keys(self, table: Table, prefix: str) -> Iterator[tuple[int, str]]:
        """Row ids and keys with a prefix, from the index alone, in the order of the keys."""
        if not self.has(table):
            return
        low, high = bounds(prefix)
        last: str | None = None
        if table not in self._salvaged:
            try:
                for rowid, key in self._run(_sql(table, _KEYS), low, high):
                    last = _text(key)
                    if last.startswith(prefix):
                        yield rowid, last
            except TROUBLE:
                self.damaged = True
            else:
                return
        for key, rowid in self._range(table, prefix, last):
            yield rowid, key

    def next_key(self, table: Table, low: str, high: str) -> str | None:
        """The first key from ``low`` on and before ``high``."""
        if not self.has(table):
            return None
        if table not in self._salvaged:
            try:
                found = list(self._run(_sql(table, _NEXT), low, high))
            except TROUBLE:
                self.damaged = True
            else:
                return _text(found[0][0]) if found else None
        saved = self._save(table)
        at = bisect_left(saved, (low, -1))
        return saved[at][0] if at < len(saved) and saved[at][0] < high else None

    def heads(self, table: Table, low: str, high: str, jump: Callable[[str], str]) -> Iterator[str]:
        """Keys of a range, each the first from where ``jump`` leads to from the one before.

        Where a jump leads back, as it can in UTF-16 or from a key that is not valid text, every key that is left comes.
        """
        last = None
        while (key := self.next_key(table, low, high)) is not None:
            if key == last:
                yield from (key for _, key in self._between(table, low, high))
                return
            yield key
            last, low = key, jump(key)

    def _between(self, table: Table, low: str, high: str) -> Iterator[tuple[int, str]]:
        try:
            for rowid, key in self._run(_sql(table, _KEYS), low, high):
                yield rowid, _text(key)
        except TROUBLE:
            self.damaged = True

    def row(self, table: Table, key: str) -> Row | None:
        """The row of one key."""
        if not self.has(table) or not _is_text(key):
            return None
        if table not in self._salvaged:
            try:
                found = list(self._run(_sql(table, _ONE), key))
                return self._row(table, *found[0]) if found else None
            except TROUBLE as error:
                if _is_large(error):
                    return next((row for row in self._singly(table, key, key + "\0", key, True) if row.key == key), None)
                self.damaged = True
        saved = self._save(table)
        at = bisect_left(saved, (key, -1))
        return self._fetch(table, saved[at][1], key) if at < len(saved) and saved[at][0] == key else None

    def other(self, table: Table, row: Row) -> dict[str, Any]:
        """The further columns of a row; text as bytes."""
        names = [name for name in self.columns[table.name] if name not in (table.key, table.value)]
        if not names:
            return {}
        try:
            listed = ", ".join(_quoted(name) for name in names)
            found = list(self._run(f"SELECT {listed} FROM {_quoted(table.name)} WHERE rowid = ?", row.rowid))  # noqa: S608
        except TROUBLE:
            self.damaged = True
            return {}
        return dict(zip(names, found[0], strict=True)) if found else {}

    # ---- counting ----------------------------------------------------------------------------------------------------------

    def count(self, table: Table, low: str, high: str) -> int:
        """How many keys lie from ``low`` on and before ``high``; none of them is read."""
        if not self.has(table):
            return 0
        try:
            ((count,),) = self._run(_sql(table, _COUNT), low, high)
        except TROUBLE:
            self.damaged = True
            saved = self._save(table)
            return bisect_left(saved, (high, -1)) - bisect_left(saved, (low, -1))
        return int(count)

    def filled(self, name: str, column: str) -> int:
        """How many rows of a table have anything in a column."""
        try:
            ((count,),) = self._run(f"SELECT count({_quoted(column)}) FROM {_quoted(name)}")  # noqa: S608 - quoted names
        except TROUBLE:
            self.damaged = True
            return 0
        return int(count)

    def without_key(self, table: Table) -> tuple[int, int]:
        """How many rows have NULL for a key, and how many have bytes, numbers or what is no text in any encoding."""
        try:
            ((nulls,),) = self._run(_sql(table, _NULLS))
            ((others,),) = self._run(_sql(table, _OTHERS), bounds("")[1])
        except TROUBLE:
            self.damaged = True
            return 0, 0
        return int(nulls), int(others)

    def audit(self, table: Table) -> None:
        """Compare the table with its index: what one of them lacks makes reading go by both."""
        if not self.has(table) or table in self._salvaged:
            return
        try:
            ((listed,),) = self._run(_sql(table, _LISTED))
            ((there,),) = self._run(_sql(table, _THERE))
        except TROUBLE:
            listed, there = 0, -1
        if listed != there:
            self.damaged = True
            self._save(table)

    # ---- inside ------------------------------------------------------------------------------------------------------------

    def _run(self, sql: str, *values: object) -> Iterator[Any]:
        self._steps = 0
        return self._connection.execute(sql, values)

    def _progress(self) -> int:
        self._steps += _STEP
        return int(self._steps > self._limits.sqlite_steps)

    def _row(self, table: Table, rowid: int, key: Any, kind: bytes, value: Any) -> Row:
        told = key.decode("utf-8", "replace") if type(key) is bytes else None
        stored = value if type(value) is bytes else None if value is None else str(value).encode()
        size = (len(key) if type(key) is bytes else 0) + len(stored or b"")
        if len(stored or b"") > self._limits.line_bytes:
            return Row(table.name, rowid, told, kind.decode(), (stored or b"")[:_HEAD], size, "oversized")
        return Row(table.name, rowid, told, kind.decode(), stored, size)

    def _singly(self, table: Table, low: Any, high: str, prefix: str, first: bool) -> Iterator[Row]:
        """The rows of a range in which some value is over the limit: keys first, each value by itself."""
        low = _text(low) if type(low) is bytes else low
        try:
            listed = [(rowid, _text(key)) for rowid, key in self._run(_sql(table, _KEYS), low, high)]
        except TROUBLE:
            self.damaged = True
            yield from self._saved(table, prefix, None if first else low)
            return
        for rowid, key in listed:
            if key.startswith(prefix) and (first or key != low):
                yield self._fetch(table, rowid, key)

    def _fetch(self, table: Table, rowid: int, key: str) -> Row:
        try:
            found = list(self._run(_sql(table, _VALUE), rowid))
            if found:
                return self._row(table, rowid, key.encode("utf-8", "replace"), *found[0])
        except TROUBLE as error:
            if _is_large(error):
                return self._measure(table, rowid, key)
        self.damaged = True
        return Row(table.name, rowid, key, "null", None, len(key.encode("utf-8", "replace")), "unreadable-row")

    def _measure(self, table: Table, rowid: int, key: str) -> Row:
        size = len(key.encode("utf-8", "replace"))
        self._connection.set_authorizer(None)
        try:
            with self._connection.blobopen(table.name, table.value, rowid, readonly=True) as blob:
                return Row(table.name, rowid, key, "blob", blob.read(_HEAD), size + len(blob), "oversized")
        except TROUBLE:
            return Row(table.name, rowid, key, "null", None, size, "unreadable-row")
        finally:
            self._connection.set_authorizer(_authorize)

    # ---- damage ------------------------------------------------------------------------------------------------------------

    def _save(self, table: Table) -> list[tuple[str, int]]:
        """Every key and row id that the index or the table still shows, in the order of the keys."""
        saved = self._salvaged.get(table)
        if saved is None:
            self._connection.set_authorizer(None)
            self._connection.set_progress_handler(None, 0)
            found = salvage.keys(self._connection, _quoted(table.name), _quoted(table.key), self._limits.rows)
            self._connection.set_progress_handler(self._progress, _STEP)
            self._connection.set_authorizer(_authorize)
            saved = self._salvaged[table] = sorted((_text(key), rowid) for rowid, key in found.items() if type(key) is bytes)
        return saved

    def _range(self, table: Table, prefix: str, after: str | None) -> Iterator[tuple[str, int]]:
        saved = self._save(table)
        at = bisect_left(saved, (prefix, -1))
        while at < len(saved) and saved[at][0].startswith(prefix):
            if after is None or saved[at][0] > after:
                yield saved[at]
            at += 1

    def _saved(self, table: Table, prefix: str, after: str | None) -> Iterator[Row]:
        for key, rowid in self._range(table, prefix, after):
            yield self._fetch(table, rowid, key)


_ROWS: Final = "SELECT rowid, {key}, typeof({value}), {value} FROM {name} WHERE {key} >= ? AND {key} < ? ORDER BY {key}"
_KEYS: Final = "SELECT rowid, {key} FROM {name} WHERE {key} >= ? AND {key} < ? ORDER BY {key}"
_NEXT: Final = "SELECT {key} FROM {name} WHERE {key} >= ? AND {key} < ? ORDER BY {key} LIMIT 1"
_ONE: Final = "SELECT rowid, {key}, typeof({value}), {value} FROM {name} WHERE {key} = ?"
_VALUE: Final = "SELECT typeof({value}), {value} FROM {name} WHERE rowid = ?"
_COUNT: Final = "SELECT count(*) FROM {name} WHERE {key} >= ? AND {key} < ?"
_NULLS: Final = "SELECT count(*) FROM {name} WHERE {key} IS NULL"
_OTHERS: Final = "SELECT count(*) FROM {name} WHERE {key} >= ? OR {key} < ''"
_LISTED: Final = "SELECT count({key}) FROM {name}"
_THERE: Final = "SELECT count(rowid) FROM {name} NOT INDEXED WHERE typeof({key}) != 'null'"


def _sql(table: Table, template: str) -> str:
    return template.format(name=_quoted(table.name), key=_quoted(table.key), value=_quoted(table.value))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if type(value) is bytes else str(value)


def _is_text(key: str) -> bool:
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_large(error: BaseException) -> bool:
    return getattr(error, "sqlite_errorname", "") == "SQLITE_TOOBIG" or isinstance(error, MemoryError)


def _authorize(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
    """Selecting from tables and a few functions; nothing that a view or trigger of the file would do."""
    if source is None and (
        action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) or (action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS)
    ):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
