"""A JSON document that may be followed by the tail of a longer copy of itself, as two writers that race leave it.

A whole document is one unit. Behind a shorter one, and in a damaged one, whole objects that pass the source's test for an item
are units of their own, together with the commas and brackets that follow them; all else is entered as lost. The lengths of the
places and the bytes in the ledger's bins add up to ``size``.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from convparse.ledger import Ledger, Place
from convparse.reading.decoding import Refused, decode_exact, exact
from convparse.reading.documents import read_document
from convparse.reading.jsonl import BOM

_END: Final = re.compile(r"[\s,\]}]*+")
_OPEN: Final = re.compile(r'\{\s*+"')
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_SCANS: Final = 64
"""How often, on average, a byte may be read in search of items: objects lie in one another, and each may be none."""
_SCANNER: Final = json.JSONDecoder(strict=False, parse_int=len, parse_float=len, parse_constant=len)


class _Replay:
    """Bytes that were read already, as the file they came from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int) -> bytes:
        return self._data[:size]


def read_racing(
    file: BinaryIO, size: int, ledger: Ledger, is_item: Callable[[dict[str, Any]], bool]
) -> Iterator[tuple[Any, Place]]:
    """The document with its place, and the items behind it with theirs."""
    if size > ledger.limits.document_bytes:
        yield from read_document(file, size, ledger)
        return
    data = file.read(size)
    begin = len(BOM) if data.startswith(BOM) else 0
    text = data.decode("latin-1")  # a character is a byte
    end = _value_end(text, begin)
    if end is None or not data[end:].strip(b"\0 \t\r\n"):
        whole = _is_whole(data[begin:], ledger)
        if whole or (end is None and not any(True for _ in _items(data, text, begin, is_item, ledger))):
            yield from read_document(_Replay(data), size, ledger)  # type: ignore[arg-type]
            return
    if begin:
        ledger.blank(begin)
    pieces = _Pieces(data, ledger)
    if end is not None:
        yield from pieces.enter(begin, end, end)
        begin = end
    for start, stop in _items(data, text, begin, is_item, ledger):
        if start > begin:
            pieces.lose(begin, start)
        begin = _END.match(text, stop).end()  # type: ignore[union-attr]  # it matches the empty string too
        yield from pieces.enter(start, stop, begin)
    if begin < len(data):
        pieces.lose(begin, len(data))
    if len(data) < size:
        ledger.unit("vanished", (data.count(b"\n") + 1, len(data), size - len(data)))


def _value_end(text: str, begin: int) -> int | None:
    """Where the first value ends, white space included."""
    try:
        end = _SCANNER.raw_decode(text, _SPACE.match(text, begin).end())[1]  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return None
    return _SPACE.match(text, end).end()  # type: ignore[union-attr]


def _is_whole(body: bytes, ledger: Ledger) -> bool:
    try:
        exact(body.rstrip(b"\0 \t\r\n"), ledger.limits.depth)
    except Refused:
        return False
    return True


def _items(
    data: bytes, text: str, begin: int, is_item: Callable[[dict[str, Any]], bool], ledger: Ledger
) -> Iterator[tuple[int, int]]:
    """Where whole items begin and end, none inside another. What is no item is looked into as long as ``_SCANS`` allow."""
    at, left = begin, _SCANS * (len(text) - begin)
    while left > 0:
        found = _OPEN.search(text, at)
        if found is None:
            return
        at = found.start()
        end = _object_end(text, at)
        left -= abs(end) - at
        if end > 0 and _is_item(data[at:end], is_item, ledger):
            left += end - at
            yield at, end
            at = end
        else:
            at += 1


def _object_end(text: str, at: int) -> int:
    """Where the object ends; if it does not, how far it was read, negative."""
    try:
        return _SCANNER.raw_decode(text, at)[1]
    except json.JSONDecodeError as error:
        return -error.pos
    except RecursionError:
        return -len(text)


def _is_item(data: bytes, is_item: Callable[[dict[str, Any]], bool], ledger: Ledger) -> bool:
    try:
        return is_item(exact(data, ledger.limits.depth)[0])
    except Refused:
        return False


class _Pieces:
    """Runs of the bytes, entered from the first to the last."""

    def __init__(self, data: bytes, ledger: Ledger) -> None:
        self._data, self._ledger = data, ledger
        self._at, self._line = 0, 1

    def _place(self, begin: int, end: int) -> Place:
        self._line += self._data.count(b"\n", self._at, begin)
        self._at = begin
        return self._line, begin, end - begin

    def enter(self, begin: int, stop: int, end: int) -> Iterator[tuple[Any, Place]]:
        """A value, which ends at ``stop``, and what belongs to its unit up to ``end``."""
        place = self._place(begin, end)
        try:
            value = decode_exact(self._data[begin:stop], self._ledger, place)
        except Refused as refused:
            self._ledger.unit(refused.code, place, excerpt=self._shown(begin, end))
        else:
            yield value, place

    def lose(self, begin: int, end: int) -> None:
        """What is no value; brackets and commas say nothing."""
        place = self._place(begin, end)
        if self._data[begin:end].strip(b"\0 \t\r\n,]}"):
            self._ledger.unit("malformed-line", place, excerpt=self._shown(begin, end))
        else:
            self._ledger.blank(end - begin)

    def _shown(self, begin: int, end: int) -> bytes:
        return self._data[begin : min(end, begin + self._ledger.limits.excerpt)]
