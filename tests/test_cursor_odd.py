"""Values of Cursor's editor that are not what they should be: kept raw and named, leaf by leaf; and what tools changed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from tests.build_cursor import CASES, CONTENT, MS, WORKSPACE, blob, dumps, human, model, proto, rows_of, tool
from tests.databases import Json, Rows, leaves, parse, unnoticed
from tests.strategies import THOROUGH
from tests.test_cursor_fixtures import line, lines

import convparse
from convparse import Limits
from convparse.reading import snapshot
from convparse.reading.decoding import deeper
from convparse.reading.sqlite import Database
from convparse.reading.tables import Table

KV = Table("cursorDiskKV", "key", "value")
HEADS = Table("composerHeaders", "composerId", "value")


def bubble(**fields: Any) -> Rows:
    return [("cursorDiskKV", "bubbleId:c:b", Json({"type": 2, **fields}))]


def composer(**fields: Any) -> Rows:
    return [("cursorDiskKV", "composerData:c", Json(fields))]


def codes(result: convparse.ParseResult) -> set[str]:
    return {drop.code for drop in result.dropped}


ODD: dict[str, tuple[Rows, set[str]]] = {
    "rich text without words": (bubble(text="", richText='{"root":{"children":[]}}'), set()),
    "tool by its name": (bubble(toolFormerData={"name": "x", "result": "", "status": "completed"}), set()),
    "chosen": (composer(context={"fileSelections": [{"uri": {"path": "a"}}]}), set()),
    "folder": (bubble(workspaceProjectDir=7), set()),
    "thinking": (bubble(thinking=7), {"unexpected-type"}),
    "thinking inside": (bubble(thinking={"text": 7, "signature": [1], "new": 1}), {"unexpected-type", "unknown-field"}),
    "old thinking": (bubble(allThinkingBlocks={"a": 1}), set()),
    "old thinking's items": (bubble(allThinkingBlocks=[7, {"text": "a", "signature": 7}]), set()),
    "text": (bubble(text=[1], richText={"a": 1}), {"unexpected-type"}),
    "images": (bubble(images={"a": 1}), set()),
    "image": (bubble(images=[7, {"data": {"0": 1}}]), {"cursor/image-stripped"}),
    "code": (bubble(codeBlocks=7, attachedCodeChunks=[7, {"lines": 7}, {"lines": [7]}, {"uri": "a"}]), set()),
    "context": (bubble(context={"mentions": 7, "selections": [7, {"text": "a"}]}), set()),
    "no context": (bubble(context=[]), set()),
    "times": (bubble(createdAt="then", startedAtMs=MS), {"bad-timestamp"}),
    "started": (bubble(startedAtMs=MS, timingInfo=7), set()),
    "started long ago": (bubble(startedAtMs=5_000, timingInfo={"clientRpcSendTime": 5_000.5}), set()),
    "numbers": (bubble(createdAt=MS + 0.5, modelInfo=[1], tokenCount=[1]), set()),
    "tokens": (bubble(tokenCount={"inputTokens": "7", "outputTokens": 1, "new": 1}), {"unexpected-type", "unknown-field"}),
    "model": (bubble(modelInfo={"modelName": "", "new": 1}, requestId=7), {"unexpected-type"}),
    "error": (bubble(errorDetails="went wrong"), set()),
    "no type": (bubble(type=None), {"cursor/unknown-bubble"}),
    "another type": (bubble(type="1"), {"cursor/unknown-bubble"}),
    "tool": (bubble(toolFormerData=7), {"unexpected-type"}),
    "tool's fields": (
        bubble(toolFormerData=tool("x", toolCallId=7, status=7, userDecision=7, modelCallId=7)),
        {"unexpected-type", "missing-result"},
    ),
    "tool in flight": (bubble(toolFormerData=tool("x", status=None, userDecision="accepted")), {"missing-result"}),
    "tool's texts": (bubble(toolFormerData=tool("x", params='{"a": 1}', result='{"a": 1}', error="no", rawArgs="x")), set()),
    "tool's error": (bubble(toolFormerData=tool("x", params="[1]", result="[1]", error=7)), set()),
    "tool's numbers": (bubble(toolFormerData=tool("x", params=7, result=7)), set()),
    "nested": (bubble(toolFormerData=tool("x", result="", additionalData={"composerData": "{"})), set()),
    "nested in itself": (
        bubble(toolFormerData=tool("x", result="", additionalData={"composerData": {"composerId": "c"}})),
        set(),
    ),
    "nested without id": (bubble(toolFormerData=tool("x", result="", additionalData={"composerData": {"text": "a"}})), set()),
    "names": (
        composer(name=7, createdAt="then", lastUpdatedAt="then", composerId=7),
        {"unexpected-type", "bad-timestamp", "cursor/key-id-mismatch"},
    ),
    "lists": (composer(conversation=7, queueItems=7, text=7, richText=7), {"unexpected-type"}),
    "inline": (composer(conversation=[7, {"type": 1, "text": "a"}]), {"not-an-object"}),
    "map": (composer(conversationMap={"a": "{", "b": {"type": 1, "text": "x"}, "c": 7}), {"unknown-field"} & set()),
    "queue": (composer(queueItems=[7, {"text": ""}, {"text": "a"}], richText='{"root":{"children":[{"text":"b"}]}}'), set()),
    "headers": (composer(fullConversationHeadersOnly=[7, {"bubbleId": 7}, {"createdAt": MS}]), {"cursor/missing-bubble"}),
    "no list": (
        composer(fullConversationHeadersOnly={"a": 1}, capabilities=[7, {"data": 7}, {"data": {"bubbleDataMap": {"b": 7}}}]),
        set(),
    ),
    "summaries": (composer(latestConversationSummary="old text"), set()),
    "summary": (composer(latestConversationSummary={"summary": {"summary": 7}, "lastBubbleId": "b"}), set()),
    "spawned": (
        composer(
            subComposerIds=7,
            subagentComposerIds=[7, "d"],
            subagentInfo={"parentComposerId": "p", "toolCallId": 7},
            gitWorktree=7,
        ),
        set(),
    ),
    "folders": (composer(workspaceIdentifier={"uri": {"fsPath": 7, "external": "file:///w"}}, unifiedMode=7), set()),
    "head below": ([("cursorDiskKV", "composerData:c:d", Json({"a": 1}))], {"not-an-object"}),
    "head as a list": ([("cursorDiskKV", "composerData:c", Json([1]))], {"not-an-object"}),
    "bubble without an id": ([("cursorDiskKV", "bubbleId:c", Json({"type": 1}))], {"not-an-object"}),
    "beside": ([("cursorDiskKV", "codeBlockDiff:c", Json({"a": 1}))], set()),
    "index": ([("ItemTable", "composer.composerHeaders", Json([1]))], {"not-an-object"}),
    "index of odd heads": ([("ItemTable", "composer.composerData", Json({"allComposers": 7, "a": 1}))], set()),
    "index without times": (
        [("ItemTable", "composer.composerData", Json({"allComposers": [{"composerId": "c", "createdAt": 7, "name": 7}]}))],
        set(),
    ),
    "table": ([("composerHeaders", "c", Json([1]))], set()),
    "index that does not decode": ([("ItemTable", "composer.composerData", "{oops")], {"malformed-value"}),
    "chat that does not decode": (
        [("ItemTable", "workbench.panel.aichat.view.aichat.chatdata", "{oops")],
        {"malformed-value"},
    ),
    "chat": ([("ItemTable", "workbench.panel.aichat.view.aichat.chatdata", Json([1]))], {"not-an-object"}),
    "chat without tabs": ([("ItemTable", "workbench.panel.aichat.view.aichat.chatdata", Json({"tabs": 7}))], set()),
    "tabs": (
        [
            (
                "ItemTable",
                "workbench.panel.aichat.view.aichat.chatdata",
                Json(
                    {
                        "tabs": [
                            {"tabId": "c", "bubbles": 7},
                            {"tabId": "c"},
                            {"tabId": "d", "bubbles": [{"type": 7, "text": "a", "rawText": "b"}]},
                        ]
                    }
                ),
            )
        ],
        {"unexpected-type", "cursor/unknown-bubble"},
    ),
    "prompts": (
        [("ItemTable", "aiService.prompts", Json({"prompts": [{"text": 7}, {"text": "a"}], "b": 1}))],
        {"not-an-object"},
    ),
    "no prompts": ([("ItemTable", "aiService.prompts", Json({"a": 1}))], {"not-an-object"}),
    "generations": (
        [("ItemTable", "aiService.generations", Json([{"unixMs": "then", "generationUUID": 7, "textDescription": 7}]))],
        set(),
    ),
    "no generations": ([("ItemTable", "aiService.generations", Json({"a": 1}))], {"not-an-object"}),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_kept_and_named(name: str) -> None:
    rows, expected = ODD[name]

    result = parse(rows)

    assert result.account.balanced
    assert codes(result) - {"cursor/lost-order"} >= expected
    assert {d.fate for d in result.dropped} <= {"unknown", "altered", "lost"}
    assert unnoticed(rows, leaves(rows)) == []


@pytest.mark.parametrize("id", CASES)
def test_no_leaf_of_a_fixture_changes_unnoticed(id: str) -> None:
    rows = rows_of(id, CASES[id])
    found = list(leaves(rows))
    assert unnoticed(rows, found if THOROUGH else found[:: 1 + len(found) // 12]) == []


def test_no_leaf_of_a_workspace_changes_unnoticed() -> None:
    assert unnoticed(WORKSPACE, leaves(WORKSPACE)) == []


def test_a_header_gives_the_time_that_its_bubble_lacks() -> None:
    rows = composer(fullConversationHeadersOnly=[{"bubbleId": "b", "createdAt": MS}]) + bubble(text="a")
    (message,) = parse(rows).conversation.messages
    assert (str(message.timestamp), message.timestamp_origin) == ("2026-08-17 06:30:36.174000+00:00", "recorded")


# ---- what tools changed ----------------------------------------------------------------------------------------------------


def edits_of(name: str, result: Any = "{}", **params: Any) -> list[tuple[Any, ...]]:
    rows = bubble(toolFormerData=tool(name, params=dumps(params), result=result))
    return [(e.kind, e.path, e.diff, e.after) for e in parse(rows).conversation.edits()]


def test_edits_of_calls() -> None:
    assert edits_of("delete_file", path="a") == [("delete", "a", None, None)]
    assert edits_of("search_replace", file_path="a", old_string="x\ny", new_string="z") == [
        ("update", "a", "@@ @@\n-x\n-y\n+z\n", None)
    ]
    assert edits_of("write", path="a", contents="all") == [("update", "a", None, "all")]
    assert edits_of("write", path="a") == edits_of("read_file", path="a") == edits_of("write", contents="x") == []


def test_contents_that_are_odd() -> None:
    rows = bubble(
        toolFormerData=tool(
            "edit_file_v2", params='{"path":"a"}', result=dumps({"beforeContentId": 7, "afterContentId": CONTENT + "x"})
        )
    )
    rows.append(("cursorDiskKV", CONTENT + "x", b"\xff"))
    rows.append(("cursorDiskKV", CONTENT + "unused", b"x"))
    result = parse(rows)
    (edit,) = result.conversation.edits()
    assert (edit.before, edit.after) == (None, "\ufffd")
    assert codes(result) == {"invalid-utf8"}
    assert {d.record: d.count for d in result.skipped} == {"composer.content": 1}
    assert result.account.balanced
    same = bubble(
        toolFormerData=tool(
            "x", params='{"path":"a"}', result=dumps(dict.fromkeys(["beforeContentId", "afterContentId"], CONTENT + "x"))
        )
    )
    same.append(("cursorDiskKV", CONTENT + "x", b"y"))
    assert [(e.before, e.after) for e in parse(same).conversation.edits()] == [("y", "y")]
    plain = bubble(toolFormerData=tool("x", params="7", result=dumps({"a": CONTENT + "x"})))
    assert parse(plain).conversation.edits() == ()


# ---- the model's view ------------------------------------------------------------------------------------------------------


def view(state: Any, *blobs: tuple[str, bytes], checkpoint: Any = None) -> convparse.ParseResult:
    rows = composer(conversationState=state, text="a")
    rows += [("cursorDiskKV", f"agentKv:blob:{name}", data) for name, data in blobs]
    rows += [("cursorDiskKV", "agentKv:checkpoint:c", checkpoint)] if checkpoint is not None else []
    result = parse(rows)
    assert result.account.balanced
    return result


def test_views_that_are_odd() -> None:
    bad, nested, odd = blob(b"\xff\xfe"), blob(proto((1, b"x"))), blob(b"[1]")
    root = proto(*((1, bytes.fromhex(item[0])) for item in (bad, nested, odd)), (8, bytes.fromhex(bad[0])))
    result = view(root.hex(), bad, nested, odd)
    assert codes(result) == {"cursor/undecodable-blob"}
    assert [e.name for e in result.conversation.events if e.kind == "model-view"] == [
        "agentKv/blob",
        "agentKv/blob",
        "agentKv/message",
        "agentKv/blob",
    ]
    for state in ("~!!", "zz", "~", 7, "~" + "AAAA"):
        assert codes(view(state)) <= {"unexpected-type"}
    both = view(root.hex(), bad, nested, odd, checkpoint="ab" * 32)
    assert codes(both) == {"cursor/undecodable-blob"}
    raw = view("~", bad, checkpoint=bytes.fromhex(bad[0]))
    assert codes(raw) == {"cursor/undecodable-blob"}
    text = view("~", ("ab" * 32, "no hex"), checkpoint="ab" * 32)
    assert codes(text) == {"cursor/blob-hash", "cursor/undecodable-blob"} or codes(text) == {"cursor/blob-hash"}
    assert codes(view("~", checkpoint="cd" * 32)) == {"cursor/missing-blob"}
    stray = parse([("cursorDiskKV", "agentKv:checkpoint:nobody", "00")])
    assert codes(stray) == {"unread-rows"}


def test_a_key_that_stands_twice_and_a_number_that_is_rounded_are_named_in_rows_too() -> None:
    twice = '{"type":1,"bubbleId":"b","text":"one","text":"two","tokenCount":{"inputTokens":0.12345678901234567891}}'
    result = parse([("cursorDiskKV", "bubbleId:c:b", twice)])
    assert {"duplicate-key", "number-precision"} <= codes(result)
    assert [message.text for message in result.conversations[0].messages] == ["two"]


# ---- bounds ----------------------------------------------------------------------------------------------------------------


def test_families_are_bounded() -> None:
    rows: Rows = [("cursorDiskKV", f"family{n}:x", "{}") for n in range(40)]
    data = convparse.parse_bytes(
        __import__("tests.databases", fromlist=["database"]).database(rows), source="cursor", limits=Limits(patterns=10)
    )
    counted = {d.record: d.count for d in data.dropped}
    assert sum(counted.values()) == 40
    assert data.account.balanced


def test_depth_is_bounded() -> None:
    deep = '{"type":1,"x":' + "[" * 300 + "]" * 300 + "}"
    result = parse([("cursorDiskKV", "bubbleId:c:deep", deep), *bubble(text="a")])
    assert codes(result) == {"too-deep"}
    assert not deeper([], 1)


# ---- damage that only a bad disk makes -------------------------------------------------------------------------------------


class Broken:
    """A connection that fails where it is told to."""

    def __init__(self, connection: Any, word: str) -> None:
        self.connection, self.word = connection, word

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def execute(self, sql: str, *values: Any) -> Any:
        if self.word in sql:
            raise sqlite3.DatabaseError("database disk image is malformed")
        return self.connection.execute(sql, *values)

    def blobopen(self, *values: Any, **options: Any) -> Any:
        raise sqlite3.DatabaseError("blob")


OPENED: Final[list[sqlite3.Connection]] = []
"""What ``broken`` opened; ``path`` closes it."""


def broken(path: Path, word: str) -> Database:
    connection = snapshot.connect(f"file:{path}?immutable=1")
    assert connection is not None
    OPENED.append(connection)
    database = Database(connection, Limits())
    database._connection = Broken(connection, word)  # type: ignore[assignment]
    return database


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    from tests.build_cursor import write

    write(tmp_path / "a.db", [*bubble(text="a"), ("composerHeaders", "c", "{}")])
    yield tmp_path / "a.db"
    while OPENED:
        OPENED.pop().close()


def test_every_question_survives_damage(path: Path) -> None:
    nothing = broken(path, "SELECT")
    assert list(nothing.rows(KV, "bubbleId:")) == []
    assert list(nothing.keys(KV, "bubbleId:")) == []
    assert nothing.next_key(KV, "a", "z") is None
    assert nothing.row(KV, "bubbleId:c:b") is None
    assert nothing.count(KV, "a", "z") == 0
    assert nothing.without_key(KV) == (0, 0)
    assert nothing.filled(KV.name, KV.key) == 0
    assert nothing.damaged
    for word in ("ORDER BY", "WHERE", "LIMIT 1"):
        found = broken(path, word)
        list(found.rows(KV, "bubbleId:"))
        list(found.keys(KV, "bubbleId:"))
        list(found.heads(KV, "a", "z", lambda key: "a"))
        found.row(KV, "bubbleId:c:b")
        found.count(KV, "a", "z")
        assert found.damaged
    row = broken(path, "nothing").row(KV, "bubbleId:c:b")
    assert row is not None
    assert broken(path, "workspaceId").other(HEADS, row) == {}
    assert broken(path, "x")._measure(KV, 1, "k").problem == "unreadable-row"
    assert broken(path, "x").row(KV, "\ud800") is None


def test_a_database_that_vanishes_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from convparse import _databases

    def refuse(path: str) -> Any:
        raise snapshot.Refused("not-a-database")
        yield

    monkeypatch.setattr(_databases, "moments", refuse)
    assert codes(convparse.parse(path, "cursor")) == {"not-a-database"}
    assert [codes(r) for r in convparse.iter_conversations(path, "cursor")] == [{"not-a-database"}]
    monkeypatch.setattr(_databases, "moments", lambda path: (x for x in ()))
    with pytest.raises(convparse.UnknownSource):
        convparse.detect(path)


def test_a_moment_that_is_not_proved_is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False, True])
    monkeypatch.setattr(snapshot.Moment, "proved", lambda self: next(answers))
    monkeypatch.setattr(snapshot, "_copies", lambda source: (m for _ in range(2) for m in snapshot._locked(source)))
    result = convparse.parse(path)
    assert result.snapshot is not None
    assert result.snapshot.tries == 2


def test_a_database_that_was_replaced_is_not_connected(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_identity", lambda path: None)
    with closing(snapshot.moments(str(path), methods="locked-read")) as found:
        assert list(found) == []


def test_lines_of_entries_are_shown() -> None:
    (conversation,) = parse(bubble(**human("x"))).conversations
    assert lines(conversation) == ["user human: x"]
    assert line(parse(bubble(**model("y"))).conversation.messages[0]) == "assistant model: y"
