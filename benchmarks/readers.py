"""Readers that a user would pick from the package index, side by side with this library, on the same files.

In every text of a small session, and in what stands beside the talk, a word of its own is put; another one has a few lines that
are damaged as crashes and crossed writes damage them. Each reader reads both, and the words are looked for in everything that
can be reached from what it returns, or in the database that it writes; of this library in the records alone, not in the drops.
On a large session, that of ``benchmarks.generate``, CPU time and the peak of memory are taken, in a fresh process for each
reader, every reader once a round in shuffled order; the median over the rounds is given. Each reads a small one before, so that
imports are not counted; of programs the start is.

None of these readers is a dependency. Those that are installed are measured, in this environment or in those whose Python is
named by ``--python``; for the others the report says how to install them. ``cc-session-core`` needs Python 3.12.

``python -m benchmarks.readers [--megabytes 20] [--rounds 5] [--python /path/to/python …]``
"""

import argparse
import contextlib
import gc
import io
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple, TypeAlias

WORD: Final = re.compile(r"zq[a-z]{2}\d{6}")
GROUPS: Final = {"sa": "said", "th": "thinking", "ca": "calls", "re": "results", "tw": "twins", "be": "beside", "da": "damaged"}
"""The first letters of a word tell where it stands."""
ROWS: Final = 120


# ---- the readers -----------------------------------------------------------------------------------------------------------
#
# What follows runs in a process of a reader's own, maybe without this library: it imports nothing but the standard library.

Read: TypeAlias = Callable[[Path], Any]


class Reader(NamedTuple):
    """A reader: the distribution, the module that tells whether it is installed, and what makes the function that reads."""

    module: str
    ready: Callable[[], Read]


def _convparse() -> Read:
    import convparse

    return lambda path: (result := convparse.parse(path)).conversations + result.loose


def _cc_session_core() -> Read:
    from cc_session_core import Session  # type: ignore[import-not-found]

    return Session.load  # type: ignore[no-any-return]


def _agent_trajviz() -> Read:
    import agent_trajviz  # type: ignore[import-not-found]

    return agent_trajviz.load  # type: ignore[no-any-return]


def _claude_code_log() -> Read:
    from claude_code_log.converter import load_transcript  # type: ignore[import-not-found]

    return lambda path: load_transcript(path, silent=True)


def _claude_code_transcripts() -> Read:
    from claude_code_transcripts import parse_session_file  # type: ignore[import-not-found]

    return parse_session_file  # type: ignore[no-any-return]


def _claude_conversation_extractor() -> Read:
    from extract_claude_logs import ClaudeConversationExtractor  # type: ignore[import-not-found]

    extractor = ClaudeConversationExtractor(Path(tempfile.mkdtemp()))
    return lambda path: extractor.extract_conversation(path, detailed=True)


def _claude_parser() -> Read:
    from claude_parser import load_session  # type: ignore[import-not-found]

    return lambda path: load_session(str(path))


def _agentsview() -> Read:
    import agentsview  # type: ignore[import-not-found]

    program = Path(agentsview.__file__).parent / "bin" / "agentsview"
    return lambda path: _synced(program, path)


def _synced(program: Path, path: Path) -> Path:
    """The database into which a program takes the one session of a home directory of its own."""
    home = Path(tempfile.mkdtemp())
    session = home / ".claude/projects/-home-dev-project" / path.name
    session.parent.mkdir(parents=True)
    shutil.copy(path, session)
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "AGENTSVIEW_NO_DAEMON": "1", "DO_NOT_TRACK": "1"}
    environ |= {"AGENTSVIEW_TELEMETRY_ENABLED": "0", "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1"}
    subprocess.run([program, "sync"], env=environ, check=True, capture_output=True)
    return home / ".agentsview/sessions.db"


READERS: Final[Mapping[str, Reader]] = {
    "convparse": Reader("convparse", _convparse),
    "cc-session-core": Reader("cc_session_core", _cc_session_core),
    "agent-trajviz": Reader("agent_trajviz", _agent_trajviz),
    "claude-code-log": Reader("claude_code_log", _claude_code_log),
    "claude-code-transcripts": Reader("claude_code_transcripts", _claude_code_transcripts),
    "claude-conversation-extractor": Reader("extract_claude_logs", _claude_conversation_extractor),
    "claude-parser": Reader("claude_parser", _claude_parser),
    "agentsview": Reader("agentsview", _agentsview),
}


def child(name: str, path: str, warm: str) -> None:
    """What a process of a reader does: read, and print time, memory and the words found. A first reading does not count."""
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder  # whatever a reader leaves is gone with it
        read = READERS[name].ready()
        if warm:
            read(Path(warm))
        gc.collect()
        before = _peak()
        start = _cpu()
        result = read(Path(path))
        spent = _cpu() - start
        peak = _peak() - before
        found = [] if warm else sorted(set(WORD.findall("\n".join(texts(result)))))
    print(json.dumps({"cpu": spent, "peak": peak, "words": found}))


