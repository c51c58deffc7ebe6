"""The file facts of the editor's conversations: order, states, what belongs to which bubble, links.

What comes in: the drafts of one conversation or of all. What goes out: frozen records. The order is that of the product's list
of bubbles; what the list does not name stands behind, in the order of row ids, and is ``orphan``; what it names and no row
holds is an event in its place. Never done: sorting by time, guessing a workspace from the paths of files.
"""

from collections.abc import Iterable
from typing import Any, Final

import attrs

from convparse._make import close
from convparse.ledger import NOWHERE, Ledger
from convparse.records import Context, Conversation, Entry, Event, Link, Message
from convparse.sources._reading import json_of, open_event
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.cursor import changes, copies
from convparse.sources.cursor.fields import NEWEST_V
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.times import recorded
from convparse.sources.cursor.tools import decoded, read_tool
from convparse.sources.cursor.workspaces import folder_of, workspace

TITLES: Final = ("composerData", "composerHeaders", "composer.composerHeaders", "composer.composerData")
"""What gives a title, the best first."""


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """Conversations and loose entries."""
    groups: dict[str, tuple[Ledger, list[Draft]]] = {}
    loose: list[Entry] = []
    contents: dict[str, Draft] = {}
    for part in parts:
        for draft in part.drafts:
            if draft.name == "content":
                contents[draft.id or ""] = draft
            elif draft.group is None:
                loose.append(freeze(draft.entry))
            else:
                groups.setdefault(draft.group, (part.ledger, []))[1].append(draft)
    place = workspace(session)
    if place is not None:
        loose.append(place)
    where = place.context if place is not None else None
    keys: set[str] = set()
    conversations = [_conversation(id, ledger, drafts, contents, where, keys) for id, (ledger, drafts) in groups.items()]
    return conversations, loose + [_stray(draft) for draft in contents.values() if "used" not in draft.facts]


def _stray(content: Draft) -> Event:
    """The content of a file that a bubble names, but not as a change that is understood."""
    key, text = f"content:{content.id}", content.facts["text"]
    return Event(key, "content", "composer.content", text, origin=content.facts["origin"])


def freeze(entry: Any) -> Entry:
    """The record, which nothing can change any more."""
    return close(entry, Event) if isinstance(entry, Event) else close(entry, Message)


def _conversation(
    id: str, ledger: Ledger, drafts: list[Draft], contents: dict[str, Draft], where: Context | None, keys: set[str]
) -> Conversation:
    heads = [draft for draft in drafts if draft.name == "head"]
    head = min(heads, key=lambda draft: draft.facts["at"] != "", default=None)
    facts = head.facts if head is not None else {}
    value: dict[str, Any] = facts.get("value", {})
    bubbles = [draft for draft in drafts if draft.name in ("bubble", "mapped-bubble")]
    old_tools = _old_tools(value, ledger, head)
    unread = any(draft.name == "unread" for draft in drafts)
    ordered = bubbles if unread else _ordered(id, ledger, head, bubbles)
    for draft in ordered:
        _settle(draft, ledger, old_tools, contents)
    copies.settle(ordered)
    indexes = [draft for draft in drafts if draft.name == "index"]
    first = sorted((draft for draft in drafts if draft.name in ("head", "odd")), key=lambda draft: draft is not head)
    entries = [draft.entry for draft in (*first, *indexes)]
    entries += _with_companions(ordered, [draft for draft in drafts if draft.name in ("about", "summary")])
    entries += [draft.entry for name in ("pending", "view") for draft in drafts if draft.name == name]
    copies.tell_apart(entries, keys)
    title, title_origin = _title(facts, indexes)
    return Conversation(
        id,
        "cursor",
        title,
        title_origin,
        _context(value, indexes, where),
        facts.get("made") or _first_time(indexes, "createdAt"),
        facts.get("changed") or _first_time(indexes, "lastUpdatedAt"),
        _links(value, drafts),
        _body(head, ordered),
        type(value.get("_v")) is int and value["_v"] > NEWEST_V,
        entries=tuple(freeze(entry) for entry in entries),
    )


# ---- order -----------------------------------------------------------------------------------------------------------------


