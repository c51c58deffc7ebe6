"""The operations of a mutation log, each applied to one JSON value as VS Code applies it.

A ``Log`` and a decoded record come in; the log's value is changed in place, or ``Refused`` says why it is not. Kind 0 replaces
the value, 1 sets, 2 cuts a list and appends to it, 3 deletes. ``Log.node`` is a tree beside the value, with a node where an
operation wrote and none below what it wrote whole; values that were taken away stand in ``Log.erased`` as they were. Nothing is
created in place of what is missing, and no list is made longer than what was pushed, but for ``HOLES`` empty places a log.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import attrs

from convparse.ledger import Ledger, Place, escape

HOLES: Final = 10_000
"""Empty places that lists of one log may be given by indices beyond their ends."""
Key: TypeAlias = str | int
Path: TypeAlias = tuple[Key, ...]


class Node:
    """Which operation wrote a value, and those that wrote inside it since."""

    __slots__ = ("below", "operation")

    def __init__(self, operation: int) -> None:
        self.operation = operation
        self.below: dict[Key, Node] | None = None

    def at(self, key: Key) -> "Node":
        """The node of what is under a key; one of the same operation where nothing wrote there since."""
        found = self.below.get(key) if self.below is not None else None
        return Node(self.operation) if found is None else found

    def operations(self) -> Iterator[int]:
        """Every operation that wrote here or below."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node.operation
            if node.below is not None:
                stack.extend(node.below.values())


class Operation:
    """An operation that was applied."""

    __slots__ = ("base", "changes", "more", "path", "place")

    def __init__(self, path: Path, place: Place) -> None:
        self.path = path
        """With indices as numbers, as far as it leads through lists."""
        self.place = place
        self.changes = True
        """False if it left everything as it was."""
        self.base: int | None = None
        """For one that appended: the index of its first item."""
        self.more: dict[str, Any] | None = None
        """Keys of its record that are not known, and ``v`` where it is of no use."""


@attrs.frozen
class Erased:
    """A value that an operation took away."""

    holder: Any
    """The list or object it stood in, the very one; None for the whole value."""
    path: Path
    """Where it stood at that time."""
    value: Any
    node: Node
    by: int
    """The operation that took it away."""
    first: int = 0
    """Where a list was cut, if it was: values that went together share it and ``by``."""
    cut: bool = False


@attrs.define(eq=False)
class Log:
    """A log that was replayed."""

    state: Any = None
    """The value; None before the first snapshot."""
    node: Node = attrs.field(factory=lambda: Node(0))
    headless: bool = False
    """True if operations came before any snapshot: they were applied to an empty object."""
    operations: list[Operation] = attrs.field(factory=list)
    erased: list[Erased] = attrs.field(factory=list)
    others: list[tuple[Any, Place]] = attrs.field(factory=list)
    """Records that are no operations, or of a kind that is not known."""
    holes: int = 0

    def pointer(self, node: Node, path: Path) -> str:
        """Where the value of a path stands inside the record of the operation that wrote it."""
        operation = self.operations[node.operation]
        inside = list(path[len(operation.path) :])
        if operation.base is not None and inside:
            inside[0] = int(inside[0]) - operation.base
        return "/v" + "".join(f"/{escape(str(key))}" for key in inside)


class Refused(Exception):  # noqa: N818 - says what happened to the operation
    """An operation that cannot be applied; the code says why. Never leaves a replay."""


def _index(key: Key) -> int | None:
    """The list index that a key is, if it is one."""
    if type(key) is int:
        return key if key >= 0 else None
    text = str(key)
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or (text[0] == "0" and text != "0"):
        return None
    return int(text)


def _property(key: Key) -> str:
    return key if type(key) is str else str(key)


def _child(holder: Any, key: Key) -> tuple[Any, Key]:
    """What stands under a key, and the key as the holder has it; None for what is not there."""
    if type(holder) is dict:
        name = _property(key)
        return holder.get(name), name
    if type(holder) is list:
        at = _index(key)
        if at is not None:
            return (holder[at] if at < len(holder) else None), at
        return None, key
    raise Refused("missing-target")


def _walk(log: Log, path: Path, operation: int) -> tuple[Any, Node, Path]:
    """The holder of the last key of a path, its node, and the path as the holders have it."""
    holder, node = log.state, log.node
    exact: list[Key] = []
    for key in path[:-1]:
        holder, key = _child(holder, key)
        node = _node(node, key)
        exact.append(key)
    if type(holder) is not dict and type(holder) is not list:
        raise Refused("missing-target")
    return holder, node, (*exact, path[-1])


def _node(node: Node, key: Key) -> Node:
    below = node.below
    if below is None:
        below = node.below = {}
    found = below.get(key)
    if found is None:
        found = below[key] = Node(node.operation)
    return found


def _erase(log: Log, holder: Any, path: Path, value: Any, node: Node, by: int) -> None:
    if value is not None:
        log.erased.append(Erased(holder, path, value, node, by))


def _initial(log: Log, value: dict[str, Any], operation: Operation, ledger: Ledger) -> None:
    """Kind 0: the whole value anew."""
    by = len(log.operations) - 1
    _erase(log, None, (), log.state, log.node, by)
    log.state, log.node = value.get("v"), Node(by)


_MISSING: Final = object()