def _cpu() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _peak() -> int:
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * unit


def texts(result: Any) -> Iterator[str]:
    """Every text that can be reached from a value; of the path of a database those in all of its tables."""
    if isinstance(result, Path):
        yield from _texts_in(result)
        return
    seen: set[int] = set()
    waiting = [result]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes | bytearray):
            yield value.decode("utf-8", "replace")
        elif id(value) not in seen and not isinstance(value, type):
            seen.add(id(value))
            waiting += _inside(value)


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if type(value).__module__ in ("builtins", "types", "functools", "weakref", "re"):
        return []
    slots = [name for kind in type(value).__mro__ for name in _names(getattr(kind, "__slots__", ()))]
    inside = [getattr(value, name, None) for name in slots if not name.startswith("__")]
    return [*inside, *vars(value).values()] if hasattr(value, "__dict__") else inside


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _texts_in(database: Path) -> Iterator[str]:
    connection = sqlite3.connect(database)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        with contextlib.suppress(sqlite3.Error):
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield from texts(row)
    connection.close()


# ---- the files -------------------------------------------------------------------------------------------------------------

_KEPT_AS_IT_IS: Final = frozenset(
    "type subtype role uuid parentUuid sessionId id tool_use_id sourceToolAssistantUUID leafUuid messageId promptId timestamp"
    " backupTime operation name stop_reason version userType entrypoint kind promptSource permissionMode service_tier speed"
    " inference_geo mode model cwd requestId backupFileName file_path filePath path output_mode".split()
)
"""What gives a row its place and kind; words in these would make another session of it."""


class Marked(NamedTuple):
    """A session with a word of its own in every text."""

    healthy: bytes
    damaged: bytes
    """Its last row again, and damaged lines."""
    words: dict[str, list[str]]
    """By group."""


def marked_session() -> Marked:
    """Every text of a session with its own word, and a few damaged lines."""
    import orjson

    from benchmarks.generate import write_lines

    file = io.BytesIO()
    write_lines(file, 300_000, 2500, seed=7)
    rows = [orjson.loads(line) for line in file.getvalue().splitlines()][:ROWS]
    words: dict[str, list[str]] = {}

    def word(group: str) -> str:
        number = sum(map(len, words.values()))
        words.setdefault(group, []).append(f"zq{group}{number:06}")
        return words[group][-1]

    lines = [orjson.dumps(_marked(row, _group_in(row), word)) for row in rows]
    last = next(row for row in reversed(rows) if row["type"] == "assistant")
    damaged = [orjson.dumps(last), *_damaged(last, word)]
    return Marked(b"\n".join(lines) + b"\n", b"\n".join(damaged) + b"\n", words)


def _group_in(row: dict[str, Any]) -> Callable[[tuple[Any, ...]], str]:
    """The group of a text of a row, by where it stands."""
    content = row.get("message", {}).get("content")
    kind = content[0].get("type") if isinstance(content, list) else "text"
    inside = {"text": "sa", "thinking": "th", "tool_use": "ca", "tool_result": "re"}.get(str(kind), "be")

    def group(path: tuple[Any, ...]) -> str:
        if path[:2] == ("message", "content"):
            return inside
        return "tw" if path[:1] == ("toolUseResult",) else "be"

    return group


