"""Every fixture of Codex against its hand-written expectation: whole, cut at every byte, and with CRLF line ends.

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
from tests.test_claude_code_fixtures import all_entries, check, conversation_facts, drop_facts, entry_facts

from convparse import Event, Message, ParseResult, parse, parse_bytes
from convparse.records import FILE_FACTS

FOLDER: Final = Path(__file__).parent / "fixtures" / "codex"
NAMES: Final = sorted(path.name.removesuffix(".expected.json") for path in FOLDER.glob("*.expected.json"))
MERGED: Final = frozenset({"extra"})
"""What a record that is folded into an earlier one may still add to it."""
DOCUMENTS: Final = [name for name in NAMES if name.startswith("document")]


def expectation(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.expected.json").read_text("utf-8"))
    return found


def the_file(name: str) -> Path:
    """The file of a fixture."""
    inside = expectation(name).get("file")
    return (
        FOLDER / name / inside
        if inside
        else next(FOLDER / f"{name}{e}" for e in (".jsonl", ".json") if (FOLDER / f"{name}{e}").exists())
    )


def unit_facts(entry: Message | Event) -> Any:
    """What no later byte may change."""
    left_out = FILE_FACTS[type(entry).__name__] | MERGED
    return type(entry), *(getattr(entry, f.name) for f in attrs.fields(type(entry)) if f.name not in left_out)


def test_the_fixtures_are_found() -> None:
    assert len(NAMES) > 60
    assert {path.stem for path in FOLDER.glob("*.json*") if ".expected" not in path.name} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_whole(name: str) -> None:
    expected = expectation(name)

    result = parse(the_file(name), expected.get("source"))

    assert result.source == "codex"
    assert result.variant == expected.get("variant", "rollout")
    check(expected["conversations"], result.conversations, conversation_facts, "conversation")
    for wanted, found in zip(expected["conversations"], result.conversations, strict=True):
        check(wanted["entries"], found.entries, entry_facts, f"entry of {found.id}:")
    check(expected.get("loose", []), result.loose, entry_facts, "loose entry")
    check(expected["drops"], result.dropped, drop_facts, "drop")
    if "skipped" in expected:
        check(expected["skipped"], result.skipped, drop_facts, "skipped")
    bins = result.account.bins
    assert {name: bins[name].units for name in expected.get("account", {})} == expected.get("account", {})
    assert all(account.balanced for account in result.accounts), result.accounts
    assert parse(the_file(name), expected.get("source")) == result
    assert pickle.loads(pickle.dumps(result)) == result
    assert isinstance(hash(result), int)


def read(data: bytes, name: str) -> ParseResult:
    return parse_bytes(data, source="codex", name=name)


@pytest.mark.parametrize("name", NAMES)
def test_cut_at_every_byte(name: str) -> None:
    file = the_file(name)
    data = file.read_bytes()
    whole = all_entries(read(data, file.name))
    ends = {e.key: e.origin.offset + len(data[e.origin.offset :][: e.origin.length].rstrip(b"\r\n")) for e in whole}
    for n in range(len(data)):
        result = read(data[:n], file.name)

        assert all(account.balanced for account in result.accounts), n
        if name in DOCUMENTS or result.variant != expectation(name).get("variant", "rollout"):
            continue  # a cut document is another: its items stand alone
        cut = {entry.key: entry for entry in all_entries(result)}
        before = {entry.key: entry for entry in whole if ends[entry.key] <= n}
        changed = [key for key, entry in before.items() if key not in cut or unit_facts(entry) != unit_facts(cut[key])]
        assert (changed, sum(d.count for d in result.dropped if d.code == "torn-tail") <= 1) == ([], True), n


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DOCUMENTS])
def test_with_crlf_it_is_the_same_but_for_the_places(name: str) -> None:
    data = the_file(name).read_bytes()
    results = [read(d, "f") for d in (data, re.sub(rb"(?<!\r)\n", b"\r\n", data))]

    for result in results:
        assert all(account.balanced for account in result.accounts)
    one, other = (
        (
            [attrs.evolve(conversation, entries=()) for conversation in result.conversations],
            [(entry_facts(entry), type(entry)) for entry in all_entries(result)],
            [drop_facts(drop) for drop in (*result.dropped, *result.skipped)],
        )
        for result in results
    )
    for facts, _ in (*one[1], *other[1]):
        facts.pop("origin", None)
    assert one == other
