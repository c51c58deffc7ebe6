"""Every string of a record, found and changed: none is left over, nothing else is touched."""

import json
import pickle
import re
from pathlib import Path
from typing import Any, Literal, get_args

import attrs
import pytest
from hypothesis import given
from tests import results, strategies
from tests.leaves import pointer_of
from tests.results import EMPTY, EVERYTHING, alike, fixture_results

import convparse
from convparse import (
    CODES,
    SOURCES,
    Code,
    ConvparseError,
    Json,
    ParseResult,
    Place,
    Text,
    ToolCall,
    map_strings,
    strings,
    to_json,
)
from convparse._strings import ALL, UNTOUCHED, sort_of
from convparse.blocks import Edit
from convparse.records import Author, Body, Link, State

PAGE = (Path(__file__).parents[1] / "docs" / "redaction.md").read_text("utf-8")
OWN = {
    *(word for union in (Author, Body, State, Literal["recorded", "derived"]) for word in get_args(union)),
    *("lost", "altered", "unknown", "skipped", *CODES, *SOURCES),
    *(name for source in SOURCES.values() for name in (*source.variants, *source.codes)),
    *(word for words in UNTOUCHED.values() for listed in words.values() if listed is not ALL for word in listed),
    *("file", "bytes", "direct", "in-place", "copy", "locked-read", "included", "none", "ignored", "wal", "rollback"),
}
"""What may stand in a result of which every string was changed: this library's own words."""
NUMBERED = re.compile(r"x( \d+)?")


def same(place: Place, text: str) -> str:
    return text


def crossed(place: Place, text: str) -> str:
    return "x"


