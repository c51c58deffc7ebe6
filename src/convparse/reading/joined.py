"""JSON Lines whose records may hold raw line ends inside strings, so that one record lies on several physical lines.

As ``jsonl``, but for a line that begins a record and breaks off inside a string: where it and the lines after it decode
together as one record, they are one unit, named ``lenient-json``. Anything else is left to ``jsonl``. The look-ahead is
bounded, and no line that is a record by itself is ever taken into another.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, cast

from convparse.ledger import Ledger, Place
from convparse.reading import jsonl
from convparse.reading.decoding import Refused, exact

_MOST_LINES: Final = 64
_MOST_BYTES: Final = 8 << 20
_WORK: Final = 4
"""How many times the bytes of a file are decoded to find such records."""


def iter_joined(
    file: BinaryIO, size: int, ledger: Ledger, is_record: jsonl.IsRecord, unproven: frozenset[str] = frozenset()
) -> Iterator[tuple[Any, Place]]:
    """The values of a file with their places, as ``iter_records`` gives them."""
    lines = _Lines(file, size, ledger, is_record)
    counted = cast("Ledger", _Counted(ledger, lines))
    for value, place in jsonl.iter_records(cast("BinaryIO", lines), size, counted, is_record, unproven):
        yield value, lines.placed(place)


class _Lines:
    """A file whose ``readline`` gives joined lines."""

    def __init__(self, file: BinaryIO, size: int, ledger: Ledger, is_record: jsonl.IsRecord) -> None:
        self._file = file
        self._depth = ledger.limits.depth
        self._most = min(_MOST_BYTES, ledger.limits.line_bytes)
        self._is_record = is_record
        self._budget = _WORK * (size + _MOST_BYTES)
        """Bytes that may still be decoded in vain."""
        self._ahead: deque[bytes] = deque()
        self._ends: list[int] = []
        self._extra: list[int] = [0]
        self._offset = 0

    def readline(self, limit: int) -> bytes:
        """The next line, or the next record over several lines."""
        line = self._next(limit)
        if line.startswith(b"{") and line.endswith(b"\n") and not line.rstrip().endswith(b"}"):
            line = self._join(line)
        self._offset += len(line)
        return line

    def _next(self, limit: int) -> bytes:
        if not self._ahead:
            return self._file.readline(limit)
        line = self._ahead.popleft()
        if not line.endswith(b"\n") and len(line) < limit:  # the look-ahead ended within this line
            line += self._file.readline(limit - len(line))
        if len(line) > limit:
            self._ahead.appendleft(line[limit:])
        return line[:limit]

    def _join(self, line: bytes) -> bytes:
        taken = [line]
        size = len(line)
        while len(taken) < _MOST_LINES and self._budget > 0:
            more = self._next(self._most - size) if size < self._most else b""
            if not more:
                break
            taken.append(more)
            size += len(more)
            if more.rstrip().endswith(b"}"):
                if self._is_whole(b"".join(taken)):
                    self._ends.append(self._offset + size)
                    self._extra.append(self._extra[-1] + len(taken) - 1)
                    return b"".join(taken)
                if more.startswith(b"{") and self._is_whole(more):
                    break
            if not more.endswith(b"\n"):
                break
        self._ahead.extendleft(reversed(taken[1:]))
        return line

    def _is_whole(self, data: bytes) -> bool:
        self._budget -= len(data)
        try:
            value, _ = exact(data, self._depth)
        except Refused:
            return False
        return type(value) is dict and self._is_record(value)

    def placed(self, place: Place) -> Place:
        """A place with the number of its physical line."""
        extra = self._extra[bisect_right(self._ends, place[1])] if self._ends else 0
        return (place[0] + extra, place[1], place[2]) if extra else place


class _Counted:
    """A ledger in which lines are numbered as they stand in the file."""

    def __init__(self, ledger: Ledger, lines: _Lines) -> None:
        self._ledger = ledger
        self._lines = lines
        self.limits = ledger.limits
        self.blank = ledger.blank

    def unit(self, code: str, place: Place, **about: Any) -> None:
        self._ledger.unit(code, self._lines.placed(place), **about)

    def part(self, code: str, place: Place, *args: Any, **about: Any) -> None:
        self._ledger.part(code, self._lines.placed(place), *args, **about)
