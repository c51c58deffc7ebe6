"""Exports under the judgement of others: every document is what its format asks for, whatever the records are."""

from typing import Any

import pytest
from hypothesis import given
from tests.marks import marked
from tests.results import EMPTY, EVERYTHING, fixture_results
from tests.strategies import Generated, claude_code_sessions, examples
from tests.strategies_codex import codex_sessions
from tests.strategies_records import parse_results, with_blocks, with_entries

from convparse import Message, ParseResult, Text, Unknown, parse_bytes
from convparse.export import atif, markdown, openai_chat, otel

validators = pytest.importorskip("tests.validators")

HOSTILE = (
    *("# A heading", "## user", "```\n# out of the fence\n```", "~~~", "````markdown\n", "Title\n=====", "- item\n\n# deep"),
    *("<script>alert(1)</script>", "</details>", "<!-- ", "<details>\n<summary>x", "<img src=x onerror=alert(1)>", "&lt;b&gt;"),
    *(
        "[link](javascript:alert(1))",
        "![x](http://example.org/x.png)",
        "<https://example.org>",
        "\r```\r# cr\rend",
        "|a|\n|-|\n|b|",
    ),
    *("\\`", "`code`", "**bold**", "1. one", "> quote", "    indented", "[a]: http://example.org", "\u2028# line", "\x0b# tab"),
)
"""Texts that break out of where they stand, if anything does."""


def check(result: ParseResult) -> None:
    validators.check_atif(atif.export(result).document)
    validators.check_chat(openai_chat.export(result).document)
    validators.check_otel(otel.export(result).document)
    check_markdown(result)


def check_markdown(result: ParseResult) -> list[str]:
    talks = [talk.entries for talk in result.conversations] + ([result.loose] if result.loose else [])
    messages = sum(type(entry) is Message for entries in talks for entry in entries)
    return validators.check_markdown(markdown.export(result).document, messages, len(talks))


@pytest.mark.parametrize("result", [EMPTY, EVERYTHING], ids=["empty", "everything"])
def test_documents_of_results_made_by_hand_are_valid(result: ParseResult):
    check(result)


def test_documents_of_every_fixture_are_valid():
    for result in fixture_results().values():
        check(result)


@given(parse_results())
@examples(80)
def test_documents_of_records_in_any_order_are_valid(result: ParseResult):
    check(result)
    check(marked(result))


@given(claude_code_sessions())
@examples(25)
def test_documents_of_claude_code_sessions_are_valid(made: Generated):
    check(parse_bytes(made.data, source="claude-code", name="x.jsonl"))


@given(codex_sessions())
@examples(25)
def test_documents_of_codex_sessions_are_valid(made: Any):
    check(parse_bytes(made.data, source="codex", name="x.jsonl"))


def test_rows_of_text_are_rows_of_a_table():
    pa = pytest.importorskip("pyarrow")
    rows = [row for result in fixture_results().values() for row in openai_chat.export(result).document]
    plain = [row for row in rows if not any(isinstance(message["content"], list) for message in row["messages"])]

    assert pa.Table.from_pylist(plain).num_rows == len(plain) > 400


# ---- Markdown cannot be broken ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_out_of_its_fence(text: str):
    fences = check_markdown(with_blocks(Text(text), Text("after")))

    assert [text.replace("\r", "\n"), "after"] == fences[1:3]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_breaks_out_of_where_it_is_shown(text: str):
    message = Message("m1", None, text, None, (Unknown(text, EVERYTHING.conversations[0].entries[0].extra),))

    check_markdown(with_entries(message, title=text, id=text))


def test_a_picture_is_data_and_nothing_else():
    document = markdown.export(EVERYTHING).document
    images = [
        child.attrs["src"]
        for token in validators.markdown_tokens(document)
        for child in token.children or []
        if child.type == "image"
    ]

    assert ["data:image/png;base64,aGk="] * 2 == images


def test_the_judges_would_object():
    chat = [{"id": "x", "messages": [{"role": "assistant", "tool_calls": [{"id": 1, "type": "function"}]}]}]
    with pytest.raises(ValueError, match="FunctionToolCall"):
        validators.check_chat(chat)
    with pytest.raises(ValueError, match="steps"):
        validators.check_atif([{"schema_version": "ATIF-v1.7", "agent": {"name": "x", "version": "1"}}])
    with pytest.raises(AssertionError):
        validators.check_otel([{"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]}])
    with pytest.raises(AssertionError):
        validators.check_markdown("# x\n\n<script>", 0, 1)
