"""The reference rules: what ChatCrystal's parsers give, made from results; and everything that they leave out, with its reason.

``fixtures/chatcrystal`` has one case for each source with all its rules, and what must come of it, written by hand: a row
``[id, parent, role, content, marks, thinking, time, key]`` for each message, a line ``CODE WHAT KEY BLOCK`` for each thing left
out. The tests below are of what only odd files have.
"""

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from benchmarks import reference
from tests.databases import Json, Rows, connected

import convparse
from convparse import ConvparseError, Drop, Event, Origin, SourceChanged
from convparse.compat import chatcrystal
from convparse.compat.chatcrystal import CODES, LeftOut, Projection, account, javascript, units
from convparse.reading import snapshot

FIXTURES: Final = Path(__file__).parent / "fixtures"
HERE: Final = FIXTURES / "chatcrystal"
FILES: Final = ("claude_code.jsonl", "codex.jsonl", "copilot.json", "copilot_log.jsonl")
DATABASES: Final = ("cursor", "trae")
SESSION: Final = "67f0c0de00a1b2c3d4e5f60"
THREAD: Final = "11111111-2222-4333-8444-555555555555"
STORAGE: Final = "memento/icube-ai-agent-storage"
ABOUT: Final = frozenset(
    f"chatcrystal/{name}" for name in "no-field as-active as-main as-user reordered no-time made-time".split()
)
"""Codes about a message that is there; all others are about an entry or a block that is not."""


def built(folder: Path, rows: Rows, workspace: str | None = '{"folder":"file:///w/my%20proj"}') -> Path:
    """A database of these rows in a workspace's folder."""
    path = folder / "state.vscdb"
    connected(rows, path=str(path)).close()
    if workspace is not None:
        (folder / "workspace.json").write_text(workspace)
    return path


def fixture(name: str, folder: Path) -> convparse.ParseResult:
    if name in FILES:
        return convparse.parse(HERE / name)
    rows = json.loads((HERE / f"{name}.rows.json").read_bytes())
    return convparse.parse(built(folder, [(t, key, value if value is None else Json(value)) for t, key, value in rows]), name)


def short(key: str) -> str:
    """A key without what all keys of a file have."""
    return key.replace(f"{THREAD}:", "@").replace(SESSION, "")


def shown(projection: Projection) -> dict[str, Any]:
    """A projection as the fixtures have it."""
    return {
        "conversations": [
            [
                talk.id,
                talk.slug,
                talk.cwd,
                talk.git_branch,
                [[m.id, m.parent, m.role, m.content, marks(m), m.thinking, m.timestamp, short(m.key)] for m in talk.messages],
            ]
            for talk in projection.conversations
        ],
        "left_out": left(projection),
    }


def marks(message: chatcrystal.ReferenceMessage) -> str:
    return " ".join(word for word, there in (("tool", message.has_tool_use), ("code", message.has_code)) if there)


def left(projection: Projection) -> list[str]:
    lines = []
    for item in projection.left_out:
        parts = (item.code.removeprefix("chatcrystal/"), item.what, short(item.key), item.block)
        lines.append(" ".join(str(part) for part in parts if part is not None))
    return lines


@pytest.mark.parametrize("name", [*FILES, *DATABASES])
def test_a_fixture_gives_what_is_written_beside_it(name: str, tmp_path: Path) -> None:
    expected = json.loads((HERE / f"{Path(name).stem}.expected.json").read_bytes())

    projection = chatcrystal.project(fixture(name, tmp_path))

    assert shown(projection) == expected
    assert all(message.type == message.role for message in projection.messages)


# ---- the account -----------------------------------------------------------------------------------------------------------


def check_account(result: convparse.ParseResult, data: bytes | None = None) -> Projection:
    """Every block and every event is word for word in a message, or listed once; every message says which one of ours it is."""
    projection = chatcrystal.project(result, data)
    listed = Counter((item.key, item.block) for item in projection.left_out if item.code not in ABOUT)
    assert set(listed.values()) <= {1}
    said = {message.key for message in projection.messages}
    whole = "\n".join(message.content for message in projection.messages)
    thought = "\n".join(message.thinking or "" for message in projection.messages)
    for entry in units.every(result):
        if isinstance(entry, Event) or not entry.blocks:
            assert ((entry.key, None) in listed) != (entry.key in said), entry.key
            continue
        for number, block in enumerate(entry.blocks):
            if (entry.key, number) not in listed:
                text = getattr(block, "text", "")
                assert javascript.trim(text) in whole or text in thought, (entry.key, number)
    assert said <= {entry.key for entry in units.every(result)}
    assert {item.code for item in projection.left_out} <= set(CODES)
    assert sum(drop.count for drop in projection.dropped) == len(projection.left_out)
    return projection


