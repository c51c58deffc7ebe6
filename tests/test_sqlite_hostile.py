"""Databases that are damaged, or made to harm: bounded, diagnosed, and the rest is read."""

import json
import random
import sqlite3
import time
from collections import Counter
from contextlib import closing

import attrs
import pytest
from tests.strategies import THOROUGH

import convparse
from convparse import Limits
from convparse.reading import sqlite
from convparse.reading.snapshot import moments
from convparse.reading.sqlite import Database
from convparse.reading.tables import Table

KV = Table("cursorDiskKV", "key", "value")
REAL = "CREATE TABLE {} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
GOOD = ("bubbleId:c:good", '{"type":1,"text":"still here"}')


def made(path, *statements, good=True):
    db = sqlite3.connect(path, isolation_level=None)
    if good:
        db.execute(REAL.format("cursorDiskKV"))
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", GOOD)
    for statement in statements:
        db.execute(*([statement] if isinstance(statement, str) else statement))
    db.close()
    return path


def rows_of(path, limits=None, prefix="bubbleId:"):
    with closing(moments(str(path))) as found:
        database = Database(next(found).connection, limits or Limits())
        database.audit(KV)
        return list(database.rows(KV, prefix)), database


def codes(result):
    found = Counter()
    for drop in result.dropped:
        found[drop.code] += drop.count
    return found


def texts(result):
    return [m.text for c in result.conversations for m in c.messages]


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'bubbleId:c:' || i AS key, i AS value FROM n"
VIEWS = {
    "rows without end": f"CREATE VIEW ItemTable AS {ENDLESS}",
    "no row, ever": f"CREATE VIEW ItemTable AS {ENDLESS} WHERE i < 0",
    "a cross join": "CREATE VIEW ItemTable AS SELECT a.key, b.value FROM cursorDiskKV a, cursorDiskKV b, cursorDiskKV c",
    "a large string": "CREATE VIEW ItemTable AS SELECT 'aiService.prompts' AS key, hex(zeroblob(400000000)) AS value",
    "an extension": "CREATE VIEW ItemTable AS SELECT 'aiService.prompts' AS key, load_extension('x') AS value",
    "a virtual table": "CREATE VIRTUAL TABLE ItemTable USING fts5(key, value)",
    "a generated column": "CREATE TABLE ItemTable (key TEXT UNIQUE, value AS (hex(zeroblob(400000000))))",
    "no row ids": "CREATE TABLE ItemTable (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    "a column called rowid": "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB, rowid TEXT)",
}


@pytest.mark.parametrize("what", VIEWS)
def test_what_is_no_table_is_refused(tmp_path, what):
    path = made(tmp_path / "a.db", VIEWS[what])
    began = time.monotonic()

    result = convparse.parse(path, "cursor")

    assert time.monotonic() - began < 2
    assert texts(result) == ["still here"]
    assert codes(result)["refused-table"] == 1
    assert result.account.balanced


def test_triggers_are_harmless(tmp_path):
    path = made(tmp_path / "a.db", "CREATE TRIGGER t AFTER INSERT ON cursorDiskKV BEGIN DELETE FROM cursorDiskKV; END")
    assert texts(convparse.parse(path)) == ["still here"]


def test_a_view_over_a_table_that_sqlite_reads_is_denied(tmp_path):
    """Should a view ever pass for a table, the authorizer denies what it does."""
    path = made(tmp_path / "a.db", "CREATE VIEW v AS SELECT key, value FROM cursorDiskKV")
    with closing(moments(str(path))) as found:
        database = Database(next(found).connection, Limits())
        with pytest.raises(sqlite3.DatabaseError):
            database._connection.execute("SELECT * FROM v").fetchall()
        with pytest.raises(sqlite3.DatabaseError):
            database._connection.execute("SELECT randomblob(10) FROM cursorDiskKV").fetchall()
        with pytest.raises(sqlite3.DatabaseError):
            database._connection.execute("DELETE FROM cursorDiskKV")


def test_a_large_value_costs_itself_alone(tmp_path):
    path = made(
        tmp_path / "a.db",
        "INSERT INTO cursorDiskKV VALUES ('bubbleId:c:large', zeroblob(300000000))",
        "INSERT INTO cursorDiskKV VALUES ('bubbleId:c:text', hex(zeroblob(50)))",
        'INSERT INTO cursorDiskKV VALUES (\'bubbleId:c:zlast\', \'{"type":1,"text":"behind"}\')',
        "INSERT INTO cursorDiskKV VALUES ('composerData:d', zeroblob(300000000))",
    )
    result = convparse.parse(path, "cursor", limits=attrs.evolve(Limits(), database_bytes=1 << 30))
    assert texts(result) == ["still here", "behind"]
    assert codes(result)["oversized"] == 2
    assert [drop.bytes for drop in result.dropped if drop.code == "oversized"] == [300000000 + 16, 300000000 + 14]
    assert result.account.balanced
    rows, database = rows_of(path, attrs.evolve(Limits(), line_bytes=60))
    assert {row.key: row.problem for row in rows} == {
        "bubbleId:c:good": "",
        "bubbleId:c:large": "oversized",
        "bubbleId:c:text": "oversized",
        "bubbleId:c:zlast": "",
    }
    assert [row.size for row in rows if row.key == "bubbleId:c:text"] == [115]
    assert not database.damaged


