"""The search for inputs that break a law, run for a while; ``python -m benchmarks.reliability`` runs it for long."""

import random
from pathlib import Path

import pytest
from benchmarks.reliability import cuts, fuzz, mutations, odd, seeds
from benchmarks.reliability.__main__ import main
from tests.strategies import THOROUGH

from convparse import SOURCES

INPUTS = 2_000 if THOROUGH else 60
sources = pytest.mark.parametrize("source", SOURCES)


@sources
def test_no_input_breaks_a_law(source: str, tmp_path: Path) -> None:
    state = fuzz.run(source, INPUTS, tmp_path)

    assert state.findings == {}
    assert state.done == INPUTS
    assert state.entries > INPUTS
    assert 0 < state.peak < fuzz.MEGABYTES


@sources
def test_no_cut_and_no_changed_byte_breaks_a_law(source: str) -> None:
    tally = cuts.tried(source, None if THOROUGH else 20)

    assert tally.broken == {}
    assert tally.files >= 8
    assert tally.cuts > 5 * tally.files


@sources
def test_no_leaf_of_an_odd_file_is_silent(source: str) -> None:
    tally = odd.tried(source, 3_000 if THOROUGH else 30)

    assert tally.silent == {}
    assert tally.inputs > 25
    assert tally.leaves > 200


def test_a_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    whole = fuzz.run("codex", 30, tmp_path / "whole")
    fuzz.run("codex", 11, tmp_path / "parts")
    parts = fuzz.run("codex", 30, tmp_path / "parts")

    assert (whole.bytes, whole.entries, whole.drops, whole.done) == (parts.bytes, parts.entries, parts.drops, parts.done)


@sources
def test_an_input_depends_on_its_number_alone(source: str) -> None:
    draw = seeds.drawn(source)
    in_order = [fuzz.input_of(source, n, draw) for n in range(20)]

    assert [fuzz.input_of(source, n) for n in (19, 3)] == [in_order[19], in_order[3]]
    assert len({given.data for given in in_order}) > 15


@pytest.mark.parametrize("at", range(len(mutations.MUTATIONS)))
def test_a_mutation_takes_any_bytes(at: int) -> None:
    rng, mutation = random.Random(1), mutations.MUTATIONS[at]
    for data in (b"", b"\n", b"\xff", b'{"a":1}', b'{"a":1}\n{"b":"x"}\n'):
        for _ in range(20):
            assert isinstance(mutation(rng, data, [b"{}", data]), bytes)


def test_what_breaks_a_law_is_told_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def broken(data: bytes, **options: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("convparse.parse_bytes", broken)
        state = fuzz.run("codex", 3, tmp_path)
    assert state.findings == {"ZeroDivisionError at elsewhere": [3, 0, 1, 2]}
    assert (tmp_path / "findings" / "codex-0").read_bytes() == fuzz.input_of("codex", 0).data

    assert main(["--source", "codex", "--again", "--state", str(tmp_path)]) == 0
    assert fuzz.load(tmp_path, "codex").mended == {"ZeroDivisionError at elsewhere": 3}
    assert "codex" in capsys.readouterr().out
