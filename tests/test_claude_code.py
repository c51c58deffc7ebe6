"""Claude Code where a file beside an expectation cannot say it: folders, detection, bad calls, limits and views."""

import json
import os
from pathlib import Path

import pytest

from convparse import ConvparseError, Limits, UnknownSource, detect, parse, parse_bytes
from convparse.blocks import Attachment
from convparse.sources.claude_code.fields import ATTACHMENTS, RECORDS, SKIPPED, SUBTYPES

FIXTURES = Path(__file__).parent / "fixtures" / "claude_code"


def user(uuid, content, parent=None, session="s1", **more):
    message = {"role": "user", "content": content}
    row = {"parentUuid": parent, "isSidechain": False, "type": "user", "message": message, "uuid": uuid, "sessionId": session}
    return {**row, **more}


def assistant(uuid, content, parent=None, session="s1", **more):
    message = {"id": f"m-{uuid}", "type": "message", "role": "assistant", "model": "m", "content": content}
    row = {"parentUuid": parent, "isSidechain": False, "message": {**message, "stop_reason": "end_turn"}}
    return {**row, "type": "assistant", "uuid": uuid, "sessionId": session, **more}


def text(words):
    return [{"type": "text", "text": words}]


def call(id, name="Bash", **given):
    return [{"type": "tool_use", "id": id, "name": name, "input": given}]


def result(id, words):
    return [{"tool_use_id": id, "type": "tool_result", "content": words}]


def jsonl(*rows):
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(*rows))
    return path


TALK = (user("u1", "Name a river."), assistant("a1", text("The Danube."), "u1"))
SPILLED = (
    user("u1", "Go."),
    assistant("a1", call("t1", command="ls"), "u1"),
    user("r1", result("t1", "<persisted-output>\nOutput too large (1KB). Full output saved to: /x/b1.txt\n\nPreview"), "a1"),
)


@pytest.fixture
def session(tmp_path):
    """A session with an agent in its folder."""
    agent = [user("k1", "Count.", agentId="ag"), assistant("k2", text("Nine."), "k1", agentId="ag")]
    write(tmp_path / "s1" / "subagents" / "agent-ag.jsonl", *agent)
    spawn = assistant("a1", call("t1", "Agent", prompt="Count."), "u1")
    back = user("r1", result("t1", "Nine."), "a1", toolUseResult={"agentId": "ag", "status": "completed"})
    return write(tmp_path / "s1.jsonl", user("u1", "Go."), spawn, back)


# ---- one session, whichever way it is named


def test_the_file_and_the_folder_of_its_name_mean_the_same_session(session):
    by_file, by_folder = parse(session), parse(session.with_suffix(""))

    assert ["s1", "ag"] == [c.id for c in by_file.conversations]
    assert by_file.conversations == by_folder.conversations
    assert by_file.accounts == by_folder.accounts


def test_a_folder_whose_transcript_is_gone_still_has_its_agents(session):
    session.unlink()

    found = parse(session.with_suffix(""))

    assert ["ag"] == [c.id for c in found.conversations]


def test_a_home_folder_is_expanded(session, monkeypatch):
    monkeypatch.setenv("HOME", str(session.parent))

    assert "s1" == parse("~/s1.jsonl").conversation.id


def test_without_sub_agents_their_files_are_named(session):
    found = parse(session, subagents=False)

    assert ["s1"] == [c.id for c in found.conversations]
    assert ["skipped-file"] == [d.code for d in found.skipped if d.origin.path.endswith("agent-ag.jsonl")]
    assert all(account.balanced for account in found.accounts)


def test_an_agent_file_can_be_parsed_by_itself(session):
    found = parse(session.with_suffix("") / "subagents" / "agent-ag.jsonl")

    assert ["ag"] == [c.id for c in found.conversations]
    assert "model" == found.conversation.messages[0].author


