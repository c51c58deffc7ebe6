"""What the reading halves of all sources share: cheap constructors, keys, and what becomes of fields nothing is made from.

Nothing here knows a product.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from orjson import OPT_APPEND_NEWLINE, JSONEncodeError, dumps

from convparse._json import encode
from convparse._make import maker, opener
from convparse.blocks import Injected, Json, Text, Thinking, ToolCall, ToolResult
from convparse.ledger import Ledger, Place, Shape, escape
from convparse.records import Event, Message, Origin, Usage

STRING: Final = frozenset({str, type(None)})
"""Types of a field that is a string or not there."""
Extra: TypeAlias = dict[str, Any]
"""Exact pointers of a record and the raw values that stand there: the ``extra`` of a message in the making."""

make_call = maker(ToolCall)
make_injected = maker(Injected)
make_json = maker(Json)
make_origin = maker(Origin)
make_result = maker(ToolResult)
make_text = maker(Text)
make_thinking = maker(Thinking)
make_usage = maker(Usage)
open_event = opener(Event)
open_message = opener(Message)
"""Records that ``resolve`` still settles; it freezes them with ``close``."""


def json_of(value: Any) -> Json:
    """The value as JSON that is not modelled.

    The bytes are copied, by the slice: those of orjson come from a larger buffer, which leaves holes in memory as long as
    they are kept.
    """
    try:
        return make_json(dumps(value, None, OPT_APPEND_NEWLINE)[:-1])
    except JSONEncodeError:
        return make_json(encode(value))


def keep(extra: Extra, shape: Shape, value: Mapping[str, Any], at: str) -> None:
    """Put into ``extra`` what an object holds beyond what records are made from, where it says anything."""
    for key, silent in shape.kept:
        item = value[key]
        if item is not silent and item != silent:
            extra[f"{at}/{escape(key)}"] = item


def odd(ledger: Ledger, extra: Extra, place: Place, record: str, pointer: str, value: Any, pattern: str | None = None) -> None:
    """A known field with a value of a type that is not: kept raw and named."""
    extra[pointer] = value
    ledger.part("unexpected-type", place, pointer if pattern is None else pattern, record=record, pointer=pointer)


class Keys:
    """Unique and stable keys of one file's entries."""

    __slots__ = ("_counts", "_repeats", "seen")

    def __init__(self) -> None:
        self.seen: set[str] = set()
        """The ids and made keys so far."""
        self._repeats: dict[str, int] = {}
        self._counts: dict[tuple[str | None, str], int] = {}

    def of(self, id: str) -> str:
        """For a record with an id: the id, with a number added where it has been seen."""
        if id in self.seen:
            return self.again(id)
        self.seen.add(id)
        return id

    def again(self, id: str) -> str:
        """For a record whose id has been seen."""
        n = self._repeats[id] = self._repeats.get(id, 1) + 1
        return self._free(f"{id}#{n}")

    def count(self, thread: str | None, name: str) -> str:
        """For a record without an id: its thread, its name and how many there were before."""
        counted = (thread, name)
        n = self._counts[counted] = self._counts.get(counted, 0) + 1
        return self._free(f"{thread or ''}:{name}:{n}")

    def _free(self, key: str) -> str:
        """A made key, with a mark added for every record that has it already."""
        while key in self.seen:
            key += "'"
        self.seen.add(key)
        return key


def hunk_of(old: str, new: str) -> str:
    """What a call asked to replace, as a hunk of a diff: which lines is known, and not where they stand."""
    lines = [f"-{line}" for line in lines_of(old)] + [f"+{line}" for line in lines_of(new)]
    return "@@ @@\n" + "\n".join(lines) + "\n"


def lines_of(text: str) -> list[str]:
    """The lines of a text, which end at LF and nowhere else."""
    return text.removesuffix("\n").split("\n") if text else []
