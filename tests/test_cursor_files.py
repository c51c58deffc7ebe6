"""The smaller files of Cursor: agents' transcripts as lines and as text, saved stdout; and what stands beside a file."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.build_cursor import EDITOR, MS, STORE, blob, dumps, proto, write
from tests.databases import DDL, Json, Rows, database, parse
from tests.leaves import unnoticed as unnoticed_lines
from tests.test_cursor_fixtures import line, lines

import convparse
from convparse import Text, Thinking
from convparse.sources.cursor import richtext, wrappers
from convparse.sources.cursor.protobuf import Malformed, fields, plain
from convparse.sources.cursor.workspaces import local_path

USER = {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nhello\n</user_query>"}]}}
ANSWER = {
    "role": "assistant",
    "message": {"content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}]},
}


def said(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(parts)}}


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def jsonl(*rows: Any) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows)


def read(*rows: Any, name: str = "id.jsonl", source: str | None = None) -> convparse.ParseResult:
    result = convparse.parse_bytes(jsonl(*rows), name=name, source=source)
    assert result.source == "cursor"
    assert result.account.balanced
    return result


# ---- transcripts -----------------------------------------------------------------------------------------------------------


def test_a_transcript() -> None:
    result = read(USER, ANSWER, {"type": "turn_ended", "status": "success"})
    assert result.variant == "agent-transcript"
    assert [line(e) for e in result.conversation.entries] == [
        "user human: hello",
        'assistant model: hi Shell({"command":"ls"})',
        "turn-end: None",
    ]
    assert result.conversation.id == "id"
    assert result.dropped == ()
    (turn,) = result.conversation.turns()
    assert (turn.status, turn.answer) == ("complete", "hi")


def test_the_nine_cases_of_a_transcript() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    tool = {"type": "tool_use", "id": "c", "name": "Read", "input": {}}
    rows = [
        *(
            said("user", text("plain")),
            said("assistant", tool),
            said("assistant", thinking),
            said("assistant", thinking, text("a"), tool),
        ),
        *(said("assistant"), said("assistant", text("same")), said("assistant", text("same"))),
        {
            "timestamp": "2026-06-24T12:10:00Z",
            "id": "x",
            **said("user", {"type": "tool_result", "tool_use_id": "c", "content": "done"}),
        },
        {"role": "assistant", "message": {"content": "a string", "model": "m"}, "brandNew": 1},
    ]
    result = read(*rows)
    assert [line(e) for e in result.conversation.entries] == [
        *("user human: plain", "assistant model: Read({})", "assistant model: ~hm~", "assistant model: ~hm~ a Read({})"),
        *(
            "assistant model:",
            "assistant model: same",
            "assistant model: same",
            "user tool: =>None None done",
            "assistant model: a string",
        ),
    ]
    assert [m.timestamp is None for m in result.conversation.messages].count(False) == 1
    assert {d.code for d in result.dropped} == {"unknown-field"}
    bad = convparse.parse_bytes(jsonl(USER) + b"not json\n" + jsonl(ANSWER))
    assert [d.code for d in bad.dropped] == ["malformed-line"]
    assert len(bad.conversation.messages) == 2
    odd = read(
        USER, {"type": "session_started"}, [1], said("robot", {"type": "hologram"}), {"role": "user", "message": {"content": 7}}
    )
    assert [d.code for d in odd.dropped] == ["unknown-record", "not-an-object", "unknown-block", "unexpected-type"]


def test_a_prompt_is_unwrapped_to_its_last_closing_tag() -> None:
    inner = "say <user_query>x</user_query> twice"
    stamp = "<timestamp>Friday, Aug 7, 2026, 9:05 PM (UTC+5:30)</timestamp>\n"
    result = read(
        said("user", text(f"{stamp}<user_query>\n{inner}\n</user_query>")), said("user", text("<user_info>a</user_info>"))
    )
    first, second = result.conversation.messages
    assert first.text == inner
    assert str(first.timestamp) == "2026-08-07 21:05:00+05:30"
    assert first.timestamp_text == "Friday, Aug 7, 2026, 9:05 PM (UTC+5:30)"
    assert second.author == "harness"


@pytest.mark.parametrize(
    "given, blocks, whole",
    [
        ("no tags", ["no tags"], True),
        ("", [""], True),
        ("<user_query>tight</user_query>", ["tight"], False),
        ("<user_query>\na\n</user_query>\n", ["a", "\n"], True),
        ("before <user_query>\na\n</user_query>", ["before <user_query>\na\n</user_query>"], True),
        ("</user_query><user_query>", ["</user_query><user_query>"], True),
        ("<b>x</b>", ["<b>x</b>"], True),
    ],
)
def test_what_is_around_a_prompt(given: str, blocks: list[str], whole: bool) -> None:
    found, exact = wrappers.person(given)
    assert ([block.text for block in found], exact) == (blocks, whole)


@pytest.mark.parametrize(
    "stamp, found",
    [
        ("Monday, Jan 5, 2026, 12:00 AM (UTC)", "2026-01-05 00:00:00+00:00"),
        ("Monday, Jan 5, 2026, 12:30 PM (UTC-3)", "2026-01-05 12:30:00-03:00"),
        ("Monday, Foo 5, 2026, 12:30 PM (UTC-3)", "None"),
        ("Monday, Feb 31, 2026, 12:30 PM (UTC)", "None"),
        ("yesterday", "None"),
    ],
)
def test_stamps(stamp: str, found: str) -> None:
    assert str(wrappers.stamp(f"<timestamp>{stamp}</timestamp>")[0]) == found


def test_encrypted_reasoning_is_a_mark() -> None:
    result = read(
        said("assistant", text("[REDACTED]")), said("assistant", text("So. [REDACTED]")), said("user", text("[REDACTED]"))
    )
    blocks = [m.blocks for m in result.conversation.messages]
    hidden = Thinking("", None, True)
    assert blocks == [(hidden,), (Text("So. "), hidden), (Text("[REDACTED]"),)]


def test_a_file_may_hold_nothing_but_ends() -> None:
    result = read(
        {"type": "turn_ended", "status": "error", "error": "out of usage"},
        {"type": "turn_ended"},
        {"type": "error", "error": "x", "new": 1},
    )
    assert [line(e) for e in result.conversation.entries] == ["error: out of usage", "turn-end: None", "error: x"]
    assert [d.code for d in result.dropped] == ["unknown-field"]


def test_an_oversize_note_is_a_loss() -> None:
    result = read(said("assistant", text("[Oversize transcript blob omitted: 6.1 MB]")))
    assert [d.code for d in result.dropped] == ["cursor/oversize-blob"]


def test_sub_agents_of_a_transcript(tmp_path: Path) -> None:
    folder = tmp_path / "parent"
    (folder / "subagents").mkdir(parents=True)
    (folder / "parent.jsonl").write_bytes(jsonl(USER, ANSWER))
    (folder / "subagents" / "child.jsonl").write_bytes(jsonl(said("user", text("do it")), ANSWER))
    (folder / "subagents" / "empty.jsonl").write_bytes(b"")
    result = convparse.parse(folder / "parent.jsonl")
    assert [c.id for c in result.children(result.conversation)] == ["child"]
    assert result.children(result.conversation)[0].messages[0].author == "model"
    assert all(account.balanced for account in result.accounts)
    whole = convparse.parse(folder)
    assert whole.conversations == result.conversations
    assert [account.path for account in whole.accounts] == [account.path for account in result.accounts]
    alone = convparse.parse(folder / "parent.jsonl", subagents=False)
    assert {d.code for d in alone.skipped} == {"skipped-file"}
    child = convparse.parse(folder / "subagents" / "child.jsonl").conversation
    assert child.messages[0].author == "model"
    assert len(list(convparse.iter_conversations(folder / "parent.jsonl"))) == 1


def test_no_leaf_of_a_transcript_changes_unnoticed() -> None:
    from tests.leaves import leaves

    rows = [
        USER,
        ANSWER,
        said(
            "assistant",
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "image", "image": "x", "mediaType": "image/png"},
        ),
        said(
            "user", {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "done"}], "is_error": True}
        ),
        said(
            "user",
            {"type": "file", "filename": "a.pdf"},
            {"type": "redacted-reasoning", "data": "x"},
            {"type": "image", "image": {"hex": "00"}},
        ),
        {
            "timestamp": "2026-06-24T12:10:00Z",
            "id": "x",
            "role": "user",
            "message": {"role": "user", "content": "words", "model": "m", "new": 1},
        },
        {"type": "turn_ended", "status": "error", "error": "why"},
        {"type": "metadata", "metadata": {"overview": "o"}},
    ]
    data = jsonl(*rows)
    assert unnoticed_lines(data, leaves(data), source="cursor") == []


# ---- text ------------------------------------------------------------------------------------------------------------------

TEXT = """user:
<user_query>
hello
</user_query>

