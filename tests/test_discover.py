"""``discover``: every place of every product on every platform, each session once, and everything else with its reason."""

import os
import socket
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from convparse import SOURCES, ConvparseError, Found, _discover, _stamps, discover, iter_conversations, parse
from convparse._discover import Machine, find
from convparse._places import FORKS, PLACES
from convparse.reading.opening import read_beginning
from convparse.sources.claude_code import files

ID, OTHER = "0a0b0c0d-0000-4000-8000-000000000001", "0a0b0c0d-0000-4000-8000-000000000002"
CLAUDE = (
    b'{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"%b","message":{"role":"user","content":"hi"}}\n' % ID.encode()
)
AGENT = CLAUDE.replace(b'"parentUuid"', b'"agentId":"a1","isSidechain":true,"parentUuid"')
ROLLOUT = b'{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"%b"}}\n' % ID.encode()
EVENT = b'{"type":"session.start","id":"e1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","data":{"sessionId":"s"}}\n'
SESSION = b'{"version":3,"sessionId":"%b","requests":[]}' % ID.encode()
LOG = b'{"kind":0,"v":%b}\n' % SESSION
GEMINI = b'{"sessionId":"s","projectHash":"p"}\n'
LINE = b'{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}\n'
PROMPT = b'{"display":"hi","timestamp":1,"project":"/p","pastedContents":{}}\n'
MEMORY = b'{"intent":"x","message_summary_time":"2026-01-01 00:00:00"}\n'
TREE = {"linux": ".config", "darwin": "Library/Application Support", "win32": "AppData/Roaming"}
"""Where settings are, by platform."""
CACHE = {"linux": ".cache/trae-cli", "darwin": "Library/Caches/trae-cli", "win32": "AppData/Local/trae-cli/cache"}
platforms = pytest.mark.parametrize("platform", TREE)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def put(home: Path, name: str, data: bytes) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def database(home: Path, name: str, *keys: str) -> Path:
    path = put(home, name, b"")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        connection.executemany("INSERT INTO ItemTable VALUES (?, '{}')", [(key,) for key in keys])
    connection.close()
    return path


def here(home: Path, platform: str = "linux", **environ: str) -> list[Found]:
    return list(find(None, Machine(platform, environ, str(home), str(home / "mnt"), (str(home / "shared"),))))


def told(found: list[Found], home: Path) -> dict[str, tuple[str, str | None]]:
    names = {Path(item.path).relative_to(home).as_posix(): (item.source, item.problem) for item in found}
    assert len(names) == len(found)
    return names


def only(found: list[Found]) -> Found:
    (one,) = found
    return one


# ---- places ----------------------------------------------------------------------------------------------------------------


