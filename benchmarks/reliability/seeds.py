"""What the inputs of a source are made of: its fixtures, small databases of rows of them, and some forms without a fixture.

``drawn(source)`` gives a function of a random generator that returns one input: bytes, or a folder in which some files were
changed. Databases are changed as files (pages, headers, cells) and as rows (values that are other JSON); the latter go through
SQLite, so that what is wrong is inside.
"""

import json
import random
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.reliability.mutations import flip_bits, mutated, set_bytes

FIXTURES: Final = Path(__file__).parents[2] / "tests" / "fixtures"
FOLDERS: Final = {
    "claude-code": "claude_code",
    "codex": "codex",
    "copilot": "copilot",
    "copilot-cli": "copilot_cli",
    "cursor": "cursor",
    "gemini-cli": "gemini_cli",
    "trae": "trae",
}
MAGIC: Final = b"SQLite format 3\0"
MOST_ROWS: Final = 12
ROWS_SHARE: Final = 0.6
FILES_SHARE: Final = 0.35
"""Of the inputs of a source that has databases: how many are changed rows; and how many are no databases."""
FOLDERS_SHARE: Final = 0.08
"""How many inputs are folders."""
MAIN: Final[dict[str, tuple[str, ...]]] = {
    "cursor": ("chat/store.db", "workspace/state.vscdb"),
    "trae": ("inline/state.vscdb", "cli/0f4a6c2e-93b1-4d57-8a10-5b7d9e3f2c61/session.json", "memory/topics.md"),
}
"""Of sources whose fixtures have no expectations: the files that belong to a folder."""
MORE: Final[dict[str, dict[str, bytes]]] = {
    "cursor": {
        "id.jsonl": b'{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\\nhello\\n</user_query>"}]}}\n'
        b'{"role":"assistant","message":{"content":[{"type":"text","text":"hi"},'
        b'{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}\n{"type":"turn_ended","status":"success"}\n',
        "id.txt": b"user:\n<user_query>\nhello\n</user_query>\n\nassistant:\nLet me see.\n\n[Thinking] first\nthen\n"
        b"[Tool call] Shell\n  command: ls\n[Tool result] Shell\n\nassistant: done\n\nTurn ended: success\n",
        "stream.jsonl": b'{"type":"system","subtype":"init",'
        b'"session_id":"s","model":"m","cwd":"/w","permissionMode":"default"}\n'
        b'{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]},"session_id":"s"}\n'
        b'{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"yo"}]},"session_id":"s"}\n'
        b'{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":'
        b'{"args":{"path":"a"}}},"session_id":"s"}\n'
        b'{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"result":"yo","session_id":"s"}\n',
    },
}


class Input(NamedTuple):
    """What is given to a parse."""

    name: str
    data: bytes
    database: bool
    beside: Mapping[str, bytes] = {}
    """For a folder: every file by its path; ``name`` is the one that is parsed."""


class Table(NamedTuple):
    """A table of a fixture."""

    name: str
    sql: str
    columns: int
    rows: list[tuple[Any, ...]]


def files(source: str) -> list[tuple[str, bytes]]:
    """Name and content of every fixture file of a source, and of its further forms."""
    folder = FIXTURES / FOLDERS[source]
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".expected.json"))
    return [(path.name, path.read_bytes()) for path in paths] + list(MORE.get(source, {}).items()) + _compressed(source, paths)


def folders(source: str) -> list[tuple[str, dict[str, bytes]]]:
    """Every folder among the fixtures of a source: the path of the file that is parsed, and all files by their paths."""
    root = FIXTURES / FOLDERS[source]
    mains = [root / path for path in MAIN.get(source, ())]
    for path in sorted(root.glob("*.expected.json")):
        folder = root / path.name.removesuffix(".expected.json")
        inside = json.loads(path.read_bytes()).get("file")
        if folder.is_dir():
            mains += [folder / inside] if inside is not None else sorted(folder.glob("*.jsonl"))
    found = []
    for main in mains:
        top = root / main.relative_to(root).parts[0]
        every = {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}
        found.append((str(main.relative_to(top)), every))
    return found


def _compressed(source: str, paths: Sequence[Path]) -> list[tuple[str, bytes]]:
    """The same in zstd frames, where that is read at all."""
    if source not in ("codex", "trae"):
        return []
    try:
        from backports import zstd
    except ImportError:
        return []
    rollouts = [path for path in paths if path.name.startswith("rollout")][:2] or list(paths)[:2]
    return [(f"{path.name}.zst", zstd.compress(path.read_bytes())) for path in rollouts]


