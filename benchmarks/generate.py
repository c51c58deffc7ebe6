"""Synthetic sessions to measure with: any size, any mean line length, the same bytes for the same arguments.

``write_session(path, size_bytes, mean_line, seed)`` writes one Claude Code session as CLI 2.1.205 does: the rows, their keys in
their order, the mix of rows and the spread of their lengths are those of genuine files, the text is made up. The file is
healthy: parents are there, every tool call has its result, and the last turn is finished, so that a file is a little larger
than asked for. Tool results carry what a longer line is longer by; signatures, answers and tool inputs grow by the square root.
Below about 1,000 bytes a line there is nothing left to shorten. Rows are written as they are made.

``python -m benchmarks.generate PATH --megabytes 100 --line 2700``
"""

import argparse
import random
import string
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import orjson

Row: TypeAlias = dict[str, Any]

BASE62: Final = string.digits + string.ascii_letters
BASE64: Final = BASE62 + "+/"
HOME: Final = "/home/dev/project"
START: Final = 1_783_762_053_000
SPREAD: Final = 0.9
"""The sigma of the log-normal lengths."""
USUAL: Final = 3600
"""What a tool result is stretched to, in genuine files of 2.3 kB a line; other text keeps its usual length there."""
HORIZON: Final = 80
"""Over so many lines a deviation from the mean is made good."""
PUNCTUATION: Final = (" ",) * 60 + (", ",) * 6 + (". ",) * 5 + (".\n\n", ":\n- ", " `", "` ", ' "', '" ')
RARE: Final = ("é", " — ", " — ", " — ", "’", "…", "→", "•")


