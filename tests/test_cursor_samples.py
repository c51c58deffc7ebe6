"""Genuine and synthetic files of Cursor, where they lie beside the repository: read without an exception, and balanced.

Skipped where there are none.
"""

import shutil
from pathlib import Path
from typing import Final

import pytest

import convparse

SAMPLES: Final = Path(__file__).parents[2] / "shared" / "samples" / "cursor"
FILES: Final = sorted(
    path for path in SAMPLES.rglob("*") if path.suffix in (".jsonl", ".vscdb", ".db") and path.parent.name != "values"
)

pytestmark = pytest.mark.skipif(not FILES, reason="no samples beside the repository")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_sample(path: Path, tmp_path: Path) -> None:
    before = sorted((entry.name, entry.stat().st_mtime_ns) for entry in path.parent.iterdir())

    result = convparse.parse(path, "cursor")

    assert all(account.balanced for account in result.accounts)
    assert result.account.size > 0
    assert any(c.entries for c in result.conversations)
    assert sorted((entry.name, entry.stat().st_mtime_ns) for entry in path.parent.iterdir()) == before
    copy = tmp_path / path.name
    shutil.copyfile(path, copy)
    parts = list(convparse.iter_conversations(copy, "cursor"))
    assert [c.id for part in parts for c in part.conversations] == [c.id for c in result.conversations]
