"""The law of exports: content in the records = content in the document + what is named, for every format and every source.

Every string, number and time of a result is made one of a kind; each is then in the document, or its place is named.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import databases
from tests.build_trae import database as trae_database
from tests.marks import MARK, at, is_named, leaves, marked, marks_in, places
from tests.results import EMPTY, EVERYTHING, fixture_results
from tests.strategies import Generated, claude_code_sessions, examples
from tests.strategies_codex import codex_sessions
from tests.strategies_copilot import events, lines, sessions
from tests.strategies_cursor import Stored, editors
from tests.strategies_records import parse_results
from tests.strategies_trae import Talk, talks

from convparse import CODES, SOURCES, ParseResult, parse_bytes
from convparse._json import encode
from convparse._strings import UNTOUCHED
from convparse.blocks import Block
from convparse.export import Where, atif, markdown, openai_chat, otel
from convparse.records import Author, Body, State
from convparse.tables import tag_of

FORMATS = {"markdown": markdown, "atif": atif, "otel": otel, "openai_chat": openai_chat}
PRESENT = ("export-joined", "export-moved")
"""Codes of what is in the document all the same."""
ABSENT = tuple(code for code, about in CODES.items() if code.startswith("export-") and about.fate == "lost")
ONCE = {"Text", "Injected", "Answer", "Thinking", "Reference", "Attachment"}
"""Records whose text is in a document once."""


def check(result: ParseResult, formats: Iterable[str] = FORMATS) -> None:
    """The law, for each format, whether the words are those of a product or not."""
    for copy in (marked(result), marked(result, keep_words=True)):
        for name in formats:
            check_format(copy, name)


def check_format(result: ParseResult, name: str) -> None:
    export = FORMATS[name].export(result)
    found = marks_in(export.document)
    excused = places(export) - places(export, *PRESENT)
    lost = places(export, *ABSENT)
    for where, place, text in leaves(result):
        assert text in found or is_named(where, excused), (name, where, text)
        if place is not None and place.sort != "id":
            assert text not in found or not is_named(where, lost), (name, where, "named and there")
        if place is not None and place.field == "text" and place.record in ONCE:
            assert found[text] <= 1, (name, where, "twice")
    for item in export.dropped:
        check_omission(result, item)
    assert export == FORMATS[name].export(result)


def check_omission(result: ParseResult, item: Any) -> None:
    """What is named is there, and named once."""
    assert len(set(item.places)) == item.count > 0
    assert item.fate == CODES[item.code].fate
    for where in item.places if item.code != "export-stand-in" else ():
        assert at(result, where) is not None
        assert item.pattern == re.sub(r"/\d+", "/*", where.pointer)


# ---- by hand and by fixture ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [EMPTY, EVERYTHING], ids=["empty", "everything"])
@pytest.mark.parametrize("name", FORMATS)
def test_the_law_holds_for_results_made_by_hand(name: str, result: ParseResult):
    check(result, [name])


@pytest.mark.parametrize("name", FORMATS)
def test_the_law_holds_for_every_fixture(name: str):
    for result in fixture_results().values():
        check(result, [name])


def test_markdown_holds_everything():
    for result in (EVERYTHING, *fixture_results().values()):
        assert markdown.export(result).dropped == ()


def test_the_place_of_what_is_lost_is_there_to_be_looked_up():
    (item,) = (item for item in openai_chat.export(EVERYTHING).dropped if item.code == "export-not-active")

    assert [("s1", "m1", "")] == [attrs.astuple(place) for place in item.places]
    assert "export-not-active" in str(item)


def flipped(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """Copies of a record, in each of which one truth is another, with its place."""
    if isinstance(value, bool):
        yield pointer, not value
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            for place, other in flipped(item, f"{pointer}/{index}"):
                yield place, (*value[:index], other, *value[index + 1 :])
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            for place, other in flipped(getattr(value, field.name), f"{pointer}/{field.name}"):
                yield place, attrs.evolve(value, **{field.name: other})


@pytest.mark.parametrize("name", FORMATS)
def test_no_truth_is_silent(name: str):
    """True and false cannot be made one of a kind: change one, and the document is another, or its place is named."""
    (talk, *others), export = EVERYTHING.conversations, FORMATS[name].export
    message = attrs.evolve(talk.entries[0], state="active")
    seen = set()
    for before in (message, *(copy for _, copy in flipped(message, ""))):
        for pointer, after in flipped(before, ""):
            seen.add(pointer)
            made = [
                export(attrs.evolve(EVERYTHING, conversations=(attrs.evolve(talk, entries=(entry,)), *others)))
                for entry in (before, after)
            ]
            named = frozenset().union(*map(places, made))
            assert made[0].document != made[1].document or is_named(Where(talk.id, "m1", pointer), named), pointer
    assert {"/inherited", "/usage/provisional", "/blocks/3/hidden"} < seen
    assert {"/blocks/6/is_error", "/blocks/6/truncated"} < seen


# ---- nothing else is in a document -----------------------------------------------------------------------------------------

VOCABULARY = {
    "atif": {"ATIF-v1.7", "unknown", "user", "agent", "system", "text", "image", "data", "base64", "blocks"},
    "otel": {"chat", "unknown", "user", "assistant", "system", "tool", "text", "reasoning", "tool_call", "tool_call_response"}
    | {"blob", "uri", "image", "video", "audio", "document", "edit"},
    "openai_chat": {"user", "assistant", "system", "developer", "tool", "function", "custom", "text", "image_url", "file"}
    | {"data", "base64", "blocks", "null", "true", "false"},
}
"""What the formats, or this library for their sake, may say by themselves."""
OWN = {tag_of(kind) for kind in get_args(Block)} | {*SOURCES, *get_args(State), *get_args(Author), *get_args(Body)}
OWN |= {"recorded", "derived", *(word for words in UNTOUCHED.values() for listed in words.values() for word in listed)}
"""What stands in records and is this library's own."""


