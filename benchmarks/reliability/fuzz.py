"""Any bytes, again and again: R1, R2 and R9. Input ``n`` of a source depends on the seed, the source and ``n`` alone.

``run`` goes on where its state file ends, so that a run can be stopped at any time. What is wrong is a *finding*: it is counted
by where it happened, and the first inputs that showed it are written beside the state.
"""

import json
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any, Final

import attrs

import convparse
from benchmarks.reliability import laws, seeds
from convparse import SOURCES, ParseResult, UnknownSource

SEED: Final = 20261130
EVERY: Final = 50
"""One input of so many is examined deeply, one of so many is parsed without its source being given."""
SAVE: Final = 1_000
SECONDS: Final = 2.0
"""CPU seconds that an input of at most 64 KiB may take."""
PATIENCE: Final = 600
"""Seconds on the wall after which an input is taken to hang."""
MEGABYTES: Final = 512
"""What the whole process may take at its peak."""
KEPT: Final = 2
"""Inputs that are written to files for each finding."""
NOTED: Final = 1_000
"""Inputs whose numbers are noted for each finding."""


class Hang(BaseException):
    """An input that does not end."""


@attrs.define
class State:
    """What a run has found so far. ``own``: refusals of the library, where no source was given."""

    done: int = 0
    bytes: int = 0
    databases: int = 0
    folders: int = 0
    own: int = 0
    examined: int = 0
    entries: int = 0
    drops: int = 0
    cpu: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)
    peak: int = 0
    """Megabytes."""
    findings: dict[str, list[int]] = attrs.field(factory=dict)
    """By what was found: how often, and the first inputs."""
    mended: dict[str, int] = attrs.field(factory=dict)
    """What was found once, and is no more."""

    def found(self, what: str, n: int) -> bool:
        """Count a finding; True if its input is to be kept."""
        entry = self.findings.setdefault(what, [0])
        entry[0] += 1
        if len(entry) <= NOTED:
            entry.append(n)
        return entry[0] <= KEPT


def input_of(source: str, n: int, draw: Any = None) -> seeds.Input:
    """Input ``n`` of a source."""
    return (draw or seeds.drawn(source))(random.Random(f"{SEED}:{source}:{n}"))  # type: ignore[no-any-return]


def parsed(given: seeds.Input, source: str | None) -> ParseResult:
    """The parse of an input; a folder is written to a place of its own, always the same in a process."""
    if not given.beside:
        return convparse.parse_bytes(given.data, source=source, name=given.name)
    folder = Path(tempfile.gettempdir(), f"convparse-fuzz-{os.getpid()}")
    try:
        for name, data in given.beside.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, (0, 0))
        return convparse.parse(folder / given.name, source)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tried(source: str, n: int, given: seeds.Input, state: State, deep: bool = False) -> list[str]:
    """What is wrong with one input."""
    named = n % EVERY != 1 or deep
    try:
        result = parsed(given, source if named else None)
    except UnknownSource as error:
        state.own += 1
        return [f"refused, though the source was given: {error}"] if named else []
    container = SOURCES[result.source].variants[result.variant].container
    if given.beside or given.database:
        container = "sqlite"  # several files, or rows: no one size and no spans
    state.entries += sum(1 for _ in laws.entries(result))
    state.drops += len(result.dropped) + len(result.skipped)
    broken = laws.shallow(result, len(given.data), container)
    if deep or n % EVERY == 0:
        state.examined += 1
        broken += laws.deep(result, given.data, container) + _again(result, source, given)
    return broken


def _again(result: ParseResult, source: str, given: seeds.Input) -> list[str]:
    return [] if parsed(given, source) == result else ["parsed again, it is another"]


def where(error: BaseException) -> str:
    """The type of an exception and the innermost line of the library's own."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "convparse" in f.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}" if frames else "elsewhere"
    return f"{type(error).__name__} at {place}"


def examine(source: str, n: int, draw: Any, state: State, deep: bool = False) -> list[str]:
    """Make, parse and judge one input; exceptions become findings."""
    given = input_of(source, n, draw)
    state.bytes += len(given.data) + sum(map(len, given.beside.values()))
    state.databases += given.database
    state.folders += bool(given.beside)
    began = time.process_time()
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        broken = tried(source, n, given, state, deep)
    except (Exception, Hang) as error:  # noqa: BLE001
        broken = [where(error)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    took = time.process_time() - began
    state.cpu += took
    state.slowest = max(state.slowest, (round(took, 4), n))
    if took > SECONDS:
        broken.append("over the bound of time")
    state.done = n + 1
    return broken


def run(source: str, count: int, folder: Path) -> State:
    """Go on until ``count`` inputs of a source have been tried; the state is kept in ``folder``."""
    state = load(folder, source)
    draw = seeds.drawn(source)
    previous = signal.signal(signal.SIGALRM, _hang)
    try:
        for n in range(state.done, count):
            for what in examine(source, n, draw, state):
                if state.found(what, n):
                    keep(folder, source, n, what, draw)
            if state.done % SAVE == 0 or state.done == count:
                state.peak = max(state.peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
                if state.peak > MEGABYTES:
                    state.found("over the bound of memory", n)
                save(folder, source, state)
    finally:
        signal.signal(signal.SIGALRM, previous)
    return state


def again(source: str, folder: Path) -> State:
    """Try the inputs once more that showed something, after it was mended; what no longer shows is no finding."""
    state, draw = load(folder, source), seeds.drawn(source)
    before, state.findings = state.findings, {}
    for what, (times, *inputs) in before.items():
        fresh = State()
        found = [(n, broken) for n in inputs for broken in examine(source, n, draw, fresh, deep=True)]
        for n, broken in found:
            state.found(broken, n)
        if not found:
            state.mended[what] = state.mended.get(what, 0) + times
    save(folder, source, state)
    return state


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang


def keep(folder: Path, source: str, n: int, what: str, draw: Any) -> None:
    """Write an input that showed something, for whoever mends it."""
    given = input_of(source, n, draw)
    (folder / "findings").mkdir(parents=True, exist_ok=True)
    (folder / "findings" / f"{source}-{n}").write_bytes(given.data)
    (folder / "findings" / f"{source}-{n}.txt").write_text(f"{what}\n{given.name}\n{sorted(given.beside)}\n")


def load(folder: Path, source: str) -> State:
    """The state of a run so far."""
    path = folder / f"{source}.json"
    if not path.exists():
        return State()
    kept = json.loads(path.read_bytes())
    return State(**{**kept, "slowest": tuple(kept["slowest"])})


def save(folder: Path, source: str, state: State) -> None:
    """Keep the state of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{source}.json"
    path.with_suffix(".new").write_text(json.dumps(attrs.asdict(state)))
    path.with_suffix(".new").replace(path)
