"""Rows: the same columns for every row of a table, of the types that are promised, and nothing left out."""

import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from tests import results, strategies
from tests.results import AT, EMPTY, EVERYTHING, fixture_results

import convparse
from convparse import TABLES, ConvparseError, Json, ParseResult, ToolResult, Unknown, iter_rows
from convparse.records import Conversation

PAGE = (Path(__file__).parents[1] / "docs" / "tables.md").read_text("utf-8")
WORDS = {str: "str", int: "int", float: "float", bool: "bool", datetime: "datetime"}
ORIGIN = {"path": "/home/ada/a.jsonl", "line": 3, "offset": 120, "length": 80} | {
    "table_name": "ItemTable",
    "row_key": "bubble:1",
    "row_id": 7,
    "pointer": "/message/content/0",
}


def rows(table: str, result: ParseResult = EVERYTHING) -> list[dict[str, Any]]:
    return list(iter_rows(result, table))


def said(row: dict[str, Any], *but: str) -> dict[str, Any]:
    """What a row says beside its place and its source."""
    return {name: value for name, value in row.items() if value is not None and name not in (*ORIGIN, "source", *but)}


def check(result: ParseResult) -> None:
    """Every row of every table has the columns and types that are promised; rows are as many as there are records."""
    for table, columns in TABLES.items():
        for row in iter_rows(result, table):
            assert list(row) == list(columns), table
            assert row["source"] == result.source
            assert {
                name: type(value) for name, value in row.items() if value is not None and type(value) is not columns[name]
            } == {}
    talks = result.conversations
    entries = [entry for talk in talks for entry in talk.entries] + list(result.loose)
    messages = [entry for entry in entries if isinstance(entry, convparse.Message)]
    assert len(rows("conversations", result)) == len(talks)
    assert len(rows("turns", result)) == sum(len(talk.turns()) for talk in talks)
    assert [row["message_key"] for row in rows("messages", result)] == [message.key for message in messages]
    assert len(rows("events", result)) == len(entries) - len(messages)
    assert len(rows("drops", result)) == len(result.dropped) + len(result.skipped)
    assert Counter(row["type"] for row in rows("blocks", result) if row["part_index"] is None).total() == sum(
        len(message.blocks) for message in messages
    )
    loose = (Conversation(None, result.source, entries=result.loose),)
    assert len(rows("edits", result)) == sum(len(talk.edits()) for talk in (*talks, *loose))
    assert len(rows("tool_calls", result)) == sum(len(talk.tool_calls()) for talk in (*talks, *loose))


# ---- every table -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [EMPTY, EVERYTHING], ids=["empty", "everything"])
def test_results_made_by_hand(result: ParseResult):
    check(result)


def test_every_fixture():
    for result in fixture_results().values():
        check(result)


@given(strategies.claude_code_sessions())
@strategies.examples(20)
def test_generated_sessions(made: strategies.Generated):
    check(convparse.parse_bytes(made.data, source="claude-code", name="f"))


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_filled_by_something(table: str):
    made = [row for result in (EVERYTHING, *fixture_results().values()) for row in iter_rows(result, table)]

    assert [] == [name for name in TABLES[table] if all(row[name] is None for row in made)]


@pytest.mark.parametrize("table", TABLES)
def test_the_documentation_has_every_column_with_its_type(table: str):
    section = re.split(r"^## ", PAGE.split(f"\n## {table}\n")[1], flags=re.MULTILINE)[0]
    told: dict[str, str] = {}
    for names, kind in re.findall(r"^\| (`[^|]+) \| (\w+) \|", section, re.MULTILINE):
        told |= dict.fromkeys(re.findall(r"`(\w+)`", names), kind)
    groups = {"the tokens": "input_tokens", "the context": "cwd", "the place": "path"}
    shared = re.split(r"^## ", PAGE.split("\n## Columns that several tables have\n")[1], flags=re.MULTILINE)[0]
    for group, first in groups.items():
        if f"| {group} |" in section:
            names = re.search(rf"^\| {group} \| (.+?) \|$", shared, re.MULTILINE)
            assert names is not None
            assert f"`{first}`" in names[1]
            told |= dict(re.findall(r"`(\w+)` \((\w+)\)", names[1]))

    assert told == {name: WORDS[kind] for name, kind in TABLES[table].items()}


def test_a_name_that_is_no_table_is_refused_at_once():
    with pytest.raises(
        ConvparseError, match="no table 'message'; there are: conversations, turns, messages, blocks, tool_calls"
    ):
        iter_rows(EVERYTHING, "message")


def test_rows_are_those_of_one_result():
    with pytest.raises(ConvparseError, match="takes a ParseResult, not list; for several, chain their rows"):
        iter_rows([EVERYTHING], "messages")  # type: ignore[arg-type]


# ---- each table ------------------------------------------------------------------------------------------------------------


