"""What stands where in an export, and what is named: by hand, format by format."""

import json
import subprocess
import sys
from typing import Any

import attrs
import pytest
from tests.environment import unmeasured
from tests.results import AT, EVERYTHING
from tests.strategies_records import with_blocks, with_entries

from convparse import (
    CODES,
    Answer,
    Attachment,
    ContentDropped,
    Context,
    Conversation,
    ConvparseError,
    Edit,
    Event,
    Image,
    Injected,
    Json,
    Link,
    Message,
    ParseResult,
    Reference,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)
from convparse.export import atif, markdown, openai_chat, otel
from convparse.export._account import Export, Omission

MODULES = [markdown, atif, otel, openai_chat]


def said(key: str, *blocks: Any, **fields: Any) -> Message:
    return attrs.evolve(Message(key, None, "assistant", "model", blocks), **fields)


def asked(key: str, *blocks: Any, **fields: Any) -> Message:
    return attrs.evolve(Message(key, None, "user", "human", blocks), **fields)


def came(key: str, *blocks: Any, **fields: Any) -> Message:
    return attrs.evolve(Message(key, None, "user", "tool", blocks), **fields)


def call(id: str | None, given: Any = Json("{}")) -> ToolCall:  # noqa: B008 - frozen
    return ToolCall(id, "Run", "execute", given)


def result(id: str | None, *texts: str) -> ToolResult:
    return ToolResult(id, tuple(map(Text, texts)))


def named(export: Export[Any], code: str) -> list[str]:
    """Keys and pointers of what is named by a code."""
    return [f"{place.key}{place.pointer}" for item in export.dropped if item.code == code for place in item.places]


def chat(*entries: Any, **fields: Any) -> list[dict[str, Any]]:
    (row,) = openai_chat.export(with_entries(*entries, **fields)).document
    return row["messages"]


def steps(*entries: Any, **fields: Any) -> list[dict[str, Any]]:
    (trajectory,) = atif.export(with_entries(*entries, **fields)).document
    return trajectory["steps"]


def parts(*blocks: Any, **fields: Any) -> list[dict[str, Any]]:
    """The parts that OpenTelemetry's message of these blocks has."""
    (operation,) = otel.export(with_blocks(*blocks, **fields)).document
    return operation["gen_ai.output.messages"][0]["parts"]


# ---- the same for all ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", MODULES)
def test_an_export_takes_a_result_and_nothing_else(module: Any):
    with pytest.raises(ConvparseError, match="takes a ParseResult, not Conversation"):
        module.export(EVERYTHING.conversations[0])


@pytest.mark.parametrize("module", MODULES)
def test_an_export_of_nothing_is_empty(module: Any):
    export = module.export(ParseResult("x", "y", ""))

    assert not export.document or export.document == "\n"
    assert () == export.dropped


def test_every_code_of_exports_is_produced():
    orphan = with_entries(came("m0", result("c9", "x")), said("m1", call("c1"), call("c1"), Text("a"), Text("b")), came("m2"))
    moved = with_entries(said("m1", call("c1")), asked("m2", Text("x")), came("m3", result("c1", "y")))
    exports = [module.export(r) for module in MODULES for r in (EVERYTHING, orphan, moved)]

    codes = {item.code for export in exports for item in export.dropped}
    assert codes == {code for code in CODES if code.startswith("export-")}


def test_an_omission_says_what_why_and_how_often():
    item = Omission("export-no-field", "lost", "Text", "/blocks/*/text", (), "no field")
    one, two = (attrs.evolve(item, places=(openai_chat.export(EVERYTHING).dropped[0].places[0],) * n) for n in (1, 2))

    assert "lost export-no-field: no field Text /blocks/*/text" == str(one)
    assert "lost export-no-field: no field Text /blocks/*/text (x2)" == str(two)
    assert 2 == two.count


