"""The laws that every parse of Codex keeps: over fixtures, and over generated rollouts of all four generations."""

import pickle
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leaves import EVERY_LINE, Leaf, encoded, leaves, names, same, same_facts, with_leaf
from tests.strategies import DAMAGE, examples, mutated, with_odd_values
from tests.strategies_codex import EVENT, GENERATIONS, ITEM, RESPONSE, Session, codex_fuzz, codex_sessions
from tests.test_laws import steps

import convparse
from convparse import SOURCES, Conversation, Event, Limits, Message, Origin, ParseResult
from convparse.blocks import ToolCall, ToolResult
from convparse.records import FILE_FACTS

FIXTURES: Final = Path(__file__).parent / "fixtures" / "codex"
CASES: Final = sorted(path for path in FIXTURES.rglob("*.json*") if not path.name.endswith(".expected.json"))
MOST: Final = 400
CODES: Final = {**convparse.CODES, **SOURCES["codex"].codes}


def parse(data: bytes, limits: Limits | None = None) -> ParseResult:
    return convparse.parse_bytes(data, source="codex", name="x.jsonl", limits=limits)


def entries(result: ParseResult) -> list[Message | Event]:
    return [entry for c in result.conversations for entry in c.entries] + list(result.loose)


def origins(result: ParseResult) -> list[Origin]:
    return [origin for entry in entries(result) for origin in (entry.origin, *entry.merged) if origin is not None]


# ---- 1. units --------------------------------------------------------------------------------------------------------------


def check_units(result: ParseResult, data: bytes) -> None:
    """Every byte is in one bin, and what records and drops say of their bytes agrees with the bins."""
    (account,) = result.accounts
    assert account.size == len(data)
    assert account.balanced
    spans = sorted({(origin.offset, origin.length) for origin in origins(result)})
    for (start, length), (after, _) in pairwise(spans):
        assert start + length <= after
    assert sum(length for _, length in spans) + account.lost.bytes + account.skipped.bytes + account.blank.bytes == len(data)
    for drop in (*result.dropped, *result.skipped):
        assert drop.fate == CODES[drop.code].fate
        assert drop.count >= len(drop.lines) >= 1
    keys = [entry.key for entry in entries(result)]
    assert len(keys) == len(set(keys))
    hash(result)


@pytest.mark.parametrize("generation", GENERATIONS)
@examples(60)
@given(drawn=st.data())
def test_every_byte_is_accounted_for(generation: str, drawn: st.DataObject) -> None:
    data = drawn.draw(codex_sessions(generation=generation)).data
    check_units(parse(data), data)


@examples(150)
@given(drawn=st.data())
def test_every_byte_of_a_broken_session_is_accounted_for(drawn: st.DataObject) -> None:
    data = drawn.draw(mutated(codex_sessions(generation=drawn.draw(st.sampled_from(GENERATIONS)))))
    check_units(parse(data), data)


@examples(300)
@given(codex_fuzz)
def test_no_records_raise(rows: list[Any]) -> None:
    data = b"".join(encoded(row) + b"\n" for row in rows)
    check_units(parse(data), data)
    for start in (
        b'{"type":"thread.started","thread_id":"a"}\n',
        b'{"session_id":"a","ts":1,"text":"b"}\n',
        b'{"id":"a","thread_name":"b","updated_at":"c"}\n',
    ):
        check_units(parse(start + data), start + data)
    whole = b'{"session":{},"items":' + encoded(rows) + b"}"
    check_units(parse(whole), whole)
    check_units(parse(whole + data), whole + data)


@examples(200)
@given(drawn=st.data())
def test_no_odd_values_raise(drawn: st.DataObject) -> None:
    data = drawn.draw(with_odd_values(codex_sessions(damage=False)))
    result = parse(data)
    check_units(result, data)
    for conversation in result.conversations:
        conversation.turns()
        conversation.responses()
        conversation.edits()
        assert all(use.outcome for use in conversation.tool_calls())


