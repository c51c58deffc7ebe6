"""Where conversations lie in ``state.vscdb``, the database of the editor: one of each workspace, and a global one.

No list of conversations is complete: they are the union of what lists, maps and the names of keys say. Names of keys are read
all; values only of the keys that the tables name, so that no value which may hold a token is ever selected. What is not read
is counted by family.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from convparse.ledger import NOWHERE, Ledger
from convparse.reading.decoding import Refused
from convparse.reading.rows import Rows, decode_value
from convparse.reading.tables import Record, Row, Table
from convparse.sources._source import Store, Unit
from convparse.sources.trae.fields import (
    ACTIVE,
    AGENTS,
    CATALOGUE,
    GLOBAL,
    HISTORY,
    IGNORED,
    LISTS,
    NAMED,
    PER_SESSION,
    RELATIONS,
)

ITEM: Final = Table("ItemTable", "key", "value")
_SECRET: Final = re.compile("token|secret|auth|credential|password|passport|cookie|jwt|account|login", re.IGNORECASE)


class Part(NamedTuple):
    """What one row says of one conversation."""

    row: Row
    """Without its value."""
    at: str
    value: Any


# ---- keys ------------------------------------------------------------------------------------------------------------------


def is_list(key: str) -> bool:
    """True for a key that holds a list of sessions."""
    return key not in HISTORY and any(key == name or key.startswith(f"{name}-") for name in LISTS)


def relation(key: str) -> str | None:
    """Which of the maps of sessions a key holds."""
    _, mark, name = key.rpartition(RELATIONS)
    return name if mark and name in PER_SESSION | GLOBAL else None


def named(key: str) -> tuple[str, str] | None:
    """The session that a key's name names, and the beginning of the key."""
    for prefix in NAMED:
        if key.startswith(prefix):
            rest = key.removeprefix(prefix)
            id = rest.partition(":")[0] if prefix == "draft:session:" else rest
            return (id, prefix) if id else None
    return None


def is_read(key: str) -> bool:
    """True for a key whose value becomes records."""
    return is_list(key) or key in HISTORY or key in (AGENTS, ACTIVE) or relation(key) is not None or named(key) is not None


def keys(rows: Rows) -> list[str]:
    """The names of all keys that are read; of all others, the family and the count."""
    if "keys" not in rows.shared:
        read: list[str] = []
        families: dict[tuple[str, str], int] = {}
        for _, key in rows.database.keys(ITEM, ""):
            if is_read(key):
                read.append(key)
            else:
                family = _family(key)
                families[family] = families.get(family, 0) + 1
        read.sort(key=_rank)
        rows.shared["keys"], rows.shared["families"] = read, families
    found: list[str] = rows.shared["keys"]
    return found


def _rank(key: str) -> int:
    """Lists first, the newest kind before the older ones: the first copy of a session counts."""
    return next((number for number, name in enumerate(LISTS) if key == name or key.startswith(f"{name}-")), len(LISTS))


def _family(key: str) -> tuple[str, str]:
    """The code and the name under which a key is counted."""
    if _SECRET.search(key):
        return "skipped-rows", "credentials"
    for name in IGNORED:
        if key.startswith(name):
            return "skipped-rows", name
    if key.endswith(CATALOGUE):
        return "skipped-rows", "model_list_map"
    for mark in ("memento/icube-ai", "icube-ai", "ai-chat", "draft:", "chat-suggest:"):
        if key.startswith(mark) or f"_{mark}" in key:
            return "unread-rows", mark.rstrip(":")
    return "skipped-rows", "ItemTable"


# ---- which conversations there are -----------------------------------------------------------------------------------------


def sessions(value: Any) -> tuple[str, Any]:
    """The list of sessions in a value and the pointer to it; ``list`` is the usual name."""
    if type(value) is list:
        return "", value
    if type(value) is dict:
        data = value.get("data")
        for at, holder, name in (("", value, "list"), ("/data", data, "list"), ("", value, "sessions")):
            if type(holder) is dict and type(holder.get(name)) is list:
                return f"{at}/{name}", holder[name]
    return "", None


def is_session(item: Any) -> bool:
    """True for an entry of a list that names a conversation."""
    return type(item) is dict and type(item.get("sessionId")) is str and item["sessionId"] != ""


def index(rows: Rows) -> dict[str, list[Part]]:
    """What lists and maps say, by conversation, the lists first."""
    if "index" not in rows.shared:
        found: dict[str, list[Part]] = {}
        current: list[tuple[str, Part]] = []
        wanted = (key for key in keys(rows) if is_list(key) or key in (AGENTS, ACTIVE) or relation(key) in PER_SESSION)
        for row in filter(None, (rows.database.row(ITEM, key) for key in wanted)):
            value, mark = _quietly(row, rows)
            for id, at, item in _entries(row.key or "", value, mark):
                part = Part(row._replace(value=None), at, item)
                if at.endswith("/currentSessionId"):
                    current.append((id, part))
                else:
                    found.setdefault(id, []).append(part)
        for id, part in current:
            if id not in found:
                found[id] = [part]
        rows.shared["index"] = found
    known: dict[str, list[Part]] = rows.shared["index"]
    return known


