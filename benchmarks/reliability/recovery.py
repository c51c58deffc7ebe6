"""What is had of damaged files: R8. Lines as crashes and second writers leave them, and databases with bad pages.

Every record of a log says a word of its own. A whole record beside the damage is *found* if a message says just its word; a
message that says anything else is *false*. Of a database a row is *right* if its value is, *named* if a drop says it cannot be
had, *altered* if it is another (SQLite has no sums by which one could tell), else *not there*: where no index lists the row
any more, only the damage as a whole can be told.
"""

import json
import random
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import attrs

import convparse
from benchmarks.reliability import laws
from convparse import Limits
from convparse.reading.snapshot import moments
from convparse.reading.sqlite import Database
from convparse.reading.tables import Table

FILES: Final = 300
AT: Final = "2026-09-01T08:00:00.000Z"


def _claude(n: int, word: str) -> Any:
    message = {"role": "user", "content": word}
    return {"type": "user", "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": "s", "message": message}


def _codex(n: int, word: str) -> Any:
    payload = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": word}]}
    return {"timestamp": AT, "type": "response_item", "payload": payload}


def _copilot_cli(n: int, word: str) -> Any:
    return {"type": "user.message", "data": {"content": word}, "id": f"e{n}", "timestamp": AT, "parentId": None}


def _cursor(n: int, word: str) -> Any:
    return {"role": "user", "message": {"content": [{"type": "text", "text": word}]}}


