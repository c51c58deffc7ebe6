"""Hypothesis strategies: whole sessions as the products write them, each with a model of what was put in. One section a source.

A strategy gives a ``Generated``: the lines of a file and what must be found again in a parse of it. The texts of a session are
all different, so that each can be looked for. What is shared stands first: texts, odd JSON, damage.

The default runs are the same every time and short. ``HYPOTHESIS_PROFILE=thorough`` searches at random, and long.
"""

import json
import os
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import attrs
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from tests.leaves import encoded, pointer_of, put, walk

Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]
Row: TypeAlias = dict[str, Any]

_CALM: Final = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
_PHASES: Final = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)  # to explain a failure takes minutes
settings.register_profile(
    "thorough", max_examples=1_500, deadline=None, suppress_health_check=_CALM, phases=_PHASES, print_blob=True
)
THOROUGH: Final = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def examples(count: int) -> settings:
    """Settings of one property: so many examples, always the same ones; or those of the thorough profile."""
    if THOROUGH:
        return settings.get_profile("thorough")
    return settings(
        max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=_CALM, phases=_PHASES
    )


# ---- shared ----------------------------------------------------------------------------------------------------------------

FRAGMENTS: Final = (
    *("a word", "naïve", "<", "</b>", "<system-reminder>", "a < b > c", "[Image #1]", '{"type":"user"', '"', "\\", "\\u0000"),
    *("\n", "\t", "\0", "\x1b[1m", "\x85", "\u2028", "\u2029", "\ufeff", "\ufffd", "😀", "\u202e", "e\u0301", "~1/~0", "null"),
)
"""Pieces of text that readers stumble over."""

words: Final = st.lists(
    st.sampled_from(FRAGMENTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=4
).map(" ".join)
"""Any text that UTF-8 can hold."""

scalars: Final = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | words
)
odd_json: Final = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)
"""Any JSON value."""

NEW_KEYS: Final = ("brandNew", "a/b", "~c", "d e", "ключ", "")
"""Keys that no product writes."""

DAMAGE: Final = (
    *(b"", b"  ", b"\r", b"garbage", b"3", b'"text"', b"[1, 2]", b"{}", b"\0\0\0\0", b"\xff\xfe{", b"{" * 300),
    b"[" * 300 + b"]" * 300,
    *(b'{"type":"user","message":{"role":"us', b'{"type":"mode","mode":"a","mode":"b"}', b'{"type":"mode","mode":NaN}'),
    *(b'{"type":"mode","mode":"\\ud83d"}', b'{"type":"mode","mode":"\xff"}', b'{"type":"mode","mode":1e400}', b'{"type":null}'),
)  # fmt: skip
"""Lines that are not what a product means to write."""


@attrs.define
class Generated:
    """A session, and what is in it."""

    lines: list[bytes] = attrs.field(factory=list)
    """With their line ends."""
    rows: list[Row] = attrs.field(factory=list)
    """The valid records, in file order."""
    texts: list[str] = attrs.field(factory=list)
    """What anybody wrote or was told; all different."""
    prompts: list[str] = attrs.field(factory=list)
    """What a person wrote, in file order; each among the texts too."""
    calls: list[str] = attrs.field(factory=list)
    """Ids of tool calls."""
    results: list[str] = attrs.field(factory=list)
    """Call ids of tool results."""
    output: int = 0
    """Tokens written by the model."""
    unknown: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """Fields that are not known, by record type and pattern."""

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return b"".join(self.lines)


@st.composite
def mutated(draw: Draw, sessions: st.SearchStrategy[Generated]) -> bytes:
    """The bytes of a session after accidents: runs overwritten, doubled, cut out."""
    data = draw(sessions).data
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.sampled_from([0, 1, 2, 50, 400])))
        middle = draw(
            st.sampled_from([b"", b"\0", b"\n", b'"', b"{", b"}", b"\\", b"\xc3", b"null", b"\r\n", data[begin:end] * 2])
        )
        data = data[:begin] + middle + data[end:]
    return data


@st.composite
def with_odd_values(draw: Draw, sessions: st.SearchStrategy[Generated]) -> bytes:
    """The bytes of a session in which some fields, or all that is in them, have values of any other type."""
    rows = draw(sessions).rows
    for _ in range(draw(st.integers(1, 4)) if rows else 0):
        at = draw(st.integers(0, len(rows) - 1))
        paths = [path for path, _ in walk(rows[at])]
        path = draw(st.sampled_from(paths))
        rows[at] = put(rows[at], path[: draw(st.integers(1, len(path)))], draw(odd_json))
    return b"".join(encoded(row) + b"\n" for row in rows)