EVERY: Final = sorted(
    path
    for source in ("claude_code", "codex", "copilot", "copilot_cli", "cursor", "trae", "chatcrystal")
    for path in (FIXTURES / source).rglob("*")
    if path.is_file() and ".expected." not in path.name and path.suffix in (".jsonl", ".json", ".vscdb", ".db")
)


@pytest.mark.parametrize("batch", range(8))
def test_the_account_of_every_fixture_holds(batch: int) -> None:
    for path in EVERY[batch::8]:
        try:
            result = convparse.parse(path)
        except convparse.UnknownSource:
            continue
        check_account(result)


def test_a_projection_can_be_pickled_and_compared_and_shows_how_much_it_holds() -> None:
    projection = chatcrystal.project(convparse.parse(HERE / "codex.jsonl"))

    assert pickle.loads(pickle.dumps(projection)) == projection
    assert hash(projection) == hash(chatcrystal.project(convparse.parse(HERE / "codex.jsonl")))
    assert repr(projection) == "Projection(conversations=<1>, left_out=<22>)"


def test_drops_fold_what_has_the_same_reason_and_is_the_same_kind_of_thing() -> None:
    path = str(HERE / "codex.jsonl")
    drops = chatcrystal.project(convparse.parse(path)).dropped

    found = next(drop for drop in drops if (drop.code, drop.record) == ("chatcrystal/empty", "text"))
    assert found == Drop(
        "chatcrystal/empty",
        "lost",
        Origin(path, 18, 2705, 108),
        "text",
        count=2,
        lines=(18, 19),
        message="a message without text, reasoning and tool calls",
    )
    assert str(found) == "codex.jsonl:18: lost chatcrystal/empty: a message without text, reasoning and tool calls text (x2)"


def test_a_message_has_the_names_that_chatcrystal_gives() -> None:
    message = chatcrystal.project(convparse.parse(HERE / "claude_code.jsonl")).messages[1]

    assert message.as_dict() == {
        "id": "a1",
        "parentUuid": "u2",
        "type": "assistant",
        "role": "assistant",
        "content": "Look:\n```\nx\n```",
        "hasToolUse": True,
        "hasCode": True,
        "thinking": "Hm.",
        "timestamp": "2026-03-01T10:00:01.000Z",
    }


# ---- odd lines -------------------------------------------------------------------------------------------------------------


def row(kind: str, **more: Any) -> dict[str, Any]:
    """A row of Claude Code, long enough for its file to be read."""
    return {"type": kind, "uuid": "u1", "parentUuid": None, "sessionId": "s1", "cwd": "/some/where", "version": "2.1.2"} | more


def of_lines(source: str, *lines: Any) -> tuple[convparse.ParseResult, Projection]:
    """The projection of JSON lines that were given as bytes; a text is a line as it is."""
    texts = [line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines]
    data = "".join(f"{text}\n" for text in texts).encode()
    name = f"rollout-2026-03-01T10-00-00-{THREAD}.jsonl" if source == "codex" else "some.jsonl"
    result = convparse.parse_bytes(data, source=source, name=name)
    return result, chatcrystal.project(result, data)


def reasons(projection: Projection) -> set[str]:
    return {item.code.removeprefix("chatcrystal/") for item in projection.left_out if item.code not in ABOUT}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("claude-code", {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": "Hi"}}),
        ("codex", {"payload": {"type": "a"}, "type": "t"}),
        ("copilot", {"kind": 0, "v": {"version": 3, "requests": []}}),
    ],
)
def test_small_files_are_passed_over(source: str, line: Any) -> None:
    _, projection = of_lines(source, line)

    assert (projection.conversations, reasons(projection)) == ((), {"small-file"})


@pytest.mark.parametrize(
    "content",
    [{"type": "text"}, 7, [None], [{"type": "text", "text": 7}], [{"type": "text", "text": {"a": 1}}], True],
)
def test_claude_code_stops_at_content_it_cannot_walk(content: Any) -> None:
    _, projection = of_lines("claude-code", row("user", message={"role": "user", "content": content}))

    assert (projection.conversations, reasons(projection)) == ((), {"stopped"})


