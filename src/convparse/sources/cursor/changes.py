"""What tool calls changed in files: the contents that results name, and the changes that calls recorded.

``edit_file_v2`` names the file's contents before and after, which are rows of their own; a message with such a result gets an
``Edit`` with both, and those rows are ``merged`` into it. Other editing tools recorded what they were asked to do.
"""

from typing import Any, Final

from convparse.blocks import Edit, Json, ToolCall, ToolResult
from convparse.ledger import Ledger
from convparse.sources._reading import hunk_of
from convparse.sources.cursor.fields import CONTENT
from convparse.sources.cursor.state import Draft
from convparse.views import ToolUse

_EMPTY: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The name of no content."""
_PATHS: Final = ("relativeWorkspacePath", "targetFile", "target_file", "file_path", "path")


def attach(draft: Draft, contents: dict[str, Draft], ledger: Ledger) -> None:
    """Put the edit behind the result that names its contents; a content that is gone is named."""
    message = draft.entry
    for at, block in enumerate(message.blocks):
        if type(block) is not ToolResult or block.full is None or CONTENT not in block.full.text:
            continue
        result = block.full.value
        before, after = (result.get(key) if type(result) is dict else None for key in ("beforeContentId", "afterContentId"))
        call = message.blocks[at - 1] if at else None
        path = _path(call.input) if type(call) is ToolCall else None
        texts = [_text(item, contents, message, ledger, draft) for item in (before, after)]
        if path is not None and (texts[0] is not None or texts[1] is not None):
            kind = "create" if before is None or str(before).endswith(_EMPTY) else "update"
            edit = Edit(path, kind, None, None, texts[0], texts[1], block.call_id)
            message.blocks = (*message.blocks[: at + 1], edit, *message.blocks[at + 1 :])
        return


def _text(item: Any, contents: dict[str, Draft], message: Any, ledger: Ledger, draft: Draft) -> str | None:
    if type(item) is not str or not item.startswith(CONTENT):
        return None
    if item.endswith(_EMPTY):
        return ""
    content = contents.get(item)
    if content is None:
        ledger.part("cursor/missing-content", draft.place, "/toolFormerData/result", record="bubble")
        return None
    if content.facts["origin"] not in message.merged:
        message.merged = (*message.merged, content.facts["origin"])
    content.facts["used"] = True
    text: str = content.facts["text"]
    return text


def _path(given: Json | str) -> str | None:
    value = given.value if isinstance(given, Json) else None
    found = (value.get(key) for key in _PATHS) if type(value) is dict else ()
    return next((path for path in found if type(path) is str), None)


def edits(use: ToolUse) -> tuple[Edit, ...]:
    """The changes that a call asked for, where no contents were recorded and it went well."""
    value = use.call.input.value if isinstance(use.call.input, Json) else None
    path = _path(use.call.input)
    if type(value) is not dict or path is None or use.outcome not in ("ok", "missing") or _has_edit(use):
        return ()
    if use.call.kind == "delete":
        return (Edit(path, "delete", call_id=use.call.id),)
    if use.call.kind != "edit":
        return ()
    old, new = (next((value[k] for k in keys if type(value.get(k)) is str), None) for keys in (_OLD, _NEW))
    if old is not None and new is not None:
        return (Edit(path, "update", diff=hunk_of(old, new), call_id=use.call.id),)
    whole = next((value[key] for key in ("contents", "content", "file_text") if type(value.get(key)) is str), None)
    return (Edit(path, "update", after=whole, call_id=use.call.id),) if whole is not None else ()


_OLD: Final = ("old_string", "oldString", "old_str")
_NEW: Final = ("new_string", "newString", "new_str")


def _has_edit(use: ToolUse) -> bool:
    return any(type(block) is Edit and block.call_id == use.call.id for block in use.message.blocks)
