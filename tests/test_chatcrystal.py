"""The reference rules: what ChatCrystal's parsers give, made from results; and everything that they leave out, with its reason.

``fixtures/chatcrystal`` has one case for each source with all its rules, and what must come of it, written by hand: a row
``[id, parent, role, content, marks, thinking, time, key]`` for each message, a line ``CODE WHAT KEY BLOCK`` for each thing left
out. The tests below are of what only odd files have.
"""

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from tests.databases import Json, Rows, connected

import convparse
from convparse import ConvparseError, Drop, Event, Message, Origin, SourceChanged
from convparse.compat import chatcrystal
from convparse.compat.chatcrystal import CODES, LeftOut, Projection, account, javascript, units
from convparse.reading import snapshot

FIXTURES: Final = Path(__file__).parent / "fixtures"
HERE: Final = FIXTURES / "chatcrystal"
FILES: Final = ("claude_code.jsonl", "codex.jsonl", "copilot.json", "copilot_log.jsonl")
DATABASES: Final = ("cursor", "trae")
SESSION: Final = "67f0c0de00a1b2c3d4e5f60"
THREAD: Final = "11111111-2222-4333-8444-555555555555"
STORAGE: Final = "memento/icube-ai-agent-storage"
ABOUT: Final = frozenset(
    f"chatcrystal/{name}" for name in "no-field as-active as-main as-user reordered no-time made-time".split()
)
"""Codes about a message that is there; all others are about an entry or a block that is not."""


def built(folder: Path, rows: Rows, workspace: str | None = '{"folder":"file:///w/my%20proj"}') -> Path:
    """A database of these rows in a workspace's folder."""
    path = folder / "state.vscdb"
    connected(rows, path=str(path)).close()
    if workspace is not None:
        (folder / "workspace.json").write_text(workspace)
    return path


def fixture(name: str, folder: Path) -> convparse.ParseResult:
    if name in FILES:
        return convparse.parse(HERE / name)
    rows = json.loads((HERE / f"{name}.rows.json").read_bytes())
    return convparse.parse(built(folder, [(t, key, value if value is None else Json(value)) for t, key, value in rows]), name)


def short(key: str) -> str:
    """A key without what all keys of a file have."""
    return key.replace(f"{THREAD}:", "@").replace(SESSION, "")


def shown(projection: Projection) -> dict[str, Any]:
    """A projection as the fixtures have it."""
    return {
        "conversations": [
            [
                talk.id,
                talk.slug,
                talk.cwd,
                talk.git_branch,
                [[m.id, m.parent, m.role, m.content, marks(m), m.thinking, m.timestamp, short(m.key)] for m in talk.messages],
            ]
            for talk in projection.conversations
        ],
        "left_out": left(projection),
    }


def marks(message: chatcrystal.ReferenceMessage) -> str:
    return " ".join(word for word, there in (("tool", message.has_tool_use), ("code", message.has_code)) if there)


def left(projection: Projection) -> list[str]:
    lines = []
    for item in projection.left_out:
        parts = (item.code.removeprefix("chatcrystal/"), item.what, short(item.key), item.block)
        lines.append(" ".join(str(part) for part in parts if part is not None))
    return lines


@pytest.mark.parametrize("name", (*FILES, *DATABASES))
def test_a_fixture_gives_what_is_written_beside_it(name: str, tmp_path: Path) -> None:
    expected = json.loads((HERE / f"{Path(name).stem}.expected.json").read_bytes())

    projection = chatcrystal.project(fixture(name, tmp_path))

    assert shown(projection) == expected
    assert all(message.type == message.role for message in projection.messages)


# ---- the account -----------------------------------------------------------------------------------------------------------


def check_account(result: convparse.ParseResult) -> Projection:
    """Every block and every event is word for word in a message, or listed once; every message says which one of ours it is."""
    projection = chatcrystal.project(result)
    listed = Counter((item.key, item.block) for item in projection.left_out if item.code not in ABOUT)
    assert set(listed.values()) <= {1}
    said = {message.key for message in projection.messages}
    whole = "\n".join(message.content for message in projection.messages)
    thought = "\n".join(message.thinking or "" for message in projection.messages)
    for entry in units.every(result):
        if isinstance(entry, Event) or not entry.blocks:
            assert ((entry.key, None) in listed) != (entry.key in said), entry.key
            continue
        for number, block in enumerate(entry.blocks):
            if (entry.key, number) not in listed:
                text = getattr(block, "text", "")
                assert javascript.trim(text) in whole or text in thought, (entry.key, number)
    assert said <= {entry.key for entry in units.every(result)}
    assert {item.code for item in projection.left_out} <= set(CODES)
    assert sum(drop.count for drop in projection.dropped) == len(projection.left_out)
    return projection


EVERY: Final = sorted(
    path
    for source in ("claude_code", "codex", "copilot", "copilot_cli", "cursor", "trae", "chatcrystal")
    for path in (FIXTURES / source).rglob("*")
    if path.is_file() and ".expected." not in path.name and path.suffix in (".jsonl", ".json", ".vscdb", ".db")
)


@pytest.mark.parametrize("batch", range(8))
def test_the_account_of_every_fixture_holds(batch: int) -> None:
    for path in EVERY[batch::8]:
        try:
            result = convparse.parse(path)
        except convparse.UnknownSource:
            continue
        check_account(result)
