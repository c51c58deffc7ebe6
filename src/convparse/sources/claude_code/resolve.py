"""The file facts of a session, and its conversations.

What comes in: the drafts of every file of one session, and its side files. What goes out: one conversation for the session, one
for every sub-agent, and loose entries; every record is frozen here. Order is file order. What this step cannot tell (a parent
that is nowhere, tokens that were never written) is named.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, Final

import attrs

from convparse._make import close
from convparse.blocks import ToolCall, ToolResult
from convparse.records import Conversation, Entry, Event, Message, Origin
from convparse.sources._reading import json_of
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.claude_code import agents, graph, outputs, queue
from convparse.sources.claude_code.fields import NEWEST
from convparse.sources.claude_code.responses import settle_usage
from convparse.sources.claude_code.state import Draft
from convparse.sources.claude_code.threads import Thread, threads_of

TITLES: Final = ("custom-title", "ai-title", "summary")
"""Records that give a title, the best first; of one kind the last counts."""


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """The conversations and loose entries of one session."""
    threads: list[Thread] = []
    loose: list[Entry] = []
    for part in parts:
        if threads and all(draft.uuid is None for draft in part.drafts):
            threads[0].drafts = [*threads[0].drafts, *part.drafts]  # the journal of a workflow
            continue
        found, rest = threads_of(part)
        threads.extend(found)
        loose.extend(freeze(draft) for draft in rest if draft.entry is not None)
    ids: dict[str, Any] = {}
    if len(threads) > 1:
        ids = {draft.uuid: None for thread in threads for draft in thread.drafts if draft.uuid is not None}
    for thread in threads:
        _settle(thread, ids, session)
    settle_usage([(thread.part.ledger, thread.drafts) for thread in threads])
    _name_unpaired(threads)
    links = agents.links(threads, session)
    conversations = [_conversation(thread, links, session) for thread in threads]
    loose.extend(_beside(session))
    conversations = _unique(conversations)
    return conversations, _unique_loose(loose, conversations) if len(parts) > 1 else loose


# ---- one thread ------------------------------------------------------------------------------------------------------------


def _settle(thread: Thread, ids: dict[str, Any], session: Session) -> None:
    ledger = thread.part.ledger
    chain = _fold_repeats(thread)
    names = {draft.name for draft in thread.drafts}
    bookmarks = _bookmarks(thread.drafts) if "last-prompt" in names else []
    branch = graph.branch(chain, bookmarks, ids)
    thread.partial = bool(branch.missing)
    if not _starts_fork(thread):
        for at in branch.missing:
            pointer = "/logicalParentUuid" if chain[at].parent is None else "/parentUuid"
            ledger.part("missing-parent", chain[at].place, pointer, record=chain[at].name)
    for at in branch.cyclic:
        ledger.part("cyclic-parent", chain[at].place, "/parentUuid", record=chain[at].name)
    if not thread.sidechain:
        _mark([chain[at] for at in branch.undone if _is_active(chain[at])], "state", "undone")
    special = [draft for draft in thread.drafts if draft.facts is not None]
    withdrawn = {uuid for draft in special for uuid in _withdrawn(draft)}
    if withdrawn:
        _mark([draft for draft in chain if draft.uuid in withdrawn], "state", "withdrawn")
    _mark([draft for draft in special if _is_copy(draft)], "inherited", True)
    if thread.others and not thread.sidechain:
        _mark([draft for draft in chain if draft.group in thread.others and _keeps_source(draft)], "inherited", True)
    outputs.attach(special, session, ledger)
    if "queue-operation" in names:
        said = queue.unsaid(thread.drafts, ledger)
        if said:
            thread.drafts = [new for at, draft in enumerate(thread.drafts) for new in (draft, *_behind(draft, said.get(at)))]


def _name_unpaired(threads: Sequence[Thread]) -> None:
    """Name calls without a result and results without a call, over all files of the session."""
    calls: dict[str | None, tuple[Thread, Draft, int]] = {}
    results: dict[str | None, tuple[Thread, Draft, int]] = {}
    for thread in threads:
        for draft in thread.drafts:
            if draft.name == "user" or draft.name == "assistant":
                for at, block in enumerate(draft.entry.blocks):
                    if type(block) is ToolCall:
                        calls.setdefault(block.id, (thread, draft, at))
                    elif type(block) is ToolResult:
                        results.setdefault(block.call_id, (thread, draft, at))
    for code, ones, others in (("missing-result", calls, results), ("orphan-result", results, calls)):
        for id, (thread, draft, at) in ones.items() if ones.keys() != others.keys() else ():
            if id not in others:
                pointer = (
                    f"/message/content/{at}"
                    if draft.name == "assistant" or len(draft.entry.blocks) == 1
                    else "/message/content"
                )
                thread.part.ledger.part(code, draft.place, "/message/content/*", record=draft.name, pointer=pointer)


def _is_active(draft: Draft) -> bool:
    return draft.entry is not None and draft.entry.state == "active"


def _mark(drafts: Iterable[Draft], field: str, value: Any) -> None:
    for draft in drafts:
        if draft.entry is not None:
            setattr(draft.entry, field, value)


def _bookmarks(drafts: Sequence[Draft]) -> list[tuple[int, Draft]]:
    """The bookmarks, each with the number of chain rows before it."""
    found: list[tuple[int, Draft]] = []
    rows = 0
    for draft in drafts:
        if draft.uuid is not None:
            rows += 1
        elif draft.name == "last-prompt":
            found.append((rows, draft))
    return found


def _behind(draft: Draft, message: Any) -> Iterable[Draft]:
    return () if message is None else (Draft(message, "queued-prompt", draft.place, draft.group),)


def _withdrawn(draft: Draft) -> list[str]:
    named = [(draft.facts or {}).get(name) for name in ("retractedMessageUuids", "supersedesUuids")]
    return [uuid for uuids in named if type(uuids) is list for uuid in uuids if type(uuid) is str]


def _is_copy(draft: Draft) -> bool:
    facts = draft.facts or {}
    return facts.get("forkedFrom") is not None or facts.get("requestSessionId") not in (None, draft.group)


def _keeps_source(draft: Draft) -> bool:
    """True for versions whose forks left the source's session id on copied rows; before them, sessions followed each other."""
    context = draft.entry.context if draft.entry is not None else None
    return context is None or context.version is None or _number(context.version) >= (2, 0, 30)


