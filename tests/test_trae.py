"""Trae, rule by rule: every store, and for every numbered item of what other readers lose a test that it is here."""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.build_trae import (
    CIPHER,
    CLI,
    EVENTS,
    FOLDER,
    MAIN,
    NG,
    OLD,
    PROFILE,
    PYTHON,
    RUNTIME,
    S1,
    S2,
    S3,
    S4,
    S5,
    S6,
    SPANS,
    STUB,
    TYPESCRIPT,
    T,
    agent,
    database,
    files,
    text,
    user,
)

import convparse
from convparse import (
    Attachment,
    Conversation,
    ConvparseError,
    Event,
    Image,
    Message,
    ParseResult,
    Reference,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
    UnknownSource,
    detect,
    discover,
    iter_conversations,
    parse,
    parse_bytes,
)
from convparse._places import TRAE_EDITOR
from convparse.reading.sqlite import Database
from convparse.sources.codex import fields as codex
from convparse.sources.trae import SOURCE
from convparse.sources.trae.editor import is_read
from convparse.sources.trae.times import id_time, read_time
from convparse.sources.trae.workspaces import local_path

MADE = datetime(2025, 4, 5, 5, 34, 22, tzinfo=UTC)
GLOBAL = "User/globalStorage/state.vscdb"
WORKSPACE = "User/workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb"


def read(rows: dict[str, Any], **options: Any) -> ParseResult:
    result = parse_bytes(database(rows), name="state.vscdb", **options)
    assert result.account.balanced
    return result


def session(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"sessionId": S1, "messages": list(messages), **more}


def talk(*messages: Any, **more: Any) -> Conversation:
    return listed(session(*messages, **more)).conversation


def listed(*sessions: Any) -> ParseResult:
    return read({MAIN: {"list": list(sessions)}})


def codes(result: ParseResult) -> set[str]:
    return {drop.code for drop in result.dropped}


def shapes(message: Message) -> list[tuple[str, str]]:
    return [(type(block).__name__, getattr(block, "text", getattr(block, "name", ""))) for block in message.blocks]


def extra(message: Message) -> dict[str, Any]:
    return {} if message.extra is None else {k.removeprefix("/list/0/messages/0"): v for k, v in message.extra.value.items()}


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    root = tmp_path / "Trae CN"
    for name, data in {**PROFILE, f"ModularData/ai-agent/snapshot/{S2}/v2/.git/HEAD": "ref: x\n"}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def test_the_fixtures_are_what_the_script_builds() -> None:
    found = {str(path.relative_to(FOLDER)): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}

    assert found.keys() == files().keys()
    for name, data in files().items():
        assert stored(found[name]) == stored(data), name


def stored(data: bytes) -> Any:
    """The rows of a database, whatever version of SQLite wrote it; of any other file the bytes."""
    if not data.startswith(b"SQLite format 3"):
        return data
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        return connection.execute("SELECT rowid, key, typeof(value), value FROM ItemTable ORDER BY rowid").fetchall()


# ---- what others lose (the numbers of the notes' section 12) ---------------------------------------------------------------


def test_loss_01_the_files_of_four_products_are_found(tmp_path: Path) -> None:
    assert TRAE_EDITOR.settings == ("Trae", "Trae CN", "TRAE SOLO", "TRAE SOLO CN")
    for product in TRAE_EDITOR.settings:
        path = tmp_path / product / "User" / "globalStorage" / "state.vscdb"
        path.parent.mkdir(parents=True)
        path.write_bytes(database(STUB))

    found = [Path(f.path).relative_to(tmp_path).parts[0] for f in discover([tmp_path / p for p in TRAE_EDITOR.settings])]
    assert set(found) == set(TRAE_EDITOR.settings)


def test_loss_02_the_global_database_is_read_without_a_workspace_json(profile: Path) -> None:
    result = parse(profile / GLOBAL)

    assert (result.source, result.variant) == ("trae", "editor")
    assert [c.id for c in result.conversations] == [S1, S3, S2, S4, S5]


def test_loss_03_older_lists_history_and_maps_are_read() -> None:
    result = parse(FOLDER / "inline" / "state.vscdb")

    assert [(c.id, c.title, c.body) for c in result.conversations] == [
        (S1, "Rename foo", "complete"),
        (S2, "Old chat", "complete"),
        (S3, None, "missing"),
        (S4, None, "missing"),
    ]
    prompts = [entry for entry in result.loose if isinstance(entry, Message)]
    assert [prompt.text for prompt in prompts] == ["Rename foo to bar", "see "]
    assert {(prompt.author, prompt.state) for prompt in prompts} == {("human", "orphan")}
    assert [e.text for e in result.conversations[2].events] == [None, "solo_coder"]


@pytest.mark.parametrize(
    "uri, path",
    [
        ("file:///home/u/proj%20x", "/home/u/proj x"),
        ("file:///d%3A/x", "d:/x"),
        ("file://server/share/x", "//server/share/x"),
        ("vscode-remote://wsl%2Bubuntu/home/u", "vscode-remote://wsl%2Bubuntu/home/u"),
        ("/plain", "/plain"),
        ("file://[", "file://["),
    ],
)
def test_loss_04_folders_keep_their_path(uri: str, path: str) -> None:
    assert local_path(uri) == path


@pytest.mark.parametrize(
    "value, cwd",
    [
        ('{"workspace":"file:///u/User/Workspaces/17/workspace.json"}', "/u/User/Workspaces/17/workspace.json"),
        ('{"folder":"file:///d%3A/x"}', "d:/x"),
        ('{"other":1}', None),
        ("[]", None),
    ],
)
def test_loss_04_a_workspace_of_several_folders_has_a_place_too(tmp_path: Path, value: str, cwd: str | None) -> None:
    (tmp_path / "state.vscdb").write_bytes(database({MAIN: {"list": [session()]}}))
    (tmp_path / "workspace.json").write_text(value)

    context = parse(tmp_path / "state.vscdb").conversation.context

    assert (context.cwd if context else None) == cwd


def test_loss_05_a_session_without_messages_is_there() -> None:
    result = listed(session())

    assert result.conversation.body == "missing"
    assert codes(result) == {"trae/missing-body"}


def test_loss_06_the_encrypted_store_is_named_and_says_where_the_bodies_are(profile: Path) -> None:
    result = parse(profile / GLOBAL)

    assert {c.body for c in result.conversations} == {"encrypted"}
    assert {"trae/encrypted-body", "trae/encrypted-store"} < codes(result)
    sizes = {Path(a.path).name: a.lost.bytes for a in result.accounts}
    assert sizes["database.db"] == len(CIPHER)
    assert all(account.balanced for account in result.accounts)


def test_loss_07_bad_bytes_and_bad_json_are_named_and_cost_only_their_row() -> None:
    bad = text({"list": [session(user(0, "u", "caf\u00e9"))]}).encode().replace(b"\xc3\xa9", b"\xe9")
    result = read({MAIN: bad, NG: '{"list":[', OLD: {"list": [{"sessionId": S2, "messages": [user(0, "m", "hi")]}]}})

    assert {"invalid-utf8", "malformed-value"} <= codes(result)
    assert [c.messages[0].text for c in result.conversations] == ["caf\ufffd", "hi"]


