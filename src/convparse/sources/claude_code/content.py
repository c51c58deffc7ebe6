"""Content blocks of ``user`` and ``assistant`` rows, to blocks.

What comes in: the list under ``message.content`` and the place of its row. What goes out: blocks, in their order; what a block
holds beyond its own fields goes to ``extra`` under its exact pointer; a block that is not known becomes ``Unknown`` and is
named. Nothing is raised for any JSON.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final

import attrs

from convparse.blocks import Attachment, Block, Image, Part, Text, ToolResult, Unknown
from convparse.ledger import Fields, Place
from convparse.sources._reading import STRING, Extra, json_of, keep, make_call, make_result, make_text, make_thinking
from convparse.sources.claude_code.fields import BLOCKS, SOURCE
from convparse.sources.claude_code.state import State

KINDS: Final[Mapping[str, str]] = {
    "Agent": "other",
    "AskUserQuestion": "other",
    "Bash": "execute",
    "BashOutput": "execute",
    "Edit": "edit",
    "EnterPlanMode": "think",
    "ExitPlanMode": "think",
    "Glob": "search",
    "Grep": "search",
    "KillBash": "execute",
    "KillShell": "execute",
    "LS": "search",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "NotebookRead": "read",
    "PowerShell": "execute",
    "Read": "read",
    "Task": "other",
    "TaskOutput": "read",
    "TodoRead": "think",
    "TodoWrite": "think",
    "ToolSearch": "search",
    "WebFetch": "fetch",
    "WebSearch": "search",
    "Write": "edit",
    "exit_plan_mode": "think",
    "web_fetch": "fetch",
    "web_search": "search",
}
"""Tools by what they do, in the Agent Client Protocol's words; all others are ``other``."""


HELD: Final = frozenset(
    "fallback tool_reference web_search_result web_search_tool_result_error web_fetch_result advisor_result"
    " advisor_redacted_result search_result".split()
)
"""Blocks that are known and held as JSON: notes of the API that no person reads as such."""


def pattern(at: str) -> str:
    """A pointer to a block with its indices as ``*``; there are no other numbers in it."""
    return _INDEX.sub("/*", at)


_INDEX: Final = re.compile(r"/\d+")


@cache
def _fields_at(fields: Fields, at: str) -> Fields:
    """What is known of a kind of block, for the places where it may stand; there are three."""
    return fields if fields.at == at else attrs.evolve(fields, at=at)


@lru_cache(1024)
def _block_fields(kind: str, at: str) -> Fields:
    return _fields_at(BLOCKS[kind], pattern(at))


def unknown_block(state: State, value: Any, record: str, place: Place, at: str) -> Unknown:
    """A block as it is; named, unless it is known to be held like that."""
    kind = value.get("type") if type(value) is dict else None
    name = kind if type(kind) is str else type(value).__name__
    if name not in HELD:
        state.ledger.part("unknown-block", place, pattern(at), record=f"{record}/{name}", pointer=at)
    return Unknown(name, json_of(value))


