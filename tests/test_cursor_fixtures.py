"""Every fixture of Cursor against what its build script says must come of it."""

import sqlite3
from typing import Any

import pytest
from tests import build_cursor
from tests.build_cursor import CASES, FOLDER
from tests.databases import stored

import convparse
from convparse import Attachment, Edit, Event, Image, Injected, Json, Text, Thinking, ToolCall, ToolResult

EDITOR = FOLDER / "state.vscdb"


def shown(block: Any) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Thinking):
        return f"~{block.text}~"
    if isinstance(block, ToolCall):
        return f"{block.name}({block.input.text if isinstance(block.input, Json) else block.input})"
    if isinstance(block, ToolResult):
        return f"=>{block.status} {block.exit_code} {block.text}".rstrip()
    if isinstance(block, Image):
        return f"[image {block.uri}]"
    if isinstance(block, Attachment):
        return f"[{block.kind} {block.name} {block.uri}: {block.text}]"
    if isinstance(block, Edit):
        return f"±{block.kind} {block.path} {block.before!r} {block.after!r}"
    return f"<{block.kind}>" if isinstance(block, Injected) else repr(block)


def line(entry: Any) -> str:
    """An entry as the build script has it."""
    if isinstance(entry, Event):
        return f"{entry.kind}: {entry.text}"
    state = "" if entry.state == "active" else f" {entry.state}"
    return " ".join([f"{entry.role} {entry.author}{state}:", *map(shown, entry.blocks)])


def lines(conversation: Any) -> list[str]:
    return [
        line(entry) for entry in conversation.entries if not (isinstance(entry, Event) and entry.kind in ("session", "index"))
    ]


@pytest.mark.parametrize("id", CASES)
def test_case(id: str) -> None:
    case = CASES[id]

    result = convparse.parse(EDITOR, conversation_id=id)

    (conversation,) = (c for c in result.conversations if c.id == id)
    assert lines(conversation) == case.entries
    assert {drop.code: drop.count for drop in result.dropped} == case.drops
    assert [[link.kind, link.id, link.call_id] for link in conversation.links] == case.links
    assert result.account.balanced
    assert conversation.newer is (id == "unknown-version")


def test_the_whole_is_its_conversations() -> None:
    result = convparse.parse(EDITOR)
    assert result.account.balanced
    alone = {id: convparse.parse(EDITOR, conversation_id=id).conversations for id in CASES}
    for conversation in result.conversations:
        if conversation.id in alone:
            assert conversation in alone[conversation.id]
    assert {c.id for c in result.conversations} == {*CASES, "elsewhere", "in-the-table", "inside"}
    assert result.snapshot is not None
    assert result.snapshot.method == "copy"
    assert "SECRET" not in repr(result) + "".join(str(d) for d in (*result.dropped, *result.skipped))
    counted = {drop.record: drop.count for drop in (*result.dropped, *result.skipped) if drop.code.endswith("-rows")}
    assert counted == {
        "brandNew": 2,
        "checkpointId": 1,
        "ofsContent": 1,
        "interactive.sessions": 1,
        "composer.composerHeaders": 1,
        "ItemTable": 2,
    }
    kinds = {(drop.code, drop.record): drop.count for drop in result.dropped}
    assert kinds["odd-key", "cursorDiskKV"] == 2
    assert kinds["cursor/unreachable-blobs", "agentKv:blob"] == 1
    assert kinds["null-value", "composerData"] == 1
    assert kinds["unexpected-type", "composer.composerHeaders"] == 1


def test_a_nested_sub_agent_is_a_conversation() -> None:
    result = convparse.parse(EDITOR, conversation_id="parent")
    parent = next(c for c in result.conversations if c.id == "parent")
    assert [lines(c) for c in result.children(parent)] == [["user human: deep task", "assistant model: deep answer"]]
    deep = result.children(parent)[0].messages[0].origin
    assert deep is not None
    assert deep.pointer == "/toolFormerData/additionalData/composerData/»/conversationMap/n/»"