def test_loss_08_content_and_the_agent_task_both_stand() -> None:
    message = talk(agent(0, "a", {"proposal": "I will."}, content="Done.")).messages[0]

    assert shapes(message) == [("Text", "I will."), ("Text", "Done.")]


def test_loss_08_an_answer_that_stands_in_both_is_there_once() -> None:
    task = {"guideline": {"planItems": [{"toolName": "finish", "thought": "Done."}]}}

    assert talk(agent(0, "a", task, content="Done.")).messages[0].text == "Done."


def test_loss_09_every_step_gives_its_words_call_result_status_and_id() -> None:
    result = parse(FOLDER / "inline" / "state.vscdb", conversation_id=S1)
    message = result.conversation.messages[1]

    assert [kind for kind, _ in shapes(message)] == (
        "Thinking Text Text Thinking Text ToolCall ToolResult Text ToolCall ToolResult"
        " Text ToolCall Text ToolCall ToolResult Text"
    ).split()
    uses = result.conversation.tool_calls()
    assert [(use.call.id, use.call.name, use.call.kind, use.outcome) for use in uses] == [
        ("p1", "search_codebase", "search", "ok"),
        ("p2", "run_command", "execute", "error"),
        ("p3", "edit_file", "edit", "missing"),
        ("c4", "RunCommand", "execute", "interrupted"),
    ]
    assert [use.command for use in uses] == [None, "pytest -q", None, "ls"]
    assert uses[1].result
    assert (uses[1].result.text, uses[1].result.exit_code) == ("1 failed", 1)
    assert [drop.count for drop in result.dropped if drop.code == "missing-result"] == [1]
    assert result.conversation.turns()[0].answer == "Renamed foo to bar."


def test_loss_10_the_thought_of_a_guideline_stands_beside_its_steps() -> None:
    task = {"guideline": {"thought": "A plan.", "planItems": [{"thought": "One."}]}}

    assert talk(agent(0, "a", task)).messages[0].text == "A plan.\nOne."


def test_loss_11_every_role_and_a_turn_that_only_ran_tools_stand() -> None:
    tools = agent(0, "a", {"guideline": {"planItems": [{"id": "p", "toolName": "Read", "result": {}}]}})
    others = [{"role": role, "content": role} for role in ("system", "agent", "critic")]
    result = listed(session(tools, *others))

    messages = result.conversation.messages
    assert [(m.role, m.author) for m in messages] == [
        ("assistant", "model"),
        ("system", "harness"),
        ("agent", "model"),
        ("critic", None),
    ]
    assert messages[0].has_tool_use
    assert not messages[0].text
    assert "trae/unknown-role" in codes(result)


def test_loss_12_what_else_a_message_says() -> None:
    conversation = parse(FOLDER / "inline" / "state.vscdb", conversation_id=S1).conversation
    asked, answered = conversation.messages[2], conversation.messages[1]

    assert (answered.model, answered.stop_reason) == ("demo", "completed")
    assert extra(answered)["/list/0/messages/1/agentType"] == "builder"
    assert asked.blocks[1:] == (Reference("a.py", "/p/a.py"), Image(uri="r1"))
    assert conversation.updated_at == datetime(2025, 4, 5, 5, 35, 52, tzinfo=UTC)
    assert conversation.title == "Rename foo"


