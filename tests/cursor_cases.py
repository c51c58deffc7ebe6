"""The nine cases in the other stores of Cursor: agents' transcripts as lines and as text, the CLI's store, saved stdout.

Of every case what stands in the file, and what must come of it: one line an entry, as in ``build_cursor``, and the codes of its
drops. None of these formats has a number of its version; what an unknown one would write is a field, a part, a heading or a
frame that nobody knows. ``python -m tests.build_cursor`` writes the files.
"""

import json
import sqlite3
from typing import Any, Final

import attrs
from tests.databases import DDL, Rows

MS: Final = 1786948236174


@attrs.frozen
class Stored:
    """A file, and what comes of it."""

    data: bytes
    entries: list[str]
    drops: dict[str, int] = attrs.field(factory=dict)
    times: list[str | None] | None = None
    """Of the messages; None where nothing is to be said of them."""


def jsonl(*rows: Any) -> bytes:
    """Lines; what is bytes stands as it is."""
    return b"".join(
        (row if isinstance(row, bytes) else json.dumps(row, separators=(",", ":")).encode()) + b"\n" for row in rows
    )


# ---- transcripts as lines --------------------------------------------------------------------------------------------------


def said(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    """A line of a transcript."""
    return {"role": role, "message": {"content": list(parts)}, **more}


def text(words: str) -> dict[str, str]:
    """A part that is text."""
    return {"type": "text", "text": words}


THINKING: Final = {"type": "thinking", "thinking": "hm", "signature": "s"}
USE: Final = {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}
ASK: Final = said("user", text("<user_query>\nhello\n</user_query>"))

TRANSCRIPTS: Final[dict[str, Stored]] = {
    "text": Stored(jsonl(ASK, said("assistant", text("hi"))), ["user human: hello", "assistant model: hi"]),
    "tool-only": Stored(jsonl(said("assistant", USE)), ['assistant model: Shell({"command":"ls"})']),
    "thinking-only": Stored(jsonl(said("assistant", THINKING)), ["assistant model: ~hm~"]),
    "mixed": Stored(jsonl(said("assistant", text("so"), THINKING, USE)), ['assistant model: so ~hm~ Shell({"command":"ls"})']),
    "empty": Stored(jsonl(ASK, said("assistant")), ["user human: hello", "assistant model:"]),
    "duplicate-text": Stored(
        jsonl(*(said(role, text("again")) for role in ("user", "user", "assistant", "assistant"))),
        ["user human: again", "user human: again", "assistant model: again", "assistant model: again"],
    ),
    "missing-time": Stored(
        jsonl(
            said("user", text("<timestamp>Monday, Aug 17, 2026, 9:30 AM (UTC+3)</timestamp>\n<user_query>\na\n</user_query>")),
            said("user", text("<user_query>\nb\n</user_query>")),
        ),
        ["user human: <timestamp> a", "user human: b"],
        times=["2026-08-17T09:30:00+03:00", None],
    ),
    "bad-json": Stored(
        jsonl(ASK, b'{"role":"assistant","message":', said("assistant", text("after"))),
        ["user human: hello", "assistant model: after"],
        {"malformed-line": 1},
    ),
    "unknown-version": Stored(
        jsonl(said("user", text("a"), brandNew=1), said("assistant", {"type": "hologram", "x": 1}), {"type": "brand_new"}),
        [
            "user human: a",
            'assistant model: Unknown(kind=\'hologram\', json=Json(\'{"type":"hologram","x":1}\'))',
            "unknown: None",
        ],
        {"unknown-field": 1, "unknown-block": 1, "unknown-record": 1},
    ),
}

# ---- transcripts as text ---------------------------------------------------------------------------------------------------

TEXTS: Final[dict[str, Stored]] = {
    "text": Stored(b"user:\nhello\n\nassistant:\nhi\n", ["user human: hello", "assistant model: hi"]),
    "tool-only": Stored(
        b"user:\ngo\n\nassistant:\n[Tool call] Shell\n  command: ls\n[Tool result] Shell\n",
        ["user human: go", "assistant model: Shell(  command: ls) =>None None"],
    ),
    "thinking-only": Stored(b"user:\ngo\n\nassistant:\n[Thinking] hm\n", ["user human: go", "assistant model: ~hm~"]),
    "mixed": Stored(
        b"user:\ngo\n\nassistant:\nso\n\n[Thinking] hm\nmore\n[Tool call] Read\n  path: a\n",
        ["user human: go", "assistant model: so ~hm\nmore~ Read(  path: a)"],
    ),
    "empty": Stored(b"user:\nhello\n\nassistant:\n", ["user human: hello", "assistant model:"]),
    "duplicate-text": Stored(
        b"user:\nagain\n\nuser:\nagain\n\nassistant:\nagain\n\nassistant:\nagain\n",
        ["user human: again", "user human: again", "assistant model: again", "assistant model: again"],
    ),
    "missing-time": Stored(
        b"user:\n<timestamp>Monday, Aug 17, 2026, 9:30 AM (UTC+3)</timestamp>\na\n\nuser:\nb\n",
        ["user human: <timestamp> a", "user human: b"],
        times=["2026-08-17T09:30:00+03:00", None],
    ),
    "bad-json": Stored(
        b"user:\nhello\n\nassistant:\n\xff\n", ["user human: hello", "assistant model: \ufffd"], {"invalid-utf8": 1}
    ),
    "unknown-version": Stored(
        b"user:\nhello\n\nassistant:\n[Brand new] x\n\nTurn ended: brand-new\n",
        ["user human: hello", "assistant model: [Brand new] x", "turn-end: brand-new\n"],
    ),
}
"""What is no JSON is text that is no UTF-8; a heading that nobody knows stands as text."""

# ---- saved stdout ----------------------------------------------------------------------------------------------------------


def frame(kind: str, **more: Any) -> dict[str, Any]:
    """A frame of the stream."""
    return {"type": kind, "session_id": "s", **more}


def spoken(words: str, **more: Any) -> dict[str, Any]:
    """What the model says."""
    return frame("assistant", message={"role": "assistant", "content": [text(words)]}, **more)


INIT: Final = frame("system", subtype="init", apiKeySource="login", cwd="/w", model="m")
GO: Final = frame("user", message={"role": "user", "content": [text("hello")]})
SHELL: Final = {"shellToolCall": {"args": {"command": "ls"}}}
DONE: Final = {"shellToolCall": {"args": {"command": "ls"}, "result": {"success": {"stdout": "f", "exitCode": 0}}}}
STARTED: Final = frame("tool_call", subtype="started", call_id="a", tool_call=SHELL, timestamp_ms=MS)
ENDED: Final = frame("tool_call", subtype="completed", call_id="a", tool_call=DONE, timestamp_ms=MS + 5)
THOUGHT: Final = (
    frame("thinking", subtype="delta", text="h", timestamp_ms=MS),
    frame("thinking", subtype="delta", text="m", timestamp_ms=MS + 1),
    frame("thinking", subtype="completed", timestamp_ms=MS + 2),
)
BEGUN: Final = ["session-start: None", "user human: hello"]

STREAMS: Final[dict[str, Stored]] = {
    "text": Stored(jsonl(INIT, GO, spoken("hi")), [*BEGUN, "assistant model: hi"]),
    "tool-only": Stored(
        jsonl(INIT, GO, STARTED, ENDED), [*BEGUN, 'assistant model: shell({"command":"ls"})', "tool tool: =>success 0 f"]
    ),
    "thinking-only": Stored(jsonl(INIT, GO, *THOUGHT), [*BEGUN, "assistant model: ~hm~"]),
    "mixed": Stored(
        jsonl(INIT, GO, *THOUGHT, spoken("so"), STARTED, ENDED, spoken("done")),
        [
            *BEGUN,
            "assistant model: ~hm~",
            "assistant model: so",
            'assistant model: shell({"command":"ls"})',
            "tool tool: =>success 0 f",
            "assistant model: done",
        ],
    ),
    "empty": Stored(
        jsonl(INIT, GO, frame("assistant", message={"role": "assistant", "content": []})), [*BEGUN, "assistant model:"]
    ),
    "duplicate-text": Stored(
        jsonl(INIT, GO, spoken("same", model_call_id="1"), STARTED, ENDED, spoken("same", model_call_id="2")),
        [
            *BEGUN,
            "assistant model: same",
            'assistant model: shell({"command":"ls"})',
            "tool tool: =>success 0 f",
            "assistant model: same",
        ],
    ),
    "missing-time": Stored(
        jsonl(INIT, GO, spoken("a", timestamp_ms=MS, model_call_id="1"), spoken("b")),
        [*BEGUN, "assistant model: a", "assistant model: b"],
        times=[None, "2026-08-17T06:30:36.174000+00:00", None],
    ),
    "bad-json": Stored(
        jsonl(INIT, GO, b"Error: not json", spoken("after")), [*BEGUN, "assistant model: after"], {"malformed-line": 1}
    ),
    "unknown-version": Stored(
        jsonl(INIT, GO, spoken("hi", brandNew=1), frame("brand_new", x=1)),
        [*BEGUN, "assistant model: hi", "unknown: None"],
        {"unknown-field": 1, "unknown-record": 1},
    ),
}

# ---- the CLI's store -------------------------------------------------------------------------------------------------------


def stored(*messages: Any, more: tuple[tuple[int, int | bytes], ...] = (), **head: Any) -> bytes:
    """A store whose root lists these messages; what is bytes stands as it is."""
    from tests.build_cursor import blob, dumps, proto

    blobs = [blob(item if isinstance(item, bytes) else dumps(item).encode()) for item in messages]
    root = blob(proto(*((1, bytes.fromhex(item[0])) for item in blobs), *more))
    meta = dumps({"agentId": "a", "latestRootBlobId": root[0], **head})
    rows: Rows = [("meta", "0", meta.encode().hex()), *(("blobs", *item) for item in dict.fromkeys((*blobs, root)))]
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("PRAGMA page_size=512")
    for table in ("blobs", "meta"):
        db.execute(DDL[table])
    for table, key, value in rows:
        db.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, value))
    data = db.serialize()
    db.close()
    return data


