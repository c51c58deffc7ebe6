"""Bytes in, other bytes out: what storage, crashes, other writers and enemies do to files, drawn from a seeded generator.

The same generator state and the same seeds give the same bytes. Nothing here knows of a product: ``mutated`` treats lines and
JSON as text, or as values where they are JSON. No result is longer than ``LONGEST``, so that the time of an input is bounded.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

LONGEST: Final = 1 << 16
ALL_BYTES: Final = 0.03
"""How many of the inputs are arbitrary bytes, and nothing else."""
HUGE: Final[tuple[bytes, ...]] = (
    b"18446744073709551616", b"-9223372036854775809", b"9" * 400, b"1" + b"0" * 5000, b"1e400", b"-1e400", b"1e-400", b"1E+2",
    b"-0", b"NaN", b"-Infinity", b"0.1e1", b"9007199254740993", b"99999999999999", b"-62135596800001", b"253402300800000",
    b"1e308",
)  # fmt: skip
DEPTHS: Final = (3, 100, 252, 253, 254, 255, 256, 1023, 1025, 6000)
VALUES: Final[tuple[bytes, ...]] = (
    b"null", b"true", b"false", b"[]", b"{}", b'""', b"0", b"-1", b"1.5", b"[null]", b'[""]', b'{"":{}}', b'"x"', b"[[]]",
    b'{"type":"text","text":"t"}', b'[{"type":"text"}]', b'"2026-13-45T99:99:99Z"', b'"0000-00-00T00:00:00Z"',
    b'"9999-12-31T23:59:59.999999999+23:59"',
)  # fmt: skip
TEXTS: Final[tuple[bytes, ...]] = (
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\xbd", b"\xef\xbb\xbf", b"\\ud83d", b"\\udc00\\ud83d", b"\\u0000", b"\xe2\x80\xa8",
    b"\r", b"\n", b"\r\n", b"\t", b'"', b"\\", b"}{", b"\x1b[2J", b"\xe2\x80\xae", b"<user_query>", b"</system-reminder>",
    b"<command-name>", b"../../../etc/passwd", b"%00",
)  # fmt: skip
STRUCTURE: Final = b'{}[]",:\\0-\n'
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_VALUE: Final = re.compile(rb'(?<=":)\s*(?:"(?:[^"\\\n]|\\.)*"|-?[\d.eE+-]+|true|false|null)')
_KEY: Final = re.compile(rb'"(?:[^"\\\n]|\\.)*":')

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutated(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Other bytes made of these. ``others``: what pieces are taken from."""
    if rng.random() < ALL_BYTES:
        return arbitrary(rng)
    head = b""
    if rng.random() < 0.3:  # the first line, which tells what a file is, stays
        head, end, data = data.partition(b"\n")
        head += end
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(MUTATIONS)(rng, data, others)
    return (head + data)[:LONGEST]


def arbitrary(rng: random.Random) -> bytes:
    """Bytes that are nothing, or only look like JSON."""
    size = rng.choice((0, 1, 7, 60, 800))
    if rng.random() < 0.5:
        return rng.randbytes(size)
    return bytes(rng.choices(STRUCTURE + b"atrue fnull1", k=size))


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randint(0, len(data))


def _block(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = _place(rng, data)
    return start, min(len(data), start + rng.choice((1, 2, 8, 40, 300, 2000)))


def flip_bits(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Some bits are others."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A run of bytes is zeros, ones, noise, or structure of JSON."""
    start, end = _block(rng, data)
    length = end - start
    run = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length), bytes(rng.choices(STRUCTURE, k=length))))
    return data[:start] + run + data[end:]


def splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The beginning of one file and the end of another."""
    other = rng.choice(others)
    return data[: _place(rng, data)] + other[_place(rng, other) :]


def drop_block(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A block is missing."""
    start, end = _block(rng, data)
    return data[:start] + data[end:]