def test_claude_code_stops_at_a_line_that_is_null() -> None:
    _, projection = of_lines("claude-code", row("user", message={"role": "user", "content": "Hi"}), "null")

    assert (projection.conversations, reasons(projection)) == ((), {"stopped"})


def test_claude_code_takes_odd_values_as_words() -> None:
    content = [{"type": "thinking", "thinking": ["a", None, True, {"b": 1}]}, "a word", {"type": "text", "text": ""}]
    line = row("assistant", uuid=7, parentUuid=8, timestamp=9.5, message={"role": None, "content": content})

    _, projection = of_lines("claude-code", line)

    (message,) = projection.messages
    assert (message.id, message.parent, message.timestamp) == ("7", "8", 9.5)
    assert (message.role, message.thinking) == ("assistant", "a,,true,[object Object]")


@pytest.mark.parametrize("message", [None, "a word", {"role": "user"}, {"role": "user", "content": ""}])
def test_claude_code_passes_over_rows_that_say_nothing(message: Any) -> None:
    _, projection = of_lines("claude-code", row("user", message=message, gitBranch="a-long-name-of-a-branch"))

    assert [talk.messages for talk in projection.conversations] == [()]
    assert reasons(projection) == {"empty"}
    assert projection.conversations[0].git_branch == "a-long-name-of-a-branch"


def test_what_a_row_says_twice_is_there_twice_and_told_once() -> None:
    line = row("user", message={"role": "user", "content": "Again"})

    result, projection = of_lines("claude-code", line, line)

    assert len(result.conversation.messages) == 1
    assert [message.key for message in projection.messages] == ["u1", "u1"]


def test_a_summary_that_is_cut_is_named() -> None:
    text = "So far.<local-command-caveat>a < b</local-command-caveat> Then."
    _, projection = of_lines("claude-code", row("user", isCompactSummary=True, message={"role": "user", "content": text}))

    assert projection.messages[0].content == "So far. Then."
    assert left(projection) == ["altered-text compaction-summary u1", "as-user harness u1", "no-time time u1"]


@pytest.mark.parametrize("line", ['{"a":NaN}', '{"a":"\t"}', '\ufeff{"a":1}'])
def test_lines_that_are_no_plain_json_are_not_read(line: str) -> None:
    text = json.dumps(row("user", message={"role": "user", "content": "Hi"}))
    _, projection = of_lines("claude-code", line.replace("{", text[:-1] + ",", 1))

    assert reasons(projection) == {"unread-line"}


def codex(kind: str, payload: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "payload": payload} | more


def test_codex_without_a_header_is_called_by_its_name() -> None:
    _, projection = of_lines("codex", codex("event_msg", {"type": "user_message", "message": "Hi"}))

    (talk,) = projection.conversations
    assert (talk.id, talk.cwd, talk.git_branch, len(talk.messages)) == (THREAD, None, None, 1)


def test_codex_takes_the_last_header_even_of_another_thread() -> None:
    first = codex("session_meta", {"id": "a", "cwd": "/a", "git": {"branch": "x"}})
    second = codex("session_meta", {"id": "b", "cwd": None, "git": None})

    _, projection = of_lines("codex", first, second)

    (talk,) = projection.conversations
    assert (talk.id, talk.cwd, talk.git_branch) == ("b", "/a", "x")


def test_codex_passes_over_lines_without_a_payload_and_two_on_one_line() -> None:
    hello = codex("event_msg", {"type": "user_message", "message": "Hi"})

    _, projection = of_lines("codex", codex("event_msg", None), codex("event_msg", {"type": 7}), json.dumps(hello) * 2)

    assert projection.messages == ()
    assert reasons(projection) == {"not-a-message", "unread-line"}


def test_codex_compares_an_answer_with_the_last_one_alone() -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}, {"type": "refusal"}]}
    item = codex("response_item", said)

    _, projection = of_lines("codex", item, item, codex("event_msg", {"type": "agent_message", "message": "More."}), item)

    assert [message.content for message in projection.messages] == ["Done.", "More.", "Done."]
    assert [line for line in left(projection) if "no-field" not in line] == [
        "other-block unknown :message:1 1",
        "repeated-text text :message:2 0",
        "repeated-text unknown :message:2 1",
        "other-block unknown :message:3 1",
    ]