def _marked(value: Any, group: Callable[[tuple[Any, ...]], str], word: Callable[[str], str], path: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        return {key: _marked(item, group, word, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item, group, word, (*path, at)) for at, item in enumerate(value)]
    if isinstance(value, str) and not _KEPT_AS_IT_IS.intersection(path[-1:]):
        return f"{value} {word(group(path))}"
    return value


def _damaged(last: dict[str, Any], word: Callable[[str], str]) -> list[bytes]:
    """Lines as crashes and crossed writes leave them; in each a text that is there to be had."""
    import orjson

    parent = last["uuid"]
    made = 0

    def row(text: str) -> bytes:
        nonlocal made
        made += 1
        stamp = {"uuid": f"d{made:07}-0000-4000-8000-000000000000", "timestamp": "2026-07-12T00:00:00.000Z"}
        message = {"role": "user", "content": text}
        tail = {key: last[key] for key in ("userType", "cwd", "sessionId", "version")}
        return orjson.dumps({"parentUuid": parent, "isSidechain": False, "type": "user", "message": message, **stamp, **tail})

    torn = row("torn")
    return [
        row(word("da")) + row(word("da")),  # two records on one line
        torn[: len(torn) // 2] + row(word("da")),  # a record that broke off, and the next one behind it
        b"\0" * 64 + row(word("da")),  # a block that was never written
        row(word("da") + "@").replace(b"@", b"\xff"),  # a byte that is no UTF-8
        row(word("da") + "@").replace(b"@", b"\\ud83d"),  # half of a pair of surrogates
        row(word("da")).replace(b'"role":', b'"content":"%b","role":' % word("da").encode()),  # a key twice
        row(word("da")).replace(b'"isSidechain":false', b'"isSidechain":false,"budget":NaN'),  # no JSON, and plain to see
        torn[: len(torn) // 2],
    ]


# ---- the report ------------------------------------------------------------------------------------------------------------


def installed(pythons: list[str]) -> dict[str, tuple[str, str]]:
    """Of every reader that is installed the Python that has it, and its version."""
    found: dict[str, tuple[str, str]] = {}
    code = (
        "import sys, json\nfrom importlib import metadata, util\n"
        "print(json.dumps({n: metadata.version(n) for n, m in json.loads(sys.argv[1]).items() if util.find_spec(m)}))"
    )
    wanted = json.dumps({name: reader.module for name, reader in READERS.items()})
    for python in pythons:
        done = subprocess.run([python, "-c", code, wanted], env=_environ(python), stdout=subprocess.PIPE, check=True)
        for name, version in json.loads(done.stdout).items():
            found.setdefault(name, (python, version))
    return found


def _environ(python: str) -> dict[str, str]:
    """Other environments must not find the packages of this one."""
    paths = os.pathsep.join(entry or os.curdir for entry in sys.path)
    rest = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return {**rest, "PYTHONPATH": paths} if python == sys.executable else rest


def measured(python: str, name: str, path: Path, warm: Path | None = None) -> dict[str, Any] | None:
    """What a fresh process of a reader prints; None if it fails."""
    command = [python, __file__, "--child", name, str(path), str(warm or "")]
    done = subprocess.run(command, env=_environ(python), capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name} failed on {path.name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def report(pythons: list[str], megabytes: float, rounds: int) -> None:
    """Both tables as one."""
    from benchmarks.generate import write_session
    from benchmarks.ratio import table

    found = installed(pythons)
    marked = marked_session()
    rng, names = random.Random(0), list(found)
    with tempfile.TemporaryDirectory() as folder:
        healthy, damaged, large = (Path(folder, f"{name}.jsonl") for name in ("healthy", "damaged", "large"))
        healthy.write_bytes(marked.healthy)
        damaged.write_bytes(marked.damaged)
        write_session(large, int(megabytes * 1_000_000), 2500)
        size = large.stat().st_size
        words = {name: _words(found[name][0], name, healthy, damaged) for name in names}
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for _ in range(rounds):
            rng.shuffle(names)
            for name in names:
                run = measured(found[name][0], name, large, healthy)
                runs[name] += [run] if run is not None else []
    rows = [[name, found[name][1], *_shares(words[name], marked), *_costs(runs[name], size)] for name in found]
    counts = [str(len(marked.words[group])) for group in GROUPS]
    print(f"a session of {len(marked.healthy)} bytes for the words; {size / 1e6:.0f} MB for speed and memory, {rounds} rounds")
    print(table(["reader", "version", *GROUPS.values(), "MB/s", "memory"], [["words", "", *counts, "", ""], *rows]))
    for name in READERS.keys() - found.keys():
        print(f"not installed: pip install {name}")


def _words(python: str, name: str, *paths: Path) -> list[set[str] | None]:
    """The words that a reader has of each file; None for a file that it fails at."""
    return [set(run["words"]) if (run := measured(python, name, path)) is not None else None for path in paths]


def _shares(words: list[set[str] | None], marked: Marked) -> Iterator[str]:
    healthy, damaged = words
    for group in GROUPS:
        found = damaged if group == "da" else healthy
        yield "fails" if found is None else f"{len(found.intersection(marked.words[group])) / len(marked.words[group]):.0%}"


def _costs(runs: list[dict[str, Any]], size: int) -> list[str]:
    """Megabytes a second, and the peak of memory over the size of the file."""
    if not runs:
        return ["fails", ""]
    return [f"{size / median(run['cpu'] for run in runs) / 1e6:.0f}", f"{median(run['peak'] for run in runs) / size:.1f}"]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readers", description="Compare readers of sessions.")
    parser.add_argument("--megabytes", type=float, default=20, help="the size of the large file (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--python", nargs="+", default=[], help="the Python of other environments that have readers")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        child(*given.child)
    else:
        report([sys.executable, *given.python], given.megabytes, given.rounds)


if __name__ == "__main__":
    main()
