"""What lies beside a workspace's database: the folder that its window had open, long texts and pictures that were pasted.

Nothing ties a pasted text to a message, so it is no part of a conversation: an ``orphan`` that a person wrote.
"""

from base64 import b64encode
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from convparse.blocks import Attachment, Block, Image
from convparse.records import Context, Entry, Event, Message
from convparse.sources._reading import json_of
from convparse.sources._source import Session

WORKSPACE: Final = "workspace.json"
LONG: Final = "long-text/"
PASTED: Final = "paste-files/"


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
    """Long texts and pictures that a person pasted into some prompt."""
    found: list[Entry] = []
    for name in session.names():
        if not name.startswith((LONG, PASTED)):
            continue
        note = session.note(name)
        if note is not None:
            found.append(Message(name, None, "attachment", "human", (_block(name, note[1]),), state="orphan", origin=note[0]))
    return found


def _block(name: str, data: bytes) -> Block:
    short = PurePath(name).name
    if name.startswith(LONG):
        return Attachment("long-text", short, "text/plain", data.decode("utf-8", "replace"))
    media: Any = "image/png" if short.lower().endswith(".png") else None
    return Image(media, b64encode(data).decode(), short)
