"""The laws over generated logs and sessions of Copilot, damaged ones, and bytes that are none.

Of a log every operation is a unit, and every fact of its records is one of the whole file: a cut log gives what its whole lines
give. The leaves of an operation are named by their place in the session, which ``place_of`` works out.
"""

import io
import json
import pickle
from itertools import pairwise
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leaves import (
    EVERY_LINE,
    Leaf,
    changed,
    covers,
    leaves,
    pointer_of,
    put,
    same,
    same_facts,
    unnoticed,
    walk,
    with_leaf,
)
from tests.strategies import examples, odd_json
from tests.strategies_copilot import MadeLog, events, lines, logs, sessions

from convparse import ParseResult, parse_bytes
from convparse.ledger import Ledger
from convparse.reading.mutation_log import read_log


def replay(data: bytes) -> tuple[Any, list[str]]:
    ledger = Ledger("log")
    found = [log.state for log, _ in read_log(io.BytesIO(data), len(data), ledger)]
    return (found[0] if found else None), [drop.code for drop in ledger.close()]


@examples(400)
@given(logs)
def test_a_replay_is_equal_to_the_reference_or_says_that_it_is_not(log: MadeLog) -> None:
    state, codes = replay(log.data)
    if log.gave_up:
        assert codes
    else:
        assert state == log.state or codes


def check(data: bytes, source: str) -> ParseResult:
    result = parse_bytes(data, source=source, name="f")
    entries = [entry for c in result.conversations for entry in c.entries] + list(result.loose)
    origins = {(o.offset, o.length) for entry in entries for o in (entry.origin, *entry.merged) if o is not None}
    ends = sorted(origins)

    assert result.account.balanced
    assert all(a + n <= b for (a, n), (b, _) in pairwise(ends))
    assert len({entry.key for entry in entries}) == len(entries)
    assert parse_bytes(data, source=source, name="f") == result
    assert pickle.loads(pickle.dumps(result)) == result
    for conversation in result.conversations:
        conversation.turns(), conversation.responses(), conversation.tool_calls(), conversation.edits()
    return result


@examples(150)
@given(logs)
def test_every_byte_of_a_log_is_accounted_for(log: MadeLog) -> None:
    check(log.data, "copilot")


@examples(100)
@given(sessions)
def test_every_byte_of_a_session_is_accounted_for(session: Any) -> None:
    check(json.dumps(session, ensure_ascii=False).encode(), "copilot")


@examples(150)
@given(events())
def test_every_byte_of_an_event_file_is_accounted_for(found: list[Any]) -> None:
    check(lines(found), "copilot-cli")


@pytest.mark.parametrize("source", ["copilot", "copilot-cli"])
@examples(150)
@given(st.lists(st.binary(max_size=30) | odd_json.map(lambda value: json.dumps(value).encode()), max_size=6))
def test_bytes_of_any_kind_raise_nothing(source: str, found: list[bytes]) -> None:
    check(b"\n".join(found), source)


@examples(60)
@given(logs, st.floats(0, 1))
def test_a_cut_log_gives_what_its_whole_lines_give(log: MadeLog, at: float) -> None:
    data = log.data[: round(at * len(log.data))]
    whole = data[: data.rfind(b"\n") + 1]
    cut, before = (parse_bytes(d, source="copilot", name="f") for d in (data, whole))

    assert cut.account.balanced
    if "torn-tail" in cut.dropped_by_code():
        assert cut.conversations == before.conversations


@examples(60)
@given(events(), events())
def test_one_event_file_behind_the_other_gives_the_sum_of_the_bytes(a: list[Any], b: list[Any]) -> None:
    first, second, both = (parse_bytes(lines(x), source="copilot-cli", name="f").account for x in (a, b, a + b))

    assert {k: v.bytes for k, v in both.bins.items() if k not in ("mapped", "folded")} | {"size": both.size} == {
        k: v.bytes for k, v in (first + second).bins.items() if k not in ("mapped", "folded")
    } | {"size": first.size + second.size} or both.folded.units  # a system prompt that stood in the first


# ---- leaves ----------------------------------------------------------------------------------------------------------------


def place_of(data: bytes, leaf: Leaf) -> str | None:
    """The pointer that a leaf of an operation's value has in the session; of any other leaf its own. None for a path."""
    operation = json.loads(data.split(b"\n")[leaf.line - 1])
    if leaf.path[0] != "v":
        return None if leaf.path[0] == "k" else leaf.pointer
    inside = leaf.path[1:]
    return pointer_of((*map(str, operation.get("k", ())), *inside)) if operation["kind"] != 0 else pointer_of(inside)


def missed_in_log(data: bytes, at: float) -> list[Leaf]:
    found = []
    before = parse_bytes(data, source="copilot", name="f", limits=EVERY_LINE)
    for leaf in leaves(data):
        pointer = place_of(data, leaf)
        if pointer is None:
            continue
        after = parse_bytes(with_leaf(data, leaf, at), source="copilot", name="f", limits=EVERY_LINE)
        named = any(
            covers(drop.pattern, pointer) if drop.pattern else drop.bytes and leaf.line in drop.lines
            for drop in (*after.dropped, *after.skipped)
        )
        if same_facts(before, after) and not named:
            found.append(leaf)
    return found


@examples(25)
@given(logs, st.floats(0, 1))
def test_no_leaf_of_a_log_changes_unnoticed(log: MadeLog, at: float) -> None:
    assert missed_in_log(log.data, at) == []


@examples(25)
@given(sessions, st.floats(0, 1))
def test_no_leaf_of_a_session_changes_unnoticed(session: Any, at: float) -> None:
    data = json.dumps(session, ensure_ascii=False).encode()
    before = parse_bytes(data, source="copilot", name="f", limits=EVERY_LINE)
    for path, value in walk(session):
        other = json.dumps(put(session, path, changed(value, at)), ensure_ascii=False).encode()
        after = parse_bytes(other, source="copilot", name="f", limits=EVERY_LINE)
        named = any(covers(drop.pattern, pointer_of(path)) for drop in (*after.dropped, *after.skipped) if drop.pattern)
        assert named or not same_facts(before, after), path


@examples(40)
@given(events(), st.floats(0, 1))
def test_no_leaf_of_an_event_changes_unnoticed(found: list[Any], at: float) -> None:
    data = lines(found)

    assert unnoticed(data, leaves(data), at, "copilot-cli") == []


def test_records_say_the_same_wherever_they_are_read() -> None:
    one = parse_bytes(b'{"kind":0,"v":{"requests":[{"requestId":"q","message":"x"}],"sessionId":"s"}}', source="copilot")
    other = parse_bytes(b'{"requests":[{"requestId":"q","message":"x"}],"sessionId":"s"}', source="copilot")

    assert same(one.conversations, other.conversations)
    assert [attrs.evolve(c, entries=()) for c in one.conversations] == [
        attrs.evolve(c, entries=()) for c in other.conversations
    ]
