"""The branches that only bad luck takes: files that vanish, locks that fail, texts that end."""

import io
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.build_cursor import write
from tests.databases import Json, Rows, database, parse
from tests.test_cursor_odd import Broken

import convparse
from convparse import Limits
from convparse.ledger import Ledger
from convparse.reading import salvage, snapshot, texts
from convparse.reading.handles import File
from convparse.reading.snapshot import Source, moments
from convparse.reading.sqlite import Database
from convparse.reading.tables import Table, bounds

KV = Table("cursorDiskKV", "key", "value")
ROWS: Rows = [("cursorDiskKV", "bubbleId:c:b", Json({"type": 1, "text": "a"}))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "a.db", ROWS)
    return tmp_path / "a.db"


def test_a_file_is_closed_once(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    file = File(descriptor, os.fstat(descriptor))
    file.close()
    file.close()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptor)


def test_bounds_of_any_prefix() -> None:
    for prefix in ("a", "\ud7ff", "x\U0010ffff", "é"):
        low, high = bounds(prefix)
        assert low.encode() <= (prefix + "any").encode() < high.encode()


def test_a_text_that_shrinks_or_is_empty() -> None:
    ledger = Ledger("x")
    assert list(texts.read_text(io.BytesIO(b"ab"), 5, ledger)) == [(b"ab", (1, 0, 2))]
    assert list(texts.read_text(io.BytesIO(b""), 5, ledger)) == []
    assert ledger.bins["lost"] == convparse.Bin(2, 8)


def test_a_log_that_vanishes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert snapshot._beginning(str(path) + "-wal") == b""
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: (_ for _ in ()).throw(sqlite3.OperationalError("no")))
    assert snapshot.connect("file:x") is None
    os.utime(path, (1_700_000_000, 1_700_000_000))
    with closing(moments(str(path), in_place_over=0)) as found:
        assert list(found) == []


def test_a_copy_of_a_file_that_shrinks(path: Path) -> None:
    with path.open("rb") as file:
        assert snapshot._copy_bytes(file, path.with_name("copy"), path.stat().st_size + 10, None)
    assert path.with_name("copy").read_bytes() == path.read_bytes()


