"""Cursor: bubbles that have rows of their own, by time; answers without text are passed over, whatever else they hold.

What comes in: the bubbles of each conversation, in the order of the table. What goes out: conversations that have messages.
Tool calls are looked for in ``toolResults`` and ``isAgentic``, where newer versions write nothing.
"""

from typing import Any, Final

from convparse.blocks import Json
from convparse.compat.chatcrystal.account import Ruled
from convparse.compat.chatcrystal.javascript import Stops, either, field, shown, sized, string, time, trim, truthy
from convparse.compat.chatcrystal.records import ReferenceMessage, Type
from convparse.compat.chatcrystal.units import UNREAD, key_of, parse, rows
from convparse.reading.tables import Row, Table
from convparse.records import Conversation, Entry, Message
from convparse.result import ParseResult

TABLE: Final = Table("cursorDiskKV", "key", "value")


def rule(result: ParseResult, data: bytes | None) -> Ruled:
    """The conversations of the editor's global database."""
    ruled = Ruled(result)
    prefixes = {conversation.id: f"bubbleId:{conversation.id}:" for conversation in result.conversations}
    stored = rows(result, TABLE, prefixes.values(), prefixes=True) if prefixes else {}
    for conversation in result.conversations:
        _conversation(ruled, conversation, stored.get(prefixes[conversation.id], []))
    return ruled


def _conversation(ruled: Ruled, conversation: Conversation, stored: list[Row]) -> None:
    entries: dict[str, list[Entry]] = {}
    for entry in conversation.entries:
        key = entry.origin.key if entry.origin is not None and entry.origin.table == TABLE.name else None
        entries.setdefault(key or "", []).append(entry)
    passed: list[tuple[list[Entry], str]] = []
    messages = []
    try:
        for row in sorted(stored, key=lambda row: row.rowid):
            own = entries.pop(row.key or "", [])
            made = _bubble(row, own)
            if isinstance(made, str):
                passed.append((own, made))
            else:
                messages.append(made)
    except Stops:
        ruled.pass_over(conversation.entries, "chatcrystal/stopped")
        return
    for own, code in passed:
        ruled.pass_over(own, code)
    elsewhere = [entry for left in entries.values() for entry in left if isinstance(entry, Message)]
    ruled.pass_over(elsewhere, "chatcrystal/other-place")
    if messages:
        order = {entry.key: number for number, entry in enumerate(conversation.entries)}
        ruled.add(conversation.id, messages, places=[order.get(message.key, 0) for message in messages])


def _bubble(row: Row, entries: list[Entry]) -> ReferenceMessage | str:
    """The message of a bubble, or why there is none."""
    bubble: Any = parse(row.value.decode("utf-8", "replace")) if row.value is not None and row.kind != "blob" else None
    if row.kind == "blob" or bubble is UNREAD:
        return "chatcrystal/unread-line"
    kind = field(bubble, "type")
    user = kind == 1 and kind is not True
    text = trim(string(either(field(bubble, "text"), "")))
    if not text and not user:
        return "chatcrystal/no-text"
    who: Type = "user" if user else "assistant"
    own = shown(either(bubble.get("bubbleId"), (row.key or "").rpartition(":")[2]))
    tool = sized(bubble.get("toolResults")) or bubble.get("isAgentic") is True
    code = "```" in text or sized(bubble.get("codeBlocks")) or sized(bubble.get("suggestedCodeBlocks"))
    when = time(either(bubble.get("createdAt"), None))
    return ReferenceMessage(own, None, who, who, text, tool, code, _thinking(bubble), when, key_of(entries))


def _thinking(bubble: Any) -> str | None:
    """Reasoning: the blocks of older versions, else what ``thinking`` holds; an object is taken as it is, here as its JSON."""
    blocks = bubble.get("allThinkingBlocks")
    if sized(blocks):
        if type(blocks) is not list:
            raise Stops
        texts = [either(field(block, "thinking"), field(block, "text")) for block in blocks]
        return "\n".join(shown(text) for text in texts if truthy(text)) or None
    thinking = bubble.get("thinking")
    if type(thinking) is dict:
        return Json.of(thinking).text
    return shown(thinking) if truthy(thinking) else None
