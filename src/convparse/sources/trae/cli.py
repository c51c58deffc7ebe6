"""TRAE CLI 1.x: one folder a session, with ``session.json``, ``events.jsonl`` and ``traces.jsonl``.

Of an event, the one key beside its envelope is its type, and only ``message`` is documented; other payloads become events that
hold them whole. Several spans of one trace repeat the usage of one request: the span that says most is the ``usage`` event, the
others are ``superseded``. A cache cleaner may have taken any of the three files.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convparse.blocks import Block
from convparse.ledger import Ledger, Place, escape
from convparse.records import Context, Conversation
from convparse.sources._reading import Extra, json_of, make_call, make_result, make_text, make_thinking, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.trae.fields import CLI_CALL, CLI_EVENT, CLI_EVENTS, CLI_MESSAGE, CLI_METADATA, CLI_SESSION, KINDS, SPAN
from convparse.sources.trae.messages import key_of, read_content
from convparse.sources.trae.resolve import freeze
from convparse.sources.trae.state import Draft, Opened, State
from convparse.sources.trae.steps import decoded, said_by

ROLES: Final = {"user": "human", "assistant": "model", "tool": "tool", "system": "harness"}
_ENVELOPE: Final = frozenset({"id", "session_id", "created_at"})
_TOTALS: Final = ("usage.input_tokens", "usage.output_tokens", "usage.cache_read_tokens", "usage.reasoning_tokens")


# ---- session.json ----------------------------------------------------------------------------------------------------------


def read_session(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The head of a session."""
    state = State(ledger)
    for value, place in units:
        if type(value) is not dict:
            yield state.odd_event(value, "session.json", place, None)
            continue
        extra: Extra = {}
        session = state.open(value, CLI_SESSION, place, "", extra)
        id = session.text("id")
        made, changed = session.time("created_at"), session.time("updated_at")
        if value.get("updated_at") is not None:
            extra["/updated_at"] = value["updated_at"]
        metadata = session.first("metadata", dict) or {}
        if metadata:
            state.open(metadata, CLI_METADATA, place, "/metadata", extra)
        told = {key: item for key, item in metadata.items() if type(item) is str}
        event = state.event(
            "session",
            "session.json",
            place,
            id,
            json_of({pointer[1:]: item for pointer, item in extra.items()}) if extra else None,
            text=told.get("title"),
            id=id,
            timestamp=made[0],
            timestamp_origin=made[1],
            timestamp_text=made[2],
        )
        facts = {"title": told.get("title"), "made": made[0], "changed": changed[0], "metadata": told}
        yield Draft(event, "session", place, id, facts)


# ---- events.jsonl ----------------------------------------------------------------------------------------------------------


