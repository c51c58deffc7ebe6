"""Paths that are no files, names that are no text, files that change while they are read: a clear error, never a hang.

Every way in is tried with every path. What changes meanwhile is changed at the moment the file has been opened, so that no test
depends on time.
"""

import errno
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from benchmarks.reliability import laws

import convparse
from convparse import ConvparseError, ParseResult, _parse

FIXTURES: Final = Path(__file__).parent / "fixtures"
LOGS: Final = {
    "claude-code": "claude_code/readme.jsonl",
    "codex": "codex/normal_text.jsonl",
    "copilot": "copilot/log_streaming.jsonl",
    "copilot-cli": "copilot_cli/normal_text.jsonl",
    "trae": "trae/memory/session_memory_67f0c0de00a1b2c3d4e5f601.jsonl",
}
WAYS: Final[dict[str, Callable[[Any], Any]]] = {
    "parse": convparse.parse,
    "parse with a source": lambda path: convparse.parse(path, "claude-code"),
    "parse as a database": lambda path: convparse.parse(path, "cursor"),
    "detect": convparse.detect,
    "iter_conversations": lambda path: list(convparse.iter_conversations(path)),
}
ways = pytest.mark.parametrize("way", WAYS)


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "x.jsonl")
    return folder / "x.jsonl"


def _link_to_a_pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    (folder / "x.jsonl").symlink_to(folder / "pipe")
    return folder / "x.jsonl"


def _socket(folder: Path) -> Path:
    here = Path.cwd()
    os.chdir(folder)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("x.jsonl")
    finally:
        os.chdir(here)
    return folder / "x.jsonl"


def _link(target: str) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        (folder / "x.jsonl").symlink_to(target)
        return folder / "x.jsonl"

    return made


def _inside_a_file(folder: Path) -> Path:
    (folder / "file").write_bytes(b"")
    return folder / "file" / "x.jsonl"


def _loop_of_folders(folder: Path) -> Path:
    (folder / "a").symlink_to(folder / "b", target_is_directory=True)
    (folder / "b").symlink_to(folder / "a", target_is_directory=True)
    return folder / "a" / "x.jsonl"


def _folder(folder: Path) -> Path:
    (folder / "x.jsonl").mkdir()
    return folder / "x.jsonl"


PATHS: Final[dict[str, tuple[Callable[[Path], Path], int, str]]] = {
    "a named pipe": (_pipe, errno.EINVAL, "a named pipe"),
    "a link to a named pipe": (_link_to_a_pipe, errno.EINVAL, "a named pipe"),
    "a socket": (_socket, errno.EINVAL, "a socket"),
    "a device": (lambda folder: Path("/dev/zero"), errno.EINVAL, "a device"),
    "a link to a device": (_link("/dev/zero"), errno.EINVAL, "a device"),
    "the terminal": (lambda folder: Path("/dev/tty"), errno.EINVAL, "a device"),
    "a link to itself": (_link("x.jsonl"), errno.ELOOP, "Too many levels"),
    "a loop of folders": (_loop_of_folders, errno.ELOOP, "Too many levels"),
    "a link to nowhere": (_link("nowhere"), errno.ENOENT, "No such file"),
    "nothing": (lambda folder: folder / "x.jsonl", errno.ENOENT, "No such file"),
    "a path through a file": (_inside_a_file, errno.ENOTDIR, "Not a directory"),
    "a name that is too long": (lambda folder: folder / ("x" * 300), errno.ENAMETOOLONG, "too long"),
}


@ways
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
@pytest.mark.parametrize("what", PATHS)
def test_what_is_no_file_is_refused(what: str, way: str, tmp_path: Path) -> None:
    make, number, words = PATHS[what]
    path = make(tmp_path)
    if path.is_absolute() and path.parts[1] == "dev" and not path.exists():
        pytest.skip("there is none here")

    with pytest.raises(OSError, match=words) as caught:
        WAYS[way](path)

    assert caught.value.errno == number


@ways
def test_a_folder_of_no_session_is_told(way: str, tmp_path: Path) -> None:
    with pytest.raises(convparse.UnknownSource, match="is a folder, but not one of a session"):
        WAYS[way](_folder(tmp_path))


@ways
def test_an_empty_path_is_nothing(way: str) -> None:
    with pytest.raises(FileNotFoundError):
        WAYS[way]("")


@ways
def test_a_name_with_a_nul_is_the_caller_s_mistake(way: str) -> None:
    with pytest.raises(ConvparseError, match="NUL"):
        WAYS[way]("a\0b")


