"""The JSON form: lossless, numbered, described by a schema that agrees with it."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from tests import results, strategies
from tests.leaves import put, walk
from tests.results import EMPTY, EVERYTHING, alike, fixture_results

import convparse
from convparse import ConvparseError, Json, ParseResult, Text, Usage, from_json, jsonform, schema, to_json
from convparse.tables import tag_of

GOLDEN = results.FIXTURES / "json_form"
HEAD = {"convparse": 1, "version": "0.1.0", "source": "claude-code", "variant": "transcript", "path": ""}
VALIDATOR = Draft202012Validator(schema())


def form(**fields: Any) -> bytes:
    return json.dumps({**HEAD, **fields}).encode()


def message(**fields: Any) -> bytes:
    entry = {"type": "message", "key": "m", "id": None, "role": "user", "author": None, **fields}
    return form(conversations=[{"id": "s", "source": "claude-code", "entries": [entry]}])


def holding(record: Any) -> ParseResult:
    """A result that holds one block or message."""
    talk = convparse.Conversation("s", "x", entries=(attrs.evolve(results.PROMPT, blocks=(record,)),))
    return attrs.evolve(EMPTY, conversations=(talk,))


# ---- there and back --------------------------------------------------------------------------------------------------------


def test_the_result_made_by_hand_has_something_in_every_field():
    found: dict[type, set[str]] = {}

    def look(value: Any) -> None:
        if isinstance(value, tuple):
            for item in value:
                look(item)
        elif attrs.has(type(value)):
            names = found.setdefault(type(value), set())
            for field in attrs.fields(type(value)):
                names.update({field.name} if getattr(value, field.name) != field.default else ())
                look(getattr(value, field.name))

    look(EVERYTHING)
    assert {cls.__name__ for cls in found} == {"ParseResult", *schema()["$defs"]}
    assert {cls: {f.name for f in attrs.fields(cls)} - names for cls, names in found.items()} == {cls: set() for cls in found}


@pytest.mark.parametrize("result", [EMPTY, EVERYTHING], ids=["empty", "everything"])
def test_a_result_made_by_hand_comes_back(result: ParseResult):
    data = to_json(result)

    assert alike(from_json(data), result)
    assert alike(from_json(data.decode()), result)
    assert to_json(from_json(data)) == data


def test_every_fixture_comes_back():
    assert len(fixture_results()) > 200
    assert [name for name, result in fixture_results().items() if not alike(from_json(to_json(result)), result)] == []


@given(strategies.claude_code_sessions())
@strategies.examples(40)
def test_generated_sessions_come_back(made: strategies.Generated):
    result = convparse.parse_bytes(made.data, source="claude-code", name="f")

    assert alike(from_json(to_json(result)), result)


@given(strategies.with_odd_values(strategies.claude_code_sessions()))
@strategies.examples(20)
def test_sessions_with_odd_values_come_back(data: bytes):
    result = convparse.parse_bytes(data, source="claude-code", name="f")

    assert alike(from_json(to_json(result)), result)


@pytest.mark.parametrize(
    "record",
    [
        Json("[" * 900 + "]" * 900),
        Json('{"a" : 1.0, "a":2}'),
        Json(b"\xff not JSON"),
        Json(str(10**400)),
        Json('"json"'),
    ],
    ids=["deep", "as it stands", "not UTF-8", "long", "a string"],
)
def test_json_stands_as_its_text(record: Json):
    result = holding(convparse.Unknown("x", record))

    assert alike(from_json(to_json(result)), result)
    assert alike(
        from_json(to_json(holding(convparse.ToolCall(None, "x", "other", record)))).conversations[0],
        holding(convparse.ToolCall(None, "x", "other", record)).conversations[0],
    )


def test_a_path_that_is_not_utf8_comes_back():
    result = attrs.evolve(EMPTY, path="/home/\udce9.jsonl")

    assert from_json(to_json(result)) == result


def test_the_text_is_one_object_in_utf8_with_the_number_first():
    data = to_json(holding(Text("é\n😀")))

    assert data.startswith(b'{"convparse":1,"version":"')
    assert "é\\n😀".encode() in data
    assert b"\n" not in data


def test_what_has_its_default_is_left_out():
    assert set(json.loads(to_json(EMPTY))) == set(HEAD)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(number: float):
    with pytest.raises(ConvparseError, match="has no JSON form"):
        to_json(attrs.evolve(holding(Text("")), loose=(attrs.evolve(results.PROMPT, usage=Usage(cost=number)),)))


def test_only_results_have_the_form():
    with pytest.raises(ConvparseError, match="to_json takes a ParseResult, not Text"):
        to_json(Text("x"))  # type: ignore[arg-type]


def test_without_an_installed_package_the_version_is_unknown(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(jsonform, "version", missing)
    assert json.loads(to_json(EMPTY))["version"] == "unknown"


def test_nothing_is_loaded_before_it_is_used():
    code = (
        "import sys, convparse; print(sorted({'cattrs', 'pyarrow', 'convparse.jsonform', 'convparse.rows'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_names_that_are_loaded_later_are_listed():
    assert {"to_json", "strings", "__version__"} - set(dir(convparse)) == {"__version__"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = convparse.nothing


# ---- refused ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, told",
    [
        (b"", "not the JSON form of a result: "),
        (b"\xff", "not the JSON form of a result: "),
        (b"[" * 100_000, "not the JSON form of a result: "),
        (b"[]", "no number under `convparse`"),
        (b'{"type":"user"}', "no number under `convparse`"),
        (b'{"convparse":true}', "no number under `convparse`"),
        (b'{"convparse":0}', "no number under `convparse`"),
        (b'{"convparse":2,"version":"7.1"}', r"form 2, written by convparse 7.1: .* forms up to 1; update it"),
        (b'{"convparse":1}', r"required field 'source' missing @ \$.source"),
        (form(source=1), r"1 is not str @ \$.source"),
        (form(colour="red"), r"not a result of form 1: .*colour"),
        (form(conversations={}), r"{} is not list @ \$.conversations"),
        (form(loose="ab"), r"'ab' is not list @ \$.loose"),
        (form(loose=[[]]), r"\[\] is not dict @ \$.loose\[0\]"),
        (form(loose=[{"type": "text"}]), r"'text' is none of the types message, event @ \$.loose\[0\]"),
        (form(loose=[{"type": ["x" * 99]}]), "…"),
        (form(accounts=[1] * 9), "; and 4 more"),
        (message(author="nobody"), "nobody"),
        (message(timestamp="soon"), "soon"),
        (message(timestamp=3), "3 is not str"),
        (message(inherited=1), r"1 is not bool @ \$.conversations\[0\].entries\[0\].inherited"),
        (message(extra="{}"), "is not {\"json\": text}"),
        (message(extra={"json": 1}), "is not {\"json\": text}"),
        (message(extra={"json": "1", "x": 1}), "is not {\"json\": text}"),
        (message(usage={"input_tokens": 1.0}), "1.0 is not int"),
        (message(usage={"input_tokens": True}), "True is not int"),
        (message(blocks=[{"type": "tool_call", "id": None, "name": "", "kind": "", "input": 1}]), "is not {\"json\": text}"),
    ],
)  # fmt: skip
def test_what_is_refused(data: bytes, told: str):
    with pytest.raises(ConvparseError, match=told):
        from_json(data)


def test_no_value_but_bytes_and_text_is_read():
    with pytest.raises(ConvparseError, match="takes bytes or str, not NoneType"):
        from_json(None)  # type: ignore[arg-type]


# ---- the schema ------------------------------------------------------------------------------------------------------------


def test_the_schema_is_one():
    Draft202012Validator.check_schema(schema())
    assert schema() is not schema()


@pytest.mark.parametrize("result", [EMPTY, EVERYTHING], ids=["empty", "everything"])
def test_the_schema_describes_what_is_made(result: ParseResult):
    assert [] == [error.message for error in VALIDATOR.iter_errors(json.loads(to_json(result)))]


def test_the_schema_describes_every_tenth_fixture():
    for result in list(fixture_results().values())[::10]:
        assert [] == [error.message for error in VALIDATOR.iter_errors(json.loads(to_json(result)))]


def accepts(value: Any) -> bool:
    try:
        from_json(json.dumps(value))
    except ConvparseError:
        return False
    return True


def test_the_schema_and_the_reader_agree_on_every_leaf_put_wrong():
    """Every leaf in turn becomes one value or another, of its type or not."""
    whole = json.loads(to_json(EVERYTHING))
    del whole["conversations"][0]["entries"][1], whole["loose"]
    free = {"convparse", "version", "timestamp", "created_at", "updated_at", "started_at", "ended_at"}
    others = (None, 7, 0.5, True, "x", [], {})
    for at, (path, leaf) in enumerate(walk(whole)):
        for other in (others[at % 7], others[(at + 3) % 7]) if path[-1] not in free else ():
            value = put(whole, path, other)
            assert VALIDATOR.is_valid(value) == accepts(value), (path, leaf, other)


def test_the_schema_and_the_reader_agree_on_every_object_with_one_key_more_or_less():
    whole = json.loads(to_json(EVERYTHING))
    objects = {path[:n] for path, _ in walk(whole) for n in range(1, len(path)) if not isinstance(path[n], int)}
    assert len(objects) > 50
    for path in objects:
        value = whole
        for token in path:
            value = value[token]
        less = sorted(value)[len(path) % len(value)]
        for other in ({**value, "colour": 1}, {key: item for key, item in value.items() if key != less}):
            changed = put(whole, path, other)
            assert VALIDATOR.is_valid(changed) == accepts(changed), (path, other)


def test_types_are_the_names_of_classes():
    assert ("text", "tool_result") == (tag_of(Text), tag_of(convparse.ToolResult))


# ---- what was written stays readable ---------------------------------------------------------------------------------------


def test_the_form_is_the_one_that_was_numbered():
    """If this fails and a version with the form was released: give the changed form the next number, and keep both files."""
    told = json.loads((GOLDEN / f"schema-{jsonform.FORM}.json").read_text("utf-8"))

    def shape(value: Any) -> Any:
        """What stands in a schema but for its words."""
        if isinstance(value, dict):
            return {key: shape(item) for key, item in value.items() if key != "description"}
        return [shape(item) for item in value] if isinstance(value, list) else value

    assert shape(schema()) == shape(told)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("result-*.json")), ids=lambda path: path.stem)
def test_every_form_that_was_ever_written_is_read(path: Path):
    assert alike(from_json(path.read_bytes()), EVERYTHING)


def test_there_is_a_written_result_of_every_form():
    assert {f"result-{number}.json" for number in range(1, jsonform.FORM + 1)} <= {path.name for path in GOLDEN.iterdir()}