def _ordered(group: str, ledger: Ledger, head: Draft | None, bubbles: list[Draft]) -> list[Draft]:
    """The bubbles in the order of the list, then those that it does not name."""
    inside = [head is not None and draft.place == head.place and draft.name == "bubble" for draft in bubbles]
    inline, rest = (
        [d for d, is_inline in zip(bubbles, inside, strict=True) if is_inline is wanted] for wanted in (True, False)
    )
    rest.sort(key=lambda draft: draft.place[0])
    listed = _headers(head)
    if not listed:
        if rest and not inline and head is not None:
            ledger.part("cursor/lost-order", head.place, "/fullConversationHeadersOnly", record="composerData")
        return inline + rest if not inline else inline + _orphans(rest)
    by_id: dict[str, Draft] = {}
    for draft in sorted(bubbles, key=lambda draft: copies.home(draft) != copies.ROW):
        by_id.setdefault(draft.id or "", draft)
    found: dict[int, Draft] = {}
    for number, header in enumerate(listed):
        bubble = header.get("bubbleId") if type(header) is dict else None
        named = by_id.get(bubble) if type(bubble) is str else None
        draft = named if named is not None else _missing(group, ledger, head, number, header)
        if id(draft) in found:
            _name(ledger, "cursor/duplicate-header", head, number)
        elif named is not None:
            _from_header(draft, header)
        found[id(draft)] = draft
    return [*found.values(), *_orphans([other for other in (*inline, *rest) if id(other) not in found])]


def _headers(head: Draft | None) -> list[Any]:
    listed = head.facts["value"].get("fullConversationHeadersOnly") if head is not None else None
    return listed if type(listed) is list else []


def _name(ledger: Ledger, code: str, head: Draft | None, number: int) -> None:
    pointer = f"{head.facts['at'] if head else ''}/fullConversationHeadersOnly/{number}"
    place = head.place if head is not None else NOWHERE
    ledger.part(code, place, "/fullConversationHeadersOnly/*", record="composerData", pointer=pointer)


def _missing(group: str, ledger: Ledger, head: Draft | None, number: int, header: Any) -> Draft:
    """An event in the place of a bubble that has no row; its header may show how it began."""
    _name(ledger, "cursor/missing-bubble", head, number)
    told = header if type(header) is dict else {}
    grouping = told.get("grouping")
    preview = grouping.get("textPreview") if type(grouping) is dict else None
    bubble = told.get("bubbleId") if type(told.get("bubbleId")) is str else None
    when = recorded(told.get("createdAt"))
    entry = open_event(
        f"{group}/{number}:missing",
        "missing",
        "bubble",
        preview if type(preview) is str else None,
        json_of(header),
        bubble,
        *(when if when[0] is not None else (None, None, None)),
        origin=_at(head, f"/fullConversationHeadersOnly/{number}"),
    )
    return Draft(entry, "missing", head.place if head is not None else NOWHERE, group, bubble)


def _at(head: Draft | None, pointer: str) -> Any:
    return attrs.evolve(head.entry.origin, pointer=head.facts["at"] + pointer) if head is not None else None


def _orphans(drafts: list[Draft]) -> list[Draft]:
    for draft in drafts:
        draft.entry.state = "orphan"
    return drafts


def _from_header(draft: Draft, header: dict[str, Any]) -> None:
    """The header's time, where the bubble has none of its own."""
    if draft.entry.timestamp is None and draft.entry.timestamp_text is None:
        when = recorded(header.get("createdAt"))
        if when[0] is not None:
            draft.entry.timestamp, draft.entry.timestamp_origin, draft.entry.timestamp_text = when


def _settle(draft: Draft, ledger: Ledger, old_tools: dict[str, Any], contents: dict[str, Draft]) -> None:
    """The client's clock where there is no other time, tools of old versions, contents of edited files."""
    entry = draft.entry
    client = draft.facts.get("client")
    if client is not None and entry.timestamp is None and entry.timestamp_text is None and client[0] is not None:
        entry.timestamp, entry.timestamp_origin, entry.timestamp_text = client
    if not isinstance(entry, Event):
        made = old_tools.get(draft.id or "")
        if made is not None and not entry.has_tool_use:
            entry.blocks = (*entry.blocks, *made)
        changes.attach(draft, contents, ledger)