@pytest.mark.parametrize("kind", ["user_message", "agent_message"])
def test_codex_stops_at_a_text_that_is_none(kind: str) -> None:
    _, projection = of_lines("codex", codex("event_msg", {"type": kind, "message": ["a"]}))

    assert (projection.conversations, reasons(projection)) == ((), {"stopped"})


def test_codex_has_no_content_without_a_list() -> None:
    _, projection = of_lines("codex", codex("response_item", {"type": "message", "role": "assistant", "content": None}))

    assert reasons(projection) == {"empty"}


# ---- Copilot ---------------------------------------------------------------------------------------------------------------


def of_requests(tmp_path: Path, *requests: Any, name: str = "some.json", **more: Any) -> Projection:
    path = tmp_path / name
    session = {"version": 3, "responderUsername": "GitHub Copilot", "initialLocation": "panel", "requests": list(requests)}
    path.write_text(json.dumps(session | more))
    return check_account(convparse.parse(path, "copilot"))


def request(**more: Any) -> dict[str, Any]:
    return {"requestId": "q1", "timestamp": 1772359201000, "message": {"text": "Hi", "parts": []}, "response": []} | more


@pytest.mark.parametrize(
    "odd",
    [
        {key: value for key, value in request().items() if key != "timestamp"},
        request(timestamp="soon", message={}, response=[{"value": "So."}]),
        request(timestamp=1e18),
        request(message={"text": 7, "parts": []}),
        request(response=[None]),
        request(response=[{"value": 7}]),
        None,
    ],
)
def test_copilot_gives_an_empty_session_where_it_stops(tmp_path: Path, odd: Any) -> None:
    projection = of_requests(tmp_path, odd)

    (talk,) = projection.conversations
    assert (talk.id, talk.messages) == ("some", ())
    assert reasons(projection) <= {"stopped"}


def test_copilot_makes_ids_where_there_are_none(tmp_path: Path) -> None:
    said = [
        {"kind": "text", "value": "So."},
        {"kind": None, "value": "No kind."},
        "a word",
        {"kind": "thinking", "value": ["a", "b"]},
    ]

    projection = of_requests(
        tmp_path, request(requestId=None, response=said), request(requestId="q2", message="Old"), request(response={})
    )

    assert [(m.id, m.content, m.thinking) for m in projection.messages] == [
        ("user-1772359201000", "Hi", None),
        ("q1", "Hi", None),
        ("resp-1772359201000", "So.", "a,b"),
    ]
    assert "empty" in reasons(projection)


def test_copilot_takes_null_for_the_beginning_of_time(tmp_path: Path) -> None:
    projection = of_requests(tmp_path, request(timestamp=None, response=[{"value": ["a", "```"]}]))

    assert [(message.content, message.has_code, message.timestamp) for message in projection.messages] == [
        ("Hi", False, "1970-01-01T00:00:00.000Z"),
        ("a,```", True, "1970-01-01T00:00:00.001Z"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        {"kind": 1, "k": ["requests"], "v": []},
        {"kind": 0, "v": "no session"},
        {"kind": 0, "v": {"version": 3, "sessionId": "s1", "requests": []}},
        "no json",
    ],
)
def test_copilot_reads_nothing_behind_a_first_line_without_requests(tmp_path: Path, line: Any) -> None:
    later = {"kind": 2, "k": ["requests"], "v": [request(response=[{"value": "Yes."}])]}
    path = tmp_path / "some.jsonl"
    path.write_text("".join(f"{text if isinstance(text, str) else json.dumps(text)}\n" for text in (line, later)))

    projection = check_account(convparse.parse(path, "copilot"))

    (talk,) = projection.conversations
    assert (talk.id, talk.messages) == ("some", ())
    assert reasons(projection) == {"later-line"}


def test_copilot_gives_what_sub_agents_say_and_what_was_undone_as_the_answer(tmp_path: Path) -> None:
    call = {"kind": "toolInvocationSerialized", "toolId": "runSubagent", "toolCallId": "c1", "isComplete": True}
    call |= {"toolSpecificData": {"kind": "subagent", "prompt": "Look around."}}
    said = [
        call,
        {"value": "Inside.", "subAgentInvocationId": "c1"},
        {"kind": "undoStop", "id": "u1"},
        {"value": "Taken back."},
    ]
    removed = {"requestId": "q1", "afterUndoStop": "u1"}

    projection = of_requests(tmp_path, request(response=said, shouldBeRemovedOnSend=removed))

    assert projection.messages[1].content == "Inside.\nTaken back."
    found = left(projection)
    assert "not-a-message text q1/c1:task 0" in found
    assert "as-main sub-agent q1/c1:work" in found
    assert "as-active undone q1:response:undone" in found


