"""Every fixture of Gemini CLI against its hand-written expectation: whole, cut at every byte, and with CRLF line ends.

``NAME.jsonl`` or ``NAME.json``, or a folder ``NAME`` whose expectation names the ``file`` to parse, stands beside
``NAME.expected.json``. The form of an expectation is that of Claude Code's fixtures. ``source_given``: the file cannot be
recognised, and is read as one of the variant.
"""

import json
import pickle
import re
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from tests.leaves import EVERY_LINE, changed, covers, leaves, pointer_of, put, same_facts, unnoticed, walk
from tests.test_claude_code_fixtures import all_entries, check, conversation_facts, drop_facts, entry_facts

from convparse import SOURCES, Conversation, Edit, Event, Message, ParseResult, parse, parse_bytes
from convparse.records import FILE_FACTS

FOLDER: Final = Path(__file__).parent / "fixtures" / "gemini_cli"
NAMES: Final = sorted(path.name.removesuffix(".expected.json") for path in FOLDER.glob("*.expected.json"))
names = pytest.mark.parametrize("name", NAMES)


def expectation(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.expected.json").read_text("utf-8"))
    return found


def the_file(name: str) -> Path:
    inside = expectation(name).get("file")
    if inside is not None:
        return FOLDER / name / str(inside)
    return next(path for end in (".jsonl", ".json") if (path := FOLDER / f"{name}{end}").exists())


def the_source(name: str) -> Any:
    """The source by name; where the file cannot be recognised, with its one variant."""
    source, expected = SOURCES["gemini-cli"], expectation(name)
    variant = expected.get("variant", "log")
    if not expected.get("source_given"):
        return "gemini-cli"
    return attrs.evolve(source, variants={variant: source.variants[variant]}, detect=lambda head: None)


def time_of(when: Any) -> str | None:
    return when and when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def conversation(one: Conversation) -> dict[str, Any]:
    facts: dict[str, Any] = conversation_facts(one)
    cwd = one.context.cwd if one.context is not None else None
    return facts | {"cwd": cwd, "created": time_of(one.created_at), "updated": time_of(one.updated_at)}


def told(edit: Edit) -> list[Any]:
    return [edit.path, edit.kind, edit.diff, edit.after, edit.call_id]


def test_the_fixtures_are_found() -> None:
    assert len(NAMES) > 35
    assert {path.stem for path in FOLDER.glob("*.json*") if ".expected" not in path.name} <= set(NAMES)


@names
def test_whole(name: str) -> None:
    expected, path, source = expectation(name), the_file(name), the_source(name)
    result = parse(path, source) if expected.get("source_given") else parse(path)

    assert (result.source, result.variant) == ("gemini-cli", expected.get("variant", "log"))
    check(expected["conversations"], result.conversations, conversation, "conversation")
    for wanted, found in zip(expected["conversations"], result.conversations, strict=True):
        check(wanted["entries"], found.entries, entry_facts, f"entry of {found.id}:")
    check(expected.get("loose", []), result.loose, entry_facts, "loose entry")
    check(expected["drops"], result.dropped, drop_facts, "drop")
    if "skipped" in expected:
        check(expected["skipped"], result.skipped, drop_facts, "skipped")
    if "edits" in expected:
        assert [told(edit) for edit in result.conversation.edits()] == expected["edits"]
    assert [root.id for root in result.roots] == expected.get("roots", [root.id for root in result.roots])
    units = {name: part.units for name, part in result.account.bins.items()}
    assert units == units | expected.get("account", {})
    assert all(account.balanced for account in result.accounts), result.accounts
    assert parse(path, source) == result
    assert pickle.loads(pickle.dumps(result)) == result
    assert isinstance(hash(result), int)


def unit_facts(entry: Message | Event) -> Any:
    """What no later byte may change."""
    left = FILE_FACTS[type(entry).__name__]
    return type(entry), *(getattr(entry, field.name) for field in attrs.fields(type(entry)) if field.name not in left)


@names
def test_cut_at_every_byte(name: str) -> None:
    data, source = the_file(name).read_bytes(), the_source(name)
    is_log = expectation(name).get("variant", "log") == "log"
    whole = all_entries(parse_bytes(data, source=source, name="f"))
    ends = {e.key: e.origin.offset + len(data[e.origin.offset :][: e.origin.length].rstrip(b"\r\n")) for e in whole}
    for n in range(len(data)):
        result = parse_bytes(data[:n], source=source, name="f")
        assert result.account.balanced, n
        if not is_log:
            continue  # a document that is cut is none
        cut = {entry.key: entry for entry in all_entries(result)}
        before = {entry.key: entry for entry in whole if ends[entry.key] <= n}
        changed = [key for key, entry in before.items() if key not in cut or unit_facts(entry) != unit_facts(cut[key])]
        assert (changed, sum(d.count for d in result.dropped if d.code == "torn-tail") <= 1) == ([], True), n
        assert len({entry.origin.offset for key, entry in cut.items() if key not in before}) <= 1, n


def said(result: ParseResult) -> Any:
    """What a result holds, places aside."""
    return (
        [conversation(one) for one in result.conversations],
        [entry_facts(entry) for entry in all_entries(result)],
        [drop_facts(drop) for drop in (*result.dropped, *result.skipped)],
    )


@names
def test_with_crlf_it_is_the_same_but_for_the_places(name: str) -> None:
    data, source = the_file(name).read_bytes(), the_source(name)
    one, other = (parse_bytes(d, source=source, name="f") for d in (data, re.sub(rb"(?<!\r)\n", b"\r\n", data)))

    assert (one.account.balanced, other.account.balanced) == (True, True)
    assert said(one) == said(other)


@names
def test_no_leaf_is_silent(name: str) -> None:
    """The second law, leaf by leaf: of lines by the shared helper, of a document here."""
    data, source = the_file(name).read_bytes(), the_source(name)
    if expectation(name).get("variant", "log") == "log":
        assert unnoticed(data, leaves(data), source="gemini-cli") == []
        assert unnoticed(data, leaves(data), 0.0, "gemini-cli") == []
        return
    value = json.loads(data)
    before = parse_bytes(data, source=source, name="f", limits=EVERY_LINE)
    for path, leaf in walk(value):
        after = parse_bytes(json.dumps(put(value, path, changed(leaf))).encode(), source=source, name="f", limits=EVERY_LINE)
        drops = (*after.dropped, *after.skipped)
        assert not same_facts(before, after) or any(covers(d.pattern, pointer_of(path)) for d in drops if d.pattern), path
