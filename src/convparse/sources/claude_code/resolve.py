"""The file facts of a session, and its conversations.

What comes in: the drafts of every file of one session, and its side files. What goes out: one conversation for the session, one
for every sub-agent, and loose entries; every record is frozen here. Order is file order. What this step cannot tell (a parent
that is nowhere, tokens that were never written) is named.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from convparse._make import close
from convparse.records import Conversation, Entry, Event, Message
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.claude_code import agents, graph, outputs, queue
from convparse.sources.claude_code.fields import NEWEST
from convparse.sources.claude_code.responses import settle_usage
from convparse.sources.claude_code.state import Draft

TITLES = ("custom-title", "ai-title", "summary")
"""Records that give a title, the best first; of one kind the last counts."""


@attrs.define
class Thread:
    """The drafts of one conversation, in file order."""

    id: str | None
    part: FilePart
    drafts: list[Draft]
    sidechain: bool = False
    others: tuple[str, ...] = ()
    """Other session ids among its rows: where a fork was copied from."""


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """The conversations and loose entries of one session."""
    threads: list[Thread] = []
    loose: list[Entry] = []
    for part in parts:
        found, rest = _threads(part)
        threads.extend(found)
        loose.extend(freeze(draft.entry) for draft in rest if draft.entry is not None)
    ids = frozenset(draft.uuid for thread in threads for draft in thread.drafts if draft.uuid is not None)
    for thread in threads:
        _settle(thread, ids, session)
    settle_usage([(thread.part.ledger, thread.drafts, thread.id) for thread in threads])
    links = agents.links(threads, session)
    conversations = [_conversation(thread, links, session) for thread in threads]
    return _unique(conversations), loose


# ---- threads ---------------------------------------------------------------------------------------------------------------


def _threads(part: FilePart) -> tuple[list[Thread], list[Draft]]:
    """The threads of one file, in the order of their first rows, and what belongs to none."""
    owner = _owners(part.drafts)
    roots = _side_roots(part.drafts)
    threads: dict[Any, Thread] = {}
    rest: list[Draft] = []
    for at, draft in enumerate(part.drafts):
        side = roots.get(at)
        group = draft.group if draft.group is not None else _adopted(draft, owner)
        if side is None and group is None and draft.uuid is None:
            rest.append(draft)
            continue
        key = ("side", side) if side is not None else ("main", owner.joined(group))
        thread = threads.get(key)
        if thread is None:
            thread = threads[key] = Thread(side if side is not None else group, part, [], side is not None)
        if side is None and group is not None and draft.uuid is not None:
            thread.id = group
        thread.drafts.append(draft)
    for key, thread in threads.items():
        if key[0] == "main":
            thread.others = tuple(name for name in owner.members(key[1]) if name != thread.id)
    return list(threads.values()), rest


class _Owners:
    """Session ids that a parent joins: the rows of a fork that kept the id of their source (2.0.30 to 2.1.63)."""

    def __init__(self) -> None:
        self.up: dict[str | None, str | None] = {}
        self.of: dict[str, str | None] = {}

    def joined(self, name: str | None) -> str | None:
        while self.up.get(name, name) != name:
            name = self.up[name]
        return name

    def join(self, a: str | None, b: str | None) -> None:
        first, second = self.joined(a), self.joined(b)
        if first != second:
            self.up[second] = first

    def members(self, root: str | None) -> list[str]:
        return [name for name in dict.fromkeys(self.of.values()) if name is not None and self.joined(name) == root]


def _owners(drafts: Sequence[Draft]) -> _Owners:
    owners = _Owners()
    for draft in drafts:
        if draft.uuid is not None and draft.uuid not in owners.of:
            owners.of[draft.uuid] = draft.group
    for draft in drafts:
        if draft.parent in owners.of and draft.uuid is not None and draft.group is not None:
            parent = owners.of[draft.parent]
            if parent is not None and parent != draft.group:
                owners.join(parent, draft.group)
    return owners


def _adopted(draft: Draft, owners: _Owners) -> str | None:
    """The thread of a row without a session id: that of the row it names."""
    leaf = (draft.facts or {}).get("leafUuid")
    for uuid in (draft.parent, leaf):
        if type(uuid) is str and owners.of.get(uuid) is not None:
            return owners.of[uuid]
    return None


def _side_roots(drafts: Sequence[Draft]) -> dict[int, str]:
    """For rows of side chains inside a main file (up to 2.0.0): the id of their root's row."""
    index = {draft.uuid: at for at, draft in enumerate(drafts) if draft.sidechain and draft.uuid is not None}
    roots: dict[int, str] = {}
    for at in index.values():
        line: list[int] = []
        here: int | None = at
        while here is not None and here not in roots and here not in line[-1:]:
            line.append(here)
            parent = drafts[here].parent
            here = index.get(parent) if parent is not None and len(line) <= len(index) else None
        root = roots[here] if here is not None and here in roots else drafts[line[-1]].uuid or ""
        roots.update(dict.fromkeys(line, root))
    return roots


# ---- one thread ------------------------------------------------------------------------------------------------------------