def strings_of(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings_of(item)


@pytest.mark.parametrize("name", VOCABULARY)
def test_nothing_is_in_a_document_that_is_in_no_record(name: str):
    said: set[str] = set()
    for result in fixture_results().values():
        for text in strings_of(FORMATS[name].export(marked(result)).document):
            rest = MARK.sub("", text)
            said.update([rest] if rest in OWN else re.findall("[A-Za-z][A-Za-z0-9_.-]*", rest))

    assert said - VOCABULARY[name] - OWN == set()


# ---- generated -------------------------------------------------------------------------------------------------------------


@given(parse_results())
@examples(120)
def test_the_law_holds_for_records_in_any_order(result: ParseResult):
    check(result)


@given(claude_code_sessions())
@examples(25)
def test_the_law_holds_for_claude_code(made: Generated):
    check(parse_bytes(made.data, source="claude-code", name="x.jsonl"))


@given(st.data())
@examples(25)
def test_the_law_holds_for_codex(drawn: st.DataObject):
    session = drawn.draw(codex_sessions())
    check(parse_bytes(session.data, source="codex", name="x.jsonl"))


@given(sessions)
@examples(25)
def test_the_law_holds_for_copilot(session: Any):
    check(parse_bytes(encode(session), source="copilot", name="x.json"))


@given(events())
@examples(25)
def test_the_law_holds_for_copilot_cli(found: list[Any]):
    check(parse_bytes(lines(found), source="copilot-cli", name="events.jsonl"))


@given(editors())
@examples(25)
def test_the_law_holds_for_cursor(made: Stored):
    check(parse_bytes(databases.database(made.rows), source="cursor", name="state.vscdb"))


@given(talks())
@examples(25)
def test_the_law_holds_for_trae(talk: Talk):
    check(parse_bytes(trae_database(talk.rows), source="trae", name="state.vscdb"))
