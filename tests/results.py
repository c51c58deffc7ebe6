"""Results to try things on: every fixture of every source, parsed once, and one made by hand of every kind of record."""

from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

import attrs

import convparse
from convparse import (
    Account,
    Answer,
    Attachment,
    Bin,
    Context,
    Conversation,
    Drop,
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
    Snapshot,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    UnknownSource,
    Usage,
)

FIXTURES = Path(__file__).parent / "fixtures"


@cache
def fixture_results() -> dict[str, ParseResult]:
    """The result of every file that some source knows, by its path below ``tests/fixtures``."""
    found = {}
    for file in sorted(path for path in FIXTURES.glob("*/**/*") if path.is_file()):
        if file.name.endswith(".expected.json"):
            continue
        try:
            found[str(file.relative_to(FIXTURES))] = convparse.parse(file)
        except UnknownSource:
            continue
    return found


AT = datetime(2026, 3, 1, 9, 30, 15, 123456, timezone(timedelta(hours=5, minutes=30)))
ORIGIN = Origin("/home/ada/a.jsonl", 3, 120, 80, "ItemTable", "bubble:1", 7, "/message/content/0")
CONTEXT = Context("/home/ada", "secret-branch", "2.1.0", "plan", "none", "cli", "high")
USAGE = Usage(2**70, 2, 3, 1, 4, 1, 0.125, "USD", True)
JSON = Json('{"command":"ls /home/ada","n":123456789012345678901234567890,"deep":[{"a/b":"x~y"},1.5,true,null,"é😀"]}')
BLOCKS = (
    Text("said\n😀"),
    Injected("reminder", "be kind"),
    Answer("which one?", "this one"),
    Thinking("hm", "c2lnbmF0dXJl", hidden=True),
    ToolCall("call-1", "Bash", "execute", JSON),
    ToolCall("call-2", "apply_patch", "edit", "*** Begin Patch"),
    ToolResult(
        "call-1",
        (Text("out"), Image("image/png", "aGk="), Attachment("file", "a.txt"), Reference("ref"), Unknown("part", JSON)),
        is_error=True,
        exit_code=1,
        duration=0.25,
        status="failed",
        truncated=True,
        full=JSON,
    ),
    Image("image/png", "aGk=", "file:///a.png"),
    Attachment("document", "plan.pdf", "application/pdf", "text of it", "cGRm", "file:///plan.pdf"),
    Reference("the file", "file:///b.py", "symbol"),
    Edit("/home/ada/b.py", "move", "/home/ada/c.py", "@@ -1 +1 @@", "before it", "after it", "call-2"),
    Unknown("brand-new", JSON),
)
MESSAGE = Message(
    *("m1", "id-1", "assistant", "model", BLOCKS, AT, "derived", "yesterday", "m0", "r1", "t1", "opus"),
    *(USAGE, "tool_use", CONTEXT, "undone", True, (ORIGIN,), ORIGIN, JSON),
)
EVENT = Event(
    *("e1", "hook", "hook_ran", "it ran", JSON, "id-2", AT, "recorded", "now", "m1", CONTEXT, 1.5, "orphan", True),
    *((ORIGIN,), ORIGIN),
)
LINKS = (Link("subagent", "s2", "call-1"), Link("fork", "s0", None, 7))
TALK = Conversation(
    *("s1", "claude-code", "A title", "ai-title", CONTEXT, AT, AT, LINKS, "partial", True, "stamp-1", (MESSAGE, EVENT))
)
PROMPT = Message("m2", None, "user", "human", (Text("please"),), AT, turn_id="t2")
REPLY = Message("m3", None, "assistant", "model", (Text("done"),), AT, model="opus", stop_reason="end_turn")
CHILD = Conversation("s2", "claude-code", entries=(PROMPT, REPLY))
LOST = Drop("malformed-line", "lost", ORIGIN, "user", "/a/*»/b", 3, 99, (3, 5), "not valid JSON", "excerpt of it", JSON)
SKIPPED = Drop("skipped-record", "skipped", Origin("/home/ada/a.jsonl"))
EVERYTHING = ParseResult(
    *("claude-code", "transcript", "/home/ada/a.jsonl", (TALK, CHILD), (EVENT, PROMPT), (LOST,), (SKIPPED,)),
    (Account("/home/ada/a.jsonl", 15, Bin(1, 1), Bin(2, 2), Bin(3, 3), Bin(4, 4), Bin(5, 5), "1.2.3"),),
    Snapshot("copy", AT, AT, "included", 12, 2, "wal", 0.5, 100),
    "a.b.c",
)
"""A result in which every kind of record has something in every field."""
EMPTY = ParseResult("claude-code", "transcript", "")


def alike(a: Any, b: Any) -> bool:
    """True if two records are equal in every field, those included that take no part in equality, and of the same types."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if attrs.has(type(a)):
        return all(alike(getattr(a, field.name), getattr(b, field.name)) for field in attrs.fields(type(a)))
    return bool(a == b)
