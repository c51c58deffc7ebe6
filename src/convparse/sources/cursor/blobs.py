"""Blobs of ``store.db``, to drafts and one conversation.

Messages are JSON in the AI SDK's form, without times. Turns say again in protobuf what messages say; what only they know, the
request and the times of tools, goes to the messages, and their steps are ``merged`` into the event of their turn.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, Final

import attrs

from convparse.blocks import ToolCall
from convparse.ledger import Fields, Ledger, Place, escape
from convparse.reading.decoding import Refused
from convparse.reading.rows import decode_value
from convparse.reading.tables import Record
from convparse.records import Context, Conversation, Event
from convparse.sources._reading import Extra, json_of, keep, open_event, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.cursor import protobuf
from convparse.sources.cursor.agents import decode_meta
from convparse.sources.cursor.parts import read_content
from convparse.sources.cursor.resolve import freeze
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.times import recorded

META: Final = Fields(
    "meta",
    typed=frozenset({"agentId", "name", "createdAt"}),
    kept=dict.fromkeys(
        "latestRootBlobId mode isRunEverything lastUsedModel currentPlanUri lastDebugServerPort workspacePath"
        " approvalMode".split()
    ),
    skipped={"blobEncryptionKey": "a key; it is never carried over"},
)
MESSAGE: Final = Fields("message", typed=frozenset({"role", "content", "id", "providerOptions"}))
ROOT: Final = frozenset({*range(1, 33)})
"""Numbers of the root's fields that were seen."""
_DEFAULT: Final = "New Agent"


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a store, in the order of the walk."""
    state = State(ledger)
    for record, place in units:
        yield from RECORDS[record.table](record, place, state)


def _meta(record: Record, place: Place, state: State) -> Iterator[Draft]:
    value = decode_meta(record.value)
    if type(value) is not dict:
        state.ledger.unit("malformed-value", place, record="meta")
        return
    extra: Extra = {}
    keep(extra, state.look(META)(value, place), value, "")
    name = state.typed(value.get("name"), str, extra, place, "meta", "/name")
    when = recorded(value.get("createdAt"))
    if when[0] is None and when[2] is not None:
        extra["/createdAt"] = value["createdAt"]
        state.ledger.part("bad-timestamp", place, "/createdAt", record="meta")
    group = value["agentId"] if type(value.get("agentId")) is str else ""
    if group == "" and value.get("agentId") is not None:
        extra["/agentId"] = value["agentId"]
    data = {pointer[1:]: item for pointer, item in extra.items()}
    event = open_event(
        state.keys.count(group, "meta"), "session", "meta", name, json_of(data), group, *when, origin=state.origin(place)
    )
    mode, folder = (value.get(key) if type(value.get(key)) is str else None for key in ("mode", "workspacePath"))
    facts = {"name": name if name != _DEFAULT else None, "made": when[0], "context": Context(folder, permission_mode=mode)}
    yield Draft(event, "head", place, group, None, facts)


def _root(record: Record, place: Place, state: State) -> Iterator[Draft]:
    """What the state of a conversation holds beside its messages and turns."""
    found = record.value["fields"]
    for number in found.keys() - ROOT:
        state.ledger.part("cursor/unknown-proto", place, f"/{number}", record="root")
    data = {str(n): [protobuf.plain(v) for v in values] for n, values in found.items()}
    event = open_event(
        state.keys.count("", "root"), "state", "root", None, json_of(data), record.key, origin=state.origin(place)
    )
    yield Draft(event, "root", place, "")


def _archive(record: Record, place: Place, state: State) -> Iterator[Draft]:
    """A compaction, with the summary that stands for what it took away."""
    found = record.value["fields"]
    summary = "\n".join(protobuf.texts(found, 2)) or None
    data = {str(n): [protobuf.plain(v) for v in values] for n, values in found.items() if n != 2}
    event = open_event(
        state.keys.count("", "archive"),
        "compaction",
        "summary-archive",
        summary,
        json_of(data),
        record.key,
        origin=state.origin(place),
    )
    yield Draft(event, "archive", place, "")


def _message(record: Record, place: Place, state: State) -> Iterator[Draft]:
    for draft in _read_message(record, place, state):
        state.said[record.key] = draft
        yield draft


def _again(record: Record, place: Place, state: State) -> Iterator[Draft]:
    """A message that is said once more: the same blob, and the same blocks."""
    draft = state.said[record.key]
    entry = copy(draft.entry)
    entry.key = state.keys.count("", record.key)
    yield Draft(entry, draft.name, place, "")


def _read_message(record: Record, place: Place, state: State) -> Iterator[Draft]:
    try:
        value = decode_value(record.value, state.ledger, place)
    except Refused:
        yield from _undecodable(record, place, state)
        return
    role = value.get("role") if type(value) is dict else None
    if type(role) is not str:
        state.ledger.part("unknown-record", place, record="message")
        event = open_event(state.keys.count("", "odd"), "unknown", "message", None, json_of(value), origin=state.origin(place))
        yield Draft(event, "odd", place, "")
        return
    extra: Extra = {}
    keep(extra, state.look(MESSAGE)(value, place), value, "")
    options = _options(value.get("providerOptions"), extra)
    id = state.typed(value.get("id"), str, extra, place, "message", "/id")
    request, model = (
        state.typed(options.get(key), str, extra, place, "message", f"{_CURSOR}/{key}") for key in ("requestId", "modelName")
    )
    summary = options.get("isSummary")
    if summary is not None:
        extra[f"{_CURSOR}/isSummary"] = summary
    blocks = read_content(state, value.get("content"), role, place, "/content", extra)
    entry = open_message(
        state.keys.count("", f"{record.key}"),
        id,
        role,
        _author(role, blocks, summary),
        tuple(blocks),
        turn_id=request,
        model=model,
        origin=state.origin(place),
        extra=json_of(extra) if extra else None,
    )
    yield Draft(entry, "message", place, "")


def _undecodable(record: Record, place: Place, state: State) -> Iterator[Draft]:
    state.ledger.part("cursor/undecodable-blob", place, record="blob")
    event = open_event(
        state.keys.count("", "blob"), "unknown", "blob", None, json_of({"hex": record.value.hex()}), origin=state.origin(place)
    )
    yield Draft(event, "odd", place, "")


_CURSOR: Final = "/providerOptions/cursor"


def _options(options: Any, extra: Extra) -> dict[str, Any]:
    own = options.get("cursor") if type(options) is dict else None
    if type(own) is not dict:
        if options is not None:
            extra["/providerOptions"] = options
        return {}
    extra.update({f"/providerOptions/{escape(key)}": item for key, item in options.items() if key != "cursor"})
    known = ("requestId", "modelName", "isSummary")
    extra.update({f"{_CURSOR}/{escape(key)}": item for key, item in own.items() if key not in known})
    return own


def _author(role: str, blocks: list[Any], summary: Any) -> Any:
    if role == "user":
        injected = bool(blocks) and all(type(block).__name__ == "Injected" for block in blocks)
        return "harness" if summary or injected else "human"
    return {"assistant": "model", "tool": "tool", "system": "harness"}.get(role)


def _turn(record: Record, place: Place, state: State) -> Iterator[Draft]:
    found = record.value["fields"]
    data = {str(n): [protobuf.plain(v) for v in values] for n, values in found.items()}
    inner = data.get("1", [None])[0]
    request = inner.get("3", [None])[0] if type(inner) is dict else None
    event = open_event(
        state.keys.count("", "turn"),
        "turn",
        "turn",
        None,
        json_of(data),
        request if type(request) is str else None,
        origin=state.origin(place),
    )
    yield Draft(event, "turn", place, "", event.id, {"steps": [], "data": data})


def _part_of_turn(record: Record, place: Place, state: State) -> Iterator[Draft]:
    found = record.value["fields"]
    data = {str(n): [protobuf.plain(v) for v in values] for n, values in found.items()}
    yield Draft(None, record.table, place, "", None, {"data": data, "origin": state.origin(place)})


RECORDS: Final[Mapping[str, Callable[[Record, Place, State], Iterator[Draft]]]] = MappingProxyType(
    {
        "meta": _meta,
        "root": _root,
        "archive": _archive,
        "message": _message,
        "again": _again,
        "turn": _turn,
        "prompt": _part_of_turn,
        "step": _part_of_turn,
        "undecodable": _undecodable,
    }
)
"""What reads each kind of blob."""


# ---- the conversation ------------------------------------------------------------------------------------------------------


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation."""
    drafts = [draft for part in parts for draft in part.drafts]
    beside = _beside(session)
    if not drafts:
        return [], [beside] if beside is not None else []
    head = next((draft for draft in drafts if draft.name == "head"), None)
    _settle_turns(drafts)
    facts: dict[str, Any] = head.facts if head is not None else {}
    context = facts.get("context")
    if beside is not None and beside.context is not None and (context is None or context.cwd is None):
        context = attrs.evolve(context or Context(), cwd=beside.context.cwd)
    entries = tuple(freeze(draft.entry) for draft in drafts if draft.entry is not None)
    title = facts.get("name")
    made = Conversation(
        head.group if head is not None else None,
        "cursor",
        title,
        "meta" if title is not None else None,
        context if context != Context() else None,
        facts.get("made"),
        body="complete" if any(draft.name == "root" for draft in drafts) else "missing",
        entries=entries,
    )
    return [made], [beside] if beside is not None else []


