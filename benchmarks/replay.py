"""What replaying a mutation log costs, and that it is linear in the log's size.

Logs of appended parts, rewritten tails, settings and cuts, as an editor writes them while answers stream in: replayed alone,
and parsed whole. ``python -m benchmarks.replay`` prints operations, seconds and seconds for a tenth of them.
"""

import io
import json
import sys
import time

import convparse
from convparse.ledger import Ledger
from convparse.reading.mutation_log import read_log

PARTS = 40
"""Parts of an answer before the next request begins."""


def make_log(operations: int) -> bytes:
    """A log of so many operations after its snapshot."""
    lines: list[object] = [{"kind": 0, "v": {"version": 3, "sessionId": "s", "requests": [], "pendingRequests": []}}]
    request = part = 0
    for n in range(operations):
        at = n % (PARTS * 2)
        if at == 0:
            text = f"question {request}"
            lines.append(
                {"kind": 2, "k": ["requests"], "v": [{"requestId": f"r{request}", "message": {"text": text}, "response": []}]}
            )
            request, part = request + 1, 0
        elif at % 2:
            lines.append({"kind": 1, "k": ["requests", request - 1, "completionTokens"], "v": n})
        elif at % 3:
            part += 1
            lines.append({"kind": 2, "k": ["requests", request - 1, "response"], "v": [{"value": f"word {n}"}]})
        else:
            part = max(part, 1)
            text = {"value": f"word {n} and more"}
            lines.append({"kind": 2, "k": ["requests", request - 1, "response"], "v": [text], "i": part - 1})
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def replay(data: bytes) -> float:
    """Seconds for the replay alone."""
    started = time.perf_counter()
    for _ in read_log(io.BytesIO(data), len(data), Ledger("log")):
        pass
    return time.perf_counter() - started


def parse(data: bytes) -> float:
    """Seconds for the whole parse."""
    started = time.perf_counter()
    assert convparse.parse_bytes(data, source="copilot").account.balanced
    return time.perf_counter() - started


def main(operations: int = 100_000) -> None:
    """Print what a log of that many operations costs, and one of a tenth."""
    large, small = make_log(operations), make_log(operations // 10)
    print(f"{operations:,} operations, {len(large) / 1e6:.1f} MB")
    for name, run in (("replay", replay), ("parse", parse)):
        whole, tenth = (min(run(data) for _ in range(3)) for data in (large, small))
        print(f"{name:>7}: {whole:.2f} s; a tenth of them: {tenth:.3f} s; ratio {whole / tenth:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
