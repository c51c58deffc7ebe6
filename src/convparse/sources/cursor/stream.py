"""Saved stdout of ``cursor-agent -p``: ``stream-json``, one frame a line, and ``json``, the result alone.

Fragments of a text, and of thinking, become one message; where the product then gives the whole text again, the fragments are
``merged`` into that. Calls and results are told apart by ``call_id``, which may hold a newline, and complete in any order.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convparse.blocks import Text, Thinking
from convparse.ledger import Ledger, Place, escape
from convparse.records import Context, Conversation, Entry
from convparse.sources._reading import (
    Extra,
    json_of,
    make_call,
    make_result,
    make_text,
    make_thinking,
    open_event,
    open_message,
)
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.cursor.parts import read_content
from convparse.sources.cursor.resolve import freeze
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.times import NEVER, When, recorded
from convparse.sources.cursor.tools import kind_of

Frame = dict[str, Any]
_KNOWN: Final = {
    "system": "apiKeySource cwd model permissionMode",
    "user": "message",
    "assistant": "message model_call_id",
    "thinking": "text",
    "tool_call": "call_id tool_call model_call_id",
    "result": "is_error duration_ms duration_api_ms result request_id usage num_turns total_cost_usd",
}
_ENVELOPE: Final = frozenset({"type", "subtype", "session_id", "timestamp_ms"})


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a frame."""
    state = State(ledger)
    for value, place in units:
        kind = value.get("type") if type(value) is dict else None
        group = value.get("session_id") if type(value) is dict else None
        if type(kind) is not str or kind not in _KNOWN or not (group is None or type(group) is str):
            yield _unknown(value, place, state, group if type(group) is str else None)
            continue
        for key in value.keys() - _ENVELOPE - set(_KNOWN[kind].split()):
            ledger.part("unknown-field", place, f"/{escape(key)}", record=kind)
        yield _READERS[kind](value, place, state)


def _unknown(value: Any, place: Place, state: State, group: str | None) -> Draft:
    kind = value.get("type") if type(value) is dict else None
    name = kind if type(kind) is str else "frame"
    state.ledger.part("unknown-record" if type(value) is dict else "not-an-object", place, record=name)
    event = open_event(state.keys.count(group, name), "unknown", name, None, json_of(value), origin=state.line(place))
    return Draft(event, "odd", place, group)


def _rest(frame: Frame, taken: str) -> Extra:
    """What a frame holds beyond the keys that are taken."""
    names = {"type", "session_id", *taken.split()}
    return {f"/{escape(key)}": value for key, value in frame.items() if key not in names}


def _time(frame: Frame, place: Place, state: State) -> When:
    """When a frame was written; a time that is none is named, and left where it stands."""
    value = frame.get("timestamp_ms")
    when = recorded(value)
    if when[0] is not None or value is None:
        return when
    state.ledger.part("bad-timestamp", place, "/timestamp_ms", record=str(frame["type"]))
    return NEVER


def _message(frame: Frame, place: Place, state: State, role: str, author: str, blocks: list[Any], extra: Extra) -> Draft:
    group = frame.get("session_id")
    when = _time(frame, place, state)
    if when[0] is not None:
        extra.pop("/timestamp_ms")
    call = frame.get("model_call_id")
    if type(call) is str:
        extra.pop("/model_call_id", None)
    entry = open_message(
        state.keys.count(group, str(frame["type"])),
        None,
        role,
        author,
        tuple(blocks),
        *when,
        response_id=call if type(call) is str else None,
        origin=state.line(place),
        extra=json_of(extra) if extra else None,
    )
    return Draft(entry, str(frame["type"]), place, group)


def _said(frame: Frame, place: Place, state: State) -> Draft:
    kind, message = frame["type"], frame.get("message")
    if type(message) is not dict:
        return _unknown(frame, place, state, frame.get("session_id"))
    extra = _rest(frame, "message")
    extra |= {f"/message/{escape(key)}": value for key, value in message.items() if key not in ("role", "content")}
    if message.get("role") != kind:
        extra["/message/role"] = message.get("role")
    blocks: list[Any] = read_content(state, message.get("content"), "plain", place, "/message/content", extra)
    draft = _message(frame, place, state, kind, "human" if kind == "user" else "model", blocks, extra)
    single = len(blocks) == 1 and type(blocks[0]) is Text and not extra
    draft.facts["text"] = blocks[0].text if single and kind == "assistant" else None
    draft.facts["fragment"] = "timestamp_ms" in frame and "model_call_id" not in frame
    return draft


def _thinking(frame: Frame, place: Place, state: State) -> Draft:
    extra = _rest(frame, "text subtype")
    text, subtype = frame.get("text"), frame.get("subtype")
    if text is not None and type(text) is not str:
        return _unknown(frame, place, state, frame.get("session_id"))
    if subtype not in ("delta", "completed"):
        extra["/subtype"] = subtype
    draft = _message(frame, place, state, "assistant", "model", [make_thinking(text)] if text else [], extra)
    draft.facts["thought"] = None if extra else text or ""
    draft.facts["done"] = subtype == "completed"
    return draft


def _tool(frame: Frame, place: Place, state: State) -> Draft:
    call, id = frame.get("tool_call"), frame.get("call_id")
    if type(call) is not dict or (id is not None and type(id) is not str) or not call:
        return _unknown(frame, place, state, frame.get("session_id"))
    name, inner = next(iter(call.items()))
    extra = _rest(frame, "tool_call call_id")
    extra |= {f"/tool_call/{escape(key)}": value for key, value in call.items() if key != name}
    at = f"/tool_call/{escape(name)}"
    given = inner
    if type(inner) is dict:
        given = inner.get("args")
        extra |= {f"{at}/{escape(key)}": value for key, value in inner.items() if key not in ("args", "result")}
    tool = name.removesuffix("ToolCall")
    made = make_call(id, tool, kind_of(tool), json_of(given))
    if type(inner) is not dict or "result" not in inner:
        return _message(frame, place, state, "assistant", "model", [made], extra)
    draft = _message(frame, place, state, "tool", "tool", [_result(id, inner["result"])], extra)
    draft.facts |= {"call": made, "args": given, "at": f"{at}/args", "extra": extra}
    return draft


