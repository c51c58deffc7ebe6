"""Event messages and completed items that tell of what was said, thought or done: the twins of Responses API items.

What comes in: the payload of an ``event_msg`` line and its spot. What goes out: a draft that can stand alone, should its twin
be missing, and knows by what its twin is found. A draft of talk ``end`` gets its blocks from ``calls`` in ``resolve``.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from convparse.blocks import Block, Image, Text, Unknown
from convparse.ledger import escape
from convparse.records import Author
from convparse.sources._reading import STRING, json_of, keep
from convparse.sources.codex.calls import outcome_of
from convparse.sources.codex.content import image_of
from convparse.sources.codex.fields import COMPLETED, ENDS, ITEM_COMPLETED, SAID
from convparse.sources.codex.items import Row, Spot, message, said_text, thinking
from convparse.sources.codex.state import EVENT, ITEM, Draft, State


def read_said(payload: Row, kind: str, spot: Spot, state: State) -> Draft | None:
    """A user's, the model's or the thinking's text as an event; None if it is of an unexpected make."""
    text = payload.get("text" if kind.startswith("agent_reasoning") else "message")
    if type(text) is not str:
        return None
    fields = SAID[kind]
    if not fields.plain.issuperset(payload):
        keep(spot.extra, state.look(fields)(payload, spot.place), payload, "/payload")
    state.said.add(text)
    if kind == "user_message":
        blocks = (*said_text(text), *_pictures(payload, spot))
        return message(state, spot, kind, None, "user", "human", blocks, state.turn, EVENT, "user", (text,))
    if kind == "agent_message":
        return message(state, spot, kind, None, "assistant", "model", said_text(text), state.turn, EVENT, "assistant", (text,))
    blocks = thinking((text,), None)
    return message(state, spot, kind, None, "assistant", "model", blocks, state.turn, EVENT, "reasoning", (text,))


def _pictures(payload: Row, spot: Spot) -> list[Block]:
    """The pictures that came with a prompt; the lists stay in ``extra``, since a twin's blocks may take their place."""
    urls = payload.get("images")
    paths = payload.get("local_images")
    found: list[Block] = [image_of(url) for url in urls if type(url) is str] if type(urls) is list else []
    if type(paths) is list:
        found.extend(Image(None, None, path) for path in paths if type(path) is str)
    return found


def read_end(payload: Row, kind: str, spot: Spot, state: State) -> Draft | None:
    """What an event tells of a call."""
    call_id = payload.get("call_id", payload.get("callId"))
    if call_id.__class__ not in STRING:
        return None
    state.check(ENDS[kind], payload, spot.place)
    turn = payload.get("turn_id", payload.get("turnId"))
    about = (turn if type(turn) is str else state.turn, EVENT, "end", _searched(payload, kind), call_id)
    draft = message(state, spot, kind, None, "assistant", "model", (), *about)
    draft.facts = outcome_of(payload, json_of(payload))
    return draft


def _searched(told: Row, kind: str) -> tuple[str, ...]:
    """What was searched on the web, by which the call is known."""
    return (json_of(told.get("action")).text,) if kind in ("web_search_end", "WebSearch") else ()


def read_completed(payload: Row, kind: str, spot: Spot, state: State) -> Draft | None:
    """A completed item of a known type (since 0.148); None if it is of an unexpected make."""
    item, turn, thread = payload["item"], payload.get("turn_id"), payload.get("thread_id")
    id = item.get("id")
    if id.__class__ not in STRING or turn.__class__ not in STRING:
        return None
    reader = READERS.get(kind)
    draft: Draft | None
    if reader is None:
        state.check(ITEM_COMPLETED, payload, spot.place)
        state.check(COMPLETED[kind], item, spot.place)
        about = (turn or state.turn, ITEM, "end", _searched(item, kind), id)
        draft = message(state, spot, kind, id, "assistant", "model", (), *about)
        draft.facts = outcome_of(item, json_of(payload))
    else:
        fields = COMPLETED[kind]
        shape = state.look(ITEM_COMPLETED)(payload, spot.place)
        inner = None if fields.plain.issuperset(item) else state.look(fields)(item, spot.place)
        draft = reader(item, spot, state, turn or state.turn)
        if draft is None:
            return None
        keep(spot.extra, shape, payload, "/payload")
        if inner is not None:
            keep(spot.extra, inner, item, "/payload/item")
        if thread == state.thread:
            spot.extra.pop("/payload/thread_id", None)
    draft.thread = thread if type(thread) is str else None
    return draft


