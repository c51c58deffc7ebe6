"""What notebooks show: everything escaped, balanced tags, bounded size, and what is not shown counted."""

import copy
import json
import pickle
import re
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.environment import unmeasured
from tests.results import EMPTY, EVERYTHING, LOST, SKIPPED, TALK, fixture_results

import convparse
from convparse import _html, _markup
from convparse.blocks import Attachment, Image, Injected, Json, Text, Thinking, ToolCall, ToolResult
from convparse.drops import Account, Bin, Drop, Drops
from convparse.records import Context, Conversation, Event, Link, Message, Origin, Usage
from convparse.result import ParseResult

ATTRIBUTES = {"class", "dir", "style", "role", "aria-label", "open"}
BOUND = 3_000_000
"""No page is longer, whatever it shows."""
NOON = datetime(2026, 9, 1, 12, 0, 5, 250_000, UTC)


class Page(HTMLParser):
    """The texts of a page; fails where tags are not balanced, or where there is one that should not be."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.stack, self.texts, self.styles, self.tags = [], [], [], []
        self.feed(html)
        self.close()
        assert self.stack == []
        self.text = "".join(self.texts)

    def handle_starttag(self, tag, attributes):
        assert tag in _markup.TAGS
        assert {name for name, _ in attributes} <= ATTRIBUTES
        assert all(re.fullmatch(r"width:[0-9.]+%", value) for name, value in attributes if name == "style")
        self.stack.append(tag)
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        (self.styles if self.stack[-1:] == ["style"] else self.texts).append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def page(record):
    return Page(record._repr_html_())


def message(*blocks, key="m1", role="assistant", author="model", **fields):
    return Message(key, key, role, author, blocks, **fields)


def conversation(*entries, named="c1", **fields):
    return Conversation(named, "claude-code", entries=entries, **fields)


def said(*blocks, **fields):
    """What is shown of one message."""
    return page(conversation(message(*blocks, **fields))).text


# ---- what is shown ---------------------------------------------------------------------------------------------------------


def test_a_result_shows_its_account_its_drops_and_its_conversations():
    shown = page(convparse.parse("tests/fixtures/claude_code/readme.jsonl")).text

    assert shown.startswith(
        "claude-code transcript tests/fixtures/claude_code/readme.jsonl1 conversation4 messages2 events1 tool call"
    )
    assert "mapped 97.6 % 3,501 bytes in 6 units" in shown
    assert "lost 2.4 % 85 bytes in 1 unit" in shown
    assert "dropped: 1 lost 1 kind" in shown
    assert "malformed-line not valid JSON" in shown
    assert "Bash execute command: ls notes | wc -l" in shown
    assert "There are twelve notes." in shown


def test_a_conversation_shows_facts_turns_and_entries():
    call, failed = (
        ToolCall("t1", "Bash", "execute", Json.of({"command": "ls", "timeout": 5})),
        ToolCall("t2", "Grep", "search", "x"),
    )
    talk = conversation(
        message(Text("How many?"), key="u1", role="user", author="human", timestamp=NOON),
        message(Thinking("Let me look."), call, failed, key="m1", model="opus", usage=Usage(3, 4, output_tokens=57)),
        message(ToolResult("t1", (Text("12"),), status="completed"), key="u2", role="user", author="tool"),
        message(ToolResult("t2", (Image("image/png"),), is_error=True), key="u3", role="user", author="tool"),
        message(Text("Twelve."), key="m2", stop_reason="end_turn", timestamp=NOON, timestamp_origin="derived", state="undone"),
        Event("e1", "turn-end", "turn_duration", "It took long."),
        title="Counting",
        context=Context("/home/ada", "main", "2.1.0"),
    )

    shown = page(talk).text

    assert shown.startswith(
        "Counting c15 messages1 event2 tool calls, 1 error7 tokens read, 57 tokens written2026-09-01 12:00:05Zopus"
    )
    assert "/home/adamain2.1.0" in shown
    assert "1 turnpromptanswercallswrittenstatus1How many?257complete" in shown
    assert "human 12026-09-01 12:00:05ZHow many?" in shown
    assert "thinking  Let me look." in shown
    assert "Bash execute command: ls\ntimeout: 5" in shown
    assert "Grep search errorx" in shown
    assert "result completed 12" in shown
    assert "result error (1 image)" in shown
    assert "model 5 undone~2026-09-01 12:00:05ZTwelve." in shown
    assert "turn-end turn_durationIt took long." in shown


def test_of_many_blocks_the_first_are_shown_and_the_others_counted():
    assert said(*[Text(f"block {n};") for n in range(12)]).endswith("block 6;block 7;… 4 more blocks")


@pytest.mark.parametrize(
    "block, shown",
    [
        (Image("image/png", "aGk="), "image image/png 4 characters of base64"),
        (Image(None, None, "file:///a.png"), "image  file:///a.png"),
        (Attachment("file", "a.txt", "text/plain", "Hi."), "attachment file a.txt\ntext/plain\nHi."),
        (convparse.Edit("a", "move", "b", "@@ -1 +1 @@"), "edit move a\nb\n@@ -1 +1 @@"),
        (convparse.Edit("a", "create", after="x = 1"), "edit create a\nx = 1"),
        (convparse.Reference("b.py", "file:///b.py", "symbol"), "reference symbol b.py\nfile:///b.py"),
        (convparse.Answer("Which?", "This."), "answer Which? This."),
        (convparse.Unknown("new", Json.of({"a": 1})), 'unknown new {"a":1}'),
        (Injected("reminder", "Be kind."), "injected reminder Be kind."),
        (Thinking("", hidden=True), "thinking hidden "),
        (ToolCall(None, "f", "other", Json.of([1])), "f other missing[1]"),
        (ToolCall(None, "f", "other", Json.of({"a": [1, None]})), "f other missinga: [1,null]"),
        (ToolResult(None, ()), "result  "),
    ],
)
def test_blocks(block, shown):
    assert said(block).endswith(f"model 1{shown}")


def test_a_call_whose_arguments_are_too_long_to_decode_shows_how_they_begin():
    shown = said(ToolCall(None, "f", "other", Json.of({"a": "x" * _html.TEXTS})))

    assert '{"a":"xxx' in shown
    assert "96,008 more characters not shown" in shown


def test_a_message_of_nothing_says_so():
    assert said().endswith("model 1(empty)")


def test_what_is_odd_about_a_conversation_stands_first():
    talk = conversation(body="encrypted", newer=True)

    assert page(talk).text == "c1body: encryptednewer than is known here0 messages"
    assert page(conversation(named=None)).text == "no id0 messages"


def test_many_models_are_counted():
    talk = conversation(*(message(key=f"m{n}", model=f"model-{n}") for n in range(5)))

    assert "model-0model-1model-22 more models" in page(talk).text


def test_sub_agents_name_who_started_them():
    parent = conversation(named="p", title="The task", links=(Link("subagent", "k"),))
    shown = page(ParseResult("codex", "rollout", "/x", (parent, conversation(named="k"))))

    assert "k sub-agent of The task" in shown.text
    assert [attributes for tag, attributes in shown.tags if tag == "details"] == [
        {"class": "cp-section", "open": ""},
        {"class": "cp-section"},
    ]


def test_loose_entries_are_shown():
    shown = page(ParseResult("codex", "history", "/x", loose=(message(Text("Hello.")),))).text

    assert "loose: in no conversation1 message" in shown
    assert shown.endswith("Hello.")


def test_several_files_have_a_row_each_with_the_bins_that_are_filled():
    accounts = (Account("/x/a", 1_500, mapped=Bin(3, 1_500)), Account("/x/b", 9, skipped=Bin(1, 9)))

    assert (
        "2 filesfilebytesmappedskipped/x/a1,5001,5000/x/b909" in page(ParseResult("codex", "r", "/x", accounts=accounts)).text
    )


def test_nothing_is_shown_as_nothing():
    assert (
        page(EMPTY).text
        == "claude-code transcript 0 conversations0 messages0 tool calls0 bytesdropped: nothingskipped: nothing"
    )
    assert page(Drops()).text == "no drops"


# ---- the account -----------------------------------------------------------------------------------------------------------


def test_the_bar_is_drawn_in_shares_and_told_in_figures():
    account = Account("/x/a.jsonl", 200_000, Bin(7, 199_869), Bin(1, 100), Bin(1, 1), Bin(2, 20), Bin(3, 10))
    shown = page(account)

    assert shown.text == (
        "/x/a.jsonl 200,000 bytes"
        "mapped 99.9 % 199,869 bytes in 7 units"
        "folded < 0.1 % 100 bytes in 1 unit"
        "skipped < 0.1 % 20 bytes in 2 units"
        "lost < 0.1 % 1 byte in 1 unit"
        "blank < 0.1 % 10 bytes in 3 units"
    )
    widths = [attributes["style"] for _, attributes in shown.tags if "style" in attributes]
    assert widths == ["width:99.934%", "width:0.050%", "width:0.010%", "width:0.001%", "width:0.005%"]


def test_an_account_that_does_not_balance_says_so():
    assert page(Account("a", 10, mapped=Bin(1, 8))).text.endswith("mapped 80.0 % 8 bytes in 1 unitdoes not balance +2 bytes")
    assert page(Account("a", 0, mapped=Bin(1, 8))).text.endswith("does not balance -8 bytes")


@pytest.mark.parametrize(
    "part, told", [(1000, "100 %"), (999.9, "> 99.9 %"), (999, "99.9 %"), (5, "0.5 %"), (0.4, "< 0.1 %"), (1, "0.1 %")]
)
def test_what_is_nearly_all_or_nothing_is_not_rounded_to_it(part, told):
    assert _markup.share(part * 10, 10_000) == told


def luminance(hue):
    parts = [int(hue[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("hue", _markup.HUES.values(), ids=list(_markup.HUES))
def test_hues_stand_on_white_and_on_the_black_of_dark_themes(hue):
    assert 1.05 / (luminance(hue) + 0.05) >= 3
    assert (luminance(hue) + 0.05) / (luminance("#1e1e1e") + 0.05) >= 3


# ---- drops -----------------------------------------------------------------------------------------------------------------


def test_drops_are_a_tuple_in_every_respect():
    drops = Drops((LOST, SKIPPED))

    assert drops == (LOST, SKIPPED) == tuple(drops)
    assert hash(drops) == hash((LOST, SKIPPED))
    assert repr(drops) == repr((LOST, SKIPPED))
    assert json.dumps(Drops(), default=str) == "[]"
    for again in (pickle.loads(pickle.dumps(drops)), copy.copy(drops), copy.deepcopy(drops)):
        assert (type(again), again) == (Drops, drops)
    assert not hasattr(drops, "__dict__")


def test_the_lists_of_a_result_are_drops_however_it_was_made():
    results = [EVERYTHING, attrs.evolve(EVERYTHING, dropped=(LOST,)), convparse.from_json(convparse.to_json(EVERYTHING))]
    results.append(convparse.map_strings(EVERYTHING, lambda place, text: text + "!"))
    results.append(pickle.loads(pickle.dumps(EVERYTHING)))

    for result in results:
        lists = (result.dropped, result.skipped, result.lost, *result.dropped_by_code().values())
        assert {type(each) for each in lists} == {Drops}
    assert type(convparse.map_strings(EVERYTHING.dropped, lambda place, text: "x")) is Drops


def test_the_worst_drops_come_first():
    drops = [Drop("unknown-field", "unknown", Origin("/x/a", 9), "user", "/new", 2, message="a field that is not known")]
    drops += [Drop("malformed-line", "lost", Origin("/x/a", 7), count=3, bytes=1_200, message="not valid JSON", excerpt="{oh")]

    assert page(Drops(drops)).text == (
        "3 lost 2 unknown 2 kindswhatwheretimesbytes"
        "lostmalformed-line not valid JSON{oha:731,200"
        "unknownunknown-field a field that is not knowna:9user /new2"
    )


def test_a_list_is_open_when_something_is_lost():
    shown = page(EVERYTHING)

    assert [attributes.get("open") for tag, attributes in shown.tags if tag == "details"][:2] == ["", None]


# ---- escaping --------------------------------------------------------------------------------------------------------------

ATTACKS = {
    "</style><script>alert(1)</script>": "</style><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>": "<img src=x onerror=alert(1)>",
    "\" onclick='x' <!--": "\" onclick='x' <!--",
    "&lt;b&gt; &#60; &amp": "&lt;b&gt; &#60; &amp",
    "a\u202eb\u2066c": "a\\u202eb\\u2066c",
    "a\0b\x1b[31m\x9b": "a\\x00b\\x1b[31m\\x9b",
    "\ud800 and \udfff": "\\ud800 and \\udfff",
    "tag \U000e0041\U000e007f": "tag \\U000e0041\\U000e007f",
    "zero\u200bwidth\ufeff\u00ad": "zero\\u200bwidth\\ufeff\\xad",
    "one\u2028two\x85three\rfour": "one\\u2028two\\x85three\\rfour",
    "one\r\ntwo\tthree": "one\ntwo\tthree",
    "👨\u200d👩\u200d👧 می\u200cخواهم\u00a0\u3000": "👨\u200d👩\u200d👧 می\u200cخواهم\u00a0\u3000",
    "\ue0b0 \U0003fffd": "\ue0b0 \U0003fffd",
    "]]> <?php ?> <!DOCTYPE x>": "]]> <?php ?> <!DOCTYPE x>",
}


@pytest.mark.parametrize("attack, shown", ATTACKS.items(), ids=range(len(ATTACKS)))
def test_attacks_are_shown_as_text_wherever_they_stand(attack, shown):
    assert said(Text(attack)).endswith(shown)
    assert shown in page(conversation(named=attack, title=attack)).text
    result = convparse.map_strings(EVERYTHING, lambda place, text: attack)
    for record in (result, result.dropped, result.account, *result.conversations):
        found = page(record)
        assert shown in found.text
        assert len(found.styles) == 1


@given(texts=st.lists(st.text(st.characters(exclude_categories=())), min_size=1, max_size=5), other=st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_any_text_in_any_place_comes_out_escaped(texts, other):
    given_texts = [text * (1 + other) for text in texts]
    numbers = iter(range(10**9))
    result = convparse.map_strings(EVERYTHING, lambda place, text: given_texts[next(numbers) % len(given_texts)])

    for record in (result, result.dropped, result.skipped, result.account, *result.conversations):
        html = record._repr_html_()
        assert all(char.isprintable() or _markup._is_shown(char) for char in html)
        assert html == record._repr_html_()
        Page(html)


@pytest.mark.parametrize("path", fixture_results())
def test_every_fixture_has_a_page(path):
    result = fixture_results()[path]

    assert len(page(result).text) > 50
    for talk in result.conversations:
        page(talk)


def test_nothing_runs_and_nothing_is_fetched():
    style = "".join(page(EMPTY).styles)

    assert not re.search(r"url\(|@import|expression|javascript|</|https?:", style)
    rules = [rule for rule in re.sub(r"\{[^}]*\}", "\n", style).replace(",\n", ", ").split("\n") if rule.strip()]
    assert all(selector.strip().startswith(".convparse") for rule in rules for selector in rule.split(","))
    assert not re.search(r"(?<![\w-])(background|color): *(#fff|white|black|#000)", style)
    assert _markup.TAGS.isdisjoint({"script", "img", "a", "iframe", "svg", "link", "form", "input"})


def test_the_first_line_end_of_a_folded_text_is_kept():
    html = conversation(message(Text("\n" + "long " * 100)))._repr_html_()

    assert '<pre dir="auto">\n\nlong long' in html


# ---- bounds ----------------------------------------------------------------------------------------------------------------


def folds(shown):
    """How many texts are folded; sections have a class."""
    return sum(tag == "details" and not attributes for tag, attributes in shown.tags)


def test_a_long_text_is_folded_and_its_rest_counted():
    shown = page(conversation(message(Text("word " * 2_000))))

    assert folds(shown) == 1
    assert "… 10,000 characters" in shown.text
    assert shown.text.endswith("6,000 more characters not shown")


def test_a_text_of_many_lines_is_folded():
    assert folds(page(conversation(message(Text("a\nb\nc\nd\ne"))))) == 1
    assert folds(page(conversation(message(Text("a\nb\nc\nd"))))) == 0


def test_a_hundred_thousand_messages_are_shown_from_both_ends():
    talk = conversation(*(message(Text(f"said {n}"), key=f"m{n}") for n in range(100_000)), Event("e", "hook", "ran"))
    shown = page(talk).text

    assert "said 19model" not in shown
    assert "said 19… 99,971 entries between, 99,971 messages" in shown
    assert "model 99,992said 99991" in shown
    assert "event 100,001hook ran" in shown
    assert "… 1 more turn" not in shown
    assert len(talk._repr_html_()) < 50_000


@pytest.mark.parametrize("char", ["x", "\U000e0041", "'", "\n", "\u0301"])
def test_a_page_is_bounded_whatever_it_shows(char):
    huge = char * 300_000
    many = tuple(message(*[Text(huge)] * 40, key=f"m{n}", role=huge, author=None, model=f"{n}{huge}") for n in range(50))
    talks = tuple(attrs.evolve(TALK, id=f"{n}{huge}", title=huge, entries=many) for n in range(40))
    drops = (attrs.evolve(LOST, code=huge, record=huge, pattern=huge, message=huge, excerpt=huge),) * 500
    accounts = (Account(huge, 1, mapped=Bin(1, 1)),) * 500
    result = ParseResult(huge, huge, huge, talks, many, drops, drops, accounts)

    shown = result._repr_html_()
    assert len(shown) < BOUND
    assert len(talks[0]._repr_html_()) < BOUND
    text = Page(shown).text
    assert "… 28 more conversations, 1,400 messages" in text
    assert "… 440 more kinds, 440 lost" in text
    assert "… 440 more files, 440 bytes" in text
    assert "… 32 more blocks" in text


def test_more_turns_than_a_table_has_are_counted():
    talk = conversation(
        *(
            entry
            for n in range(100)
            for entry in (message(Text("?"), key=f"u{n}", role="user", author="human"), message(Text("!"), key=f"m{n}"))
        )
    )

    assert "100 turns" in page(talk).text
    assert "… 40 more turns" in page(talk).text


# ---- beside ----------------------------------------------------------------------------------------------------------------


def test_printing_a_result_gives_five_lines():
    for result in (
        *fixture_results().values(),
        EMPTY,
        convparse.map_strings(EVERYTHING, lambda place, text: "a\nb\x85c\u2028d"),
    ):
        assert len(str(result).splitlines()) == 5
    assert str(EVERYTHING) == (
        "claude-code transcript: /home/ada/a.jsonl\n"
        "conversations: 2 (1 roots), loose entries: 2\n"
        "messages: 3, tool calls: 2\n"
        "bytes: 15 = 1 mapped, 2 folded, 3 lost, 4 skipped, 5 blank\n"
        "dropped: 3 lost"
    )


def test_the_views_are_loaded_when_they_are_asked_for():
    code = (
        "import sys, convparse\n"
        "result = convparse.parse('tests/fixtures/claude_code/readme.jsonl')\n"
        "before = {'convparse._html', 'convparse._markup', 'html'} & set(sys.modules)\n"
        "result._repr_html_()\n"
        "print(before, 'convparse._html' in sys.modules)"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=unmeasured())

    assert found.stdout == "set() True\n"
