"""What it costs to look again: a home directory is scanned, one session is appended to, and it is scanned a second time.

The first scan is ``discover`` and ``parse_many``, which keeps the stamp of every session and a small value of every
conversation. The second one is ``discover``, which gives stamps, and a parse of what has none of those kept: that of the one
session which a turn was appended to. The third one is the same with ``after=``, the result of the second one; the first parse
that has an ``after`` makes itself ready for the next, so that stands before it and is not counted.

All files are read once before, so that both scans find them in the memory of the system. The tree is made by
``benchmarks.tree``. Time on the wall and CPU time, that of workers included, are given; a ratio is that of the CPU times unless
it says otherwise, for a shared machine moves the other ones.

``python -m benchmarks.rescan [--megabytes 2000] [--workers 1] [--rounds 5] [--tree FOLDER]``
"""

import argparse
import gc
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.tree import ID, claude_code_lines, write_tree
from convparse import ParseResult, discover, parse, parse_many

APPENDED: Final = 20_000
"""Bytes that are appended at most."""


def summary(result: ParseResult) -> tuple[int, int]:
    """What a scan keeps of a session: messages, and tokens that were put out."""
    conversations = result.conversations
    return sum(len(c.messages) for c in conversations), sum(c.usage.output_tokens or 0 for c in conversations)


def scan(home: str, workers: int) -> dict[str, list[tuple[int, int]]]:
    """The first scan: what is kept of every session, by its stamp."""
    known: dict[str, list[tuple[int, int]]] = {}
    for done in parse_many(discover([home]), then=summary, workers=workers):
        if done.error is not None:
            raise done.error
        known.setdefault(done.found.stamp, []).append(done.value)
    return known


def scan_again(home: str, known: dict[str, Any], after: ParseResult | None = None) -> ParseResult:
    """Another scan: the result of the one session that has changed."""
    (changed,) = (found for found in discover([home]) if found.stamp not in known)
    result = parse(changed.path, changed.source, after=after)
    known[result.stamp] = [summary(result)]
    return result


def timed(do: Callable[[], Any]) -> tuple[float, float, Any]:
    """``(wall, cpu, what came of it)``, the CPU time that of ended workers as well."""
    gc.collect()
    start, before = time.perf_counter(), _cpu()
    found = do()
    return time.perf_counter() - start, _cpu() - before, found


def _cpu() -> float:
    """CPU seconds of this process and of those that it started and that are over."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def session_to_append_to(home: str) -> Path:
    """The session of middle size among those of Claude Code."""
    sizes = {found.path: os.stat(found.path).st_size for found in discover([home]) if found.source == "claude-code"}  # noqa: PTH116
    return Path(sorted(sizes, key=lambda path: (sizes[path], path))[len(sizes) // 2])


def appended(id: str) -> bytes:
    """The rows that are appended to a session."""
    lines = claude_code_lines(APPENDED, 99)
    return lines[: lines.rfind(b"\n", 0, APPENDED) + 1].replace(ID.encode(), id.encode())


def read_all(home: str) -> tuple[int, int]:
    """Read every file once; how many there are, and their bytes."""
    files = [path for path in Path(home).rglob("*") if path.is_file()]
    return len(files), sum(len(path.read_bytes()) for path in files)


def run(home: str, workers: int, rounds: int) -> None:
    """All scans of a tree, printed."""
    files, size = read_all(home)
    path = session_to_append_to(home)
    more = appended(path.stem)
    wall, cpu, known = timed(lambda: scan(home, workers))
    kept = sum(map(len, known.values()))
    print(f"{size / 1e6:.0f} MB, {files} files, {len(known)} sessions and databases, {kept} results, {workers} workers")
    print(f"appended: {len(more)} bytes to a session of {path.stat().st_size}\n")
    print(f"{'':34}{'wall, s':>10}{'CPU, s':>10}{'first / it':>12}{'by the wall':>13}")
    told("first scan", [(wall, cpu)], (wall, cpu))

    def append_and_scan(after: ParseResult | None = None) -> tuple[float, float, ParseResult]:
        with path.open("ab") as file:
            file.write(more)
        return timed(lambda: scan_again(home, known, after))

    again = [append_and_scan() for _ in range(rounds)]
    told("after one append", [found[:2] for found in again], (wall, cpu))
    result = append_and_scan(again[-1][2])[2]
    following = []
    for _ in range(rounds):
        following.append(append_and_scan(result))
        result = following[-1][2]
    told("after one append, with after=", [found[:2] for found in following], (wall, cpu))
    looks = [timed(lambda: len(list(discover([home]))))[:2] for _ in range(rounds)]
    told("discover alone", looks, (wall, cpu))


def told(name: str, times: list[tuple[float, float]], first: tuple[float, float]) -> None:
    """One row: the medians."""
    wall, cpu = (median(column) for column in zip(*times, strict=True))
    print(f"{name:34}{wall:10.3f}{cpu:10.3f}{first[1] / cpu:12.1f}{first[0] / wall:13.1f}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rescan", description="Measure a first and a second scan.")
    parser.add_argument("--megabytes", type=float, default=2000, help="the size of the tree (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="of the first scan (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of the others (default: %(default)s)")
    parser.add_argument("--tree", help="a tree that is there; one session of it is appended to")
    given = parser.parse_args()
    if given.tree is not None:
        run(given.tree, given.workers, given.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, int(given.megabytes * 1_000_000))
        run(folder, given.workers, given.rounds)


if __name__ == "__main__":
    main()