def double_block(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A block is there twice, or many times."""
    start, end = _block(rng, data)
    return data[:start] + data[start:end] * rng.choice((2, 2, 3, 30)) + data[end:]


def move_block(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A block stands elsewhere."""
    start, end = _block(rng, data)
    rest = data[:start] + data[end:]
    place = _place(rng, rest)
    return rest[:place] + data[start:end] + rest[place:]


def cut(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The end is missing, or the beginning."""
    place = _place(rng, data)
    return data[:place] if rng.random() < 0.7 else data[place:]


def insert_text(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Something that is awkward in JSON, or in text, stands in between."""
    place = _place(rng, data)
    return data[:place] + rng.choice(TEXTS) * rng.choice((1, 1, 3)) + data[place:]


def _replaced(rng: random.Random, data: bytes, pattern: re.Pattern[bytes], new: bytes) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data + new
    start, end = rng.choice(found).span()
    return data[:start] + new + data[end:]


def huge_number(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A number, or any value, is one that no program expects."""
    return _replaced(rng, data, rng.choice((_NUMBER, _VALUE)), rng.choice(HUGE))


def deep_nesting(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A value is nested as deep as the limits and beyond; now and then it does not end."""
    depth = rng.choice(DEPTHS)
    start, end = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"type":', b"}]")))
    depth = min(depth, LONGEST // (2 * len(start)))
    return _replaced(rng, data, _VALUE, start * depth + b"1" + (end * depth if rng.random() < 0.8 else b""))


def other_value(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A value is of another type."""
    return _replaced(rng, data, _VALUE, rng.choice(VALUES))


def other_key(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A key is another one of these files, so that some stand twice and others are missing."""
    keys = _KEY.findall(rng.choice(others)) or [b'"":']
    return _replaced(rng, data, _KEY, rng.choice(keys))


def _on_lines(change: Callable[[random.Random, list[bytes]], None]) -> Mutation:
    def mutation(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
        lines = data.splitlines(keepends=True)
        if lines:
            change(rng, lines)
        return b"".join(lines)

    return mutation


def _swap(rng: random.Random, lines: list[bytes]) -> None:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _drop(rng: random.Random, lines: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


def _double(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randint(0, len(lines)), rng.choice(lines))


def _ends(rng: random.Random, lines: list[bytes]) -> None:
    lines[:] = [line.rstrip(b"\r\n") + rng.choice((b"\r\n", b"\r", b"\n", b"\n\n", b"")) for line in lines]


def graft(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """In a line of JSON a value stands where another one stood; it is valid still, and its types are wrong."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        value = json.loads(lines[at])
        donor = json.loads(rng.choice(rng.choice(others).split(b"\n")))
    except (ValueError, RecursionError):
        return other_value(rng, data, others)
    value, donor = [value], [donor]
    holder, key = _somewhere(rng, value)
    source, place = _somewhere(rng, donor if rng.random() < 0.5 else value)
    holder[key] = json.loads(json.dumps(source[place]))
    try:
        lines[at] = json.dumps(value[0], ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    except RecursionError:
        return data
    return b"\n".join(lines)


def _somewhere(rng: random.Random, value: Any) -> tuple[Any, Any]:
    """A place in a value: a container and a key of it."""
    holder, key = value, 0
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.8:
        holder = holder[key]
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    return holder, key


swap_lines, drop_line, double_line, other_ends = (_on_lines(change) for change in (_swap, _drop, _double, _ends))

MUTATIONS: Final[tuple[Mutation, ...]] = (
    flip_bits, set_bytes, splice, drop_block, double_block, move_block, cut, insert_text, huge_number, deep_nesting,
    other_value, other_value, other_key, other_key, graft, graft, graft, graft, swap_lines, drop_line,
    double_line, other_ends,
)  # fmt: skip
"""Each is as likely as it stands here; ``graft`` reaches deepest, since what it makes is valid JSON."""
