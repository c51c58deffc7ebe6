"""Saved stdout of ``claude -p``: ``--output-format stream-json``, one frame a line, and ``json``, one document.

Frames have ``session_id`` and no parents; rows of sub-agents are told apart by ``parent_tool_use_id``. Token counts of
assistant frames are those of the response's beginning; the final ones stand in the ``result`` frame, which is an event of kind
``result``. Deltas of partial messages are events: the whole message follows.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from convparse.blocks import Block, Text, ToolResult
from convparse.ledger import ALWAYS, Fields, Ledger, Place
from convparse.records import Context, Conversation, Entry, Event, Link
from convparse.sources._reading import STRING, Extra, json_of, keep, odd, open_event, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.claude_code import tags
from convparse.sources.claude_code.content import read_block
from convparse.sources.claude_code.fields import ASSISTANT_MESSAGE, USER_MESSAGE
from convparse.sources.claude_code.responses import settle_usage
from convparse.sources.claude_code.state import Draft, State
from convparse.sources.claude_code.usage import read_usage
from convparse.times import iso_time

Frame = dict[str, Any]
_ENVELOPE: Final = frozenset({"type", "uuid", "session_id", "timestamp", "parent_tool_use_id", "message"})


def _fields(record: str, more: str, kept: str, skipped: Mapping[str, str] = MappingProxyType({})) -> Fields:
    return Fields(record, typed=_ENVELOPE | set(more.split()), kept=dict.fromkeys(kept.split(), ALWAYS), skipped=skipped)


ASSISTANT: Final = _fields(
    "frame/assistant",
    "",
    "error supersedes aborted agent_id api_error api_error_type api_error_status refused_message_id thinking_duration_ms"
    " thinking_display local_command_run context_usage user_message_uuid user_message_uuids subagent_type task_description",
    {"request_id": "the request's id in the API's logs; frames of one response share `message.id`"},
)
USER: Final = _fields(
    "frame/user",
    "tool_use_result isSynthetic",
    "isReplay origin tool_result_meta refusal_retry agent_id subagent_type task_description",
)
KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "system/init": "session-start",
        "system/compact_boundary": "compaction",
        "system/api_retry": "error",
        "result": "result",
        "stream_event": "delta",
    }
)
_KNOWN: Final = frozenset(
    "result stream_event rate_limit_event tool_progress tool_use_summary auth_status prompt_suggestion keep_alive active_goal"
    " conversation_reset control_request control_response control_cancel_request transcript_mirror command_lifecycle"
    " system/init system/status system/api_retry system/compact_boundary system/hook_started system/hook_progress"
    " system/hook_response system/task_started system/task_progress system/task_updated system/task_notification"
    " system/background_tasks_changed system/commands_changed system/notification system/files_persisted"
    " system/local_command_output system/informational system/memory_recall system/mirror_error system/model_refusal_fallback"
    " system/model_refusal_no_fallback system/permission_denied system/plugin_install system/session_state_changed"
    " system/session_writes_lost system/thinking_tokens system/worker_shutting_down system/elicitation_complete"
    " system/session_title_changed".split()
)


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a frame."""
    state = State(ledger)
    for value, place in units:
        yield _frame(value, place, state, "")


