"""What a parse takes of memory at its peak: R5. Every case is read by a process of its own, which does nothing else.

The files are made by this process; the other one imports the library alone.
"""

import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import convparse
from convparse import Limits
from convparse.ledger import Ledger
from convparse.reading import jsonl

MEGABYTE: Final = 1 << 20
ROW: Final = b'{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"'
CONVERSATIONS: Final = 1_200
BUBBLES: Final = 100


class Case(NamedTuple):
    """A file, what is done with it, and the megabytes that may take."""

    make: Callable[[Path], None]
    read: Callable[[Path], object]
    most: int


def _nothing(path: Path) -> None:
    pass


def _session(path: Path) -> None:
    from benchmarks.generate import write_session

    write_session(path, 100 * MEGABYTE, 2_700)


def _stream(path: Path) -> None:
    with path.open("rb") as file:
        for _ in jsonl.iter_records(file, path.stat().st_size, Ledger("s"), lambda value: "type" in value):
            pass


def _line(megabytes: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(ROW)
            for _ in range(megabytes):
                file.write(b"y" * MEGABYTE)
            file.write(b'"}}\n' + ROW + b'x"}}\n')

    return make


def _brackets(path: Path) -> None:
    path.write_bytes(b"[" * 16 * MEGABYTE + b"\n[" + b'{"k":1},' * 2 * MEGABYTE + b"1]\n")


def _database(path: Path) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    db.execute("BEGIN")
    text = "x" * 2_000
    heads = ",".join(f'{{"bubbleId":"{b}","type":1}}' for b in range(BUBBLES))
    for n in range(CONVERSATIONS):
        rows = [(f"composerData:c{n}", f'{{"fullConversationHeadersOnly":[{heads}]}}')]
        rows += [(f"bubbleId:c{n}:{b}", f'{{"_v":3,"type":1,"text":"{b} {text}"}}') for b in range(BUBBLES)]
        db.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    db.execute("COMMIT")
    db.close()


def _conversations(path: Path) -> None:
    count = sum(len(result.conversations) for result in convparse.iter_conversations(path, "cursor"))
    assert count == CONVERSATIONS


CASES: Final[dict[str, Case]] = {
    "the import alone": Case(_nothing, _nothing, 45),
    "100 MB of lines, unit by unit": Case(_session, _stream, 60),
    "a line of 300 MB, over the limit": Case(_line(300), lambda path: convparse.parse(path, "claude-code"), 200),
    "a line of 16 MB, kept": Case(_line(16), lambda path: convparse.parse(path, "claude-code"), 60 + 25 * 16),
    "lines of 16 MB of brackets, over a limit of 1 MB": Case(
        _brackets, lambda path: convparse.parse(path, "codex", limits=Limits(line_bytes=MEGABYTE)), 60 + 25
    ),
    "a database of 250 MB, one conversation at a time": Case(_database, _conversations, 60),
}


def peak(name: str) -> int:
    """Megabytes that a process takes at its peak."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        CASES[name].make(path)
        code = f"from benchmarks.reliability import memory; memory.spend({name!r}, {str(path)!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return int(done.stdout)


def spend(name: str, path: str) -> None:
    """What such a process does: read, and print its peak."""
    CASES[name].read(Path(path))
    print(_peak())


def _peak() -> int:
    """Megabytes at the peak. Linux gives what ``getrusage`` tells to children, so that the parent's would count as theirs."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
