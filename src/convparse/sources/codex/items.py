"""Items of the Responses API, to drafts: the same in all four generations, bare, in an envelope or in one document.

What comes in: one item and where it stands. What goes out: a draft whose open record holds every unit fact of the item; the
author of a user message is a file fact and left to ``resolve``. Nothing is raised for any JSON.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import orjson

from convparse.blocks import Block, Image, Json, Text, ToolResult, Unknown
from convparse.ledger import Place
from convparse.records import Author
from convparse.sources._reading import (
    STRING,
    Extra,
    json_of,
    keep,
    make_call,
    make_json,
    make_origin,
    make_result,
    make_text,
    make_thinking,
    odd,
    open_event,
    open_message,
)
from convparse.sources.codex import outputs
from convparse.sources.codex.content import read_content, read_output
from convparse.sources.codex.fields import ITEM_EVENT, ITEM_EVENTS, ITEMS, PASSED, PASSTHROUGH
from convparse.sources.codex.state import RESPONSE, Draft, State
from convparse.times import NO_TIME, Time

Row: TypeAlias = dict[str, Any]

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "apply_patch": "edit",
        "container.exec": "execute",
        "exec": "execute",
        "exec_command": "execute",
        "grep_files": "search",
        "list_dir": "search",
        "local_shell": "execute",
        "read_file": "read",
        "shell": "execute",
        "shell_command": "execute",
        "tool_search": "search",
        "unified_exec": "execute",
        "update_plan": "think",
        "view_image": "read",
        "web_search": "search",
        "write_stdin": "execute",
    }
)
"""Tools by what they do, in the Agent Client Protocol's words; all others are ``other``."""


class Spot:
    """Where an item stands, and what its line says beside it."""

    __slots__ = ("at", "extra", "place", "table", "time")

    def __init__(
        self, place: Place, at: str = "/payload", table: str = "/payload", time: Time = NO_TIME, extra: Extra | None = None
    ) -> None:
        self.place = place
        self.at = at
        """Its exact pointer."""
        self.table = table
        """The key of its tables in ``ITEMS``: the pointer as a pattern."""
        self.time = time
        self.extra: Extra = {} if extra is None else extra


def read_item(item: Row, spot: Spot, state: State) -> Draft | None:
    """The draft of an item; None if its type is not known."""
    kind = item.get("type")
    if kind is None and type(item.get("role")) is str and "content" in item:
        kind = "message"
    if type(kind) is not str:
        return None
    reader = READERS.get(kind)
    return reader(item, kind, spot, state) if reader is not None else None


def message(
    state: State,
    spot: Spot,
    name: str,
    id: str | None,
    role: str,
    author: Author | None,
    blocks: tuple[Block, ...],
    turn: Any,
    grammar: str,
    talk: str = "",
    parts: tuple[str, ...] = (),
    call_id: str | None = None,
) -> Draft:
    """A draft that holds a message; the rest is told in ``Draft``."""
    when, text = spot.time
    entry = open_message(
        state.keys.count(state.thread, name) if id is None else state.keys.of(id),
        id,
        role,
        author,
        blocks,
        when,
        "recorded" if when is not None else None,
        text,
        None,
        None,
        turn,
        state.model if author == "model" else None,
        None,
        None,
        state.context,
        "active",
        False,
        (),
        make_origin(state.path, *spot.place) if spot.table != "/items/*" else state.origin(spot.place, spot.at),
    )
    draft = Draft(entry, name, spot.extra, state.ordinal, grammar, talk, parts, call_id)
    if talk in _ALONE and spot.extra:
        draft.seal()
    return draft


_ALONE: Final = frozenset({"call", "output"})
"""Talk of which events repeat nothing."""


def _common(item: Row, kind: str, spot: Spot, state: State) -> tuple[str | None, str | None, Any]:
    """Id, turn and kinds of the content; the rest of the item goes to ``extra``."""
    fields = ITEMS[spot.table][kind]
    id, passed = item.get("id"), item.get(PASSTHROUGH)
    if not fields.plain.issuperset(item):
        keep(spot.extra, state.look(fields)(item, spot.place), item, spot.at)
    if id.__class__ not in STRING:
        odd(state.ledger, spot.extra, spot.place, fields.record, f"{spot.at}/id", id, f"{spot.table}/id")
        id = None
    if passed is None:
        return id, state.turn, None
    at = f"{spot.at}/{PASSTHROUGH}"
    if type(passed) is not dict:
        odd(state.ledger, spot.extra, spot.place, fields.record, at, passed, f"{spot.table}/{PASSTHROUGH}")
        return id, state.turn, None
    turn = passed.get("turn_id")
    if len(passed) == 1 and type(turn) is str:
        return id, turn, None
    state.check(PASSED, passed, spot.place)
    spot.extra[at] = passed
    return id, turn if type(turn) is str else state.turn, passed.get("content_item_kinds")


