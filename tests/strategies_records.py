"""Hypothesis strategies: results made of records straight away, of every kind and in every order, products or none.

Ids are few, so that calls are doubled, answered twice, too early or never, rows share a response, and sub-agents start each
other in circles.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import attrs
from hypothesis import strategies as st
from tests.strategies import odd_json, words

from convparse import (
    Answer,
    Attachment,
    Context,
    Conversation,
    Edit,
    Event,
    Image,
    Injected,
    Json,
    Link,
    Message,
    Origin,
    ParseResult,
    Reference,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)

Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """None, or one of these."""
    return st.none() | strategy


call_ids: Final = st.sampled_from([None, "c1", "c2", "c3"])
json_values: Final = odd_json.map(Json.of)
objects: Final = st.dictionaries(words, odd_json, max_size=3).map(Json.of)
times: Final = st.integers(0, 10**6).map(lambda second: datetime.fromtimestamp(1.7e9 + second, UTC))
numbers: Final = maybe(st.integers(0, 10**6))
media_types: Final = maybe(st.sampled_from(["image/png", "image/svg+xml", "application/pdf", "video/mp4", "odd"]))
base64: Final = maybe(st.sampled_from(["aGk=", "", "not base64!"]))
uris: Final = maybe(st.sampled_from(["file:///a.png", "javascript:alert(1)", "https://example.org/a_(b).png"]))

texts: Final = st.builds(Text, words)
images: Final = st.builds(Image, media_types, base64, uris)
attachments: Final = st.builds(Attachment, words, maybe(words), media_types, maybe(words), base64, uris)
references: Final = st.builds(Reference, words, uris, words)
unknowns: Final = st.builds(Unknown, words, json_values)
parts: Final = texts | images | attachments | references | unknowns
calls: Final = st.builds(ToolCall, call_ids, words, st.just("other"), objects | json_values | words)
results: Final = st.builds(
    ToolResult,
    *(call_ids, st.lists(parts, max_size=3).map(tuple), maybe(st.booleans()), numbers, maybe(st.floats(0, 9))),
    *(maybe(words), st.booleans(), maybe(json_values)),
)
blocks: Final = st.one_of(
    *(texts, calls, results, calls, results, images, attachments, references, unknowns),
    st.builds(Injected, words, words),
    st.builds(Answer, words | st.just(""), words),
    st.builds(Thinking, words | st.just(""), maybe(words), st.booleans()),
    st.builds(Edit, words, st.just("update"), *[maybe(words)] * 4, call_ids),
)
contexts: Final = st.builds(Context, *[maybe(words)] * 7)
usages: Final = st.builds(Usage, *[numbers] * 6, maybe(st.floats(0, 9)), maybe(st.just("USD") | words), st.booleans())
origins: Final = st.builds(Origin, words, numbers, numbers, numbers)
states: Final = st.sampled_from(["active"] * 5 + ["withdrawn", "undone", "superseded", "orphan", "pending"])
roles: Final = st.sampled_from(["user", "assistant", "system", "developer", "tool", "odd"])
authors: Final = st.sampled_from([None, "human", "model", "tool", "harness", "model"])


@st.composite
def entries(draw: Draw, key: str) -> Message | Event:
    """A message, or now and then an event."""
    if draw(st.integers(0, 5)) == 0:
        return Event(key, draw(words), draw(words), draw(maybe(words)), draw(maybe(json_values)), timestamp=draw(maybe(times)))
    return Message(
        key,
        draw(maybe(words)),
        draw(roles),
        draw(authors),
        tuple(draw(st.lists(blocks, max_size=5))),
        timestamp=draw(maybe(times)),
        parent_id=draw(maybe(words)),
        response_id=draw(st.sampled_from([None, "r1", "r2"])),
        turn_id=draw(maybe(words)),
        model=draw(st.sampled_from([None, "m1", "m2"])),
        usage=draw(maybe(usages)),
        stop_reason=draw(maybe(words)),
        context=draw(maybe(contexts)),
        state=draw(states),
        inherited=draw(st.booleans()),
        merged=tuple(draw(st.lists(origins, max_size=1))),
        origin=draw(maybe(origins)),
        extra=draw(maybe(objects)),
    )


@st.composite
def parse_results(draw: Draw) -> ParseResult:
    """One to three conversations, and loose entries."""
    ids = draw(st.permutations(["s1", "s2", None]))
    links = st.builds(Link, st.sampled_from(["subagent", "fork"]), st.sampled_from(["s1", "s2", "s9"]), call_ids)
    talks = [
        Conversation(
            id,
            "claude-code",
            draw(maybe(words)),
            draw(maybe(words)),
            draw(maybe(contexts)),
            draw(maybe(times)),
            links=tuple(draw(st.lists(links, max_size=2))),
            entries=tuple(draw(entries(f"{number}.{n}")) for n in range(draw(st.integers(0, 5)))),
        )
        for number, id in enumerate(ids[: draw(st.integers(1, 3))])
    ]
    loose = tuple(draw(entries(f"loose.{n}")) for n in range(draw(st.integers(0, 2))))
    return ParseResult("claude-code", "transcript", "a.jsonl", tuple(talks), loose)


def with_entries(*found: Message | Event, **fields: Any) -> ParseResult:
    """A result of one conversation of these entries."""
    talk = Conversation(**{"id": "s1", "source": "claude-code", "entries": found, **fields})
    return ParseResult("claude-code", "transcript", "a.jsonl", (talk,))


def with_blocks(*found: Any, **fields: Any) -> ParseResult:
    """A result of one message of the model with these blocks."""
    message = Message("m1", None, "assistant", "model", found)
    return with_entries(attrs.evolve(message, **fields))
