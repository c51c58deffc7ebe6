"""The account of a projection over generated sessions of every source, whole ones, damaged ones, and ones with odd values.

Whatever the bytes are: nothing is raised, every block and every event is in a message or listed once with its reason, and every
message names one of ours.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import build_trae
from tests.databases import Rows, database
from tests.strategies import claude_code_fuzz, claude_code_sessions, encoded, examples, mutated, with_odd_values
from tests.strategies_codex import codex_fuzz, codex_sessions
from tests.strategies_copilot import logs, sessions
from tests.strategies_cursor import editors, odd_editors
from tests.strategies_trae import damaged, talks
from tests.test_chatcrystal import check_account

import convparse

LINES: Final[dict[str, tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]]] = {
    "claude-code": (claude_code_sessions(), claude_code_fuzz),
    "codex": (codex_sessions(), codex_fuzz),
}


def check(data: bytes, source: str, name: str = "some.jsonl") -> None:
    check_account(convparse.parse_bytes(data, source=source, name=name), data)


@pytest.mark.parametrize("source", LINES)
@given(drawn=st.data())
@examples(60)
def test_sessions_of_lines(source: str, drawn: st.DataObject) -> None:
    whole, fuzz = LINES[source]
    rows = fuzz.map(lambda rows: b"".join(encoded(row) + b"\n" for row in rows))

    check(drawn.draw(whole.map(lambda made: made.data) | mutated(whole) | with_odd_values(whole) | rows), source)


@given(logs)
@examples(60)
def test_logs_of_copilot(log: Any) -> None:
    check(log.data, "copilot")


@given(sessions)
@examples(60)
def test_documents_of_copilot(session: Any) -> None:
    check(encoded(session), "copilot", "some.json")


@contextmanager
def stored(data: bytes) -> Iterator[Path]:
    """The bytes as a database of a workspace."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state.vscdb")
        path.write_bytes(data)
        path.with_name("workspace.json").write_text('{"folder":"file:///w"}')
        yield path


@given(editors().map(lambda made: made.rows) | odd_editors())
@examples(30)
def test_databases_of_cursor(rows: Rows) -> None:
    with stored(database(rows)) as path:
        check_account(convparse.parse(path, "cursor"))


@given(st.data())
@examples(30)
def test_databases_of_trae(drawn: st.DataObject) -> None:
    value = drawn.draw(talks()).rows[build_trae.MAIN]
    changed = drawn.draw(st.just(value) | damaged(value))
    with stored(build_trae.database({build_trae.MAIN: build_trae.text(changed)})) as path:
        check_account(convparse.parse(path, "trae"))
