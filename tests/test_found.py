"""What ``benchmarks.reliability`` and ``benchmarks.leaves`` found: small inputs, named after what they show.

They lie in ``tests/fixtures/found``, by source; a folder is parsed by its one log or database. Every law that the search checks
is checked of them too.
"""

from pathlib import Path
from typing import Final

import pytest
from benchmarks import leaves
from benchmarks.reliability import laws

import convparse

FOLDER: Final = Path(__file__).parent / "fixtures" / "found"
EXPECTED: Final[dict[str, tuple[int, dict[str, int]]]] = {
    "claude-code/cost_of_a_row_that_stands_twice.jsonl": (3, {"duplicate-id": 1, "unexpected-type": 1}),
    "claude-code/forked_from_an_object.jsonl": (1, {}),
    "claude-code/frame_without_its_message.json": (2, {"unknown-record": 1}),
    "claude-code/one_key_in_two_files": (4, {"not-an-object": 2}),
    "codex/header_with_a_type.jsonl": (1, {"unknown-field": 1}),
    "codex/one_id_of_two_items.json": (3, {}),
    "codex/output_of_a_type_that_is_none.jsonl": (2, {}),
    "codex/prompt_of_a_review_told_three_times.jsonl": (3, {}),
    "copilot-cli/call_that_counts_otherwise.jsonl": (3, {"unexpected-type": 1}),
    "copilot-cli/call_with_a_key_that_is_none.json": (2, {}),
    "copilot-cli/duration_of_400_digits.jsonl": (2, {"not-a-number": 1, "unknown-field": 1}),
    "copilot-cli/kinds_that_do_not_fit.json": (2, {"unknown-block": 1}),
    "copilot-cli/tokens_that_are_no_whole_number.jsonl": (2, {}),
    "copilot/ends_at_odd_times.json": (4, {"bad-timestamp": 1, "unexpected-type": 1}),
    "copilot/log_that_ends_as_a_list.jsonl": (6, {"not-an-object": 1}),
    "copilot/log_that_pushes_an_object.jsonl": (5, {"unexpected-type": 1}),
    "copilot/log_that_says_it_again.jsonl": (4, {}),
    "copilot/log_of_nothing_beside_a_session": (3, {"malformed-line": 1, "malformed-operation": 1}),
    "cursor/a_note_that_is_nested_deeply": (
        15,
        {"cursor/unknown-bubble": 1, "not-an-object": 3, "too-deep": 1, "unexpected-type": 1},
    ),
    "cursor/calls_with_keys_of_their_own.jsonl": (3, {}),
    "cursor/fragments_of_odd_times.jsonl": (4, {"bad-timestamp": 3}),
    "cursor/row_under_a_key_of_no_family.vscdb": (
        9,
        {
            "cursor/missing-bubble": 1,
            "cursor/missing-content": 2,
            "malformed-database": 1,
            "malformed-value": 1,
            "not-an-object": 1,
            "refused-table": 1,
        },
    ),
    "gemini-cli/two_records_of_one_call.jsonl": (4, {}),
    "trae/row_under_two_keys.vscdb": (7, {"trae/missing-body": 4}),
    "trae/results_that_are_no_list.json": (3, {"unexpected-type": 1}),
}
"""By path: how many entries there are, and the codes of what was dropped."""


WHOLE: Final = [
    name for name, (_, codes) in EXPECTED.items() if Path(name).suffix in (".json", ".jsonl") and "not-a-number" not in codes
]
"""Files whose every leaf can be had."""


def test_every_finding_is_expected() -> None:
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_finding(name: str) -> None:
    path = FOLDER / name
    if path.is_dir():
        (path,) = [file for file in path.iterdir() if file.suffix in (".jsonl", ".vscdb")]

    result = convparse.parse(path, name.partition("/")[0])

    codes = {code: sum(drop.count for drop in drops) for code, drops in result.dropped_by_code().items()}
    assert (sum(1 for _ in laws.entries(result)), codes) == EXPECTED[name]
    if path.suffix == ".json":
        file = leaves.File(path.read_bytes(), result.source, path.name)
        assert file.measure()["leaves", "silent"] == 0, file.silent
    assert laws.shallow(result, result.account.size, "sqlite") + laws.deep(result, b"", "sqlite") == []


@pytest.mark.parametrize("name", WHOLE)
def test_no_leaf_of_a_finding_is_silent(name: str) -> None:
    file = leaves.File((FOLDER / name).read_bytes(), name.partition("/")[0], name.rpartition("/")[2])
    file.measure()
    assert file.silent == []
