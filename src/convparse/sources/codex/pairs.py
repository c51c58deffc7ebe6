"""Calls, their outputs, and what events tell of them, by call id.

What comes in: the drafts of a file. What goes out: the drafts without the events that were folded into a call's message; what
they tell is the ``full`` of the result. An event whose call is nowhere gives the call, and the result too where no output is
recorded. A call without a result, and a result without a call, are named.
"""

from collections.abc import Sequence
from typing import Any

from convparse.blocks import Json, ToolResult
from convparse.ledger import Ledger, Place
from convparse.sources.codex import calls
from convparse.sources.codex.calls import SPAWNING, Outcome, with_outcome
from convparse.sources.codex.state import Draft
from convparse.sources.codex.twins import add_facts, own_facts

_NEAR = 16
"""So many searches for the same are looked back on."""


class Pair:
    """One call: the first record of it, the call itself, its outputs and what events told."""

    __slots__ = ("call", "first", "rest")

    def __init__(self) -> None:
        self.call: Draft | None = None
        self.first: Draft | None = None
        self.rest: list[Draft] = []

    def told(self, talk: str) -> list[Draft]:
        """Its outputs, or its ends."""
        return [draft for draft in self.rest if draft.talk == talk]


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
            if draft.talk == "end" and not other.told("end") and other.call is not None and other.call.call_id is None:
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
    if draft.talk == "call":
        found.call = draft
    else:
        found.rest.append(draft)
        if draft.talk == "output":
            return False
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
        _settle_orphans(each.rest, ledger)
        return
    outputs, ends = each.told("output"), each.told("end")
    if ends and each.call is None:
        each.first.entry.blocks = (calls.call_of(_told(ends), each.first.call_id),)
    entry = (outputs[0] if outputs else each.first).entry
    known = ToolResult in map(type, entry.blocks)
    if not ends:
        if not known:
            ledger.part("missing-result", each.first.place, record=each.first.name)
        return
    outcome = _outcome(ends)
    if known:
        entry.blocks = tuple([with_outcome(b, outcome) if type(b) is ToolResult else b for b in entry.blocks])
    else:
        entry.blocks = (*entry.blocks, calls.result_of(_told(ends), ends[0].call_id, outcome))
    if len(ends) == 1 and ends[0].name in SPAWNING:
        (outputs[0] if outputs else each.first).facts = {"spawned": calls.spawned_by(_told(ends))}


def _settle_orphans(outputs: list[Draft], ledger: Ledger) -> None:
    for output in outputs:
        if output.call_id is None:  # context of the harness's own, in the shape of an output (since 0.171)
            output.entry.author = "harness"
        else:
            ledger.part("orphan-result", output.place, record=output.name)


def _outcome(ends: list[Draft]) -> Outcome:
    """What all events of one call tell of its result, the last word of each."""
    told: list[Outcome] = [end.facts for end in ends]
    if len(told) == 1:
        return told[0]
    return calls.outcome_of(_told(ends), Json(b"[" + b",".join([full.utf8 for *_, full in told]) + b"]"))


def _told(ends: list[Draft]) -> dict[str, Any]:
    """What events tell of their call, decoded again: few calls are told of by events alone."""
    told: dict[str, Any] = {}
    for end in ends:
        value = end.facts[-1].value
        item = value.get("item")
        told.update(item if type(item) is dict else value)
    return told
