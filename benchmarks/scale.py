"""A home directory to Parquet over an engine: with one worker and with two, on more data than all of their memory together.

The work is ``docs/scaling/to_parquet.py``, on Dask's processes. Items are put into parts of about ``--part`` megabytes, the
largest first, so that no worker has a long one left at the end. Every run is a fresh process that starts its own workers; the
driver and each worker get no more than ``--memory`` megabytes (``RLIMIT_DATA``: an allocation beyond it fails). Runs with one
worker and with more take turns; the best of each counts, for other work on the machine can only make them slower. Where the
machine has no free processor for each worker, the time on the wall says little; then look at the CPU time of the busiest
worker, which is what a run would take if it had. Every run must write the same files, byte for byte.

``python -m benchmarks.scale [--megabytes 2000] [--memory 300] [--workers 1 2] [--rounds 3] [--tree FOLDER]``
"""

import argparse
import hashlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.ratio import table
from benchmarks.tree import write_tree
from convparse import Found, discover

TABLES: Final = ("conversations", "messages", "tool_calls")
PLAIN: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Arrow's own allocator asks for a gigabyte at once, whether it is used or not."""


def parts_of(home: str, part_bytes: int) -> list[list[Found]]:
    """All sessions and databases of a home directory, in parts of about so many bytes, the largest first."""
    founds = [(Path(found.path).stat().st_size, found) for found in discover([home])]
    founds.sort(key=lambda pair: (-pair[0], pair[1].path))
    parts: list[list[Found]] = []
    room = 0
    for size, found in founds:
        if room < size or not parts:
            parts.append([])
            room = part_bytes
        parts[-1].append(found)
        room -= size
    return parts


def limit(megabytes: int) -> None:
    """Let this process have no more memory of its own than so much."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))


def work(part: list[Found], folder: str) -> tuple[int, float, list[Any]]:
    """What a worker does with a part: which worker it is, the CPU time that it took, what it tells of the items."""
    from docs.scaling.to_parquet import write_part

    start = time.process_time()
    told = write_part(part, folder, TABLES)
    return os.getpid(), time.process_time() - start, told


def drive(home: str, folder: str, workers: int, memory: int, part_bytes: int) -> dict[str, Any]:
    """What a fresh process does: all parts over an engine's workers, and what it took."""
    import resource
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    import dask.bag

    limit(memory)
    parts = parts_of(home, part_bytes)
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=limit, initargs=(memory,)) as pool:
        list(pool.map(work, [[]] * workers * 4, [folder] * workers * 4))  # imports are no part of the work
        start = time.perf_counter()
        bag = dask.bag.from_sequence(parts, npartitions=len(parts))
        done = bag.map(work, folder).compute(scheduler="processes", pool=pool, chunksize=1)
        wall = time.perf_counter() - start
    told = [item for _, _, report in done for item in report]
    spent = Counter[int]()
    for worker, seconds, _ in done:
        spent[worker] += seconds
    assert not [item for item in told if item.error is not None]
    return {
        "wall": wall,
        "cpu": sum(spent.values()),
        "longest": max(spent.values()),
        "items": len(told),
        "results": sum(item.results for item in told),
        "bytes": sum(item.bytes for item in told),
        "returned": len(pickle.dumps(told)),
        "driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        "worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10,
    }


def run(home: str, workers: int, memory: int, part_bytes: int) -> tuple[dict[str, Any], str]:
    """One run in a fresh process; what it took, and a hash of all that it wrote."""
    code = "import sys, json; from benchmarks.scale import drive; print(json.dumps(drive(*json.loads(sys.argv[1]))))"
    with tempfile.TemporaryDirectory() as folder:
        arguments = json.dumps([home, folder, workers, memory, part_bytes])
        paths = os.pathsep.join(entry or os.curdir for entry in sys.path)
        command = [sys.executable, "-c", code, arguments]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths, **PLAIN}, stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout), digest(Path(folder))


def digest(folder: Path) -> str:
    """A hash of the names and bytes of all files."""
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def rows(runs: dict[int, list[dict[str, Any]]]) -> Iterator[list[str]]:
    """One row a number of workers: the best run of each."""
    one = next(iter(runs.values()))
    for workers, found in runs.items():
        best = {what: min(run[what] for run in found) for what in ("wall", "cpu", "longest")}
        times = [min(run[what] for run in one) / best[what] for what in ("wall", "longest")]
        peaks = [max(run[who] for run in found) / 1e6 for who in ("worker", "driver")]
        yield [
            str(workers),
            *(f"{best[what]:.1f}" for what in ("wall", "cpu", "longest")),
            *(f"{ratio:.2f}" for ratio in times),
            *(f"{peak:.0f}" for peak in peaks),
        ]


def report(home: str, workers: list[int], memory: int, part_bytes: int, rounds: int) -> None:
    """All runs, printed."""
    runs: dict[int, list[dict[str, Any]]] = {count: [] for count in workers}
    written = set()
    for _ in range(rounds):
        for count, found in runs.items():
            what, hashed = run(home, count, memory, part_bytes)
            found.append(what)
            written.add(hashed)
    assert len(written) == 1, "the runs did not write the same files"
    any_run = runs[workers[0]][0]
    print(f"{any_run['bytes'] / 1e6:.0f} MB, {any_run['items']} items, {any_run['results']} results; {memory} MB a process")
    print(f"{any_run['returned']} bytes came back to the driver; all runs wrote the same files ({written.pop()})\n")
    heads = ["workers", "wall, s", "CPU, s", "of the busiest", "times one", "by the busiest", "worker's peak, MB", "driver's"]
    print(table(heads, list(rows(runs))))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="Measure Parquet made over an engine.")
    parser.add_argument("--megabytes", type=float, default=2000, help="the size of the tree (default: %(default)s)")
    parser.add_argument("--memory", type=int, default=300, help="megabytes of every process (default: %(default)s)")
    parser.add_argument("--part", type=float, default=8, help="megabytes of a part (default: %(default)s)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="(default: 1 2)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--tree", help="a tree that is there")
    given = parser.parse_args()
    arguments = given.workers, given.memory, int(given.part * 1_000_000), given.rounds
    if given.tree is not None:
        report(given.tree, *arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, int(given.megabytes * 1_000_000))
        report(folder, *arguments)


if __name__ == "__main__":
    main()
