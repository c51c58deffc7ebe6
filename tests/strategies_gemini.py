"""Hypothesis strategies for Gemini CLI: sessions as logs and as documents, checkpoints, prompts; with odd values among them.

A log is made as the product makes it: a message is written, the time follows it, tool calls are written with the message once
more, a resume writes the list anew, poorer than it was, a compaction puts a summary in its place.
"""

import json
from typing import Any, Final

from hypothesis import strategies as st
from tests.strategies import odd_json, words

Row = dict[str, Any]
_TIME: Final = "2026-03-01T08:00:0{}.000Z"
_TOKENS: Final = {"input": 100, "output": 7, "cached": 40, "thoughts": 3, "tool": 0, "total": 110}
_SUMMARY: Final = "<state_snapshot>so far</state_snapshot>"
_CONTEXT: Final = {
    "id": "ctx",
    "timestamp": "2026-03-01T08:00:00.000Z",
    "type": "user",
    "content": [{"text": "<session_context>\nhere\n</session_context>"}],
}

texts: Final = st.sampled_from(["Hi.", "Do it.", "I ran the following shell command:\n```sh\nls\n```"]) | words
contents: Final = st.one_of(
    texts,
    texts.map(lambda text: [{"text": text}]),
    st.lists(
        st.one_of(
            texts.map(lambda text: {"text": text}),
            st.just({"text": "hm", "thought": True, "thoughtSignature": "c2ln"}),
            st.just({"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
            st.just({"functionCall": {"id": "c1", "name": "read_file", "args": {"file_path": "/a"}}}),
            odd_json,
        ),
        max_size=3,
    ),
)


def call(id: str, status: str = "success") -> Row:
    """A tool call that has ended."""
    response = {"id": id, "name": "run_shell_command", "response": {"output": f"out {id}\nExit Code: 3"}}
    return {
        "id": id,
        "name": "run_shell_command",
        "args": {"command": "ls"},
        "result": [{"functionResponse": response}],
        "status": status,
        "timestamp": _TIME.format(3),
        "resultDisplay": "shown",
    }


@st.composite
def answers(draw: st.DrawFn, id: str) -> Row:
    """A message of the model."""
    found: Row = {"id": id, "timestamp": _TIME.format(2), "type": "gemini", "content": draw(contents)}
    if draw(st.booleans()):
        found["thoughts"] = draw(
            st.sampled_from([[], [{"subject": "Plan", "description": "think", "timestamp": _TIME.format(1)}]])
        )
    if draw(st.booleans()):
        found["tokens"] = draw(st.sampled_from([None, _TOKENS, {**_TOKENS, "total": 9}]))
    found["model"] = "gemini-2.5-pro"
    return found


@st.composite
def sessions(draw: st.DrawFn) -> list[Row]:
    """The lines of a log."""
    lines: list[Row] = [
        {"sessionId": "s1", "projectHash": "p", "startTime": _TIME.format(0), "lastUpdated": _TIME.format(0), "kind": "main"},
        {"$set": {"messages": [_CONTEXT], "lastUpdated": _TIME.format(0)}},
    ]
    said: list[Row] = [_CONTEXT]
    for number, step in enumerate(draw(st.lists(st.sampled_from(sorted(_STEPS)), max_size=9))):
        _STEPS[step](draw, lines, said, number)
    return lines


def _prompt(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    row = {"id": f"u{number}", "timestamp": _TIME.format(1), "type": "user", "content": draw(contents)}
    lines += [row, {"$set": {"lastUpdated": _TIME.format(1)}}]
    said.append(row)


def _answer(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    row = draw(answers(f"g{number}"))
    lines.append(row)
    said.append(row)


def _tools(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    row = draw(answers(f"g{number}"))
    done = {**row, "toolCalls": [call(f"c{number}{i}", status) for i, status in enumerate(draw(_statuses))]}
    parts = [part for one in done["toolCalls"] for part in one["result"]]
    told = {"id": f"r{number}", "timestamp": _TIME.format(3), "type": "user", "content": parts}
    lines += [row, {"$set": {"lastUpdated": _TIME.format(3)}}, done, *([told] if draw(st.booleans()) else [])]
    said += [done, told]


_statuses: Final = st.lists(st.sampled_from(["success", "error", "cancelled"]), max_size=2)


def _notice(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    kind = draw(st.sampled_from(["info", "error", "warning", "brand-new"]))
    lines.append({"id": f"n{number}", "timestamp": _TIME.format(4), "type": kind, "content": draw(contents)})


def _title(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    lines.append({"$set": {"summary": draw(words), "memoryScratchpad": {"version": 1}}})


def _again(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    lines.append(draw(st.sampled_from(said)))


def _rewind(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    lines.append({"$rewindTo": draw(st.sampled_from([*(row["id"] for row in said), "nobody"]))})


def _poorer(row: Row) -> Row:
    """A message as a resume lists it: its calls among the parts, a new time, nothing else."""
    content = row["content"] if isinstance(row["content"], list) else [{"text": row["content"]}] if row["content"] else []
    calls = [{"functionCall": {key: one[key] for key in ("id", "name", "args")}} for one in row.get("toolCalls", ())]
    return {"id": row["id"], "timestamp": _TIME.format(7), "type": row["type"], "content": [*content, *calls]}


def _resume(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    kept = draw(st.lists(st.sampled_from(said), unique_by=id, max_size=6))
    listed = [_poorer(row) if draw(st.booleans()) else row for row in kept]
    listed += [{**row, "id": f"{row['id']}_response"} for row in kept if row["id"].startswith("r")]
    lines += [lines[0], {"$set": {"messages": listed, "lastUpdated": _TIME.format(7)}}]


def _compact(draw: st.DrawFn, lines: list[Row], said: list[Row], number: int) -> None:
    summary = {"id": f"s{number}", "timestamp": _TIME.format(8), "type": "user", "content": [{"text": _SUMMARY}]}
    thanks = {"id": f"t{number}", "timestamp": _TIME.format(8), "type": "gemini", "content": [{"text": "Got it."}]}
    if draw(st.booleans()):
        lines.append({"$set": {"messages": [_CONTEXT, summary, thanks]}})
    else:
        lines += [summary, thanks, {"$patch": {"removeIds": [row["id"] for row in said[1:]], "orderIds": [summary["id"]]}}]
    said[:] = [_CONTEXT, summary, thanks]


_STEPS: Final = {
    "prompt": _prompt,
    "answer": _answer,
    "tools": _tools,
    "notice": _notice,
    "title": _title,
    "again": _again,
    "rewind": _rewind,
    "resume": _resume,
    "compact": _compact,
}


@st.composite
def odd_sessions(draw: st.DrawFn) -> list[Any]:
    """The lines of a log with a value here and there that no version writes, or a line."""
    lines: list[Any] = draw(sessions())
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = draw(_odd(lines[at])) if draw(st.integers(0, 5)) else draw(odd_json)
    return lines


def _odd(row: Any) -> st.SearchStrategy[Any]:
    """A row with one value of another make, at any depth."""
    if isinstance(row, dict) and row:
        key = st.sampled_from([*row, "zz"])
        return key.flatmap(lambda key: st.one_of(odd_json, _odd(row.get(key))).map(lambda value: {**row, key: value}))
    if isinstance(row, list) and row:
        at = st.integers(0, len(row) - 1)
        return at.flatmap(lambda at: _odd(row[at]).map(lambda value: [*row[:at], value, *row[at + 1 :]]))
    return odd_json


def as_lines(rows: list[Any]) -> bytes:
    """The bytes of a log."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


# ---- documents -------------------------------------------------------------------------------------------------------------

document_sessions: Final = sessions().map(
    lambda lines: {**lines[0], "messages": [row for row in lines if "id" in row], "summary": "A title"}
)
turns: Final = st.builds(lambda role, parts: {"role": role, "parts": parts}, st.sampled_from(["user", "model"]), contents)
checkpoints: Final = st.one_of(
    st.lists(turns, min_size=1, max_size=4),
    st.builds(lambda found: {"history": found, "authType": "x"}, st.lists(turns, min_size=1, max_size=4)),
    st.builds(
        lambda found, shown: {"history": shown, "clientHistory": found, "toolCall": {"name": "replace", "args": {}}},
        st.lists(turns, min_size=1, max_size=3),
        odd_json,
    ),
)
prompts: Final = st.lists(
    st.builds(
        lambda text, n: {"sessionId": "s", "messageId": n, "type": "user", "message": text, "timestamp": _TIME.format(1)},
        words,
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=4,
)
documents: Final = st.one_of(
    document_sessions.map(lambda value: ("session", value)),
    checkpoints.map(lambda value: ("checkpoint", value)),
    prompts.map(lambda value: ("prompts", value)),
)
odd_documents: Final = documents.flatmap(lambda one: _odd(one[1]).map(lambda value: (one[0], value)))


def as_document(value: Any) -> bytes:
    """The bytes of a document."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode()
