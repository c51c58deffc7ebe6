"""The home directory that is measured with, and the scans of it."""

from pathlib import Path

import pytest
from benchmarks import rescan
from benchmarks.tree import ID, claude_code_lines, codex_lines, copilot_cli_lines, write_tree

from convparse import Drop, discover, parse, parse_bytes

SIZE = 3_000_000


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    write_tree(folder, SIZE)
    return folder


def bytes_of(home: Path) -> dict[str, bytes]:
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.suffix != ".vscdb"
    }


def test_the_same_arguments_give_the_same_files(home, tmp_path):
    tree = write_tree(tmp_path, SIZE)

    assert bytes_of(home) == bytes_of(tmp_path)
    assert tree.files == len([path for path in tmp_path.rglob("*") if path.is_file()])
    assert SIZE * 0.9 < tree.bytes < SIZE * 1.5


def test_every_session_is_found_and_parsed_without_a_loss(home):
    found = list(discover([home]))

    assert {"claude-code", "codex", "copilot-cli", "cursor"} == {item.source for item in found}
    assert [] == [item.path for item in found if item.problem is not None]
    for item in found:
        result = parse(item.path, item.source)
        assert result.account.balanced
        assert result.stamp == item.stamp
        assert [] == [drop for drop in result.dropped if drop.fate in ("lost", "unknown") and not _was_cut(drop)]


def _was_cut(drop: Drop) -> bool:
    return drop.code in ("missing-result", "missing-parent")


@pytest.mark.parametrize(
    "source, lines", [("claude-code", claude_code_lines), ("codex", codex_lines), ("copilot-cli", copilot_cli_lines)]
)
def test_a_long_session_is_of_its_source(source, lines):
    result = parse_bytes(lines(200_000, 1))

    assert source == result.source
    assert ID == result.conversation.id
    assert () == result.dropped
    assert len(result.conversation.tool_calls()) > 10


def test_the_second_scan_parses_the_one_session_that_was_appended_to(home, capsys):
    path = rescan.session_to_append_to(str(home))
    before = path.stat().st_size

    rescan.run(str(home), workers=1, rounds=1)

    assert before + 3 * len(rescan.appended(path.stem)) == path.stat().st_size
    assert ["first scan", "after one append", "after one append, with after=", "discover alone"] == [
        line[:34].strip() for line in capsys.readouterr().out.splitlines()[-4:]
    ]