def _text(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> Block | None:
    text = block.get("text")
    return make_text(text) if type(text) is str else None


def _thinking(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> Block | None:
    text, signature = block.get("thinking"), block.get("signature")
    if type(text) is not str or signature.__class__ not in STRING:
        return None
    if not text and signature is not None and _narrates(signature):
        state.ledger.part("hidden-narration", place, pattern(at), record="thinking", pointer=at)
    return make_thinking(text, signature, not text)


def _narrates(signature: str) -> bool:
    """True if the signature says that the hidden text was shown while working (2.1.170)."""
    first, second, third = _NARRATION
    return first in signature or second in signature or third in signature


_NARRATION: Final = ("bmFycmF0aW9u", "5hcnJhdGlvb", "uYXJyYXRpb2")
"""What ``narration`` looks like inside base64, at each of its three alignments."""


def _redacted(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> Block | None:
    data = block.get("data")
    return make_thinking("", data, True) if type(data) is str else None


def _tool_use(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> Block | None:
    id, name, given = block.get("id"), block.get("name"), block.get("input")
    if id.__class__ not in STRING or type(name) is not str or "input" not in block:
        return None
    arguments = given if type(given) is str else json_of(given)
    return make_call(id, name, KINDS.get(name, "other"), arguments)


def _tool_result(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> Block | None:
    return read_result(state, block, place, at, extra, None, None)


def read_result(
    state: State, block: dict[str, Any], place: Place, at: str, extra: Extra, twin: Any, denial: str | None
) -> ToolResult | None:
    """A tool's result, with what ``toolUseResult``, the product's richer twin, says of it; None if it is of another make."""
    call_id, is_error, content = block.get("tool_use_id"), block.get("is_error"), block.get("content")
    if call_id.__class__ not in STRING or (is_error is not None and type(is_error) is not bool):
        return None
    text = ""
    inside: tuple[Part, ...] = ()
    if type(content) is str:
        text = content
        inside = (make_text(content),)
    elif content is not None:
        inside = _inside(state, content, place, f"{at}/content", extra)
        text = inside[0].text if inside and type(inside[0]) is Text else ""
    status, duration = (denial, None) if type(twin) is not dict else _outcome(twin, denial)
    return make_result(
        call_id,
        inside,
        is_error,
        _exit_code(text) if is_error else None,
        duration,
        status,
        text.startswith("<persisted-output>"),
        None if twin is None else json_of(twin),
    )


def _outcome(twin: dict[str, Any], denial: str | None) -> tuple[str | None, float | None]:
    """Status word and seconds."""
    status = denial
    if status is None:
        word = twin.get("status")
        status = word if type(word) is str else "interrupted" if twin.get("interrupted") is True else None
    took = twin.get("durationMs")
    if took is None:
        took = twin.get("totalDurationMs")
    return status, took / 1000 if type(took) is int else None


def _exit_code(text: str) -> int | None:
    """The code that Bash writes before the output of a failed command: ``Exit code 1``."""
    head = text.removeprefix("Error: ")[:24]
    if not head.startswith("Exit code "):
        return None
    digits = head[10:].split("\n", 1)[0]
    return int(digits) if digits.isascii() and digits.isdigit() else None


def _inside(state: State, content: Any, place: Place, at: str, extra: Extra) -> tuple[Part, ...]:
    if type(content) is not list:
        return (_part(state, content, place, at, extra),)
    return tuple([_part(state, item, place, f"{at}/{i}", extra) for i, item in enumerate(content)])


def _part(state: State, value: Any, place: Place, at: str, extra: Extra) -> Part:
    """A block inside a tool's result."""
    if type(value) is dict:
        kind = value.get("type")
        if kind == "text" or kind == "image" or kind == "document":
            block = read_block(state, value, "tool_result", place, at, extra)
            assert isinstance(block, Text | Image | Attachment | Unknown)
            return block
    return unknown_block(state, value, "tool_result", place, at)


def _media(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> tuple[Any, ...] | None:
    source = block.get("source")
    if type(source) is not dict:
        return None
    keep(extra, state.look(_fields_at(SOURCE, f"{pattern(at)}/source"))(source, place, f"{at}/source"), source, f"{at}/source")
    media_type, data, url, text = (source.get(key) for key in ("media_type", "data", "url", "text"))
    kind = source.get("type")
    if not {type(media_type), type(data), type(url), type(text)} <= STRING or kind not in ("base64", "url", "text", "file"):
        return None
    if (kind == "base64") is not (data is not None and kind != "text"):
        return None
    return media_type, data, url, text, kind


def _image(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> Block | None:
    media = _media(state, block, place, at, extra)
    if media is None or media[3] is not None or media[4] not in ("base64", "url"):
        return None
    return Image(media[0], media[1], media[2])


def _document(state: State, block: dict[str, Any], place: Place, at: str, extra: Extra) -> Block | None:
    media, title = _media(state, block, place, at, extra), block.get("title")
    if media is None or title.__class__ not in STRING or (media[3] is not None and media[1] is not None):
        return None
    media_type, data, url, text, kind = media
    if kind == "text" and text is None:
        return Attachment("document", title, media_type, data, None, url)
    return Attachment("document", title, media_type, text, data, url) if kind != "file" else None


Reader = Callable[[State, dict[str, Any], Place, str, Extra], Block | None]
READERS: Final[Mapping[str, Reader]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "mcp_tool_use": _tool_use,
    "tool_result": _tool_result,
    "web_search_tool_result": _tool_result,
    "web_fetch_tool_result": _tool_result,
    "advisor_tool_result": _tool_result,
    "mcp_tool_result": _tool_result,
    "image": _image,
    "document": _document,
}


PLAIN: Final = {
    kind: fields.typed for kind, fields in BLOCKS.items() if kind in ("text", "thinking", "tool_use", "tool_result")
}
"""The keys of the usual blocks: in one that has no others there is nothing to judge."""
USUAL: Final = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"})
"""Blocks whose type their record tells."""


def read_block(state: State, value: Any, record: str, place: Place, at: str, extra: Extra) -> Block:
    """One content block; ``record`` is the type of what holds it."""
    if type(value) is not dict:
        return unknown_block(state, value, record, place, at)
    kind = value.get("type")
    if kind == "text" and len(value) == 2 and type(text := value.get("text")) is str:
        return make_text(text)
    if type(kind) is not str or kind not in READERS:
        return unknown_block(state, value, record, place, at)
    block = READERS[kind](state, value, place, at, extra)
    if block is None:
        state.ledger.part("unexpected-type", place, pattern(at), record=kind, pointer=at)
        return Unknown(kind, json_of(value))
    if kind not in PLAIN or not PLAIN[kind].issuperset(value):
        judge_block(state, value, kind, place, at, extra)
    return block


def judge_block(state: State, value: dict[str, Any], kind: str, place: Place, at: str, extra: Extra) -> None:
    """Keep and name what a block holds beyond its own fields."""
    keep(extra, state.look(_block_fields(kind, at))(value, place, at), value, at)
    if kind not in USUAL:
        extra[f"{at}/type"] = kind
