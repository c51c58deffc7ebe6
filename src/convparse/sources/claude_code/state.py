"""What reading one file of Claude Code remembers from row to row, and the drafts it makes.

A draft is an open record with the few facts that only the whole file can use. ``State`` looks back, never ahead.
"""

from typing import Any

from convparse.ledger import Ledger, Place
from convparse.records import Context, Usage
from convparse.sources._reading import Extra, Keys
from convparse.sources.claude_code.fields import ASSISTANT, USER


class Draft:
    """A row that was read: its open record (None where it is left out by name) and its place in the chain.

    ``entry`` is a ``Message`` or ``Event`` that can still be assigned to; ``resolve`` freezes it.
    """

    __slots__ = ("entry", "facts", "group", "name", "parent", "place", "sidechain", "uuid")

    def __init__(
        self,
        entry: Any,
        name: str,
        place: Place,
        group: str | None,
        uuid: str | None = None,
        parent: str | None = None,
        sidechain: bool = False,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.entry = entry
        self.name = name
        self.place = place
        self.group = group
        self.uuid = uuid
        self.parent = parent
        self.sidechain = sidechain
        self.facts = facts


class State:
    """The memory of one file's reading."""

    __slots__ = (
        "assistant",
        "contexts",
        "keys",
        "ledger",
        "look",
        "origin",
        "path",
        "scenes",
        "sessions",
        "turns",
        "usage",
        "user",
    )

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.path = ledger.path
        self.look, self.origin = ledger.judge, ledger.origin
        self.contexts: dict[tuple[Any, ...], Context] = {}
        self.scenes: dict[str, tuple[Any, ...]] = {}
        """By record type, the last thread and circumstances, behind the values they were read from."""
        self.sessions: dict[str, str] = {}
        """The last session id of each agent, and of side chains: kept where it changes."""
        self.usage: tuple[Any, Usage | None, Extra] = ({}, None, {})
        """The last token counts: as they stand, as a record, and what was kept beside it."""
        self.assistant, self.user = ledger.judge(ASSISTANT), ledger.judge(USER)
        self.keys = Keys()
        self.turns: dict[str | None, str] = {}
        """The last prompt id of each group."""
