"""What JavaScript does, as far as the rules depend on it: white space, texts of values, times, sorting.

Pure functions over decoded JSON. ``Stops`` is raised where the parser's own code would raise a ``TypeError`` or ``RangeError``.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cmp_to_key
from typing import Any, Final, TypeVar

from convparse.times import iso_time

T = TypeVar("T")
_SPACE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
ABSENT: Final = object()
"""In the place of a property that is not there, where that is not the same as null."""
NEVER: Final = math.nan
"""A time that cannot be read."""
NOW: Final = math.inf
"""The clock's time, which is after all others."""


class Stops(Exception):  # noqa: N818 - says what happens
    """The parser raises an error here."""


def trim(text: str) -> str:
    """The text without white space at its ends."""
    return text.strip(_SPACE)


def field(value: Any, name: str) -> Any:
    """A property; None where there is none. Raises ``Stops`` for null, which has no properties."""
    if value is None:
        raise Stops
    return value.get(name) if type(value) is dict else None


def elements(value: Any) -> Sequence[Any]:
    """The items of a list, or characters. Raises ``Stops`` for what has none."""
    if not isinstance(value, list | str):
        raise Stops
    return value


def searched(value: Any) -> tuple[str, bool]:
    """The text of a value among others, and whether there is a fence in it. Raises ``Stops`` for what cannot be searched."""
    return shown(value), "```" in elements(value)


def sized(value: Any) -> bool:
    """True for what has a length, and is not empty."""
    return isinstance(value, list | str) and len(value) > 0


def string(value: Any) -> str:
    """A value that is to be a string. Raises ``Stops`` for what is none, since methods of strings are called on it."""
    if type(value) is not str:
        raise Stops
    return value


def truthy(value: Any) -> bool:
    """What counts as true: all objects do, empty ones too."""
    return isinstance(value, list | dict) or bool(value)


def either(*values: Any) -> Any:
    """The first value that counts as true, else the last one: ``||``."""
    return next((value for value in values if truthy(value)), values[-1])


def word(value: Any) -> str | None:
    """A value that should be a string, as one; None for none."""
    return None if value is None else shown(value)


def time(value: Any) -> str | float | None:
    """A time as a row has it: a text or a number, None for none."""
    return value if type(value) in (int, float) else word(value)


def within(value: Any) -> str:
    """A value in the middle of a text."""
    return "undefined" if value is ABSENT else "null" if value is None else shown(value)


def shown(value: Any) -> str:
    """The text of a value among others that are joined."""
    if type(value) is list:
        return ",".join("" if item is None else shown(item) for item in value)
    if type(value) is dict:
        return "[object Object]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def milliseconds(value: str | float | None) -> float:
    """A time as a number to sort by: ``NOW`` for none, ``NEVER`` for a text that is not ISO 8601 with an offset."""
    if value is None or isinstance(value, int | float):
        return NOW if value is None else value
    when, _ = iso_time(value)
    return NEVER if when is None else (when - _EPOCH) // timedelta(milliseconds=1)


def iso(value: Any) -> str:
    """Milliseconds as a text. Raises ``Stops`` for what is no time of the years 1 to 9999."""
    if not isinstance(value, int | float):
        raise Stops
    try:
        when = _EPOCH + timedelta(milliseconds=math.trunc(value))
    except (OverflowError, ValueError) as error:
        raise Stops from error
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sort(items: list[T], number: Callable[[T], float]) -> list[T]:
    """Sorted by a number; what cannot be compared counts as equal, so that it keeps its place among its neighbours."""

    def compare(one: T, other: T) -> int:
        difference = number(one) - number(other)
        return (difference > 0) - (difference < 0)

    return sorted(items, key=cmp_to_key(compare))
