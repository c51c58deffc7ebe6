"""Read what AI coding assistants leave on disk, with an account of everything that was not carried over."""

from convparse._detect import Detection, detect
from convparse._parse import iter_conversations, parse, parse_bytes
from convparse.blocks import (
    Answer,
    Attachment,
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
from convparse.drops import CODES, Account, Bin, Code, Drop
from convparse.errors import ContentDropped, ConvparseError, SourceChanged, UnknownSource
from convparse.limits import Limits
from convparse.records import Context, Conversation, Event, Link, Message, Origin, Usage
from convparse.result import ParseResult, Snapshot
from convparse.sources import SOURCES
from convparse.sources._source import Source
from convparse.views import Response, ToolUse, Turn

__all__ = [
    "CODES",
    "SOURCES",
    "Account",
    "Answer",
    "Attachment",
    "Bin",
    "Code",
    "ContentDropped",
    "Context",
    "Conversation",
    "ConvparseError",
    "Detection",
    "Drop",
    "Edit",
    "Event",
    "Image",
    "Injected",
    "Json",
    "Limits",
    "Link",
    "Message",
    "Origin",
    "ParseResult",
    "Reference",
    "Response",
    "Snapshot",
    "Source",
    "SourceChanged",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "ToolUse",
    "Turn",
    "Unknown",
    "UnknownSource",
    "Usage",
    "detect",
    "iter_conversations",
    "parse",
    "parse_bytes",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("convparse")
    raise AttributeError(f"module 'convparse' has no attribute {name!r}")
