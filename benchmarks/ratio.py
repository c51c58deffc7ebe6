"""What a parse costs next to the decoding of its lines, which is the least that any reader of them can take.

For every mean line length a file is generated, and three things are done with it: ``floor`` reads it with a buffer of 256 KiB
and decodes each line with ``orjson.loads``; ``keep`` does the same and keeps the values; ``parse`` is ``convparse.parse``.
CPU time is taken, and a ratio always within a round: a round does all three once, in shuffled order, with a collection between
them; results live until their time is taken. The collector is left as it is. Then ``keep`` and ``parse`` are done once more
in a fresh process each, for their peak of memory and for what stays, over what the process had before and by file size.

A parse that does not account for every byte of its file fails here; that look is outside the time.

``python -m benchmarks.ratio [--megabytes 30] [--rounds 9] [--lines 1000 2500 10000 50000] [--source claude-code]``
"""

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeAlias

import orjson

from benchmarks import generate, generate_codex

Case: TypeAlias = Callable[[Path], Any]
"""Does something with a file; what it returns is kept until its time is taken."""
Times: TypeAlias = dict[str, list[float]]
"""CPU seconds of every round, by the name of the case."""
Writer: TypeAlias = Callable[[Path, int, float], int]
"""``(path, size_bytes, mean_line)`` to the number of lines."""

BUFFER: Final = 1 << 18
GENERATORS: Final[Mapping[str, Writer]] = {"claude-code": generate.write_session, "codex": generate_codex.write_rollout}
"""A generator for every source that can be measured. Its files hold one JSON value a line."""
REMEMBERED: Final = ("keep", "parse")
"""The cases whose memory is measured."""


def floor(path: Path) -> None:
    """Decode every line and keep nothing."""
    loads = orjson.loads
    with path.open("rb", buffering=BUFFER) as file:
        for line in file:
            loads(line)


def keep(path: Path) -> list[Any]:
    """Decode every line and keep the values."""
    loads = orjson.loads
    with path.open("rb", buffering=BUFFER) as file:
        return [loads(line) for line in file]


def cases() -> dict[str, Case]:
    """The three cases by name. Only now is the library imported."""
    import convparse

    return {"floor": floor, "keep": keep, "parse": convparse.parse}


def check(name: str, path: Path, kept: Any) -> None:
    """Raise ``AssertionError`` unless a parse accounts for every byte of the file."""
    if name != "parse":
        return
    for account in kept.accounts:
        assert account.balanced, f"{account} does not balance"
    size = kept.account.size
    assert size == path.stat().st_size, f"{path.name}: {size} bytes are accounted for, not {path.stat().st_size}"


def measure(
    path: Path,
    things: Mapping[str, Case],
    rounds: int = 9,
    seed: int = 0,
    check: Callable[[str, Path, Any], None] = check,
) -> Times:
    """The CPU time of every case in every round; one more round before the first does not count."""
    rng, names = random.Random(seed), list(things)
    times: Times = {name: [] for name in names}
    for number in range(rounds + 1):
        rng.shuffle(names)
        for name in names:
            gc.collect()
            start = time.process_time()
            kept = things[name](path)
            spent = time.process_time() - start
            check(name, path, kept)
            del kept
            if number:
                times[name].append(spent)
    return times


def ratios(times: Times, name: str, base: str = "floor") -> list[float]:
    """One case over another, round by round."""
    return [one / other for one, other in zip(times[name], times[base], strict=True)]


def memory(path: Path, name: str) -> tuple[float, float]:
    """``(peak, kept)`` of one case in a fresh process, in bytes over what the process had before."""
    code = "import sys; from benchmarks.ratio import report; report(sys.argv[1], sys.argv[2])"
    paths = os.pathsep.join(entry or os.curdir for entry in sys.path)
    command = [sys.executable, "-c", code, str(path), name]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True)
    (peak, held), (peak_after, held_after) = json.loads(done.stdout)
    return peak_after - peak, held_after - held


def report(path: str, name: str) -> None:
    """What the fresh process does: print its memory before and after the case."""
    case = cases()[name] if name == "parse" else {"keep": keep, "floor": floor}[name]
    before = _memory()
    kept = case(Path(path))
    print(json.dumps((before, _memory())))
    check(name, Path(path), kept)


def _memory() -> tuple[float, float]:
    """The peak of this process and what it has now, in bytes; NaN for what the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        if sys.platform == "win32":
            return float("nan"), float("nan")
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, float("nan")
    fields = dict(line.split(":", 1) for line in lines)
    peak, held = (int(fields[key].split()[0]) * 1024 for key in ("VmHWM", "VmRSS"))
    return peak, held


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Plain text, the columns aligned to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in (head, *rows))


def speed_row(path: Path, lines: int, times: Times) -> list[str]:
    """One row of the first table."""
    size, base = path.stat().st_size, median(times["floor"])
    row = [f"{size / lines:.0f}", str(lines), f"{size / base / 1e6:.0f}", f"{base / lines * 1e6:.2f}"]
    for name in times:
        if name != "floor":
            found = ratios(times, name)
            row += [f"{median(found):.2f}", f"{min(found):.2f}", f"{max(found):.2f}"]
    return row


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ratio", description="Measure a parse against orjson.loads.")
    parser.add_argument("--megabytes", type=float, default=30, help="the size of each file (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="(default: %(default)s)")
    parser.add_argument("--lines", type=float, nargs="+", default=[1000, 2500, 10000, 50000], help="mean line lengths")
    parser.add_argument("--source", choices=sorted(GENERATORS), default="claude-code")
    given = parser.parse_args()
    things, write = cases(), GENERATORS[given.source]
    speed: list[list[str]] = []
    space: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for line in given.lines:
            path = Path(folder, f"{line:.0f}.jsonl")
            lines = write(path, int(given.megabytes * 1_000_000), line)
            speed.append(speed_row(path, lines, measure(path, things, given.rounds)))
            size = path.stat().st_size
            found = [value / size for name in REMEMBERED for value in memory(path, name)]
            space.append([speed[-1][0], f"{size / 1e6:.1f}", *(f"{value:.2f}" for value in found)])
            path.unlink()
    others = [name for name in things if name != "floor"]
    print(f"{given.source}: CPU time over that of the floor, median, least and most of {given.rounds} rounds")
    columns = [f"{name}{what}" for name in others for what in ("", " min", " max")]
    print(table(["mean line", "lines", "floor MB/s", "floor µs/line", *columns], speed))
    print(f"\n{given.source}: memory over the process's own, by file size")
    print(table(["mean line", "MB", *(f"{name} {what}" for name in REMEMBERED for what in ("peak", "kept"))], space))


if __name__ == "__main__":
    main()
