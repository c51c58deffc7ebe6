"""What a projection leaves out: every block and event of the result is in one of its messages, or is listed with the reason.

What comes in: the messages that a product's rule made, and why it passed over entries. What goes out: the projection. A text is
in a message if it stands there word for word, but for white space at its ends; of what a message of ours holds beyond its
blocks, every field that the shape has no place for is listed too.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

import attrs

from convparse.blocks import Answer, Block, Edit, Injected, Text, Thinking, ToolCall, ToolResult
from convparse.compat.chatcrystal.javascript import milliseconds, sort, trim
from convparse.compat.chatcrystal.records import LeftOut, Projection, ReferenceConversation, ReferenceMessage
from convparse.records import Conversation, Entry, Event, Message
from convparse.result import ParseResult
from convparse.tables import tag_of

FIELDS: Final = ("model", "usage", "stop_reason", "response_id", "turn_id", "context", "extra")
"""Fields of a message that the shape has no place for."""
TALK_FIELDS: Final = ("title", "links", "created_at", "updated_at")
"""The same of a conversation."""


class Ruled:
    """What a rule found so far."""

    def __init__(self, result: ParseResult) -> None:
        self.result = result
        self.conversations: list[ReferenceConversation] = []
        self.reasons: dict[str, str] = {}
        """Why an entry gave no message, by its key."""
        self.told: set[str] = set()
        """Keys of messages whose tool calls another message tells of."""
        self.within: dict[str, str] = {}
        """Entries that are told in the message of another one: their keys, and that one's."""
        self.rest: dict[str, str] = {}
        """Why texts and reasoning are missing in a message, by the entry's key, where there is a reason of its own."""
        self.left: list[LeftOut] = []
        self.otherwise = "chatcrystal/not-a-message"
        """The reason for entries that no rule looked at."""

    def refuse(self, code: str) -> "Ruled":
        """Nothing is read: this is why."""
        self.otherwise = code
        return self

    def pass_over(self, entries: Iterable[Entry], code: str) -> None:
        """These entries gave no message; the first reason counts."""
        for entry in entries:
            self.reasons.setdefault(entry.key, code)

    def add(
        self,
        id: str | None,
        messages: list[ReferenceMessage],
        slug: str | None = None,
        cwd: str | None = None,
        git_branch: str | None = None,
        places: Sequence[int] = (),
    ) -> "Ruled":
        """A conversation, its messages in the order in which they were found; they are sorted by time here.

        ``places``: numbers that tell the product's own order, where the messages are in another.
        """
        numbered = list(zip(places or range(len(messages)), messages, strict=True))
        placed = sort(numbered, lambda item: milliseconds(item[1].timestamp))
        self.conversations.append(ReferenceConversation(id, tuple(m for _, m in placed), slug, cwd, git_branch))
        least = math.inf
        for number, message in reversed(placed):
            if number > least:
                self.left.append(LeftOut("chatcrystal/reordered", "time", message.key))
            least = min(least, number)
        self.left += [LeftOut("chatcrystal/no-time", "time", m.key) for m in messages if m.timestamp is None]
        return self

    def projection(self) -> Projection:
        """The conversations, and what is not in them."""
        said: dict[str, list[ReferenceMessage]] = {}
        for talk in self.conversations:
            for message in talk.messages:
                said.setdefault(message.key, []).append(message)
        marked: dict[str, list[LeftOut]] = {}
        for item in self.left:
            marked.setdefault(item.key, []).append(item)
        roots = {conversation.id for conversation in self.result.roots}
        items: list[LeftOut] = []
        for conversation, entries in (*((c, c.entries) for c in self.result.conversations), (None, self.result.loose)):
            if conversation is not None:
                items += self._missing_about(conversation)
            for entry in entries:
                messages = said.get(self.within.get(entry.key, entry.key))
                found = self._missing(entry) if messages is None else self._missing_of(entry, messages)
                items += [_placed(item, entry) for item in (*found, *marked.get(entry.key, ()))]
                if messages is not None and conversation is not None and conversation.id not in roots:
                    items.append(_placed(LeftOut("chatcrystal/as-main", "sub-agent", entry.key), entry))
        return Projection(tuple(self.conversations), tuple(items))

    def _missing_about(self, conversation: Conversation) -> Iterator[LeftOut]:
        """What a conversation says of itself that the one of the same id does not."""
        slugs = [talk.slug for talk in self.conversations if talk.id == conversation.id]
        first = next((entry.origin for entry in conversation.entries), None)
        for name in TALK_FIELDS:
            value = getattr(conversation, name)
            if value is not None and value != () and not (name == "title" and value in slugs):
                yield LeftOut("chatcrystal/no-field", name, conversation.id or "", None, 0, first)

    def _missing(self, entry: Entry) -> Iterator[LeftOut]:
        """What an entry holds of which there is no message."""
        code = self.reasons.get(entry.key) or self._unseen(entry)
        if isinstance(entry, Event):
            yield LeftOut(code, entry.kind, entry.key, None, len(entry.text or ""))
            return
        for number, block in enumerate(entry.blocks):
            yield _item(self._why(code, entry, block), entry, number, block)
        if not entry.blocks:
            yield LeftOut(code, "message", entry.key)

    def _why(self, code: str, entry: Message, block: Block) -> str:
        """The reason for one block of a message that is not there."""
        if type(block) is ToolCall:
            return "chatcrystal/tool-call" if entry.key in self.told else code
        if code not in _NOTHING or type(block) is Text:
            return code
        return _REASONS.get(type(block), "chatcrystal/other-block")

    def _unseen(self, entry: Entry) -> str:
        """The reason for an entry that no rule looked at."""
        accounts = self.result.accounts
        if entry.origin is None or not accounts or entry.origin.path == accounts[0].path:
            return self.otherwise
        path, own = PurePath(entry.origin.path), PurePath(accounts[0].path)
        beside = path.parent == own.parent and path.suffix in _LISTED.get(self.result.source, ())
        listed = beside or (self.result.source == "codex" and path.suffix == ".jsonl")
        return "chatcrystal/other-conversation" if listed else "chatcrystal/other-file"

    def _missing_of(self, entry: Entry, messages: list[ReferenceMessage]) -> Iterator[LeftOut]:
        """What an entry holds that its messages do not."""
        if isinstance(entry, Event):
            if not any(trim(entry.text or "") in message.content for message in messages):
                yield LeftOut("chatcrystal/altered-text", entry.kind, entry.key, None, len(entry.text or ""))
        else:
            for number, block in enumerate(entry.blocks):
                if not any(_says(message, block) for message in messages):
                    yield _item(self._reason(entry, block), entry, number, block)
            for name in FIELDS:
                if getattr(entry, name) is not None:
                    yield LeftOut("chatcrystal/no-field", name, entry.key)
        if entry.state != "active":
            yield LeftOut("chatcrystal/as-active", entry.state, entry.key)
        author = "harness" if isinstance(entry, Event) else entry.author
        if messages[0].type == "user" and author != "human":
            yield LeftOut("chatcrystal/as-user", author or "untold", entry.key)

    def _reason(self, entry: Message, block: Block) -> str:
        if isinstance(block, Text | Thinking) and entry.key in self.rest:
            return self.rest[entry.key]
        return _REASONS.get(type(block), "chatcrystal/other-block")


