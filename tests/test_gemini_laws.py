"""The six laws over generated files of Gemini CLI: logs, documents, damaged ones, and bytes that are none."""

import json
import pickle
from itertools import pairwise
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leaves import EVERY_LINE, changed, covers, leaves, pointer_of, put, same_facts, unnoticed, walk
from tests.strategies import examples, odd_json
from tests.strategies_gemini import as_document, as_lines, documents, odd_documents, odd_sessions, sessions

import convparse
from convparse import Limits, ParseResult, parse, parse_bytes
from convparse.records import FILE_FACTS

GEMINI = convparse.SOURCES["gemini-cli"]


def of_variant(variant: str) -> Any:
    """The source, taking every file for one of a variant: an odd document need not be recognised."""
    variants = {variant: GEMINI.variants[variant]}
    return attrs.evolve(GEMINI, variants=variants, detect=lambda head: None)


def entries_of(result: ParseResult) -> list[Any]:
    return [entry for conversation in result.conversations for entry in conversation.entries] + list(result.loose)


def check(data: bytes, source: Any = "gemini-cli") -> ParseResult:
    result = parse_bytes(data, source=source, name="f")
    entries = entries_of(result)
    origins = {(o.offset, o.length) for entry in entries for o in (entry.origin, *entry.merged)}

    assert result.account.balanced
    assert all(a + n <= b for (a, n), (b, _) in pairwise(sorted(origins)))
    assert len({entry.key for entry in entries}) == len(entries)
    assert parse_bytes(data, source=source, name="f") == result
    assert pickle.loads(pickle.dumps(result)) == result
    assert convparse.from_json(convparse.to_json(result)) == result
    for conversation in result.conversations:
        conversation.turns(), conversation.responses(), conversation.tool_calls(), conversation.edits()
    return result


@examples(150)
@given(sessions())
def test_a_session_is_read_whole_and_nothing_is_unknown_but_the_unknown(lines: list[Any]) -> None:
    result = check(as_lines(lines))

    assert {drop.code for drop in result.dropped} <= {
        *("unknown-record", "unknown-block", "missing-result", "orphan-result", "unknown-field", "unexpected-type")
    }
    active = {message.id for conversation in result.conversations for message in conversation.messages}
    assert {row["id"] for row in lines if row.get("type") in ("user", "gemini")} <= active


@examples(150)
@given(odd_sessions())
def test_every_byte_of_an_odd_session_is_accounted_for(lines: list[Any]) -> None:
    check(as_lines(lines))


@examples(150)
@given(st.one_of(documents, odd_documents))
def test_every_byte_of_a_document_is_accounted_for(one: tuple[str, Any]) -> None:
    check(as_document(one[1]), of_variant(one[0]))


@examples(100)
@given(documents)
def test_a_document_is_recognised(one: tuple[str, Any]) -> None:
    detection = convparse._detect.detect_head(
        convparse._detect.head_of(as_document(one[1]), "f", True), list(convparse.SOURCES.values())
    )
    assert (detection.source, detection.variant) == ("gemini-cli", one[0])


@pytest.mark.parametrize("variant", GEMINI.variants)
@examples(100)
@given(st.lists(st.binary(max_size=30) | odd_json.map(lambda value: json.dumps(value).encode()), max_size=6))
def test_bytes_of_any_kind_raise_nothing(variant: str, found: list[bytes]) -> None:
    check(b"\n".join(found), of_variant(variant))


@examples(100)
@given(odd_sessions(), st.data())
def test_no_leaf_of_a_log_changes_unnoticed(lines: list[Any], drawn: st.DataObject) -> None:
    data = as_lines(lines)
    every = leaves(data)
    chosen = drawn.draw(st.lists(st.sampled_from(every), max_size=12, unique_by=lambda leaf: (leaf.line, leaf.path)))

    assert unnoticed(data, chosen, drawn.draw(st.sampled_from([0.0, 1.0])), "gemini-cli") == []


@examples(100)
@given(st.one_of(documents, odd_documents), st.data())
def test_no_leaf_of_a_document_changes_unnoticed(one: tuple[str, Any], drawn: st.DataObject) -> None:
    source, value = of_variant(one[0]), one[1]
    before = parse_bytes(as_document(value), source=source, name="f", limits=EVERY_LINE)
    every = list(walk(value))
    for path, leaf in drawn.draw(st.lists(st.sampled_from(every), max_size=12, unique_by=lambda one: one[0])):
        other = as_document(put(value, path, changed(leaf)))
        after = parse_bytes(other, source=source, name="f", limits=EVERY_LINE)
        named = any(covers(drop.pattern, pointer_of(path)) for drop in (*after.dropped, *after.skipped) if drop.pattern)
        assert named or not same_facts(before, after), path


@examples(60)
@given(odd_sessions(), odd_sessions())
def test_one_log_behind_the_other_gives_the_sum_of_the_bytes(a: list[Any], b: list[Any]) -> None:
    first, second, both = (parse_bytes(as_lines(x), source="gemini-cli", name="f").account for x in (a, b, a + b))
    whole = first + second

    assert both.size == whole.size
    assert [(n, part) for n, part in both.bins.items() if n not in ("mapped", "folded")] == [
        (n, part) for n, part in whole.bins.items() if n not in ("mapped", "folded")
    ]
    assert both.mapped.bytes + both.folded.bytes == whole.mapped.bytes + whole.folded.bytes


def unit_facts(entry: Any) -> Any:
    """What no later byte may change."""
    names = {field.name for field in attrs.fields(type(entry))} - FILE_FACTS[type(entry).__name__]
    return type(entry), {name: getattr(entry, name) for name in names}


@examples(100)
@given(odd_sessions(), st.floats(0, 1))
def test_a_cut_log_gives_the_facts_of_its_whole_lines(lines: list[Any], at: float) -> None:
    data = as_lines(lines)
    end = round(at * len(data))
    cut = parse_bytes(data[:end], source="gemini-cli", name="f")
    found = {entry.key: unit_facts(entry) for entry in entries_of(cut)}

    assert cut.account.balanced
    for entry in entries_of(parse_bytes(data, source="gemini-cli", name="f")):
        if entry.origin.offset + entry.origin.length <= end:
            assert found[entry.key] == unit_facts(entry)


@examples(60)
@given(odd_sessions(), st.lists(st.floats(0, 1), max_size=3))
def test_a_log_that_grows_is_what_it_is_in_the_end(tmp_path_factory: Any, lines: list[Any], cuts: list[float]) -> None:
    data = as_lines(lines)
    path = tmp_path_factory.mktemp("log") / "session.jsonl"
    old = None
    for end in (*sorted(round(cut * len(data)) for cut in cuts), len(data)):
        path.write_bytes(data[:end])
        old = parse(path, "gemini-cli", after=old)

    assert old == parse(path, "gemini-cli")


@examples(60)
@given(odd_sessions(), st.integers(1, 400), st.integers(1, 6))
def test_what_a_limit_keeps_out_is_lost_by_name(lines: list[Any], size: int, depth: int) -> None:
    limits = Limits(line_bytes=size, depth=depth, patterns=2)
    result = parse_bytes(as_lines(lines), source="gemini-cli", name="f", limits=limits)

    assert result.account.balanced
    assert {drop.code for drop in result.lost} <= {
        *("oversized", "too-deep", "missing-result", "orphan-result", "missing-arguments", "duplicate-key")
    }
