"""What Codex's source does beyond what its fixtures show: containers, odd makes, edits, outputs, detection."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.test_codex_laws import check_units

import convparse
from convparse import ConvparseError, Event, Limits, Message, ParseResult
from convparse.blocks import Edit, Image, Injected, Text, Thinking, ToolCall, ToolResult, Unknown
from convparse.ledger import Ledger
from convparse.reading import racing, zstd
from convparse.sources._reading import hunk_of
from convparse.sources.codex import files
from convparse.sources.codex.outputs import Output, decode

FIXTURES: Final = Path(__file__).parent / "fixtures" / "codex"


def line(kind: str, payload: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload, **more}


META: Final = line("session_meta", {"id": "th", "timestamp": "2026-01-01T00:00:00.000Z"})


def parse(*rows: Any, limits: Limits | None = None) -> ParseResult:
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    result = convparse.parse_bytes(data, source="codex", name="x.jsonl", limits=limits)
    check_units(result, data)
    return result


def event(kind: str, /, **payload: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **payload})


def item(kind: str, /, **fields: Any) -> dict[str, Any]:
    return event("item_completed", thread_id="th", turn_id="t", item={"type": kind, **fields})


def response(kind: str, /, **payload: Any) -> dict[str, Any]:
    return line("response_item", {"type": kind, **payload})


def messages(*rows: Any) -> tuple[Message, ...]:
    return parse(META, *rows).conversation.messages


def codes(result: ParseResult) -> list[tuple[str, str, str]]:
    return [(drop.code, drop.record, drop.pattern) for drop in result.dropped]


# ---- odd makes -------------------------------------------------------------------------------------------------------------

ODD: Final = {
    "a message that is no text": event("user_message", message=3),
    "an event without a type": event("x") | {"payload": {"message": "a"}},
    "a type that is none": event("x") | {"payload": {"type": 3}},
    "an end with an odd id": event("exec_command_end", call_id=3),
    "an item that is none": event("item_completed", item=3),
    "an item with an odd id": item("AgentMessage", id=3, content=[]),
    "an item with odd content": item("AgentMessage", id="a", content="b"),
    "a prompt with odd content": item("UserMessage", id="a", content="b"),
    "a plan without a text": item("Plan", id="a", text=3),
    "reasoning without a summary": item("Reasoning", id="a", summary_text="b", raw_content=[]),
    "reasoning with an odd part": item("Reasoning", id="a", summary_text=[3], raw_content=[]),
    "a line whose payload is a list": line("event_msg", []),
    "an item of no type": line("response_item", {"a": 1}),
    "an item of an odd type": line("response_item", {"type": 4, "role": "user", "content": "a"}),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_of_an_odd_make_is_held_whole(name: str) -> None:
    result = parse(META, ODD[name])
    (_, odd) = result.conversation.entries
    assert isinstance(odd, Event)
    assert odd.kind == "unknown"
    assert odd.data is not None
    assert odd.data.value == ODD[name]
    assert [code for code, _, _ in codes(result)] == ["unknown-record"]


def test_odd_fields_stay_beside_what_can_be_read() -> None:
    passed = "internal_chat_message_metadata_passthrough"
    result = parse(
        META,
        response("message", role="assistant", content="Plain.", id=3, **{passed: "x"}),
        response("message", role=None, content={"a": 1}, **{passed: {"turn_id": 4}}),
        response("message", role="user", content=[{"type": "input_text"}]),
        response("reasoning", summary="a", content=[{"type": "new", "text": "b", "c": 1}]),
        response("function_call", name=3, arguments=[1], call_id=4) | {"metadata": 5},
        event("thread_name_updated", thread_name=6),
    )
    plain, odd, untold, reasoning, call = result.conversation.messages
    assert plain.text == "Plain."
    assert plain.extra is not None
    assert plain.extra.value == {"/payload/id": 3, f"/payload/{passed}": "x"}
    assert odd.extra is not None
    assert odd.extra.value["/payload/content"] == {"a": 1}
    assert type(untold.blocks[0]) is Unknown
    assert reasoning.extra is not None
    assert set(reasoning.extra.value) == {"/payload/summary", "/payload/content/0"}
    assert call.extra is not None
    assert call.extra.value == {"/metadata": 5, "/payload/call_id": 4, "/payload/name": 3}
    assert result.conversation.title is None
    assert {code for code, _, _ in codes(result)} == {"unexpected-type", "unknown-block", "missing-result"}


def test_items_say_more_than_text() -> None:
    parts = [
        {"type": "text", "text": "Look.", "text_elements": [{"start": 0}], "shade": 1},
        {"type": "image", "image_url": "https://x/y.png"},
        {"type": "skill", "name": "s"},
        {"type": "scent", "of": "rose"},
    ]
    alone = parse(META, item("UserMessage", id="u", content=parts))
    (message,) = alone.conversation.messages
    assert [type(block) for block in message.blocks] == [Text, Image, Unknown, Unknown]
    assert codes(alone) == [
        ("unknown-block", "item_completed/UserMessage/scent", "/payload/item/content/*"),
        ("unknown-field", "text", "/payload/item/content/*/shade"),
    ]
    twin = response("message", role="user", content=[{"type": "input_text", "text": "Look."}])
    for rows in ((twin, item("UserMessage", id="u", content=parts)), (item("UserMessage", id="u", content=parts), twin)):
        (message,) = messages(*rows)
        assert message.blocks == (Text("Look."),)
        assert message.extra is not None
        assert parts[1] in message.extra.value.values()


def test_plans_and_raw_reasoning() -> None:
    plan, thought = messages(
        item("Plan", id="p", text="First this."), item("Reasoning", id="r", summary_text=["a"], raw_content=None)
    )
    assert (plan.role, plan.author, plan.text) == ("plan", "model", "First this.")
    assert thought.blocks == (Thinking("a"),)
    assert thought.extra is not None


def test_the_ide_context_may_be_all_there_is() -> None:
    text = "# Context from my IDE setup:\n## My request for Codex:"
    (message,) = messages(event("user_message", message=text))
    assert message.blocks == (Injected("ide_context", text),)


def test_kinds_know_markers_and_pictures() -> None:
    content = [
        {"type": "input_text", "text": "Look."},
        {"type": "input_text", "text": "<image>"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA"},
        {"type": "input_text", "text": "</image>"},
    ]
    passed = {
        "internal_chat_message_metadata_passthrough": {
            "turn_id": "t",
            "content_item_kinds": ["user.text", "user.text", "user.image", "user.text"],
        }
    }
    (message,) = messages(response("message", role="user", content=content, **passed))
    assert message.text == "Look."
    assert message.author == "human"
    none = {"internal_chat_message_metadata_passthrough": {"turn_id": "t", "content_item_kinds": [None, "x", None, 3]}}
    (message,) = messages(response("message", role="user", content=content, **none))
    assert message.author == "harness"


# ---- calls -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("plain", Output()),
        ("{not json", Output()),
        ('{"output": 3}', Output()),
        ('{"output":"a","metadata":7}', Output()),
        ('{"output":"\\ud83d","metadata":{}}', Output()),
        ('{"output":"…12 tokens truncated…"}', Output(truncated=True)),
        ("[... omitted 3 of 9 lines ...]", Output(truncated=True)),
        ("Exit code: -1\nWall time: 2 seconds\nOutput:\n", Output(-1, 2.0)),
        ('Wall time: 1 s\nOutput:\n{"output":"a","metadata":{"exit_code":2,"duration_seconds":0.5}}', Output(2, 0.5)),
        ("Wall time: 1 s\nOutput:\n{}", Output(None, 1.0)),
        ("Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 9\nOutput:\nb", Output(None, 1.0)),
        ("Wall time: 1 s\nTotal output lines: 9\nOutput:\nWall time: 2 s\nOutput:\n", Output(None, 2.0, truncated=True)),
        ("Command: …1 chars truncated…\nExit code: 0\nOutput:\nb", Output(0)),
    ],
)
def test_outputs_are_decoded(text: str, output: Output) -> None:
    assert decode(text) == output


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (f"Exit code: {'9' * 5000}\nOutput:\n", Output()),
        (f"Wall time: {'9' * 400} seconds\nOutput:\n", Output()),
        ("Wall time: 1 s\nOutput:\n" * 2000, Output(None, 1.0)),
        ('{"output":"a","metadata":{"exit_code":1,"duration_seconds":1e999}}', Output(1)),
        (f'{{"output":"\\ud83d","metadata":{{"duration_seconds":{"9" * 400}}}}}', Output()),
    ],
    ids=["an exit code", "a time", "labels", "an infinite time", "an endless time"],
)
def test_no_output_says_too_much(text: str, output: Output) -> None:
    assert decode(text) == output


def test_what_ends_hold() -> None:
    rows = (
        item("ImageGeneration", id="i", status="completed", revised_prompt="a cat", result="AAAA", saved_path=None),
        item(
            "McpToolCall",
            id="m",
            server="s",
            tool="t",
            arguments={},
            status="completed",
            result={"content": [{"type": "text", "text": "r"}, 3]},
        ),
        item("Sleep", id="z", duration_ms=3),
        event("view_image_tool_call", call_id="v", path="/w/p.png"),
    )
    image, tool, sleep, view = messages(*rows)
    assert image.blocks[1].content == (Image(None, "AAAA"),)  # type: ignore[union-attr]
    assert tool.blocks[0].name == "t"  # type: ignore[union-attr]
    assert tool.blocks[1].content == (Text("r"),)  # type: ignore[union-attr]
    assert sleep.blocks[0].name == "Sleep"  # type: ignore[union-attr]
    assert view.blocks[0].kind == "read"  # type: ignore[union-attr]


def test_an_end_beside_its_search_is_its_full() -> None:
    action = {"type": "search", "query": "q"}
    (message,) = messages(
        response("web_search_call", id="ws_1", status="completed", action=action),
        event("web_search_end", call_id="ws_1", query="q", action=action),
    )
    call, result = message.blocks
    assert type(call) is ToolCall
    assert type(result) is ToolResult
    assert result.full is not None


def test_a_call_that_is_made_again_is_another() -> None:
    call = response("function_call", name="shell", arguments="{}", call_id="c")
    output = response("function_call_output", call_id="c", output="a")
    assert [m.role for m in messages(call, output, call, output)] == ["assistant", "tool"] * 2


PATCH: Final = (
    "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-x\n+y\n"
    "*** End of File\n*** Delete File: d.txt\n*** End Patch\n"
)
ASKED: Final = (
    Edit("a.txt", "create", after="one\ntwo\n", call_id="c"),
    Edit("b.txt", "move", "c.txt", "@@\n-x\n+y\n", call_id="c"),
    Edit("d.txt", "delete", call_id="c"),
)


def test_lines_of_a_change_end_at_lf_alone() -> None:
    patch = "*** Begin Patch\r\n*** Update File: b.txt\r\n@@\r\n-a\u2028b\x0c\r\n+c\r\n*** End Patch\r\n"
    call = response("custom_tool_call", name="apply_patch", input=patch, call_id="c")
    (edit,) = edits(call, response("custom_tool_call_output", call_id="c", output="ok"))
    assert (edit.path, edit.diff) == ("b.txt", "@@\r\n-a\u2028b\x0c\r\n+c\r\n")
    assert hunk_of("a\u2028b\r\n\n", "c") == "@@ @@\n-a\u2028b\r\n-\n+c\n"
    assert hunk_of("", "new\n") == "@@ @@\n+new\n"


def test_what_stands_beside_a_call_and_its_end_is_kept_of_both() -> None:
    call = response("function_call", name="a", arguments="{}", call_id="c") | {"metadata": {"client_authored": False}}
    end = event("exec_command_end", call_id="c") | {"metadata": {"client_authored": True}}
    (message,) = messages(call, end)
    assert message.extra is not None
    assert message.extra.value == {
        "/metadata": {"client_authored": False},
        "merged/0/metadata": {"client_authored": True},
    }


def test_of_the_same_words_the_last_64_are_looked_back_on() -> None:
    told = [event("agent_message", message="Done.") for _ in range(70)]
    said = [response("message", role="assistant", content="Done.") for _ in range(70)]
    found = messages(*told, *said)
    assert len(found) == 70 + 6
    assert [len(message.merged) for message in found] == 6 * [0] + 64 * [1] + 6 * [0]


def edits(call: dict[str, Any], *rows: Any) -> tuple[Edit, ...]:
    return parse(META, call, *rows).conversation.edits()


def test_edits_are_recorded_or_asked_for() -> None:
    custom = response("custom_tool_call", name="apply_patch", input=PATCH, call_id="c")
    done = response("custom_tool_call_output", call_id="c", output="ok")
    assert edits(custom, done) == ASKED
    shell = response("function_call", name="shell", arguments=json.dumps({"command": ["apply_patch", PATCH]}), call_id="c")
    assert edits(shell, response("function_call_output", call_id="c", output="ok")) == ASKED
    failed = response("function_call_output", call_id="c", output="Exit code: 1\nWall time: 0 seconds\nOutput:\nno")
    assert edits(shell, failed) == ()
    other = response("function_call", name="shell", arguments=json.dumps({"other": PATCH}), call_id="c")
    assert edits(other, response("function_call_output", call_id="c", output="ok")) == ()
    assert edits(response("custom_tool_call", name="x", input="y", call_id="c"), done) == ()
    assert (
        edits(
            response("function_call", name="x", arguments="{}", call_id="c"),
            response("function_call_output", call_id="c", output="ok"),
        )
        == ()
    )
    simple = response(
        "custom_tool_call", name="apply_patch", input="*** Begin Patch\n*** Update File: b\n@@\n-x\n+y\n", call_id="c"
    )
    assert edits(simple, done) == (Edit("b", "update", None, "@@\n-x\n+y\n", call_id="c"),)
    changes = {
        "a": {"type": "add", "content": "x\n"},
        "b": {"type": "update", "unified_diff": "@@", "move_path": "c"},
        "d": {"type": "delete", "content": "y\n"},
        "e": 3,
    }
    recorded = (
        Edit("a", "create", after="x\n", call_id="c"),
        Edit("b", "move", "c", "@@", call_id="c"),
        Edit("d", "delete", before="y\n", call_id="c"),
    )
    end = event("patch_apply_end", call_id="c", success=True, changes=changes)
    assert edits(custom, end, done) == recorded
    assert edits(custom, item("FileChange", id="c", changes=changes), done) == recorded
    assert edits(custom, event("exec_command_end", call_id="c", command=["x"]), end, done) == recorded


def test_spawned_threads_are_known_by_what_tells_of_them() -> None:
    call = response("function_call", name="spawn_agent", arguments="{}", call_id="c")
    for rows, links in (
        ((call, response("function_call_output", call_id="c", output="{broken")), []),
        ((call, response("function_call_output", call_id="c", output="[]")), []),
        ((call, event("collab_agent_spawn_end", call_id="c", new_thread_id="n", status="ok")), ["n"]),
        ((event("sub_agent_activity", event_id="c", agent_thread_id="n", kind="started"),), ["n"]),
        ((event("sub_agent_activity", event_id="c", agent_thread_id="n", kind="ended"),), []),
        ((item("CollabAgentToolCall", id="c", tool="spawn_agent", receiver_thread_ids="n"),), []),
    ):
        assert [link.id for link in parse(META, *rows).conversation.links] == links


def test_a_message_without_a_type_and_an_event_without_its_text() -> None:
    result = parse(
        META,
        line("response_item", {"role": "assistant", "content": "Hello."}),
        event("undo_completed", success=True, message=None),
    )
    assert result.conversation.messages[0].text == "Hello."
    assert result.dropped == ()


def test_other_names_of_a_turns_begin_and_end() -> None:
    result = parse(
        META, event("turn_started", turn_id="t"), event("user_message", message="Hi."), event("turn_complete", turn_id="t")
    )
    assert result.conversation.messages[0].turn_id == "t"
    assert [e.kind for e in result.conversation.events] == ["session", "turn-start", "turn-end"]


def test_pictures_with_more_than_a_place() -> None:
    picture = {"type": "input_image", "image_url": "https://x", "detail": "high"}
    (message,) = messages(response("message", role="assistant", content=[picture, picture]))
    assert message.extra is not None
    assert message.extra.value == {"/payload/content/0/detail": "high", "/payload/content/1/detail": "high"}


# ---- structure -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "author"),
    [({"internal": "x"}, "harness"), ({"custom": "x"}, "human"), ({"subagent": {}}, "human"), ("cli", "human")],
)
def test_who_asks(source: Any, author: str) -> None:
    result = parse(line("session_meta", {"id": "th", "source": source}), event("user_message", message="Hi."))
    assert result.conversation.messages[0].author == author


def test_a_fork_of_nothing_but_copies() -> None:
    fork = line("session_meta", {"id": "f", "forked_from_id": "th"})
    result = parse(fork, META, event("user_message", message="Hi."), event("thread_rolled_back", num_turns="x"))
    assert [e.inherited for e in result.conversation.entries] == [False, True, True, True]


def test_a_boundary_behind_the_last_line_hides_nothing() -> None:
    own = line("session_meta", {"id": "f", "subagent_history_start_ordinal": 9}, ordinal=0)
    result = parse(own, line("session_meta", {"id": "th"}, ordinal=1), event("user_message", message="Hi.") | {"ordinal": 2})
    assert not any(entry.inherited for entry in result.conversation.entries)


def test_keys_are_unique_over_a_chain(tmp_path: Path) -> None:
    def rollout(name: str, ids: list[str], **meta: Any) -> Path:
        rows = [
            line("session_meta", {"id": "th", **meta}),
            *(response("message", role="assistant", content=id, id=id) for id in ids),
        ]
        path = tmp_path / f"rollout-2026-01-01T00-00-00-{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    rollout("aaaaaaaa-1", ["m"])
    last = rollout("bbbbbbbb-2", ["m/2", "m"], history_base={"thread_id": "aaaaaaaa-1", "end_ordinal_exclusive": 3})
    keys = [message.key for message in convparse.parse(last).conversation.messages]
    assert keys == ["m", "m/2", "m/3"]


@pytest.mark.parametrize("archived", ["base", "fork", "both", "none"])
def test_a_base_is_found_where_one_of_the_two_was_archived(tmp_path: Path, archived: str) -> None:
    """Archiving moves a file out of the tree of days; the other one stays where it is."""

    def rollout(which: str, id: str, text: str, **meta: Any) -> Path:
        day = "archived_sessions" if archived in (which, "both") else f"sessions/2026/01/0{len(which)}"
        path = tmp_path / day / f"rollout-2026-01-01T00-00-00-{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        said = response("message", role="assistant", content=[{"type": "output_text", "text": text}])
        path.write_text("".join(json.dumps(row) + "\n" for row in (line("session_meta", {"id": id, **meta}), said)))
        return path

    rollout("base", "aaaaaaaa-1", "One")
    base = {"thread_id": "aaaaaaaa-1", "end_ordinal_exclusive": 2}
    conversation = convparse.parse(rollout("fork", "bbbbbbbb-2", "Two", history_base=base)).conversation

    assert [(m.text, m.inherited) for m in conversation.messages] == [("One", True), ("Two", False)]
    assert conversation.body == "complete"
    assert [(link.kind, link.id, link.until) for link in conversation.links] == [("base", "aaaaaaaa-1", 2)]


def test_a_file_may_be_in_a_chain_of_three(tmp_path: Path) -> None:
    def rollout(name: str, id: str, start: int, base: tuple[str, int] | None, text: str) -> Path:
        meta = {"id": id} | ({"history_base": {"thread_id": base[0], "end_ordinal_exclusive": base[1]}} if base else {})
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        rows = [
            line("session_meta", meta, ordinal=start),
            line("response_item", said, ordinal=start + 1),
            line(
                "token_usage_record",
                {"thread_id": id, "response_id": text, "usage": {"input_tokens": 1, "output_tokens": 1}},
                ordinal=start + 2,
            ),
            line("response_item", {**said, "content": [{"type": "output_text", "text": f"{text}!"}]}, ordinal=start + 3),
        ]
        path = tmp_path / f"rollout-2026-01-01T00-00-00-{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    rollout("aaaaaaaa-1", "aaaaaaaa-1", 0, None, "One")
    rollout("aaaaaaaa-1_bbbbbbbb-2", "aaaaaaaa-1", 3, ("aaaaaaaa-1", 3), "Two")
    last = rollout("cccccccc-3", "cccccccc-3", 6, ("bbbbbbbb-2", 6), "Three")
    result = convparse.parse(last)
    conversation = result.conversation
    assert conversation.body == "complete"
    assert [(m.text, m.inherited) for m in conversation.messages] == [
        ("One", True),
        ("Two", True),
        ("Three", False),
        ("Three!", False),
    ]
    assert conversation.usage.output_tokens == 1
    assert len({entry.key for entry in conversation.entries}) == len(conversation.entries)
    assert [a.balanced for a in result.accounts] == [True, True, True]
    assert {drop.code for drop in result.skipped} >= {"codex/beyond-base", "inherited-usage"}
    circle = rollout("dddddddd-4", "dddddddd-4", 6, ("dddddddd-4", 6), "Four")
    assert convparse.parse(circle).conversation.body == "partial"


# ---- containers ------------------------------------------------------------------------------------------------------------


def doc(*items: Any) -> bytes:
    return json.dumps({"session": {"id": "th", "timestamp": 3}, "items": items}).encode()


ITEM: Final = {"type": "message", "role": "user", "content": "Hi."}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + doc(ITEM),
        b"\xef\xbb\xbf" + doc(ITEM) + b" \0\0",
        b"\xef\xbb\xbf" + doc(ITEM) + json.dumps(ITEM).encode() + b"\n]\n}\n",
        doc(ITEM)[:-4] + b"\n" + json.dumps(ITEM).encode(),
        doc(ITEM) + b"]}",
        b'{"session":{},"items":[1e400]}',
        b'{"session":{}, "items":[' + b"[" * 300 + b"]" * 300 + b"]}",
        b'{"session":{}, "items":[' + b"[" * 300 + b"]" * 300 + b"]}" + json.dumps(ITEM).encode(),
        b'{"session":{"timestamp":"x"}, "items":{}}',
        b"",
        b"{",
    ],
)
def test_documents_of_every_make(data: bytes) -> None:
    result = convparse.parse_bytes(data or b"{", source="codex", name="x.json")
    check_units(result, data or b"{")


def test_a_document_over_the_limit_is_passed_by() -> None:
    result = convparse.parse_bytes(doc(ITEM), limits=Limits(document_bytes=10))
    assert codes(result) == [("oversized", "", "")]


@pytest.mark.parametrize("data", [doc(ITEM), doc(ITEM) + b"rest"])
def test_a_document_that_became_shorter(data: bytes) -> None:
    ledger = Ledger("x")
    units = list(racing.read_racing(io.BytesIO(data), len(data) + 5, ledger, files.is_item))
    assert sum(place[2] for _, place in units) + ledger.bins["lost"].bytes == len(data) + 5


OPENED: Final = [b'{"a"' * 9, b'{"a":[' * 400, b'{"a":' * 6_000, b'{"a":' * 300 + b"1" + b"}" * 300]


@pytest.mark.parametrize("opened", OPENED)
def test_the_search_for_items_is_bounded(opened: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects that do not end would each be read to the end of the file, as often as there are any."""
    read: list[int] = []
    scan = racing._object_end

    def counted(text: str, at: int) -> int:
        end = scan(text, at)
        read.append(abs(end) - at)
        return end

    monkeypatch.setattr(racing, "_object_end", counted)
    data = doc(ITEM)[:-1] + opened + json.dumps(ITEM).encode()
    result = convparse.parse_bytes(data, source="codex", name="x.jsonl")

    check_units(result, data)
    assert sum(read) <= 2 * (racing._SCANS + 1) * len(data)
    assert len([e for c in result.conversations for e in c.messages]) >= 1


