"""The laws for Trae: accounts balance, no leaf is silent, repeats are equal, hostile values never raise.

Databases are built in memory; a leaf of a row is changed by building the database again.
"""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.build_trae import DOCUMENTS, LINES, STUB, VALUES, database, files, text
from tests.leaves import EVERY_LINE, SAID_OF_OTHERS, changed, covers, encoded, pointer_of, put, same_facts, walk
from tests.strategies import examples
from tests.strategies_trae import Talk, damaged, talks

from convparse import Event, Message, ParseResult, Text, from_json, iter_conversations, parse, parse_bytes, to_json
from convparse.records import FILE_FACTS
from convparse.sources.trae import SOURCE
from convparse.sources.trae.editor import is_read
from convparse.sources.trae.fields import CODES

SAID: Final = SAID_OF_OTHERS | {code for code in CODES if code.startswith("trae/")}
"""Codes that say what is not there, or not so; they excuse nothing."""


def joined(values: list[Any]) -> bytes:
    return b"".join(encoded(value) + b"\n" for value in values)


def read(data: bytes, name: str = "state.vscdb") -> ParseResult:
    return parse_bytes(data, source="trae", name=name.rpartition("/")[2], limits=EVERY_LINE)


def rows_of(rows: dict[str, Any], twice: bool = False) -> bytes:
    told = {key: value if isinstance(value, str) else text(value) for key, value in rows.items()}
    return database({key: text(value) if twice and is_read(key) else value for key, value in told.items()})


def is_named(result: ParseResult, pointer: str) -> bool:
    drops = [drop for drop in (*result.dropped, *result.skipped) if drop.code not in SAID]
    return any(covers(drop.pattern.replace("/»", ""), pointer) if drop.pattern else drop.bytes > 0 for drop in drops)


def silent(value: Any, build: Any, name: str, unit: int) -> Iterator[str]:
    """The leaves of a value whose change nobody notices; ``unit``: how many tokens of a path lead to the unit."""
    before = read(build(value), name)
    for path, leaf in walk(value):
        after = read(build(put(value, path, changed(leaf))), name)
        assert after.account.balanced
        if same_facts(before, after) and not is_named(after, pointer_of(path[unit:])):
            yield pointer_of(path)


# ---- leaves ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_leaf_of_a_document_is_silent(name: str) -> None:
    assert list(silent(DOCUMENTS[name], encoded, name, 0)) == []


@pytest.mark.parametrize("name", LINES)
def test_no_leaf_of_a_line_is_silent(name: str) -> None:
    assert list(silent(LINES[name], joined, name, 1)) == []


@pytest.mark.parametrize("rows", [VALUES, STUB], ids=["inline", "stub"])
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_no_leaf_of_a_row_that_is_read_is_silent(rows: dict[str, Any], twice: bool) -> None:
    known = {key: value for key, value in rows.items() if is_read(key) and not isinstance(value, str)}

    assert list(silent(known, lambda value: rows_of(value, twice), "state.vscdb", 1)) == []


# ---- repeats, cuts, additions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in files() if not name.startswith("profile")])
def test_reading_twice_and_pickling_give_the_same(name: str) -> None:
    result = read(files()[name], name)

    assert read(files()[name], name) == result == pickle.loads(pickle.dumps(result))
    assert result.account.balanced


@pytest.mark.parametrize("name", [*DOCUMENTS, *LINES])
def test_a_file_cut_anywhere_balances(name: str) -> None:
    data = files()[name]

    for end in range(0, len(data), 7):
        variant = SOURCE.variants[read(data, name).variant]
        result = parse_bytes(data[:end], source=_only(variant), name=name)
        assert result.account.balanced
        assert result.account.size == end


def _only(variant: Any) -> Any:
    return attrs.evolve(SOURCE, variants={"it": variant}, detect=lambda head: None)


def facts(entry: Message | Event) -> tuple[Any, ...]:
    """What no later byte may change."""
    left_out = FILE_FACTS[type(entry).__name__]
    return type(entry), *(getattr(entry, field.name) for field in attrs.fields(type(entry)) if field.name not in left_out)


