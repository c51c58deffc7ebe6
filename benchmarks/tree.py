"""A made-up home directory to measure with: thousands of sessions of several products, the same bytes for the same arguments.

``write_tree(home, size_bytes, seed)`` writes, by bytes: about 60 of 100 Claude Code, in projects, every third session with the
file of a sub-agent and what is told of it; 25 Codex, in folders of days; 5 Copilot CLI; 10 in one database of Cursor's editor.
Sizes of sessions spread log-normally about a mean of 500 kB: most are small, half of the bytes are in a tenth of the files. A
session is a cut of one of a few long ones at a line end, with an id of its own, so that it is written as fast as the disk takes
it; a cut falls between a call and its result as often as it does when a session is killed.

``python -m benchmarks.tree FOLDER --megabytes 300``
"""

import argparse
import io
import random
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks import database
from benchmarks.generate import Words, write_lines

MEAN: Final = 500_000
"""Bytes of a session, in the mean."""
SIGMA: Final = 1.5
LONGEST: Final = 12_000_000
LONG_ONES: Final = 4
LINE: Final = 2500
BY_SOURCE: Final = {"claude-code": 0.6, "codex": 0.25, "copilot-cli": 0.05}
"""Shares of the bytes; the rest is the database's."""
ID: Final = "01234567-89ab-4cde-8f01-23456789abcd"
"""Stands in a long session where each short one has its own id."""
PROJECT_SESSIONS: Final = 40
DAY_SESSIONS: Final = 25


