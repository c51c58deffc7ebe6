"""The threads of a file: which rows are one conversation.

Rows of one session id, or of one agent's, are a thread. A parent joins two session ids: the rows of a fork that kept the id of
their source (2.0.30 to 2.1.63). A side chain inside a main file (up to 2.0.0) is a thread of its own, from its root row on.
"""

from collections.abc import Sequence
from typing import Any

import attrs

from convparse.sources._source import FilePart
from convparse.sources.claude_code.state import Draft


@attrs.define(eq=False)
class Thread:
    """The drafts of one conversation, in file order."""

    id: str | None
    part: FilePart
    drafts: list[Draft]
    sidechain: bool = False
    partial: bool = False
    """True if a row continues one that is in no file of the session."""
    others: frozenset[str] = frozenset()
    """Other session ids among its rows: where a fork was copied from."""

    @property
    def chain(self) -> list[Draft]:
        """The drafts with an id."""
        return [draft for draft in self.drafts if draft.uuid is not None]


def threads_of(part: FilePart) -> tuple[list[Thread], list[Draft]]:
    """The threads of one file, in the order of their first rows, and what belongs to none."""
    drafts = part.drafts
    groups = {draft.group for draft in drafts}
    sides = True in {draft.sidechain for draft in drafts}
    if len(groups) == 1 and None not in groups and not sides:
        return [Thread(groups.pop(), part, drafts)], []
    owner = {draft.uuid: draft.group for draft in reversed(drafts) if draft.uuid is not None}
    joined = _join(drafts, owner)
    roots = _side_roots(drafts) if sides else {}
    threads: dict[Any, Thread] = {}
    loose: list[Draft] = []
    for at, draft in enumerate(drafts):
        group = draft.group if draft.group is not None else _adopted(draft, owner)
        side = roots.get(at)
        if side is None and group is None and draft.uuid is None:
            loose.append(draft)
            continue
        key = (side is not None, side if side is not None else joined.get(group, group))
        thread = threads.get(key)
        if thread is None:
            thread = threads[key] = Thread(side if side is not None else group, part, [], side is not None)
        if side is None and group is not None and draft.uuid is not None:
            thread.id = group
        thread.drafts.append(draft)
    members: dict[str, set[str]] = {}
    for name in groups - {None}:
        members.setdefault(joined.get(name) or name, set()).add(name)
    for (side_chain, root), thread in threads.items():
        if not side_chain:
            thread.others = frozenset(members.get(root, set()) - {thread.id})
    return list(threads.values()), loose


def _join(drafts: Sequence[Draft], owner: dict[str | None, str | None]) -> dict[str | None, str | None]:
    """For session ids that a parent joins, the one that stands for them all."""
    up: dict[str | None, str | None] = {}
    for draft in drafts:
        group = draft.group
        parent = owner.get(draft.parent) if draft.parent is not None and draft.uuid is not None else None
        if parent is not None and group is not None and parent != group:
            first, second = _top(up, parent), _top(up, group)
            if first != second:
                up[second] = first
    return {name: _top(up, name) for name in up}


def _top(up: dict[str | None, str | None], name: str | None) -> str | None:
    """The end of a way up, which is made shorter for the next time."""
    while name in up:
        above = up[name]
        if above in up:
            up[name] = up[above]
        name = above
    return name


def _adopted(draft: Draft, owner: dict[str | None, str | None]) -> str | None:
    """The thread of a row without a session id: that of the row it names."""
    leaf = (draft.facts or {}).get("leafUuid")
    for uuid in (draft.parent, leaf):
        if type(uuid) is str and owner.get(uuid) is not None:
            return owner[uuid]
    return None


def _side_roots(drafts: Sequence[Draft]) -> dict[int, str]:
    """For rows of side chains inside a main file: the id of their root's row."""
    index = {draft.uuid: at for at, draft in enumerate(drafts) if draft.sidechain and draft.uuid is not None}
    roots: dict[int, str] = {}
    for at, draft in enumerate(drafts):
        if not draft.sidechain or at in roots:
            continue
        line: dict[int, None] = {}
        here: int | None = at
        while here is not None and here not in roots and here not in line:
            line[here] = None
            parent = drafts[here].parent
            here = index.get(parent) if parent is not None else None
        last = next(reversed(line))
        root = roots[here] if here is not None and here in roots else drafts[last].uuid or f"side-chain-{last}"
        roots.update(dict.fromkeys(line, root))
    return roots
