"""Changes of files, as they were shown (``resultDisplay``, 0.61), else as a call that went well asked."""

from typing import Any

from convparse.blocks import Edit, Json
from convparse.sources._reading import hunk_of
from convparse.views import ToolUse

_CREATED = "Successfully created"


def edits(use: ToolUse) -> tuple[Edit, ...]:
    """The changes a call recorded; of a call without a record the one it asked for, if it did not fail."""
    told: list[dict[str, Any]] = [result.full.value for result in use.results if result.full is not None]
    shown = [item.get("resultDisplay") for item in told]
    found = [_shown(item, use.call.id) for item in shown if type(item) is dict and type(item.get("filePath")) is str]
    if found or use.outcome != "ok" or use.call.name not in ("write_file", "replace"):
        return tuple(found)
    given: Any = use.call.input.value if isinstance(use.call.input, Json) else None
    path = given.get("file_path") if type(given) is dict else None
    if type(path) is not str:
        return ()
    if use.call.name == "replace":
        old, new = _text(given.get("old_string")), _text(given.get("new_string"))
        return (Edit(path, "update", diff=None if old is None or new is None else hunk_of(old, new), call_id=use.call.id),)
    created = any(result.text.startswith(_CREATED) for result in use.results)
    return (Edit(path, "create" if created else "update", after=_text(given.get("content")), call_id=use.call.id),)


def _shown(item: dict[str, Any], call: str | None) -> Edit:
    is_new = item.get("isNewFile") is True
    before = None if is_new else _text(item.get("originalContent"))
    diff = _text(item.get("fileDiff"))
    at = diff.find("@@") if diff is not None else -1
    hunks = diff[at:] if diff is not None and at >= 0 else None
    kind = "create" if is_new else "update"
    return Edit(item["filePath"], kind, diff=hunks, before=before, after=_text(item.get("newContent")), call_id=call)


def _text(value: Any) -> str | None:
    return value if type(value) is str else None
