"""Which rows of a thread the product itself would go on from: the active branch.

``parentUuid`` is an order of appending with artefacts, not the shape of the talk: parallel tool calls, hooks and progress rows
fork the chain without anybody having gone back. What comes in: the drafts of one thread in file order. What goes out: the
positions off the branch, and those whose parent is missing or leads in a circle. File order is never changed.
"""

from collections.abc import Sequence
from typing import Any, Final

import attrs

from convparse.blocks import ToolCall, ToolResult
from convparse.records import Message
from convparse.sources.claude_code.state import Draft

NIL: Final = "00000000-0000-0000-0000-000000000000"
"""As the leaf of a ``last-prompt`` row (since 2.1.312): no pointer."""


@attrs.frozen
class Branch:
    """What the chain of one thread says."""

    undone: frozenset[int]
    missing: tuple[int, ...]
    cyclic: tuple[int, ...]


def branch(drafts: Sequence[Draft], elsewhere: frozenset[str] = frozenset()) -> Branch:
    """The branch of one thread. ``elsewhere``: ids of rows in other files of the session, which are no missing parents."""
    chain = [at for at, draft in enumerate(drafts) if draft.uuid is not None]
    if not chain:
        return Branch(frozenset(), (), ())
    index = _index(drafts, chain)
    missing = tuple(at for at in chain if _dangles(drafts[at], index, elsewhere))
    parents = _parents(drafts, chain, index)
    tip = _tip(drafts, chain, index, parents)
    path, cyclic = _walk(tip, parents)
    return Branch(_off(drafts, chain, parents, path), missing, cyclic)


def _index(drafts: Sequence[Draft], chain: list[int]) -> dict[str, int]:
    """Where each id stands. Of several rows with one id the last counts whose parent is in the file."""
    ids = {drafts[at].uuid for at in chain}
    index: dict[str, int] = {}
    for at in chain:
        uuid = drafts[at].uuid or ""
        if uuid not in index or drafts[at].parent in ids:
            index[uuid] = at
    return index


def _fact(draft: Draft, name: str) -> Any:
    return None if draft.facts is None else draft.facts.get(name)


def _is_boundary(draft: Draft) -> bool:
    return draft.name == "system/compact_boundary"


def _dangles(draft: Draft, index: dict[str, int], elsewhere: frozenset[str]) -> bool:
    parent = draft.parent
    if parent is None and _is_boundary(draft):
        parent = _fact(draft, "logicalParentUuid")
    return type(parent) is str and parent not in index and parent not in elsewhere


def _is_prompt(draft: Draft) -> bool:
    return draft.name != "assistant" and getattr(draft.entry, "author", None) in ("human", "model")


def _parents(drafts: Sequence[Draft], chain: list[int], index: dict[str, int]) -> dict[int, int | None]:
    """The position that each row continues: its parent, or the row before where that is nowhere to be found."""
    parents: dict[int, int | None] = {}
    emptied = {at for at, draft in enumerate(drafts) if _empties(draft)}
    previous: int | None = None
    since: set[int] = set()  # rows that go on from the last compaction
    boundary, used = -1, True
    for at in chain:
        draft = drafts[at]
        found = index.get(draft.parent) if draft.parent is not None else None
        if _is_boundary(draft):
            logical = _fact(draft, "logicalParentUuid")
            found = index.get(logical, found) if type(logical) is str else found
            found = found if found is not None and found < at else previous
            boundary, used, since = at, False, {at}
        elif found is None and (draft.parent is not None or not _is_prompt(draft)):
            cleared = previous is not None and any(previous < gone < at for gone in emptied)
            found = None if cleared and draft.parent is None else previous
        elif found is not None and found < boundary and not used:
            found = previous  # a second compaction in one process continues before the first (#92849)
        if found in since:
            since.add(at)
            used = used or draft.name == "assistant" or _is_prompt(draft)
        parents[at] = found if found != at else None
        previous = at
    return parents


def _empties(draft: Draft) -> bool:
    """True for the bookmark of a rewind to the very beginning."""
    facts = draft.facts
    return draft.name == "last-prompt" and facts is not None and facts.get("rewound") is True and facts.get("leafUuid") is None


def _tip(drafts: Sequence[Draft], chain: list[int], index: dict[str, int], parents: dict[int, int | None]) -> int | None:
    """The row that the next one would be appended to; None after a rewind to the very beginning."""
    tip = chain[-1]
    for at in range(len(drafts) - 1, tip, -1):
        facts = drafts[at].facts or {}
        if drafts[at].name == "last-prompt" and facts.get("explicit") is True and facts.get("leafUuid") != NIL:
            if _empties(drafts[at]):
                return None
            leaf = facts.get("leafUuid")
            return index.get(leaf, tip) if type(leaf) is str else tip
    latest = {parent: at for at, parent in parents.items() if parent is not None}
    seen = {tip}
    while (child := latest.get(tip)) is not None and child not in seen:
        tip = child
        seen.add(tip)
    return tip


def _walk(tip: int | None, parents: dict[int, int | None]) -> tuple[set[int], tuple[int, ...]]:
    path: set[int] = set()
    at = tip
    last = None
    while at is not None and at not in path:
        path.add(at)
        last, at = at, parents.get(at)
    return path, () if at is None or last is None else (last,)


def _off(drafts: Sequence[Draft], chain: list[int], parents: dict[int, int | None], path: set[int]) -> frozenset[int]:
    """The rows off the path, but for what hangs on it without anybody having gone back."""
    responses = {_response(drafts[at]) for at in path} - {None}
    active = {at for at in chain if at in path or _response(drafts[at]) in responses}
    owners = {block.id: at for at in chain for block in getattr(drafts[at].entry, "blocks", ()) if type(block) is ToolCall}
    for at in _parents_first(chain, parents):
        if at not in active and _hangs(drafts[at], at, parents, owners) in active:
            active.add(at)
    return frozenset(at for at in chain if at not in active)


def _response(draft: Draft) -> str | None:
    return draft.entry.response_id if isinstance(draft.entry, Message) else None


def _hangs(draft: Draft, at: int, parents: dict[int, int | None], owners: dict[str | None, int]) -> int | None:
    """What a row off the path stands or falls with: a result with its call, company with its parent, a prompt with nothing."""
    for block in getattr(draft.entry, "blocks", ()):
        if type(block) is ToolResult and block.call_id in owners:
            return owners[block.call_id]
    return None if draft.name == "assistant" or _is_prompt(draft) else parents.get(at)


def _parents_first(chain: list[int], parents: dict[int, int | None]) -> list[int]:
    """The rows in file order, but for a row that stands before its parent."""
    done: set[int] = set()
    order: list[int] = []
    for start in chain:
        line: list[int] = []
        at: int | None = start
        while at is not None and at not in done:
            done.add(at)
            line.append(at)
            at = parents.get(at)
        order.extend(reversed(line))
    return order
