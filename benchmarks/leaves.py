"""Where the words and numbers of session files arrive: for every source, how many leaves, and as what.

A leaf is a string, number, true, false, null or empty container of a valid unit (a line, a document, a row). It is

- ``typed``: made a field or block of a record, or just what the record says by leaving it out;
- ``json``: kept as JSON by design: what a tool was given, its full result, the data of an event;
- ``raw``: kept as it is because no field is meant for it: ``Message.extra``, ``Unknown`` blocks, events of kind ``unknown``;
- ``skipped`` or ``lost``: not in the result, and named there by line and pattern;
- ``silent``: none of these, unaccounted for, which is a mistake of the library.

Which of them is found by changing the leaf and looking at what becomes another: in a parse of its line alone where the file is
long and that shows it, else in a parse of the whole file. Of leaves that stand at the same place of records of the same make,
with the same type of value, the first ``TRIES`` of a file are tried, each of every file that is given; the last verdict holds
for the rest.

``python -m benchmarks.leaves [PATH …] [--source NAME] [--check] [--write]``: without a path, the fixtures. A path is a file or
a folder. ``--check`` compares with ``leaves_floor.json`` and fails where a smaller share arrives typed than when ``--write``
wrote it, or a leaf is silent. Floors are kept by source, for the fixtures and for what else was given.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from tests.leaves import SAID_OF_OTHERS, Tokens, changed, covers, encoded, names, put, same, walk

import convparse
from benchmarks.leaf_units import LINES, MAGIC, Unit, units
from benchmarks.ratio import table
from benchmarks.reliability import seeds
from convparse import SOURCES, Event, Json, Limits, Message, ParseResult, ToolCall, ToolResult, Unknown

FLOOR: Final = Path(__file__).with_name("leaves_floor.json")
KINDS: Final = ("typed", "json", "raw", "skipped", "lost", "silent")
GONE: Final = ("lost", "skipped")
NOTHING_THERE: Final = SAID_OF_OTHERS | {"missing-arguments"}
"""Codes that say at a place what is not there: they excuse nothing that is."""
TRIES: Final = 2
LONG: Final = 30_000
"""Bytes of a file whose lines are looked at one by one first."""
EVERY: Final = Limits(lines=10_000_000)
ROOM: Final = 0.005
"""How much of a share may be missing before it is a step back."""


def entries(result: ParseResult) -> Iterator[Message | Event]:
    """Every entry, loose ones too."""
    for conversation in result.conversations:
        yield from conversation.entries
    yield from result.loose


# ---- one leaf --------------------------------------------------------------------------------------------------------------


def differing(a: Any, b: Any) -> Iterator[str]:
    """As what the differences between two records arrive."""
    if type(a) is not type(b):
        yield "raw" if Unknown in (type(a), type(b)) else "typed"
    elif isinstance(a, tuple) and len(a) == len(b):
        for one, other in zip(a, b, strict=True):
            yield from differing(one, other)
    elif attrs.has(type(a)):
        for field in attrs.fields(type(a)):
            one, other = getattr(a, field.name), getattr(b, field.name)
            if not same(one, other):
                yield from _kind_of(a, field.name) or differing(one, other)
    elif not same(a, b):
        yield "typed"


def _kind_of(record: Any, field: str) -> tuple[str, ...]:
    if isinstance(record, Unknown) or field == "extra":
        return ("raw",)
    if isinstance(record, Event) and field == "data":
        return ("raw" if record.kind == "unknown" else "json",)
    if isinstance(record, ToolCall) and field == "input":
        return ("json",)
    return ("json",) if isinstance(record, ToolResult) and field == "full" else ()


def arrives(before: ParseResult, after: ParseResult, unit: Unit, path: Tokens) -> str:
    """Where a leaf arrives, from the parses before and after it was changed."""
    pointer = unit.pointer(path)
    kinds = set(differing(before.conversations, after.conversations)) | set(differing(before.loose, after.loose))
    if kinds == {"raw"} and not _is_raw(before, pointer):
        return "typed"  # left out because it says nothing, or what another field says
    for kind in ("typed", "json", "raw"):
        if kind in kinds:
            return kind
    return next((drop.fate for drop in _gone(after) if is_named(drop, unit, pointer)), "silent")


def is_named(drop: convparse.Drop, unit: Unit, pointer: str) -> bool:
    """True if a drop says of a leaf what became of it: by its place, its unit, or the family of a row that is not read."""
    if unit.families and not drop.lines:
        return drop.record in unit.families or any(drop.record and family.endswith(drop.record) for family in unit.families)
    if unit.whole and drop.pattern:
        return drop.code not in NOTHING_THERE and covers(drop.pattern, pointer)
    return names(drop, unit.number, pointer)


def _gone(result: ParseResult) -> list[Any]:
    return [drop for drop in (*result.dropped, *result.skipped) if drop.fate in GONE]


def _is_raw(result: ParseResult, pointer: str) -> bool:
    """True if a leaf stands raw in a result, or there is no telling."""
    for entry in entries(result):
        if isinstance(entry, Event):
            return True
        if any(isinstance(block, Unknown) for block in entry.blocks):
            return True
        if any(
            isinstance(block, ToolResult) and any(isinstance(part, Unknown) for part in block.content) for block in entry.blocks
        ):
            return True
        if isinstance(entry.extra, Json):
            return any(pointer == key or pointer.startswith(f"{key}/") for key in entry.extra.value)
    return False


# ---- one file --------------------------------------------------------------------------------------------------------------


class File:
    """One file, and what has been learned of its leaves."""

    def __init__(self, data: bytes, source: str | None = None, name: str = "", ends: tuple[float, ...] = (1.0,)) -> None:
        self.data, self.name, self.ends = data, name, ends
        self.result = convparse.parse_bytes(data, source=source, name=name, limits=EVERY)
        self.source = self.result.source
        self.container = SOURCES[self.source].variants[self.result.variant].container
        self.long = len(data) > LONG and self.container in LINES
        if self.container.endswith("document") and not data.startswith(MAGIC):  # its drops are to say the places that are tried
            self.result = next((self.parse(unit.rebuilt(unit.value)) for unit in units(data, self.container)), self.result)
        self.drops: dict[int, list[convparse.Drop]] = {}
        for drop in _gone(self.result):
            for line in drop.lines:
                self.drops.setdefault(line, []).append(drop)
        self.verdicts: dict[Any, tuple[int, str]] = {}
        self.silent: list[str] = []

    def parse(self, data: bytes) -> ParseResult:
        """A parse of other bytes as if they were the file."""
        return convparse.parse_bytes(data, source=self.source, name=self.name, limits=EVERY)

    def measure(self) -> Counter[tuple[str, str]]:
        """Leaves and their bytes by where they arrive: ``("leaves", kind)`` and ``("bytes", kind)``."""
        found: Counter[tuple[str, str]] = Counter()
        for unit in units(self.data, self.container):
            for kind, value in self.measure_unit(unit):
                found["leaves", kind] += 1
                found["bytes", kind] += len(encoded(value))
        return found

    def measure_unit(self, unit: Unit) -> Iterator[tuple[str, Any]]:
        """Every leaf of a unit with where it arrives."""
        drops = self.drops.get(unit.number, [])
        whole = next((drop.fate for drop in drops if not drop.pattern and drop.bytes), None)
        alone: list[ParseResult] = []
        for path, value in walk(unit.value):
            if unit.operation and path[:1] == ("k",):
                continue  # where an operation writes, not what
            yield whole or self.kind(unit, path, value, drops, alone), value

    def kind(self, unit: Unit, path: Tokens, value: Any, drops: list[Any], alone: list[ParseResult]) -> str:
        """Where one leaf arrives."""
        make = tuple("*" if isinstance(token, int) else token for token in path[:8])
        key = (unit.families[:1], _name(unit.value), _kinds(unit.value, path), make, type(value), not value, len(drops))
        tried, verdict = self.verdicts.get(key, (0, ""))
        if tried >= TRIES:
            return verdict
        verdict = self.tried(unit, path, value, alone)
        self.verdicts[key] = (tried + 1, verdict)
        if verdict == "silent":
            self.silent.append(f"{self.name}:{unit.number}:{unit.pointer(path)}")
        return verdict

    def tried(self, unit: Unit, path: Tokens, value: Any, alone: list[ParseResult]) -> str:
        """Where one leaf arrives, by trial: changed at one end of its text, then otherwise where that is to be tried."""
        others = [changed(value, end) for end in self.ends]
        if len(others) > 1 and value in ([], {}):
            others.append(["x"])
        verdicts = (self.tried_at(unit, path, other, alone) for other in others)
        return next((verdict for verdict in verdicts if verdict != "silent"), "silent")

    def tried_at(self, unit: Unit, path: Tokens, other: Any, alone: list[ParseResult]) -> str:
        """Where one leaf arrives, by another value in its place."""
        new = put(unit.value, path, other)
        if self.long and unit.alone:
            if not alone:
                alone.append(self.parse(encoded(unit.value) + b"\n"))
            verdict = arrives(alone[0], self.parse(encoded(new) + b"\n"), unit._replace(number=1), path)
            if verdict != "silent":
                return verdict
        return arrives(self.result, self.parse(unit.rebuilt(new)), unit, path)


def _name(row: Any) -> Any:
    if not isinstance(row, dict):
        return type(row)
    inner = next((row[key] for key in ("attachment", "data", "payload", "item") if isinstance(row.get(key), dict)), {})
    told = (row.get("type"), row.get("subtype"), inner.get("type"), row.get("kind"), row.get("role"), "agentId" in row)
    return tuple(kind if isinstance(kind, str | bool) else None for kind in told)


def _kinds(row: Any, path: Tokens) -> tuple[Any, ...]:
    """What the objects on the way to a leaf say of their kinds."""
    found: list[Any] = []
    for token in path[:-1]:
        row = row[token]
        if isinstance(row, dict):
            found += [row[key] if isinstance(row.get(key), str | int) else None for key in ("type", "kind", "name")]
    return tuple(found)


# ---- the report ------------------------------------------------------------------------------------------------------------

Measured = dict[str, Counter[tuple[str, str]]]


def fixtures() -> Iterator[tuple[str, str, bytes]]:
    """Source, name and content of every fixture."""
    for source in SOURCES:
        yield from ((source, name, data) for name, data in seeds.files(source))


def found_files(paths: Iterable[Path], source: str | None) -> Iterator[tuple[str | None, str, bytes]]:
    """The files below paths."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                yield source, file.name, file.read_bytes()


