"""Dumps of what the running program returns for a session (``get_messages``), as exporters save them.

What comes in: one document, with the messages as its list or under one of the names that exporters use. What goes out: one
conversation a session. The model's content is JSON in a string, of proposals and plan items; its order is its own.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convparse.blocks import Block, Text, Unknown
from convparse.ledger import Ledger, Place, escape
from convparse.records import Conversation, Entry, Usage
from convparse.sources._reading import Extra, json_of, make_text, make_thinking, make_usage, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.trae.fields import PLAN_ITEM, PROPOSAL, RUNTIME_CONTENT, RUNTIME_ITEM, RUNTIME_MESSAGE
from convparse.sources.trae.messages import AUTHORS, key_of, read_content, read_query
from convparse.sources.trae.resolve import by_turn, freeze
from convparse.sources.trae.state import Draft, Opened, State, pattern_of
from convparse.sources.trae.steps import add_text, opened, read_step

_PATHS: Final = (("messages",), ("data",), ("data", "messages"), ("value",), ("result",), ("result", "messages"))
_READS: Final = "messageReads"
_TOKENS: Final = "prompt_tokens completion_tokens cache_read_input_tokens cache_creation_input_tokens reasoning_tokens".split()


def _is_message(item: Any) -> bool:
    return type(item) is dict and "message_id" in item and "chat_session_id" in item


def reads(value: Any) -> list[tuple[str, list[Any]]]:
    """The lists of messages in a document, each with its pointer."""
    found: list[tuple[str, list[Any]]] = []
    if type(value) is dict and type(value.get(_READS)) is list:
        for number, read in enumerate(value[_READS]):
            if type(read) is dict:
                found += [(f"/{_READS}/{number}{at}", items) for at, items in reads(read)]
        return found
    places = [((), value)] if type(value) is list else [(path, _at(value, path)) for path in _PATHS]
    for path, items in places:
        if type(items) is list and any(_is_message(item) for item in items):
            found.append(("".join(f"/{key}" for key in path), items))
    return found


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if type(value) is dict else None
    return value


def _without(value: Any, pointers: list[str]) -> dict[str, Any]:
    """What a document holds beyond its lists of messages: exact pointers and values."""
    left: dict[str, Any] = {}

    def visit(item: Any, at: str) -> None:
        if at in pointers:
            return
        if any(pointer.startswith(f"{at}/") for pointer in pointers) and type(item) in (dict, list):
            inside = item.items() if type(item) is dict else enumerate(item)
            for key, part in inside:
                visit(part, f"{at}/{escape(str(key))}")
        else:
            left[at] = item

    visit(value, "")
    return left


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of one document."""
    state = State(ledger)
    for value, place in units:
        lists = reads(value)
        if not lists:
            yield state.odd_event(value, "document", place, None)
            continue
        rest = _without(value, [at for at, _ in lists])
        yield Draft(state.event("index", "dump", place, None, json_of(rest) if rest else None), "index", place, None)
        for at, items in lists:
            for number, item in enumerate(items):
                here = f"{at}/{number}"
                if _is_message(item):
                    yield _message(state, item, place, here)
                else:
                    yield state.odd_event(item, "message", place, None, here)


def _message(state: State, value: dict[str, Any], place: Place, at: str) -> Draft:
    extra: Extra = {}
    message = state.open(value, RUNTIME_MESSAGE, place, at, extra)
    role, group = message.text("role"), message.text("chat_session_id")
    if role not in AUTHORS:
        message.name("trae/unknown-role", "role")
    id, turn, parent = (message.text(name) for name in ("message_id", "turn_id", "reply_to_message_id"))
    index = message.first("message_index", int)
    if index is not None:
        extra[f"{at}/message_index"] = index
    when = message.time("created_at")
    status = message.text("status")
    author = AUTHORS.get(role)
    ended = author == "model" and status == "completed"
    if status is not None and not ended:
        extra[f"{at}/status"] = status
    if value.get("references") not in (None, []):
        extra[f"{at}/references"] = value["references"]
    blocks = _spoken(message, extra) if author == "model" else _asked(message, extra)
    info = value.get("user_message_context")
    model = info.get("model_info") if type(info) is dict else None
    name = model.get("config_name") if type(model) is dict else None
    entry = open_message(
        key_of(state, group, id, place, at),
        id,
        role or "",
        author,
        tuple(blocks),
        *when,
        parent,
        None,
        turn,
        name if type(name) is str and author == "model" else None,
        _usage(message, extra),
        status if ended else None,
        origin=state.origin(place, at),
    )
    entry.extra = json_of(extra) if extra else None
    return Draft(entry, "message", place, group, {"index": index})


