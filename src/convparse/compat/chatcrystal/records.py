"""The shape that the ChatCrystal parsers give, and a list of what they leave out.

Everything is immutable, hashable and picklable. Nothing here knows a product.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import attrs

from convparse.blocks import many, short
from convparse.drops import Code, Drop
from convparse.records import Origin

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        # What is not read at all.
        "chatcrystal/other-format": Code("lost", "a format of the product that is not read"),
        "chatcrystal/other-file": Code("lost", "a file that belongs to the session and is not read"),
        "chatcrystal/other-conversation": Code(
            "altered", "what stands in another file, which is a conversation of its own there"
        ),
        "chatcrystal/other-place": Code("lost", "a place in the database that is not looked at"),
        "chatcrystal/small-file": Code("lost", "a file so small that it is taken for empty"),
        "chatcrystal/no-workspace": Code("lost", "a database without workspace.json beside it"),
        "chatcrystal/unread-line": Code("lost", "a line or row that is not one plain JSON text"),
        "chatcrystal/stopped": Code(
            "lost", "the parser raises an error on something in the conversation, and gives none of it"
        ),
        "chatcrystal/later-line": Code("lost", "what the log says after its first line"),
        # Which records are messages.
        "chatcrystal/not-a-message": Code("lost", "a record that is neither a person's message nor the model's"),
        "chatcrystal/no-uuid": Code("lost", "a row without a uuid"),
        "chatcrystal/other-role": Code("lost", "a message that is neither a user's nor an assistant's"),
        "chatcrystal/no-user-message": Code("lost", "a user's text that no user_message event tells"),
        "chatcrystal/repeated-text": Code("lost", "a text of the model that is equal to the last one"),
        "chatcrystal/empty": Code("lost", "a message without text, reasoning and tool calls"),
        "chatcrystal/no-text": Code("lost", "an answer without text, whatever else it holds"),
        # What a message holds.
        "chatcrystal/tool-call": Code("altered", "a tool call: hasToolUse tells that there was one"),
        "chatcrystal/tool-result": Code("lost", "what came of a tool call"),
        "chatcrystal/thinking": Code("lost", "reasoning"),
        "chatcrystal/stripped-text": Code("lost", "text that the product put in, taken out by its tag or heading"),
        "chatcrystal/beside-content": Code("lost", "words and reasoning of an agent whose message has content of its own"),
        "chatcrystal/step-text": Code("lost", "what an agent says at a step other than the last"),
        "chatcrystal/altered-text": Code("altered", "a text that stands in the message in part, or joined otherwise"),
        "chatcrystal/other-block": Code(
            "lost", "an answer to a question, a picture, a file, a reference, an edit, or what is not known"
        ),
        "chatcrystal/no-field": Code("lost", "a fact about a message or a conversation that the shape has no field for"),
        # What looks otherwise than it is.
        "chatcrystal/as-active": Code("altered", "a message that no longer stands, given like any other"),
        "chatcrystal/as-main": Code("altered", "what a sub-agent said or was told, given as the conversation's own"),
        "chatcrystal/as-user": Code("altered", "what the product or a model wrote, given as the user's"),
        "chatcrystal/reordered": Code("altered", "a message that stands before others which came before it"),
        "chatcrystal/no-time": Code("altered", "a message without a time: the parser takes the clock's, here it has none"),
        "chatcrystal/made-time": Code("altered", "a time that was made up so that messages stand in order"),
    }
)
"""Why something is left out, or given otherwise than it is."""

Type: TypeAlias = Literal["user", "assistant"]


@attrs.frozen
class ReferenceMessage:
    """A message as ChatCrystal has it."""

    id: str | None
    """None where ChatCrystal makes a random one (Codex)."""
    parent: str | None
    """Of Claude Code alone."""
    type: Type
    role: str
    content: str = attrs.field(repr=short)
    has_tool_use: bool = False
    has_code: bool = False
    thinking: str | None = attrs.field(default=None, repr=short)
    timestamp: str | float | None = None
    """As the file has it, be it text or number, or as ChatCrystal makes it; None where ChatCrystal takes the clock."""
    key: str = ""
    """The ``key`` of the message of ours that says this, and more."""

    def as_dict(self) -> dict[str, Any]:
        """The message under ChatCrystal's own names."""
        return {
            "id": self.id,
            "parentUuid": self.parent,
            "type": self.type,
            "role": self.role,
            "content": self.content,
            "hasToolUse": self.has_tool_use,
            "hasCode": self.has_code,
            "thinking": self.thinking,
            "timestamp": self.timestamp,
        }


@attrs.frozen
class ReferenceConversation:
    """A conversation as ChatCrystal has it."""

    id: str | None
    messages: tuple[ReferenceMessage, ...] = attrs.field(default=(), repr=many)
    """Sorted by time, as there."""
    slug: str | None = None
    cwd: str | None = None
    """None for Cursor: ChatCrystal looks it up in another database."""
    git_branch: str | None = None


@attrs.frozen
class LeftOut:
    """One thing that is in the result and not in the projection, or not as it is."""

    code: str
    """Why: one of ``CODES``."""
    what: str
    """The type of the block, the kind of the event, or the name of the field."""
    key: str
    """Of the entry; the id of the conversation for what that says of itself."""
    block: int | None = None
    """The index of the block in its message; None for a whole entry or a field."""
    characters: int = 0
    """Of text."""
    origin: Origin | None = None


@attrs.frozen
class Projection:
    """What ChatCrystal would give for the same bytes, and what it would leave out."""

    conversations: tuple[ReferenceConversation, ...] = attrs.field(default=(), repr=many)
    left_out: tuple[LeftOut, ...] = attrs.field(default=(), repr=many)

    @property
    def messages(self) -> tuple[ReferenceMessage, ...]:
        """The messages of all conversations."""
        return tuple(message for conversation in self.conversations for message in conversation.messages)

    @property
    def dropped(self) -> tuple[Drop, ...]:
        """``left_out`` as drops: one for all of a file that have the same reason and are the same kind of thing."""
        folds: dict[tuple[str, str, str], list[Origin]] = {}
        for item in self.left_out:
            origin = item.origin or Origin("")
            folds.setdefault((origin.path, item.code, item.what), []).append(origin)
        return tuple(_drop(code, what, origins) for (_, code, what), origins in folds.items())


def _drop(code: str, what: str, origins: list[Origin]) -> Drop:
    lines = sorted({origin.line for origin in origins if origin.line is not None})
    told = CODES[code]
    return Drop(code, told.fate, origins[0], what, count=len(origins), lines=tuple(lines), message=told.summary)
