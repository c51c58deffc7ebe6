"""A result as tables: flat rows that data frames, databases and spreadsheets take as they are.

What comes in: a ``ParseResult``. What goes out: dicts with the same keys, in the same order, for every row of a table, as
``TABLES`` promises; values are ``str``, ``int``, ``float``, ``bool``, None and aware ``datetime``.

Never done here: nothing is left out because of its state, nothing is cut, and no order is made but the result's own.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

import attrs

from convparse._json import encode
from convparse.blocks import Block, Edit, Json, Part, Text, ToolCall, ToolResult
from convparse.errors import ConvparseError
from convparse.records import Context, Conversation, Event, Message, Origin, Usage
from convparse.result import ParseResult
from convparse.tables import PLACE, TABLES, TIME, Row, tag_of
from convparse.views import ToolUse, Turn

E = TypeVar("E", Message, Event)


# Fields that stand in columns of the same name.
_OF_MESSAGE: Final = ("role", "author", "state", "inherited", "text", "thinking", "has_tool_use", "parent_id", "response_id")
_OF_EVENT: Final = ("kind", "name", "state", "inherited", "text", "duration", "parent_id")
_OF_RESULT: Final = ("is_error", "exit_code", "status", "duration", "truncated")
_OF_DROP: Final = ("code", "fate", "record", "pattern", "count", "bytes", "message", "excerpt")


def iter_rows(result: ParseResult, table: str) -> Iterator[Row]:
    """The rows of one table of ``TABLES``, made one by one.

    Messages and events that belong to no conversation have the ``conversation_id`` None. Raises ``ConvparseError`` listing the
    tables if there is none of the name.
    """
    if table not in TABLES:
        raise ConvparseError(f"there is no table {table!r}; there are: {', '.join(TABLES)}")
    if not isinstance(result, ParseResult):
        raise ConvparseError(f"iter_rows takes a ParseResult, not {type(result).__name__}; for several, chain their rows")
    return _rows(result, table)


def _rows(result: ParseResult, table: str) -> Iterator[Row]:
    empty: Row = {**dict.fromkeys(TABLES[table]), "source": result.source}
    fractions = [name for name, kind in TABLES[table].items() if kind is float]
    for made in _MAKERS[table](result):
        row = {**empty, **made}
        row.update((name, float(value)) for name in fractions if isinstance(value := row[name], int))
        yield row


# ---- groups of columns -----------------------------------------------------------------------------------------------------


def _place(origin: Origin | None) -> Row:
    if origin is None:
        return {}
    return dict(zip(PLACE, attrs.astuple(origin), strict=True))


def _fields(record: Usage | Context | None) -> Row:
    return {} if record is None else {field.name: getattr(record, field.name) for field in attrs.fields(type(record))}


def _time(entry: Message | Event) -> Row:
    return {name: getattr(entry, name) for name in TIME}


def _json(value: Json | None) -> str | None:
    return None if value is None else value.text


def _talks(result: ParseResult) -> Iterator[Conversation]:
    """The conversations, and one without an id that holds the loose entries."""
    yield from result.conversations
    if result.loose:
        yield Conversation(None, result.source, entries=result.loose)


def _entries(talk: Conversation, kind: type[E]) -> Iterator[tuple[int, E]]:
    """The entries of one kind, with their places among all."""
    return ((index, entry) for index, entry in enumerate(talk.entries) if isinstance(entry, kind))


def _turns_by_message(talk: Conversation, result: ParseResult) -> dict[str, tuple[int, Turn]]:
    """The turn that a message belongs to, by the message's key; loose entries make no turns."""
    turns = () if talk.entries is result.loose else talk.turns()
    return {message.key: (index, turn) for index, turn in enumerate(turns) for message in turn.messages}


# ---- conversations, turns, messages ----------------------------------------------------------------------------------------


def _conversations(result: ParseResult) -> Iterator[Row]:
    parents = {link.id: (c.id, link.call_id) for c in result.conversations for link in c.links if link.kind == "subagent"}
    for talk in result.conversations:
        parent, call = parents.get(talk.id or "", (None, None))
        yield {
            **{name: getattr(talk, name) for name in ("source", "title", "title_origin", "body", "newer", "stamp")},
            **{name: getattr(talk, name) for name in ("created_at", "updated_at", "first_at", "last_at")},
            **_fields(talk.usage),
            **_fields(talk.context),
            **_counts(talk),
            "conversation_id": talk.id,
            "variant": result.variant,
            "parent_id": parent,
            "parent_call_id": call,
            "links": encode([attrs.asdict(link) for link in talk.links]).decode(),
            "path": next((entry.origin.path for entry in talk.entries if entry.origin is not None), result.path),
        }


def _counts(talk: Conversation) -> Row:
    return {
        "messages": len(talk.messages),
        "prompts": len(talk.prompts),
        "events": len(talk.events),
        "turns": len(talk.turns()),
        "tool_calls": len(talk.tool_calls()),
        "edits": len(talk.edits()),
    }


def _turns(result: ParseResult) -> Iterator[Row]:
    for talk in result.conversations:
        for index, turn in enumerate(talk.turns()):
            times = [message.timestamp for message in turn.messages if message.timestamp is not None]
            yield {
                **_place(turn.messages[0].origin),
                **_fields(turn.usage),
                "conversation_id": talk.id,
                "turn_index": index,
                "turn_id": turn.id,
                "status": turn.status,
                "duration": turn.duration,
                "model": next((m.model for m in reversed(turn.messages) if m.model is not None), None),
                "prompt": "\n".join(prompt.text for prompt in turn.prompts) if turn.prompts else None,
                "answer": turn.answer,
                "first_at": min(times, default=None),
                "last_at": max(times, default=None),
                "messages": len(turn.messages),
                "tool_calls": len(turn.tool_calls),
                "first_message_key": turn.messages[0].key,
                "last_message_key": turn.messages[-1].key,
            }