def _usage(message: Opened, extra: Extra) -> Usage | None:
    """The tokens of a message; those of a prompt hold what came from the cache."""
    told = message.value.get("token_usage")
    if told is None:
        return None
    extra[f"{message.at}/token_usage"] = told
    asked, wrote, cached, made, thought = (
        told.get(name) if type(told) is dict and type(told.get(name)) is int else None for name in _TOKENS
    )
    if asked is None and wrote is None:
        return None
    apart = (cached or 0) + (made or 0)
    fresh = asked - apart if asked is not None and asked >= apart else asked
    return make_usage(fresh, cached, made, None, wrote, thought)


def _asked(message: Opened, extra: Extra) -> list[Block]:
    at = message.at
    asked = read_query(message.state, message.value.get("query"), message.place, f"{at}/query", extra)
    content = message.value.get("content")
    if not asked:
        return read_content(message.state, content, message.place, f"{at}/content", extra)
    if content is not None and content != "".join(block.text for block in asked if type(block) is Text):
        extra[f"{at}/content"] = content
    return asked


def _spoken(message: Opened, extra: Extra) -> list[Block]:
    state, place = message.state, message.place
    if message.value.get("query") is not None:
        extra[f"{message.at}/query"] = message.value["query"]
    value, at = opened(message.value.get("content"), f"{message.at}/content", extra)
    if type(value) is not dict or type(value.get("messages")) is not list:
        return read_content(state, value, place, at, extra)
    state.open(value, RUNTIME_CONTENT, place, at, extra)
    blocks: list[Block] = []
    for number, item in enumerate(value["messages"]):
        blocks += _item(state, item, place, f"{at}/messages/{number}", extra)
    return blocks


def _item(state: State, item: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    kind = item.get("type") if type(item) is dict else None
    inner = item.get(kind) if type(kind) is str and kind in ("proposal", "plan_item") else None
    if type(inner) is not dict:
        name = kind if type(kind) is str else type(item).__name__
        state.ledger.part("unknown-block", place, pattern_of(at), record=name, pointer=at)
        return [Unknown(name, json_of(item))]
    state.open(item, RUNTIME_ITEM, place, at, extra)
    other = "plan_item" if kind == "proposal" else "proposal"
    if item.get(other) is not None:
        extra[f"{at}/{other}"] = item[other]
    if kind == "plan_item":
        return read_step(state.open(inner, PLAN_ITEM, place, f"{at}/plan_item", extra))
    return _proposal(state, inner, place, f"{at}/proposal", extra)


def _proposal(state: State, value: dict[str, Any], place: Place, at: str, extra: Extra) -> list[Block]:
    state.open(value, PROPOSAL, place, at, extra)
    blocks: list[Block] = []
    for holder, here in ((value, at), (value.get("content"), f"{at}/content")):
        if type(holder) is str:
            add_text(blocks, holder)
        elif type(holder) is dict:
            thought, said = holder.get("reasoning_content"), holder.get("thought")
            blocks += [make_thinking(thought)] if type(thought) is str and thought else []
            blocks += [make_text(said)] if type(said) is str and said else []
            known = {"reasoning_content": thought, "thought": said}
            odd = {key: part for key, part in known.items() if part is not None and type(part) is not str}
            rest = {key: part for key, part in holder.items() if key not in known} if here != at else {}
            extra.update({f"{here}/{escape(key)}": part for key, part in {**odd, **rest}.items()})
        elif holder is not None:
            extra[here] = holder
    return blocks


# ---- the conversations -----------------------------------------------------------------------------------------------------


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a session, its messages by their index."""
    groups: dict[str, list[Draft]] = {}
    loose: list[Entry] = []
    for draft in (draft for part in parts for draft in part.drafts):
        if draft.group is None:
            loose.append(freeze(draft.entry))
        else:
            groups.setdefault(draft.group, []).append(draft)
    return [_conversation(id, drafts) for id, drafts in groups.items()], loose


def _conversation(id: str, drafts: list[Draft]) -> Conversation:
    return Conversation(id, "trae", entries=tuple(freeze(draft.entry) for draft in by_turn(drafts)))