@pytest.mark.parametrize("name", [name for name in LINES if "traex" not in name])
def test_a_file_cut_anywhere_gives_the_units_before_the_cut(name: str) -> None:
    """A rollout is Codex's, and tested there."""
    data = files()[name]
    whole = read(data, name)
    source = _only(SOURCE.variants[whole.variant])
    expected = [facts(entry) for entry in entries_of(whole)]

    for end in range(0, len(data), 11):
        found = [facts(entry) for entry in entries_of(parse_bytes(data[:end], source=source, name=name.rpartition("/")[2]))]
        assert found == expected[: len(found)]
        assert len(found) >= data[:end].count(b"\n")


def entries_of(result: ParseResult) -> list[Message | Event]:
    return [entry for conversation in result.conversations for entry in conversation.entries] + list(result.loose)


@pytest.mark.parametrize("name", [*DOCUMENTS, *LINES, "inline/state.vscdb", "memory/topics.md"])
def test_a_result_is_the_same_after_a_trip_through_json(name: str) -> None:
    result = read(files()[name], name)

    assert from_json(to_json(result)) == result


@pytest.mark.parametrize("name", LINES)
def test_reading_on_from_any_line_gives_the_whole(name: str, tmp_path: Path) -> None:
    path = tmp_path / name.rpartition("/")[2]
    lines = files()[name].splitlines(keepends=True)
    path.write_bytes(b"".join(lines))
    whole = parse(path, "trae")

    for count in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:count]))
        before = parse(path, "trae")
        path.write_bytes(b"".join(lines))
        assert parse(path, "trae", after=before) == whole


def test_units_of_joined_files_add_up() -> None:
    name = next(name for name in LINES if name.endswith("events.jsonl"))
    data = files()[name]
    once, twice = read(data, name), read(data + data, name)

    assert twice.account.mapped.units == 2 * once.account.mapped.units


# ---- hypothesis ------------------------------------------------------------------------------------------------------------


@given(talks())
@examples(40)
def test_every_text_is_there_once_and_in_order(talk: Talk) -> None:
    result = read(database(talk.rows))

    (conversation,) = result.conversations
    said = [block.text for message in conversation.messages for block in message.blocks if isinstance(block, Text)]
    assert said == talk.said
    assert result.account.balanced


@given(st.data())
@examples(150)
def test_anything_in_any_place_is_read_and_balances(data: st.DataObject) -> None:
    cases: list[tuple[str, Any, Any]] = [(name, value, encoded) for name, value in DOCUMENTS.items()]
    cases += [(name, value, joined) for name, value in LINES.items()]
    cases += [("state.vscdb", {"rows": rows}, lambda value: rows_of(value["rows"])) for rows in (VALUES, STUB)]
    name, value, build = data.draw(st.sampled_from(cases))
    odd = data.draw(damaged(value))
    if not isinstance(odd, dict | list) or (name == "state.vscdb" and not isinstance(odd["rows"], dict)):
        return
    result = read(build(odd), name)

    keys = [entry.key for c in result.conversations for entry in c.entries] + [entry.key for entry in result.loose]
    assert result.account.balanced
    assert len(keys) == len(set(keys))
    assert pickle.loads(pickle.dumps(result)) == result


# ---- one conversation after the other --------------------------------------------------------------------------------------


def test_one_after_the_other_gives_the_same_entries(tmp_path: Any) -> None:
    path = tmp_path / "state.vscdb"
    path.write_bytes(database({**VALUES, **{f"filler{n}": json.dumps("x" * 50) for n in range(20)}}))
    whole = parse(path)
    *each, last = iter_conversations(path)

    assert [c.entries for r in each for c in r.conversations] == [c.entries for c in whole.conversations]
    assert all(result.account.balanced for result in (*each, last))
    assert last.loose == whole.loose
    assert [r.conversations[0].body for r in iter_conversations(path, messages=False) if r.conversations] == ["unread"] * 4
    for conversation in whole.conversations:
        one = parse(path, conversation_id=conversation.id)
        assert one.conversation.entries == conversation.entries
        assert one.account.balanced