class Zstd:
    """Compressed rollouts."""

    def __init__(self) -> None:
        self.module: Any = pytest.importorskip("backports.zstd")

    def __call__(self, data: bytes) -> bytes:
        compressed: bytes = self.module.compress(data)
        return compressed


def test_a_compressed_rollout_is_the_same(tmp_path: Path) -> None:
    plain = (FIXTURES / "normal_text.jsonl").read_bytes()
    file = tmp_path / "rollout-a.jsonl.zst"
    file.write_bytes(Zstd()(plain))
    result, other = convparse.parse(file), convparse.parse_bytes(plain)
    assert (result.variant, result.account.size) == ("rollout-zst", len(plain))
    assert result.account.balanced
    assert [m.blocks for m in result.conversation.messages] == [m.blocks for m in other.conversation.messages]
    with pytest.raises(ConvparseError):
        result.read(result.conversation.messages[0].origin)  # type: ignore[arg-type]


def test_what_else_is_compressed(tmp_path: Path) -> None:
    compress = Zstd()
    for data in (b"words", b"[1]", b'{"a":1}'):
        with pytest.raises(ConvparseError):
            convparse.parse_bytes(compress(data))
    named = tmp_path / "rollout-a.jsonl.zst"
    named.write_bytes(compress(b"words"))
    assert convparse.parse(named, "codex").lost[0].code in ("torn-tail", "malformed-line")


