"""Claude Code, more of it: what a tool's twin tells of files, folders of odd make, and what detection goes by."""

import os
from pathlib import Path

import pytest
from tests.test_claude_code import assistant, call, jsonl, result, text, user, write

from convparse import UnknownSource, parse, parse_bytes
from convparse.sources.claude_code import files

PATCH = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"]}]


def edit_of(tool, twin=None, outcome="ok", **given):
    """What one call of a tool changed, by the result's twin."""
    more = {"toolUseResult": twin} if twin is not None else {}
    rows = (
        user("u1", "Go."),
        assistant("a1", call("t1", tool, **given), "u1"),
        user("r1", result("t1", outcome), "a1", **more),
    )
    return parse_bytes(jsonl(*rows)).conversation.edits()


# ---- changes of files


def test_an_edit_with_its_patch_and_what_was_there_before():
    twin = {"filePath": "/f", "oldString": "a", "newString": "b\nc", "originalFile": "a\n", "structuredPatch": PATCH}

    (edit,) = edit_of("Edit", twin)

    assert ("/f", "update", "a\n", "b\nc\n", "t1") == (edit.path, edit.kind, edit.before, edit.after, edit.call_id)
    assert "@@ -1,1 +1,2 @@\n-a\n+b\n+c\n" == edit.diff


@pytest.mark.parametrize(("everywhere", "after"), [(True, "b b\n"), (False, "b a\n"), (None, "b a\n")])
def test_an_edit_replaces_the_first_or_all(everywhere, after):
    twin = {"filePath": "/f", "oldString": "a", "newString": "b", "originalFile": "a a\n", "replaceAll": everywhere}

    assert [after] == [edit.after for edit in edit_of("Edit", twin)]


@pytest.mark.parametrize("old", ["", "not there", 5])
def test_an_edit_that_does_not_fit_the_file_tells_no_outcome(old):
    twin = {"filePath": "/f", "oldString": old, "newString": "b", "originalFile": "a\n"}

    assert [("update", "a\n", None)] == [(edit.kind, edit.before, edit.after) for edit in edit_of("Edit", twin)]


@pytest.mark.parametrize("more", [{"type": "create", "originalFile": None}, {"originalFile": None}, {}])
def test_a_new_file_has_nothing_before_it(more):
    twin = {"filePath": "/f", "content": "new\n", "structuredPatch": [], **more}

    (edit,) = edit_of("Write", twin)

    assert ("create", None, "new\n", None) == (edit.kind, edit.before, edit.after, edit.diff)


def test_a_file_written_anew_has_both():
    twin = {"type": "update", "filePath": "/f", "content": "new\n", "originalFile": "old\n", "structuredPatch": PATCH}

    assert [("update", "old\n", "new\n")] == [(edit.kind, edit.before, edit.after) for edit in edit_of("Write", twin)]


def test_a_patch_without_the_file_tells_neither_before_nor_after():
    (edit,) = edit_of("Edit", {"filePath": "/f", "originalFile": None, "structuredPatch": PATCH})

    assert ("update", None, None) == (edit.kind, edit.before, edit.after)
    assert edit.diff.startswith("@@ -1,1 +1,2 @@\n")


@pytest.mark.parametrize("patch", [None, "x", [], [5], [{"oldStart": 1}], [{**PATCH[0], "lines": "-a"}]])
def test_a_patch_of_an_odd_make_is_none(patch):
    assert [None] == [edit.diff for edit in edit_of("Edit", {"filePath": "/f", "originalFile": "a", "structuredPatch": patch})]


@pytest.mark.parametrize("twin", [{"stdout": "/f"}, {"filePath": "/f"}, {"filePath": 5, "originalFile": "a"}, "done", ["/f"]])
def test_a_twin_that_tells_of_no_change_is_no_edit(twin):
    assert () == edit_of("Bash", twin, command="touch /f")


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Write", {"file_path": "/f", "content": "new"}, ("/f", "create", "new")),
        ("Edit", {"file_path": "/f", "old_string": "a", "new_string": "b"}, ("/f", "update", None)),
        ("NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": "x"}, ("/n.ipynb", "update", None)),
    ],
)
def test_without_a_twin_the_change_is_the_one_that_was_asked_for(tool, given, expected):
    assert [expected] == [(edit.path, edit.kind, edit.after) for edit in edit_of(tool, **given)]


@pytest.mark.parametrize(
    ("tool", "given", "diff"),
    [
        ("Edit", {"old_string": "a\nb", "new_string": "c"}, "@@ @@\n-a\n-b\n+c\n"),
        (
            "MultiEdit",
            {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]},
            "@@ @@\n-a\n+b\n@@ @@\n-c\n+d\n",
        ),
        ("MultiEdit", {"edits": [{"old_string": "a", "new_string": "b"}, 5]}, None),
        ("MultiEdit", {"edits": []}, None),
        ("Edit", {"old_string": "a"}, None),
        ("Edit", {"old_string": 5, "new_string": "c"}, None),
        ("Write", {"content": "new"}, None),
    ],
    ids=str,
)
def test_without_a_twin_the_lines_are_those_that_were_to_be_replaced(tool, given, diff):
    assert [diff] == [edit.diff for edit in edit_of(tool, file_path="/f", **given)]


