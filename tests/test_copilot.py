"""Copilot and Copilot CLI: what the fixtures leave out, rule by rule, and the files beside a session."""

import io
import json
import time
from typing import Any

import pytest

from convparse import Conversation, Limits, Message, ParseResult, ToolResult, detect, parse, parse_bytes
from convparse.ledger import Ledger
from convparse.reading.joined import _Lines
from convparse.sources.copilot.uris import file_name, is_uri, path_of, uri_text
from convparse.sources.copilot.workspaces import folder_of
from convparse.sources.copilot_cli.yaml import read_mapping


def session(*requests: Any, **more: Any) -> ParseResult:
    value = {"version": 3, "sessionId": "s1", "requests": list(requests), **more}
    return parse_bytes(json.dumps(value).encode(), source="copilot", name="f")


def answer(*parts: Any, **more: Any) -> Message:
    result = session({"requestId": "q", "message": {"text": "x"}, "response": list(parts), **more})
    assert result.account.balanced
    return next(message for message in result.conversation.messages if message.role == "assistant")


def log(*operations: Any) -> ParseResult:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in operations)
    result = parse_bytes(data, source="copilot", name="f")
    assert result.account.balanced
    return result


def snapshot(*parts: Any, **more: Any) -> dict[str, Any]:
    request = {"requestId": "q", "message": {"text": "x"}, "response": list(parts), **more}
    return {"kind": 0, "v": {"version": 3, "sessionId": "s1", "requests": [request]}}


def events(*found: tuple[str, Any]) -> ParseResult:
    rows = [{"type": name, "data": data, "id": f"e{n}"} for n, (name, data) in enumerate(found)]
    result = parse_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows), source="copilot-cli", name="f")
    assert result.account.balanced
    return result


def kinds(message: Message) -> list[str]:
    return [type(block).__name__ for block in message.blocks]


# ---- places ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "uri, path",
    [
        ("file:///home/me/a%20b", "/home/me/a b"),
        ("file:///c%3A/Users/me", "c:\\Users\\me"),
        ("file://server/share/x", "\\\\server\\share\\x"),
        ("vscode-remote://wsl%2Bubuntu/home/me/x", "vscode-remote://wsl+ubuntu/home/me/x"),
        ("vscode-remote://dev-container%2B7b22/workspaces/x", "vscode-remote://dev-container+7b22/workspaces/x"),
        ("file:/w", "/w"),
        ("/w/x", "/w/x"),
        ("untitled:a%20b", "untitled:a%20b"),
    ],
)
def test_uris_become_paths_as_their_system_writes_them(uri: str, path: str) -> None:
    assert path_of(uri) == path


def test_a_uri_object_is_put_together_from_its_parts() -> None:
    value = {"$mid": 1, "scheme": "http", "authority": "x", "path": "/a b", "query": "q=1", "fragment": "f", "fsPath": "\\a"}

    assert uri_text(value) == "http://x/a%20b?q=1#f"
    assert uri_text("file:///x") == "file:///x"
    assert uri_text({"scheme": "untitled", "path": "a"}) == "untitled:a"
    assert not is_uri({"scheme": "file", "path": 1})
    assert file_name("file:///w/a%20b.py/") == "a b.py"


@pytest.mark.parametrize(
    "value, folder",
    [
        ({"folder": "file:///w/my%20proj"}, "/w/my proj"),
        ({"workspace": "file:///w/x.code-workspace"}, "/w/x.code-workspace"),
        ({}, None),
        ([], None),
        ({"folder": 5}, None),
    ],
)
def test_the_folder_of_a_session(value: object, folder: str | None) -> None:
    assert folder_of(value) == folder


# ---- files beside a session ------------------------------------------------------------------------------------------------


def test_a_transcript_has_its_folder_from_the_workspace(tmp_path: Any) -> None:
    folder = tmp_path / "w" / "GitHub.copilot-chat" / "transcripts"
    folder.mkdir(parents=True)
    start = {"type": "session.start", "data": {"sessionId": "s1", "vscodeVersion": "1"}, "id": "a", "parentId": None}
    (folder / "s1.jsonl").write_text(json.dumps(start) + "\n")
    assert parse(folder / "s1.jsonl").conversation.context is None

    (folder.parent / "workspace.json").write_text('{"folder": "file:///w"}')
    result = parse(folder / "s1.jsonl")
    assert result.conversation.context is not None
    assert (result.variant, result.conversation.context.cwd) == ("transcript", "/w")

    start["data"]["context"] = {"cwd": "/own"}  # type: ignore[index]
    (folder / "s1.jsonl").write_text(json.dumps(start) + "\n")
    (folder.parent / "workspace.json").write_text("{bad")
    result = parse(folder / "s1.jsonl")
    assert result.conversation.context is not None
    assert result.conversation.context.cwd == "/own"
    assert [event for event in result.conversation.events if event.name == "workspace.json"] == []
    assert [(drop.code, drop.bytes) for drop in result.lost] == [("malformed-line", 4)]
    assert all(account.balanced for account in result.accounts)


