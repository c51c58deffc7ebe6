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
_IDS: Final = ENVELOPE[:5]
_CONTEXT: Final = ENVELOPE[7:]


def read_envelope(picked: tuple[Any, ...], record: str, place: Place, state: State, extra: Extra) -> Envelope:
    """The envelope of a row, from the values of its ``ENVELOPE`` keys."""
    uuid, parent, stamp, session, agent, side, other = picked[:7]
    if not (
        type(uuid) is type(stamp) is type(session) is str
        and (parent is None or type(parent) is str)
        and (agent is None or type(agent) is str)
        and type(side) is bool
    ):
        uuid, parent, stamp, session, agent, side = _tidied(picked, record, place, state, extra)
    facts = picked[7:13]
    context = state.context if facts == state.facts else _context(facts, record, place, state, extra)
    group = session
    if agent is not None:
        group = agent
        if picked[5] is False:
            extra["/isSidechain"] = False
        side = False
    if other is not None and other != session:
        extra["/session_id"] = other
    key = uuid
    if uuid is None:
        key = state.keys.count(group, record)
    elif state.keys.seen.setdefault(uuid, place) is not place:
        key = state.keys.again(uuid)
    if stamp is None:
        return key, uuid, parent, None, None, None, context, group, side
    when, text = iso_time(stamp)
    if when is None:
        state.ledger.part("bad-timestamp", place, "/timestamp", record=record)
        return key, uuid, parent, None, None, text, context, group, side
    return key, uuid, parent, when, "recorded", text, context, group, side


def _tidied(picked: tuple[Any, ...], record: str, place: Place, state: State, extra: Extra) -> list[Any]:
    """Ids, time and side chain flag, None for those of an unexpected type."""
    tidy = []
    for name, value in zip(ENVELOPE[:6], picked[:6], strict=True):
        expected = value.__class__ in STRING if name in _IDS else value is None or type(value) is bool
        if not expected:
            odd(state.ledger, extra, place, record, f"/{name}", value)
        tidy.append(value if expected else None)
    tidy[5] = tidy[5] is True
    return tidy


def _context(facts: tuple[Any, ...], record: str, place: Place, state: State, extra: Extra) -> Context | None:
    """The circumstances a row tells; one shared record per change."""
    for name, fact in zip(_CONTEXT, facts, strict=True):
        if fact.__class__ not in STRING:
            odd(state.ledger, extra, place, record, f"/{name}", fact)
    cwd, branch, version, mode, entrypoint, effort = told = tuple(fact if type(fact) is str else None for fact in facts)
    context = state.contexts.get(told)
    if context is None and any(fact is not None for fact in told):
        context = state.contexts[told] = Context(cwd, branch, version, mode, None, entrypoint, effort)
    if told == facts:
        state.facts, state.context = facts, context
    return context
