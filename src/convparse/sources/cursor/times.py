"""When something happened, by the rule that Cursor's stores need.

The best first: the bubble's ``createdAt``, its header's, ``startedAtMs``, and the client's clock where it is one: the times of
``timingInfo`` are often relative to the start of the program, and would give dates of 1970.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from convparse.times import Time, epoch_ms, iso_time

_LEAST: Final = 1_000_000_000_000
"""Milliseconds since 1970 in September 2001: no clock of a Cursor stood earlier."""
_MOST: Final = 100_000_000_000_000
When: TypeAlias = tuple[Any, Any, str | None]
"""Datetime, its origin and text."""
NEVER: Final[When] = (None, None, None)


def written(value: Any) -> Time:
    """A time as the product writes them: ISO text, or milliseconds since 1970."""
    if type(value) is str:
        return iso_time(value)
    if type(value) in (int, float) and _LEAST <= value < _MOST:
        when, _ = epoch_ms(int(value))
        return when, None if type(value) is int else str(value)
    return None, str(value)


def recorded(value: Any) -> When:
    """The same as a fact of a record."""
    if value is None:
        return NEVER
    when, text = written(value)
    return when, None if when is None else "recorded", text


def client_time(timing: Any) -> When:
    """What the client's clock said, where it was a clock; an inexact time, so that it is called derived."""
    if not isinstance(timing, Mapping):
        return NEVER
    value: Any
    for name in ("clientRpcSendTime", "clientSettleTime", "clientEndTime", "clientStartTime"):
        value = timing.get(name)
        if type(value) in (int, float) and _LEAST < value < _MOST:
            return written(value)[0], "derived", None
    return NEVER
