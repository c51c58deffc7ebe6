"""The laws that every parse keeps, over generated sessions, damaged ones, and bytes that are no sessions at all.

The second law has a module of its own, ``test_leaves``. A source enters its strategies in ``SESSIONS`` and ``FUZZ``; what only
one source can say about its own sessions stands at the end.
"""

import pickle
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, Final

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests import strategies
from tests.leaves import EVERY_LINE, decoded, encoded, resolve, same, walk
from tests.strategies import Generated, claude_code_fuzz, claude_code_sessions, examples, mutated, with_odd_values

import convparse
from convparse import CODES, SOURCES, ConvparseError, Event, Limits, Message, Origin, ParseResult, Text
from convparse.records import FILE_FACTS

SESSIONS: Final[dict[str, Callable[..., st.SearchStrategy[Generated]]]] = {"claude-code": claude_code_sessions}
FUZZ: Final[dict[str, st.SearchStrategy[list[Any]]]] = {"claude-code": claude_code_fuzz}
sources: Final = pytest.mark.parametrize("source", SESSIONS)


def parse(data: bytes, source: str | None = None, limits: Limits | None = None) -> ParseResult:
    return convparse.parse_bytes(data, source=source, name="x.jsonl", limits=limits)


def sessions(source: str, **wanted: Any) -> st.SearchStrategy[Generated]:
    return SESSIONS[source](**wanted)


def entries(result: ParseResult) -> list[Message | Event]:
    return [entry for c in result.conversations for entry in c.entries] + list(result.loose)


def origins(result: ParseResult) -> Iterator[Origin]:
    for entry in entries(result):
        yield from (origin for origin in (entry.origin, *entry.merged) if origin is not None)


def test_every_source_has_all_its_strategies() -> None:
    assert set(SESSIONS) == set(FUZZ) <= set(SOURCES)


# ---- 1. units --------------------------------------------------------------------------------------------------------------


def check_units(result: ParseResult, data: bytes) -> None:
    """Every byte is in one bin, and what records and drops say of their bytes agrees with the bins."""
    (account,) = result.accounts
    assert account.size == len(data)
    assert account.balanced
    assert account == convparse.Account("x.jsonl", 0) + account
    spans = sorted({(origin.offset, origin.length) for origin in origins(result)})
    for (start, length), (after, _) in pairwise(spans):
        assert start + length <= after, "two units share bytes"
    assert sum(length for _, length in spans) + account.lost.bytes + account.skipped.bytes + account.blank.bytes == len(data)
    for origin in origins(result):
        assert origin.line == 1 + data.count(b"\n", 0, origin.offset)
    for fate in ("lost", "skipped"):
        drops = [drop for drop in (*result.dropped, *result.skipped) if CODES[drop.code].fate == fate]
        units = [drop for drop in drops if not CODES[drop.code].folds]
        assert sum(drop.bytes for drop in units) == getattr(account, fate).bytes
    for drop in (*result.dropped, *result.skipped):
        assert drop.fate == CODES[drop.code].fate
        assert drop.count >= len(drop.lines) >= (drop.origin.line is not None)
        assert list(drop.lines) == sorted(set(drop.lines))
    assert not any(drop.fate == "skipped" for drop in result.dropped)
    assert all(drop.fate == "skipped" for drop in result.skipped)
    keys = [entry.key for entry in entries(result)]
    assert len(keys) == len(set(keys))


@sources
@examples(60)
@given(drawn=st.data())
def test_every_byte_of_a_session_is_accounted_for(source: str, drawn: st.DataObject) -> None:
    session = drawn.draw(sessions(source))
    check_units(parse(session.data, source), session.data)


@sources
@examples(60)
@given(drawn=st.data())
def test_every_byte_of_a_broken_session_is_accounted_for(source: str, drawn: st.DataObject) -> None:
    data = drawn.draw(mutated(sessions(source)))
    check_units(parse(data, source), data)


# ---- 3. addition -----------------------------------------------------------------------------------------------------------


def told(result: ParseResult) -> Counter[tuple[str, str, str, str]]:
    found: Counter[tuple[str, str, str, str]] = Counter()
    for drop in (*result.dropped, *result.skipped):
        found[drop.code, drop.record, drop.pattern, "times"] += drop.count
        found[drop.code, drop.record, drop.pattern, "bytes"] += drop.bytes
    return found


