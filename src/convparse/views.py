"""Views over a conversation: turns, responses, tool uses and edits, the same for every product.

What comes in: a ``Conversation``. What goes out: frozen records that hold the conversation's own messages and blocks, in the
conversation's own order. Every function is pure and reads its conversation once, in linear time.

Never done here: no sorting by time, nothing invented (what is not recorded is None, ``unknown`` or ``open``), no knowledge of a
product. The one thing that only a source can tell, which changes of files a call made, is asked of it when it is wanted.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

import attrs

from convparse.blocks import Block, Edit, Injected, Json, Text, Thinking, ToolCall, ToolResult, many, short
from convparse.records import Conversation, Event, Message, Usage

Outcome: TypeAlias = Literal["ok", "error", "denied", "interrupted", "missing", "unknown"]
Status: TypeAlias = Literal["interrupted", "failed", "complete", "open"]

# Status words of all products, in lower case and without anything but letters.
DENIED: Final = frozenset({"denied", "declined", "rejected", "userrejected", "permissionrule", "permissiondenied"})
INTERRUPTED: Final = frozenset({"interrupted", "cancelled", "canceled", "aborted", "killed"})
FAILED: Final = frozenset({"failed", "failure", "error", "errored"})
DONE: Final = frozenset({"completed", "complete", "success", "succeeded", "ok", "done"})
GOING_ON: Final = frozenset({"asynclaunched", "running", "inprogress", "pending", "started"})

COMMAND_KEYS: Final = ("command", "cmd", "script")


def _key(message: Message) -> str:
    return f"<{message.key}>"


@attrs.frozen
class ToolUse:
    """A tool call with what came of it."""

    call: ToolCall
    results: tuple[ToolResult, ...] = attrs.field(repr=short)
    """In order; several where work went on in the background or an interrupted call was taken up again."""
    message: Message = attrs.field(repr=_key)
    """The message that holds the call."""
    source: str
    """The name of the source that knows what the call means."""
    spawned: str | None = None
    """The id of the conversation that this call started."""
    answered_at: datetime | None = None
    """The time of the message that holds the last result: the call's own where the product writes both in one message."""

    @property
    def result(self) -> ToolResult | None:
        """The last result; None if none is recorded."""
        return self.results[-1] if self.results else None

    @property
    def outcome(self) -> Outcome:
        """How it ended: ``ok``, ``error``, ``denied`` (never ran), ``interrupted``, ``missing`` (no result) or ``unknown``.

        The first that says something: an exit code of 0, a status word of denial or interruption, another exit code, a recorded
        error, any other known status word, and a recorded success. A result that says nothing at all is ``ok``, because
        products leave the mark of an error out where there was none.
        """
        return "missing" if self.result is None else _outcome(self.result)

    @property
    def command(self) -> str | None:
        """The command line of a call of kind ``execute``, a list of words quoted for a shell; None for other calls."""
        return _command(self.call.input) if self.call.kind == "execute" else None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The changes of files that the call recorded, as its source reads them."""
        from convparse.sources import SOURCES  # the sources import this module

        source = SOURCES.get(self.source)
        return () if source is None else source.edits(self)


def _word(status: str | None) -> str:
    return re.sub("[^a-z]", "", (status or "").lower())


def _outcome(result: ToolResult) -> Outcome:
    word = _word(result.status)
    if result.exit_code == 0:
        return "ok"
    if word in DENIED or word.startswith("automode"):
        return "denied"
    if word in INTERRUPTED:
        return "interrupted"
    if result.exit_code is not None or result.is_error or word in FAILED:
        return "error"
    if word in DONE:
        return "ok"
    if word in GOING_ON:
        return "unknown"
    return "ok" if result.is_error is False or not word else "unknown"


def _command(given: Json | str) -> str | None:
    if isinstance(given, str):
        return given
    value = given.value
    values: list[Any] = [value.get(key) for key in COMMAND_KEYS] if isinstance(value, dict) else []
    for command in values:
        if isinstance(command, str):
            return command
        if isinstance(command, list) and all(isinstance(word, str) for word in command):
            return shlex.join(command)
    return None


@attrs.frozen
class Response:
    """One answer of the model to one request, with all its rows, which need not stand together."""

    id: str | None
    """The product's; None where rows are not said to belong together: each is then a response of its own."""
    model: str | None
    """As the last row that names one says."""
    messages: tuple[Message, ...] = attrs.field(repr=many)
    blocks: tuple[Block, ...] = attrs.field(repr=many)
    """The blocks of all rows."""
    usage: Usage | None
    stop_reason: str | None
    """As the last row that names one says."""

    @property
    def text(self) -> str:
        """The ``Text`` blocks, joined by newlines: what the model said."""
        return "\n".join(block.text for block in self.blocks if type(block) is Text)


