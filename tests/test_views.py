"""Turns, responses, tool uses and edits, each expectation written by hand."""

import itertools
import pickle
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from convparse.blocks import Edit, Injected, Json, Text, Thinking, ToolCall, ToolResult
from convparse.records import Conversation, Event, Link, Message, Usage
from convparse.views import Response, ToolUse, Turn

COUNT = itertools.count()


def message(author: Any, *blocks: Any, key: str = "", role: str = "", **fields: Any) -> Message:
    role = role or {"human": "user", "model": "assistant"}.get(author, "user")
    return Message(
        key or f"k{next(COUNT)}", None, role, author, tuple(Text(b) if isinstance(b, str) else b for b in blocks), **fields
    )


def human(*blocks: Any, **fields: Any) -> Message:
    return message("human", *blocks, **fields)


def model(*blocks: Any, **fields: Any) -> Message:
    return message("model", *blocks, **fields)


def tool(*blocks: Any, **fields: Any) -> Message:
    return message("tool", *blocks, **fields)


def harness(*blocks: Any, **fields: Any) -> Message:
    return message("harness", *blocks, **fields)


def event(kind: str, **fields: Any) -> Event:
    return Event(f"e{next(COUNT)}", kind, kind, **fields)


def call(call_id: str | None = "c1", kind: str = "execute", given: Any = None) -> ToolCall:
    return ToolCall(call_id, "Bash", kind, given if isinstance(given, str) else Json.of(given))


def result(call_id: str | None = "c1", text: str = "", **fields: Any) -> ToolResult:
    return ToolResult(call_id, (Text(text),), **fields)


def conversation(*entries: Any, links: tuple[Link, ...] = (), source: str = "nobody") -> Conversation:
    return Conversation("s1", source, links=links, entries=entries)


def shape(*entries: Any) -> list[list[str]]:
    """The texts of each turn's messages."""
    return [[m.text for m in turn.messages] for turn in conversation(*entries).turns()]


def only(*entries: Any) -> Turn:
    (turn,) = conversation(*entries).turns()
    return turn