def read_events(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a line."""
    state = State(ledger)
    for value, place in units:
        names = [key for key in value if key not in _ENVELOPE] if type(value) is dict else []
        group = value.get("session_id") if type(value) is dict else None
        group = group if type(group) is str else None
        if len(names) != 1:
            yield state.odd_event(value, "event", place, group)
            continue
        yield _event(state, value, names[0], place, group)


def _event(state: State, value: dict[str, Any], name: str, place: Place, group: str | None) -> Draft:
    payload = value[name]
    extra: Extra = {}
    line = Opened(state, value, CLI_EVENT, place, "", extra)
    state.look(CLI_EVENT)({key: value[key] for key in value if key in _ENVELOPE}, place)
    if value.get("session_id") is not None and group is None:
        line.odd("session_id")
    id, when = line.text("id"), line.time("created_at")
    inner = payload.get("message") if type(payload) is dict else None
    if name == "message" and type(inner) is dict:
        extra.update({f"/message/{escape(key)}": item for key, item in payload.items() if key != "message"})
        return _said(state, inner, place, group, id, when, extra)
    if name == "tool_call" and type(payload) is dict and _name_of(payload) is not None:
        return _called(state, payload, place, group, id, when, extra)
    if name not in CLI_EVENTS:
        state.ledger.part("unknown-record", place, f"/{escape(name)}", record=name)
    event = state.event(
        CLI_EVENTS.get(name, "unknown"),
        name,
        place,
        group,
        json_of({escape(name): payload, **{pointer[1:]: item for pointer, item in extra.items()}}),
        id=id,
        timestamp=when[0],
        timestamp_origin=when[1],
        timestamp_text=when[2],
    )
    return Draft(event, name, place, group)


def _message(
    state: State, place: Place, group: str | None, id: str | None, role: str, blocks: list[Block], when: Any, extra: Extra
) -> Draft:
    entry = open_message(
        key_of(state, group, id, place, str(place[1])),
        id,
        role,
        ROLES.get(role),
        tuple(blocks),
        *when,
        origin=state.origin(place),
    )
    entry.extra = json_of(extra) if extra else None
    return Draft(entry, "message", place, group)


def _said(
    state: State, value: dict[str, Any], place: Place, group: str | None, id: str | None, when: Any, extra: Extra
) -> Draft:
    at = "/message/message"
    message = state.open(value, CLI_MESSAGE, place, at, extra)
    role = message.text("role")
    if role not in ROLES:
        message.name("trae/unknown-role", "role")
    thought, call_id, name = (message.text(key) for key in ("reasoning_content", "tool_call_id", "name"))
    if name is not None:
        extra[f"{at}/name"] = name
    blocks: list[Block] = [make_thinking(thought)] if thought else []
    said = read_content(state, value.get("content"), place, f"{at}/content", extra)
    if role == "tool":
        inside = tuple(part for part in said)
        blocks.append(make_result(call_id, inside))  # type: ignore[arg-type]
    else:
        blocks += said
        if call_id is not None:
            extra[f"{at}/tool_call_id"] = call_id
    blocks += requested(state, message.first("tool_calls", list) or [], place, f"{at}/tool_calls", extra)
    return _message(state, place, group, id, role or "", blocks, when, extra)


def requested(state: State, items: list[Any], place: Place, at: str, extra: Extra) -> list[Block]:
    """Calls as OpenAI's interface writes them, with arguments as JSON in a string."""
    blocks: list[Block] = []
    for number, item in enumerate(items):
        here = f"{at}/{number}"
        function = item.get("function") if type(item) is dict else None
        name = function.get("name") if type(function) is dict else None
        id = item.get("id") if type(item) is dict else None
        if type(name) is not str or type(function) is not dict or not (id is None or type(id) is str):
            extra[here] = item
            state.ledger.part("unexpected-type", place, "/tool_calls/*", record="tool_calls", pointer=here)
            continue
        given = function.get("arguments")
        inner, same = decoded(given) if type(given) is str else (given, True)
        if inner is not None and not same:
            extra[f"{here}/function/arguments"] = given
        told = given if inner is None and type(given) is str else "" if given is None else json_of(inner)
        rest = {k: v for k, v in item.items() if k not in ("id", "function") and (k, v) != ("type", "function")}
        extra.update({f"{here}/{escape(k)}": v for k, v in rest.items()})
        extra.update({f"{here}/function/{escape(k)}": v for k, v in function.items() if k not in ("name", "arguments")})
        blocks.append(make_call(id, name, KINDS.get(name, "other"), told))
    return blocks


def _name_of(payload: dict[str, Any]) -> str | None:
    return next((payload[key] for key in ("name", "tool_name") if type(payload.get(key)) is str), None)


def _called(
    state: State, payload: dict[str, Any], place: Place, group: str | None, id: str | None, when: Any, extra: Extra
) -> Draft:
    at = "/tool_call"
    call = state.open(payload, CLI_CALL, place, at, extra)
    call_id, name = call.text("id call_id tool_call_id"), call.text("name tool_name")
    given = call.first("arguments args input params", dict, list, str)
    inner, same = decoded(given) if type(given) is str else (given, True)
    if inner is not None and not same:
        extra[f"{at}/arguments"] = given
    told = given if inner is None and type(given) is str else "" if given is None else json_of(inner)
    blocks: list[Block] = [make_call(call_id, name, KINDS.get(name, "other"), told)]
    result, status = call.first("result output", dict, list, str), call.text("status")
    if result is not None:
        parts = tuple(make_text(text) for text in said_by(result))
        full = json_of(result) if type(result) is not str else None
        blocks.append(make_result(call_id, parts, None, None, None, status, False, full))
    elif status is not None:
        extra[f"{at}/status"] = status
    return _message(state, place, group, id, "assistant", blocks, when, extra)


# ---- traces.jsonl ----------------------------------------------------------------------------------------------------------


def read_traces(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a span."""
    state = State(ledger)
    for value, place in units:
        if type(value) is not dict or type(value.get("traceID")) is not str:
            yield state.odd_event(value, "span", place, None)
            continue
        extra: Extra = {}
        span = state.open(value, SPAN, place, "", extra)
        when = span.time("startTime")
        took = value.get("duration")
        tags = usage_of(value)
        event = state.event(
            "usage" if tags else "trace",
            "span",
            place,
            None,
            json_of({pointer[1:]: item for pointer, item in extra.items()}),
            timestamp=when[0],
            timestamp_origin=when[1],
            timestamp_text=when[2],
            duration=took / 1_000_000 if type(took) is int else None,
        )
        yield Draft(event, "span", place, None, {"trace": value["traceID"], "total": sum(tags.values())})


def usage_of(span: dict[str, Any]) -> dict[str, int]:
    """The token counts among the tags of a span."""
    tags = span.get("tags")
    found: dict[str, int] = {}
    for tag in tags if type(tags) is list else ():
        key, value = (tag.get("key"), tag.get("value")) if type(tag) is dict else (None, None)
        if type(key) is str and key in _TOTALS and type(value) is int:
            found[key] = value
    return found


# ---- the conversation ------------------------------------------------------------------------------------------------------


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a folder; spans name no session, and belong to that of their folder."""
    drafts = [draft for part in parts for draft in part.drafts]
    _supersede(drafts)
    own = next((draft.group for draft in drafts if draft.group is not None), None)
    groups: dict[str, list[Draft]] = {}
    for draft in drafts:
        group = draft.group or own
        if group is not None:
            groups.setdefault(group, []).append(draft)
    loose = [] if own is not None else [freeze(draft.entry) for draft in drafts]
    return [_conversation(id, found) for id, found in groups.items()], loose


def _supersede(drafts: list[Draft]) -> None:
    """Of the spans of a trace that count tokens, only the one that counts most stands."""
    most: dict[str, Draft] = {}
    for draft in drafts:
        trace = draft.facts.get("trace")
        if trace is None or not draft.facts["total"]:
            continue
        known = most.get(trace)
        if known is not None and draft.facts["total"] <= known.facts["total"]:
            draft.entry.state = "superseded"
            continue
        if known is not None:
            known.entry.state = "superseded"
        most[trace] = draft


def _conversation(id: str, drafts: list[Draft]) -> Conversation:
    facts = next((draft.facts for draft in drafts if draft.name == "session"), {})
    told = facts.get("metadata", {})
    context = Context(told.get("cwd"), permission_mode=told.get("permission_mode")) if told else None
    said = any(draft.name == "message" for draft in drafts)
    return Conversation(
        id,
        "trae",
        facts.get("title"),
        "session.json" if facts.get("title") else None,
        context,
        facts.get("made"),
        facts.get("changed"),
        body="complete" if said and facts else "partial" if said else "missing",
        entries=tuple(freeze(draft.entry) for draft in drafts),
    )
