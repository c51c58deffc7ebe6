"""Bubbles, to messages: one function for the three shapes they come in (a row, inside a composer, in an old chat tab).

What comes in: a decoded bubble, its place and its pointer in the row. What goes out: a draft whose open message holds every
unit fact. A bubble without text is a message all the same: it thinks, calls a tool, marks a compaction, or is empty.
"""

from typing import Any

from convparse.blocks import Attachment, Block, Image, ToolCall
from convparse.ledger import Place, escape
from convparse.records import Context, Usage
from convparse.sources._reading import Extra, json_of, keep, make_text, make_thinking, make_usage, open_event, open_message
from convparse.sources.cursor.fields import BUBBLE, MENTIONED, TAB_BUBBLE, THINKING, TOKENS
from convparse.sources.cursor.richtext import plain_text
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.times import NEVER, client_time, recorded
from convparse.sources.cursor.tools import decoded, read_tool

Bubble = dict[str, Any]
_ROLES = {1: "user", 2: "assistant"}
SUMMARY_MARK = 22
"""The ``capabilityType`` of the mark that a compaction leaves."""


def read_bubble(state: State, value: Bubble, place: Place, group: str, id: str | None, at: str = "") -> Draft:
    """A bubble of a composer."""
    extra: Extra = {}
    shape = state.look(BUBBLE)(value, place)
    keep(extra, shape, value, at)
    kind, text, rich, thinking, old, tool, made, model, tokens, request, images, code, chunks, context, error, own, *rest = (
        shape.pick((*value.values(), None))[:20]
    )
    simulated, folder, started, timing = rest
    if id is None:
        id = state.typed(own, str, extra, place, "bubble", f"{at}/bubbleId", "/bubbleId") or None
    elif own is not None and own != id:
        extra[f"{at}/bubbleId"] = own
        state.ledger.part("cursor/key-id-mismatch", place, "/bubbleId", record="bubble", pointer=f"{at}/bubbleId")
    blocks = [*_thinking(state, thinking, old, place, at, extra), *_text(state, text, rich, place, at, extra)]
    used, model_call = read_tool(state, tool, place, at, extra) if tool is not None else ((), None)
    blocks += used
    blocks += _images(state, images, place, at, extra)
    blocks += _pieces(code, f"{at}/codeBlocks", "code-block", "content", "languageId", extra)
    blocks += _pieces(chunks, f"{at}/attachedCodeChunks", "code", "lines", "relativeWorkspacePath", extra)
    blocks += _selections(context, at, extra)
    if simulated is not None:
        extra[f"{at}/isSimulatedMsg"] = simulated
    when = _when(state, made, started, timing, place, at, extra)
    entry = open_message(
        _key(state, group, id),
        id,
        _role(state, kind, place, at, extra),
        ("harness" if simulated is True else "human") if kind == 1 else "model" if kind == 2 else None,
        tuple(blocks),
        *when,
        None,
        model_call,
        state.typed(request, str, extra, place, "bubble", f"{at}/requestId", "/requestId") or None,
        _model(model, at, extra),
        _usage(state, tokens, place, at, extra),
        None,
        Context(cwd=folder) if type(folder) is str and folder else None,
        "active",
        False,
        (),
        state.origin(place, at),
    )
    if folder is not None and type(folder) is not str:
        extra[f"{at}/workspaceProjectDir"] = folder
    calls = [block.id for block in used if type(block) is ToolCall]
    facts: dict[str, Any] = {"at": at, "when": when, "client": client_time(timing), "calls": calls, "tokens": tokens}
    if error is not None:
        extra[f"{at}/errorDetails"] = error
        facts["error"] = _error(state, entry, error, place, at)
    additional = tool.get("additionalData") if type(tool) is dict else None
    if type(additional) is dict:
        facts |= _spawned(additional, group, used, f"{at}/toolFormerData/additionalData/composerData")
    entry.extra = json_of(extra) if extra else None
    if value.get("capabilityType") == SUMMARY_MARK and not entry.blocks and entry.usage is None:
        entry = _mark(entry, extra)
    return Draft(entry, "bubble", place, group, id, facts)


def _spawned(additional: dict[str, Any], group: str, used: Any, at: str) -> dict[str, Any]:
    """The sub-agent that a tool started: by its id, or whole inside the bubble, as JSON in a text."""
    child = additional.get("subagentComposerId")
    if type(child) is str:
        return {"spawned": child}
    text = additional.get("composerData")
    value = decoded(text)[0] if type(text) is str else text
    if type(value) is not dict:
        return {}
    own, call = value.get("composerId"), next((block.id for block in used[:1]), None)
    id = own if type(own) is str and own else f"task-{call}"
    inside = f"{at}/»" if type(text) is str else at
    return {"spawned": id, "nested": (id, inside, value)} if id != group else {}


def _key(state: State, group: str, id: str | None) -> str:
    return state.keys.of(f"{group}/{id}") if id is not None else state.keys.count(group, "bubble")


