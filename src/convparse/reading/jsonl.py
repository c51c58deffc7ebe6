"""JSON Lines, with every byte accounted for.

A binary file comes in; ``(value, place)`` go out for every value that can be had, in file order, and all else is entered in the
ledger: over one file, the lengths of the places and the bytes in the ledger's bins add up to ``size``, whatever the bytes are.
A line ends at LF and nowhere else. Reading stops at ``size``, the size at open.

A line is decoded by ``orjson`` and proved by encoding it again: equal bytes mean that no key stood twice and no number was
rounded. Only a line that fails is looked at twice. A damaged line is searched for whole records: several without a line end
between them, one behind a record that was cut short, one among NUL bytes. What is found in the middle of a line must pass the
source's test for a record and end where a record can end, so that an object nested in a lost one is not taken for a record.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO, Final, TypeAlias

import orjson

from convparse.ledger import Ledger, Place
from convparse.reading.decoding import Refused, decode_exact, deeper, exact, type_of

IsRecord: TypeAlias = Callable[[dict[str, Any]], bool]

BOM: Final = b"\xef\xbb\xbf"
HEAD: Final = 4_096
"""Bytes of something oversized in which its type is looked for."""
_BLOCK: Final = 256 << 10
_ORJSON_DEPTH: Final = 254
_TRIES: Final = 64
"""Failed attempts to find a record in one damaged line."""
_OPEN: Final = re.compile(rb'\{\s*+"')
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_NULS: Final = re.compile(rb"[ \t\r\n]*+\x00[\x00 \t\r\n]*+")
UTF16: Final = re.compile(rb"\xff\xfe|\xfe\xff|\x00?(?:[\x01-\x7f]\x00){4}")
_SCANNER: Final = json.JSONDecoder(strict=False, parse_int=len, parse_float=len, parse_constant=len)
"""Finds where a value ends. It reads bytes as Latin-1, so that a character is a byte; only the end is of use."""


def iter_records(
    file: BinaryIO, size: int, ledger: Ledger, is_record: IsRecord, unproven: frozenset[str] = frozenset()
) -> Iterator[tuple[Any, Place]]:
    """The values of a file with their places: records, and whatever else is valid JSON, for the source to name.

    ``unproven``: values of the key ``type`` whose records the source skips whole, so that no proof is spent on them.
    """
    loads, dumps, newline = orjson.loads, orjson.dumps, orjson.OPT_APPEND_NEWLINE
    most, depth = ledger.limits.line_bytes, ledger.limits.depth
    shallow = depth < _ORJSON_DEPTH
    readline = partial(file.readline, most + 1)
    number = offset = 0
    while offset < size:
        line = readline()
        length = len(line)
        number += 1
        if not length:
            ledger.unit("vanished", (number, offset, size - offset))
            return
        if offset + length > size:
            line = line[: size - offset]
            length = len(line)
        if length > most:
            offset += _pass_over(file, line, (number, offset, size - offset), ledger)
            continue
        try:
            value = loads(line)
            # A type that cannot be looked up raises as damage does, and is then looked at the slow way.
            encoded = line if unproven and value.get("type") in unproven else dumps(value, None, newline)
        except (ValueError, TypeError, AttributeError):
            value = encoded = None
        if encoded == line and not (shallow and deeper(value, depth)):
            yield value, (number, offset, length)
        else:
            yield from _look(line, value, encoded, (number, offset, length), ledger, is_record)
        offset += length


def _pass_over(file: BinaryIO, line: bytes, rest: Place, ledger: Ledger) -> int:
    """Read on to the end of a line that is too long, and enter it; its length."""
    number, offset, left = rest
    length, block = len(line), line
    while block and length < left and not block.endswith(b"\n"):
        block = file.readline(min(_BLOCK, left - length))
        length += len(block)
    excerpt = line[: ledger.limits.excerpt]
    ledger.unit("oversized", (number, offset, length), record=type_of(line[:HEAD]), excerpt=excerpt)
    return length


def _look(
    line: bytes, value: Any, encoded: bytes | None, place: Place, ledger: Ledger, is_record: IsRecord
) -> Iterator[tuple[Any, Place]]:
    """A line that was not proved: whole but written in another way, blank, or damaged."""
    number, offset, length = place
    depth = ledger.limits.depth
    if encoded is not None:
        if encoded[:-1] == line.strip() and not (depth < _ORJSON_DEPTH and deeper(value, depth)):
            yield value, place
        else:
            yield from _enter([("", 0, length)], line, number, offset, ledger)
        return
    start = len(BOM) if offset == 0 and line.startswith(BOM) else 0
    if start:
        ledger.blank(start)
    if not line[start:].strip():
        if start < length:
            ledger.blank(length - start)
    elif UTF16.match(line):
        yield from _enter([("malformed-line", 0, length)], line, number, offset, ledger)
    else:
        yield from _enter(_pieces(line, start, is_record, depth), line, number, offset, ledger)


Piece: TypeAlias = tuple[str, int, int]
"""A run of a line's bytes, with the code for what was lost there; no code: a value."""