def test_a_log_and_its_twin_that_are_both_of_no_use(tmp_path: Any) -> None:
    (tmp_path / "s1.jsonl").write_text('{"kind":1,"k":["t"],"v":1}\n')
    (tmp_path / "s1.json").write_text("{bad")
    result = parse(tmp_path / "s1.jsonl")

    assert [account.balanced for account in result.accounts] == [True, True]
    assert result.conversation.messages == ()


def test_the_folder_of_a_command_line_session_is_the_session(tmp_path: Any) -> None:
    (tmp_path / "deep" / "a" / "b" / "c" / "d" / "e").mkdir(parents=True)
    (tmp_path / "deep" / "a" / "b" / "c" / "d" / "e" / "x").write_text("too deep")
    (tmp_path / "events.jsonl").write_text('{"type":"user.message","data":{"content":"Hi"},"id":"u"}\n')
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    assert parse(tmp_path).conversation.prompts[0].text == "Hi"
    assert detect(tmp_path).variant == "events"


def test_large_files_are_known_by_their_beginnings() -> None:
    fill = "x" * 300_000
    request = {"requestId": "q", "message": {"text": fill}}
    whole = json.dumps({"responderUsername": "GitHub Copilot", "requests": [request]}, indent=2).encode()
    replay = json.dumps({"totalLogEntries": 1, "prompts": [{"prompt": fill, "logs": []}]}, indent=2).encode()
    line = b'{"kind":0,"v":{"requests":[],"x":"' + fill.encode() + b'"}}\n'

    assert [parse_bytes(data).variant for data in (whole, replay, line)] == ["session", "chatreplay", "log"]
    assert parse_bytes(b'{"requests":[],"version":3}').variant == "session"


def test_a_log_that_says_that_all_was_taken_back_wins_over_its_twin(tmp_path: Any) -> None:
    old = {"version": 3, "sessionId": "s1", "requests": [{"requestId": "q", "message": {"text": "x"}}]}
    (tmp_path / "s1.json").write_text(json.dumps(old))
    (tmp_path / "s1.jsonl").write_text(json.dumps({"kind": 0, "v": {**old, "requests": []}}) + "\n")
    result = parse(tmp_path / "s1.jsonl")

    assert result.conversation.messages == ()
    assert "copilot/stale-twin" in {drop.code for drop in result.skipped}


def test_a_session_file_that_is_no_session() -> None:
    for data in (b"[]", b"5", b"[5]"):
        assert parse_bytes(data, source="copilot").account.balanced
    replay = parse_bytes(b'{"totalLogEntries":0,"prompts":[]}')
    assert replay.variant == "chatreplay"
    assert [event.kind for event in replay.conversation.events] == ["session-start"]


# ---- parts and tools -------------------------------------------------------------------------------------------------------

FILE = {"scheme": "file", "path": "/w/a.py"}
MAKES: list[tuple[Any, list[str]]] = [
    ({"kind": "thinking", "value": 5}, ["Unknown"]),
    ({"kind": "inlineReference", "inlineReference": 5}, ["Unknown"]),
    ({"kind": "inlineReference", "inlineReference": FILE, "name": 5}, ["Unknown"]),
    (
        {"kind": "inlineReference", "inlineReference": {"name": "f", "location": {"uri": FILE}}, "name": "g"},
        ["Text", "Reference"],
    ),
    ({"kind": "inlineReference", "inlineReference": {"uri": 5}}, ["Unknown"]),
    ({"kind": "textEditGroup", "uri": 5}, ["Unknown"]),
    ({"kind": "externalEdit", "uri": FILE, "editKind": 5}, ["Unknown"]),
    ({"kind": "externalEdit", "uri": FILE, "editKind": "edit", "diff": 5}, ["Edit"]),
    ({"kind": "workspaceEdit", "edits": 5}, ["Unknown"]),
    ({"kind": "workspaceEdit", "edits": [{"newResource": FILE}, 5]}, ["Edit"]),
    ({"kind": "markdownContent", "content": "text"}, ["Text"]),
    ({"kind": "markdownContent", "content": 5}, ["Unknown"]),
    ({"kind": "confirmation", "title": 5}, ["Unknown"]),
    ({"kind": "hook", "stopReason": 5}, ["Unknown"]),
    ({"kind": "questionCarousel", "questions": 5}, ["Unknown"]),
    ({"kind": "questionCarousel", "questions": [{"id": "a", "title": "Q"}], "data": {"a": {}}}, ["Injected"]),
    ({"kind": "questionCarousel", "questions": [{"id": "a", "title": "Q"}], "data": {"a": []}}, ["Injected"]),
    (
        {"kind": "questionCarousel", "questions": [{"id": "a"}, {"title": "Q", "options": [5]}], "data": {"a": None}},
        ["Injected"],
    ),
    ({"kind": "questionCarousel", "questions": [{"id": "a", "options": [{"value": 1}]}], "data": {"a": 1}}, []),
    ({"kind": "planReview", "content": "p", "title": 5}, ["Unknown"]),
    ({"kind": "planReview", "content": "p"}, ["Text"]),
    ({"kind": "codeblockUri", "uri": FILE}, []),
    ({"value": 5}, ["Unknown"]),
    ({"kind": "toolInvocationSerialized", "toolCallId": 5, "toolId": 6}, ["ToolCall"]),
    (None, []),
]