# ---- Claude Code -----------------------------------------------------------------------------------------------------------

KNOWN_KEYS: Final = (
    *"type uuid parentUuid sessionId session_id timestamp isSidechain agentId message role content id model usage".split(),
    *"stop_reason text thinking signature name input tool_use_id is_error toolUseResult attachment prompt subtype".split(),
    *"leafUuid explicit rewound operation data iterations input_tokens cache_creation compactMetadata summary version".split(),
    *"logicalParentUuid retractedMessageUuids forkedFrom promptId origin kind source display project pastedContents".split(),
    *"parent_tool_use_id tool_use_result result title event uuids status agentId toolUseID cwd isMeta snapshot".split(),
)
KNOWN_WORDS: Final = (
    *"user assistant system attachment progress summary queue-operation last-prompt ai-title custom-title tools-used".split(),
    *"text thinking tool_use tool_result image document redacted_thinking queued_command file compact_boundary".split(),
    *"turn_duration agent_progress fork-context-ref continued-in enqueue dequeue remove popAll base64 url result".split(),
    *"init stream_event session_title_changed message fallback_message human".split(),
    *(
        "a",
        "b",
        "00000000-0000-0000-0000-000000000000",
        "2026-01-01T00:00:00.000Z",
        "<persisted-output>saved to: x",
        "Exit code 1",
    ),
)
_fuzz_words: Final = st.sampled_from(KNOWN_WORDS)
_fuzz_values: Final = st.recursive(
    _fuzz_words | scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KNOWN_KEYS), inner, max_size=6),
    max_leaves=20,
)
claude_code_fuzz: Final = st.lists(
    st.dictionaries(st.sampled_from(KNOWN_KEYS), _fuzz_values, max_size=10).flatmap(
        lambda row: _fuzz_words.map(lambda kind: {"type": kind, **row, "type": kind})  # noqa: F601 - first and last word
    ),
    max_size=5,
)
"""Records that use the product's words in every wrong way."""

VERSIONS: Final = ("1.0.98", "2.0.30", "2.1.12", "2.1.63", "2.1.205", "2.1.263", "2.1.332", "9.0.0")
STEPS: Final = (
    *("prompt", "prompt", "respond", "respond", "respond", "rewind", "compact", "side_chain", "queue", "attach", "note"),
    *("title", "bookmark", "skip", "unknown", "progress", "again", "mode"),
)


