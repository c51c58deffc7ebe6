"""What other readers of Cursor's stores lose, loss by loss: it is kept here."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.build_cursor import FOLDER, MS, human, model, rows_of, tool, write
from tests.build_cursor import Case as Made
from tests.cursor_cases import ASK, THINKING, jsonl, said, text
from tests.databases import DDL, Json, Rows, connected, parse
from tests.strategies import THOROUGH
from tests.test_cursor_fixtures import lines

import convparse
from convparse import Conversation, Limits

EDITOR = FOLDER / "state.vscdb"


def case(id: str) -> Conversation:
    result = convparse.parse(EDITOR, conversation_id=id)
    return next(c for c in result.conversations if c.id == id)


def made(bubbles: dict[str, Any], head: dict[str, Any] | None = None) -> Conversation:
    return parse(rows_of("c", Made(bubbles, {} if head is None else head))).conversation


# ---- bubbles ---------------------------------------------------------------------------------------------------------------


def test_bubbles_without_text() -> None:
    assert lines(case("thinking-only")) == ["assistant model: ~hm~"]
    assert lines(case("tool-only")) == ['assistant model: run_terminal_cmd({"command":"ls"}) =>completed 101 a.py']
    assert lines(case("empty")) == ["user human:", "assistant model:"]


def test_reasoning_in_all_its_forms() -> None:
    assert lines(case("old-thinking")) == ["assistant model: ~one~ ~two~ so"]
    assert lines(case("thinking-as-text")) == ["assistant model: ~plain~"]
    (message,) = case("redacted-thinking").messages
    assert [(block.text, block.hidden) for block in message.blocks if isinstance(block, convparse.Thinking)] == [("", True)]


def test_tools_whole_with_what_the_model_did_not_see() -> None:
    (message,) = case("tool-only").messages
    (use,) = case("tool-only").tool_calls()
    assert (use.command, use.outcome) == ("ls", "error")
    assert use.result is not None
    assert (use.result.exit_code, use.result.text) == (101, "a.py")
    assert use.result.full is not None
    assert use.result.full.value == {"output": "a.py", "exitCode": 101}
    assert message.has_tool_use


def test_a_call_in_flight_keeps_what_had_come() -> None:
    (use,) = case("tool-in-flight").tool_calls()
    assert (use.call.input, use.outcome) == ('{"query":"ca', "missing")


def test_an_unknown_type_is_nobody_s_answer() -> None:
    (message,) = case("unknown-bubble").messages
    assert (message.role, message.author, message.text) == ("type-7", None, "new kind")


def test_rich_text_pictures_and_errors() -> None:
    assert [m.text for m in case("rich-text-alone").messages] == ["see a.py\nand more\nend", "bare", "new"]
    (message,) = case("images").messages
    pictures = [block.uri for block in message.blocks if isinstance(block, convparse.Image)]
    assert pictures == [None, "/w/i.png"]
    assert lines(case("error-on-an-empty-bubble"))[-1] == "error: overloaded"


def test_a_row_without_a_value_or_without_a_bubble_is_named() -> None:
    result = convparse.parse(EDITOR, conversation_id="null-and-empty-rows")
    assert lines(result.conversation) == ["user human: a", "missing: None", "missing: None"]
    assert {drop.code: drop.count for drop in result.dropped} == {
        "null-value": 1,
        "empty-value": 1,
        "cursor/missing-bubble": 2,
    }


def test_what_the_model_was_shown() -> None:
    """The blobs of ``agentKv``: system prompt and exact results."""
    shown = [event.data.text for event in case("model-view").events if event.kind == "model-view" and event.data is not None]
    assert any("be good" in item for item in shown)
    assert any("exactly this" in item for item in shown)


def test_titles_and_summaries() -> None:
    assert convparse.parse(EDITOR).conversations  # the index names it in another row
    titles = {c.id: c.title for c in convparse.parse(EDITOR).conversations}
    assert titles["text"] == "Named by the index"
    assert made({"u": human("a")}, {"name": "Of the head"}).title == "Of the head"
    assert "compaction-summary: what was" in lines(case("summary-object"))
    assert lines(case("summary-mark")) == ["compaction: None"]


# ---- order -----------------------------------------------------------------------------------------------------------------


def test_the_order_is_the_list_s_not_of_times_keys_or_rows() -> None:
    conversation = case("order-of-the-list")
    assert [m.id for m in conversation.messages] == ["a", "z", "m"]
    rows = [m.origin.rowid for m in conversation.messages if m.origin is not None]
    times = [m.timestamp for m in conversation.messages if m.timestamp is not None]
    assert rows != sorted(rows, key=lambda row: row or 0)
    assert times != sorted(times)


def test_a_time_that_is_not_recorded_is_none() -> None:
    (message,) = case("missing-time").messages
    assert (message.timestamp, message.timestamp_origin) == (None, None)


def test_what_no_list_names_is_neither_lost_nor_active() -> None:
    """Other branches, and messages that were edited away."""
    assert [(m.text, m.state) for m in case("orphans").messages] == [
        ("kept", "active"),
        ("edited away", "orphan"),
        ("of the other branch", "orphan"),
    ]
    assert [m.text for m in case("orphans").active_messages] == ["kept"]


def test_bodies_that_are_not_whole_say_so() -> None:
    found = {c.id: c.body for c in convparse.parse(EDITOR).conversations}
    assert (found["text"], found["missing-bubble"], found["elsewhere"]) == ("complete", "partial", "missing")


# ---- where it belongs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "note, folder",
    [
        ('{"folder":"file:///home/u/my%20project"}', "/home/u/my project"),
        ('{"folder":"file:///c%3A/Users/u/x"}', "c:/Users/u/x"),
        ('{"workspace":"file:///home/u/both.code-workspace"}', "/home/u/both.code-workspace"),
        ('{"folder":"vscode-remote://ssh-remote%2Bbox/srv/app"}', "vscode-remote://ssh-remote%2Bbox/srv/app"),
        ('{"folder":"vscode-remote://wsl%2Bubuntu/home/u/x"}', "vscode-remote://wsl%2Bubuntu/home/u/x"),
    ],
)
def test_folders_of_every_kind(tmp_path: Path, note: str, folder: str) -> None:
    index = {"allComposers": [{"composerId": "c", "createdAt": MS}]}
    write(tmp_path / "state.vscdb", [("ItemTable", "composer.composerData", Json(index))])
    (tmp_path / "workspace.json").write_text(note)
    (conversation,) = convparse.parse(tmp_path / "state.vscdb").conversations
    assert conversation.context is not None
    assert conversation.context.cwd == folder


# ---- all of it -------------------------------------------------------------------------------------------------------------


def test_rows_that_stand_only_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    db = connected(rows_of("c", Made({"u": human("on disk")})), path=str(path))
    db.execute("PRAGMA journal_mode=wal")
    db.execute("PRAGMA wal_autocheckpoint=0")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for table, key, value in rows_of("d", Made({"u": human("in the log alone")})):
        db.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, json.dumps(value.value)))
    assert b"in the log alone" not in path.read_bytes()

    result = convparse.parse(path)

    assert {m.text for c in result.conversations for m in c.messages} == {"on disk", "in the log alone"}
    assert result.snapshot is not None
    assert result.snapshot.wal == "included"
    db.close()


def test_no_count_and_no_age_leaves_a_conversation_out() -> None:
    old = 1_690_000_000_000
    rows: Rows = [
        row
        for n in range(120)
        for row in rows_of(
            f"c{n:03}", Made({"u": human(f"q{n}", createdAt="2023-07-22T04:26:40.000Z")}, {"createdAt": old + n})
        )
    ]
    result = parse(rows)
    assert [c.id for c in result.conversations] == [f"c{n:03}" for n in range(120)]
    assert {c.created_at.year for c in result.conversations if c.created_at is not None} == {2023}


def test_a_quarter_of_a_million_rows(tmp_path: Path) -> None:
    """A conversation that stands behind more rows than others read; with ``thorough`` all of them are bubbles."""
    path, many = tmp_path / "state.vscdb", 250_000
    key, value = ("bubbleId:c{}:{}", '{{"type":1,"text":"t{}"}}') if THOROUGH else ("checkpointId:c{}:{}", "{{}}")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(DDL["ItemTable"])
    db.execute(DDL["cursorDiskKV"])
    db.execute("BEGIN")
    made = ((key.format(n // 1_000, n), value.format(n)) for n in range(many))
    db.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", made)
    rows = [
        (key, json.dumps(value.value)) for _, key, value in rows_of("last", Made({"u": human("asked"), "a": model("said")}))
    ]
    db.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    db.execute("COMMIT")
    db.close()

    whole = convparse.parse(path)
    alone = convparse.parse(path, conversation_id="last")

    assert whole.account.balanced
    assert [m.text for c in whole.conversations if c.id == "last" for m in c.messages] == ["asked", "said"]
    assert {m.origin.rowid for m in alone.conversation.messages if m.origin is not None} == {many + 1, many + 2}
    if THOROUGH:
        assert sum(len(c.messages) for c in whole.conversations) == many + 2
        assert sum(len(r.conversation.messages) for r in convparse.iter_conversations(path) if r.conversations) == many + 2
    else:
        assert {drop.record: drop.count for drop in whole.skipped if drop.code == "skipped-rows"} == {"checkpointId": many}


def test_a_database_of_more_than_the_documented_size_is_pointed_to_iter_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default limit, with a file that is as large as that without holding as much."""
    path = tmp_path / "state.vscdb"
    write(path, rows_of("c", Made({"u": human("a")})))
    assert Limits().database_bytes == 512 << 20
    assert "`Limits.database_bytes` (512 MiB)" in (Path(__file__).parents[1] / "docs" / "cursor.md").read_text("utf-8")
    with path.open("r+b") as file:
        file.truncate((512 << 20) + 1)
    monkeypatch.setattr("convparse.reading.snapshot.IN_PLACE_OVER", 0)

    with pytest.raises(convparse.ConvparseError, match=r"database_bytes.*conversation_id.*iter_conversations"):
        convparse.parse(path)
    assert [m.text for m in convparse.parse(path, conversation_id="c").conversation.messages] == ["a"]
    assert [m.text for r in convparse.iter_conversations(path) for c in r.conversations for m in c.messages] == ["a"]


