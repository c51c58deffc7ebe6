"""Changes of files, as the result of a tool tells them (``fileEdits``, 1.0.102), else as a call that went well asked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from convparse.blocks import Edit, Json
from convparse.views import ToolUse

_KINDS: Final[Mapping[Any, str]] = MappingProxyType(
    {"create": "create", "edit": "update", "update": "update", "delete": "delete", "rename": "move", "move": "move"}
)


def edits(use: ToolUse) -> tuple[Edit, ...]:
    """The changes a call recorded: none where it failed or the product kept nothing of it."""
    given = use.call.input.value if isinstance(use.call.input, Json) else None
    given = given if type(given) is dict else {}
    found = [
        edit for result in use.results if result.full is not None for edit in _recorded(result.full.value, given, use.call.id)
    ]
    if not found and use.outcome == "ok" and use.call.name in ("create", "edit") and type(given.get("path")) is str:
        return (_edit(given["path"], "create" if use.call.name == "create" else "update", given, use.call.id),)
    return tuple(found)


def _recorded(full: Any, given: dict[str, Any], call: str | None) -> list[Edit]:
    told = full.get("fileEdits") if type(full) is dict else None
    rows = [row for row in told if type(row) is dict] if type(told) is list else []
    return [
        _edit(row["path"], _KINDS[row["kind"]], given, call)
        for row in rows
        if type(row.get("path")) is str and type(row.get("kind")) is str and row["kind"] in _KINDS
    ]


def _edit(path: str, kind: str, given: dict[str, Any], call: str | None) -> Edit:
    text = given.get("file_text")
    whole = text if kind == "create" and type(text) is str and given.get("path") == path else None
    return Edit(path, kind, after=whole, call_id=call)