def report(files: Iterable[tuple[str | None, str, bytes]]) -> tuple[Measured, list[str]]:
    """Leaves and bytes by source and by where they arrive, and the places of the silent ones; unknown files are passed over."""
    found: Measured = {}
    silent: list[str] = []
    for source, name, data in files:
        try:
            file = File(data, source, name)
        except convparse.ConvparseError:
            continue
        counts = found.setdefault(file.source, Counter())
        counts["files", ""] += 1
        counts.update(file.measure())
        silent += [f"{file.source}: {place}" for place in file.silent]
    return found, silent


def share(counts: Counter[tuple[str, str]], kind: str, of: str = "bytes") -> float:
    """The part of the whole that is of a kind."""
    total = sum(n for (what, _), n in counts.items() if what == of)
    return counts[of, kind] / total if total else 0.0


def steps_back(now: Measured, floor: dict[str, Any]) -> list[str]:
    """Where less arrives typed than the floor says, or something silently."""
    worse = []
    for source, counts in sorted(now.items()):
        if counts["leaves", "silent"]:
            worse.append(f"{source}: {counts['leaves', 'silent']} leaves arrive nowhere and are not named")
        least = floor.get(source, {}).get("typed", 0.0)
        if share(counts, "typed") < least - ROOM:
            worse.append(f"{source}: typed {share(counts, 'typed'):.4f}, was {least:.4f}")
    return worse


