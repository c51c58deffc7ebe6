"""The file facts of a session, and its conversations.

What comes in: the drafts of a session's files. What goes out: one conversation a file; every record is frozen here. Order is
that of first appearance in the file. The product's list of messages is followed from line to line, as the product follows it,
but what leaves the list stays: taken back by a person it is ``undone``, left out by the program ``withdrawn``, written anew
with other words ``superseded``; what a compaction left out stays ``active``, for the product goes on from its summary.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Final

import attrs

from convparse._make import close
from convparse.blocks import ToolResult
from convparse.ledger import Ledger
from convparse.records import Context, Conversation, Entry, Event, Link, Message, Origin
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.gemini_cli.files import ROOT
from convparse.sources.gemini_cli.messages import is_summary, is_unasked
from convparse.sources.gemini_cli.state import Draft
from convparse.sources.gemini_cli.versions import same

_INDEX: Final = re.compile(r"/\d+(?=/|$)")


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """The conversations of a session, the one of the given file first."""
    root = _root(session)
    conversations = [_conversation(part, root if part is parts[0] else None) for part in parts]
    if len(parts) > 1 or root is not None:
        conversations = _unique(conversations, [PurePath(part.path).stem for part in parts])
    if root is not None and root.text:
        context = Context(root.text.strip())
        conversations = [attrs.evolve(conversation, context=context) for conversation in conversations]
    return conversations, []


def _root(session: Session) -> Event | None:
    """The folder of the project, which stands in a file beside those of its sessions (0.61)."""
    found = session.note(ROOT)
    if found is None:
        return None
    origin, data = found
    return Event(f"workspace:{ROOT}", "workspace", ROOT, data.decode("utf-8", "replace"), origin=origin)


def _unique(conversations: list[Conversation], names: list[str]) -> list[Conversation]:
    """The conversations with unique keys: those of a sub-agent's file have its name put before, for ids are of one file."""
    seen: set[str] = set()
    unique = []
    for i, (conversation, name) in enumerate(zip(conversations, names, strict=True)):
        entries = []
        for entry in conversation.entries:
            key = f"{name}/{entry.key}" if i else entry.key
            while key in seen:
                key += "'"
            seen.add(key)
            entries.append(entry if key == entry.key else attrs.evolve(entry, key=key))
        unique.append(attrs.evolve(conversation, entries=tuple(entries)))
    return unique


def _conversation(part: FilePart, root: Event | None) -> Conversation:
    drafts = [each for draft in part.drafts for each in (draft, *(inner.copied() for inner in draft.inside))]
    _List(part.ledger).follow(drafts)
    last = [draft for draft in drafts if draft.entry is not None and draft.entry.state != "superseded"]
    _pair(last)
    _name_unpaired(last, part.ledger)
    facts: dict[str, Any] = {}
    for draft in drafts:
        told = {name: fact for name, fact in draft.facts.items() if name in _FIRST + _LAST and fact is not None}
        facts |= {name: fact for name, fact in told.items() if name in _LAST or name not in facts}
    agents = dict.fromkeys(agent for draft in last for agent in draft.facts.get("agents", {}).items())
    entries = [frozen(draft.entry) for draft in drafts if draft.entry is not None]
    return Conversation(
        facts.get("id"),
        "gemini-cli",
        facts.get("title"),
        "summary" if "title" in facts else None,
        created_at=facts.get("start"),
        updated_at=facts.get("updated"),
        links=tuple(Link("subagent", agent, call) for call, agent in agents),
        entries=(*entries, root) if root is not None else tuple(entries),
    )


_FIRST: Final = ("id", "start")
_LAST: Final = ("title", "updated")


def frozen(entry: Any) -> Entry:
    """The record that nothing can change any more."""
    return close(entry, Event) if isinstance(entry, Event) else close(entry, Message)


# ---- the product's list ----------------------------------------------------------------------------------------------------


