"""The smaller parts of ``benchmarks.reliability``, each run once: what is had of damage, replays, killed writers, memory."""

import shutil
import sys
from pathlib import Path

import pytest
from benchmarks.reliability import differential, growth, hammer, memory, recovery, suites
from benchmarks.reliability.__main__ import main


@pytest.mark.parametrize("source", recovery.RECORDS)
@pytest.mark.parametrize("damage", recovery.DAMAGE)
def test_whole_records_beside_damage_are_found(source: str, damage: str) -> None:
    found = recovery.logs(source, damage, files=4)

    assert found.whole in (16, 20)
    assert (found.found, found.false) == (found.whole, 0)


def test_a_sound_database_is_had_whole_and_a_damaged_one_is_told() -> None:
    data = recovery.sound()
    whole = recovery.salvaged(data)
    half = recovery.salvaged(data[: len(data) // 2])

    assert (whole.right, whole.altered, whole.named, whole.missing, whole.damaged) == (recovery.ROWS, 0, 0, 0, False)
    assert half.damaged
    assert 9_000 < half.right < 11_000
    assert half.altered == 0


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_replays_are_those_of_the_editor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--replays", "120"]) == 0
    assert capsys.readouterr().out.startswith("120 logs, ")


def test_without_node_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert differential.compared(3) is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("mode", hammer.MODES)
def test_what_a_killed_writer_leaves_is_read_and_left_alone(mode: str) -> None:
    tally = hammer.killed(mode, 2)

    assert tally.good
    assert tally.kills == tally.snapshots.total() == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is told otherwise")
def test_memory_is_that_of_a_process_of_its_own() -> None:
    assert memory.peak("the import alone") < memory.CASES["the import alone"].most


def test_every_shape_can_be_made() -> None:
    assert len(growth.SHAPES) > 30
    for prepare, _ in growth.SHAPES.values():
        prepare(2)()


def test_what_others_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in {"y_a": b"[1]", "n_b": b"[1,", "n_c": b"{\0}", "i_d": b"[1e999]", "n_e": b"[" * 2_000}.items():
        (tmp_path / f"{name}.json").write_bytes(data)
    strings = tmp_path / "strings"
    strings.write_text("# a comment\n<script>\n\u202eabc\nCON\n../x\nnull\ntype\n")

    assert main(["--suite", str(tmp_path), "--strings", str(strings)]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("5 tried")
    strings.write_text('["a", "\\u0000", "b/c"]')
    assert suites.strings(suites.read_strings(strings)).named_files == 1
