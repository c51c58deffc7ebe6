"""Where the words and numbers of session files arrive: how many bytes of their leaves, and as what.

A leaf is a string, number, true, false, null or empty container of a valid line, and counts with the bytes of its JSON. It is

- ``typed``: made a field or block of a record, or just what the record says by leaving it out;
- ``json``: kept as JSON by design: what a tool was given, its full result, the data of an event;
- ``raw``: kept as it is because no field is meant for it: ``Message.extra``, ``Unknown`` blocks, events of kind ``unknown``;
- ``skipped`` or ``lost``: not in the result, and named there by line and pattern;
- ``silent``: none of these, which is a mistake of the library.

Which of them is found by changing the leaf and looking at what becomes another, in a parse of its line alone. Of leaves that
stand at the same place of records of the same make, with the same type of value, the first ``TRIES`` of a file are tried; the
last verdict holds for the rest.

``python -m benchmarks.leaves PATH … [--source NAME] [--check] [--write]``: ``--check`` compares with
``leaves_floor.json`` and fails where less arrives typed, or more raw, skipped or silent, than when ``--write`` wrote it. Paths
are files or folders; the files of a folder are put together by the first name in it, those of ``lab`` by the second.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from tests.leaves import Tokens, changed, decoded, encoded, names, pointer_of, put, same, walk

import convparse
from convparse import Event, Json, Limits, Message, ParseResult, ToolCall, ToolResult, Unknown

FLOOR: Final = Path(__file__).with_name("leaves_floor.json")
KINDS: Final = ("typed", "json", "raw", "skipped", "lost", "silent")
GONE: Final = ("lost", "skipped")
TRIES: Final = 2
LINES: Final = Limits(lines=10_000_000)
ROOM: Final = 0.005
"""How much of a share may be missing before it is a step back."""


def parse_row(row: Any, source: str) -> ParseResult:
    """A parse of one record by itself."""
    return convparse.parse_bytes(encoded(row) + b"\n", source=source)


def entries(result: ParseResult) -> Iterator[Message | Event]:
    """Every entry, loose ones too."""
    for conversation in result.conversations:
        yield from conversation.entries
    yield from result.loose


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


class File:
    """One file, and what has been learned of its leaves."""

    def __init__(self, data: bytes, source: str | None = None) -> None:
        self.data = data
        self.result = convparse.parse_bytes(data, source=source, limits=LINES)
        self.source = self.result.source
        self.drops: dict[int, list[convparse.Drop]] = {}
        for drop in (*self.result.dropped, *self.result.skipped):
            for line in drop.lines:
                self.drops.setdefault(line, []).append(drop)
        self.verdicts: dict[Any, tuple[int, str]] = {}

    def measure(self) -> Counter[str]:
        """Bytes of leaves by where they arrive."""
        found: Counter[str] = Counter()
        for number, _, row in decoded(self.data):
            if isinstance(row, list):  # one document of many records
                for item in row:
                    found += self.measure_row(number, item)
            else:
                found += self.measure_row(number, row)
        return found

    def measure_row(self, number: int, row: Any) -> Counter[str]:
        """Bytes of one record's leaves."""
        drops = self.drops.get(number, [])
        whole = next(
            (drop.fate for drop in drops if not drop.pattern and drop.bytes and drop.fate in ("lost", "skipped")), None
        )
        if whole is not None:
            return Counter({whole: sum(len(encoded(value)) for _, value in walk(row))})
        before: list[ParseResult] = []
        found: Counter[str] = Counter()
        for path, value in walk(row):
            found[self.kind(number, row, path, value, drops, before)] += len(encoded(value))
        return found

    def kind(self, number: int, row: Any, path: Tokens, value: Any, drops: list[Any], before: list[ParseResult]) -> str:
        """Where one leaf arrives."""
        pointer = pointer_of(path)
        for drop in drops:
            if drop.fate in GONE and drop.pattern and names(drop, number, pointer):
                return str(drop.fate)
        make = tuple("*" if isinstance(token, int) else token for token in path[:6])
        key = (_name(row), make, type(value), not value, len(drops))
        tried, verdict = self.verdicts.get(key, (0, ""))
        if tried >= TRIES:
            return verdict
        if not before:
            before.append(parse_row(row, self.source))
        verdict = self.tried(row, path, value, before[0])
        self.verdicts[key] = (tried + 1, verdict)
        return verdict

    def tried(self, row: Any, path: Tokens, value: Any, before: ParseResult) -> str:
        """Where one leaf arrives, by trial."""
        after = parse_row(put(row, path, changed(value)), self.source)
        kinds = set(differing(before.conversations, after.conversations)) | set(differing(before.loose, after.loose))
        if kinds == {"raw"} and not _is_raw(before, pointer_of(path)):
            return "typed"  # left out because it says nothing, or what another field says
        for kind in ("typed", "json", "raw"):
            if kind in kinds:
                return kind
        named = [
            d.fate for d in (*after.dropped, *after.skipped) if names(d, 1, pointer_of(path)) and d.fate in ("lost", "skipped")
        ]
        return named[0] if named else "silent"


