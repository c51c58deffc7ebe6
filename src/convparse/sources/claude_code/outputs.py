"""Tool outputs that were too large for a row and stand in a file of their own (since 2.1.2).

The row names an absolute path of the machine that wrote it; only the base name counts, and only the session's own
``tool-results`` folder is looked into. The whole text becomes an attachment behind the result.
"""

import re
from collections.abc import Sequence
from typing import Final

from convparse.blocks import Attachment, Text, ToolResult
from convparse.ledger import Ledger
from convparse.sources._source import Session
from convparse.sources.claude_code.state import Draft

_SAVED: Final = re.compile(r"[Ss]aved to: ?([^\r\n]+)")


def attach(drafts: Sequence[Draft], session: Session, ledger: Ledger) -> None:
    """Put every persisted output behind the result that names it. ``drafts``: those with facts."""
    for draft in drafts:
        if draft.facts is not None and "persisted" in draft.facts:
            for block in draft.entry.blocks:
                if type(block) is ToolResult and block.truncated:
                    _attach(draft, block, session, ledger)


def _attach(draft: Draft, result: ToolResult, session: Session, ledger: Ledger) -> None:
    name = _name(result)
    found = session.note(f"tool-results/{name}") if name is not None else None
    if found is None or name is None:
        pointer = "/message/content/0/content" if len(draft.entry.blocks) == 1 else "/message/content"
        ledger.part("missing-output", draft.place, "/message/content/*/content", record="user", pointer=pointer)
        return
    origin, data = found
    entry = draft.entry
    entry.blocks = (*entry.blocks, Attachment("persisted-output", name, "text/plain", data.decode("utf-8", "replace")))
    entry.merged = (*entry.merged, origin)


def _name(result: ToolResult) -> str | None:
    text = result.content[0].text if result.content and type(result.content[0]) is Text else ""
    found = _SAVED.search(text)
    if found is None:
        return None
    return re.split(r"[/\\]", found[1].strip())[-1] or None