def build(home: Path, platform: str) -> dict[str, tuple[str, str | None]]:
    """A home with something in every place, and what is to be found there."""
    settings = TREE[platform]
    files = {
        f".claude/projects/-p/{ID}.jsonl": ("claude-code", CLAUDE),
        ".claude/history.jsonl": ("claude-code", PROMPT),
        f".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{ID}.jsonl": ("codex", ROLLOUT),
        f".codex/archived_sessions/rollout-2026-01-01T00-00-00-{OTHER}.jsonl": ("codex", ROLLOUT),
        f".codex/sessions/rollout-2025-04-01-{ID}.json": ("codex", b'{"session":{"id":"x"},"items":[]}'),
        ".codex/history.jsonl": ("codex", b'{"session_id":"x","ts":1,"text":"hi"}\n'),
        ".codex/session_index.jsonl": ("codex", b'{"id":"x","thread_name":"n","updated_at":"2026-01-01T00:00:00Z"}\n'),
        f".copilot/session-state/{ID}/events.jsonl": ("copilot-cli", EVENT),
        f".copilot/session-state/{OTHER}.jsonl": ("copilot-cli", EVENT),
        f".copilot/history-session-state/session_{ID}_17.json": (
            "copilot-cli",
            b'{"sessionId":"x","chatMessages":[],"timeline":[]}',
        ),
        f"{settings}/Code/User/workspaceStorage/w/chatSessions/{ID}.jsonl": ("copilot", LOG),
        f"{settings}/VSCodium/User/workspaceStorage/w/chatSessions/{ID}.json": ("copilot", SESSION),
        f"{settings}/Code - Insiders/User/globalStorage/emptyWindowChatSessions/{ID}.jsonl": ("copilot", LOG),
        f"{settings}/Cursor/User/globalStorage/emptyWindowChatSessions/{ID}.json": ("copilot", SESSION),
        f"{settings}/Trae/User/globalStorage/transferredChatSessions/{ID}.json": ("copilot", SESSION),
        f".vscode-server/data/User/workspaceStorage/w/GitHub.copilot-chat/transcripts/{ID}.jsonl": ("copilot", EVENT),
        f".cursor/projects/p/agent-transcripts/{ID}/{ID}.jsonl": ("cursor", LINE),
        f".cursor/projects/p/agent-transcripts/{OTHER}.txt": ("cursor", b"user:\nhi\n"),
        f".gemini/tmp/p/chats/session-2026-03-01T08-00-{ID[:8]}.jsonl": ("gemini-cli", GEMINI),
        f".gemini/tmp/p/chats/session-2026-01-01T08-00-{ID[:8]}.json": ("gemini-cli", GEMINI.replace(b"}", b',"messages":[]}')),
        f".gemini/tmp/p/chats/{OTHER}/{ID}.jsonl": ("gemini-cli", GEMINI),
        ".gemini/tmp/p/checkpoint-tag.json": ("gemini-cli", b'{"history":[]}'),
        ".gemini/tmp/p/checkpoints/a.json": ("gemini-cli", b'{"history":[{"role":"user","parts":[]}]}'),
        ".gemini/tmp/p/logs.json": ("gemini-cli", b'[{"sessionId":"s","messageId":0,"message":"hi"}]'),
        ".trae/memory/projects/p/20260101/session_memory_s.jsonl": ("trae", MEMORY),
        f".trae/cli/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{ID}.jsonl": ("trae", ROLLOUT),
        f"{CACHE[platform]}/sessions/{ID}/events.jsonl": (
            "trae",
            b'{"id":"1","session_id":"s","created_at":"x","message":{}}\n',
        ),
    }
    for name, (_, data) in files.items():
        put(home, name, data)
    database(home, f"{settings}/Cursor/User/globalStorage/state.vscdb", "composer.composerHeaders")
    database(home, f"{settings}/Cursor Nightly/User/workspaceStorage/w/state.vscdb", "composer.composerData")
    database(home, f".cursor/chats/p/{ID}/store.db")
    database(home, f"{settings}/Trae CN/User/workspaceStorage/w/state.vscdb", "memento/icube-ai-chat")
    wanted: dict[str, tuple[str, str | None]] = {name: (source, None) for name, (source, _) in files.items()}
    wanted[f"{settings}/Cursor/User/globalStorage/state.vscdb"] = ("cursor", None)
    wanted[f"{settings}/Cursor Nightly/User/workspaceStorage/w/state.vscdb"] = ("cursor", None)
    wanted[f".cursor/chats/p/{ID}/store.db"] = ("cursor", None)
    wanted[f"{settings}/Trae CN/User/workspaceStorage/w/state.vscdb"] = ("trae", None)
    return wanted


def test_every_source_has_places_with_variants_that_it_has() -> None:
    assert set(PLACES) == set(SOURCES)
    for source, places in PLACES.items():
        for place in places:
            assert place.variant in SOURCES[source].variants or place.problem == "unsupported"


@platforms
def test_every_place_of_a_platform_is_looked_at(home: Path, platform: str) -> None:
    wanted = build(home, platform)

    assert told(here(home, platform), home) == wanted


@platforms
def test_a_home_of_any_platform_can_be_given(home: Path, platform: str) -> None:
    wanted = build(home, platform)

    assert told(list(discover([home])), home) == wanted


@platforms
def test_what_is_found_can_be_parsed_and_has_the_same_stamp(home: Path, platform: str) -> None:
    build(home, platform)

    for found in here(home, platform):
        result = parse(found.path, found.source)
        assert (result.source, result.stamp) == (found.source, found.stamp)
        assert len(found.stamp) == 32


def test_every_editor_is_looked_at(home: Path) -> None:
    for fork in FORKS:
        put(home, f".config/{fork}/User/workspaceStorage/w/chatSessions/{ID}.jsonl", LOG)

    assert {Path(item.path).parents[4].name for item in here(home)} == set(FORKS)