def everything_said(value: Any) -> set[str]:
    """Every string that hangs on a record, found without the help of what is tested."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Json):
        return set(said_in(json.loads(value.utf8)))
    if attrs.has(type(value)):
        value = tuple(getattr(value, field.name) for field in attrs.fields(type(value)))
    return set().union(*map(everything_said, value)) if isinstance(value, tuple) else set()


def said_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in items for text in said_in(item)]


def shape(value: Any) -> Any:
    """Everything of a record but its strings."""
    if isinstance(value, str):
        return "x"
    if isinstance(value, Json):
        return ("Json", shape(json.loads(value.utf8)))
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list | tuple):
        return (type(value), [shape(item) for item in value])
    if attrs.has(type(value)):
        return (type(value), [shape(getattr(value, field.name)) for field in attrs.fields(type(value))])
    return value


def check_crossed(result: ParseResult) -> ParseResult:
    made = map_strings(result, crossed)
    assert [] == [text for text in everything_said(made) if text not in OWN and not NUMBERED.fullmatch(text)]
    assert shape(made) == shape(result)
    assert all(NUMBERED.fullmatch(text) for _, text in strings(made))
    return made


# ---- nothing is left over --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [EMPTY, EVERYTHING], ids=["empty", "everything"])
def test_nothing_is_left_of_results_made_by_hand(result: ParseResult):
    check_crossed(result)


def test_nothing_is_left_of_any_fixture():
    for result in fixture_results().values():
        check_crossed(result)


@given(strategies.claude_code_sessions())
@strategies.examples(30)
def test_nothing_is_left_of_generated_sessions(made: strategies.Generated):
    result = check_crossed(convparse.parse_bytes(made.data, source="claude-code", name="/home/ada/x.jsonl"))

    pickled, written, shown = pickle.dumps(result), to_json(result), repr(result)
    for text in (*made.texts, *made.calls, "/home/ada"):
        assert text.encode() not in pickled
        assert json.dumps(text, ensure_ascii=False)[1:-1].encode() not in written
        assert repr(text)[1:-1] not in shown


@given(strategies.with_odd_values(strategies.claude_code_sessions()))
@strategies.examples(20)
def test_nothing_is_left_of_sessions_with_odd_values(data: bytes):
    check_crossed(convparse.parse_bytes(data, source="claude-code", name="f"))


# ---- nothing else is touched -----------------------------------------------------------------------------------------------


def test_without_a_change_it_is_the_same_object():
    for result in (EMPTY, EVERYTHING, *fixture_results().values()):
        assert map_strings(result, same) is result


def test_every_place_is_another_and_is_told_to_the_change():
    for result in (EVERYTHING, *fixture_results().values()):
        found = list(strings(result))
        told: list[tuple[Place, str]] = []

        def note(place: Place, text: str, told: list[tuple[Place, str]] = told) -> str:
            told.append((place, text))
            return text

        map_strings(result, note)
        assert told == found
        assert len({(place.pointer, place.sort) for place, _ in found}) == len(found)


def test_what_is_not_changed_keeps_its_record():
    made = map_strings(EVERYTHING, lambda place, text: "y" if place.field == "title" else text)

    assert made.conversations[0].title == "y"
    assert made.conversations[0].entries is EVERYTHING.conversations[0].entries
    assert alike(attrs.evolve(made, conversations=EVERYTHING.conversations), EVERYTHING)


def test_ids_that_are_changed_alike_still_tie_records_together():
    made = map_strings(EVERYTHING, lambda place, text: f"<{text}>" if place.sort == "id" else text)

    assert ["<s2>"] == [child.id for child in made.children(made.roots[0])]
    (first, second) = made.roots[0].tool_calls()
    assert (first.outcome, first.spawned, second.outcome) == ("error", "<s2>", "missing")


# ---- places ----------------------------------------------------------------------------------------------------------------


def test_a_place_says_record_field_sort_and_pointer():
    found = {str(place): (place.record, place.field, place.sort, text) for place, text in strings(EVERYTHING)}
    block = "/conversations/0/entries/0/blocks"

    assert found["/path"] == ("ParseResult", "path", "path", "/home/ada/a.jsonl")
    assert found["/conversations/0/title"] == ("Conversation", "title", "text", "A title")
    assert found["/conversations/0/links/1/id"] == ("Link", "id", "id", "s0")
    assert found[f"{block}/0/text"] == ("Text", "text", "text", "said\n😀")
    assert found[f"{block}/6/content/0/text"] == ("Text", "text", "text", "out")
    assert found[f"{block}/5/input"] == ("ToolCall", "input", "text", "*** Begin Patch")
    assert found[f"{block}/8/name"] == ("Attachment", "name", "path", "plan.pdf")
    assert found["/conversations/0/entries/1/name"] == ("Event", "name", "word", "hook_ran")
    assert found["/conversations/0/entries/1/kind"] == ("Event", "kind", "word", "hook")
    assert found["/conversations/0/context/git_branch"] == ("Context", "git_branch", "text", "secret-branch")
    assert found["/conversations/0/context/sandbox"] == ("Context", "sandbox", "word", "none")
    assert found["/dropped/0/origin/pointer"] == ("Origin", "pointer", "key", "/message/content/0")
    assert found["/dropped/0/excerpt"] == ("Drop", "excerpt", "text", "excerpt of it")
    assert found["/dropped/0/message"] == ("Drop", "message", "word", "not valid JSON")
    assert found["/accounts/0/stamp"] == ("Account", "stamp", "id", "1.2.3")


def test_places_inside_json():
    found = [(place.pointer, place.sort, text) for place, text in strings(ToolCall(None, "n", "other", results.JSON))]

    assert found == [
        ("/name", "word", "n"),
        ("/input»/command", "key", "command"),
        ("/input»/n", "key", "n"),
        ("/input»/deep", "key", "deep"),
        ("/input»/command", "text", "ls /home/ada"),
        ("/input»/deep/0/a~1b", "key", "a/b"),
        ("/input»/deep/0/a~1b", "text", "x~y"),
        ("/input»/deep/4", "text", "é😀"),
    ]


def test_pointers_inside_json_are_those_of_the_old_value():
    for place, text in strings(results.JSON):
        value: Any = results.JSON.value
        tokens = [t.replace("~1", "/").replace("~0", "~") for t in place.pointer.split("/")[1:]]
        for token in tokens[: None if place.sort == "text" else -1]:
            value = value[int(token)] if isinstance(value, list) else value[token]
        assert value == text if place.sort == "text" else (text in value and text == tokens[-1])
        assert place.pointer == "»" + pointer_of(tuple(tokens))


@pytest.mark.parametrize("text", ['"said"', '["said"]', '{"k":["said",{}]}', '[[["said"]],[]]'])
def test_strings_in_json(text: str):
    made = map_strings(Json(text), lambda place, old: old.upper())

    assert made.text == text.upper()


@pytest.mark.parametrize("text", ["1", "null", "[]", "{}", "[1.50,  2]"])
def test_json_without_strings_keeps_its_text(text: str):
    assert [] == list(strings(Json(text)))
    assert map_strings(Json(text), crossed).text == text


def test_json_may_be_nested_deeply():
    deep = Json("[" * 800 + '"said"' + "]" * 800)

    assert map_strings(deep, crossed).text == "[" * 800 + '"x"' + "]" * 800
    assert [("»" + "/0" * 800, "said")] == [(place.pointer, text) for place, text in strings(deep)]


def test_large_numbers_survive_a_change():
    assert map_strings(Json('{"a":123456789012345678901234567890}'), crossed).text == '{"x":123456789012345678901234567890}'


def test_keys_that_become_equal_are_numbered():
    made = map_strings(Json('{"x 2":1,"a":2,"b":3,"c":4,"d":{"e":5}}'), lambda place, text: text if "2" in text else "x")

    assert made.text == '{"x 2":1,"x":2,"x 3":3,"x 4":4,"x 5":{"x":5}}'


def test_many_equal_keys_take_no_longer():
    many = Json.of({str(number): number for number in range(20_000)})

    assert list(map_strings(many, crossed).value.values()) == list(range(20_000))


def test_only_a_key_may_change():
    made = map_strings(Json('{"a":{"b":"c"}}'), lambda place, text: "x" if place.sort == "key" else text)

    assert made.text == '{"x":{"x":"c"}}'


# ---- what is given ---------------------------------------------------------------------------------------------------------


def test_strings_come_one_by_one():
    found = strings(EVERYTHING)

    assert next(found) == (Place("ParseResult", "path", "path", "/path"), "/home/ada/a.jsonl")
    assert ["/path", "/stamp"] == [str(place) for place, _ in strings(EMPTY)]


def test_tuples_of_records_and_views():
    assert [("/0/text", "a"), ("/1/text", "b")] == [(place.pointer, text) for place, text in strings((Text("a"), Text("b")))]
    (turn,) = EVERYTHING.conversations[1].turns()
    assert map_strings(turn, crossed).status == "complete"
    uses = EVERYTHING.conversations[0].tool_calls()
    assert len(list(strings(uses))) == len(list(strings(map_strings(uses, crossed)))) > 50


@pytest.mark.parametrize("value", ["a", 1, None, [Text("a")], {"a": Text("a")}])
def test_what_is_no_record_is_refused(value: object):
    with pytest.raises(ConvparseError, match="strings are found in records"):
        strings(value)
    with pytest.raises(ConvparseError, match="strings are found in records"):
        map_strings(value, same)


def test_a_change_gives_a_string():
    with pytest.raises(ConvparseError, match="change gave NoneType, not a string, for /text"):
        map_strings(Text("a"), lambda place, text: None)  # type: ignore[arg-type, return-value]


# ---- what is untouched -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", [Link("owned", "b"), ToolCall(None, "n", "secret", "i"), Edit("p", "secret")])
def test_a_word_that_is_not_this_librarys_is_changed(record: Any):
    assert map_strings(record, crossed).kind == "x"


def test_what_is_untouched_is_listed_in_the_documentation():
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)
    public = [getattr(convparse, name) for name in convparse.__all__]
    records = [cls for cls in public if isinstance(cls, type) and attrs.has(cls) and cls is not Code]
    expected = {cls.__name__: {*UNTOUCHED.get(cls, ()), *literals(cls)} for cls in records}

    assert {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows} == {
        n: names for n, names in expected.items() if names
    }


def literals(cls: Any) -> list[str]:
    return [field.name for field in attrs.fields(cls) if "Literal" in str(field.type)]


def test_every_field_that_holds_strings_has_a_sort():
    """A new field is ``text`` until somebody says otherwise, and so is changed by every redaction of text."""
    assert {"text", "path", "id", "word", "key"} == {place.sort for place, _ in strings(EVERYTHING)}
    assert sort_of(Text, "a_field_of_the_future") == "text"
    assert (sort_of(ToolCall, "name"), sort_of(ToolCall, "id"), sort_of(convparse.Context, "cwd")) == ("word", "id", "path")