class Words:
    """Pools of made-up text, cut at random places: ``code`` is ASCII, ``prose`` and ``output`` hold a little of the rest."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
        self.names = ["".join(rng.choices(syllables, k=rng.choice((1, 2, 2, 3, 3, 4)))) for _ in range(3000)]
        makers: dict[str, tuple[Callable[[], str], int]] = {
            "prose": (self._phrase, 40_000),
            "code": (self._statement, 8000),
            "output": (self._report, 8000),
            "base64": (lambda: rng.choice(BASE64), 200_000),
        }
        self._pools = {kind: "".join(make() for _ in range(count)) for kind, (make, count) in makers.items()}

    def _phrase(self) -> str:
        if self._rng.random() < 0.015:
            return self._rng.choice(RARE) if self._rng.random() < 0.99 else "🚀"
        return self._rng.choice(self.names) + self._rng.choice(PUNCTUATION)

    def _statement(self) -> str:
        a, b, c, d = self._rng.choices(self.names, k=4)
        lines = [f"{a}, err := {b}.{c}({d}, {a})", f'{a}.{b}("{c} {d}", {b}.{d})', f"// {a} {b} the {c} of {d} {b} {a}", "}"]
        lines += [f"{a} = append({a}, {b}[{c}])", f'return fmt.Errorf("{a}: %w\\n", {b})', f"func ({a} *{b}) {c}() {d} {{"]
        return self._rng.choice(("", "\t", "    ", "    ", "        ", "        ")) + self._rng.choice(lines) + "\n"

    def _report(self) -> str:
        a, b, c = self._rng.choices(self.names, k=3)
        if self._rng.random() < 0.03:
            return f"\x1b[32m✓\x1b[39m {a} {b}\n"
        return f"src/{a}/{b}.go:{self._rng.randrange(900)}: {c} {a} ({self._rng.randrange(5000)} ms)\n"

    def cut(self, kind: str, length: float) -> str:
        """So many characters of a pool, which is repeated if need be."""
        pool, size = self._pools[kind], max(1, int(length))
        start = self._rng.randrange(len(pool))
        text = pool[start : start + size]
        return text if len(text) == size else (text + pool * (size // len(pool) + 1))[:size]

    def shown(self, length: float) -> str:
        """What a command prints: mostly something like a program."""
        return self.cut("output" if self._rng.random() < 0.45 else "code", length)


class Paced:
    """A session while it is written, whose lines come out as long as asked for: the source's own class says what is in it."""

    def __init__(self, file: BinaryIO, mean_line: float, seed: int) -> None:
        self._file, self._mean, self._rng = file, mean_line, random.Random(f"session {seed}")
        self._words, self._id = Words(self._rng), self._uuid()
        self.lines = self.bytes = 0
        self._asked = self._weights = 0.0
        self._time = START
        self._paths = [f"{HOME}/src/{self._words.names[i]}/{self._words.names[i + 1]}.go" for i in range(40)]

    def _uuid(self) -> str:
        text = self._rng.randbytes(16).hex()
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def _token(self, prefix: str) -> str:
        return prefix + "".join(self._rng.choices(BASE62, k=22))

    def _now(self, pause: float = 0) -> str:
        self._time += 1 + int(self._rng.expovariate(1) * pause)
        return datetime.fromtimestamp(self._time / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"

    def _stretch(self) -> float:
        """What a tool result is to be long, in the mean, so that lines come out as asked."""
        seen = self.lines + 20
        rest = (self.bytes - self._asked + 20 * 1000) / seen
        share = (self._weights + 20 * 0.35) / seen
        owed = (self._mean * self.lines - self.bytes) / HORIZON
        return max(20.0, (self._mean - rest + owed) / share)

    def _long(self, weight: float = 1.0) -> float:
        """The length of a tool result."""
        size = weight * self._stretch() * self._rng.lognormvariate(-SPREAD * SPREAD / 2, SPREAD)
        self._asked += size
        self._weights += weight
        return size

    def _some(self, mean: float) -> float:
        """The length of other text."""
        ratio = self._stretch() / USUAL
        return mean * (ratio if ratio < 1 else ratio**0.5) * self._rng.lognormvariate(-SPREAD * SPREAD / 2, SPREAD)

    def _write(self, row: Row) -> None:
        data = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        self._file.write(data)
        self.lines += 1
        self.bytes += len(data)


class _Session(Paced):
    """A session of Claude Code."""

    def __init__(self, file: BinaryIO, mean_line: float, seed: int) -> None:
        super().__init__(file, mean_line, seed)
        self._prompt = self._last = ""
        self._tail = {"userType": "external", "entrypoint": "cli", "cwd": HOME, "sessionId": self._id}
        self._tail |= {"version": "2.1.205", "gitBranch": "main"}

    def _chain(self, row: Row, parent: str = "") -> str:
        self._write({"parentUuid": parent or self._last or None, "isSidechain": False, **row, **self._tail})
        self._last = row["uuid"]
        return self._last

    def _stamp(self, pause: float = 0) -> Row:
        return {"uuid": self._uuid(), "timestamp": self._now(pause)}

    def turn(self) -> None:
        """A prompt and everything up to the end of its turn."""
        start, lines = self._time, self.lines
        text, uuid, self._prompt = self._words.cut("prose", self._some(300)), self._uuid(), self._uuid()
        if self._rng.random() < 0.4:
            queue = {"type": "queue-operation", "operation": "enqueue", "timestamp": self._now(60_000), "sessionId": self._id}
            self._write({**queue, "content": text})
            self._write({**queue, "operation": "dequeue", "timestamp": self._now(20)})
        self._snapshot(uuid)
        stamp = {"uuid": uuid, "timestamp": self._now(60_000)}
        prompt = {"promptId": self._prompt, "type": "user", "message": {"role": "user", "content": text}, **stamp}
        self._chain({**prompt, "permissionMode": "default", "origin": {"kind": "human"}, "promptSource": "typed"})
        for _ in range(min(40, 2 + int(self._rng.expovariate(1 / 10)))):
            self._response()
        leaf = self._answer()
        duration = {"durationMs": self._time - start, "messageCount": self.lines - lines, "timestamp": self._now()}
        self._chain({"type": "system", "subtype": "turn_duration", **duration, "uuid": self._uuid(), "isMeta": False})
        self._write({"type": "last-prompt", "lastPrompt": text[:200], "leafUuid": leaf, "sessionId": self._id})

    def _snapshot(self, message: str) -> None:
        now = self._now()
        backups = {
            path.removeprefix(f"{HOME}/"): {"backupFileName": self._token("")[:16] + "@v1", "version": 1, "backupTime": now}
            for path in self._rng.sample(self._paths, self._rng.randrange(5))
        }
        snapshot = {"messageId": message, "trackedFileBackups": backups, "timestamp": now}
        self._write({"type": "file-history-snapshot", "messageId": message, "snapshot": snapshot, "isSnapshotUpdate": False})

    def _request(self, stop: str) -> Row:
        """What the rows of a response have in common: the message without content, and the request."""
        number = self._rng.randrange
        given, cached, read, written = number(2, 400), number(100, 9000), number(20_000, 150_000), number(60, 3000)
        hour, short = {"ephemeral_1h_input_tokens": cached}, {"ephemeral_5m_input_tokens": 0}
        usage: Row = {"input_tokens": given, "cache_creation_input_tokens": cached, "cache_read_input_tokens": read}
        usage |= {"output_tokens": written, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}}
        usage |= {"service_tier": "standard", "cache_creation": hour | short, "inference_geo": "not_available"}
        attempt: Row = {"input_tokens": given, "output_tokens": written, "cache_read_input_tokens": read}
        attempt |= {"cache_creation_input_tokens": cached, "cache_creation": short | hour, "type": "message"}
        usage |= {"iterations": [attempt], "speed": "standard"}
        head = {"model": "claude-opus-5", "id": self._token("msg_01"), "type": "message", "role": "assistant", "content": []}
        end = {"stop_reason": stop, "stop_sequence": None, "stop_details": None, "usage": usage, "diagnostics": None}
        return {"message": head | end, "requestId": self._token("req_01"), "type": "assistant"}

    def _assistant(self, request: Row, block: Row) -> str:
        return self._chain({**request, "message": {**request["message"], "content": [block]}, **self._stamp(1500)})

    def _think(self, request: Row) -> None:
        self._assistant(request, {"type": "thinking", "thinking": "", "signature": self._words.cut("base64", self._some(1000))})

    def _answer(self) -> str:
        request = self._request("end_turn")
        if self._rng.random() < 0.5:
            self._think(request)
        return self._assistant(request, {"type": "text", "text": self._words.cut("prose", self._some(1200))})

    def _response(self) -> None:
        """One request that ends in tool calls, and their results: after all the calls, or each after its own."""
        rng, request = self._rng, self._request("tool_use")
        if rng.random() < 0.45:
            self._think(request)
        if rng.random() < 0.3:
            self._assistant(request, {"type": "text", "text": self._words.cut("prose", self._some(400))})
        waiting: list[tuple[str, Row]] = []
        for _ in range(rng.choice((1, 1, 1, 1, 1, 1, 2, 2, 3))):
            block = {"type": "tool_use", "id": self._token("toolu_01"), **self._call(), "caller": {"type": "direct"}}
            waiting.append((self._assistant(request, block), block))
            if rng.random() < 0.3:
                self._result(*waiting.pop())
        for uuid, block in waiting:
            self._result(uuid, block)
        if rng.random() < 0.2:
            self._attachment()

    def _call(self) -> Row:
        words, path = self._words, self._rng.choice(self._paths)
        name = self._rng.choice(("Bash",) * 9 + ("Edit",) * 4 + ("Read",) * 4 + ("Grep",) * 3)
        if name == "Bash":
            given: Row = {"command": words.shown(self._some(300)), "description": words.cut("prose", 35)}
        elif name == "Edit":
            old, new = words.cut("code", self._some(400)), words.cut("code", self._some(500))
            given = {"replace_all": False, "file_path": path, "old_string": old, "new_string": new}
        elif name == "Read":
            given = {"file_path": path} | self._rng.choice(({}, {}, {"offset": 100, "limit": 120}))
        else:
            given = {"pattern": words.cut("code", 15), "path": path.rpartition("/")[0], "output_mode": "content", "-n": True}
        return {"name": name, "input": given}

    def _result(self, uuid: str, block: Row) -> None:
        named, name = {"tool_use_id": block["id"]}, block["name"]
        if name == "Bash" and self._rng.random() < 0.06:
            text = f"Exit code 1\n{self._words.shown(self._some(200))}"
            content, twin = {"type": "tool_result", "content": text, "is_error": True, **named}, f"Error: {text}"
        else:
            text, twin = getattr(self, f"_{name.lower()}")(block["input"])
            content = {**named, "type": "tool_result", "content": text} | ({"is_error": False} if name == "Bash" else {})
        row = {"promptId": self._prompt, "type": "user", "message": {"role": "user", "content": [content]}, **self._stamp(3000)}
        self._chain({**row, "toolUseResult": twin, "sourceToolAssistantUUID": uuid}, parent=uuid)

    def _bash(self, given: Row) -> tuple[str, Row]:
        text = self._words.shown(self._long() / 2)
        return text, {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}

    def _read(self, given: Row) -> tuple[str, Row]:
        text, first = self._words.cut("code", self._long(1.5) / 2), given.get("offset", 1)
        lines = text.split("\n")
        file = {"filePath": given["file_path"], "content": text, "numLines": len(lines), "startLine": first}
        shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, first))
        return shown, {"type": "text", "file": {**file, "totalLines": len(lines) + first - 1}}

    def _grep(self, given: Row) -> tuple[str, Row]:
        lines = self._words.shown(self._long(0.7) / 2).split("\n")
        text = "\n".join(f"{given['path']}/a.go:{number}:{line}" for number, line in enumerate(lines, 1))
        return text, {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": len(lines)}

    def _edit(self, given: Row) -> tuple[str, Row]:
        whole = self._words.cut("code", self._long()) if self._rng.random() < 0.6 else None
        old, new = given["old_string"].split("\n"), given["new_string"].split("\n")
        around = [f" {line}" for line in self._words.cut("code", 200).split("\n")][:6]
        lines = around[:3] + [f"-{line}" for line in old] + [f"+{line}" for line in new] + around[3:]
        hunk = {"oldStart": 62, "oldLines": len(old) + len(around), "newStart": 62, "newLines": len(new) + len(around)}
        twin = {"filePath": given["file_path"], "oldString": given["old_string"], "newString": given["new_string"]}
        twin |= {"originalFile": whole, "structuredPatch": [{**hunk, "lines": lines}]}
        twin |= {"userModified": False, "replaceAll": False}
        note = "(file state is current in your context — no need to Read it back)"
        return f"The file {given['file_path']} has been updated successfully. {note}", twin

    def _attachment(self) -> None:
        kind = self._rng.choice(("total_tokens_reminder",) * 5 + ("task_reminder",) * 4 + ("edited_text_file",))
        if kind == "total_tokens_reminder":
            more: Row = {"text": f"<total_tokens>{self._rng.randrange(10**6)} tokens left</total_tokens>"}
        elif kind == "task_reminder":
            more = {"content": [], "itemCount": 0}
        else:
            more = {"filename": self._rng.choice(self._paths), "snippet": self._words.cut("code", self._long())}
        self._chain({"attachment": {"type": kind, **more}, "type": "attachment", **self._stamp()})


def write_lines(file: BinaryIO, size_bytes: int, mean_line: float, seed: int = 0) -> int:
    """Write a session of at least ``size_bytes``, its lines ``mean_line`` bytes long in the mean; the number of lines."""
    session = _Session(file, mean_line, seed)
    while session.bytes < size_bytes:
        session.turn()
    return session.lines


def write_session(path: str | Path, size_bytes: int, mean_line: float, seed: int = 0) -> int:
    """The same, as a file."""
    with Path(path).open("wb", buffering=1 << 20) as file:
        return write_lines(file, size_bytes, mean_line, seed)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description="Write a synthetic session.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--megabytes", type=float, default=100, help="at least so large (default: %(default)s)")
    parser.add_argument("--line", type=float, default=2700, help="mean length of a line in bytes (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lines = write_session(given.path, int(given.megabytes * 1_000_000), given.line, given.seed)
    size = given.path.stat().st_size
    print(f"{given.path}: {size} bytes, {lines} lines, {size / lines:.0f} bytes a line")


if __name__ == "__main__":
    main()