def _entries(key: str, value: Any, mark: str) -> Iterator[tuple[str, str, Any]]:
    """The conversations that a row names: id, pointer, what is said of it."""
    if is_list(key):
        at, listed = sessions(value)
        for number, item in enumerate(listed or ()):
            if is_session(item):
                yield item["sessionId"], f"{mark}{at}/{number}", item
        current = value.get("currentSessionId") if type(value) is dict else None
        if type(current) is str and current:
            yield current, f"{mark}/currentSessionId", current
    elif key == ACTIVE:
        if type(value) is str and value:
            yield value, "", value
    elif type(value) is dict:
        for id, item in value.items():
            if id:
                yield id, f"{mark}/{id.replace('~', '~0').replace('/', '~1')}", item


def _quietly(row: Row, rows: Rows) -> tuple[Any, str]:
    """The value of a row whose damage is named elsewhere, and ``»`` if it was JSON in a string."""
    if row.problem or not row.value:
        return None, ""
    return decode(row.value, Ledger("", rows.ledger.limits), (row.rowid, 0, row.size), row.key == ACTIVE)


def decode(data: bytes, ledger: Ledger, place: tuple[int, int, int], plain: bool = False) -> tuple[Any, str]:
    """A value, decoded twice where it is JSON in a string; ``plain``: text that is no JSON is itself the value."""
    try:
        value = decode_value(data, ledger, place)
    except Refused:
        return (data.decode("utf-8", "replace"), "") if plain else (None, "")
    return unwrap(value, ledger, place)


def unwrap(value: Any, ledger: Ledger, place: tuple[int, int, int]) -> tuple[Any, str]:
    """The object or list that a string holds as JSON; any other value is itself."""
    if type(value) is str and value[:1] in ("{", "["):
        try:
            return decode_value(value.encode("utf-8", "replace"), ledger, place), "/»"
        except Refused:
            pass
    return value, ""


def names(rows: Rows) -> dict[str, list[str]]:
    """The conversations that the names of keys name, each with the keys."""
    if "names" not in rows.shared:
        found: dict[str, list[str]] = {}
        for key in keys(rows):
            told = named(key)
            if told is not None:
                found.setdefault(told[0], []).append(key)
        rows.shared["names"] = found
    known: dict[str, list[str]] = rows.shared["names"]
    return known


def ids(rows: Rows) -> Iterator[str]:
    """The ids of all conversations: those of lists in their order, then those that maps and names of keys alone name."""
    yield from dict.fromkeys((*index(rows), *names(rows)))


# ---- one conversation ------------------------------------------------------------------------------------------------------


def ranges(id: str) -> tuple[tuple[Table, str, bool], ...]:
    """Where the rows of a conversation are, but for maps under a user's id, which only a search of all keys finds."""
    own = [(ITEM, f"{prefix}{id}", prefix != "draft:session:") for prefix in NAMED]
    return (*((ITEM, name, False) for name in LISTS), (ITEM, AGENTS, True), *own)


def units(rows: Rows, id: str, messages: bool) -> Iterator[Unit]:
    """The units of a conversation: what lists hold of it, what maps say, what is kept under its name."""
    for part in index(rows).get(id, ()):
        key = part.row.key or ""
        table = "list" if is_list(key) and not part.at.endswith("/currentSessionId") else "map"
        yield Record(table, key, (id, part.at, part.value, messages), part.row.kind), rows.place(part.row)
    for key in names(rows).get(id, ()):
        row = rows.database.row(ITEM, key) if messages else None
        if row is not None and rows.is_whole(row, key.replace(id, "*", 1)):
            yield Record("named", key, (id, row.value), row.kind), rows.place(row)
        else:
            yield Record("named", key, (id, None), ""), NOWHERE


# ---- what belongs to none --------------------------------------------------------------------------------------------------


def beside(rows: Rows) -> Iterator[Unit]:
    """Lists and maps as such, and the history of prompts; then everything else is counted."""
    for key in keys(rows):
        if key == ACTIVE:
            yield from rows.data(ITEM, key)
        elif named(key) is None:
            yield from rows.value(ITEM, key)
    for (code, name), count in rows.shared["families"].items():
        rows.ledger.family(code, NOWHERE, count, record=name)
    rows.rest(ITEM)


STORE: Final = Store(ids, ranges, units, beside)
