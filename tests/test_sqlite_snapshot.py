"""One moment of a database that another process writes to: nothing torn, nothing touched, and said how it was taken.

``HYPOTHESIS_PROFILE=thorough`` takes 2,000 snapshots in each mode instead of some.
"""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests import sqlite_writer
from tests.environment import unmeasured
from tests.strategies import THOROUGH

import convparse
from convparse import Limits
from convparse.reading import handles, snapshot
from convparse.reading.opening import open_raw, open_regular
from convparse.reading.snapshot import Refused, moments
from convparse.reading.sqlite import Database
from convparse.reading.tables import Table

KV = Table("cursorDiskKV", "key", "value")
DDL = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
SNAPSHOTS = 2_000 if THOROUGH else 100


def read(path, **options):
    """All rows of the first moment that is proved, and how it was taken."""
    with closing(moments(str(path), **options)) as found:
        for moment in found:
            database = Database(moment.connection, Limits())
            rows = [(row.key, row.value) for row in database.rows(KV, "bubbleId:")]
            if moment.proved() and not database.damaged:
                return rows, moment.snapshot()
    return None, None


def listing(folder):
    return sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in os.scandir(folder))


def violations(rows):
    """What is wrong with a snapshot of the writer's rows."""
    found = []
    if len(rows) != sqlite_writer.ROWS:
        found.append(f"{len(rows)} rows")
    generations = set()
    for key, value in rows:
        text, _, crc = value.decode().rpartition(',"crc":')
        if zlib.crc32(text.encode()) != int(crc[:-1]):
            found.append(f"{key}: wrong sum")
        generations.add(json.loads(value)["generation"])
    return found + ([f"generations {sorted(generations)}"] if len(generations) > 1 else [])


@pytest.fixture
def writer(tmp_path, request):
    path = tmp_path / "product" / "state.vscdb"
    path.parent.mkdir()
    command = [sys.executable, sqlite_writer.__file__, str(path), request.param]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == ".\n"
        yield path, process
        process.stdin.close()
        process.wait(30)


@pytest.mark.parametrize("writer", ["wal", "delete"], indirect=True)
def test_no_snapshot_of_a_busy_database_is_torn(writer, record_property):
    path, process = writer
    names = {entry.name for entry in os.scandir(path.parent)} | {"state.vscdb-wal", "state.vscdb-shm", "state.vscdb-journal"}
    methods = Counter()
    wrong = []
    until = time.monotonic() + (1_500 if THOROUGH else 20)
    while sum(methods.values()) < SNAPSHOTS and time.monotonic() < until:
        rows, how = read(path)
        methods[how.method if how else "none"] += 1
        if rows is not None:
            wrong += violations(rows)
        assert {entry.name for entry in os.scandir(path.parent)} <= names
    process.stdin.close()
    commits, held_up = process.stdout.read().split()

    record_property("snapshots", dict(methods))
    print(f"{dict(methods)} over {commits} commits, {held_up} held up, {len(wrong)} violations")  # noqa: T201
    assert wrong == []
    assert sum(methods.values()) - methods["none"] > 20