def test_strictness_is_the_callers():
    export = openai_chat.export(with_blocks(Text("a"), Text("b")))

    assert export is export.raise_if("export-moved")
    assert export is export.raise_if(ignore=("export-no-field", "export-joined"))
    with pytest.raises(ContentDropped, match=r"export-joined.*/blocks/\*/text"):
        export.raise_if("export-joined", ignore="export-no-field")
    with pytest.raises(ContentDropped):
        export.raise_if()
    with pytest.raises(ConvparseError, match="no such code: export-nothing"):
        export.raise_if("export-nothing")


def test_what_is_lost_is_apart_from_what_is_altered():
    export = openai_chat.export(with_blocks(Text("a"), Text("b")))

    assert {"lost"} == {item.fate for item in export.lost}
    assert {"lost", "altered"} == {item.fate for item in export.dropped}


def test_an_export_is_imported_only_when_used():
    code = "import sys, convparse; print([name for name in sys.modules if name.startswith('convparse.export')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=unmeasured())

    assert "[]" == done.stdout.strip()


# ---- the line of talk ------------------------------------------------------------------------------------------------------


def test_rows_of_one_response_are_one_step():
    rows = [
        said("m1", Text("I look"), response_id="r1"),
        said("m2", call("a"), response_id="r1"),
        said("m3", call("b"), response_id="r1"),
        came("m4", result("a", "A")),
        came("m5", result("b", "B")),
    ]

    first, *answers = chat(*rows)
    assert ("I look", ["a", "b"]) == (first["content"], [made["id"] for made in first["tool_calls"]])
    assert [("a", "A"), ("b", "B")] == [(made["tool_call_id"], made["content"]) for made in answers]
    assert [] == named(openai_chat.export(with_entries(*rows)), "export-moved")


def test_results_stand_in_the_order_of_their_calls():
    row = said("m1", call("a"), call("b"))
    turned = (row, came("m2", result("b", "B")), came("m3", result("a", "A")))
    again = (row, came("m2", result("a", "1")), came("m3", result("b", "B")), came("m4", result("a", "2")))

    assert [None, "A", "B"] == [message["content"] for message in chat(*turned)]
    assert [None, "1\n2", "B"] == [message["content"] for message in chat(*again)]
    assert ["m3/blocks/0"] == named(openai_chat.export(with_entries(*turned)), "export-moved")
    assert ["m4/blocks/0"] == named(openai_chat.export(with_entries(*again)), "export-moved")


def test_a_response_that_goes_on_after_a_result_is_named():
    rows = [
        said("m1", call("a"), response_id="r1"),
        came("m2", result("a", "A")),
        said("m3", call("b"), response_id="r1"),
        came("m4", result("b", "B")),
    ]

    assert ["assistant", "tool", "tool"] == [message["role"] for message in chat(*rows)]
    assert ["m3"] == named(openai_chat.export(with_entries(*rows)), "export-moved")


def test_a_message_that_holds_calls_results_and_words_is_several_steps():
    message = said("m1", Text("one"), call("a"), result("a", "A"), Text("two"), call("b"), result("b", "B"), Text("three"))

    made = chat(message)
    assert ["assistant", "tool", "assistant", "tool", "assistant"] == [item["role"] for item in made]
    assert ["one", "A", "two", "B", "three"] == [item["content"] for item in made]
    assert ["one", "two", "three"] == [step["message"] for step in steps(message)]


def test_a_result_stands_behind_its_call_wherever_it_stood():
    late = (said("m1", call("a")), asked("m2", Text("meanwhile")), came("m3", result("a", "A")))
    early = (came("m1", result("a", "A")), said("m2", call("a")))

    assert [None, "A", "meanwhile"] == [message["content"] for message in chat(*late)]
    assert [None, "A"] == [message["content"] for message in chat(*early)]
    assert ["m3/blocks/0"] == named(openai_chat.export(with_entries(*late)), "export-moved")
    assert ["m1/blocks/0"] == named(openai_chat.export(with_entries(*early)), "export-moved")


def test_a_result_belongs_to_the_nearest_call_of_its_id():
    again = (said("m1", call("a")), came("m2", result("a", "1")), said("m3", call("a")), came("m4", result("a", "2")))

    assert [None, "1", None, "2"] == [message["content"] for message in chat(*again)]