def _settle(thread: Thread, ids: frozenset[str], session: Session) -> None:
    _fold_repeats(thread)
    drafts, ledger = thread.drafts, thread.part.ledger
    branch = graph.branch(drafts, ids)
    for at in branch.missing:
        if not _starts_fork(drafts):
            ledger.part("missing-parent", drafts[at].place, "/parentUuid", record=drafts[at].name)
    for at in branch.cyclic:
        ledger.part("cyclic-parent", drafts[at].place, "/parentUuid", record=drafts[at].name)
    withdrawn = {uuid for draft in drafts for uuid in _withdrawn(draft)}
    for at, draft in enumerate(drafts):
        if draft.entry is None:
            continue
        if draft.uuid in withdrawn:
            draft.entry.state = "withdrawn"
        elif at in branch.undone and not thread.sidechain:
            draft.entry.state = "undone"
        if _is_copy(draft, thread):
            draft.entry.inherited = True
    outputs.attach(drafts, session, ledger)
    said = queue.unsaid(drafts, ledger)
    if said:
        thread.drafts = [new for at, draft in enumerate(drafts) for new in (draft, *_behind(draft, said.get(at)))]


def _behind(draft: Draft, message: Message | None) -> Iterable[Draft]:
    return () if message is None else (Draft(message, "queued-prompt", draft.place, draft.group),)


def _withdrawn(draft: Draft) -> list[str]:
    facts = draft.facts or {}
    return [uuid for name in ("retractedMessageUuids", "supersedesUuids") for uuid in _list(facts.get(name))]


def _list(value: Any) -> list[Any]:
    return [item for item in value if type(item) is str] if type(value) is list else []


def _is_copy(draft: Draft, thread: Thread) -> bool:
    facts = draft.facts or {}
    if facts.get("forkedFrom") is not None:
        return True
    if "requestSessionId" in facts and facts["requestSessionId"] != draft.group:
        return True
    return draft.uuid is not None and draft.group in thread.others and not thread.sidechain


def _starts_fork(drafts: Sequence[Draft]) -> bool:
    return any(draft.name == "fork-context-ref" for draft in drafts[:4])


_SAME = ("role", "author", "blocks", "timestamp", "response_id", "model", "kind", "name", "text", "data")


def _fold_repeats(thread: Thread) -> None:
    """Rows that stand twice with one id, as compactions and forks append them again, become one."""
    first: dict[str, Draft] = {}
    kept: list[Draft] = []
    for draft in thread.drafts:
        twin = first.setdefault(draft.uuid, draft) if draft.uuid is not None else draft
        if twin is draft or draft.entry is None or twin.entry is None:
            kept.append(draft)
        elif all(getattr(draft.entry, name, None) == getattr(twin.entry, name, None) for name in _SAME):
            twin.entry.merged = (*twin.entry.merged, draft.entry.origin)
            thread.part.ledger.part("repeated-record", draft.place, record=draft.name)
        else:
            thread.part.ledger.part("duplicate-id", draft.place, "/uuid", record=draft.name)
            twin.entry.state = "superseded"
            first[draft.uuid or ""] = draft
            kept.append(draft)
    thread.drafts = kept


# ---- conversations ---------------------------------------------------------------------------------------------------------


def freeze(entry: Any) -> Entry:
    """A record that nothing can change any more."""
    return close(entry, Message) if isinstance(entry, Message) else close(entry, Event)


def _conversation(thread: Thread, links: agents.Links, session: Session) -> Conversation:
    title, title_origin = _title(thread)
    extra, described = agents.described(thread, session)
    if title is None:
        title, title_origin = described
    entries = [freeze(draft.entry) for draft in thread.drafts if draft.entry is not None]
    entries.extend(extra)
    contexts = [entry.context for entry in entries if entry.context is not None]
    versions = {context.version for context in contexts if context.version is not None}
    broken = any(draft.name == "fork-context-ref" for draft in thread.drafts[:4])
    return Conversation(
        thread.id,
        "claude-code",
        title,
        title_origin,
        contexts[0] if contexts else None,
        links=links.of(thread),
        body="partial" if broken or _is_partial(thread) else "complete",
        newer=any(_number(version) > _number(NEWEST) for version in versions),
        entries=tuple(entries),
    )


def _is_partial(thread: Thread) -> bool:
    uuids = {draft.uuid for draft in thread.drafts}
    return any(draft.parent is not None and draft.parent not in uuids for draft in thread.drafts)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isascii() and part.isdigit() and len(part) < 9)


def _title(thread: Thread) -> tuple[str | None, str | None]:
    uuids = {draft.uuid for draft in thread.drafts}
    found: dict[str, str] = {}
    for draft in thread.drafts:
        known = draft.name != "summary" or (draft.facts or {}).get("leafUuid") in uuids
        if draft.name in TITLES and known and draft.entry.text is not None:
            found[draft.name] = draft.entry.text
    for name in TITLES:
        if name in found:
            return found[name], name
    return None, None


def _unique(conversations: list[Conversation]) -> list[Conversation]:
    """The conversations with unique keys: one seen in an earlier file gets its conversation's id put before."""
    seen: set[str] = set()
    unique = []
    for conversation in conversations:
        entries = conversation.entries
        if any(entry.key in seen for entry in entries):
            entries = tuple(
                attrs.evolve(entry, key=f"{conversation.id}/{entry.key}") if entry.key in seen else entry for entry in entries
            )
            conversation = attrs.evolve(conversation, entries=entries)
        seen.update(entry.key for entry in entries)
        unique.append(conversation)
    return unique