def test_loss_13_times_stand_as_they_were_recorded() -> None:
    messages = [user(0, "u", "a", timestamp=T), agent(0, "a", None, timestamp=T - 5), user(1, "v", "b", timestamp=0)]
    result = listed(session(*messages, createdAt=T // 1000))

    times = [(m.timestamp, m.timestamp_text) for m in result.conversation.messages]
    assert times[1] == (datetime(2025, 4, 5, 5, 34, 21, 995_000, UTC), None)
    assert times[2] == (None, "0")
    assert result.conversation.created_at == MADE
    assert {"trae/earlier-time", "bad-timestamp"} == codes(result)
    earlier = next(drop for drop in result.dropped if drop.code == "trae/earlier-time")
    assert earlier.origin.pointer == "/list/0/messages/1/timestamp"


def test_loss_13_a_session_without_a_time_has_the_one_in_its_id_derived() -> None:
    head = talk(user(0, "u", "a")).events[0]

    assert (head.timestamp, head.timestamp_origin) == (MADE, "derived")
    assert talk(user(0, "u", "a")).created_at is None


@pytest.mark.parametrize(
    "value, when, said",
    [
        (T, MADE, None),
        (T // 1000, MADE, "1743831262"),
        (str(T), MADE, str(T)),
        ("1743831262", MADE, "1743831262"),
        ("1743831262.25", MADE.replace(microsecond=250_000), "1743831262.25"),
        (1743831262.5, MADE.replace(microsecond=500_000), "1743831262.5"),
        (T * 1000, MADE, None),
        ("2025-04-05T05:34:22Z", MADE, "2025-04-05T05:34:22Z"),
        ("2025-04-05T13:34:22", None, "2025-04-05T13:34:22"),
        (0, None, "0"),
        (-1, None, "-1"),
        (10**20, None, "100000000000000000000"),
        ("soon", None, "soon"),
    ],
)
def test_loss_13_no_time_lands_in_1970(value: Any, when: datetime | None, said: str | None) -> None:
    assert read_time(value) == (when, "recorded" if when else None, said)


@pytest.mark.parametrize("id", ["67f0c0de", "trae-session", "000000010000000000000001", "zzf0c0de00a1b2c3d4e5f601"])
def test_loss_13_an_id_of_another_form_has_no_time(id: str) -> None:
    assert id_time(id) == (None, None, None)


def test_loss_14_messages_of_one_turn_have_ids_of_their_own() -> None:
    messages = [user(0, "u", "a"), agent(0, "a", None), {"role": "user", "content": "b", "turnId": "t0"}]
    conversation = talk(*messages)

    assert [m.id for m in conversation.messages] == ["u", "a", None]
    assert len({m.key for m in conversation.messages}) == 3
    assert {m.turn_id for m in conversation.messages} == {"t0"}


def test_loss_14_an_id_that_stands_twice_is_named() -> None:
    result = listed(session(user(0, "u", "a"), user(1, "u", "b")))

    assert "duplicate-id" in codes(result)
    assert len({m.key for m in result.conversation.messages}) == 2


@pytest.mark.parametrize(
    "indices, expected",
    [([0, None, 1], "0 1 2"), ([1, None, 0], "2 0 1"), ([None, 1, 0], "2 0 1"), ([None, None], "0 1"), (["1", 0], "0 1")],
)
def test_loss_15_a_missing_index_never_comes_first(indices: list[Any], expected: str) -> None:
    messages = [{"role": "user", "content": str(n)} | ({} if i is None else {"turnIndex": i}) for n, i in enumerate(indices)]

    assert " ".join(m.text for m in talk(*messages).messages) == expected


def test_loss_16_nothing_is_made_up_for_an_empty_session() -> None:
    conversation = listed({"sessionId": "s", "messages": []}).conversation

    assert (conversation.first_at, conversation.last_at, conversation.created_at) == (None, None, None)


def test_loss_16_a_session_names_its_parent() -> None:
    conversation = talk(user(0, "u", "a"), parentSessionId=S2)

    assert [(link.kind, link.id) for link in conversation.links] == [("base", S2)]


# ---- lists -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [{"data": {"list": [session(user(0, "u", "a"))]}}, {"sessions": [session(user(0, "u", "a"))]}]
)
def test_other_names_of_the_list_are_named(value: Any) -> None:
    result = read({MAIN: value})

    assert result.conversation.messages[0].text == "a"
    assert codes(result) == {"trae/list-alias"}


@pytest.mark.parametrize(
    "stored",
    [lambda t: t, lambda t: t.encode(), text, lambda t: text(t).encode()],
    ids=["text", "bytes", "twice", "twice-bytes"],
)
def test_text_bytes_and_json_in_json_say_the_same(stored: Any) -> None:
    conversation = read({MAIN: stored(text({"list": [session(user(0, "u", "a"))]}))}).conversation

    assert conversation.messages[0].text == "a"


def test_a_pointer_enters_json_in_a_string_behind_a_mark() -> None:
    message = read({MAIN: text(text({"list": [session(user(0, "u", "a"))]}))}).conversation.messages[0]

    assert message.origin
    assert message.origin.pointer == "/»/list/0/messages/0"


def test_a_session_in_two_lists_is_one_and_its_copies_are_merged() -> None:
    result = read(
        {MAIN: {"list": [session(user(0, "u", "a"))]}, OLD: {"list": [session(user(0, "u", "a"), user(1, "v", "b"))]}}
    )

    first, second = result.conversation.messages
    assert [origin.key for origin in first.merged] == [OLD]
    assert (second.text, second.state) == ("b", "superseded")
    assert codes(result) == {"trae/duplicate-session"}


@pytest.mark.parametrize("value", [1, "x", [], {"list": 3}, {"list": [1, {"sessionId": 1}, {"messages": []}]}, {"x": 1}, None])
def test_odd_lists_are_kept_whole_and_named(value: Any) -> None:
    result = read({MAIN: text(value)}, source="trae")

    assert result.conversations == ()
    assert value == [] or result.dropped


@pytest.mark.parametrize("messages", [None, 3, "x", "[]", {}])
def test_odd_messages_of_a_session(messages: Any) -> None:
    result = listed({"sessionId": S1, "messages": messages})

    assert result.conversation.body == "missing"


def test_messages_may_be_json_in_a_string() -> None:
    assert listed({"sessionId": S1, "messages": text([user(0, "u", "a")])}).conversation.messages[0].text == "a"


def test_a_message_that_is_none_makes_the_body_partial() -> None:
    result = listed(session(user(0, "u", "a"), 3))

    assert result.conversation.body == "partial"
    assert "not-an-object" in codes(result)


def test_title_and_name_both_stand() -> None:
    head = talk(user(0, "u", "a"), title="T", name="N").events[0]

    assert head.text == "T"
    assert head.data
    assert head.data.value["name"] == "N"


# ---- messages and steps ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content, expected",
    [
        ({"text": "t", "x": 1}, [("Text", "t")]),
        (["a", "", {"type": "text", "text_content": "b"}, {"text": "c"}], [("Text", "a"), ("Text", "b"), ("Text", "c")]),
        ([{"type": "image", "url": "u"}, 3], [("Unknown", ""), ("Unknown", "")]),
        ({"other": 1}, [("Unknown", "")]),
        (None, []),
    ],
)
def test_content_of_every_make(content: Any, expected: list[tuple[str, str]]) -> None:
    message = talk({"role": "user", "content": content}).messages[0]

    assert [(kind, said if kind == "Text" else "") for kind, said in shapes(message)] == expected


@pytest.mark.parametrize("wrap", [lambda v: v, text], ids=["list", "text"])
def test_the_query_is_the_whole_text_and_the_content_is_kept(wrap: Any) -> None:
    query = [{"type": "text", "data": {"content": "all of it", "n": 1}, "id": "q"}, {"type": "mention"}]
    message = talk({"role": "user", "content": "all", "query": wrap(query)}).messages[0]

    assert message.text == "all of it"
    assert extra(message)["/content"] == "all"
    assert isinstance(message.blocks[1], Unknown)


def test_a_query_may_be_a_text() -> None:
    assert talk({"role": "user", "content": "all", "query": "all of it"}).messages[0].text == "all of it"
    assert talk({"role": "user", "content": "same", "query": "same"}).messages[0].extra is None


@pytest.mark.parametrize(
    "task, expected",
    [
        ("plain words", [("Text", "plain words")]),
        ('{"proposal":"p"}', [("Text", "p")]),
        ('{ "proposal": "p" }', [("Text", "p")]),
        ({"content": "c", "text": "t"}, [("Text", "c"), ("Text", "t")]),
        ({"content": {"guideline": {"thought": "g"}, "x": 1}}, [("Text", "g")]),
        ({"guideline": "g"}, [("Text", "g")]),
        ({"guideline": ["g"]}, [("Text", "g")]),
        ({"guideline": 3}, []),
        ({"guideline": {"planItems": "p"}}, [("Text", "p")]),
        ({"guideline": {"planItems": '["p",""]'}}, [("Text", "p")]),
        ({"guideline": {"planItems": 3}}, []),
        ({"guideline": {"planItems": [3]}}, []),
        ("", []),
        (3, []),
    ],
)
def test_agent_tasks_of_every_make(task: Any, expected: list[tuple[str, str]]) -> None:
    assert shapes(talk(agent(0, "a", task)).messages[0]) == expected


def step(**fields: Any) -> Message:
    return talk(agent(0, "a", {"guideline": {"planItems": [fields]}})).messages[0]


def test_a_step_with_both_spellings_keeps_what_differs() -> None:
    message = step(
        id="p", toolName="run", params={"a": 1}, arguments={"b": 2}, command="ls", status="success",
        result={"status": "failed"},
        exitCode=2, toolCallInfo={"id": "c", "name": "RunCommand", "params": {"command": "ls"}, "result": None, "x": 1},
    )  # fmt: skip

    call, result = message.blocks
    assert isinstance(call, ToolCall)
    assert (call.id, call.name) == ("c", "RunCommand")
    assert isinstance(result, ToolResult)
    assert (result.exit_code, result.status, result.is_error) == (2, "failed", True)
    at = "/agentTaskContent/guideline/planItems/0"
    assert {key.removeprefix(at) for key in extra(message) if key.startswith(at)} == {
        *("/id", "/toolName", "/params", "/arguments", "/status", "/toolCallInfo/x"),
    }


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"params": "words"}, "words"),
        ({"params": '{ "a": 1 }'}, {"a": 1}),
        ({"command": "ls"}, {"command": "ls"}),
        ({"command": "ls", "input": {"x": 1}}, {"x": 1}),
        ({}, ""),
    ],
)
def test_arguments_of_every_make(given: dict[str, Any], expected: Any) -> None:
    call = step(toolName="run_command", **given).blocks[0]

    assert isinstance(call, ToolCall)
    assert (call.input if isinstance(call.input, str) else call.input.value) == expected