assistant:
Let me see.

[Thinking] first I look
then I think
[Tool call] Shell
  command: ls
more of it
[Tool result] Shell

assistant: done

assistant:
[Thinking]

Turn ended: success
"""


def test_a_transcript_as_text() -> None:
    result = convparse.parse_bytes(TEXT.encode(), name="id.txt")
    assert (result.source, result.variant) == ("cursor", "agent-text")
    assert result.account.balanced
    assert result.dropped == ()
    assert [line(e) for e in result.conversation.entries] == [
        "user human: hello",
        "assistant model: Let me see. ~first I look\nthen I think~ Shell(  command: ls\nmore of it) =>None None",
        "assistant model: done",
        "assistant model: ~~",
        "turn-end: success\n",
    ]
    spans = [(e.origin.line, e.origin.length) for e in result.conversation.entries if e.origin is not None]
    assert spans[0] == (1, TEXT.index("assistant:"))


def test_a_text_that_begins_elsewhere_and_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"what is this\nuser: a\xff\nTurn ended: error: limit\n")
    result = convparse.parse(path, "cursor")
    assert result.variant == "agent-transcript"
    data = b"user: a\xff\nTurn ended: error: limit\n"
    found = convparse.parse_bytes(data)
    assert [line(e) for e in found.conversation.entries] == ["user human: a\ufffd", "error: error: limit\n"]
    assert [d.code for d in found.dropped] == ["invalid-utf8"]
    lead = convparse.parse_bytes(b"\n\n" + data)
    assert lead.account.balanced
    assert [e.kind for e in lead.conversation.events] == ["unknown", "error"]
    stamped = convparse.parse_bytes(b"user: <timestamp>Monday, Jan 5, 2026, 12:00 AM (UTC)</timestamp>\nx\n")
    assert stamped.conversation.messages[0].timestamp is not None
    for limits in (convparse.Limits(document_bytes=5), convparse.Limits()):
        assert convparse.parse_bytes(data, limits=limits).account.balanced


# ---- stdout ----------------------------------------------------------------------------------------------------------------


def frame(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "s", **more}


def spoken(words: str, **more: Any) -> dict[str, Any]:
    return frame("assistant", message={"role": "assistant", "content": [text(words)]}, **more)


TOOLS: list[Any] = [
    {"shellToolCall": {"args": {"command": "ls"}}},
    {"readToolCall": {"args": {"path": "x"}}},
    {"readToolCall": {"args": {"path": "y"}, "result": {"error": {"errorMessage": "gone"}}}},
    {"shellToolCall": {"args": {"command": "ls"}, "result": {"success": {"stdout": "f", "exitCode": 0}}}},
    {"lsToolCall": {"args": {}, "result": {"rejected": {}}}},
]
STREAM: list[Any] = [
    frame("system", subtype="init", apiKeySource="login", cwd="/w", model="Auto", permissionMode="default"),
    frame("user", message={"role": "user", "content": [text("hello")]}),
    frame("thinking", subtype="delta", text="I th", timestamp_ms=MS),
    frame("thinking", subtype="delta", text="ink", timestamp_ms=MS + 1),
    frame("thinking", subtype="completed", timestamp_ms=MS + 2),
    spoken("Hel", timestamp_ms=MS + 3),
    spoken("lo", timestamp_ms=MS + 4),
    spoken("Hello", timestamp_ms=MS + 5, model_call_id="m1"),
    frame("tool_call", subtype="started", call_id="a\nb", tool_call=TOOLS[0], model_call_id="m1", timestamp_ms=MS),
    frame("tool_call", subtype="started", call_id="c", tool_call=TOOLS[1], model_call_id="m1", timestamp_ms=MS),
    frame("tool_call", subtype="completed", call_id="c", tool_call=TOOLS[2]),
    frame("tool_call", subtype="completed", call_id="a\nb", tool_call=TOOLS[3]),
    frame("tool_call", subtype="completed", call_id="z", tool_call=TOOLS[4]),
    spoken("Do", timestamp_ms=MS + 6),
    spoken("ne"),
    spoken("half", timestamp_ms=MS + 7),
    frame("result", subtype="success", is_error=False, duration_ms=4986, duration_api_ms=4986, result="Hello", request_id="r"),
]  # fmt: skip


def test_a_stream_without_doubled_text() -> None:
    result = read(*STREAM, source="cursor")
    assert result.dropped == ()
    assert [line(e) for e in result.conversation.entries] == [
        "session-start: None",
        "user human: hello",
        "assistant model: ~I think~",
        "assistant model: Hello",
        'assistant model: shell({"command":"ls"})',
        'assistant model: read({"path":"x"})',
        "tool tool: =>error None gone",
        "tool tool: =>success 0 f",
        "tool tool: ls({}) =>rejected None",
        "assistant model: Do",
        "assistant model: ne",
        "assistant model: half",
        "turn-end: Hello",
    ]
    uses = result.conversation.tool_calls()
    assert [use.outcome for use in uses] == ["ok", "error", "denied"]
    assert result.conversation.messages[2].merged != ()
    assert result.conversation.context == convparse.Context("/w", permission_mode="default")


def test_a_stream_that_ends_in_fragments() -> None:
    result = read(*STREAM[:4], source="cursor")
    assert [line(e) for e in result.conversation.entries][2:] == ["assistant model: ~I think~"]
    assert [line(e) for e in read(*STREAM[2:7], source="cursor").conversation.entries][1:] == ["assistant model: Hello"]


def test_frames_that_are_odd() -> None:
    rows: list[Any] = [
        *(
            frame("assistant", message=7),
            frame("thinking", text=7),
            frame("tool_call", call_id=7),
            frame("brand_new"),
            [1],
            "x",
        ),
        frame("thinking", subtype="other", text="t", brandNew=1),
        frame("tool_call", call_id=None, tool_call={"aToolCall": 7}),
        {"type": "result", "session_id": 7},
        {"type": "system", "duration_ms": 5},
        frame("user", message={"role": "robot", "content": [text("x")], "new": 1}),
        frame("result", is_error=True, result={"a": 1}, timestamp_ms="then"),
    ]
    result = convparse.parse_bytes(jsonl(STREAM[2], *rows), source="cursor")
    assert result.variant == "stream-json"
    assert result.account.balanced
    assert {d.code for d in result.dropped} == {"unknown-record", "not-an-object", "unknown-field", "bad-timestamp"}


def test_the_result_alone() -> None:
    result = convparse.parse_bytes(json.dumps(STREAM[-1]).encode(), source="cursor")
    assert (result.variant, [line(e) for e in result.conversation.entries]) == ("json", ["turn-end: Hello"])


def test_no_leaf_of_a_stream_changes_unnoticed() -> None:
    from tests.leaves import leaves

    data = jsonl(*STREAM)
    meant = {"/session_id", "/type"}
    chosen = [leaf for leaf in leaves(data) if leaf.pointer not in meant]
    assert unnoticed_lines(data, chosen, source="cursor") == []


# ---- stores ----------------------------------------------------------------------------------------------------------------


def store(rows: Any) -> convparse.ParseResult:
    result = convparse.parse_bytes(database(rows, ("blobs", "meta")), source="cursor")
    assert result.variant == "agent-store"
    assert result.account.balanced
    return result


def with_root(*items: tuple[int, Any], meta: Any = None, more: Any = ()) -> convparse.ParseResult:
    root = blob(proto(*items))
    head = {"agentId": "a", "latestRootBlobId": root[0], **(meta or {})}
    return store([("meta", "0", dumps(head)), ("blobs", *root), *(("blobs", *item) for item in more)])


def test_a_store_that_is_damaged() -> None:
    good = blob(b'{"role":"user","content":"x"}')
    bad = blob(b"\x00\xff")
    odd = blob(b"[1]")
    wrong = (
        "ab" * 32,
        b'{"role":"user","content":"wrong name","brandNew":1,"id":7,'
        b'"providerOptions":{"other":1,"cursor":{"requestId":7,"x":1}}}',
    )
    result = with_root(
        *((1, bytes.fromhex(item[0])) for item in (good, bad, odd, wrong, ("cd" * 32, b""))),
        (8, bytes.fromhex(bad[0])),
        (13, bytes.fromhex("ee" * 32)),
        (77, 5),
        meta={"createdAt": "then", "name": 7, "brandNew": 1},
        more=(good, bad, odd, wrong),
    )
    assert result.dropped_by_code().keys() == {
        *("cursor/missing-blob", "cursor/undecodable-blob", "cursor/blob-hash", "cursor/unknown-proto", "bad-timestamp"),
        *("unexpected-type", "unknown-field", "unknown-record"),
    }
    assert [m.text for m in result.conversation.messages] == ["x", "wrong name"]


@pytest.mark.parametrize("meta", [None, "", "zz", "[]", b"\xff", "{}", pytest.param("[" * 1000 + "]" * 1000, id="deep")])
def test_a_store_without_a_head(meta: Any) -> None:
    result = store([("meta", "0", meta), ("meta", "1", "x"), ("blobs", "a" * 64, b"{}")])
    codes = result.dropped_by_code()
    assert codes["unread-rows"][0].count == 1
    assert codes["cursor/unreachable-blobs"][0].count == 1


def test_a_turn_of_a_shell_and_one_that_is_odd() -> None:
    shell = blob(proto((2, proto((1, b"ls"), (2, b"a.py")))))
    odd = blob(proto((1, b"\xff\xff")))
    number = blob(proto((1, 7)))
    result = with_root(*((8, bytes.fromhex(item[0])) for item in (shell, odd, number)), more=(shell, odd, number))
    assert [e.kind for e in result.conversation.events] == ["session", "state", "turn", "turn", "turn"]
    assert result.dropped == ()


def test_blobs_that_are_odd() -> None:
    gone = "cd" * 32
    none = ("ef" * 32, None)
    options = blob(b'{"role":"user","content":"x","providerOptions":7}')
    archive = blob(proto((1, bytes.fromhex(gone)), (1, bytes.fromhex(gone)), (2, b"s")))
    result = with_root(
        *((1, bytes.fromhex(item)) for item in (gone, gone, none[0], options[0])),
        (13, bytes.fromhex(archive[0])),
        meta={"agentId": 7},
        more=(none, options, archive),
    )
    assert {code: [d.count for d in drops] for code, drops in result.dropped_by_code().items()} == {
        "cursor/missing-blob": [1],
        "null-value": [1],
    }
    assert result.conversation.id == ""


def test_a_store_by_id_and_heads_alone(tmp_path: Path) -> None:
    write(tmp_path / "store.db", STORE, ())
    with pytest.raises(convparse.ConvparseError, match="agent-1"):
        convparse.parse(tmp_path / "store.db", conversation_id="x")
    heads = [c for r in convparse.iter_conversations(tmp_path / "store.db", messages=False) for c in r.conversations]
    assert [(c.id, c.messages) for c in heads] == [("agent-1", ())]


def test_parts_that_are_odd() -> None:
    rows = [
        said(
            "user", {"type": "text", "text": 7}, {"type": "thinking", "thinking": 7}, {"type": "redacted-reasoning", "data": 7}
        ),
        said(
            "assistant",
            {"type": "tool_use", "name": 7},
            {"type": "tool_result", "is_error": 7},
            {"type": "image", "image": 7},
            {"type": "file"},
        ),
        said("user", text("<user_query>tight</user_query>"), {"type": "image", "source": "https://x/y.png"}, 7),
        {"role": "user", "message": {}},
    ]
    result = read(USER, *rows)
    assert result.dropped_by_code().keys() == {"unexpected-type", "unknown-block"}
    from tests.leaves import leaves

    data = jsonl(USER, *rows)
    assert unnoticed_lines(data, leaves(data), source="cursor") == []


def test_a_folder_of_a_transcript(tmp_path: Path) -> None:
    (tmp_path / "id" / "subagents").mkdir(parents=True)
    (tmp_path / "id.jsonl").write_bytes(jsonl(USER, ANSWER))
    assert convparse.parse(tmp_path / "id.jsonl").conversation.id == "id"
    (tmp_path / "lone").mkdir()
    (tmp_path / "lone" / "lone.jsonl").write_bytes(jsonl(USER))
    assert convparse.parse(tmp_path / "lone" / "lone.jsonl").conversation.id == "lone"


def test_an_indented_text() -> None:
    result = convparse.parse_bytes(b" user: a\n")
    assert [d.code for d in result.dropped] == ["unknown-record"]
    assert result.account.balanced


def test_protobuf() -> None:
    assert fields(proto((1, 300), (2, b"x"), (1, 1))) == {1: [300, 1], 2: [b"x"]}
    assert fields(b"\x0d\x01\x02\x03\x04") == {1: [b"\x01\x02\x03\x04"]}
    assert fields(b"\x09" + bytes(8)) == {1: [bytes(8)]}
    for bad in (b"\x00", b"\x0a\x05a", b"\x0b", b"\x80", b"\xff" * 12, b"\x08"):
        with pytest.raises(Malformed):
            fields(bad)
    assert plain(b"\x0a\x01\xff") == {"1": [{"hex": "ff"}]}
    assert plain(b"\xff" * 32) == {"hex": "ff" * 32}
    assert plain("ü".encode()) == "ü"


# ---- what stands beside ----------------------------------------------------------------------------------------------------


def test_copies_of_a_database_are_named(tmp_path: Path) -> None:
    write(tmp_path / "state.vscdb", EDITOR[:4])
    for end in (".backup", ".corrupted.1700000000"):
        (tmp_path / f"state.vscdb{end}").write_bytes(b"x" * 10)
    result = convparse.parse(tmp_path / "state.vscdb")
    assert {d.code: d.bytes for d in result.skipped if d.code == "cursor/backup"} == {"cursor/backup": 10}
    assert len([d for d in result.skipped if d.code == "cursor/backup"]) == 2
    assert all(account.balanced for account in result.accounts)


@pytest.mark.parametrize("note", [b"not json", b"[]", b'{"folder":7}', b'{"workspace":"file:///w/a.code-workspace"}'])
def test_notes_beside_databases(tmp_path: Path, note: bytes) -> None:
    write(tmp_path / "state.vscdb", EDITOR[:4])
    (tmp_path / "workspace.json").write_bytes(note)
    (tmp_path / "chat").mkdir()
    write(tmp_path / "chat" / "store.db", STORE, ())
    (tmp_path / "chat" / "meta.json").write_bytes(note)
    for path in (tmp_path / "state.vscdb", tmp_path / "chat" / "store.db"):
        result = convparse.parse(path)
        assert all(account.balanced for account in result.accounts)
        assert len(result.loose) == (note != b"not json")
        assert [drop.bytes for drop in result.lost if drop.code == "malformed-line"] == [8] * (note == b"not json")


@pytest.mark.parametrize(
    "uri, path",
    [
        ("file:///home/u/p%20q", "/home/u/p q"),
        ("file:///c%3A/Users/u", "c:/Users/u"),
        ("file://wsl.localhost/Ubuntu/home/u", "//wsl.localhost/Ubuntu/home/u"),
        ("file://wsl%24/Ubuntu", "//wsl$/Ubuntu"),
        ("vscode-remote://wsl%2BUbuntu/home/u", "vscode-remote://wsl%2BUbuntu/home/u"),
        ("file://[no address/u", "file://[no address/u"),
        (None, None),
    ],
)
def test_folders(uri: Any, path: Any) -> None:
    assert local_path(uri) == path


def test_a_conversation_s_folder_by_the_best_index() -> None:
    remote = {
        "id": "w",
        "uri": {"scheme": "vscode-remote", "path": "/home/u", "external": "vscode-remote://ssh-remote%2Bh/home/u"},
    }
    local = {"id": "w", "uri": {"$mid": 1, "scheme": "file", "fsPath": "/home/u/p", "path": "/other"}}
    heads = {"allComposers": [{"composerId": "b", "workspaceIdentifier": local}]}
    rows: Any = [
        ("cursorDiskKV", "composerData:a", Json({"workspaceIdentifier": remote, "forceMode": "edit"})),
        ("cursorDiskKV", "composerData:b", Json({"workspaceIdentifier": {"id": "w"}})),
        ("cursorDiskKV", "composerData:c", Json({"gitWorktree": {"worktreePath": "/tree", "branchName": "topic"}})),
        ("cursorDiskKV", "composerData:d", Json({})),
        ("ItemTable", "composer.composerHeaders", Json(heads)),
    ]
    found = {c.id: c.context for c in parse(rows).conversations}
    assert found == {
        "a": convparse.Context("vscode-remote://ssh-remote%2Bh/home/u", permission_mode="edit"),
        "b": convparse.Context("/home/u/p"),
        "c": convparse.Context("/tree", "topic"),
        "d": None,
    }


def test_rich_text_that_is_none() -> None:
    assert richtext.plain_text("[1]") == "[1]"
    assert richtext.plain_text("plain") == "plain"
    assert richtext.plain_text('{"root":7}') == '{"root":7}'
    assert richtext.plain_text('{"root":{"children":[7,{"type":"text","text":"a"}]}}') == "a"


# ---- iteration -------------------------------------------------------------------------------------------------------------


def test_a_conversation_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path / "state.vscdb", EDITOR[:6])
    with pytest.raises(convparse.ConvparseError, match="it has: text, thinking-only, tool-only"):
        convparse.parse(tmp_path / "state.vscdb", conversation_id="x")


def test_a_database_too_large_for_one_result(tmp_path: Path) -> None:
    write(tmp_path / "state.vscdb", EDITOR)
    small = convparse.Limits(database_bytes=1_000)
    with pytest.raises(convparse.ConvparseError, match="iter_conversations"):
        convparse.parse(tmp_path / "state.vscdb", limits=small)
    assert lines(convparse.parse(tmp_path / "state.vscdb", conversation_id="text", limits=small).conversation) == [
        "user human: hello",
        "assistant model: \n\nhi",
    ]
    assert len(list(convparse.iter_conversations(tmp_path / "state.vscdb", limits=small))) > 40


def test_heads_alone(tmp_path: Path) -> None:
    write(tmp_path / "state.vscdb", EDITOR)
    found = [c for r in convparse.iter_conversations(tmp_path / "state.vscdb", messages=False) for c in r.conversations]
    assert {c.body for c in found} == {"unread"}
    assert {c.stamp for c in found} == {None}
    assert not any(c.messages for c in found if c.id == "text")


def test_heads_alone_say_nothing_of_bubbles_that_were_not_looked_for(tmp_path: Path) -> None:
    listed = {"composerId": "c", "fullConversationHeadersOnly": [{"bubbleId": "b"}, {"bubbleId": "gone"}]}
    emptied = {"composerId": "d", "fullConversationHeadersOnly": []}
    bubble = Json({"type": 1, "text": "x"})
    rows: Rows = [("cursorDiskKV", "composerData:c", Json(listed)), ("cursorDiskKV", "bubbleId:c:b", bubble)]
    rows += [("cursorDiskKV", "composerData:d", Json(emptied)), ("cursorDiskKV", "bubbleId:d:b", bubble)]
    write(tmp_path / "state.vscdb", rows)
    heads = list(convparse.iter_conversations(tmp_path / "state.vscdb", messages=False))
    assert [[entry.key for entry in c.entries] for r in heads for c in r.conversations] == [
        ["c:composerData:1"],
        ["d:composerData:1"],
    ]
    assert not any(r.dropped for r in heads)
    assert {d.code for d in convparse.parse(tmp_path / "state.vscdb").dropped} == {"cursor/missing-bubble", "cursor/lost-order"}


def test_a_conversation_whose_rows_were_taken_away_is_named(tmp_path: Path) -> None:
    write(tmp_path / "state.vscdb", [("cursorDiskKV", "composerData:c", None)])
    result = convparse.parse(tmp_path / "state.vscdb", conversation_id="c")
    assert (result.conversations, [drop.code for drop in result.dropped]) == ((), ["null-value"])
    with pytest.raises(convparse.ConvparseError, match="it has: c"):
        convparse.parse(tmp_path / "state.vscdb", conversation_id="d")


def test_heads_are_of_all_that_have_rows_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "state.vscdb", EDITOR)
    whole = {c.id for r in convparse.iter_conversations(tmp_path / "state.vscdb") for c in r.conversations}
    heads = [c for r in convparse.iter_conversations(tmp_path / "state.vscdb", messages=False) for c in r.conversations]
    assert whole - {c.id for c in heads} == {"inside"}, "a sub-agent inside a message of its parent"
    (headless,) = (c for c in heads if c.id == "no-head")
    assert (headless.body, headless.entries) == ("unread", ())


def test_a_change_in_place_ends_the_iteration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    from convparse.reading import snapshot

    path = tmp_path / "state.vscdb"
    write(path, EDITOR)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setitem(snapshot.moments.__kwdefaults__, "in_place_over", 0)
    found = convparse.iter_conversations(path)
    first = next(found)
    assert first.snapshot is not None
    assert first.snapshot.method == "in-place"
    os.utime(path)
    with pytest.raises(convparse.SourceChanged, match="known"):
        list(found)


def test_another_source_is_told(tmp_path: Path) -> None:
    write(tmp_path / "state.vscdb", EDITOR[:4])
    with pytest.raises(convparse.ConvparseError, match="does not read it"):
        convparse.parse(tmp_path / "state.vscdb", "claude-code")
    write(tmp_path / "other.db", [], ())
    with pytest.raises(convparse.UnknownSource, match="SQLite"):
        convparse.parse(tmp_path / "other.db")
    with pytest.raises(convparse.UnknownSource):
        convparse.detect(tmp_path / "other.db")
    assert convparse.detect(tmp_path / "state.vscdb").variant == "editor"
    assert DDL["ItemTable"].startswith("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE")


def test_a_content_that_no_change_names_stands_alone() -> None:
    """Found by the search for inputs that break a law: such a row was read, and then in no bin of the account."""
    result = {"elsewhere": "composer.content.abc"}
    tool = {"tool": 15, "name": "edit_file_v2", "toolCallId": "c", "status": "completed", "result": dumps(result)}
    head = {"_v": 3, "composerId": "c", "fullConversationHeadersOnly": [{"bubbleId": "a", "type": 2}]}
    found = parse(
        [
            ("cursorDiskKV", "composerData:c", Json(head)),
            ("cursorDiskKV", "bubbleId:c:a", Json({"_v": 3, "type": 2, "text": "", "toolFormerData": tool})),
            ("cursorDiskKV", "composer.content.abc", b"x = 1\n"),
        ]
    )
    assert found.account.balanced
    assert [(e.kind, e.text) for e in found.loose if isinstance(e, convparse.Event)] == [("content", "x = 1\n")]
    assert (found.account.mapped.units, found.account.lost.units) == (3, 0)


def test_a_head_of_no_name_is_no_conversation() -> None:
    found = parse([("ItemTable", "composer.composerData", Json({"allComposers": [{"composerId": "", "name": "x"}]}))])
    assert (found.conversations, [entry.key for entry in found.loose]) == ((), [":composer.composerData:1"])


def test_a_sub_agent_may_be_called_like_its_parent(tmp_path: Path) -> None:
    (tmp_path / "id" / "subagents").mkdir(parents=True)
    for path in ("id.jsonl", "subagents/id.jsonl"):
        (tmp_path / "id" / path).write_bytes(jsonl(said("user", text("do it"))))
    first, second = convparse.parse(tmp_path / "id" / "id.jsonl").conversations
    assert [entry.key for entry in (*first.entries, *second.entries)] == ["id:user:1", "id:user:1#2"]