def test_a_large_key_is_bounded(tmp_path):
    path = made(tmp_path / "a.db", ("INSERT INTO cursorDiskKV VALUES (?, '{}')", ("bubbleId:c:" + "k" * 100_000,)))
    result = convparse.parse(path, "cursor", limits=attrs.evolve(Limits(), line_bytes=100))
    assert texts(result) == ["still here"]
    assert "malformed-database" in codes(result)


def test_keys_and_values_of_every_kind(tmp_path):
    odd = [(None, "a"), (None, "b"), (b"bubbleId:c:blob", "c"), (b"\xff", "d")]
    values = {"null": None, "number": 7, "real": 1.5, "blob": b'{"type":2,"text":"blob"}', "empty": "", "bytes": b"\xff\xfe"}
    path = made(
        tmp_path / "a.db",
        *(("INSERT INTO cursorDiskKV VALUES (?, ?)", pair) for pair in odd),
        *(("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:c:{name}", value)) for name, value in values.items()),
        ("INSERT INTO cursorDiskKV VALUES (CAST(? AS TEXT), ?)", (b"bubbleId:c:\xff\xfe", '{"type":1,"text":"odd key"}')),
        ("INSERT INTO cursorDiskKV VALUES ('bubbleId:c:utf', CAST(? AS TEXT))", (b'{"type":1,"text":"\xff"}',)),
        ("INSERT INTO cursorDiskKV VALUES (?, ?)", ("bubbleId:c:nul\0more", '{"type":1,"text":"nul"}')),
    )
    result = convparse.parse(path, "cursor")
    assert Counter(texts(result)) == Counter(["still here", "blob", "odd key", "\ufffd", "nul"])
    assert codes(result)["invalid-utf8"] == 1
    assert codes(result)["odd-key"] == 4
    assert codes(result)["null-value"] == codes(result)["empty-value"] == 1
    assert codes(result)["not-an-object"] == 2
    assert codes(result)["malformed-value"] == 1
    assert result.account.balanced


def test_another_encoding(tmp_path):
    path = tmp_path / "a.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA encoding='UTF-16'")
    db.execute(REAL.format("cursorDiskKV"))
    db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", ("bubbleId:c:ü", '{"type":1,"text":"größer 😀"}'))
    db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", ("bubbleId\u013a:c:x", '{"type":1,"text":"no"}'))
    db.close()
    result = convparse.parse(path)
    assert texts(result) == ["größer 😀"]
    assert result.account.balanced


@pytest.mark.parametrize(
    "data", [b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 3_000, b"SQLite format 3\0" + bytes(100)]
)
def test_little_but_a_header(data, tmp_path):
    path = tmp_path / "a.db"
    path.write_bytes(data)
    for result in (convparse.parse(path, "cursor"), convparse.parse_bytes(data, source="cursor")):
        assert result.account.balanced
        assert result.dropped
        assert result.conversations == ()


def test_an_encrypted_or_other_file_is_none_of_ours(tmp_path):
    path = tmp_path / "state.vscdb"
    path.write_bytes(random.Random(3).randbytes(5_000))
    with pytest.raises(convparse.UnknownSource):
        convparse.parse(path)


def test_steps_are_bounded(tmp_path):
    path = made(tmp_path / "a.db")
    db = sqlite3.connect(path)
    db.executemany("INSERT INTO cursorDiskKV VALUES (?, '{}')", ((f"bubbleId:c:{n}",) for n in range(50_000)))
    db.commit()
    db.close()
    result = convparse.parse(path, "cursor", limits=attrs.evolve(Limits(), sqlite_steps=30_000))
    assert result.account.balanced
    assert "malformed-database" in codes(result)


# ---- damage ----------------------------------------------------------------------------------------------------------------

ROWS = 4_000


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "a.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(REAL.format("cursorDiskKV"))
    db.execute("BEGIN")
    for n in range(ROWS):
        db.execute(
            "INSERT INTO cursorDiskKV VALUES (?, ?)",
            (f"bubbleId:c:{n:05}", json.dumps({"type": 1, "text": f"{n} " + "x" * (n % 900)})),
        )
    db.execute("COMMIT")
    db.close()
    return path.read_bytes()


def recovered(path, data):
    path.write_bytes(data)
    rows, database = rows_of(path)
    right = wrong = gone = 0
    for row in rows:
        n = int(row.key[11:]) if row.key[11:].isdigit() else -1
        if row.problem:
            gone += 1
        elif row.value == json.dumps({"type": 1, "text": f"{n} " + "x" * (n % 900)}).encode():
            right += 1
        else:
            wrong += 1
    return right, wrong, gone, database.damaged


