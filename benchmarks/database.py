"""What one conversation of a large database costs: ``python -m benchmarks.database [--megabytes 1000] [--rows 1000000]``.

Builds a database of Cursor's editor with the real table definitions, then opens one conversation of it on every rung of the
ladder, each in a fresh process: the time of ``parse`` (imports apart), and the memory over what the imports take.

Measured in November 2026, two cores that others used as well, Python 3.11, SQLite 3.40: 1,489 MB, 1,000,000 rows, one
conversation of 75 bubbles. in-place 4.4 ms (again: 3.0), 25.5 MB in all; direct 4.5 ms (3.2), 25.5 MB; copy 3,189 ms, 26.7 MB.
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUBBLES = 75
"""Bubbles of one conversation."""
_MEASURE = """
import resource, sys, time
import sqlite3, orjson
import convparse, convparse._databases
from convparse.reading import snapshot
path, id, over = sys.argv[1], sys.argv[2], int(sys.argv[3])
snapshot.IN_PLACE_OVER = over
snapshot.moments.__kwdefaults__["in_place_over"] = over
convparse.SOURCES["cursor"]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
times = []
for _ in range(5):
    start = time.perf_counter()
    result = convparse.parse(path, "cursor", conversation_id=id)
    times.append(time.perf_counter() - start)
    if result.snapshot.method == "copy":
        break
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert len(result.conversation.messages) == int(sys.argv[4]) and result.account.balanced
print(result.snapshot.method, times[0] * 1e3, min(times) * 1e3, peak / 1024, (peak - before) / 1024)
"""


def build(path: Path, megabytes: int, rows: int, mode: str) -> str:
    """A database of so many megabytes and rows; the id of a conversation in its middle."""
    rng = random.Random(1)
    size = max(40, megabytes * 1_000_000 // rows - 100)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode={mode}")
    db.execute("PRAGMA synchronous=OFF")
    for table in ("ItemTable", "cursorDiskKV"):
        db.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    db.execute("BEGIN")
    composers = [f"{rng.getrandbits(128):032x}" for _ in range(rows // (BUBBLES + 1))]
    text = "x" * size
    for id in composers:
        bubbles = [f"{rng.getrandbits(64):016x}" for _ in range(BUBBLES)]
        headers = [{"bubbleId": bubble, "type": 1 + (n > 0)} for n, bubble in enumerate(bubbles)]
        head = {"_v": 17, "composerId": id, "name": id, "createdAt": 1786948236174, "fullConversationHeadersOnly": headers}
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:{id}", json.dumps(head)))
        db.executemany(
            "INSERT INTO cursorDiskKV VALUES (?, ?)",
            (
                (f"bubbleId:{id}:{bubble}", f'{{"_v":3,"type":{1 + (n > 0)},"bubbleId":"{bubble}","text":"{text}"}}')
                for n, bubble in enumerate(bubbles)
            ),
        )
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return composers[len(composers) // 2]


def measure(path: Path, id: str, over: int) -> str:
    """One fresh process."""
    command = [sys.executable, "-c", _MEASURE, str(path), id, str(over), str(BUBBLES)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def report(path: Path, id: str, over: int, rounds: int) -> None:
    """The medians of some rounds."""
    found = [measure(path, id, over).split() for _ in range(rounds)]
    first, best, peak, more = (statistics.median(float(row[n]) for row in found) for n in (1, 2, 3, 4))
    print(
        f"{found[0][0]:>12}  first {first:8.1f} ms  again {best:8.1f} ms  peak {peak:6.1f} MB, {more:5.1f} MB over the imports"
    )


def main() -> None:
    """Build, and measure every rung."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state.vscdb")
        id = build(path, options.megabytes, options.rows, "wal")
        print(f"{path.stat().st_size / 1e6:.0f} MB, {options.rows} rows, one conversation of {BUBBLES} bubbles")
        report(path, id, 0, options.rounds)
        report(path, id, 1 << 62, 1)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("INSERT INTO ItemTable VALUES ('composer.x', ?)", (os.urandom(8).hex(),))
        report(path, id, 0, options.rounds)
        db.close()


if __name__ == "__main__":
    main()
