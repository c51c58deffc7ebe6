"""Read what AI coding assistants leave on disk, with an account of everything that was not carried over."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convparse._detect import Detection, detect
    from convparse._discover import Found, discover
    from convparse._many import Done, parse_many
    from convparse._parse import iter_conversations, parse, parse_bytes
    from convparse._strings import Place, map_strings, strings
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
    from convparse.drops import CODES, Account, Bin, Code, Drop, Drops
    from convparse.errors import ContentDropped, ConvparseError, SourceChanged, UnknownSource
    from convparse.jsonform import from_json, schema, to_json
    from convparse.limits import Limits
    from convparse.records import Context, Conversation, Event, Link, Message, Origin, Usage
    from convparse.result import ParseResult, Snapshot
    from convparse.rows import iter_rows
    from convparse.sources import SOURCES
    from convparse.sources._source import Source
    from convparse.tables import TABLES
    from convparse.views import Response, ToolUse, Turn

__all__ = [
    "CODES",
    "SOURCES",
    "TABLES",
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
    "Done",
    "Drop",
    "Drops",
    "Edit",
    "Event",
    "Found",
    "Image",
    "Injected",
    "Json",
    "Limits",
    "Link",
    "Message",
    "Origin",
    "ParseResult",
    "Place",
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
    "discover",
    "from_json",
    "iter_conversations",
    "iter_rows",
    "map_strings",
    "parse",
    "parse_bytes",
    "parse_many",
    "schema",
    "strings",
    "to_json",
]

_MODULES = {
    "_detect": "Detection detect",
    "_discover": "Found discover",
    "_many": "Done parse_many",
    "_parse": "iter_conversations parse parse_bytes",
    "_strings": "Place map_strings strings",
    "blocks": "Answer Attachment Edit Image Injected Json Reference Text Thinking ToolCall ToolResult Unknown",
    "drops": "CODES Account Bin Code Drop Drops",
    "errors": "ContentDropped ConvparseError SourceChanged UnknownSource",
    "jsonform": "from_json schema to_json",
    "limits": "Limits",
    "records": "Context Conversation Event Link Message Origin Usage",
    "result": "ParseResult Snapshot",
    "rows": "iter_rows",
    "sources": "SOURCES",
    "sources._source": "Source",
    "tables": "TABLES",
    "views": "Response ToolUse Turn",
}
"""What is loaded for which names, when one of them is first asked for: to import the package costs next to nothing."""
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = globals()[name] = getattr(import_module(f"convparse.{_LATER[name]}"), name)
        return value
    if name == "__version__":
        from importlib.metadata import version

        return version("convparse")
    raise AttributeError(f"module 'convparse' has no attribute {name!r}")