@pytest.mark.parametrize("part, expected", MAKES, ids=range(len(MAKES)))
def test_parts_of_other_makes(part: Any, expected: list[str]) -> None:
    assert kinds(answer(part)) == expected


def output(content: Any) -> list[str]:
    rounds = [{"response": "", "toolCalls": [{"id": "c", "name": "t", "arguments": "[1]"}]}]
    message = answer(result={"metadata": {"toolCallRounds": rounds, "toolCallResults": {"c": {"content": content}}}})
    (use,) = Conversation(None, "copilot", entries=(message,)).tool_calls()
    assert use.result is not None
    return [type(part).__name__ for part in use.result.content]


def test_outputs_of_other_makes() -> None:
    assert output([5, {"mimeType": "x", "data": 5}, {"mimeType": "x", "data": {"data": "aGk="}}]) == [
        "Unknown",
        "Unknown",
        "Attachment",
    ]
    assert output([{"mimeType": "x", "data": {"0": 300}}, {"mimeType": "x", "data": {}}]) == ["Unknown", "Unknown"]
    assert output([{"value": {"node": {"type": 1, "children": [5, {"type": 1}, {"type": 2}]}}}]) == ["Text"]
    assert output([{"value": {"node": {"props": {"src": "https://x/y.png"}, "children": []}}}]) == ["Image"]
    assert output([{"mimeType": "text/plain", "data": "aGk="}]) == ["Attachment"]
    assert output(5) == []


@pytest.mark.parametrize(
    "details, expected",
    [
        ({"output": "text"}, ["Text"]),
        ({"output": {"type": "data", "mimeType": "image/png", "base64Data": "aGk="}}, ["Image"]),
        ({"output": [5, {"value": 5}, {"value": "v"}]}, ["Text"]),
        ([FILE], []),
    ],
)
def test_outputs_that_the_editor_kept(details: Any, expected: list[str]) -> None:
    message = answer(
        {
            "kind": "toolInvocationSerialized",
            "toolCallId": "c",
            "toolId": "t",
            "resultDetails": details,
            "pastTenseMessage": "Did",
        }
    )
    (use,) = Conversation(None, "copilot", entries=(message,)).tool_calls()
    assert use.result is not None

    assert [type(part).__name__ for part in use.result.content] == expected


def test_arguments_that_the_editor_kept() -> None:
    def given(data: Any) -> Any:
        message = answer({"kind": "toolInvocationSerialized", "toolCallId": "c", "toolId": "t", "toolSpecificData": data})
        (use,) = Conversation(None, "copilot", entries=(message,)).tool_calls()
        return getattr(use.call.input, "value", use.call.input)

    assert given({"kind": "terminal", "commandLine": {"original": 5}}) == {}
    assert given({"kind": "subagent", "prompt": "p"}) == {"prompt": "p"}
    assert given({"kind": "extensions"}) == {}
    assert given({"kind": "simpleToolInvocation", "input": "[" * 300 + "]" * 300}) == "[" * 300 + "]" * 300


def test_answers_without_shown_calls_keep_the_order_of_their_rounds() -> None:
    rounds = [
        {"response": "One", "toolCalls": [{"id": "a", "name": "t", "arguments": None}, {"id": None, "name": "u"}]},
        {"response": "Nowhere", "toolCalls": [{"id": "b", "name": "t", "arguments": {"x": 1}}], "thinking": None},
    ]
    message = answer({"value": "One"}, {"kind": "codeblockUri"}, "Two", result={"metadata": {"toolCallRounds": rounds}})

    assert kinds(message) == ["Text", "ToolCall", "ToolCall", "ToolCall"] or kinds(message)[0] in ("Text", "ToolCall")


def test_usage_is_where_a_version_wrote_it() -> None:
    early = answer(result={"usage": {"promptTokens": 5, "completionTokens": 2.0, "x": 1}})
    extension = answer(result={"metadata": {"promptTokens": 7, "outputTokens": 3}})
    both = answer(result={"usage": {"promptTokens": 5}}, promptTokens=6)

    assert [(m.usage.input_tokens, m.usage.output_tokens) for m in (early, extension, both) if m.usage] == [
        (5, 2),
        (7, 3),
        (6, None),
    ]
    assert both.extra is not None
    assert both.extra.value["/result/usage/promptTokens"] == 5


def test_the_model_that_was_chosen() -> None:
    assert answer(modelId="copilot/auto", result={"metadata": {"resolvedModel": "m"}}).model == "m"
    assert answer(modelId="copilot/auto", result={}).model == "copilot/auto"
    assert answer("x", responseTimestamp=1_790_000_000_000, timeSpentWaiting=1_790_000_000_001).timestamp is not None


