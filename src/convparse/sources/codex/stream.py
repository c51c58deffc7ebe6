"""Saved stdout of ``codex exec --json``, in both grammars; neither is a rollout.

Since 0.44 a line tells of a thread, a turn, or an item that was started, updated or completed; an item's lines become one
message, which has the last of them as the result's ``full`` and the earlier ones in ``extra``. Up to 0.42 the first line has
the settings, the second the prompt, all others an event under ``msg``. There are no times; since 0.44 no prompt and no model.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from convparse._make import close
from convparse.blocks import Block, Text, ToolCall, ToolResult
from convparse.ledger import ALWAYS, Fields, Ledger, Place
from convparse.records import Context, Conversation, Entry, Event, Message
from convparse.sources._reading import STRING, Extra, json_of, keep, open_event, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.codex.calls import seconds
from convparse.sources.codex.items import thinking
from convparse.sources.codex.state import Draft, State
from convparse.sources.codex.usage import read_usage

Row: TypeAlias = dict[str, Any]


def _kept(keys: str) -> dict[str, object]:
    return dict.fromkeys(keys.split(), ALWAYS)


LINES: Final[Mapping[str, tuple[str, Fields]]] = MappingProxyType(
    {
        name: (kind, Fields(name, typed=frozenset({"type"}), kept=_kept(keys)))
        for name, kind, keys in (
            ("thread.started", "session", "thread_id"),
            ("turn.started", "turn-start", ""),
            ("turn.completed", "turn-end", "usage"),
            ("turn.failed", "error", "error"),
            ("error", "error", "message"),
        )
    }
)
WORDS: Final = ("item.completed", "item.started", "item.updated")
ITEM_LINE: Final = Fields("item", typed=frozenset({"type", "item"}))
ITEMS: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        name: Fields(f"item/{name}", "/item", typed=frozenset({"type", "id"}), kept=_kept(keys))
        for name, keys in (
            ("agent_message", "text"),
            ("reasoning", "text"),
            ("command_execution", "command aggregated_output exit_code status"),
            ("file_change", "changes status"),
            ("mcp_tool_call", "server tool arguments result error status"),
            ("collab_tool_call", "tool sender_thread_id receiver_thread_ids prompt agents_states status"),
            ("web_search", "query action"),
            ("todo_list", "items"),
            ("error", "message"),
        )
    }
)
_CALLS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "command_execution": ("execute", "command"),
        "file_change": ("edit", "changes"),
        "mcp_tool_call": ("other", "server tool arguments"),
        "collab_tool_call": ("other", "tool prompt receiver_thread_ids"),
        "web_search": ("search", "query action"),
    }
)
"""Items that are calls: their kind, and what of them is the input."""
_EVENTS: Final[Mapping[str, str]] = MappingProxyType({"todo_list": "plan", "error": "error"})

MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "session_configured": "session",
        "task_started": "turn-start",
        "task_complete": "turn-end",
        "turn_aborted": "turn-end",
        "token_count": "usage",
        "error": "error",
        "stream_error": "error",
        "background_event": "notice",
        "agent_message_delta": "delta",
        "agent_reasoning_delta": "delta",
        "agent_reasoning_raw_content_delta": "delta",
        "agent_reasoning_section_break": "delta",
        "exec_command_output_delta": "delta",
        "patch_apply_begin": "edit",
        "patch_apply_end": "edit",
        "turn_diff": "edit",
        "mcp_tool_call_begin": "call",
        "mcp_tool_call_end": "call",
        "web_search_begin": "call",
        "web_search_end": "call",
        "plan_update": "plan",
        "exec_approval_request": "permission",
        "apply_patch_approval_request": "permission",
        "shutdown_complete": "session",
    }
)
"""Messages of the older grammar that are events, and their kind."""


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a line."""
    state = State(ledger)
    for value, place in units:
        yield _line(value, place, state)


def _line(value: Any, place: Place, state: State) -> Draft:
    if type(value) is not dict:
        state.ledger.part("not-an-object", place)
        return _event(state, place, "unknown", "not-an-object", None, value)
    kind, message = value.get("type"), value.get("msg")
    if type(kind) is str and kind in WORDS and type(value.get("item")) is dict:
        return _item(value, value["item"], place, state)
    if type(kind) is str and kind in LINES:
        return _told(value, kind, place, state)
    if type(message) is dict and type(message.get("type")) is str:
        return _message(value, message, place, state)
    if type(value.get("prompt")) is str:
        return _prompt(value, place, state)
    if "model" in value and "type" not in value:
        names = [item if type(item := value.get(name)) is str else None for name in ("workdir", "approval", "sandbox")]
        state.context = Context(names[0], None, None, names[1], names[2])
        state.model = value["model"] if type(value["model"]) is str else None
        return _event(state, place, "session", "settings", None, value)
    return _unknown(value, place, state, kind if type(kind) is str else "line")


