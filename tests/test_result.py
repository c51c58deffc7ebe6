"""The result of a parse: what belongs together, what was dropped, and the bytes back."""

import copy
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from convparse.blocks import Text, ToolCall
from convparse.drops import Account, Bin, Drop
from convparse.errors import ContentDropped, ConvparseError, SourceChanged
from convparse.records import Conversation, Event, Link, Message, Origin
from convparse.result import ParseResult, Snapshot, file_stamp

LINES = b'{"a": 1}\n{"b": 2}\n'


def result(*conversations: Conversation, path: str = "/x/abc.jsonl", **fields: Any) -> ParseResult:
    return ParseResult("nobody", "log", path, conversations, **fields)


def talk(name: str | None, *links: str, kind: str = "subagent", entries: Any = ()) -> Conversation:
    return Conversation(name, "nobody", links=tuple(Link(kind, link) for link in links), entries=tuple(entries))


def message(key: str, text: str = "") -> Message:
    return Message(key, None, "user", "human", (Text(text),))


def drop(code: str, fate: Any = "lost", count: int = 1) -> Drop:
    return Drop(code, fate, Origin("/x/abc.jsonl", 7), count=count, message="gone")


DROPS = (drop("torn-tail"), drop("bad-timestamp", "altered"), drop("unknown-field", "unknown"), drop("torn-tail"))
DROPPED = result(dropped=DROPS, skipped=(drop("skipped-record", "skipped"),))


# Conversations


def test_the_conversation_is_the_only_root():
    found = result(talk("child"), talk("main", "child", "elsewhere"))

    assert "main" == found.conversation.id
    assert ("main",) == tuple(c.id for c in found.roots)


def test_children_stand_in_the_order_of_the_links_once_each():
    found = result(talk("a"), talk("main", "b", "a", "b", "elsewhere"), talk("b"))

    assert ["b", "a"] == [c.id for c in found.children(found.conversation)]
    assert () == found.children(found.conversations[0])


def test_only_subagents_are_children():
    found = result(talk("main", "old", kind="fork"), talk("old"))

    assert ("main", "old") == tuple(c.id for c in found.roots)
    assert () == found.children(found.conversations[0])


def test_grandchildren_are_no_children():
    found = result(talk("main", "a"), talk("a", "b"), talk("b"))

    assert ["a"] == [c.id for c in found.children(found.conversation)]
    assert ["b"] == [c.id for c in found.children(found.conversations[1])]


def test_several_roots_are_listed():
    with pytest.raises(ConvparseError, match=r"abc.jsonl holds 2 root conversations, not one; choose one of `roots`: a, None$"):
        _ = result(talk("a"), talk(None)).conversation


def test_of_very_many_roots_ten_are_listed():
    with pytest.raises(ConvparseError, match=r"holds 50 root .*: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …$"):
        _ = result(*(talk(str(n)) for n in range(50))).conversation


def test_without_a_root_the_error_says_where_to_look():
    with pytest.raises(ConvparseError, match=r"holds 0 root conversations, not one; see `loose` and `dropped`"):
        _ = result().conversation


# Drops


def test_lost_is_what_is_not_to_be_had():
    assert (DROPS[0], DROPS[3]) == DROPPED.lost


def test_drops_by_code_keep_the_order_of_first_appearance():
    expected = {"torn-tail": (DROPS[0], DROPS[3]), "bad-timestamp": (DROPS[1],), "unknown-field": (DROPS[2],)}

    assert expected == DROPPED.dropped_by_code()
    assert list(expected) == list(DROPPED.dropped_by_code())


def test_raise_if_gives_back_a_result_without_drops():
    healthy = result(skipped=(drop("skipped-record", "skipped"),))

    assert healthy is healthy.raise_if() is healthy.raise_if("lost", "altered", "unknown")


@pytest.mark.parametrize("fates, kinds", [((), 4), (("lost",), 2), (("altered", "unknown"), 2), (("skipped",), 1)])
def test_raise_if_counts_the_drops_of_the_fates_named(fates: tuple[str, ...], kinds: int):
    with pytest.raises(ContentDropped, match=rf"^/x/abc.jsonl: {kinds} kinds of drops\n"):
        DROPPED.raise_if(*fates)


def test_raise_if_lists_the_drops():
    with pytest.raises(ContentDropped) as caught:
        result(dropped=(drop("torn-tail", count=2),)).raise_if("lost")

    assert "/x/abc.jsonl: 1 kinds of drops\n  abc.jsonl:7: lost torn-tail: gone (x2)" == str(caught.value)


def test_raise_if_lists_twenty_of_very_many_drops():
    with pytest.raises(ContentDropped) as caught:
        result(dropped=(drop("torn-tail"),) * 50).raise_if()

    assert 22 == len(str(caught.value).splitlines())
    assert str(caught.value).endswith("\n  and 30 more")


def test_raise_if_passes_codes_to_ignore():
    assert DROPPED is DROPPED.raise_if("lost", ignore=("torn-tail",))
    assert DROPPED is DROPPED.raise_if(ignore=iter(["torn-tail", "bad-timestamp", "unknown-field"]))
    with pytest.raises(ContentDropped, match="2 kinds"):
        DROPPED.raise_if(ignore=["torn-tail"])


def test_raise_if_refuses_a_fate_that_does_not_exist():
    with pytest.raises(ConvparseError, match=r"no such fate: broken, lots; there are lost, altered, unknown and skipped"):
        DROPPED.raise_if("lost", "lots", "broken")


# What is new


