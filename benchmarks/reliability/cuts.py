"""Every fixture cut at every byte, and every byte of every fixture changed: R3.

A cut file of lines gives every record that the whole file gives of the units before the cut, equal in the facts that a unit
settles itself, and at most one torn tail. For documents and databases the account must balance. Databases are cut and changed
at ``PLACES`` places, many of them where a page begins, since a parse of one takes long.
"""

import random
from collections.abc import Sequence
from typing import Any, Final

import attrs

import convparse
from benchmarks.reliability import laws
from benchmarks.reliability.seeds import MAGIC, files
from convparse import SOURCES, ParseResult
from convparse.records import FILE_FACTS

PLACES: Final = 2_000
SMALL: Final = 250
"""Bytes of a file of which every one is tried, however few places are asked for."""
LINES: Final = frozenset({"jsonl", "jsonl-joined"})
LATER: Final = frozenset({"extra", "merged", "key"})
"""What a row that is folded into an earlier one may add to it, or settle for it."""


@attrs.define
class Tally:
    """What came of a source's fixtures."""

    source: str
    files: int = 0
    cuts: int = 0
    changed: int = 0
    exceptions: int = 0
    broken: dict[str, list[str]] = attrs.field(factory=dict)
    """By what was broken: the first places."""

    def enter(self, what: str, place: str) -> None:
        """Count something that must not be."""
        self.broken.setdefault(what, []).append(place)


def places(data: bytes, most: int | None) -> Sequence[int]:
    """Where a file is cut or changed: everywhere, or at about so many places."""
    if not data.startswith(MAGIC):
        return range(0, len(data), 1 if most is None or len(data) <= SMALL else max(1, len(data) // most))
    rng = random.Random(len(data))
    pages = [at + step for at in range(512, len(data), 512) for step in (-1, 0, 1)]
    return sorted(rng.sample([*pages, *(rng.randrange(16, len(data)) for _ in range(PLACES))], most or PLACES))


def unit_facts(result: ParseResult, end: int) -> dict[tuple[int, str, str], list[Any]]:
    """What the units before a byte settle by themselves, by their places and the kind of record they became."""
    found = {}
    for entry in laws.entries(result):
        origin = entry.origin
        if origin is None or origin.offset is None or origin.offset + (origin.length or 0) > end:
            continue
        kind = type(entry).__name__
        left_out = FILE_FACTS[kind] | LATER
        facts = [getattr(entry, field.name) for field in attrs.fields(type(entry)) if field.name not in left_out]
        found[origin.offset, origin.pointer, kind] = facts
    return found


def judged(data: bytes, source: str, name: str, container: str) -> list[str]:
    """What is wrong with the parse of some bytes, by the laws that hold of any."""
    return laws.shallow(convparse.parse_bytes(data, source=source, name=name), len(data), container)


def cut_at(whole: ParseResult, data: bytes, n: int, container: str) -> list[str]:
    """What is wrong with the parse of the first ``n`` bytes."""
    head = convparse.parse_bytes(data[:n], source=whole.source, name=whole.path)
    broken = laws.shallow(head, n, container if head.variant == whole.variant else "sqlite")
    torn = sum(drop.count for drop in head.dropped if drop.code == "torn-tail")
    if torn > 1:
        broken.append("more than one torn tail")
    if container in LINES and head.variant == whole.variant:
        end = data.rfind(b"\n", 0, n) + 1
        before, after = unit_facts(head, end), unit_facts(whole, end)
        if not {place[:2] for place in after} <= {place[:2] for place in before}:
            broken.append("a unit before the cut is missing")
        if any(before.get(place, facts) != facts for place, facts in after.items()):
            broken.append("units before the cut are others")
    return broken


def tried(source: str, most: int | None = None) -> Tally:
    """Cut and change every fixture of a source, everywhere or at about so many places of each."""
    tally = Tally(source)
    for name, data in files(source):
        tally.files += 1
        whole = convparse.parse_bytes(data, source=source, name=name)
        container = SOURCES[source].variants[whole.variant].container
        for n in places(data, most):
            tally.cuts += 1
            _judge(tally, f"{name} cut at {n}", cut_at, whole, data, n, container)
            for other in (data[n] ^ 0xFF, data[n] ^ 1):
                tally.changed += 1
                new = data[:n] + bytes([other]) + data[n + 1 :]
                _judge(tally, f"{name} with {other} at {n}", judged, new, source, name, "sqlite")
    return tally


def _judge(tally: Tally, place: str, judge: Any, *given: Any) -> None:
    try:
        for what in judge(*given):
            tally.enter(what, place)
    except Exception as error:  # noqa: BLE001
        tally.exceptions += 1
        tally.enter(f"{type(error).__name__}: {str(error)[:80]}", place)


HEADS: Final = ["source", "files", "cuts", "changed bytes", "exceptions", "broken"]


def shown(tallies: Sequence[Tally]) -> list[list[str]]:
    """The rows of the table."""
    return [
        [t.source, *(str(n) for n in (t.files, t.cuts, t.changed, t.exceptions, sum(map(len, t.broken.values()))))]
        for t in tallies
    ]
