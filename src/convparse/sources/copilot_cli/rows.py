"""Events of a session, to drafts: one plain function an event type, found in ``ROWS``.

What comes in: one decoded event and its place. What goes out: a draft whose open record holds every unit fact of the event, or
a draft without a record for what ``SKIPPED`` names. An event of an unknown type, or of an unexpected make, becomes an event of
kind ``unknown`` that holds it whole. Never looked at: any other event but what ``State`` remembers of those before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from convparse.ledger import Ledger, Place
from convparse.records import Context
from convparse.sources._reading import json_of, open_event
from convparse.sources._source import Unit
from convparse.sources.copilot_cli.fields import EVENTS, PERMISSION, PLAIN, SKIPPED, TABLES
from convparse.sources.copilot_cli.messages import (
    read_abort,
    read_assistant,
    read_permission,
    read_reasoning,
    read_system,
    read_tool_complete,
    read_tool_start,
    read_tool_user,
    read_user,
)
from convparse.sources.copilot_cli.state import Draft, Event, State


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a session's events, in file order."""
    state = State(ledger)
    for value, place in units:
        yield read_event(value, place, state)


def read_event(value: Any, place: Place, state: State, at: str = "") -> Draft:
    """The draft of one event."""
    if type(value) is not dict or type(value.get("type")) is not str or type(value.get("data")) is not dict:
        return _odd(value, place, state, at)
    name = value["type"]
    if name in SKIPPED:
        state.ledger.unit("skipped-record", place, record=name)
        return Draft(None, name, place, None)
    event = Event(value, place, state, at)
    handler = ROWS.get(name)
    if handler is not None:
        return handler(event)
    if name not in PLAIN:
        event.note("unknown-record", "")
        return _event(event, "unknown", None)
    return _event(event, name.split(".")[0], None)


def _odd(value: Any, place: Place, state: State, at: str) -> Draft:
    """What is no event at all, held whole."""
    name = value.get("type") if type(value) is dict else None
    name = name if type(name) is str else "event"
    code = "unknown-record" if type(value) is dict else "not-an-object"
    state.ledger.part(code, place, record=name, pointer=at)
    key = state.keys.count(state.session, name)
    return Draft(open_event(key, "unknown", name, None, json_of(value), origin=state.origin(place, at)), name, place, None)


def _event(event: Event, kind: str, text_key: str | None) -> Draft:
    """An event: what a person would read of it, and all its data."""
    text = event.data.get(text_key) if text_key is not None else None
    if text is not None and type(text) is not str:
        event.note("unexpected-type", f"/data/{text_key}")
        text = None
    data = {key: item for key, item in event.data.items() if key != text_key or text is None}
    data.update({pointer: item for pointer, item in event.extra.items() if not pointer.startswith("/data/")})
    entry = open_event(
        event.key,
        kind,
        event.name,
        text,
        json_of(data) if data else None,
        event.id,
        event.when,
        event.recorded,
        event.when_text,
        event.parent,
        event.state.context,
        origin=event.state.origin(event.place, event.at),
    )
    took = event.data.get("durationMs")
    entry.duration = took / 1000 if type(took) is int or type(took) is float else None
    return Draft(entry, event.name, event.place, event.group)


def _known(event: Event) -> Draft:
    kind, text_key, _ = EVENTS[event.name]
    if event.name in TABLES:
        event.keep(TABLES[event.name], event.data, "/data")
    draft = _event(event, kind, text_key)
    draft.facts = {key: event.data[key] for key in _FACTS if key in event.data}
    return draft


_FACTS: Final = (
    *"sessionId copilotVersion startTime context infoType message toolCallId usage agentName".split(),
    "detachedFromSpawningParentSessionId",
)


def _start(event: Event) -> Draft:
    """A process begins or takes up a session: from here on its circumstances hold."""
    id = event.data.get("sessionId")
    event.state.session = id if type(id) is str else event.state.session
    about, last = event.data.get("context"), event.state.context or Context()
    about = about if type(about) is dict else {}
    version = event.data.get("copilotVersion", last.version)
    cwd, branch = about.get("cwd", last.cwd), about.get("branch", last.git_branch)
    effort = event.data.get("reasoningEffort", last.effort)
    facts = [item if type(item) is str else None for item in (cwd, branch, version, effort)]
    context = Context(facts[0], facts[1], facts[2], effort=facts[3])
    if context != Context():
        event.state.context = event.state.contexts.setdefault(context, context)
    return _known(event)


def _asset(event: Event) -> Draft:
    id, data, kind = (event.data.get(key) for key in ("assetId", "data", "mimeType"))
    if type(id) is str and type(data) is str:
        event.state.assets[id] = (kind if type(kind) is str else None, data)
    return _known(event)


def _permission(event: Event) -> Draft:
    draft = read_permission(event)
    if draft is not None:
        return draft
    event.keep(PERMISSION, event.data, "/data")
    return _event(event, "permission", None)


ROWS: Final[Mapping[str, Callable[[Event], Draft]]] = MappingProxyType(
    {
        **dict.fromkeys(EVENTS, _known),
        "session.start": _start,
        "session.resume": _start,
        "session.binary_asset": _asset,
        "permission.completed": _permission,
        "user.message": read_user,
        "assistant.message": read_assistant,
        "assistant.reasoning": read_reasoning,
        "system.message": read_system,
        "tool.execution_start": read_tool_start,
        "tool.execution_complete": read_tool_complete,
        "tool.user_requested": read_tool_user,
        "abort": read_abort,
    }
)
"""What reads each event type."""
