"""What every row of the chain has: ids, time, thread and circumstances.

A field of an unexpected type goes to ``extra`` under its pointer and is named; the rest of the row is read all the same.
"""

from typing import Any, Final, TypeAlias

from convparse.ledger import Place
from convparse.records import Context
from convparse.sources._reading import STRING, Extra, odd
from convparse.sources.claude_code.fields import ENVELOPE
from convparse.sources.claude_code.state import State
from convparse.times import iso_time

Row: TypeAlias = dict[str, Any]
Envelope: TypeAlias = tuple[Any, ...]
"""``(key, uuid, parent, timestamp, timestamp_origin, timestamp_text, context, group, sidechain)``: the group is the id of the
thread that a row says it belongs to; a side chain lies inside a main file (up to 2.0.0)."""
_IDS: Final = ENVELOPE[:3]
_SCENE: Final = ENVELOPE[3:]


def read_envelope(picked: tuple[Any, ...], record: str, place: Place, state: State, extra: Extra) -> Envelope:
    """The envelope of a row, from the values of its ``ENVELOPE`` keys."""
    uuid, parent, stamp = picked[:3]
    scene = picked[3:13]
    known, group, side, context = state.scenes.get(record, _NONE)
    if scene != known:
        group, side, context = _read_scene(scene, record, place, state, extra)
    if not (type(uuid) is type(stamp) is str and (parent is None or type(parent) is str)):
        uuid, parent, stamp = _strings(_IDS, picked[:3], record, place, state, extra)
    key = uuid
    if uuid is None:
        key = state.keys.count(group, record)
    elif uuid in (seen := state.keys.seen):
        key = state.keys.again(uuid)
    else:
        seen.add(uuid)
    if stamp is None:
        return key, uuid, parent, None, None, None, context, group, side
    when, text = iso_time(stamp)
    if when is None:
        state.ledger.part("bad-timestamp", place, "/timestamp", record=record)
        return key, uuid, parent, None, None, text, context, group, side
    return key, uuid, parent, when, "recorded", text, context, group, side


_NONE: Final = (None, None, False, None)


def _read_scene(
    scene: tuple[Any, ...], record: str, place: Place, state: State, extra: Extra
) -> tuple[str | None, bool, Context | None]:
    """Thread, side chain and circumstances: what hardly changes from row to row, and is read again only where it does."""
    odds = len(extra)
    side = scene[2]
    if side is not None and type(side) is not bool:
        odd(state.ledger, extra, place, record, "/isSidechain", side)
    session, agent, _, other, *facts = _strings(_SCENE, (*scene[:2], None, *scene[3:]), record, place, state, extra)
    if agent is not None and side is False:
        extra["/isSidechain"] = False
    if other is not None and other != session:
        extra["/session_id"] = other
    inner = agent if agent is not None else "" if side is True else None
    if inner is not None and session is not None and state.sessions.get(inner) != session:
        state.sessions[inner] = extra["/sessionId"] = session
    told = tuple(facts)
    context = state.contexts.get(told)
    if context is None and any(fact is not None for fact in told):
        cwd, branch, version, mode, entrypoint, effort = told
        context = state.contexts[told] = Context(cwd, branch, version, mode, None, entrypoint, effort)
    group = session if agent is None else agent
    settled = (group, side is True and agent is None, context)
    if len(extra) == odds:
        state.scenes[record] = (scene, *settled)
    return settled


def _strings(
    names: tuple[str, ...], values: tuple[Any, ...], record: str, place: Place, state: State, extra: Extra
) -> list[str | None]:
    """The values, None for those that are no strings, which are named."""
    tidy: list[str | None] = []
    for name, value in zip(names, values, strict=True):
        if value.__class__ not in STRING:
            odd(state.ledger, extra, place, record, f"/{name}", value)
        tidy.append(value if type(value) is str else None)
    return tidy
