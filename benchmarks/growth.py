"""How a parse grows with the file, what importing the library costs, and finding out what a file is.

Growth: a Claude Code session of each size is parsed in a fresh process, everything kept; CPU time and the peak of memory over
what the process had, both by megabyte, which stay the same where a parse is linear. Sizes take turns; the median over the
rounds is given. Import: CPU time of ``import convparse``, of the first look at ``convparse.parse``, and of a first parse of a
small file, over that of ``import attrs, orjson``, each in a fresh process, interleaved, the median of 11. Detection: ``detect``
of a session of each source that ``benchmarks.tree`` writes, whatever its size, for it reads the beginning.

``python -m benchmarks.growth [--megabytes 1 10 100 1000] [--line 2500] [--rounds 3]``
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.database import build
from benchmarks.generate import write_session
from benchmarks.ratio import table
from benchmarks.tree import claude_code_lines, codex_lines, copilot_cli_lines

IMPORTS: Final = {
    "import attrs, orjson": "import attrs, orjson",
    "import convparse": "import convparse",
    "... and convparse.parse": "import convparse; convparse.parse",
    "... and a first parse": "import convparse; convparse.parse(sys.argv[1])",
}
_IMPORT: Final = "import sys, time; start = time.process_time(); {}; print(time.process_time() - start)"
_PARSE: Final = """
import sys, time
from benchmarks.ratio import _memory
import convparse
convparse.parse(sys.argv[2])
before, start = _memory()[0], time.process_time()
result = convparse.parse(sys.argv[1])
print(time.process_time() - start, _memory()[0] - before)
assert result.account.balanced
"""


def fresh(code: str, *arguments: str) -> list[float]:
    """The numbers that a fresh process prints."""
    paths = os.pathsep.join(entry or os.curdir for entry in sys.path)
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True, text=True)
    return [float(number) for number in done.stdout.split()]


def growth(folder: Path, megabytes: Sequence[float], line: float, rounds: int) -> list[list[str]]:
    """One row a size."""
    small = folder / "small.jsonl"
    write_session(small, 100_000, line)
    paths = [folder / f"{size:g}.jsonl" for size in megabytes]
    for path, size in zip(paths, megabytes, strict=True):
        write_session(path, int(size * 1_000_000), line)
    runs = [[fresh(_PARSE, str(path), str(small)) for path in paths] for _ in range(rounds)]
    rows = []
    for at, path in enumerate(paths):
        size = path.stat().st_size / 1e6
        cpu, peak = (median(run[at][n] for run in runs) for n in (0, 1))
        rows.append([f"{size:.1f}", f"{cpu:.3f}", f"{cpu / size * 1e3:.1f}", f"{peak / 1e6:.0f}", f"{peak / size / 1e6:.2f}"])
        path.unlink()
    return rows


def imports(small: Path, rounds: int = 11) -> list[list[str]]:
    """One row an import."""
    runs = [[fresh(_IMPORT.format(code), str(small))[0] for code in IMPORTS.values()] for _ in range(rounds)]
    rows = []
    for at, name in enumerate(IMPORTS):
        ratio = median(run[at] / run[0] for run in runs)
        rows.append([name, f"{median(run[at] for run in runs) * 1e3:.1f}", f"{ratio:.2f}"])
    return rows


def detection(folder: Path, calls: int = 200) -> list[list[str]]:
    """One row a source."""
    from convparse import detect

    makers: dict[str, Callable[[int, int], bytes]] = {
        "claude-code": claude_code_lines,
        "codex": codex_lines,
        "copilot-cli": copilot_cli_lines,
    }
    for source, make in makers.items():
        (folder / source).write_bytes(make(1_000_000, 1))
    build(folder / "cursor", 10, 10_000, "delete")
    rows = []
    for source in (*makers, "cursor"):
        times = []
        for _ in range(calls):
            start = time.process_time()
            found = detect(folder / source)
            times.append(time.process_time() - start)
            assert found.source == source
        rows.append([source, f"{median(times) * 1e3:.2f}"])
    return rows


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description="Measure growth, import and detection.")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1, 10, 100, 1000], help="(default: 1 10 100 1000)")
    parser.add_argument("--line", type=float, default=2500, help="mean length of a line in bytes (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of growth (default: %(default)s)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = growth(folder, given.megabytes, given.line, given.rounds)
        print(table(["MB", "CPU, s", "ms a MB", "peak, MB", "by size"], rows))
        print("\n" + table(["import", "CPU, ms", "ratio"], imports(folder / "small.jsonl")))
        print("\n" + table(["detect", "CPU, ms"], detection(folder)))


if __name__ == "__main__":
    main()
