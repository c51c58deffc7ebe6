"""Where conversations lie in the databases of the editor: the global one and those of workspaces.

There is no complete list of conversations: they are the union of what heads, bubbles and every index name. All access is by
ranges of keys; a key's conversation is what stands between its first and second colon, and may hold a newline. Families that
are not read are counted, by their beginning alone.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from math import isfinite
from typing import Any, Final

from convparse.ledger import NOWHERE, Ledger, Place, escape
from convparse.reading.decoding import Refused
from convparse.reading.rows import Rows, decode_value
from convparse.reading.tables import Record, Table, bounds
from convparse.sources._source import Store, Unit
from convparse.sources.cursor import views
from convparse.sources.cursor.fields import CHAT, CONTENT, FAMILIES, GENERATIONS, HEADS, ITEMS, PANES, PROMPTS, READ

KV: Final = Table("cursorDiskKV", "key", "value")
ITEM: Final = Table("ItemTable", "key", "value")
HEAD_TABLE: Final = Table("composerHeaders", "composerId", "value", whole=True)
COLUMNS: Final = frozenset(
    "workspaceId createdAt lastUpdatedAt isArchived isSubagent recency checkpointAt subagentTypeName".split()
)
"""The further columns of ``composerHeaders`` that are known."""
_LAST: Final = "\U0010ffff"


# ---- which conversations there are -----------------------------------------------------------------------------------------


def ids(rows: Rows) -> Iterator[str]:
    """The ids of all conversations: those with rows, in the order of their keys, then those that an index alone names."""
    database = rows.database
    found = set()
    for family in READ:
        for key in database.heads(KV, *bounds(f"{family}:"), partial(_behind, family)):
            if key.startswith(f"{family}:"):
                found.add(key.split(":", 2)[1])
    yield from sorted(found)
    listed = dict.fromkeys([*indexed(rows), *(key for _, key in database.keys(HEAD_TABLE, "")), *tabs(rows)])
    yield from (id for id in listed if id not in found)


def _behind(family: str, key: str) -> str:
    """Where the next conversation of a family begins."""
    head = ":".join(key.split(":", 2)[:2])
    return f"{key}\0" if key == head or not key.startswith(f"{family}:") else f"{head};"


def indexed(rows: Rows) -> dict[str, list[tuple[str, int, Any]]]:
    """The heads in the JSON indexes: by id, the key of the index, the place in its list and the head."""
    if "heads" not in rows.shared:
        heads: dict[str, list[tuple[str, int, Any]]] = {}
        for key in HEADS:
            value = _quietly(rows, key)
            listed = value.get("allComposers") if type(value) is dict else None
            for number, head in enumerate(listed if type(listed) is list else ()):
                if is_head(head):
                    heads.setdefault(head["composerId"], []).append((key, number, head))
        rows.shared["heads"] = heads
    found: dict[str, list[tuple[str, int, Any]]] = rows.shared["heads"]
    return found


def is_head(head: Any) -> bool:
    """True for an entry of an index that names a conversation."""
    return type(head) is dict and type(head.get("composerId")) is str and head["composerId"] != ""


def tabs(rows: Rows) -> dict[str, tuple[int, Any]]:
    """The chat tabs of 2023 and 2024, by id."""
    if "tabs" not in rows.shared:
        value = _quietly(rows, CHAT)
        listed = value.get("tabs") if type(value) is dict else None
        found: dict[str, tuple[int, Any]] = {}
        for number, tab in enumerate(listed if type(listed) is list else ()):
            if is_tab(tab):
                found.setdefault(tab["tabId"], (number, tab))
        rows.shared["tabs"] = found
    known: dict[str, tuple[int, Any]] = rows.shared["tabs"]
    return known


def is_tab(tab: Any) -> bool:
    """True for a chat tab."""
    return type(tab) is dict and type(tab.get("tabId")) is str


def _quietly(rows: Rows, key: str) -> Any:
    """The value of a row of ``ItemTable`` that other places account for."""
    row = rows.database.row(ITEM, key)
    if row is None or row.problem or not row.value:
        return None
    rows.shared.setdefault("index", {})[key] = row._replace(value=None)
    try:
        return decode_value(row.value, Ledger("", rows.ledger.limits), (row.rowid, 0, row.size))
    except Refused:
        return None


# ---- one conversation ------------------------------------------------------------------------------------------------------


def ranges(id: str) -> tuple[tuple[Table, str, bool], ...]:
    """Where the rows of a conversation are."""
    own = [(KV, f"{family}:{id}{end}", not end) for family in READ for end in ("", ":")]
    return (*own, (HEAD_TABLE, id, True), (KV, f"{views.CHECKPOINT}{id}", True))


def units(rows: Rows, id: str, messages: bool) -> Iterator[Unit]:
    """The units of a conversation: its head, what indexes say of it, its bubbles, what they refer to."""
    state = None
    for record, place in _heads(rows, id):
        if record.table == KV.name and type(record.value) is dict:
            state = record.value.get("conversationState")
        yield record, place
    if not messages:
        yield Record("", f"unread:{id}", None, ""), NOWHERE
        return
    wanted: dict[str, None] = {}
    tasks: list[str] = []
    for family in READ[1:]:
        yield from rows.value(KV, f"{family}:{id}")
        for record, place in rows.values(KV, f"{family}:{id}:"):
            if family == "bubbleId":
                _look(record.value, wanted, tasks)
            yield record, place
    for key in wanted:
        for record, place in rows.data(KV, key):
            rows.shared.setdefault("contents", set()).add(place[0])
            yield record, place
    for task in tasks:
        child = f"task-{task}"
        if rows.database.next_key(KV, *bounds(f"bubbleId:{child}:")) is not None:
            yield Record("", f"task:{id}", {"call": task, "child": child}, ""), NOWHERE
    yield from views.units(rows, KV, id, state)


def _heads(rows: Rows, id: str) -> Iterator[Unit]:
    yield from rows.value(KV, f"composerData:{id}")
    yield from rows.values(KV, f"composerData:{id}:")
    head = rows.database.row(HEAD_TABLE, id)
    for record, place in rows.value(HEAD_TABLE, id):
        columns = rows.database.other(HEAD_TABLE, head) if head is not None else {}
        told = {name: _column(rows, place, name, value) for name, value in columns.items() if value is not None}
        yield Record(record.table, record.key, {"value": record.value, "columns": told}, record.kind), place
    listed: list[tuple[str, str, Any]] = [(key, "head", (number, item)) for key, number, item in indexed(rows).get(id, ())]
    listed += [(CHAT, "tab", tab) for tab in [tabs(rows).get(id)] if tab is not None]
    for key, name, value in listed:
        row = rows.shared["index"][key]
        yield Record(f"ItemTable/{name}", f"{key}:{id}", value, row.kind), rows.place(row)


def _column(rows: Rows, place: Place, name: str, value: Any) -> Any:
    """What stands in a further column, as JSON can say it."""
    at = f"/{escape(name)}"
    if name not in COLUMNS:
        rows.ledger.part("unknown-field", place, at, record=HEAD_TABLE.name)
    if type(value) is bytes:
        text = value.decode("utf-8", "replace")
        if text.encode() != value:
            rows.ledger.part("invalid-utf8", place, at, record=HEAD_TABLE.name)
        return text
    if type(value) is float and not isfinite(value):
        rows.ledger.part("not-a-number", place, at, record=HEAD_TABLE.name)
        return None
    return value


def _look(bubble: Any, wanted: dict[str, None], tasks: list[str]) -> None:
    """What a bubble refers to: contents of files, and a task of its own."""
    tool = bubble.get("toolFormerData") if type(bubble) is dict else None
    if type(tool) is not dict:
        return
    result = tool.get("result")
    for value in (result, tool.get("params")):
        if type(value) is str and CONTENT in value:
            for word in value.split('"'):
                if word.startswith(CONTENT):
                    wanted[word] = None
    additional = tool.get("additionalData")
    spawned = additional.get("subagentComposerId") if type(additional) is dict else None
    if type(tool.get("toolCallId")) is str and type(spawned) is not str:
        tasks.append(tool["toolCallId"])


# ---- what belongs to none --------------------------------------------------------------------------------------------------


def beside(rows: Rows) -> Iterator[Unit]:
    """What workspaces keep beside conversations; then everything else is counted."""
    for key in (*HEADS, CHAT, PROMPTS, GENERATIONS):
        yield from rows.value(ITEM, key)
    yield from rows.values(ITEM, PANES)
    _count_families(rows)
    _count_items(rows)
    rows.rest(KV, ITEM, HEAD_TABLE)


def _count_families(rows: Rows) -> None:
    """Every family of ``cursorDiskKV`` that is not read, by its beginning; of those that are, what no conversation has."""
    done: set[str] = set()
    counted = 0
    for key in rows.database.heads(KV, "", _LAST, lambda key: _family(key)[2]):
        prefix, low, high = _family(key)
        if prefix in done:
            continue
        done.add(prefix)
        if len(done) > rows.ledger.limits.patterns:
            rows.ledger.family("unread-rows", NOWHERE, rows.database.count(KV, low, _LAST), record="other")
            return
        there = rows.database.count(KV, low, high)
        counted += there
        count = there - _number_read(rows, prefix)
        code = "skipped-rows" if prefix == CONTENT else FAMILIES.get(prefix, "unread-rows")
        if count > 0:
            rows.ledger.family(code, NOWHERE, count, record=prefix.rstrip(":.-") or prefix)
    left = rows.database.count(KV, "", _LAST) - counted
    if left > 0 and not rows.database.damaged:  # keys that are no text in the encoding of the database
        rows.ledger.family("unread-rows", NOWHERE, left, record="other")


def _number_read(rows: Rows, prefix: str) -> int:
    """How many of a family were read; where conversations were passed over, nobody can say, and none is called unread."""
    if rows.shared.get("partial") and (prefix in (CONTENT, views.BLOB, views.CHECKPOINT) or prefix.removesuffix(":") in READ):
        return 2**62
    if prefix == CONTENT:
        return len(rows.shared.get("contents", ()))
    if prefix == views.BLOB:
        return sum(1 for id in rows.shared.get("blobs", ()) if rows.database.row(KV, views.BLOB + id) is not None)
    if prefix == views.CHECKPOINT:
        return len(rows.shared.get("checkpoints", ()))
    name = prefix.removesuffix(":")
    if name not in READ or name == prefix:
        return 0
    return int(rows.shared.get("counts", {}).get((KV.name, name), 0))


def _family(key: str) -> tuple[str, str, str]:
    """How the family of a key begins, and the range of its keys; a key without a mark in it is one by itself."""
    known = next((prefix for prefix in (*FAMILIES, CONTENT) if key.startswith(prefix)), None)
    ends = [at for at in (key.find(mark) for mark in ":./") if at >= 0]
    if known is None and not ends:
        return key, key, f"{key}\0"
    prefix = known if known is not None else key[: min(ends) + 1]
    return prefix, *bounds(prefix)


def _count_items(rows: Rows) -> None:
    """The keys of ``ItemTable`` that belong to conversations and are not read, each family; of all others, how many."""
    left = rows.database.count(ITEM, "", _LAST)
    read = {key for key in (*HEADS, CHAT, PROMPTS, GENERATIONS) if rows.database.row(ITEM, key) is not None}
    left -= len(read) + rows.database.count(ITEM, *bounds(PANES))
    seen: set[str] = set()
    for prefix, code in ITEMS.items():
        named = [key for _, key in rows.database.keys(ITEM, prefix) if key not in read and key not in seen]
        seen.update(named)
        families: Iterable[str] = [prefix.rstrip(".")] * len(named) if code == "skipped-rows" else named
        for family in dict.fromkeys(families):
            rows.ledger.family(code, NOWHERE, len(named) if code == "skipped-rows" else 1, record=family)
    if left - len(seen) > 0:
        rows.ledger.family("skipped-rows", NOWHERE, left - len(seen), record="ItemTable")


STORE: Final = Store(ids, ranges, units, beside)
