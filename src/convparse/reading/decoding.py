"""The exact decoding of one JSON text: the slow way, for what ``orjson`` refuses or is not proved to have read whole.

Bytes come in; a value goes out, together with findings: each thing in the value that is not as it stood in the bytes, with its
code and its pointer. What is only written differently (spaces, escapes, ``1.0`` or ``1e0``) is no finding. A text that cannot
be had at all raises ``Refused``, which never leaves ``convparse.reading``. Time and memory are linear in the bytes.

The first try is the standard library with hooks that raise at anything doubtful. The second keeps what JSON objects forget:
lost pairs stay with their object, doubtful numbers stand in as ``_Flaw``, and damaged characters are carried through the
decoder as lone surrogates, which no valid text holds: U+DC00 + c for a raw control character, U+DC80 + b for a byte that is not
UTF-8, any other for an escape that is half a pair. A walk without recursion then settles them.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

import attrs

from convparse.ledger import Ledger, Place, escape


class Refused(ValueError):  # noqa: N818 - says what happened to the text
    """A text that gives no value; ``code`` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Finding(NamedTuple):
    """Something in a value that is not as it stood, so many times; pointer and excerpt are those of the first."""

    code: str
    pattern: str
    pointer: str
    excerpt: bytes
    times: int


_MOST_FINDINGS: Final = 1_000
"""Different findings kept for one text; all others are counted for the whole of it."""
_LONGEST_POINTER: Final = 2_000
"""Characters of a pointer; a longer one is cut to the pointer of a value around the place."""
_SHOWN: Final = 1_000
"""Characters of a text from which an excerpt is taken."""


def decode_exact(line: bytes, ledger: Ledger, place: Place) -> Any:
    """The value of a JSON text, its findings entered in the ledger; raises ``Refused``."""
    value, findings = exact(line, ledger.limits.depth)
    for code, pattern, pointer, excerpt, times in findings:
        for _ in range(times):
            ledger.part(code, place, pattern, pointer=pointer, excerpt=excerpt)
    return value