@attrs.frozen
class Turn:
    """What a person asked for, in one prompt or several, and everything done about it."""

    id: str
    """The product's turn id where its messages have one, else the key of the first message."""
    prompts: tuple[Message, ...] = attrs.field(repr=many)
    """The messages written by a person; none where the model or the harness began."""
    messages: tuple[Message, ...] = attrs.field(repr=many)
    """All active messages, the prompts among them."""
    events: tuple[Event, ...] = attrs.field(repr=many)
    status: Status
    """``interrupted``: stopped, and the model said nothing after; ``failed``: an error event stands after the last message;
    ``complete``: the end is recorded, by an event or by the model's stop reason; else ``open``."""
    duration: float | None = None
    """Seconds, as recorded."""
    tool_calls: tuple[ToolUse, ...] = attrs.field(default=(), repr=many)

    @property
    def responses(self) -> "Responses":
        """What the model said in this turn, by response."""
        return _responses(self.messages)

    @property
    def answer(self) -> str:
        """The text of the last response that has any, as far as it stands after the last tool result; else empty."""
        said: list[tuple[Message, str]] = []
        for message, block in _blocks(self.messages):
            if type(block) is ToolResult:
                said.clear()
            elif type(block) is Text and _is_said(message):
                said.append((message, block.text))
        return "\n".join(text for message, text in said if _same_response(message, said[-1][0]))

    @property
    def usage(self) -> Usage:
        """The sum over the messages."""
        return sum((m.usage for m in self.messages if m.usage is not None), Usage())


def _blocks(messages: Iterable[Message]) -> Iterator[tuple[Message, Block]]:
    for message in messages:
        for block in message.blocks:
            yield message, block


def _is_said(message: Message) -> bool:
    """True for what this conversation's model said; the task of a sub-agent is another model's, in the place of a prompt."""
    return message.author == "model" and message.role != "user"


def _same_response(message: Message, other: Message) -> bool:
    return message is other if other.response_id is None else message.response_id == other.response_id


Turns: TypeAlias = tuple[Turn, ...]
Responses: TypeAlias = tuple[Response, ...]
ToolUses: TypeAlias = tuple[ToolUse, ...]
Edits: TypeAlias = tuple[Edit, ...]


# Tool uses and edits


def tool_uses(conversation: Conversation) -> ToolUses:
    """Every call in messages of any state, with its results, wherever in the conversation they stand.

    Where a call id repeats, a result belongs to the nearest call before it; one that stands before all calls of its id, to the
    first of them. Where neither has an id, a result belongs to the call before it in the same message.
    """
    found: list[tuple[ToolCall, Message, list[tuple[ToolResult, Message]]]] = []
    nearest: dict[str, list[tuple[ToolResult, Message]]] = {}
    early: dict[str, list[tuple[ToolResult, Message]]] = {}
    for message, block in _blocks(conversation.messages):
        if type(block) is ToolCall:
            results: list[tuple[ToolResult, Message]] = [] if block.id is None else early.pop(block.id, [])
            if block.id is not None:
                nearest[block.id] = results
            found.append((block, message, results))
        elif type(block) is ToolResult and block.call_id is not None:
            (nearest if block.call_id in nearest else early).setdefault(block.call_id, []).append((block, message))
        elif type(block) is ToolResult and found and found[-1][0].id is None and found[-1][1] is message:
            found[-1][2].append((block, message))
    spawned: dict[str | None, str] = {
        link.call_id: link.id for link in reversed(conversation.links) if link.call_id is not None
    }
    return tuple(
        ToolUse(
            call,
            tuple(result for result, _ in results),
            message,
            conversation.source,
            spawned.get(call.id),
            results[-1][1].timestamp if results else None,
        )
        for call, message, results in found
    )


def edits(conversation: Conversation) -> Edits:
    """The changes of files that stand in messages of any state and those that tool calls recorded, in message order."""
    found: list[Edit] = []
    uses = iter(tool_uses(conversation))
    for _, block in _blocks(conversation.messages):
        if type(block) is Edit:
            found.append(block)
        elif type(block) is ToolCall:
            found += next(uses).edits
    return tuple(found)


# Responses


