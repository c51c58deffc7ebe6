"""Rows of a database as units: decoded values with their places, and the account of what was read.

A ``Database`` and a ledger come in; units go out, and every row that gives none is entered in the ledger with the reason. A
place is ``(rowid, number, size)``: the number says how many rows were read before, the size is that of key and value. A row
that is read twice is one unit.
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import orjson

from convparse.ledger import NOWHERE, Ledger, Place
from convparse.reading.decoding import Refused, decode_exact, deeper
from convparse.reading.tables import Record, Row, Table
from convparse.records import Origin

if TYPE_CHECKING:
    from convparse.reading.sqlite import Database


class Rows:
    """One account of rows of a database: all of it, or those of one conversation."""

    def __init__(self, database: "Database", ledger: Ledger, shared: dict[str, Any]) -> None:
        self.database = database
        self.ledger = ledger
        self.shared = shared
        """What sources remember of the database as a whole, over all accounts."""
        self.size = 0
        self._places: dict[tuple[str, int], Place] = {}
        self._rows: list[tuple[str, str | None, int]] = []
        self._lost: set[Place] = set()
        self._given: set[Place] = set()
        ledger.at = self.origin

    def place(self, row: Row) -> Place:
        """The place of a row, counted when it is first asked for."""
        place = self._places.get((row.table, row.rowid))
        if place is None:
            place = self._places[row.table, row.rowid] = (row.rowid, len(self._rows), row.size)
            self._rows.append((row.table, row.key, row.rowid))
            self.size += row.size
            counts = self.shared.setdefault("counts", Counter())
            counts[row.table, family(row.key)] += 1
        return place

    def origin(self, place: Place, pointer: str = "") -> Origin:
        """The origin of a row; of none where a whole family was counted."""
        if place[1] < 0:
            return Origin(self.ledger.path)
        table, key, rowid = self._rows[place[1]]
        return Origin(self.ledger.path, None, None, place[2], table, key, rowid, pointer)

    def values(self, table: Table, prefix: str) -> Iterator[tuple[Record, Place]]:
        """The JSON values of the rows with a prefix."""
        for row in self.database.rows(table, prefix):
            if len(self._rows) >= self.ledger.limits.rows:
                self.ledger.unit("too-many-rows", self.place(row), record=family(row.key))
            else:
                yield from self._value(row)

    def value(self, table: Table, key: str) -> Iterator[tuple[Record, Place]]:
        """The JSON value of one row, or nothing."""
        row = self.database.row(table, key)
        if row is not None:
            yield from self._value(row)

    def data(self, table: Table, key: str) -> Iterator[tuple[Record, Place]]:
        """The bytes of one row, or nothing."""
        row = self.database.row(table, key)
        if row is not None and self.is_whole(row):
            yield Record(row.table, row.key or "", row.value, row.kind), self.place(row)

    def is_whole(self, row: Row, record: str = "") -> bool:
        """True if there is a value; else its unit is entered as lost."""
        code = row.problem or ("null-value" if row.value is None else "empty-value" if not row.value else "")
        place = self.place(row)
        if code and place not in self._lost:
            self._lost.add(place)
            self.ledger.unit(code, place, record=record or family(row.key), excerpt=(row.value or b"")[:_SHOWN])
        if not code:
            self._given.add(place)  # of a damaged table a row may stand under two keys
        return not code

    def _value(self, row: Row) -> Iterator[tuple[Record, Place]]:
        place, data = self.place(row), row.value or b""
        given = place in self._given
        if not self.is_whole(row) or given:
            return
        try:
            value = decode_value(data, self.ledger, place)
        except Refused as refused:
            code = "malformed-value" if refused.code == "malformed-line" else refused.code
            self.ledger.unit(code, place, record=family(row.key), excerpt=data[:_SHOWN])
        else:
            yield Record(row.table, row.key or "", value, row.kind), place

    def rest(self, *tables: Table) -> None:
        """Count what no source reads beside its tables: keys that are no text, further columns and tables, what is refused."""
        database, known = self.database, {table.name: table for table in tables if self.database.has(table)}
        inside = tuple(f"{name}_" for name, why in database.refused.items() if why == "a virtual table")
        for name, table in known.items():
            odd = sum(database.without_key(table))
            if odd:
                self.ledger.family("odd-key", NOWHERE, odd, record=name)
        for name, columns in database.columns.items():
            if name.startswith(inside):
                continue
            if name not in known:
                self._unread(f"table {name}", max((database.filled(name, column) for column in columns), default=0))
                continue
            for column in () if known[name].whole else columns:
                if column not in (known[name].key, known[name].value):
                    self._unread(f"column {column} of {name}", database.filled(name, column))
        for name in database.refused:
            if not name.startswith(inside):
                self.ledger.family("refused-table", NOWHERE, 1, record=name)

    def _unread(self, what: str, count: int) -> None:
        if count:
            self.ledger.family("unread-rows", NOWHERE, count, record=what)

    def stamp(self, ranges: tuple[tuple[Table, str, bool], ...]) -> str:
        """A text that changes when any row of these ranges does."""
        known: dict[tuple[Table, str, bool], bytes] = self.shared.setdefault("stamps", {})
        digest = blake2b(digest_size=16)
        for part in ranges:
            if part not in known:
                known[part] = self._digest(*part)
            digest.update(known[part])
        return digest.hexdigest()

    def _digest(self, table: Table, key: str, exact: bool) -> bytes:
        digest = blake2b(digest_size=16)
        found = self.database.row(table, key) if exact else None
        for row in ([found] if found else []) if exact else self.database.rows(table, key):
            told = (row.table.encode(), (row.key or "").encode("utf-8", "replace"), row.kind.encode(), row.value or b"")
            for part in (*told, row.problem.encode()):
                digest.update(len(part).to_bytes(8, "big") + part)
        return digest.digest()


_SHOWN: Final = 1_000


def family(key: str | None) -> str:
    """The first word of a key."""
    return "" if key is None else key.partition(":")[0]


def decode_value(data: bytes, ledger: Ledger, place: Place) -> Any:
    """A JSON value, proved by encoding it again or decoded exactly; raises ``Refused``."""
    try:
        value = orjson.loads(data)
        if orjson.dumps(value) == data and not _may_be_deep(data, value, ledger.limits.depth):
            return value
    except (ValueError, TypeError):
        pass
    return decode_exact(data, ledger, place)


def _may_be_deep(data: bytes, value: Any, depth: int) -> bool:
    return data.count(b"[") + data.count(b"{") > depth and deeper(value, depth)