@pytest.mark.parametrize("state", ["withdrawn", "undone", "superseded", "orphan", "pending"])
def test_messages_that_are_not_active_are_named_whole(state: str):
    result = with_entries(asked("m1", Text("no"), state=state), asked("m2", Text("yes")))

    for module in (atif, otel, openai_chat):
        assert "no" not in json.dumps(module.export(result).document).split('"')
        assert ["m1"] == named(module.export(result), "export-not-active")
    assert f"## human · {state}" in markdown.export(result).document


def test_events_are_named_whole():
    for module in (atif, otel, openai_chat):
        assert "e1" in named(module.export(with_entries(Event("e1", "hook", "h", "ran"), asked("m1"))), "export-no-field")


@pytest.mark.parametrize(
    ("role", "author", "chat_role", "source"),
    [
        ("user", "human", "user", "user"),
        ("queue-operation", "human", "user", "user"),
        ("assistant", "model", "assistant", "agent"),
        ("user", "model", "user", "user"),
        ("assistant", "harness", "assistant", "agent"),
        ("user", "harness", "user", "user"),
        ("tool", "harness", "user", "user"),
        ("developer", "harness", "developer", "system"),
        ("system", None, "system", "system"),
        ("ai", None, "assistant", "agent"),
        ("oracle", None, "user", "user"),
        ("user", "tool", "user", "system"),
    ],
)
def test_who_speaks(role: str, author: Any, chat_role: str, source: str):
    message = Message("m1", None, role, author, (Text("x"),))

    assert [(chat_role, "x")] == [(made["role"], made["content"]) for made in chat(message)]
    assert [(source, "x")] == [(made["source"], made["message"]) for made in steps(message)]
    assert (["m1/role"] if role != chat_role else []) == named(openai_chat.export(with_entries(message)), "export-reworded")


def test_a_call_is_the_models_wherever_it_stands():
    made = chat(asked("m1", Text("!ls"), call("a"), result("a", "out")))

    assert [("user", "!ls"), ("assistant", None), ("tool", "out")] == [(m["role"], m["content"]) for m in made]


# ---- chat messages ---------------------------------------------------------------------------------------------------------


def test_arguments_are_the_text_of_their_json_and_free_text_is_a_custom_call():
    message, *answers = chat(said("m1", call("a", Json('{"n":1.50}')), call("b", "*** Begin")))

    assert [
        {"id": "a", "type": "function", "function": {"name": "Run", "arguments": '{"n":1.50}'}},
        {"id": "b", "type": "custom", "custom": {"name": "Run", "input": "*** Begin"}},
    ] == message["tool_calls"]
    assert ["tool", "tool"] == [m["role"] for m in answers]


def test_a_call_without_a_result_is_answered_with_nothing_which_is_named():
    assert {"role": "tool", "tool_call_id": "a", "content": ""} == chat(said("m1", call("a")))[1]
    assert ["m1/blocks/0"] == named(openai_chat.export(with_blocks(call("a"))), "export-stand-in")


def test_two_results_of_one_call_are_one_message_which_is_named():
    rows = (said("m1", call("a")), came("m2", result("a", "started")), came("m3", result("a", "done")))

    assert "started\ndone" == chat(*rows)[1]["content"]
    assert ["m3/blocks/0", "m3/blocks/0/content/0/text"] == named(openai_chat.export(with_entries(*rows)), "export-joined")


def test_a_result_without_a_call_cannot_be_said():
    export = openai_chat.export(with_entries(came("m1", result("a", "A"), result(None, "B"))))

    assert [{"id": "s1", "messages": []}] == export.document
    assert ["m1/blocks/0", "m1/blocks/1"] == named(export, "export-not-allowed")


def test_calls_that_share_an_id_or_have_none_get_one_of_their_place():
    made = chat(said("m1", call("a"), call("a"), call(None)), came("m2", result("a", "A")))

    assert ["a", "m1/blocks/1", "m1/blocks/2"] == [c["id"] for c in made[0]["tool_calls"]]
    assert ["", "A", ""] == [m["content"] for m in made[1:]]