# ---- databases -------------------------------------------------------------------------------------------------------------


def bubbles(*values: Any) -> Rows:
    """Bubbles of one conversation; what is no JSON value is stored as it is."""
    return [("cursorDiskKV", f"bubbleId:c1:b{n}", Json(v) if isinstance(v, dict | list) else v) for n, v in enumerate(values)]


def test_cursor_passes_over_bubbles_it_cannot_decode(tmp_path: Path) -> None:
    known = {"_v": 3, "type": 1, "text": "Hi"}
    path = built(tmp_path, bubbles(known, "no json", "", "[]", b'{"type":1,"text":"bytes"}', {"type": 1, "text": None}), None)

    projection = check_account(convparse.parse(path, "cursor"))

    assert [(message.id, message.content) for message in projection.messages] == [("b0", "Hi"), ("b5", "")]
    assert "unread-line" in reasons(projection)


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "null",
        {"type": 2, "text": 7},
        {"type": 2, "text": "Hi", "allThinkingBlocks": [None]},
        {"type": 2, "text": "Hi", "allThinkingBlocks": "a"},
    ],
)
def test_cursor_loses_a_conversation_where_it_stops(tmp_path: Path, odd: Any) -> None:
    path = built(tmp_path, bubbles({"_v": 3, "type": 1, "text": "Hi"}, odd), None)

    projection = check_account(convparse.parse(path, "cursor"))

    assert (projection.conversations, reasons(projection)) == ((), {"stopped"})


def test_cursor_takes_reasoning_of_any_kind(tmp_path: Path) -> None:
    said = {"_v": 3, "type": 2, "text": "Hi"}
    path = built(tmp_path, bubbles(said | {"thinking": 7}, said | {"thinking": []}, said | {"type": True, "thinking": 0}), None)

    projection = check_account(convparse.parse(path, "cursor"))

    assert [(message.type, message.thinking) for message in projection.messages] == [
        ("assistant", "7"),
        ("assistant", ""),
        ("assistant", None),
    ]


def test_one_conversation_at_a_time_gives_the_same(tmp_path: Path) -> None:
    whole = fixture("cursor", tmp_path)

    parts = [chatcrystal.project(part) for part in convparse.iter_conversations(whole.path, "cursor")]

    assert [m for part in parts for m in part.messages] == list(chatcrystal.project(whole).messages)


def sessions(*messages: Any, **more: Any) -> Rows:
    session = {"sessionId": f"{SESSION}1", "createdAt": 1743831262000, "messages": list(messages)} | more
    return [("ItemTable", STORAGE, Json({"list": [session]}))]


ASKED: Final = {"role": "user", "content": "Hi", "turnIndex": 0}


@pytest.mark.parametrize("workspace", [None, "no json", "null", '{"folder":7}'])
def test_trae_needs_a_workspace(tmp_path: Path, workspace: str | None) -> None:
    projection = check_account(convparse.parse(built(tmp_path, sessions(ASKED), workspace), "trae"))

    assert projection.conversations == ()
    assert "no-workspace" in reasons(projection)


@pytest.mark.parametrize(
    ("message", "more"),
    [
        (ASKED, {"createdAt": "soon"}),
        (ASKED | {"timestamp": "2026-03-01T10:00:00Z"}, {}),
        (ASKED | {"content": ["a"]}, {}),
        (None, {}),
        ({"role": "assistant", "content": "So.", "agentTaskContent": {"guideline": {"planItems": [None]}}}, {}),
        ({"role": "assistant", "content": "So.", "agentTaskContent": {"guideline": {"planItems": "odd"}}}, {}),
        ({"role": "assistant", "content": 0}, {}),
    ],
)
def test_trae_loses_a_conversation_where_it_stops(tmp_path: Path, message: Any, more: Any) -> None:
    projection = check_account(convparse.parse(built(tmp_path, sessions(message, **more)), "trae"))

    assert projection.conversations == ()
    assert "stopped" in reasons(projection)


