"""Every string of a record, with its place; and a copy of the record with each changed.

What comes in: a result, a conversation, a message, any record or a tuple of them. What goes out: the strings that came from the
file or its name, one by one: texts, titles, ids, paths, the product's words, excerpts, and inside ``Json`` every string and
every key. The copy has the same structure and types; records and ``Json`` in which nothing changed are the very same objects.

Not given and not changed: words of this library's own, by which records are told apart (``UNTOUCHED``), and what is no string:
numbers, times, true and false.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from functools import cache
from operator import is_, ne
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import attrs

from convparse.blocks import Attachment, Edit, Json, ToolCall
from convparse.drops import Drop
from convparse.errors import ConvparseError
from convparse.ledger import escape
from convparse.records import Context, Conversation, Event, Link
from convparse.result import ParseResult, Snapshot
from convparse.views import ToolUse

T = TypeVar("T")

Sort: TypeAlias = Literal["text", "path", "id", "word", "key"]
"""``text``: what somebody wrote or read, the strings in Json among it; ``path``: names of files and folders, addresses; ``id``:
what ties records together; ``word``: the product's vocabulary, as it stands in the file; ``key``: keys of objects, and pointers
made of them."""

NONE: Final[frozenset[str]] = frozenset()
ALL: Final = frozenset({"*"})
"""As the words of a field that only the code of this library and of sources fills."""
UNTOUCHED: Final[Mapping[type, Mapping[str, frozenset[str]]]] = MappingProxyType(
    {
        ParseResult: {"source": ALL, "variant": ALL},
        Conversation: {"source": ALL},
        ToolUse: {"source": ALL},
        Drop: {"code": ALL},
        Snapshot: {"method": ALL, "wal": ALL, "journal_mode": ALL},
        Link: {"kind": frozenset("subagent fork resume continuation base".split())},
        ToolCall: {"kind": frozenset("read edit delete move search execute think fetch other".split())},
        Edit: {"kind": frozenset("create update delete move".split())},
    }
)
"""Fields that are left alone, beside those of a ``Literal`` type: this library's own words. Where these are listed, a word that
is not among them is given and changed like any."""

_SORTS: Final[Mapping[str, Sort]] = MappingProxyType(
    {
        **dict.fromkeys(("path", "new_path", "cwd", "uri"), "path"),
        **dict.fromkeys(("id", "key", "parent_id", "response_id", "turn_id", "call_id", "spawned", "stamp"), "id"),
        **dict.fromkeys(("pointer", "pattern"), "key"),
        **dict.fromkeys(("kind", "role", "model", "stop_reason", "status", "media_type", "title_origin"), "word"),
        **dict.fromkeys(("record", "message", "table", "cost_unit"), "word"),
    }
)
"""What a field holds, by its name; a field that is not listed is ``text``."""
_SORTS_OF: Final[Mapping[type, Mapping[str, Sort]]] = MappingProxyType(
    {
        Attachment: {"name": "path"},
        Context: dict.fromkeys(("version", "permission_mode", "sandbox", "entrypoint", "effort"), "word"),
        Event: {"name": "word"},
        ToolCall: {"name": "word"},
    }
)


@attrs.frozen
class Place:
    """Where a string stands in a record."""

    record: str
    """The class of the record that holds it, such as ``Text``."""
    field: str
    """The field of that record."""
    sort: Sort
    """What it is."""
    pointer: str
    """From the record that was given: names of fields, and numbers; from ``»`` on inside a ``Json``, by its old keys."""

    def __str__(self) -> str:
        return self.pointer


Change: TypeAlias = Callable[[Place, str], str]


def strings(record: object) -> Iterator[tuple[Place, str]]:
    """Every string reachable in a record, or in a tuple of records, with its place.

    They come in the order of the fields; inside a ``Json``, the keys of an object before its values. Raises ``ConvparseError``
    for what is no record.
    """
    return _each(_walk_record(record))


def map_strings(record: T, change: Change) -> T:
    """A copy of a record, or of a tuple of records, with ``change(place, text)`` for every string that ``strings`` gives.

    Structure, types and numbers stay. What ties records together stays tied as long as equal ids are changed alike. Keys of one
    object that would become equal have a number added. The bytes behind an origin are no longer to be had (``read``) once its
    path is another. Raises ``ConvparseError`` for what is no record, and if ``change`` gives anything but a string.
    """
    walk = _walk_record(record)
    new: str | None = None
    while True:
        try:
            place, text = walk.send(new)  # type: ignore[arg-type]  # the first one is None, as it has to be
        except StopIteration as end:
            return cast("T", end.value)
        new = change(place, text)
        if not isinstance(new, str):
            raise ConvparseError(f"change gave {type(new).__name__}, not a string, for {place}")


Walk: TypeAlias = Generator[tuple[Place, str], str, Any]
"""Gives every string, is sent what shall stand in its place, and returns the record made of these."""


def _each(walk: Walk) -> Iterator[tuple[Place, str]]:
    found = next(walk, None)
    while found is not None:
        yield found
        try:
            found = walk.send(found[1])
        except StopIteration:
            return


# ---- records ---------------------------------------------------------------------------------------------------------------


def _walk_record(record: object) -> Walk:
    """The walk of what was given, checked before it begins."""
    if isinstance(record, Json):
        return _walk(record, "Json", "utf8", "text", "")
    if not (isinstance(record, tuple) or attrs.has(type(record))):
        raise ConvparseError(f"strings are found in records and tuples of them, not in {type(record).__name__}")
    return _walk(record, "", "", "text", "")


def _walk(value: Any, record: str, field: str, sort: Sort, pointer: str) -> Walk:
    if isinstance(value, str):
        new = yield Place(record, field, sort, pointer), value
        return value if new == value else new
    if isinstance(value, Json):
        return (yield from _walk_json(value, record, field, pointer))
    if isinstance(value, tuple):
        items: list[Any] = []
        for index, item in enumerate(value):
            items.append((yield from _walk(item, record, field, sort, f"{pointer}/{index}")))
        return value if all(map(is_, value, items)) else type(value)(items)
    if not attrs.has(type(value)):
        return value
    changes: dict[str, Any] = {}
    cls: Any = type(value)
    for name, its_sort, own in _fields(cls):
        old = getattr(value, name)
        new = old if own and old in own else (yield from _walk(old, cls.__name__, name, its_sort, f"{pointer}/{name}"))
        if new is not old:
            changes[name] = new
    return attrs.evolve(value, **changes) if changes else value


@cache
def _fields(cls: Any) -> tuple[tuple[str, Sort, frozenset[str]], ...]:
    """The fields that may hold strings, what these are, and the words that are left alone."""
    own = UNTOUCHED.get(cls, {})
    fields = [field for field in attrs.fields(cls) if not _is_literal(field.type) and own.get(field.name) is not ALL]
    return tuple((field.name, sort_of(cls, field.name), own.get(field.name, NONE)) for field in fields)


def sort_of(cls: type, name: str) -> Sort:
    """What the strings of a field are."""
    return _SORTS_OF.get(cls, _SORTS).get(name) or _SORTS.get(name, "text")


def _is_literal(annotation: Any) -> bool:
    """True for a ``Literal``, and for one or None."""
    union = get_origin(annotation) in (Union, UnionType)
    args = [arg for arg in get_args(annotation) if arg is not NoneType] if union else [annotation]
    return all(get_origin(arg) is Literal for arg in args)


# ---- Json ------------------------------------------------------------------------------------------------------------------


def _walk_json(json: Json, record: str, field: str, pointer: str) -> Walk:
    """The strings and keys of a value, without recursion; a value in which nothing changes keeps its text, to the byte."""
    box, changed = [json.value], False
    slots: list[Iterator[tuple[Any, Any, str]]] = [iter([(box, 0, f"{pointer}»")])]
    while slots:
        for holder, token, at in slots[-1]:
            item = holder[token]
            if isinstance(item, str):
                holder[token] = yield Place(record, field, "text", at), item
                changed = changed or holder[token] != item
            elif isinstance(item, list):
                slots.append(iter([(item, index, f"{at}/{index}") for index in range(len(item))]))
                break
            elif isinstance(item, dict):
                keys = yield from _walk_keys(item, record, field, at)
                holder[token] = {new: item[old] for new, old in keys.items()}
                changed = changed or any(map(ne, keys, keys.values()))
                slots.append(iter([(holder[token], new, f"{at}/{escape(old)}") for new, old in keys.items()]))
                break
        else:
            slots.pop()
    return Json.of(box[0]) if changed else json


def _walk_keys(
    value: dict[str, Any], record: str, field: str, pointer: str
) -> Generator[tuple[Place, str], str, dict[str, str]]:
    """The old key of every new one."""
    found: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for old in value:
        new = wanted = yield Place(record, field, "key", f"{pointer}/{escape(old)}"), old
        while new in found:
            numbers[wanted] = numbers.get(wanted, 1) + 1
            new = f"{wanted} {numbers[wanted]}"
        found[new] = old
    return found