def test_ids_are_those_of_the_names(home: Path) -> None:
    build(home, "linux")
    by_name = {Path(item.path).relative_to(home).as_posix(): item.conversation_ids for item in here(home)}

    assert by_name[f".claude/projects/-p/{ID}.jsonl"] == (ID,)
    assert by_name[f".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{ID}.jsonl"] == (ID,)
    assert by_name[f".copilot/session-state/{ID}/events.jsonl"] == (ID,)
    assert by_name[f".copilot/history-session-state/session_{ID}_17.json"] == (ID,)
    assert by_name[".config/Cursor/User/globalStorage/state.vscdb"] == ()
    assert by_name[".claude/history.jsonl"] == ()


def test_the_environment_comes_first_and_the_usual_places_after_it(home: Path) -> None:
    inside = put(home, f".claude/projects/-p/{OTHER}.jsonl", CLAUDE)
    named = put(home, f"elsewhere/projects/-p/{ID}.jsonl", CLAUDE)
    moved = put(home, f"settings/Code/User/workspaceStorage/w/chatSessions/{ID}.jsonl", LOG)
    portable = put(home, f"portable/user-data/User/workspaceStorage/w/chatSessions/{OTHER}.jsonl", LOG)
    state = put(home, f"state/.copilot/session-state/{ID}/events.jsonl", EVENT)
    traex = put(home, f"trae/cli/sessions/rollout-2026-01-01T00-00-00-{ID}.jsonl", ROLLOUT)
    environ = {"CLAUDE_CONFIG_DIR": "elsewhere", "XDG_CONFIG_HOME": "settings", "VSCODE_PORTABLE": "portable"}
    environ |= {"XDG_STATE_HOME": "state", "TRAE_HOME": "trae"}
    found = here(home, **{name: str(home / value) for name, value in environ.items()})

    assert [Path(item.path) for item in found] == [named, inside, portable, moved, state, traex]


def test_servers_of_editors_in_containers_are_looked_at(home: Path) -> None:
    path = put(home, f"shared/.vscode-server/data/User/workspaceStorage/w/GitHub.copilot-chat/transcripts/{ID}.jsonl", EVENT)

    assert Path(only(here(home)).path) == path


def test_windows_is_looked_at_from_wsl(home: Path) -> None:
    path = put(home, f"mnt/c/Users/ada/AppData/Roaming/Cursor/User/workspaceStorage/w/chatSessions/{ID}.jsonl", LOG)
    put(home, f"mnt/data/Users/ada/.claude/projects/-p/{ID}.jsonl", CLAUDE)
    (home / "mnt" / "d").mkdir()

    assert here(home) == []
    assert Path(only(here(home, WSL_DISTRO_NAME="Ubuntu")).path) == path


# ---- roots -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "inside"),
    [
        ("base", f"base/projects/-p/{ID}.jsonl"),
        ("base/User", f"base/User/workspaceStorage/w/chatSessions/{ID}.jsonl"),
        ("base", f"base/User/workspaceStorage/w/chatSessions/{ID}.jsonl"),
    ],
)
def test_a_folder_of_a_product_can_be_given(home: Path, root: str, inside: str) -> None:
    path = put(home, inside, CLAUDE if "projects" in inside else LOG)

    assert Path(only(list(discover([home / root]))).path) == path


def test_a_database_of_editors_belongs_to_the_editor_of_the_folder(home: Path) -> None:
    for name in ("Cursor", "Trae", "Another"):
        database(home, f"x/{name}/User/globalStorage/state.vscdb", "composer.composerHeaders")
    found = list(discover([home / "x" / "Cursor", home / "x" / "Trae" / "User", home / "x" / "Another"]))

    assert told(found, home / "x") == {
        "Cursor/User/globalStorage/state.vscdb": ("cursor", None),
        "Trae/User/globalStorage/state.vscdb": ("trae", None),
    }


def test_a_root_that_is_a_link_counts_once(home: Path) -> None:
    put(home, f".claude/projects/-p/{ID}.jsonl", CLAUDE)
    (home / "link").symlink_to(home / ".claude")
    (home / "again").symlink_to(home)
    (home / ".config").mkdir()
    (home / ".config" / "claude").symlink_to(home / ".claude")

    assert len(list(discover([home, home / "again", home / "link", home]))) == 1