def test_conversations():
    first, second = rows("conversations")

    assert said(first) == {
        "conversation_id": "s1",
        "variant": "transcript",
        "title": "A title",
        "title_origin": "ai-title",
        "body": "partial",
        "newer": True,
        "stamp": "stamp-1",
        "links": '[{"kind":"subagent","id":"s2","call_id":"call-1","until":null},'
        '{"kind":"fork","id":"s0","call_id":null,"until":7}]',
        "created_at": AT,
        "updated_at": AT,
        "first_at": AT,
        "last_at": AT,
        "messages": 1,
        "prompts": 0,
        "events": 1,
        "turns": 0,
        "tool_calls": 2,
        "edits": 1,
        **attrs.asdict(results.USAGE),
        **attrs.asdict(results.CONTEXT),
    }
    assert first["path"] == "/home/ada/a.jsonl"
    assert (second["parent_id"], second["parent_call_id"], second["turns"], second["links"]) == ("s1", "call-1", 1, "[]")
    assert (second["input_tokens"], second["provisional"], second["cwd"]) == (None, False, None)


def test_the_path_of_a_conversation_is_that_of_its_first_entry_or_of_the_result():
    elsewhere = attrs.evolve(results.EVENT, origin=convparse.Origin("/agent.jsonl"))
    talks = (attrs.evolve(results.CHILD, entries=(*results.CHILD.entries, elsewhere)), Conversation(None, "x"))

    assert ["/agent.jsonl", "here"] == [
        row["path"] for row in rows("conversations", ParseResult("x", "y", "here", conversations=talks))
    ]


def test_turns():
    (turn,) = rows("turns")

    assert said(turn) == {
        "conversation_id": "s2",
        "turn_index": 0,
        "turn_id": "t2",
        "status": "complete",
        "model": "opus",
        "prompt": "please",
        "answer": "done",
        "first_at": AT,
        "last_at": AT,
        "messages": 2,
        "tool_calls": 0,
        "first_message_key": "m2",
        "last_message_key": "m3",
        "provisional": False,
    }


def test_a_turn_that_nobody_prompted_has_no_prompt():
    talk = Conversation("s", "x", entries=(results.REPLY, results.REPLY))

    assert [None] == [row["prompt"] for row in rows("turns", ParseResult("x", "y", "", (talk,)))]


def test_messages():
    first, prompt, reply, loose = rows("messages")

    assert said(first, "text", "thinking") == {
        "conversation_id": "s1",
        "message_key": "m1",
        "entry_index": 0,
        "message_id": "id-1",
        "role": "assistant",
        "author": "model",
        "state": "undone",
        "inherited": True,
        "has_tool_use": True,
        "blocks": 12,
        "parent_id": "m0",
        "response_id": "r1",
        "turn_id": "t1",
        "model": "opus",
        "stop_reason": "tool_use",
        "timestamp": AT,
        "timestamp_origin": "derived",
        "timestamp_text": "yesterday",
        "extra": results.JSON.text,
        **attrs.asdict(results.USAGE),
        **attrs.asdict(results.CONTEXT),
    }
    assert {name: first[name] for name in ORIGIN} == ORIGIN
    assert (first["text"], first["thinking"]) == ("said\n😀", "hm")
    assert [("t2", 0), ("t2", 0), ("t2", None)] == [(row["turn_id"], row["turn_index"]) for row in (prompt, reply, loose)]
    assert ["s2", "s2", None] == [row["conversation_id"] for row in (prompt, reply, loose)]
    assert (prompt["provisional"], prompt["path"]) == (None, None)


def test_blocks():
    made = [row for row in rows("blocks") if row["message_key"] == "m1"]
    json = results.JSON.text

    assert [said(row, "conversation_id", "message_key", "block_index", "part_index") for row in made] == [
        {"type": "text", "text": "said\n😀"},
        {"type": "injected", "kind": "reminder", "text": "be kind"},
        {"type": "answer", "question": "which one?", "text": "this one"},
        {"type": "thinking", "text": "hm", "signature": "c2lnbmF0dXJl", "hidden": True},
        {"type": "tool_call", "call_id": "call-1", "name": "Bash", "kind": "execute", "json": json},
        {"type": "tool_call", "call_id": "call-2", "name": "apply_patch", "kind": "edit", "text": "*** Begin Patch"},
        {
            "type": "tool_result",
            "call_id": "call-1",
            "text": "out",
            "is_error": True,
            "exit_code": 1,
            "duration": 0.25,
            "status": "failed",
            "truncated": True,
            "json": json,
        },
        {"type": "image", "media_type": "image/png", "data": "aGk="},
        {"type": "attachment", "kind": "file", "name": "a.txt"},
        {"type": "reference", "kind": "file", "text": "ref"},
        {"type": "unknown", "kind": "part", "json": json},
        {"type": "image", "media_type": "image/png", "data": "aGk=", "uri": "file:///a.png"},
        {
            "type": "attachment",
            "kind": "document",
            "name": "plan.pdf",
            "media_type": "application/pdf",
            "text": "text of it",
            "data": "cGRm",
            "uri": "file:///plan.pdf",
        },
        {"type": "reference", "kind": "symbol", "text": "the file", "uri": "file:///b.py"},
        {
            "type": "edit",
            "kind": "move",
            "file_path": "/home/ada/b.py",
            "new_path": "/home/ada/c.py",
            "diff": "@@ -1 +1 @@",
            "before": "before it",
            "after": "after it",
            "call_id": "call-2",
        },
        {"type": "unknown", "kind": "brand-new", "json": json},
    ]
    assert [(6, None), (6, 1), (6, 2), (6, 3), (6, 4), (7, None)] == [
        (row["block_index"], row["part_index"]) for row in made[6:12]
    ]