def _name(row: Any) -> Any:
    if not isinstance(row, dict):
        return type(row)
    inner = row.get("attachment") or row.get("data")
    kinds = (row.get("type"), row.get("subtype"), inner.get("type") if isinstance(inner, dict) else None, "agentId" in row)
    return tuple(kind if isinstance(kind, str | bool) else None for kind in kinds)


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


# ---- the report ------------------------------------------------------------------------------------------------------------


def found_files(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """The files below paths, with the names under which they are put together."""
    for path in paths:
        if path.is_file():
            yield path.name, path
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else ():
            parts = file.relative_to(path).parts
            yield "/".join(parts[: 2 if parts[0] == "lab" else 1]), file


def report(paths: Sequence[Path], source: str | None = None) -> dict[str, Counter[str]]:
    """Bytes of leaves by name and by where they arrive."""
    found: dict[str, Counter[str]] = {}
    for name, path in found_files(paths):
        try:
            file = File(path.read_bytes(), source)
        except convparse.ConvparseError as error:
            print(f"{path}: {error}", file=sys.stderr)
            continue
        found.setdefault(name, Counter()).update(file.measure())
    return found


def shares(bytes_of: Counter[str]) -> dict[str, float]:
    """The parts of the whole."""
    total = sum(bytes_of.values()) or 1
    return {kind: round(bytes_of[kind] / total, 4) for kind in KINDS}


def steps_back(now: dict[str, Counter[str]], floor: dict[str, dict[str, float]]) -> list[str]:
    """Where less arrives than the floor says."""
    worse = []
    for name, bytes_of in now.items():
        share, least = shares(bytes_of), floor.get(name)
        if bytes_of["silent"] and (least is None or bytes_of["silent"] > least["silent_bytes"]):
            worse.append(f"{name}: {bytes_of['silent']} bytes arrive nowhere and are not named")
        if least is None:
            continue
        if share["typed"] < least["typed"] - ROOM:
            worse.append(f"{name}: typed {share['typed']:.4f}, was {least['typed']:.4f}")
        more = (kind for kind in ("raw", *GONE) if share[kind] > least[kind] + ROOM)
        worse += [f"{name}: {kind} {share[kind]:.4f}, was {least[kind]:.4f}" for kind in more]
    return worse


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; 1 if ``--check`` finds a step back."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaves", description=str(__doc__).partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--check", action="store_true", help="fail where less arrives than the floor says")
    parser.add_argument("--write", action="store_true", help="write the floor")
    parser.add_argument("--source", help="the source of all files; found from the content of each if it is not given")
    given = parser.parse_args(arguments)
    found = report(given.paths, given.source)
    print(f"{'':32}{'bytes':>10}" + "".join(f"{kind:>9}" for kind in KINDS))
    total: Counter[str] = sum(found.values(), Counter())
    for name, bytes_of in (*found.items(), ("all", total)):
        share = shares(bytes_of)
        print(f"{name[:31]:32}{sum(bytes_of.values()):>10}" + "".join(f"{share[kind]:>9.2%}" for kind in KINDS))
    floor: dict[str, Any] = json.loads(FLOOR.read_bytes()) if FLOOR.exists() else {}
    if given.write:
        floor |= {name: shares(bytes_of) | {"silent_bytes": bytes_of["silent"]} for name, bytes_of in found.items()}
        FLOOR.write_text("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(floor[n])}" for n in sorted(floor)) + "\n}\n")
    worse = steps_back(found, floor) if given.check else []
    print(*worse, sep="\n", end="\n" if worse else "")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
