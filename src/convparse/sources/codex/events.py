"""Lines that are events: the header, settings, token counts, compactions, and whatever is not known.

An event holds what a person would read as ``text`` and the rest of its record as ``data``; keys of the line itself stand there
under their pointers. A line of an unexpected make becomes an event of kind ``unknown`` that holds it whole.
"""

from typing import Any

from convparse.ledger import Fields, Place
from convparse.sources._reading import json_of, make_origin, open_event
from convparse.sources.codex.fields import COMPLETED, COMPLETED_EVENTS, EVENTS, ITEM_COMPLETED, RECORDS
from convparse.sources.codex.items import Row, Spot
from convparse.sources.codex.state import Draft, State
from convparse.sources.codex.usage import count_facts, record_facts
from convparse.times import iso_time


def odd_record(value: Any, place: Place, state: State, name: str) -> Draft:
    """A record that is no line at all, held whole."""
    return Draft(_event(state, Spot(place, ""), "unknown", name, None, value), "unknown")


def unknown_line(line: Row, place: Place, state: State, name: str | None = None) -> Draft:
    """A line of a type that is not known."""
    kind = line.get("type")
    name = name or (kind if type(kind) is str else "line")
    state.ledger.part("unknown-record", place, record=name)
    stamp = line.get("timestamp")
    spot = Spot(place, "", time=iso_time(stamp)) if type(stamp) is str else Spot(place, "")
    return Draft(_event(state, spot, "unknown", name, None, line), "unknown", None, state.ordinal)


def _event(state: State, spot: Spot, kind: str, name: str, text: str | None, data: Any, duration: float | None = None) -> Any:
    when, when_text = spot.time
    return open_event(
        state.keys.count(state.thread, name),
        kind,
        name,
        text,
        json_of(data) if data != {} else None,
        None,
        when,
        "recorded" if when is not None else None,
        when_text,
        None,
        state.context,
        duration,
        "active",
        False,
        (),
        make_origin(state.path, *spot.place),
    )


def _draft(
    payload: Row, spot: Spot, state: State, fields: Fields, name: str, kind: str, text_key: str | None, data: Row | None = None
) -> Draft:
    state.check(fields, payload, spot.place)
    text = None
    if data is None:  # the decoded line is nobody else's: what stands in other fields is taken out of it
        data = payload
        if "type" in fields.typed:
            data.pop("type", None)
    if text_key is not None and text_key in payload:
        text = payload[text_key]
        if type(text) is str:
            data.pop(text_key, None)
        elif text is not None:
            state.ledger.part("unexpected-type", spot.place, f"/payload/{text_key}", record=name)
            text = None
    took = payload.get("duration_ms")
    duration = took / 1000 if type(took) is int else None
    data = data | spot.extra if spot.extra else data
    return Draft(_event(state, spot, kind, name, text, data, duration), name, spot.extra, state.ordinal)


def read_record(payload: Row, name: str, spot: Spot, state: State) -> Draft:
    """A line whose payload is the record."""
    kind, text_key, fields = RECORDS[name]
    if name == "session_meta":
        _take_header(payload, state)
    elif name == "turn_context":
        _take_settings(payload, state)
    data = _compacted(payload, spot, state) if name == "compacted" else None
    draft = _draft(payload, spot, state, fields, name, kind, text_key, data)
    if name == "session_meta":
        draft.facts = payload
    elif name == "token_usage_record":
        draft.facts = record_facts(payload)
    return draft


_WANTED = frozenset("num_turns thread_id turn_id started_at completed_at event_id agent_thread_id kind".split())
"""What ``resolve`` wants of events."""


def _take_header(payload: Row, state: State) -> None:
    if state.thread is None and type(payload.get("id")) is str:
        state.thread = payload["id"]
        git, source = payload.get("git"), payload.get("source")
        state.settle(
            cwd=payload.get("cwd"),
            git_branch=git.get("branch") if type(git) is dict else None,
            version=payload.get("cli_version"),
            entrypoint=source if type(source) is str else payload.get("originator"),
        )


def _take_settings(payload: Row, state: State) -> None:
    policy = payload.get("sandbox_policy")
    sandbox = policy.get("type", policy.get("mode")) if type(policy) is dict else None
    state.settle(
        cwd=payload.get("cwd"), permission_mode=payload.get("approval_policy"), sandbox=sandbox, effort=payload.get("effort")
    )
    if type(payload.get("model")) is str:
        state.model = payload["model"]
    if type(payload.get("turn_id")) is str:
        state.turn = payload["turn_id"]


def _compacted(payload: Row, spot: Spot, state: State) -> Row:
    """What a compaction tells, without the messages of its new history that stand in the file before, or are its summary.

    Where any is left, the history is an object of indices.
    """
    data = {key: value for key, value in payload.items() if key != "message" or type(value) is not str}
    history = payload.get("replacement_history")
    if type(history) is not list:
        return data
    summary = payload.get("message")
    left = {}
    for i, item in enumerate(history):
        text = _text_of(item)
        if text is not None and (text in state.said or text == summary):
            pointer = f"/payload/replacement_history/{i}"
            state.ledger.part(
                "codex/repeated-history", spot.place, "/payload/replacement_history/*", record="compacted", pointer=pointer
            )
        else:
            left[str(i)] = item
    del data["replacement_history"]
    return data | ({"replacement_history": left} if left else {})


def _text_of(item: Any) -> str | None:
    """The text of a message that has nothing but text."""
    content = item.get("content") if type(item) is dict and item.get("type") == "message" else None
    if type(content) is not list or not content:
        return None
    texts = [text for part in content if type(part) is dict and type(text := part.get("text")) is str]
    return "".join(texts) if len(texts) == len(content) else None


def read_event(payload: Row, kind: str, spot: Spot, state: State) -> Draft:
    """An event message that is nobody's talk."""
    event, text_key, fields = EVENTS[kind]
    if kind == "task_started" and type(payload.get("turn_id")) is str:
        state.turn = payload["turn_id"]
    draft = _draft(payload, spot, state, fields, kind, event, text_key)
    if kind == "token_count":
        draft.facts = count_facts(payload.get("info"))
    else:  # plain values alone: what holds others would be looked at by every collection
        draft.facts = {key: payload[key] for key in payload if key in _WANTED}
    if kind in ("task_complete", "turn_aborted") and payload.get("turn_id") in (None, state.turn):
        state.turn = None
    return draft


def read_completed_event(payload: Row, spot: Spot, state: State) -> Draft:
    """A completed item that is nobody's talk: where a review or a compaction took place, what a sub-agent did."""
    item = payload["item"]
    kind = item["type"]
    shape = state.look(ITEM_COMPLETED)(payload, spot.place)
    state.check(COMPLETED[kind], item, spot.place)
    data = {key: payload[key] for key in ("turn_id", *(key for key, _ in shape.kept)) if key in payload}
    event = _event(state, spot, COMPLETED_EVENTS[kind], kind, None, data | {"item": item} | spot.extra)
    draft = Draft(event, kind, spot.extra, state.ordinal)
    draft.facts = item
    draft.thread = payload["thread_id"] if type(payload.get("thread_id")) is str else None
    return draft
