"""Which files are Codex's, and which belong to one thread.

``detect`` reads content, never names. ``gather`` is the one place of this source that looks at the file system: for a rollout
that is based on another one it looks for that file in the same tree, by the id in its name.
"""

import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from convparse.errors import ConvparseError
from convparse.reading import zstd
from convparse.sources._source import Gathered, Head, Match
from convparse.sources.codex.fields import ITEM_EVENTS, ITEMS, LINES

_DOCUMENT: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"session"\s*:\s*\{')
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_BARE: Final = frozenset(ITEMS[""]) | frozenset(ITEM_EVENTS)
_HEAD: Final = 1 << 20
_ARCHIVE: Final = "archived_sessions"
_CHAIN: Final = 64
_STREAM: Final = frozenset(
    "thread.started turn.started turn.completed turn.failed item.started item.updated item.completed".split()
)


def is_line(value: dict[str, Any]) -> bool:
    """True for what can stand as a line of a rollout in an envelope."""
    kind = value.get("type")
    return type(kind) is str and kind in LINES and type(value.get("payload")) is dict and "timestamp" in value


def is_bare(value: dict[str, Any]) -> bool:
    """True for what can stand as a line of a rollout without envelopes, or with them."""
    kind = value.get("type")
    return "record_type" in value or (type(kind) is str and kind in _BARE) or is_line(value)


def is_item(value: dict[str, Any]) -> bool:
    """True for an item of a whole document."""
    return type(value.get("type")) is str and value["type"] in _BARE


def is_streamed(value: dict[str, Any]) -> bool:
    """True for a line of ``codex exec --json``."""
    kind = value.get("type")
    return (type(kind) is str and (kind in _STREAM or kind == "error")) or ("id" in value and type(value.get("msg")) is dict)


def is_prompt(value: dict[str, Any]) -> bool:
    """True for a line of ``history.jsonl``."""
    return "session_id" in value and "ts" in value and "text" in value


def is_name(value: dict[str, Any]) -> bool:
    """True for a line of ``session_index.jsonl``."""
    return "id" in value and "thread_name" in value


def _is_header(value: dict[str, Any]) -> bool:
    return "instructions" in value and "id" in value and "timestamp" in value and "type" not in value and "payload" not in value


def detect(head: Head) -> Match | None:
    """Which of Codex's formats a file has, if any."""
    if head.data.startswith(_MAGIC):
        return _detect_frame(head)
    if _DOCUMENT.match(head.data):
        return Match("document", "an object with `session` first")
    for record in head.records:
        if type(record) is dict and (match := _detect_record(record)) is not None:
            return match
    return None


def _detect_frame(head: Head) -> Match | None:
    """A compressed rollout: by its first line where it can be decoded, else by its name."""
    named = head.name.startswith("rollout-")
    try:
        first = orjson.loads(zstd.opened(io.BytesIO(head.data))[0].readline(_HEAD))
    except (ConvparseError, ValueError):
        return Match("rollout-zst", "a zstd frame named like a rollout", False) if named else None
    if type(first) is not dict or not is_line(first):
        return None
    return Match("rollout-zst", f"a `{first['type']}` line in a zstd frame", first["payload"].get("model_provider") != "trae")


def _detect_record(record: dict[str, Any]) -> Match | None:
    kind = record.get("type")
    if is_line(record):
        return Match("rollout", f"a `{kind}` line with `payload`")
    if _is_header(record) or ("record_type" in record and len(record) <= 2):
        return Match("bare", "a header with `instructions`")
    if type(kind) is str and kind in _STREAM:
        return Match("exec-json", f"a `{kind}` line")
    if set(record) == {"prompt"} or (set(record) == {"id", "msg"} and type(record["msg"]) is dict and "type" in record["msg"]):
        return Match("exec-json", "a `prompt`, or a message under `msg`")
    if is_prompt(record):
        return Match("history", "prompts with `session_id` and `ts`")
    if is_name(record) and "updated_at" in record:
        return Match("index", "names of threads")
    if type(kind) is str and kind in ("message", "function_call", "function_call_output", "reasoning") and is_bare(record):
        return Match("bare", f"a `{kind}` item", False)
    return None


_Listed: TypeAlias = Callable[[Path, str], list[tuple[str, Path]]]
"""A folder and the pattern of folders below it to the rollouts there: their names, in the order of their paths."""


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """A rollout, and the files that its history is based on, the nearest first."""
    return _gather(path, variant, _rollouts)


def gathering() -> Callable[[str, str, bool], Gathered]:
    """A ``gather`` that lists the rollouts of a folder once, however many are based on one of them."""
    listed = cache(_rollouts)
    return lambda path, variant, subagents: _gather(path, variant, listed)


def _gather(path: str, variant: str, listed: _Listed) -> Gathered:
    logs = [(path, variant)]
    here = Path(path)
    seen = {here.name}
    while variant in ("rollout", "rollout-zst") and len(logs) < _CHAIN:
        base = _base_of(Path(logs[-1][0]))
        found = _find(base, here, listed) if base is not None else None
        if found is None or found.name in seen:
            break
        seen.add(found.name)
        logs.append((str(found), "rollout-zst" if found.suffix == ".zst" else "rollout"))
    return Gathered(tuple(logs))


def _base_of(path: Path) -> str | None:
    """The id of the rollout that a file's header names as its base."""
    try:
        with path.open("rb") as file:
            line = (zstd.opened(file)[0] if path.suffix == ".zst" else file).readline(_HEAD)
        payload = orjson.loads(line)["payload"]
        base = payload["history_base"]["thread_id"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return base if type(base) is str and re.fullmatch(r"[0-9A-Za-z-]{8,64}", base) else None


def _find(id: str, here: Path, listed: _Listed) -> Path | None:
    """The file of a rollout: beside another one, elsewhere in the tree of days, or archived; the plain form wins."""
    day = here.parent
    places = [(day, "")]
    if re.fullmatch(r"\d{4}/\d\d/\d\d", "/".join(day.parts[-3:])):
        places += [(day.parents[2], "*/*/*/"), (day.parents[2].parent / _ARCHIVE, "")]
    elif day.name == _ARCHIVE:
        places.append((day.parent / "sessions", "*/*/*/"))
    named = re.compile(rf"rollout-.*[-_]{id}\.jsonl(?:\.zst)?", re.DOTALL)
    for folder, below in places:
        found = [(name, path) for name, path in listed(folder, below) if id in name and named.fullmatch(name)]
        for _, path in sorted(found, key=lambda pair: pair[0].endswith(".zst")):
            if path != here and path.is_file():
                return path
    return None


def _rollouts(folder: Path, below: str) -> list[tuple[str, Path]]:
    return [(path.name, path) for path in sorted(folder.glob(f"{below}rollout-*.jsonl*"), key=str)]
