"""A program that writes to a database at full speed: ``python sqlite_writer.py PATH MODE``, until its standard input ends.

Every commit gives all rows a new generation; ``wal`` checkpoints every few commits, ``delete`` spills its cache in the middle
of transactions. It prints a dot when it has begun, and at the end the number of commits and of those that another held up.
"""

import random
import sqlite3
import sys
import threading
import zlib

ROWS = 150


def value(generation: int, row: int, rng: random.Random) -> str:
    filler = "x" * rng.choice((50, 300, 3_000, 9_000))
    text = f'{{"generation":{generation},"row":{row},"filler":"{filler}"'
    return f'{text},"crc":{zlib.crc32(text.encode())}}}'


def main(path: str, mode: str) -> None:
    rng = random.Random(7)
    db = sqlite3.connect(path, isolation_level=None, timeout=0)
    db.execute(f"PRAGMA journal_mode={mode}")
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA wal_autocheckpoint=0")
    db.execute("PRAGMA cache_size=20")
    db.execute("CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    commits = held_up = 0
    while not ended.is_set() or not commits:
        try:
            db.execute("BEGIN IMMEDIATE")
            for row in range(ROWS):
                db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:c:{row:04}", value(commits, row, rng)))
            db.execute("COMMIT")
        except sqlite3.OperationalError:
            held_up += 1
            if db.in_transaction:
                db.execute("ROLLBACK")
            continue
        commits += 1
        if commits == 1:
            print(".", flush=True)  # noqa: T201
        if mode == "wal" and rng.random() < 0.3:
            db.execute(f"PRAGMA wal_checkpoint({rng.choice(('PASSIVE', 'RESTART', 'TRUNCATE'))})")
        if mode == "delete" and rng.random() < 0.02:
            ended.wait(0.03)
    print(commits, held_up, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
