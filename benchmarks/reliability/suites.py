"""Collections of hostile JSON and hostile strings that others keep: R11. They are no part of this repository; give their place.

``documents``: a folder like ``test_parsing`` of JSONTestSuite, whose files begin with ``y_``, ``n_`` or ``i_``. Each stands as
a line between two sound ones, which must be had whatever it is. ``strings``: a file with a string in each line, or a JSON array
of them; each is said by a person, stands as a key, and names a file.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs

import convparse
from benchmarks.reliability import laws


def _row(n: int, text: str, **more: Any) -> bytes:
    row = {"type": "user", "uuid": f"u{n}", "parentUuid": None, "sessionId": "s", "message": {"role": "user", "content": text}}
    return json.dumps(row | more).encode() + b"\n"


BEFORE: Final = _row(1, "before")
AFTER: Final = _row(2, "after")


@attrs.define
class Tally:
    """What came of a collection."""

    tried: int = 0
    named_files: int = 0
    """Strings that the file system takes as names."""
    broken: list[str] = attrs.field(factory=list)


def documents(folder: Path) -> Tally:
    """Every file as a line between two others."""
    tally = Tally()
    for path in sorted(folder.glob("*.json")):
        data = path.read_bytes()
        result = convparse.parse_bytes(BEFORE + data + b"\n" + AFTER, source="claude-code", name="s.jsonl")
        said = [e.text for e in laws.entries(result) if isinstance(e, convparse.Message)]
        tally.tried += 1
        broken = laws.shallow(result, len(BEFORE) + len(data) + 1 + len(AFTER), "jsonl")
        if not {"before", "after"} <= set(said):
            broken.append("a line beside it is missing")
        if path.name.startswith("n_") and b"\n" not in data and data.strip() and not result.dropped:
            broken.append("no drop says that it is no JSON")
        tally.broken += [f"{path.name}: {what}" for what in broken]
    return tally


def read_strings(path: Path) -> list[str]:
    """The strings of a file."""
    text = path.read_text("utf-8")
    if text.lstrip().startswith("["):
        return [str(item) for item in json.loads(text)]
    return [line for line in text.split("\n") if line and not line.startswith("#")]


def strings(found: Sequence[str]) -> Tally:
    """Every string as a text, as a key and as a name."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for text in found:
            tally.tried += 1
            data = _row(1, "x" + text, **({text: 1} if text not in ("type", "uuid") else {}))
            result = convparse.parse_bytes(data, source="claude-code", name="s.jsonl")
            (message,) = (e for e in laws.entries(result) if isinstance(e, convparse.Message))
            broken = laws.shallow(result, len(data), "jsonl") + laws.deep(result, data, "jsonl")
            if "".join(getattr(block, "text", "") for block in message.blocks) != "x" + text:
                broken.append("the text is another")
            broken += _named(Path(folder), text, data, tally)
            tally.broken += [f"{text!r}: {what}" for what in broken]
    return tally


def _named(folder: Path, text: str, data: bytes, tally: Tally) -> list[str]:
    if "/" in text or "\0" in text or text in ("", ".", ".."):
        return []
    try:
        (folder / text).write_bytes(data)
    except (OSError, ValueError):
        return []
    tally.named_files += 1
    result = convparse.parse(folder / text, "claude-code")
    (folder / text).unlink()
    return laws.deep(result, data, "sqlite")
