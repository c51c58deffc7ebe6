"""Hypothesis strategies for Codex: sessions in all four generations, each with a model of what was put in.

What happened in a session is drawn first, as facts: a prompt, an answer, reasoning, a call with its output. Each fact is then
written in one or more grammars, and the records of a turn are shuffled so that those of one grammar keep their order: twins
stand in any order, next to each other or not.

Sessions with envelopes may be compacted, may be rolled back, and may be forks: with the lines of another thread copied before
their own (legacy; a sub-agent's of paginated history), or with a base that lies elsewhere. The two older generations have none
of these.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
from hypothesis import strategies as st
from tests.leaves import encoded
from tests.strategies import DAMAGE, Draw, Generated, odd_json, scalars, words

Row = dict[str, Any]

GENERATIONS: Final = ("bare", "legacy", "paginated", "document")
VERSIONS: Final = ("0.36.0", "0.58.0", "0.104.0", "0.147.0", "0.150.0", "0.171.0", "9.0.0")
RESPONSE: Final = "response"
EVENT: Final = "event"
ITEM: Final = "item"
PASSTHROUGH: Final = "internal_chat_message_metadata_passthrough"

KNOWN_KEYS: Final = (
    *"timestamp ordinal type payload metadata id role content text summary encrypted_content name arguments call_id".split(),
    *"output input action status message images local_images phase info last_token_usage total_token_usage item".split(),
    *("turn_id",),
    *"thread_id summary_text raw_content command aggregated_output exit_code duration changes num_turns session_id".split(),
    *"forked_from_id history_base end_ordinal_exclusive subagent_history_start_ordinal source replacement_history".split(),
    *("record_type", "instructions", "items", "session", "prompt", "msg", "ts", "thread_name", "updated_at", PASSTHROUGH),
    *"input_tokens output_tokens cached_input_tokens usage response_id callId result tool model cwd sandbox_policy".split(),
)
KNOWN_WORDS: Final = (
    *"session_meta response_item event_msg turn_context compacted world_state token_usage_record message reasoning".split(),
    *"function_call function_call_output custom_tool_call local_shell_call web_search_call tool_search_output user".split(),
    *"assistant developer user_message agent_message agent_reasoning token_count task_started task_complete".split(),
    *"turn_aborted thread_rolled_back item_completed UserMessage AgentMessage Reasoning CommandExecution FileChange".split(),
    *"exec_command_end patch_apply_end web_search_end collab_agent_spawn_end entered_review_mode compaction".split(),
    *"input_text output_text input_image summary_text thread.started item.started item.completed turn.completed".split(),
    *"agent_message command_execution todo_list error spawn_agent subagent thread_spawn".split(),
    *("a", "b", "2026-01-01T00:00:00.000Z", "data:image/png;base64,AA", "Exit code: 1\nOutput:\nx", '{"output":"a"}', ""),
)
_words: Final = st.sampled_from(KNOWN_WORDS)
_values: Final = st.recursive(
    _words | scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KNOWN_KEYS), inner, max_size=6),
    max_leaves=20,
)
_objects: Final = st.dictionaries(st.sampled_from(KNOWN_KEYS), _values, max_size=8)


def _typed(row: Row, kind: str) -> Row:
    return {"type": kind, **row, "type": kind}  # noqa: F601 - first and last word


_payloads: Final = st.builds(_typed, _objects, _words)
codex_fuzz: Final = st.lists(
    st.builds(_typed, _objects, _words)
    | st.builds(lambda row, kind, payload: _typed({**row, "payload": payload}, kind), _objects, _words, _payloads)
    | st.builds(
        lambda payload, item: {
            "timestamp": "x",
            "type": "event_msg",
            "payload": {**payload, "type": "item_completed", "item": item},
        },
        _objects,
        _payloads,
    ),
    max_size=6,
)
"""Records that use the product's words in every wrong way."""


