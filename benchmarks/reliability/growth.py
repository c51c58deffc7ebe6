"""How the time of a parse grows with the size of what is hard to read: R6.

A shape of input is *hard* if a careless reader takes quadratic time for it. Time is CPU time of this process, the least of some
runs; what is printed is the time for twice the size, as a multiple.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from tests.test_laws import HARD

import convparse
from benchmarks.replay import make_log

RUNS: Final = 3
SIZE: Final = 400
MOST: Final = 2.5


def _bytes(make: Callable[[int], bytes], source: str) -> Callable[[int], Any]:
    def prepared(n: int) -> Any:
        data = make(n)
        return lambda: convparse.parse_bytes(data, source=source, name="f")

    return prepared


def _document(n: int) -> bytes:
    request = b'{"requestId":"q","message":{"text":"t"},"response":[{"value":"v"}]}'
    return b'{"version":3,"sessionId":"s","requests":[' + b",".join([request] * n) + b"]}"


SHAPES: Final[dict[str, tuple[Callable[[int], Any], int]]] = {
    **{name: (_bytes(make, "claude-code"), SIZE) for name, make in HARD.items()},
    "a log of operations": (_bytes(make_log, "copilot"), 4 * SIZE),
    "a document of many requests": (_bytes(_document, "copilot"), SIZE),
    "a document of objects that do not end": (
        _bytes(lambda n: b'{"session":{},"items":[' + (b'{"a":"' + b"y" * 100 + b'","b":[') * n, "codex"),
        SIZE,
    ),
    "a document of objects in one another": (
        _bytes(lambda n: b'{"items":[' + (b'{"a":' * 100 + b"1" + b"}" * 100 + b",") * n, "codex"),
        SIZE // 10,
    ),
    "blocks of a text": (_bytes(lambda n: b"user:\nhello\n\nassistant:\n[Tool call] Shell\n" * n, "cursor"), 10 * SIZE),
    "a line that does not end": (_bytes(lambda n: b'{"type":"user","x":"' + b"y" * n * 1_000, "codex"), SIZE),
    "a line of one object behind another": (_bytes(lambda n: b'{"type":"event_msg","payload":{}}' * n * 10, "codex"), SIZE),
    "NULs": (_bytes(lambda n: bytes(n * 1_000), "copilot-cli"), SIZE),
    "empty lines": (_bytes(lambda n: b"\n" * n * 100, "codex"), SIZE),
}


def growth(name: str) -> float:
    """The time for twice the size as a multiple."""
    prepare, n = SHAPES[name]
    once, twice = (min(_timed(prepare(size)) for _ in range(RUNS)) for size in (n, 2 * n))
    return twice / once


def _timed(run: Callable[[], Any]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began