def test_tool_calls():
    first, second = rows("tool_calls")

    assert said(first, "conversation_id", "message_key") == {
        "block_index": 4,
        "call_id": "call-1",
        "name": "Bash",
        "kind": "execute",
        "input": results.JSON.text,
        "input_is_json": True,
        "command": "ls /home/ada",
        "outcome": "error",
        "output": "out",
        "results": 1,
        "is_error": True,
        "exit_code": 1,
        "status": "failed",
        "duration": 0.25,
        "truncated": True,
        "edits": 0,
        "spawned": "s2",
        "state": "undone",
        "inherited": True,
        "timestamp": AT,
        "answered_at": AT,
    }
    assert said(second, "conversation_id", "message_key") == {
        "block_index": 5,
        "call_id": "call-2",
        "name": "apply_patch",
        "kind": "edit",
        "input": "*** Begin Patch",
        "input_is_json": False,
        "outcome": "missing",
        "results": 0,
        "edits": 0,
        "state": "undone",
        "inherited": True,
        "timestamp": AT,
    }


def test_a_tool_call_of_a_turn_has_its_number():
    path = "claude_code/readme.jsonl"

    assert [0] == [row["turn_index"] for row in rows("tool_calls", fixture_results()[path])]


def test_edits():
    (edit,) = rows("edits")

    assert said(edit, "conversation_id", "message_key") == {
        "block_index": 10,
        "edit_index": 0,
        "call_id": "call-2",
        "kind": "move",
        "file_path": "/home/ada/b.py",
        "new_path": "/home/ada/c.py",
        "diff": "@@ -1 +1 @@",
        "before": "before it",
        "after": "after it",
        "state": "undone",
        "inherited": True,
        "timestamp": AT,
    }
    assert edit["path"] == "/home/ada/a.jsonl"


def test_edits_are_those_that_the_views_give():
    found = 0
    for result in fixture_results().values():
        for talk in result.conversations:
            made = [row for row in rows("edits", result) if row["conversation_id"] == talk.id]
            expected = talk.edits()
            found += len(expected)
            assert [(e.path, e.kind, e.diff, e.call_id) for e in expected] == [
                (row["file_path"], row["kind"], row["diff"], row["call_id"]) for row in made
            ]
    assert found


def test_events():
    event, loose = rows("events")

    assert said(event) == {
        "conversation_id": "s1",
        "event_key": "e1",
        "entry_index": 1,
        "event_id": "id-2",
        "kind": "hook",
        "name": "hook_ran",
        "state": "orphan",
        "inherited": True,
        "text": "it ran",
        "data": results.JSON.text,
        "duration": 1.5,
        "parent_id": "m1",
        "timestamp": AT,
        "timestamp_origin": "recorded",
        "timestamp_text": "now",
        **attrs.asdict(results.CONTEXT),
    }
    assert (loose["conversation_id"], loose["entry_index"], loose["line"]) == (None, 0, 3)


def test_drops():
    lost, skipped = rows("drops")

    assert said(lost) == {
        "code": "malformed-line",
        "fate": "lost",
        "record": "user",
        "pattern": "/a/*»/b",
        "count": 3,
        "bytes": 99,
        "lines": "[3,5]",
        "message": "not valid JSON",
        "excerpt": "excerpt of it",
        "detail": results.JSON.text,
    }
    assert (skipped["fate"], skipped["lines"], skipped["path"]) == ("skipped", "[]", "/home/ada/a.jsonl")


def test_whole_seconds_are_floats_too():
    result = ToolResult("c", (Unknown("x", Json("1")),), duration=3)
    talk = Conversation("s", "x", entries=(attrs.evolve(results.PROMPT, blocks=(result,)),))

    assert [3.0, None] == [row["duration"] for row in rows("blocks", ParseResult("x", "y", "", (talk,)))]
    assert type(rows("blocks", ParseResult("x", "y", "", (talk,)))[0]["duration"]) is float