# ---- transcripts -----------------------------------------------------------------------------------------------------------


def test_a_transcript_of_more_than_ten_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "id.jsonl"
    with path.open("wb") as file:
        file.write(jsonl(ASK))
        for n in range(11):
            file.write(jsonl(said("assistant", text(f"{n} " + "x" * (1 << 20)))))
        file.write(jsonl(said("assistant", text("the last"))))
    result = convparse.parse(path)
    assert result.account.size > 10 << 20
    assert result.account.mapped.bytes == result.account.size
    assert [m.text.split()[0] for m in result.conversation.messages] == ["hello", *map(str, range(11)), "the"]
    assert result.dropped == ()


def test_sub_agents_and_every_answer_behind_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "id" / "subagents").mkdir(parents=True)
    (tmp_path / "id" / "id.jsonl").write_bytes(
        jsonl(ASK, said("assistant", text("one")), said("assistant", text("two")), said("assistant", THINKING))
    )
    (tmp_path / "id" / "subagents" / "child.jsonl").write_bytes(jsonl(ASK, said("assistant", text("deep"))))
    result = convparse.parse(tmp_path / "id" / "id.jsonl")
    assert lines(result.conversation) == [
        "user human: hello",
        "assistant model: one",
        "assistant model: two",
        "assistant model: ~hm~",
    ]
    (child,) = result.children(result.conversation)
    assert lines(child) == ["user model: hello", "assistant model: deep"]


