"""Gemini CLI beyond its fixtures: what is recognised, which files belong together, where they are looked for."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import convparse
from convparse import ConvparseError, UnknownSource, detect, discover, parse, parse_bytes
from convparse.sources._source import Head
from convparse.sources.gemini_cli import fields, files
from convparse.sources.gemini_cli.messages import MESSAGES

FIXTURES = Path(__file__).parent / "fixtures"
AGENTS = FIXTURES / "gemini_cli" / "sub_agents"
HEADER: dict[str, Any] = {"sessionId": "s1", "projectHash": "p", "startTime": "2026-03-01T08:00:00.000Z"}
PROMPT = {"id": "u1", "timestamp": "2026-03-01T08:00:00.000Z", "type": "user", "content": "Hi."}


def dumped(value: Any, indent: int | None = None) -> bytes:
    return json.dumps(value, indent=indent).encode()


def found(data: bytes) -> tuple[str, str]:
    result = parse_bytes(data)
    return result.source, result.variant


# ---- what is recognised ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        HEADER,
        {"$set": {"lastUpdated": "x"}},
        {"$rewindTo": "u1"},
        {"$patch": {"removeIds": []}},
        {**PROMPT, "type": "gemini"},
    ],
    ids=lambda first: next(iter(first)),
)
def test_a_line_of_a_log_is_recognised_alone_and_among_others(first: dict[str, Any]) -> None:
    assert found(dumped(first)) == ("gemini-cli", "log")
    assert found(b"garbage\n[1]\n" + dumped(first) + b"\n" + dumped(PROMPT)) == ("gemini-cli", "log")


@pytest.mark.parametrize(
    "other",
    [PROMPT, {"type": ["gemini"]}, {"$set": 1, "x": 2}, {"history": []}, {"sessionId": "s"}, [], [1], [{"role": "user"}], 7],
)
def test_what_others_write_too_is_not_taken_for_ours(other: Any) -> None:
    head = Head("f", dumped(other), (other,), True)

    assert files.detect(head) is None
    assert files.detect(Head("f", dumped(other) + b"\n", (other, other), True)) is None


def test_documents_are_recognised_by_their_beginning_where_they_are_long() -> None:
    filler = "x" * (300 << 10)
    turn = {"role": "user", "parts": [{"text": filler}]}
    documents = {
        "session": {**HEADER, "messages": [{**PROMPT, "content": filler}]},
        "checkpoint": {"history": [turn]},
        "prompts": [{"sessionId": "s1", "messageId": 0, "type": "user", "message": filler}],
    }

    for indent in (None, 1):
        for variant, value in documents.items():
            assert found(dumped(value, indent)) == ("gemini-cli", variant)
        assert found(dumped([turn], indent)) == ("gemini-cli", "checkpoint")


def test_a_first_line_that_is_whole_begins_a_log() -> None:
    odd = dumped({**HEADER, "projectHash": None})

    assert found(odd + b"\n[1]\n") == ("gemini-cli", "log")
    assert found(odd[:-5] + b"\n[1]\n") == ("gemini-cli", "session")


def test_a_document_of_qwen_code_is_not_taken_for_ours() -> None:
    with pytest.raises(UnknownSource):
        parse_bytes(dumped({**HEADER, "messages": [PROMPT, 7, {**PROMPT, "type": "qwen"}]}))


def test_only_fixtures_of_gemini_cli_are_recognised_as_such() -> None:
    recognised = {"gemini_cli": 0, "others": 0}
    for path in FIXTURES.rglob("*.json*"):
        if path.name.endswith(".expected.json"):
            continue
        try:
            source = detect(path).source
        except (UnknownSource, ConvparseError):
            continue
        ours = not {"gemini_cli", "gemini-cli"}.isdisjoint(path.relative_to(FIXTURES).parts)
        assert (source == "gemini-cli") is ours, path
        recognised["gemini_cli" if ours else "others"] += 1
    assert min(recognised.values()) > 30


def test_two_records_on_a_line_are_parted_between_records_only() -> None:
    assert files.is_record(HEADER)
    assert files.is_record(PROMPT)
    assert files.is_record({"$set": {}})
    assert not files.is_record({"text": "x"})
    assert not files.is_record({"type": "user", "content": "x"})


# ---- which files belong together -------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / ".gemini" / "tmp" / "notes"
    shutil.copytree(AGENTS, folder)
    return folder


def test_sub_agents_are_left_unread_and_named_when_they_are_not_wanted(project: Path) -> None:
    result = parse(project / "chats" / "session-2026-03-01T08-00-5e55.jsonl", subagents=False)

    assert [conversation.id for conversation in result.conversations] == ["5e55-1"]
    assert [(Path(drop.origin.path).name, drop.code) for drop in result.skipped if drop.code == "skipped-file"] == [
        ("a9e-1.jsonl", "skipped-file"),
        ("a9e-2.jsonl", "skipped-file"),
    ]
    assert all(account.balanced for account in result.accounts)


def test_children_are_those_that_a_call_started(project: Path) -> None:
    result = parse(project / "chats" / "session-2026-03-01T08-00-5e55.jsonl")
    (child,) = result.children(result.conversation)
    (use,) = result.conversation.tool_calls()

    assert (use.spawned, child.id) == ("a9e-1", "a9e-1")
    assert [c.id for c in result.children(child)] == ["a9e-2"]


def test_a_sub_agents_file_is_a_session_by_itself_too(project: Path) -> None:
    result = parse(project / "chats" / "5e55-1" / "a9e-1.jsonl")

    assert [conversation.id for conversation in result.conversations] == ["a9e-1", "a9e-2"]
    assert result.conversations[0].context == convparse.Context("/w")


def test_keys_are_unique_over_the_files_of_a_session(project: Path) -> None:
    chats = project / "chats"
    main = chats / "session-2026-03-01T08-00-5e55.jsonl"
    main.write_bytes(main.read_bytes() + dumped({**PROMPT, "id": "workspace:.project_root"}) + b"\n")
    (chats / "a9e-1" / "a9e-1.jsonl").write_bytes((chats / "5e55-1" / "a9e-1.jsonl").read_bytes())
    keys = [[entry.key for entry in conversation.entries] for conversation in parse(main).conversations]

    assert keys[0][-2:] == ["workspace:.project_root", "workspace:.project_root'"]
    assert [each[1] for each in keys] == ["5e55-1:$set:1", "a9e-1/u1", "a9e-1/u1'", "a9e-2/u1"]
    assert len({key for each in keys for key in each}) == sum(map(len, keys))


@pytest.mark.parametrize("id", ["..", "../5e55-1", "a/b", ".hidden", "x" * 200], ids=str)
def test_an_id_that_is_no_name_leads_nowhere(id: str, project: Path) -> None:
    path = project / "chats" / "session-x.jsonl"
    path.write_bytes(dumped({**HEADER, "sessionId": id}).replace(b", ", b",").replace(b": ", b":") + b"\n")

    assert files.gather(str(path), "log", True).logs == ((str(path), "log"),)


def test_a_file_elsewhere_is_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(dumped(HEADER) + b"\n")

    assert files.gather(str(path), "log", True) == convparse.sources._source.Gathered(((str(path), "log"),))
    assert parse(path).conversation.context is None


def test_folders_and_vanished_files_among_sub_agents_are_passed_over(project: Path) -> None:
    chats = project / "chats"
    (chats / "5e55-1" / "folder.jsonl").mkdir()
    (chats / "5e55-1" / "5e55.jsonl").write_bytes(b'{"sessionId":"5e55-1","projectHash":"p"}\n')  # its own parent
    main = str(chats / "session-2026-03-01T08-00-5e55.jsonl")

    assert [Path(path).name for path, _ in files.gather(main, "log", True).logs[1:]] == [
        "5e55.jsonl",
        "a9e-1.jsonl",
        "a9e-2.jsonl",
    ]
    assert files.gather(str(chats / "gone.jsonl"), "log", True).logs == ((str(chats / "gone.jsonl"), "log"),)


def test_an_empty_name_of_the_project_is_no_folder(project: Path) -> None:
    (project / ".project_root").write_text("")
    result = parse(project / "chats" / "a9e-1" / "a9e-2.jsonl")

    assert result.conversation.context is None
    assert [event.text for event in result.conversation.events if event.kind == "workspace"] == [""]


# ---- where they are looked for ---------------------------------------------------------------------------------------------


def test_a_session_is_found_once_with_its_sub_agents(project: Path) -> None:
    shutil.copy(FIXTURES / "gemini_cli" / "document.json", project / "chats" / "session-2026-01-01T08-00-5e55.json")
    shutil.copy(FIXTURES / "gemini_cli" / "checkpoint.json", project / "checkpoint-tag.json")
    shutil.copy(FIXTURES / "gemini_cli" / "prompts.json", project / "logs.json")
    home = project.parents[2]

    items = {item.path[len(str(project)) + 1 :]: item for item in discover([home])}
    assert {name: item.conversation_ids for name, item in items.items()} == {
        "chats/session-2026-03-01T08-00-5e55.jsonl": (),
        "chats/session-2026-01-01T08-00-5e55.json": (),
        "checkpoint-tag.json": (),
        "logs.json": (),
    }
    for item in items.values():
        assert (item.source, parse(item.path).stamp) == ("gemini-cli", item.stamp)


def test_sub_agents_whose_session_is_gone_are_found(project: Path) -> None:
    (project / "chats" / "session-2026-03-01T08-00-5e55.jsonl").unlink()

    assert [item.conversation_ids for item in discover([project.parents[2]])] == [("a9e-1",)]


# ---- the page --------------------------------------------------------------------------------------------------------------


def test_the_page_tells_the_fate_of_every_record() -> None:
    page = (Path(__file__).parents[1] / "docs" / "gemini-cli.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in page.splitlines() if line.startswith("| ")]
    named = {cells[0].strip("`") for cells in rows}

    assert set(convparse.SOURCES["gemini-cli"].variants) <= named
    assert set(MESSAGES) | {"metadata", "$rewindTo", "$patch"} <= named
    assert {(f"`{name}`", reason) for name, reason in fields.SKIPPED.items()} <= {tuple(cells) for cells in rows}
    for names in (fields.HEADER, fields.SET, fields.PATCH, fields.CHECKPOINT):
        assert not names.skipped