@pytest.mark.parametrize(
    "result, said, code, failed",
    [
        ("out", "out", None, None),
        ('{"output":"o","exit_code":0}', "o", 0, None),
        ({"data": "d"}, "d", None, None),
        ({"data": {"text": "x", "exitCode": 1}, "error_message": "bad"}, "x\nbad", 1, True),
        ({"status": "success", "stdout": "s"}, "s", None, False),
        ([1], "", None, None),
    ],
)
def test_results_of_every_make(result: Any, said: str, code: int | None, failed: bool | None) -> None:
    block = step(toolName="Read", result=result).blocks[-1]

    assert isinstance(block, ToolResult)
    assert (block.text, block.exit_code, block.is_error) == (said, code, failed)


def test_what_is_said_twice_is_kept_where_it_differs() -> None:
    message = step(toolName="Read", params={"a": 1}, arguments={"a": 1}, exitCode=2, result={"exitCode": 1})

    assert {key.rpartition("/")[2] for key in extra(message)} == {"turnIndex", "exitCode"}


def test_the_finish_step_is_the_answer_and_no_call() -> None:
    message = step(toolName="Finish", id="f", params={"summary": "S", "n": 1}, result={"r": 1}, status="success", command="c")

    assert shapes(message) == [("Text", "S")]
    kept = {key.rpartition("/")[2] for key in extra(message)}
    assert {"id", "params", "result", "status", "command", "toolName"} <= kept


def test_a_step_without_a_tool_keeps_its_id_and_status() -> None:
    message = step(id="p", thought="t", content="c", status="s", toolCallInfo=3)

    assert message.text == "t\nc"
    assert {key.rpartition("/")[2] for key in extra(message)} >= {"id", "status", "toolCallInfo"}


@pytest.mark.parametrize(
    "info, old, model",
    [({"config_name": "c"}, "m", "m"), ({}, None, None), ({"model_name": "n"}, "m", "n"), ({"model_name": 3}, "", None)],
)
def test_models_of_every_make(info: Any, old: str | None, model: str | None) -> None:
    assert talk({"role": "assistant", "modelInfo": info, "modelType": old}).messages[0].model == model


def test_media_of_every_make() -> None:
    items = [{"resource_id": "r", "resource_type": "file", "n": 1}, {"resource_id": 3}, "x"]
    message = talk({"role": "user", "content": "", "multiMedia": items, "parsedQuery": "words"}).messages[0]

    assert message.blocks == (Text("words"), Attachment("file", "r"))


def test_a_field_that_is_not_known_is_kept_and_named() -> None:
    result = listed(session({"role": "user", "content": "a", "novel": {"x": 1}}))

    (drop,) = result.dropped
    assert (drop.code, drop.pattern) == ("unknown-field", "/list/*/messages/*/novel")
    assert extra(result.conversation.messages[0])["/novel"] == {"x": 1}


# ---- the stub era ----------------------------------------------------------------------------------------------------------


def test_every_id_seen_anywhere_is_a_conversation(profile: Path) -> None:
    result = parse(profile / GLOBAL)

    kinds = {c.id: [event.kind for event in c.events] for c in result.conversations}
    assert kinds == {
        S1: ["session", "index", "index"],
        S2: ["index", "checkpoint"],
        S3: ["index"],
        S4: ["badge"],
        S5: ["draft"],
    }
    assert {event.timestamp_origin for c in result.conversations for event in c.events} == {"derived"}
    assert next(c for c in result.conversations if c.id == S5).events[0].text == "typed and never sent"


def test_prompts_survive_their_conversations(profile: Path) -> None:
    result = parse(profile / GLOBAL)

    assert [entry.text for entry in result.loose if isinstance(entry, Message)] == ["only this is left"]


def test_a_workspace_knows_its_folder_the_store_and_pasted_texts(profile: Path) -> None:
    result = parse(profile / WORKSPACE)

    (conversation,) = result.conversations
    assert (conversation.id, conversation.body) == (S6, "encrypted")
    assert conversation.context
    assert conversation.context.cwd == "d:/proj x"
    (pasted,) = (entry for entry in result.loose if isinstance(entry, Message))
    assert pasted.blocks == (Attachment("long-text", "pasted.txt", "text/plain", "a long text\n"),)
    named = {Path(drop.origin.path).name: drop.code for drop in (*result.dropped, *result.skipped)}
    assert named | {"p.png": "unread-file", "s.jsonl": "trae/other-agent"} == named


def test_the_encrypted_store_itself_gives_the_ids_of_its_snapshots(profile: Path) -> None:
    path = profile / "ModularData/ai-agent/database.db"
    result = parse(path)

    assert detect(path).variant == "encrypted-store"
    assert [(c.id, c.body) for c in result.conversations] == [(S2, "encrypted")]
    assert result.account.lost.bytes == len(CIPHER) + 64
    assert parse_bytes(CIPHER, name="database.db").account.lost.bytes == len(CIPHER)


def test_a_decrypted_copy_in_its_place_is_no_encrypted_store(tmp_path: Path) -> None:
    (tmp_path / "state.vscdb").write_bytes(database({MAIN: {"list": [session()]}}))
    store = tmp_path / "ModularData" / "ai-agent" / "database.db"
    store.parent.mkdir(parents=True)
    store.write_bytes(database({}))

    assert parse(tmp_path / "state.vscdb").conversation.body == "missing"


def test_values_that_are_gone_still_leave_their_ids() -> None:
    result = read({MAIN: {"list": []}, f"all_session_badges_{S1}": None, f"draft:session:{S2}:work": ""})

    assert [c.id for c in result.conversations] == [S1, S2]
    assert {"null-value", "empty-value"} <= codes(result)


def test_a_map_may_be_odd_and_an_active_session_a_bare_text() -> None:
    result = read({"icube_session_agent_map": [1], "ai-chat-v2.lastActiveSessionId": S1.encode(), MAIN: {"list": []}})

    assert [c.id for c in result.conversations] == [S1]
    assert "not-an-object" in codes(result)


@pytest.mark.parametrize("value", [3, {"a": 1}, [3, "a text", {"inputText": 3}]])
def test_odd_histories(value: Any) -> None:
    assert read({"inputHistory": value, MAIN: {"list": []}}).dropped