class _Writer:
    """One session while it is written: what Claude Code remembers from row to row."""

    def __init__(self, draw: Draw, number: int, bare: bool) -> None:
        self.draw = draw
        self.made = Generated()
        self.number = number
        self.bare = bare
        """True if rows without a session id are wanted too, as the product writes them."""
        self.session = self.new_id()
        self.version = draw(st.sampled_from(VERSIONS))
        self.tip: str | None = None
        self.chain: list[str] = []
        self.turn: str | None = None
        self.count = 0

    # -- pieces --

    def new_id(self) -> str:
        self.count = getattr(self, "count", 0) + 1
        return f"{self.number:08x}-0000-4000-8000-{self.count:012x}"

    def text(self) -> str:
        """A text that is nowhere else."""
        self.count += 1
        text = f"{self.number}.{self.count}: {self.draw(words)}."
        self.made.texts.append(text)
        return text

    def maybe(self) -> bool:
        return bool(self.draw(st.booleans()))

    def one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def time(self) -> str:
        minutes = self.draw(st.integers(0, 3_000))
        return f"2026-03-{1 + minutes // 1440:02}T{minutes // 60 % 24:02}:{minutes % 60:02}:00.{self.count % 1000:03}Z"

    def write(self, row: Row) -> None:
        self.made.rows.append(row)

    def chain_row(self, kind: str, *, parent: str | None = None, root: bool = False, tip: bool = True, **more: Any) -> str:
        """Append a row of the chain; its id."""
        uuid = self.new_id()
        row: Row = {
            "parentUuid": None if root else parent or self.tip,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.one_of("/home/ada", "/home/ada/notes"),
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.one_of("", "main"),
            "type": kind,
        }
        self.write(row | more | {"uuid": uuid, "timestamp": self.time()})
        if tip:
            self.tip = uuid
            self.chain.append(uuid)
        return uuid

    def beside(self, kind: str, **more: Any) -> None:
        self.write({"type": kind, **more, "sessionId": self.session})

    # -- what a person does --

    def prompt(self) -> None:
        text = self.text()
        self.made.prompts.append(text)
        self.turn = self.new_id()
        content: Any = text
        shape = self.one_of("plain", "plain", "blocks", "image", "reminded", "context")
        if shape == "blocks":
            content = [{"type": "text", "text": text}]
        elif shape == "image":
            source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
            content = [{"type": "image", "source": source}, {"type": "text", "text": text}]
        elif shape == "reminded":
            content = f"{text}\n<system-reminder>{self.text()}</system-reminder>"
        elif shape == "context":
            tag = f"<ide_opened_file>{self.text()}</ide_opened_file>"
            content = [{"type": "text", "text": tag}, {"type": "text", "text": text}]
        marks: Row = self.one_of({}, {"promptId": self.turn}, {"promptId": self.turn, "promptSource": "typed"})
        marks |= self.one_of({}, {"permissionMode": "plan"}, {"origin": {"kind": "human"}})
        self.chain_row("user", message={"role": "user", "content": content}, **marks)

    def rewind(self) -> None:
        if not self.chain:
            return
        if self.one_of(True, True, False):
            self.tip = self.one_of(*self.chain)
            if self.maybe():
                self.beside("last-prompt", leafUuid=self.tip, explicit=True, rewound=True)
            self.prompt()
        else:
            self.tip = None
            self.beside("last-prompt", leafUuid=None, explicit=True, rewound=True)

    def queue(self) -> None:
        text = self.text()
        self.made.prompts.append(text)
        self.beside("queue-operation", operation="enqueue", timestamp=self.time(), content=text)
        way = self.one_of("typed", "absorbed", "absorbed", "waiting", "taken")
        if way == "typed":
            self.beside("queue-operation", operation="dequeue", timestamp=self.time())
            self.chain_row("user", message={"role": "user", "content": text}, promptSource="queued")
        elif way == "absorbed":
            self.beside("queue-operation", operation="remove", timestamp=self.time(), content=text, reason="absorbed_mid_turn")
            self.chain_row("attachment", attachment={"type": "queued_command", "prompt": text, "commandMode": "prompt"})
        elif way == "taken":
            self.beside("queue-operation", operation="remove", timestamp=self.time(), content=text)

    # -- what the model does --

    def usage(self, output: int, base: Row) -> Row:
        return {**base, "output_tokens": output, "service_tier": "standard"}

    def respond(self) -> None:
        """One response: a row a block, results among them, the final count on its last row."""
        response, total = self.new_id(), self.draw(st.integers(1, 5_000))
        self.made.output += total
        kinds = self.draw(
            st.lists(st.sampled_from(["text", "thinking", "hidden", "tool_use", "tool_use"]), min_size=1, max_size=4)
        )
        written = self.draw(st.integers(0, 900))
        base: Row = {
            "input_tokens": self.draw(st.integers(0, 900)),
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self.draw(st.integers(0, 900)),
        }
        if self.maybe():
            base["cache_creation"] = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
        waiting: list[tuple[str, str]] = []
        for at, kind in enumerate(kinds):
            last = at == len(kinds) - 1
            block, call = self.block(kind)
            message = {
                "id": f"msg_{response}",
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-5",
                "content": [block],
                "stop_reason": self.one_of("end_turn", "tool_use") if last else None,
                "stop_sequence": None,
                "usage": self.usage(total if last else 1, base),
            }
            uuid = self.chain_row("assistant", message=message, requestId=f"req_{response}")
            if call is not None:
                waiting.append((call, uuid))
            if waiting and not last and self.one_of(True, False, False):
                self.result(*waiting.pop(0))
        while waiting:
            at = self.draw(st.integers(0, len(waiting) - 1))
            self.result(*waiting.pop(at))

    def block(self, kind: str) -> tuple[Row, str | None]:
        if kind == "text":
            return {"type": "text", "text": self.text()}, None
        if kind == "thinking":
            return {"type": "thinking", "thinking": self.text(), "signature": "c2ln"}, None
        if kind == "hidden":
            return self.one_of(
                {"type": "thinking", "thinking": "", "signature": "eA=="}, {"type": "redacted_thinking", "data": "eA=="}
            ), None
        return self.call()

    def call(self, name: str | None = None, **given: Any) -> tuple[Row, str]:
        call = f"toolu_{self.new_id()}"
        self.made.calls.append(call)
        name = name or self.one_of("Bash", "Read", "Edit", "mcp__notes__add", "Frobnicate")
        return {"type": "tool_use", "id": call, "name": name, "input": given or {"command": self.text(), "limit": 10}}, call

    def result(self, call: str, owner: str) -> None:
        if self.one_of(*[False] * 9, True):  # interrupted: no result is ever written
            return
        self.made.results.append(call)
        text = self.text()
        content = self.one_of(text, text, [{"type": "text", "text": text}])
        block = {"tool_use_id": call, "type": "tool_result", "content": content} | self.one_of(
            {}, {"is_error": False}, {"is_error": True}
        )
        twin = self.one_of(
            None,
            f"Error: {text}",
            {"stdout": text, "stderr": "", "interrupted": self.maybe()},
            [{"type": "text", "text": text}],
        )
        more: Row = {} if twin is None else {"toolUseResult": twin}
        more |= self.one_of({}, {"sourceToolAssistantUUID": owner}, {"toolDenialKind": "user-rejected"})
        parent = self.one_of(owner, None)
        self.chain_row("user", parent=parent, message={"role": "user", "content": [block]}, **more)

    def side_chain(self) -> None:
        """A sub-agent inside the main file, as up to 2.0.0."""
        task = self.text()
        self.made.texts.pop()  # it stands twice
        block, call = self.call("Task", prompt=task, description=self.text())
        message = {"id": f"msg_{self.new_id()}", "role": "assistant", "model": "claude-opus-5", "content": [block]}
        owner = self.chain_row("assistant", message={**message, "stop_reason": "tool_use", "usage": {"input_tokens": 1}})
        side = self.chain_row("user", root=True, tip=False, isSidechain=True, message={"role": "user", "content": task})
        answer = {"id": f"msg_{self.new_id()}", "role": "assistant", "model": "claude-opus-5"}
        answer |= {"content": [{"type": "text", "text": self.text()}], "stop_reason": "end_turn", "usage": {"output_tokens": 7}}
        self.chain_row("assistant", parent=side, tip=False, isSidechain=True, message=answer)
        self.made.output += 7
        self.result(call, owner)

    # -- what the product does --

    def compact(self) -> None:
        facts = {"trigger": self.one_of("auto", "manual"), "preTokens": 90_000}
        more: Row = {"logicalParentUuid": self.tip, "compactMetadata": facts, "level": "info", "isMeta": False}
        self.chain_row("system", root=True, subtype="compact_boundary", content="Conversation compacted", **more)
        text = f"This session is being continued from a previous conversation. {self.text()}"
        marks = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        self.chain_row("user", message={"role": "user", "content": text}, **marks)

    def attach(self) -> None:
        text = self.text()
        inner = self.one_of(
            {"type": "file", "filename": "/a", "content": {"type": "text", "file": {"content": text, "numLines": 3}}},
            {"type": "total_tokens_reminder", "text": text},
            {"type": "hook_success", "hookName": "Stop", "content": text, "stdout": "", "exitCode": 0, "durationMs": 12},
            {"type": "task_reminder", "content": [], "itemCount": 0, "note": text},
            {"type": "skill_listing", "content": text, "isInitial": True},
        )
        more = self.one_of({}, {"rendered": ["something"]})
        self.chain_row("attachment", attachment=inner, **more)

    def note(self) -> None:
        subtype = self.one_of("turn_duration", "informational", "local_command", "away_summary", "api_error", None)
        more: Row = {"durationMs": 1_234} if subtype == "turn_duration" else {"content": self.text(), "level": "info"}
        if subtype == "api_error":
            more |= {"error": {"status": 529, "message": self.text()}, "retryInMs": 531.5, "retryAttempt": 1, "maxRetries": 10}
        self.chain_row("system", **({"subtype": subtype} if subtype else {}), **more, isMeta=False)

    def progress(self) -> None:
        data = {"type": "bash_progress", "output": self.text(), "elapsedTimeSeconds": 3, "totalLines": 1}
        self.chain_row("progress", data=data, toolUseID="bash-progress-0", parentToolUseID="toolu_x", tip=self.maybe())

    def title(self) -> None:
        if self.bare and self.tip is not None and self.maybe():
            self.write({"type": "summary", "summary": self.text(), "leafUuid": self.one_of(self.tip, "elsewhere")})
        else:
            name, key = self.one_of(("ai-title", "aiTitle"), ("custom-title", "customTitle"), ("agent-name", "agentName"))
            self.beside(name, **{key: self.text()})

    def bookmark(self) -> None:
        leaf = self.one_of(self.tip, "00000000-0000-0000-0000-000000000000")
        explicit = {"explicit": True} if leaf is not None and leaf.startswith("00000000-0000-0000-0000") else {}
        self.beside("last-prompt", lastPrompt=self.text(), leafUuid=leaf, **explicit)

    def mode(self) -> None:
        name, key = self.one_of(("permission-mode", "permissionMode"), ("mode", "mode"), ("tag", "tag"))
        self.beside(name, **{key: self.one_of("plan", "default", "")})

    def skip(self) -> None:
        if self.bare and self.maybe():
            self.write(
                {
                    "type": "file-history-snapshot",
                    "messageId": "m",
                    "snapshot": {"trackedFileBackups": {}},
                    "isSnapshotUpdate": False,
                }
            )
        else:
            self.beside(self.one_of("tools-used", "atis-latch"), tools=["Bash"])

    def unknown(self) -> None:
        kind = self.one_of("brand-new", "memory-mode", "")
        if self.maybe():
            self.chain_row(kind, payload={"said": self.text()})
        else:
            self.beside(kind, payload=[self.text(), self.draw(odd_json)])

    def again(self) -> None:
        """A row once more, as compactions and forks of several versions append them."""
        rows = [row for row in self.made.rows if "uuid" in row]
        if rows:
            self.write(dict(self.draw(st.sampled_from(rows))))


