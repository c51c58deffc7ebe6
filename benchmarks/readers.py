"""Readers that a user would pick from the package index, side by side with this library, on the same files.

In every text of a small session, and in what stands beside the talk, a word of its own is put (``benchmarks.words``); another
one has a few damaged lines. Each reader reads both, and the words are looked for in everything that
can be reached from what it returns, or in the database that it writes; of this library in the records alone, not in the drops.
On a large session, that of ``benchmarks.generate``, CPU time and the peak of memory are taken, in a fresh process for each
reader, every reader once a round in shuffled order; the median over the rounds is given. Each reads a small one before, so that
imports are not counted; of programs the start is.

None of these readers is a dependency. Those that are installed are measured, in this environment or in those whose Python is
named by ``--python``; for the others the report says how to install them. ``cc-session-core`` needs Python 3.12.

``python -m benchmarks.readers [--source codex] [--megabytes 20] [--rounds 5] [--python /path/to/python …]``
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple, TypeAlias

WORD: Final = re.compile(r"zq[a-z]{2}\d{6}")


# ---- the readers -----------------------------------------------------------------------------------------------------------
#
# What follows runs in a process of a reader's own, maybe without this library: it imports nothing but the standard library.

Read: TypeAlias = Callable[[Path], Any]


class Reader(NamedTuple):
    """A reader: the distribution, the module that tells whether it is installed, and what makes the function that reads."""

    module: str
    ready: Callable[[], Read]
    sources: tuple[str, ...] = ("claude-code",)


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
    is_codex = path.name.startswith("rollout-")
    session = home / (".codex/sessions/2026/03/01" if is_codex else ".claude/projects/-home-dev-project") / path.name
    session.parent.mkdir(parents=True)
    shutil.copy(path, session)
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "AGENTSVIEW_NO_DAEMON": "1", "DO_NOT_TRACK": "1"}
    environ |= {"AGENTSVIEW_TELEMETRY_ENABLED": "0", "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1"}
    subprocess.run([program, "sync"], env=environ, check=True, capture_output=True)
    return home / ".agentsview/sessions.db"


BOTH: Final = ("claude-code", "codex")
READERS: Final[Mapping[str, Reader]] = {
    "convparse": Reader("convparse", _convparse, BOTH),
    "cc-session-core": Reader("cc_session_core", _cc_session_core, BOTH),
    "agent-trajviz": Reader("agent_trajviz", _agent_trajviz, BOTH),
    "claude-code-log": Reader("claude_code_log", _claude_code_log),
    "claude-code-transcripts": Reader("claude_code_transcripts", _claude_code_transcripts),
    "claude-conversation-extractor": Reader("extract_claude_logs", _claude_conversation_extractor),
    "claude-parser": Reader("claude_parser", _claude_parser),
    "agentsview": Reader("agentsview", _agentsview, BOTH),
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
    own, others = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    with contextlib.suppress(OSError):  # what Linux gives as its own begins with what the process had that started it
        fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
        own = int(fields["VmHWM"].split()[0])
    return (own + others) * unit


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
        print(f"{name} failed on {path.parent.name}/{path.name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def report(source: str, pythons: list[str], megabytes: float, rounds: int) -> None:
    """What is kept, and what it costs, as one table."""
    from benchmarks.ratio import table
    from benchmarks.words import GROUPS, MARKED

    found = {name: where for name, where in installed(pythons).items() if source in READERS[name].sources}
    marked = MARKED[source]()
    rng, names = random.Random(0), list(found)
    with tempfile.TemporaryDirectory() as folder:
        healthy, damaged, large = (_session(Path(folder, name), source) for name in ("healthy", "damaged", "large"))
        healthy.write_bytes(marked.healthy)
        damaged.write_bytes(marked.damaged)
        _write_large(large, source, int(megabytes * 1_000_000))
        size = large.stat().st_size
        words = {name: _words(found[name][0], name, healthy, damaged) for name in names}
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for _ in range(rounds):
            rng.shuffle(names)
            for name in names:
                run = measured(found[name][0], name, large, healthy)
                runs[name] += [run] if run is not None else []
    groups = {group: title for group, title in GROUPS.items() if marked.words[group]}
    rows = [[name, found[name][1], *_shares(words[name], marked.words, groups), *_costs(runs[name], size)] for name in found]
    counts = [str(len(marked.words[group])) for group in groups]
    print(f"{source}: {len(marked.healthy)} bytes for the words; {size / 1e6:.0f} MB for speed and memory, {rounds} rounds")
    print(table(["reader", "version", *groups.values(), "MB/s", "memory"], [["words", "", *counts, "", ""], *rows]))
    for name, reader in READERS.items():
        if name not in found and source in reader.sources:
            print(f"not installed: pip install {name}")


def _session(folder: Path, source: str) -> Path:
    """A file of the name that its product gives it, for some readers go by that."""
    folder.mkdir()
    id = "01234567-89ab-4cde-8f01-23456789abcd"
    return folder / (f"rollout-2026-03-01T00-00-00-{id}.jsonl" if source == "codex" else f"{id}.jsonl")


def _write_large(path: Path, source: str, size: int) -> None:
    from benchmarks.generate import write_session
    from benchmarks.tree import codex_lines

    if source == "codex":
        path.write_bytes(codex_lines(size, 1))
    else:
        write_session(path, size, 2500)


def _words(python: str, name: str, *paths: Path) -> list[set[str] | None]:
    """The words that a reader has of each file; None for a file that it fails at."""
    return [set(run["words"]) if (run := measured(python, name, path)) is not None else None for path in paths]


def _shares(found: list[set[str] | None], words: Mapping[str, list[str]], groups: Iterable[str]) -> Iterator[str]:
    healthy, damaged = found
    for group in groups:
        kept = damaged if group == "da" else healthy
        yield "fails" if kept is None else f"{len(kept.intersection(words[group])) / len(words[group]):.0%}"


def _costs(runs: list[dict[str, Any]], size: int) -> list[str]:
    """Megabytes a second, and the peak of memory over the size of the file."""
    if not runs:
        return ["fails", ""]
    return [f"{size / median(run['cpu'] for run in runs) / 1e6:.0f}", f"{median(run['peak'] for run in runs) / size:.1f}"]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readers", description="Compare readers of sessions.")
    parser.add_argument("--source", choices=BOTH, default="claude-code", help="(default: %(default)s)")
    parser.add_argument("--megabytes", type=float, default=20, help="the size of the large file (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--python", nargs="+", default=[], help="the Python of other environments that have readers")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        child(*given.child)
    else:
        report(given.source, [sys.executable, *given.python], given.megabytes, given.rounds)


if __name__ == "__main__":
    main()
