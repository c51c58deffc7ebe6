"""What stands unsent in the input box, ``inputState``: a message of state ``pending`` for those who ask for drafts.

What comes in: a session and its home. What goes out: one open message, or none where nothing is typed or attached. Nobody sent
it and it may hold what nobody meant to keep, so that without being asked for it the field is left out and named as skipped.
Only the last state is read: what was typed and taken back before is never shown.
"""

from collections.abc import Iterator
from typing import Any

from convparse.blocks import Block
from convparse.sources._reading import json_of, make_text, open_message
from convparse.sources.copilot.attachments import read_variables
from convparse.sources.copilot.fields import DRAFT
from convparse.sources.copilot.requests import find_truncations
from convparse.sources.copilot.state import Home, Reader, State


def has_draft(state: State, session: dict[str, Any]) -> bool:
    """True if drafts are asked for and there is one."""
    box = session.get("inputState")
    return state.drafts and type(box) is dict and any(box.get(key) for key in ("inputText", "attachments"))


def read_draft(state: State, session: dict[str, Any], home: Home, id: str | None) -> Iterator[Any]:
    """The draft of a session."""
    if not has_draft(state, session):
        return
    box: dict[str, Any] = session["inputState"]
    home = home.at("inputState")
    reader = Reader(state, home)
    reader.keep(DRAFT, box, "")
    text = reader.text(box, "inputText", "", "inputState")
    blocks: list[Block] = [make_text(text)] if text else []
    reader.enter("attachments")
    blocks += read_variables(reader, reader.items(box, "attachments", "", "inputState"), "/attachments")
    reader.enter()
    find_truncations(reader, box)
    message = open_message(state.keys.count(id, "draft"), None, "draft", "human", tuple(blocks), state="pending")
    message.origin = home.origin()
    message.merged = home.merged(home.operations())
    message.extra = json_of(reader.extra) if reader.extra else None
    yield message
