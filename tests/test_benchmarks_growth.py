"""The measures of growth, import and detection give a row for everything that they look at."""

import sys

import pytest
from benchmarks import growth


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell")
def test_a_row_for_every_size(tmp_path):
    rows = growth.growth(tmp_path, [0.2, 0.4], 2500, 1)

    assert [0.2, 0.4] == [pytest.approx(float(row[0]), abs=0.2) for row in rows]
    assert all(float(row[1]) > 0 for row in rows)
    assert ["small.jsonl"] == [path.name for path in tmp_path.iterdir()]


def test_a_row_for_every_import(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"type":"mode","mode":"plan","sessionId":"x"}\n')

    rows = growth.imports(tmp_path / "a.jsonl", 1)

    assert list(growth.IMPORTS) == [row[0] for row in rows]
    assert "1.00" == rows[0][2]


def test_a_row_for_every_source(tmp_path):
    assert ["claude-code", "codex", "copilot-cli", "cursor"] == [row[0] for row in growth.detection(tmp_path, 1)]