def test_pictures_and_files_of_a_user_are_parts():
    picture, place = Image("image/png", "aGk="), Image(None, None, "file:///a.png")
    pdf, nameless = (
        Attachment("document", "a.pdf", "application/pdf", "words", "cGRm"),
        Attachment("x", None, "a/b", None, "cGRm"),
    )

    (message,) = chat(asked("m1", Text("see"), picture, place, pdf, nameless, Image("image/png")))
    assert [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "image_url", "image_url": {"url": "file:///a.png"}},
        {"type": "text", "text": "words"},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,cGRm", "filename": "a.pdf"}},
        {"type": "file", "file": {"file_data": "data:a/b;base64,cGRm"}},
    ] == message["content"]


def test_pictures_of_others_are_named():
    rows = (
        said("m1", Text("see"), Image("image/png", "aGk="), call("a")),
        came("m2", ToolResult("a", (Image("image/png", "aGk="),))),
    )
    export = openai_chat.export(with_entries(*rows))

    assert ["see", ""] == [message["content"] for message in export.document[0]["messages"]]
    assert {"m1/blocks/1", "m2/blocks/0/content/0"} <= set(named(export, "export-no-field"))


def test_texts_are_joined_and_reasoning_has_no_field():
    export = openai_chat.export(
        with_blocks(Thinking("hm"), Text("a"), Answer("which?", "this"), Reference("b.py"), Injected("x", "y"))
    )

    assert "a\nwhich?\nthis\nb.py\ny" == export.document[0]["messages"][0]["content"]
    assert ["m1/blocks/2/text", "m1/blocks/3/text", "m1/blocks/4/text"] == named(export, "export-joined")
    assert "m1/blocks/0" in named(export, "export-no-field")


def test_a_message_without_words_or_calls_is_not_said():
    assert [] == chat(asked("m1"), said("m2"), said("m3", Thinking("hm")), asked("m4", Unknown("u", Json("1"))))


# ---- ATIF ------------------------------------------------------------------------------------------------------------------


def test_a_trajectory_says_who_and_what():
    context = Context("/home/ada", version="2.1.0")
    (made,) = atif.export(with_entries(asked("m1", Text("x")), title="A title", context=context)).document

    assert ("ATIF-v1.7", "s1", "s1") == (made["schema_version"], made["session_id"], made["trajectory_id"])
    assert {"name": "claude-code", "version": "2.1.0", "extra": {"cwd": "/home/ada"}} == made["agent"]
    assert {"title": "A title"} == made["extra"]
    assert {"total_steps": 1} == made["final_metrics"]


def test_a_version_that_is_not_recorded_is_a_stand_in():
    export = atif.export(with_entries(asked("m1", Text("x"))))

    assert {"name": "claude-code", "version": "unknown"} == export.document[0]["agent"]
    assert ["None/context/version"] == named(export, "export-stand-in")


def test_a_step_has_what_the_format_has_fields_for_and_the_rest_by_place():
    usage = Usage(100, 20, 3, 1, 7, 2, 0.5, "USD")
    row = said("m1", Thinking("hm", "sig"), Text("so"), timestamp=AT, model="opus", usage=usage, context=Context(effort="high"))

    (step,) = steps(attrs.evolve(row, stop_reason="end_turn"))
    extra = step.pop("extra")
    assert {
        "step_id": 1,
        "timestamp": "2026-03-01T09:30:15.123456+05:30",
        "source": "agent",
        "model_name": "opus",
        "reasoning_effort": "high",
        "message": "so",
        "reasoning_content": "hm",
        "metrics": {
            "prompt_tokens": 123,
            "completion_tokens": 7,
            "cached_tokens": 20,
            "cost_usd": 0.5,
            "extra": {"input_tokens": 100, "cache_write_tokens": 3, "cache_write_1h_tokens": 1, "reasoning_tokens": 2}
            | {"cost_unit": "USD"},
        },
    } == step
    assert {
        "m1": {"key": "m1", "role": "assistant", "author": "model", "stop_reason": "end_turn"},
        "m1/blocks/0": {"signature": "sig"},
    } == extra


