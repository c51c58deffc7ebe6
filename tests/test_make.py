"""Records made cheaply are like those made plainly."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from convparse import blocks, records
from convparse._make import close, maker, opener
from convparse.blocks import Text, ToolResult
from convparse.records import Message, Usage

MADE = [
    (blocks.Text, ("hello",)),
    (blocks.Json, (b"[1]",)),
    (blocks.Thinking, ("hm",)),
    (blocks.ToolCall, ("c1", "Bash", "execute", "ls")),
    (blocks.ToolResult, ("c1", (blocks.Text("out"),), False, 0)),
    (records.Origin, ("a.jsonl", 7, 120, 40)),
    (records.Usage, (1, 2, 3)),
    (records.Message, ("k", None, "user", "human", (blocks.Text("hi"),))),
    (records.Event, ("k", "hook", "hook")),
]


@attrs.frozen
class Bag:
    """A record whose default is made anew each time."""

    items: tuple[int, ...] = attrs.field(factory=tuple)
    name: str = attrs.field(default="bag", kw_only=False)


@pytest.fixture(params=["maker", "opener"])
def made(request: pytest.FixtureRequest) -> Callable[[Any, tuple[Any, ...]], Any]:
    """A function that builds a frozen record of a class the cheap way."""
    if request.param == "maker":
        return lambda cls, args: maker(cls)(*args)
    return lambda cls, args: close(opener(cls)(*args), cls)


@pytest.mark.parametrize("cls, args", MADE, ids=lambda value: getattr(value, "__name__", ""))
def test_made_and_plain_records_are_the_same(made: Any, cls: Any, args: tuple[Any, ...]):
    record, plain = made(cls, args), cls(*args)

    assert cls is type(record)
    assert (plain, hash(plain), repr(plain)) == (record, hash(record), repr(record))
    assert record == plain


@pytest.mark.parametrize("cls, args", MADE, ids=lambda value: getattr(value, "__name__", ""))
def test_made_records_survive_pickle_and_copy(made: Any, cls: Any, args: tuple[Any, ...]):
    record, plain = made(cls, args), cls(*args)

    assert pickle.dumps(plain) == pickle.dumps(record)
    assert [plain] * 3 == [pickle.loads(pickle.dumps(record)), copy.copy(record), copy.deepcopy(record)]


@pytest.mark.parametrize("cls, args", MADE, ids=lambda value: getattr(value, "__name__", ""))
def test_made_records_are_frozen_and_slotted(made: Any, cls: Any, args: tuple[Any, ...]):
    record = made(cls, args)

    assert not hasattr(record, "__dict__")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(record, attrs.fields(cls)[0].name, 1)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        delattr(record, attrs.fields(cls)[0].name)


def test_made_records_can_be_evolved(made: Any):
    evolved = attrs.evolve(made(Usage, (1, 2)), output_tokens=3)

    assert Usage(1, 2, output_tokens=3) == evolved


def test_made_records_can_be_matched(made: Any):
    match made(ToolResult, ("c1", (Text("out"),))):
        case ToolResult(call_id, (Text(text),)):
            assert ("c1", "out") == (call_id, text)
        case _:
            pytest.fail("no match")


def test_a_maker_takes_names_and_defaults_like_its_class():
    assert Message("k", None, "user", None, state="undone") == maker(Message)(
        key="k", id=None, role="user", author=None, state="undone"
    )


def test_a_maker_refuses_what_its_class_refuses():
    with pytest.raises(TypeError):
        maker(Text)()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        maker(Text)("a", other=1)  # type: ignore[call-arg]


def test_defaults_made_by_a_factory_are_kept():
    assert Bag() == maker(Bag)() == close(opener(Bag)(), Bag)


def test_an_open_record_can_be_settled_until_it_is_closed():
    record: Any = opener(Message)("k", None, "user", None)
    record.author = "human"
    del record.usage
    record.usage = Usage(1)

    assert record is close(record, Message)
    assert Message("k", None, "user", "human", usage=Usage(1)) == record
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        record.author = "model"


def test_closing_a_frozen_record_leaves_it_as_it_is():
    record = Text("a")

    assert record is close(record, Text)
    assert Text("a") == record


def test_an_open_record_is_not_yet_equal_to_a_closed_one():
    assert Text("a") != opener(Text)("a")