@attrs.define
class Session(Generated):
    """A session, and what was said in it."""

    generation: str = ""
    said: list[tuple[str, str]] = attrs.field(factory=list)
    """Author and text, in order."""
    undone: set[int] = attrs.field(factory=set)
    """What of it was rolled back, by its number."""
    copied: int = 0
    """How much of it, from its beginning, was copied from another thread."""
    summaries: list[str] = attrs.field(factory=list)
    """What compactions said."""
    links: list[tuple[str, str, int | None]] = attrs.field(factory=list)
    """Kind, id and end of the links."""
    body: str = "complete"


class Writer:
    """Facts to records. ``grammars``: those that every fact is written in; empty for any, drawn for each."""

    def __init__(self, draw: Draw, generation: str, number: int, grammars: tuple[str, ...], repeat: bool) -> None:
        self.draw, self.generation, self.number = draw, generation, number
        self.grammars, self.repeat = grammars, repeat
        self.made = Session(generation=generation)
        self.turn: list[tuple[str, Row]] = []
        self.count = self.total = 0
        self.turn_id = ""
        self.ids = draw(st.booleans())
        self.answered = self.structured = False
        self.told: dict[str, Any] = {}
        """What a turn's beginning says besides."""
        self.born: int | None = None
        """The millisecond in which ids of turns say that they were made."""
        self.asker = "human"
        self.begun: int | None = None
        self.turns: list[tuple[int, str]] = []
        """Turns with a prompt that are not rolled back: what was said before them, and their ids."""

    def text(self) -> str:
        self.count += 1
        if self.repeat and self.draw(st.booleans()):
            return self.draw(st.sampled_from(["yes", "Done."]))
        return f"{self.draw(words)} t{self.number}.{self.count}"

    def id(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_{self.number}x{self.count}"

    def among(self, *possible: str) -> Sequence[str]:
        if self.generation in ("bare", "document"):
            return (RESPONSE,)
        if self.generation == "legacy":
            possible = tuple(name for name in possible if name != ITEM)
        elif self.generation == "paginated":
            possible = tuple(name for name in possible if name != EVENT)
        wanted = [name for name in self.grammars if name in possible]
        return wanted or self.draw(st.lists(st.sampled_from(possible), min_size=1, unique=True))

    def response(self, item: Row) -> None:
        if self.generation == "paginated" and self.turn_id:
            item = item | {PASSTHROUGH: {"turn_id": self.turn_id}}
        self.turn.append((RESPONSE, {"type": "response_item", "payload": item}))

    def event(self, kind: str, **payload: Any) -> None:
        self.turn.append((EVENT, {"type": "event_msg", "payload": {"type": kind, **payload}}))

    def item(self, kind: str, id: str, **fields: Any) -> None:
        payload = {"type": "item_completed", "thread_id": f"th{self.number}", "turn_id": self.turn_id or "t"}
        beside = {"started_at_ms": self.count, "completed_at_ms": self.count}
        self.turn.append(
            (ITEM, {"type": "event_msg", "payload": {**payload, "item": {"type": kind, "id": id, **fields}, **beside}})
        )

    # What happens.

    def begin(self) -> None:
        self.flush()
        if self.generation not in ("bare", "document"):
            self.turn_id = self.id("turn") if self.born is None else timed(self.born + self.count, self.count)
            self.count += 1
            self.marked("task_started", turn_id=self.turn_id, **self.told)
            self.begun = len(self.made.said)

    def end(self) -> None:
        self.flush()
        if self.turn_id:
            self.marked("task_complete", turn_id=self.turn_id)
            self.turn_id, self.begun = "", None

    def marked(self, kind: str, **payload: Any) -> None:
        """A record that stands where it stands."""
        self.turn.append(("", {"type": "event_msg", "payload": {"type": kind, **payload}}))
        self.flush()

    def rollback(self) -> None:
        if self.generation not in ENVELOPED or self.asker != "human":
            return
        self.end()
        count = self.draw(st.integers(1, 3))
        self.marked("thread_rolled_back", num_turns=count)
        if self.turns:
            first = self.turns[-min(count, len(self.turns))][0]
            del self.turns[-count:]
            self.made.undone.update(range(first, len(self.made.said)))

    def compact(self) -> None:
        if self.generation not in ENVELOPED:
            return
        self.flush()
        summary = f"sum {self.text()}"
        self.made.summaries.append(summary)
        known = [text for _, text in self.made.said] + [summary, f"new {self.text()}"]
        kept = self.draw(st.lists(st.sampled_from(known), max_size=4))
        history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]} for text in kept]
        self.turn.append(("", {"type": "compacted", "payload": {"message": summary, "replacement_history": history}}))
        self.flush()

    def prompt(self) -> None:
        self.flush()
        if self.structured and not self.turn_id:
            self.begin()
        text = self.text()
        if not self.turns or self.turn_id != self.turns[-1][1]:
            self.turns.append((len(self.made.said) if self.begun is None else self.begun, self.turn_id))
        self.answered = False
        self.made.said.append((self.asker, text))
        for grammar in self.among(RESPONSE, EVENT, ITEM) if not self.only_known() else (RESPONSE, EVENT, ITEM):
            if grammar == RESPONSE:
                self.response({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
            elif grammar == EVENT and self.generation == "legacy":
                self.event("user_message", message=text, images=[])
            elif grammar == ITEM and self.generation == "paginated":
                self.item("UserMessage", self.id("u"), content=[{"type": "text", "text": text, "text_elements": []}])
        self.flush()

    def only_known(self) -> bool:
        """True where a prompt has all its records: one without its second would be taken for the harness's."""
        return self.generation in ("legacy", "paginated") and RESPONSE in (self.grammars or (RESPONSE,))

    def answer(self) -> None:
        text, id = self.text(), self.id("msg")
        self.answered = True
        self.made.said.append(("model", text))
        for grammar in self.among(RESPONSE, EVENT, ITEM):
            if grammar == RESPONSE:
                item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
                self.response(item | ({"id": id} if self.ids or self.generation == "paginated" else {}))
            elif grammar == EVENT:
                self.event("agent_message", message=text)
            else:
                self.item("AgentMessage", id, content=[{"type": "Text", "text": text}])

    def think(self) -> None:
        parts = [f"{self.draw(words)} r{self.number}.{self.count}.{n}" for n in range(self.draw(st.integers(1, 3)))]
        id = self.id("rs")
        self.made.texts += parts
        for grammar in self.among(RESPONSE, EVENT, ITEM):
            if grammar == RESPONSE:
                summary = [{"type": "summary_text", "text": part} for part in parts]
                self.response({"type": "reasoning", "id": id, "summary": summary, "content": None, "encrypted_content": id})
            elif grammar == EVENT:
                for part in parts:
                    self.event("agent_reasoning", text=part)
            else:
                self.item("Reasoning", id, summary_text=parts, raw_content=[])

    def call(self) -> None:
        id, output, text = self.id("call"), self.text(), self.text()
        self.made.calls.append(id)
        self.made.results.append(id)
        self.made.texts.append(output)
        arguments = encoded({"command": [text]}).decode()
        self.response({"type": "function_call", "name": "shell", "arguments": arguments, "call_id": id})
        told = {"command": [text], "cwd": "/w", "exit_code": 1, "status": "failed", "aggregated_output": output}
        if self.generation == "legacy" and self.draw(st.booleans()):
            self.event("exec_command_end", call_id=id, **told)
        elif self.generation == "paginated" and self.draw(st.booleans()):
            self.item("CommandExecution", id, **told)
        self.response({"type": "function_call_output", "call_id": id, "output": output})

    def count_tokens(self) -> None:
        if self.generation in ("bare", "document") or not self.answered:
            return
        self.flush()
        spent = self.draw(st.integers(1, 50))
        self.total += spent
        self.made.output += spent
        usage = {"input_tokens": 5, "cached_input_tokens": 2, "output_tokens": spent, "reasoning_output_tokens": 0}
        total = usage | {"output_tokens": self.total, "input_tokens": self.total * 5}
        if self.generation == "paginated":
            record = {"thread_id": f"th{self.number}", "response_id": self.id("resp"), "usage": usage}
            self.turn.append(("", {"type": "token_usage_record", "payload": record}))
            self.flush()
        for _ in range(self.draw(st.integers(1, 2))):
            self.event("token_count", info={"total_token_usage": total, "last_token_usage": usage}, rate_limits=None)
        self.flush()

    def inject(self) -> None:
        self.flush()
        text = f"<environment_context>\n{self.text()}\n</environment_context>"
        self.made.texts.append(text)
        self.response({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
        self.flush()

    def settings(self) -> None:
        if self.generation in ("legacy", "paginated"):
            self.turn.append(("", {"type": "turn_context", "payload": {"cwd": "/w", "model": "gpt-5", "effort": "high"}}))

    def flush(self) -> None:
        """Write what happened, the records of each grammar in their order."""
        lanes: dict[str, list[Row]] = {}
        for lane, row in self.turn:
            lanes.setdefault(lane, []).append(row)
        self.turn = []
        while lanes:
            lane = self.draw(st.sampled_from(sorted(lanes)))
            self.made.rows.append(lanes[lane].pop(0))
            if not lanes[lane]:
                del lanes[lane]


STEPS: Final = ("prompt", "answer", "answer", "think", "call", "count_tokens", "inject", "settings", "begin")
STRUCTURE: Final = (*STEPS, "prompt", "answer", "end", "rollback", "compact")
ENVELOPED: Final = ("legacy", "paginated")
NOW: Final = 1_767_225_600_000
"""The millisecond of the headers' time."""


def timed(at: int, number: int) -> str:
    """A UUID of version 7, which says in which millisecond it was made."""
    made = f"{at:012x}"
    return f"{made[:8]}-{made[8:]}-7000-8000-{number:012x}"


@st.composite
def codex_sessions(
    draw: Draw,
    *,
    generation: str | None = None,
    number: int = 1,
    most: int = 12,
    damage: bool = True,
    unknown: bool = True,
    grammars: tuple[str, ...] = (),
    repeat: bool = False,
    fork: bool | None = None,
) -> Session:
    """One rollout. ``damage``: with lines that are no records; ``unknown``: with fields that no version writes; ``repeat``:
    with texts that are said again; ``grammars``: what every fact is written in, if it can be; ``fork``: None for either.
    """
    generation = generation or draw(st.sampled_from(GENERATIONS[:3]))
    writer = Writer(draw, generation, number, grammars, repeat)
    header = {"id": f"th{number}", "timestamp": "2026-01-01T00:00:00.000Z", "instructions": None}
    writer.structured = generation in ENVELOPED and (bool(fork) or draw(st.booleans()))
    forked = writer.structured and (draw(st.booleans()) if fork is None else fork)
    begin = _fork(draw, writer, header, most) if forked else None
    for _ in range(draw(st.integers(0, most))):
        getattr(writer, draw(st.sampled_from(STRUCTURE if writer.structured else STEPS)))()
    writer.flush()
    made = writer.made
    made.prompts += [text for n, (who, text) in enumerate(made.said) if who == "human" and n not in made.undone]
    made.texts += [text for _, text in made.said]
    if generation == "document":
        items = [row["payload"] for row in made.rows]
        made.rows = [{"session": header, "items": items}]
    elif generation == "bare":
        made.rows = [header, *(row["payload"] for row in made.rows)]
    else:
        meta = {"cwd": "/w", "cli_version": draw(st.sampled_from(VERSIONS)), "source": "cli", **header}
        rows = [{"type": "session_meta", "payload": meta}, *made.rows]
        made.rows = begin(rows) if begin is not None else [_line(row, at, generation) for at, row in enumerate(rows)]
    if unknown:
        for at in draw(st.lists(st.integers(0, len(made.rows) - 1), max_size=2, unique=True)):
            made.rows[at] = {**made.rows[at], "brandNew": draw(odd_json)}
    made.lines = [encoded(row) + b"\n" for row in made.rows]
    if generation == "document":
        made.lines = [made.lines[0].rstrip(b"\n")]
    elif damage:
        for _ in range(draw(st.integers(0, 2))):
            made.lines.insert(draw(st.integers(0, len(made.lines))), draw(st.sampled_from(DAMAGE)) + b"\n")
    return made


def _fork(draw: Draw, writer: Writer, header: Row, most: int) -> Callable[[list[Row]], list[Row]]:
    """Begin a thread that goes on from another one; what gives its rows their times and numbers."""
    parent, made = writer.number + 100, writer.made
    header["forked_from_id"] = f"th{parent}"
    made.links = [("fork", f"th{parent}", None)]
    agent = writer.generation == "paginated" and draw(st.booleans())
    if writer.generation == "paginated" and not agent:
        end = draw(st.integers(0, 9))
        header["history_base"] = {"thread_id": f"th{parent}-0", "end_ordinal_exclusive": end, "end_byte_offset": 9}
        made.links.append(("base", f"th{parent}-0", end))
        made.body = "partial"
        return lambda rows: [_line(row, end + at, "paginated") for at, row in enumerate(rows)]
    evidence = "ordinals" if agent else draw(st.sampled_from(("pause", "ids", "seconds")))
    own = writer.number
    writer.number = parent
    _copied(draw, writer, header, evidence, most)
    copied = len(made.rows) + 1
    writer.number, writer.turn_id, writer.begun, writer.answered, made.output = own, "", None, False, 0
    if evidence == "ids":
        header["id"] = timed(NOW, own)
        writer.born = NOW
    if evidence == "seconds":
        writer.told = {"started_at": NOW // 1000 + 1}
    if agent:
        header |= {"source": {"subagent": {"thread_spawn": {"depth": 1}}}, "subagent_history_start_ordinal": copied}
        writer.asker = "model"
    if evidence != "pause":
        writer.begin()  # and an ordinal behind the last line is one that a migration put there: it hides nothing
    pause = 40 if evidence == "pause" else 0

    def stamped(rows: list[Row]) -> list[Row]:
        times = [0, *(1 + at // 3 for at in range(copied - 1))]
        times += [
            times[-1] + 1 + pause + (at * 700 if evidence in ("pause", "ordinals") else at // 3)
            for at in range(len(rows) - copied)
        ]
        return [_line(row, at, writer.generation, time) for at, (row, time) in enumerate(zip(rows, times, strict=True))]

    return stamped


def _copied(draw: Draw, writer: Writer, header: Row, evidence: str, most: int) -> None:
    """The header and the lines of the thread that was copied."""
    made = writer.made
    writer.born = NOW - 1_000_000 if evidence == "ids" else None
    writer.told = {"started_at": NOW // 1000 - 100} if evidence == "seconds" else {}
    made.rows.append(
        {"type": "session_meta", "payload": {"id": header["forked_from_id"], "timestamp": "2025-12-31T00:00:00.000Z"}}
    )
    for _ in range(draw(st.integers(0, most))):
        getattr(writer, draw(st.sampled_from(STRUCTURE)))()
    writer.flush()
    made.copied = len(made.said)


def _line(row: Row, at: int, generation: str, time: int | None = None) -> Row:
    time = at * 1_000 if time is None else time
    stamp = {"timestamp": f"2026-01-01T00:{time // 60_000 % 60:02d}:{time // 1_000 % 60:02d}.{time % 1_000:03d}Z"}
    return stamp | ({"ordinal": at} if generation == "paginated" else {}) | row