def test_the_root_leads_to_its_children_and_the_call_to_what_it_spawned(session):
    found = parse(session)

    assert ["ag"] == [c.id for c in found.children(found.conversation)]
    assert ["ag"] == [use.spawned for use in found.conversation.tool_calls()]
    assert ("Nine.",) == tuple(m.text for m in found.children(found.conversation)[0].messages if m.author == "model")[1:]


def test_full_copies_under_jobs_are_no_sessions(session):
    write(session.with_suffix("") / "jobs" / "0badcafe" / "parent-transcript.jsonl", *TALK)

    found = parse(session)

    assert ["s1", "ag"] == [c.id for c in found.conversations]
    assert ["unread-file"] == [d.code for d in found.dropped if d.origin.path.endswith("parent-transcript.jsonl")]


def test_parsing_leaves_the_folder_as_it_was(session):
    before = sorted((str(p), p.stat().st_mtime_ns) for p in session.parent.rglob("*"))

    parse(session)

    assert before == sorted((str(p), p.stat().st_mtime_ns) for p in session.parent.rglob("*"))


def test_the_bytes_of_a_message_can_be_read_back(session):
    found = parse(session)

    for conversation in found.conversations:
        for entry in conversation.entries:
            assert json.loads(found.read(entry.origin))["uuid"] == entry.id


# ---- files beside it


def test_a_link_to_a_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b1.txt").write_text("not yours", "utf-8")
    path = write(tmp_path / "s1.jsonl", *SPILLED)
    (tmp_path / "s1").mkdir()
    (tmp_path / "s1" / "tool-results").symlink_to(tmp_path / "elsewhere", target_is_directory=True)

    found = parse(path)

    assert {"missing-output", "unread-file"} == {d.code for d in found.dropped}


def test_a_link_out_of_the_folder_is_no_persisted_output(tmp_path):
    (tmp_path / "secret.txt").write_text("not yours", "utf-8")
    path = write(tmp_path / "s1.jsonl", *SPILLED)
    (tmp_path / "s1" / "tool-results").mkdir(parents=True)
    (tmp_path / "s1" / "tool-results" / "b1.txt").symlink_to(tmp_path / "secret.txt")

    found = parse(path)

    assert not any(type(block) is Attachment for m in found.conversation.messages for block in m.blocks)
    assert "missing-output" in [d.code for d in found.dropped]


def test_a_persisted_output_that_is_not_utf8_is_read_and_named(tmp_path):
    path = write(tmp_path / "s1.jsonl", *SPILLED)
    (tmp_path / "s1" / "tool-results").mkdir(parents=True)
    (tmp_path / "s1" / "tool-results" / "b1.txt").write_bytes(b"caf\xe9")

    found = parse(path)

    assert "caf\ufffd" == found.conversation.messages[2].blocks[1].text
    assert [("invalid-utf8", "b1.txt")] == [(d.code, Path(d.origin.path).name) for d in found.dropped]


def test_a_persisted_output_over_the_limit_is_named_with_its_size(tmp_path):
    path = write(tmp_path / "s1.jsonl", *SPILLED)
    (tmp_path / "s1" / "tool-results").mkdir(parents=True)
    (tmp_path / "s1" / "tool-results" / "b1.txt").write_bytes(b"x" * 100)

    found = parse(path, limits=Limits(side_bytes=99))

    assert [("missing-output", 0), ("oversized", 100)] == sorted((d.code, d.bytes) for d in found.dropped)
    assert all(account.balanced for account in found.accounts)


def test_a_meta_file_that_is_not_json_is_named(session):
    (session.with_suffix("") / "subagents" / "agent-ag.meta.json").write_bytes(b"{oops")

    found = parse(session)

    assert [("lost", "agent-ag.meta.json")] == [(d.fate, Path(d.origin.path).name) for d in found.dropped]
    assert all(account.balanced for account in found.accounts)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_an_agent_file_that_cannot_be_read_is_named(session):
    (session.with_suffix("") / "subagents" / "agent-ag.jsonl").chmod(0)

    found = parse(session)

    assert ["unreadable-file"] == [d.code for d in found.dropped]


