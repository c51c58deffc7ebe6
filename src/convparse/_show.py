"""A result as plain text, for terminals.

What comes in: a ``ParseResult``. What goes out: lines without colours or control characters, those of messages no wider than
asked. Nothing is read, nothing is written, and the same result gives the same text. What was dropped is never cut short;
conversations are, and say so.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from convparse.blocks import (
    Answer,
    Attachment,
    Block,
    Edit,
    Image,
    Injected,
    Json,
    Reference,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from convparse.records import Conversation, Entry, Event, Message
from convparse.result import ParseResult

if TYPE_CHECKING:
    from convparse._discover import Found

BLOCKS: Final = 12
"""How many blocks of one message are shown."""
CONVERSATIONS: Final = 20
"""How many conversations are shown with their messages, or as many as messages are wanted; others have a heading alone."""
NARROWEST: Final = 70
"""Below this width the columns would leave no room for text."""
_INDENT: Final = " " * 38

_Parents: TypeAlias = dict[str | None, str | None]
"""Ids of conversations by those of their sub-agents."""
_Outcomes: TypeAlias = dict[tuple[str, Block], str]
"""By the key of the message and the call in it."""


def render(result: ParseResult, *, messages: int = 10, width: int = 100) -> str:
    """The summary, the first messages of the conversations, and what was dropped."""
    width = max(width, NARROWEST)
    parts = ["\n".join(plain(line) for line in str(result).split("\n"))]
    links = [(c.id, link) for c in result.conversations for link in c.links]
    parents: _Parents = {link.id: parent for parent, link in links if link.kind == "subagent"}
    whole = max(CONVERSATIONS, messages)
    parts += [_conversation(c, parents, messages, width) for c in result.conversations[:whole]]
    parts += [_conversation(c, parents, 0, width) for c in result.conversations[whole:]]
    if result.loose:
        heading = f"loose: {len(result.loose)} entries that belong to no conversation"
        parts.append("\n".join((heading, *_listing(result.loose, {}, messages, width))))
    return "\n\n".join((*parts, render_drops(result)))


def render_drops(result: ParseResult) -> str:
    """What is lost, altered or unknown, then what was skipped, by name."""
    dropped = [f"  {plain(str(drop))}" for drop in result.dropped]
    return "\n".join(["dropped:", *dropped] if dropped else ["dropped: nothing"]) + "\n\n" + _skipped(result)


def render_found(found: "Found") -> str:
    """What ``discover`` found, in one line."""
    problem = "" if found.problem is None else f"  (passed over: {found.problem})"
    return plain(f"{found.source:<{len('copilot-cli')}}  {found.path}{problem}")


def plain(text: str) -> str:
    """The text with everything escaped that could steer a terminal: controls, direction marks, lone surrogates."""
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(char: str) -> str:
    # Spaces of whatever width are spaces; only the plain one counts as printable.
    return " " if char == "\t" or unicodedata.category(char) == "Zs" else char.encode("unicode_escape").decode()


def _conversation(conversation: Conversation, parents: _Parents, messages: int, width: int) -> str:
    found = conversation.messages
    facts = [f"{len(found)} messages", f"{len(conversation.events)} events"]
    if conversation.id in parents:
        facts.append(f"sub-agent of {parents[conversation.id]}")
    if conversation.body != "complete":
        facts.append(f"body {conversation.body}")
    if conversation.newer:
        facts.append("written by a newer version than is known here")
    lines = [plain(f"conversation {conversation.id or '(no id)'}: {', '.join(facts)}")]
    if conversation.title is not None:
        lines.append(f"  {_first_line(conversation.title, width - 2)}")
    outcomes: _Outcomes = {(use.message.key, use.call): use.outcome for use in conversation.tool_calls()}
    return "\n".join((*lines, *_listing(found, outcomes, messages, width)))


def _listing(entries: tuple[Entry, ...], outcomes: _Outcomes, messages: int, width: int) -> Iterator[str]:
    for number, entry in enumerate(entries[:messages], 1):
        yield from _entry(number, entry, outcomes, width)
    if len(entries) > messages:
        yield f"  … and {len(entries) - messages} more"


def _entry(number: int, entry: Entry, outcomes: _Outcomes, width: int) -> Iterator[str]:
    who = (entry.author or entry.role) if isinstance(entry, Message) else "event"
    head = f"{number:>4}  {_time(entry):<21}  {_cut(plain(who), 8):<8} "
    room = width - len(_INDENT)
    body = [_event(entry, room)] if isinstance(entry, Event) else [*_blocks(entry, outcomes, room)]
    if entry.state != "active":
        body[0] = _join(f"[{entry.state}]", body[0], "", room)
    yield f"{head:<{len(_INDENT)}}{body[0]}"
    yield from (f"{_INDENT}{line}" for line in body[1:])


def _time(entry: Entry) -> str:
    if entry.timestamp is None:
        return "-"
    mark = "~" if entry.timestamp_origin == "derived" else ""
    return mark + _seconds(entry.timestamp)


def _seconds(time: datetime) -> str:
    # Not astimezone(), which fails at both ends of the calendar.
    return time.isoformat(" ", "seconds").replace("+00:00", "Z")


def _event(event: Event, room: int) -> str:
    return _join(f"[{event.kind}]", event.text or event.name, "", room)


def _blocks(message: Message, outcomes: _Outcomes, room: int) -> Iterator[str]:
    for block in message.blocks[:BLOCKS]:
        mark, text = _SHOWN[type(block)](block)
        yield _join(mark, text, _outcome(message, block, outcomes), room)
    if not message.blocks:
        yield "(empty)"
    if len(message.blocks) > BLOCKS:
        yield f"… and {len(message.blocks) - BLOCKS} more blocks"


def _outcome(message: Message, block: Block, outcomes: _Outcomes) -> str:
    known = isinstance(block, ToolCall) and (message.key, block) in outcomes
    return f"-> {outcomes[message.key, block]}" if known else ""


def _join(mark: str, text: str, tail: str, room: int) -> str:
    mark, tail = (_cut(plain(part), room // 2) for part in (mark, tail))
    left = room - _columns(mark) - _columns(tail) - bool(mark) - bool(tail)
    return " ".join(part for part in (mark, _first_line(text, left), tail) if part)


def _first_line(text: str, room: int) -> str:
    # A line can be of any length; more than four characters a column never fit.
    text = text.strip()
    lines = text[: 4 * room + 4].splitlines() or [""]
    whole = len(lines) == 1 and len(lines[0]) == len(text)
    return _cut(plain(lines[0]) + ("" if whole else " …"), room)


def _cut(text: str, room: int) -> str:
    if _columns(text) <= room:
        return text
    while text and _columns(text) >= room:
        text = text[: min(len(text) - 1, room)]
    return f"{text}…"


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _tool_call(block: ToolCall) -> tuple[str, str]:
    return f"{block.name}({block.kind})", block.input.text if isinstance(block.input, Json) else block.input


def _tool_result(block: ToolResult) -> tuple[str, str]:
    others = Counter(type(part).__name__.lower() for part in block.content if not isinstance(part, Text))
    return "[result]", block.text or ", ".join(f"{count} {name}" for name, count in others.items()) or "(empty)"


def _attachment(block: Attachment) -> tuple[str, str]:
    return f"[{block.kind}]", block.name or block.uri or block.text or block.media_type or ""


_SHOWN: Final[Mapping[type, Callable[[Any], tuple[str, str]]]] = MappingProxyType(
    {
        Text: lambda block: ("", block.text),
        Injected: lambda block: (f"[injected {block.kind}]", block.text),
        Answer: lambda block: ("[answer]", block.text),
        Thinking: lambda block: ("[thinking]", "(hidden)" if block.hidden and not block.text else block.text),
        ToolCall: _tool_call,
        ToolResult: _tool_result,
        Image: lambda block: ("[image]", block.uri or block.media_type or ""),
        Attachment: _attachment,
        Reference: lambda block: (f"[{block.kind}]", block.text),
        Edit: lambda block: (f"[{block.kind}]", block.path if block.new_path is None else f"{block.path} -> {block.new_path}"),
        Unknown: lambda block: (f"[unknown {block.kind}]", block.json.text),
    }
)
"""How each block is shown: a mark, and a text of which the first line counts."""


def _skipped(result: ParseResult) -> str:
    rows: Counter[tuple[str, str, str]] = Counter()
    for drop in result.skipped:
        rows[drop.code, drop.record, drop.pattern] += drop.count
    if not rows:
        return "skipped: nothing"
    table = [(*map(plain, row), str(count)) for row, count in rows.items()]
    return "\n".join(("skipped:", *_aligned([("code", "record", "pattern", "count"), *table])))


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    *widths, last = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
    for *cells, count in rows:
        left = "  ".join(cell + " " * (width - _columns(cell)) for cell, width in zip(cells, widths, strict=True))
        yield f"  {left}  {count:>{last}}"
