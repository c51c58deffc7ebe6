"""Records, blocks and the JSON they hold."""

import copy
import json
import pickle
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convparse import blocks, drops, errors, limits, records, result, views
from convparse._json import decode, encode
from convparse.blocks import Edit, Image, Injected, Json, Text, Thinking, ToolCall, ToolResult, Unknown
from convparse.limits import Limits
from convparse.records import FILE_FACTS, Context, Conversation, Event, Link, Message, Origin, Usage

LONG = "x" * 200_000
AT = [datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 5)]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def message(*parts: Any, key: str = "m1", author: Any = "model", **fields: Any) -> Message:
    return Message(key, None, "assistant", author, parts, **fields)


RECORDS = [
    cls
    for module in (blocks, drops, limits, records, result, views)
    for cls in vars(module).values()
    if isinstance(cls, type) and attrs.has(cls) and cls.__module__ == module.__name__
]


# Every record


def test_the_records_are_found():
    assert len(RECORDS) > 25
    assert {Text, Usage, Message, Conversation, Limits, views.Turn, drops.Drop, result.ParseResult} <= set(RECORDS)


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__name__)
def test_records_are_frozen_and_slotted(cls: type[Any]):
    record = object.__new__(cls)

    assert not hasattr(record, "__dict__")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(record, attrs.fields(cls)[0].name, 1)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        delattr(record, attrs.fields(cls)[0].name)


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__name__)
def test_records_have_a_sentence_of_their_own(cls: type[Any]):
    assert (cls.__doc__ or "").strip().endswith((".", ". Provisional until 1.0."))


def test_file_facts_name_fields_that_are_there():
    for name, facts in FILE_FACTS.items():
        assert set() == facts - {field.name for field in attrs.fields(getattr(records, name))}


# Reprs


@pytest.mark.parametrize(
    "record",
    [
        Json(LONG),
        Text(LONG),
        Injected("k", LONG),
        blocks.Answer(LONG, LONG),
        Thinking(LONG, LONG),
        ToolCall("c", "Bash", "execute", LONG),
        ToolCall("c", "Bash", "execute", Json(LONG)),
        ToolResult("c", (Text(LONG),), full=Json(LONG)),
        ToolResult("c", tuple(Text(str(n)) for n in range(10_000))),
        Image(data=LONG, uri=LONG),
        blocks.Attachment("pdf", text=LONG, data=LONG, uri=LONG),
        blocks.Reference(LONG, LONG),
        Edit("a.py", "update", diff=LONG, before=LONG, after=LONG),
        Unknown("k", Json(LONG)),
        Message("m", "m", "user", "human", (ToolResult("c", (Text(LONG),)),), extra=Json(LONG)),
        Message("m", "m", "user", "human", tuple(Text(str(n)) for n in range(10_000))),
        Event("e", "error", "error", LONG, Json(LONG)),
        Conversation("s", "nobody", title=LONG, entries=tuple(message(key=str(n)) for n in range(10_000))),
        Conversation("s", "nobody", links=tuple(Link("subagent", str(n)) for n in range(10_000))),
    ],
)
def test_a_repr_does_not_fill_a_page(record: Any):
    assert len(repr(record)) < 800


def test_a_short_text_is_shown_whole():
    assert "Text(text='hello')" == repr(Text("hello"))


def test_a_long_text_is_shown_with_its_length():
    assert f"Text(text='{'x' * 79}… (200002 characters))" == repr(Text(LONG))


# Values


def test_records_with_the_same_content_are_equal_and_hash_alike():
    one, other = message(Text("a"), usage=Usage(1)), message(Text("a"), usage=Usage(1))

    assert (one, hash(one)) == (other, hash(other))
    assert one != attrs.evolve(one, state="undone")


def test_blocks_of_different_kinds_are_never_equal():
    assert 2 == len({Text("a"), Thinking("a")})