def exact(data: bytes, depth: int) -> tuple[Any, list[Finding]]:
    """The value of a JSON text and what in it is not as it stood; raises ``Refused``."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _examine(data.decode("utf-8", "surrogateescape"), depth)
    if _SURROGATE.search(text):
        return _examine(text, depth)
    try:
        value = _PLAIN.decode(text)
    except (ValueError, RecursionError):
        return _examine(text, depth)
    if data.count(b"[") + data.count(b"{") > depth and deeper(value, depth):
        raise Refused("too-deep")
    return value, []


def deeper(value: Any, depth: int) -> bool:
    """True if a value has more than so many levels of nesting."""
    level = [value] if type(value) in (dict, list) else []
    for _ in range(depth):
        level = [item for node in level for item in _items(node) if type(item) in (dict, list)]
        if not level:
            return False
    return bool(level)


def _items(node: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return node.values() if type(node) is dict else node


_KEY: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)"\s*+:|"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
_NAME: Final = re.compile(rb'\s*+"([^"\\]{1,64})"')


def type_of(head: bytes) -> str:
    """The value of the key ``type`` of the outermost object, if the first bytes of its text show it; else empty."""
    depth = 0
    for token in _KEY.finditer(head):
        depth += (token[0] in (b"{", b"[")) - (token[0] in (b"}", b"]"))
        if depth == 1 and token[1] == b"type":
            name = _NAME.match(head, token.end())
            return name[1].decode("utf-8", "replace") if name else ""
    return ""


# Numbers.


@attrs.frozen
class _Flaw:
    code: str
    value: float | None
    text: str


_DIGITS: Final = 308
"""Digits of the largest float, but one."""


def _float(text: str) -> float | _Flaw:
    value = float(text)
    if math.isinf(value):
        return _Flaw("not-a-number", None, text)
    return value if _holds(value, text) else _Flaw("number-precision", value, text)


def _holds(value: float, text: str) -> bool:
    if len(text) <= 16 and "e" not in text and "E" not in text:  # at most 15 digits: every float holds them
        return True
    if not value:
        return not text.lower().partition("e")[0].strip("-0.")
    return Decimal(text) == Decimal(repr(value))


def _int(text: str) -> int | _Flaw:
    if len(text) > _DIGITS and math.isinf(float(text)):  # no program computes with it: seconds, costs and times would overflow
        return _Flaw("not-a-number", None, text)
    return int(text)


def _constant(text: str) -> _Flaw:
    return _Flaw("not-a-number", None, text)


# The first try: nothing doubtful passes.


def _plain_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _plain_number(text: str) -> float:
    value = _float(text)
    if type(value) is _Flaw:
        raise ValueError(value.code)
    return value  # type: ignore[return-value]


def _plain_constant(text: str) -> None:
    raise ValueError(text)


def _plain_int(text: str) -> int:
    value = _int(text)
    if type(value) is _Flaw:
        raise ValueError(value.code)
    return value  # type: ignore[return-value]


_PLAIN: Final = json.JSONDecoder(
    object_pairs_hook=_plain_object, parse_float=_plain_number, parse_int=_plain_int, parse_constant=_plain_constant
)  # fmt: skip


# The second: everything doubtful is kept where it stands.


class _Object(dict[str, Any]):
    """An object with the pairs that later ones of the same key displaced."""

    __slots__ = ("lost",)
    lost: list[tuple[str, Any]]


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object()
    made.lost = []
    for key, value in pairs:
        if key in made:
            made.lost.append((key, made[key]))
        made[key] = value
    return made


_TREE: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_int=_int, parse_constant=_constant)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][c-fC-F]..)|\\.", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f]")


def _examine(text: str, depth: int) -> tuple[Any, list[Finding]]:
    text = _ESCAPE.sub(lambda escape: r"\udfff" if escape[1] else escape[0], text) if _SURROGATE.search(text) else text
    try:
        try:
            tree = _TREE.decode(text)
        except ValueError:
            tree = _TREE.decode(_STRING.sub(_mark_controls, text))
    except ValueError:
        raise Refused("malformed-line") from None
    except RecursionError:
        raise Refused("too-deep") from None
    return _settle(tree, depth)


def _mark_controls(string: re.Match[str]) -> str:
    return _CONTROL.sub(lambda control: chr(0xDC00 + ord(control[0])), string[0])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_MARKED: Final = re.compile(r"[\ud800-\udfff]")
_MARKS: Final[tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    ("lenient-json", re.compile(r"[\udc00-\udc1f]"), lambda mark: chr(ord(mark[0]) - 0xDC00)),
    ("invalid-utf8", re.compile(r"[\udc80-\udcff]+"), lambda mark: _bytes(mark[0]).decode("utf-8", "replace")),
    ("lone-surrogate", _MARKED, lambda mark: "\ufffd"),
)  # fmt: skip


def _clean(text: str) -> tuple[str, list[str]]:
    """A string without marks, and the codes of those it had."""
    codes = []
    if _MARKED.search(text):
        for code, pattern, repair in _MARKS:
            text, count = pattern.subn(repair, text)
            codes += [code] if count else []
    return text, codes


class _Spot:
    """A place as a pattern: one for all items of a list, so that findings fold without their pointers being written out."""

    __slots__ = ("above", "below", "token")

    def __init__(self, above: "_Spot | None", token: str) -> None:
        self.above, self.token = above, token
        self.below: dict[str, _Spot] = {}

    def at(self, token: str) -> "_Spot":
        return self.below.get(token) or self.below.setdefault(token, _Spot(self, token))


class _Path(NamedTuple):
    above: "_Path | None"
    token: str


class _Findings:
    def __init__(self) -> None:
        self.root = _Spot(None, "")
        self._found: dict[tuple[str, _Spot], tuple[list[int], _Path | None, bytes]] = {}

    def add(self, code: str, spot: _Spot, path: _Path | None, excerpt: str) -> None:
        key = (code, spot)
        if key not in self._found and len(self._found) >= _MOST_FINDINGS:
            key, path = (code, self.root), None
        entry = self._found.get(key)
        if entry is None:
            shown = _clean(excerpt[:_SHOWN])[0].encode()
            entry = self._found[key] = ([0], path, shown)
        entry[0][0] += 1

    def close(self) -> list[Finding]:
        return [
            Finding(code, _pointer(spot if spot.above else None), _pointer(path), excerpt, count)
            for (code, spot), ((count,), path, excerpt) in self._found.items()
        ]


def _pointer(place: _Spot | _Path | None) -> str:
    tokens = []
    while place is not None and (place.above is not None or type(place) is _Path):
        tokens.append(place.token)
        place = place.above
    pointer = ""
    for token in reversed(tokens):
        if len(pointer) + len(token) > _LONGEST_POINTER:
            break
        pointer += f"/{escape(token)}"
    return pointer


_Frame: TypeAlias = tuple[list[Any] | dict[str, Any], Iterator[tuple[Any, Any]], _Spot, _Path | None]


def _settle(tree: Any, depth: int) -> tuple[Any, list[Finding]]:
    """The value of a tree of the second try, in the order of the text; the stack is as high as the value is deep."""
    findings = _Findings()
    value, frame = _visit(tree, findings.root, None, findings)
    stack = [frame] if frame else []
    while stack:
        if len(stack) > depth:
            raise Refused("too-deep")
        holder, items, spot, path = stack[-1]
        for slot, node in items:
            if type(node) in (int, float, bool, type(None)):
                continue
            place = spot.at("*" if type(holder) is list else slot)
            holder[slot], frame = _visit(node, place, _Path(path, str(slot)), findings)
            if frame:
                stack.append(frame)
                break
        else:
            stack.pop()
    return value, findings.close()


def _visit(node: Any, spot: _Spot, path: _Path | None, findings: _Findings) -> tuple[Any, _Frame | None]:
    """What stands for a container, a flaw or a string, and the frame of what is in it."""
    kind = type(node)
    if kind is list:
        return node, (node, enumerate(node), spot, path)
    if kind is _Object:
        made = _settle_keys(node, spot, path, findings)
        return made, (made, iter(made.items()), spot, path)
    if kind is _Flaw:
        findings.add(node.code, spot, path, node.text)
        return node.value, None
    text, codes = _clean(node)
    for code in codes:
        findings.add(code, spot, path, text)
    return text, None


def _settle_keys(node: _Object, spot: _Spot, path: _Path | None, findings: _Findings) -> dict[str, Any]:
    made: dict[str, Any] = {}
    lost = [(_clean(key)[0], value) for key, value in node.lost]
    for key, value in node.items():
        name, codes = _clean(key)
        for code in codes:
            findings.add(code, spot.at(name), _Path(path, name), name)
        if name in made:
            lost.append((name, made[name]))
        made[name] = value
    for name, value in lost:
        findings.add("duplicate-key", spot.at(name), _Path(path, name), _show(value))
    return made


def _show(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda flaw: flaw.value)
    except RecursionError:
        return ""
