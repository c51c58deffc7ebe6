"""Calls, their outputs, and what events tell of them, by call id.

What comes in: the drafts of a file. What goes out: the drafts without the events that were folded into a call's message; what
they tell is the ``full`` of the result. An event whose call is nowhere gives the call, and the result too where no output is
recorded. A call without a result, and a result without a call, are named.
"""

from collections.abc import Sequence
from typing import Any

import attrs

from convparse.blocks import Json, ToolResult
from convparse.ledger import Ledger, Place
from convparse.sources.codex import calls
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
        """Searches of the web by what was searched: before 0.142 the call has no id."""

    def of(self, draft: Draft) -> Pair:
        """The call that a draft is about."""
        found = self.known.get(draft.call_id) if draft.call_id is not None else None
        if found is None:
            found = self._search(draft)
        if found is None or (draft.talk == "call" and found.call is not None):
            found = Pair()
            self.every.append(found)
            if action := _action(draft):
                self.searches.setdefault(action, []).append(found)
        if draft.call_id is not None:
            self.known[draft.call_id] = found
        return found

    def _search(self, draft: Draft) -> Pair | None:
        """A search of which only the call, or only the event, is known yet, and one of both has no id."""
        for other in reversed(self.searches.get(_action(draft), [])[-_NEAR:]):
            if draft.talk == "call" and draft.call_id is None and other.call is None:
                return other
            if draft.talk == "end" and not other.ends and other.call is not None and other.call.call_id is None:
                return other
        return None


def _action(draft: Draft) -> str:
    """What was searched on the web; empty for all else."""
    if draft.name == "web_search_call":
        return str(draft.entry.blocks[0].input.text)
    return str(draft.facts["action"]) if draft.talk == "end" and draft.facts is not None else ""


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
        said = _said(each.ends)
        if each.call is None:
            told = [_told(end) for end in each.ends]
            call = calls.call_of({key: value for one in told for key, value in one.items()}, each.first.call_id)
            entry.blocks = (call,) if each.outputs else (call, said)
        if each.outputs:
            output = each.outputs[0].entry
            output.blocks = _with_full(output.blocks, said)
        elif each.call is not None and any(type(block) is ToolResult for block in entry.blocks):
            entry.blocks = _with_full(entry.blocks, said)
        elif each.call is not None:
            entry.blocks = (*entry.blocks, said)
    elif not each.outputs and not any(type(block) is ToolResult for block in entry.blocks):
        ledger.part("missing-result", each.first.place, record=each.first.name)


def _settle_orphans(outputs: list[Draft], ledger: Ledger) -> None:
    for output in outputs:
        if output.call_id is None:  # context of the harness's own, in the shape of an output (since 0.171)
            output.entry.author = "harness"
        else:
            ledger.part("orphan-result", output.place, record=output.name)


def _said(ends: list[Draft]) -> ToolResult:
    """What all events of one call tell of its result, the last word of each."""
    results: list[ToolResult] = [end.facts["said"] for end in ends if end.facts is not None]
    if len(results) == 1:
        return results[0]
    told: dict[str, Any] = {}
    for end in ends:
        told.update(_told(end))
    texts = [result.full.utf8 for result in results if result.full is not None]
    return calls.result_of(told, ends[0].call_id, Json(b"[" + b",".join(texts) + b"]"))


def _told(end: Draft) -> dict[str, Any]:
    """What an event tells of its call."""
    value = (end.facts or {})["full"].value
    item = value.get("item")
    told: dict[str, Any] = item if type(item) is dict else value
    return told


def _with_full(blocks: tuple[Any, ...], said: ToolResult) -> tuple[Any, ...]:
    """The blocks with the event's richer twin on the result, and what the output's text does not say."""
    return tuple(
        attrs.evolve(
            block,
            full=said.full,
            exit_code=block.exit_code if block.exit_code is not None else said.exit_code,
            duration=block.duration if block.duration is not None else said.duration,
            status=block.status if block.status is not None else said.status,
            is_error=said.is_error,
        )
        if type(block) is ToolResult
        else block
        for block in blocks
    )
