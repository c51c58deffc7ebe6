"""Genuine sessions, where they lie beside the repository: read without an exception, balanced, counted a second time.

Skipped where there are none. Everything here is counted with the standard library's JSON and nothing of this one.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.leaves import leaves
from tests.test_leaves import silent

import convparse
from convparse import ParseResult, ToolCall, ToolResult

SAMPLES: Final = Path(__file__).parents[2] / "shared" / "samples" / "claude-code"
FILES: Final = sorted(SAMPLES.rglob("*.jsonl"))
LARGE: Final = 400_000
"""Bytes of a file whose leaves are looked at less often."""
BATCHES: Final = 16

pytestmark = pytest.mark.skipif(not FILES, reason="no samples beside the repository")
batches: Final = pytest.mark.parametrize("batch", range(BATCHES if FILES else 1))


def rows_of(data: bytes) -> list[dict[str, Any]]:
    """The objects of a file, one a line; two on one line are both there."""
    found = []
    decoder = json.JSONDecoder(strict=False)
    for line in data.decode("utf-8", "replace").split("\n"):
        text = line.strip("\0 \t\r")
        while text:
            try:
                value, end = decoder.raw_decode(text)
            except ValueError:
                break
            found += [value] if isinstance(value, dict) else []
            text = text[end:].lstrip("\0 \t\r")
    return found


def blocks_of(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if row.get("type") in ("user", "assistant") and isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def count(rows: list[dict[str, Any]]) -> Counter[str]:
    """Tool calls, results and output tokens, by the rules of the format's notes, from the rows alone.

    A row that stands twice with one id counts once. A response's tokens are those of its last row, and of refused attempts
    before a fallback. Copies from another session count no tokens: those that say so, and rows that have kept the id of the
    session that the file's last row is not of (forks of 2.0.30 to 2.1.63, and one file of 1.0.95).
    """
    found: Counter[str] = Counter()
    own = next((row.get("sessionId") for row in reversed(rows) if "uuid" in row), None)
    once: dict[Any, dict[str, Any]] = {}
    for at, row in enumerate(rows):
        said = json.dumps(row.get("message"), sort_keys=True)
        once.setdefault((row.get("uuid") or at, row.get("sessionId"), said), row)
    responses: dict[Any, dict[str, Any]] = {}
    for at, row in enumerate(once.values()):
        kinds = [block.get("type") for block in blocks_of(row)]
        found["calls"] += sum(kind in ("tool_use", "server_tool_use", "mcp_tool_use") for kind in kinds)
        found["results"] += sum(isinstance(kind, str) and kind.endswith("tool_result") for kind in kinds)
        message = row.get("message")
        kept_source = row.get("sessionId") != own and release(row) >= (2, 0, 30)
        copied = (
            row.get("forkedFrom") or kept_source or row.get("requestSessionId", row.get("sessionId")) != row.get("sessionId")
        )
        if row.get("type") == "assistant" and isinstance(message, dict) and message.get("usage") and not copied:
            responses[message.get("id") or row.get("requestId") or row.get("uuid") or at] = message["usage"]
    for usage in responses.values():
        found["output"] += number(usage.get("output_tokens"))
        attempts = usage.get("iterations")
        if isinstance(attempts, list) and any(attempt.get("type") == "fallback_message" for attempt in attempts):
            found["output"] += sum(number(attempt.get("output_tokens")) for attempt in attempts if attempt["type"] == "message")
    return found


def release(row: dict[str, Any]) -> tuple[int, ...]:
    """The version of a row: forks left the source's session id on copied rows since 2.0.30, not before."""
    return tuple(int(part) for part in str(row.get("version")).split(".") if part.isdigit())


def number(value: Any) -> int:
    """The value, if it is one: some samples have had their numbers replaced by words."""
    return value if type(value) is int else 0


def counted(result: ParseResult) -> Counter[str]:
    found: Counter[str] = Counter()
    for conversation in result.conversations:
        for message in conversation.messages:
            found["calls"] += sum(isinstance(block, ToolCall) for block in message.blocks)
            found["results"] += sum(isinstance(block, ToolResult) for block in message.blocks)
        found["output"] += conversation.usage.output_tokens or 0
    return found


def parse(path: Path) -> ParseResult:
    """A file by itself."""
    return convparse.parse_bytes(path.read_bytes(), source="claude-code", name=path.name)


@batches
def test_every_file_is_read_and_balances(batch: int) -> None:
    for path in FILES[batch::BATCHES]:
        result = parse(path)
        assert result.account.balanced, path
        assert result.account.size == path.stat().st_size, path
        assert (
            not {"malformed-line", "too-deep", "vanished"} & {drop.code for drop in result.dropped} or "drift" in path.name
        ), path


@batches
def test_every_session_is_read_with_its_folder_and_balances(batch: int) -> None:
    for path in FILES[batch::BATCHES]:
        if "subagents" not in path.parts:
            result = convparse.parse(path)
            assert all(account.balanced for account in result.accounts), path
            assert not any(drop.code == "unreadable-file" for drop in result.dropped), path


@batches
def test_calls_results_and_tokens_are_those_of_the_rows(batch: int) -> None:
    wrong = {}
    for path in FILES[batch::BATCHES]:
        result = parse(path)
        if result.variant == "transcript" and not path.name.startswith("drift"):  # made up of rows of many sessions
            by_rows, by_us = count(rows_of(path.read_bytes())), counted(result)
            if +by_rows != +by_us:
                wrong[path.name] = (dict(by_rows), dict(by_us))
    assert wrong == {}


@batches
def test_no_leaf_is_silent(batch: int) -> None:
    """A few leaves of every file, in strides, so that all kinds of rows have their turn."""
    found = []
    for at, path in enumerate(FILES[batch::BATCHES]):
        data = path.read_bytes()
        every = leaves(data)
        few = 15 if len(data) < LARGE else 4
        stride = max(1, len(every) // few)
        found += [(path.name, leaf) for leaf, _ in silent(data, every[(at * 7) % stride :: stride][:few])]
    assert found == []
