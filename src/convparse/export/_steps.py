"""A conversation as a line of steps, which is what ATIF, OpenTelemetry and chat messages can hold: what was said to the model,
what the model said and called in one response, and what came of the calls.

What comes in: a conversation that is being read. What goes out: steps in the product's order, whose blocks are still to be
taken. Events, and messages that are not active, are in no step; the latter are named here, as is every message or result that
cannot stand where it stood: rows of one response are one step, and a result follows its call.

Never done here: nothing is sorted by time or left out, and no words are made. A result belongs to the nearest call of its id
before it, else to the first one after it, else to none.
"""

from typing import Final, Literal, TypeAlias

import attrs

from convparse.blocks import Thinking, ToolCall, ToolResult
from convparse.export._account import MOVED, NOT_ACTIVE, REWORDED, STAND_IN, Given
from convparse.records import Message

Speaker: TypeAlias = Literal["agent", "user", "system", "tool"]

_BY_AUTHOR: Final[dict[str | None, Speaker]] = {"human": "user", "model": "agent", "tool": "tool"}
_BY_ROLE: Final[dict[str, Speaker]] = {
    **dict.fromkeys(("assistant", "model", "agent", "ai"), "agent"),
    **dict.fromkeys(("system", "developer"), "system"),
    "tool": "tool",
}


@attrs.define(eq=False)
class Step:
    """One thing said to the model, one response of it with the results of its calls, or one result without a call."""

    speaker: Speaker
    """``tool``: text of a tool, or a result without a call."""
    messages: dict[Given, bool] = attrs.field(factory=dict)
    """The rows it is made of; False where only results are of a row."""
    begins: list[Given] = attrs.field(factory=list)
    """Those of them that no earlier step is made of: what they say as a whole is said here."""
    ends: list[Given] = attrs.field(factory=list)
    """Those of them of whose words no later step is made."""
    blocks: list[Given] = attrs.field(factory=list)
    """What was said and called, in order; a result only where it has no call."""
    results: list[tuple[Given, list[Given]]] = attrs.field(factory=list)
    """The calls among the blocks, in order, each with its results."""


def speaker_of(message: Message) -> Speaker:
    """Who speaks in a conversation with a model: the task of a sub-agent, which a model wrote, is said by its user."""
    if message.author is None or message.author == "harness":
        said = _BY_ROLE.get(message.role, "user")
        return "user" if message.author == "harness" and said == "tool" else said
    return "user" if message.role == "user" and message.author == "model" else _BY_AUTHOR[message.author]


def steps(talk: Given) -> list[Step]:
    """The steps of the active messages."""
    rows: list[tuple[Given, tuple[Given, ...]]] = []
    for entry in talk.entries():
        if type(entry.record) is not Message:
            continue
        if entry.record.state == "active":
            rows.append((entry, entry.each("blocks")))
        else:
            entry.leave(NOT_ACTIVE)
    return _Line(_owners([block for _, blocks in rows for block in blocks])).read(rows)


def _owners(blocks: list[Given]) -> dict[Given, Given]:
    """The call of every result that has one."""
    nearest: dict[str, Given] = {}
    early: dict[str, list[Given]] = {}
    found: dict[Given, Given] = {}
    for block in blocks:
        record = block.record
        if type(record) is ToolCall and record.id is not None:
            found |= dict.fromkeys(early.pop(record.id, ()), block)
            nearest[record.id] = block
        elif type(record) is ToolResult and record.call_id is not None:
            if record.call_id in nearest:
                found[block] = nearest[record.call_id]
            else:
                early.setdefault(record.call_id, []).append(block)
    return found


class _Line:
    """The steps while they are made."""

    def __init__(self, owners: dict[Given, Given]) -> None:
        self._owners = owners
        self._steps: list[Step] = []
        self._responses: dict[str, Step] = {}
        self._calls: dict[Given, tuple[Step, int]] = {}
        self._results: list[tuple[Given, Given, Step | None]] = []
        self._answered: set[Step] = set()

    def read(self, rows: list[tuple[Given, tuple[Given, ...]]]) -> list[Step]:
        for message, blocks in rows:
            self._message(message, blocks)
        latest: dict[Step, int] = {}
        for message, result, last in self._results:
            step, number = self._calls[self._owners[result]]
            step.results[number][1].append(result)
            step.messages.setdefault(message, False)
            if step is not last or number < latest.get(step, 0):
                result.name(MOVED)
            latest[step] = max(number, latest.get(step, 0))
        _settle(self._steps)
        return self._steps

    def _message(self, message: Given, blocks: tuple[Given, ...]) -> None:
        speaker, current, split = speaker_of(message.record), None, False
        for block in blocks:
            if block in self._owners:
                split = True
                self._results.append((message, block, self._steps[-1] if self._steps else None))
                if self._owners[block] in self._calls:
                    self._answered.add(self._calls[self._owners[block]][0])
                continue
            says = _says(block, speaker)
            if current is None or current.speaker != says or (split and says == "agent") or type(block.record) is ToolResult:
                current, split = self._open(message, says, current is None), False
            current.blocks.append(block)
            if type(block.record) is ToolCall:
                self._calls[block] = current, len(current.results)
                current.results.append((block, []))
        if not blocks:
            self._open(message, speaker, True)

    def _open(self, message: Given, speaker: Speaker, first: bool) -> Step:
        """The step of the same response, for the first words of a row; else a new one."""
        response = message.record.response_id if speaker == "agent" else None
        step = self._responses.get(response) if response is not None and first else None
        if step is None:
            step = Step(speaker)
            self._steps.append(step)
        elif step is not self._steps[-1] or step in self._answered:
            message.name(MOVED)
        if response is not None:
            self._responses[response] = step
        step.messages[message] = True
        return step


def _settle(line: list[Step]) -> None:
    """Find where every row begins and where it ends."""
    first: dict[Given, Step] = {}
    last: dict[Given, Step] = {}
    for step in line:
        for message, has_said in step.messages.items():
            first.setdefault(message, step)
            if has_said:
                last[message] = step
    for message, step in first.items():
        step.begins.append(message)
    for message, step in last.items():
        step.ends.append(message)


def _says(block: Given, speaker: Speaker) -> Speaker:
    """Calls and reasoning are the model's wherever they stand."""
    if type(block.record) is ToolResult:
        return "tool"
    return "agent" if type(block.record) in (ToolCall, Thinking) else speaker


# ---- what formats ask of a step --------------------------------------------------------------------------------------------

_AUTHORS: Final = {"assistant": "model", "user": "human", "system": "harness", "developer": "harness", "tool": "tool"}
"""Who writes in a role, as far as nothing else is said."""


def agree(step: Step, role: str) -> None:
    """Take role and author of the rows that begin here, as far as the role in the document says them; results have one, too."""
    for row, has_said in step.messages.items():
        if row in step.begins:
            its_role = role if has_said else "tool"
            row.take_if("author", _AUTHORS[its_role])
            if row.take("role") != its_role:
                row.name(REWORDED, "role")


def call_ids(step: Step) -> list[str]:
    """An id for each call, unique among them: its own, else a stand-in made of its place, which is named."""
    found: dict[str, None] = {}
    for call, _ in step.results:
        id = call.record.id
        if id is None or id in found:
            call.name(STAND_IN, "id")
            id = f"{call.where.key}{call.where.pointer}"
        else:
            call.take("id")
        found[id] = None
    return list(found)