class _List:
    """The product's list of messages while a log is followed. A *slot* is the key of a message's first version."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.drafts: dict[str, Draft] = {}
        self.merged: dict[str, list[Origin]] = {}
        """Where messages stand once more, by their keys."""
        self.slots: dict[str | None, str] = {}
        self.current: dict[str, str] = {}
        """The list: slots, each with the key of its last version."""
        self.is_summed_up = False
        """True if a summary was said that nothing was left out for."""
        self.is_after_summary = False
        """True if the last message was one."""

    def follow(self, drafts: list[Draft]) -> None:
        """Settle the state of every record, and what the versions of a message make together."""
        for draft in drafts:
            if draft.entry is not None:
                self.drafts[draft.key] = draft
            handler = _STEPS.get(draft.step)
            if handler is not None:
                handler(self, draft)
        for key, origins in self.merged.items():
            self.drafts[key].entry.merged = tuple(origins)

    def say(self, draft: Draft) -> None:
        """A message that follows the others, or stands in the place of its earlier version."""
        before = self.drafts[draft.facts["before"]] if "before" in draft.facts else None
        slot = self.slots.setdefault(draft.key, draft.key if before is None else self.slots[before.key])
        self.current[slot] = draft.key
        if self.is_after_summary and is_unasked(draft.entry):
            draft.entry.author = "harness"  # the thanks for a summary are the program's
        self.is_after_summary = is_summary(draft)
        self.is_summed_up = self.is_summed_up or self.is_after_summary
        if before is not None:
            self._supersede(before, draft)

    def _supersede(self, old: Draft, new: Draft) -> None:
        old.entry.state = "superseded"
        if getattr(old.entry, "usage", None) is not None and getattr(new.entry, "usage", None) is not None:
            old.entry.usage = None
            at = f"{old.entry.origin.pointer}/tokens"
            self.ledger.part("repeated-usage", old.place, _INDEX.sub("/*", at), record=old.name, pointer=at)

    def extend(self, draft: Draft) -> None:
        """More of a message: tool calls, or tokens."""
        target = self.drafts[draft.key]
        target.entry.blocks = draft.facts["blocks"]
        target.entry.usage = draft.facts["usage"]
        target.facts = target.facts | {key: fact for key, fact in draft.facts.items() if key in _OF_CALLS}
        self.repeat(draft)

    def repeat(self, draft: Draft) -> None:
        """The same message once more."""
        target = self.drafts[draft.key]
        self.merged.setdefault(draft.key, []).append(draft.facts["origin"])
        target.entry.state = "active"
        self.current.setdefault(self.slots.setdefault(draft.key, draft.key), draft.key)

    def replace(self, draft: Draft) -> None:
        """The whole list anew. What it leaves out is withdrawn, or summed up."""
        keys = draft.facts["list"]
        left = set(self.current.values()) - set(keys)
        self.current = {self.slots.setdefault(key, key): key for key in keys}
        if not draft.facts["is_compaction"]:
            self._set_state(left, "withdrawn")
        self._set_state(keys, "active")

    def rewind(self, draft: Draft) -> None:
        """From a message on all is taken back; everything, if the list does not have it."""
        last = self.slots.get(draft.facts["to"])
        slot, gone = None, []
        while self.current and (slot is None or slot != last):
            slot, key = self.current.popitem()
            gone.append(key)
        self._set_state(gone, "undone")

    def patch(self, draft: Draft) -> None:
        """Some messages are left out; behind a summary they are what it sums up."""
        slots = [self.slots[key] for key in draft.facts["removed"] if key in self.slots]
        gone = [self.current.pop(slot) for slot in slots if slot in self.current]
        if not self.is_summed_up:
            self._set_state(gone, "withdrawn")
        self.is_summed_up = False

    def _set_state(self, keys: Any, state: str) -> None:
        for key in keys:
            if key in self.drafts and self.drafts[key].entry.state != "superseded":
                self.drafts[key].entry.state = state


_OF_CALLS: Final = ("calls", "results", "agents")
_STEPS: Final[Mapping[str, Callable[[_List, Draft], None]]] = MappingProxyType(
    {
        "say": _List.say,
        "listed": _List.say,
        "extend": _List.extend,
        "repeat": _List.repeat,
        "list": _List.replace,
        "rewind": _List.rewind,
        "patch": _List.patch,
    }
)


# ---- calls and results -----------------------------------------------------------------------------------------------------


def _pair(drafts: list[Draft]) -> None:
    """Where a result stands in a message of its own as well, that one holds it, with what the call's record tells of it.

    Of several records of one call the first does; the others keep what they tell.
    """
    holders: dict[str, Draft] = {}
    for draft in drafts:
        for call in draft.facts.get("responses", ()):
            if call not in holders or (holders[call].entry.state, draft.entry.state) == ("withdrawn", "active"):
                holders[call] = draft
    moved: dict[str, dict[str, ToolResult]] = {}
    for draft in drafts:
        told = {
            call
            for call, told in draft.facts.get("results", {}).items()
            if call in holders and call not in moved.get(holders[call].key, ()) and _is_told(told, holders[call], call)
        }
        for block in draft.entry.blocks if told else ():
            if isinstance(block, ToolResult) and block.call_id is not None and block.call_id in told:
                moved.setdefault(holders[block.call_id].key, {})[block.call_id] = block
        if told:
            draft.entry.blocks = tuple(b for b in draft.entry.blocks if not (isinstance(b, ToolResult) and b.call_id in told))
    for holder in holders.values():
        if holder.key in moved:
            results = moved.pop(holder.key)
            holder.entry.blocks = tuple(_filled(block, results) for block in holder.entry.blocks)


def _is_told(told: Any, holder: Draft, call: str) -> bool:
    return same(told, [holder.facts["responses"][call][0]]) or same(told, holder.facts["content"])


def _filled(block: Any, results: dict[str, ToolResult]) -> Any:
    """The result of a call, with what the call's record tells of it."""
    told = results.get(block.call_id or "") if isinstance(block, ToolResult) else None
    return block if told is None else attrs.evolve(told, content=block.content, exit_code=block.exit_code)


def _name_unpaired(drafts: list[Draft], ledger: Ledger) -> None:
    """Calls without a result, and results without a call."""
    results = {block.call_id for block in _blocks(drafts) if type(block) is ToolResult}
    called = {call for draft in drafts for call in draft.facts.get("calls", ())}
    for draft in drafts:
        for call, (place, pointer, pattern) in draft.facts.get("calls", {}).items():
            if call not in results:
                ledger.part("missing-result", place, pattern, record=draft.name, pointer=pointer)
        for call, (_, i) in draft.facts.get("responses", {}).items():
            if call not in called:
                at = f"{draft.entry.origin.pointer}{draft.facts['inside']}/{i}"
                ledger.part("orphan-result", draft.place, _INDEX.sub("/*", at), record=draft.name, pointer=at)


def _blocks(drafts: list[Draft]) -> Iterator[Any]:
    for draft in drafts:
        yield from getattr(draft.entry, "blocks", ())
