"""Markdown for people: everything that a result holds, whole and verbatim, with tools, reasoning and bookkeeping folded.

What comes in: a result. What goes out: one text. A conversation is a heading of the first level, a message one of the second;
what anybody wrote stands in fences longer than any run of backticks in it, and what is folded in ``<details>``.

Never done here: nothing is left out, cut or formatted anew, and no text of a record is ever read as Markdown or HTML: what is
shown in a heading or a summary is escaped, and the text itself stands in a fence. Pictures are shown if they are data of a kind
that cannot hold a script; addresses never become links.
"""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

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
from convparse.export._account import Book, Export, Given, finish, talks
from convparse.export._family import family, lineage
from convparse.records import Message
from convparse.result import ParseResult

SHOWN: Final = 80
"""How many characters of a title or name a heading or summary shows."""
PICTURES: Final = frozenset(f"image/{kind}" for kind in ("gif", "jpeg", "png", "webp"))
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_PLAIN_KEY: Final = re.compile(r"\w{1,40}", re.ASCII)


def export(result: ParseResult) -> Export[str]:
    """The result as one text, sub-agents behind the conversation that started them, loose entries last.

    Raises ``ConvparseError`` for anything but a ``ParseResult``.
    """
    book = Book()
    given = talks(result, book)
    roots, children = family(given)
    words = dict.fromkeys(roots, "Conversation")
    chunks = [chunk for talk in lineage(roots, children) for chunk in _talk(talk, words.get(talk, "Sub-agent"))]
    return finish("\n\n".join(chunks) + "\n", given, book)


# ---- Markdown --------------------------------------------------------------------------------------------------------------


def _fence(text: str, language: str = "text") -> str:
    """The text as it is, in a fence that nothing in it can close."""
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text}\n{ticks}"


def _json(value: object, indent: int | None = None) -> str:
    return _fence(json.dumps(value, ensure_ascii=False, indent=indent), "json")


def _shown(text: str) -> str:
    """The beginning of a text on one line, without what does not print."""
    line = "".join(c if c.isprintable() else " " for c in text[: 4 * SHOWN])
    line = " ".join(line.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def _escaped(text: str) -> str:
    """What a heading shows of a text, in which no character means anything."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", _shown(text))


def _folded(summary: str, name: str | None, chunks: list[str]) -> Iterator[str]:
    """Chunks that are shown on demand."""
    if chunks:
        yield f"<details>\n<summary>{summary}{'' if name is None else ': ' + html.escape(_shown(name))}</summary>"
        yield from chunks
        yield "</details>"


# ---- entries ---------------------------------------------------------------------------------------------------------------


def _talk(talk: Given, word: str) -> Iterator[str]:
    entries = talk.entries()
    yield f"# {_escaped(talk.record.title or '') or word}"
    yield from _folded(word, talk.record.id, _record(talk))
    for entry in entries:
        yield from _message(entry) if type(entry.record) is Message else _event(entry)


def _record(given: Given) -> list[str]:
    """What is left of a record."""
    rest = given.rest()
    return [_json(rest)] if rest else []


def _message(message: Given) -> Iterator[str]:
    record = message.record
    time = None if record.timestamp is None else message.take("timestamp").isoformat()
    who = _escaped(record.role) if record.author is None else message.take("author")
    state = None if record.state == "active" else message.take("state")
    about = (who, time, "copied" if message.take("inherited") else None, state)
    yield "## " + " · ".join(part for part in about if part)
    for block in message.each("blocks"):
        yield from _BLOCKS[type(block.record)](block)
    yield from _folded("Record", None, _record(message))


def _event(event: Given) -> Iterator[str]:
    text = [] if event.record.text is None else [_fence(event.take("text"))]
    yield from _folded("Event", event.record.kind, [*text, *_record(event)])


# ---- blocks ----------------------------------------------------------------------------------------------------------------


def _text(block: Given) -> Iterator[str]:
    yield _fence(block.take("text"), "markdown")


def _injected(block: Given) -> Iterator[str]:
    yield from _folded("Injected", block.record.kind, [_fence(block.take("text")), *_record(block)])


def _answer(block: Given) -> Iterator[str]:
    yield from ("**Question**", _fence(block.take("question"), "markdown"))
    yield from ("**Answer**", _fence(block.take("text"), "markdown"))


def _thinking(block: Given) -> Iterator[str]:
    text = block.take("text")
    yield from _folded("Thinking", None, [*([_fence(text, "markdown")] if text else []), *_record(block)])


def _tool_call(block: Given) -> Iterator[str]:
    given = block.take("input")
    said = [_fence(given)] if isinstance(given, str) else _arguments(given)
    yield from _folded("Tool call", block.record.name, [*said, *_record(block)])


def _arguments(given: Json) -> list[str]:
    """Arguments as JSON; those of several lines each in a fence of its own."""
    value = given.value
    apart = {k: v for k, v in value.items() if _stands_apart(k, v)} if isinstance(value, dict) else {}
    rest = {k: v for k, v in value.items() if k not in apart} if apart else value
    chunks = [_json(rest, 2)] if rest or not apart else []
    for key, text in apart.items():
        chunks += [f"`{key}`", _fence(text)]
    return chunks


def _stands_apart(key: str, value: Any) -> bool:
    return isinstance(value, str) and "\n" in value and _PLAIN_KEY.fullmatch(key) is not None


def _tool_result(block: Given) -> Iterator[str]:
    chunks = [chunk for part in block.each("content") for chunk in _PARTS[type(part.record)](part)]
    yield from _folded("Tool result", block.record.status, [*chunks, *_record(block)])


def _output(part: Given) -> Iterator[str]:
    yield _fence(part.take("text"))


def _image(block: Given) -> Iterator[str]:
    record = block.record
    if record.media_type in PICTURES and record.data is not None and _BASE64.fullmatch(record.data):
        data, media_type = block.take("data"), block.take("media_type")
        yield from _folded("Image", None, [f"![image](data:{media_type};base64,{data})"])
    yield from _folded("Image", record.uri, _record(block))


def _attachment(block: Given) -> Iterator[str]:
    text = [] if block.record.text is None else [_fence(block.take("text"))]
    yield from _folded("Attachment", block.record.name, [*text, *_record(block)])


def _reference(block: Given) -> Iterator[str]:
    yield _fence(block.take("text"))
    yield from _folded("Reference", block.record.uri, _record(block))


_SIDES: Final = {"diff": "diff", "before": "text", "after": "text"}


def _edit(block: Given) -> Iterator[str]:
    chunks = []
    for side, language in _SIDES.items():
        if getattr(block.record, side) is not None:
            chunks += [f"**{side}**", _fence(block.take(side), language)]
    yield from _folded("Edit", block.record.path, [*chunks, *_record(block)])


def _unknown(block: Given) -> Iterator[str]:
    yield from _folded("Unknown", block.record.kind, [_json(block.take("json").value, 2), *_record(block)])


_Write = Callable[[Given], Iterator[str]]
_PARTS: Final[Mapping[type, _Write]] = {
    Text: _output,
    Image: _image,
    Attachment: _attachment,
    Reference: _reference,
    Unknown: _unknown,
}
_BLOCKS: Final[Mapping[type, _Write]] = {
    **_PARTS,
    Text: _text,
    Injected: _injected,
    Answer: _answer,
    Thinking: _thinking,
    ToolCall: _tool_call,
    ToolResult: _tool_result,
    Edit: _edit,
}
