"""One moment of a database that its product may be writing to.

A path comes in; *moments* go out, each a guarded connection to one consistent state, best first: the caller reads, asks
``proved``, and takes the next one if the answer is no. Nothing is ever written beside the source, no writer is held up for as
long as half a second, and every moment says how it was taken.

direct       a read transaction with the shared-memory index opened read-only; where the product has its write-ahead log open
in-place     ``immutable`` with proof afterwards that nothing changed; large files at rest, which nobody would want to copy
copy         a private copy of the database and its log or journal, proved to be of one moment; SQLite recovers the copy
locked-read  a shared lock for the time that a copy takes; where the other three could not settle

Never done: a plain connection to the source, ``backup()``, ``nolock``, the main file alone while a log has content.
"""

import io
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

import attrs

from convparse.reading import handles
from convparse.reading.opening import open_raw
from convparse.result import Snapshot

MAGIC: Final = b"SQLite format 3\x00"
TROUBLE: Final = (sqlite3.Error, UnicodeDecodeError, MemoryError, OverflowError)
"""What reading a damaged or hostile database raises."""
IN_PLACE_OVER: Final = 256 << 20
"""Bytes from which a file at rest is read where it is: copying less takes no time."""
_QUIET: Final = 0.02
"""Seconds that a file must have been left alone: clocks of file systems are coarse."""
_PAUSES: Final = (0.0, 0.02, 0.04, 0.08, 0.16, 0.32)
_HELD: Final = 0.5
"""Seconds that a lock may last which could hold up a writer."""
_BLOCK: Final = 1 << 20