def _starts_fork(thread: Thread) -> bool:
    return any(draft.name == "fork-context-ref" for draft in thread.drafts[:4])


_PLACE: Final = frozenset({"key", "parent_id", "origin", "merged", "state", "inherited"})
"""What a record that is appended again may say otherwise."""
_TURN: Final = frozenset({"turn_id"})
"""What it may say otherwise, too, where it takes its turn from the rows before it."""


def _fold_repeats(thread: Thread) -> list[Draft]:
    """The chain, in which rows that stand twice with one id, as compactions and forks append them again, have become one.

    Of rows that differ, that one stands which the chain goes through; the other is superseded.
    """
    chain = thread.chain
    ids = {draft.uuid for draft in chain}
    if len(ids) == len(chain):
        return chain
    first: dict[str | None, Draft] = {}
    merged: dict[str | None, list[Origin]] = {}
    folded: set[int] = set()
    for draft in chain:
        twin = first.setdefault(draft.uuid, draft)
        if twin is draft or draft.entry is None or twin.entry is None:
            continue
        if _is_same(draft, twin.entry):
            merged.setdefault(draft.uuid, []).append(draft.entry.origin)
            thread.part.ledger.part("repeated-record", draft.place, record=draft.name)
            folded.add(id(draft))
        else:
            thread.part.ledger.part("duplicate-id", draft.place, "/uuid", record=draft.name)
            later = draft.parent in ids
            (twin if later else draft).entry.state = "superseded"
            first[draft.uuid] = draft if later else twin
    for uuid, origins in merged.items():
        first[uuid].entry.merged = tuple(origins)
    thread.drafts = [draft for draft in thread.drafts if id(draft) not in folded]
    return thread.chain


def _is_same(draft: Draft, other: Any) -> bool:
    one = draft.entry
    if type(one) is not type(other):
        return False
    follows = draft.name != "user" or (draft.facts or {}).get("follows") is True
    passed = _PLACE | _TURN if follows else _PLACE
    names = (field.name for field in attrs.fields(Message if isinstance(one, Message) else Event))
    return all(getattr(one, name) == getattr(other, name) for name in names if name not in passed)


# ---- conversations ---------------------------------------------------------------------------------------------------------


def freeze(draft: Draft) -> Entry:
    """The record of a draft, which nothing can change any more."""
    return close(draft.entry, Event) if isinstance(draft.entry, Event) else close(draft.entry, Message)


def _conversation(thread: Thread, links: agents.Links, session: Session) -> Conversation:
    title, title_origin = _title(thread)
    about, described = agents.described(thread, session)
    if title is None:
        title, title_origin = described
    partial = _starts_fork(thread) or thread.partial
    entries = [freeze(draft) for draft in thread.drafts if draft.entry is not None]
    entries.extend(about)
    contexts = list({id(entry.context): entry.context for entry in entries if entry.context is not None}.values())
    return Conversation(
        thread.id,
        "claude-code",
        title,
        title_origin,
        contexts[0] if contexts else None,
        links=links.of(thread),
        body="partial" if partial else "complete",
        newer=any(_number(context.version) > _number(NEWEST) for context in contexts if context.version is not None),
        entries=tuple(entries),
    )


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isascii() and part.isdigit() and len(part) < 9)


def _title(thread: Thread) -> tuple[str | None, str | None]:
    named = [draft for draft in thread.drafts if draft.name in TITLES and draft.entry.text is not None]
    uuids = {draft.uuid for draft in thread.drafts} if named else set()
    found: dict[str, str] = {}
    for draft in named:
        if draft.name != "summary" or (draft.facts or {}).get("leafUuid") in uuids:
            found[draft.name] = draft.entry.text
    for name in TITLES:
        if name in found:
            return found[name], name
    return None, None


def _beside(session: Session) -> Iterable[Event]:
    """Events for the documents beside a session: its title, its workflows."""
    for name in session.names():
        kind, _, file = name.partition("/")
        found = session.document(name) if kind in ("title", "workflow") else None
        if found is not None:
            yield Event(f"{kind}:{file}", kind, file, data=json_of(found[1]), origin=found[0])


def _unique(conversations: list[Conversation]) -> list[Conversation]:
    """The conversations with unique keys: one seen in an earlier file gets its conversation's id put before."""
    if len(conversations) < 2:
        return conversations
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


def _unique_loose(loose: list[Entry], conversations: list[Conversation]) -> list[Entry]:
    """The same for entries that belong to none: one whose key is taken gets the name of its file put before."""
    seen = {entry.key for conversation in conversations for entry in conversation.entries}
    unique = []
    for entry in loose:
        if entry.key in seen and entry.origin is not None:
            entry = attrs.evolve(entry, key=f"{PurePath(entry.origin.path).name}/{entry.key}")
        seen.add(entry.key)
        unique.append(entry)
    return unique
