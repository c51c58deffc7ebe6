from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import attrs
import pytest

from convparse._discover import Found
from convparse._show import _SHOWN, BLOCKS, CONVERSATIONS, NARROWEST, plain, render, render_drops, render_found
from convparse.blocks import (
    Answer,
    Attachment,
    Block,
    Edit,
    Image,
    Injected,
    Json,
    Reference,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from convparse.drops import Account, Bin, Drop
from convparse.records import Conversation, Event, Link, Message, Origin
from convparse.result import ParseResult

NOON = datetime(2026, 9, 1, 12, 0, 5, 250_000, UTC)


def message(*blocks, key="m1", role="assistant", author="model", **fields):
    return Message(key, key, role, author, blocks, **fields)


def conversation(*entries, named="c1", **fields):
    return Conversation(named, "claude-code", entries=entries, **fields)


def result(*conversations, **fields):
    return ParseResult("claude-code", "transcript", "/x/a.jsonl", conversations, **fields)


def shown(*blocks, width=100, others=(), **fields):
    """The lines of one message, without the columns before them."""
    first = conversation(message(*blocks, **fields), *others)
    lines = render(result(first), messages=1, width=width).split("\n\n")[1].split("\n")[1:]
    return [line[38:] for line in lines if not line.startswith("  … and")]


DROPS = {
    "dropped": (
        Drop("malformed-line", "lost", Origin("/x/a.jsonl", 7), count=3, message="not valid JSON"),
        Drop("unknown-field", "unknown", Origin("/x/a.jsonl", 9), "user", "/new", message="a field that is not known"),
    ),
    "skipped": (
        Drop("skipped-record", "skipped", Origin("/x/a.jsonl", 1), "queue-operation", count=2),
        Drop("skipped-field", "skipped", Origin("/x/a.jsonl", 2), "user", "/userType", count=40),
        Drop("skipped-field", "skipped", Origin("/x/b.jsonl", 2), "user", "/userType", count=2),
    ),
}


def test_a_whole_page():
    call = ToolCall("t1", "Bash", "execute", Json.of({"command": "ls"}))
    talk = conversation(
        message(Text("How many\nare there?"), key="u1", role="user", author="human", timestamp=NOON),
        message(Thinking("Let me look."), call, key="m1", timestamp=NOON),
        message(ToolResult("t1", (Text("12"),)), key="u2", role="user", author="tool", timestamp=NOON),
        message(Text("Twelve."), key="m2", timestamp=NOON),
        Event("e1", "turn-end", "turn_duration"),
        title="Counting",
    )
    accounts = (Account("/x/a.jsonl", 90, mapped=Bin(4, 80), lost=Bin(1, 10)),)

    found = render(result(talk, accounts=accounts, **DROPS), messages=3)

    assert (
        found
        == """\
claude-code transcript: /x/a.jsonl
conversations: 1 (1 roots), loose entries: 0
messages: 4, tool calls: 1
bytes: 90 = 80 mapped, 10 lost
dropped: 3 lost, 1 unknown

conversation c1: 4 messages, 1 events
  Counting
   1  2026-09-01 12:00:05Z   human    How many …
   2  2026-09-01 12:00:05Z   model    [thinking] Let me look.
                                      Bash(execute) {"command":"ls"} -> ok
   3  2026-09-01 12:00:05Z   tool     [result] 12
  … and 1 more

dropped:
  a.jsonl:7: lost malformed-line: not valid JSON (x3)
  a.jsonl:9: unknown unknown-field: a field that is not known user /new

skipped:
  code            record           pattern    count
  skipped-record  queue-operation                 2
  skipped-field   user             /userType     42"""
    )


def test_an_empty_result_says_so():
    assert render(result()).split("\n\n")[1:] == ["dropped: nothing", "skipped: nothing"]


@pytest.mark.parametrize(
    ("block", "line"),
    [
        (Text("\n\n  words  \n"), "words"),
        (Text(""), ""),
        (Injected("ide", "<ide>x</ide>"), "[injected ide] <ide>x</ide>"),
        (Answer("Which?", "This."), "[answer] This."),
        (Thinking("", hidden=True), "[thinking] (hidden)"),
        (ToolCall("t", "Patch", "edit", "*** Begin\n+x"), "Patch(edit) *** Begin … -> missing"),
        (ToolResult("t"), "[result] (empty)"),
        (ToolResult("t", (Image("image/png"), Image("image/png"), Unknown("u", Json("1")))), "[result] 2 image, 1 unknown"),
        (Image("image/png", "AAAA"), "[image] image/png"),
        (Image(), "[image]"),
        (Attachment("pdf", "a.pdf"), "[pdf] a.pdf"),
        (Attachment("note", text="inside"), "[note] inside"),
        (Attachment("void"), "[void]"),
        (Reference("main.py", "file:///main.py"), "[file] main.py"),
        (Edit("a.py", "update"), "[update] a.py"),
        (Edit("a.py", "move", "b.py"), "[move] a.py -> b.py"),
        (Unknown("hologram", Json('{"a":1}')), '[unknown hologram] {"a":1}'),
    ],
)
def test_every_block_has_its_line(block, line):
    assert [line] == shown(block)


def test_no_kind_of_block_is_forgotten():
    assert set(get_args(Block)) == set(_SHOWN)


def test_a_message_without_blocks_is_marked():
    assert shown() == ["(empty)"]


def test_what_is_not_active_says_its_state():
    assert shown(Text("Wrong way."), state="undone") == ["[undone] Wrong way."]


def test_a_message_shows_so_many_blocks_and_counts_the_rest():
    lines = shown(*(Text(str(number)) for number in range(BLOCKS + 5)))

    assert len(lines) == BLOCKS + 1
    assert lines[-1] == "… and 5 more blocks"


def test_the_outcome_belongs_to_the_call_of_this_message():
    call = ToolCall("t1", "Bash", "execute", "ls")
    again = message(call, ToolResult("t1", (Text("no"),), is_error=True), key="m2")

    assert shown(call, others=[again]) == ["Bash(execute) ls -> missing"]


def test_a_long_line_is_cut_to_the_width():
    [line] = shown(Text("a" * 10**6))

    assert line == "a" * 61 + "…"


def test_wide_characters_take_two_columns():
    assert shown(Text("字" * 100)) == ["字" * 30 + "…"]


def test_an_outcome_stays_in_sight_behind_a_long_input():
    [line] = shown(ToolCall("t1", "Bash", "execute", "x" * 500))

    assert len(line) == 62
    assert line.endswith("x… -> missing")


@pytest.mark.parametrize("width", [-1, 0, NARROWEST])
def test_a_narrow_page_has_a_limit(width):
    call = ToolCall("t1", "n" * 100, "execute", "x" * 500)
    lines = render(result(conversation(message(Text("a" * 500), call), title="t" * 500)), width=width).split("\n")

    assert max(map(len, lines)) == NARROWEST


def test_times_are_those_of_the_record():
    east = timezone(timedelta(hours=14))
    times = [
        message(timestamp=datetime(1, 1, 1, tzinfo=east), timestamp_origin="derived"),
        message(timestamp=datetime(9999, 12, 31, tzinfo=UTC), timestamp_origin="recorded"),
        message(),
    ]

    lines = render(result(conversation(*times))).split("\n")

    assert [line[6:].split("  ")[0].removesuffix(" model    (empty)") for line in lines[7:10]] == [
        "~0001-01-01 00:00:00+14:00",
        "9999-12-31 00:00:00Z",
        "-",
    ]


def test_the_role_stands_in_for_an_untold_author():
    assert "developer"[:7] + "…" in render(result(conversation(message(author=None, role="developer"))))


def test_a_conversation_says_what_is_unusual_about_it():
    parent = conversation(links=(Link("subagent", "c2", "t1"),), newer=True)
    child = conversation(named="c2", body="encrypted")
    nameless = conversation(named=None)

    headings = [part for part in render(result(parent, child, nameless)).split("\n\n") if part.startswith("conversation ")]

    assert headings == [
        "conversation c1: 0 messages, 0 events, written by a newer version than is known here",
        "conversation c2: 0 messages, 0 events, sub-agent of c1, body encrypted",
        "conversation (no id): 0 messages, 0 events",
    ]


def test_loose_entries_have_a_part_of_their_own():
    call = ToolCall("t1", "Bash", "execute", "ls")
    loose = (message(call), Event("e1", "title", "summary", "What was done"), Event("e2", "hook", "stop_hook"))

    part = render(result(loose=loose), messages=2).split("\n\n")[1]

    assert (
        part
        == """\
loose: 3 entries that belong to no conversation
   1  -                      model    Bash(execute) ls
   2  -                      event    [title] What was done
  … and 1 more"""
    )


def test_no_messages_are_shown_where_none_are_wanted():
    part = render(result(conversation(message(Text("x")))), messages=0).split("\n\n")[1]

    assert part == "conversation c1: 1 messages, 0 events\n  … and 1 more"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("a\tb\u00a0c\u3000d", "a b c d"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800\x9b\r\n", "\\ud800\\x9b\\r\\n"),
        ("naïve 字 🙂", "naïve 字 🙂"),
    ],
)
def test_nothing_in_a_text_can_steer_a_terminal(text, safe):
    assert safe == plain(text)


