"""Messages, to drafts: what a person wrote, what the model answered with its tools, what the program told.

What comes in: a message record, wherever it stands. What goes out: a draft with an open record. A tool's result stands in the
answer that asked for it, and since 0.61 again in a message of its own; both are read, and ``resolve`` makes them one.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from convparse.blocks import Block, Injected, Json, Text, ToolCall, ToolResult
from convparse.ledger import Place, escape
from convparse.records import Author, Message, Usage
from convparse.sources._reading import json_of, make_result, make_thinking, make_usage, open_event, open_message
from convparse.sources.gemini_cli.fields import Tables, tables
from convparse.sources.gemini_cli.parts import FINAL, SUMMARY, read_call, read_content, read_results, rest_of, told_apart
from convparse.sources.gemini_cli.state import TOLD, Draft, Record, Row, State

Spot = tuple[Place, str, str]
"""The place of a unit, a pointer into it, and its pattern."""
_CALL: Final[tuple[str, ...]] = ("id", "name", "args")
_CANCELLED: Final = "Request cancelled."
_NUMBERS: Final = ("input", "cached", "output", "thoughts", "tool", "total")


def message(record: Record, key: str, role: str, author: Author | None, blocks: list[Block], model: str | None = None) -> Any:
    """An open message; what no field is made from is its ``extra``."""
    when, text = record.time(record.row, "timestamp")
    id = record.string(record.row, "id")
    entry = open_message(key, id, role, author, tuple(blocks), when, "recorded" if when is not None else None, text)
    entry.model = model
    entry.origin = record.origin()
    entry.extra = json_of(record.extra) if record.extra else None
    return entry


# ---- what was asked --------------------------------------------------------------------------------------------------------


def read_user(record: Record, key: str) -> Draft:
    """A prompt, what the program says in the place of one, or results of tools."""
    known = tables("user", record.pattern)
    record.keep(known.message, record.row)
    blocks = told_apart(read_content(record, record.row.get("content"), known))
    entry = message(record, key, "user", author_of(blocks, record.state), blocks)
    content = record.row.get("content")
    return Draft(
        entry, "user", record.place, "say", key, {"responses": responses(content), "content": content, "inside": "/content"}
    )


def author_of(blocks: list[Block], state: State) -> Author | None:
    """Who wrote it. What a sub-agent is told first is its task; after that nobody types to it."""
    if any(type(block) is ToolResult for block in blocks):
        return "tool"
    if not blocks or all(type(block) is Injected for block in blocks):
        return "harness" if blocks else None
    if not state.is_agent:
        return "human"
    first, state.tasked = not state.tasked, True
    return "model" if first else "harness"


def responses(content: Any) -> dict[str, tuple[Row, int]]:
    """The parts that hold results of tools with their indices, by the ids of their calls."""
    found = {}
    for i, part in enumerate(content if type(content) is list else ()):
        held = part.get("functionResponse") if type(part) is dict else None
        if type(held) is dict and type(held.get("id")) is str:
            found[held["id"]] = part, i
    return found


# ---- what was answered -----------------------------------------------------------------------------------------------------


def read_answer(record: Record, key: str) -> Draft:
    """The model's thoughts, its words, and the tools it asked for, with what came of them."""
    row = record.row
    known = tables("gemini", record.pattern)
    record.keep(known.answer, row)
    blocks = _thoughts(record, known)
    blocks += read_content(record, row.get("content"), known)
    facts: dict[str, Any] = {"calls": asked(record, blocks), "results": {}, "agents": {}}
    known_calls = {block for block in blocks if type(block) is ToolCall}
    blocks += [block for block in _calls(record, facts) if block not in known_calls]
    usage = _usage(record, known)
    model = record.string(row, "model")
    entry = message(record, key, "gemini", "model", blocks, model)
    entry.usage = usage
    return Draft(entry, "gemini", record.place, "say", key, facts)


def asked(record: Record, blocks: list[Block], inside: str = "/content") -> dict[str, Spot]:
    """Calls among the parts of a content, each with its place: a resumed session has them there (0.61)."""
    place = record.place, f"{record.at}{inside}", f"{record.pattern}{inside}"
    return {block.id: place for block in blocks if type(block) is ToolCall and block.id is not None}


def _thoughts(record: Record, known: Tables) -> list[Block]:
    given = record.row.get("thoughts")
    if given is None:
        return []
    if type(given) is not list:
        record.odd(given, "/thoughts")
        return []
    found: list[Block] = []
    for i, thought in enumerate(given):
        at = f"/thoughts/{i}"
        words: list[Any] = [thought.get(key) for key in ("subject", "description")] if type(thought) is dict else [0]
        if not all(word is None or type(word) is str for word in words):
            record.odd(thought, at, "/thoughts/*")
            continue
        record.keep(known.thought, thought, at)
        text = "\n\n".join(word for word in words if word)
        found.append(make_thinking(text, None, not text))
    return found


def _calls(record: Record, facts: dict[str, Any]) -> list[Block]:
    given = record.row.get("toolCalls")
    if given is None:
        return []
    if type(given) is not list:
        record.odd(given, "/toolCalls")
        return []
    found: list[Block] = []
    for i, call in enumerate(given):
        at = f"/toolCalls/{i}"
        if type(call) is dict and type(call.get("id")) in (str, type(None)) and type(call.get("name")) is str:
            found += _call(record, call, at, facts)
        else:
            record.odd(call, at, "/toolCalls/*")
    return found


