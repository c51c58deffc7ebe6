"""The file facts of a rollout, and its conversation.

What comes in: the drafts of a rollout, and of the files it is based on where these were found. What goes out: one conversation;
every record is frozen here. Order is file order, what a base holds before what follows it. What this step cannot tell (a result
that is nowhere, tokens that were never written) is named.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from convparse._make import close
from convparse.blocks import Block, Text
from convparse.ledger import Ledger
from convparse.records import Conversation, Entry, Event, Link, Message
from convparse.sources._reading import json_of
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.codex import pairs, threads, twins, usage
from convparse.sources.codex.authors import as_injected, as_typed, by_kinds, injected_kind, markers
from convparse.sources.codex.fields import NEWEST
from convparse.sources.codex.state import Draft
from convparse.sources.codex.threads import Header


@attrs.define
class Thread:
    """One file, settled but for what its place in a chain of files says."""

    part: FilePart
    header: Header
    drafts: list[Draft]


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """The conversation of a rollout, and of its bases; what stands without a thread is loose."""
    chain = [_settled(part) for part in parts]
    if not chain or not any(thread.drafts for thread in chain):
        return [], []
    head = chain[0]
    drafts = head.drafts
    end, based = head.header.base_end, head.header.base
    for base in chain[1:]:
        drafts = _before(base, end, head.header) + drafts
        end, based = base.header.base_end, base.header.base
    complete = based is None and all(thread.header.headers for thread in chain)
    links = threads.links_of(drafts, head.header)
    if len(chain) > 1 and based is not None:
        links += (Link("base", based, None, end),)
    entries = _frozen(drafts, chained=len(chain) > 1)
    title = _title(drafts, head.header)
    contexts = list({id(entry.context): entry.context for entry in entries if entry.context is not None}.values())
    return [
        Conversation(
            head.header.id,
            "codex",
            title,
            "thread_name_updated" if title is not None else None,
            contexts[0] if contexts else None,
            head.header.created_at,
            links=links,
            body="complete" if complete else "partial",
            newer=any(_version(c.version) > _version(NEWEST) for c in contexts if c.version is not None),
            entries=entries,
        )
    ], []


def _settled(part: FilePart) -> Thread:
    drafts = twins.fold(part.drafts, part.ledger)
    header = threads.header_of(drafts)
    threads.mark_inherited(drafts, header)
    _settle_authors(drafts, header)
    drafts = pairs.pair(drafts, part.ledger)
    threads.mark_undone(drafts)
    usage.settle(drafts, part.ledger, header.id)
    return Thread(part, header, drafts)


def _before(base: Thread, end: int | None, head: Header) -> list[Draft]:
    """What of a base file belongs to the thread: all of it up to where it was left; what was reverted stays as undone."""
    own = base.header.id == head.id
    kept = []
    for draft in base.drafts:
        beyond = end is not None and draft.ordinal is not None and draft.ordinal >= end
        if beyond and not own:
            _pass_over(draft, base.part.ledger)
            continue
        if beyond:
            draft.entry.state = "undone"
        elif not own:
            draft.entry.inherited = True
            entry: Any = draft.entry
            if draft.grammar and entry.usage is not None:
                entry.usage = None
                base.part.ledger.part("inherited-usage", draft.place, record=draft.name)
        kept.append(draft)
    return kept


def _pass_over(draft: Draft, ledger: Ledger) -> None:
    for origin in (draft.entry.origin, *draft.entry.merged):
        ledger.unit("codex/beyond-base", (origin.line, origin.offset, origin.length), record=draft.name)


# ---- who wrote it ----------------------------------------------------------------------------------------------------------


def _settle_authors(drafts: Sequence[Draft], header: Header) -> None:
    last = next((draft for draft in reversed(drafts) if draft.grammar), None)
    told = {draft.entry.inherited for draft in drafts if draft.talk == "user" and (draft.facts or {}).get("told")}
    before = ""
    for draft in drafts:
        entry: Any = draft.entry
        if draft.grammar:
            if draft.talk == "user":
                _settle_user(draft, header, entry.inherited in told and draft is not last)
                if before == "output" and not any(type(block) is Text for block in entry.blocks):
                    entry.author = "harness"  # a picture that a tool looked at, put in as if sent (up to 0.98)
            elif entry.author == "harness":
                _inject(draft, entry.role)
            before = draft.talk


def _settle_user(draft: Draft, header: Header, prompted: bool) -> None:
    """A prompt, or what the harness put in its place. ``prompted``: what a person sends has a second record in this file."""
    entry, facts = draft.entry, draft.facts or {}
    foreign = draft.thread is not None and header.id is not None and draft.thread not in header.known
    if facts.get("review") or foreign:
        _inject(draft, "review")
        return
    told = by_kinds(entry.blocks, facts.get("kinds"))
    if told is not None:
        human, entry.blocks = told
        entry.author = _asker(entry, header) if human else "harness"
    elif facts.get("told") or _is_typed(entry.blocks, prompted):
        entry.author, entry.blocks = _asker(entry, header), as_typed(entry.blocks)
    else:
        _inject(draft, "context")


def _asker(entry: Any, header: Header) -> Any:
    """Who asks in a thread: in a sub-agent's the model that started it, in a reviewer's the product."""
    if header.agent is None or entry.inherited:
        return "human"
    return "model" if header.agent == "thread_spawn" else "harness"


def _is_typed(blocks: tuple[Block, ...], prompted: bool) -> bool:
    """Without other evidence: a text that is not known for the product's own, in a file that has no second records."""
    left_out = markers(blocks)
    texts = [block.text for i, block in enumerate(blocks) if type(block) is Text and i not in left_out]
    return not prompted and any(injected_kind(text) is None for text in texts)


def _inject(draft: Draft, word: str) -> None:
    draft.entry.author = "harness"
    kinds = (draft.facts or {}).get("kinds")
    told = by_kinds(draft.entry.blocks, kinds)
    draft.entry.blocks = told[1] if told is not None and not told[0] else as_injected(draft.entry.blocks, word)


# ---- the conversation ------------------------------------------------------------------------------------------------------


def freeze(draft: Draft) -> Entry:
    """The record of a draft, which nothing can change any more."""
    entry = draft.entry
    if not draft.grammar:
        return close(entry, Event)
    if draft.extra:
        entry.extra = json_of(draft.extra)
    return close(entry, Message)


def _frozen(drafts: list[Draft], *, chained: bool) -> tuple[Entry, ...]:
    """The frozen records; a key that an earlier file of the chain has gets a number."""
    if not chained:
        return tuple([freeze(draft) for draft in drafts])
    seen: dict[str, int] = {}
    entries = []
    for draft in drafts:
        key = draft.entry.key
        n = seen[key] = seen.get(key, 0) + 1
        if n > 1:
            while f"{key}/{n}" in seen:
                n += 1
            draft.entry.key = f"{key}/{n}"
            seen[draft.entry.key] = 1
        entries.append(freeze(draft))
    return tuple(entries)


def _title(drafts: Iterable[Draft], header: Header) -> str | None:
    """The last name that the thread was given."""
    named = [
        draft.entry.text
        for draft in drafts
        if draft.name == "thread_name_updated"
        and draft.entry.text is not None
        and (draft.facts or {}).get("thread_id") in (None, header.id)
    ]
    return named[-1] if named else None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("-")[0].split(".") if part.isascii() and part.isdigit() and len(part) < 9)
