"""What the ChatCrystal parsers give for the same bytes, and what they leave out, item by item, with the reason.

What comes in: a ``ParseResult``, and the files it was made of: the rules look at single rows, and our records join what rows
say twice and split what they say in one, so every row that a record stands for is read again. What goes out: a ``Projection``:
conversations in ChatCrystal's shape, and a list of everything in the result that they lack or tell otherwise.

The rules are those of ChatCrystal's parsers of April 2026 for Claude Code, Codex, Copilot, Cursor and Trae. Where one raises an
error, the conversation is not there, and the reason is ``chatcrystal/stopped``. Never done: an id or a time made up where
ChatCrystal takes chance or the clock (None stands there), a search for files, the name of a project.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from convparse.compat.chatcrystal import claude_code, codex, copilot, cursor, trae
from convparse.compat.chatcrystal.account import Ruled
from convparse.compat.chatcrystal.javascript import Stops
from convparse.compat.chatcrystal.records import CODES, LeftOut, Projection, ReferenceConversation, ReferenceMessage
from convparse.result import ParseResult

__all__ = ["CODES", "LeftOut", "Projection", "ReferenceConversation", "ReferenceMessage", "project"]


class _Rule(NamedTuple):
    variants: frozenset[str]
    """The variants that it is for; others are not read."""
    rule: Callable[[ParseResult, bytes | None], Ruled]


RULES: Final[Mapping[str, _Rule]] = {
    "claude-code": _Rule(frozenset({"transcript", "history", "stream-json"}), claude_code.rule),
    "codex": _Rule(frozenset({"rollout", "bare", "exec-json", "history", "index"}), codex.rule),
    "copilot": _Rule(frozenset({"session", "log", "transcript", "chatreplay"}), copilot.rule),
    "cursor": _Rule(frozenset({"editor"}), cursor.rule),
    "trae": _Rule(frozenset({"editor"}), trae.rule),
}


def project(result: ParseResult, data: bytes | None = None) -> Projection:
    """The result as ChatCrystal has it, and what is left out.

    ``data``: the bytes that ``parse_bytes`` was given, where the result was made of bytes. Raises ``OSError`` if a file cannot
    be read, ``SourceChanged`` if it is no longer the one that was parsed, and ``ConvparseError`` where there is no file, as for
    databases that were given as bytes.
    """
    found = RULES.get(result.source)
    if found is None or result.variant not in found.variants:
        return Ruled(result).refuse("chatcrystal/other-format").projection()
    try:
        ruled = found.rule(result, data)
    except Stops:
        ruled = Ruled(result).refuse("chatcrystal/stopped")
    return ruled.projection()