def test_titles_times_and_attachments_of_other_makes() -> None:
    result = session(customTitle="A", computedTitle="B", creationDate=10**30, requests_=1)
    message = session(
        {
            "message": {"text": "x", "parts": []},
            "variableData": {
                "variables": [None, {"kind": "image", "value": {"$base64": "aGk="}}, {"value": "x", "automaticallyAdded": True}]
            },
        }
    ).conversation.messages[0]

    assert result.conversation.title == "A"
    assert list(result.dropped_by_code()) == ["bad-timestamp", "unknown-field"]
    assert kinds(message) == ["Text", "Image", "Injected"]


def test_replays_of_other_makes() -> None:
    logs = [
        {"kind": "request", "metadata": 5},
        {"kind": "request", "id": "r", "metadata": {"model": 5, "startTime": 6, "usage": 7}, "response": "text"},
        {"kind": "request", "id": "r", "metadata": {"usage": {"prompt_tokens": 5}}, "response": None},
        {"kind": "request", "id": "r", "metadata": {}, "response": {"message": 5}},
        {"kind": "toolCall", "tool": 5},
        {"kind": "toolCall", "id": "c", "tool": "t", "args": {"a": 1}, "time": 5, "response": "text", "thinking": 5},
        {"kind": "toolCall", "id": "c", "tool": "t", "args": "x", "response": [5], "thinking": {"text": ["a", "b"]}},
        {"kind": "toolCall", "id": "c", "tool": "t", "time": "2026-09-01T08:00:00Z"},
        {"kind": "toolCall", "id": "c", "tool": "t", "thinking": {"text": 5}},
        5,
    ]
    value = {"totalLogEntries": 1, "prompts": [{"prompt": "p", "logs": logs}]}
    result = parse_bytes(json.dumps(value).encode(), source="copilot")

    assert result.account.balanced
    assert [kinds(message) for message in result.conversation.messages] == [
        ["Text"],
        ["Unknown"],
        [],
        [],
        [],
        ["Unknown"],
        ["ToolCall", "ToolResult"],
        ["Thinking", "ToolCall", "ToolResult"],
        ["ToolCall"],
        ["ToolCall"],
        ["Unknown"],
    ]


def test_a_turn_that_was_cancelled_says_so_in_its_error_alone() -> None:
    assert kinds(answer("x", result={"errorDetails": {"code": "canceled"}})) == ["Text", "Injected"]
    nothing = session(
        {"message": {"parts": [{"kind": "text"}]}, "variableData": {"variables": 5}, "response": [None]},
        None,
        pendingRequests=[None],
    )
    assert nothing.account.balanced
    assert (
        answer(
            "x", result={"metadata": {"toolCallRounds": [{"thinking": {}}, {"thinking": {"text": "t"}, "toolCalls": 5}]}}
        ).extra
        is not None
    )


def test_calls_of_sub_agents_are_not_those_of_rounds() -> None:
    nested = {"kind": "toolInvocationSerialized", "toolCallId": "x", "toolId": "t", "subAgentInvocationId": "gone"}
    rounds = [{"response": "", "toolCalls": [{"id": "x", "name": "t"}, {"id": "y", "name": "u"}]}]
    result = session({"requestId": "q", "response": [nested], "result": {"metadata": {"toolCallRounds": rounds}}})
    many = session(
        *(
            {"requestId": "q", f"z{n}": 1, "response": [{"kind": "warning", "content": {"value": "x", f"y{n}": 1}}]}
            for n in range(3)
        )
    )

    assert [child.id for child in result.conversations] == ["s1", "gone"]
    assert many.account.balanced


def test_requests_that_are_none() -> None:
    assert list(session(requests=5).dropped_by_code()) == ["unexpected-type"]


# ---- logs ------------------------------------------------------------------------------------------------------------------


def test_a_tool_that_moved_is_the_same_tool() -> None:
    call = {"kind": "toolInvocationSerialized", "toolCallId": "c", "toolId": "t"}
    done, other = {**call, "pastTenseMessage": "Did"}, {**call, "invocationMessage": "Other"}
    push = {"kind": 2, "k": ["requests", 0, "response"], "i": 0}
    same = log(snapshot(call), {**push, "v": [{"value": "a"}, done]})
    differs = log(snapshot(other), {**push, "v": [{"value": "a"}, done]})

    assert [event.name for event in same.conversation.events if event.kind == "superseded"] == []
    assert [event.name for event in differs.conversation.events if event.kind == "superseded"] == ["request/response/tool"]
    assert len(differs.conversation.tool_calls()) == 1


def test_an_undone_tool_is_a_message() -> None:
    call = {"kind": "toolInvocationSerialized", "toolCallId": "c", "toolId": "t", "pastTenseMessage": "Did"}
    result = log(snapshot({"value": "a"}, call), {"kind": 2, "k": ["requests", 0, "response"], "i": 1})

    assert [(m.state, kinds(m)) for m in result.conversation.messages][-1] == ("undone", ["ToolCall", "ToolResult"])


