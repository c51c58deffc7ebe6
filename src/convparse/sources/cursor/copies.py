"""One bubble in several places: in a row of its own, inside ``composerData``, inside the result of the tool that started it.

Versions that moved the bubbles left the old ones behind, and a sub-agent may stand whole in its parent as well. What comes in:
the bubbles of a conversation, those first that the product would show. What goes out: the others of the same id are
``superseded``, and their tokens are not counted again.
"""

from typing import Any, Final

from convparse.sources._reading import json_of
from convparse.sources.cursor.state import Draft

ROW: Final = ("", "")
"""The home of bubbles that have rows of their own."""


def home(draft: Draft) -> tuple[Any, str]:
    """The list or map that a bubble stands in: the row and the place in it."""
    at = draft.facts.get("at", "")
    return (draft.place, at.rpartition("/")[0]) if at else ROW


def settle(ordered: list[Draft]) -> None:
    """What stands once more in another place is no part of the talk."""
    first: dict[str, tuple[Any, str]] = {}
    for draft in ordered:
        if draft.name != "missing" and draft.id is not None and first.setdefault(draft.id, home(draft)) != home(draft):
            draft.entry.state = "superseded"
            _uncount(draft)


def _uncount(draft: Draft) -> None:
    """Tokens of a copy stand raw, so that a sum counts them once."""
    if getattr(draft.entry, "usage", None) is not None:
        kept = draft.entry.extra.value if draft.entry.extra is not None else {}
        draft.entry.extra = json_of({**kept, f"{draft.facts['at']}/tokenCount": draft.facts["tokens"]})
        draft.entry.usage = None


def tell_apart(entries: list[Any], keys: set[str]) -> None:
    """A number behind the key of a copy: the rows of each conversation are read by themselves, a nested one with its parent."""
    for entry in entries:
        key, number = entry.key, 1
        while entry.key in keys:
            number += 1
            entry.key = f"{key}#{number}"
        keys.add(entry.key)