def test_tables_and_rows_that_are_not_read_are_counted() -> None:
    more = "CREATE TABLE other (a, b); INSERT INTO other VALUES ('x', 1), (NULL, 2), (3, 4); CREATE VIEW v AS SELECT 1;"
    more += "INSERT INTO ItemTable VALUES (NULL, 'x')"
    result = parse_bytes(database({MAIN: {"list": []}, "icube-ai-new": "{}"}, more), name="state.vscdb")

    counted = {(drop.code, drop.record): drop.count for drop in result.dropped}
    assert counted == {
        ("unread-rows", "table other"): 3,
        ("unread-rows", "icube-ai"): 1,
        ("refused-table", "v"): 1,
        ("odd-key", "ItemTable"): 1,
    }


def test_an_unknown_conversation_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConvparseError, match=S1):
        read({MAIN: {"list": [session(user(0, "u", "a"))]}}, conversation_id="nope")


def test_odd_keys_of_lists_and_maps() -> None:
    more = {"list": [session(user(0, "u", "a"))], "novel": 1}
    result = read({MAIN: more, NG: None, OLD: text("{bad"), "icube_session_agent_map": {"": "x", S1: "y"}})

    assert [c.id for c in result.conversations] == [S1]
    assert {"unknown-field", "null-value", "not-an-object"} <= codes(result)


def test_an_empty_table_and_a_database_of_another_product() -> None:
    result = parse_bytes(database({MAIN: {"list": []}}, "CREATE TABLE other (a)"), name="state.vscdb")

    assert result.dropped == ()
    with contextlib.closing(sqlite3.connect(":memory:")) as other:
        other.execute("CREATE TABLE other (a)")
        data = other.serialize()
    with pytest.raises(UnknownSource):
        parse_bytes(data, name="state.vscdb")


def test_folders_are_followed_four_deep_and_links_are_not(profile: Path) -> None:
    folder = (profile / WORKSPACE).parent / "long-text"
    deep = folder / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    (deep / "deep.txt").write_text("x")
    (folder / "link.txt").symlink_to(profile / "User/globalStorage/storage.json")

    assert [e.key for e in parse(profile / WORKSPACE).loose if isinstance(e, Message)] == ["long-text/a/b/pasted.txt"]