def test_a_compressed_rollout_has_a_base_too(tmp_path: Path) -> None:
    for path in (FIXTURES / "reverted").iterdir():
        (tmp_path / f"{path.name}.zst").write_bytes(Zstd()(path.read_bytes()))
    result = convparse.parse(next(tmp_path.glob("*r2*")))
    assert result.conversation.body == "complete"
    assert [m.text for m in result.conversation.prompts] == ["First.", "Third."]


@pytest.mark.parametrize("cut", [-1, -9, 20, 6])
def test_a_damaged_frame_ends_where_it_stands(tmp_path: Path, cut: int) -> None:
    plain = (FIXTURES / "mixed_blocks.jsonl").read_bytes()
    file = tmp_path / "rollout-a.jsonl.zst"
    file.write_bytes(Zstd()(plain)[:cut])
    result = convparse.parse(file)
    assert result.account.balanced
    assert "broken-compression" in {drop.code for drop in result.dropped}
    with file.open("rb") as raw:
        decoded, size = zstd.opened(raw)
        assert len(decoded.read()) == size
        assert decoded.damaged
        assert decoded.read() == b""


def test_without_a_decoder_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(zstd, "import_module", missing)
    file = tmp_path / "rollout-a.jsonl.zst"
    file.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(ConvparseError, match=r"convparse\[zstd\]"):
        convparse.parse(file)