@sources
@examples(60)
@given(drawn=st.data())
def test_one_file_behind_the_other_gives_the_sum(source: str, drawn: st.DataObject) -> None:
    """Bytes, units and drops always; records where every row has a session id."""
    a, b = (drawn.draw(sessions(source, number=number, bare=False)) for number in (1, 2))
    first, second, both = parse(a.data, source), parse(b.data, source), parse(a.data + b.data, source)
    assert both.account.bins == (first.account + second.account).bins
    assert told(both) == told(first) + told(second)
    assert same(both.conversations, first.conversations + second.conversations)


# ---- 4. cuts ---------------------------------------------------------------------------------------------------------------


def unit_facts(result: ParseResult, end: int) -> list[Any]:
    """What the units before a byte settle by themselves, by their place."""
    found = []
    for entry in entries(result):
        origin = entry.origin
        if origin is None or origin.offset + origin.length > end or entry.key.endswith(":prompt"):
            continue
        kind = type(entry).__name__
        facts = [(a.name, getattr(entry, a.name)) for a in attrs.fields(type(entry)) if a.name not in FILE_FACTS[kind]]
        found.append((origin.offset, kind, facts))
    return sorted(found, key=lambda item: (item[0], item[1]))


def without_repeats(result: ParseResult, end: int) -> int:
    return sum(1 for entry in entries(result) for origin in entry.merged if origin.offset + origin.length <= end)


@sources
@examples(80)
@given(drawn=st.data())
def test_a_cut_file_gives_the_units_before_the_cut(source: str, drawn: st.DataObject) -> None:
    data = drawn.draw(sessions(source)).data
    cut = drawn.draw(st.integers(0, len(data)))
    whole, head = parse(data, source), parse(data[:cut], source)
    check_units(head, data[:cut])
    end = data.rfind(b"\n", 0, cut) + 1
    assert unit_facts(head, end) == unit_facts(whole, end)
    assert without_repeats(head, end) == without_repeats(whole, end)
    before = told(parse(data[:end], source))
    torn = told(head) - before
    if cut == end:
        assert not torn
    damage = {code for code, _, _, what in torn if what == "bytes"} - {"skipped-record", "repeated-record"}
    assert damage <= {"torn-tail", "cut-record", "nul-padding", "malformed-line", "too-deep"}


# ---- 5. repeats ------------------------------------------------------------------------------------------------------------


@sources
@examples(40)
@given(drawn=st.data())
def test_the_same_bytes_give_an_equal_result(source: str, drawn: st.DataObject) -> None:
    data = drawn.draw(sessions(source)).data
    first, second = parse(data, source), parse(data, source)
    assert first == second
    assert hash(first) == hash(second)
    again = pickle.loads(pickle.dumps(first))
    assert again == first
    assert hash(again) == hash(first)
    assert repr(again) == repr(first)
    assert str(again) == str(first)


HASHED: Final = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from convparse import parse_bytes
from tests.test_laws import HARD, _calls, _chain, _lines
data = [make(40) for make in HARD.values()] + [_lines(_calls(90, among=90)), _lines(reversed(list(_calls(90, among=90))))]
results = [parse_bytes(d, source="claude-code") for d in data]
told = [(r.dropped, r.skipped, r.accounts, [(c.id, c.links, c.entries) for c in r.conversations]) for r in results]
print(hashlib.sha256(repr(told).encode()).hexdigest())
"""


def test_the_order_of_hashes_has_no_part_in_it() -> None:
    """Another process, where sets have another order, gives the same."""
    told = set()
    for seed in ("1", "2", "3"):
        command = [sys.executable, "-c", HASHED, str(Path(__file__).parents[1]), str(Path(convparse.__file__).parents[1])]
        told.add(subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout)
    assert len(told) == 1


@sources
@examples(60)
@given(drawn=st.data())
def test_views_can_be_had_of_any_session(source: str, drawn: st.DataObject) -> None:
    """And what they hold is the conversation's own."""
    data = drawn.draw(st.one_of(sessions(source).map(lambda made: made.data), with_odd_values(sessions(source, damage=False))))
    for conversation in parse(data, source).conversations:
        turns = conversation.turns()
        assert [m for turn in turns for m in turn.messages] == list(conversation.active_messages)
        assert [p for turn in turns for p in turn.prompts] == list(conversation.prompts)
        uses = conversation.tool_calls()
        calls = [b for m in conversation.messages for b in m.blocks if type(b) is convparse.ToolCall]
        assert [use.call for use in uses] == calls
        assert all(use.outcome and (use.command is None or use.command is not None) for use in uses)
        said = [b for r in conversation.responses() for b in r.blocks]
        assert len(said) <= sum(len(m.blocks) for m in conversation.messages)
        assert all(turn.status in ("interrupted", "failed", "complete", "open") for turn in turns)
        conversation.edits()


# ---- 6. bounds -------------------------------------------------------------------------------------------------------------