def test_trae_takes_null_for_the_beginning_of_time(tmp_path: Path) -> None:
    rows = sessions(ASKED, {"role": "assistant", "content": None, "agentTaskContent": {"proposal": "So."}}, createdAt=None)

    projection = check_account(convparse.parse(built(tmp_path, rows), "trae"))

    assert [(message.id, message.content, message.timestamp) for message in projection.messages] == [
        (f"{SESSION}1-0", "Hi", "1970-01-01T00:00:00.000Z"),
        (f"{SESSION}1-undefined", "So.", "1970-01-01T00:00:00.001Z"),
    ]


def test_trae_loses_all_conversations_of_a_list_with_an_empty_place(tmp_path: Path) -> None:
    session = {"sessionId": f"{SESSION}1", "createdAt": 1743831262000, "messages": [ASKED]}
    rows: Rows = [("ItemTable", STORAGE, Json({"list": [session, None]}))]

    projection = check_account(convparse.parse(built(tmp_path, rows), "trae"))

    assert projection.conversations == ()
    assert "stopped" in reasons(projection)


def test_trae_reads_no_text_of_a_task_that_is_a_text(tmp_path: Path) -> None:
    task = {"role": "assistant", "content": "", "turnIndex": "odd", "agentTaskContent": '{"proposal":"Inside."}'}

    projection = check_account(convparse.parse(built(tmp_path, sessions(ASKED, task, "a word", session_id=1)), "trae"))

    assert [message.id for message in projection.messages] == [f"{SESSION}1-0"]
    assert {"no-text"} <= reasons(projection)


@pytest.mark.parametrize("value", ['{"list":7}', '"a word"', "no json", "null", None])
def test_trae_gives_nothing_where_there_is_no_list(tmp_path: Path, value: Any) -> None:
    projection = check_account(convparse.parse(built(tmp_path, [("ItemTable", STORAGE, value)]), "trae"))

    assert projection.conversations == ()


def test_trae_gives_nothing_where_the_key_is_not_there(tmp_path: Path) -> None:
    projection = check_account(convparse.parse(built(tmp_path, [("ItemTable", f"{STORAGE}-1", Json({"list": []}))]), "trae"))

    assert projection.conversations == ()


# ---- what can be read again ------------------------------------------------------------------------------------------------


def test_a_file_that_has_changed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes((HERE / "claude_code.jsonl").read_bytes())
    result = convparse.parse(path)
    path.write_bytes(b"{}\n")

    with pytest.raises(SourceChanged):
        chatcrystal.project(result)


def test_a_database_that_has_changed_is_not_read(tmp_path: Path) -> None:
    result = fixture("cursor", tmp_path)
    (tmp_path / "state.vscdb").unlink()
    built(tmp_path, bubbles({"type": 1, "text": "Other"}))

    with pytest.raises(SourceChanged, match="has changed"):
        chatcrystal.project(result)


def test_a_database_that_never_rests_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = fixture("cursor", tmp_path)
    monkeypatch.setattr(snapshot.Moment, "proved", lambda self: False)

    with pytest.raises(SourceChanged, match="written to"):
        chatcrystal.project(result)


@pytest.mark.parametrize("source", ["cursor", "trae"])
def test_a_database_that_cannot_be_read_gives_nothing(source: str, tmp_path: Path) -> None:
    path = built(tmp_path, [])
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4_000)

    assert chatcrystal.project(convparse.parse(path, source)).conversations == ()


def test_bytes_are_given_again(tmp_path: Path) -> None:
    path = HERE / "codex.jsonl"
    data = path.read_bytes()
    result = convparse.parse_bytes(data, name=str(path))

    assert chatcrystal.project(result, data) == chatcrystal.project(convparse.parse(path))
    with pytest.raises(ConvparseError):
        chatcrystal.project(result)
    stored = built(tmp_path, bubbles({"type": 1, "text": "Hi"})).read_bytes()
    with pytest.raises(ConvparseError, match="given as bytes"):
        chatcrystal.project(convparse.parse_bytes(stored, source="cursor"), stored)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("claude_code/agent_in_folder/s1.jsonl", "other-file"),
        ("claude_code/warm_up_agent/s1.jsonl", "other-conversation"),
        ("codex/forked/sessions/2026/03/02", "other-conversation"),
        ("copilot/twin_instead/s1.jsonl", "other-conversation"),
    ],
)
def test_what_stands_in_other_files_is_named(name: str, code: str) -> None:
    path = FIXTURES / name
    projection = check_account(convparse.parse(next(path.iterdir()) if path.is_dir() else path))

    elsewhere = {item.code for item in projection.left_out if item.origin and item.origin.path != str(path)}
    assert f"chatcrystal/{code}" in elsewhere


