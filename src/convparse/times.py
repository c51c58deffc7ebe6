"""Times as products write them, to aware datetimes: exact, or None.

A reader gives ``(datetime, text)``. ``text`` is None where the datetime says all of it in the product's usual form; else it is
the product's own text. Nothing is guessed: a time without an offset has no datetime.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

Time: TypeAlias = tuple[datetime | None, str | None]
NO_TIME: Final[Time] = (None, None)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)", re.ASCII)
_from_iso = datetime.fromisoformat


def iso_time(text: str) -> Time:
    """An ISO 8601 time with an offset. The usual form is the one JavaScript writes: ``2026-01-31T23:59:59.123Z``."""
    usual = len(text) == 24 and text[4:20:3] == "--T::." and text[23] == "Z"
    if not usual and not _ISO.fullmatch(text):
        return None, text
    try:
        return _from_iso(text), None if usual else text
    except ValueError:
        return None, text


def epoch_ms(value: int) -> Time:
    """Whole milliseconds since 1970, UTC."""
    try:
        return _EPOCH + timedelta(milliseconds=value), None
    except OverflowError:
        return None, str(value)