def test_since_gives_the_entries_that_are_new_or_differ():
    event = Event("e1", "title", "title")
    old = result(talk("s", entries=(message("1"), message("2", "draft"))), loose=(event,))
    new = result(
        talk("s", entries=(message("1"), message("2", "final"), message("3"))), loose=(event, Event("e2", "hook", "hook"))
    )

    assert ["2", "3", "e2"] == [entry.key for entry in new.since(old)]


def test_since_itself_nothing_is_new():
    found = result(talk("s", entries=(message("1"),)))

    assert () == found.since(found)


# The bytes back


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of two lines."""
    path = tmp_path / "abc.jsonl"
    path.write_bytes(LINES)
    return path


def parsed(path: Path) -> ParseResult:
    return result(path=str(path), accounts=(Account(str(path), len(LINES), stamp=file_stamp(path.stat())),))


def test_read_gives_the_bytes_at_an_origin(file: Path):
    assert b'{"b": 2}\n' == parsed(file).read(Origin(str(file), 2, 9, 9))


def test_read_refuses_a_file_that_has_grown(file: Path):
    found = parsed(file)
    with file.open("ab") as handle:
        handle.write(b"{}\n")

    with pytest.raises(SourceChanged, match=r"abc.jsonl has changed since it was parsed; parse it again"):
        found.read(Origin(str(file), 2, 9, 9))


def test_read_refuses_a_file_that_was_replaced_by_one_of_the_same_size(file: Path, tmp_path: Path):
    found = parsed(file)
    (tmp_path / "new").write_bytes(LINES.replace(b"2", b"3"))
    (tmp_path / "new").replace(file)

    with pytest.raises(SourceChanged):
        found.read(Origin(str(file), 2, 9, 9))


def test_read_fails_where_the_file_is_gone(file: Path):
    found = parsed(file)
    file.unlink()

    with pytest.raises(FileNotFoundError):
        found.read(Origin(str(file), 2, 9, 9))


@pytest.mark.parametrize("origin", [Origin("abc.jsonl"), Origin("abc.jsonl", offset=0), Origin("elsewhere.jsonl", 1, 0, 9)])
def test_read_refuses_an_origin_without_bytes_in_a_file_of_the_result(file: Path, origin: Origin):
    with pytest.raises(ConvparseError, match=r"^(abc|elsewhere).jsonl: no bytes of a file of this result"):
        parsed(file).read(origin)


def test_read_refuses_what_was_never_a_file():
    origin = Origin("abc.jsonl", 1, 0, 9)

    with pytest.raises(ConvparseError, match="no bytes of a file"):
        result(accounts=(Account("abc.jsonl", 18),)).read(origin)


def test_a_stamp_changes_with_the_file(file: Path):
    before = file_stamp(file.stat())

    assert before == file_stamp(file.stat())
    file.write_bytes(LINES * 2)
    assert before != file_stamp(file.stat())


# As a value


def test_the_account_is_the_sum_of_the_accounts():
    accounts = Account("/x/abc.jsonl", 10, Bin(1, 10)), Account("/x/side", 5, lost=Bin(1, 5))

    assert Account("/x/abc.jsonl", 15, Bin(1, 10), lost=Bin(1, 5)) == result(accounts=accounts).account
    assert Account("/x/abc.jsonl", 0) == result().account


def test_snapshot_and_stamp_are_no_part_of_a_result():
    snapshot = Snapshot("file", datetime(2026, 1, 1, tzinfo=UTC))
    one, other = result(snapshot=snapshot, stamp="1"), result(stamp="2")

    assert (one, hash(one)) == (other, hash(other))


def test_a_result_survives_pickle_and_copy():
    found = result(talk("s", entries=(message("1"),)), dropped=DROPS, snapshot=Snapshot("bytes"), stamp="1")

    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (found, found.snapshot, found.stamp) == (again, again.snapshot, again.stamp)


def test_a_result_reads_as_five_lines():
    call = Message("2", None, "assistant", "model", (ToolCall("c", "Bash", "execute", "ls"),))
    found = result(
        talk("main", "child", entries=(message("1"), call)),
        talk("child", entries=(message("3"),)),
        loose=(message("4"),),
        dropped=(drop("torn-tail"), drop("bad-timestamp", "altered", 3), drop("malformed-line", count=2)),
        accounts=(Account("/x/abc.jsonl", 15, Bin(3, 10), lost=Bin(2, 5)),),
    )

    assert [
        "nobody log: /x/abc.jsonl",
        "conversations: 2 (1 roots), loose entries: 1",
        "messages: 3, tool calls: 1",
        "bytes: 15 = 10 mapped, 5 lost",
        "dropped: 3 lost, 3 altered",
    ] == str(found).splitlines()


def test_a_result_of_nothing_reads_as_five_lines_too():
    expected = ["nobody log: a\\nb", "conversations: 0 (0 roots), loose entries: 0", "messages: 0, tool calls: 0"]

    assert [*expected, "bytes: 0 = none", "dropped: nothing"] == str(result(path="a\nb")).splitlines()


def test_a_repr_of_a_result_shows_counts():
    entries = [message(str(n), "x" * 1000) for n in range(1000)]

    assert (
        "ParseResult(source='nobody', variant='log', path='/x/abc.jsonl', "
        "conversations=<1>, loose=<0>, dropped=<4>, skipped=<0>, accounts=<0>)"
        == repr(result(talk("s", entries=entries), dropped=DROPS))
    )


def test_a_circle_has_a_root():
    found = result(talk("a", "b"), talk("b", "a"), talk("c", "d"), talk("d", "e"), talk("e", "d"), talk("self", "self"))

    assert ("a", "c", "self") == tuple(c.id for c in found.roots)
