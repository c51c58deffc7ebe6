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
from convparse.sources.copilot.workspaces import read_workspace
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
    return _unique(conversations), []


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
    """The log's session; the flat file's where the log has no request."""
    if any(_is_said(entry) for draft in drafts for entry in draft.entries):
        _name_stale(twin)
        return drafts
    for draft in drafts:
        for entry in draft.entries:
            entry.state = "superseded"
    fallen: list[Draft] = list(twin.drafts)
    if fallen and drafts:
        fallen[0].entries = [*drafts[0].entries, *fallen[0].entries]
        fallen[0].partial = True
    return fallen or drafts


def _is_said(entry: Any) -> bool:
    return isinstance(entry, Message)


def _name_stale(twin: FilePart) -> None:
    for draft in twin.drafts[:1]:
        origin = draft.entries[0].origin
        twin.ledger.unit("copilot/stale-twin", (origin.line, origin.offset, origin.length))


def _folder(session: Session) -> tuple[str | None, list[Entry]]:
    found = session.note("workspace.json") if "workspace.json" in session.names() else None
    if found is None:
        return None, []
    origin, data = found
    value, cwd = read_workspace(data)
    text = data.decode("utf-8", "replace")
    event = Event("workspace", "workspace", "workspace.json", cwd, Json.of(value) if value is not None else None, origin=origin)
    return cwd, [event if value is not None else attrs.evolve(event, text=text, kind="unknown")]


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


def _unique(conversations: list[Conversation]) -> list[Conversation]:
    """The conversations with unique keys: one seen before gets its conversation's id put before."""
    seen: set[str] = set()
    unique = []
    for number, conversation in enumerate(conversations):
        entries = conversation.entries
        if any(entry.key in seen for entry in entries):
            entries = tuple(attrs.evolve(e, key=f"{number}:{conversation.id}/{e.key}") if e.key in seen else e for e in entries)
            conversation = attrs.evolve(conversation, entries=entries)
        seen.update(entry.key for entry in entries)
        unique.append(conversation)
    return unique