def _placed(item: LeftOut, entry: Entry) -> LeftOut:
    return attrs.evolve(item, origin=entry.origin)


def _item(code: str, message: Message, number: int, block: Block) -> LeftOut:
    return LeftOut(code, tag_of(type(block)), message.key, number, len(text_of(block)))


def text_of(block: Block) -> str:
    """What somebody would read of a block."""
    if isinstance(block, Edit):
        return block.diff or block.after or ""
    if isinstance(block, ToolCall):
        return block.input if isinstance(block.input, str) else block.input.text
    return getattr(block, "text", None) or ""


def _says(message: ReferenceMessage, block: Block) -> bool:
    if isinstance(block, Text | Injected | Answer):
        return trim(block.text) in message.content
    if isinstance(block, Thinking):
        return block.text != "" and block.text in (message.thinking or "")
    return False


_LISTED: Final[Mapping[str, tuple[str, ...]]] = {"claude-code": (".jsonl",), "copilot": (".json", ".jsonl")}
"""Files that are conversations of their own, where they stand beside a session's."""
_NOTHING: Final = frozenset({"chatcrystal/empty", "chatcrystal/not-a-message"})
"""Reasons that leave open what there is instead of a text."""
_REASONS: Final[Mapping[Any, str]] = {
    Text: "chatcrystal/altered-text",
    Injected: "chatcrystal/stripped-text",
    Thinking: "chatcrystal/thinking",
    ToolCall: "chatcrystal/tool-call",
    ToolResult: "chatcrystal/tool-result",
}