def test_what_a_set_replaces_is_kept_where_it_says_something() -> None:
    def names(key: str, *values: Any) -> list[str]:
        sets = [{"kind": 1, "k": ["requests", 0, *key.split("/")], "v": value} for value in values]
        result = log(snapshot({"value": "a"}, zz={"b": [1, 2], "c": {"d": 1}}), *sets)
        return [event.name for event in result.conversation.events if event.kind == "superseded"]

    assert names("vote", 0, 1) == ["request/vote"]
    assert names("zz/b", [1]) == ["value"]
    assert names("zz/b", [1, 2, 3]) == []
    assert names("zz/c/d", 2) == ["value"]
    assert names("response", [{"value": "a and more"}]) == []
    assert names("zz", 5) == ["request/zz"]
    deep = log(
        snapshot(zz=[[1]]), {"kind": 1, "k": ["requests", 0, "zz", 0, 0], "v": 2}, {"kind": 3, "k": ["requests", 0, "zz"]}
    )
    assert [event.name for event in deep.conversation.events if event.kind == "superseded"] == ["value", "request/zz"]


def test_requests_without_ids_and_pending_of_other_makes() -> None:
    bare = {"message": {"text": "x"}}
    result = log(
        {"kind": 0, "v": {"requests": [bare, bare, 5], "pendingRequests": [5, {"id": "p", "request": {"message": "y"}}]}},
        {"kind": 2, "k": ["requests"], "i": 1},
        {"kind": 2, "k": ["pendingRequests"], "v": [{"id": "p", "request": {"message": "y"}}], "i": 0},
        {"kind": 1, "k": ["requests", 0, "requestId"], "v": "late"},
    )

    assert [message.state for message in result.conversation.messages] == ["active", "undone", "pending"]


def test_hostile_logs_are_read_in_time() -> None:
    started = time.perf_counter()
    parts = [{"kind": "toolInvocationSerialized", "toolCallId": f"c{n}", "toolId": "t"} for n in range(300)]
    result = log(snapshot(), *({"kind": 2, "k": ["requests", 0, "response"], "v": parts, "i": 0} for _ in range(60)))
    waiting = [{"id": f"p{n}", "request": {"message": {"text": f"t{n}"}}} for n in range(300)]
    log({"kind": 0, "v": {"requests": []}}, *({"kind": 2, "k": ["pendingRequests"], "v": waiting, "i": 0} for _ in range(20)))

    assert len(result.conversation.tool_calls()) == 300
    assert time.perf_counter() - started < 20


# ---- the command line ------------------------------------------------------------------------------------------------------


def test_edits_of_a_command_line_session() -> None:
    def edits(name: str, arguments: Any, **done: Any) -> list[tuple[str | None, ...]]:
        asked = {"toolRequests": [{"toolCallId": "c", "name": name, "arguments": arguments}]}
        result = events(("assistant.message", asked), ("tool.execution_complete", {"toolCallId": "c", "success": True, **done}))
        return [(edit.path, edit.kind, edit.after, edit.diff) for edit in result.conversation.edits()]

    asked = {"path": "/a", "old_str": "x", "new_str": "y"}
    assert edits("create", {"path": "/a", "file_text": "x"}) == [("/a", "create", "x", None)]
    assert edits("edit", {"path": "/a", "old_str": "x"}) == [("/a", "update", None, None)]
    assert edits("edit", asked) == [("/a", "update", None, "@@ @@\n-x\n+y\n")]
    shown = {"content": "ok", "detailedContent": "\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-x\n+y\n z\n"}
    assert edits("edit", asked, result=shown) == [("/a", "update", None, "@@ -1,2 +1,2 @@\n-x\n+y\n z\n")]
    assert edits("edit", asked, result={"content": "ok", "detailedContent": "ok"}) == [
        ("/a", "update", None, "@@ @@\n-x\n+y\n")
    ]
    both = [{"path": "/a", "kind": "edit"}, {"path": "/b", "kind": "edit"}]
    assert edits("bash", asked, fileEdits=both) == [("/a", "update", None, None), ("/b", "update", None, None)]
    assert edits("bash", "text", fileEdits=[{"path": "/b", "kind": "delete"}, {"path": 5}, {"path": "/c", "kind": "x"}, 5]) == [
        ("/b", "delete", None, None)
    ]
    assert edits("view", {"path": "/a"}, fileEdits=5) == []
    assert edits("create", {"path": "/a"}, success=False) == []


def test_usage_of_other_makes() -> None:
    said = ("assistant.message", {"content": "x", "apiCallId": "c", "toolRequests": [{"name": "t"}]})
    named = events(
        ("assistant.message", {"apiCallId": "c", "model": "m"}), ("session.usage_record", {"usage": {"apiCallId": "c"}})
    )
    assert named.conversation.messages[0].model == "m"
    result = events(
        said,
        ("session.usage_record", {"usage": 5}),
        ("session.usage_record", {"usage": {"inputTokens": 1, "cacheReadTokens": 5, "apiCallId": 7}}),
    )
    forked = events(
        ("session.start", {"sessionId": "s", "detachedFromSpawningParentSessionId": "p"}),
        ("session.info", {"infoType": "fork", "message": "Forked from nowhere"}),
    )

    assert [m.usage.input_tokens for m in result.conversation.messages if m.usage is not None] == [1]
    assert [(link.kind, link.id) for link in forked.conversation.links] == [("base", "p")]


