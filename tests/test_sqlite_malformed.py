"""Databases whose structure is wrong in one way each: schema, pages, cells, header. What can be had is had, the rest is named.

``tests/test_sqlite_hostile.py`` has what is valid and means harm, and damage at random.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

import convparse
from convparse import ParseResult

PAGE: Final = 512
ROWS: Final = 40
DDL: Final = "CREATE TABLE {} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
LONG: Final = 30
"""The row whose value is long enough to go on in overflow pages."""


def text_of(n: int) -> str:
    return f"text {n} " + "x" * (3_000 if n == LONG else n)


def made(reserved: int = 0, *statements: str) -> bytes:
    """A sound database."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(f"PRAGMA page_size={PAGE}")
        db.execute(DDL.format("cursorDiskKV"))
        for n in range(ROWS):
            db.execute(
                "INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:c:{n:02}", json.dumps({"type": 1, "text": text_of(n)}))
            )
        for statement in statements:
            db.execute(statement)
        return db.serialize()


def root(data: bytes, name: str) -> int:
    """Where the root page of a table or index begins."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(data)
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return (int(page) - 1) * PAGE


def with_schema(statement: str, data: bytes | None = None) -> bytes:
    """A database whose schema was written to."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.deserialize(data or made())
        db.execute("PRAGMA writable_schema=ON")
        db.execute(statement)
        return db.serialize()


def put(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _first_leaf(data: bytes) -> int:
    """Where the first leaf of the table begins: a page of 0x0d that the root points to."""
    at = root(data, "cursorDiskKV")
    assert data[at] == 0x05
    cell = int.from_bytes(data[at + 12 : at + 14], "big")
    return (int.from_bytes(data[at + cell : at + cell + 4], "big") - 1) * PAGE


def _cycle() -> bytes:
    data = made()
    at = root(data, "cursorDiskKV")
    cell = int.from_bytes(data[at + 12 : at + 14], "big")
    return put(data, at + cell, (at // PAGE + 1).to_bytes(4, "big"))


def _payload() -> bytes:
    data = made()
    at = _first_leaf(data)
    cell = int.from_bytes(data[at + 8 : at + 10], "big")
    return put(data, at + cell, b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f")


def _cells() -> bytes:
    data = made()
    return put(data, _first_leaf(data) + 3, b"\xff\xff")


def _kind() -> bytes:
    data = made()
    return put(data, _first_leaf(data), b"\x0a")


def _overflow() -> bytes:
    data = made()
    at = data.index(text_of(LONG)[-1_200:].encode()[:300])
    page = at // PAGE * PAGE
    return put(data, page, (0xFFFF).to_bytes(4, "big"))


MALFORMED: Final[dict[str, tuple[Callable[[], bytes], int, int]]] = {
    "a row of the schema that is no SQL": (
        lambda: with_schema("INSERT INTO sqlite_master VALUES ('table','t','t',3,'not SQL')"),
        ROWS,
        ROWS,
    ),
    "a name in the schema that is no UTF-8": (
        lambda: with_schema(
            "INSERT INTO sqlite_master VALUES ('table',CAST(x'ff' AS TEXT),CAST(x'ff' AS TEXT),99,'CREATE TABLE x')"
        ),
        ROWS,
        ROWS,
    ),
    "a root page out of range": (
        lambda: with_schema("UPDATE sqlite_master SET rootpage=9999 WHERE name='cursorDiskKV'"),
        0,
        ROWS,
    ),
    "an index whose root page is out of range": (
        lambda: with_schema("UPDATE sqlite_master SET rootpage=9999 WHERE type='index'"),
        ROWS,
        ROWS,
    ),
    "no schema at all": (lambda: with_schema("DELETE FROM sqlite_master"), 0, 0),
    "a page that is its own child": (_cycle, 20, ROWS),
    "a payload larger than any file": (_payload, 20, ROWS),
    "a page of more cells than fit": (_cells, 20, ROWS),
    "a page of another kind": (_kind, 20, ROWS),
    "a chain of overflow pages that leaves the file": (_overflow, ROWS - 1, ROWS),
    "a number of pages that is wrong": (lambda: put(made(), 28, b"\x00\x00\x00\x02"), 0, ROWS),
    "a list of free pages that is none": (lambda: put(made(), 32, b"\x00\x00\x00\x03\x00\x00\x00\x7f"), ROWS, ROWS),
    "reserved bytes that cells stand in": (lambda: put(made(), 20, b"\x20"), 0, ROWS),
    "a format of the future": (lambda: put(made(), 18, b"\x09\x09"), 0, 0),
    "pages of 3 bytes": (lambda: put(made(), 16, b"\x00\x03"), 0, 0),
    "fractions of payloads that are others": (lambda: put(made(), 21, b"\x01\x01\x01"), 0, 0),
    "an encoding that is none": (lambda: put(made(), 56, b"\x00\x00\x00\x63"), 0, ROWS),
    "a header and no more": (lambda: made()[:100], 0, 0),
    "the first page and no more": (lambda: made()[:PAGE], 0, 0),
}
"""The bytes, and how many of the rows must and may be had."""


def codes(result: ParseResult) -> Counter[str]:
    found: Counter[str] = Counter()
    for drop in result.dropped:
        found[drop.code] += drop.count
    return found


@pytest.mark.parametrize("what", MALFORMED)
def test_what_is_malformed_costs_no_more_than_it_must(what: str, tmp_path: Path) -> None:
    make, least, most = MALFORMED[what]
    path = tmp_path / "state.vscdb"
    path.write_bytes(make())

    results: list[Any] = [convparse.parse(path, "cursor"), convparse.parse_bytes(path.read_bytes(), source="cursor")]

    for result in results:
        said = [m.text for c in result.conversations for m in c.messages]
        sound = [n for n in range(ROWS) if text_of(n) in said]
        assert least <= len(sound) <= most
        assert result.account.balanced
        assert len(sound) == ROWS or result.lost, "what is missing is named"
    assert path.read_bytes() == make()
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.vscdb"]


@pytest.mark.parametrize("data", [b"", b"SQLite for", b"SQLite format 3", b"plain text", b"\0" * 100])
def test_what_is_no_database_is_read_as_no_database(data: bytes) -> None:
    with pytest.raises(convparse.UnknownSource):
        convparse.parse_bytes(data)
    assert convparse.parse_bytes(data, source="cursor").account.balanced


def test_a_row_before_an_unreadable_one_is_not_swallowed() -> None:
    """CPython's cursor looks one row ahead, and an error there takes the row before with it."""
    data = _payload()
    said = {m.text for c in convparse.parse_bytes(data, source="cursor").conversations for m in c.messages}
    at = _first_leaf(data)
    count = int.from_bytes(data[at + 3 : at + 5], "big")
    assert {text_of(n) for n in range(count, ROWS) if n != LONG} <= said


def test_a_database_of_no_tables_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE x (y)")
        db.execute("INSERT INTO x VALUES (zeroblob(5000))")
        db.execute("DROP TABLE x")

    result = convparse.parse(path, "cursor")

    assert (result.conversations, result.dropped) == ((), ())
