"""The text in which a tool's output was given to the model: one result, four encodings.

What comes in: the text, verbatim. What goes out: an ``Output`` with exit code, seconds and the text inside. Nothing is lost:
the text itself stays the result's content. The encodings may be nested.

- ``{"output": …, "metadata": {"exit_code": …, "duration_seconds": …}}`` (tool ``shell`` up to 0.94, patches up to 0.98)
- ``Exit code: … / Wall time: … / Output:`` (tool ``shell_command``)
- ``Chunk ID: … / Wall time: … / Process exited with code … / Output:`` (unified exec, since 0.98)
- ``Wall time: … / Output:`` around any of them (since 0.117)
"""

import json
import re
from typing import Any, Final

import attrs
import orjson

_LABELLED: Final = re.compile(
    r"(?:Command: (?P<command>[^\n]*)\n)?"
    r"(?:Chunk ID: (?P<chunk>[^\n]*)\n)?"
    r"(?:Exit code: (?P<code>-?\d+)\n)?"
    r"(?:Wall time: (?P<time>\d+(?:\.\d+)?)(?: \w+)?\n)?"
    r"(?:Process exited with code (?P<exited>-?\d+)\n|Process running with session ID (?P<running>\S+)\n)?"
    r"(?:Original token count: (?P<tokens>\d+)\n)?"
    r"(?:Total output lines: (?P<lines>\d+)\n)?"
    r"Output:\n"
)
_CUT: Final = re.compile(r"…\d+ (?:tokens|chars|characters|lines) truncated…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]")


@attrs.frozen
class Output:
    """What the text of a tool's output says."""

    text: str
    """What the tool itself wrote, as far as the model saw it."""
    exit_code: int | None = None
    wall_time: float | None = None
    """Seconds."""
    session: str | None = None
    """The id under which a process goes on in the background."""
    truncated: bool = False


def decode(text: str) -> Output:
    """The output inside its encodings; the text itself where there is none."""
    if text.startswith("{"):
        return _from_json(text)
    found = _LABELLED.match(text) if ":" in text[:20] else None
    if found is None or found.end() == len("Output:\n"):
        return Output(text, truncated=_is_cut(text))
    code = found["code"] or found["exited"]
    inner = decode(text[found.end() :]) if found["code"] is None and found["exited"] is None else Output(text[found.end() :])
    return Output(
        inner.text,
        int(code) if code is not None else inner.exit_code,
        inner.wall_time if inner.wall_time is not None else float(found["time"]) if found["time"] is not None else None,
        found["running"] or inner.session,
        _is_cut(inner.text) or found["lines"] is not None or inner.truncated,
    )


def _is_cut(text: str) -> bool:
    return ("truncated…" in text or "[... omitted " in text) and _CUT.search(text) is not None


def _from_json(text: str) -> Output:
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
    output = value.get("output") if type(value) is dict and value.keys() <= {"output", "metadata"} else None
    if type(output) is not str:
        return Output(text)
    said = value.get("metadata")
    code, took = (said.get("exit_code"), said.get("duration_seconds")) if type(said) is dict else (None, None)
    return Output(
        output,
        code if type(code) is int else None,
        float(took) if isinstance(took, int | float) else None,
        None,
        _is_cut(output),
    )