def test_titles_times_and_modes() -> None:
    result = convparse.parse(EDITOR)
    found = {c.id: c for c in result.conversations}
    assert (found["text"].title, found["text"].title_origin) == ("Named by the index", "composer.composerHeaders")
    assert (found["in-the-table"].title, found["in-the-table"].title_origin) == ("From the table", "composerHeaders")
    assert found["elsewhere"].body == found["in-the-table"].body == "missing"
    assert found["missing-bubble"].body == found["no-head"].body == "partial"
    assert str(found["text"].updated_at) == "2026-08-17 06:30:36.179000+00:00"
    (when,) = (m.timestamp for m in found["missing-time"].messages)
    assert when is None
    times = [(m.timestamp and m.timestamp.year, m.timestamp_origin) for m in found["inline"].messages]
    assert times == [(None, None), (2026, "derived")]
    (usage,) = (m for m in found["usage-and-model"].messages)
    assert (usage.usage, usage.model, usage.turn_id) == (convparse.Usage(900, output_tokens=42), "m-2", "r")


def test_results_in_flight_and_failed_have_outcomes() -> None:
    result = convparse.parse(EDITOR)
    found = {c.id: [use.outcome for use in c.tool_calls()] for c in result.conversations}
    assert found["tool-only"] == found["tool-error"] == ["error"]
    assert found["tool-in-flight"] == ["missing"]
    assert found["tool-rejected"] == ["denied"]
    assert found["tool-cancelled"] == ["interrupted"]
    assert found["mixed"] == ["ok"]


def test_originals_of_what_was_parsed_are_kept() -> None:
    (conversation,) = convparse.parse(EDITOR, conversation_id="edit").conversations
    (message,) = conversation.messages
    assert len(message.merged) == 1
    assert [(e.path, e.kind, e.before, e.after) for e in conversation.edits()] == [("/w/a.py", "create", "", "x = 1\n")]
    (stub,) = convparse.parse(EDITOR, conversation_id="tool-stub").conversations[0].messages
    assert stub.extra is not None
    assert stub.extra.value["/toolFormerData/additionalData"] == {"status": "error"}


def test_a_workspace() -> None:
    result = convparse.parse(FOLDER / "workspace" / "state.vscdb")
    assert all(account.balanced for account in result.accounts)
    found = {c.id: c for c in result.conversations}
    assert lines(found["tab-1"]) == [
        "user human: asked long ago",
        "ai model: the whole answer",
        "oracle None: new",
        "unknown: None",
    ]
    assert (found["tab-1"].title, found["tab-1"].title_origin) == ("From 2023", "chatdata")
    assert found["text"].body == "missing"
    assert {c.context.cwd for c in result.conversations if c.context is not None} == {"c:/Users/u/my project"}
    told = [line(entry) for entry in result.loose]
    assert "prompt human: all that is left" in told
    assert "generation: asked" in told
    assert {d.code for d in result.dropped} == {"unexpected-type", "not-an-object", "cursor/unknown-bubble"}


def test_a_store() -> None:
    result = convparse.parse(FOLDER / "chat" / "store.db")
    assert all(account.balanced for account in result.accounts)
    conversation = result.conversation
    assert (conversation.id, conversation.title, conversation.context) == (
        *("agent-1", None),
        convparse.Context("/w/project", permission_mode="default"),
    )
    assert [line(entry) for entry in conversation.entries] == [
        "session: New Agent",
        "state: None",
        "user human: first",
        "assistant model: ~r~ one",
        "compaction: summary of turn one",
        "system harness: be good",
        "user harness: <user_info>",
        "user harness: summary",
        "user human: second",
        'assistant model: Shell({"command":"ls"})',
        "tool tool: =>None None ok",
        "assistant model: ~~ two",
        "turn: None",
    ]
    call = conversation.messages[-3]
    assert str(call.timestamp) == "2026-08-17 06:30:36.174000+00:00"
    assert {d.code: d.count for d in result.dropped} == {"cursor/unreachable-blobs": 1}
    assert "SECRET" not in repr(result)
    assert [c.id for r in convparse.iter_conversations(FOLDER / "chat" / "store.db") for c in r.conversations] == ["agent-1"]


@pytest.mark.parametrize(
    "name, rows",
    [
        ("state.vscdb", build_cursor.EDITOR),
        ("workspace/state.vscdb", build_cursor.WORKSPACE),
        ("chat/store.db", build_cursor.STORE),
    ],
)
def test_the_files_are_those_of_the_script(name: str, rows: Any) -> None:
    db = sqlite3.connect(f"file:{FOLDER / name}?immutable=1", uri=True)
    for table in {table for table, _, _ in rows}:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        found = db.execute(
            f"SELECT {columns[0]}, {'value' if 'value' in columns else columns[1]} FROM {table} ORDER BY rowid"
        ).fetchall()
        assert found == [(key, stored(value)) for other, key, value in rows if other == table]
    db.close()