RECORDS: Final[dict[str, Callable[[int, str], Any]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "copilot-cli": _copilot_cli,
    "cursor": _cursor,
}
"""A record of each source whose files are appended to line by line, by its number and the word it says."""

Lines = list[bytes]
Damage = Callable[[random.Random, Lines], tuple[bytes, set[int]]]
"""Five whole lines to the bytes of a file, and which of them are whole in it."""


def _cut_in(rng: random.Random, line: bytes) -> int:
    return rng.randint(1, len(line) - 2)


def _splice(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    lines[2] = lines[2][: _cut_in(rng, lines[2])]
    return b"".join(lines), {0, 1, 3, 4}


def _glued(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    lines[2] = lines[2].rstrip(b"\n")
    return b"".join(lines), {0, 1, 2, 3, 4}


def _nuls_before(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    lines[2] = bytes(rng.randint(1, 600)) + lines[2]
    return b"".join(lines), {0, 1, 2, 3, 4}


def _nuls_behind(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    lines[2] = lines[2].rstrip(b"\n") + bytes(rng.randint(1, 600)) + b"\n"
    return b"".join(lines), {0, 1, 2, 3, 4}


def _nul_tail(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    return b"".join(lines) + bytes(rng.randint(1, 5_000)), {0, 1, 2, 3, 4}


def _torn(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    lines[4] = lines[4][: _cut_in(rng, lines[4])]
    return b"".join(lines), {0, 1, 2, 3}


def _no_beginning(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    lines[2] = lines[2][_cut_in(rng, lines[2]) :]
    return b"".join(lines), {0, 1, 3, 4}


def _interrupted(rng: random.Random, lines: Lines) -> tuple[bytes, set[int]]:
    at = _cut_in(rng, lines[2])
    lines[2] = lines[2][:at] + lines[3] + lines[2][at:]
    return lines[0] + lines[1] + lines[2] + lines[4], {0, 1, 3, 4}


DAMAGE: Final[dict[str, Damage]] = {
    "a record cut off by the next": _splice,
    "two records on a line": _glued,
    "NULs before a record": _nuls_before,
    "NULs behind a record": _nuls_behind,
    "NULs at the end": _nul_tail,
    "the last record cut": _torn,
    "a record without its beginning": _no_beginning,
    "a record inside another": _interrupted,
}


@attrs.define
class Found:
    """What was had of a number of damaged logs."""

    whole: int = 0
    found: int = 0
    false: int = 0


def logs(source: str, damage: str, files: int = FILES) -> Found:
    """Damage logs of a source and read them."""
    tally = Found()
    for seed in range(files):
        rng = random.Random(f"{source}{damage}{seed}")
        words = [f"word{seed}x{n}y{rng.randrange(10**6)}" for n in range(5)]
        lines = [json.dumps(RECORDS[source](n, word), separators=(",", ":")).encode() + b"\n" for n, word in enumerate(words)]
        data, whole = DAMAGE[damage](rng, lines)
        result = convparse.parse_bytes(data, source=source, name="s.jsonl")
        said = [entry.text for entry in laws.entries(result) if isinstance(entry, convparse.Message)]
        wanted = {words[n] for n in whole}
        tally.whole += len(wanted)
        tally.found += len(wanted & set(said))
        tally.false += sum(1 for text in said if text not in words)
    return tally


# ---- databases -------------------------------------------------------------------------------------------------------------

ROWS: Final = 20_000
PAGE: Final = 4_096
KV: Final = Table("cursorDiskKV", "key", "value")


@attrs.define
class Salvaged:
    """What was had of a damaged database."""

    right: int = 0
    altered: int = 0
    named: int = 0
    damaged: bool = False
    """True if the database was found to be damaged, which a parse tells as ``malformed-database``."""

    @property
    def missing(self) -> int:
        """Rows that are neither had nor named, each by itself."""
        return ROWS - self.right - self.altered - self.named


def value(n: int) -> bytes:
    """The value of a row: from 40 to 940 bytes."""
    return json.dumps({"type": 1, "text": f"{n} " + "x" * (n * 7 % 900)}).encode()


def sound() -> bytes:
    """A database of some 11 MB."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        db.execute("BEGIN")
        db.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", ((f"bubbleId:c:{n:05}", value(n)) for n in range(ROWS)))
        db.execute("COMMIT")
        return db.serialize()


def _overwritten(times: int, length: int) -> Callable[[random.Random, bytearray], None]:
    def damage(rng: random.Random, data: bytearray) -> None:
        for _ in range(times):
            at = rng.randrange(3 * PAGE, len(data) - length)
            data[at : at + length] = rng.randbytes(length)

    return damage


def _zeroed(share: float) -> Callable[[random.Random, bytearray], None]:
    def damage(rng: random.Random, data: bytearray) -> None:
        pages = len(data) // PAGE
        for page in rng.sample(range(3, pages), max(1, round(pages * share))):
            data[page * PAGE : page * PAGE + PAGE] = bytes(PAGE)

    return damage


def _truncated(share: float) -> Callable[[random.Random, bytearray], None]:
    def damage(rng: random.Random, data: bytearray) -> None:
        del data[round(len(data) * share) :]

    return damage


PAGES: Final[dict[str, Callable[[random.Random, bytearray], None]]] = {
    "1 overwrite of 64 bytes": _overwritten(1, 64),
    "10 overwrites": _overwritten(10, 64),
    "100 overwrites": _overwritten(100, 64),
    "1 page overwritten": _overwritten(1, PAGE),
    "10 pages zeroed": _zeroed(10 / 2_800),
    "3.6 % of pages zeroed": _zeroed(0.036),
    "cut to 90 %": _truncated(0.9),
    "cut to 50 %": _truncated(0.5),
    "cut to 10 %": _truncated(0.1),
}


def salvaged(data: bytes) -> Salvaged:
    """Read a database that holds what ``sound`` made, damaged."""
    tally = Salvaged()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        path.write_bytes(data)
        with closing(moments(str(path))) as found:
            database = Database(next(found).connection, Limits())
            database.audit(KV)
            for row in database.rows(KV, "bubbleId:"):
                key = row.key or ""
                n = int(key[11:]) if key[11:].isdigit() else -1
                tally.named += bool(row.problem)
                tally.right += not row.problem and row.value == value(n)
                tally.altered += not row.problem and row.value != value(n)
            tally.damaged = database.damaged
    return tally


def page_rows(seeds: int = 3) -> list[list[str]]:
    """The rows of the table: each kind of damage at a few places, the worst of them."""
    data, rows = sound(), []
    for what, damage in PAGES.items():
        tallies = []
        for seed in range(seeds):
            copy = bytearray(data)
            damage(random.Random(seed), copy)
            tallies.append(salvaged(bytes(copy)))
        worst = min(tallies, key=lambda tally: tally.right)
        noticed = sum(tally.damaged or bool(tally.named) for tally in tallies)
        numbers = [worst.right, worst.altered, worst.named, worst.missing]
        rows.append([what, *map(str, numbers), f"{worst.right / ROWS:.2%}", f"{noticed} of {seeds}"])
    return rows


PAGE_HEADS: Final = ["damage", "right", "altered", "named", "not there", "share", "noticed"]
LOG_HEADS: Final = ["damage", "source", "whole", "found", "false"]


def log_rows(files: int = FILES) -> list[list[str]]:
    """The rows of the other table."""
    return [
        [what, source, *(str(n) for n in attrs.astuple(logs(source, what, files)))] for what in DAMAGE for source in RECORDS
    ]
