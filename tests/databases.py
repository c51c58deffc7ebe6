"""Databases for tests: real table definitions, rows in, bytes out; and the leaves of their rows.

A database is a list of ``(table, key, value)``; values are JSON values, or bytes, text and None as they are stored.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from tests.leaves import EVERY_LINE, Tokens, changed, covers, pointer_of, put, same_facts, walk

import convparse
from convparse import Drop, ParseResult

KEY_VALUE: Final = "CREATE TABLE {} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
DDL: Final = {
    "ItemTable": KEY_VALUE.format("ItemTable"),
    "cursorDiskKV": KEY_VALUE.format("cursorDiskKV"),
    "composerHeaders": (
        "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER,"
        " isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT)"
    ),
    "blobs": "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)",
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
}
"""As the products make them: no NOT NULL, keys that may be NULL several times, values of any type."""
INSERT: Final = {
    "composerHeaders": (
        "INSERT INTO composerHeaders (composerId, value, workspaceId, createdAt) VALUES (?, ?, 'ws', 1786948236174)"
    )
}
Rows = list[tuple[str, str | bytes | None, Any]]


class Json(NamedTuple):
    """A value stored as JSON text."""

    value: Any


def stored(value: Any) -> Any:
    """A value as it is stored."""
    return json.dumps(value.value, ensure_ascii=False, separators=(",", ":")) if isinstance(value, Json) else value


def connected(rows: Rows, tables: Iterable[str] = ("ItemTable", "cursorDiskKV"), path: str = ":memory:") -> sqlite3.Connection:
    """A connection to a database of these rows."""
    db = sqlite3.connect(path, isolation_level=None)
    for table in dict.fromkeys((*tables, *(table for table, _, _ in rows))):
        db.execute(DDL[table])
    db.execute("BEGIN")
    for table, key, value in rows:
        db.execute(INSERT.get(table, f"INSERT INTO {table} VALUES (?, ?)"), (key, stored(value)))
    db.execute("COMMIT")
    return db


def database(rows: Rows, tables: Iterable[str] = ("ItemTable", "cursorDiskKV")) -> bytes:
    """The bytes of a database of these rows."""
    db = connected(rows, tables)
    data = db.serialize()
    db.close()
    return data


def parse(rows: Rows, **options: Any) -> ParseResult:
    """The parse of a database of these rows."""
    return convparse.parse_bytes(database(rows), source="cursor", name="state.vscdb", limits=EVERY_LINE, **options)


# ---- leaves ----------------------------------------------------------------------------------------------------------------


def leaves(rows: Rows) -> Iterator[tuple[int, Tokens, Any]]:
    """The number of every row with a JSON value, and the leaves of that value."""
    for number, (_, _, value) in enumerate(rows):
        if isinstance(value, Json):
            yield from ((number, path, leaf) for path, leaf in walk(value.value) if path)


def names(drop: Drop, rowid: int, key: str, pointer: str) -> bool:
    """True if a drop says of a place in a row what became of it."""
    if rowid not in drop.lines:
        return False
    return covers(drop.pattern, pointer) if drop.pattern else drop.bytes > 0


SAID_OF_OTHERS: Final = frozenset({"missing-result", "cursor/missing-bubble", "cursor/missing-content", "cursor/rich-text"})


def unnoticed(rows: Rows, chosen: Iterable[tuple[int, Tokens, Any]]) -> list[tuple[Any, str, Any]]:
    """The leaves whose change no record shows and no drop names."""
    before = parse(rows)
    found = []
    for number, path, value in chosen:
        table, key, old = rows[number]
        again = [*rows[:number], (table, key, Json(put(old.value, path, changed(value)))), *rows[number + 1 :]]
        after = parse(again)
        assert after.account.balanced
        rowid = 1 + sum(1 for other, _, _ in rows[:number] if other == table)
        drops = [drop for drop in (*after.dropped, *after.skipped) if drop.code not in SAID_OF_OTHERS]
        if same_facts(before, after) and not any(names(drop, rowid, str(key), pointer_of(path)) for drop in drops):
            found.append((key, pointer_of(path), value))
    return found