def test_a_folder_of_projects_may_lie_elsewhere(home: Path) -> None:
    put(home, f"disk/-p/{ID}.jsonl", CLAUDE)
    (home / ".claude").mkdir()
    (home / ".claude" / "projects").symlink_to(home / "disk")

    assert only(here(home)).problem is None


@pytest.mark.parametrize("roots", ["/somewhere", Path("/somewhere")])
def test_one_folder_is_no_list_of_folders(roots: str) -> None:
    with pytest.raises(ConvparseError, match="put the one folder in a list"):
        discover(roots)


def test_a_root_must_be_a_folder(home: Path) -> None:
    with pytest.raises(ConvparseError, match="is not a folder"):
        discover([home / "nothing"])


def test_without_roots_this_machine_is_looked_at(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(home, sys.platform)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)

    assert {item.source for item in discover()} == set(SOURCES)


# ---- sessions --------------------------------------------------------------------------------------------------------------


def test_files_of_sub_agents_belong_to_their_session(home: Path) -> None:
    put(home, f".claude/projects/-p/{ID}.jsonl", CLAUDE)
    put(home, ".claude/projects/-p/agent-1a.jsonl", AGENT)
    put(home, f".claude/projects/-p/{ID}/subagents/agent-a1.jsonl", AGENT)
    put(home, f".claude/projects/-p/{ID}/subagents/workflows/r/agent-a2.jsonl", AGENT)
    put(home, f".claude/projects/-p/{ID}/tool-results/x.jsonl", b"not a session")

    assert only(here(home)).conversation_ids == (ID,)


def test_an_agent_beside_many_sessions_is_looked_at_once_for_all_of_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [put(home, f".claude/projects/-p/{letter * 8}.jsonl", CLAUDE) for letter in "abc"]
    agent = put(home, ".claude/projects/-p/agent-1a.jsonl", AGENT.replace(ID.encode(), b"bbbbbbbb"))
    looks = []
    monkeypatch.setattr(files, "read_beginning", lambda path, size: (looks.append(path), read_beginning(path, size))[1])

    found = here(home)

    assert [str(agent)] == looks
    assert [str(path) for path in sessions] == [item.path for item in found]
    assert [parse(path).stamp for path in sessions] == [item.stamp for item in found]