def _odd(item: Row, name: str, record: str, spot: Spot, state: State) -> None:
    odd(state.ledger, spot.extra, spot.place, record, f"{spot.at}/{name}", item[name], f"{spot.table}/{name}")


def _string(item: Row, name: str, record: str, spot: Spot, state: State) -> str | None:
    """A string; what is none goes to ``extra`` and is named."""
    value = item.get(name)
    if value is None or type(value) is str:
        return value
    _odd(item, name, record, spot, state)
    return None


def _message(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, kinds = _common(item, kind, spot, state)
    role = _string(item, "role", kind, spot, state) or "message"
    blocks = read_content(state, item.get("content"), (kind, f"{spot.at}/content"), spot.place, spot.extra)
    author: Author | None = "model" if role == "assistant" else None if role == "user" else "harness"
    talk = role if role in ("user", "assistant") else ""
    parts = tuple([block.text for block in blocks if type(block) is Text])
    state.said.add("".join(parts))
    draft = message(state, spot, kind, id, role, author, blocks, turn, RESPONSE, talk, parts)
    if kinds is not None and author != "model":
        draft.facts = {"kinds": kinds}
    return draft


def _agent_message(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    """What another agent wrote to this thread; the text of a task is often encrypted (since 0.144)."""
    id, turn, _ = _common(item, kind, spot, state)
    blocks = read_content(state, item.get("content"), (kind, f"{spot.at}/content"), spot.place, spot.extra)
    return message(state, spot, kind, id, "user", "model", blocks, turn, RESPONSE)


def _reasoning(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, _ = _common(item, kind, spot, state)
    summary = _parts(item, "summary", kind, spot, state)
    content = _parts(item, "content", kind, spot, state)
    sealed = _string(item, "encrypted_content", kind, spot, state)
    parts = (*summary, *content)
    blocks = thinking(parts, sealed)
    return message(state, spot, kind, id, "assistant", "model", blocks, turn, RESPONSE, "reasoning", parts)


def thinking(parts: tuple[str, ...], sealed: str | None) -> tuple[Block, ...]:
    """Reasoning: a block a part, and one for what is encrypted, whose text is hidden."""
    blocks: list[Block] = [make_thinking(part) for part in parts]
    if sealed is not None or not blocks:
        blocks.append(make_thinking("", sealed, True))
    return tuple(blocks)


_PART: Final = (frozenset({"type", "text"}), frozenset({"summary_text", "reasoning_text", "text"}))


def _parts(item: Row, name: str, record: str, spot: Spot, state: State) -> tuple[str, ...]:
    """The texts of a summary or of raw reasoning; a part of another make stays in ``extra``."""
    value = item.get(name)
    if type(value) is not list:
        if value is not None:
            _odd(item, name, record, spot, state)
        return ()
    parts = []
    for i, part in enumerate(value):
        if type(part) is dict and type(part.get("text")) is str and part.keys() == _PART[0]:
            parts.append(part["text"])
            if part["type"] != ("summary_text" if name == "summary" else "reasoning_text"):
                spot.extra[f"{spot.at}/{name}/{i}/type"] = part["type"]
        else:
            at = f"{spot.at}/{name}/{i}"
            spot.extra[at] = part
            state.ledger.part("unknown-block", spot.place, f"{spot.table}/{name}/*", record=record, pointer=at)
    return tuple(parts)


def arguments_of(value: Any) -> Json | str:
    """The arguments of a call: JSON in a string, or any text where it is none."""
    if type(value) is not str:
        return json_of(value)
    try:
        decoded = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    return make_json(value.encode()) if type(decoded) in (dict, list) else value


def _call(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, _ = _common(item, kind, spot, state)
    call_id, name = item.get("call_id"), item.get("name")
    if not (type(call_id) is str and type(name) is str):
        call_id = _string(item, "call_id", kind, spot, state)
        name = _string(item, "name", kind, spot, state) or ""
    given = item.get("input") if kind == "custom_tool_call" else item.get("arguments")
    arguments = given if kind == "custom_tool_call" and type(given) is str else arguments_of(given)
    call = make_call(call_id, name, KINDS.get(name, "other"), arguments)
    return _called(state, spot, kind, id, (call,), turn, call_id)


def _called(
    state: State, spot: Spot, kind: str, id: str | None, blocks: tuple[Block, ...], turn: Any, call_id: str | None, *parts: str
) -> Draft:
    return message(state, spot, kind, id, "assistant", "model", blocks, turn, RESPONSE, "call", parts, call_id)


def _local_shell(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, _ = _common(item, kind, spot, state)
    call_id = _string(item, "call_id", kind, spot, state)
    call = make_call(call_id if call_id is not None else id, "local_shell", "execute", json_of(item.get("action")))
    return _called(state, spot, kind, id, (call,), turn, call.id)


def _tool_search(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, _ = _common(item, kind, spot, state)
    call_id = _string(item, "call_id", kind, spot, state)
    call = make_call(call_id, "tool_search", "search", arguments_of(item.get("arguments")))
    return _called(state, spot, kind, id, (call,), turn, call_id)


def _web_search(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    """A search by the provider: call and outcome in one, without a ``call_id``."""
    id, turn, _ = _common(item, kind, spot, state)
    status, action = _string(item, "status", kind, spot, state), item.get("action")
    word = action.get("type") if type(action) is dict else None
    searched = json_of(action)
    call = make_call(id, "web_search", "fetch" if word == "open_page" else "search", searched)
    blocks = (call, make_result(id, (), None, None, None, status))
    return _called(state, spot, kind, id, blocks, turn, id, searched.text)


def _image_generation(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, _ = _common(item, kind, spot, state)
    status, result = (_string(item, name, kind, spot, state) for name in ("status", "result"))
    call = make_call(id, "image_generation", "other", json_of({"revised_prompt": item.get("revised_prompt")}))
    inside = (Image(None, result),) if result is not None else ()
    blocks = (call, make_result(id, inside, None, None, None, status))
    return _called(state, spot, kind, id, blocks, turn, id)


def _output(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, _ = _common(item, kind, spot, state)
    call_id = _string(item, "call_id", kind, spot, state)
    content = read_output(state, item.get("output"), (kind, f"{spot.at}/output"), spot.place, spot.extra)
    first = content[0] if content else None
    said = outputs.decode(first.text) if type(first) is Text else outputs.NOTHING
    result = make_result(call_id, content, None, said.exit_code, said.wall_time, None, said.truncated)
    return message(state, spot, kind, id, "tool", "tool", (result,), turn, RESPONSE, "output", (), call_id)


def _tool_search_output(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    id, turn, _ = _common(item, kind, spot, state)
    call_id = _string(item, "call_id", kind, spot, state)
    result = ToolResult(call_id, (Unknown("tools", json_of(item.get("tools"))),))
    return message(state, spot, kind, id, "tool", "tool", (result,), turn, RESPONSE, "output", (), call_id)


def _event(item: Row, kind: str, spot: Spot, state: State) -> Draft:
    """An item that is no part of the talk: an undo point, or an encrypted compaction."""
    known = {"type", *ITEM_EVENT}
    for key in item:
        if key not in known:
            state.ledger.part("unknown-field", spot.place, f"{spot.table}/{key}", record=kind, pointer=f"{spot.at}/{key}")
    when, text = spot.time
    pointer = spot.at if spot.table == "/items/*" else ""
    data = {key: value for key, value in item.items() if key != "type"} | spot.extra
    event = open_event(
        state.keys.count(state.thread, kind),
        ITEM_EVENTS[kind],
        f"response_item/{kind}",
        None,
        json_of(data) if data else None,
        None,
        when,
        "recorded" if when is not None else None,
        text,
        None,
        state.context,
        origin=make_origin(state.path, *spot.place, None, None, None, pointer),
    )
    return Draft(event, kind, spot.extra, state.ordinal)


Reader: TypeAlias = Callable[[Row, str, Spot, State], Draft]
READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "message": _message,
        "agent_message": _agent_message,
        "reasoning": _reasoning,
        "function_call": _call,
        "custom_tool_call": _call,
        "local_shell_call": _local_shell,
        "tool_search_call": _tool_search,
        "web_search_call": _web_search,
        "image_generation_call": _image_generation,
        "function_call_output": _output,
        "custom_tool_call_output": _output,
        "tool_search_output": _tool_search_output,
        **dict.fromkeys(ITEM_EVENTS, _event),
    }
)
"""What reads each type of item."""


def said_text(text: str) -> tuple[Block, ...]:
    """What somebody said, as one block."""
    return (make_text(text),)
