"""Tables of keys and values, and their rows: what the reading of databases and the sources that know them share.

Without ``sqlite3``, so that a source can be imported where no database is read.
"""

from typing import Any, NamedTuple

import attrs


@attrs.frozen
class Table:
    """A table of keys and values, by name and columns."""

    name: str
    key: str
    value: str
    whole: bool = False
    """True if further columns are read, too."""


class Row(NamedTuple):
    """One row. ``problem`` is the code of what is wrong with it; its value is then the beginning, or None."""

    table: str
    rowid: int
    key: str | None
    kind: str
    """How the value is stored: ``text``, ``blob``, ``null``, ``integer`` or ``real``."""
    value: bytes | None
    size: int
    """Bytes of key and value."""
    problem: str = ""


class Record(NamedTuple):
    """The value of a row: decoded JSON, or bytes."""

    table: str
    key: str
    value: Any
    kind: str


_LAST = "\U0010ffff"


def bounds(prefix: str) -> tuple[str, str]:
    """The range of the keys that begin with a prefix."""
    if not prefix:
        return "", _LAST
    if prefix[-1] == _LAST:
        return prefix, prefix + _LAST
    return prefix, prefix[:-1] + ("\ue000" if prefix[-1] == "\ud7ff" else chr(ord(prefix[-1]) + 1))
