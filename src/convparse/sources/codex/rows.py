"""Lines of a rollout, to drafts: in envelopes (since 0.32), or bare items behind a header (0.8 to 0.29).

What comes in: one decoded line and its place. What goes out: a draft whose open record holds every unit fact of the line, or
nothing for what ``SKIPPED`` names. Never looked at: any other line but what ``State`` remembers of those before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from convparse.ledger import Ledger, Place
from convparse.sources._reading import Extra, json_of, keep, odd, open_event
from convparse.sources._source import Unit
from convparse.sources.codex.events import odd_record, read_completed_event, read_event, read_record, unknown_line
from convparse.sources.codex.fields import COMPLETED, COMPLETED_EVENTS, ENDS, EVENTS, HEADER, METADATA, SAID
from convparse.sources.codex.items import Row, Spot, read_item
from convparse.sources.codex.said import read_completed, read_end, read_said
from convparse.sources.codex.state import Draft, State
from convparse.times import NO_TIME, Time, iso_time


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a rollout's lines, in file order."""
    state = State(ledger)
    lines = state.lines
    for value, place in units:
        if type(value) is not dict:
            ledger.part("not-an-object", place)
            yield odd_record(value, place, state, "not-an-object")
            continue
        payload = value.get("payload")
        kind = value.get("type")
        if type(payload) is dict and type(kind) is str and kind in lines:
            yield _enveloped(value, kind, payload, place, state)
        elif "record_type" in value and len(value) <= 2:
            ledger.unit("skipped-record", place, record="state")
        else:
            yield _bare(value, place, state)


def _enveloped(line: Row, kind: str, payload: Row, place: Place, state: State) -> Draft:
    extra: Extra = {}
    stamp = line.get("timestamp")
    state.ordinal = None
    if len(line) > 3 or stamp is None:  # else it has what every line has, and nothing more
        _take_rest(line, kind, place, state, extra)
    time = state.last_time if stamp == state.stamp else _time(stamp, kind, place, state, extra)
    spot = Spot(place, "/payload", "/payload", time, extra)
    if kind == "response_item":
        draft = read_item(payload, spot, state)
    elif kind == "event_msg":
        draft = _event_msg(payload, spot, state)
    else:
        draft = read_record(payload, kind, spot, state)
    if draft is None:
        inner = payload.get("type")
        return unknown_line(line, place, state, f"{kind}/{inner}" if type(inner) is str else kind)
    return draft


def _take_rest(line: Row, kind: str, place: Place, state: State, extra: Extra) -> None:
    """What a line has beside time, type and payload."""
    shape = state.lines[kind](line, place)
    if shape.kept:
        keep(extra, shape, line, "")
    metadata = line.get("metadata")
    if metadata is not None:
        if type(metadata) is dict:
            state.check(METADATA, metadata, place)
            extra["/metadata"] = metadata
        else:
            odd(state.ledger, extra, place, kind, "/metadata", metadata)
    ordinal = line.get("ordinal")
    state.ordinal = ordinal if type(ordinal) is int else None


def _time(stamp: Any, kind: str, place: Place, state: State, extra: Extra) -> Time:
    if type(stamp) is str:
        time = iso_time(stamp)
        if time[0] is None:
            state.ledger.part("bad-timestamp", place, "/timestamp", record=kind)
        else:
            state.stamp, state.last_time = stamp, time
        return time
    if stamp is not None:
        odd(state.ledger, extra, place, kind, "/timestamp", stamp)
    return NO_TIME


def _event_msg(payload: Row, spot: Spot, state: State) -> Draft | None:
    kind = payload.get("type")
    if type(kind) is not str or kind not in _READERS:
        return None
    return _READERS[kind](payload, kind, spot, state)


def _completed(payload: Row, kind: str, spot: Spot, state: State) -> Draft | None:
    item = payload.get("item")
    inner = item.get("type") if type(item) is dict else None
    if type(inner) is not str or inner not in COMPLETED:
        return None
    if inner in COMPLETED_EVENTS:
        return read_completed_event(payload, spot, state)
    return read_completed(payload, inner, spot, state)


def _renamed(payload: Row, kind: str, spot: Spot, state: State) -> Draft:
    return read_event(payload, _ALIASES[kind], spot, state)


_ALIASES: Final = {"turn_started": "task_started", "turn_complete": "task_complete"}
Reader: TypeAlias = Callable[[Row, str, Spot, State], Draft | None]
_READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        **dict.fromkeys(SAID, read_said),
        **dict.fromkeys(EVENTS, read_event),
        **dict.fromkeys(ENDS, read_end),
        **dict.fromkeys(_ALIASES, _renamed),
        "item_completed": _completed,
    }
)
"""What reads each type of event message."""


def _bare(line: Row, place: Place, state: State) -> Draft:
    if "type" not in line and "role" not in line and type(line.get("id")) is str and "timestamp" in line:
        return _header(line, place, state)
    draft = read_item(line, Spot(place, "", ""), state) if "payload" not in line else None
    return draft if draft is not None else unknown_line(line, place, state)


def _header(line: Row, place: Place, state: State) -> Draft:
    state.look(HEADER)(line, place)
    git = line.get("git")
    if state.thread is None:
        state.thread = line["id"]
        state.settle(git_branch=git.get("branch") if type(git) is dict else None)
    stamp = line["timestamp"]
    when, text = iso_time(stamp) if type(stamp) is str else NO_TIME
    event = open_event(
        state.keys.count(state.thread, "header"),
        "session",
        "header",
        None,
        json_of(line),
        None,
        when,
        "recorded" if when is not None else None,
        text,
        None,
        state.context,
        origin=state.origin(place),
    )
    draft = Draft(event, "header")
    draft.facts = line
    return draft
