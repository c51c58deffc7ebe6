"""Mutation logs replayed here and by the rules of VS Code in JavaScript, ``oracle.js``: equal, or a drop says why not. R12.

Needs ``node``. Logs are drawn from a seed; most operations fit the session they are applied to, some do not.
"""

import io
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import attrs

from convparse.ledger import Ledger
from convparse.reading.mutation_log import read_log

LOGS: Final = 4_000
ORACLE: Final = Path(__file__).with_name("oracle.js")
NAMES: Final = ("requests", "response", "title", "n", "x", "0")
ODD: Final = 0.02
"""How many of the operations that do not fit are kept all the same."""


@attrs.define
class Tally:
    """What came of a number of logs."""

    logs: int = 0
    operations: int = 0
    equal: int = 0
    told: int = 0
    """Logs whose states differ, and a drop says that something was not applied as it stands."""
    silent: list[int] = attrs.field(factory=list)
    """Logs whose states differ without a word."""


def drawn(rng: random.Random) -> list[dict[str, Any]]:
    """A log: a snapshot, and operations on it."""
    state: Any = {"version": 3, "requests": [{"response": [_value(rng) for _ in range(rng.randrange(4))]} for _ in range(3)]}
    log: list[dict[str, Any]] = [{"kind": 0, "v": json.loads(json.dumps(state))}]
    for _ in range(rng.randrange(14)):
        path = _path(rng, state)
        kind = rng.choice((1, 1, 2, 2, 2, 3)) if rng.random() < 0.98 else 0
        operation: dict[str, Any] = {"kind": kind, "k": path}
        if kind == 0:
            operation = {"kind": 0, "v": {"requests": [_value(rng)]}}
        elif kind == 1:
            operation["v"] = _value(rng)
        elif kind == 2:
            operation["v"] = [_value(rng) for _ in range(rng.randrange(3))]
            if rng.random() < 0.4:
                operation["i"] = rng.choice((0, 1, 2, 3, 5))
        after, codes = replayed([*log, operation])
        if not codes or rng.random() < ODD:
            log.append(operation)
            state = after
    return log


def _value(rng: random.Random) -> Any:
    return rng.choice((1, "a", None, True, [], {}, [1, 2], {"value": "v"}, {"response": ["r"]}))


def _path(rng: random.Random, state: Any) -> list[str | int]:
    path: list[str | int] = []
    while True:
        if isinstance(state, dict) and state and rng.random() < 0.9:
            path.append(rng.choice(list(state)))
        elif isinstance(state, list) and state and rng.random() < 0.9:
            path.append(rng.randrange(len(state) + (rng.random() < 0.1)))
        else:
            path.append(rng.choice(NAMES) if not isinstance(state, list) else rng.randrange(3))
            return path
        try:
            state = state[path[-1]]
        except (KeyError, IndexError, TypeError):
            return path
        if rng.random() < 0.35:
            return path


def replayed(log: list[dict[str, Any]]) -> tuple[Any, list[str]]:
    """The state here, and the codes of the drops that say that something is not as it would be."""
    data = b"".join(json.dumps(entry).encode() + b"\n" for entry in log)
    ledger = Ledger("log")
    states = [found.state for found, _ in read_log(io.BytesIO(data), len(data), ledger)]
    codes = [drop.code for drop in ledger.close() if drop.fate != "skipped"]
    return (states[0] if states else None), codes


def compared(count: int = LOGS, seed: int = 12) -> Tally | None:
    """The comparison; None without ``node``."""
    node = shutil.which("node")
    if node is None:
        return None
    rng, tally = random.Random(seed), Tally()
    logs = [drawn(rng) for _ in range(count)]
    text = "".join(json.dumps(log) + "\n" for log in logs)
    told = subprocess.run([node, str(ORACLE)], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    for n, (log, theirs) in enumerate(zip(logs, told, strict=True)):
        state, codes = replayed(log)
        tally.logs += 1
        tally.operations += len(log)
        if json.dumps(state, sort_keys=True) == json.dumps(json.loads(theirs), sort_keys=True):
            tally.equal += 1
        elif codes:
            tally.told += 1
        else:
            tally.silent.append(n)
    return tally
