"""The blocks of a message, and JSON that is not modelled.

Immutable, hashable, picklable. Text stands verbatim. Nothing here knows a product.
"""

from typing import Any, TypeAlias

import attrs

from convparse._json import decode, encode

SHOWN = 80
"""How many characters of a text a repr shows."""


def short(value: object) -> str:
    """A repr that cannot fill a page."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


def many(value: tuple[object, ...]) -> str:
    """A repr of how many there are."""
    return f"<{len(value)}>"


def _utf8(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@attrs.frozen(repr=False)
class Json:
    """JSON that is not modelled, held as its compact text: ``Json('{"a":1}')``."""

    utf8: bytes = attrs.field(converter=_utf8)
    """The text as bytes."""

    @classmethod
    def of(cls, value: object) -> "Json":
        """The JSON text of a plain value."""
        return cls(encode(value))

    @property
    def text(self) -> str:
        """The compact text."""
        return self.utf8.decode()

    @property
    def value(self) -> Any:
        """The value, decoded afresh at every call, so that nobody's change reaches anybody else."""
        return decode(self.utf8)

    def __repr__(self) -> str:
        return f"Json({short(self.text)})"


@attrs.frozen
class Text:
    """What somebody wrote: the message's ``author``."""

    text: str = attrs.field(repr=short)


@attrs.frozen
class Injected:
    """Text that the harness put into a message: reminders, IDE context, command echoes. Tags and all, verbatim."""

    kind: str
    """The tag's name, or what the product calls it."""
    text: str = attrs.field(repr=short)


@attrs.frozen
class Answer:
    """A person's reply to a question asked inside a model's turn."""

    question: str = attrs.field(repr=short)
    text: str = attrs.field(repr=short)


@attrs.frozen
class Thinking:
    """The model's reasoning."""

    text: str = attrs.field(repr=short)
    signature: str | None = attrs.field(default=None, repr=short)
    hidden: bool = False
    """True when reasoning took place but its text was not recorded (empty, redacted or encrypted)."""


@attrs.frozen
class ToolCall:
    """A tool that the model asked for."""

    id: str | None
    name: str
    kind: str
    """In the Agent Client Protocol's words: read, edit, delete, move, search, execute, think, fetch, other."""
    input: Json | str = attrs.field(repr=short)
    """The arguments: JSON, or text for tools that take free text."""


@attrs.frozen
class Image:
    """A picture: its bytes as base64 text, or the place it was said to be at."""

    media_type: str | None = None
    data: str | None = attrs.field(default=None, repr=short)
    uri: str | None = attrs.field(default=None, repr=short)


@attrs.frozen
class Attachment:
    """A file or document that came with a message or a result."""

    kind: str
    name: str | None = None
    media_type: str | None = None
    text: str | None = attrs.field(default=None, repr=short)
    data: str | None = attrs.field(default=None, repr=short)
    """Base64 where it is not text."""
    uri: str | None = attrs.field(default=None, repr=short)


@attrs.frozen
class Reference:
    """A file or symbol named inside a sentence; ``text`` is what was shown in its place."""

    text: str = attrs.field(repr=short)
    uri: str | None = attrs.field(default=None, repr=short)
    kind: str = "file"


@attrs.frozen
class Edit:
    """A change of a file, as far as the product recorded it."""

    path: str
    kind: str
    """create, update, delete or move."""
    new_path: str | None = None
    diff: str | None = attrs.field(default=None, repr=short)
    """Unified hunks without file headers."""
    before: str | None = attrs.field(default=None, repr=short)
    """The whole file before, or None."""
    after: str | None = attrs.field(default=None, repr=short)
    """The whole file after, or None."""
    call_id: str | None = None


@attrs.frozen
class Unknown:
    """Something held as JSON: what this version does not know, which is named in ``dropped``, or knows and does not model."""

    kind: str
    json: Json


Part: TypeAlias = Text | Image | Attachment | Reference | Unknown
"""What a tool's result may consist of."""


@attrs.frozen
class ToolResult:
    """What came of a tool call. ``content`` is what the model saw; ``full`` is the product's richer twin of it."""

    call_id: str | None
    content: tuple[Part, ...] = attrs.field(default=(), repr=short)
    is_error: bool | None = None
    exit_code: int | None = None
    duration: float | None = None
    """Seconds."""
    status: str | None = None
    """The product's own word for what happened."""
    truncated: bool = False
    """True when the model saw only a part of the output."""
    full: Json | None = attrs.field(default=None, repr=short)

    @property
    def text(self) -> str:
        """The text parts of ``content``, joined by newlines."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Block: TypeAlias = Text | Injected | Answer | Thinking | ToolCall | ToolResult | Image | Attachment | Reference | Edit | Unknown