# ---- 2. leaves -------------------------------------------------------------------------------------------------------------


def unnoticed(data: bytes, chosen: list[Leaf], at: float = 1.0) -> list[Leaf]:
    before, found = parse(data, EVERY_LINE), []
    for leaf in chosen:
        changed = with_leaf(data, leaf, at)
        after = parse(changed, EVERY_LINE)
        assert after.account.balanced, leaf
        told = any(names(drop, leaf.line, leaf.pointer) for drop in (*after.dropped, *after.skipped))
        if after.variant == before.variant and same_facts(before, after) and not told:
            found.append(leaf)
    return found


@pytest.mark.parametrize("path", CASES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_no_leaf_of_a_fixture_is_silent(path: Path) -> None:
    data = path.read_bytes()
    every = leaves(data)
    chosen = every[:: -(-len(every) // MOST) or 1]
    assert unnoticed(data, chosen) == []
    assert unnoticed(data, [leaf for leaf in chosen if isinstance(leaf.value, str) and len(leaf.value) > 1], 0.0) == []


@examples(150)
@given(drawn=st.data())
def test_no_leaf_of_a_session_is_silent(drawn: st.DataObject) -> None:
    generation = drawn.draw(st.sampled_from(GENERATIONS))
    data = drawn.draw(
        st.one_of(
            codex_sessions(generation=generation).map(lambda made: made.data), with_odd_values(codex_sessions(damage=False))
        )
    )
    every = leaves(data)
    if every:
        chosen = drawn.draw(st.lists(st.sampled_from(every), max_size=8, unique_by=lambda leaf: (leaf.line, leaf.path)))
        assert unnoticed(data, chosen, drawn.draw(st.sampled_from([0.0, 0.5, 1.0]))) == []


# ---- 3. addition -----------------------------------------------------------------------------------------------------------


@examples(60)
@given(codex_sessions(number=1), codex_sessions(number=2))
def test_bytes_and_damage_add_up(a: Any, b: Any) -> None:
    """Records do not: lines name no thread, so that a second header in a file is a copied ancestor's."""
    first, second, both = parse(a.data), parse(b.data), parse(a.data + b.data)
    if both.variant == first.variant == second.variant:
        assert both.account.size == first.account.size + second.account.size
        for name in ("lost", "skipped", "blank"):
            assert both.account.bins[name] == (first.account + second.account).bins[name]


# ---- 4. cuts ---------------------------------------------------------------------------------------------------------------


def unit_facts(result: ParseResult, end: int) -> list[Any]:
    found = []
    for entry in entries(result):
        assert entry.origin is not None
        assert entry.origin.offset is not None
        assert entry.origin.length is not None
        if entry.origin.offset + entry.origin.length <= end:
            left_out = FILE_FACTS[type(entry).__name__] | {"extra"}
            facts = [(a.name, getattr(entry, a.name)) for a in attrs.fields(type(entry)) if a.name not in left_out]
            found.append((entry.origin.offset, facts))
    return sorted(found, key=lambda item: item[0])


def folded(result: ParseResult, end: int) -> set[int]:
    return {
        o.offset
        for e in entries(result)
        for o in e.merged
        if o.offset is not None and o.length is not None and o.offset + o.length <= end
    }


@examples(150)
@given(drawn=st.data())
def test_a_cut_file_gives_the_units_before_the_cut(drawn: st.DataObject) -> None:
    data = drawn.draw(codex_sessions()).data
    cut = drawn.draw(st.integers(0, len(data)))
    whole, head = parse(data), parse(data[:cut])
    if head.variant != whole.variant:
        return
    check_units(head, data[:cut])
    end = data.rfind(b"\n", 0, cut) + 1
    assert unit_facts(head, end) == unit_facts(whole, end)
    assert folded(head, end) == folded(whole, end)


# ---- 5. repeats ------------------------------------------------------------------------------------------------------------


@examples(40)
@given(drawn=st.data())
def test_the_same_bytes_give_an_equal_result(drawn: st.DataObject) -> None:
    data = drawn.draw(codex_sessions(generation=drawn.draw(st.sampled_from(GENERATIONS)))).data
    first, second = parse(data), parse(data)
    assert first == second
    assert pickle.loads(pickle.dumps(first)) == first


# ---- 6. bounds -------------------------------------------------------------------------------------------------------------


@examples(60)
@given(drawn=st.data())
def test_a_line_over_the_limit_costs_itself_alone(drawn: st.DataObject) -> None:
    session = drawn.draw(codex_sessions(damage=False))
    most = drawn.draw(st.integers(250, 900))
    result = parse(session.data, Limits(line_bytes=most, lines=1_000))
    check_units(result, session.data)
    long = [number for number, line in enumerate(session.lines, 1) if len(line) > most]
    drops = [drop for drop in result.dropped if drop.code == "oversized"]
    assert sorted(line for drop in drops for line in drop.lines) == long
    rest = parse(b"".join(b"\n" if len(line) > most else line for line in session.lines))
    if rest.variant == result.variant:
        assert same(result.conversations, rest.conversations)


@pytest.mark.parametrize("line", DAMAGE)
def test_damage_costs_itself_alone(line: bytes) -> None:
    head = b'{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"a"}}\n'
    tail = b'{"timestamp":"2026-01-01T00:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"Hi."}}\n'
    result = parse(head + line + b"\n" + tail)
    check_units(result, head + line + b"\n" + tail)
    assert [m.text for m in result.conversation.prompts] == ["Hi."]


# ---- what was said, once ---------------------------------------------------------------------------------------------------

GRAMMARS: Final = ((), (RESPONSE,), (EVENT, ITEM), (RESPONSE, EVENT, ITEM))


def said(result: ParseResult) -> list[tuple[str | None, str]]:
    messages = [m for c in result.conversations for m in c.messages]
    return [
        (m.author, m.text)
        for m in messages
        if m.author in ("human", "model") and any(type(b).__name__ == "Text" for b in m.blocks)
    ]


@pytest.mark.parametrize("grammars", GRAMMARS, ids=lambda names: "+".join(names) or "any")
@pytest.mark.parametrize("generation", GENERATIONS)
@examples(60)
@given(drawn=st.data())
def test_everything_is_there_once(generation: str, grammars: tuple[str, ...], drawn: st.DataObject) -> None:
    session = drawn.draw(codex_sessions(generation=generation, grammars=grammars))
    result = parse(session.data)
    assert Counter(said(result)) == Counter(session.said)
    assert [m.text for m in result.conversations[0].prompts] == session.prompts
    calls = [block.id for m in result.conversations[0].messages for block in m.blocks if type(block) is ToolCall]
    results = [block.call_id for m in result.conversations[0].messages for block in m.blocks if type(block) is ToolResult]
    assert sorted(map(str, calls)) == sorted(session.calls)
    assert sorted(map(str, results)) == sorted(session.results)
    thought = [block.text for m in result.conversations[0].messages for block in m.blocks if type(block).__name__ == "Thinking"]
    assert len([text for text in thought if text]) == len({text for text in thought if text})
    assert (result.conversations[0].usage.output_tokens or 0) == session.output
    check_structure(result.conversations[0], session)
    everything = "\ud800".join(
        block.text for m in result.conversations[0].messages for block in m.blocks if hasattr(block, "text")
    )
    for text in session.texts:
        assert text in everything


def check_structure(conversation: Conversation, session: Session) -> None:
    """What was copied, what was rolled back, what a compaction said, and where the thread comes from."""

    def marked(which: Callable[[Message], bool]) -> Counter[tuple[str | None, str]]:
        return Counter(
            (m.author, m.text)
            for m in conversation.messages
            if which(m) and m.author in ("human", "model") and any(type(b).__name__ == "Text" for b in m.blocks)
        )

    assert marked(lambda m: m.inherited) == Counter(session.said[: session.copied])
    assert marked(lambda m: m.state == "undone") == Counter(session.said[n] for n in session.undone)
    assert [event.text for event in conversation.events if event.name == "compacted"] == session.summaries
    assert [(link.kind, link.id, link.until) for link in conversation.links] == session.links
    assert conversation.body == session.body


@pytest.mark.parametrize("generation", ["legacy", "paginated"])
@examples(100)
@given(drawn=st.data())
def test_forks_are_told_from_what_they_copied(generation: str, drawn: st.DataObject) -> None:
    session = drawn.draw(codex_sessions(generation=generation, fork=True))
    result = parse(session.data)
    check_units(result, session.data)
    assert Counter(said(result)) == Counter(session.said)
    assert (result.conversations[0].usage.output_tokens or 0) == session.output
    check_structure(result.conversations[0], session)


@pytest.mark.parametrize("generation", ["legacy", "paginated"])
@examples(100)
@given(drawn=st.data())
def test_what_is_said_again_stays(generation: str, drawn: st.DataObject) -> None:
    session = drawn.draw(codex_sessions(generation=generation, grammars=(RESPONSE, EVENT, ITEM), repeat=True))
    result = parse(session.data)
    assert Counter(said(result)) == Counter(session.said)
    assert all(m.merged for m in result.conversations[0].messages if m.author in ("human", "model") and m.text)


# ---- linear time -----------------------------------------------------------------------------------------------------------


def line(kind: str, at: int = 0, **payload: Any) -> bytes:
    stamp = f"2026-01-01T00:{at // 60 % 60:02d}:{at % 60:02d}.000Z"
    return encoded({"timestamp": stamp, "type": kind, "payload": payload}) + b"\n"


def item(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def thought(*parts: str) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": part} for part in parts]}


def prompts(n: int) -> list[bytes]:
    return [line("event_msg", i, type="user_message", message=f"{i}") for i in range(n)]


def heard(n: int) -> list[bytes]:
    return [line("event_msg", i, type="agent_reasoning", text=f"{i}") for i in range(n)]


CALL: Final = {"type": "function_call", "name": "a", "arguments": "{}", "call_id": "c"}
GROWING: Final = {"type": "Reasoning", "id": "a", "summary_text": ["b"], "raw_content": []}
HARD: Final[dict[str, Callable[[int], list[bytes]]]] = {
    "reasoning": lambda n: [line("response_item", i, **thought(f"{i}")) for i in range(n)],
    "parts of reasoning": lambda n: [*heard(n), line("response_item", **thought(*map(str, range(n))))],
    "the same answer": lambda n: [line("event_msg", i, type="agent_message", message="Done.") for i in range(n)],
    "the same prompt": lambda n: [line("response_item", i, **item("yes")) for i in range(n)],
    "prompts": prompts,
    "searches": lambda n: [line("response_item", i, type="web_search_call", action=None) for i in range(n)],
    "calls": lambda n: [line("response_item", i, **CALL) for i in range(n)],
    "ends": lambda n: [line("event_msg", i, type="exec_command_end", call_id="c", command=["a"]) for i in range(n)],
    "rollbacks": lambda n: prompts(n) + [line("event_msg", type="thread_rolled_back", num_turns=1)] * n,
    "compactions": lambda n: [
        line("response_item", i, **item(f"{i}")) + line("compacted", replacement_history=[item("a")]) for i in range(n)
    ],
    "counts": lambda n: [line("token_usage_record", i, usage={"input_tokens": i, "output_tokens": 1}) for i in range(n)],
    "headers": lambda n: [line("session_meta", i, id=f"{i}") for i in range(n)],
    "completed items": lambda n: [line("event_msg", type="item_completed", turn_id="t", item=GROWING)] * n,
}
"""What makes careless readers slow, by size."""


@pytest.mark.parametrize("case", HARD)
def test_time_is_linear(case: str) -> None:
    small, large = (steps(lambda size=size: parse(b"".join(HARD[case](size)))) for size in (80, 480))  # type: ignore[misc]
    assert large <= 6.6 * small + 2_000