# ---- detection -------------------------------------------------------------------------------------------------------------

DETECTED: Final[dict[str, tuple[Any, str]]] = {
    "line": (META, "rollout"),
    "header": ({"id": "a", "timestamp": "b", "instructions": None}, "bare"),
    "state": ({"record_type": "state"}, "bare"),
    "item": ({"type": "function_call_output", "call_id": "a", "output": "b"}, "bare"),
    "thread": ({"type": "thread.started", "thread_id": "a"}, "exec-json"),
    "prompt": ({"prompt": "a"}, "exec-json"),
    "message": ({"id": "0", "msg": {"type": "task_started"}}, "exec-json"),
    "history": ({"session_id": "a", "ts": 1, "text": "b"}, "history"),
    "index": ({"id": "a", "thread_name": "b", "updated_at": "c"}, "index"),
}


@pytest.mark.parametrize("name", DETECTED)
def test_content_tells_the_variant(name: str) -> None:
    row, variant = DETECTED[name]
    result = convparse.parse_bytes(json.dumps(row).encode() + b"\n3\n")
    assert (result.source, result.variant) == ("codex", variant)


TESTS: Final[tuple[tuple[Callable[[dict[str, Any]], bool], dict[str, Any], bool], ...]] = (
    (files.is_streamed, {"type": "error"}, True),
    (files.is_streamed, {"id": 1, "msg": {}}, True),
    (files.is_streamed, {"id": 1}, False),
    (files.is_prompt, {"ts": 1}, False),
    (files.is_name, {"id": "a", "thread_name": "b"}, True),
    (files.is_item, {"type": "message"}, True),
    (files.is_bare, {"record_type": "state"}, True),
)