def test_results_in_a_text_and_reasoning_of_many_lines() -> None:
    data = b"user:\ngo\n\nassistant:\n[Thinking] a\nb\n[Tool call] Read\n  path: x\n[Tool result] Read\n"
    result = convparse.parse_bytes(data, name="id.txt")
    assert lines(result.conversation) == ["user human: go", "assistant model: ~a\nb~ Read(  path: x) =>None None"]


# ---- stores ----------------------------------------------------------------------------------------------------------------


def test_what_stood_before_a_compaction_and_no_branch_that_was_left() -> None:
    result = convparse.parse(FOLDER / "chat" / "store.db")
    texts = [m.text for m in result.conversation.messages]
    assert texts.index("first") < texts.index("second")
    assert "one" in texts
    assert not any("ABANDONED" in item for item in texts)
    assert result.dropped_by_code()["cursor/unreachable-blobs"][0].count == 1


def test_a_store_smaller_than_two_pages_is_read() -> None:
    path = FOLDER / "cases" / "store" / "text.db"
    assert path.stat().st_size < 8192
    assert [m.text for m in convparse.parse(path).conversation.messages] == ["hello", "hi"]


def test_a_call_s_time_in_a_store() -> None:
    result = convparse.parse(FOLDER / "chat" / "store.db")
    (message,) = (m for m in result.conversation.messages if m.has_tool_use)
    assert message.timestamp is not None
    assert round(message.timestamp.timestamp() * 1000) == MS


def test_a_tool_by_its_name_where_the_number_is_new() -> None:
    conversation = made({"a": model(toolFormerData=tool("brand_new_tool", tool=999, params='{"x":1}', result='{"y":2}'))})
    (use,) = conversation.tool_calls()
    assert (use.call.name, use.call.kind, use.outcome) == ("brand_new_tool", "other", "ok")
    assert use.result is not None
    assert use.result.full is not None
    assert use.result.full.value == {"y": 2}