def _result(id: str | None, result: Any) -> Any:
    """A result is an object with one key that says how it went: success, error, rejected."""
    status, told = next(iter(result.items())) if type(result) is dict and result else (None, result)
    value = told if type(told) is dict else {}
    text = next(
        (value[key] for key in ("output", "stdout", "content", "message", "errorMessage") if type(value.get(key)) is str), None
    )
    code = value.get("exitCode")
    failed = {"success": False, "error": True, "failure": True}.get(str(status))
    parts = (make_text(text),) if text is not None else ()
    return make_result(id, parts, failed, code if type(code) is int else None, None, status, False, json_of(result))


def _event(frame: Frame, place: Place, state: State) -> Draft:
    kind, group = frame["type"], frame.get("session_id")
    text, took = frame.get("result"), frame.get("duration_ms")
    data = {
        key: value
        for key, value in frame.items()
        if key not in ("type", "session_id") and not (key == "result" and type(text) is str)
    }
    words = {key: frame[key] for key in ("cwd", "permissionMode") if type(frame.get(key)) is str}
    event = open_event(
        state.keys.count(group, kind),
        "session-start" if kind == "system" else "error" if frame.get("is_error") is True else "turn-end",
        kind,
        text if type(text) is str else None,
        json_of(data),
        None,
        *_time(frame, place, state),
        context=Context(words.get("cwd"), permission_mode=words.get("permissionMode")) if words else None,
        duration=took / 1000 if type(took) is int else None,
        origin=state.line(place),
    )
    return Draft(event, kind, place, group)


_READERS: Final = {
    "system": _event,
    "user": _said,
    "assistant": _said,
    "thinking": _thinking,
    "tool_call": _tool,
    "result": _event,
}


# ---- the conversation ------------------------------------------------------------------------------------------------------


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a session; frames without one are loose."""
    groups: dict[str | None, list[Draft]] = {}
    for part in parts:
        for draft in part.drafts:
            groups.setdefault(draft.group, []).append(draft)
    for drafts in groups.values():
        _pair(drafts)
    loose: list[Entry] = [freeze(draft.entry) for draft in groups.pop(None, [])]
    return [_conversation(group, drafts) for group, drafts in groups.items()], loose


def _conversation(group: str | None, drafts: list[Draft]) -> Conversation:
    entries = tuple(freeze(draft.entry) for draft in _joined(drafts))
    context = next((entry.context for entry in entries if entry.context is not None), None)
    return Conversation(group, "cursor", context=context, entries=entries)


def _pair(drafts: list[Draft]) -> None:
    """A result repeats the arguments of its call; where they differ, or there is no call, it keeps them."""
    calls = {b.id: b for draft in drafts if draft.name == "tool_call" and "call" not in draft.facts for b in draft.entry.blocks}
    for draft in drafts:
        made = draft.facts.get("call")
        if made is None:
            continue
        known = calls.get(made.id)
        if known is None:
            draft.entry.blocks = (made, *draft.entry.blocks)
        elif known != made:
            draft.entry.extra = json_of({**draft.facts["extra"], draft.facts["at"]: draft.facts["args"], "/tool": made.name})


def _joined(drafts: list[Draft]) -> Iterator[Draft]:
    """The drafts, in which fragments have become one."""
    waiting: list[Draft] = []
    for draft in drafts:
        if waiting and not _continues(waiting[-1], draft):
            repeated = _repeats(waiting, draft)
            if repeated:
                draft.entry.merged = tuple(fragment.entry.origin for fragment in waiting)
                draft.entry.extra = json_of({"/fragments": [_told(fragment) for fragment in waiting]})
            else:
                yield _one(waiting)
            waiting = []
        if draft.facts.get("thought") is not None or (draft.facts.get("fragment") and draft.facts.get("text") is not None):
            waiting.append(draft)
            if draft.facts.get("done"):
                yield _one(waiting)
                waiting = []
        else:
            yield draft
    if waiting:
        yield _one(waiting)


def _continues(last: Draft, draft: Draft) -> bool:
    if last.facts.get("thought") is not None:
        return draft.facts.get("thought") is not None and last.entry.response_id == draft.entry.response_id
    return bool(draft.facts.get("fragment")) and draft.facts.get("text") is not None


def _repeats(fragments: list[Draft], draft: Draft) -> bool:
    text = draft.facts.get("text")
    return text is not None and text == "".join(str(fragment.facts.get("text", "")) for fragment in fragments)


def _one(fragments: list[Draft]) -> Draft:
    """One message of fragments: the text of all, the time of the first, the others merged."""
    first = fragments[0]
    if len(fragments) > 1:
        thought = first.facts.get("thought") is not None
        text = "".join(str(f.facts["thought" if thought else "text"]) for f in fragments)
        first.entry.blocks = (Thinking(text),) if thought else (Text(text),)
        first.entry.merged = tuple(fragment.entry.origin for fragment in fragments[1:])
        first.entry.extra = json_of({"/fragments": [_told(fragment) for fragment in fragments]})
    return first


def _told(fragment: Draft) -> list[Any]:
    """Where a fragment ends, and when it was written."""
    said = fragment.facts.get("thought")
    when = fragment.entry.timestamp
    return [len(str(fragment.facts["text"] if said is None else said)), when and when.isoformat()]
