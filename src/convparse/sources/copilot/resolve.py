"""The file facts of a session, and its conversations.

What comes in: the drafts of a session file, of its stale twin, and of the transcript beside it, and the folder's
``workspace.json``. What goes out: a conversation for each session, one for every sub-agent; every record is frozen here. The
log wins over the flat file of the same name, which stands in only where the log gives no requests.
"""

from typing import Any

import attrs

from convparse._make import close
from convparse.blocks import Json
from convparse.records import Context, Conversation, Entry, Event, Link, Message
from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.copilot.state import Draft
from convparse.sources.copilot.workspaces import folder_of
from convparse.sources.copilot_cli.resolve import resolve_as


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """The conversations of one session file and what lies beside it."""
    main, twin = (parts[0], parts[1] if len(parts) > 1 else None) if parts else (None, None)
    drafts: list[Draft] = list(main.drafts) if main is not None else []
    if twin is not None:
        drafts = _with_twin(drafts, twin)
    cwd, beside = _folder(session)
    conversations: list[Conversation] = []
    for n, draft in enumerate(drafts):
        conversations.extend(_conversations(draft, cwd, beside if not n else []))
    return conversations, []


def resolve_transcript(parts: list[FilePart], session: Session) -> Resolved:
    """The conversations of the extension's own transcript: events like those of Copilot CLI."""
    conversations, loose = resolve_as("copilot", parts, None)
    cwd, beside = _folder(session)
    if conversations and (cwd is not None or beside):
        root = conversations[0]
        context = root.context if root.context is not None and root.context.cwd else None
        context = context or attrs.evolve(root.context or Context(), cwd=cwd)
        conversations[0] = attrs.evolve(root, context=context, entries=(*root.entries, *beside))
    return conversations, loose


def _with_twin(drafts: list[Draft], twin: FilePart) -> list[Draft]:
    """The log's session; the flat file's where the log will not replay and gives no request."""
    if not twin.drafts or any(_stands(draft) for draft in drafts):
        _name_stale(twin)
        return drafts
    fallen: list[Draft] = list(twin.drafts)
    for entry in (entry for draft in drafts for entry in draft.entries):
        entry.key, entry.state = f"log:{entry.key}", "superseded"
        fallen[0].entries.append(entry)
    fallen[0].partial = True
    return fallen


def _stands(draft: Draft) -> bool:
    """True for what a log gave: a session whose snapshot is there, or at least a request."""
    first = draft.entries[0] if draft.entries else None  # a log without a snapshot gives none
    replayed = not draft.partial and first is not None and first.name == "session" and first.kind == "session-start"
    return replayed or any(isinstance(entry, Message) for entry in draft.entries)


def _name_stale(twin: FilePart) -> None:
    for draft in twin.drafts[:1]:
        origin = draft.entries[0].origin
        twin.ledger.unit("copilot/stale-twin", (origin.line, origin.offset, origin.length))


def _folder(session: Session) -> tuple[str | None, list[Entry]]:
    found = session.document("workspace.json") if "workspace.json" in session.names() else None
    if found is None:
        return None, []
    origin, value = found
    cwd = folder_of(value)
    return cwd, [Event("workspace", "workspace", "workspace.json", cwd, Json.of(value), origin=origin)]


def freeze(entry: Any) -> Entry:
    """The record that nothing can change any more."""
    return close(entry, Event) if isinstance(entry, Event) else close(entry, Message)


def _conversations(draft: Draft, cwd: str | None, beside: list[Entry]) -> list[Conversation]:
    entries = (*(freeze(entry) for entry in draft.entries), *beside)
    contexts = [entry.context for entry in entries if entry.context is not None]
    context = contexts[0] if contexts else None
    if cwd is not None:
        context = attrs.evolve(context or Context(), cwd=cwd)
    links = tuple(Link("subagent", agent, call) for agent, call in draft.calls.items())
    root = Conversation(
        draft.id,
        "copilot",
        draft.title,
        draft.title_origin,
        context,
        draft.created,
        draft.updated,
        links=links,
        body="partial" if draft.partial else "complete",
        newer=draft.newer,
        entries=entries,
    )
    children = [
        Conversation(agent, "copilot", entries=tuple(freeze(entry) for entry in inside))
        for agent, inside in draft.children.items()
    ]
    return [root, *children]