def _old_tools(value: dict[str, Any], ledger: Ledger, head: Draft | None) -> dict[str, Any]:
    """Tool uses of bubbles before ``_v`` 3, which stood in the head, as JSON in a text."""
    found: dict[str, Any] = {}
    capabilities = value.get("capabilities")
    for item in capabilities if type(capabilities) is list else ():
        data = item.get("data") if type(item) is dict else None
        text = data.get("bubbleDataMap") if type(data) is dict else None
        mapped = decoded(text)[0] if type(text) is str else text
        for id, tool in mapped.items() if type(mapped) is dict else ():
            if type(tool) is dict and head is not None:
                found[id] = read_tool(State(ledger), tool, head.place, "", {})[0]
    return found


# ---- companions ------------------------------------------------------------------------------------------------------------


def _with_companions(ordered: Iterable[Draft], about: list[Draft]) -> list[Any]:
    """Every bubble with what is kept about it behind it; what is about none comes last."""
    waiting: dict[str | None, list[Any]] = {}
    for draft in about:
        waiting.setdefault(draft.id, []).append(draft.entry)
    entries: list[Any] = []
    for draft in ordered:
        entries.append(draft.entry)
        if "error" in draft.facts:
            entries.append(draft.facts["error"])
        if draft.id is not None:
            entries += waiting.pop(draft.id, [])
    return entries + [entry for left in waiting.values() for entry in left]


# ---- the conversation ------------------------------------------------------------------------------------------------------


def _title(facts: dict[str, Any], indexes: list[Draft]) -> tuple[str | None, str | None]:
    named = {draft.facts["index"]: draft.facts["head"].get("name") for draft in reversed(indexes)}
    if facts.get("name"):
        return facts["name"], "chatdata" if facts.get("tab") else "composerData"
    for index in TITLES:
        if type(named.get(index)) is str and named[index]:
            return named[index], index
    return None, None


def _first_time(indexes: list[Draft], key: str) -> Any:
    times = (recorded(draft.facts["head"].get(key))[0] for draft in indexes)
    return next((when for when in times if when is not None), None)


def _context(value: dict[str, Any], indexes: list[Draft], where: Context | None) -> Context | None:
    """The workspace, as the best of the indexes that knows it says, and the mode."""
    told = [value, *(draft.facts["head"] for draft in indexes)]
    folder = next((found for item in told if (found := folder_of(item.get("workspaceIdentifier"))) is not None), None)
    tree = value.get("gitWorktree")
    if folder is None and type(tree) is dict and type(tree.get("worktreePath")) is str:
        folder = tree["worktreePath"]
    if folder is None and where is not None:
        folder = where.cwd
    branch = tree.get("branchName") if type(tree) is dict else None
    modes = (item.get(key) for item in told for key in ("unifiedMode", "forceMode"))
    mode = next((word for word in modes if type(word) is str), None)
    if folder is None and mode is None:
        return None
    return Context(folder, branch if type(branch) is str else None, None, mode)


def _links(value: dict[str, Any], drafts: list[Draft]) -> tuple[Link, ...]:
    """Sub-agents by id; the other answers of a best-of-N; the conversation that this one comes from."""
    found: dict[tuple[str, str], str | None] = {}
    for draft in drafts:
        if "spawned" in draft.facts:
            found.setdefault(("subagent", draft.facts["spawned"]), next(iter(draft.facts["calls"]), None))
        elif draft.name == "task":
            found.setdefault(("subagent", draft.facts["child"]), draft.facts["call"])
    best = "fork" if value.get("isBestOfNParent") is True else "subagent"
    for kind, key in (("subagent", "subagentComposerIds"), (best, "subComposerIds")):
        listed = value.get(key)
        for id in listed if type(listed) is list else ():
            if type(id) is str:
                found.setdefault((kind, id), None)
    info = value.get("subagentInfo")
    parent = info.get("parentComposerId") if type(info) is dict else None
    if type(parent) is str:
        call = info.get("toolCallId") if type(info) is dict else None
        found.setdefault(("base", parent), call if type(call) is str else None)
    return tuple(Link(kind, id, call) for (kind, id), call in found.items())


def _body(head: Draft | None, ordered: list[Draft]) -> Any:
    if any(draft.name == "missing" for draft in ordered):
        return "partial"
    if not ordered and head is None:
        return "missing"
    return "complete" if head is not None else "partial"