def _call(record: Record, call: Row, at: str, facts: dict[str, Any]) -> list[Block]:
    """A call, and its result once there is one."""
    id = call.get("id")
    made: list[Block] = [read_call(record, call, at, "/toolCalls/*")]
    if id is not None:
        facts["calls"].setdefault(id, (record.place, f"{record.at}{at}", f"{record.pattern}/toolCalls/*"))
        if type(call.get("agentId")) is str:
            facts["agents"][id] = call["agentId"]
    status = call.get("status")
    if call.get("result") is None and not (type(status) is str and status in FINAL):
        rest = {f"{at}/{escape(key)}": item for key, item in call.items() if key not in _CALL}
        record.extra.update({pointer: item for pointer, item in rest.items() if item is not None})
        return made
    result = _result(call)
    if id is not None:
        facts["results"][id] = call.get("result")
    return [*made, result]


def _result(call: Row) -> ToolResult:
    """What came of a call: as the model was told, and as it was shown (``full``)."""
    typed = _CALL
    status = call.get("status")
    if type(status) is str:
        typed = (*typed, "status")
    parts = call.get("result")
    if parts is None or _is_plain(parts, call):
        typed = (*typed, "result")
    told = read_results(parts, call)
    failed = told.is_error or (True if status == "error" else False if status == "success" else None)
    word = status if type(status) is str else None
    return make_result(call.get("id"), told.content, failed, told.exit_code, None, word, False, rest_of(call, typed))


def _is_plain(parts: Any, call: Row) -> bool:
    """True for one result of this very call, and nothing beside it."""
    if type(parts) is not list or len(parts) != 1 or type(parts[0]) is not dict or parts[0].keys() != {"functionResponse"}:
        return False
    held = parts[0]["functionResponse"]
    if type(held) is not dict or held.keys() != {"id", "name", "response"}:
        return False
    return bool(held["id"] == call.get("id") and held["name"] == call["name"])


def _usage(record: Record, known: Tables) -> Usage | None:
    """Disjoint counts: what came from the cache is part of the input here, and thoughts are none of the output."""
    tokens = record.row.get("tokens")
    if tokens is None:
        return None
    if type(tokens) is not dict:
        record.odd(tokens, "/tokens")
        return None
    record.keep(known.tokens, tokens, "/tokens")
    numbers: list[int | None] = []
    for key in _NUMBERS:
        number = tokens.get(key)
        if number is not None and type(number) is not int:
            record.odd(number, f"/tokens/{key}")
        numbers.append(number if type(number) is int else None)
    given, cached, output, thoughts, tool, total = numbers
    if total is not None and total != sum(number or 0 for number in (given, output, thoughts, tool)):
        record.extra["/tokens/total"] = total
    fresh = None if given is None else given - (cached or 0)
    if fresh is not None and fresh < 0:
        fresh = given
    written = None if output is None and thoughts is None else (output or 0) + (thoughts or 0)
    return make_usage(_sum(fresh, tool), cached, None, None, written, thoughts)


def _sum(given: int | None, tool: int | None) -> int | None:
    return given if not tool else (given or 0) + tool


# ---- what the program told -------------------------------------------------------------------------------------------------

_TOLD: Final = {"info": "notice", "warning": "notice", "error": "error"}


def read_told(record: Record, key: str) -> Draft:
    """A notice or an error; that a request was cancelled is a message, for it interrupts a turn."""
    name = record.row["type"]
    known = tables(name, record.pattern)
    record.keep(known.message, record.row)
    blocks = read_content(record, record.row.get("content"), known)
    if name == "info" and len(blocks) == 1 and blocks[0] == Text(_CANCELLED):
        entry = message(record, key, name, "harness", [Injected("interrupted", _CANCELLED)])
        return Draft(entry, name, record.place, "say", key)
    plain = all(type(block) is Text for block in blocks)
    if not plain:
        record.extra["/content"] = record.row["content"]
    text = "\n".join(block.text for block in blocks if isinstance(block, Text))
    when, kept = record.time(record.row, "timestamp")
    id = record.string(record.row, "id")
    data = json_of(record.extra) if record.extra else None
    entry = open_event(key, _TOLD[name], name, text, data, id, when, "recorded" if when is not None else None, kept)
    entry.origin = record.origin()
    return Draft(entry, name, record.place, "say", key)


def read_unknown(record: Record, key: str, code: str = "unknown-record") -> Draft:
    """What is not known, held whole."""
    record.note(code, "")
    entry = open_event(key, "unknown", record.name, None, Json.of(record.row), origin=record.origin())
    return Draft(entry, record.name, record.place, TOLD, key)


MESSAGES: Final[Mapping[str, Callable[[Record, str], Draft]]] = MappingProxyType(
    {"user": read_user, "gemini": read_answer, **dict.fromkeys(_TOLD, read_told)}
)
"""What reads each type of message."""


def is_summary(draft: Draft) -> bool:
    """True for a message that holds the summary of a compaction."""
    blocks = getattr(draft.entry, "blocks", ())
    return any(type(block) is Injected and block.kind == SUMMARY for block in blocks)


def is_unasked(entry: Any) -> bool:
    """True for words in the model's place that no model is said to have been asked for."""
    if not isinstance(entry, Message) or entry.role not in ("gemini", "model"):
        return False
    return entry.model is None and entry.usage is None and all(type(block) is Text for block in entry.blocks)
