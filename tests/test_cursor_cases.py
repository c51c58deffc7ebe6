"""The nine cases in each of Cursor's smaller stores, against what the table of cases says must come of them."""

from pathlib import Path
from typing import Final

import pytest
from tests.build_cursor import FOLDER
from tests.cursor_cases import STREAMS, TEXTS, TRANSCRIPTS, Stored, stores
from tests.test_cursor_fixtures import line

import convparse
from convparse import ParseResult

NINE: Final = "text tool-only thinking-only mixed empty duplicate-text missing-time bad-json unknown-version".split()
KINDS: Final = {
    "transcript": ("agent-transcript", "jsonl", TRANSCRIPTS),
    "text": ("agent-text", "txt", TEXTS),
    "stream": ("stream-json", "jsonl", STREAMS),
    "store": ("agent-store", "db", stores()),
}


def the_file(kind: str, case: str) -> Path:
    return FOLDER / "cases" / kind / f"{case}.{KINDS[kind][1]}"


def the_case(kind: str, case: str) -> Stored:
    return KINDS[kind][2][case]


def check(result: ParseResult, kind: str, case: Stored) -> None:
    assert (result.source, result.variant) == ("cursor", KINDS[kind][0])
    assert all(account.balanced for account in result.accounts)
    assert [line(entry) for entry in result.conversation.entries] == case.entries
    assert {code: sum(drop.count for drop in drops) for code, drops in result.dropped_by_code().items()} == case.drops
    if case.times is not None:
        assert [m.timestamp and m.timestamp.isoformat() for m in result.conversation.messages] == case.times


def test_every_store_has_all_nine() -> None:
    assert {kind: sorted(cases) for kind, (_, _, cases) in KINDS.items()} == dict.fromkeys(KINDS, sorted(NINE))


@pytest.mark.parametrize("case", NINE)
@pytest.mark.parametrize("kind", KINDS)
def test_case(kind: str, case: str) -> None:
    check(convparse.parse(the_file(kind, case)), kind, the_case(kind, case))


@pytest.mark.parametrize("case", NINE)
@pytest.mark.parametrize("kind", ["transcript", "text", "stream"])
def test_a_case_cut_anywhere_is_accounted_for(kind: str, case: str) -> None:
    data = the_file(kind, case).read_bytes()
    for length in range(len(data) + 1):
        result = convparse.parse_bytes(data[:length], source="cursor", name="x")
        assert result.account.balanced
        assert result.account.size == length


@pytest.mark.parametrize("case", NINE)
@pytest.mark.parametrize("kind", ["transcript", "text", "stream"])
def test_the_files_are_those_of_the_table(kind: str, case: str) -> None:
    assert the_file(kind, case).read_bytes() == the_case(kind, case).data