def test_the_stamp_of_a_conversation_is_no_part_of_it():
    assert Conversation("s", "nobody", stamp="1") == Conversation("s", "nobody", stamp="2")


def test_records_survive_pickle_and_copy():
    talk = Conversation("s", "nobody", entries=(message(ToolResult("c", (Image(),))), Event("e", "hook", "hook", duration=1.5)))

    assert [talk] * 3 == [pickle.loads(pickle.dumps(talk)), copy.copy(talk), copy.deepcopy(talk)]


def test_records_can_be_matched_by_position():
    match ToolCall("c1", "Bash", "execute", "ls"):
        case ToolCall(call_id, name, kind, given):
            assert ("c1", "Bash", "execute", "ls") == (call_id, name, kind, given)


# Messages and conversations


def test_the_text_of_a_message_is_what_its_author_wrote():
    parts = Text("a"), Injected("reminder", "no"), Thinking("hm"), ToolResult("c", (Text("no"),)), Text("b"), Thinking("so")

    assert ("a\nb", "hm\nso") == (message(*parts).text, message(*parts).thinking)


def test_a_message_without_text_has_empty_text():
    assert ("", "", False) == (message().text, message().thinking, message().has_tool_use)


def test_a_message_with_a_call_has_tool_use():
    assert message(Text("a"), ToolCall("c", "Bash", "execute", "")).has_tool_use


def test_the_text_of_a_result_is_that_of_its_text_parts():
    assert "a\nb" == ToolResult("c", (Text("a"), Image(), Text("b"))).text


def test_a_conversation_keeps_its_order_and_tells_messages_from_events():
    one, two, event = message(key="1"), message(key="2"), Event("e", "hook", "hook")
    talk = Conversation("s", "nobody", entries=(two, event, one))

    assert ((two, one), (event,)) == (talk.messages, talk.events)


def test_prompts_are_active_and_human():
    prompt = message(Text("a"), key="1", author="human")
    entries = prompt, attrs.evolve(prompt, key="2", state="undone"), attrs.evolve(prompt, key="3", author="harness")
    talk = Conversation("s", "nobody", entries=entries)

    assert (prompt,) == talk.prompts
    assert ["1", "3"] == [m.key for m in talk.active_messages]


def test_the_usage_of_a_conversation_is_the_sum_of_its_messages():
    entries = message(usage=Usage(1, 2)), message(usage=Usage(10, None, 5)), message()

    assert Usage(11, 2, 5) == Conversation("s", "nobody", entries=entries).usage
    assert Usage() == Conversation("s", "nobody").usage


def test_first_and_last_time_are_the_earliest_and_latest_of_any_entry():
    entries = message(timestamp=AT[1]), Event("e", "hook", "hook", timestamp=AT[3]), message(timestamp=AT[0]), message()
    talk = Conversation("s", "nobody", entries=entries)

    assert (AT[0], AT[3]) == (talk.first_at, talk.last_at)


def test_a_conversation_without_times_has_neither_first_nor_last():
    talk = Conversation("s", "nobody", entries=(message(),))

    assert (None, None) == (talk.first_at, talk.last_at)