@pytest.mark.parametrize("name", ["copilot_cli/normal_text.jsonl", "codex/document.json"])
def test_other_formats_are_not_read(name: str) -> None:
    projection = check_account(convparse.parse(FIXTURES / name))

    assert projection.conversations == ()
    assert reasons(projection) == {"other-format"}


# ---- the page and its figures ---------------------------------------------------------------------------------------------


def test_the_page_has_a_line_for_every_code() -> None:
    page = (Path(__file__).parents[1] / "docs" / "chatcrystal.md").read_text("utf-8")
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `chatcrystal/")]

    assert [line for line in lines if line[1] in ("lost", "altered")] == [
        [f"`{code}`", told.fate, told.summary] for code, told in CODES.items()
    ]


def test_the_figures_count_what_is_told_of_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [HERE / "copilot_log.jsonl", FIXTURES / "codex" / "document.json", HERE / "cursor.rows.json", HERE / "codex.jsonl"]

    reference.main([str(path) for path in paths])

    told, reasons = capsys.readouterr().out.split("\n\n")
    assert told.splitlines() == [
        "|  | codex | copilot |",
        "| --- | ---: | ---: |",
        "| files | 1 | 1 |",
        "| messages of a person | 3 of 4 | 1 of 2 |",
        "| texts of a person or the model | 6 of 8 | 1 of 4 |",
        "| texts that the product put in | 0 of 4 |  |",
        "| reasoning | 0 of 2 |  |",
        "| tool calls | 0 of 2 |  |",
        "| results of tools | 0 of 1 |  |",
        "| answers, pictures, files, references, edits |  |  |",
        "| events | 0 of 1 | 0 of 1 |",
        "| token counts |  |  |",
        "| messages given a second time | 1 |  |",
    ]
    assert "| `chatcrystal/later-line` |  | 3 |" in reasons.splitlines()


def test_the_figures_count_what_stands_in_a_file_of_its_own_there(capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("warm_up_agent", "agent_in_folder"):
        reference.main([str(FIXTURES / "claude_code" / folder)])

    beside, inside = capsys.readouterr().out.split("|  | claude-code |\n| --- | ---: |\n| files |")[1:]
    assert beside.startswith(" 2 |\n")
    assert inside.startswith(" 1 |\n")


# ---- JavaScript ------------------------------------------------------------------------------------------------------------


def test_white_space_is_that_of_javascript() -> None:
    assert javascript.trim("\ufeff\u00a0\u2003 \t\n\u2028a b\u3000") == "a b"
    assert javascript.trim("\x1ca\x85") == "\x1ca\x85"


def test_what_is_no_time_keeps_its_place_and_the_clock_is_last() -> None:
    times = [None, "2026-03-01T10:00:02.000Z", "no time", "2026-03-01T10:00:01.000+00:00", 5]

    assert [javascript.milliseconds(time) for time in times[1::2]] == [1772359202000, 1772359201000]
    assert javascript.sort([t for t in times if t != "no time"], javascript.milliseconds) == [5, times[3], times[1], None]
    assert javascript.sort(["no time", "none"], javascript.milliseconds) == ["no time", "none"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "1970-01-01T00:00:00.000Z"), (-62135596800000, "0001-01-01T00:00:00.000Z"), (1.9, "1970-01-01T00:00:00.001Z")],
)
def test_milliseconds_as_text(value: float, text: str) -> None:
    assert javascript.iso(value) == text


def test_numbers_of_left_out_texts() -> None:
    edit = convparse.Edit("a.py", "update", diff="+x", after="abc")
    call = convparse.ToolCall("c", "shell", "execute", convparse.Json('{"a":1}'))

    assert [account.text_of(block) for block in (edit, call, convparse.Image())] == ["+x", '{"a":1}', ""]
    assert account.text_of(convparse.ToolCall("c", "patch", "edit", "free")) == "free"
    assert LeftOut("chatcrystal/empty", "text", "k") in {LeftOut("chatcrystal/empty", "text", "k")}
