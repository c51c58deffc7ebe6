"""The recipes of the documentation: short, and right for every fixture of every source."""

import json
import shutil
import sqlite3
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from docs.recipes import audit, cost, finetune, search, viewer
from tests.results import FIXTURES, fixture_results

import convparse

ROOT = Path(__file__).parents[1]
RECIPES = sorted((ROOT / "docs" / "recipes").glob("*.py"))
README = FIXTURES / "claude_code" / "readme.jsonl"
PRICES = {"claude-opus-5": {"input_tokens": 5, "cache_read_tokens": 0.5, "cache_write_tokens": 6.25, "output_tokens": 25}}

each_source = pytest.mark.parametrize("source", convparse.SOURCES)


@pytest.fixture(scope="module")
def readme():
    return convparse.parse(README)


def results_of(source):
    """The results of all fixtures of a source."""
    found = [result for result in fixture_results().values() if result.source == source]
    assert found
    return found


def run(recipe, *arguments, **options):
    """A recipe as a script."""
    words = [sys.executable, str(ROOT / "docs" / "recipes" / recipe), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False, cwd=ROOT, **options)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_a_recipe_is_short_and_has_a_section(path):
    page = (ROOT / "docs" / "recipes.md").read_text("utf-8")

    assert len(path.read_text("utf-8").splitlines()) < 40
    assert f"](recipes/{path.name})" in page


# ---- cost ------------------------------------------------------------------------------------------------------------------


def test_the_cost_of_a_turn(readme):
    (row,) = cost.costs(readme, PRICES)

    assert (row["turn"], row["model"], row["input_tokens"], row["output_tokens"]) == (0, "claude-opus-5", 3534, 57)
    assert row["cost"] == pytest.approx((3534 * 5 + 44 * 0.5 + 22 * 6.25 + 57 * 25) / 1_000_000)


def test_a_model_without_prices_has_no_cost(readme):
    assert [row["cost"] for row in cost.costs(readme, {"gpt-5": {"input_tokens": 1}})] == [None]


@each_source
def test_no_token_is_counted_twice_or_not_at_all(source):
    for result in results_of(source):
        rows = list(cost.costs(result, {}))
        entries = [*(m for c in result.conversations for m in c.messages), *result.loose]
        usages = [entry.usage for entry in entries if isinstance(entry, convparse.Message) and entry.usage is not None]
        for column in cost.TOKENS:
            assert sum(row.get(column, 0) for row in rows) == sum(getattr(usage, column) or 0 for usage in usages)


def test_the_cost_from_a_shell(tmp_path):
    (tmp_path / "prices.json").write_text(json.dumps(PRICES), "utf-8")

    found = run("cost.py", tmp_path / "prices.json", README, FIXTURES / "cursor" / "state.vscdb")

    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout.splitlines()[0])["cost"] == 0.0192545


# ---- search ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def index():
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


@pytest.fixture
def home(tmp_path):
    project = tmp_path / ".claude" / "projects" / "-home-ada-notes"
    project.mkdir(parents=True)
    shutil.copy(README, project)
    return tmp_path


def test_words_are_found_again_until_they_are_gone(index, home):
    path = home / ".claude" / "projects" / "-home-ada-notes" / "readme.jsonl"
    ids = ("3c0e9b1e-5d57-4f0a-9a44-2f6f0b7c1d10", "6f1d7a52-0000-4000-8000-000000000004")

    assert search.search(index, convparse.discover([home]), ["twelve"]) == [(str(path), *ids, "There are [twelve] notes.")]
    assert search.search(index, [], ["ls notes"])[0][3].startswith('{"command":"[ls notes]')

    path.write_text(path.read_text("utf-8").replace("twelve", "a dozen"), "utf-8")
    assert search.search(index, convparse.discover([home]), ["twelve"]) == []
    assert len(search.search(index, convparse.discover([home]), ["dozen"])) == 1


def test_what_stands_in_the_index_is_not_read_again(index, home, monkeypatch):
    search.search(index, convparse.discover([home]), ["twelve"])
    monkeypatch.setattr(convparse, "parse_many", lambda new, **options: iter(()) if not new else pytest.fail("read again"))

    assert len(search.search(index, convparse.discover([home]), ["twelve"])) == 1


def test_a_file_that_fails_is_tried_again(index, tmp_path):
    missing = convparse.Found("claude-code", str(tmp_path / "a.jsonl"), stamp="1")

    assert search.search(index, [missing], ["twelve"]) == []
    assert index.execute("SELECT * FROM files").fetchall() == []


@pytest.mark.parametrize("words", [['"'], ["a*"], ["NEAR("], ["text:"], ['"twelve" OR']])
def test_any_word_can_be_looked_for(index, words):
    assert search.search(index, [], words) == []


@each_source
def test_every_text_is_in_the_index(source):
    for result in results_of(source):
        words = [words for *_, words in search.texts(result)]
        blocks = [block for c in result.conversations for message in c.messages for block in message.blocks]
        assert [b for b in blocks if isinstance(b, convparse.Text) and b.text and b.text not in words] == []


def test_a_search_from_a_shell(home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))

    found = run("search.py", tmp_path / "index.db", "twelve")

    assert (found.returncode, found.stderr) == (0, "")
    assert "There are [twelve] notes." in [json.loads(line)[3] for line in found.stdout.splitlines()]


# ---- fine-tuning -----------------------------------------------------------------------------------------------------------