def test_cost_in_other_units_is_no_dollars_and_sums_leave_the_parts():
    rows = (
        said("m1", Text("a"), response_id="r", usage=Usage(output_tokens=1, cost=2.0, cost_unit="credits")),
        said("m2", Text("b"), response_id="r", usage=Usage(output_tokens=2)),
        asked("m3", Text("c"), usage=Usage(output_tokens=9)),
        said("m4", Text("d"), usage=Usage()),
    )

    first, second, third = steps(*rows)
    assert {"completion_tokens": 3, "extra": {"cost": 2.0, "cost_unit": "credits"}} == first["metrics"]
    assert [1, 2] == [first["extra"][key]["usage"]["output_tokens"] for key in ("m1", "m2")]
    assert 9 == second["extra"]["m3"]["usage"]["output_tokens"]
    assert "metrics" not in second
    assert "metrics" not in third
    (made,) = atif.export(with_entries(*rows)).document
    assert {"total_completion_tokens": 3, "total_steps": 3} == made["final_metrics"]


def test_arguments_that_are_no_object_become_one_which_is_named():
    export = atif.export(with_blocks(call("a", "*** Begin"), call("b", Json("[1]")), call("c", Json('{"x":1}'))))

    made = export.document[0]["steps"][0]["tool_calls"]
    assert [{"input": "*** Begin"}, {"input": [1]}, {"x": 1}] == [item["arguments"] for item in made]
    assert [{"kind": "execute"}] * 3 == [item["extra"] for item in made]
    assert ["m1/blocks/0/input", "m1/blocks/1/input"] == named(export, "export-reworded")


def test_results_are_observations_with_all_that_is_known_of_them():
    came_of = ToolResult(
        "a", (Text("x"), Image("image/png", "aGk="), Image("image/svg+xml", "aGk=")), True, 1, 0.5, "failed", full=Json("{}")
    )
    (step,) = steps(said("m1", call("a")), came("m2", came_of, result("a", "again"), result(None, "whose?")))[:1]

    assert [
        {
            "source_call_id": "a",
            "extra": {"is_error": True, "exit_code": 1, "duration": 0.5, "status": "failed", "full": {}},
            "content": [
                {"type": "text", "text": "x"},
                {"type": "image", "source": {"media_type": "image/png", "path": "data:image/png;base64,aGk="}},
            ],
        },
        {"source_call_id": "a", "content": "again"},
    ] == step["observation"]["results"]
    assert {"type": "image", "media_type": "image/svg+xml", "data": "aGk="} == step["extra"]["m2/blocks/0/content/2"]


def test_a_result_without_a_call_is_an_observation_of_the_system():
    (step,) = steps(came("m1", result("gone", "A")))

    assert ("system", "") == (step["source"], step["message"])
    assert [{"extra": {"call_id": "gone"}, "content": "A"}] == step["observation"]["results"]


def test_a_picture_at_a_place_and_blocks_without_a_field():
    edit, unknown = Edit("a.py", "update", diff="@@"), Unknown("new", Json('{"a":1}'))
    (step,) = steps(asked("m1", Image("image/gif", None, "a.gif"), edit, unknown, Attachment("f", "a.txt", text="words")))

    assert [
        {"type": "image", "source": {"media_type": "image/gif", "path": "a.gif"}},
        {"type": "text", "text": "words"},
    ] == step["message"]
    assert {"type": "edit", "path": "a.py", "kind": "update", "diff": "@@"} == step["extra"]["m1/blocks/1"]
    assert {"type": "unknown", "kind": "new", "json": {"a": 1}} == step["extra"]["m1/blocks/2"]
    assert {"kind": "f", "name": "a.txt"} == step["extra"]["m1/blocks/3"]


def test_copied_rows_are_marked():
    mine, copied = steps(said("m1", Text("a")), said("m2", Text("b"), inherited=True))

    assert "is_copied_context" not in mine
    assert copied["is_copied_context"] is True
    assert "inherited" not in copied["extra"]["m2"]


