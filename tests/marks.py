"""Marks for the law of exports: a copy of a result in which every string and number is one of a kind, and what is left of them.

``marked`` keeps the structure: equal ids stay equal. ``leaves`` gives every mark with its place, ``marks_in`` those that stand
in a document.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from convparse import Json, ParseResult, Place, map_strings, strings
from convparse.export._account import Export, Where

MARK = re.compile(r"q\d{6}q|[1-9]\d{6}(?:\.5)?|3\d{3}-\d\d-\d\dT[\d:]{8}")
"""Strings, numbers and times that are marks."""
START = datetime(3000, 1, 1, tzinfo=UTC)


def marked(result: ParseResult, *, keep_words: bool = False) -> ParseResult:
    """The copy. ``keep_words``: the product's words stay, so that formats which know only some of them can take them."""
    count = itertools.count(1)
    ids: dict[str, str] = {}

    def change(place: Place, text: str) -> str:
        if keep_words and place.sort == "word":
            return text
        if place.sort == "id":
            return ids.setdefault(text, f"q{next(count):06d}q")
        return f"q{next(count):06d}q"

    copy = map_strings(result, change)
    return attrs.evolve(
        copy,
        conversations=tuple(_numbered(talk, count) for talk in copy.conversations),
        loose=tuple(_numbered(entry, count) for entry in copy.loose),
    )


def _numbered(value: Any, count: Iterator[int]) -> Any:
    if isinstance(value, Json):
        return Json.of(_numbered(value.value, count))
    if isinstance(value, tuple | list):
        return type(value)(_numbered(item, count) for item in value)
    if isinstance(value, dict):
        return {key: _numbered(item, count) for key, item in value.items()}
    if attrs.has(type(value)):
        cls: Any = type(value)
        return cls(**{f.name: _numbered(getattr(value, f.name), count) for f in attrs.fields(cls)})
    if isinstance(value, datetime):
        return START + timedelta(seconds=next(count))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return 1_000_000 + next(count) + (0.5 if isinstance(value, float) else 0)


def records(result: ParseResult) -> Iterator[tuple[str | None, str | None, Any]]:
    """The conversations without their entries, and every entry, each with the conversation's id and the entry's key."""
    for talk in result.conversations:
        yield talk.id, None, attrs.evolve(talk, entries=())
        for entry in talk.entries:
            yield talk.id, entry.key, entry
    for entry in result.loose:
        yield None, entry.key, entry


def leaves(result: ParseResult) -> Iterator[tuple[Where, Place | None, str]]:
    """Every mark of the records with its place; numbers and times have no ``Place``."""
    for talk, key, record in records(result):
        for place, text in strings(record):
            if MARK.fullmatch(text):
                yield Where(talk, key, place.pointer), place, text
        for pointer, text in _numbers(record, ""):
            yield Where(talk, key, pointer), None, text


def _numbers(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Json):
        yield from _numbers(value.value, f"{pointer}»")
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from _numbers(getattr(value, field.name), f"{pointer}/{field.name}")
    elif isinstance(value, tuple | list | dict):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from _numbers(item, f"{pointer}/{key}")
    elif isinstance(value, datetime):
        yield pointer, value.strftime("%Y-%m-%dT%H:%M:%S")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield pointer, str(value)


def marks_in(document: Any) -> Counter[str]:
    """The marks of a document, and how often each stands there."""
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    return Counter(MARK.findall(text))


def above(where: Where) -> Iterator[Where]:
    """A place, and all that it is part of."""
    pointer = where.pointer
    while True:
        yield attrs.evolve(where, pointer=pointer)
        if not pointer:
            return
        pointer = pointer[: max(pointer.rfind("/"), pointer.rfind("»"))]


def is_named(where: Where, named: frozenset[Where]) -> bool:
    """True if a place, or what it is part of, is among those named."""
    return any(place in named for place in above(where))


def places(export: Export[Any], *codes: str) -> frozenset[Where]:
    """All places that an export names, or those of some codes."""
    return frozenset(place for item in export.dropped if not codes or item.code in codes for place in item.places)


def at(result: ParseResult, where: Where) -> Any:
    """What stands at a place; LookupError where there is no such place."""
    found = next(record for talk, key, record in records(result) if (talk, key) == (where.conversation_id, where.key))
    for token in where.pointer.split("/")[1:]:
        found = found[int(token)] if isinstance(found, tuple) else getattr(found, token)
    return found