@pytest.mark.parametrize("writer", ["wal", "delete"], indirect=True)
def test_parallel_parses_in_one_process_do_not_tear_each_other(writer):
    """Closing a descriptor of the file in one thread would take the locks of a connection in another."""
    path, _ = writer
    wrong = []
    until = time.monotonic() + (30 if THOROUGH else 2)

    def sniff():
        while time.monotonic() < until:
            with open_regular(str(path))[0] as file:
                file.read(16)

    def take():
        while time.monotonic() < until:
            rows, _ = read(path)
            wrong.extend(violations(rows) if rows is not None else [])

    threads = [threading.Thread(target=work) for work in (sniff, take, take)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    status = path.stat()
    assert wrong == []
    assert (status.st_dev, status.st_ino) not in handles._held


# ---- the ladder ------------------------------------------------------------------------------------------------------------


def make(path, mode="delete", rows=3):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode={mode}")
    db.execute("PRAGMA wal_autocheckpoint=0")
    db.execute(DDL)
    for n in range(rows):
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:c:{n}", b"{}"))
    return db


def aged(path):
    os.utime(path, (1_700_000_000, 1_700_000_000))


def test_the_log_is_read_and_said_to_be(tmp_path):
    path = tmp_path / "a%20b?#.db"
    db = make(path, "wal")
    before = listing(tmp_path)

    rows, how = read(path)

    assert len(rows) == 3
    assert (how.method, how.wal, how.journal_mode, how.copied_bytes) == ("direct", "included", "wal", 0)
    assert how.wal_bytes == Path(f"{path}-wal").stat().st_size > 0
    assert how.held is not None
    assert how.started_at <= how.ended_at
    assert listing(tmp_path) == before
    db.close()


def test_a_crashed_database_is_recovered_in_a_copy(tmp_path):
    db = make(tmp_path / "live.db", "wal")
    for end in ("", "-wal"):
        (tmp_path / "crashed").mkdir(exist_ok=True)
        (tmp_path / "crashed" / f"a.db{end}").write_bytes((tmp_path / f"live.db{end}").read_bytes())
    db.close()
    before = listing(tmp_path / "crashed")

    rows, how = read(tmp_path / "crashed" / "a.db")

    assert len(rows) == 3
    assert (how.method, how.wal, how.held) == ("copy", "included", None)
    assert how.copied_bytes > 0
    assert listing(tmp_path / "crashed") == before


def test_a_database_at_rest_is_read_where_it_is_if_it_is_large(tmp_path):
    path = tmp_path / "a.db"
    make(path, "wal").close()
    aged(path)
    before = listing(tmp_path)

    rows, how = read(path, in_place_over=0)

    assert len(rows) == 3
    assert (how.method, how.wal, how.tries) == ("in-place", "none", 1)
    assert listing(tmp_path) == before


def test_what_changed_in_place_is_not_proved(tmp_path):
    path = tmp_path / "a.db"
    make(path).close()
    aged(path)
    with closing(moments(str(path), in_place_over=0)) as found:
        moment = next(found)
        assert moment.method == "in-place"
        with sqlite3.connect(path) as db:
            db.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c:x', '{}')")
        db.close()
        assert not moment.proved()
        again = next(found)
        assert len(list(Database(again.connection, Limits()).rows(KV, "bubbleId:"))) == 4
        assert again.proved()


def test_a_file_that_is_gone_is_not_proved(tmp_path):
    path = tmp_path / "a.db"
    make(path).close()
    aged(path)
    with closing(moments(str(path), in_place_over=0)) as found:
        moment = next(found)
        path.rename(tmp_path / "b.db")
        assert not moment.proved()


def test_uncommitted_pages_and_a_hot_journal_are_not_shown(tmp_path):
    path = tmp_path / "a.db"
    db = make(path, rows=50)
    db.execute("PRAGMA cache_size=1")
    db.execute("BEGIN")
    db.execute("UPDATE cursorDiskKV SET value = ?", (b"x" * 5_000,))
    (tmp_path / "crashed").mkdir()
    for end in ("", "-journal"):
        (tmp_path / "crashed" / f"a.db{end}").write_bytes((tmp_path / f"a.db{end}").read_bytes())
    for place in (path, tmp_path / "crashed" / "a.db"):
        before = listing(place.parent)

        rows, how = read(place)

        assert {value for _, value in rows} == {b"{}"}
        assert how.method == "copy"
        assert listing(place.parent) == before
    db.execute("ROLLBACK")
    db.close()


def test_an_exclusive_product_is_copied(tmp_path):
    path = tmp_path / "a.db"
    db = make(path, "wal")
    db.execute("PRAGMA locking_mode=EXCLUSIVE")
    db.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c:x', '{}')")

    rows, how = read(path)

    assert len(rows) == 4
    assert (how.method, how.wal) == ("copy", "included")
    db.close()


def test_a_log_that_does_not_fit_is_left_out_and_named(tmp_path):
    """A log of an older state beside a newer file: SQLite would mix them."""
    path = tmp_path / "a.db"
    db = make(path, "wal", 2_000)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("UPDATE cursorDiskKV SET value = zeroblob(3000) WHERE rowid % 10 = 0")
    wal = Path(f"{path}-wal").read_bytes()
    db.execute("DELETE FROM cursorDiskKV WHERE rowid % 3")
    db.execute("VACUUM")
    db.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c', '{\"composerId\":\"c\"}')")
    db.close()
    Path(f"{path}-wal").write_bytes(wal)
    before = listing(tmp_path)

    result = convparse.parse(path, "cursor")

    assert result.snapshot.wal == "ignored"
    assert "wal-ignored" in result.dropped_by_code()
    assert "malformed-database" not in result.dropped_by_code()
    assert len(result.conversations[0].messages) == 600  # 66 of 666 have values that are no JSON
    assert all(account.balanced for account in result.accounts)
    assert listing(tmp_path) == before


def test_where_a_copy_never_settles_a_short_lock_helps(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    make(path).close()
    monkeypatch.setattr(snapshot, "_copy", lambda source, folder: None)
    monkeypatch.setattr(snapshot, "_PAUSES", (0.0,))
    rows, how = read(path)
    assert len(rows) == 3
    assert how.method == "locked-read"
    assert 0 <= how.held < 0.5
    monkeypatch.setattr(snapshot, "_HELD", -1.0)
    assert read(path) == (None, None)
    result = convparse.parse(path, "cursor")
    assert [drop.code for drop in result.dropped] == ["busy-database"]
    assert result.account.balanced
    assert result.account.lost.bytes == path.stat().st_size
    assert [[d.code for d in r.dropped] for r in convparse.iter_conversations(path, "cursor")] == [["busy-database"]]


def test_a_database_with_its_log_open_can_be_read_with_a_lock(tmp_path):
    path = tmp_path / "a.db"
    db = make(path, "wal")
    rows, how = read(path, methods="locked-read")
    assert len(rows) == 3
    assert how.method == "locked-read"
    db.close()
    assert read(path, methods="locked-read") == (None, None)


def test_no_room_for_a_copy(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    make(path).close()
    monkeypatch.setattr(snapshot, "_PAUSES", (0.0,))
    monkeypatch.setattr("shutil.disk_usage", lambda folder: os.statvfs_result((0,) * 10) and type("Usage", (), {"free": 0}))
    rows, how = read(path, methods="copy")
    assert (rows, how) == (None, None)


def test_a_second_copy_is_of_the_file_as_it_is_then(tmp_path):
    """What the first try read of a file that has grown must not come again."""
    path = tmp_path / "a.db"
    path.write_bytes(snapshot.MAGIC + bytes(84) + b"old")
    aged(path)
    with open_raw(str(path))[0] as file:
        source = snapshot.Source(str(path), file)
        size = source.look().size
        path.write_bytes(snapshot.MAGIC + bytes(84) + b"new and longer")
        snapshot._copy_bytes(source.file, tmp_path / "first", size, None)
        path.write_bytes(snapshot.MAGIC + bytes(84) + b"NEW AND LONGER")
        aged(path)
        (tmp_path / "copy").mkdir()

        assert snapshot._copy(source, str(tmp_path / "copy")) is not None

    assert (tmp_path / "copy" / "db").read_bytes() == path.read_bytes()


class Clock:
    """Time that passes only where it is spent; whoever sleeps is overtaken by the writer of a file."""

    def __init__(self, path, writes):
        self.now = 1_700_000_000.0
        self.path, self.writes = path, writes
        self.touch()

    def touch(self):
        os.utime(self.path, (self.now, self.now))

    def time(self):
        return self.now

    monotonic = time

    def sleep(self, seconds):
        self.now += seconds
        if self.writes:
            self.touch()


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("early", [0.0, 1_000.0])
def test_a_file_that_is_written_to_is_not_copied_however_long_the_copy_takes(tmp_path, monkeypatch, writes, early):
    """Within one tick of a coarse clock a second write does not show; a slow copy must not pass for a quiet file."""
    path = tmp_path / "a.db"
    make(path).close()
    clock = Clock(path, writes)
    clock.now -= early
    copy_bytes = snapshot._copy_bytes

    def slowly(*args):
        clock.now += 1.0
        return copy_bytes(*args)

    monkeypatch.setattr(snapshot, "time", clock)
    monkeypatch.setattr(snapshot, "_copy_bytes", slowly)
    (tmp_path / "copy").mkdir()
    with open_raw(str(path))[0] as file:
        found = snapshot._copy(snapshot.Source(str(path), file), str(tmp_path / "copy"))

    assert (found is None) is writes


def test_a_journal_that_cannot_be_opened_is_no_copy(tmp_path):
    path = tmp_path / "a.db"
    make(path).close()
    aged(path)
    (tmp_path / "a.db-journal").mkdir()
    (tmp_path / "copy").mkdir()
    with open_raw(str(path))[0] as file:
        assert snapshot._copy(snapshot.Source(str(path), file), str(tmp_path / "copy")) is None


def test_a_journal_that_does_not_fit_is_named(tmp_path, monkeypatch):
    """Where SQLite cannot roll a copy back, the main file alone may be of no one moment."""
    path = tmp_path / "a.db"
    make(path).close()
    connect = snapshot.connect
    monkeypatch.setattr(snapshot, "connect", lambda uri, **options: connect(uri, **options) if options else None)

    result = convparse.parse(path, "cursor")

    assert len(result.conversations[0].messages) == 3
    assert "malformed-database" in result.dropped_by_code()


def test_a_copy_is_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    path = tmp_path / "a.db"
    make(path).close()
    with closing(moments(str(path))) as found:
        assert next(found).method == "copy"
        (folder,) = (tmp_path / "temp").iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "temp").iterdir()) == []


def test_what_is_no_database_is_refused(tmp_path):
    path = tmp_path / "a.db"
    path.write_bytes(b"not SQLite")
    with pytest.raises(Refused, match="not-a-database"):
        next(moments(str(path)))
    with pytest.raises(OSError):
        next(moments(str(tmp_path)))


def test_a_file_with_a_connection_is_closed_with_the_last(tmp_path):
    path = tmp_path / "a.db"
    db = make(path, "wal")
    with closing(moments(str(path))) as found:
        next(found)
        file, status = open_regular(str(path))
        descriptor = file.fileno()
        file.close()
        file.close()
        assert os.fstat(descriptor).st_ino == status.st_ino
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptor)
    db.close()