def test_an_example_is_the_chat_of_complete_turns(readme):
    arguments = '{"command":"ls notes | wc -l","description":"Count the notes"}'
    asked = {"id": "call-0-0", "type": "function", "function": {"name": "Bash", "arguments": arguments}}

    assert list(finetune.example(readme.conversation)) == [
        {"role": "user", "content": "How many notes are there?"},
        {"role": "assistant", "content": "", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "call-0-0", "content": "12"},
        {"role": "assistant", "content": "There are twelve notes."},
    ]


def test_a_turn_that_did_not_end_is_no_example():
    talk = convparse.parse(FIXTURES / "claude_code" / "missing_result.jsonl").conversation

    assert [turn.status for turn in talk.turns()] == ["open", "open"]
    assert list(finetune.example(talk)) == []


@each_source
def test_every_call_of_an_example_is_answered_at_once(source):
    for conversation in (talk for result in results_of(source) for talk in result.conversations):
        open_calls = []
        for line in finetune.example(conversation):
            assert set(line) <= {"role", "content", "tool_calls", "tool_call_id"}
            assert isinstance(line["content"], str)
            if line["role"] == "tool":
                assert line["tool_call_id"] == open_calls.pop(0)
            else:
                assert open_calls == []
                open_calls = [asked["id"] for asked in line.get("tool_calls", ())]
                assert all(json.loads(asked["function"]["arguments"]) is not None for asked in line.get("tool_calls", ()))
        assert open_calls == []


@each_source
def test_examples_are_what_the_chat_api_takes(source):
    pydantic = pytest.importorskip("pydantic")
    chat = pytest.importorskip("openai.types.chat")
    adapter = pydantic.TypeAdapter(list[chat.ChatCompletionMessageParam])

    for conversation in (talk for result in results_of(source) for talk in result.conversations):
        for line in adapter.validate_python(list(finetune.example(conversation))):
            list(line.get("tool_calls", ()))  # validated when it is looked at


def test_examples_from_a_shell():
    found = run("finetune.py", README, FIXTURES / "claude_code" / "missing_result.jsonl")

    assert (found.returncode, found.stderr) == (0, "")
    assert [len(json.loads(line)["messages"]) for line in found.stdout.splitlines()] == [4]


# ---- viewer ----------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The elements of a page, and its words."""

    def __init__(self, text):
        super().__init__()
        self.elements = set()
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        assert {name for name, _ in attrs} <= {"class", "charset", "http-equiv", "content"}

    def handle_data(self, data):
        self.words += data


def test_a_page_shows_a_session(readme):
    lines = list(viewer.page(readme))

    assert lines[1:] == [
        "<h2>Counting the notes</h2>",
        '<pre class="human">How many notes are there?</pre>',
        "<details><summary>Bash: ls notes | wc -l (ok)</summary>"
        "<pre>{&quot;command&quot;:&quot;ls notes | wc -l&quot;,&quot;description&quot;:&quot;Count the notes&quot;}</pre>"
        "<pre>12</pre></details>",
        '<pre class="model">There are twelve notes.</pre>',
        "<p>readme.jsonl:5: lost malformed-line: not valid JSON</p>",
    ]


@each_source
def test_a_page_has_all_that_was_said_and_done(source):
    for result in results_of(source):
        page = Page("\n".join(viewer.page(result)))
        assert page.elements <= {"meta", "title", "style", "h2", "pre", "details", "summary", "p"}
        turns = [turn for conversation in result.conversations for turn in conversation.turns()]
        texts = [message.text for turn in turns for message in turn.messages]
        names = [f"{use.call.name}: " for turn in turns for use in turn.tool_calls]
        assert [text for text in (*texts, *names) if text not in page.words] == []


def test_nothing_of_a_session_is_markup(readme):
    evil = convparse.map_strings(readme, lambda place, text: text if place.sort == "word" else "<script>alert(1)</script>")

    assert "script" not in Page("\n".join(viewer.page(evil))).elements


def test_a_page_from_a_shell():
    found = run("viewer.py", README)

    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("<!doctype html>")


# ---- audit -----------------------------------------------------------------------------------------------------------------


def test_an_audit_names_a_command(readme):
    (row,) = audit.audit(readme, r"wc -\w")

    assert {name: row[name] for name in ("kind", "target", "outcome", "found", "state", "line")} == {
        "kind": "execute",
        "target": "ls notes | wc -l",
        "outcome": "ok",
        "found": "wc -l",
        "state": "active",
        "line": 3,
    }


def test_an_audit_names_both_ends_of_a_move():
    (move,) = [
        edit for result in results_of("copilot") for talk in result.conversations for edit in talk.edits() if edit.new_path
    ]

    targets = {
        row["target"] for result in results_of("copilot") for row in audit.audit(result, "") if row["kind"] == "edit: move"
    }

    assert targets == {move.path, move.new_path}


@each_source
def test_an_audit_leaves_no_command_and_no_edit_out(source):
    for result in results_of(source):
        rows = list(audit.audit(result, "$^"))
        talks = (*result.conversations, convparse.Conversation(None, result.source, entries=result.loose))
        uses = [use for talk in talks for use in talk.tool_calls() if use.call.kind == "execute"]
        assert [row["outcome"] for row in rows if row["kind"] == "execute"] == [use.outcome for use in uses]
        edits = {edit.path for talk in talks for edit in talk.edits()}
        assert {row["target"] for row in rows if row["kind"].startswith("edit: ")} >= edits
        assert {row["found"] for row in rows} <= {None}


def test_an_audit_from_a_shell():
    clean, found = run("audit.py", "rm -rf", README), run("audit.py", "notes", README)

    assert [(clean.returncode, clean.stderr), (found.returncode, found.stderr)] == [(0, ""), (1, "")]
    assert json.loads(found.stdout)["found"] == "notes"
