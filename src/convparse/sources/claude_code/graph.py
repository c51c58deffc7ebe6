"""Which rows of a thread the product itself would go on from: the active branch.

``parentUuid`` is an order of appending with artefacts, not the shape of the talk: parallel tool calls, hooks and progress rows
fork the chain without anybody having gone back. What comes in: the chain of one thread, its drafts with an id, in file order.
What goes out: the positions off the branch, and those whose parent is missing or leads in a circle. File order stays.

Nearly every row continues the one before it. Only the others, the *breaks*, are looked at one by one; the rows between two
breaks are a run, on the branch or off it as a whole.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from convparse.blocks import ToolCall, ToolResult
from convparse.sources.claude_code.state import Draft

BOUNDARY: Final = "system/compact_boundary"
NIL: Final = "00000000-0000-0000-0000-000000000000"
"""As the leaf of a ``last-prompt`` row (since 2.1.312): no pointer."""
Breaks: TypeAlias = dict[int, int | None]
"""Positions of rows that do not continue the row before, and the position of what they do continue."""


@attrs.frozen
class Branch:
    """What the chain of one thread says."""

    undone: frozenset[int] = frozenset()
    missing: tuple[int, ...] = ()
    cyclic: tuple[int, ...] = ()


def branch(chain: Sequence[Draft], bookmarks: Sequence[tuple[int, Draft]], elsewhere: Mapping[str, Any]) -> Branch:
    """The branch of one thread.

    ``bookmarks``: the ``last-prompt`` rows, each with the number of chain rows before it. ``elsewhere``: ids of rows in other
    files of the session, which are no missing parents.
    """
    if not chain:
        return Branch()
    index = _index(chain)
    breaks = _breaks(chain, index, bookmarks)
    missing = tuple(at for at in breaks if _dangles(chain[at], index, elsewhere))
    cyclic = _open_circles(breaks)
    path = _path(_tip(chain, index, breaks, bookmarks), breaks, len(chain))
    return Branch(_off(chain, breaks, path) if not all(path) else frozenset(), missing, cyclic)


def _path(tip: int | None, breaks: Breaks, length: int) -> bytearray:
    """The rows that lead to the tip, as ones, run by run."""
    starts = sorted(breaks)
    path = bytearray(length)
    while tip is not None:
        start = starts[bisect_right(starts, tip) - 1]
        path[start : tip + 1] = b"\1" * (tip + 1 - start)
        tip = breaks[start]
    return path


def _open_circles(breaks: Breaks) -> tuple[int, ...]:
    """Let the row that closes a circle continue the row before it, and give those rows."""
    starts = sorted(breaks)
    safe: set[int] = set()
    cut: list[int] = []
    for start in starts:
        line: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in safe:
            if at in line:
                breaks[at] = at - 1 if at > 0 else None
                cut.append(at)
            line[at] = None
            parent = breaks[at]
            at = None if parent is None else starts[bisect_right(starts, parent) - 1]
        safe.update(line)
    return tuple(cut)


def _index(chain: Sequence[Draft]) -> dict[str | None, int]:
    """Where each id stands. Of several rows with one id the last counts whose parent is in the file."""
    index = {draft.uuid: at for at, draft in enumerate(chain)}
    if len(index) < len(chain):
        seen: set[str | None] = set()
        for at, draft in enumerate(chain):
            if draft.uuid not in seen or draft.parent in index:
                index[draft.uuid] = at
            seen.add(draft.uuid)
    return index


def _logical(draft: Draft) -> str | None:
    parent = (draft.facts or {}).get("logicalParentUuid") if draft.name == BOUNDARY else draft.parent
    return parent if type(parent) is str else draft.parent


def _dangles(draft: Draft, index: Mapping[str | None, int], elsewhere: Mapping[str, Any]) -> bool:
    parent = _logical(draft)
    return parent is not None and parent not in index and parent not in elsewhere


def _is_prompt(draft: Draft) -> bool:
    return draft.name != "assistant" and getattr(draft.entry, "author", None) in ("human", "model")


def _breaks(chain: Sequence[Draft], index: dict[str | None, int], bookmarks: Sequence[tuple[int, Draft]]) -> Breaks:
    """The breaks: what each of them continues, or the row before where that is nowhere to be found."""
    emptied = {at for at, bookmark in bookmarks if _empties(bookmark)}
    boundaries = [at for at, draft in enumerate(chain) if draft.name == BOUNDARY]
    ids = [draft.uuid for draft in chain]
    parents = [draft.parent for draft in chain]
    starts = [at for at, parent in enumerate(parents[1:], 1) if parent != ids[at - 1]] if parents[1:] != ids[:-1] else []
    breaks: Breaks = {}
    for at in sorted({0, *starts, *boundaries}):
        draft = chain[at]
        found = index.get(draft.parent) if draft.parent is not None else None
        if draft.name == BOUNDARY:
            found = index.get(_logical(draft))
            found = found if found is not None and found < at else at - 1
        elif found is None and (draft.parent is not None or not _is_prompt(draft)):
            found = None if draft.parent is None and at in emptied else at - 1
        elif found is not None and boundaries and _is_stale(found, at, chain, boundaries, breaks):
            found = at - 1
        breaks[at] = found if found is not None and found >= 0 else None
    return breaks


def _is_stale(found: int, at: int, chain: Sequence[Draft], boundaries: list[int], breaks: Breaks) -> bool:
    """True if a row continues what a compaction before it took away, and nothing went on from the compaction.

    A second compaction in one process is continued from before the first (#92849).
    """
    last = bisect_right(boundaries, at) - 1
    if last < 0 or found >= boundaries[last]:
        return False
    after = boundaries[last] + 1
    went_on = after
    while went_on < at and breaks.get(went_on, went_on - 1) == went_on - 1:
        if chain[went_on].name == "assistant" or _is_prompt(chain[went_on]):
            return False
        went_on += 1
    return True


def _empties(bookmark: Draft) -> bool:
    """True for the bookmark of a rewind to the very beginning."""
    facts = bookmark.facts or {}
    return facts.get("rewound") is True and facts.get("leafUuid") is None


def _tip(
    chain: Sequence[Draft], index: Mapping[str | None, int], breaks: Breaks, bookmarks: Sequence[tuple[int, Draft]]
) -> int | None:
    """The row that the next one would be appended to; None after a rewind to the very beginning."""
    tip = len(chain) - 1
    for at, bookmark in reversed(bookmarks):
        facts = bookmark.facts or {}
        if at <= tip:
            break
        if facts.get("explicit") is True and facts.get("leafUuid") != NIL:
            leaf = facts.get("leafUuid")
            return None if _empties(bookmark) else index.get(leaf, tip) if type(leaf) is str else tip
    latest = {parent: at for at, parent in breaks.items()}
    seen = {tip}
    while (child := _child(tip, latest, breaks, len(chain))) is not None and child not in seen:
        tip = child
        seen.add(tip)
    return tip


def _child(at: int, latest: Mapping[int | None, int], breaks: Breaks, length: int) -> int | None:
    """The last row that continues a row: one of the breaks, else the next row of its run."""
    return latest.get(at, at + 1 if at + 1 < length and at + 1 not in breaks else None)


def _off(chain: Sequence[Draft], breaks: Breaks, path: bytearray) -> frozenset[int]:
    """The rows off the path, but for what hangs on it without anybody having gone back."""
    off = [at for at, on in enumerate(path) if not on]
    answers = [at for at in off if _response(chain[at]) is not None]
    if answers:
        responses = {_response(draft) for draft, on in zip(chain, path, strict=True) if on}
        for at in answers:
            path[at] = _response(chain[at]) in responses
    calls: dict[str | None, int] = {}
    for at in _parents_first(off, breaks):
        owner = _owner(chain, at, breaks, calls)
        if owner is not None and path[owner]:
            path[at] = 1
    return frozenset(at for at in off if not path[at])


def _owner(chain: Sequence[Draft], at: int, breaks: Breaks, calls: dict[str | None, int]) -> int | None:
    """What a row off the path stands or falls with: a result with its call, company with its parent, a prompt with nothing."""
    draft, parent = chain[at], breaks.get(at, at - 1)
    results = [block.call_id for block in _blocks(draft) if type(block) is ToolResult]
    if results:
        if parent is not None and results[0] in _calls(chain[parent]):
            return parent
        if not calls:
            calls.update({None: -1, **{call_id: i for i, row in enumerate(chain) for call_id in _calls(row)}})
        if results[0] is not None and results[0] in calls:
            return calls[results[0]]
    return None if draft.name == "assistant" or _is_prompt(draft) else parent


def _calls(draft: Draft) -> list[str | None]:
    return [block.id for block in _blocks(draft) if type(block) is ToolCall]


def _blocks(draft: Draft) -> tuple[Any, ...]:
    blocks: tuple[Any, ...] = getattr(draft.entry, "blocks", ())
    return blocks


def _response(draft: Draft) -> Any:
    return draft.entry.response_id if draft.name == "assistant" else None


def _parents_first(off: list[int], breaks: Breaks) -> list[int]:
    """Rows off the path in file order, but for a row that stands before its parent."""
    waiting = set(off)
    order: list[int] = []
    for start in off:
        line: list[int] = []
        at: int | None = start
        while at is not None and at in waiting:
            waiting.discard(at)
            line.append(at)
            at = breaks.get(at, at - 1)
        order.extend(reversed(line))
    return order