class Refused(Exception):  # noqa: N818 - says what happened to the file
    """A file that gives no connection; ``code`` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@attrs.frozen
class Look:
    """What can be seen of a database without SQLite."""

    identity: tuple[int, int]
    size: int
    mtime: int
    header: bytes
    wal: int | None
    """Bytes of the write-ahead log; None if there is none."""
    wal_header: bytes
    shm: bool
    journal: tuple[int, int] | None

    @property
    def is_wal(self) -> bool:
        """True if the header says that changes go to a write-ahead log."""
        return self.header[18:20] == b"\x02\x02"

    def agrees(self, later: "Look") -> bool:
        """True if a later look shows that the main file stood still and the log only grew."""
        same = (self.identity, self.size, self.mtime, self.header, self.journal, self.wal_header) == (
            *(later.identity, later.size, later.mtime, later.header, later.journal, later.wal_header),
        )
        return same and (later.wal or 0) >= (self.wal or 0)


class Source:
    """The file: its path, and a descriptor that stays open while any connection lives."""

    def __init__(self, path: str, file: io.FileIO) -> None:
        self.path = path
        self.file = file
        """Without a buffer, which would give again what it read before the file changed."""
        self.tries = 0

    def look(self) -> Look:
        """What can be seen now."""
        status = os.stat(self.path)  # noqa: PTH116 - a path stays the text that was given
        self.file.seek(0)
        wal, shm, journal = (_status(self.path + end) for end in ("-wal", "-shm", "-journal"))
        return Look(
            (status.st_dev, status.st_ino),
            status.st_size,
            status.st_mtime_ns,
            self.file.read(100),
            wal and wal.st_size,
            _beginning(self.path + "-wal") if wal is not None and wal.st_size else b"",
            shm is not None,
            journal and (journal.st_size, journal.st_mtime_ns),
        )

    def settled(self) -> tuple[Look, bool]:
        """The same, once the file has been left alone for a moment; False if it was not."""
        look = self.look()
        age = time.time() - look.mtime / 1e9
        if age >= _QUIET:
            return look, True
        time.sleep(_QUIET - max(age, 0.0))  # of a time in the future only this can be said: it stands still
        later = self.look()
        return later, look.agrees(later)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116
    except OSError:
        return None


def _beginning(path: str) -> bytes:
    try:
        with open_raw(path)[0] as file:
            return file.read(32)
    except OSError:
        return b""


@attrs.define
class Moment:
    """A connection to one state of a database, and how it was come by."""

    connection: sqlite3.Connection
    method: str
    look: Look
    tries: int
    started_at: datetime
    wal: str
    proof: Callable[[], bool] = lambda: True
    copied: int = 0
    loose: bool = False
    """True if SQLite does not trust the file: it is shorter than its header says, or its journal does not fit."""
    locked_since: float | None = None
    held: float | None = None

    def proved(self) -> bool:
        """True if what was read so far is of one moment."""
        return self.proof()

    def snapshot(self) -> Snapshot:
        """The facts, as they stand now."""
        held = time.monotonic() - self.locked_since if self.locked_since is not None else self.held
        return Snapshot(
            self.method,
            self.started_at,
            datetime.now(UTC),
            self.wal,
            self.look.wal,
            self.tries,
            "wal" if self.look.is_wal else "rollback",
            held,
            self.copied,
        )


def moments(
    path: str, *, in_place_over: int = IN_PLACE_OVER, methods: str = "direct in-place copy locked-read"
) -> Generator[Moment]:
    """The moments to be had of a database, best first. Going on to the next, or closing the iterator, closes the last.

    Raises ``OSError`` if the path cannot be opened and ``Refused`` if it is no database.
    """
    file, _ = open_raw(path)
    with file:
        source = Source(path, file)
        if not source.look().header.startswith(MAGIC):
            raise Refused("not-a-database")
        if "direct" in methods:
            yield from _direct(source, "mode=ro&readonly_shm=1", "direct")
        for _ in range(3 if "in-place" in methods else 0):
            yield from _in_place(source, in_place_over)
        if "copy" in methods:
            yield from _copies(source)
        if "locked-read" in methods:
            yield from _locked(source)


def _direct(source: Source, options: str, method: str) -> Iterator[Moment]:
    look = source.look()
    if not (look.is_wal and look.wal is not None and look.shm):
        return
    source.tries += 1
    started = datetime.now(UTC)
    with _connected(source.path, look, options) as connection:
        if connection is not None:
            wal = "included" if look.wal else "none"
            yield Moment(connection, method, look, source.tries, started, wal, locked_since=time.monotonic())


def _in_place(source: Source, over: int) -> Iterator[Moment]:
    look, _ = source.settled()
    if look.wal or look.journal is not None or look.size <= over:
        return
    source.tries += 1
    started = datetime.now(UTC)
    with _connected(source.path, look, "immutable=1") as connection:
        if connection is not None:
            yield Moment(connection, "in-place", look, source.tries, started, "none", lambda: _still(source, look))


def _still(source: Source, look: Look) -> bool:
    try:
        later = source.look()
    except OSError:
        return False
    return look.agrees(later) and not later.wal


@contextmanager
def _connected(path: str, look: Look, options: str) -> Iterator[sqlite3.Connection | None]:
    """A connection with a transaction open, or None; nothing closes the file while it lives."""
    handles.hold(look.identity)
    try:
        connection = connect(f"file:{quote(os.path.abspath(path))}?{options}")  # noqa: PTH100
        try:
            if connection is not None and _identity(path) != look.identity:
                yield None
            else:
                yield connection
        finally:
            if connection is not None:
                connection.close()
    finally:
        handles.release(look.identity)


def _identity(path: str) -> tuple[int, int] | None:
    status = _status(path)
    return status and (status.st_dev, status.st_ino)


def connect(uri: str, *, loose: bool = False) -> sqlite3.Connection | None:
    """A connection that writes nothing, in a transaction that is pinned to one state; None if SQLite gives none.

    ``loose``: also to a file that is shorter than its header says.
    """
    connection = None
    try:
        connection = sqlite3.connect(uri, timeout=1.0, isolation_level=None, check_same_thread=False, uri=True)
        connection.text_factory = bytes
        for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", *(("writable_schema=ON",) if loose else ())):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        connection.execute("PRAGMA schema_version").fetchall()
        connection.execute("PRAGMA query_only=ON")
    except TROUBLE:
        if connection is not None:
            connection.close()
        return None
    return connection


# ---- copies ----------------------------------------------------------------------------------------------------------------


def _copies(source: Source) -> Iterator[Moment]:
    for pause in _PAUSES:
        time.sleep(pause)
        source.tries += 1
        started = datetime.now(UTC)
        with tempfile.TemporaryDirectory(prefix="convparse-", ignore_cleanup_errors=True) as folder:
            look = _copy(source, folder)
            if look is not None:
                yield from _of_copy(source, Path(folder, "db"), look, started, "copy")
                return


def _copy(source: Source, folder: str) -> Look | None:
    """Copy a database with its log or journal; None if it did not stand still, or where there is no room.

    How long it had stood still is measured before the copy, which itself may take as long.
    """
    try:
        look, quiet = source.settled()
        if not quiet or shutil.disk_usage(folder).free < look.size + (look.wal or 0) + (look.journal or (0, 0))[0] + _BLOCK:
            return None
        _copy_bytes(source.file, Path(folder, "db"), look.size, None)
        for end, there in (("-wal", look.wal), ("-journal", look.journal)):
            if there is not None:
                with open_raw(source.path + end)[0] as file:
                    _copy_bytes(file, Path(folder, f"db{end}"), os.fstat(file.fileno()).st_size, None)
        return look if look.agrees(source.look()) else None
    except OSError:
        return None


def _copy_bytes(file: io.FileIO, target: Path, size: int, until: float | None) -> bool:
    """Copy so many bytes; False if that would take longer than the time there is."""
    file.seek(0)
    with target.open("wb") as copy:
        while size:
            block = file.read(min(_BLOCK, size))
            if not block:
                break
            copy.write(block)
            size -= len(block)
            if until is not None and time.monotonic() > until:
                return False
    return True


def _of_copy(
    source: Source, copy: Path, look: Look, started: datetime, method: str, held: float | None = None
) -> Iterator[Moment]:
    """A connection to a copy, which SQLite recovers; the main file alone where that and its log do not fit together."""
    wal = "included" if look.wal else "none"
    size = look.size + (look.wal or 0)
    kept = copy.with_name("main")
    if look.wal:
        shutil.copyfile(copy, kept)
    connection = connect(f"file:{quote(str(copy))}?mode=rw")
    if look.wal and not _is_sound(connection):
        alone = connect(f"file:{quote(str(kept))}?immutable=1")
        if alone is not None and _is_sound(alone):
            if connection is not None:
                connection.close()
            connection, wal = alone, "ignored"
        elif alone is not None:
            alone.close()
    kept.unlink(missing_ok=True)
    loose = connection is None
    if connection is None:
        connection = connect(f"file:{quote(str(copy))}?immutable=1", loose=True)
    if connection is not None:
        try:
            yield Moment(connection, method, look, source.tries, started, wal, copied=size, loose=loose, held=held)
        finally:
            connection.close()


def _is_sound(connection: sqlite3.Connection | None) -> bool:
    try:
        return connection is not None and connection.execute("PRAGMA quick_check(1)").fetchall() == [(b"ok",)]
    except TROUBLE:
        return False


def _locked(source: Source) -> Iterator[Moment]:
    if source.look().is_wal:
        yield from _direct(source, "mode=ro", "locked-read")
        return
    for _ in range(5):
        source.tries += 1
        started = datetime.now(UTC)
        with tempfile.TemporaryDirectory(prefix="convparse-", ignore_cleanup_errors=True) as folder:
            copy = Path(folder, "db")
            held = _copy_locked(source, copy)
            if held is not None:
                look = attrs.evolve(source.look(), wal=None)
                yield from _of_copy(source, copy, look, started, "locked-read", held)
                return


def _copy_locked(source: Source, copy: Path) -> float | None:
    """Copy the main file under a shared lock, which no writer can write under; how long it lasted, or None."""
    look = source.look()
    with _connected(source.path, look, "mode=ro") as connection:
        since = time.monotonic()
        if connection is None or not _copy_bytes(source.file, copy, source.look().size, since + _HELD):
            return None
        return time.monotonic() - since