def family(*talks: tuple[str, tuple[Link, ...], tuple[Message, ...]]) -> ParseResult:
    made = [Conversation(id, "claude-code", links=links, entries=entries) for id, links, entries in talks]
    return ParseResult("claude-code", "transcript", "", tuple(made))


def test_sub_agents_stand_inside_and_the_call_refers_to_them():
    done, unanswered = Link("subagent", "s2", "a"), Link("subagent", "s3", "b")
    parent = (said("m1", call("a"), call("b")), came("m2", result("a", "fine")))
    result_ = family(
        ("s1", (done, unanswered, Link("subagent", "s4")), parent),
        ("s2", (), (asked("m3", Text("task")),)),
        ("s3", (), (asked("m4", Text("task")),)),
        ("s4", (), (asked("m5", Text("task")),)),
    )

    (made,) = atif.export(result_).document
    assert ["s2", "s3", "s4"] == [child["trajectory_id"] for child in made["subagent_trajectories"]]
    assert [
        {
            "source_call_id": "a",
            "content": "fine",
            "subagent_trajectory_ref": [{"trajectory_id": "s2", "session_id": "s2"}],
        },
        {"source_call_id": "b", "subagent_trajectory_ref": [{"trajectory_id": "s3", "session_id": "s3"}]},
    ] == made["steps"][0]["observation"]["results"]


def test_a_circle_of_sub_agents_is_cut_and_every_conversation_is_there_once():
    one = (asked("m1", Text("1")),)
    two = (asked("m2", Text("2")),)
    links = (Link("subagent", "s1"), Link("subagent", "s2"), Link("fork", "s2"))
    (made,) = atif.export(family(("s1", links, one), ("s2", links, two))).document

    assert ("s1", ["s2"]) == (made["trajectory_id"], [child["trajectory_id"] for child in made["subagent_trajectories"]])
    assert "subagent_trajectories" not in made["subagent_trajectories"][0]


def test_sub_agents_may_be_nested_deep():
    many = 2_000
    talks = [(f"s{n}", (Link("subagent", f"s{n + 1}"),), (asked(f"m{n}", Text("x")),)) for n in range(many)]

    (made,) = atif.export(family(*talks)).document
    assert many == markdown.export(family(*talks)).document.count("\n# ") + 1
    for n in range(1, many):
        (made,) = made["subagent_trajectories"]
        assert f"s{n}" == made["trajectory_id"]


def test_a_conversation_without_steps_is_no_trajectory():
    export = atif.export(family(("s1", (Link("subagent", "s2"),), ()), ("s2", (), (asked("m1", Text("x")),))))

    assert ["s2"] == [made["trajectory_id"] for made in export.document]
    assert ["None"] == named(export, "export-not-allowed")


# ---- OpenTelemetry ---------------------------------------------------------------------------------------------------------


def test_an_operation_is_a_response_with_what_is_new_before_it():
    usage = Usage(100, 20, 3, 1, 7, 2)
    rows = (
        Message("m0", None, "system", "harness", (Text("be kind"),)),
        asked("m1", Text("go")),
        said("m2", call("a"), response_id="r1", model="opus", usage=usage, stop_reason="tool_use"),
        came("m3", result("a", "A")),
        said("m4", Text("done"), stop_reason="end_turn"),
        asked("m5", Text("thanks")),
    )
    export = otel.export(with_entries(*rows, context=Context(version="2.1.0")))

    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "s1",
        "gen_ai.agent.name": "claude-code",
        "gen_ai.agent.version": "2.1.0",
    }
    first, second, last = export.document
    assert (
        about
        | {
            "gen_ai.response.id": "r1",
            "gen_ai.response.model": "opus",
            "gen_ai.response.finish_reasons": ["tool_use"],
            "gen_ai.usage.input_tokens": 123,
            "gen_ai.usage.cache_read.input_tokens": 20,
            "gen_ai.usage.cache_creation.input_tokens": 3,
            "gen_ai.usage.output_tokens": 7,
            "gen_ai.usage.reasoning.output_tokens": 2,
            "gen_ai.input.messages": [
                {"role": "system", "parts": [{"type": "text", "content": "be kind"}]},
                {"role": "user", "parts": [{"type": "text", "content": "go"}]},
            ],
            "gen_ai.output.messages": [
                {
                    "role": "assistant",
                    "parts": [{"type": "tool_call", "id": "a", "name": "Run", "arguments": {}}],
                    "finish_reason": "tool_use",
                }
            ],
        }
        == first
    )
    assert [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "a", "response": "A"}]}] == second[
        "gen_ai.input.messages"
    ]
    assert about | {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "thanks"}]}]} == last
    assert ["m3/role", "m2/usage/input_tokens"] == named(export, "export-reworded")


