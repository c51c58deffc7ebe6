"""Genuine and hand-made files of Trae, where they lie beside the repository: read, balanced, no silent leaf.

Skipped where there are none. What is counted is counted with the standard library's JSON and nothing of this one.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from tests.build_trae import database, text
from tests.leaves import changed, encoded, pointer_of, put, resolve, same_facts, walk
from tests.test_trae_laws import is_named, read, silent

import convparse
from convparse import ToolCall
from convparse.sources.trae.editor import is_read

SAMPLES: Final = Path(__file__).parents[2] / "shared" / "samples" / "trae"
FILES: Final = sorted(path for path in SAMPLES.rglob("*") if path.is_file())
DATABASES: Final = [path for path in FILES if path.suffix == ".vscdb"]
RUNS: Final = [path for path in FILES if "trae-agent" in str(path)]

pytestmark = pytest.mark.skipif(not FILES, reason="no samples beside the repository")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_every_file_is_read_and_balances(path: Path) -> None:
    result = convparse.parse(path, "trae")

    assert all(account.balanced for account in result.accounts)
    assert result.conversations or result.loose or result.dropped


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_calls_and_tokens_of_a_run_are_counted_once(path: Path) -> None:
    value: dict[str, Any] = json.loads(path.read_bytes())
    responses = [item.get("response") or {} for item in value.get("llm_interactions", ())]
    responses += [item["steps"]["llm_response"] for item in value.get("llm_interaction", ())]
    calls = sum(len(item.get("tool_calls") or ()) for item in responses)
    calls += sum(len(step.get("tool_calls") or ()) for step in value.get("steps", ()))
    output = sum((item.get("usage") or {}).get("output_tokens", 0) for item in responses)

    conversation = convparse.parse(path).conversation

    assert sum(isinstance(block, ToolCall) for message in conversation.messages for block in message.blocks) == calls
    assert (conversation.usage.output_tokens or 0) == output
    assert len(conversation.prompts) == 1


@pytest.mark.parametrize("path", RUNS[::3], ids=lambda path: path.name)
def test_some_leaves_of_every_run(path: Path) -> None:
    value = json.loads(path.read_bytes())
    every = [found for found, _ in walk(value)]
    before = read(encoded(value), path.name)

    for leaf in every[:: max(1, len(every) // 25)]:
        pointer = pointer_of(leaf)
        after = read(encoded(put(value, leaf, changed(resolve(value, pointer)))), path.name)
        assert after.account.balanced
        assert not same_facts(before, after) or is_named(after, pointer), pointer


@pytest.mark.parametrize("path", DATABASES, ids=lambda path: path.parent.name)
def test_every_leaf_of_every_row_that_is_read(path: Path) -> None:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        rows = dict(connection.execute("SELECT key, value FROM ItemTable"))
    for key, stored in rows.items():
        try:
            value = json.loads(stored)
        except ValueError:
            continue
        twice = isinstance(value, str)
        known = json.loads(value) if twice else value

        def build(changed: Any, key: str = key, twice: bool = twice) -> bytes:
            return database({**rows, key: text(text(changed)) if twice else text(changed)})

        assert not is_read(key) or list(silent(known, build, "state.vscdb", 0)) == [], key
