"""The ledger of one file: it folds and counts what a parse does not carry over, and what its containers pass by.

A *place* is ``(line, offset, length)`` of the unit, line 0 where lines mean nothing. ``unit`` enters a whole unit, ``part`` a
place inside one, ``blank`` bytes in which nothing was said. ``judge`` gives a function that looks at the keys of an object by
its *shape*, the tuple of its keys: a shape is judged once and counted from then on, which makes one look-up answer whether
anything in it is unknown. ``close`` gives the drops.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Protocol, TypeAlias

import attrs

from convparse._make import maker
from convparse.drops import CODES, Bin, Code, Drop
from convparse.limits import Limits
from convparse.records import Origin

Place: TypeAlias = tuple[int, int, int]
NOWHERE: Final[Place] = (0, -1, 0)
"""The place of what concerns a file as a whole."""
NAMED: Final = 1_000
"""How many characters of a record type or pattern are told apart and shown: keys may be as long as a line."""
ALWAYS: Final = object()
"""As the silent value of a kept field: no value says nothing."""


_make_origin: Final = maker(Origin)


class AnyOf:
    """As the silent value of a kept field: any of these says nothing."""

    __slots__ = ("values",)

    def __init__(self, *values: object) -> None:
        self.values = values

    def __eq__(self, other: object) -> bool:
        return other in self.values

    __hash__ = None  # type: ignore[assignment]  # equal to several values


@attrs.frozen(eq=False)
class Fields:
    """What is known of one kind of object: the table that reading, docs and tests share."""

    record: str
    """The product's name of the record type."""
    at: str = ""
    """Where the object stands in its record, as a pattern."""
    typed: frozenset[str] = frozenset()
    """Keys that some field of a record is made from."""
    kept: Mapping[str, Any] = attrs.field(factory=dict)
    """Keys kept as JSON in ``extra``, each with the value that says nothing (or ``ALWAYS``)."""
    skipped: Mapping[str, str] = attrs.field(factory=dict)
    """Keys left out by name, each with the reason."""
    picked: tuple[str, ...] = ()
    """Keys whose values ``Shape.pick`` gives in this order; they are typed too."""
    marks: frozenset[str] = frozenset()
    """Keys that make a shape ``marked``: rows that want a closer look."""
    plain: frozenset[str] = attrs.field(init=False)
    """All keys that some field of a record is made from: an object with no others has nothing to keep or to name."""
    known: frozenset[str] = attrs.field(init=False)
    """All keys of the table."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "plain", self.typed.union(self.picked))
        object.__setattr__(self, "known", self.plain.union(self.kept, self.skipped))


class Shape:
    """One judged shape: how to take its values apart, and how often it was seen.

    ``pick`` takes ``(*value.values(), None)`` and gives the values of ``Fields.picked``, None for a key that is not there, then
    those of the kept keys. These last equal ``silence`` where none of them says anything.
    """

    __slots__ = ("at", "count", "kept", "lines", "marked", "pick", "place", "silence", "skipped", "unknown")

    def __init__(self, fields: Fields, keys: tuple[str, ...], place: Place, at: str | None = None) -> None:
        self.at = fields.at if at is None else at
        self.count = 0
        self.lines: list[int] = []
        self.place = place
        self.skipped = tuple(key for key in keys if key in fields.skipped)
        self.unknown = tuple(key for key in keys if key not in fields.known)
        kept = fields.kept.keys() | set(self.unknown)
        self.kept = tuple((key, fields.kept.get(key, ALWAYS)) for key in keys if key in kept)
        self.silence = (*(silent for _, silent in self.kept), None, None)
        self.marked = not fields.marks.isdisjoint(keys)
        index = {key: i for i, key in enumerate(keys)}
        where = [index.get(key, -1) for key in fields.picked] + [index[key] for key, _ in self.kept]
        self.pick: Callable[[tuple[Any, ...]], tuple[Any, ...]] = itemgetter(*where, -1, -1)


class Look(Protocol):
    """Gives the judged shape of an object, counted; ``at`` is its exact pointer where that is not the pattern."""

    def __call__(self, value: dict[str, Any], place: Place, at: str | None = None) -> Shape:
        """The shape."""
        ...


class _Fold:
    __slots__ = ("count", "excerpt", "lines", "place", "pointer", "size")

    def __init__(self, place: Place, pointer: str, excerpt: bytes) -> None:
        self.place, self.pointer, self.excerpt = place, pointer, excerpt
        self.count = self.size = 0
        self.lines: list[int] = []


class Ledger:
    """The account of one file while it is read."""

    def __init__(
        self, path: str, limits: Limits | None = None, *, excerpts: bool = True, codes: Mapping[str, Code] | None = None
    ) -> None:
        self.path = path
        self.limits = limits or Limits()
        self.codes: Mapping[str, Code] = CODES if not codes else {**CODES, **codes}
        self.bins: dict[str, Bin] = dict.fromkeys(("folded", "lost", "skipped", "blank"), Bin())
        self.at: Callable[[Place, str], Origin] = self._in_file
        """What makes an origin of a place; a database's rows have their own."""
        self._excerpts = excerpts
        self._folds: dict[tuple[str, str, str], _Fold] = {}
        self._shapes: dict[Fields, dict[tuple[str, ...], Shape]] = {}
        self._looks: dict[Fields, Look] = {}

    def blank(self, length: int) -> None:
        """Enter bytes in which nothing was said."""
        self.bins["blank"] += Bin(1, length)

    def unit(self, code: str, place: Place, *, record: str = "", excerpt: bytes = b"") -> None:
        """Enter a whole unit that is in no record: its bytes go to the bin of the code's fate, ``lost`` or ``skipped``."""
        entry = self.codes[code]
        self.bins["folded" if entry.folds else entry.fate] += Bin(1, place[2])
        self._fold(code, place, record, "", "", excerpt).size += place[2]

    def family(self, code: str, place: Place, count: int, *, record: str) -> None:
        """Enter so many units that were counted and not read: no bytes of theirs are known."""
        entry = self.codes[code]
        self.bins[entry.fate] += Bin(count, 0)
        self._fold(code, place, record, "", "", b"", count)

    def part(
        self, code: str, place: Place, pattern: str = "", *, record: str = "", pointer: str | None = None, excerpt: bytes = b""
    ) -> None:
        """Enter a place inside a unit that is accounted for elsewhere."""
        self._fold(code, place, record, pattern, pattern if pointer is None else pointer, excerpt)

    def parts(self, code: str, places: Sequence[Place], pattern: str, *, record: str) -> None:
        """Enter many places inside units, in file order, at once."""
        for place in places[: self.limits.lines]:
            self._fold(code, place, record, pattern, pattern, b"")
        if len(places) > self.limits.lines:
            self._fold(code, places[0], record, pattern, pattern, b"", len(places) - self.limits.lines)

    def judge(self, fields: Fields) -> Look:
        """What gives the judged shape of an object of this kind, counted."""
        look = self._looks.get(fields)
        if look is None:
            look = self._looks[fields] = self._look_at(fields)
        return look

    def _look_at(self, fields: Fields) -> Look:
        shapes = self._shapes.setdefault(fields, {})
        most = self.limits.lines

        def look(value: dict[str, Any], place: Place, at: str | None = None) -> Shape:
            shape = shapes.get(tuple(value))
            if shape is None:
                shape = self._judge(shapes, Shape(fields, tuple(value), place, at), fields, tuple(value))
            shape.count += 1
            if len(lines := shape.lines) < most and lines[-1:] != [place[0]]:
                lines.append(place[0])
            return shape

        return look

    def look(self, fields: Fields, value: dict[str, Any], place: Place) -> Shape:
        """The judged shape of one object, counted: ``judge`` for what is rare."""
        return self.judge(fields)(value, place)

    def origin(self, place: Place, pointer: str = "") -> Origin:
        """The origin of a unit, or of a place inside it."""
        return self.at(place, pointer)

    def _judge(self, shapes: dict[tuple[str, ...], Shape], shape: Shape, fields: Fields, keys: tuple[str, ...]) -> Shape:
        if len(shapes) < self.limits.patterns:
            shapes[keys] = shape
        else:  # hostile or data-keyed objects: name them at once, remember nothing
            shape.count, shape.lines = 1, [shape.place[0]]
            self._enter_shape(fields, shape)
            shape.count, shape.lines = 0, []
        return shape

    def _enter_shape(self, fields: Fields, shape: Shape) -> None:
        for code, keys in (("unknown-field", shape.unknown), ("skipped-field", shape.skipped)):
            for key in keys:
                token = f"/{escape(key)}"
                fold = self._fold(code, shape.place, fields.record, fields.at + token, shape.at + token, b"", shape.count)
                fold.lines = sorted({*fold.lines, *shape.lines})[: self.limits.lines]

    def _fold(self, code: str, place: Place, record: str, pattern: str, pointer: str, excerpt: bytes, count: int = 1) -> _Fold:
        key = (code, record[:NAMED], pattern[:NAMED])
        if key not in self._folds and len(self._folds) >= self.limits.patterns:
            key = self._shorten(*key)
        fold = self._folds.get(key)
        if fold is None:
            fold = self._folds[key] = _Fold(place, pointer, excerpt[: self.limits.excerpt])
        elif place[1] < fold.place[1]:
            fold.place, fold.pointer, fold.excerpt = place, pointer, excerpt[: self.limits.excerpt]
        fold.count += count
        if count == 1 and place[1] >= 0 and len(fold.lines) < self.limits.lines and place[0] not in fold.lines:
            fold.lines.append(place[0])
        return fold

    def _shorten(self, code: str, record: str, pattern: str) -> tuple[str, str, str]:
        while pattern and (code, record, pattern) not in self._folds:
            pattern = pattern.rpartition("/")[0]
        return (code, record, pattern) if (code, record, pattern) in self._folds else (code, "", "")

    def close(self) -> tuple[Drop, ...]:
        """The drops, by first place, then code, record and pattern."""
        for fields, shapes in self._shapes.items():
            for shape in shapes.values():
                self._enter_shape(fields, shape)
        self._shapes.clear()
        return tuple(self._drops())

    def _in_file(self, place: Place, pointer: str) -> Origin:
        line, offset, length = place
        return _make_origin(self.path, line or None, offset, length, None, None, None, pointer)

    def _drops(self) -> Iterator[Drop]:
        folds = sorted(self._folds.items(), key=lambda item: (item[1].place[1], item[0]))
        for (code, record, pattern), fold in folds:
            yield Drop(
                code,
                self.codes[code].fate,
                self.at(fold.place, fold.pointer),
                record,
                pattern,
                fold.count,
                fold.size,
                tuple(sorted(number for number in fold.lines if number)),
                self.codes[code].summary,
                _excerpt(fold.excerpt) if self._excerpts else "",
            )


def _excerpt(data: bytes) -> str:
    """Text that can be shown anywhere, cut on a character boundary."""
    text = data.decode("utf-8", "replace").rstrip("�")
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


def escape(key: str) -> str:
    """One reference token of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key
