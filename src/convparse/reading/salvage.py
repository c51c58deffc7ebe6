"""What can still be had of a damaged table: every key and row id that its index or its pages show.

A connection comes in whose file SQLite does not trust; row ids and keys go out, found twice: from the index, and by walking
the table in windows of row ids, with single rows where a window fails. Values are read one by one afterwards. Bounded by a
number of rows and of failures in a row. Nothing is repaired.
"""

import sqlite3
from typing import Any, Final

from convparse.reading.snapshot import TROUBLE

_WINDOW: Final = 200
_FAILURES: Final = 2_000
"""Failures in a row after which a walk ends."""


def loosen(connection: sqlite3.Connection) -> None:
    """Let SQLite read a file that is too short, or whose schema has bad rows. Nothing is written: the connection cannot."""
    connection.execute("PRAGMA writable_schema=ON").fetchall()
    connection.execute("PRAGMA cell_size_check=OFF").fetchall()


def keys(connection: sqlite3.Connection, table: str, key: str, most: int) -> dict[int, Any]:
    """Row ids and keys of a table, given by its quoted name and column; at most so many."""
    loosen(connection)
    found: dict[int, Any] = {}
    select = f"SELECT rowid, {key} FROM {table}"  # noqa: S608 - quoted names
    _deliver(connection, f"{select} ORDER BY {key} LIMIT ?", most, found)
    _deliver(connection, f"{select} ORDER BY {key} DESC LIMIT ?", most, found)
    _walk(connection, f"{select} NOT INDEXED WHERE rowid >= ? ORDER BY rowid", most, found)
    return found


def _deliver(connection: sqlite3.Connection, sql: str, most: int, found: dict[int, Any]) -> None:
    """Rows until an error."""
    try:
        for rowid, key in connection.execute(sql, (most,)):
            found.setdefault(rowid, key)
    except TROUBLE:
        pass


def _walk(connection: sqlite3.Connection, sql: str, most: int, found: dict[int, Any]) -> None:
    at, step, failures = 0, 1, 0
    while failures < _FAILURES and len(found) <= most and at < 2**63 - _WINDOW:
        before = len(found)
        try:
            window = connection.execute(f"{sql} LIMIT {_WINDOW}", (at,)).fetchall()
        except TROUBLE:
            window = _singly(connection, sql, at)
            if not window:
                failures += 1
                at, step = at + step, min(2 * step, _WINDOW)
                continue
        if not window:
            return
        for rowid, key in window:
            found.setdefault(rowid, key)
        at, step = window[-1][0] + 1, 1
        failures = 0 if len(found) > before else failures + 1


def _singly(connection: sqlite3.Connection, sql: str, at: int) -> list[Any]:
    """The rows of a window as far as they can be read one after the other."""
    rows: list[Any] = []
    try:
        for _ in range(_WINDOW):
            row = connection.execute(f"{sql} LIMIT 1", (at,)).fetchone()
            if row is None:
                break
            rows.append(row)
            at = row[0] + 1
    except TROUBLE:
        pass
    return rows
