"""Every fixture of Claude Code against its hand-written expectation: whole, cut at every byte, and with CRLF line ends.

``NAME.jsonl``, or a folder ``NAME`` with a session and its side files, stands beside ``NAME.expected.json``. An expectation
names only what it is about, but lists of conversations, entries and drops are complete. A block is its class and first fields.
"""

import json
import pickle
import re
from pathlib import Path, PurePath

import attrs
import pytest

from convparse import parse, parse_bytes
from convparse.blocks import Answer, Attachment, Image, Injected, Json, Text, Thinking, ToolCall, ToolResult, Unknown
from convparse.records import FILE_FACTS, Message, Usage

FOLDER = Path(__file__).parent / "fixtures" / "claude_code"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in FOLDER.glob("*.expected.json"))
FIELDS = {
    Answer: "question text",
    Attachment: "kind name text media_type data uri",
    Image: "media_type data uri",
    Injected: "kind text",
    Text: "text",
    Thinking: "text hidden signature",
    ToolCall: "name input id kind",
    ToolResult: "call_id content is_error status full exit_code duration truncated",
    Unknown: "kind json",
}


def plain(value):
    """A value as an expectation has it."""
    if isinstance(value, Json):
        return value.value
    if type(value) in FIELDS:
        return [type(value).__name__, *(plain(getattr(value, name)) for name in FIELDS[type(value)].split())]
    if isinstance(value, Usage):
        return {name: fact for name, fact in attrs.asdict(value).items() if fact is not None and fact is not False}
    if isinstance(value, tuple):  # a lone text stands for itself
        return value[0].text if len(value) == 1 and type(value[0]) is Text else [plain(item) for item in value]
    return value


def entry_facts(entry):
    facts = {field.name: plain(getattr(entry, field.name)) for field in attrs.fields(type(entry)) if field.name != "origin"}
    facts |= {"line": entry.origin.line, "merged": [origin.line for origin in entry.merged]}
    facts["time"] = entry.timestamp and entry.timestamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(entry, Message):
        facts |= {"text": entry.text, "thinking": entry.thinking, "has_tool_use": entry.has_tool_use}
        facts |= {"blocks": [plain(block) for block in entry.blocks], "usage": plain(entry.usage)}
    return facts


def _until(link):
    return () if link.until is None else (link.until,)


def conversation_facts(conversation):
    facts = {name: getattr(conversation, name) for name in ("id", "title", "title_origin", "body", "newer")}
    facts |= {"links": [[link.kind, link.id, link.call_id, *_until(link)] for link in conversation.links]}
    return facts | {"usage": plain(conversation.usage), "prompts": [prompt.text for prompt in conversation.prompts]}


def drop_facts(drop):
    facts = {name: getattr(drop, name) for name in ("code", "record", "pattern", "count", "fate")}
    return facts | {"line": drop.origin.line, "lines": list(drop.lines), "file": PurePath(drop.origin.path).name}


def check(expected, actual, facts, what):
    """Every expected object against the facts of the actual one at its place."""
    actual = [facts(item) for item in actual]
    assert len(actual) == len(expected), f"{what}: {actual}"
    for at, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
        found = {name: found[name] for name in wanted if name != "entries"}
        if len(wanted.get("blocks", ())) == len(found.get("blocks", ())) > 0:
            found["blocks"] = [block[: len(w)] for block, w in zip(found["blocks"], wanted["blocks"], strict=True)]
        assert found == {name: wanted[name] for name in found}, f"{what} {at}"


def the_file(name):
    """The file of a fixture, or the main file of its folder."""
    path = FOLDER / f"{name}.jsonl"
    return path if path.exists() else next(p for p in (FOLDER / name).glob("*.jsonl") if not p.name.startswith("agent-"))


def all_entries(result):
    return [entry for conversation in result.conversations for entry in conversation.entries] + list(result.loose)


def unit_facts(entry):
    """What no later byte may change; a message made of the queue's text is a fact of the file as a whole."""
    if isinstance(entry, Message) and entry.role == "queue-operation":
        return None
    names = {field.name for field in attrs.fields(type(entry))} - FILE_FACTS[type(entry).__name__]
    return type(entry), {name: getattr(entry, name) for name in names}


def test_the_fixtures_are_found():
    assert len(NAMES) > 100
    assert {path.stem for path in FOLDER.glob("*.jsonl")} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_whole(name):
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text("utf-8"))
    path = the_file(name)

    result = parse(path, expected.get("source"))

    check(expected["conversations"], result.conversations, conversation_facts, "conversation")
    for wanted, found in zip(expected["conversations"], result.conversations, strict=True):
        check(wanted["entries"], found.entries, entry_facts, f"entry of {found.id}:")
    check(expected.get("loose", []), result.loose, entry_facts, "loose entry")
    check(expected["drops"], result.dropped, drop_facts, "drop")
    if "skipped" in expected:
        check(expected["skipped"], result.skipped, drop_facts, "skipped")
    assert [root.id for root in result.roots] == expected.get("roots", [root.id for root in result.roots])
    assert result.variant == expected.get("variant", "transcript")
    units = {name: part.units for name, part in result.account.bins.items()}
    assert units == units | expected.get("account", {})
    assert all(account.balanced for account in result.accounts), result.accounts
    assert parse(path, expected.get("source")) == result
    assert pickle.loads(pickle.dumps(result)) == result
    assert isinstance(hash(result), int)


@pytest.mark.parametrize("name", NAMES)
def test_cut_at_every_byte(name):
    data = the_file(name).read_bytes()
    whole = all_entries(parse_bytes(data, source="claude-code", name="f"))
    ends = {e.key: e.origin.offset + len(data[e.origin.offset :][: e.origin.length].rstrip(b"\r\n")) for e in whole}
    for n in range(len(data)):
        result = parse_bytes(data[:n], source="claude-code", name="f")
        assert all(account.balanced for account in result.accounts), n
        cut = {entry.key: entry for entry in all_entries(result) if unit_facts(entry) is not None}
        before = {entry.key: entry for entry in whole if ends[entry.key] <= n and unit_facts(entry) is not None}
        changed = [key for key, entry in before.items() if key not in cut or unit_facts(entry) != unit_facts(cut[key])]
        assert changed == [], n
        assert len({entry.origin.offset for key, entry in cut.items() if key not in before}) <= 1, n
        assert sum(drop.count for drop in result.dropped if drop.code == "torn-tail") <= 1, n


@pytest.mark.parametrize("name", NAMES)
def test_with_crlf_it_is_the_same_but_for_the_places(name):
    data = the_file(name).read_bytes()
    one, other = (parse_bytes(d, source="claude-code", name="f") for d in (data, re.sub(rb"(?<!\r)\n", b"\r\n", data)))

    assert (one.account.balanced, other.account.balanced) == (True, True)
    assert [conversation_facts(c) for c in one.conversations] == [conversation_facts(c) for c in other.conversations]
    assert [entry_facts(entry) for entry in all_entries(one)] == [entry_facts(entry) for entry in all_entries(other)]
    assert [drop_facts(d) for d in (*one.dropped, *one.skipped)] == [drop_facts(d) for d in (*other.dropped, *other.skipped)]