def test_the_days_of_codex_are_listed_once_for_all_forks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is found is what a parse finds."""
    base = put(home, f".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{ID}.jsonl", ROLLOUT)
    forks = [OTHER[:-1] + digit for digit in "345"]
    header = ROLLOUT.replace(b'"%b"' % ID.encode(), b'"%b","history_base":{"thread_id":"%b"}')
    for id in forks:
        data = header % (id.encode(), ID.encode())
        put(home, f".codex/sessions/2026/01/02/rollout-2026-01-02T00-00-00-{id}.jsonl", data)
    looks = []
    glob = Path.glob
    monkeypatch.setattr(Path, "glob", lambda path, pattern: (looks.append(pattern), glob(path, pattern))[1])

    found = here(home)

    assert ["rollout-*.jsonl*", "*/*/*/rollout-*.jsonl*"] == looks
    assert [base, *sorted(base.parents[1].glob("02/*"))] == [Path(item.path) for item in found]
    assert [item.stamp for item in found] == [parse(item.path).stamp for item in found]


def test_sub_agents_without_their_session_are_found_once(home: Path) -> None:
    put(home, f".claude/projects/-p/{ID}/subagents/agent-a1.jsonl", AGENT)
    put(home, f".claude/projects/-p/{ID}/subagents/workflows/r/agent-a2.jsonl", AGENT)
    put(home, ".claude/projects/-q/agent-1a.jsonl", AGENT)
    found = here(home)

    assert told(found, home) == {
        f".claude/projects/-p/{ID}": ("claude-code", None),
        ".claude/projects/-q/agent-1a.jsonl": ("claude-code", None),
    }
    assert [item.conversation_ids for item in found] == [("1a",), (ID,)]
    assert all(parse(item.path).stamp == item.stamp for item in found)


def test_the_flat_twin_of_a_log_belongs_to_it(home: Path) -> None:
    log = put(home, f".config/Code/User/workspaceStorage/w/chatSessions/{ID}.jsonl", LOG)
    log.with_suffix(".json").write_bytes(SESSION)

    assert Path(only(here(home)).path) == log


def rollout(id: str, base: str | None = None) -> bytes:
    return ROLLOUT if base is None else ROLLOUT.replace(b'"id"', b'"history_base":{"thread_id":"%b"},"id"' % base.encode())


def test_a_rollout_that_another_builds_on_is_a_session_if_its_thread_is_another(home: Path) -> None:
    """A fork has a parent, a reverted thread only an earlier file."""
    day, last = ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-0", "0a0b0c0d-0000-4000-8000-00000000000f"
    put(home, f"{day}0-{ID}.jsonl", rollout(ID))
    fork = put(home, f"{day}1-{OTHER}.jsonl", rollout(OTHER, ID))

    assert len(here(home)) == 2
    put(home, f"{day}2-{ID}_{last}.jsonl", rollout(ID, OTHER))
    put(home, f"{day}3-{ID}_{OTHER}.jsonl", rollout(ID, last))
    assert [item.conversation_ids for item in here(home)].count((OTHER,)) == 1
    assert str(fork) in {item.path for item in here(home)}
    assert sum(item.conversation_ids == (ID,) for item in here(home)) < 3


# ---- stamps ----------------------------------------------------------------------------------------------------------------


def changes(path: Path) -> Iterator[None]:
    """After every step the stamp must be another."""
    stamps = [only(list(discover([path]))).stamp]
    while True:
        yield
        stamps.append(only(list(discover([path]))).stamp)
        assert len(set(stamps)) == len(stamps)


def test_a_stamp_changes_with_everything_that_would_be_read(home: Path) -> None:
    session = put(home, f".claude/projects/-p/{ID}.jsonl", CLAUDE)
    change = changes(home)
    next(change)
    session.write_bytes(CLAUDE * 2)
    next(change)
    agent = put(home, f".claude/projects/-p/{ID}/subagents/agent-a1.jsonl", AGENT)
    next(change)
    agent.write_bytes(AGENT * 2)
    next(change)
    output = put(home, f".claude/projects/-p/{ID}/tool-results/x.txt", b"output")
    next(change)
    os.utime(output, ns=(1, 1))
    next(change)
    agent.unlink()
    next(change)


def test_a_stamp_of_a_database_changes_with_its_log(home: Path) -> None:
    path = database(home, ".config/Cursor/User/globalStorage/state.vscdb", "composer.composerHeaders")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=wal")
    change = changes(home)
    next(change)
    connection.execute("INSERT INTO ItemTable VALUES ('a', 'b')")
    next(change)
    connection.execute("INSERT INTO ItemTable VALUES ('c', 'd')")
    next(change)
    found = only(list(discover([home])))
    assert parse(path, "cursor").stamp == found.stamp
    assert {result.stamp for result in iter_conversations(path, "cursor")} == {found.stamp}
    connection.execute("PRAGMA wal_checkpoint(RESTART)")
    next(change)
    connection.execute("INSERT INTO ItemTable VALUES ('e', 'f')")
    next(change)
    connection.close()


def test_a_stamp_is_the_same_from_everywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(home, f".claude/projects/-p/{ID}.jsonl", CLAUDE)
    put(home, f".claude/projects/-p/{ID}/subagents/agent-a1.jsonl", AGENT)
    monkeypatch.chdir(path.parent)

    assert parse(f"{ID}.jsonl").stamp == parse(path).stamp == parse(path.with_suffix("")).stamp == only(here(home)).stamp


def test_a_stamp_of_files_that_are_not_there_is_one_too(tmp_path: Path) -> None:
    assert _stamps.stamp_of([str(tmp_path / "a")]) != _stamps.stamp_of([str(tmp_path / "b")])
    assert _stamps.database_facts(str(tmp_path / "a"))


# ---- problems --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "source", "problem"),
    [
        (f".claude/projects/-p/{ID}.jsonl", b"", "claude-code", "empty"),
        (f".claude/projects/-p/{ID}.jsonl", b"<html></html>", "claude-code", "foreign"),
        (f".claude/projects/-p/{ID}.jsonl", b"\0" * 5_000 + CLAUDE, "claude-code", None),
        (f".codex/sessions/rollout-x-{ID}.jsonl.zst", b"no frame", "codex", "foreign"),
        (".config/Cursor/User/globalStorage/state.vscdb", b"some text, no database", "cursor", "foreign"),
        (".config/Trae/ModularData/ai-agent/database.db", bytes(range(128, 256)), "trae", "encrypted"),
        (".config/Trae/ModularData/ai-agent/database.db", b"abc\x01" + bytes(range(128)), "trae", "encrypted"),
        (".copilot/jb/c/partition-1.jsonl", EVENT, "copilot-cli", "unsupported"),
        (".config/github-copilot/iu/chat-sessions/c/copilot-chat-nitrite.db", b"H:2", "copilot", "unsupported"),
    ],
)
def test_what_cannot_be_parsed_is_told(home: Path, name: str, data: bytes, source: str, problem: str | None) -> None:
    put(home, name, data)

    assert told(here(home), home) == {name: (source, problem)}


def test_an_encrypted_database_has_the_stamp_of_its_parse(home: Path) -> None:
    put(home, ".config/Trae/ModularData/ai-agent/database.db", bytes(range(128, 256)))
    database(home, ".config/Trae/User/globalStorage/state.vscdb", "memento/icube-ai-chat")

    assert {item.problem: parse(item.path).stamp == item.stamp for item in here(home)} == {"encrypted": True, None: True}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_no_file_is_told_and_not_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / ".copilot" / "session-state"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "dangling.jsonl").symlink_to(home / "nothing")
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(folder)  # the name of a socket must be short
        server.bind("socket.jsonl")
    found = {Path(item.path).name: item.problem for item in here(home)}

    assert found == {
        "pipe.jsonl": "not-regular",
        "socket.jsonl": "not-regular",
        "dangling.jsonl": "unreadable",
        "loop.jsonl": "unreadable",
    }


def test_links_to_folders_are_told_and_not_followed(home: Path) -> None:
    put(home, f"far/{ID}.jsonl", CLAUDE)
    put(home, f".claude/projects/-p/{ID}.jsonl", CLAUDE)
    (home / ".claude" / "projects" / "-q").symlink_to(home / "far")
    (home / ".claude" / "projects" / "-p" / "again").symlink_to(home / ".claude" / "projects")

    assert [(Path(item.path).name, item.problem) for item in here(home)] == [
        (f"{ID}.jsonl", None),
        ("-q", "linked-folder"),
        ("again", "linked-folder"),
    ]


def test_a_link_to_a_file_is_the_file(home: Path) -> None:
    path = put(home, f".claude/projects/-p/{ID}.jsonl", CLAUDE)
    path.with_name("z.jsonl").symlink_to(path)
    path.with_name("zz.jsonl").hardlink_to(path)

    assert Path(only(here(home)).path) == path


def test_folders_deeper_than_any_product_makes_them_are_told(home: Path) -> None:
    top = home / ".codex" / "sessions"
    top.mkdir(parents=True)
    (top / "/".join("d" * 100)).mkdir(parents=True)

    assert only(here(home)).problem == "too-deep"


def test_what_may_not_be_read_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system refuses it; root is refused nothing."""
    folder = put(home, f".claude/projects/-p/{ID}.jsonl", CLAUDE).parent
    other = put(home, f".claude/projects/-q/{OTHER}.jsonl", CLAUDE)
    scan = os.scandir

    def guarded(path: str) -> Any:
        if str(path) == str(folder):
            raise PermissionError(13, "no", path)
        return scan(path)

    def refused(path: str, size: int) -> NoReturn:
        raise PermissionError(13, "no", path)

    monkeypatch.setattr(os, "scandir", guarded)
    assert told(here(home), home) == {
        ".claude/projects/-p": ("claude-code", "unreadable"),
        f".claude/projects/-q/{OTHER}.jsonl": ("claude-code", None),
    }
    monkeypatch.setattr(_discover, "read_beginning", refused)
    assert (str(other), "unreadable") in [(item.path, item.problem) for item in here(home)]


def test_no_file_with_credentials_is_ever_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a place names is."""
    build(home, "linux")
    secrets = {
        *(".claude/.credentials.json", ".claude/settings.json", ".codex/auth.json", ".copilot/config.json", ".trae/mcp.json"),
        *(".config/github-copilot/apps.json", ".config/Trae/User/globalStorage/storage.json", ".trae/trae-jwt-token"),
    }
    for name in secrets:
        put(home, name, b'{"token":"x"}')
    opened: list[str] = []
    sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
    here(home)
    seen = {os.path.relpath(path, home) for path in opened if path.startswith(str(home))}

    assert seen
    assert not seen & secrets