def _settle_turns(drafts: list[Draft]) -> None:
    """Steps go to their turns, times of tools to the messages that call them."""
    turn: Draft | None = None
    times: dict[str, Any] = {}
    for draft in drafts:
        if draft.name == "turn":
            turn = draft
        elif draft.name in ("prompt", "step") and turn is not None:
            turn.facts["steps"].append({draft.name: draft.facts["data"]})
            turn.entry.merged = (*turn.entry.merged, draft.facts["origin"])
            _tool_times(draft.facts["data"], times)
    for draft in drafts:
        if draft.name == "turn":
            draft.entry.data = json_of({**draft.facts["data"], "steps": draft.facts["steps"]})
        elif draft.name == "message" and draft.entry.timestamp is None:
            calls = [block.id for block in draft.entry.blocks if type(block) is ToolCall]
            when = next((times[id] for id in calls if id in times), None)
            if when is not None:
                draft.entry.timestamp, draft.entry.timestamp_origin, draft.entry.timestamp_text = when


def _tool_times(data: dict[str, Any], times: dict[str, Any]) -> None:
    """The time at which each tool of a step was started: fields 57 and 59 of its call."""
    for inner in data.get("2", []):
        id, started = (inner.get(key, [None])[0] for key in ("57", "59")) if type(inner) is dict else (None, None)
        when = recorded(started)
        if type(id) is str and when[0] is not None:
            times[id] = when


def _beside(session: Session) -> Event | None:
    """``meta.json`` beside a store: the folder it belongs to."""
    found = session.document("meta.json")
    if found is None:
        return None
    origin, value = found
    cwd = value.get("cwd") if type(value) is dict else None
    context = Context(cwd) if type(cwd) is str else None
    return Event("meta.json", "session", "meta.json", data=json_of(value), context=context, origin=origin)
