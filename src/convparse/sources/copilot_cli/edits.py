"""Changes of files, as the result of a tool tells them (``fileEdits``, 1.0.102), else as a call that went well asked."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from convparse.blocks import Edit, Json
from convparse.sources._reading import hunk_of
from convparse.views import ToolUse

_KINDS: Final[Mapping[Any, str]] = MappingProxyType(
    {"create": "create", "edit": "update", "update": "update", "delete": "delete", "rename": "move", "move": "move"}
)
_HUNKS: Final = re.compile(r"^@@ ", re.MULTILINE)


def edits(use: ToolUse) -> tuple[Edit, ...]:
    """The changes a call recorded: none where it failed or the product kept nothing of it."""
    given = use.call.input.value if isinstance(use.call.input, Json) else None
    given = given if type(given) is dict else {}
    told = [full for result in use.results if result.full is not None and type(full := result.full.value) is dict]
    found = [(path, kind) for full in told for path, kind in _recorded(full)]
    if not found and use.outcome == "ok" and use.call.name in ("create", "edit") and type(given.get("path")) is str:
        found = [(given["path"], "create" if use.call.name == "create" else "update")]
    diff = _diff(told, given) if len(found) == 1 else None
    return tuple(_edit(path, kind, given, diff, use.call.id) for path, kind in found)


def _recorded(full: dict[str, Any]) -> list[tuple[str, str]]:
    rows = full.get("fileEdits")
    return [
        (row["path"], _KINDS[row["kind"]])
        for row in (rows if type(rows) is list else [])
        if type(row) is dict and type(row.get("path")) is str and type(row.get("kind")) is str and row["kind"] in _KINDS
    ]


def _diff(told: list[dict[str, Any]], given: dict[str, Any]) -> str | None:
    """The hunks of the one file as they were shown, else what was asked to be replaced."""
    for full in told:
        shown = full.get("detailedContent")
        if type(shown) is str and (hunks := _HUNKS.search(shown)):
            return shown[hunks.start() :]
    old, new = given.get("old_str"), given.get("new_str")
    return hunk_of(old, new) if type(old) is str and type(new) is str else None


def _edit(path: str, kind: str, given: dict[str, Any], diff: str | None, call: str | None) -> Edit:
    text = given.get("file_text")
    whole = text if kind == "create" and type(text) is str and given.get("path") == path else None
    return Edit(path, kind, diff=diff, after=whole, call_id=call)
