"""Genuine rollouts, where they lie beside the repository: read without an exception, balanced, counted a second time.

Skipped where there are none. What is counted here is counted with the standard library's JSON and nothing of this one.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from tests.leaves import leaves
from tests.test_codex_laws import unnoticed

import convparse
from convparse import Conversation, ParseResult

SAMPLES: Final = Path(__file__).parents[2] / "shared" / "samples" / "codex"
FILES: Final = sorted(path for path in SAMPLES.rglob("*") if path.is_file())
ROLLOUTS: Final = [path for path in FILES if path.name.startswith("rollout-") and path.suffix == ".jsonl"]
SCRIPTED: Final = sorted(
    SAMPLES.glob("exec/*/*.jsonl"), key=lambda path: ([int(n) for n in path.parent.name.split(".")], path.name)
)
LARGE: Final = 400_000
LEAVES: Final = 60

pytestmark = pytest.mark.skipif(not FILES, reason="no samples beside the repository")


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def test_every_sample_is_read_and_balanced() -> None:
    for path in FILES:
        if path.suffix == ".zst":
            pytest.importorskip("backports.zstd")
        result = convparse.parse(path)
        assert result.source == "codex", path
        assert all(account.balanced for account in result.accounts), path
        assert sum(len(c.entries) for c in result.conversations) + len(result.loose) > 0, path


def test_healthy_rollouts_drop_only_what_is_recorded_nowhere() -> None:
    for path in ROLLOUTS:
        codes = {drop.code for drop in convparse.parse(path).dropped}
        assert codes <= {"usage-not-recorded", "missing-result"}, (path, codes)


# ---- the same work in every version ----------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """How what a version recorded of a script differs from what 0.36 did, and why."""

    versions: str
    script: str
    change: str
    """``-N``: the last N texts are not there; ``+N``: the last N texts stand once more; ``other``: another script was run."""
    reason: str


DIFFERENCES: Final = (
    Difference(
        "0.134.0", "second", "other", "the second script spawns a sub-agent from 0.134 on, and looks at a picture before"
    ),
    Difference("0.147.0", "second", "other", "the second script spawns a sub-agent from 0.134 on; the model answered twice"),
    Difference("0.150.0", "second", "other", "the second script spawns a sub-agent from 0.134 on; the model answered twice"),
    Difference(
        "0.153.0", "second", "other", "the second script spawns a sub-agent from 0.134 on, and looks at a picture before"
    ),
    Difference("0.171.0", "second", "other", "the second script spawns a sub-agent from 0.134 on; the model answered twice"),
)
"""All there are from 0.36 to 0.171: the first script gives the same sequence of author and text in every version."""


def said(conversation: Conversation) -> list[tuple[str | None, str]]:
    return [(m.author, m.text) for m in conversation.messages if m.text and m.author in ("human", "model")]


def scripted() -> Iterator[tuple[str, str, list[tuple[str | None, str]]]]:
    """Version, script, and what was said: the first script is the one with the most messages."""
    for version in dict.fromkeys(path.parent.name for path in SCRIPTED):
        if version.startswith(("0.8", "0.20")) and version.count(".") == 2 and version in ("0.8.0", "0.20.0"):
            continue  # before the envelope: no event, and answers that were never written
        files = [path for path in SCRIPTED if path.parent.name == version]
        found = sorted((convparse.parse(path).conversation for path in files), key=lambda c: -len(c.messages))
        for script, conversation in zip(("first", "second"), found, strict=True):
            yield version, script, said(conversation)


def test_the_same_work_gives_the_same_sequence_in_every_version() -> None:
    expected: dict[str, list[tuple[str | None, str]]] = {}
    differing = []
    for version, script, sequence in scripted():
        if sequence != expected.setdefault(script, sequence):
            differing.append((version, script))
    assert len(expected["first"]) == 5
    assert differing == [(difference.versions, difference.script) for difference in DIFFERENCES]


def test_the_same_work_costs_the_same_tokens_in_every_version() -> None:
    """What the script's model wrote is the same; the length of the prompts is not."""
    for path in SCRIPTED:
        result = convparse.parse(path)
        if result.variant == "rollout" and len(result.conversation.messages) > 15:
            usage = result.conversation.usage
            assert (usage.output_tokens, usage.reasoning_tokens, usage.cache_read_tokens) == (350, 140, 2800), path