_PLACES: Final = {
    "user": (("", "user"), ("/message", "user"), ("/message/content/*", None)),
    "assistant": (("", "assistant"), ("/message", "assistant"), ("/message/usage", "assistant"), ("/message/content/*", None)),
    "attachment": (("", "attachment"),),
    "system": (("", "system"),),
    "progress": (("", "progress"),),
    **{
        name: (("", name),) for name in ("ai-title", "custom-title", "last-prompt", "queue-operation", "mode", "summary", "tag")
    },
}
"""Objects whose keys are all known, by record type: their pattern, and the record's name for drops; None: the block's type."""


def _add_unknown_field(draw: Draw, made: Generated) -> None:
    """Put a field that no version writes somewhere into a row, and note where."""
    fit = [at for at, row in enumerate(made.rows) if row["type"] in _PLACES]
    if not fit:
        return
    at = draw(st.sampled_from(fit))
    row = made.rows[at]
    pattern, record = draw(st.sampled_from(_PLACES[row["type"]]))
    path = tuple(pattern.split("/")[1:])
    value: Any = row
    for token in path:
        value = value[0 if token == "*" else token] if isinstance(value, list) or token in value else None
        if not isinstance(value, list | dict):
            return
    key = draw(st.sampled_from(NEW_KEYS))
    if key in value:
        return
    exact = tuple(0 if token == "*" else token for token in path)
    made.rows[at] = put(row, exact, {**value, key: draw(odd_json)})
    made.unknown[record or value["type"], pattern + pointer_of((key,))] += 1


