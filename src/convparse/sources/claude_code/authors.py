"""Who wrote the text of a user row.

The product's own marks come first (``origin``, ``rowSource``, ``isMeta``, ``promptSource``), tags in the text last. Whatever
marks a row has stay in ``extra``.
"""

from typing import Any, Final

from convparse.blocks import Attachment, Block, Image, Injected, Text, ToolResult
from convparse.records import Author
from convparse.sources.claude_code import tags

_OWN: Final = ("isMeta", "ownNote", "turnCompanion")
_SAID: Final = frozenset({Text, Image, Attachment})
_TYPED: Final = frozenset({"typed", "queued", "suggestion_accepted"})


def who(row: dict[str, Any], blocks: tuple[Block, ...], marked: bool, task: bool) -> tuple[Author | None, tuple[Block, ...]]:
    """The author, and the blocks with injected text told apart.

    ``marked``: the row has one of ``MARKS``. ``task``: it belongs to a sub-agent.
    """
    if not marked and len(blocks) == 1 and type(blocks[0]) is ToolResult:
        return "tool", blocks
    has_result = any(type(block) is ToolResult for block in blocks)
    origin, source = row.get("origin"), row.get("promptSource")
    kind = origin.get("kind") if type(origin) is dict else None
    own = any(row.get(name) is True for name in _OWN) or row.get("rowSource") in ("harness", "hook") or source == "system"
    if own or kind not in (None, "human"):
        name = kind if type(kind) is str and kind != "human" else "meta"
        told = tuple(tags.injected(block.text, name) if type(block) is Text else block for block in blocks)
        return "tool" if has_result else "model" if kind in ("peer", "coordinator") else "harness", told
    told = split_blocks(blocks, typed=kind == "human" or (type(source) is str and source in _TYPED))
    if has_result:
        return "tool", told
    if not any(type(block) in _SAID for block in told):
        return "harness" if any(type(block) is Injected for block in told) else None, told
    return "model" if task else "human", told


def split_blocks(blocks: tuple[Block, ...], *, typed: bool) -> tuple[Block, ...]:
    """The blocks with known tags split off their texts; what is known to be typed has something left that was."""
    pieces: list[Block] = []
    for block in blocks:
        pieces.extend(tags.split(block.text, typed=typed) if type(block) is Text else (block,))
    if typed and not any(type(piece) in _SAID for piece in pieces):
        return blocks
    return tuple(pieces)
