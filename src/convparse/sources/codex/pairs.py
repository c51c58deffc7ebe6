"""Calls, their outputs, and what events tell of them, by call id.

What comes in: the drafts of a file. What goes out: the drafts without the events that were folded into a call's message; what
they tell is the ``full`` of the result. An event whose call is nowhere gives the call, and the result too where no output is
recorded. A call without a result, and a result without a call, are named.
"""

from collections.abc import Sequence
from typing import Any

from convparse.blocks import Json, ToolResult
from convparse.ledger import Ledger, Place
from convparse.sources._reading import make_result
from convparse.sources.codex import calls
from convparse.sources.codex.calls import SPAWNING
from convparse.sources.codex.state import Draft
from convparse.sources.codex.twins import add_facts, own_facts

_NEAR = 16
"""So many searches for the same are looked back on."""


class Pair:
    """One call: the first record of it, its outputs, and what events told."""

    __slots__ = ("call", "ends", "first", "outputs")

    def __init__(self) -> None:
        self.call: Draft | None = None
        self.first: Draft | None = None
        self.outputs: list[Draft] = []
        self.ends: list[Draft] = []


class Pairs:
    """The calls of a file so far."""

    def __init__(self) -> None:
        self.known: dict[str, Pair] = {}
        self.every: list[Pair] = []
        self.late: list[Place] = []
        self.searches: dict[str, list[Pair]] = {}
        """Searches of the web by what was searched, the one part of their drafts: before 0.142 the call has no id."""

    def of(self, draft: Draft) -> Pair:
        """The call that a draft is about."""
        found = self.known.get(draft.call_id) if draft.call_id is not None else None
        if found is None and draft.parts:
            found = self._search(draft)
        if found is None or (draft.talk == "call" and found.call is not None):
            found = Pair()
            self.every.append(found)
            if draft.parts:
                self.searches.setdefault(draft.parts[0], []).append(found)
        if draft.call_id is not None:
            self.known[draft.call_id] = found
        return found

    def _search(self, draft: Draft) -> Pair | None:
        """A search of which only the call, or only the event, is known yet, and one of both has no id."""
        for other in reversed(self.searches.get(draft.parts[0], [])[-_NEAR:]):
            if draft.talk == "call" and draft.call_id is None and other.call is None:
                return other
            if draft.talk == "end" and not other.ends and other.call is not None and other.call.call_id is None:
                return other
        return None


def pair(drafts: Sequence[Draft], ledger: Ledger) -> list[Draft]:
    """The drafts that stand for something."""
    pairs = Pairs()
    left = [draft for draft in drafts if draft.talk not in ("call", "output", "end") or not _take(draft, pairs)]
    ledger.parts("codex/twin-time", pairs.late, "/timestamp", record="line")
    for each in pairs.every:
        _settle(each, ledger)
    return left


def _take(draft: Draft, pairs: Pairs) -> bool:
    """Enter a draft with its call; True if it was folded into an earlier one."""
    found = pairs.of(draft)
    if draft.talk == "output":
        found.outputs.append(draft)
        return False
    if draft.talk == "end":
        found.ends.append(draft)
    else:
        found.call = draft
    if found.first is None:
        found.first = draft
        return False
    _fold(found.first, draft, pairs.late)
    return True


def _fold(first: Draft, other: Draft, late: list[Place]) -> None:
    entry = first.entry
    if other.talk == "call":
        entry.blocks = other.entry.blocks
    if other.entry.timestamp != entry.timestamp or other.entry.timestamp_text != entry.timestamp_text:
        late.append(other.place)
    more = own_facts(first, other) if other.talk == "call" else other.extra
    if more:
        add_facts(first, more, len(entry.merged))
    entry.merged = (*entry.merged, other.entry.origin)


def _settle(each: Pair, ledger: Ledger) -> None:
    """Bring together what is known of one call."""
    if each.first is None:
        _settle_orphans(each.outputs, ledger)
        return
    entry = each.first.entry
    if each.ends:
        outcome = _outcome(each.ends)
        if each.call is None:
            entry.blocks = (calls.call_of(_told(each.ends), each.first.call_id),)
        holder = each.outputs[0] if each.outputs else each.first
        if any(type(block) is ToolResult for block in holder.entry.blocks):
            holder.entry.blocks = _with_outcome(holder.entry.blocks, outcome)
        else:
            entry.blocks = (*entry.blocks, calls.result_of(_told(each.ends), each.ends[0].call_id, outcome))
        if len(each.ends) == 1 and each.ends[0].name in SPAWNING:
            holder.facts = {"spawned": calls.spawned_by(_told(each.ends))}
    elif not each.outputs and not any(type(block) is ToolResult for block in entry.blocks):
        ledger.part("missing-result", each.first.place, record=each.first.name)


def _settle_orphans(outputs: list[Draft], ledger: Ledger) -> None:
    for output in outputs:
        if output.call_id is None:  # context of the harness's own, in the shape of an output (since 0.171)
            output.entry.author = "harness"
        else:
            ledger.part("orphan-result", output.place, record=output.name)


def _outcome(ends: list[Draft]) -> dict[str, Any]:
    """What all events of one call tell of its result, the last word of each."""
    facts = [end.facts for end in ends if end.facts is not None]
    if len(facts) == 1:
        return facts[0]
    return calls.outcome_of(_told(ends), Json(b"[" + b",".join(each["full"].utf8 for each in facts) + b"]"))


def _told(ends: list[Draft]) -> dict[str, Any]:
    """What events tell of their call, decoded again: few calls are told of by events alone."""
    told: dict[str, Any] = {}
    for end in ends:
        value = (end.facts or {})["full"].value
        item = value.get("item")
        told.update(item if type(item) is dict else value)
    return told


def _with_outcome(blocks: tuple[Any, ...], told: dict[str, Any]) -> tuple[Any, ...]:
    """The blocks with the event's richer twin on the result, and what the output's text does not say."""
    return tuple([_richer(block, **told) if type(block) is ToolResult else block for block in blocks])


def _richer(
    block: ToolResult, is_error: bool | None, exit_code: int | None, duration: float | None, status: str | None, full: Json
) -> ToolResult:
    return make_result(
        block.call_id,
        block.content,
        is_error,
        exit_code if block.exit_code is None else block.exit_code,
        duration if block.duration is None else block.duration,
        status if block.status is None else block.status,
        block.truncated,
        full,
    )
