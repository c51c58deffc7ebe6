"""Changes of files, as the twin of a tool's result tells them: ``structuredPatch``, ``originalFile`` and what was written."""

from typing import Any

from convparse.blocks import Edit, Json
from convparse.sources._reading import hunk_of
from convparse.views import ToolUse


def edits(use: ToolUse) -> tuple[Edit, ...]:
    """The changes a call recorded: none where it failed or the product kept nothing of it."""
    found = []
    for result in use.results:
        twin = result.full.value if result.full is not None else None
        if type(twin) is dict and type(twin.get("filePath")) is str and ("structuredPatch" in twin or "originalFile" in twin):
            found.append(_edit(twin, use.call.id))
    if not found and use.outcome == "ok" and use.call.kind == "edit" and isinstance(use.call.input, Json):
        found.extend(_asked(use.call.input.value, use.call.id))
    return tuple(found)


def _edit(twin: dict[str, Any], call_id: str | None) -> Edit:
    before = _text(twin.get("originalFile"))
    after = _text(twin.get("content"))
    if after is None and before is not None:
        after = _replaced(before, twin)
    kind = "create" if twin.get("type") == "create" or (before is None and after is not None) else "update"
    return Edit(twin["filePath"], kind, None, _diff(twin.get("structuredPatch")), before, after, call_id)


def _replaced(before: str, twin: dict[str, Any]) -> str | None:
    old, new = twin.get("oldString"), twin.get("newString")
    if type(old) is not str or type(new) is not str or not old or old not in before:
        return None
    return before.replace(old, new) if twin.get("replaceAll") is True else before.replace(old, new, 1)


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def _diff(patch: Any) -> str | None:
    if type(patch) is not list or not patch:
        return None
    lines: list[str] = []
    for hunk in patch:
        if type(hunk) is not dict or type(hunk.get("lines")) is not list:
            return None
        numbers = [hunk.get(name) for name in ("oldStart", "oldLines", "newStart", "newLines")]
        lines.append("@@ -{},{} +{},{} @@".format(*numbers))
        lines.extend(str(line) for line in hunk["lines"])
    return "\n".join(lines) + "\n"


def _asked(given: Any, call_id: str | None) -> list[Edit]:
    """What was asked for, where the row kept no twin (results of sub-agents and of resumed files)."""
    path = given.get("file_path", given.get("notebook_path")) if type(given) is dict else None
    if type(path) is not str:
        return []
    content = _text(given.get("content"))
    kind = "update" if content is None else "create"
    return [Edit(path, kind, diff=_hunks(given), after=content, call_id=call_id)]


def _hunks(given: dict[str, Any]) -> str | None:
    """What an ``Edit`` or, with several, a ``MultiEdit`` was to replace; the file as a whole was not kept."""
    several = given.get("edits")
    found = []
    for change in several if type(several) is list and several else [given]:
        old, new = (change.get("old_string"), change.get("new_string")) if type(change) is dict else (None, None)
        if type(old) is not str or type(new) is not str:
            return None
        found.append(hunk_of(old, new))
    return "".join(found)