# ---- detection


@pytest.mark.parametrize(
    ("fixture", "variant"),
    [
        ("normal_text", "transcript"),
        ("summary_of_this_file", "transcript"),
        ("queued_in_queue_and_row", "transcript"),
        ("history", "history"),
        ("stream_json", "stream-json"),
        ("json_object", "json"),
        ("json_array", "json"),
    ],
)
def test_content_decides_and_not_the_name(fixture, variant, tmp_path):
    path = tmp_path / "whatever.txt"
    path.write_bytes((FIXTURES / f"{fixture}.jsonl").read_bytes())

    found = detect(path)

    assert ("claude-code", variant, True) == (found.source, found.variant, found.certain)
    assert found.reason
    assert variant == parse_bytes(path.read_bytes()).variant


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"hello\n", "nothing in its beginning decodes as JSON"),
        (b'{"a":1}\n{"b":2}\n', "no source knows its records"),
        (b'{"type":"user","text":"other product"}\n', "no source knows its records"),
        (b"SQLite format 3\x00 and more", "SQLite"),
    ],
)
def test_what_no_source_knows_is_refused_with_what_to_do(data, words, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)

    with pytest.raises(UnknownSource, match=words) as caught:
        parse(path)

    assert "source=" in str(caught.value)
    assert "claude-code" in str(caught.value)


def test_with_the_source_given_anything_can_be_parsed():
    found = parse_bytes(b"hello\n", source="claude-code", name="x")

    assert ([], ["malformed-line"]) == (list(found.conversations), [d.code for d in found.dropped])
    assert 6 == found.account.lost.bytes


def test_an_empty_file_has_nothing_and_lacks_nothing():
    found = parse_bytes(b"", source="claude-code")

    assert ((), (), (), 0) == (found.conversations, found.loose, found.dropped, found.account.size)


# ---- bad calls


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        parse(tmp_path / "none.jsonl")


def test_a_folder_that_is_no_session_is_refused(tmp_path):
    with pytest.raises(UnknownSource, match="not one of a session"):
        parse(tmp_path)


def test_a_source_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    with pytest.raises(UnknownSource, match="claude-code"):
        parse_bytes(b"", source="claude-cod")


def test_one_conversation_can_be_asked_for(session):
    assert ["ag"] == [c.id for c in parse(session, conversation_id="ag").conversations]


def test_a_conversation_that_is_not_there_is_refused_with_those_that_are(session):
    with pytest.raises(ConvparseError, match="it has: s1, ag"):
        parse(session, conversation_id="s9")


def test_several_roots_are_no_conversation():
    found = parse_bytes(jsonl(user("u1", "One."), user("v1", "Two.", session="s2")))

    with pytest.raises(ConvparseError, match=r"2 root conversations.*s1, s2"):
        found.conversation  # noqa: B018 - the property raises


# ---- limits


def test_a_line_over_the_limit_is_named_with_its_type_and_the_next_one_read():
    data = jsonl(TALK[0], user("u2", "x" * 900), TALK[1])

    found = parse_bytes(data, limits=Limits(line_bytes=500))

    assert ["u1", "a1"] == [m.id for m in found.conversation.messages]
    assert [("oversized", "user", 2)] == [(d.code, d.record, d.origin.line) for d in found.dropped]
    assert found.account.balanced


def test_excerpts_can_be_left_out():
    data = jsonl(*TALK) + b'{"secret": oops}\n'

    assert ['{"secret": oops}\\n'] == [d.excerpt for d in parse_bytes(data).dropped]
    assert [""] == [d.excerpt for d in parse_bytes(data, excerpts=False).dropped]


# ---- views