def _enter(
    pieces: Iterator[Piece] | list[Piece], line: bytes, number: int, offset: int, ledger: Ledger
) -> Iterator[tuple[Any, Place]]:
    cut = not line.endswith(b"\n")
    values = 0
    for code, begin, end in pieces:
        place = (number, offset + begin, end - begin)
        if not code:
            try:
                value = decode_exact(line[begin:end], ledger, place)
            except Refused as refused:
                code = refused.code
            else:
                if values:
                    ledger.part("missing-newline", place)
                values += 1
                yield value, place
                continue
        if code == "malformed-line" and cut and not line[end:].strip(b"\0 \t\r\n"):
            code = "torn-tail"
        ledger.unit(code, place, excerpt=line[begin : min(end, begin + ledger.limits.excerpt)])


def _pieces(line: bytes, start: int, is_record: IsRecord, depth: int) -> Iterator[Piece]:
    """A damaged line from ``start``, cut into values and what is lost; the pieces join without gaps."""
    text = line.decode("latin-1")
    begin, tries, alone = start, _TRIES, True
    while begin < len(line):
        nuls = _NULS.match(line, begin)
        if nuls:
            yield "nul-padding", begin, nuls.end()
            begin = nuls.end()
            continue
        code, at, end, tries = _next(line, text, begin, tries, alone, is_record, depth)
        yield from _lost(line, begin, at, code)
        if at < end:
            yield "", at, end
            alone = False
        begin = end


def _next(
    line: bytes, text: str, begin: int, tries: int, alone: bool, is_record: IsRecord, depth: int
) -> tuple[str, int, int, int]:
    """The next whole value: the code for what is lost before it, where it begins and ends, and how many tries are left."""
    at, code = begin, "malformed-line"
    while at < len(line) and tries:
        try:
            opening = _SPACE.match(text, at).end()  # type: ignore[union-attr]
            end = _SPACE.match(text, _SCANNER.raw_decode(text, opening)[1]).end()  # type: ignore[union-attr]
        except (ValueError, RecursionError) as error:
            tries -= 1
            end = at + 1
            if at == begin and isinstance(error, RecursionError):
                code = "too-deep"
        else:
            bound = text[end : end + 1] in "{\0"  # the empty text of the line's end is in both
            if text[opening] != "{":
                found = alone and at == begin and text[end : end + 1] in "\0"
            elif at == begin and bound:
                found = True
            else:
                found = (bound or at == begin) and _passes(line[at:end], is_record, depth)
            if found:
                cut = code == "malformed-line" and line[begin:at].lstrip().startswith(b"{")
                return "cut-record" if cut else code, at, end, tries
        match = _OPEN.search(line, end)
        at = match.start() if match else len(line)
    return code, len(line), len(line), tries


def _passes(record: bytes, is_record: IsRecord, depth: int) -> bool:
    try:
        return is_record(exact(record, depth)[0])
    except Refused:
        return False


def _lost(line: bytes, begin: int, end: int, code: str) -> Iterator[Piece]:
    """The pieces of a lost run: NUL bytes at its end are padding."""
    kept = begin + len(line[begin:end].rstrip(b"\0 \t\r\n"))
    if b"\0" not in line[kept:end]:
        kept = end
    if begin < kept:
        yield code, begin, kept
    if kept < end:
        yield "nul-padding", kept, end