class Tree:
    """A home directory while it is written."""

    def __init__(self, home: Path, size_bytes: int, seed: int) -> None:
        self.home = home
        self.size = size_bytes
        self.sessions = self.files = self.bytes = 0
        self._rng = random.Random(f"tree {seed}")

    def write(self) -> None:
        """Everything."""
        writers = {"claude-code": self._claude_code, "codex": self._codex, "copilot-cli": self._copilot_cli}
        makers = {"claude-code": claude_code_lines, "codex": codex_lines, "copilot-cli": copilot_cli_lines}
        longest = max(200_000, min(LONGEST, self.size // 20))
        for source, share in BY_SOURCE.items():
            long_ones = [makers[source](longest, number) for number in range(LONG_ONES)]
            until, number = self.bytes + int(self.size * share), 0
            while self.bytes < until:
                writers[source](number, self._cut(long_ones, min(longest, until - self.bytes)))
                number += 1
        self._cursor(max(1_000_000, self.size - self.bytes))

    def _cut(self, long_ones: list[bytes], most: int) -> tuple[str, bytes]:
        """A session: its id, and its bytes up to a line end."""
        size = min(most, int(MEAN * self._rng.lognormvariate(-SIGMA * SIGMA / 2, SIGMA)))
        whole = self._rng.choice(long_ones)
        id = str(uuid.UUID(bytes=self._rng.randbytes(16), version=4))
        return id, whole[: whole.find(b"\n", size) + 1].replace(ID.encode(), id.encode())

    def _put(self, name: str, data: bytes) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.files += 1
        self.bytes += len(data)

    def _claude_code(self, number: int, session: tuple[str, bytes]) -> None:
        id, data = session
        folder = f".claude/projects/-home-dev-p{number // PROJECT_SESSIONS}"
        self.sessions += 1
        if number % 3:
            self._put(f"{folder}/{id}.jsonl", data)
            return
        cut = data.find(b"\n", len(data) * 2 // 3) + 1
        self._put(f"{folder}/{id}.jsonl", data[:cut])
        agent = f"{folder}/{id}/subagents/agent-{id[:8]}"
        task = data[cut:].replace(b'"isSidechain":false', f'"isSidechain":true,"agentId":"{id[:8]}"'.encode())
        self._put(f"{agent}.jsonl", task or data)
        self._put(f"{agent}.meta.json", b'{"agentType":"general-purpose","description":"Look at it"}')

    def _codex(self, number: int, session: tuple[str, bytes]) -> None:
        id, data = session
        day = number // DAY_SESSIONS
        date = f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}"
        time = f"{number % DAY_SESSIONS:02}-{number % 60:02}-00"
        self.sessions += 1
        self._put(f".codex/sessions/{date.replace('-', '/')}/rollout-{date}T{time}-{id}.jsonl", data)

    def _copilot_cli(self, number: int, session: tuple[str, bytes]) -> None:
        id, data = session
        self.sessions += 1
        self._put(f".copilot/session-state/{id}/events.jsonl", data)
        self._put(f".copilot/session-state/{id}/workspace.yaml", f"id: {id}\ncwd: /home/dev\n".encode())

    def _cursor(self, size: int) -> None:
        path = self.home / ".config/Cursor/User/globalStorage/state.vscdb"
        path.parent.mkdir(parents=True)
        rows = max(2 * (database.BUBBLES + 1), size // 1500)
        database.build(path, max(1, size // 1_000_000), rows, "wal")
        self.sessions += rows // (database.BUBBLES + 1)
        self.files += 1
        self.bytes += path.stat().st_size


# ---- long sessions ---------------------------------------------------------------------------------------------------------


def claude_code_lines(size: int, seed: int) -> bytes:
    """A session of Claude Code."""
    file = io.BytesIO()
    write_lines(file, size, LINE, seed)
    own = next(row["sessionId"] for row in map(orjson.loads, file.getvalue().splitlines()) if "sessionId" in row)
    return file.getvalue().replace(own.encode(), ID.encode())


def codex_lines(size: int, seed: int) -> bytes:
    """A rollout of Codex: prompts, calls with their output, answers, counts of tokens."""
    rng = random.Random(f"codex {seed}")
    meta = {"id": ID, "cwd": "/home/dev", "originator": "codex_cli_rs", "cli_version": "0.125.0", "source": "cli"}
    return _lines(size, partial(_codex_row, "session_meta", {**meta, "timestamp": _time(0)}), _codex_turn, rng)


def _codex_row(kind: str, payload: dict[str, Any], number: int) -> dict[str, Any]:
    return {"timestamp": _time(number), "type": kind, "payload": payload}


def _codex_turn(words: Words, rng: random.Random, turn: int) -> Iterator[Any]:
    item, event = partial(_codex_row, "response_item"), partial(_codex_row, "event_msg")
    prompt, answer = words.cut("prose", 300), words.cut("prose", 900)
    yield partial(event, {"type": "task_started", "turn_id": f"t{turn}", "model_context_window": 272_000})
    yield partial(item, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]})
    yield partial(event, {"type": "user_message", "message": prompt, "images": []})
    for call in range(1 + int(rng.expovariate(0.15))):
        id, command = f"call_{turn}_{call}", words.cut("code", rng.lognormvariate(5, 1))
        secret = words.cut("base64", 1200)
        yield partial(item, {"type": "reasoning", "summary": [], "content": None, "encrypted_content": secret})
        given = orjson.dumps({"command": ["bash", "-lc", command], "workdir": "/home/dev"}).decode()
        yield partial(item, {"type": "function_call", "name": "shell", "arguments": given, "call_id": id})
        shown = orjson.dumps({"output": words.shown(rng.lognormvariate(7.5, 1.2)), "metadata": {"exit_code": 0}}).decode()
        yield partial(item, {"type": "function_call_output", "call_id": id, "output": shown})
        used = {"input_tokens": 9000 + call, "cached_input_tokens": 8000, "output_tokens": 300, "reasoning_output_tokens": 64}
        used["total_tokens"] = used["input_tokens"] + used["output_tokens"]
        info = {"total_token_usage": used, "last_token_usage": used, "model_context_window": 272_000}
        yield partial(event, {"type": "token_count", "info": info, "rate_limits": None})
    yield partial(event, {"type": "agent_message", "message": answer})
    yield partial(item, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]})
    yield partial(event, {"type": "task_complete", "turn_id": f"t{turn}", "last_agent_message": answer})


def copilot_cli_lines(size: int, seed: int) -> bytes:
    """The events of a session of Copilot CLI."""
    rng = random.Random(f"copilot-cli {seed}")
    start = {"sessionId": ID, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102", "startTime": _time(0)}
    return _lines(size, partial(_event, "session.start", start), _copilot_cli_turn, rng)


def _event(kind: str, data: dict[str, Any], number: int) -> dict[str, Any]:
    id, parent = f"e{number}", f"e{number - 1}" if number else None
    return {"type": kind, "data": data, "id": id, "timestamp": _time(number), "parentId": parent}


def _copilot_cli_turn(words: Words, rng: random.Random, turn: int) -> Iterator[Any]:
    prompt = words.cut("prose", 300)
    interaction = f"i{turn}"
    user = {"content": prompt, "transformedContent": prompt, "interactionId": interaction, "agentMode": "interactive"}
    yield partial(_event, "user.message", user)
    for call in range(1 + int(rng.expovariate(0.2))):
        id = f"call_{turn}_{call}"
        asked = [{"toolCallId": id, "name": "bash", "arguments": {"command": words.cut("code", 200)}, "type": "function"}]
        said = {"messageId": f"m{turn}_{call}", "content": words.cut("prose", 100), "interactionId": interaction}
        yield partial(_event, "assistant.message", {**said, "toolRequests": asked, "model": "gpt-5", "outputTokens": 70})
        yield partial(
            _event, "tool.execution_start", {"toolCallId": id, "toolName": "bash", "arguments": asked[0]["arguments"]}
        )
        result = {"content": words.shown(rng.lognormvariate(7, 1))}
        yield partial(_event, "tool.execution_complete", {"toolCallId": id, "success": True, "result": result})
    said = {"messageId": f"m{turn}", "content": words.cut("prose", 800), "interactionId": interaction, "toolRequests": []}
    yield partial(_event, "assistant.message", {**said, "model": "gpt-5", "outputTokens": 300})


def _lines(size: int, first: Any, turn: Any, rng: random.Random) -> bytes:
    words = Words(rng)
    parts = [orjson.dumps(first(0), option=orjson.OPT_APPEND_NEWLINE)]
    written, number, turns = len(parts[0]), 1, 0
    while written < size:
        for make in turn(words, rng, turns):
            parts.append(orjson.dumps(make(number), option=orjson.OPT_APPEND_NEWLINE))
            written += len(parts[-1])
            number += 1
        turns += 1
    return b"".join(parts)


def _time(number: int) -> str:
    minutes, seconds = divmod(number, 60)
    hours, minutes = divmod(minutes, 60)
    return f"2026-03-{1 + hours // 24 % 28:02}T{hours % 24:02}:{minutes:02}:{seconds:02}.000Z"


def write_tree(home: str | Path, size_bytes: int, seed: int = 0) -> Tree:
    """Write a home directory of about ``size_bytes``; what was written."""
    tree = Tree(Path(home), size_bytes, seed)
    tree.write()
    return tree


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tree", description="Write a made-up home directory.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=float, default=300, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tree = write_tree(given.folder, int(given.megabytes * 1_000_000), given.seed)
    print(f"{tree.bytes / 1e6:.0f} MB, {tree.files} files, {tree.sessions} conversations")


if __name__ == "__main__":
    main()