def use(call: ToolCall, *results: ToolResult, source: str = "nobody") -> ToolUse:
    return ToolUse(call, results, model(call), source)


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The mapping of sources, empty."""
    found: dict[str, Any] = {}
    monkeypatch.setattr("convparse.sources.SOURCES", found, raising=False)
    return found


# Where turns begin


def test_a_conversation_without_messages_has_no_turns():
    assert () == conversation().turns()
    assert () == conversation(event("title")).turns()


def test_a_prompt_after_the_model_begins_a_turn():
    assert [["a", "b"], ["c", "d"]] == shape(human("a"), model("b"), human("c"), model("d"))


def test_a_prompt_after_a_tool_begins_a_turn():
    assert [["a", "r"], ["b"]] == shape(human("a"), tool("r"), human("b"))


def test_consecutive_prompts_share_a_turn():
    turn = only(human("a"), human("b"), model("c"))

    assert ["a", "b"] == [m.text for m in turn.prompts]


def test_a_prompt_with_the_id_of_the_current_turn_was_taken_up_in_it():
    turn = only(human("a", turn_id="t1"), model("b"), human("c", turn_id="t1"), model("d"))

    assert ["a", "c"] == [m.text for m in turn.prompts]
    assert ["a", "b", "c", "d"] == [m.text for m in turn.messages]


def test_a_prompt_with_another_turn_id_begins_a_turn():
    entries = human("a", turn_id="t1"), model("b"), human("c", turn_id="t2")

    assert [["a", "b"], ["c"]] == shape(*entries)


def test_the_first_turn_id_of_a_turn_counts_wherever_it_stands():
    entries = human("a"), model("b", turn_id="t1"), model("c", turn_id="t2"), human("d", turn_id="t1"), human("e", turn_id="t2")

    assert [["a", "b", "c", "d"], ["e"]] == shape(*entries)


def test_a_model_that_begins_has_a_turn_without_prompts():
    first, second = conversation(model("a"), human("b"), model("c")).turns()

    assert ((), "a") == (first.prompts, first.answer)
    assert "b" == second.prompts[0].text


def test_what_the_harness_wrote_before_the_first_prompt_joins_its_turn():
    assert [["ctx", "a", "b"]] == shape(harness("ctx"), human("a"), model("b"))


def test_what_the_harness_writes_joins_the_current_turn():
    assert [["a", "b", "note"], ["c"]] == shape(human("a"), model("b"), harness("note"), human("c"))


def test_an_end_before_any_message_ends_no_turn():
    (turn,) = conversation(event("turn-end"), human("a"), model("b")).turns()

    assert (["a", "b"], ["turn-end"]) == ([m.text for m in turn.messages], [e.kind for e in turn.events])


def test_events_join_the_current_turn_and_early_ones_the_first():
    early, late, last = event("title"), event("hook"), event("queue")
    first, second = conversation(early, human("a"), model("b"), late, human("c"), last).turns()

    assert ((early, late), (last,)) == (first.events, second.events)


def test_what_is_not_active_is_in_no_turn():
    gone = [human("x", state="undone"), model("y", state="superseded"), event("error", state="withdrawn")]
    turn = only(human("a"), *gone, human("b"))

    assert ["a", "b"] == [m.text for m in turn.messages]
    assert () == turn.events


def test_an_interruption_closes_a_turn_in_which_the_model_said_nothing():
    stop = harness(Injected("interrupted", "[stopped]"))
    first, second = conversation(human("a"), stop, human("b"), model("c", stop_reason="end_turn")).turns()

    assert [("a", "interrupted"), ("b", "complete")] == [(t.prompts[0].text, t.status) for t in (first, second)]


def test_a_recorded_end_closes_a_turn_in_which_the_model_said_nothing():
    assert [["a"], ["b"]] == shape(human("a"), event("turn-end"), human("b"))


def test_the_task_of_a_subagent_is_neither_prompt_nor_answer():
    turn = only(model("do it", role="user"), human("also"), harness("ctx"))

    assert ["also"] == [m.text for m in turn.prompts]
    assert ("", "open") == (turn.answer, turn.status)


def test_turns_follow_the_file_never_the_clock():
    late, early = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)

    assert [["a", "b"]] == shape(human("a", timestamp=late), model("b", timestamp=early))


def test_a_turn_does_not_inherit_the_id_of_the_one_before():
    entries = human("a", turn_id="t1"), model("b"), human("c"), model("d"), human("e", turn_id="t1")

    assert [["a", "b"], ["c", "d"], ["e"]] == shape(*entries)


# What a turn says of itself


def test_a_turn_is_named_by_its_first_turn_id():
    assert "t1" == only(human("a"), model("b", turn_id="t1"), model("c", turn_id="t2")).id


def test_a_turn_without_turn_ids_is_named_by_its_first_message():
    assert "m1" == only(event("title"), human("a", key="m1"), model("b")).id


def test_the_answer_is_the_text_after_the_last_tool_result():
    turn = only(human("a"), model("let me see", call()), tool(result()), model(Thinking("hm"), "it is 4"))

    assert "it is 4" == turn.answer


def test_the_answer_joins_the_rows_of_the_final_response():
    rows = model("one", response_id="r2"), harness("note"), model("two", response_id="r2")

    assert "one\ntwo" == only(human("a"), model("before", response_id="r1"), *rows).answer


def test_rows_without_a_response_id_are_answers_of_their_own():
    assert "two" == only(human("a"), model("one"), model("two")).answer


def test_blocks_of_one_row_after_its_tool_result_are_the_answer():
    assert "b\nc" == only(human("q"), model("a", call(), result(), "b", "c")).answer


def test_the_answer_is_that_of_the_last_response_with_text():
    assert "done" == only(human("a"), model("done", response_id="r1"), model(Thinking(""), response_id="r2")).answer


def test_a_turn_that_ends_with_a_tool_result_has_no_answer():
    assert "" == only(human("a"), model("let me see", call()), tool(result())).answer


def test_a_prompt_is_no_answer():
    assert "" == only(human("a")).answer


def test_the_usage_of_a_turn_is_the_sum_of_its_messages():
    turn = only(human("a"), model("b", usage=Usage(1, output_tokens=2)), model("c", usage=Usage(10, output_tokens=20)))

    assert Usage(11, output_tokens=22) == turn.usage
    assert Usage() == only(human("a")).usage


def test_the_duration_is_that_of_the_turn_end():
    ends = event("turn-end", duration=0.5), event("turn-end", duration=1.5), event("turn-end")

    assert 1.5 == only(human("a"), *ends, event("hook", duration=9.0)).duration
    assert only(human("a")).duration is None


def test_a_turn_holds_the_uses_of_its_own_calls_with_later_results():
    first, second = conversation(
        human("a"), model(call("c1")), human("b"), tool(result("c1", "late")), model(call("c2"))
    ).turns()

    assert [("c1", 1)] == [(u.call.id, len(u.results)) for u in first.tool_calls]
    assert [("c2", 0)] == [(u.call.id, len(u.results)) for u in second.tool_calls]


def test_a_repr_of_a_turn_shows_counts():
    turn = only(human("q"), model("x" * 200_000, call()), tool(result("c1", "y" * 200_000)))

    assert f"Turn(id={turn.id!r}, prompts=<1>, messages=<3>, events=<0>, status='open', duration=None, tool_calls=<1>)" == repr(
        turn
    )


# The status of a turn


@pytest.mark.parametrize(
    "expected, entries",
    [
        ("open", [human("a")]),
        ("open", [human("a"), model("b")]),
        ("open", [human("a"), model(call(), stop_reason="tool_use")]),
        ("complete", [human("a"), model("b", stop_reason="end_turn")]),
        ("complete", [human("a"), model("b", stop_reason="max_tokens"), harness("note")]),
        ("open", [human("a"), model("b", stop_reason="end_turn"), model("c")]),
        ("complete", [human("a"), model("b"), event("turn-end")]),
        ("failed", [human("a"), event("error")]),
        ("failed", [human("a"), model("b", stop_reason="end_turn"), event("error"), harness("note"), event("turn-end")]),
        ("open", [human("a"), event("error"), model("b")]),
        ("open", [human("a"), event("error"), human("b")]),
        ("open", [event("error"), harness("note"), human("a")]),
        ("open", [harness("note")]),
        ("interrupted", [human("a"), model("b"), harness(Injected("interrupted", "[stopped]")), event("turn-end")]),
        ("interrupted", [human("a"), model(call()), tool(result(status="Interrupted"))]),
        ("interrupted", [human("a"), model(call(), result(status="cancelled"))]),
        ("interrupted", [human("a"), model(call()), tool(result(status="interrupted")), event("error")]),
        ("complete", [human("a"), model(call()), tool(result(status="interrupted")), model("c", stop_reason="end_turn")]),
        ("open", [human("a"), model(call()), tool(result(status="interrupted")), model(Thinking("hm"))]),
        ("open", [human("a"), model(call()), tool(result(status="interrupted")), model(call("c2"))]),
        ("interrupted", [human("a"), model(call()), tool(result(status="interrupted")), model(Edit("a", "update"))]),
        ("open", [human("a"), harness(Injected("reminder", "…"))]),
    ],
)
def test_status_of_a_turn(expected: str, entries: list[Any]):
    assert expected == only(*entries).status


# Responses


def test_a_response_gathers_rows_that_do_not_stand_together():
    a = model(Thinking("hm"), response_id="r1", model="m1")
    b = model(call(), response_id="r1", usage=Usage(5), stop_reason="tool_use")
    other = model("x", response_id="r2")

    first, second = conversation(a, tool(result()), other, b).responses()

    assert Response("r1", "m1", (a, b), (Thinking("hm"), call()), Usage(5), "tool_use") == first
    assert Response("r2", None, (other,), (Text("x"),), None, None) == second


def test_the_last_model_and_stop_reason_recorded_count():
    rows = [
        model(response_id="r1", model="m1", stop_reason="tool_use", usage=Usage(1)),
        model(response_id="r1", model="m2", stop_reason="end_turn", usage=Usage(2)),
        model(response_id="r1"),
    ]
    (response,) = conversation(*rows).responses()

    assert ("m2", "end_turn", Usage(3)) == (response.model, response.stop_reason, response.usage)


def test_rows_without_a_response_id_are_responses_of_their_own():
    assert [(None, 1), (None, 1)] == [(r.id, len(r.messages)) for r in conversation(model("a"), model("b")).responses()]


def test_a_response_has_the_text_of_all_its_rows():
    (response,) = conversation(model("a", call(), response_id="r1"), model(Thinking("hm"), "b", response_id="r1")).responses()

    assert response.text == "a\nb"


def test_a_turn_has_its_own_responses():
    asked = (
        model("a", response_id="r1"),
        tool(result()),
        model("b", response_id="r2"),
        harness("c"),
        model("d", response_id="r1"),
    )
    first, second = conversation(human("one"), *asked, human("two"), model("e")).turns()

    assert [("r1", "a\nd"), ("r2", "b")] == [(response.id, response.text) for response in first.responses]
    assert [(None, "e")] == [(response.id, response.text) for response in second.responses]


def test_responses_include_what_was_undone():
    assert 1 == len(conversation(model("a", state="undone")).responses())


def test_only_the_model_responds():
    assert (
        () == conversation(human("a"), harness("b"), tool(result()), message(None, "c"), model("task", role="user")).responses()
    )


# Tool uses


def test_a_call_and_its_result_are_paired_by_id():
    row = model("go", call("c1"), call("c2"))
    first, second = conversation(row, tool(result("c2", "two")), tool(result("c1", "one"))).tool_calls()

    assert (ToolUse(call("c1"), (result("c1", "one"),), row, "nobody"), "one") == (first, first.result and first.result.text)
    assert ToolUse(call("c2"), (result("c2", "two"),), row, "nobody") == second


def test_a_call_is_answered_when_the_message_of_its_last_result_was_written():
    row, *others = model("go", call("c1"), call("c2"), result("c2")), tool(result("c1")), tool(result("c1"))
    at = datetime(2026, 9, 1, 8, tzinfo=UTC)
    timed = [attrs.evolve(message, timestamp=at + n * timedelta(seconds=1)) for n, message in enumerate((row, *others))]

    assert [use.answered_at for use in conversation(*timed).tool_calls()] == [at + timedelta(seconds=2), at]
    assert [use.answered_at for use in conversation(model(call())).tool_calls()] == [None]


def test_a_call_may_have_several_results_and_the_last_counts():
    (found,) = conversation(model(call()), tool(result(text="a")), tool(result(text="b", is_error=True))).tool_calls()

    assert ["a", "b"] == [r.text for r in found.results]
    assert (found.results[1], "error") == (found.result, found.outcome)


def test_a_result_before_its_call_is_found():
    (found,) = conversation(tool(result(text="early")), model(call()), tool(result(text="late"))).tool_calls()

    assert ["early", "late"] == [r.text for r in found.results]


def test_without_ids_a_result_belongs_to_the_call_before_it_in_the_same_message():
    entries = (
        model(result(None, "of none"), call(None), result(None, "a"), call("c"), result(None, "of none"), call(None)),
        tool(result(None, "elsewhere")),
    )
    assert [["a"], [], []] == [[r.text for r in u.results] for u in conversation(*entries).tool_calls()]


def test_results_of_a_repeated_id_belong_to_the_nearest_call_before():
    entries = (
        tool(result(text="0")),
        model(call()),
        tool(result(text="1")),
        model(call()),
        model(call()),
        tool(result(text="3")),
    )

    assert [["0", "1"], [], ["3"]] == [[r.text for r in u.results] for u in conversation(*entries).tool_calls()]


def test_ids_that_are_not_recorded_pair_nothing():
    (found,) = conversation(model(call(None)), tool(result(None)), links=(Link("subagent", "s2"),)).tool_calls()

    assert (None, "missing", None) == (found.result, found.outcome, found.spawned)


def test_a_result_without_its_call_is_in_no_use():
    assert () == conversation(tool(result("elsewhere"))).tool_calls()


def test_calls_in_messages_of_any_state_are_listed():
    assert ["c1", "c2"] == [u.call.id for u in conversation(model(call("c1"), state="undone"), model(call("c2"))).tool_calls()]


def test_spawned_is_the_conversation_that_the_first_link_of_the_call_names():
    links = Link("subagent", "s2", "c1"), Link("subagent", "s3", "c1"), Link("fork", "s4")

    assert ["s2", None] == [u.spawned for u in conversation(model(call("c1"), call("c2")), links=links).tool_calls()]


def test_a_repr_of_a_use_is_short():
    found = use(call(given={"command": "x" * 200_000}), result(text="y" * 200_000))

    assert len(repr(found)) < 500
    assert f"message=<{found.message.key}>" in repr(found)


# Outcomes


@pytest.mark.parametrize(
    "expected, fields",
    [
        ("ok", {}),
        ("ok", {"is_error": False}),
        ("error", {"is_error": True}),
        ("ok", {"exit_code": 0}),
        ("error", {"exit_code": 1}),
        # The exit code before the recorded error, a clean one before every word.
        ("ok", {"exit_code": 0, "is_error": True}),
        ("error", {"exit_code": 2, "is_error": False}),
        ("ok", {"exit_code": 0, "status": "failed"}),
        ("error", {"exit_code": 1, "status": "completed"}),
        # Words of denial and interruption before a recorded error and a code that stands for it.
        ("denied", {"is_error": True, "status": "user-rejected"}),
        ("denied", {"is_error": True, "status": "permission-rule"}),
        ("denied", {"is_error": True, "status": "automode-unavailable"}),
        ("denied", {"exit_code": -1, "status": "declined"}),
        ("denied", {"status": "Rejected"}),
        ("denied", {"is_error": False, "status": "denied"}),
        ("interrupted", {"is_error": True, "status": "interrupted"}),
        ("interrupted", {"status": "cancelled"}),
        ("interrupted", {"status": "aborted"}),
        ("interrupted", {"exit_code": 137, "status": "killed"}),
        # The recorded error before other words, other words before a recorded success.
        ("error", {"is_error": True, "status": "completed"}),
        ("error", {"is_error": False, "status": "failed"}),
        ("error", {"status": "error"}),
        ("ok", {"status": "completed"}),
        ("ok", {"status": "success"}),
        ("ok", {"status": "done"}),
        ("unknown", {"status": "async_launched"}),
        ("unknown", {"is_error": False, "status": "inProgress"}),
        ("unknown", {"status": "running"}),
        # A word that is not known says nothing.
        ("unknown", {"status": "sideways"}),
        ("ok", {"is_error": False, "status": "sideways"}),
        ("error", {"is_error": True, "status": "sideways"}),
    ],
)
def test_outcome_of_a_result(expected: str, fields: dict[str, Any]):
    assert expected == use(call(), result(**fields)).outcome


def test_a_call_without_a_result_is_missing_it():
    assert "missing" == use(call()).outcome


# Commands


@pytest.mark.parametrize(
    "expected, given",
    [
        ("ls -l", {"command": "ls -l", "cmd": "no"}),
        ("ls -l", {"cmd": "ls -l"}),
        ("ls -l", {"script": "ls -l"}),
        ("bash -lc 'ls -l'", {"command": ["bash", "-lc", "ls -l"]}),
        ("ls", {"command": None, "cmd": "ls"}),
        (None, {"command": ["ls", 1]}),
        (None, {"session_id": 3}),
        (None, ["ls"]),
        ("print(1)", "print(1)"),
    ],
)
def test_command_of_a_call_that_executes(expected: str | None, given: Any):
    assert expected == use(call(given=given)).command


def test_other_calls_have_no_command():
    assert use(call(kind="search", given={"command": "ls"})).command is None


# Edits


def test_the_source_says_which_edits_a_call_made(sources: dict[str, Any]):
    sources["somebody"] = SimpleNamespace(edits=lambda use: (Edit(use.call.input, "update", call_id=use.call.id),))

    assert (Edit("a.py", "update", call_id="c1"),) == use(call(given="a.py"), source="somebody").edits


def test_a_source_that_is_not_known_says_nothing_of_edits(sources: dict[str, Any]):
    assert () == use(call()).edits


def test_edits_stand_in_message_order(sources: dict[str, Any]):
    sources["somebody"] = SimpleNamespace(edits=lambda use: (Edit(use.call.input, "update"), Edit(use.call.input, "move")))
    entries = model(Edit("1", "create"), call("c2", given="2"), "text"), model(call("c3", given="3"), Edit("4", "delete"))

    found = conversation(*entries, source="somebody").edits()

    assert ["create 1", "update 2", "move 2", "update 3", "move 3", "delete 4"] == [f"{e.kind} {e.path}" for e in found]


# Views as values


def test_views_are_equal_hashable_and_picklable():
    talk = conversation(human("a"), model(call(), response_id="r1"), tool(result()), event("turn-end"))

    for view in (talk.turns, talk.responses, talk.tool_calls):
        found = view()
        assert found == view()
        assert hash(found) == hash(view())
        assert found == pickle.loads(pickle.dumps(found))


def test_views_cannot_be_changed():
    with pytest.raises(AttributeError):
        only(human("a")).id = "x"  # type: ignore[misc]
