"""Sessions in which every text has a word of its own, to see what a reader keeps of them.

A word tells by its first letters where it stands: ``GROUPS``. In a rollout of Codex a text that stands twice has the same word
twice, as the product repeats it. Beside a healthy session there is one of a few damaged lines, as crashes and crossed writes
leave them; on each is a text that is there to be had.
"""

import io
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from benchmarks.generate import write_lines
from benchmarks.tree import codex_lines

Word: TypeAlias = Callable[[str, str], str]
"""``(group, text)`` to the word for a text."""

GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {"sa": "said", "th": "thinking", "ca": "calls", "re": "results", "tw": "twins", "be": "beside", "da": "damaged"}
)
ROWS: Final = 120
_KEPT_AS_IT_IS: Final = frozenset(
    "type subtype role uuid parentUuid sessionId id tool_use_id sourceToolAssistantUUID leafUuid messageId promptId timestamp"
    " backupTime operation name stop_reason version userType entrypoint kind promptSource permissionMode service_tier speed"
    " inference_geo mode model cwd requestId backupFileName file_path filePath path output_mode call_id turn_id originator"
    " cli_version source workdir".split()
)
"""What gives a row its place and kind; words in these would make another session of it."""


class Marked(NamedTuple):
    """A session with a word of its own in every text."""

    healthy: bytes
    damaged: bytes
    """A whole row, and damaged lines."""
    words: dict[str, list[str]]
    """By group."""


class _Words:
    """The words that were given out."""

    def __init__(self, *, repeat: bool) -> None:
        self.given: dict[str, list[str]] = {group: [] for group in GROUPS}
        self._repeat = repeat
        self._of: dict[str, str] = {}

    def word(self, group: str, text: str = "") -> str:
        """A new word, or that of a text which had one."""
        if self._repeat and text in self._of:
            return self._of[text]
        word = f"zq{group}{sum(map(len, self.given.values())):06}"
        self.given[group].append(word)
        if text:
            self._of[text] = word
        return word


def claude_code() -> Marked:
    """A session of Claude Code."""
    file = io.BytesIO()
    write_lines(file, 300_000, 2500, seed=7)
    rows = [orjson.loads(line) for line in file.getvalue().splitlines()][:ROWS]
    words = _Words(repeat=False)
    lines = [orjson.dumps(_marked(row, _group_of_claude_code(row), words.word)) for row in rows]
    last = next(row for row in reversed(rows) if row["type"] == "assistant")
    tail = {key: last[key] for key in ("isSidechain", "userType", "cwd", "sessionId", "version")}

    def row(number: int, text: str) -> bytes:
        stamp = {"uuid": f"d{number:07}-0000-4000-8000-000000000000", "timestamp": "2026-07-12T00:00:00.000Z"}
        message = {"role": "user", "content": text}
        return orjson.dumps({"parentUuid": last["uuid"], "type": "user", "message": message, **tail, **stamp})

    damaged = [orjson.dumps(last), *_damaged(row, b"content", words.word)]
    return Marked(b"\n".join(lines) + b"\n", b"\n".join(damaged) + b"\n", words.given)


def codex() -> Marked:
    """A rollout of Codex."""
    rows = [orjson.loads(line) for line in codex_lines(600_000, 7).splitlines()][: 2 * ROWS]
    words = _Words(repeat=True)
    lines = [orjson.dumps(_marked(row, _group_of_codex(row), words.word)) for row in rows]

    def row(number: int, text: str) -> bytes:
        message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        return orjson.dumps({"timestamp": f"2026-03-02T00:00:{number:02}.000Z", "type": "response_item", "payload": message})

    damaged = [orjson.dumps(rows[0]), *_damaged(row, b"text", words.word)]
    return Marked(b"\n".join(lines) + b"\n", b"\n".join(damaged) + b"\n", words.given)


MARKED: Final[Mapping[str, Callable[[], Marked]]] = MappingProxyType({"claude-code": claude_code, "codex": codex})
"""What makes the sessions of a source."""


def _group_of_claude_code(row: dict[str, Any]) -> Callable[[tuple[Any, ...]], str]:
    """The group of a text of a row, by where it stands."""
    content = row.get("message", {}).get("content")
    kind = content[0].get("type") if isinstance(content, list) else "text"
    inside = {"text": "sa", "thinking": "th", "tool_use": "ca", "tool_result": "re"}.get(str(kind), "be")

    def group(path: tuple[Any, ...]) -> str:
        if path[:2] == ("message", "content"):
            return inside
        return "tw" if path[:1] == ("toolUseResult",) else "be"

    return group


def _group_of_codex(row: dict[str, Any]) -> Callable[[tuple[Any, ...]], str]:
    groups = {"reasoning": "th", "function_call": "ca", "function_call_output": "re"}
    said = ("message", "user_message", "agent_message", "task_complete")
    kind = str(row["payload"].get("type"))
    return lambda path: groups.get(kind, "sa" if kind in said else "be")


def _marked(value: Any, group: Callable[[tuple[Any, ...]], str], word: Word, path: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        return {key: _marked(item, group, word, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item, group, word, (*path, at)) for at, item in enumerate(value)]
    if not isinstance(value, str) or _KEPT_AS_IT_IS.intersection(path[-1:]):
        return value
    if path[-1:] in (("arguments",), ("output",)) and value.startswith("{"):
        return orjson.dumps(_marked(json.loads(value), group, word, path)).decode()
    return f"{value} {word(group(path), value)}"


def _damaged(make: Callable[[int, str], bytes], key: bytes, word: Word) -> list[bytes]:
    made = 0

    def row(text: str | None = None, end: str = "") -> bytes:
        nonlocal made
        made += 1
        return make(made, (word("da", "") if text is None else text) + end)

    torn = row("torn")
    return [
        row() + row(),  # two records on one line
        torn[: len(torn) // 2] + row(),  # a record that broke off, and the next one behind it
        b"\0" * 64 + row(),  # a block that was never written
        row(end="@").replace(b"@", b"\xff"),  # a byte that is no UTF-8
        row(end="@").replace(b"@", b"\\ud83d"),  # half of a pair of surrogates
        row().replace(b'"%b":' % key, b'"%b":"%b","%b":' % (key, word("da", "").encode(), key)),  # a key twice
        row().replace(b"{", b'{"budget":NaN,', 1),  # no JSON, and plain to see
        torn[: len(torn) // 2],
    ]
