"""Files of odd make, leaf by leaf: the second law where values, types and keys are none that a product writes.

A fixture is changed as ``mutations`` change lines and values, so that it stays JSON; then every leaf of it must arrive or be
named, as ``benchmarks.leaves`` tells. Input ``n`` of a source depends on nothing but ``n`` and the fixtures.

A leaf is silent only if nothing shows it when either end of its text is changed: one change may happen to make another id.
"""

import json
import random
from collections.abc import Sequence
from typing import Any, Final

import attrs
from tests.leaves import encoded

from benchmarks.leaf_units import units
from benchmarks.leaves import File
from benchmarks.reliability import mutations, seeds
from convparse import ConvparseError

SEED: Final = 20261201
LONGEST: Final = 20_000
"""Bytes of a fixture; every leaf costs a parse."""
VALUES: Final = (mutations.graft, mutations.graft, mutations.other_value, mutations.other_key)
LINES: Final = (*VALUES, mutations.swap_lines, mutations.double_line, mutations.drop_line)
HEADS: Final = ("source", "inputs", "leaves", "silent")


@attrs.define
class Tally:
    """What came of a source's inputs."""

    source: str
    inputs: int = 0
    leaves: int = 0
    silent: dict[str, list[int]] = attrs.field(factory=dict)
    """By the place of the leaf: the inputs that showed it."""


def tried(source: str, count: int, first: int = 0) -> Tally:
    """So many inputs of a source."""
    tally = Tally(source)
    seen = [(name, data) for name, data in seeds.files(source) if len(data) <= LONGEST]
    for number in range(first, first + count):
        name, data = input_of(source, number, seen)
        try:
            file = File(data, source, name, ends=(1.0, 0.0))
            found = file.measure()
        except ConvparseError:  # no file of any variant: that is told, too
            continue
        tally.inputs += 1
        tally.leaves += sum(times for (what, _), times in found.items() if what == "leaves")
        for place in file.silent:
            tally.silent.setdefault(place, []).append(number)
    return tally


def input_of(source: str, number: int, seen: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """Name and bytes of one input."""
    rng = random.Random(f"{SEED}:{source}:{number}")
    name, data = rng.choice(seen)
    if data.startswith(seeds.MAGIC):
        return name, _other_rows(rng, data)
    others = [other for _, other in seen if not other.startswith(seeds.MAGIC)]
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        data = rng.choice(LINES)(rng, data, others)
    return name, b"\n".join(_written_again(line) for line in data.split(b"\n"))


def _written_again(line: bytes) -> bytes:
    """The line with every key once: what a key that stands twice loses is named as such."""
    try:
        return encoded(json.loads(line))
    except (ValueError, RecursionError):
        return line


def _other_rows(rng: random.Random, data: bytes) -> bytes:
    """A database with other values in some rows."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        rows = list(units(data, "sqlite"))
        if not rows:
            break
        row = rng.choice(rows)
        new = rng.choice(VALUES)(rng, encoded(row.value), [encoded(other.value) for other in rows])
        data = row.rebuilt(_value(new, row.value))
    return data


def _value(text: bytes, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def shown(tallies: Sequence[Tally]) -> list[list[str]]:
    """The rows of the table."""
    return [[tally.source, *map(str, (tally.inputs, tally.leaves, len(tally.silent)))] for tally in tallies]
