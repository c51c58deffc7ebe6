"""Bad calls: an error of the library that says what to give instead, before anything is read."""

import os
from pathlib import Path

import attrs
import pytest

import convparse
from convparse import ConvparseError, Limits

FIXTURES = Path(__file__).parent / "fixtures"
README = FIXTURES / "claude_code" / "readme.jsonl"
DATABASE = FIXTURES / "cursor" / "state.vscdb"


OPENERS = [convparse.parse, convparse.detect, convparse.iter_conversations]


@pytest.fixture(scope="module")
def result():
    return convparse.parse(README)


@pytest.mark.parametrize("call", OPENERS)
@pytest.mark.parametrize(
    ("path", "said"),
    [
        (os.fsencode(README), "not bytes; os.fsdecode makes a str of it"),
        (None, "not NoneType"),
        ([README], "not list"),
        (3, "not int; parse_bytes reads bytes from elsewhere"),
    ],
    ids=["bytes", "None", "list", "int"],
)
def test_a_path_is_a_str_or_a_path(call, path, said):
    with pytest.raises(ConvparseError, match=said):
        call(path)


def test_a_path_that_gives_bytes_is_none():
    class Named:
        def __fspath__(self):
            return os.fsencode(README)

    with pytest.raises(ConvparseError, match="not Named"):
        convparse.parse(Named())


@pytest.mark.parametrize("call", OPENERS)
def test_the_empty_path_is_no_file_and_not_this_folder(call):
    with pytest.raises(FileNotFoundError):
        call("")


def test_a_folder_of_many_sessions_is_for_discover():
    with pytest.raises(convparse.UnknownSource, match=r"discover\(\[folder\]\) finds the sessions below"):
        convparse.parse(FIXTURES)


def test_a_file_that_nobody_knows_is_named_by_its_whole_path(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("not JSON")

    with pytest.raises(convparse.UnknownSource) as error:
        convparse.parse(path)
    assert str(error.value).startswith(f"{path}: nothing in its beginning decodes as JSON")


def test_bytes_may_be_of_any_kind_and_text_is_none(result):
    data = README.read_bytes()

    assert convparse.parse_bytes(bytearray(data), name=README) == convparse.parse_bytes(memoryview(data), name=str(README))
    assert convparse.parse_bytes(data, name=README).path == str(README)
    assert convparse.parse_bytes(data, name=README) == result
    with pytest.raises(ConvparseError, match=r"data is bytes, not str; .* text becomes bytes by encode\(\)"):
        convparse.parse_bytes(data.decode())


@pytest.mark.parametrize("value", [-1, 1e6, "64 MB", None])
def test_a_limit_is_a_whole_number(value):
    with pytest.raises(
        ConvparseError, match=r"Limits\.line_bytes is a whole number from 0 on, and not .*a large one for no limit"
    ):
        Limits(line_bytes=value)
    with pytest.raises(ConvparseError, match=r"Limits\.line_bytes"):
        attrs.evolve(Limits(), line_bytes=value)


@pytest.mark.parametrize(
    "call",
    [
        lambda limits: convparse.parse(README, limits=limits),
        lambda limits: convparse.parse_bytes(b"{}", limits=limits),
        lambda limits: convparse.iter_conversations(README, limits=limits),
        lambda limits: convparse.parse_many([README], workers=0, limits=limits),
    ],
    ids=["parse", "parse_bytes", "iter_conversations", "parse_many"],
)
def test_limits_are_limits(call):
    with pytest.raises(ConvparseError, match="limits is a Limits, not dict"):
        call({"line_bytes": 1})


def test_what_takes_records_says_which(result):
    (conversation,) = result.conversations
    for call, said in (
        (lambda: result.children(conversation.id), "children takes a Conversation, not str"),
        (lambda: result.since("old"), "since takes a ParseResult, not str"),
        (
            lambda: result.read(conversation.messages[0]),
            "read takes an Origin, not Message; every entry and every drop has one",
        ),
        (lambda: convparse.parse(README, after="old"), "after takes a ParseResult, not str"),
        (lambda: convparse.from_json({}), "from_json takes bytes or str, not dict"),
    ):
        with pytest.raises(ConvparseError, match=said):
            call()


@pytest.mark.parametrize(
    "paths", [str(README), README, convparse.Found("claude-code", str(README))], ids=["str", "Path", "Found"]
)
def test_many_paths_are_not_one(paths):
    with pytest.raises(ConvparseError, match="put the one path in a list"):
        convparse.parse_many(paths)


@pytest.mark.parametrize("workers", [-1, "2", 1.5])
def test_workers_are_counted(workers):
    with pytest.raises(ConvparseError, match="workers is a number of processes, or None"):
        convparse.parse_many([README], workers=workers)


def test_then_is_called():
    with pytest.raises(ConvparseError, match="then is a function of a result, not str"):
        convparse.parse_many([README], then="tokens")


def test_an_empty_path_costs_only_itself():
    first, second = convparse.parse_many(["", README], workers=0)

    assert type(first.error) is FileNotFoundError
    assert second.error is None


def test_stamps_are_several_and_none_is_none_of_them():
    with pytest.raises(ConvparseError, match="known is an iterable of stamps"):
        convparse.iter_conversations(DATABASE, known="stamp")
    with pytest.raises(ConvparseError, match="known is an iterable of stamps"):
        convparse.parse_many([DATABASE], known="stamp")
    heads = list(convparse.iter_conversations(DATABASE, messages=False))
    assert list(convparse.iter_conversations(DATABASE, messages=False, known=[None])) == heads


def test_roots_are_paths():
    with pytest.raises(ConvparseError, match=r"os\.fsdecode"):
        convparse.discover([os.fsencode(FIXTURES)])


def test_a_source_whose_heads_say_nothing_still_has_conversations():
    cursor = convparse.SOURCES["cursor"]
    variants = {
        name: variant
        if variant.store is None
        else attrs.evolve(variant, store=attrs.evolve(variant.store, units=lambda *_: ()))
        for name, variant in cursor.variants.items()
    }
    silent = attrs.evolve(cursor, variants=variants)

    found = [c for r in convparse.iter_conversations(DATABASE, silent, messages=False) for c in r.conversations]

    known = [c for r in convparse.iter_conversations(DATABASE, messages=False) for c in r.conversations]
    assert {c.id for c in found} <= {c.id for c in known}
    assert [(c.body, c.entries) for c in found] == [("unread", ())] * len(found)
    assert found
