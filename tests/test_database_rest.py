"""What a database holds beside the rows that are read: counted and named, and nothing named that was read."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import convparse

KV = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
ITEM = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
HEADS = "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId, recency, value TEXT, later TEXT)"
SAID = json.dumps({"type": 1, "text": "hi"})


def parse(ddl: Iterable[str], rows: Iterable[tuple[Any, ...]], source: str = "cursor") -> convparse.ParseResult:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for statement in ddl:
            db.execute(statement)
        for table, *values in rows:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
        result = convparse.parse_bytes(db.serialize(), source=source, name="state.vscdb")
    assert result.account.balanced
    return result


def counted(result: convparse.ParseResult) -> dict[tuple[str, str], int]:
    return {(drop.code, drop.record): drop.count for drop in result.dropped}


def keyed(*keys: str) -> list[tuple[Any, ...]]:
    return [("cursorDiskKV", key, SAID) for key in keys]


def test_a_key_without_a_mark_is_a_family_by_itself() -> None:
    """It is none of the keys that begin like it, which are read or counted by themselves."""
    result = parse([KV], keyed("bubbleId:c:b", "bubbleId", "bubbleId;x", "", "new.a", "new.b", "n"))
    assert counted(result) == {
        ("unread-rows", ""): 1,
        ("unread-rows", "bubbleId"): 1,
        ("unread-rows", "bubbleId;x"): 1,
        ("unread-rows", "n"): 1,
        ("unread-rows", "new"): 2,
    }


def test_a_key_that_is_no_text_is_counted() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(KV)
        for key in (b"\xc0zz", b"\xfezz"):
            db.execute("INSERT INTO cursorDiskKV VALUES (CAST(? AS TEXT), '1')", (key,))
        result = convparse.parse_bytes(db.serialize(), source="cursor", name="state.vscdb")
    assert counted(result) == {("unread-rows", "other"): 1, ("odd-key", "cursorDiskKV"): 1}


def test_tables_that_are_not_known_are_named() -> None:
    ddl = [
        KV,
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, body TEXT)",
        "CREATE TABLE empty (a)",
        "CREATE VIEW v AS SELECT 1",
    ]
    rows = [*keyed("bubbleId:c:b"), ("messages", 1, "x"), ("messages", 2, None)]
    expected = {("unread-rows", "table messages"): 2, ("refused-table", "v"): 1}
    assert counted(parse(ddl, rows)) == expected
    assert counted(parse([ITEM, *ddl[1:]], rows[1:], "trae")) == expected


def test_a_table_with_other_columns_is_named() -> None:
    result = parse(["CREATE TABLE cursorDiskKV (k TEXT, v BLOB)", ITEM], [("cursorDiskKV", "bubbleId:c:b", SAID)])
    assert counted(result) == {("unread-rows", "table cursorDiskKV"): 1}
    result = parse(["CREATE TABLE CURSORDISKKV (key TEXT, value BLOB)"], [("CURSORDISKKV", "bubbleId:c:b", SAID)])
    assert counted(result) == {("unread-rows", "table CURSORDISKKV"): 1}


def test_columns_that_nobody_reads_are_named() -> None:
    ddl = [KV.replace("value BLOB", "value BLOB, note TEXT, unused TEXT")]
    result = parse(ddl, [("cursorDiskKV", "bubbleId:c:b", SAID, "x", None)])
    assert counted(result) == {("unread-rows", "column note of cursorDiskKV"): 1}


def test_columns_of_the_list_of_conversations_are_read() -> None:
    heads = ("composerHeaders", "h", b"\xff", float("inf"), '{"name": "n"}', "new")
    result = parse([KV, HEADS], [heads, ("composerHeaders", None, None, None, "{}", None)])
    (conversation,) = result.conversations
    (event,) = conversation.events
    assert event.data is not None
    assert event.data.value == {"value": {"name": "n"}, "columns": {"workspaceId": "\ufffd", "recency": None, "later": "new"}}
    assert {(drop.code, drop.pattern) for drop in result.dropped} == {
        ("invalid-utf8", "/workspaceId"),
        ("not-a-number", "/recency"),
        ("unknown-field", "/later"),
        ("odd-key", ""),
    }


def test_a_list_of_conversations_with_nothing_beside_is_read() -> None:
    result = parse(
        [KV, "CREATE TABLE composerHeaders (composerId TEXT, value TEXT)"], [("composerHeaders", "h", '{"name": "n"}')]
    )
    assert (result.conversation.title, counted(result)) == ("n", {})


def test_a_view_in_the_place_of_the_list_is_named() -> None:
    result = parse([KV, "CREATE VIEW composerHeaders AS SELECT 'h' AS composerId, '{}' AS value"], keyed("bubbleId:c:b"))
    assert counted(result) == {("refused-table", "composerHeaders"): 1}


def test_a_virtual_table_is_named_once() -> None:
    result = parse([KV, "CREATE VIRTUAL TABLE found USING fts5(text)"], [*keyed("bubbleId:c:b"), ("found", "x")])
    assert counted(result) == {("refused-table", "found"): 1}


def test_other_tables_of_a_store_are_named() -> None:
    ddl = ["CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)", "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"]
    rows = [("meta", "0", '{"agentId": "a"}'), ("blobs", None, b"x"), ("turns", "x")]
    result = parse([*ddl, "CREATE TABLE turns (a)"], rows)
    assert counted(result) == {("odd-key", "blobs"): 1, ("unread-rows", "table turns"): 1}