@ways
def test_a_file_that_must_not_be_read_is_told(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    shutil.copy(FIXTURES / LOGS["claude-code"], path)

    def denied(name: Any, *args: Any, open: Any = os.open, **options: Any) -> int:
        if os.fspath(name) == str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        return int(open(name, *args, **options))

    monkeypatch.setattr("os.open", denied)
    with pytest.raises(PermissionError):
        WAYS[way](path)


def test_of_many_each_is_told(tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    shutil.copy(FIXTURES / LOGS["codex"], good)
    paths = [_link("x.jsonl")(tmp_path), good, tmp_path / "none", tmp_path]
    done = list(convparse.parse_many(paths, workers=1))
    assert [type(one.error) for one in done] == [OSError, type(None), FileNotFoundError, convparse.UnknownSource]


# ---- names -----------------------------------------------------------------------------------------------------------------

NAMES: Final = [
    b"\xff\xfe.jsonl",
    b"line\nend.jsonl",
    b"\x1b[2Jred.jsonl",
    "\u202eexe.jsonl".encode(),
    b"a b%20?#.jsonl",
    b"-rf",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", [*LOGS, "cursor"])
def test_any_name_can_be_parsed_and_shown(name: bytes, source: str, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(name)
    try:
        path.write_bytes((FIXTURES / (LOGS | {"cursor": "cursor/chat/store.db"})[source]).read_bytes())
        if source in LOGS:
            path.write_bytes(path.read_bytes() + b"not JSON\n")
    except OSError:
        pytest.skip("this file system has no such names")

    result = convparse.parse(path, source)

    assert all(account.balanced for account in result.accounts)
    assert (result.path, result.accounts[0].path) == (str(path), str(path))
    assert result.lost
    shown = [str(drop) for drop in result.lost] + [str(result)]
    assert all(text.replace("\n", "").isprintable() for text in shown)
    "".join(shown).encode()
    assert convparse.from_json(convparse.to_json(result)) == result


# ---- files beside a session ------------------------------------------------------------------------------------------------

BESIDE: Final = {
    "claude-code": ("claude_code/workflow", "s1.jsonl", "s1/subagents/workflows/wf_1/agent-k1.jsonl"),
    "codex": (
        "codex/forked",
        "sessions/2026/03/02/rollout-2026-03-02T11-00-00-th9-0000.jsonl",
        "sessions/2026/03/01/rollout-2026-03-01T10-00-00-th1-0000.jsonl",
    ),
    "copilot": ("copilot/twin_and_workspace", "w1/chatSessions/s1.jsonl", "w1/workspace.json"),
    "copilot-cli": ("copilot_cli/session_folder", "events.jsonl", "workspace.yaml"),
    "cursor": ("cursor/chat", "store.db", "meta.json"),
    "trae": ("trae/inline", "state.vscdb", "workspace.json"),
}
"""A folder of each source, the file that is parsed, and one that belongs to it."""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
@pytest.mark.parametrize("what", ["a named pipe", "a socket", "a link to itself", "a link to nowhere", "a link to a device"])
@pytest.mark.parametrize("source", BESIDE)
def test_a_file_beside_that_is_none_costs_itself_alone(source: str, what: str, tmp_path: Path) -> None:
    folder, main, other = BESIDE[source]
    shutil.copytree(FIXTURES / folder, tmp_path / "f")
    path = tmp_path / "f" / other
    whole = convparse.parse(tmp_path / "f" / main, source)
    path.unlink()
    (tmp_path / "made").mkdir()
    PATHS[what][0](tmp_path / "made").rename(path)

    result = convparse.parse(tmp_path / "f" / main, source)

    assert all(account.balanced for account in result.accounts)
    assert [c.id for c in result.roots] == [c.id for c in whole.roots]
    assert str(path) not in {entry.origin.path for entry in laws.entries(result) if entry.origin is not None}


# ---- files that change while they are read ---------------------------------------------------------------------------------


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[Path], None]]:
    """What happens to a file once it has been opened to be read."""
    events: list[Callable[[Path], None]] = []
    opened = _parse.open_regular

    def opening(path: str) -> Any:
        found = opened(path)
        for event in events:
            event(Path(path))
        return found

    monkeypatch.setattr(_parse, "open_regular", opening)
    return events


def facts(result: ParseResult) -> Any:
    return result.conversations, result.loose, result.dropped, [account.bins for account in result.accounts]


@pytest.mark.parametrize("source", LOGS)
def test_a_file_that_grows_is_read_to_the_size_it_had(source: str, tmp_path: Path, meanwhile: list[Any]) -> None:
    path = tmp_path / "x.jsonl"
    data = (FIXTURES / LOGS[source]).read_bytes()
    path.write_bytes(data)
    before = convparse.parse(path, source)
    meanwhile.append(lambda opened: opened.write_bytes(data + data))

    result = convparse.parse(path, source)

    assert facts(result) == facts(before)
    assert result.account.size == len(data)


@pytest.mark.parametrize("source", LOGS)
def test_a_file_that_is_cut_while_it_is_read_is_told(source: str, tmp_path: Path, meanwhile: list[Any]) -> None:
    path = tmp_path / "x.jsonl"
    data = (FIXTURES / LOGS[source]).read_bytes()
    path.write_bytes(data)
    end = data.index(b"\n") + 1
    meanwhile.append(lambda opened: os.truncate(opened, end))

    result = convparse.parse(path, source)

    (drop,) = [drop for drop in result.lost if drop.code == "vanished"]
    assert (drop.bytes, drop.origin.offset) == (len(data) - end, end)
    assert result.account.size == len(data)
    assert result.account.balanced


@pytest.mark.parametrize("source", LOGS)
def test_a_file_that_is_replaced_while_it_is_read_is_the_one_that_was_opened(
    source: str, tmp_path: Path, meanwhile: list[Any]
) -> None:
    path = tmp_path / "x.jsonl"
    data = (FIXTURES / LOGS[source]).read_bytes()
    path.write_bytes(data)
    before = convparse.parse(path, source)

    def replace(opened: Path) -> None:
        (tmp_path / "new").write_bytes(b"nothing of it\n" * 100)
        (tmp_path / "new").replace(opened)

    meanwhile.append(replace)
    result = convparse.parse(path, source)

    assert facts(result) == facts(before)
    with pytest.raises(convparse.SourceChanged):
        result.read(next(entry.origin for entry in laws.entries(result) if entry.origin is not None))