@sources
@examples(40)
@given(drawn=st.data())
def test_a_line_over_the_limit_costs_itself_alone(source: str, drawn: st.DataObject) -> None:
    session = drawn.draw(sessions(source, damage=False, bare=False))
    most = drawn.draw(st.integers(200, 900))
    result = parse(session.data, source, Limits(line_bytes=most, lines=1_000))
    check_units(result, session.data)
    long = [(number, line) for number, line in enumerate(session.lines, 1) if len(line) > most]
    drops = [drop for drop in result.dropped if drop.code == "oversized"]
    assert sum(drop.count for drop in drops) == len(long)
    assert sum(drop.bytes for drop in drops) == sum(len(line) for _, line in long)
    assert sorted(line for drop in drops for line in drop.lines) == [number for number, _ in long]
    rest = b"".join(b"\n" if len(line) > most else line for line in session.lines)
    assert same(result.conversations, parse(rest, source).conversations)


@sources
def test_depth_is_bounded(source: str) -> None:
    def row(depth: int) -> bytes:
        return b'{"type":"brand-new","x":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}\n"

    data = row(254) + row(255) + row(100_000) + row(3)
    result = parse(data, source)
    check_units(result, data)
    (drop,) = [drop for drop in result.dropped if drop.fate == "lost"]
    assert (drop.code, drop.count, drop.lines) == ("too-deep", 2, (2, 3))
    assert parse(data, source, Limits(depth=3)).lost[0].count == 3


@sources
@examples(20)
@given(drawn=st.data())
def test_patterns_are_bounded_and_never_disappear(source: str, drawn: st.DataObject) -> None:
    session = drawn.draw(sessions(source, damage=False))
    rows = [row | {f"new{at}.{n}": n for n in range(20)} for at, row in enumerate(session.rows)]
    data = b"".join(encoded(row) + b"\n" for row in rows)
    most = drawn.draw(st.integers(1, 30))
    free, bound = parse(data, source, EVERY_LINE), parse(data, source, Limits(patterns=most))
    assert len(bound.dropped) + len(bound.skipped) <= most + 2 * len(CODES)
    count: Counter[str] = Counter()
    for drop in (*free.dropped, *free.skipped):
        count[drop.code] += drop.count
    for drop in (*bound.dropped, *bound.skipped):
        count[drop.code] -= drop.count
    assert not any(count.values())
    assert same(free.conversations, bound.conversations)


def steps(run: Callable[[], object]) -> int:
    """How many lines of the library's own code a call executes: a measure of time that is the same on every machine."""
    count = 0

    def local(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        return local if "convparse" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def _chain(n: int, **more: Any) -> Iterator[dict[str, Any]]:
    for at in range(n):
        yield {
            "type": "user",
            "uuid": f"u{at}",
            "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "s",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": f"text {at}"},
            **more,
        }


def _calls(n: int, among: int = 7) -> Iterator[dict[str, Any]]:
    for at in range(n):
        block = {"type": "tool_use", "id": f"c{at % among}", "name": "Task", "input": {"prompt": f"task {at}"}}
        yield {
            "type": "assistant",
            "uuid": f"a{at}",
            "parentUuid": None,
            "sessionId": "s",
            "message": {"id": f"m{at % 9}", "role": "assistant", "content": [block], "usage": {"output_tokens": at}},
        }
        result = {"type": "tool_result", "tool_use_id": f"c{at % 5}", "content": f"agentId: x{at}"}
        yield {
            "type": "user",
            "uuid": f"r{at}",
            "parentUuid": f"a{at}",
            "sessionId": "s",
            "message": {"role": "user", "content": [result]},
        }


def _queue(n: int) -> Iterator[dict[str, Any]]:
    for word in ("enqueue", "remove"):
        for at in range(n):
            text = f"{at if word == 'enqueue' else n - at}"
            yield {"type": "queue-operation", "operation": word, "content": text, "sessionId": "s", "timestamp": "x"}


def _sides(n: int) -> Iterator[dict[str, Any]]:
    for at in range(n):
        yield from ({**row, "uuid": f"{row['uuid']}/{at}"} for row in _chain(1, isSidechain=True))
    yield from _calls(n)


def _compactions(n: int) -> Iterator[dict[str, Any]]:
    for at, row in enumerate(_chain(n)):
        yield row
        yield {"type": "system", "subtype": "compact_boundary", "uuid": f"b{at}", "parentUuid": None, "sessionId": "s"} | {
            "logicalParentUuid": f"u{n - at}"
        }