def test_the_views_of_a_conversation_are_those_of_the_views_module(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("convparse.sources.SOURCES", {}, raising=False)
    talk = Conversation("s", "nobody", entries=(message(ToolCall("c", "Bash", "execute", "ls"), Edit("a", "create")),))

    assert (views.turns(talk), views.responses(talk)) == (talk.turns(), talk.responses())
    assert (views.tool_uses(talk), views.edits(talk)) == (talk.tool_calls(), talk.edits())
    assert [1, 1, 1, 1] == [len(view()) for view in (talk.turns, talk.responses, talk.tool_calls, talk.edits)]


# Usage


TOKENS = st.none() | st.integers(0, 2**70)
# Costs that floats add exactly: what is tried is the rule, not the rounding.
USAGES = st.builds(
    Usage,
    *[TOKENS] * 6,
    cost=st.none() | st.integers(0, 1000).map(lambda n: n / 4),
    cost_unit=st.none() | st.sampled_from(["usd", "credits", ""]),
    provisional=st.booleans(),
)


def test_tokens_add_up_field_by_field():
    one, other = Usage(1, 2, 3, 4, 5, 6, 0.5, "usd"), Usage(10, 20, 30, 40, 50, 60, 1.0, "usd")

    assert Usage(11, 22, 33, 44, 55, 66, 1.5, "usd") == one + other


def test_what_is_not_recorded_adds_nothing():
    assert Usage(1, None, 3) == Usage(1) + Usage(None, None, 3)


def test_a_sum_with_a_provisional_part_is_provisional():
    assert Usage(3, provisional=True) == Usage(1) + Usage(2, provisional=True)


def test_costs_in_different_units_have_no_sum():
    assert Usage(3, cost_unit="mixed") == Usage(1, cost=1.0, cost_unit="usd") + Usage(2, cost=1.0, cost_unit="credits")


def test_a_third_cost_does_not_bring_a_mixed_sum_back():
    usd, other = Usage(cost=1.0, cost_unit="usd"), Usage(cost=2.0, cost_unit="credits")

    assert Usage(cost_unit="mixed") == usd + other + usd == usd + (other + usd)


@settings(deadline=None, max_examples=200)
@given(USAGES, USAGES, USAGES)
def test_addition_of_usage_is_associative_and_commutative(a: Usage, b: Usage, c: Usage):
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a


@settings(deadline=None)
@given(USAGES)
def test_an_empty_usage_changes_nothing(usage: Usage):
    assert usage == usage + Usage() == Usage() + usage


def test_only_usage_can_be_added():
    with pytest.raises(TypeError):
        Usage() + 1  # type: ignore[operator]


# JSON


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(PLAIN)
def test_json_gives_back_the_value_it_was_made_of(value: Any):
    assert repr(value) == repr(Json.of(value).value)


@settings(deadline=None)
@given(PLAIN)
def test_json_text_is_what_the_standard_library_reads(value: Any):
    assert value == json.loads(encode(value))


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, {"a": [10**40]}, 2**63, -(2**63)])
def test_integers_of_any_size_come_back_whole(value: Any):
    assert value == Json.of(value).value


@pytest.mark.parametrize("depth", [254, 255, 300])
def test_deep_json_comes_back(depth: int):
    assert nested(depth) == Json.of(nested(depth)).value


def test_json_text_is_compact_and_keeps_the_order_of_keys():
    assert '{"b":[1,2.0],"a":"ü\\n"}' == encode({"b": [1, 2.0], "a": "ü\n"}).decode()
    assert '{"b":1180591620717411303424,"a":"ü"}' == encode({"b": 2**70, "a": "ü"}).decode()


def test_text_that_is_not_compact_is_read_all_the_same():
    assert {"a": 1.0} == decode('{ "a" : 1.0 }')


def test_a_value_of_json_is_decoded_afresh():
    held = Json.of({"a": []})
    held.value["a"].append(1)

    assert {"a": []} == held.value


# Limits and errors


def test_limits_can_be_raised():
    assert 2**30 == attrs.evolve(Limits(), line_bytes=2**30).line_bytes


def test_every_limit_is_a_positive_number():
    assert all(value > 0 for value in attrs.asdict(Limits()).values())


@pytest.mark.parametrize("error", [errors.UnknownSource, errors.SourceChanged, errors.ContentDropped])
def test_errors_have_one_base(error: type[Exception]):
    assert issubclass(error, errors.ConvparseError)


def test_origin_context_and_link_hold_what_they_are_given():
    assert ("a.jsonl", 7, "") == (Origin("a.jsonl", 7).path, Origin("a.jsonl", 7).line, Origin("a.jsonl", 7).pointer)
    assert "main" == Context(git_branch="main").git_branch
    assert ("fork", "s2", None, None) == attrs.astuple(Link("fork", "s2"))