def _unknown(value: Row, place: Place, state: State, name: str) -> Draft:
    state.ledger.part("unknown-record", place, record=name)
    return _event(state, place, "unknown", name, None, value)


def _event(state: State, place: Place, kind: str, name: str, text: str | None, data: Any) -> Draft:
    event = open_event(
        state.keys.count(state.thread, name),
        kind,
        name,
        text,
        None if data == {} else json_of(data),
        context=state.context,
        origin=state.origin(place),
    )
    draft = Draft(event, "unknown" if kind == "unknown" else name)
    draft.facts = data if type(data) is dict else None
    return draft


def _spoken(
    state: State, place: Place, name: str, id: str | None, role: str, author: Any, blocks: tuple[Block, ...], extra: Extra
) -> Draft:
    entry = open_message(
        state.keys.of(id) if id is not None else state.keys.count(state.thread, name),
        id,
        role,
        author,
        blocks,
        model=state.model if author == "model" else None,
        context=state.context,
        origin=state.origin(place),
    )
    return Draft(entry, name, extra)


# ---- since 0.44 ------------------------------------------------------------------------------------------------------------


def _told(value: Row, kind: str, place: Place, state: State) -> Draft:
    event, fields = LINES[kind]
    shape = state.look(fields)(value, place)
    if kind == "thread.started" and state.thread is None and type(value.get("thread_id")) is str:
        state.thread = value["thread_id"]
    text = value.get("message")
    data = {key: value[key] for key, _ in shape.kept}
    return _event(state, place, event, kind, text if type(text) is str else None, data)


def _item(value: Row, item: Row, place: Place, state: State) -> Draft:
    kind, id = item.get("type"), item.get("id")
    if type(kind) is not str or kind not in ITEMS or id.__class__ not in STRING:
        return _unknown(value, place, state, f"item/{kind}" if type(kind) is str else "item")
    extra: Extra = {}
    keep(extra, state.look(ITEM_LINE)(value, place), value, "")
    state.look(ITEMS[kind])(item, place)
    if kind in _EVENTS:
        text = item.get("message")
        extra |= {"/type": value["type"]} if value["type"] != "item.completed" else {}
        return _event(state, place, _EVENTS[kind], kind, text if type(text) is str else None, item | extra)
    text = item.get("text")
    blocks: tuple[Block, ...]
    if kind in _CALLS:
        event, names = _CALLS[kind]
        blocks = _called(item, kind, event, names)
    elif type(text) is str:
        blocks = (Text(text),) if kind == "agent_message" else thinking((text,), None)
        extra |= {f"/item/{key}": item[key] for key in item if key not in ("type", "id", "text")}
    else:
        return _unknown(value, place, state, f"item/{kind}")
    draft = _spoken(state, place, kind, id, "assistant", "model", blocks, extra)
    draft.facts = {"item": item, "word": value["type"]}
    return draft


def _called(item: Row, kind: str, event: str, names: str) -> tuple[Block, ...]:
    id, code, status, output = (item.get(name) for name in ("id", "exit_code", "status", "aggregated_output"))
    tool = item.get("tool")
    call = ToolCall(
        id,
        tool if type(tool) is str else kind,
        event,
        json_of({name: item[name] for name in names.split() if name in item}),
    )
    inside = (Text(output),) if type(output) is str and output else ()
    result = ToolResult(
        id,
        inside,
        True if item.get("error") is not None else None,
        code if type(code) is int else None,
        None,
        status if type(status) is str else None,
        False,
        json_of(item),
    )
    return call, result


# ---- up to 0.42 ------------------------------------------------------------------------------------------------------------


def _prompt(value: Row, place: Place, state: State) -> Draft:
    extra = {f"/{key}": item for key, item in value.items() if key != "prompt"}
    for key in value:
        if key != "prompt":
            state.ledger.part("unknown-field", place, f"/{key}", record="prompt")
    return _spoken(state, place, "prompt", None, "user", "human", (Text(value["prompt"]),), extra)