def shown(now: Measured) -> str:
    """The table: leaves by where they arrive, and the share of the bytes of leaves that is typed."""
    rows = []
    for source, counts in now.items():
        numbers = [counts["leaves", kind] for kind in KINDS]
        rows.append([source, *map(str, [counts["files", ""], sum(numbers), *numbers]), f"{share(counts, 'typed'):.1%}"])
    return table(["source", "files", "leaves", *KINDS[:-1], "unaccounted", "typed bytes"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; 1 if ``--check`` finds a step back."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaves", description=str(__doc__).partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or folders; without one, the fixtures")
    parser.add_argument("--check", action="store_true", help="fail where less arrives than the floor says")
    parser.add_argument("--write", action="store_true", help="write the floor")
    parser.add_argument("--source", help="the source of all files; found from the content of each if it is not given")
    given = parser.parse_args(arguments)
    now, silent = report(found_files(given.paths, given.source) if given.paths else fixtures())
    print(shown(now))
    print(*silent, sep="\n", end="\n" if silent else "")
    floors: dict[str, Any] = json.loads(FLOOR.read_bytes()) if FLOOR.exists() else {}
    part = floors.setdefault("samples" if given.paths else "fixtures", {})
    worse = steps_back(now, part) if given.check else []
    if given.write:
        part |= {source: {kind: round(share(counts, kind), 4) for kind in KINDS} for source, counts in now.items()}
        FLOOR.write_text(json.dumps(floors, indent=1) + "\n")
    print(*worse, sep="\n", end="\n" if worse else "")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
