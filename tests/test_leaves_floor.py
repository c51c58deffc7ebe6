"""How much of what files hold arrives typed does not fall, and nothing is unaccounted for: ``python -m benchmarks.leaves``."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks import leaves

from convparse import SOURCES

FLOOR = json.loads(leaves.FLOOR.read_bytes())["fixtures"]


def of(source: str) -> Iterator[tuple[str, str, bytes]]:
    return ((source, name, data) for source_, name, data in leaves.fixtures() if source_ == source)


def test_every_source_has_a_floor() -> None:
    assert set(FLOOR) == set(SOURCES)
    assert all(floor["typed"] > 0.4 and floor["silent"] == 0 for floor in FLOOR.values())


@pytest.mark.parametrize("source", SOURCES)
def test_what_arrives_typed_does_not_fall(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "TRIES", 1)

    now, silent = leaves.report(of(source))

    assert silent == []
    assert leaves.steps_back(now, FLOOR) == []
    assert now[source]["leaves", "typed"] > 300


def test_a_step_back_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    row = {"type": "user", "uuid": "a", "parentUuid": None, "sessionId": "s", "message": {"role": "user", "content": "Hello."}}
    path.write_text(json.dumps(row) + "\n")
    monkeypatch.setattr(leaves, "FLOOR", tmp_path / "floor.json")
    assert leaves.main([str(path), "--write"]) == 0
    assert leaves.main([str(path), "--check"]) == 0

    path.write_text(json.dumps(row | {"brandNew": "what no version writes " * 3}) + "\n")
    assert leaves.main([str(path), "--check"]) == 1
    assert "claude-code: typed 0." in capsys.readouterr().out


def test_what_is_silent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "arrives", lambda *given: "silent")
    now, silent = leaves.report([("claude-code", "a", b'{"type":"user","uuid":"a","message":{"content":"x"}}\n')])
    assert silent[0] == "claude-code: a:1:/type"
    assert leaves.steps_back(now, {}) == ["claude-code: 3 leaves arrive nowhere and are not named"]
