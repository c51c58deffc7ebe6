"""A mutation log: JSON Lines whose records are operations on one JSON value, replayed as VS Code replays them.

A binary file comes in; one ``Log`` goes out, with the value that the operations leave, every operation that was applied, and
what they took away; ``operations`` applies each. Where VS Code's own code gives a value, this one is equal. Where that gives
up, the one operation is passed over and named, nothing is created in its place, and later operations on the same list are named
as uncertain. Time and memory are linear in the bytes read.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from convparse.ledger import Ledger, Place, escape
from convparse.reading import jsonl
from convparse.reading.operations import KEYS, KINDS, Key, Log, Operation, Path, Refused

LONGEST_PATH: Final = 64
"""Keys of a path; VS Code writes four at most."""


def is_operation(value: dict[str, Any]) -> bool:
    """True for what can stand as an operation."""
    kind = value.get("kind")
    return type(kind) is int and (("v" in value and kind == 0) or type(value.get("k")) is list)


def read_log(file: BinaryIO, size: int, ledger: Ledger) -> Iterator[tuple[Log, Place]]:
    """The replay of a file as one value, with the place of the first record; nothing if no record is to be had."""
    replay = _Replay(ledger)
    first: Place | None = None
    for value, place in jsonl.iter_records(file, size, ledger, is_operation):
        first = first or place
        replay.take(value, place)
    if first is not None:
        replay.finish()
        yield replay.log, first


class _Replay:
    """A log in the making."""

    __slots__ = ("_doubtful", "_kinds", "_lost", "ledger", "log")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.log = Log()
        self._doubtful: set[Path] = set()
        self._lost = 0

    def take(self, value: Any, place: Place) -> None:
        """Apply one record, or name it."""
        lost = self.ledger.bins["lost"].units
        if lost != self._lost:  # a record before this one could not be read: nobody knows where it wrote
            self._lost = lost
            self._doubtful.add(())
        kind = value.get("kind") if type(value) is dict else None
        if type(kind) is not int or kind not in KINDS:
            self.log.others.append((value, place))
            return
        if len(self.log.operations) >= self.ledger.limits.operations:
            self._refuse("too-many-operations", place)
            return
        path: Path = ()
        try:
            path = () if kind == 0 else _path(value.get("k"))
            operation = Operation(path, place)
            self._apply(kind, value, operation)
            if not KEYS[kind].issuperset(value):
                operation.more = {key: item for key, item in value.items() if key not in KEYS[kind]}
        except Refused as refused:
            self._doubtful.add(_array(path))
            self._refuse(str(refused), place)

    def _apply(self, kind: int, value: dict[str, Any], operation: Operation) -> None:
        log = self.log
        if log.state is None and kind != 0:
            if not log.headless:
                self.ledger.part("missing-snapshot", operation.place)
            log.headless, log.state = True, {}
        if kind == 0:
            self._doubtful.clear()
        elif self._doubtful and self._touches_doubt(operation.path):
            pattern = "".join("/*" if type(key) is int else f"/{escape(str(key))}" for key in operation.path)
            self.ledger.part("uncertain-place", operation.place, pattern)
        log.operations.append(operation)
        try:
            KINDS[kind](log, value, operation, self.ledger)
        except Refused:
            log.operations.pop()
            raise

    def _touches_doubt(self, path: Path) -> bool:
        return any(path[:length] in self._doubtful for length in range(len(path) + 1))

    def _refuse(self, code: str, place: Place) -> None:
        self.ledger.unit(code, place)
        self._lost = self.ledger.bins["lost"].units

    def finish(self) -> None:
        """Nothing came that makes a value: the log is empty."""
        if not self.log.operations:
            self.log.state = None


def _array(path: Path) -> Path:
    """The list that an operation was about: the path up to its last index."""
    for at in range(len(path) - 1, -1, -1):
        if type(path[at]) is int:
            return path[:at]
    return path


def _path(keys: Any) -> Path:
    if type(keys) is not list or len(keys) > LONGEST_PATH:
        raise Refused("malformed-operation")
    return tuple([key if type(key) is str or type(key) is int else _key(key) for key in keys])


def _key(key: Any) -> Key:
    """What JavaScript makes of a key that is neither a string nor a whole number."""
    if key is None:
        return "null"
    if type(key) is bool:
        return "true" if key else "false"
    if type(key) is float:
        return int(key) if key.is_integer() and abs(key) < 1e21 else repr(key)
    raise Refused("malformed-operation")