def test_every_block_that_has_a_part():
    blocks = (
        *(Thinking("hm"), Thinking("", hidden=True), Text("a"), Injected("x", "b"), Answer("", "c"), Answer("q", "d")),
        *(Image("image/png", "aGk="), Image(None, None, "file:///a"), Image("image/png"), Reference("e", "file:///b")),
        *(Attachment("d", "n", "application/pdf", "f", "cGRm"), Attachment("d", media_type="video/mp4", uri="file:///v")),
        *(Edit("a.py", "update"), Unknown("new", Json("[1]")), call("a", "free")),
    )

    made = parts(*blocks)
    assert [
        {"type": "reasoning", "content": "hm"},
        *({"type": "text", "content": text} for text in ("a", "b", "c", "q", "d")),
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="},
        {"type": "uri", "modality": "image", "mime_type": None, "uri": "file:///a"},
        {"type": "text", "content": "e"},
        {"type": "text", "content": "f"},
        {"type": "blob", "modality": "document", "mime_type": "application/pdf", "content": "cGRm"},
        {"type": "uri", "modality": "video", "mime_type": "video/mp4", "uri": "file:///v"},
        {"type": "edit", "path": "a.py", "kind": "update"},
        {"type": "unknown", "kind": "new", "json": [1]},
        {"type": "tool_call", "id": "a", "name": "Run", "arguments": "free"},
    ] == made


@pytest.mark.parametrize(
    ("content", "response"),
    [
        ((), ""),
        ((Text("x"),), "x"),
        ((Text("x"), Text("y")), [{"type": "text", "content": "x"}, {"type": "text", "content": "y"}]),
        ((Image("image/png", "aGk="),), [{"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="}]),
    ],
)
def test_a_response_of_a_tool_is_text_or_parts(content: Any, response: Any):
    (operation,) = otel.export(with_entries(came("m1", ToolResult("gone", content)))).document

    (message,) = operation["gen_ai.input.messages"]
    assert {"role": "tool", "parts": [{"type": "tool_call_response", "id": "gone", "response": response}]} == message


def test_a_stop_reason_belongs_to_the_last_step_of_a_message():
    message = said("m1", call("a"), result("a", "A"), Text("so"), stop_reason="end_turn", response_id="r1")
    export = otel.export(with_entries(message))

    assert ["unknown", "end_turn"] == [op["gen_ai.output.messages"][0]["finish_reason"] for op in export.document]
    assert ["m1/stop_reason"] == named(export, "export-stand-in")


def test_tokens_of_several_rows_are_a_sum_which_is_named():
    rows = [said(f"m{n}", Text("x"), response_id="r1", usage=Usage(n, output_tokens=n)) for n in (1, 2)]
    export = otel.export(with_entries(*rows))

    assert (3, 3) == tuple(export.document[0][f"gen_ai.usage.{side}_tokens"] for side in ("input", "output"))
    assert ["m1/usage", "m2/usage"] == named(export, "export-reworded")


# ---- Markdown --------------------------------------------------------------------------------------------------------------