def _bookmarks(n: int) -> Iterator[dict[str, Any]]:
    for row in _chain(n):
        yield row
        yield {"type": "last-prompt", "leafUuid": None, "explicit": True, "rewound": True, "sessionId": "s"}


def _lines(rows: Iterator[dict[str, Any]]) -> bytes:
    return b"".join(encoded(row) + b"\n" for row in rows)


HARD: Final[dict[str, Callable[[int], bytes]]] = {
    "a long chain": lambda n: _lines(_chain(n)),
    "children before parents": lambda n: _lines(reversed(list(_chain(n)))),
    "one id for all": lambda n: _lines({**row, "uuid": "u"} for row in _chain(n)),
    "the same row again and again": lambda n: _lines(iter([next(_chain(1))] * n)),
    "a session a row": lambda n: _lines({**row, "sessionId": f"s{at}"} for at, row in enumerate(_chain(n))),
    "a conversation a row": lambda n: _lines({**next(_chain(1)), "uuid": f"u{at}", "sessionId": f"s{at}"} for at in range(n)),
    "unknown keys": lambda n: _lines({**row, f"k{at}": 1} for at, row in enumerate(_chain(n))),
    "one row of many keys": lambda n: _lines(iter([next(_chain(1)) | {f"k{at}": at for at in range(n)}])),
    "calls and results": lambda n: _lines(_calls(n)),
    "queued prompts": lambda n: _lines(_queue(n)),
    "side chains": lambda n: _lines(_sides(n)),
    "compactions": lambda n: _lines(_compactions(n)),
    "rewinds to nothing": lambda n: _lines(_bookmarks(n)),
    "bad lines": lambda n: b'{"type":"user","message":{"x":"\n' * n,
    "records without line ends": lambda n: _lines(_chain(n)).replace(b"\n", b""),
    "NUL bytes between records": lambda n: _lines(_chain(n)).replace(b"\n", b"\0\0\0"),
    "opening braces": lambda n: b'{"a' * n * 20,
    "tags": lambda n: _lines(_chain(1, message={"role": "user", "content": "<tick>a</tick> " * n + "x"})),
    "open tags": lambda n: _lines(_chain(1, message={"role": "user", "content": "<tick>" * n})),
    "reminders": lambda n: _lines(
        _chain(1, message={"role": "user", "content": "x" + "<system-reminder>a</system-reminder>" * n})
    ),
    "blocks": lambda n: _lines(_chain(1, message={"role": "user", "content": [{"type": "text", "text": "a"}] * n})),
    "unknown blocks": lambda n: _lines(_chain(1, message={"role": "user", "content": [{"type": "b", "k": 1}] * n})),
    "doubled keys": lambda n: b'{"type":"user",' + b'"a":1,' * n + b'"b":1}\n',
    "lone surrogates": lambda n: b'{"type":"brand-new","a":[' + b'"\\ud83d",' * n + b"1]}\n",
}
"""What makes careless readers slow, by size."""


@pytest.mark.parametrize("case", HARD)
def test_time_is_linear(case: str) -> None:
    def views(data: bytes) -> None:
        for conversation in parse(data, "claude-code").conversations:
            conversation.turns()
            conversation.responses()
            conversation.edits()

    views(HARD[case](3))
    small, large = (steps(lambda size=size: views(HARD[case](size))) for size in (80, 480))  # type: ignore[misc]
    assert large <= 6.6 * small + 2_000


# ---- no exceptions ---------------------------------------------------------------------------------------------------------


def check_anything(data: bytes) -> None:
    for source in (*SESSIONS, None):
        try:
            result = parse(data, source)
        except ConvparseError:
            assert source is None
            continue
        check_units(result, data)
        hash(result)


@examples(150)
@given(st.binary(max_size=400))
@example(b"SQLite format 3\0")
def test_no_bytes_raise(data: bytes) -> None:
    check_anything(data)


@examples(60)
@given(st.lists(st.sampled_from(strategies.DAMAGE) | st.binary(max_size=30), max_size=8).map(b"\n".join))
def test_no_lines_raise(data: bytes) -> None:
    check_anything(data)


@sources
@examples(400)
@given(drawn=st.data())
def test_no_records_raise(source: str, drawn: st.DataObject) -> None:
    rows = drawn.draw(FUZZ[source])
    check_anything(b"".join(encoded(row) + b"\n" for row in rows))
    check_anything(encoded(rows))


@sources
@examples(400)
@given(drawn=st.data())
def test_no_odd_values_raise(source: str, drawn: st.DataObject) -> None:
    check_anything(drawn.draw(with_odd_values(sessions(source, damage=False))))


