"""What ChatCrystal itself gave for genuine sessions, where they lie beside the repository: the projection gives the same.

Skipped where there are none. Ids that are random there, and times of its clock, are not compared.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from tests.test_chatcrystal import check_account

import convparse
from convparse.compat.chatcrystal import Projection, ReferenceMessage

SAMPLES: Final = Path(__file__).parents[2] / "shared" / "samples"
EXPECTED: Final = {
    name: given
    for path in sorted((SAMPLES / "chatcrystal").glob("*.json"))
    for name, given in json.loads(path.read_bytes()).items()
}

pytestmark = pytest.mark.skipif(not EXPECTED, reason="no samples beside the repository")


def projected(name: str) -> Projection:
    """The projection, whose account holds."""
    path = SAMPLES / name
    return check_account(convparse.parse(path / "state.vscdb" if path.is_dir() else path, name.partition("/")[0]))


def comparable(message: ReferenceMessage, other: dict[str, Any]) -> dict[str, Any]:
    """A message of ours under the names of the other, without what chance or the clock made there."""
    mine = message.as_dict()
    return mine | ({"timestamp": other["timestamp"]} if message.timestamp is None else {})


@pytest.mark.parametrize("name", EXPECTED)
def test_messages_are_those_of_the_parser_itself(name: str) -> None:
    projection = projected(name)
    given = EXPECTED[name]
    if isinstance(given, dict):
        assert "failed" in given
        assert "chatcrystal/stopped" in {item.code for item in projection.left_out}
        return

    talks = {talk.id: talk for talk in projection.conversations}

    assert len(talks) == len(given)
    for other, talk in zip(given, projection.conversations, strict=True):
        theirs = [{key: value for key, value in message.items() if key != "sortOrder"} for message in other["messages"]]
        assert [comparable(m, o) for m, o in zip(talk.messages, theirs, strict=True)] == theirs
        assert other["id"] in (talk.id, f"rollout-{talk.id}") or other["source"] == "claude-code"  # by the file's name there
        assert talk.slug == other["slug"]
        assert talk.git_branch == other["gitBranch"]
        assert talk.cwd == other["cwd"] or other["source"] == "cursor"