def test_neither_a_log_nor_the_file_alone_is_sound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=wal")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c:c', '{}')")
        for end in ("", "-wal"):
            path.with_name(f"b.db{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    for answers in ([False, False], [False, True]):
        given = iter(answers)
        monkeypatch.setattr(snapshot, "_is_sound", lambda connection, given=given: next(given))
        with closing(moments(str(path.with_name("b.db")))) as found:
            moment = next(found)
            assert moment.wal == ("ignored" if answers[1] else "included")
    monkeypatch.setattr(snapshot, "_is_sound", lambda connection: False)
    monkeypatch.setattr(snapshot, "connect", lambda uri, loose=False: None)
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    alone = sqlite3.connect(":memory:")
    monkeypatch.setattr(snapshot, "_is_sound", lambda connection: connection is alone)
    monkeypatch.setattr(snapshot, "connect", lambda uri, loose=False: alone if "immutable" in uri else None)
    with path.open("rb") as file:
        source = Source(str(path), file)
        (moment,) = snapshot._of_copy(source, copy, attrs.evolve(source.look(), wal=5), datetime.now(UTC), "copy")
        assert moment.wal == "ignored"
    monkeypatch.setattr(snapshot, "_is_sound", lambda connection: False)
    monkeypatch.setattr(snapshot, "connect", lambda uri, loose=False: None)
    copy.write_bytes(path.read_bytes())
    with path.open("rb") as file:
        source = Source(str(path), file)
        look = attrs.evolve(source.look(), wal=5)
        assert list(snapshot._of_copy(source, copy, look, datetime.now(UTC), "copy")) == []


def test_a_check_that_fails_says_so() -> None:
    db = sqlite3.connect(":memory:")
    db.close()
    assert not snapshot._is_sound(db)
    assert not snapshot._is_sound(None)


class Failing:
    """A connection whose rows end in an error after so many."""

    def __init__(self, rows: list[tuple[int, Any]], bad: set[int]) -> None:
        self.rows, self.bad = rows, bad

    def execute(self, sql: str, values: tuple[int, ...] = ()) -> Any:
        if sql.startswith("PRAGMA") or "NOT INDEXED" not in sql:
            return _Rows([])
        before, behind = ([row for row in self.rows if row[0] < values[0]], [row for row in self.rows if row[0] > values[0]])
        found = (before[::-1] if "DESC" in sql else behind)[: 1 if sql.endswith("LIMIT 1") else 200]
        if any(row[0] in self.bad for row in found):
            raise sqlite3.DatabaseError("malformed")
        return _Rows(found)


class _Rows(list[Any]):
    def fetchall(self) -> list[Any]:
        return list(self)

    def fetchone(self) -> Any:
        return self[0] if self else None


def test_a_walk_goes_around_what_is_damaged() -> None:
    rows = [(n, b"k%d" % n) for n in range(1, 900)]
    found = salvage.keys(Failing(rows, {100, 333}), '"t"', '"k"', 10_000)  # type: ignore[arg-type]
    assert set(range(1, 900)) - set(found) == {100, 333}
    few = salvage.keys(Failing(rows[:3], {2}), '"t"', '"k"', 10_000)  # type: ignore[arg-type]
    assert set(few) == {1, 3}


def test_a_walk_takes_single_rows_where_only_windows_fail() -> None:
    class Windows(Failing):
        def execute(self, sql: str, values: tuple[int, ...] = ()) -> Any:
            self.bad = set() if sql.endswith("LIMIT 1") else {700}
            return super().execute(sql, values)

    rows = [(n, b"k%d" % n) for n in range(1, 900)]
    found = salvage.keys(Windows(rows, set()), '"t"', '"k"', 10_000)  # type: ignore[arg-type]
    assert set(found) == set(range(1, 900))


def test_a_walk_of_one_window_ends_at_the_last_row() -> None:
    assert salvage._singly(Failing([(5, b"k")], set()), "x NOT INDEXED LIMIT", 0) == [(5, b"k")]  # type: ignore[arg-type]


def test_a_live_database_that_is_damaged_is_read_from_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=wal")
        db.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c:c', '{}')")
        genuine = Database._read_schema
        tries = []

        def first_fails(self: Database) -> None:
            tries.append(1)
            if len(tries) == 1:
                raise sqlite3.DatabaseError("malformed")
            genuine(self)

        monkeypatch.setattr(Database, "_read_schema", first_fails)
        result = convparse.parse(path)
        assert result.snapshot is not None
        assert result.snapshot.method == "copy"
        tries.clear()
        found = list(convparse.iter_conversations(path))
        assert {r.snapshot.method for r in found if r.snapshot is not None} == {"copy"}


def test_tables_whose_columns_are_others(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as db:
        db.execute("CREATE TABLE cursorDiskKV (name TEXT, body BLOB)")
        db.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
        db.execute("CREATE TABLE n (i INTEGER PRIMARY KEY AUTOINCREMENT)")
        db.execute("INSERT INTO ItemTable VALUES ('aiService.prompts', '[]')")
    result = convparse.parse(tmp_path / "a.db", "cursor")
    assert result.account.balanced
    assert [e.name for e in result.loose if isinstance(e, convparse.Event)] == ["aiService.prompts"]


def test_keys_that_are_no_text(tmp_path: Path) -> None:
    """Jumps by such keys lead back; every key comes all the same."""
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as db:
        db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for key in (b"bubbleId:\xff\xfe:x", b"bubbleId:\xff\xfe:y", b"bubbleId:z:x", b"\xff:x"):
            db.execute("INSERT INTO cursorDiskKV VALUES (CAST(? AS TEXT), '{\"type\":1}')", (key,))
    result = convparse.parse(tmp_path / "a.db", "cursor")
    assert [c.id for c in result.conversations] == ["z"]
    counted = {drop.record: drop.count for drop in result.dropped}
    assert counted == {"bubbleId": 2, "cursorDiskKV": 1}


def test_the_stamp_changes_with_any_row() -> None:
    stamps = {
        convparse.parse_bytes(database([*ROWS, *more]), source="cursor", conversation_id="c").conversation.stamp
        or parse([*ROWS, *more]).conversations[0].stamp
        for more in ([], [("cursorDiskKV", "composerData:c", Json({}))], [("cursorDiskKV", "bubbleId:c:z", None)])
    }
    assert len(stamps) == 3


def test_limits_of_values(path: Path) -> None:
    result = convparse.parse(path, limits=convparse.Limits(line_bytes=10))
    assert [drop.code for drop in result.dropped] == ["oversized"]
    with closing(moments(str(path))) as found:
        assert Database(next(found).connection, Limits()).has(KV)


@pytest.fixture
def utf16(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "16.db", isolation_level=None)) as db:
        db.execute("PRAGMA encoding='UTF-16'")
        db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for key, size in (("bubbleId:c:a", 2), ("bubbleId:c:b", 90_000), ("bubbleId\u013a:c:x", 2), ("bubbleId:c:c", 2)):
            db.execute("INSERT INTO cursorDiskKV VALUES (?, zeroblob(?))", (key, size))
    return tmp_path / "16.db"


def test_other_keys_of_a_range(utf16: Path) -> None:
    """In UTF-16 a range holds keys that do not begin with the prefix."""
    with closing(moments(str(utf16))) as found:
        connection = next(found).connection
        database = Database(connection, Limits(line_bytes=100))
        assert [key for _, key in database.keys(KV, "bubbleId:")] == ["bubbleId:c:a", "bubbleId:c:b", "bubbleId:c:c"]
        assert [(row.key, row.problem) for row in database.rows(KV, "bubbleId:")] == [
            *(("bubbleId:c:a", ""), ("bubbleId:c:b", "oversized"), ("bubbleId:c:c", "")),
        ]
        assert not database.damaged
        database._connection = Broken(connection, 'SELECT rowid, "key" FROM')  # type: ignore[assignment]
        assert list(database.keys(KV, "bubbleId:")) == []
        assert database.damaged
        connection.set_authorizer(None)
        again = Database(connection, Limits(line_bytes=100))
        again._connection = Broken(connection, 'SELECT rowid, "key" FROM "cursorDiskKV" WHERE')  # type: ignore[assignment]
        assert len(list(again.rows(KV, "bubbleId:"))) == 3
        assert again.damaged
        connection.set_authorizer(None)
        jumps = Database(connection, Limits())
        jumps._connection = Broken(connection, 'SELECT rowid, "key" FROM')  # type: ignore[assignment]
        assert list(jumps.heads(KV, "a", "z", lambda key: "a")) == ["bubbleId:c:a"]
