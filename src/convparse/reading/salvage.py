"""What can still be had of a damaged table: every key and row id that its index or its pages show.

A connection comes in whose file SQLite does not trust, giving text as bytes; row ids and keys go out, found twice: from
the index, and by walking the table in windows of row ids, with single rows where a window fails. Where nothing can be read the
walk takes longer and longer steps, and what they stepped over is read backwards. Values are read one by one afterwards. Bounded
by a number of rows and of failures in a row. Nothing is repaired.
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
    for order, past in (("", ">"), (" DESC", "<")):
        end = _deliver(connection, f"{select} ORDER BY {key}{order} LIMIT ?", most, found)
        if end is not None:
            _deliver(connection, f"{select} WHERE {key} {past} ? ORDER BY {key}{order} LIMIT 1", end, found)
    _walk(connection, f"{select} NOT INDEXED WHERE rowid", most, found)
    return found


def _deliver(connection: sqlite3.Connection, sql: str, value: Any, found: dict[int, Any]) -> Any:
    """Rows until an error, before which Python's driver drops one more; the last key that was had before an error, or None."""
    end = None
    try:
        for rowid, key in connection.execute(sql, (value,)):
            found.setdefault(rowid, key)
            end = key.decode("utf-8", "replace") if type(key) is bytes else key
    except TROUBLE:
        return end
    return None


def _walk(connection: sqlite3.Connection, select: str, most: int, found: dict[int, Any]) -> None:
    onward, back = f"{select} > ? ORDER BY rowid LIMIT", f"{select} < ? ORDER BY rowid DESC LIMIT"
    at, step, failures = -1, 1, 0
    while failures < _FAILURES and len(found) <= most and at < 2**63 - _WINDOW:
        before = len(found)
        try:
            window = connection.execute(f"{onward} {_WINDOW}", (at,)).fetchall()
        except TROUBLE:
            window = _singly(connection, onward, at)
            if not window:
                failures += 1
                at, step = at + step, min(2 * step, _WINDOW)
                continue
        behind = _singly(connection, back, at + 1) if step > 1 else []
        for rowid, key in (*behind, *window):
            found.setdefault(rowid, key)
        if not window:
            return
        at, step = window[-1][0], 1
        failures = 0 if len(found) > before else failures + 1


def _singly(connection: sqlite3.Connection, sql: str, at: int) -> list[Any]:
    """The rows of a window as far as they can be read one after the other."""
    rows: list[Any] = []
    try:
        while len(rows) < _WINDOW and (row := connection.execute(f"{sql} 1", (at,)).fetchone()) is not None:
            rows.append(row)
            at = row[0]
    except TROUBLE:
        pass
    return rows