@pytest.mark.parametrize("seed", range(4))
def test_one_damaged_spot(tmp_path, sound, seed):
    rng = random.Random(seed)
    data = bytearray(sound)
    at = rng.randrange(4096 * 3, len(data) - 64)
    data[at : at + 64] = rng.randbytes(64)
    right, wrong, _, _ = recovered(tmp_path / "a.db", bytes(data))
    assert right >= ROWS * 0.985, (right, wrong)


def test_pages_of_zeros(tmp_path, sound):
    rng = random.Random(5)
    data = bytearray(sound)
    pages = len(data) // 4096
    for page in rng.sample(range(3, pages), int(pages * 0.036)):
        data[page * 4096 : page * 4096 + 4096] = bytes(4096)
    right, wrong, gone, damaged = recovered(tmp_path / "a.db", bytes(data))
    assert right >= ROWS * 0.9, (right, wrong, gone)
    assert damaged


def test_a_file_that_is_cut(tmp_path, sound):
    right, _, _, damaged = recovered(tmp_path / "a.db", sound[: len(sound) // 10 * 9])
    assert right >= ROWS * 0.8
    assert damaged
    result = convparse.parse_bytes(sound[: len(sound) // 2], source="cursor")
    assert len(result.conversations[0].messages) > ROWS * 0.3
    assert "malformed-database" in codes(result)
    assert result.account.balanced


def test_a_table_whose_pages_are_another_is_noticed(tmp_path):
    """Zero rows and no error: only the comparison with the index tells."""
    path = made(tmp_path / "a.db", REAL.format("ItemTable"))
    db = sqlite3.connect(path, isolation_level=None)
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ItemTable'").fetchone()
    db.execute("PRAGMA writable_schema=ON")
    db.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = 'cursorDiskKV'", (root,))
    db.close()
    result = convparse.parse(path, "cursor")
    assert {"malformed-database", "unreadable-row"} <= set(codes(result))
    assert result.account.balanced


def test_an_index_that_lacks_a_row_is_noticed(tmp_path):
    path = made(tmp_path / "a.db", ("INSERT INTO cursorDiskKV VALUES (?, ?)", ("bubbleId:c:x", '{"type":1,"text":"second"}')))
    db = sqlite3.connect(path, isolation_level=None)
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_auto%'").fetchone()
    db.execute("PRAGMA writable_schema=ON")
    db.close()
    data = bytearray(path.read_bytes())
    page = (root - 1) * 4096
    data[page + 4] = 1  # the index says that it has one cell
    path.write_bytes(bytes(data))
    result = convparse.parse(path, "cursor")
    assert Counter(texts(result)) == Counter(["still here", "second"])
    assert "malformed-database" in codes(result)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "a.db"
    made(path, "PRAGMA page_size=512", REAL.format("ItemTable"), REAL.format("cursorDiskKV"), good=False)
    db = sqlite3.connect(path, isolation_level=None)
    for n in range(12):
        db.execute(
            "INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:c:{n}", json.dumps({"type": 1 + n % 2, "text": "x" * n * 30}))
        )
    db.execute('INSERT INTO cursorDiskKV VALUES (\'composerData:c\', \'{"fullConversationHeadersOnly":[{"bubbleId":"3"}]}\')')
    db.execute("INSERT INTO ItemTable VALUES ('aiService.prompts', '[{\"text\":\"a\"}]')")
    db.close()
    return path.read_bytes()


def test_a_database_cut_anywhere(small):
    for length in (101, 120, 511, *range(16, len(small), 1 if THOROUGH else 97)):  # SQLite takes a first page for granted
        result = convparse.parse_bytes(small[:length], source="cursor")
        assert result.account.balanced, length
        assert result.dropped, length


def test_a_database_with_any_bytes_changed(small):
    rng = random.Random(11)
    for n in range(20_000 if THOROUGH else 250):
        data = bytearray(small)
        for _ in range(rng.choice((1, 1, 2, 8))):
            at = rng.randrange(16, len(data))
            run = rng.choice((1, 1, 2, 4, 60))
            data[at : at + run] = rng.choice((bytes(run), b"\xff" * run, rng.randbytes(run), data[at + run : at + 2 * run]))
        result = convparse.parse_bytes(bytes(data), source="cursor")
        assert result.account.balanced, n


def test_rows_are_bounded(small):
    result = convparse.parse_bytes(small, source="cursor", limits=attrs.evolve(Limits(), rows=5))
    assert result.account.balanced
    assert codes(result)["too-many-rows"] > 0


def test_bounds_of_prefixes():
    assert sqlite.bounds("a:") == ("a:", "a;")
    assert sqlite.bounds("")[0] == ""
