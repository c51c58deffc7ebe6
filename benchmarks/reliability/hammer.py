"""Snapshots of databases that another process writes to at full speed, and of databases whose writer was killed: R4.

A writer gives all rows a new generation with every commit, in write-ahead mode or with a rollback journal. A snapshot is wrong
if it holds rows of two generations, too few rows, or a row whose sum is another. ``killed`` ends the writer at any moment with
SIGKILL, and compares every byte of its folder before and after the snapshot.
"""

import hashlib
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
from tests import sqlite_writer
from tests.environment import unmeasured
from tests.test_sqlite_snapshot import read, violations

MODES: Final = ("wal", "delete")
NAME: Final = "state.vscdb"
OWN: Final = frozenset({NAME, f"{NAME}-wal", f"{NAME}-shm", f"{NAME}-journal"})
"""What the writer itself has in its folder."""


@attrs.define
class Tally:
    """What came of a number of snapshots."""

    mode: str
    snapshots: Counter[str] = attrs.field(factory=Counter)
    """By the way they were taken."""
    none: int = 0
    """How often no moment could be had, which is told as ``busy-database``."""
    violations: int = 0
    foreign: int = 0
    """Files that appeared beside the database."""
    changed: int = 0
    """Folders of which a byte was changed by a snapshot."""
    commits: int = 0
    held_up: int = 0
    """Commits of the writer that found the database locked."""
    kills: int = 0

    @property
    def good(self) -> bool:
        """True if nothing happened that must not."""
        return not (self.violations or self.foreign or self.changed or (self.mode == "wal" and self.held_up))


@contextmanager
def writer(path: Path, mode: str) -> Iterator[subprocess.Popen[str]]:
    """A program that writes until its standard input is closed."""
    command = [sys.executable, sqlite_writer.__file__, str(path), mode]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=unmeasured(), **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout is not None
        assert process.stdout.readline() == ".\n"
        try:
            yield process
        finally:
            process.kill()


def hammered(mode: str, seconds: float) -> Tally:
    """Take snapshots for so long while another process writes."""
    tally = Tally(mode)
    with tempfile.TemporaryDirectory() as folder, writer(Path(folder, NAME), mode) as process:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            take(Path(folder, NAME), tally)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        tally.commits, tally.held_up = map(int, process.stdout.read().split())
    return tally


def take(path: Path, tally: Tally) -> None:
    """Take one snapshot and judge it."""
    try:
        rows, how = read(path)
    except sqlite3.Error:
        tally.violations += 1
        return
    if rows is None:
        tally.none += 1
    else:
        tally.snapshots[how.method] += 1
        tally.violations += bool(violations(rows))
    tally.foreign += bool({entry.name for entry in os.scandir(path.parent)} - OWN)


def killed(mode: str, times: int, seed: int = 1) -> Tally:
    """Take a snapshot of what is left behind by writers that were killed."""
    tally, rng = Tally(mode), random.Random(seed)
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            with writer(Path(folder, NAME), mode) as process:
                time.sleep(rng.random() * 0.2)
                process.kill()
                process.wait()
            before = hashes(folder)
            take(Path(folder, NAME), tally)
            tally.changed += hashes(folder) != before
            tally.kills += 1
    return tally


def hashes(folder: str) -> dict[str, str]:
    """What every file of a folder holds; the shared memory file of a dead writer counts as any other."""
    return {entry.name: hashlib.sha256(Path(entry.path).read_bytes()).hexdigest() for entry in os.scandir(folder)}


def shown(tallies: list[Tally]) -> list[list[str]]:
    """The rows of the table."""
    return [
        [
            *(t.mode, f"{t.kills}", f"{t.snapshots.total()}", " ".join(f"{way} {n}" for way, n in sorted(t.snapshots.items()))),
            *(f"{n}" for n in (t.none, t.violations, t.foreign, t.changed, t.commits, t.held_up)),
        ]
        for t in tallies
    ]


HEADS: Final = ["mode", "kills", "snapshots", "taken", "none", "violations", "foreign files", "changed", "commits", "held up"]
