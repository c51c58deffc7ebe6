"""One bubble in several places of Cursor's databases: shown once, counted once, told apart, and all of it there."""

import base64
import json
from typing import Any

import pytest
from tests.build_cursor import blob, proto
from tests.databases import Json, Rows, database, parse
from tests.test_cursor_fixtures import line

import convparse
from convparse import Conversation, Message
from convparse.reading.sqlite import Database
from convparse.sources.cursor.fields import CHAT

KV = "cursorDiskKV"
SPENT = {"tokenCount": {"inputTokens": 10, "outputTokens": 5}}
ASKED: dict[str, Any] = {"type": 1, "text": "task"}
DONE: dict[str, Any] = {"type": 2, "text": "done", **SPENT}
KID = {
    "composerId": "task-x",
    "name": "nested",
    "fullConversationHeadersOnly": [{"bubbleId": "m1"}, {"bubbleId": "m2"}],
    "conversationMap": {"m1": json.dumps(ASKED), "m2": json.dumps(DONE)},
}


def inside(kid: Any) -> dict[str, Any]:
    """A bubble whose tool holds a sub-agent whole."""
    tool = {"name": "task_v2", "toolCallId": "x", "status": "completed", "additionalData": {"composerData": json.dumps(kid)}}
    return {"type": 2, "toolFormerData": tool}


def head(*bubbles: str, **more: Any) -> tuple[str, str, Any]:
    listed = [{"bubbleId": bubble} for bubble in bubbles]
    return KV, "composerData:c", Json({"composerId": "c", "fullConversationHeadersOnly": listed, **more})


def told(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.state, message.text) for message in conversation.messages]


def one(result: convparse.ParseResult, id: str) -> Conversation:
    return next(c for c in result.conversations if c.id == id)


def keys_of(result: convparse.ParseResult) -> list[str]:
    return [entry.key for c in result.conversations for entry in c.entries]


def check(rows: Rows) -> convparse.ParseResult:
    result = parse(rows)
    assert result.account.balanced
    assert len(set(keys_of(result))) == len(keys_of(result))
    return result


def test_rows_stand_before_the_bubbles_that_an_older_version_left_in_the_head() -> None:
    inline = [{"bubbleId": "b1", **ASKED}, {"bubbleId": "b2", **DONE}]
    rows: Rows = [(KV, "bubbleId:c:b1", Json(ASKED)), (KV, "bubbleId:c:b2", Json({**DONE, "text": "edited"}))]
    talk = one(check([head("b1", "b2", conversation=inline), *rows]), "c")

    assert told(talk) == [("active", "task"), ("active", "edited"), ("superseded", "task"), ("superseded", "done")]
    assert (talk.usage.input_tokens, talk.usage.output_tokens) == (10, 5)
    copy = talk.messages[-1]
    assert copy.extra is not None
    assert copy.extra.value == {"/conversation/1/tokenCount": SPENT["tokenCount"]}


def test_bubbles_in_the_head_are_the_talk_where_no_list_says_otherwise() -> None:
    inline = [{"bubbleId": "b1", **ASKED}, {"bubbleId": "b2", **DONE, "isChat": True}]
    talk = one(check([head(conversation=inline), (KV, "bubbleId:c:b2", Json({**DONE, "isChat": True}))]), "c")

    assert told(talk) == [("active", "task"), ("active", "done"), ("superseded", "done")]
    assert talk.usage.output_tokens == 5
    assert talk.messages[-1].extra is not None
    assert talk.messages[-1].extra.value == {"/isChat": True, "/tokenCount": SPENT["tokenCount"]}


def test_an_id_that_stands_twice_in_one_list_is_two_bubbles() -> None:
    talk = one(check([head(conversation=[{"bubbleId": "b", **ASKED}, {"bubbleId": "b", **DONE}])]), "c")

    assert told(talk) == [("active", "task"), ("active", "done")]


def test_a_sub_agent_in_its_parent_and_in_rows_is_one_talk() -> None:
    rows: Rows = [(KV, "bubbleId:task-x:m1", Json(ASKED)), (KV, "bubbleId:task-x:m2", Json(DONE))]
    own = (KV, "composerData:task-x", Json({"composerId": "task-x", "name": "own", "fullConversationHeadersOnly": []}))
    for extra, title in (([], "nested"), ([own], "own")):
        result = check([head("b1"), (KV, "bubbleId:c:b1", Json(inside(KID))), *rows, *extra])
        kid = one(result, "task-x")

        assert sorted(told(kid)) == [("active", "done"), ("active", "task"), ("superseded", "done"), ("superseded", "task")]
        assert (kid.title, kid.usage.output_tokens) == (title, 5)
        assert [c.id for c in result.roots] == ["c"]


def test_a_sub_agent_that_two_bubbles_hold_is_one_talk() -> None:
    bubbles: Rows = [(KV, f"bubbleId:c:{id}", Json(inside(KID))) for id in ("b1", "b2")]
    kid = one(check([head("b1", "b2"), *bubbles]), "task-x")

    assert told(kid) == [("active", "task"), ("active", "done"), ("superseded", "task"), ("superseded", "done")]
    assert kid.usage.output_tokens == 5