def _set(log: Log, value: dict[str, Any], operation: Operation, ledger: Ledger) -> None:
    """Kind 1: a value under a key; without ``v``, and for kind 3, nothing there."""
    path, by = operation.path, len(log.operations) - 1
    new = value.get("v", _MISSING) if value["kind"] == 1 else _MISSING
    if not path:
        operation.changes = False
        return
    holder, node, path = _walk(log, path, by)
    operation.path, key = path, path[-1]
    if type(holder) is list:
        _set_item(log, holder, node, path, None if new is _MISSING else new, by)
        return
    name = _property(key)
    if name == "__proto__" and name not in holder:
        raise Refused("malformed-operation")
    if new is _MISSING and name not in holder:
        operation.changes = False
        return
    old = holder.pop(name, None) if new is _MISSING else holder.get(name)
    if new is not _MISSING:
        holder[name] = new
    _written(log, holder, node, (*path[:-1], name), old, by)


def _written(log: Log, holder: Any, node: Node, path: Path, old: Any, by: int) -> None:
    """Remember who wrote under the last key of a path, and what stood there before."""
    if node.below is None:
        node.below = {}
    before = node.below.get(path[-1])
    _erase(log, holder, path, old, before or Node(node.operation), by)
    node.below[path[-1]] = Node(by)


def _set_item(log: Log, holder: list[Any], node: Node, path: Path, new: Any, by: int) -> None:
    if path[-1] == "length":
        _cut(log, holder, node, path[:-1], _length(new), by)
        return
    at = _index(path[-1])
    if at is None:
        raise Refused("malformed-operation")
    if at >= len(holder):
        _pad(log, holder, at + 1)
    old, holder[at] = holder[at], new
    _written(log, holder, node, (*path[:-1], at), old, by)


def _pad(log: Log, holder: list[Any], length: int) -> None:
    missing = length - len(holder)
    if log.holes + missing > HOLES:
        raise Refused("missing-target")
    log.holes += missing
    holder.extend([None] * missing)


def _length(value: Any) -> int:
    """A list's new length, as JavaScript takes it."""
    if value is None:
        return 0
    if type(value) is bool or type(value) is int or (type(value) is float and value.is_integer()):
        length = int(value)
    else:
        raise Refused("malformed-operation")
    if not 0 <= length < 2**32:
        raise Refused("malformed-operation")
    return length


def _cut(log: Log, items: list[Any], node: Node, path: Path, length: int, by: int) -> None:
    """Make a list as long as that; what is behind is remembered."""
    if length > len(items):
        _pad(log, items, length)
        return
    for at in range(length, len(items)):
        below = node.below.pop(at, None) if node.below is not None else None
        if items[at] is not None:
            log.erased.append(Erased(items, (*path, at), items[at], below or Node(node.operation), by, length, cut=True))
    del items[length:]


def _push(log: Log, value: dict[str, Any], operation: Operation, ledger: Ledger) -> None:
    """Kind 2: a list cut to ``i`` items if that is given, then ``v`` behind it."""
    path, by = operation.path or ("undefined",), len(log.operations) - 1
    operation.path = path
    holder, node, path = _walk(log, path, by)
    items, key = _child(holder, path[-1])
    operation.path = path = (*path[:-1], key)
    more = value.get("v")
    length = _length(value["i"]) if "i" in value else None
    if type(items) is not list and (items or type(items) is dict):  # a new list stands for null, 0, "" and false in JavaScript
        raise Refused("missing-target")
    if type(more) is not list and more is not None and length is None:
        raise Refused("malformed-operation")
    if type(holder) is list and type(key) is not int:
        raise Refused("malformed-operation")
    if type(items) is not list:
        items = _new_list(log, holder, node, path, items, by)
        array = _node(node, key)
    else:
        array = _node(node, key)
    before = len(items)
    if length is not None:
        try:
            _cut(log, items, array, path, length, by)
        except Refused:
            length = before + 1
        if length > before:  # VS Code fills up with empty places; no genuine writer ever asks for them
            ledger.part("uncertain-place", operation.place, "/i")
    operation.changes, operation.base = bool(more) or len(items) != before, len(items)
    if type(more) is list:
        _append(items, array, more, by)
    elif more is not None:
        operation.more = {**(operation.more or {}), "v": more}


def _new_list(log: Log, holder: Any, node: Node, path: Path, old: Any, by: int) -> list[Any]:
    items: list[Any] = []
    if type(holder) is list:
        at = path[-1]
        assert type(at) is int
        if at >= len(holder):
            _pad(log, holder, at + 1)
        holder[at] = items
    else:
        holder[path[-1]] = items
    _written(log, holder, node, path, old, by)
    return items


def _append(items: list[Any], array: Node, more: list[Any], by: int) -> None:
    if array.operation != by:
        below = array.below
        if below is None:
            below = array.below = {}
        for at in range(len(items), len(items) + len(more)):
            below[at] = Node(by)
    items.extend(more)


KINDS: Final[Mapping[int, Callable[[Log, dict[str, Any], Operation, Ledger], None]]] = MappingProxyType(
    {0: _initial, 1: _set, 2: _push, 3: _set}
)
"""What applies each kind of operation."""
KEYS: Final = tuple(frozenset({"kind", *keys}) for keys in ("v", "kv", "kvi", "k"))
"""The keys that the record of each kind may have."""
