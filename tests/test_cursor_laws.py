"""The laws, with rows as units, over generated databases of Cursor's editor."""

import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.databases import database, leaves, parse, unnoticed
from tests.leaves import same
from tests.strategies import THOROUGH, examples
from tests.strategies_cursor import Stored, editors, odd_editors

import convparse
from convparse import CODES, SOURCES, Message, ParseResult

ALL_CODES = {**CODES, **SOURCES["cursor"].codes}


def entries(result: ParseResult) -> list[Any]:
    return [entry for c in result.conversations for entry in c.entries] + list(result.loose)


def told(result: ParseResult) -> str:
    """Every string of the records, those inside JSON too."""
    return "\n".join(text for entry in entries(result) for text in strings(entry))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, convparse.Json):
        yield from strings(value.value)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def check_units(result: ParseResult, rows: Any) -> None:
    """Every row is in one bin, and every key is read or counted."""
    (account,) = result.accounts
    assert account.balanced
    units = sum(part.units for part in account.bins.values())
    tables = Counter(table for table, _, _ in rows if table in ("ItemTable", "cursorDiskKV", "composerHeaders"))
    assert units == sum(tables.values())
    seen: dict[Any, Any] = {}
    for entry in entries(result):
        for origin in (entry.origin, *entry.merged):
            assert seen.setdefault((origin.table, origin.rowid), origin.length) == origin.length
    keys = [entry.key for entry in entries(result)]
    assert len(keys) == len(set(keys))
    for drop in (*result.dropped, *result.skipped):
        assert drop.fate == ALL_CODES[drop.code].fate


@examples(60)
@given(editors())
def test_every_row_is_accounted_for(made: Stored) -> None:
    result = parse(made.rows)
    check_units(result, made.rows)
    assert {c.id for c in result.conversations} == set(made.ids)
    said = told(result)
    for text in made.texts:
        assert text in said, text
    messages = [m for c in result.conversations for m in c.messages]
    assert set(made.prompts) <= {m.text for m in messages if m.author == "human"}
    assert sum(m.state == "orphan" for c in result.conversations for m in c.entries) == made.orphans
    assert "SECRET" not in said + repr(result.dropped) + repr(result.skipped)
    calls = [use.call.id for c in result.conversations for use in c.tool_calls()]
    assert sorted(calls) == sorted(made.calls)


@examples(100)
@given(odd_editors())
def test_every_row_of_an_odd_database_is_accounted_for(rows: Any) -> None:
    result = parse(rows)
    check_units(result, rows)
    for conversation in result.conversations:
        assert all(use.outcome for use in conversation.tool_calls())
        conversation.turns()
        conversation.responses()
        conversation.edits()


@examples(12)
@given(editors(), st.randoms(use_true_random=False))
def test_no_leaf_of_a_row_changes_unnoticed(made: Stored, random: Any) -> None:
    found = list(leaves(made.rows))
    chosen = found if THOROUGH else random.sample(found, min(30, len(found)))
    assert unnoticed(made.rows, chosen) == []


@examples(30)
@given(editors())
def test_the_same_rows_give_an_equal_result(made: Stored) -> None:
    first, second = parse(made.rows), parse(made.rows)
    assert first == second
    assert hash(first) == hash(second)
    assert pickle.loads(pickle.dumps(first)) == first


@examples(30)
@given(made=editors())
def test_one_conversation_after_the_other_is_the_whole(made: Stored, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("db") / "state.vscdb"
    path.write_bytes(database(made.rows))
    whole = convparse.parse(path, "cursor")
    parts = list(convparse.iter_conversations(path, "cursor"))
    assert [c for part in parts for c in part.conversations] == list(whole.conversations)
    assert parts[-1].conversations == ()
    assert parts[-1].loose == whole.loose
    assert all(part.account.balanced for part in parts)
    for conversation, part in zip(whole.conversations, parts, strict=False):
        alone = convparse.parse(path, "cursor", conversation_id=conversation.id)
        assert alone.conversations == (conversation,)
        assert alone.account == part.account
        assert conversation.stamp == part.conversations[0].stamp is not None
    known = {c.stamp for c in whole.conversations}
    (rest,) = convparse.iter_conversations(path, "cursor", known=known)
    assert rest.conversations == ()


@examples(20)
@given(editors())
def test_the_order_of_rows_changes_nothing_that_is_listed(made: Stored) -> None:
    """Row ids, which move with every save, decide nothing but the order of orphans."""
    one, other = parse(made.rows), parse(made.rows[::-1])
    for a, b in zip(one.conversations, other.conversations, strict=True):
        assert a.id == b.id
        listed = [[m for m in c.messages if m.state != "orphan"] for c in (a, b)]
        if "cursor/lost-order" not in one.dropped_by_code():
            assert same(tuple(map(_placeless, listed[0])), tuple(map(_placeless, listed[1])))


def _placeless(message: Message) -> Message:
    return attrs.evolve(message, origin=None, merged=())
