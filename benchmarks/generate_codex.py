"""Synthetic rollouts of Codex to measure with, in the manner of ``benchmarks.generate``: the same bytes for the same arguments.

``write_rollout(path, size_bytes, mean_line, seed)`` writes one rollout as CLI 0.171 does, in paginated history: the rows, their
keys in their order and the mix of rows are those of genuine files, the text is made up. Whatever is said, thought or done
stands twice, as an item of the API and as a completed item; every response has a record of usage and a count. The output of a
command stands twice, too, and carries what a longer line is longer by. Below about 700 bytes a line there is nothing left to
shorten; genuine rollouts have 600 to 2,000.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson

from benchmarks.generate import HOME, Paced, Row

PASSED: Final = "internal_chat_message_metadata_passthrough"
COUNTS: Final = (
    "input_tokens cached_input_tokens cache_write_input_tokens output_tokens reasoning_output_tokens total_tokens".split()
)
LIMITS: Final = (
    "limit_id limit_name primary secondary credits individual_limit spend_control_reached plan_type"
    " rate_limit_reached_type".split()
)


class _Rollout(Paced):
    """A rollout of Codex."""

    def __init__(self, file: BinaryIO, mean_line: float, seed: int) -> None:
        super().__init__(file, mean_line, seed)
        self._turn = ""
        self._spent = dict.fromkeys(COUNTS, 0)
        self._history = self._calls = 0
        prompt = {"text": self._words.cut("prose", 18_000), "provenance": {"type": "model_catalog", "model": "gpt-5"}}
        meta: Row = {"account_scoped": True, "session_id": self._id, "id": self._id, "timestamp": self._now(), "cwd": HOME}
        meta |= {"runtime_workspace_roots": [HOME], "originator": "codex-tui", "cli_version": "0.171.0", "source": "cli"}
        self._row("session_meta", meta | {"model_provider": "openai", "base_instructions": prompt, "history_mode": "paginated"})

    def _row(self, kind: str, payload: Row, metadata: Row | None = None) -> None:
        row: Row = {"timestamp": self._now(20), "ordinal": self.lines, "type": kind, "payload": payload}
        self._write(row if metadata is None else row | {"metadata": metadata})

    def _item(self, kind: str, payload: Row, passed: Row | None = None, metadata: Row | None = None) -> None:
        """An item of the Responses API."""
        self._history += 1
        about: Row = {
            "history_sequence": self._history,
            "sampled_through_sequence": self._history - 1,
            "client_authored": False,
        }
        payload = {"type": kind, **payload, PASSED: {"turn_id": self._turn} | (passed or {})}
        self._row("response_item", payload, about | (metadata or {}) | {"model_search_state": "not_searched"})

    def _completed(self, item: Row, pause: int = 0) -> None:
        payload = {"type": "item_completed", "thread_id": self._id, "turn_id": self._turn, "item": item}
        begun = self._time
        self._time += pause
        self._row("event_msg", payload | {"started_at_ms": begun, "completed_at_ms": self._time})

    def _retained(self, id: str, role: str) -> Row:
        source = {"id": {"message_id": id, "turn_id": self._turn, "role": role}, "revision": f"revision_{self._uuid()}"}
        return {"retained_source": source | {"complete": True}, "user_input_order": self._history}

    def turn(self) -> None:
        """A prompt and everything up to the end of its turn."""
        self._turn, start = self._uuid(), self._time
        started: Row = {"turn_id": self._turn, "turn_trigger": None, "parent_turn_id": None, "initiating_agent_path": None}
        about = {"type": "task_started", "turn_attribution": started | {"root_turn_id": self._turn}, "turn_id": self._turn}
        about |= {"root_turn_id": self._turn, "started_at": start // 1000, "model_context_window": 258_400}
        self._row("event_msg", about | {"collaboration_mode_kind": "default"})
        self._row("turn_context", self._context())
        self._prompt(self._words.cut("prose", self._some(300)))
        for _ in range(min(40, 2 + int(self._rng.expovariate(1 / 8)))):
            self._response()
        answer = self._words.cut("prose", self._some(1200))
        if self._rng.random() < 0.7:
            self._think()
        self._say(answer, "final_answer")
        self._usage()
        self._count()
        ended: Row = {"type": "task_complete", "root_turn_id": self._turn, "turn_id": self._turn, "last_agent_message": answer}
        ended |= {"started_at": start // 1000, "completed_at": self._time // 1000, "duration_ms": self._time - start}
        self._row("event_msg", ended | {"time_to_first_token_ms": 132})

    def _context(self) -> Row:
        settings = {"model": "gpt-5", "reasoning_effort": None, "developer_instructions": None}
        row: Row = {"turn_id": self._turn, "root_turn_id": self._turn, "disabled_plugin_ids": [], "cwd": HOME}
        row |= {"approval_policy": "never", "approvals_reviewer": "user", "permission_profile": {"type": "disabled"}}
        row |= {"model": "gpt-5", "collaboration_mode": {"mode": "default", "settings": settings}, "multi_agent_version": "v1"}
        return row | {"realtime_active": False, "summary": "none", "sandbox_policy": {"type": "danger-full-access"}}

    def _prompt(self, text: str) -> None:
        id = f"msg_{self._uuid()}"
        kinds = {"content_item_kinds": ["user.text"], "content_item_metadata": [{"provenance": {"type": "user"}}]}
        said = {"id": id, "role": "user", "content": [{"type": "input_text", "text": text}]}
        passed, about = {"create_time": self._time / 1000, **kinds}, self._retained(id, "user")
        self._item("message", said, passed, about | {"mcp_attribution": {"status": "none"}})
        told = [{"type": "text", "text": text, "text_elements": []}]
        self._completed({"type": "UserMessage", "id": self._uuid(), "content": told})

    def _think(self) -> None:
        id = self._token("rs_")
        parts = [f"**{self._words.cut('prose', 20)}**\n\n{self._words.cut('prose', self._some(150))}"]
        self._completed({"type": "Reasoning", "id": id, "summary_text": parts, "raw_content": []}, 900)
        secret = self._words.cut("base64", self._some(900))
        summary = [{"type": "summary_text", "text": part} for part in parts]
        self._item("reasoning", {"id": id, "summary": summary, "content": None, "encrypted_content": secret})

    def _say(self, text: str, phase: str) -> None:
        id = self._token("msg_")
        self._completed({"type": "AgentMessage", "id": id, "content": [{"type": "Text", "text": text}], "phase": phase}, 400)
        content = [{"type": "output_text", "text": text, "annotations": []}]
        said = {"id": id, "role": "assistant", "content": content, "phase": phase}
        self._item("message", said, {"content_item_kinds": ["unknown"]}, self._retained(id, "assistant"))

    def _response(self) -> None:
        """One request that ends in calls, and their outputs: after all the calls."""
        rng = self._rng
        if rng.random() < 0.5:
            self._think()
        if rng.random() < 0.25:
            self._say(self._words.cut("prose", self._some(300)), "commentary")
        calls = [self._call() for _ in range(rng.choice((1, 1, 1, 1, 1, 1, 2, 2, 3)))]
        self._usage()
        for end in calls:
            next(end, None)
        self._count()

    def _call(self) -> Iterator[None]:
        """A call is written at once; what comes of it, when the iterator is gone through."""
        self._calls += 1
        id, patched = f"call_{self._calls:022}", self._rng.random() < 0.15
        script = self._words.cut("code", self._some(400)) if patched else self._words.shown(self._some(150))
        command = f"apply_patch <<'EOF'\n{script}\nEOF" if patched else script
        given = orjson.dumps({"cmd": command, "yield_time_ms": 1000}).decode()
        said = {"id": self._token("fc_"), "name": "exec_command", "arguments": given, "call_id": id}
        self._item("function_call", said, None, {"user_input_order": self._history})
        return self._patched(id, script) if patched else self._ran(id, command)

    def _ran(self, id: str, command: str) -> Iterator[None]:
        text, code = self._words.shown(self._long() / 2), int(self._rng.random() < 0.06)
        ended: Row = {"type": "CommandExecution", "id": id, "process_id": str(self._rng.randrange(10**5))}
        ended |= {"command": ["/bin/bash", "-lc", command], "cwd": f"file://{HOME}"}
        ended |= {"parsed_cmd": [{"type": "unknown", "cmd": command}], "source": "unified_exec_startup"}
        ended |= {"status": "failed" if code else "completed", "aggregated_output": text, "exit_code": code}
        self._completed(ended | {"duration": {"secs": 0, "nanos": self._rng.randrange(10**9)}}, 300)
        head = f"Chunk ID: {self._rng.randrange(16**6):06x}\nWall time: 0.4822 seconds\nProcess exited with code {code}\n"
        self._output(id, f"{head}Original token count: {len(text) // 4}\nOutput:\n{text}")
        yield

    def _patched(self, id: str, diff: str) -> Iterator[None]:
        path, told = self._rng.choice(self._paths), "Success. Updated the following files:\nM a.go\n"
        change = {"type": "update", "unified_diff": diff, "move_path": None}
        ended: Row = {"type": "FileChange", "id": id, "changes": {path: change}, "status": "completed"}
        self._completed(ended | {"stdout": told, "stderr": ""}, 5)
        self._output(id, f"Wall time: 0.4822 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\n{told}")
        yield

    def _output(self, id: str, text: str) -> None:
        said = {"id": f"fco_{self._uuid()}", "call_id": id, "output": text}
        self._item("function_call_output", said, {"create_time": self._time / 1000}, {"fallback_token_limit_override": 3000})

    def _usage(self) -> None:
        """What a response took, as its own record; the count says the same once more when its calls are done."""
        number = self._rng.randrange
        given, cached, written, thought = number(9000, 90_000), number(8000), number(60, 3000), number(60)
        self._last = dict(zip(COUNTS, (given, cached, 0, written, thought, given + written), strict=True))
        self._spent = {name: self._spent[name] + self._last[name] for name in COUNTS}
        row: Row = {"thread_id": self._id, "turn_id": self._turn, "session_id": self._id, "root_turn_id": self._turn}
        row |= {"response_id": self._token("resp_"), "usage": self._last, "turn_token_usage": self._spent}
        self._row("token_usage_record", row | {"thread_token_usage": self._spent})

    def _count(self) -> None:
        info: Row = {"total_token_usage": self._spent, "last_token_usage": self._last, "last_usage_includes_reasoning": False}
        limits: dict[str, Any] = dict.fromkeys(LIMITS) | {"limit_id": "codex"}
        self._row("event_msg", {"type": "token_count", "info": info | {"model_context_window": 258_400}, "rate_limits": limits})

    def _now(self, pause: float = 0) -> str:
        self._time += int(self._rng.expovariate(1) * pause)
        return datetime.fromtimestamp(self._time / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def write_rollout(path: str | Path, size_bytes: int, mean_line: float, seed: int = 0) -> int:
    """Write a rollout of at least ``size_bytes``, its lines ``mean_line`` bytes long in the mean; the number of lines."""
    with Path(path).open("wb", buffering=1 << 20) as file:
        rollout = _Rollout(file, mean_line, seed)
        while rollout.bytes < size_bytes:
            rollout.turn()
    return rollout.lines