def test_a_store_that_cannot_be_read_and_has_no_snapshots(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(profile / "ModularData/ai-agent/snapshot")
    (profile / "ModularData/ai-agent/database.db-wal").unlink()
    real = Path.open

    def refused(self: Path, *args: Any, **options: Any) -> Any:
        if self.name == "database.db":
            raise PermissionError
        return real(self, *args, **options)

    monkeypatch.setattr(Path, "open", refused)

    assert "trae/encrypted-store" in codes(parse(profile / GLOBAL))


def test_ids_that_differ_are_kept() -> None:
    message = talk({"role": "user", "content": "a", "agentMessageId": "x", "id": "y"}).messages[0]

    assert (message.id, extra(message)) == ("x", {"/id": "y"})


# ---- credentials -----------------------------------------------------------------------------------------------------------

AUDITED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
import convparse
for path in sys.argv[1:]:
    try:
        convparse.parse(path, "trae")
        for result in convparse.iter_conversations(path, "trae"):
            pass
    except convparse.ConvparseError:
        pass
print("\\n".join(opened))
"""


def test_files_that_hold_credentials_are_never_opened(profile: Path) -> None:
    secret = ("User/globalStorage/storage.json", "Cookies", "trae-jwt-token", "User/mcp.json", "mcp.json", "Network/Cookies")
    for name in secret:
        (profile / name).parent.mkdir(parents=True, exist_ok=True)
        (profile / name).write_text("secret")
    paths = [GLOBAL, WORKSPACE, "ModularData/ai-agent/database.db"]
    run = subprocess.run(
        [sys.executable, "-c", AUDITED, *(str(profile / path) for path in paths)], capture_output=True, text=True, check=True
    )

    opened = {line for line in run.stdout.splitlines() if line.startswith(str(profile))}
    assert str(profile / GLOBAL) in opened
    assert not {str(profile / name) for name in secret} & opened
    assert not any("snapshot" in name for name in opened)


def test_values_of_keys_that_may_hold_tokens_are_never_selected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    selected: set[str] = set()
    real = Database._row

    def watched(self: Database, table: Any, rowid: int, key: Any, kind: bytes, value: Any) -> Any:
        selected.add(key if isinstance(key, str) else key.decode())
        return real(self, table, rowid, key, kind, value)

    monkeypatch.setattr(Database, "_row", watched)
    keys = [
        "iCubeAuthInfo://icube.cloudide",
        "iCubeServerData",
        "trae.userToken",
        f"{S1}_login",
        "secret://x",
        "icube-ai-token",
    ]
    path = tmp_path / "state.vscdb"
    path.write_bytes(database({**STUB, **dict.fromkeys(keys, "secret")}))

    results = [parse(path), *iter_conversations(path), parse(path, conversation_id=S1)]

    assert selected == {key for key in STUB if is_read(key)}
    (drop,) = (drop for drop in results[0].skipped if drop.record == "credentials")
    assert drop.count == 5


# ---- the other stores ------------------------------------------------------------------------------------------------------


def test_a_runtime_dump() -> None:
    result = parse(FOLDER / "runtime" / "dump.json")

    asked, answered = result.conversation.messages
    assert (asked.text, answered.parent_id, answered.turn_id) == ("Read a.txt, please", "u1", "t1")
    assert [kind for kind, _ in shapes(answered)] == "Thinking Text Thinking Text ToolCall ToolResult Text".split()
    (use,) = result.conversation.tool_calls()
    assert use.result
    assert (use.outcome, use.result.duration, use.result.text) == ("ok", 1.0, "abc\n")
    usage = answered.usage
    assert usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (30, 60, 10)
    assert result.conversation.turns()[0].answer == "It says abc."


@pytest.mark.parametrize(
    "wrap",
    [lambda m: m, lambda m: {"data": m}, lambda m: {"data": {"messages": m}}, lambda m: {"messageReads": [{"value": m}, 3]}],
    ids=["list", "data", "messages", "reads"],
)
def test_dumps_of_every_make(wrap: Any) -> None:
    message = {"message_id": "m", "chat_session_id": S1, "role": "user", "content": "hi", "created_at": 0}
    result = parse_bytes(text(wrap([message, 3, {**message, "role": "odd"}])).encode())

    assert (result.source, result.variant) == ("trae", "runtime")
    assert [m.text for m in result.conversation.messages] == ["hi", "hi"]
    assert {"not-an-object", "duplicate-id", "trae/unknown-role", "bad-timestamp"} == codes(result)


def runtime(content: Any, **more: Any) -> Message:
    message = {"message_id": "m", "chat_session_id": S1, "role": "assistant", "content": content, **more}
    result = parse_bytes(text([message]).encode(), source="trae")
    assert result.account.balanced
    return result.conversation.messages[0]


def test_parts_of_a_dump_of_every_make() -> None:
    items = [
        {"type": "proposal", "proposal": {"thought": "a", "content": {"thought": 3, "x": 1}}, "plan_item": 1},
        {"type": "proposal", "proposal": {"content": "b"}},
        {"type": "proposal", "proposal": {"content": 3}},
        {"type": "novel"},
        3,
    ]
    message = runtime({"messages": items}, query="q", references=["r"], token_usage=3, status="running")

    assert [kind for kind, _ in shapes(message)] == ["Text", "Text", "Unknown", "Unknown"]
    assert {"/0/query", "/0/references", "/0/token_usage", "/0/status"} <= set(extra(message))
    assert runtime("words").text == "words"
    assert runtime({"messages": [{"type": "proposal", "proposal": {"thought": "t"}}]}).text == "t"
    assert runtime("same", role="user", query="same").extra is None
    assert runtime("words", token_usage={"prompt_tokens": 1, "cache_read_input_tokens": 5}).usage


def test_summaries_are_events_and_no_transcript() -> None:
    result = parse(next((FOLDER / "memory").glob("*.jsonl")))

    conversation = result.conversation
    assert (conversation.id, conversation.body, conversation.messages) == (S1, "missing", ())
    assert [(e.text, e.timestamp, e.timestamp_text) for e in conversation.events] == [
        ("Rename foo", MADE, None),
        ("Rename foo", None, "2025-04-05 13:34:22"),
    ]
    assert codes(result) == {"trae/summary-only"}


def test_topics_are_cut_at_their_marks_without_a_gap() -> None:
    path = FOLDER / "memory" / "topics.md"
    result = parse(path)

    entries = sorted([*(e for c in result.conversations for e in c.entries), *result.loose], key=lambda e: e.origin.offset or 0)  # type: ignore[union-attr]
    assert "".join(e.text or "" for e in entries if isinstance(e, Event)) == path.read_text()
    assert [c.id for c in result.conversations] == [S1, S2]
    assert result.account.balanced


def test_notes_of_the_memory_library() -> None:
    result = parse(FOLDER / "memory" / "project_memory.md")

    assert [(entry.kind, entry.text) for entry in result.loose if isinstance(entry, Event)] == [
        ("memory", "# Project\nTests use bar.\n")
    ]
    assert "invalid-utf8" in codes(parse_bytes(b"\xff", name="user_profile.md"))
    assert parse_bytes(b"3\n", source="trae", name="x.jsonl").dropped


@pytest.mark.parametrize("name", ["", "/session.json", "/events.jsonl", "/traces.jsonl"])
def test_the_three_files_of_a_cached_session_are_one(name: str) -> None:
    result = parse(FOLDER / "cli" / f"{CLI}{name}")

    conversation = result.conversation
    assert (conversation.id, conversation.title, conversation.body) == (CLI, "Rename", "complete")
    assert conversation.context
    assert conversation.context.cwd == "/p"
    assert [m.author for m in conversation.messages] == ["human", "model", "tool", "model"]
    assert [use.outcome for use in conversation.tool_calls()] == ["ok", "ok"]
    spans = [event for event in conversation.events if event.name == "span"]
    assert [(span.kind, span.state) for span in spans] == [("usage", "superseded"), ("usage", "active"), ("trace", "active")]
    assert codes(result) == {"unknown-record"}
    assert len(result.accounts) == 3
    assert result.account.balanced


def test_the_span_that_says_less_is_superseded_wherever_it_stands() -> None:
    for spans in (SPANS, SPANS[::-1]):
        data = "".join(f"{text(span)}\n" for span in spans).encode()
        result = parse_bytes(data, source="trae", name="traces.jsonl")
        assert sorted((e.kind, e.state) for e in result.loose if isinstance(e, Event)) == [
            ("trace", "active"),
            ("usage", "active"),
            ("usage", "superseded"),
        ]


def line(**payload: Any) -> ParseResult:
    first = text(EVENTS[0]) + "\n"
    result = parse_bytes((first + text({"id": "e", "session_id": CLI, "created_at": "x", **payload})).encode(), source="trae")
    assert result.account.balanced
    return result


def test_events_of_every_make() -> None:
    said = line(message={"message": {"role": "odd", "content": "c", "tool_call_id": "t", "name": "n", "tool_calls": [3]}})
    assert {"trae/unknown-role", "bad-timestamp", "unexpected-type"} <= codes(said)
    called = line(tool_call={"tool_name": "bash", "args": '{ "a": 1 }', "status": "running"}).conversation.messages[0]
    assert isinstance(called.blocks[0], ToolCall)
    assert len(called.blocks) == 1
    assert (
        line(tool_call={"name": "n", "args": "free", "output": {"output": "o"}}).conversation.tool_calls()[0].call.input
        == "free"
    )
    assert line(tool_call={"name": "n"}).conversation.messages[0].blocks == (ToolCall(None, "n", "other", ""),)
    assert line(message=3).conversation.events
    assert line(tool_call={"x": 1}).conversation.events
    assert "unknown-record" in codes(line(a=1, b=2))
    assert "unexpected-type" in codes(line(session_id=3, agent_end={}))
    plain = {"id": "c", "function": {"name": "f", "arguments": None}}
    odd = {"id": "c", "function": {"name": "f", "arguments": '{ "a": 1 }'}, "x": 1}
    free = {"id": "c", "function": {"name": "f", "arguments": "free", "y": 1}}
    uses = line(message={"message": {"role": "assistant", "tool_calls": [plain, odd, free]}}).conversation.tool_calls()
    assert [use.call.input if isinstance(use.call.input, str) else use.call.input.value for use in uses] == [
        "",
        {"a": 1},
        "free",
    ]


def test_documents_that_are_none() -> None:
    for variant in ("cli-session", "runtime"):
        source = attrs.evolve(SOURCE, variants={"it": SOURCE.variants[variant]}, detect=lambda head: None)
        assert [drop.code for drop in parse_bytes(b"3", source=source).dropped] == ["not-an-object"]
    plain = {"id": CLI, "created_at": "2026-07-07T20:57:03Z", "updated_at": "2026-07-07T20:57:03Z"}
    source = attrs.evolve(SOURCE, variants={"it": SOURCE.variants["cli-session"]}, detect=lambda head: None)
    assert parse_bytes(text(plain).encode(), source=source).conversation.context is None


def test_an_odd_head_of_a_cached_session() -> None:
    assert parse_bytes(b"3", source="trae", name="x").loose
    value = {
        "id": CLI,
        "created_at": "2026-07-07T20:57:03Z",
        "updated_at": None,
        "metadata": {"permission_mode": "p", "cwd": 3},
    }
    result = parse_bytes(text(value).encode())
    assert (result.variant, result.conversation.body) == ("cli-session", "missing")


def test_the_rollouts_of_the_terminal_agent_are_its_own() -> None:
    result = parse(next((FOLDER / "traex").glob("*.jsonl")))

    assert (result.source, result.variant, result.conversation.source) == ("trae", "traex", "trae")
    assert [m.author for m in result.conversation.messages] == ["human", "model", "model"]
    assert result.conversation.edits() == ()


@pytest.mark.parametrize(
    "data", [b'{"session_id":"s","ts":1,"text":"hi"}\n', b'{"id":"s","thread_name":"n","updated_at":"x"}\n']
)
def test_files_that_say_nothing_of_their_product_are_codexs_unless_one_asks(data: bytes) -> None:
    assert parse_bytes(data).source == "codex"
    assert parse_bytes(data, source="trae").source == "trae"


def test_a_rollout_without_a_provider_is_codexs_unless_one_asks(tmp_path: Path) -> None:
    rollout = next((FOLDER / "traex").glob("*.jsonl")).read_bytes().replace(b',"model_provider":"trae"', b"")
    (tmp_path / "rollout-a.jsonl").write_bytes(rollout)

    assert parse(tmp_path / "rollout-a.jsonl").source == "codex"
    assert parse(tmp_path / "rollout-a.jsonl", "trae").conversation.source == "trae"


def test_a_file_of_another_agent_in_a_folder_of_trae_is_that_agents(profile: Path) -> None:
    path = (profile / WORKSPACE).parent / "chatSessions" / "s.jsonl"

    assert detect(path).source == "copilot"


# ---- trae-agent ------------------------------------------------------------------------------------------------------------


def run(name: str) -> ParseResult:
    result = parse(FOLDER / "trajectories" / f"{name}.json")
    assert result.account.balanced
    return result


def test_interactions_and_steps_tell_of_a_request_once() -> None:
    conversation = run("python").conversation

    assert [(m.role, m.author) for m in conversation.messages] == [
        ("system", "harness"),
        ("user", "human"),
        ("assistant", "model"),
        ("user", "tool"),
        ("assistant", "model"),
    ]
    assert (conversation.usage.input_tokens, conversation.usage.cache_read_tokens) == (1000, 800)
    assert [use.outcome for use in conversation.tool_calls()] == ["ok", "missing"]
    assert conversation.turns()[0].answer == "One file."


def test_results_of_tools_are_no_prompts() -> None:
    assert [prompt.text for prompt in run("python").conversation.prompts] == ["[Problem statement]: List the files"]


def test_a_step_without_an_interaction_stands_alone() -> None:
    conversation = run("failed").conversation

    assert [m.text for m in conversation.messages] == ["You are an agent.", "List the files"]
    assert [(e.kind, e.text) for e in conversation.events][1] == ("error", "no JSON in the reply")
    assert conversation.turns()[0].status == "failed" or conversation.body == "complete"


def test_a_run_that_was_killed_has_no_end() -> None:
    conversation = run("killed").conversation

    assert (conversation.body, conversation.turns()[0].status) == ("partial", "open") or conversation.body == "partial"
    assert not any(event.kind == "turn-end" for event in conversation.events)


def test_a_run_without_any_interaction_keeps_its_task() -> None:
    result = parse_bytes(text({**PYTHON, "llm_interactions": [], "agent_steps": [], "end_time": None}).encode())

    assert [prompt.text for prompt in result.conversation.prompts] == ["List the files"]


def test_the_rust_port() -> None:
    conversation = run("rust").conversation

    assert [(m.author, m.text) for m in conversation.messages] == [
        ("human", "List the files"),
        ("model", "One file."),
        ("tool", ""),
    ]
    assert conversation.messages[1].timestamp == datetime(2025, 9, 24, 7, 32, 58, 875_185, UTC)


def test_the_typescript_port_repeats_nothing_and_may_hold_two_runs() -> None:
    conversation = run("typescript").conversation

    assert conversation.id == "agent-001"
    assert [m.role for m in conversation.messages] == "system user assistant tool assistant system user assistant".split()
    (use,) = conversation.tool_calls()
    assert use.result
    assert (use.result.call_id, use.outcome) == ("c1", "ok")
    assert [event.text for event in conversation.events if event.name == "run"] == ["Again"]


def trajectory(**fields: Any) -> ParseResult:
    value = {"task": "t", "agent_steps": [], **fields}
    result = parse_bytes(json.dumps(value).encode(), source="trae")
    assert result.account.balanced
    assert result.variant == "trajectory"
    return result


def test_odd_parts_of_a_run_are_kept_and_named() -> None:
    odd = trajectory(
        llm_interactions=[3, {"response": 3, "input_messages": [3, {"role": "odd"}], "model": "m"}], agent_steps=[3]
    )
    assert {"not-an-object", "unexpected-type", "trae/unknown-role"} <= codes(odd)
    assert "unexpected-type" in codes(trajectory(llm_interaction=3))
    rust = trajectory(llm_interaction=[3, {"steps": None, "model": "m"}, {"steps": {"tool_results": [3], "llm_response": {}}}])
    assert "not-an-object" in codes(rust)
    ts = trajectory(steps=[3, {"messages": [3, {"role": "odd"}], "tool_results": ["x", {"success": 1, "error": "e"}]}])
    assert {"not-an-object", "trae/unknown-role"} <= codes(ts)
    assert parse_bytes(b'{"other": 1}', source="trae").conversations == ()
    own = {"success": True, "result": {"n": 2**70}, "tool_call_id": "c9"}
    named = trajectory(steps=[{"messages": [], "tool_calls": [], "tool_results": [own]}])
    assert isinstance(block := named.conversation.messages[-1].blocks[0], ToolResult)
    assert block.call_id == "c9"
    assert trajectory(llm_interaction=[{}]).conversation.messages[-1].extra is None


def test_what_a_step_says_otherwise_is_kept() -> None:
    gave = {"call_id": "c", "success": False, "result": "", "error": "e"}
    call = {"call_id": "c", "name": "bash", "arguments": '{ "a": 1 }', "id": None}
    response = {
        "content": "c",
        "model": "m",
        "finish_reason": "f",
        "usage": {"input_tokens": 1, "odd": 2},
        "tool_calls": [call, 3],
    }
    step = {"llm_response": {**response, "content": "d"}, "llm_messages": ["m"], "tool_calls": [1], "tool_results": [gave, "x"]}
    interaction = {"response": response, "model": "n", "input_messages": [{"role": "user", "content": "p", "tool_call": call}]}
    result = trajectory(llm_interactions=[interaction], agent_steps=[{**step, "reflection": "r"}])

    step_event = next(event for event in result.conversation.events if event.kind == "step")
    assert step_event.text == "r"
    assert step_event.data
    assert set(step_event.data.value) >= {
        "llm_messages/0",
        "llm_response/content",
        "tool_calls",
        "tool_results/1",
    }
    assert result.conversation.tool_calls()[0].outcome == "error"


def test_steps_without_interactions_tell_all() -> None:
    step = {**PYTHON["agent_steps"][0], "llm_messages": [{"role": "user", "content": "p"}]}  # type: ignore[index]
    late = {"llm_response": {"content": "z"}, "llm_messages": [{"role": "user", "content": "again"}]}
    result = trajectory(agent_steps=[step, late, {"llm_response": 3}])

    assert [m.author for m in result.conversation.messages] == ["human", "model", "tool", "harness", "model", "model"]
    alone = trajectory(agent_steps=[PYTHON["agent_steps"][0], {"llm_response": {"tool_calls": []}}])  # type: ignore[index]
    assert [m.author for m in alone.conversation.messages] == ["human", "model", "tool", "model"]
    first = PYTHON["agent_steps"][0]  # type: ignore[index]
    told = {**first, "llm_messages": [{**first["llm_messages"][0], "role": "odd"}]}
    last = trajectory(agent_steps=[told]).conversation.events[-1]
    assert last.data
    assert "llm_messages/0" in last.data.value
    odd = trajectory(
        llm_interactions=[{"response": {}}, {"response": 3}], agent_steps=[{"llm_response": 3}, {"llm_response": 3}]
    )
    assert [e.data and e.data.value for e in odd.conversation.events if e.kind == "step"] == [{"llm_response": 3}, None]


def test_a_killed_run_with_results_that_no_interaction_repeats() -> None:
    result = trajectory(llm_interactions=PYTHON["llm_interactions"][:1], agent_steps=PYTHON["agent_steps"][:1])  # type: ignore[index]

    assert [use.outcome for use in result.conversation.tool_calls()] == ["ok"]


@pytest.mark.parametrize("value, variant", [(PYTHON, "trajectory"), (TYPESCRIPT, "trajectory"), (RUNTIME, "runtime")])
def test_a_document_that_is_cut_is_recognised(value: Any, variant: str) -> None:
    data = json.dumps(value, indent=1).encode()
    result = parse_bytes(data[: len(data) * 2 // 3])

    assert (result.source, result.variant) == ("trae", variant)
    assert codes(result) == {"malformed-line"}


@pytest.mark.parametrize("data", [b'x{"task":"llm_interactions"', b'{"task":1,"steps":', b'{"chat_session_id":1,'])
def test_the_beginning_of_anything_else_is_not(data: bytes) -> None:
    with pytest.raises(UnknownSource):
        parse_bytes(data)


# ---- detection -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [n for n in files() if n.endswith((".json", ".jsonl", ".vscdb")) and "profile" not in n and "workspace" not in n]
)
def test_every_format_is_found_by_its_content(name: str) -> None:
    assert parse_bytes(files()[name]).source == "trae"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        b"{}",
        b"[]",
        b'{"task":1}',
        b"\x00" * 32,
        database({"x": "y"}),
        b'{"id":1,"session_id":2,"created_at":3,"x":4}',
    ],
)
def test_what_is_not_traes_is_not_claimed(data: bytes) -> None:
    with pytest.raises(UnknownSource):
        parse_bytes(data, name="x")


def test_a_database_with_other_keys_of_the_editor_is_claimed_with_doubt() -> None:
    found = parse_bytes(database({"icubeSomething": "x"}), name="state.vscdb")

    assert (found.source, found.conversations) == ("trae", ())


@pytest.mark.parametrize("data, claimed", [(CIPHER, True), (b"\0" * 16, True), (b"plain text here!", False)])
def test_ciphertext_is_told_by_its_first_bytes(data: bytes, claimed: bool) -> None:
    result = None
    with contextlib.suppress(UnknownSource):
        result = parse_bytes(data, name="database.db")
    assert (result is not None) is claimed


def test_what_is_left_out_is_in_the_table_with_its_reason(profile: Path) -> None:
    left = {drop.record for drop in parse(profile / GLOBAL).skipped if drop.code == "skipped-rows"}

    assert left == SOURCE.skipped.keys() - codex.SKIPPED.keys()


def test_the_page_has_every_code_and_every_reason() -> None:
    page = (Path(__file__).parents[1] / "docs" / "trae.md").read_text("utf-8")
    own = {name: code for name, code in SOURCE.codes.items() if name.startswith("trae/")}
    left = {name: reason for name, reason in SOURCE.skipped.items() if name not in codex.SKIPPED}

    assert [name for name, code in own.items() if f"| `{name}` | {code.fate} | {code.summary} |" not in page] == []
    assert [name for name, reason in left.items() if f"| `{name}` | {reason} |" not in page] == []
    assert [name for name in SOURCE.variants if f"`{name}`" not in page] == []


def test_codes_are_the_sources_own() -> None:
    assert all(code.startswith(("trae/", "codex/")) for code in SOURCE.codes)
    assert convparse.SOURCES["trae"] is SOURCE


# ---- two spellings of one step ---------------------------------------------------------------------------------------------


def told(task: Any) -> Message:
    """The message of an agent with this task."""
    (message,) = listed({"sessionId": "s", "messages": [{"role": "assistant", "agentTaskContent": task}]}).conversation.messages
    return message


def stepped(step: Any) -> Message:
    """The message of an agent that took one step."""
    return told({"guideline": {"planItems": [step]}})


STEP = "/agentTaskContent/guideline/planItems/0"


def test_what_a_call_says_of_a_finish_stands_at_its_place() -> None:
    call = {"id": "of the call", "name": "Finish", "params": {"summary": "done"}, "result": {"status": "success"}}
    message = stepped({"id": "of the step", "status": "ok", "toolCallInfo": call})
    assert message.text == "done"
    assert extra(message) == {
        f"{STEP}/id": "of the step",
        f"{STEP}/status": "ok",
        f"{STEP}/toolCallInfo/id": "of the call",
        f"{STEP}/toolCallInfo/name": "Finish",
        f"{STEP}/toolCallInfo/result": {"status": "success"},
    }


def test_a_step_and_its_call_may_have_ids_of_their_own_and_nothing_else() -> None:
    message = stepped({"id": "of the step", "toolCallInfo": {"id": "of the call"}})
    assert extra(message) == {f"{STEP}/id": "of the step", f"{STEP}/toolCallInfo/id": "of the call"}


def test_a_step_and_its_call_may_have_results_of_their_own() -> None:
    call = {"id": "c", "name": "x", "result": "of the call"}
    message = stepped({"result": "of the step", "toolCallInfo": call})
    assert extra(message) == {f"{STEP}/toolCallInfo/result": "of the call"}
    assert stepped({"result": "same", "toolCallInfo": {**call, "result": "same"}}).extra is None


def test_keys_of_trae_are_escaped() -> None:
    pointer = "/agentTaskContent/content/a~1b"
    assert extra(told({"content": {"guideline": [], "a/b": 1}}))[pointer] == 1

    step = {"step_id": "1", "messages": [{"role": "user", "content": "q", "a/": 1}], "tool_calls": [], "tool_results": []}
    step["tool_calls"] = [{"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}]
    step["tool_results"] = [{"success": True, "result": "r", "tool_call_id": "c", "b~": 2}]
    run = {"agent_id": "a", "task": "q", "steps": [step], "completed": True}
    messages = convparse.parse_bytes(json.dumps(run).encode(), source="trae", name="f.json").conversation.messages
    extras = [message.extra.value for message in messages if message.extra is not None]
    assert [key for extra in extras for key in extra if "~" in key] == [
        "/steps/0/messages/0/a~1",
        "/steps/0/tool_results/0/b~0",
    ]
