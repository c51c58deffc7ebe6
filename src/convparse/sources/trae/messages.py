"""Messages of the inline era, to records: one stored message, one ``Message`` with everything that it says.

What comes in: a decoded message, its place and its pointer in the row. What goes out: a draft whose open message holds every
unit fact. A turn that only ran tools is a message all the same. Never done: a time invented, a text said twice.
"""

from typing import Any, Final

from convparse.blocks import Attachment, Block, Image, Reference, Text, Unknown
from convparse.ledger import Place, escape
from convparse.sources._reading import Extra, json_of, make_text, open_message
from convparse.sources.trae.fields import MESSAGE
from convparse.sources.trae.state import Draft, Opened, State, pattern_of
from convparse.sources.trae.steps import opened, read_task

AUTHORS: Final = {"user": "human", "assistant": "model", "agent": "model", "system": "harness"}
_TEXTS: Final = frozenset({"text", "text_content"})


def read_message(state: State, value: dict[str, Any], place: Place, group: str, at: str) -> Draft:
    """One message of a session."""
    extra: Extra = {}
    message = state.open(value, MESSAGE, place, at, extra)
    if value.get("sessionId") == group:
        del extra[f"{at}/sessionId"]
    role = message.text("role")
    if role not in AUTHORS:
        message.name("trae/unknown-role", "role")
    id = message.text("agentMessageId messageId id") or None
    when = message.time("timestamp createdAt")
    turn = message.text("turnId")
    index = message.first("turnIndex", int)
    if index is not None:
        extra[f"{at}/turnIndex"] = index
    status = message.text("status")
    author = AUTHORS.get(role)
    ended = author == "model" and status == "completed"
    if status is not None and not ended:
        extra[f"{at}/status"] = status
    blocks = _spoken(message, extra)
    entry = open_message(
        key_of(state, group, id, place, at, False),
        id,
        role or "",
        author,
        tuple(blocks),
        *when,
        None,
        None,
        turn,
        _model(message, extra),
        stop_reason=status if ended else None,
        origin=state.origin(place, at),
    )
    entry.extra = json_of(extra) if extra else None
    return Draft(entry, "message", place, group, {"index": index, "at": at, "raw": value, "when": when[0]})


def key_of(state: State, group: str | None, id: str | None, place: Place, at: str, name: bool = True) -> str:
    """A unique key; ids may repeat, and that is named, here or by who can tell a copy."""
    if id is None:
        return state.keys.count(group, "message")
    if name and f"{group}/{id}" in state.keys.seen:
        state.ledger.part("duplicate-id", place, pattern_of(at), record="message", pointer=at)
    return state.keys.of(f"{group}/{id}")


def _model(message: Opened, extra: Extra) -> str | None:
    info = message.first("modelInfo", dict)
    old = message.text("modelType")
    name = info.get("model_name") if info is not None else None
    if info is not None:
        taken = {"model_name"} if type(name) is str else set()
        extra.update({f"{message.at}/modelInfo/{escape(key)}": item for key, item in info.items() if key not in taken})
    if type(name) is not str:
        return old or None
    if old is not None and old != name:
        extra[f"{message.at}/modelType"] = old
    return name or None


def _spoken(message: Opened, extra: Extra) -> list[Block]:
    """Everything that a message says, in the order in which it happened."""
    state, place, at = message.state, message.place, message.at
    blocks = read_task(message, extra)
    asked = read_query(state, message.value.get("query"), place, f"{at}/query", extra)
    content = message.value.get("content")
    if asked:
        whole = "".join(block.text for block in asked if type(block) is Text)
        if content is not None and content != whole:
            extra[f"{at}/content"] = content
        blocks += asked
    else:
        texts = {block.text for block in blocks if type(block) is Text}
        found = read_content(state, content, place, f"{at}/content", extra)
        blocks += [block for block in found if type(block) is not Text or block.text not in texts]
    return [*blocks, *_parsed(message, blocks, extra), *read_media(message, "multiMedia", extra)]


# ---- content ---------------------------------------------------------------------------------------------------------------


