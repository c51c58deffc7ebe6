"""Judges of exported documents that others wrote: models of ATIF, types of OpenAI's client and OpenTelemetry's, markdown-it.

Each raises or asserts. What the judges let pass, although the formats do not, is asserted here as well.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import atif
import nat.atif
from markdown_it import MarkdownIt
from markdown_it.token import Token
from openai.types.chat import ChatCompletionMessageParam
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.util.genai import types as genai
from pydantic import TypeAdapter

# ---- ATIF ------------------------------------------------------------------------------------------------------------------


def check_atif(document: list[dict[str, Any]]) -> None:
    """Two models of the format, and what neither asks: a step at least, references that lead somewhere, ids that are unique."""
    for trajectory in document:
        atif.Trajectory.model_validate(trajectory)
        nat.atif.Trajectory.model_validate(trajectory)
        _check_trajectory(trajectory)


def _check_trajectory(trajectory: dict[str, Any]) -> None:
    within = trajectory.get("subagent_trajectories", [])
    ids = {child["trajectory_id"] for child in within}
    assert trajectory["steps"]
    for step in trajectory["steps"]:
        calls = [call["tool_call_id"] for call in step.get("tool_calls", [])]
        assert len(set(calls)) == len(calls)
        for result in step.get("observation", {}).get("results", []):
            assert result.get("source_call_id") in (None, *calls)
            assert "content" in result or "subagent_trajectory_ref" in result
            assert {ref["trajectory_id"] for ref in result.get("subagent_trajectory_ref", [])} <= ids
    for child in within:
        _check_trajectory(child)


# ---- OpenAI ----------------------------------------------------------------------------------------------------------------

_CHAT: Any = TypeAdapter(list[ChatCompletionMessageParam])
_KEYS = {
    "system": {"role", "content"},
    "developer": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}


def check_chat(document: list[dict[str, Any]]) -> None:
    """The types of the client, iterators read to the end; no other keys; the calls of a message answered at once, each once."""
    for row in document:
        assert set(row) == {"id", "messages"}
        read_all(_CHAT.validate_python(row["messages"]))
        waiting: list[str] = []
        for message in row["messages"]:
            assert set(message) <= _KEYS[message["role"]]
            if message["role"] == "tool":
                waiting.remove(message["tool_call_id"])
                continue
            assert waiting == []
            waiting = [call["id"] for call in message.get("tool_calls", [])]
            assert len(set(waiting)) == len(waiting)
            assert message["content"] is not None or waiting
        assert waiting == []


def read_all(value: Any) -> None:
    """Read every iterator in a validated value: pydantic looks at what is in them only then."""
    if isinstance(value, dict):
        for item in value.values():
            read_all(item)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            read_all(item)


# ---- OpenTelemetry ---------------------------------------------------------------------------------------------------------

_INPUT: Any = TypeAdapter(list[genai.InputMessage])
_OUTPUT: Any = TypeAdapter(list[genai.OutputMessage])
_PARTS = {
    "text": genai.TextPart,
    "reasoning": genai.ReasoningPart,
    "tool_call": genai.ToolCallRequestPart,
    "tool_call_response": genai.ToolCallResponsePart,
    "blob": genai.BlobPart,
    "uri": genai.UriPart,
    "edit": genai.GenericPart,
    "unknown": genai.GenericPart,
}
_ATTRIBUTES = {
    value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_") and isinstance(value, str)
}
_COUNTS = {name for name in _ATTRIBUTES if name.startswith("gen_ai.usage.")}


def check_otel(document: list[dict[str, Any]]) -> None:
    """Attributes that the conventions know, messages of their types, each part of its own type and without other keys."""
    for operation in document:
        assert set(operation) <= _ATTRIBUTES
        assert all(isinstance(operation[name], int) for name in _COUNTS & operation.keys())
        for name, adapter in (("gen_ai.input.messages", _INPUT), ("gen_ai.output.messages", _OUTPUT)):
            messages = operation.get(name, [])
            for message, made in zip(messages, adapter.validate_python(messages), strict=True):
                assert message["role"] in set(genai.Role)
                assert message["parts"] or name == "gen_ai.output.messages"
                for part, judged in zip(message["parts"], made.parts, strict=True):
                    _check_part(part, judged)


def _check_part(part: dict[str, Any], judged: Any) -> None:
    assert type(judged) is _PARTS[part["type"]]
    if type(judged) is not genai.GenericPart:
        assert set(part) <= {field.name for field in fields(judged)}


# ---- Markdown --------------------------------------------------------------------------------------------------------------


def markdown_tokens(document: str) -> list[Token]:
    """The blocks of a document, as GitHub would find them, HTML let through."""
    return MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(document)


def check_markdown(document: str, messages: int, conversations: int) -> list[str]:
    """The structure is that of the result, whatever the texts say; the fences' contents.

    Headings are those of conversations and messages, HTML is nothing but folds, each closed, and there are no links.
    """
    tokens = markdown_tokens(document)
    levels = Counter(token.tag for token in tokens if token.type == "heading_open")
    assert levels == Counter({"h1": conversations, "h2": messages})
    depth = 0
    for token in tokens:
        assert token.type in _TYPES, token.type
        if token.type == "html_block":
            opens = token.content.startswith("<details>\n<summary>")
            assert opens or token.content == "</details>\n"
            assert token.content.count("<") == (3 if opens else 1)
            depth += 1 if opens else -1
            assert depth in (0, 1, 2)
        for child in token.children or []:
            assert child.type in ("text", "text_special", "code_inline", "strong_open", "strong_close", "image"), child.type
    assert depth == 0
    return [token.content[:-1] for token in tokens if token.type == "fence"]


_TYPES = {"heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "fence", "html_block"}
