"""The leaves of JSON values, one of them changed, and whether a parse took notice. For every source.

A leaf is what holds no other value: a string, a number, true, false, null, an empty list or object. ``changed`` gives another
value of the same kind that takes as many bytes, wherever there is one. ``noticed`` is the second law: change one leaf, and the
records change, or a drop of that line names its place.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import attrs

import convparse
from convparse import Drop, Limits, Origin, ParseResult

Tokens = tuple[str | int, ...]
EVERY_LINE: Final = Limits(lines=1_000_000)
"""Limits under which drops say every line, not the first few."""

SAID_OF_OTHERS: Final = frozenset(
    "missing-parent missing-result orphan-result missing-output hidden-narration prompt-not-recorded usage-not-recorded"
    " provisional-usage cyclic-parent missing-newline".split()
)
"""Codes that say at a place what is not there, or not so: they excuse nothing that is."""


class Leaf(NamedTuple):
    """A leaf of the value of one line."""

    line: int
    """1-based."""
    path: Tokens
    value: Any

    @property
    def pointer(self) -> str:
        return pointer_of(self.path)


def pointer_of(path: Tokens) -> str:
    """RFC 6901."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in path)


def resolve(value: Any, pointer: str) -> Any:
    """What stands at an RFC 6901 pointer; ``KeyError`` or ``IndexError`` if nothing does."""
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


def walk(value: Any, path: Tokens = ()) -> Iterator[tuple[Tokens, Any]]:
    """The leaves of a value with their paths, in order."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from walk(item, (*path, key))
    elif isinstance(value, list) and value:
        for at, item in enumerate(value):
            yield from walk(item, (*path, at))
    else:
        yield path, value


def decoded(data: bytes) -> Iterator[tuple[int, bytes, Any]]:
    """``(line, bytes, value)`` of every line that is one plain JSON value."""
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            value = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        yield number, line, value


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def leaves(data: bytes) -> list[Leaf]:
    """Every leaf of every line that is one plain JSON value."""
    return [Leaf(number, path, value) for number, _, value in decoded(data) for path, value in walk(value)]


# ---- one leaf changed ------------------------------------------------------------------------------------------------------


def changed(value: Any, at: float = 1.0) -> Any:
    """Another value in place of a leaf, of as many bytes where that can be. ``at``: which character of a string, 0 to 1."""
    if isinstance(value, str):
        return _changed_text(value, at)
    if isinstance(value, bool):
        return not value
    if value is None:
        return "x"
    if isinstance(value, list | dict):
        return {} if isinstance(value, list) else []
    return _changed_number(value)


def _changed_text(text: str, at: float) -> str:
    if not text:
        return "x"
    spots = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()] or list(range(len(text)))
    spot = spots[round(at * (len(spots) - 1))]
    return text[:spot] + _changed_character(text[spot]) + text[spot + 1 :]


def _changed_character(old: str) -> str:
    for alphabet in ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
        if old in alphabet:
            return alphabet[(alphabet.index(old) + 1) % len(alphabet)]
    near = (chr(ord(old) + step) for step in (1, -1, 2, -2, 3, -3) if 0 < ord(old) + step < 0x110000)
    same = (new for new in near if not 0xD800 <= ord(new) < 0xE000 and encoded(new) != encoded(old))
    return next((new for new in same if len(encoded(new)) == len(encoded(old))), "x")


def _changed_number(number: int | float) -> int | float:
    text = json.dumps(number)
    for spot in range(len(text) - 1, -1, -1):
        if text[spot].isdigit():
            for digit in "1234567890":
                new = json.loads(text[:spot] + digit + text[spot + 1 :]) if digit != "0" or spot else number
                if new != number and len(json.dumps(new)) == len(text):
                    return new
    return number + 1


def encoded(value: Any) -> bytes:
    """Compact JSON, as products write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def put(value: Any, path: Tokens, new: Any) -> Any:
    """A copy of a value with another leaf in one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)  # type: ignore[index]
    return copy


def with_leaf(data: bytes, leaf: Leaf, at: float = 1.0) -> bytes:
    """The bytes with one leaf changed; all other lines stay as they are."""
    lines = data.split(b"\n")
    line = lines[leaf.line - 1]
    end = b"\r" if line.endswith(b"\r") else b""
    lines[leaf.line - 1] = encoded(put(json.loads(line), leaf.path, changed(leaf.value, at))) + end
    return b"\n".join(lines)


# ---- what the records say --------------------------------------------------------------------------------------------------


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(kind) if field.eq is not False)


def same(a: Any, b: Any) -> bool:
    """True if two records, or tuples of them, say the same, wherever they were read."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is tuple:
        return len(a) == len(b) and all(map(same, a, b))
    if kind is Origin:
        return True
    if attrs.has(kind):
        return all(same(getattr(a, name), getattr(b, name)) for name in _names(kind))
    return bool(a == b)


def same_facts(a: ParseResult, b: ParseResult) -> bool:
    """True if two results hold the same conversations and loose entries, places aside."""
    return same(a.conversations, b.conversations) and same(a.loose, b.loose)


def covers(pattern: str, pointer: str) -> bool:
    """True if a drop's pattern stands for a pointer or for what is around it; ``*`` is any one token."""
    ours, theirs = pattern.split("/"), pointer.split("/")
    return len(ours) <= len(theirs) and all(a in ("*", b) for a, b in zip(ours, theirs, strict=False))


def names(drop: Drop, line: int, pointer: str) -> bool:
    """True if a drop says of a place on a line what became of it.

    An empty pattern is the whole unit, and only where its bytes are entered: ``missing-result`` says nothing about the words of
    the call. An exact repeat is none once a leaf of it is another, except the parent it is appended to again.
    """
    if line not in drop.lines or drop.code in SAID_OF_OTHERS:
        return False
    if drop.code == "repeated-record":
        return pointer == "/parentUuid"
    return covers(drop.pattern, pointer) if drop.pattern else drop.bytes > 0


def noticed(before: ParseResult, after: ParseResult, leaf: Leaf) -> bool:
    """True if a parse of the changed bytes gives other records, or names the leaf."""
    if not same_facts(before, after):
        return True
    pointer = leaf.pointer
    if after.variant == "json" and leaf.path and isinstance(leaf.path[0], int):
        pointer = pointer_of(leaf.path[1:])  # an array of records: a drop's pattern is that of the record
    return any(names(drop, leaf.line, pointer) for drop in (*after.dropped, *after.skipped))


def unnoticed(data: bytes, chosen: Iterable[Leaf], at: float = 1.0, source: str | None = None) -> list[Leaf]:
    """The leaves, of those chosen, whose change no record shows and no drop names. The file must stay of its variant."""
    before = convparse.parse_bytes(data, source=source, limits=EVERY_LINE)
    found = []
    for leaf in chosen:
        after = convparse.parse_bytes(with_leaf(data, leaf, at), source=before.source, limits=EVERY_LINE)
        assert after.account.balanced, leaf
        if not noticed(before, after, leaf):
            found.append(leaf)
    return found