def _user(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    return _said(item, spot, state, ("UserMessage", item.get("id"), "user", "human"), turn)


def _agent(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    return _said(item, spot, state, ("AgentMessage", item.get("id"), "assistant", "model"), turn)


Head: TypeAlias = tuple[str, Any, str, Author]
"""A message's name, id, role and author."""


def _said(item: Row, spot: Spot, state: State, head: Head, turn: str | None) -> Draft | None:
    blocks, rest = _content(item, spot, state)
    if blocks is None:
        return None
    text = "".join([block.text for block in blocks if type(block) is Text])
    state.said.add(text)
    draft = message(state, spot, *head, blocks, turn, ITEM, head[2], (text,))
    if rest:
        draft.facts = {"rest": rest}
    return draft


_CONTENT: Final = {"text": "text", "Text": "text", "image": "image_url", "local_image": "path"}


def _content(item: Row, spot: Spot, state: State) -> tuple[tuple[Block, ...] | None, Row]:
    """The blocks of an item's content, and what of it no twin repeats."""
    content = item.get("content")
    if type(content) is not list:
        return None, {}
    blocks: list[Block] = []
    rest: Row = {}
    for i, part in enumerate(content):
        at = f"/payload/item/content/{i}"
        kind = part.get("type") if type(part) is dict else None
        text = part.get(_CONTENT[kind]) if type(kind) is str and kind in _CONTENT else None
        if type(text) is not str:
            name = kind if type(kind) is str else type(part).__name__
            if name not in ("skill", "mention", "audio", "local_audio", "image"):
                record = f"item_completed/{item['type']}/{name}"
                state.ledger.part("unknown-block", spot.place, "/payload/item/content/*", record=record, pointer=at)
            blocks.append(Unknown(name, json_of(part)))
            rest[at] = part
            continue
        blocks += said_text(text) if kind in ("text", "Text") else (image_of(text),)
        if kind in ("image", "local_image"):
            rest[at] = part
        if len(part) > 2:
            _keep_beside(part, at, spot, state)
    return tuple(blocks), rest


def _keep_beside(part: Row, at: str, spot: Spot, state: State) -> None:
    """What a text or a picture has beside itself: where in it elements of the editor stand, how closely it is looked at."""
    kind = part["type"]
    for key, value in part.items():
        if key not in ("type", _CONTENT[kind]) and value != []:
            spot.extra[f"{at}/{escape(key)}"] = value
            if key not in ("text_elements", "detail"):
                pattern, pointer = f"/payload/item/content/*/{escape(key)}", f"{at}/{escape(key)}"
                state.ledger.part("unknown-field", spot.place, pattern, record=kind, pointer=pointer)


def _plan(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    text = item.get("text")
    if type(text) is not str:
        return None
    return message(state, spot, "Plan", item.get("id"), "plan", "model", said_text(text), turn, ITEM)


def _reasoning(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    summary, raw = item.get("summary_text"), item.get("raw_content")
    if type(summary) is not list or raw.__class__ not in (list, type(None)):
        return None
    parts = (*summary, *(raw or ()))
    if not all(type(part) is str for part in parts):
        return None
    if not raw and raw != []:
        spot.extra["/payload/item/raw_content"] = raw
    id, blocks = item.get("id"), thinking(parts, None)
    return message(state, spot, "Reasoning", id, "assistant", "model", blocks, turn, ITEM, "reasoning", parts)


Reader: TypeAlias = Callable[[Row, Spot, State, str | None], Draft | None]
READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {"UserMessage": _user, "AgentMessage": _agent, "Plan": _plan, "Reasoning": _reasoning}
)
"""Completed items that are said or thought; the rest tell of calls."""
