"""Just enough of protobuf's wire format for the few messages of a store: numbers of fields, and their values.

Bytes come in; ``(number, value)`` pairs go out, an int for numbers and bytes for all else. ``Malformed`` for anything that does
not decode to its end: content that is encrypted or something else.
"""

import re
from typing import Any, Final, TypeAlias

Fields: TypeAlias = dict[int, list[int | bytes]]
_DEPTH: Final = 12
_PRINTABLE: Final = re.compile(r"[\t\n\r\x20-\x7e\x85\xa0-\U0010ffff]*")


class Malformed(ValueError):  # noqa: N818 - says what happened to the bytes
    """Bytes that are no protobuf message."""


def fields(data: bytes) -> Fields:
    """The fields of a message, in order, by number."""
    found: Fields = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        value: int | bytes
        if not number:
            raise Malformed("field 0")
        if wire == 0:
            value, at = _varint(data, at)
        elif wire in (1, 2, 5):
            length, at = _varint(data, at) if wire == 2 else (8 if wire == 1 else 4, at)
            if at + length > len(data):
                raise Malformed("cut")
            value, at = data[at : at + length], at + length
        else:
            raise Malformed(f"wire type {wire}")
        found.setdefault(number, []).append(value)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Malformed("cut")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
    raise Malformed("a number of more than 64 bits")


def texts(found: Fields, number: int) -> list[str]:
    """The values of a field of texts."""
    return [value.decode("utf-8", "replace") for value in found.get(number, []) if isinstance(value, bytes)]


def hashes(found: Fields, number: int) -> list[str]:
    """The values of a field of ids: 32 bytes, as lower-case hex."""
    return [value.hex() for value in found.get(number, []) if isinstance(value, bytes)]


def plain(value: int | bytes, depth: int = 0) -> Any:
    """Any value as JSON that says all of it: text where it is text, an object of its fields where it is a message, else hex."""
    if isinstance(value, int):
        return value
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and _PRINTABLE.fullmatch(text):
        return text
    if depth < _DEPTH and len(value) != 32:
        try:
            return {str(n): [plain(v, depth + 1) for v in values] for n, values in fields(value).items()}
        except Malformed:
            pass
    return {"hex": value.hex()}