def _role(state: State, kind: Any, place: Place, at: str, extra: Extra) -> str:
    if type(kind) is int and kind in _ROLES:
        return _ROLES[kind]
    if kind is not None:
        extra[f"{at}/type"] = kind
    state.ledger.part("cursor/unknown-bubble", place, "/type", record="bubble", pointer=f"{at}/type")
    return f"type-{kind}" if type(kind) is int else "bubble"


# ---- what it says ----------------------------------------------------------------------------------------------------------


def _thinking(state: State, value: Any, old: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    blocks: list[Block] = []
    if type(value) is str and value:
        blocks.append(make_thinking(value))
    elif type(value) is dict:
        shape = state.look(THINKING)(value, place)
        keep(extra, shape, value, f"{at}/thinking")
        text, signature = (
            state.typed(item, str, extra, place, "bubble", f"{at}/thinking/{key}", f"/thinking/{key}")
            for key, item in zip(THINKING.picked, shape.pick((*value.values(), None)), strict=False)
        )
        if text or signature or value.get("redactedThinking"):
            blocks.append(make_thinking(text or "", signature, not text))
    elif value not in (None, ""):
        state.typed(value, dict, extra, place, "bubble", f"{at}/thinking", "/thinking")
    for number, item in enumerate(old if type(old) is list else ()):
        blocks += _old_thinking(item, f"{at}/allThinkingBlocks/{number}", extra)
    if old is not None and type(old) is not list:
        extra[f"{at}/allThinkingBlocks"] = old
    return blocks


def _old_thinking(item: Any, at: str, extra: Extra) -> list[Block]:
    """Thinking as it was written before ``thinking``: its text under either name."""
    text = next((item[key] for key in ("thinking", "text") if type(item.get(key)) is str), None) if type(item) is dict else None
    if text is None:
        extra[at] = item
        return []
    signature = item.get("signature")
    taken = {"thinking" if type(item.get("thinking")) is str else "text"} | ({"signature"} if type(signature) is str else set())
    beside(item, at, taken, extra)
    return [make_thinking(text, signature if type(signature) is str else None)]


def _text(state: State, text: Any, rich: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    if rich is not None and rich != "":
        extra[f"{at}/richText"] = rich
    said = state.typed(text, str, extra, place, "bubble", f"{at}/text", "/text")
    if not said and type(rich) is str:
        said = plain_text(rich)
        if said:
            state.ledger.part("cursor/rich-text", place, "/richText", record="bubble", pointer=f"{at}/richText")
    return [make_text(said)] if said else []


def _images(state: State, images: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    blocks: list[Block] = []
    for number, image in enumerate(images if type(images) is list else ()):
        here = f"{at}/images/{number}"
        path = image.get("path") if type(image) is dict else None
        beside(image, here, {"path"} if type(path) is str else set(), extra)
        if type(path) is not str and not (type(image) is dict and image.get("data")):
            state.ledger.part("cursor/image-stripped", place, "/images/*", record="bubble", pointer=here)
        blocks.append(Image(uri=path if type(path) is str else None))
    if images is not None and type(images) is not list:
        extra[f"{at}/images"] = images
    return blocks


def _pieces(items: Any, at: str, kind: str, content: str, name: str, extra: Extra) -> list[Block]:
    """Pieces of code that stand beside the text; their text may be a list of lines."""
    if items is not None and type(items) is not list:
        extra[at] = items
    blocks: list[Block] = []
    for number, item in enumerate(items if type(items) is list else ()):
        text: Any = item.get(content) if type(item) is dict else None
        if isinstance(text, list) and all(isinstance(line, str) for line in text):
            text = "\n".join(text)
        said = text if type(text) is str else None
        named = item.get(name) if type(item) is dict and type(item.get(name)) is str else None
        taken = {key for key, found in ((content, said), (name, named)) if found is not None}
        beside(item, f"{at}/{number}", taken, extra)
        if type(item) is dict:
            blocks.append(Attachment(kind, named, None, said, None, path_of(item.get("uri"))))
    return blocks


def _selections(context: Any, at: str, extra: Extra) -> list[Block]:
    """Files and folders that a person put beside a prompt. What was chosen is kept whole as well: it says more."""
    if hollow(context):
        return []
    extra[f"{at}/context"] = context
    blocks: list[Block] = []
    for key, kind in (("fileSelections", "file"), ("folderSelections", "folder"), ("selections", "selection")):
        items = context.get(key) if type(context) is dict else None
        for item in items if type(items) is list else ():
            if type(item) is dict:
                text = next((item[k] for k in ("rawText", "text") if type(item.get(k)) is str), None)
                blocks.append(Attachment(kind, None, None, text, None, path_of(item.get("uri")) or path_of(item)))
    return blocks


def hollow(context: Any) -> bool:
    """True for a context in which nothing was chosen: lists, and under ``mentions`` objects and a few lists, all empty."""
    if type(context) is not dict:
        return context is None
    mentions = context.get("mentions", {})
    if type(mentions) is not dict or any(value != ([] if key in MENTIONED else {}) for key, value in mentions.items()):
        return False
    return all(value == [] for key, value in context.items() if key != "mentions")


def path_of(uri: Any) -> str | None:
    """The path that a URI object of the editor, or a text, names."""
    if type(uri) is dict:
        return next((uri[key] for key in ("external", "fsPath", "path", "relativePath") if type(uri.get(key)) is str), None)
    return uri if type(uri) is str else None


def beside(item: Any, at: str, taken: set[str], extra: Extra) -> None:
    """Keep what an object holds beyond the keys that are taken; what is no object is kept whole."""
    if type(item) is not dict:
        extra[at] = item
        return
    extra.update({f"{at}/{escape(key)}": value for key, value in item.items() if key not in taken})


# ---- facts -----------------------------------------------------------------------------------------------------------------


def _when(state: State, made: Any, started: Any, timing: Any, place: Place, at: str, extra: Extra) -> Any:
    if timing is not None:
        extra[f"{at}/timingInfo"] = timing
    when = recorded(made if made != "" else None)
    if when[0] is None and when[2] is not None:
        extra[f"{at}/createdAt"] = made
        state.ledger.part("bad-timestamp", place, "/createdAt", record="bubble", pointer=f"{at}/createdAt")
    if started is not None:
        extra[f"{at}/startedAtMs"] = started
        if when == NEVER:
            when = recorded(started)
            when = when if when[0] is not None else NEVER
    return when


def _model(model: Any, at: str, extra: Extra) -> str | None:
    name = model.get("modelName") if type(model) is dict else None
    if model is not None and (type(name) is not str or len(model) > 1):
        extra[f"{at}/modelInfo"] = model
    return name or None if type(name) is str else None


_UNCOUNTED = {"inputTokens": 0, "outputTokens": 0}


def _usage(state: State, tokens: Any, place: Place, at: str, extra: Extra) -> Usage | None:
    """Tokens; zero in all but the last bubble of a turn, which says that they were not counted."""
    if tokens == _UNCOUNTED or type(tokens) is not dict:
        if tokens is not None and tokens != _UNCOUNTED:
            extra[f"{at}/tokenCount"] = tokens
        return None
    shape = state.look(TOKENS)(tokens, place)
    keep(extra, shape, tokens, f"{at}/tokenCount")
    read, wrote = (
        state.typed(item, int, extra, place, "bubble", f"{at}/tokenCount/{key}", f"/tokenCount/{key}")
        for key, item in zip(TOKENS.picked, shape.pick((*tokens.values(), None)), strict=False)
    )
    return make_usage(read, None, None, None, wrote) if read or wrote else None


def _error(state: State, message: Any, error: Any, place: Place, at: str) -> Any:
    """A failed turn, as an event behind its bubble."""
    said = error.get("message") if type(error) is dict else error
    text = said if type(said) is str else None
    return open_event(
        f"{message.key}:error",
        "error",
        "errorDetails",
        text,
        json_of(error),
        None,
        *message_time(message),
        origin=state.origin(place, f"{at}/errorDetails"),
    )


def message_time(message: Any) -> Any:
    """The time of a message, as the three facts that an event takes."""
    return message.timestamp, message.timestamp_origin, message.timestamp_text


def _mark(message: Any, extra: Extra) -> Any:
    data = {**extra, "role": message.role, "requestId": message.turn_id, "model": message.model}
    return open_event(
        message.key,
        "compaction",
        "summarize",
        None,
        json_of(data),
        message.id,
        *message_time(message),
        context=message.context,
        origin=message.origin,
    )


# ---- chat tabs of 2023 and 2024 --------------------------------------------------------------------------------------------


def read_tab_bubble(state: State, value: Bubble, place: Place, group: str, at: str) -> Draft:
    """A bubble of a chat tab: types are words, and the whole text of the model is ``rawText``."""
    extra: Extra = {}
    keep(extra, state.look(TAB_BUBBLE)(value, place), value, at)
    kind, id, model = (
        state.typed(value.get(key), str, extra, place, "tab-bubble", f"{at}/{key}", f"/{key}")
        for key in ("type", "id", "modelType")
    )
    text, raw = (
        state.typed(value.get(key), str, extra, place, "tab-bubble", f"{at}/{key}", f"/{key}") for key in ("text", "rawText")
    )
    said = raw or text
    if text and said is not text and text != said:
        extra[f"{at}/text"] = text
    author = {"user": "human", "ai": "model"}.get(kind or "")
    if author is None:
        state.ledger.part("cursor/unknown-bubble", place, "/type", record="tab-bubble", pointer=f"{at}/type")
    entry = open_message(
        _key(state, group, id),
        id,
        kind or "bubble",
        author,
        (make_text(said),) if said else (),
        model=model,
        origin=state.origin(place, at),
        extra=json_of(extra) if extra else None,
    )
    return Draft(entry, "bubble", place, group, id)