@pytest.mark.parametrize("given", [{}, {"file_path": 5}, {"content": "x"}])
def test_without_a_path_nothing_was_asked_for(given):
    assert () == edit_of("Write", **given)


def test_an_input_that_is_no_object_asks_for_nothing():
    rows = (
        user("u1", "Go."),
        assistant("a1", [{"type": "tool_use", "id": "t1", "name": "Edit", "input": ["/f"]}], "u1"),
        user("r1", result("t1", "ok"), "a1"),
    )

    assert () == parse_bytes(jsonl(*rows)).conversation.edits()


def test_what_failed_changed_nothing():
    failed = [{"tool_use_id": "t1", "type": "tool_result", "content": "No such file.", "is_error": True}]
    rows = (
        user("u1", "Go."),
        assistant("a1", call("t1", "Write", file_path="/f", content="x"), "u1"),
        user("r1", failed, "a1"),
    )

    assert () == parse_bytes(jsonl(*rows)).conversation.edits()


def test_only_tools_that_edit_are_asked_for_edits():
    assert () == edit_of("Read", file_path="/f")


# ---- detection


def test_a_snapshot_of_files_tells_a_transcript():
    row = {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"messageId": "u1", "trackedFileBackups": {}}}

    assert ("claude-code", "transcript") == (parse_bytes(jsonl(row)).source, parse_bytes(jsonl(row)).variant)


@pytest.mark.parametrize(
    "row",
    [
        {"type": "file-history-snapshot", "messageId": "u1"},
        {"type": "summary", "summary": "Rivers", "messageId": "u1"},
        {"type": "user", "uuid": "u1", "parentUuid": None},
        {"type": "mode", "mode": "plan", "messageId": "u1"},
    ],
)
def test_a_row_that_lacks_what_its_type_has_tells_nothing(row):
    with pytest.raises(UnknownSource):
        parse_bytes(jsonl(row))


# ---- folders


def test_folders_are_searched_to_a_bounded_depth(tmp_path):
    path = write(tmp_path / "s1.jsonl", user("u1", "Go."))
    deep = tmp_path / "s1"
    for level in range(1, 10):
        deep = deep / str(level)
        deep.mkdir(parents=True)
        (deep / f"at-{level}.txt").write_text("x", "utf-8")

    found = parse(path)

    assert [f"at-{level}.txt" for level in range(8, 0, -1)] == [Path(a.path).name for a in found.accounts[1:]]


def refuse(monkeypatch, owner, name, folder):
    """Let a look at a folder or file fail as it does without the rights to it."""
    real = getattr(owner, name)

    def guarded(path, *args, **options):
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **options)

    monkeypatch.setattr(owner, name, guarded)


def test_a_session_in_a_folder_that_cannot_be_listed_is_read_by_itself(tmp_path, monkeypatch):
    path = write(tmp_path / "s1.jsonl", user("u1", "Go."), assistant("a1", text("Gone."), "u1"))
    write(tmp_path / "agent-k1.jsonl", user("k1", "Count.", agentId="k1"))
    refuse(monkeypatch, os, "scandir", tmp_path)

    assert ["s1"] == [c.id for c in parse(path).conversations]


def test_an_agent_beside_the_session_that_cannot_be_opened_is_not_its_own(tmp_path, monkeypatch):
    path = write(tmp_path / "s1.jsonl", user("u1", "Go."))
    agent = write(tmp_path / "agent-k1.jsonl", user("k1", "Count.", agentId="k1"))
    assert ["s1", "k1"] == [c.id for c in parse(path).conversations]
    refuse(monkeypatch, files, "read_beginning", agent)

    assert ["s1"] == [c.id for c in parse(path).conversations]


def test_paths_stay_as_they_were_given(tmp_path, monkeypatch):
    write(tmp_path / "s1.jsonl", user("u1", "Go."))
    write(tmp_path / "agent-k1.jsonl", user("k1", "Count.", agentId="k1"))
    write(tmp_path / "s1" / "subagents" / "agent-k2.jsonl", user("k2", "Add.", agentId="k2"))
    monkeypatch.chdir(tmp_path)
    expected = ["s1.jsonl", str(Path("s1/subagents/agent-k2.jsonl")), "agent-k1.jsonl"]

    assert expected == [account.path for account in parse("s1.jsonl").accounts]
    assert expected == [account.path for account in parse("s1").accounts]