@sources
@examples(60)
@given(drawn=st.data())
def test_no_accident_raises(source: str, drawn: st.DataObject) -> None:
    check_anything(drawn.draw(mutated(sessions(source))))


# ---- order and text --------------------------------------------------------------------------------------------------------


@sources
@examples(40)
@given(drawn=st.data(), seed=st.integers(0, 2**32))
def test_order_is_the_files_under_any_timestamps(source: str, drawn: st.DataObject, seed: int) -> None:
    rows = drawn.draw(sessions(source, damage=False)).rows
    stamped = [at for at, row in enumerate(rows) if isinstance(row.get("timestamp"), str)]
    times = [rows[at]["timestamp"] for at in stamped]
    random.Random(seed).shuffle(times)
    mixed = list(rows)
    for at, time in zip(stamped, times, strict=True):
        mixed[at] = {**rows[at], "timestamp": time}
    first, second = (parse(b"".join(encoded(row) + b"\n" for row in some), source) for some in (rows, mixed))
    for a, b in zip(first.conversations, second.conversations, strict=True):
        assert len({entry.origin.offset for entry in a.entries if entry.origin}) <= len(a.entries)
        placed = [[(e.origin.line, e.key, e.state) for e in c.entries if e.origin] for c in (a, b)]
        if not {"repeated-record", "duplicate-id"} & {
            d.code for d in (*first.dropped, *first.skipped, *second.dropped, *second.skipped)
        }:
            assert placed[0] == placed[1]
        for c in (a, b):
            offsets = [e.origin.offset for e in c.entries if e.origin]
            assert offsets == sorted(offsets)


def strings(result: ParseResult) -> str:
    """All text of a result, what belongs together joined."""
    found: list[str] = []

    def visit(value: Any) -> None:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, convparse.Json):
            found.extend(leaf for _, leaf in walk(value.value) if isinstance(leaf, str))
        elif isinstance(value, tuple):
            for item in value:
                visit(item)
        elif attrs.has(type(value)):
            for field in attrs.fields(type(value)):
                visit(getattr(value, field.name))

    for entry in entries(result):
        if isinstance(entry, Message):
            found.append("".join(block.text for block in entry.blocks if hasattr(block, "text")))
        visit(entry)
    return "\ud800".join(found)


@sources
@examples(80)
@given(drawn=st.data())
def test_every_text_stands_verbatim(source: str, drawn: st.DataObject) -> None:
    session = drawn.draw(sessions(source))
    found = strings(parse(session.data, source))
    for text in session.texts:
        assert text in found


@sources
@examples(80)
@given(drawn=st.data())
def test_every_prompt_call_and_result_is_there_once(source: str, drawn: st.DataObject) -> None:
    session = drawn.draw(sessions(source))
    result = parse(session.data, source)
    messages = [m for c in result.conversations for m in c.messages]
    by_people = [m for m in messages if m.author == "human"]
    assert len(by_people) == len(session.prompts)
    typed = ["\ud800".join(block.text for block in m.blocks if type(block) is Text) for m in by_people]
    for prompt in session.prompts:
        assert sum(prompt in text for text in typed) == 1
    calls = [block.id for m in messages for block in m.blocks if isinstance(block, convparse.ToolCall)]
    results = [block.call_id for m in messages for block in m.blocks if isinstance(block, convparse.ToolResult)]
    assert sorted(calls) == sorted(session.calls)
    assert sorted(results) == sorted(session.results)
    uses = [use for c in result.conversations for use in c.tool_calls()]
    assert sorted(u.call.id for u in uses if u.outcome != "missing") == sorted(session.results)
    assert sum(c.usage.output_tokens or 0 for c in result.conversations) == session.output


@sources
@examples(80)
@given(drawn=st.data())
def test_every_unknown_field_is_named_once(source: str, drawn: st.DataObject) -> None:
    session = drawn.draw(sessions(source, damage=False, skip=("again",)))
    drops = [drop for drop in parse(session.data, source, EVERY_LINE).dropped if drop.code == "unknown-field"]
    assert {(drop.record, drop.pattern): drop.count for drop in drops} == dict(session.unknown)
    assert len(drops) == len(session.unknown)


@sources
@examples(80)
@given(drawn=st.data())
def test_what_is_kept_raw_stands_at_its_exact_pointer(source: str, drawn: st.DataObject) -> None:
    session = drawn.draw(sessions(source, damage=False))
    rows = {line: value for line, _, value in decoded(session.data)}
    for entry in entries(parse(session.data, source)):
        if isinstance(entry, Message) and entry.extra is not None and entry.origin is not None:
            for pointer, value in entry.extra.value.items():
                assert resolve(rows[entry.origin.line], pointer) == value
