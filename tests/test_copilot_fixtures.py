"""Every fixture of Copilot and Copilot CLI against its hand-written expectation: whole, cut at every byte, with CRLF line ends.

``NAME.jsonl`` or ``NAME.json``, or a folder ``NAME`` whose expectation names the ``file`` to parse, stands beside
``NAME.expected.json``. The form of an expectation is that of Claude Code's fixtures.
"""

import json
import pickle
import re
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from tests.test_claude_code_fixtures import all_entries, check, conversation_facts, drop_facts, entry_facts, plain

from convparse import Conversation, Edit, Event, Message, ParseResult, Reference, parse, parse_bytes
from convparse.records import FILE_FACTS

FOLDERS: Final = {"copilot": "copilot", "copilot-cli": "copilot_cli"}
FIXTURES: Final = Path(__file__).parent / "fixtures"
NAMES: Final = [
    (source, path.name.removesuffix(".expected.json"))
    for source, folder in FOLDERS.items()
    for path in sorted((FIXTURES / folder).glob("*.expected.json"))
]
names = pytest.mark.parametrize("source, name", NAMES)


def expectation(source: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / FOLDERS[source] / f"{name}.expected.json").read_text("utf-8"))
    return found


def the_file(source: str, name: str) -> Path:
    folder = FIXTURES / FOLDERS[source]
    inside = expectation(source, name).get("file")
    if inside is not None:
        return folder / name / str(inside)
    return next(path for end in (".jsonl", ".json") if (path := folder / f"{name}{end}").exists())


def facts_of(entry: Message | Event) -> dict[str, Any]:
    facts: dict[str, Any] = entry_facts(entry)
    if isinstance(entry, Message):
        facts["blocks"] = [shown(block) for block in entry.blocks]
    return facts


def shown(block: Any) -> Any:
    if isinstance(block, Reference):
        return ["Reference", block.text, block.uri, block.kind]
    return ["Edit", block.path, block.kind] if isinstance(block, Edit) else plain(block)


def conversation(one: Conversation) -> dict[str, Any]:
    facts: dict[str, Any] = conversation_facts(one)
    return facts | {"cwd": one.context.cwd if one.context is not None else None}


def test_the_fixtures_are_found() -> None:
    assert len(NAMES) > 60


@names
def test_whole(source: str, name: str) -> None:
    expected, path = expectation(source, name), the_file(source, name)
    result = parse(path)

    assert (result.source, result.variant) == (source, expected.get("variant", "session" if source == "copilot" else "events"))
    check(expected["conversations"], result.conversations, conversation, "conversation")
    for wanted, found in zip(expected["conversations"], result.conversations, strict=True):
        check(wanted["entries"], found.entries, facts_of, f"entry of {found.id}:")
    check(expected["drops"], result.dropped, drop_facts, "drop")
    if "skipped" in expected:
        check(expected["skipped"], result.skipped, drop_facts, "skipped")
    assert [root.id for root in result.roots] == expected.get("roots", [root.id for root in result.roots])
    units = {name: part.units for name, part in result.account.bins.items()}
    assert units == units | expected.get("account", {})
    assert all(account.balanced for account in result.accounts), result.accounts
    assert parse(path, source) == result
    assert pickle.loads(pickle.dumps(result)) == result
    assert isinstance(hash(result), int)


def said(result: ParseResult) -> Any:
    """What the conversations hold, places aside."""
    return [
        (attrs.evolve(c, entries=()), [attrs.evolve(e, origin=None, merged=()) for e in c.entries])
        for c in result.conversations
    ]


@names
def test_a_cut_file_gives_what_its_whole_units_give(source: str, name: str) -> None:
    data, variant = the_file(source, name).read_bytes(), expectation(source, name).get("variant")
    step = max(1, len(data) // 200)
    whole: dict[bytes, Any] = {}
    for n in range(0, len(data), step):
        if variant != "log" and source == "copilot" and variant != "transcript":
            assert parse_bytes(data[:n], source=source, name="f").account.balanced
            continue
        result = parse_bytes(data[:n], source=source, name="f")
        units = data[: data.rfind(b"\n", 0, n) + 1]
        if units not in whole:
            whole[units] = said(parse_bytes(units, source=source, name="f"))
        assert result.account.balanced, n
        if "torn-tail" in result.dropped_by_code() and n != len(units):
            assert said(result) == whole[units] or any(e.origin.line == 1 for e in all_entries(result)), n


@names
def test_with_crlf_it_is_the_same_but_for_the_places(source: str, name: str) -> None:
    data = the_file(source, name).read_bytes()
    variant = expectation(source, name).get("variant")
    if b"\n" not in data or (variant is None and source == "copilot"):
        pytest.skip("no lines")
    one, other = (parse_bytes(d, source=source, name="f") for d in (data, re.sub(rb"(?<!\r)\n", b"\r\n", data)))

    assert other.account.balanced
    assert [drop_facts(drop) for drop in one.dropped] == [drop_facts(drop) for drop in other.dropped]
    if "raw_newline" not in name:
        assert said(one) == said(other)


def test_unit_facts_are_declared() -> None:
    assert set(FILE_FACTS) == {"Message", "Event", "Conversation"}