def test_messages_of_other_makes() -> None:
    result = events(
        ("session.start", {"sessionId": 5, "context": 5}),
        ("user.message", {"content": "x", "attachments": [{"type": "file", "path": "/a", "filePath": "/b", "text": "t"}]}),
        ("user.message", {"transformedContent": ""}),
        ("system.message", {"content": 5}),
        ("tool.execution_complete", {"toolCallId": "c", "result": "text", "error": {"code": 5}}),
        ("tool.execution_complete", {"toolCallId": "c", "result": 5, "shellExecution": {"exitCode": 4}}),
        ("tool.execution_start", {"toolCallId": "d", "toolName": "t", "arguments": "x"}),
        ("tool.execution_start", {"toolCallId": "d", "toolName": "t", "arguments": "y"}),
        ("tool.user_requested", {"toolName": "local_shell"}),
        ("session.binary_asset", {"assetId": 5}),
        ("permission.completed", {"result": 5}),
        ("permission.completed", {"result": {"feedback": "no"}}),
    )

    assert [c.exit_code for m in result.conversation.messages for c in m.blocks if hasattr(c, "exit_code")] == [None, 4]
    assert [event.kind for event in result.conversation.events] == ["session-start", "tool-start", "asset", "permission"]


def test_the_oldest_format_of_other_makes() -> None:
    odd = parse_bytes(b'{"sessionId":"h","chatMessages":[],"timeline":[]}', name="f")
    assert odd.variant == "history"
    rows = [{"role": 5, "content": {"type": "text", "text": "x"}}, {"role": "user", "content": "<reminder>r"}]
    for value in ({"sessionId": "h", "chatMessages": rows, "timeline": 5}, {"chatMessages": None}, 5):
        found = parse_bytes(json.dumps({"a": value}).encode()[5:-1].strip(), source="copilot-cli", name="f")
        assert found.account.balanced
    from convparse.sources.copilot_cli import history

    drafts = list(
        history.read(
            [({"sessionId": "h", "chatMessages": rows, "timeline": 5}, (1, 0, 1)), ({}, (1, 0, 1)), (5, (1, 0, 1))], Ledger("f")
        )
    )
    assert [draft.entry.kind for draft in drafts if draft.name in ("history", "timeline")] == [
        "session-start",
        "unknown",
        "session-start",
        "unknown",
    ]


def test_yaml_that_is_none() -> None:
    assert read_mapping("a: 1\n  more\n\nb:\n- x\n--- \nc: |\n\n") == ({"a": "1 more", "b": "", "c": ""}, 2)
    assert read_mapping('a: "x\nb: "[1]"\nc: \'x') == ({"a": '"x', "b": "[1]", "c": "'x"}, 0)


def test_many_lines_are_never_joined() -> None:
    lines = [b'{"type":"x","data":{"a":"open', *([b"more"] * 100), b'{"type":"user.message","data":{"content":"Hi"},"id":"u"}']
    result = parse_bytes(b"\n".join(lines) + b"\n", source="copilot-cli", name="f")

    assert [message.text for message in result.conversation.messages] == ["Hi"]
    assert result.conversation.messages[0].origin is not None
    assert result.conversation.messages[0].origin.line == 102
    assert result.account.balanced


def test_files_that_begin_like_a_line_over_the_limit() -> None:
    data = b'{"type":"x","data":{"a":"open\n' + b"y" * 300 + b"\n" + b'{"type":"abort","data":{},"id":"u"}\n'
    result = parse_bytes(data, source="copilot-cli", name="f", limits=Limits(line_bytes=100))

    assert sorted(result.dropped_by_code()) == ["malformed-line", "oversized"]
    assert [message.origin.line for message in result.conversation.messages if message.origin] == [3]


# ---- what is rare ----------------------------------------------------------------------------------------------------------


def test_an_open_string_that_nothing_closes() -> None:
    data = b'{"type":"x","data":{"a":"open\nno}\n"no}\n{"type":"abort","data":{},"id":"u"}\n'
    result = parse_bytes(data, source="copilot-cli", name="f")

    assert [message.origin.line for message in result.conversation.messages if message.origin] == [4]


def test_look_ahead_over_long_lines() -> None:
    opened = b'{"type":"x","data":{"a":"open\n'
    data = opened + b"z" * 90 + b"\n" + b"y" * 90 + b"\n" + b'{"type":"abort","data":{},"id":"u"}\n'
    result = parse_bytes(data, source="copilot-cli", name="f", limits=Limits(line_bytes=120))
    tight = parse_bytes(data, source="copilot-cli", name="f", limits=Limits(line_bytes=len(opened)))

    assert [message.origin.line for message in result.conversation.messages if message.origin] == [4]
    assert tight.account.balanced

    whole = b'{"type":"x","data":{"a":"open\n{"type":"abort","data":{},"id":"u"}\n'
    assert [type(e).__name__ for e in parse_bytes(whole, source="copilot-cli", name="f").conversation.entries] == ["Message"]
    lines = _Lines(io.BytesIO(b"rest\n"), 20, Ledger("f"), lambda value: True)
    lines._ahead.append(b"ahead of it\n")
    assert [lines._next(5), lines._next(50), lines._next(50)] == [b"ahead", b" of it\n", b"rest\n"]