def _messages(result: ParseResult) -> Iterator[Row]:
    for talk in _talks(result):
        belongs = _turns_by_message(talk, result)
        for index, message in _entries(talk, Message):
            number, turn = belongs.get(message.key, (None, None))
            yield {
                **{name: getattr(message, name) for name in _OF_MESSAGE},
                **_time(message),
                **_fields(message.usage),
                **_fields(message.context),
                **_place(message.origin),
                "conversation_id": talk.id,
                "message_key": message.key,
                "entry_index": index,
                "message_id": message.id,
                "blocks": len(message.blocks),
                "turn_id": message.turn_id if turn is None else turn.id,
                "turn_index": number,
                "model": message.model,
                "stop_reason": message.stop_reason,
                "extra": _json(message.extra),
            }


# ---- blocks, tool calls, edits ---------------------------------------------------------------------------------------------

_RENAMED: Final = {"id": "call_id", "path": "file_path", "full": "json", "input": "json"}
"""Fields of blocks whose columns are called otherwise."""


def _block(block: Block | Part) -> Row:
    """Every field of a block, each in its column; free text given to a tool, and what a tool said, are its text."""
    row: Row = {"type": tag_of(type(block))}
    names: list[str] = [field.name for field in attrs.fields(type(block))]
    for name in names:
        value = getattr(block, name)
        row[_RENAMED.get(name, name)] = value.text if isinstance(value, Json) else value
    if isinstance(block, ToolResult):
        del row["content"]
        row["text"] = block.text
    elif isinstance(block, ToolCall) and isinstance(block.input, str):
        row |= {"json": None, "text": block.input}
    return row


def _parts(block: Block) -> Iterator[tuple[int | None, Block]]:
    """The block, and those parts of a tool's result that are not plain text."""
    yield None, block
    if isinstance(block, ToolResult):
        yield from ((index, part) for index, part in enumerate(block.content) if type(part) is not Text)


def _blocks(result: ParseResult) -> Iterator[Row]:
    for talk in _talks(result):
        for message in talk.messages:
            for index, block in enumerate(message.blocks):
                for part_index, part in _parts(block):
                    yield {**_at(talk, message, index), "part_index": part_index, **_block(part)}


def _at(talk: Conversation, message: Message, block_index: int) -> Row:
    key: Row = {"conversation_id": talk.id, "message_key": message.key, "block_index": block_index}
    return key | _place(message.origin)


def _tool_calls(result: ParseResult) -> Iterator[Row]:
    for talk in _talks(result):
        belongs = _turns_by_message(talk, result)
        uses = iter(talk.tool_calls())
        for message in talk.messages:
            for index, block in enumerate(message.blocks):
                if type(block) is ToolCall:
                    turn_index, _ = belongs.get(message.key, (None, None))
                    yield {**_at(talk, message, index), "turn_index": turn_index, **_tool_call(next(uses))}


def _tool_call(use: ToolUse) -> Row:
    call, last = use.call, use.result
    row: Row = {} if last is None else {name: getattr(last, name) for name in _OF_RESULT}
    return {
        **row,
        "call_id": call.id,
        "name": call.name,
        "kind": call.kind,
        "input": call.input if isinstance(call.input, str) else call.input.text,
        "input_is_json": isinstance(call.input, Json),
        "command": use.command,
        "outcome": use.outcome,
        "output": None if last is None else last.text,
        "results": len(use.results),
        "edits": len(use.edits),
        "spawned": use.spawned,
        "state": use.message.state,
        "inherited": use.message.inherited,
        "timestamp": use.message.timestamp,
        "answered_at": use.answered_at,
    }


def _edits(result: ParseResult) -> Iterator[Row]:
    for talk in _talks(result):
        for edit_index, (message, index, edit) in enumerate(_edits_of(talk)):
            about: Row = {"edit_index": edit_index, "timestamp": message.timestamp}
            about |= {"state": message.state, "inherited": message.inherited}
            row = _block(edit)
            del row["type"]
            yield {**_at(talk, message, index), **about, **row}


def _edits_of(talk: Conversation) -> Iterator[tuple[Message, int, Edit]]:
    """What ``Conversation.edits`` gives, each with the block it comes from."""
    uses = iter(talk.tool_calls())
    for message in talk.messages:
        for index, block in enumerate(message.blocks):
            if type(block) is Edit:
                yield message, index, block
            elif type(block) is ToolCall:
                yield from ((message, index, edit) for edit in next(uses).edits)


# ---- events, drops ---------------------------------------------------------------------------------------------------------


def _events(result: ParseResult) -> Iterator[Row]:
    for talk in _talks(result):
        for index, event in _entries(talk, Event):
            yield {
                **{name: getattr(event, name) for name in _OF_EVENT},
                **_time(event),
                **_fields(event.context),
                **_place(event.origin),
                "conversation_id": talk.id,
                "event_key": event.key,
                "entry_index": index,
                "event_id": event.id,
                "data": _json(event.data),
            }


def _drops(result: ParseResult) -> Iterator[Row]:
    for drop in (*result.dropped, *result.skipped):
        yield {
            **{name: getattr(drop, name) for name in _OF_DROP},
            **_place(drop.origin),
            "lines": encode(drop.lines).decode(),
            "detail": _json(drop.detail),
        }


_MAKERS: Final[Mapping[str, Callable[[ParseResult], Iterator[Row]]]] = {
    "conversations": _conversations,
    "turns": _turns,
    "messages": _messages,
    "blocks": _blocks,
    "tool_calls": _tool_calls,
    "edits": _edits,
    "events": _events,
    "drops": _drops,
}
