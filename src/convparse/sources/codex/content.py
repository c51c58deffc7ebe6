"""Content blocks of messages and of tool outputs, to blocks.

What comes in: the value under ``content`` or ``output``, the place of its line and where in it the value stands. What goes out:
blocks, in their order; what a block holds beyond its own fields goes to ``extra`` under its exact pointer; a block that is not
known becomes ``Unknown`` and is named. Nothing is raised for any JSON.
"""

import re
from typing import Any, Final, TypeAlias

import attrs

from convparse.blocks import Attachment, Block, Image, Part, Reference, Text, Unknown
from convparse.ledger import Place
from convparse.sources._reading import Extra, json_of, keep, make_text, odd
from convparse.sources.codex.fields import BLOCK, BLOCKS
from convparse.sources.codex.state import State

_DATA: Final = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
_INDEX: Final = re.compile(r"/\d+(?=/)")
_TEXTS: Final = frozenset({"input_text", "output_text", "text", "Text"})
Where: TypeAlias = tuple[str, str]
"""A record's name, and the exact pointer of the value."""


def read_content(state: State, content: Any, where: Where, place: Place, extra: Extra) -> tuple[Block, ...]:
    """The blocks of a message."""
    if type(content) is list:
        if len(content) == 1:
            return (read_block(state, content[0], (where[0], f"{where[1]}/0"), place, extra),)
        return tuple([read_block(state, item, (where[0], f"{where[1]}/{i}"), place, extra) for i, item in enumerate(content)])
    if type(content) is str:
        return (make_text(content),)
    if content is not None:
        odd(state.ledger, extra, place, where[0], where[1], content, _INDEX.sub("/*", where[1]))
    return ()


def read_output(state: State, output: Any, where: Where, place: Place, extra: Extra) -> tuple[Part, ...]:
    """What a tool gave: a string, a list of blocks, or any other JSON, held as it is."""
    if type(output) is str:
        return (make_text(output),)
    if type(output) is list:
        blocks = [read_block(state, item, (where[0], f"{where[1]}/{i}"), place, extra) for i, item in enumerate(output)]
        return tuple([block for block in blocks if isinstance(block, Part)])
    if type(output) is dict and type(output.get("type")) is str and output["type"] in BLOCKS:
        block = read_block(state, output, where, place, extra)
        assert isinstance(block, Part)
        return (block,)
    return () if output is None else (Unknown("output", json_of(output)),)


def read_block(
    state: State, value: Any, where: Where, place: Place, extra: Extra
) -> Text | Image | Attachment | Reference | Unknown:
    """One content block."""
    kind = value.get("type") if type(value) is dict else None
    if type(kind) is not str or kind not in BLOCKS:
        return _unknown(state, value, where, place)
    block = _known(value, kind)
    if block is None:
        state.ledger.part("unexpected-type", place, _pattern(where[1]), record=kind, pointer=where[1])
        return Unknown(kind, json_of(value))
    if not BLOCKS[kind].issuperset(value):
        pattern = _pattern(where[1])
        look = state.blocks.get((pattern, kind))
        if look is None:
            fields = attrs.evolve(BLOCK[kind], at=pattern)
            look = state.blocks[pattern, kind] = state.ledger.judge(fields)
        keep(extra, look(value, place), value, where[1])
    return block


def _pattern(pointer: str) -> str:
    return _INDEX.sub("/*", f"{pointer}/")[:-1]


def _known(value: dict[str, Any], kind: str) -> Text | Image | Unknown | None:
    if kind in _TEXTS:
        text = value.get("text")
        return make_text(text) if type(text) is str else None
    if kind == "input_image":
        url = value.get("image_url")
        return image_of(url) if url is None or type(url) is str else None
    return Unknown(kind, json_of(value))


def image_of(url: str | None) -> Image:
    """A picture inside a ``data:`` URL, or at any other."""
    found = _DATA.fullmatch(url) if url is not None else None
    return Image(None, None, url) if found is None else Image(found[1] or None, found[2], None)


def _unknown(state: State, value: Any, where: Where, place: Place) -> Unknown:
    kind = value.get("type") if type(value) is dict else None
    name = kind if type(kind) is str else type(value).__name__
    state.ledger.part("unknown-block", place, _pattern(where[1]), record=f"{where[0]}/{name}", pointer=where[1])
    return Unknown(name, json_of(value))