def of(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message of a store."""
    return {"role": role, "content": content, **more}


TOOL_CALL: Final = {"type": "tool-call", "toolCallId": "c", "toolName": "Shell", "args": {"command": "ls"}}
TOOL_RESULT: Final = {"type": "tool-result", "toolCallId": "c", "toolName": "Shell", "result": "ok"}
REASONING: Final = {"type": "reasoning", "text": "hm", "signature": "s"}
HELLO: Final = of("user", "<user_query>\nhello\n</user_query>")


def stores() -> dict[str, Stored]:
    """The cases of a store."""
    head = ["session: None", "state: None"]
    return {
        "text": Stored(stored(HELLO, of("assistant", [text("hi")])), [*head, "user human: hello", "assistant model: hi"]),
        "tool-only": Stored(
            stored(of("assistant", [TOOL_CALL]), of("tool", [TOOL_RESULT])),
            [*head, 'assistant model: Shell({"command":"ls"})', "tool tool: =>None None ok"],
        ),
        "thinking-only": Stored(stored(of("assistant", [REASONING])), [*head, "assistant model: ~hm~"]),
        "mixed": Stored(
            stored(of("assistant", [REASONING, text("so"), TOOL_CALL]), of("tool", [TOOL_RESULT])),
            [*head, 'assistant model: ~hm~ so Shell({"command":"ls"})', "tool tool: =>None None ok"],
        ),
        "empty": Stored(stored(HELLO, of("assistant", [])), [*head, "user human: hello", "assistant model:"]),
        "duplicate-text": Stored(
            stored(
                of("user", "again", id="1"),
                of("user", "again", id="2"),
                of("assistant", "same", id="3"),
                of("assistant", "same", id="4"),
            ),
            [*head, "user human: again", "user human: again", "assistant model: same", "assistant model: same"],
        ),
        "missing-time": Stored(stored(HELLO), [*head, "user human: hello"], times=[None]),
        "bad-json": Stored(
            stored(HELLO, b"{not json", of("assistant", "after")),
            [*head, "user human: hello", "unknown: None", "assistant model: after"],
            {"cursor/undecodable-blob": 1},
        ),
        "unknown-version": Stored(
            stored(of("user", "a", brandNew=1), more=((99, 5),), brandNew=2),
            [*head, "user human: a"],
            {"unknown-field": 2, "cursor/unknown-proto": 1},
        ),
    }


def kinds() -> list[tuple[str, str, dict[str, Stored]]]:
    """Every kind of file: its name, how its files end, its cases."""
    return [
        ("transcript", "jsonl", TRANSCRIPTS),
        ("text", "txt", TEXTS),
        ("stream", "jsonl", STREAMS),
        ("store", "db", stores()),
    ]
