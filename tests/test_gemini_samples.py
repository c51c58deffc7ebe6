"""Real files of Gemini CLI, where they are at hand: what plain ``json`` finds in them is in the result.

The files are no part of the repository; without them this module is skipped. Their words were replaced, and with them the
phrases by which the program's own texts are told; tags were kept.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.leaves import leaves, unnoticed

import convparse
from convparse import Message, ParseResult, Thinking, ToolCall, ToolResult

SAMPLES = Path(__file__).parents[2] / "shared" / "samples" / "others" / "gemini"
if not SAMPLES.is_dir():
    pytest.skip("no samples at hand", allow_module_level=True)

LOGS = sorted(SAMPLES.glob("*/gemini/tmp/*/chats/**/*.jsonl"))
DOCUMENTS = sorted(SAMPLES.glob("*/gemini/tmp/*/chats/*.json"))
CHECKPOINTS = sorted(SAMPLES.glob("*/gemini/tmp/*/checkpoint*.json"))
PROMPTS = sorted(SAMPLES.glob("*/gemini/tmp/*/logs.json"))
MOST = 60
"""Leaves of a file that are changed."""
sessions = pytest.mark.parametrize(
    "path", LOGS + DOCUMENTS, ids=lambda path: f"{path.relative_to(SAMPLES).parts[0]}-{path.name}"
)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Every message that stands anywhere in a file, by plain json."""
    text = path.read_text("utf-8")
    for value in map(json.loads, text.strip("\n").split("\n")) if path.suffix == ".jsonl" else [json.loads(text)]:
        for row in (value, *value.get("messages", ()), *value.get("$set", {}).get("messages", ())):
            if "id" in row:
                yield row


def strings(parts: Any) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else [parts] if parts else []:
        if isinstance(part, str) or "text" in part:
            yield part if isinstance(part, str) else part["text"]
        elif "functionResponse" in part:
            yield from part["functionResponse"]["response"].values()


def told(row: dict[str, Any]) -> Iterator[str]:
    """Everything that somebody said or was told."""
    yield from strings(row["content"])
    for thought in row.get("thoughts", ()):
        yield from (thought["subject"], thought["description"])
    for call in row.get("toolCalls", ()):
        yield from strings(call["result"])
        yield from (value for value in call["args"].values() if isinstance(value, str))


def said(result: ParseResult) -> str:
    found: list[str] = []
    for entry in result.conversations[0].entries:
        found.append(getattr(entry, "text", None) or "")
        for block in entry.blocks if isinstance(entry, Message) else ():
            found.append(getattr(block, "text", ""))
            if isinstance(block, ToolCall):
                found.append("\0".join(str(value) for value in block.input.value.values()))  # type: ignore[union-attr]
    return "\0".join(found)


def test_there_are_samples_of_every_kind() -> None:
    assert all((LOGS, DOCUMENTS, CHECKPOINTS, PROMPTS))


@sessions
def test_every_word_is_in_the_result(path: Path) -> None:
    result = convparse.parse(path)
    text = said(result)

    assert [word for row in rows_of(path) for word in told(row) if word not in text] == []
    assert result.dropped == ()
    assert all(account.balanced for account in result.accounts)


@sessions
def test_messages_and_calls_are_counted_once(path: Path) -> None:
    conversation = convparse.parse(path).conversations[0]
    rows = list(rows_of(path))
    calls = {call["id"] for row in rows for call in row.get("toolCalls", ())}

    assert {entry.id for entry in conversation.entries if entry.id is not None} == {row["id"] for row in rows}
    assert len(conversation.tool_calls()) == len(calls)
    assert {use.call.id: len(use.results) for use in conversation.tool_calls()} == dict.fromkeys(calls, 1)
    blocks = [block for message in conversation.messages for block in message.blocks]
    assert sum(type(block) is ToolResult for block in blocks) == len(calls)
    thoughts = {row["id"]: len(row.get("thoughts", ())) for row in rows if row.get("thoughts")}
    assert sum(type(block) is Thinking for block in blocks) == sum(thoughts.values())


@sessions
def test_tokens_are_those_of_every_message_once(path: Path) -> None:
    usage = convparse.parse(path).conversations[0].usage
    tokens = {row["id"]: row["tokens"] for row in rows_of(path) if row.get("tokens")}.values()

    assert usage.reasoning_tokens == (sum(one["thoughts"] for one in tokens) if tokens else None)
    assert (usage.input_tokens or 0) + (usage.cache_read_tokens or 0) + (usage.output_tokens or 0) == sum(
        one["total"] for one in tokens
    )


@sessions
def test_no_leaf_changes_unnoticed(path: Path) -> None:
    data = path.read_bytes()
    if path.suffix == ".json":
        data = json.dumps(json.loads(data), ensure_ascii=False).encode()
    every = leaves(data)

    assert unnoticed(data, every[:: -(-len(every) // MOST)], source="gemini-cli") == []


def test_what_became_of_the_turns() -> None:
    """By the file's name: prompts of the active branch, and the states that are not active."""
    found = {}
    for path in LOGS:
        conversation = convparse.parse(path).conversations[0]
        states = sorted(message.state for message in conversation.messages if message.state != "active")
        found[path.stem[-8:]] = len(conversation.prompts), states
    assert found["e36d60fb"] == (3, [])  # resumed twice within a minute
    assert found["0dc04cfc"] == (3, ["undone", "undone", "withdrawn"])  # rewound: a prompt, its answer; the context left out
    assert found["fa496bf1"] == (2, [])  # compacted
    assert found["a0d26fb1"] == (1, [])  # interrupted


def test_sub_agents_belong_to_the_call_that_started_them() -> None:
    (path,) = (path for path in LOGS if path.stem.endswith("6acb7b78"))
    result = convparse.parse(path)
    (child,) = result.children(result.conversation)
    (use,) = result.conversation.tool_calls()

    assert use.spawned == child.id
    assert next(message.author for message in child.messages if message.role == "user") == "model"
    assert child.prompts == ()


@pytest.mark.parametrize("path", CHECKPOINTS + PROMPTS, ids=lambda path: f"{path.relative_to(SAMPLES).parts[0]}-{path.name}")
def test_checkpoints_and_prompts_are_read_whole(path: Path) -> None:
    result = convparse.parse(path)
    value = json.loads(path.read_bytes())
    entries = [entry for c in result.conversations for entry in c.messages] + list(result.loose)

    assert result.dropped == ()
    assert len(entries) == len(value if isinstance(value, list) else value["history"])
    assert result.account.balanced


def test_edits_are_told() -> None:
    edits = [edit for path in LOGS + DOCUMENTS for edit in convparse.parse(path).conversations[0].edits()]

    assert {edit.kind for edit in edits} == {"create", "update"}
    assert any(edit.diff is not None and edit.diff.startswith("@@") for edit in edits)