@pytest.mark.parametrize("case", TESTS, ids=lambda case: f"{case[0].__name__}-{sorted(case[1])}")
def test_what_can_stand_alone(case: tuple[Callable[[dict[str, Any]], bool], dict[str, Any], bool]) -> None:
    test, value, expected = case
    assert test(value) is expected


def test_saved_stdout_of_odd_makes() -> None:
    start = {"type": "thread.started", "thread_id": "th"}
    for row in (
        3,
        {"type": "item.completed", "item": {"id": 3, "type": "reasoning", "text": "a"}},
        {"type": "item.completed", "item": {"id": "a", "type": "agent_message"}},
        {"what": 1},
    ):
        (_, odd) = parse(start, row).conversation.entries
        assert isinstance(odd, Event)
        assert odd.kind == "unknown"
    lone = {"type": "item.updated", "item": {"id": None, "type": "agent_message", "text": "a", "mood": 1}}
    (message,) = parse(start, lone).conversation.messages
    assert message.extra is not None
    assert message.extra.value == {"/item/mood": 1, "/type": "item.updated"}
    ran = {"id": "a", "type": "command_execution", "command": "ls", "status": "in_progress"}
    rows = [
        {"type": f"item.{word}", "item": ran | {"status": word[:6]}} for word in ("started", "updated", "updated", "completed")
    ]
    result = parse(start, *rows, {"type": "item.started", "item": {"id": "a", "type": "reasoning", "text": "b"}})
    first, second = result.conversation.messages
    assert len(first.merged) == 3
    assert second.thinking == "b"
    told = [{"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}}] * 2
    twice = parse(start, {"type": "item.completed", "item": {"id": "a", "type": "agent_message", "text": "b"}}, *told)
    assert twice.conversation.usage.output_tokens == 4
    counts = [
        {
            "id": "0",
            "msg": {
                "type": "token_count",
                "info": {"total_token_usage": {"a": 1}, "last_token_usage": {"input_tokens": 1, "output_tokens": 2}},
            },
        }
    ] * 2
    old = parse(
        {"model": 3}, {"prompt": "a", "b": 1}, {"id": "0", "msg": {"type": "agent_message", "message": "c", "d": 2}}, *counts
    )
    assert old.conversation.usage.output_tokens == 2
    assert codes(old) == [("unknown-field", "prompt", "/b")]


def test_a_name_or_prompt_that_is_no_object() -> None:
    for row in ({"session_id": "a", "ts": 1, "text": "b"}, {"id": "a", "thread_name": "b", "updated_at": 4}):
        result = parse(row, [1])
        assert len(result.loose) == 2
        assert codes(result)[-1][0] == "not-an-object"


def test_counts_of_an_odd_make_count_nothing() -> None:
    record = line("token_usage_record", {"thread_id": "th", "response_id": 3, "usage": {"input_tokens": 4, "output_tokens": 1}})
    said = response("message", role="assistant", content="a")
    assert parse(META, said, record).conversation.usage.input_tokens == 4
    for odd in (3, {"input_tokens": "x", "output_tokens": 1}):
        assert parse(META, said, event("token_count", info={"last_token_usage": odd})).conversation.usage.input_tokens is None
    late = parse(META, event("token_count", info={"last_token_usage": {"input_tokens": 4, "output_tokens": 1}}))
    assert late.conversation.usage.input_tokens is None


def test_a_search_with_an_id_of_its_own_is_not_what_another_searched() -> None:
    action = {"type": "search", "query": "q"}
    result = parse(
        META,
        response("web_search_call", id="ws_1", status="completed", action=action),
        event("web_search_end", call_id="ws_2", query="q", action=action),
    )

    calls = [block for said in result.conversation.messages for block in said.blocks if type(block) is ToolCall]
    assert [call.id for call in calls] == ["ws_1", "ws_2"]