def test_a_moment_begins_when_it_is_given(tmp_path):
    path = tmp_path / "a.db"
    db = make(path, "wal")
    with closing(moments(str(path))) as found:
        moment = next(found)
        db.execute("DELETE FROM cursorDiskKV")
        assert moment.method == "direct"
        assert len(list(Database(moment.connection, Limits()).rows(KV, ""))) == 3
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        moment.connection.execute("SELECT 1")
    db.close()


def test_a_database_that_was_cut_short_is_opened_all_the_same(tmp_path):
    path = tmp_path / "a.db"
    db = make(path, "delete")
    db.executemany("INSERT INTO cursorDiskKV VALUES (?, zeroblob(300))", [(f"bubbleId:{number}",) for number in range(500)])
    db.close()
    os.truncate(path, path.stat().st_size // 2)
    with closing(moments(str(path))) as found:
        (moment,) = found
        assert moment.loose
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        moment.connection.execute("SELECT 1")


def test_files_that_wait_for_a_connection_do_not_pile_up(tmp_path):
    """A file that is opened again and again while a long read lasts must not use up the descriptors of the process."""
    path = tmp_path / "a.db"
    db = make(path, "wal")
    whole = path.read_bytes()
    with closing(moments(str(path))) as found:
        identity = next(found).look.identity
        for _ in range(50):
            with open_regular(str(path))[0] as one, open_regular(str(path))[0] as other:
                assert one.fileno() != other.fileno()
                assert one.read() == other.read() == whole
        assert len(handles._held[identity].waiting) == 2
    assert identity not in handles._held
    db.close()


def test_sqlite_is_imported_only_for_databases():
    code = "import sys; import convparse as c; c.parse_bytes(b'{}', source='cursor'); print('sqlite3' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=unmeasured())
    assert found.stdout == "False\n"