@cache
def tables(data: bytes) -> list[Table]:
    """The tables of a database of the fixtures."""
    found = []
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(data[:18] + b"\1\1" + data[20:])  # a header that says WAL cannot be read from memory
        db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = db.execute(f'SELECT * FROM "{name}"').fetchall()
            if rows:
                found.append(Table(name, sql, len(rows[0]), rows))
    return found


def built(chosen: Sequence[tuple[Table, Sequence[tuple[Any, ...]]]]) -> bytes:
    """A small database of these rows."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute("PRAGMA page_size=512")
        db.execute("BEGIN")
        for table, rows in chosen:
            db.execute(table.sql)
            for row in rows:
                with suppress(sqlite3.Error, UnicodeEncodeError, OverflowError):
                    db.execute(f'INSERT INTO "{table.name}" VALUES ({",".join("?" * table.columns)})', row)
        db.execute("COMMIT")
        return db.serialize()


def _some(rng: random.Random, found: Sequence[Table]) -> list[tuple[Table, list[tuple[Any, ...]]]]:
    """A run of neighbouring rows of every table: those of one conversation stand together."""
    chosen = []
    for table in found:
        most = min(len(table.rows), MOST_ROWS)
        start = rng.randrange(len(table.rows) - most + 1)
        chosen.append((table, table.rows[start : start + most]))
    return chosen


def _changed_rows(rng: random.Random, chosen: list[tuple[Table, list[tuple[Any, ...]]]]) -> None:
    every = [_bytes(row[-1]) for _, rows in chosen for row in rows if isinstance(row[-1], str | bytes)] or [b"{}"]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(chosen))
        table, rows = chosen[at]
        rows = list(rows)
        row = list(rng.choice(rows))
        column = len(row) - 1 if rng.random() < 0.9 else rng.randrange(len(row))
        old = row[column]
        new = mutated(rng, _bytes(old) if isinstance(old, str | bytes) else b"{}", every)
        row[column] = rng.choice((new, new.decode("utf-8", "replace"), new.decode("utf-8", "replace"), None, 7, 1.5, b""))
        if rng.random() < 0.1:
            row[0] = _key(rng, row[0])
        rows[rng.randrange(len(rows))] = tuple(row)
        chosen[at] = (table, rows)


def _key(rng: random.Random, key: Any) -> Any:
    text = str(key)
    head, _, tail = text.partition(":")
    return rng.choice((None, text + "x", tail, head + ":", head + ":x:" + tail, _bytes(text), 7, ""))


def _bytes(value: str | bytes) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _changed_pages(rng: random.Random, data: bytes) -> bytes:
    """A database whose bytes were changed behind its magic: cells, pages, pointers, the header, its length."""
    body = data[16:]
    for _ in range(rng.choice((1, 1, 2, 8))):
        what = rng.random()
        if what < 0.4:
            body = flip_bits(rng, body, ())
        elif what < 0.7:
            body = set_bytes(rng, body, ())
        elif what < 0.8 and len(body) > 1024:
            page, other = (rng.randrange(1, len(data) // 512) * 512 - 16 for _ in "ab")
            body = body[:page] + rng.choice((bytes(512), body[other : other + 512])) + body[page + 512 :]
        elif what < 0.9:
            at = rng.randrange(84)
            body = body[:at] + rng.choice((b"\0", b"\1", b"\xff", rng.randbytes(1))) + body[at + 1 :]
        else:
            body = body[: rng.randrange(len(body))] if body else body
    return MAGIC + body


def _changed_file(rng: random.Random, data: bytes, pieces: Sequence[bytes]) -> bytes:
    return _changed_pages(rng, data) if data.startswith(MAGIC) else mutated(rng, data, pieces)


def drawn(source: str) -> Callable[[random.Random], Input]:
    """What draws an input of a source."""
    every = files(source)
    plain = [(name, data) for name, data in every if not data.startswith(MAGIC)]
    pieces = [data for _, data in plain]
    databases = [(name, found) for name, data in every if data.startswith(MAGIC) and (found := tables(data))]

    together = folders(source)

    def draw(rng: random.Random) -> Input:
        if together and rng.random() < FOLDERS_SHARE:
            main, inside = rng.choice(together)
            changed = dict(inside)
            for path in rng.choices(list(inside), k=rng.choice((1, 1, 2))):
                changed[path] = _changed_file(rng, inside[path], pieces)
            return Input(main, changed[main], changed[main].startswith(MAGIC), changed)
        if not databases or rng.random() < FILES_SHARE:
            name, data = rng.choice(plain)
            data = mutated(rng, data, pieces)
            return Input(name, data, data.startswith(MAGIC))
        name, found = rng.choice(databases)
        chosen = _some(rng, found)
        if rng.random() < ROWS_SHARE:
            _changed_rows(rng, chosen)
            return Input(name, built(chosen), True)
        return Input(name, _changed_pages(rng, built(chosen)), True)

    return draw
