"""Times as Trae's stores write them: seconds, milliseconds and microseconds since 1970, as numbers or texts, and RFC 3339.

The magnitude tells the unit; what is no time of this millennium is none, so that nothing lands in 1970. A time without an
offset has no datetime. The first eight digits of a session's id are the second in which it was made: a derived time.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from convparse.times import iso_time

When: TypeAlias = tuple[datetime | None, str | None, str | None]
"""Datetime, its origin and text: the three facts that a record takes."""
NEVER: Final[When] = (None, None, None)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"\d{9,17}(\.\d{1,9})?", re.ASCII)
_ID: Final = re.compile(r"[0-9a-f]{24}", re.IGNORECASE | re.ASCII)
_LEAST: Final = 978_307_200
"""Seconds since 1970 at the beginning of 2001."""
_MOST: Final = 32_503_680_000
"""The same at the beginning of 3000."""
_SECONDS: Final = 11
"""Digits of a number of seconds, at most."""
_UNITS: Final = (("seconds", 1), ("milliseconds", 1_000), ("microseconds", 1_000_000))


def read_time(value: int | float | str) -> When:
    """A time as it was recorded; milliseconds are the usual form."""
    if type(value) is str:
        if _NUMBER.fullmatch(value):
            whole, _, part = value.partition(".")
            when = _of_number(int(whole))
            return _told(_with_part(when, part) if when is not None and len(whole) <= _SECONDS else when, value)
        return _told(*iso_time(value))
    assert not isinstance(value, str)
    when = _of_number(value)
    return _told(when, None if when is not None and type(value) is int and value >= _LEAST * 1_000 else str(value))


def _with_part(when: datetime, part: str) -> datetime:
    """Seconds with what stands behind their point, exact to the microsecond."""
    return when + timedelta(microseconds=int(part[:6].ljust(6, "0")))


def _told(when: datetime | None, text: str | None) -> When:
    return when, None if when is None else "recorded", text


def _of_number(value: int | float) -> datetime | None:
    for name, unit in _UNITS:
        if _LEAST * unit <= value < _MOST * unit:
            return _EPOCH + timedelta(**{name: value})
    return None


def id_time(id: str) -> When:
    """When a session was made, as its id says it."""
    if not _ID.fullmatch(id):
        return NEVER
    when = _of_number(int(id[:8], 16))
    return (when, "derived", None) if when is not None else NEVER