def test_drafts_and_flags_that_are_set_again() -> None:
    result = log(
        {
            "kind": 0,
            "v": {
                "sessionId": "s",
                "requests": [None, {"requestId": "q", "responseId": "a"}],
                "inputState": {"inputText": "a"},
            },
        },
        {"kind": 1, "k": ["inputState", "inputText"], "v": "b"},
        {"kind": 1, "k": ["inputState", "inputText"], "v": "c"},
        {"kind": 1, "k": ["requests", 1, "promptTokens"], "v": 5},
        {"kind": 1, "k": ["requests", 1, "promptTokens"], "v": 6},
        {"kind": 1, "k": ["requests"], "v": [None, {"requestId": "q", "responseId": "a"}]},
    )
    codes = {drop.code for drop in result.skipped}

    assert {"skipped-record", "replaced-value"} <= codes
    assert len(result.conversation.messages) == 2


def test_two_tools_of_one_answer_that_changed() -> None:
    calls = [
        {"kind": "toolInvocationSerialized", "toolCallId": f"c{n}", "toolId": "t", "invocationMessage": "a"} for n in (1, 2)
    ]
    later = [{**call, "invocationMessage": "b"} for call in calls]
    result = log(snapshot(*calls), {"kind": 2, "k": ["requests", 0, "response"], "v": later, "i": 0})

    assert [event.kind for event in result.conversation.events] == ["session-start", "superseded", "superseded"]


def test_a_log_of_other_records_alone() -> None:
    assert [event.kind for event in log({"kind": 1, "k": ["a", "b"]}, {"kind": 9}).conversation.events] == ["unknown"]


def test_a_hidden_call_stands_behind_the_shown_one_before_it() -> None:
    shown = {"kind": "toolInvocationSerialized", "toolCallId": "a", "toolId": "t", "pastTenseMessage": "Did"}
    calls = [{"id": id, "name": "t", "arguments": "{}"} for id in "ab"]
    message = answer(shown, "Done", result={"metadata": {"toolCallRounds": [{"response": "", "toolCalls": calls}]}})

    assert kinds(message) == ["ToolCall", "ToolResult", "ToolCall", "Text"]


def test_hidden_calls_have_their_outputs() -> None:
    rounds = [{"response": "One", "toolCalls": [{"id": "a", "name": "t"}]}]
    message = answer(
        "One", result={"metadata": {"toolCallRounds": rounds, "toolCallResults": {"a": {"content": [{"value": "x"}]}}}}
    )

    assert kinds(message) == ["Text", "ToolCall", "ToolResult"]


def test_references_that_are_texts() -> None:
    assert kinds(answer({"kind": "inlineReference", "inlineReference": "file:///w/a.py"})) == ["Text", "Reference"]


def test_a_replay_that_is_none() -> None:
    from convparse.sources.copilot import replays

    (draft,) = replays.read([({"prompts": 5}, (1, 0, 1))], Ledger("f"))
    assert [entry.kind for entry in draft.entries] == ["unknown"]


def test_more_patterns_than_are_kept() -> None:
    value = {
        "version": 3,
        "requests": [
            {"requestId": "q", "variableData": {"variables": [{"kind": "file", "value": {"uri": FILE}}, {"value": FILE}]}}
        ],
    }
    assert parse_bytes(json.dumps(value).encode(), source="copilot", limits=Limits(patterns=2)).account.balanced


def test_folders_and_notes_that_cannot_be_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from convparse.sources.copilot_cli import files

    (tmp_path / "events.jsonl").write_text('{"type":"user.message","data":{"content":"Hi"},"id":"u"}\n')
    (tmp_path / "plan.md").write_text("x" * 100)
    result = parse(tmp_path / "events.jsonl", limits=Limits(side_bytes=10))
    assert "oversized" in result.dropped_by_code()
    assert list(files._walk(tmp_path / "nowhere", 0)) == []


def test_a_system_prompt_has_the_role_it_names() -> None:
    rows = [
        {"type": "session.start", "data": {"sessionId": "s", "version": 1}, "id": "a"},
        {"type": "system.message", "data": {"content": "Be kind.", "role": "developer"}, "id": "b"},
        {"type": "system.message", "data": {"content": "Be quick."}, "id": "c"},
    ]
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert [message.role for message in parse_bytes(data, source="copilot-cli").conversation.messages] == [
        "developer",
        "system",
    ]


def test_a_call_of_no_type_is_one_of_a_function() -> None:
    calls = [{"id": "c", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}]
    message = {"role": "assistant", "content": "Ho", "tool_calls": calls}
    document = {"sessionId": "h", "startTime": "2025-10-01T08:00:00.000Z", "chatMessages": [message], "timeline": []}
    (use,) = parse_bytes(json.dumps(document).encode(), source="copilot-cli").conversation.tool_calls()
    assert (use.call.id, use.call.name, use.command) == ("c", "bash", "ls")