def read_content(state: State, value: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    """Text, an object with a text, or a list of blocks."""
    if value is None or value == "":
        return []
    if type(value) is str:
        return [make_text(value)]
    if type(value) is list:
        return [block for n, item in enumerate(value) for block in _block(state, item, place, f"{at}/{n}", extra)]
    if type(value) is dict and type(value.get("text")) is str:
        extra.update({f"{at}/{escape(key)}": item for key, item in value.items() if key != "text"})
        return [make_text(value["text"])]
    return [_unknown(state, value, place, at)]


def _block(state: State, item: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    if type(item) is str:
        return [make_text(item)] if item else []
    name = next((key for key in ("text_content", "text") if type(item.get(key)) is str), None) if type(item) is dict else None
    if name is None or item.get("type", "text") != "text":
        return [_unknown(state, item, place, at)]
    extra.update({f"{at}/{escape(key)}": value for key, value in item.items() if key not in (name, "type")})
    return [make_text(item[name])]


def _unknown(state: State, item: Any, place: Place, at: str) -> Block:
    kind = item.get("type") if type(item) is dict else None
    name = kind if type(kind) is str else type(item).__name__
    state.ledger.part("unknown-block", place, pattern_of(at), record=name, pointer=at)
    return Unknown(name, json_of(item))


def read_query(state: State, value: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    """The form in which newer versions keep the whole text of a prompt."""
    if type(value) is str:
        value, at = opened(value, at, extra)
    if type(value) is not list:
        return read_content(state, value, place, at, extra)
    blocks: list[Block] = []
    for number, item in enumerate(value):
        data: Any = item.get("data") if type(item) is dict else None
        text = data.get("content") if type(data) is dict else None
        if type(item) is dict and item.get("type") == "text" and type(text) is str:
            here = f"{at}/{number}"
            extra.update({f"{here}/{escape(key)}": other for key, other in item.items() if key not in ("type", "data")})
            extra.update({f"{here}/data/{escape(key)}": other for key, other in data.items() if key != "content"})
            blocks.append(make_text(text))
        else:
            blocks += _block(state, item, place, f"{at}/{number}", extra)
    return blocks


# ---- what stands beside the text -------------------------------------------------------------------------------------------


def _parsed(message: Opened, blocks: list[Block], extra: Extra) -> list[Block]:
    """The structured prompt: it is kept where it says more than the text, and says the text where there is none."""
    items = message.first("parsedQuery", list, str)
    if items is None or items == [] or items == "":
        return []
    listed = items if type(items) is list else [items]
    texts = [block.text for block in blocks if type(block) is Text]
    if len(listed) == 1 and type(listed[0]) is str and listed[0] in texts and type(items) is list:
        return []
    extra[f"{message.at}/parsedQuery"] = items
    found: list[Block] = [] if texts else read_prompt(listed)
    return found or references(listed)


def read_prompt(items: list[Any]) -> list[Block]:
    """The words of a structured prompt, with references where they stand in the sentence."""
    blocks: list[Block] = []
    for item in items:
        if type(item) is str:
            blocks += [make_text(item)] if item else []
        else:
            blocks += references([item])
    return blocks


def references(items: list[Any]) -> list[Block]:
    """The files and symbols that a structured prompt names."""
    found: list[Block] = []
    for item in items:
        told = item if type(item) is dict else {}
        shown, path = (told.get(key) for key in ("relatePath", "filePath"))
        named = [text for text in (path, shown) if isinstance(text, str)]
        if named:
            kind = told.get("type")
            found.append(Reference(named[-1], named[0], kind if type(kind) is str else "file"))
    return found


def read_media(holder: Opened, name: str, extra: Extra) -> list[Block]:
    """Pictures and files, named by an id."""
    items: list[Any] = holder.first(name, list) or []
    blocks: list[Block] = []
    for number, item in enumerate(items):
        here = f"{holder.at}/{name}/{number}"
        id, kind = (item.get(key) for key in ("resource_id", "resource_type")) if type(item) is dict else (None, None)
        if type(id) is not str or type(kind) is not str:
            extra[here] = item
            continue
        rest = {key: value for key, value in item.items() if key not in ("resource_id", "resource_type")}
        extra.update({f"{here}/{escape(key)}": value for key, value in rest.items()})
        blocks.append(Image(uri=id) if kind == "image" else Attachment(kind, id))
    return blocks
