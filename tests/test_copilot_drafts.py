"""What stands unsent in VS Code's input box: given to those who ask, else left out by name."""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leaves import EVERY_LINE, changed, covers, pointer_of, put, same_facts, walk
from tests.strategies import examples
from tests.strategies_copilot import MadeLog, logs

from convparse import (
    SOURCES,
    Attachment,
    Message,
    ParseResult,
    Text,
    from_json,
    iter_conversations,
    parse,
    parse_bytes,
    to_json,
)
from convparse import parse_many as many

LOG = Path(__file__).parent / "fixtures" / "copilot" / "log_draft.jsonl"
DOCUMENT = Path(__file__).parent / "fixtures" / "copilot" / "pending_and_draft.json"


def drafts(result: ParseResult) -> list[Message]:
    return [message for c in result.conversations for message in c.messages if message.role == "draft"]


def session(box: Any) -> ParseResult:
    data = json.dumps({"version": 3, "sessionId": "s1", "requests": [], "inputState": box}).encode()
    result = parse_bytes(data, source="copilot", drafts=True)
    assert result.account.balanced
    return result


def skipped(result: ParseResult) -> list[tuple[str, str]]:
    return [(drop.code, drop.pattern) for drop in result.skipped]


def test_a_draft_is_left_out_by_name() -> None:
    for path in (LOG, DOCUMENT):
        result = parse(path)

        assert drafts(result) == []
        assert b"secret draft" not in to_json(result)
        assert b"Now write the" not in to_json(result)
        assert ("skipped-field", "/inputState") in skipped(result)


def test_a_draft_is_a_pending_message_for_those_who_ask() -> None:
    result = parse(DOCUMENT, drafts=True)
    (draft,) = drafts(result)

    assert (draft.text, draft.state, draft.author, draft.key) == ("secret draft", "pending", "human", "s1:draft:1")
    assert draft.origin is not None
    assert draft.origin.pointer == "/inputState"
    assert ("skipped-field", "/inputState") not in skipped(result)
    assert result.conversation.prompts == ()


def test_of_a_log_the_last_draft_alone_is_given() -> None:
    result = parse(LOG, drafts=True)
    (draft,) = drafts(result)

    assert draft.blocks == (Text("Now write the"), Attachment("file", "a.py", uri="file:///w/a.py"))
    assert draft.extra is not None
    assert draft.extra.value == {"/mode": {"id": "agent", "kind": "agent"}}
    assert draft.origin is not None
    assert (draft.origin.line, draft.origin.pointer) == (1, "/v/inputState")
    assert [origin.line for origin in draft.merged] == [3, 4]
    assert b"my key is" not in to_json(result)
    assert ("skipped-record", "") in skipped(result)
    assert [turn.answer for turn in result.conversation.turns()] == ["1"]
    assert result.account.balanced


def test_the_option_goes_through_everything_that_parses() -> None:
    expected = parse(LOG, drafts=True)
    without = parse(LOG)

    assert parse(LOG, drafts=True, after=without) == expected
    assert parse(LOG, after=expected) == without
    assert expected.stamp == without.stamp
    assert expected.since(without) == tuple(drafts(expected))
    assert from_json(to_json(expected)) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected
    assert list(iter_conversations(LOG, drafts=True)) == [expected]
    assert [done.value for done in many([LOG], drafts=True, workers=0)] == [expected]
    assert [done.value for done in many([LOG], drafts=True, workers=1, then=drafts)] == [drafts(expected)]
    assert drafts(parse_bytes(LOG.read_bytes(), drafts=True))[0].blocks == drafts(expected)[0].blocks


@pytest.mark.parametrize("box", [{}, {"inputText": "", "attachments": []}, {"mode": {"id": "ask"}}, "text", None, 0])
def test_nothing_typed_is_no_message(box: Any) -> None:
    assert drafts(session(box)) == []


def test_what_is_odd_in_a_draft_is_named() -> None:
    result = session({"inputText": 5, "attachments": "x", "new": 1})
    (draft,) = drafts(result)

    assert draft.blocks == ()
    assert draft.extra is not None
    assert draft.extra.value == {"/inputText": 5, "/attachments": "x", "/new": 1}
    assert {(drop.code, drop.pattern) for drop in result.dropped} == {
        ("unexpected-type", "/inputState/inputText"),
        ("unexpected-type", "/inputState/attachments"),
        ("unknown-field", "/inputState/new"),
    }


def test_an_attachment_that_is_odd_is_named_at_its_place() -> None:
    result = session({"attachments": [{"kind": 5}]})

    assert [(drop.code, drop.pattern) for drop in result.dropped] == [("unexpected-type", "/inputState/attachments/*")]


def test_a_draft_cut_by_the_editor_is_named() -> None:
    result = session({"inputText": "[string: value truncated for persistence, 5 characters]"})

    assert [(drop.code, drop.pattern) for drop in result.dropped] == [("copilot/truncated-value", "/inputState/inputText")]


def test_a_source_without_drafts_is_read_as_ever() -> None:
    path = LOG.parent.parent / "claude_code" / "normal_text.jsonl"

    old = parse(path, after=parse(path))
    assert parse(path, drafts=True, after=old) == old


def test_a_source_from_elsewhere_may_have_drafts() -> None:
    source = SOURCES["copilot"]
    variants = {name: attrs.evolve(variant, read_drafts=None) for name, variant in source.variants.items()}

    assert drafts(parse(LOG, attrs.evolve(source, variants=variants), drafts=True)) == []


# ---- the laws --------------------------------------------------------------------------------------------------------------

boxes = st.fixed_dictionaries(
    {"inputText": st.text(min_size=1, max_size=4)},
    optional={
        "attachments": st.lists(
            st.fixed_dictionaries({"kind": st.sampled_from(["file", "image"])}, optional={"name": st.text(max_size=3)}),
            max_size=2,
        ),
        "mode": st.fixed_dictionaries({"id": st.text(max_size=3)}),
        "selections": st.lists(st.integers(0, 3), max_size=2),
        "new": st.integers(),
    },
)


def cuts(data: bytes) -> Iterator[bytes]:
    lines = data.splitlines(keepends=True)
    return (b"".join(lines[:n]) for n in range(len(lines) + 1))


@examples(60)
@given(logs, boxes)
def test_logs_with_drafts_are_accounted_for(log: MadeLog, box: dict[str, Any]) -> None:
    more = b"".join(
        json.dumps(one).encode() + b"\n"
        for one in (
            {"kind": 1, "k": ["inputState"], "v": box},
            *({"kind": 1, "k": ["inputState", "inputText"], "v": text} for text in ("a", "ab")),
        )
    )
    data = log.data + (b"" if log.data.endswith(b"\n") else b"\n") + more
    for part in cuts(data):
        result = parse_bytes(part, source="copilot", name="f", drafts=True)
        assert result.account.balanced
        assert result.account.size == len(part)


@examples(25)
@given(boxes, st.floats(0, 1))
def test_no_leaf_of_a_draft_changes_unnoticed(box: dict[str, Any], at: float) -> None:
    value = {"version": 3, "sessionId": "s", "requests": [], "inputState": box}

    def told(value: Any) -> ParseResult:
        return parse_bytes(json.dumps(value).encode(), source="copilot", name="f", limits=EVERY_LINE, drafts=True)

    before = told(value)
    for path, leaf in walk(value):
        after = told(put(value, path, changed(leaf, at)))
        named = any(covers(drop.pattern, pointer_of(path)) for drop in (*after.dropped, *after.skipped) if drop.pattern)
        assert named or not same_facts(before, after), path
