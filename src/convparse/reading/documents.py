"""A file that is one JSON document, and so one unit.

As for JSON Lines, the length of the place and the bytes in the ledger's bins add up to ``size``. White space belongs to the
unit, a byte order mark and NUL bytes at the end do not.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from convparse.ledger import Ledger, Place
from convparse.reading.decoding import Refused, decode_exact, deeper, type_of
from convparse.reading.jsonl import BOM, HEAD, UTF16


def read_document(file: BinaryIO, size: int, ledger: Ledger) -> Iterator[tuple[Any, Place]]:
    """The one value of a file with its place, or nothing."""
    if size > ledger.limits.document_bytes:
        head = file.read(min(size, HEAD))
        ledger.unit("oversized", (1, 0, size), record=type_of(head), excerpt=head[: ledger.limits.excerpt])
        return
    data = file.read(size)
    if data:
        yield from _read(data, ledger)
    if len(data) < size:
        ledger.unit("vanished", (data.count(b"\n") + 1, len(data), size - len(data)))


def _read(data: bytes, ledger: Ledger) -> Iterator[tuple[Any, Place]]:
    begin = len(BOM) if data.startswith(BOM) else 0
    if begin:
        ledger.blank(begin)
    end = _padding(data, begin)
    body = data[begin:end]
    if body.strip():
        place = (1, begin, len(body))
        try:
            value = _decode(body, ledger, place)
        except Refused as refused:
            ledger.unit(refused.code, place, excerpt=body[: ledger.limits.excerpt])
        else:
            yield value, place
    elif body:
        ledger.blank(len(body))
    if end < len(data):
        ledger.unit("nul-padding", (data.count(b"\n", 0, end) + 1, end, len(data) - end), excerpt=b"\0")


def _padding(data: bytes, begin: int) -> int:
    """Where NUL bytes at the end begin; the end if there are none, or if the text is UTF-16."""
    kept = len(data.rstrip(b"\0 \t\r\n"))
    nul = data.find(b"\0", max(kept, begin))
    return len(data) if nul < 0 or UTF16.match(data) else nul


def _decode(body: bytes, ledger: Ledger, place: Place) -> Any:
    """The value, proved by encoding it again or decoded exactly."""
    try:
        value = orjson.loads(body)
        if orjson.dumps(value) == body.strip() and not deeper(value, ledger.limits.depth):
            return value
    except (ValueError, TypeError):
        pass
    return decode_exact(body, ledger, place)
