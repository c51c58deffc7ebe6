"""``salvage.keys`` on databases of which whole pages are zeroed: what the index names, and what the table still holds."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from convparse.reading import salvage

PAGE = 512
TABLE_LEAF, INDEX_LEAF = 0x0D, 0x0A
ROWS = {number: f"key{number:03}" for number in range(1, 301)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"PRAGMA page_size={PAGE}; CREATE TABLE t (k TEXT UNIQUE, v BLOB)")
        connection.executemany("INSERT INTO t VALUES (?, zeroblob(100))", [(key,) for key in ROWS.values()])
        connection.commit()
    return path


def leaves(path: Path, kind: int) -> list[int]:
    """Where the leaf pages of a kind begin, but for the first page, which holds the schema."""
    data = path.read_bytes()
    return [at for at in range(PAGE, len(data), PAGE) if data[at] == kind]


def cells(path: Path, at: int) -> int:
    """How many cells the page has that begins there."""
    return int.from_bytes(path.read_bytes()[at + 3 : at + 5])


def zero(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(PAGE))


def rows_of(path: Path, most: int = 10_000) -> dict[int, str]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        return {rowid: key.decode() for rowid, key in salvage.keys(connection, '"t"', '"k"', most).items()}


def readable(path: Path) -> Iterator[int]:
    """The row ids whose values can be read."""
    with closing(sqlite3.connect(path)) as connection:
        for number in ROWS:
            try:
                if connection.execute("SELECT v FROM t NOT INDEXED WHERE rowid = ?", (number,)).fetchone():
                    yield number
            except sqlite3.DatabaseError:
                pass


def test_rows_of_a_zeroed_page_are_named_by_the_index(path: Path) -> None:
    zero(path, leaves(path, TABLE_LEAF)[40])
    assert 0 < len(ROWS) - len(list(readable(path))) <= PAGE // 100
    assert rows_of(path) == ROWS


def test_the_table_has_what_the_index_lost(path: Path) -> None:
    zero(path, leaves(path, INDEX_LEAF)[3])
    assert rows_of(path) == ROWS


def test_the_index_is_read_from_both_ends(path: Path) -> None:
    lost = leaves(path, INDEX_LEAF)[3]
    keys = cells(path, lost)
    for at in (*leaves(path, TABLE_LEAF), lost):
        zero(path, at)
    found = rows_of(path)
    assert found.items() < ROWS.items()
    assert len(ROWS) - len(found) == keys


def test_what_the_table_holds_is_found_without_an_index(path: Path) -> None:
    for at in (*leaves(path, INDEX_LEAF), leaves(path, TABLE_LEAF)[40]):
        zero(path, at)
    assert sorted(rows_of(path)) == list(readable(path))


def test_no_more_keys_than_asked_for_are_taken_from_each_end(path: Path) -> None:
    zero(path, leaves(path, TABLE_LEAF)[0])
    assert {1, 2, 299, 300} <= rows_of(path, 2).keys()
    assert len(rows_of(path, 2)) < len(ROWS)