def test_a_turn_has_its_prompts_its_answer_and_its_calls():
    rows = (
        user("u1", "List."),
        assistant("a1", call("t1", command="ls"), "u1"),
        user("r1", result("t1", "one"), "a1"),
        assistant("a2", text("One file."), "r1"),
        user("u2", "More.", "a2"),
    )

    first, second = parse_bytes(jsonl(*rows)).conversation.turns()

    assert (["List."], ["ls"]) == ([p.text for p in first.prompts], [use.command for use in first.tool_calls])
    assert "One file." == first.answer.text if hasattr(first.answer, "text") else first.answer
    assert "One file." == first.answer
    assert ["More."] == [p.text for p in second.prompts]


def test_a_call_has_all_its_results():
    cut = user("r1", result("t1", "[Tool call interrupted: the session ended]"), "a1", toolDenialKind="interrupted")
    rows = (user("u1", "Go."), assistant("a1", call("t1", command="ls"), "u1"), cut, user("r2", result("t1", "ok"), "a1"))

    (use,) = parse_bytes(jsonl(*rows)).conversation.tool_calls()

    assert ["[Tool call interrupted: the session ended]", "ok"] == [r.text for r in use.results]
    assert "ok" == use.outcome


def test_a_queued_prompt_begins_no_turn_of_its_own_before_it_was_taken_up():
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "Later.", "sessionId": "s1"}

    found = parse_bytes(jsonl(*TALK, queued))

    assert [["Name a river."]] == [[p.text for p in turn.prompts] for turn in found.conversation.turns()]


def test_an_edit_is_read_from_the_result():
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}]
    twin = {"filePath": "/f", "oldString": "a", "newString": "b", "originalFile": "a\n", "structuredPatch": patch}
    rows = (
        user("u1", "Go."),
        assistant("a1", call("t1", "Edit", file_path="/f", old_string="a", new_string="b"), "u1"),
        user("r1", result("t1", "ok"), "a1", toolUseResult=twin),
    )

    (edit,) = parse_bytes(jsonl(*rows)).conversation.edits()

    assert ("/f", "update", "a\n", "b\n", "t1") == (edit.path, edit.kind, edit.before, edit.after, edit.call_id)
    assert "@@ -1,1 +1,1 @@\n-a\n+b\n" == edit.diff


# ---- the tables


def test_every_record_has_one_fate():
    names = [*RECORDS, *(f"attachment/{name}" for name in ATTACHMENTS), *(f"system/{name}" for name in SUBTYPES), *SKIPPED]

    assert len(names) == len(set(names))
    assert all(SKIPPED.values())


KNOWN_TO_THE_LOADER = (
    "summary custom-title ai-title agent-name agent-color agent-setting tag last-prompt permission-mode mode memory-mode"
    " dev-mods isolation-latch atis-latch queue-operation file-history-snapshot file-history-delta pr-link frame-link"
    " worktree-state relocated continued-in bridge-session cost-state content-replacement fork-context-ref history-suppression"
    " attribution-snapshot ended-by-model observer-ref artifact-autoreact-ledger artifact-comment-monitor api-request"
    " api-request-shape api-request-blob tools-used"
).split()


@pytest.mark.parametrize("name", KNOWN_TO_THE_LOADER)
def test_every_record_type_of_the_product_is_read_or_skipped_by_name_or_kept_raw(name):
    found = parse_bytes(jsonl(*TALK, {"type": name, "sessionId": "s1"}), source="claude-code")

    kept = [entry for entry in (*found.conversation.entries, *found.loose) if entry.origin.line == 3]
    assert (len(kept) == 1) is (name not in SKIPPED)
    assert found.account.balanced


def test_a_marked_row_with_a_result_keeps_the_result_and_its_mark():
    row = user("r1", result("t1", "ok"), "a1", isMeta=True, toolUseResult={"stdout": "ok"})
    found = parse_bytes(jsonl(user("u1", "Go."), assistant("a1", call("t1", command="ls"), "u1"), row), source="claude-code")

    last = found.conversation.messages[-1]
    assert [("t1", "ToolResult")] == [(block.call_id, type(block).__name__) for block in last.blocks]
    assert last.extra.value["/isMeta"] is True
    assert found.account.balanced
