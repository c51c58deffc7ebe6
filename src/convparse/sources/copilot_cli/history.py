"""``history-session-state/session_<id>_<ms>.json``: a whole session as one object (0.0.340).

The object tells the conversation twice: ``chatMessages`` as the model's API has it, ``timeline`` as it was shown, with times.
Messages are made from the former; of the latter the times and outcomes become events. Reminders that the program put behind a
prompt are told apart.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convparse.blocks import Block, Image, Injected, Unknown
from convparse.ledger import ALWAYS, Fields, Ledger, Place, escape
from convparse.records import Author, Conversation, Event
from convparse.sources._reading import json_of, make_call, make_result, make_text, open_event, open_message
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.copilot.tools import as_json
from convparse.sources.copilot_cli.messages import KINDS
from convparse.sources.copilot_cli.resolve import freeze
from convparse.sources.copilot_cli.state import Draft, State
from convparse.times import iso_time

SESSION: Final = Fields(
    "history",
    typed=frozenset({"sessionId", "chatMessages", "timeline"}),
    kept=dict.fromkeys(("startTime", "selectedModel"), ALWAYS),
)
_REMINDER: Final = "<reminder>"
_AUTHORS: Final[dict[str, Author]] = {"user": "human", "assistant": "model", "tool": "tool", "function": "tool"}
_SHOWN: Final = {
    "tool_call_requested": "tool-start",
    "tool_call_completed": "tool-end",
    "info": "notice",
    "error": "error",
    "user": "shown",
    "copilot": "shown",
}


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a session: what it says of itself, its messages, its timeline."""
    state = State(ledger)
    for value, place in units:
        if type(value) is not dict:
            ledger.part("not-an-object", place, record="history")
            yield _event(state, "unknown", "history", value, place, "")
            continue
        ledger.look(SESSION, value, place)
        rest = {key: item for key, item in value.items() if key not in SESSION.typed}
        id = value.get("sessionId")
        state.session = id if type(id) is str else None
        yield _event(state, "session-start", "history", {**rest, "sessionId": id}, place, "")
        yield from _each(state, value, "chatMessages", place, _message)
        yield from _each(state, value, "timeline", place, _shown)


def _each(state: State, value: dict[str, Any], key: str, place: Place, make: Any) -> Iterator[Draft]:
    items = value.get(key)
    if type(items) is not list:
        if items is not None:
            state.ledger.part("unexpected-type", place, f"/{key}", record="history")
            yield _event(state, "unknown", key, items, place, f"/{key}")
        return
    for at, item in enumerate(items):
        if type(item) is dict:
            yield make(state, item, place, f"/{key}/{at}")
        else:
            state.ledger.part("unexpected-type", place, f"/{key}/*", record="history", pointer=f"/{key}/{at}")
            yield _event(state, "unknown", key, item, place, f"/{key}/{at}")


def _event(state: State, kind: str, name: str, data: Any, place: Place, at: str) -> Draft:
    key = state.keys.count(state.session, name)
    return Draft(open_event(key, kind, name, None, json_of(data), origin=state.origin(place, at)), name, place, None)


def _message(state: State, item: dict[str, Any], place: Place, at: str) -> Draft:
    role = item.get("role")
    word = role if type(role) is str else "message"
    blocks: list[Block] = []
    taken = {"role"} if type(role) is str else set()
    content = item.get("content")
    call = item.get("tool_call_id")
    if word in ("tool", "function") and (call is None or type(call) is str) and type(content) is str:
        blocks.append(make_result(call, (make_text(content),)))
        taken |= {"content", "tool_call_id"}
    elif content is not None:
        blocks.extend(_content(state, word, content, place, f"{at}/content"))
        taken.add("content")
    calls = item.get("tool_calls")
    if type(calls) is list and all(_is_call(call) for call in calls):
        blocks.extend(_call(call) for call in calls)
        taken.add("tool_calls")
    entry = open_message(state.keys.count(state.session, word), None, word, _AUTHORS.get(word, "harness"), tuple(blocks))
    entry.origin = state.origin(place, at)
    extra = {f"/{escape(key)}": value for key, value in item.items() if key not in taken}
    entry.extra = json_of(extra) if extra else None
    return Draft(entry, word, place, None)


def _content(state: State, role: str, content: Any, place: Place, at: str) -> Iterator[Block]:
    for item in content if type(content) is list else [content]:
        text = item if type(item) is str else _inside(item, "text")
        url = _inside(item, "image_url")
        if type(text) is str:
            yield from _text(role, text)
        elif type(url) is dict and type(url.get("url")) is str and len(url) == 1:
            yield Image(None, None, url["url"])
        else:
            state.ledger.part("unknown-block", place, "/chatMessages/*/content", record=role, pointer=at)
            yield Unknown(role, json_of(item))


def _inside(item: Any, kind: str) -> Any:
    """What a part of a kind holds, under the one key that is called like it."""
    return item[kind] if type(item) is dict and item.keys() == {"type", kind} and item["type"] == kind else None


def _text(role: str, text: str) -> Iterator[Block]:
    if role not in ("user", "assistant"):
        yield Injected(role, text)
        return
    at = text.find(_REMINDER) if role == "user" else -1
    if text[: at if at >= 0 else None]:
        yield make_text(text[: at if at >= 0 else None])
    if at >= 0:
        yield Injected("reminder", text[at:])


def _is_call(call: Any) -> bool:
    if type(call) is not dict or not (call.get("id") is None or type(call.get("id")) is str):
        return False
    kind = call.get("type", "function")
    if kind not in ("function", "custom") or not call.keys() <= {"id", "type", kind}:
        return False
    inner = call.get(kind)
    keys = {"name", "arguments"} if kind == "function" else {"name", "input"}
    return type(inner) is dict and set(inner) == keys and all(type(item) is str for item in inner.values())


def _call(call: dict[str, Any]) -> Block:
    inner = call["custom"] if call.get("type") == "custom" else call["function"]
    return make_call(
        call.get("id"), inner["name"], KINDS.get(inner["name"], "other"), as_json(inner.get("arguments", inner.get("input")))
    )


def _shown(state: State, item: dict[str, Any], place: Place, at: str) -> Draft:
    kind = item.get("type")
    word = kind if type(kind) is str else "timeline"
    if word not in _SHOWN:
        state.ledger.part("unknown-record", place, "/timeline/*", record=f"timeline/{word}", pointer=at)
    draft = _event(state, _SHOWN.get(word, "unknown"), f"timeline/{word}", item, place, at)
    stamp = item.get("timestamp")
    when, text = iso_time(stamp) if type(stamp) is str else (None, None)
    draft.entry.timestamp, draft.entry.timestamp_text = when, text
    draft.entry.timestamp_origin = "recorded" if when is not None else None
    return draft


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a file."""
    conversations = []
    for part in parts:
        entries = tuple(freeze(draft.entry) for draft in part.drafts)
        head = entries[0] if entries else None
        about = head.data.value if isinstance(head, Event) and head.data is not None else {}
        about = about if type(about) is dict else {}
        id, start = about.get("sessionId"), about.get("startTime")
        created = iso_time(start)[0] if type(start) is str else None
        conversations.append(Conversation(id if type(id) is str else None, "copilot-cli", created_at=created, entries=entries))
    return conversations, []