def test_markdown_reads_like_this():
    rows = (
        asked("m1", Text("Count *them*"), timestamp=AT),
        said("m2", call("a", Json('{"command":"ls"}'))),
        came("m3", result("a", "12")),
    )

    assert [
        *["# Counting \\*stars\\*", "", "<details>", "<summary>Conversation: s1</summary>", "", "```json"],
        *['{"id": "s1", "source": "claude-code", "title": "Counting *stars*"}', "```", "", "</details>", ""],
        *["## human · 2026-03-01T09:30:15.123456+05:30", "", "```markdown", "Count *them*", "```", ""],
        *[
            "<details>",
            "<summary>Record</summary>",
            "",
            "```json",
            '{"key": "m1", "role": "user"}',
            "```",
            "",
            "</details>",
            "",
        ],
        *[
            "## model",
            "",
            "<details>",
            "<summary>Tool call: Run</summary>",
            "",
            "```json",
            "{",
            '  "command": "ls"',
            "}",
            "```",
            "",
        ],
        *["```json", '{"id": "a", "name": "Run", "kind": "execute"}', "```", "", "</details>", ""],
        *[
            "<details>",
            "<summary>Record</summary>",
            "",
            "```json",
            '{"key": "m2", "role": "assistant"}',
            "```",
            "",
            "</details>",
            "",
        ],
        *["## tool", "", "<details>", "<summary>Tool result</summary>", "", "```text", "12", "```", ""],
        *["```json", '{"call_id": "a"}', "```", "", "</details>", ""],
        *[
            "<details>",
            "<summary>Record</summary>",
            "",
            "```json",
            '{"key": "m3", "role": "user"}',
            "```",
            "",
            "</details>",
            "",
        ],
    ] == markdown.export(with_entries(*rows, title="Counting *stars*")).document.split("\n")


def test_a_fence_is_longer_than_any_in_the_text():
    assert "`````markdown\na ```` b\n`````" in markdown.export(with_blocks(Text("a ```` b"))).document


def test_arguments_of_several_lines_stand_apart():
    given = Json.of({"path": "a.py", "content": "x\ny", "odd key": "x\ny"})
    document = markdown.export(
        with_blocks(call("a", given), call("b", Json.of({"content": "1\n2"})), call("c", "free\ntext"))
    ).document

    assert '{\n  "path": "a.py",\n  "odd key": "x\\ny"\n}\n```\n\n`content`\n\n```text\nx\ny\n```' in document
    assert "<summary>Tool call: Run</summary>\n\n`content`\n\n```text\n1\n2\n```" in document
    assert "```text\nfree\ntext\n```" in document


def test_a_heading_is_one_short_line():
    document = markdown.export(with_entries(title="a\nb\x00" + "c" * 200)).document

    assert "# a b " + "c" * 75 + "…" == document.splitlines()[0]


@pytest.mark.parametrize("title", [None, "", "\n"])
def test_a_conversation_without_a_title_is_called_one(title: str | None):
    assert markdown.export(with_entries(title=title)).document.startswith("# Conversation\n")


def test_pictures_that_may_be_more_than_pictures_are_not_shown():
    images = (
        Image("image/svg+xml", "aGk="),
        Image("image/png", ") <script>"),
        Image("image/png", None, "javascript:x"),
        Image(),
    )
    document = markdown.export(with_blocks(*images)).document

    assert "![" not in document
    assert '"data": ") <script>"' in document


def test_every_kind_of_block_is_folded_or_fenced():
    document = markdown.export(EVERYTHING).document

    for word in ("Injected: reminder", "Thinking", "Tool call: Bash", "Tool result: failed", "Image", "Attachment: plan.pdf"):
        assert f"<summary>{word}</summary>" in document
    for word in (
        "Reference: file:///b.py",
        "Edit: /home/ada/b.py",
        "Unknown: brand-new",
        "Event: hook",
        "Record",
        "Sub-agent: s2",
    ):
        assert f"<summary>{word}</summary>" in document
    for word in (
        "**Question**\n\n```markdown\nwhich one?\n```\n\n**Answer**\n\n```markdown\nthis one\n```",
        "**diff**\n\n```diff\n@@",
    ):
        assert word in document
    assert "## model · 2026-03-01T09:30:15.123456+05:30 · copied · undone" in document