def read_document(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a frame of a document: the result alone, or an array of all frames."""
    state = State(ledger)
    for value, place in units:
        if type(value) is list:
            for at, item in enumerate(value):
                yield _frame(item, place, state, f"/{at}")
        else:
            yield _frame(value, place, state, "")


def _frame(value: Any, place: Place, state: State, at: str) -> Draft:
    kind = value.get("type") if type(value) is dict else None
    tidy = type(kind) is str and all(value.get(name).__class__ in STRING for name in _STRINGS)
    if not tidy:
        code = "unknown-record" if type(value) is dict else "not-an-object"
        state.ledger.part(code, place, record="frame", pointer=at)
        event = open_event(
            state.keys.count(None, "frame"), "unknown", "frame", None, json_of(value), origin=state.origin(place, at)
        )
        return Draft(event, "frame", place, None)
    if kind in ("assistant", "user") and type(value.get("message")) is dict:
        return _message(value, place, state, at)
    return _event(value, place, state, at)


_STRINGS: Final = ("uuid", "session_id", "timestamp", "parent_tool_use_id")


def _time(value: Frame, place: Place, state: State) -> tuple[Any, ...]:
    text = value.get("timestamp")
    if text is None:
        return None, None, None
    when, text = iso_time(text)
    if when is None:
        state.ledger.part("bad-timestamp", place, "/timestamp", record="frame")
    return when, when and "recorded", text


def _key(value: Frame, state: State) -> str:
    uuid = value.get("uuid")
    return state.keys.of(uuid) if uuid is not None else state.keys.count(value.get("session_id"), str(value["type"]))


def _message(value: Frame, place: Place, state: State, at: str) -> Draft:
    kind, message = value["type"], value["message"]
    extra: Extra = {}
    keep(extra, state.ledger.look(ASSISTANT if kind == "assistant" else USER, value, place), value, "")
    keep(
        extra,
        state.ledger.look(ASSISTANT_MESSAGE if kind == "assistant" else USER_MESSAGE, message, place),
        message,
        "/message",
    )
    texts: dict[str, Any] = {}
    for name in ("id", "model", "role", "stop_reason"):
        texts[name] = message.get(name)
        if texts[name].__class__ not in STRING:
            odd(state.ledger, extra, place, kind, f"/message/{name}", message[name])
            texts[name] = None
    parent, session = value.get("parent_tool_use_id"), value.get("session_id")
    if parent is not None and session is not None and state.sessions.get(parent) != session:
        state.sessions[parent] = extra["/session_id"] = session
    blocks = _blocks(message.get("content"), kind, place, state, extra)
    usage = read_usage(message["usage"], place, state, extra) if message.get("usage") is not None else None
    author: Any = "harness" if texts["model"] == "<synthetic>" else "model"
    if kind == "user":
        author, blocks = _who(value, blocks, extra)
    when, when_origin, when_text = _time(value, place, state)
    entry = open_message(
        _key(value, state),
        value.get("uuid"),
        texts["role"] or kind,
        author,
        blocks,
        when,
        when_origin,
        when_text,
        None,
        texts["id"],
        None,
        texts["model"],
        usage,
        texts["stop_reason"],
        None,
        "active",
        False,
        (),
        state.origin(place, at),
        json_of(extra) if extra else None,
    )
    facts = {"session": session, "iterations": extra.get("/message/usage/iterations")}
    return Draft(entry, str(kind), place, parent or session, value.get("uuid"), facts=facts, sidechain=bool(parent))


def _blocks(content: Any, record: str, place: Place, state: State, extra: Extra) -> tuple[Block, ...]:
    if type(content) is str:
        return (Text(content),)
    if type(content) is not list:
        odd(state.ledger, extra, place, f"frame/{record}", "/message/content", content)
        return ()
    return tuple(read_block(state, item, record, place, f"/message/content/{i}", extra) for i, item in enumerate(content))


def _who(value: Frame, blocks: tuple[Block, ...], extra: Extra) -> tuple[str, tuple[Block, ...]]:
    results = [block for block in blocks if type(block) is ToolResult]
    twin = value.get("tool_use_result")
    if len(results) == 1 and twin is not None:
        full = json_of(twin)
        blocks = tuple(attrs.evolve(block, full=full) if type(block) is ToolResult else block for block in blocks)
    elif twin is not None:
        extra["/tool_use_result"] = twin
    synthetic = value.get("isSynthetic") is True
    if "isSynthetic" in value:
        extra["/isSynthetic"] = value["isSynthetic"]
    if results:
        return "tool", blocks
    told: list[Block] = []
    for block in blocks:
        pieces = [tags.injected(block.text)] if synthetic and type(block) is Text else None
        told.extend(pieces or (tags.split(block.text) if type(block) is Text else [block]))
    if synthetic or not any(type(block) is Text for block in told):
        return "harness", tuple(told)
    return "model" if value.get("parent_tool_use_id") else "human", tuple(told)


def _event(value: Frame, place: Place, state: State, at: str) -> Draft:
    kind, subtype = value["type"], value.get("subtype")
    name = f"{kind}/{subtype}" if kind == "system" and type(subtype) is str else str(kind)
    if name not in _KNOWN:
        state.ledger.part("unknown-record", place, record=f"frame/{name}", pointer=at)
    when, when_origin, when_text = _time(value, place, state)
    text = value.get("result")
    taken = {"type", "uuid", "session_id", *(("timestamp",) if "timestamp" in value else ())}
    taken |= {"result"} if type(text) is str else set()
    took = value.get("duration_ms")
    data = {key: item for key, item in value.items() if key not in taken}
    event = open_event(
        _key(value, state),
        KINDS.get(name, "frame") if name in _KNOWN else "unknown",
        name,
        text if type(text) is str else None,
        json_of(data),
        value.get("uuid"),
        when,
        when_origin,
        when_text,
        context=_context(value) if name == "system/init" else None,
        duration=took / 1000 if type(took) is int else None,
        origin=state.origin(place, at),
    )
    named = "frame" if name in ("assistant", "user") else name  # no message: there is none in it
    return Draft(event, named, place, value.get("session_id"), value.get("uuid"), facts={"session": value.get("session_id")})


def _context(value: Frame) -> Context:
    names = ("cwd", "claude_code_version", "permissionMode")
    cwd, version, mode = (item if type(item := value.get(name)) is str else None for name in names)
    return Context(cwd, None, version, mode)


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a session, one a sub-agent."""
    conversations: list[Conversation] = []
    loose: list[Entry] = []
    for part in parts:
        groups: dict[str | None, list[Draft]] = {}
        for draft in part.drafts:
            groups.setdefault(draft.group, []).append(draft)
        loose.extend(_frozen(draft) for draft in groups.pop(None, []))
        settle_usage([(part.ledger, drafts) for drafts in groups.values()])
        conversations.extend(_conversation(group, drafts, groups) for group, drafts in groups.items())
    return conversations, loose


def _frozen(draft: Draft) -> Entry:
    from convparse.sources.claude_code.resolve import freeze

    return freeze(draft)


def _conversation(group: str | None, drafts: list[Draft], groups: dict[str | None, list[Draft]]) -> Conversation:
    entries = tuple(_frozen(draft) for draft in drafts)
    titles = [e for e in entries if isinstance(e, Event) and e.name == "system/session_title_changed" and e.data is not None]
    title = titles[-1].data.value.get("title") if titles and titles[-1].data is not None else None
    contexts = [entry.context for entry in entries if entry.context is not None]
    children = [
        Link("subagent", name, name)
        for name, rows in groups.items()
        if name is not None and rows[0].sidechain and (rows[0].facts or {}).get("session") == group and name != group
    ]
    return Conversation(
        group,
        "claude-code",
        title if type(title) is str else None,
        "session_title_changed" if type(title) is str else None,
        contexts[0] if contexts else None,
        links=tuple(children),
        entries=entries,
    )
