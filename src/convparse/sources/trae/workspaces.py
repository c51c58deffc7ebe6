"""What lies beside a workspace's database: the folder that its window had open, and long texts that were pasted.

Nothing ties a pasted text to a message, so it is no part of a conversation: an ``orphan`` that a person wrote.
"""

from pathlib import PurePath
from typing import Final
from urllib.parse import unquote, urlsplit

from convparse.blocks import Attachment
from convparse.records import Context, Entry, Event, Message
from convparse.sources._reading import json_of
from convparse.sources._source import Session

WORKSPACE: Final = "workspace.json"
LONG: Final = "long-text/"


def workspace(session: Session) -> Event | None:
    """``workspace.json``: a folder, or the file of a workspace of several folders."""
    found = session.document(WORKSPACE) if WORKSPACE in session.names() else None
    if found is None:
        return None
    origin, value = found
    uri = (
        next((value[key] for key in ("folder", "workspace") if type(value.get(key)) is str), None)
        if type(value) is dict
        else None
    )
    folder = local_path(uri) if uri is not None else None
    context = Context(cwd=folder) if folder is not None else None
    return Event("workspace", "workspace", WORKSPACE, data=json_of(value), context=context, origin=origin)


def local_path(uri: str) -> str:
    """The path of a ``file:`` URI, decoded; any other URI stays as it is, for its host is part of the place."""
    if not uri.startswith("file:"):
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    path = unquote(parts.path)
    if parts.netloc:
        return f"//{unquote(parts.netloc)}{path}"
    return path[1:] if path[2:3] == ":" else path


def pasted(session: Session) -> list[Entry]:
    """Long texts that a person pasted into some prompt."""
    found: list[Entry] = []
    for name in session.names():
        note = session.note(name) if name.startswith(LONG) else None
        if note is not None:
            block = Attachment("long-text", PurePath(name).name, "text/plain", note[1].decode("utf-8", "replace"))
            found.append(Message(name, None, "attachment", "human", (block,), state="orphan", origin=note[0]))
    return found