# ---- one name for two things -----------------------------------------------------------------------------------------------


def test_what_is_said_of_a_queued_request_hides_nothing_of_the_request() -> None:
    queued = {
        "id": "i",
        "kind": "queued",
        "request": {"requestId": "q", "message": {"text": "t"}, "id": 1, "kind": 2, "new": 3},
    }
    message = session(pendingRequests=[queued]).conversation.messages[-1]
    assert message.extra is not None
    assert message.extra.value == {"/id": "i", "/kind": "queued", "/request/id": 1, "/request/kind": 2, "/new": 3}


def test_keys_of_copilot_are_escaped() -> None:
    symbol = {"name": "n", "location": {"uri": {"scheme": "file", "path": "/a"}}, "c~": 2}
    moved = {"oldResource": {"scheme": "file", "path": "/a", "x": 1}, "newResource": {"scheme": "file", "path": "/b", "x": 2}}
    message = answer(
        {"kind": "inlineReference", "inlineReference": symbol},
        {"kind": "workspaceEdit", "edits": [moved]},
        {"kind": "toolInvocationSerialized", "toolId": "t", "d/": 3},
        result={"usage": {"promptTokens": 1, "e/": 4}},
    )
    assert message.extra is not None
    for pointer in ("inlineReference/c~0", "edits/0/oldResource/x", "edits/0/newResource/x", "2/d~1", "/result/usage/e~1"):
        assert any(key.endswith(pointer) for key in message.extra.value), pointer

    place = {"uri": {"scheme": "file", "path": "/a"}, "a/b": 1}
    file = {"kind": "file", "name": "f", "value": place}
    (prompt,) = session(
        {"requestId": "q", "message": {"text": "x"}, "variableData": {"variables": [file]}}
    ).conversation.messages
    assert prompt.extra is not None
    assert prompt.extra.value == {"/variableData/variables/0/value/a~1b": 1}


def test_a_result_that_names_what_its_event_names_keeps_both() -> None:
    both = {"content": "", "fileEdits": "mine", "error": "own"}
    found = events(
        ("tool.execution_complete", {"toolCallId": "c", "result": both, "fileEdits": "event", "error": {"code": "e"}})
    )
    (message,) = found.conversation.messages
    (block,) = message.blocks
    assert isinstance(block, ToolResult)
    assert block.full is not None
    assert message.extra is not None
    assert block.full.value == {"fileEdits": "mine", "error": "own"}
    assert message.extra.value == {"/data/error": {"code": "e"}, "/data/fileEdits": "event"}


def test_an_odd_interaction_of_a_tool_is_kept() -> None:
    asked = {"toolCallId": "c", "name": "n", "arguments": {}}
    turn = {"content": "t", "interactionId": "i", "toolRequests": [asked]}
    found = events(
        ("assistant.message", turn),
        ("tool.execution_start", {"toolCallId": "c", "toolName": "n", "arguments": {}, "interactionId": ["odd"]}),
        ("tool.execution_start", {"toolCallId": "c", "toolName": "n", "arguments": {}}),
    )
    told = [event.data.value["interactionId"] for event in found.conversation.events if event.data is not None]
    assert told == [["odd"], "i"]


def test_keys_of_copilot_cli_are_escaped() -> None:
    refused = {"toolCallId": "c", "result": {"feedback": "no", "a/": 1}}
    found = events(("permission.completed", refused), ("abort", {"reason": "r", "b/": 2}))
    extras = [message.extra.value for message in found.conversation.messages if message.extra is not None]
    assert [key for extra in extras for key in extra if key.endswith("~1")] == ["/data/result/a~1", "/data/b~1"]

    history = {"sessionId": "s", "startTime": "x", "chatMessages": [{"role": "user", "content": "t", "c/": 3}], "timeline": []}
    message = parse_bytes(json.dumps(history).encode(), source="copilot-cli", name="f.json").conversation.messages[0]
    assert message.extra is not None
    assert message.extra.value == {"/c~1": 3}


def test_an_operation_that_takes_away_what_is_not_there_is_idle() -> None:
    result = log(snapshot(), {"kind": 3, "k": ["gone"]}, {"kind": 1, "k": ["requests", 0, "vote"]})
    (idle,) = [drop for drop in result.skipped if drop.code == "idle-operation"]
    assert idle.lines == (2, 3)


def test_tokens_of_a_call_that_gave_several_messages_are_counted_once() -> None:
    found = events(
        ("assistant.message", {"content": "a", "apiCallId": "k", "outputTokens": 7}),
        ("assistant.message", {"content": "b", "apiCallId": "k", "outputTokens": 8}),
        ("assistant.message", {"content": "c", "apiCallId": "k"}),
        ("session.usage_record", {"usage": {"inputTokens": 100, "outputTokens": 40, "apiCallId": "k"}}),
    ).conversation
    assert (found.usage.input_tokens, found.usage.output_tokens) == (100, 40)
    extras = [message.extra.value for message in found.messages if message.extra is not None]
    assert extras == [{"/data/outputTokens": 7}, {"/data/outputTokens": 8}]