@st.composite
def claude_code_sessions(
    draw: Draw,
    *,
    number: int = 1,
    most: int = 14,
    unknown: bool = True,
    damage: bool = True,
    bare: bool = True,
    skip: tuple[str, ...] = (),
) -> Generated:
    """One main transcript. ``number`` makes its ids its own. ``unknown``: with fields that no version writes; ``damage``: with
    lines that are no records, and records that share a line; ``bare``: with rows that have no session id.
    """
    writer = _Writer(draw, number, bare)
    steps = st.sampled_from([step for step in STEPS if step not in skip])
    for _ in range(draw(st.integers(0, most))):
        getattr(writer, draw(steps))()
    made = writer.made
    if unknown:
        for _ in range(draw(st.integers(0, 4))):
            _add_unknown_field(draw, made)
    made.lines = [encoded(row) + b"\n" for row in made.rows]
    if damage:
        for _ in range(draw(st.integers(0, 3))):
            _damage(draw, made)
    return made


def _damage(draw: Draw, made: Generated) -> None:
    at = draw(st.integers(0, len(made.lines)))
    kind = draw(st.sampled_from(["line", "line", "line", "joined", "stub"]))
    whole = at < len(made.lines) and b'"uuid"' in made.lines[at] and b"sessionId" in made.lines[at]
    if kind == "stub" and whole:
        made.lines[at] = b'{"type":"user","message":{"role":"user","content":"half a sen' + made.lines[at]
    elif kind == "joined" and whole and at and made.lines[at - 1].startswith(b'{"parentUuid"'):
        made.lines[at - 1] = made.lines[at - 1].rstrip(b"\n")
    else:
        made.lines.insert(at, draw(st.sampled_from(DAMAGE)) + b"\n")


def rows_of(data: bytes) -> list[Row]:
    """The objects of a file, one a line."""
    found = []
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