def test_usage_is_what_the_product_last_said_where_it_never_starts_anew() -> None:
    for path in ROLLOUTS:
        rows = [row for row in rows_of(path) if row.get("type") == "event_msg" and row["payload"].get("type") == "token_count"]
        totals = [row["payload"]["info"]["total_token_usage"] for row in rows if row["payload"].get("info")]
        headers = [row["payload"] for row in rows_of(path) if row.get("type") == "session_meta"]
        numbers = [total["total_tokens"] for total in totals]
        if (
            not numbers
            or numbers != sorted(numbers)
            or len(headers) != 1
            or {"forked_from_id", "history_base"} & set(headers[0])
        ):
            continue
        if path.parent.name == "migrated":
            continue  # the turns that were rolled back are gone, their tokens still in the total
        usage = convparse.parse(path).conversation.usage
        first = (
            totals[0]["total_tokens"]
            - next(row["payload"]["info"]["last_token_usage"] for row in rows if row["payload"].get("info"))["total_tokens"]
        )
        spent = (
            (usage.input_tokens or 0)
            + (usage.cache_read_tokens or 0)
            + (usage.cache_write_tokens or 0)
            + (usage.output_tokens or 0)
        )
        assert spent == numbers[-1] - first, path


# ---- counted a second time -------------------------------------------------------------------------------------------------


def prompts_of(path: Path) -> int:
    """User events that are no reviewer's."""
    count, reviewing = 0, False
    for row in rows_of(path):
        payload = row.get("payload") or {}
        kind = payload.get("type") if row.get("type") == "event_msg" else None
        reviewing = kind == "entered_review_mode" or (reviewing and kind != "exited_review_mode")
        count += kind == "user_message" and not reviewing
    return count


REAL: Final = {"v0.39.jsonl": 1, "v0.142.3.jsonl": 1, "tail-no-header.jsonl": 1} | {
    f"rollout-2025-09-24T{name}.jsonl": count
    for name, count in (
        ("19-22-20-13907b96-f079-4989-4aab-4ea74cdbcd59", 13),
        ("20-12-23-32653cb9-d96b-0dc4-9c71-a702ab99f9b5", 2),
    )
}
"""Prompts in files of real users, counted by hand."""


@pytest.mark.parametrize("name", REAL)
def test_prompts_of_real_files(name: str) -> None:
    path = SAMPLES / "real" / name
    prompts = convparse.parse(path).conversation.prompts
    assert len(prompts) == prompts_of(path) == REAL[name]


def test_calls_and_outputs_are_all_there() -> None:
    for path in ROLLOUTS:
        count: Counter[str] = Counter(
            str(row["payload"].get("type")) for row in rows_of(path) if row.get("type") == "response_item"
        )
        result = convparse.parse(path)
        if len(result.accounts) > 1:
            continue  # with its bases
        blocks = Counter(type(b).__name__ for c in result.conversations for m in c.messages for b in m.blocks)
        assert blocks["ToolCall"] >= count["function_call"] + count["custom_tool_call"] + count["web_search_call"], path


def lines_without(path: Path, kind: str) -> bytes:
    return b"".join(
        line + b"\n"
        for line in path.read_bytes().splitlines()
        if f'"type":"{kind}"'.encode() not in line.split(b'"payload"')[0]
    )


@pytest.mark.parametrize(
    "path", [path for path in SCRIPTED if path.parent.name in ("0.150.0", "0.153.0", "0.171.0")], ids=lambda p: p.stem[-40:]
)
def test_completed_items_alone_keep_everything(path: Path) -> None:
    whole = convparse.parse(path)
    result = convparse.parse_bytes(lines_without(path, "response_item"), source="codex")
    assert said(result.conversation) == said(whole.conversation)
    told, again = (
        Counter(u.result.full for u in r.conversation.tool_calls() if u.result and u.result.full) for r in (whole, result)
    )
    assert told == again
    assert len(told) > 0


def test_rewritten_and_compressed_files_say_the_same() -> None:
    pytest.importorskip("backports.zstd")
    for path in FILES:
        if path.suffix == ".zst":
            plain = next(SAMPLES.rglob(path.stem))
            one, other = (convparse.parse(p, subagents=False).conversations[0] for p in (path, plain))
            assert said(one) == said(other)


# ---- the second law, on a sample of every file -----------------------------------------------------------------------------


def healthy() -> list[Path]:
    return [path for path in FILES if path.suffix == ".jsonl" and path.stat().st_size < LARGE]


@pytest.mark.parametrize("batch", range(8))
def test_no_leaf_of_a_sample_is_silent(batch: int) -> None:
    for path in healthy()[batch::8]:
        data = path.read_bytes()
        every = leaves(data)
        assert unnoticed(data, every[:: -(-len(every) // LEAVES) or 1]) == [], path


def test_what_was_undone_and_inherited_stays_apart() -> None:
    results: list[ParseResult] = [
        convparse.parse(path) for path in sorted(SAMPLES.glob("appserver/*/*.jsonl")) if "rollout" in path.name
    ]
    conversations = [result.conversation for result in results]
    undone = [m for c in conversations for m in c.messages if m.state == "undone"]
    assert undone
    assert not {m.key for m in undone} & {m.key for c in conversations for m in c.active_messages if c.id is None}
    assert all(m.usage is None for c in conversations for m in c.messages if m.inherited)