def _message(value: Row, message: Row, place: Place, state: State) -> Draft:
    kind = message["type"]
    text = message.get("text" if kind.startswith("agent_reasoning") else "message")
    call_id = message.get("call_id")
    blocks: tuple[Block, ...]
    role, author = "assistant", "model"
    used = {"type"}
    if kind == "agent_message" and type(text) is str:
        blocks, used = (Text(text),), {"type", "message"}
    elif kind in ("agent_reasoning", "agent_reasoning_raw_content") and type(text) is str:
        blocks, used = thinking((text,), None), {"type", "text"}
    elif kind == "exec_command_begin" and call_id.__class__ in STRING:
        given = {key: message[key] for key in ("command", "cwd") if key in message}
        blocks, used = (ToolCall(call_id, kind, "execute", json_of(given)),), {"type", "call_id", "command", "cwd"}
    elif kind == "exec_command_end" and call_id.__class__ in STRING:
        blocks, used, role, author = (_ended(message, call_id),), set(message), "tool", "tool"
    else:
        known = kind in MESSAGES
        if not known:
            state.ledger.part("unknown-record", place, record=f"msg/{kind}")
        said = text if type(text) is str else None
        return _event(state, place, MESSAGES.get(kind, "unknown"), kind, said, value)
    extra: Extra = {f"/msg/{key}": item for key, item in message.items() if key not in used}
    extra |= {f"/{key}": item for key, item in value.items() if key != "msg"}
    return _spoken(state, place, kind, None, role, author, blocks, extra)


def _ended(message: Row, call_id: str | None) -> ToolResult:
    code, output = message.get("exit_code"), message.get("formatted_output", message.get("aggregated_output"))
    inside = (Text(output),) if type(output) is str else ()
    took = seconds(message.get("duration"))
    return ToolResult(call_id, inside, None, code if type(code) is int else None, took, None, False, json_of(message))


# ---- the conversation ------------------------------------------------------------------------------------------------------


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a file; what an item became later is folded into its first line."""
    conversations: list[Conversation] = []
    for part in parts:
        drafts = _fold_items(part.drafts)
        _settle_usage(drafts)
        conversations += [_conversation(drafts)] if drafts else []
    return conversations, []


def _fold_items(drafts: list[Draft]) -> list[Draft]:
    open_items: dict[str, Draft] = {}
    left = []
    for draft in drafts:
        item = (draft.facts or {}).get("item")
        first = open_items.get(draft.id) if item is not None and draft.id is not None else None
        if first is None or draft.name != first.name:
            left.append(draft)
            if item is not None and draft.id is not None:
                open_items[draft.id] = draft
        else:
            _renew(first, draft)
        if item is not None and draft.id is not None and (draft.facts or {}).get("word") == "item.completed":
            open_items.pop(draft.id, None)
    return left


def _renew(first: Draft, later: Draft) -> None:
    """An item's later line has the last word; what the earlier one said stays in ``extra``."""
    facts, number = first.facts or {}, len(first.entry.merged)
    now = (later.facts or {})["item"]
    pointer = "/item" if number == 0 else f"merged/{number - 1}/item"
    if facts["item"] != now:
        first.extra[pointer] = facts["item"]
    first.extra.update({f"merged/{number}{key}": item for key, item in later.extra.items()})
    if (later.facts or {})["word"] != "item.completed":
        first.extra[f"merged/{number}/type"] = (later.facts or {})["word"]
    first.entry.blocks = later.entry.blocks
    first.entry.merged = (*first.entry.merged, later.entry.origin)
    facts["item"] = now


def _settle_usage(drafts: list[Draft]) -> None:
    """A turn's tokens go to the last message of the model in it."""
    last: Any = None
    total: Any = None
    for draft in drafts:
        if isinstance(draft.entry, Message):
            last = draft.entry if draft.entry.author == "model" else last
            continue
        facts = draft.facts or {}
        raw = facts.get("usage") if draft.name == "turn.completed" else None
        message = facts.get("msg")
        if draft.name == "token_count" and type(message) is dict:
            info = message.get("info")
            raw = info.get("last_token_usage") if type(info) is dict else message
            now = info.get("total_token_usage") if type(info) is dict else None
            raw, total = (None, total) if now is not None and now == total else (raw, now)
        usage = read_usage(raw)
        if usage is not None and last is not None:
            last.usage = usage if last.usage is None else last.usage + usage


def _conversation(drafts: list[Draft]) -> Conversation:
    entries: list[Entry] = []
    for draft in drafts:
        if isinstance(draft.entry, Event):
            entries.append(close(draft.entry, Event))
            continue
        word = (draft.facts or {}).get("word")
        if word not in (None, "item.completed"):
            draft.extra["/type"] = word
        if draft.extra:
            draft.entry.extra = json_of(draft.extra)
        entries.append(close(draft.entry, Message))
    threads = [d.facts.get("thread_id") for d in drafts if d.facts is not None and d.name == "thread.started"]
    contexts = [entry.context for entry in entries if entry.context is not None]
    prompted = any(entry.author == "human" for entry in entries if isinstance(entry, Message))
    return Conversation(
        threads[0] if threads and type(threads[0]) is str else None,
        "codex",
        context=contexts[0] if contexts else None,
        body="complete" if prompted else "partial",
        entries=tuple(entries),
    )
