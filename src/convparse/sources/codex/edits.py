"""Changes of files, as a patch's event tells them (since 0.134, or with extended persistence), else as the patch asks."""

import re
from typing import Any, Final

from convparse.blocks import Edit, Json
from convparse.sources._reading import lines_of
from convparse.views import ToolUse

_FILE: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_KINDS: Final = {
    "add": "create",
    "update": "update",
    "delete": "delete",
    "Add": "create",
    "Update": "update",
    "Delete": "delete",
}


def edits(use: ToolUse) -> tuple[Edit, ...]:
    """The changes a call recorded; of a patch without a record those it asked for, if it did not fail."""
    for result in use.results:
        told = result.full.value if result.full is not None else None
        for each in told if type(told) is list else [told]:
            inner = each.get("item", each) if type(each) is dict else None
            changes = inner.get("changes") if type(inner) is dict else None
            if type(changes) is dict:
                return tuple(_recorded(path, change, use.call.id) for path, change in changes.items() if type(change) is dict)
    if use.outcome != "ok":
        return ()
    text = _patch(use.call.input)
    return tuple(_asked(text, use.call.id)) if text is not None else ()


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def _recorded(path: str, change: dict[str, Any], call_id: str | None) -> Edit:
    kind = _KINDS.get(str(change.get("type")), "update")
    moved, content = _text(change.get("move_path")), _text(change.get("content"))
    before, after = (content, None) if kind == "delete" else (None, content)
    return Edit(path, "move" if moved is not None else kind, moved, _text(change.get("unified_diff")), before, after, call_id)


def _patch(given: Json | str) -> str | None:
    """The text of a patch: the input of ``apply_patch``, or inside a shell command."""
    if isinstance(given, str):
        return given if "*** Begin Patch" in given else None
    if b"*** Begin Patch" not in given.utf8:
        return None
    value = given.value
    for name in ("input", "patch", "cmd", "command"):
        item = value.get(name) if type(value) is dict else None
        text = "\n".join(str(word) for word in item) if type(item) is list else item
        if type(text) is str and "*** Begin Patch" in text:
            return text
    return None


def _asked(patch: str, call_id: str | None) -> list[Edit]:
    found: list[Edit] = []
    kind, path, moved, lines = "", "", None, list[str]()

    def close() -> None:
        if kind:
            body = "\n".join(lines) + "\n" if lines else ""
            after = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+")) if kind == "create" else None
            found.append(Edit(path, "move" if moved else kind, moved, body if kind == "update" else None, None, after, call_id))

    for line in lines_of(patch.partition("*** Begin Patch")[2]):
        mark = line.removesuffix("\r")
        file = _FILE.match(mark)
        if file is not None or mark.startswith("*** End Patch"):
            close()
            kind, path, moved, lines = ("", "", None, []) if file is None else (_KINDS[file[1]], file[2], None, [])
        elif mark.startswith("*** Move to: "):
            moved = mark[13:]
        elif kind and not line.startswith("*** End of File"):
            lines.append(line)
    close()
    return found
