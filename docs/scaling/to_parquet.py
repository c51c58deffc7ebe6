"""Session files, databases and byte strings to Parquet, partitioned by source; for one process, or an engine that has many."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeAlias

from convparse import ConvparseError, Found, ParseResult, iter_conversations, parse_bytes
from convparse.export import arrow

Item: TypeAlias = Found | tuple[str, bytes]
"""A file or database that ``discover`` found, or the name and the bytes of an object from elsewhere."""


class Told(NamedTuple):
    """What became of an item: all that goes back to whoever gave the work."""

    name: str
    results: int
    bytes: int
    lost: int
    error: str | None


def write_part(items: Iterable[Item], folder: str, tables: tuple[str, ...] = ("messages",)) -> list[Told]:
    """Write tables of some items to ``folder/product=…/part=…/TABLE.parquet``. Done twice, it writes the same files twice."""
    items = list(items)
    report: list[Told] = []
    part = blake2b("\0".join(map(name_of, items)).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    for number, (source, results) in enumerate(groupby(results_of(items, report), lambda result: result.source)):
        arrow.write_parquet(results, Path(folder, f"product={source}", f"part={part}-{number}"), tables=tables, rows=1000)
    return report


def results_of(items: Iterable[Item], report: list[Told]) -> Iterator[ParseResult]:
    """One result at a time, of a database one conversation; ``report`` gets a line for every item."""
    for item in items:
        count = size = lost = 0
        error = None
        try:
            for result in iter_conversations(item.path, item.source) if isinstance(item, Found) else [from_bytes(*item)]:
                count, size, lost = count + 1, size + result.account.size, lost + result.account.lost.bytes
                yield result
        except (OSError, ConvparseError) as raised:  # a bad item costs only itself
            error = f"{type(raised).__name__}: {raised}"
        report.append(Told(name_of(item), count, size, lost, error))


def from_bytes(name: str, data: bytes) -> ParseResult:
    """The result of an object; its name stands where a path would."""
    return parse_bytes(data, name=name)


def name_of(item: Item) -> str:
    """A path, or the name of an object."""
    return item.path if isinstance(item, Found) else item[0]