def responses(conversation: Conversation) -> Responses:
    """What the model said, in messages of any state, by response, in the order of first appearance."""
    return _responses(conversation.messages)


def _responses(messages: tuple[Message, ...]) -> Responses:
    groups: dict[object, list[Message]] = {}
    for place, message in enumerate(messages):
        if _is_said(message):
            groups.setdefault(place if message.response_id is None else message.response_id, []).append(message)
    return tuple(_response(rows) for rows in groups.values())


def _response(messages: list[Message]) -> Response:
    usages = [message.usage for message in messages if message.usage is not None]
    return Response(
        messages[0].response_id,
        _last(message.model for message in messages),
        tuple(messages),
        tuple(block for _, block in _blocks(messages)),
        sum(usages, Usage()) if usages else None,
        _last(message.stop_reason for message in messages),
    )


def _last(values: Iterable[str | None]) -> str | None:
    return next((value for value in reversed(list(values)) if value is not None), None)


# Turns


def turns(conversation: Conversation) -> Turns:
    """The turns of the active messages.

    A person's message begins a turn, unless work on the current one has not begun (consecutive prompts are one turn), or the
    message carries the current one's id (a prompt taken up in mid-turn). An interruption or a recorded end closes a turn to
    further prompts even where the model said nothing. What the harness wrote, and events, join the current turn, or the first.
    """
    uses: dict[str, list[ToolUse]] = {}
    for use in tool_uses(conversation):
        uses.setdefault(use.message.key, []).append(use)
    return tuple(_turn(entries, uses) for entries in _split(conversation))


def _split(conversation: Conversation) -> Iterator[list[Message | Event]]:
    current: list[Message | Event] = []
    turn_id: str | None = None
    begun = False
    for entry in conversation.entries:
        if entry.state != "active":
            continue
        if type(entry) is Message and entry.author == "human" and begun and (entry.turn_id is None or entry.turn_id != turn_id):
            if any(type(earlier) is Message for earlier in current):
                yield current
                current = []
            turn_id, begun = None, False
        current.append(entry)
        if type(entry) is Message and turn_id is None:
            turn_id = entry.turn_id
        begun = begun or _begins(entry)
    if any(type(entry) is Message for entry in current):
        yield current


def _begins(entry: Message | Event) -> bool:
    """True for what makes the next prompt a new turn's."""
    if isinstance(entry, Event):
        return entry.kind == "turn-end"
    return entry.author == "tool" or _is_said(entry) or any(_is_interruption(block) for block in entry.blocks)


def _turn(entries: list[Message | Event], uses: dict[str, list[ToolUse]]) -> Turn:
    messages = tuple(entry for entry in entries if isinstance(entry, Message))
    events = tuple(entry for entry in entries if isinstance(entry, Event))
    entries = entries[next(at for at, entry in enumerate(entries) if isinstance(entry, Message)) :]
    durations = [e.duration for e in entries if isinstance(e, Event) and e.kind == "turn-end" and e.duration is not None]
    return Turn(
        next((message.turn_id for message in messages if message.turn_id is not None), messages[0].key),
        tuple(message for message in messages if message.author == "human"),
        messages,
        events,
        _status(entries, messages),
        durations[-1] if durations else None,
        tuple(use for message in messages for use in uses.get(message.key, ())),
    )


def _status(entries: list[Message | Event], messages: tuple[Message, ...]) -> Status:
    if _was_interrupted(messages):
        return "interrupted"
    if _has_failed(entries):
        return "failed"
    said = [message for message in messages if _is_said(message)]
    if said and said[-1].stop_reason not in (None, "tool_use"):
        return "complete"
    return "complete" if any(isinstance(entry, Event) and entry.kind == "turn-end" for entry in entries) else "open"


def _was_interrupted(messages: tuple[Message, ...]) -> bool:
    stopped = False
    for message, block in _blocks(messages):
        if _is_interruption(block):
            stopped = True
        elif type(block) in (Text, Thinking, ToolCall) and _is_said(message):
            stopped = False
    return stopped


def _is_interruption(block: Block) -> bool:
    if type(block) is ToolResult:
        return _word(block.status) in INTERRUPTED
    return type(block) is Injected and block.kind == "interrupted"


def _has_failed(entries: list[Message | Event]) -> bool:
    """True if an error stands after the last message that is not the harness's, whatever bookkeeping follows it."""
    for entry in reversed(entries):
        if isinstance(entry, Event):
            if entry.kind == "error":
                return True
        elif entry.author != "harness":
            return False
    return False