def test_places_inside_a_text_say_where_it_is_entered() -> None:
    kid = one(check([head("b1"), (KV, "bubbleId:c:b1", Json(inside(KID)))]), "task-x")
    origin = kid.messages[0].origin
    assert origin is not None
    assert origin.pointer == "/toolFormerData/additionalData/composerData/»/conversationMap/m1/»"

    plain = {**KID, "conversationMap": {"m1": ASKED, "m2": DONE}}
    tool = {"name": "task_v2", "toolCallId": "x", "additionalData": {"composerData": plain}}
    kid = one(check([head("b1"), (KV, "bubbleId:c:b1", Json({"type": 2, "toolFormerData": tool}))]), "task-x")
    origin = kid.messages[0].origin
    assert origin is not None
    assert origin.pointer == "/toolFormerData/additionalData/composerData/conversationMap/m1"


def test_an_id_that_is_no_text_is_kept() -> None:
    result = check([head(conversation=[{"bubbleId": {"a": 1}, **ASKED}])])
    (message,) = one(result, "c").messages
    assert message.id is None
    assert message.extra is not None
    assert message.extra.value == {"/conversation/0/bubbleId": {"a": 1}}
    assert [(drop.code, drop.pattern) for drop in result.dropped] == [("unexpected-type", "/bubbleId")]


def test_what_was_typed_stands_where_it_was_found() -> None:
    rich = '{"root":{"children":[{"text":"rich"}]}}'
    drafts = one(check([head(text="", richText=rich, queueItems=[{"text": "queued"}])]), "c").messages
    assert [m.origin.pointer for m in drafts if m.origin is not None] == ["/richText", "/queueItems/0/text"]


def test_keys_of_prompts_are_escaped() -> None:
    result = check([("ItemTable", "aiService.prompts", Json([{"text": "p", "a/b~": 1}]))])
    (prompt,) = [entry for entry in result.loose if isinstance(entry, Message)]
    assert prompt.extra is not None
    assert prompt.extra.value == {"/0/a~1b~0": 1}


# ---- blobs -----------------------------------------------------------------------------------------------------------------

HI = b'{"role":"user","content":"hi"}'


def id_of(named: tuple[str, bytes]) -> bytes:
    return bytes.fromhex(named[0])


def store(root: bytes, *blobs: tuple[str, bytes]) -> convparse.ParseResult:
    """A store of ``cursor-agent`` with this root."""
    meta = json.dumps({"agentId": "a", "latestRootBlobId": blob(root)[0]})
    rows: Rows = [("meta", "0", meta), *(("blobs", id, data) for id, data in (blob(root), *blobs))]
    result = convparse.parse_bytes(database(rows, ()), source="cursor", name="store.db")
    assert result.account.balanced
    assert len(set(keys_of(result))) == len(keys_of(result))
    return result


def test_an_archive_or_a_turn_that_is_named_again_is_read_once() -> None:
    """So that a small file cannot become a large result: 400 times 400 messages."""
    said = blob(HI)
    archive = blob(proto((1, id_of(said))) * 400)
    step = blob(proto((1, proto((1, b"y")))))
    turn = blob(proto((1, proto((2, id_of(step))) * 400)))
    root = proto((13, id_of(archive))) * 400 + proto((8, id_of(turn))) * 400
    result = store(root, said, archive, step, turn)

    assert len(result.conversation.messages) == 400
    assert [sum(1 for e in result.conversation.events if e.kind == kind) for kind in ("compaction", "turn")] == [1, 1]


def test_a_message_that_is_said_again_is_there_again() -> None:
    other = blob(b'{"role":"assistant","content":"yes"}')
    said = blob(HI)
    result = store(proto((1, id_of(said)), (1, id_of(other)), (1, id_of(said))), said, other)
    assert [m.text for m in result.conversation.messages] == ["hi", "yes", "hi"]

    broken = blob(b"\xff")
    result = store(proto((1, id_of(broken))) * 3, broken)
    assert [e.kind for e in result.conversation.events] == ["session", "state", "unknown", "unknown", "unknown"]


def test_views_of_a_message_that_is_said_again_are_there_again() -> None:
    said, broken = blob(HI), blob(b"\xff")
    root = proto((1, id_of(said)), (1, id_of(broken)), (1, id_of(said)), (1, id_of(broken)))
    rows: Rows = [(KV, f"agentKv:blob:{id}", data) for id, data in (said, broken)]
    talk = one(check([head(conversationState="~" + base64.b64encode(root).decode()), *rows]), "c")
    views = [event for event in talk.events if event.kind == "model-view"]
    assert [event.name for event in views] == ["agentKv/user", "agentKv/blob"] * 2
    assert views[0].data == views[2].data


def test_lines_of_a_stream_with_another_call_are_no_part_of_the_thought() -> None:
    base = {"type": "thinking", "session_id": "s"}
    rows = [{**base, "subtype": "delta", "text": "a"}, {**base, "subtype": "completed", "model_call_id": "m"}]
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    result = convparse.parse_bytes(data, source="cursor", name="x.jsonl")
    assert [(line(entry), getattr(entry, "response_id", None)) for entry in result.conversation.entries] == [
        ("assistant model: ~a~", None),
        ("assistant model:", "m"),
    ]


def test_a_row_of_many_conversations_is_not_read_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    row = Database.row
    monkeypatch.setattr(Database, "row", lambda self, table, key: (read.append(key), row(self, table, key))[1])
    tabs = [{"tabId": f"t{n}", "bubbles": [{"type": "user", "text": "q"}]} for n in range(50)]
    result = check([("ItemTable", CHAT, Json({"tabs": tabs}))])
    assert [c.id for c in result.conversations] == [f"t{n}" for n in range(50)]
    assert read.count(CHAT) < 5
