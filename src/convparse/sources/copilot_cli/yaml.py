"""The few forms of YAML that ``workspace.yaml`` is written in: a mapping of keys to scalars, some of them over several lines.

Text comes in, a dict of strings goes out; a line that fits no form is left for the caller to name. Nothing is raised.
"""

import json
import re
from typing import Final

_LINE: Final = re.compile(r"([A-Za-z_][\w.-]*):(?: +(.*))?")
_BLOCK: Final = re.compile(r"[|>][+-]?\d?")
_QUOTED: Final = re.compile(r"'((?:[^']|'')*)'")


def read_mapping(text: str) -> tuple[dict[str, str], int]:
    """The keys and values of a mapping, and how many lines were not understood."""
    found: dict[str, str] = {}
    odd = 0
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at].rstrip("\r")
        at += 1
        if not line.strip() or line.lstrip().startswith("#") or line == "---":
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            odd += 1
            continue
        below = at
        while below < len(lines) and (not lines[below].strip() or lines[below][:1] in " \t"):
            below += 1
        while below > at and not lines[below - 1].strip():
            below -= 1
        found[match[1]] = _value(match[2] or "", [line.rstrip("\r") for line in lines[at:below]])
        at = below
    return found, odd


def _value(first: str, more: list[str]) -> str:
    first = first.strip()
    if _BLOCK.fullmatch(first):
        indent = min((len(line) - len(line.lstrip()) for line in more if line.strip()), default=0)
        return ("\n" if first[0] == "|" else " ").join(line[indent:] for line in more)
    whole = " ".join([first, *(line.strip() for line in more)]) if more else first
    if whole[:1] == '"':
        try:
            return str(json.loads(whole))
        except ValueError:
            return whole
    quoted = _QUOTED.fullmatch(whole)
    return quoted[1].replace("''", "'") if quoted else whole
