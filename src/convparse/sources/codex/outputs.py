"""The text in which a tool's output was given to the model: one result, four encodings.

What comes in: the text, verbatim. What goes out: an ``Output`` with exit code and seconds. Nothing is lost: the text itself
stays the result's content. The encodings may be nested.

- ``{"output": …, "metadata": {"exit_code": …, "duration_seconds": …}}`` (tool ``shell`` up to 0.94, patches up to 0.98)
- ``Exit code: … / Wall time: … / Output:`` (tool ``shell_command``)
- ``Chunk ID: … / Wall time: … / Process exited with code … / Output:`` (unified exec, since 0.98)
- ``Wall time: … / Output:`` around any of them (since 0.117)
"""

import json
import re
from typing import Any, Final, NamedTuple

import orjson

_LABELLED: Final = re.compile(
    r"(?:Command: (?P<command>[^\n]*)\n)?"
    r"(?:Chunk ID: (?P<chunk>[^\n]*)\n)?"
    r"(?:Exit code: (?P<code>-?\d{1,9})\n)?"
    r"(?:Wall time: (?P<time>\d{1,9}(?:\.\d{1,20})?)(?: \w+)?\n)?"
    r"(?:Process exited with code (?P<exited>-?\d{1,9})\n|Process running with session ID (?P<running>\S+)\n)?"
    r"(?:Original token count: (?P<tokens>\d+)\n)?"
    r"(?:Total output lines: (?P<lines>\d+)\n)?"
    r"Output:\n",
    re.ASCII,
)
_LONGEST: Final = 1e12
"""Seconds that no tool takes: JSON may hold any number, a record no infinite one."""
_CUT: Final = re.compile(r"…\d+ (?:tokens|chars|characters|lines) truncated…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]")


class Output(NamedTuple):
    """What the text of a tool's output says beside what the tool wrote."""

    exit_code: int | None = None
    wall_time: float | None = None
    """Seconds."""
    truncated: bool = False
    """True if the model saw only a part of it."""


NOTHING: Final = Output()


def decode(text: str) -> Output:
    """What the encodings around a tool's output say; the innermost that says a thing has the last word."""
    at, took, cut = 0, None, False
    while (found := _labels(text, at)) is not None:
        took, cut, at = found["time"] or took, cut or found["lines"] is not None, found.end()
        code = found["code"] or found["exited"]
        if code is not None:
            return Output(int(code), None if took is None else float(took), cut or _is_cut(text, at))
    inner = _from_json(text[at:]) if text.startswith("{", at) else Output(truncated=_is_cut(text, at))
    if inner.wall_time is None and took is not None:
        return Output(inner.exit_code, float(took), cut or inner.truncated)
    return Output(inner.exit_code, inner.wall_time, cut or inner.truncated)


def _labels(text: str, at: int) -> re.Match[str] | None:
    """The labels that begin at a place of the text, the last of which is ``Output:``; None if that is the only one."""
    found = _LABELLED.match(text, at) if ":" in text[at : at + 20] else None
    return found if found is not None and found.end() > at + len("Output:\n") else None


def _is_cut(text: str, at: int) -> bool:
    marked = text.find("truncated…", at) >= 0 or text.find("[... omitted ", at) >= 0
    return marked and _CUT.search(text, at) is not None


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
        return NOTHING
    said = value.get("metadata")
    code, took = (said.get("exit_code"), said.get("duration_seconds")) if type(said) is dict else (None, None)
    seconds = float(took) if isinstance(took, int | float) and abs(took) < _LONGEST else None
    return Output(code if type(code) is int else None, seconds, _is_cut(output, 0))