def test_no_field_of_a_record_reaches_the_terminal_raw():
    bad = "\x1b[31m"
    blocks = (
        *(Text(bad), Injected(bad, bad), Answer(bad, bad), Thinking(bad), ToolCall(bad, bad, bad, bad)),
        *(ToolResult(bad, (Text(bad),), status=bad), Image(uri=bad), Attachment(bad, bad), Reference(bad, kind=bad)),
        *(Edit(bad, bad, bad), Unknown(bad, Json(bad))),
    )
    talk = conversation(message(*blocks, role=bad, author=None), named=bad, title=bad, links=(Link("subagent", bad),))
    drop = Drop("malformed-line", "lost", Origin(bad, 1), bad, bad, message=bad)
    whole = result(talk, loose=(Event(bad, bad, bad, bad),), dropped=(drop,), skipped=(drop,))

    assert "\x1b" not in render(attrs.evolve(whole, source=bad, variant=bad, path=bad))


def test_drops_are_never_cut():
    pattern = "/a" * 200
    drop = Drop("unknown-field", "unknown", Origin("/x/a.jsonl", 9), "user", pattern)

    assert render_drops(result(dropped=(drop,), skipped=(attrs.evolve(drop, fate="skipped"),))).count(pattern) == 2


def test_many_conversations_are_shown_by_their_headings():
    talks = [conversation(message(Text("Hello.")), named=f"c{number}") for number in range(CONVERSATIONS + 2)]

    page = render(result(*talks))

    assert page.count("Hello.") == CONVERSATIONS
    assert "conversation c21: 1 messages, 0 events\n  … and 1 more\n" in page
    assert render(result(*talks), messages=len(talks)).count("Hello.") == len(talks)


def test_what_was_found_is_one_line():
    found = [Found("codex", "/home/ada/a\x1b[2J.jsonl", ("a",)), Found("copilot-cli", "/b", problem="unreadable")]

    assert [render_found(one) for one in found] == [
        "codex        /home/ada/a\\x1b[2J.jsonl",
        "copilot-cli  /b  (passed over: unreadable)",
    ]
