"""Event messages and completed items that tell of what was said, thought or done: the twins of Responses API items.

What comes in: the payload of an ``event_msg`` line and its spot. What goes out: a draft that can stand alone, should its twin
be missing, and knows by what its twin is found. A draft of talk ``end`` gets its blocks from ``calls`` in ``resolve``.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from convparse.blocks import Block, Image, Text, Unknown
from convparse.ledger import escape
from convparse.sources._reading import STRING, json_of, keep
from convparse.sources.codex.calls import outcome_of
from convparse.sources.codex.content import image_of
from convparse.sources.codex.fields import COMPLETED, COMPLETED_EVENTS, ENDS, ITEM_COMPLETED, SAID
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
    if kind == "user_message":
        draft = message(state, spot, kind, None, "user", "human", (*said_text(text), *_pictures(payload, spot)), state.turn)
        draft.talk = "user"
    elif kind == "agent_message":
        draft = message(state, spot, kind, None, "assistant", "model", said_text(text), state.turn)
        draft.talk = "assistant"
    else:
        draft = message(state, spot, kind, None, "assistant", "model", thinking((text,), None), state.turn)
        draft.talk = "reasoning"
    state.said.add(text)
    draft.grammar, draft.parts = EVENT, (text,)
    return draft


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
    draft = message(state, spot, kind, None, "assistant", "model", (), turn if type(turn) is str else state.turn)
    draft.grammar, draft.talk, draft.call_id = EVENT, "end", call_id
    return _ended(draft, payload, payload)


def _ended(draft: Draft, told: Row, payload: Row) -> Draft:
    """What the result gets of it, without the decoded values, which every collection would look at."""
    draft.facts = outcome_of(told, json_of(payload))
    if draft.name in ("web_search_end", "WebSearch"):
        draft.parts = (json_of(told.get("action")).text,)
    return draft


def read_completed(payload: Row, spot: Spot, state: State) -> Draft | None:
    """An item that was completed (since 0.148); None if its type is not known or it is of an unexpected make."""
    item = payload.get("item")
    kind = item.get("type") if type(item) is dict else None
    if type(item) is not dict or type(kind) is not str or kind not in COMPLETED or kind in COMPLETED_EVENTS:
        return None
    if item.get("id").__class__ not in STRING or payload.get("turn_id").__class__ not in STRING:
        return None
    turn = payload.get("turn_id")
    reader = READERS.get(kind)
    if reader is None:
        state.check(ITEM_COMPLETED, payload, spot.place)
        state.check(COMPLETED[kind], item, spot.place)
        draft = message(state, spot, kind, item.get("id"), "assistant", "model", (), turn or state.turn)
        draft.talk, draft.call_id = "end", item.get("id")
        draft = _ended(draft, item, payload)
    else:
        fields = COMPLETED[kind]
        shape = state.look(ITEM_COMPLETED)(payload, spot.place)
        inner = None if fields.plain.issuperset(item) else state.look(fields)(item, spot.place)
        made = reader(item, spot, state, turn or state.turn)
        if made is None:
            return None
        draft = made
        keep(spot.extra, shape, payload, "/payload")
        if inner is not None:
            keep(spot.extra, inner, item, "/payload/item")
        if payload.get("thread_id") == state.thread:
            spot.extra.pop("/payload/thread_id", None)
    thread = payload.get("thread_id")
    draft.thread = thread if type(thread) is str else None
    draft.grammar = ITEM
    return draft


def _user(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    blocks, rest = _content(item, spot, state)
    if blocks is None:
        return None
    draft = message(state, spot, "UserMessage", item.get("id"), "user", "human", blocks, turn)
    draft.talk = "user"
    draft.parts = ("".join(block.text for block in blocks if type(block) is Text),)
    draft.facts = {"rest": rest} if rest else None
    state.said.add(draft.parts[0])
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
        elif len(part) > 2:
            _keep_beside(part, at, spot, state)
    return tuple(blocks), rest


def _keep_beside(part: Row, at: str, spot: Spot, state: State) -> None:
    """What a text has beside itself: where in it elements of the editor stand."""
    for key, value in part.items():
        if key not in ("type", "text") and value != []:
            spot.extra[f"{at}/{escape(key)}"] = value
            if key != "text_elements":
                pattern, pointer = f"/payload/item/content/*/{escape(key)}", f"{at}/{escape(key)}"
                state.ledger.part("unknown-field", spot.place, pattern, record="text", pointer=pointer)


def _agent(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    blocks, rest = _content(item, spot, state)
    if blocks is None:
        return None
    draft = message(state, spot, "AgentMessage", item.get("id"), "assistant", "model", blocks, turn)
    draft.talk = "assistant"
    draft.parts = ("".join(block.text for block in blocks if type(block) is Text),)
    draft.facts = {"rest": rest} if rest else None
    state.said.add(draft.parts[0])
    return draft


def _plan(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    text = item.get("text")
    return message(state, spot, "Plan", item.get("id"), "plan", "model", said_text(text), turn) if type(text) is str else None


def _reasoning(item: Row, spot: Spot, state: State, turn: str | None) -> Draft | None:
    summary, raw = item.get("summary_text"), item.get("raw_content")
    if type(summary) is not list or raw.__class__ not in (list, type(None)):
        return None
    parts = (*summary, *(raw or ()))
    if not all(type(part) is str for part in parts):
        return None
    if not raw and raw != []:
        spot.extra["/payload/item/raw_content"] = raw
    draft = message(state, spot, "Reasoning", item.get("id"), "assistant", "model", thinking(parts, None), turn)
    draft.talk, draft.parts = "reasoning", parts
    return draft


Reader: TypeAlias = Callable[[Row, Spot, State, str | None], Draft | None]
READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {"UserMessage": _user, "AgentMessage": _agent, "Plan": _plan, "Reasoning": _reasoning}
)
"""Completed items that are said or thought; the rest tell of calls."""
