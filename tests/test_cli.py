"""The command line: what every command writes, and its exit status."""

import csv
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import attrs
import pytest

import convparse
from convparse import _cli
from convparse._options import COMMANDS
from convparse._show import render, render_drops

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
LOST = str(FIXTURES / "claude_code" / "readme.jsonl")
GOOD = str(FIXTURES / "claude_code" / "first_look.jsonl")
AGENTS = str(next((FIXTURES / "claude_code" / "agent_in_folder").glob("*.jsonl")))
THREAD = "01a2b3c4-0000-7000-8000-000000000001"
DATABASE = str(FIXTURES / "cursor" / "state.vscdb")


@pytest.fixture(autouse=True)
def _page(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def call(capsysbinary):
    """Runs the command; gives its status, and what it wrote to both streams."""

    def run(*arguments):
        status = _cli.main(arguments)
        out, err = capsysbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


def into(monkeypatch, raw=None, *, encoding="utf-8", terminal=False):
    """Puts a stream of this encoding in the place of standard output; gives its bytes."""
    raw = io.BytesIO() if raw is None else raw
    stream = io.TextIOWrapper(raw, encoding, newline="\n")
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stdout", stream)
    return raw


def stdin(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# ---- show and drops --------------------------------------------------------------------------------------------------------


def test_a_path_alone_is_shown(call):
    page = render(convparse.parse(GOOD), width=100)

    assert call(GOOD) == call("show", GOOD) == (0, f"{page}\n", "")


def test_several_files_follow_each_other(call):
    pages = [render(convparse.parse(path), messages=1, width=100) for path in (GOOD, LOST)]

    assert call("show", "--limit", "1", GOOD, LOST) == (1, "\n\n".join(pages) + "\n", "")


def test_all_messages_can_be_shown(call):
    assert "… and 2 more" in call("--limit", "2", GOOD)[1]
    assert "… and" not in call("--limit", "all", GOOD)[1]


def test_drops_are_shown_alone(call):
    page = render_drops(convparse.parse(GOOD))

    assert call("drops", GOOD) == (0, f"{page}\n", "")
    assert call("drops", GOOD, GOOD)[1] == f"{GOOD}\n{page}\n\n{GOOD}\n{page}\n"


def test_a_result_is_shown_as_json_that_is_read_back(call):
    status, out, _ = call("show", "--json", GOOD, LOST)

    assert status == 1
    assert [convparse.from_json(line) for line in out.splitlines()] == [convparse.parse(GOOD), convparse.parse(LOST)]


def test_drops_as_json_are_the_result_without_its_conversations(call):
    whole = convparse.parse(LOST)

    assert convparse.from_json(call("drops", "--json", LOST)[1]) == attrs.evolve(whole, conversations=(), loose=())


def test_a_source_can_be_given(call):
    assert call("show", "--source", "codex", GOOD)[1].startswith("codex ")


def test_one_conversation_can_be_shown(call):
    first, *_ = convparse.parse(DATABASE).conversations

    found = re.findall(r"^conversation ([^:]+):", call("show", "--conversation", first.id, DATABASE)[1], re.MULTILINE)

    assert found == [first.id]


def test_sub_agents_can_be_left_out(call):
    alone = convparse.parse(AGENTS, subagents=False)
    assert alone != convparse.parse(AGENTS)

    assert convparse.from_json(call("show", "--json", "--no-subagents", AGENTS)[1]) == alone


@pytest.mark.parametrize("piped", [False, True])
def test_drafts_are_shown_to_those_who_ask(call, monkeypatch, piped):
    path = FIXTURES / "copilot" / "pending_and_draft.json"
    stdin(monkeypatch, path.read_bytes())

    assert "secret draft" in call("show", "--drafts", "-" if piped else str(path))[1]
    assert "secret draft" not in call("show", str(path))[1]


# ---- rows ------------------------------------------------------------------------------------------------------------------


def plain(row):
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


@pytest.mark.parametrize("table", convparse.TABLES)
@pytest.mark.parametrize("options", [(), ("--format", "jsonl"), ("--json",)])
def test_rows_are_json_lines(call, table, options):
    rows = [plain(row) for path in (GOOD, LOST) for row in convparse.iter_rows(convparse.parse(path), table)]

    status, out, _ = call("rows", table, GOOD, LOST, *options)

    assert status == 1
    assert [json.loads(line) for line in out.splitlines()] == rows


def test_rows_are_csv(call):
    columns = "turn_index,first_at,duration,provisional,answer"

    status, out, _ = call("rows", "turns", "--format", "csv", "--columns", columns, GOOD)

    assert (status, out) == (0, f"{columns}\n0,2026-09-01T08:00:00.250000+00:00,,false,There are twelve notes.\n")


def test_csv_has_all_columns_and_one_heading(call):
    heading, *rows = csv.reader(io.StringIO(call("rows", "messages", "--format", "csv", GOOD, GOOD)[1]))

    assert heading == list(convparse.TABLES["messages"])
    assert len(rows) == 8


def test_rows_end_at_the_limit(call):
    status, out, _ = call("rows", "messages", "--limit", "4", "--columns", "role", GOOD, LOST)

    assert (status, out) == (0, '{"role":"user"}\n{"role":"assistant"}\n{"role":"user"}\n{"role":"assistant"}\n')


def test_a_database_is_read_one_conversation_at_a_time(call, monkeypatch):
    rows = [row for result in convparse.iter_conversations(DATABASE) for row in convparse.iter_rows(result, "conversations")]
    assert len(rows) > 1
    monkeypatch.setattr(convparse, "parse", None)

    assert [json.loads(line) for line in call("rows", "conversations", DATABASE)[1].splitlines()] == [
        plain(row) for row in rows
    ]


def test_rows_of_one_conversation(call):
    first, *_ = convparse.parse(DATABASE).conversations

    out = call("rows", "conversations", "--columns", "conversation_id", "--conversation", first.id, DATABASE)[1]

    assert out == f'{{"conversation_id":"{first.id}"}}\n'


def test_a_column_that_is_not_there_is_a_bad_call(call):
    message = "convparse: the table turns has no column 'modl'; did you mean `model`?\n"

    assert call("rows", "turns", "--columns", "model,modl", GOOD) == (2, "", message)
    assert call("rows", "turns", "--columns", "zzz", GOOD)[2].startswith(
        "convparse: the table turns has no column 'zzz'; it has conversation_id, source, turn_index, "
    )


def test_a_pipe_is_for_standard_input(call, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    message = "not a regular file but a named pipe; save its output to a file, or give - and read it from there"
    assert call(str(pipe)) == (2, "", f"convparse: {pipe}: {message}\n")


# ---- list ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path):
    """A home with a session of Claude Code, an empty file beside it, and a rollout of Codex."""
    project = tmp_path / ".claude" / "projects" / "-home-ada-notes"
    sessions = tmp_path / ".codex" / "sessions"
    project.mkdir(parents=True)
    sessions.mkdir(parents=True)
    shutil.copy(GOOD, project / "a.jsonl")
    (project / "b.jsonl").touch()
    shutil.copy(FIXTURES / "codex" / "normal_text.jsonl", sessions / f"rollout-2026-09-01T08-00-00-{THREAD}.jsonl")
    return tmp_path


def listed(home):
    """The three lines that the command writes about it."""
    project = home / ".claude" / "projects" / "-home-ada-notes"
    return [
        f"claude-code  {project / 'a.jsonl'}",
        f"claude-code  {project / 'b.jsonl'}  (passed over: empty)",
        f"codex        {home / '.codex' / 'sessions' / f'rollout-2026-09-01T08-00-00-{THREAD}.jsonl'}",
    ]


def test_what_is_found_is_listed(call, home):
    assert call("list", str(home)) == (0, "\n".join((*listed(home), "2 found, 1 passed over\n")), "")


def test_a_list_can_be_of_one_source_and_end_early(call, home):
    first, _, last = listed(home)

    assert call("list", str(home), "--source", "codex")[1] == f"{last}\n1 found, 0 passed over\n"
    assert call("list", "--limit", "1", str(home))[1] == f"{first}\n1 found, 0 passed over\n"


def test_a_list_is_json_lines(call, home):
    lines = call("list", "--json", str(home))[1].splitlines()

    expected = [
        {**attrs.asdict(found), "conversation_ids": list(found.conversation_ids)} for found in convparse.discover([home])
    ]
    assert [json.loads(line) for line in lines] == expected


def test_without_a_folder_the_places_of_this_machine_are_listed(call, monkeypatch):
    asked = []
    monkeypatch.setattr(convparse, "discover", lambda roots: asked.append(roots) or iter(()))

    assert call("list") == (0, "0 found, 0 passed over\n", "")
    assert asked == [None]


def test_a_folder_that_is_not_there_is_a_bad_call(call, tmp_path):
    status, out, err = call("list", str(tmp_path / "nothing"))

    assert (status, out) == (2, "")
    assert re.fullmatch("convparse: .*nothing is not a folder; .*\n", err)


# ---- folders ---------------------------------------------------------------------------------------------------------------


def test_a_folder_stands_for_the_sessions_below_it(call, home):
    rows = [
        row
        for found in convparse.discover([home])
        if not found.problem
        for row in convparse.iter_rows(convparse.parse(found.path), "turns")
    ]
    assert {row["conversation_id"] for row in rows} > {"51b2c7d0-1f0e-4c53-9d1c-7a3e5b9f2d04"}

    status, out, err = call("rows", "turns", str(home))

    assert (status, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [plain(row) for row in rows]


def test_a_folder_can_be_asked_for_one_source(call, home):
    path = listed(home)[2].removeprefix("codex").strip()

    assert call("drops", "--source", "codex", str(home)) == (0, f"{path}\n{render_drops(convparse.parse(path))}\n", "")


def test_the_folder_of_a_session_is_a_session(call):
    folder = AGENTS.removesuffix(".jsonl")

    assert call("drops", folder) == (0, render_drops(convparse.parse(folder)) + "\n", "")


def test_a_home_may_be_a_tilde(call, home, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))

    assert call("rows", "conversations", "--columns", "source", "~")[1] == '{"source":"claude-code"}\n{"source":"codex"}\n'


# ---- exit status and complaints --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["show", "drops", "rows"])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([GOOD], 0),
        ([LOST], 1),
        ([LOST, GOOD], 1),
        ([GOOD, "nothing.jsonl", LOST], 2),
        (["--ignore", "malformed-line", LOST], 0),
        (["--ignore", "torn-tail,missing-result", LOST], 1),
        (["--exit-zero", LOST], 0),
        (["--exit-zero", "nothing.jsonl"], 2),
    ],
)
def test_lost_content_is_a_status_of_1_and_a_bad_call_of_2(call, command, arguments, status):
    table = ["drops"] if command == "rows" else []

    assert call(command, *table, *arguments)[0] == status


def test_a_file_that_cannot_be_read_costs_no_other(call):
    status, out, err = call("drops", "nothing.jsonl", GOOD)

    assert (status, err) == (2, "convparse: nothing.jsonl: No such file or directory\n")
    assert "answer-rating" in out


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("drop", re.escape("convparse: drop: No such file or directory; did you mean `drops`?")),
        (str(FIXTURES), f"convparse: {FIXTURES}: there are no sessions below this folder that could be read; give .*"),
        (str(ROOT / "LICENSE"), f"convparse: {ROOT}/LICENSE: .*; known sources: .*. Give --source"),
        ("turns", re.escape("convparse: turns: No such file or directory; did you mean `rows turns`?")),
        ("", re.escape("convparse: : No such file or directory")),
        ("a\x1b[2J\nb", re.escape("convparse: a\\x1b[2J b: No such file or directory")),
    ],
)
def test_a_complaint_is_one_line_that_says_what_to_do(call, argument, line):
    status, out, err = call(argument)

    assert (status, out) == (2, "")
    assert re.fullmatch(line, err.removesuffix("\n"))


def test_an_error_without_words_of_the_system_is_told_too(call, monkeypatch):
    def fail(*arguments, **options):
        raise OSError("the disk is gone")

    monkeypatch.setattr(convparse, "parse", fail)

    assert call("x.jsonl") == (2, "", "convparse: x.jsonl: the disk is gone\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "nothing to show: give a PATH, or one of the commands show, drops, list, rows; --help tells more"),
        (["--limit", "-1", "a"], "argument --limit: '-1' is neither a number nor `all`"),
        (["--limit", "ten", "a"], "argument --limit: 'ten' is neither a number nor `all`"),
        (["--ignore", "torn-tails", "a"], "argument --ignore: there is no code 'torn-tails'; did you mean `torn-tail`?"),
        (["--ignore", "cursor/missing-bubble,what", "a"], "argument --ignore: there is no code 'what'"),
        (["--json", "--limit", "1", "a"], "argument --limit: not allowed with argument --json"),
        (["rows", "turn", "a"], "argument TABLE: invalid choice: 'turn'"),
        (["drops", "--source", "code", "a"], "argument --source: invalid choice: 'code'"),
        (["show"], "the following arguments are required: PATH"),
    ],
)
def test_wrong_arguments_end_with_status_2(arguments, line, capsys):
    with pytest.raises(SystemExit) as ended:
        _cli.main(arguments)

    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith("usage: convparse ")
    assert f"error: {line}" in err


@pytest.mark.parametrize("arguments", [["--help"], *([command, "--help"] for command in ("show", "drops", "list", "rows"))])
def test_help_is_ascii(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        _cli.main(arguments)

    out = capsys.readouterr().out
    assert (ended.value.code, out.isascii()) == (0, True)
    assert out.startswith(" ".join(("usage: convparse", *arguments[:-1])))


@pytest.mark.parametrize(("found", "told"), [(True, convparse.__version__), (False, "unknown")])
def test_the_version_is_told(found, told, capsys, monkeypatch):
    def nothing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    if not found:
        monkeypatch.setattr(importlib.metadata, "version", nothing)
    with pytest.raises(SystemExit) as ended:
        _cli.main(["--version"])

    assert (ended.value.code, capsys.readouterr().out) == (0, f"convparse {told}\n")


def test_the_keyboard_ends_it_quietly(call, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(convparse, "parse", interrupt)

    assert call("x.jsonl") == (130, "", "")


# ---- standard input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [GOOD, DATABASE])
@pytest.mark.parametrize("command", [["show"], ["drops"], ["rows", "messages"]])
def test_standard_input_is_read_like_a_file(call, monkeypatch, path, command):
    stdin(monkeypatch, Path(path).read_bytes())
    status, out, err = call(*command, "-")

    expected = convparse.parse_bytes(Path(path).read_bytes(), name="<stdin>")
    assert (status, err) == (int(bool(expected.lost)), "")
    if command == ["rows", "messages"]:
        assert len(out.splitlines()) == sum(len(c.messages) for c in expected.conversations)
    else:
        assert out == (render(expected, width=100) if command == ["show"] else render_drops(expected)) + "\n"


def test_what_nobody_knows_on_standard_input_is_a_bad_call(call, monkeypatch):
    stdin(monkeypatch, b"")

    assert call("-") == (
        2,
        "",
        f"convparse: <stdin>: the file is empty; known sources: {', '.join(convparse.SOURCES)}. Give --source\n",
    )


def test_no_standard_input_is_a_bad_call(call, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)

    assert call("-") == (2, "", "convparse: -: there is no standard input\n")


# ---- terminals, pipes, encodings -------------------------------------------------------------------------------------------

HOSTILE = "naïve 字 🙂 \x1b[31m\x7f \x9b2J \u202e\U000e0041 end"


@pytest.fixture
def hostile(tmp_path):
    """A session whose prompt would steer a terminal."""
    row = json.loads(Path(GOOD).read_text("utf-8").splitlines()[0])
    row["message"]["content"] = HOSTILE
    path = tmp_path / "hostile.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    return str(path)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize(
    "command", [["show"], ["show", "--json"], ["rows", "messages"], ["rows", "messages", "--format", "csv"]]
)
def test_nothing_steers_a_terminal_of_whatever_encoding(hostile, monkeypatch, encoding, command):
    raw = into(monkeypatch, encoding=encoding, terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")

    assert _cli.main([*command, hostile]) == 0
    sys.stdout.flush()
    lines = raw.getvalue().decode(encoding).splitlines()
    assert any("end" in line for line in lines)
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16"])
@pytest.mark.parametrize("terminal", [True, False])
def test_json_is_utf8_and_says_the_same_everywhere(hostile, monkeypatch, encoding, terminal):
    raw = into(monkeypatch, encoding=encoding, terminal=terminal)

    assert _cli.main(["show", "--json", hostile]) == 0
    assert convparse.from_json(raw.getvalue()).conversation.prompts[0].text == HOSTILE
    assert raw.getvalue().isascii() is (encoding != "utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_csv_in_a_pipe_is_verbatim(hostile, monkeypatch, encoding):
    raw = into(monkeypatch, encoding=encoding)

    assert _cli.main(["rows", "messages", "--format", "csv", "--columns", "text", hostile]) == 0
    assert raw.getvalue().decode() == f"text\n{HOSTILE}\n"


def test_numbers_and_paths_of_any_kind_are_written(call, monkeypatch):
    result = attrs.evolve(convparse.parse(GOOD), path="/\udcff.jsonl")
    talk = attrs.evolve(
        result.conversation,
        entries=tuple(attrs.evolve(m, usage=convparse.Usage(2**70)) for m in result.conversation.messages[:1]),
    )
    monkeypatch.setattr(convparse, "iter_conversations", lambda *a, **o: iter([attrs.evolve(result, conversations=(talk,))]))

    [line] = call("rows", "messages", "--columns", "input_tokens,path", "x")[1].splitlines()
    assert json.loads(line)["input_tokens"] == 2**70


@pytest.mark.parametrize(
    "command", [["show"], ["drops"], ["rows", "messages"], ["rows", "messages", "--format", "csv"], ["list"]]
)
def test_a_reader_that_goes_away_ends_it_quietly(call, monkeypatch, home, command):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        paths = {"list": [str(home)], "rows": [LOST]}.get(command[0], [LOST, "nothing.jsonl"])

        status, _, err = call(*command, *paths)

        assert (status, err) == (0 if command == ["list"] else 1, "")


def test_a_disk_that_is_full_is_told(call, monkeypatch):
    class Full(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Full(), write_through=True))

    assert call(GOOD) == (2, "", "convparse: the output cannot be written: No space left on device\n")


def test_without_standard_output_the_status_is_all_there_is(call, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)

    assert [call(LOST), call("rows", "messages", "--format", "csv", LOST)] == [(1, "", "")] * 2


def run(*arguments, **options):
    """The command in a process of its own, from the root of the repository."""
    words = [sys.executable, "-m", "convparse", *arguments]
    return subprocess.run(words, cwd=ROOT, capture_output=True, check=False, **options)


def test_the_module_is_the_command():
    found = run(LOST)

    assert (found.returncode, found.stderr) == (1, b"")
    assert b"lost malformed-line" in found.stdout.split(b"\ndropped:")[-1]


@pytest.mark.skipif(os.name == "nt", reason="there is no /dev/full")
def test_a_pipe_without_a_reader_is_quiet_to_the_end():
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "convparse", "rows", "messages", GOOD]
    found = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)

    assert (found.returncode, found.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_once():
    with Path("/dev/full").open("wb") as full:
        words = [sys.executable, "-m", "convparse", GOOD]
        found = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)

    assert (found.returncode, found.stderr) == (2, b"convparse: the output cannot be written: No space left on device\n")


# ---- colours ---------------------------------------------------------------------------------------------------------------


def bare(text):
    """The text without what colours it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def terminal(monkeypatch):
    """Runs the command on a terminal with colours; gives what it writes."""

    def show(*arguments, **environ):
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", **environ}.items():
            monkeypatch.setenv(name, value)
        raw = into(monkeypatch, terminal=True)
        _cli.main(arguments)
        return raw.getvalue().decode()

    return show


def test_colours_change_no_word(terminal, home):
    pytest.importorskip("rich")

    for arguments in ([LOST], ["drops", LOST], ["list", str(home)], ["--limit", "all", DATABASE]):
        coloured = terminal(*arguments)
        assert coloured != bare(coloured) == terminal(*arguments, NO_COLOR="1")


def test_colours_say_what_matters(terminal, home):
    pytest.importorskip("rich")
    red, yellow, green = "\x1b[31m", "\x1b[33m", "\x1b[32m"

    page = terminal(LOST)
    assert f"{red}85 lost" in page
    assert f": {red}lost\x1b[0m malformed-line" in page
    assert f"-> {green}ok" in page
    assert f"{yellow}(passed over: empty)" in terminal("list", str(home))


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_declined(terminal, environ):
    page = terminal(LOST, **environ)

    assert page == f"{render(convparse.parse(LOST), width=100)}\n"


def test_without_rich_all_is_plain(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "convparse._rich", None)

    assert terminal(LOST) == f"{render(convparse.parse(LOST), width=100)}\n"


def test_nothing_is_taken_for_markup(terminal, tmp_path):
    pytest.importorskip("rich")
    row = json.loads(Path(GOOD).read_text("utf-8").splitlines()[0])
    row["message"]["content"] = "[red]a[/red] :smile: [link=file:///etc]x[/link]"
    (tmp_path / "a.jsonl").write_text(json.dumps(row), "utf-8")

    assert "[red]a[/red] :smile: [link=file:///etc]x[/link]" in bare(terminal(str(tmp_path / "a.jsonl")))


# ---- documentation ---------------------------------------------------------------------------------------------------------

CONSOLE = re.findall(r"^```console\n(.*?)^```$", (ROOT / "docs" / "cli.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("bash") is None, reason="the examples are for a shell")
@pytest.mark.parametrize("example", CONSOLE)
def test_the_examples_of_the_page_are_what_the_command_writes(example):
    commands = re.findall(r"^\$ (.*)$", example, re.MULTILINE)
    python = f'"{sys.executable}"'
    script = "\n".join((f'python() {{ {python} "$@"; }}', 'convparse() { python -m convparse "$@"; }', "exec 2>&1", *commands))

    found = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)

    assert found.stdout == re.sub(r"^\$ .*\n", "", example, flags=re.MULTILINE)


def test_the_page_names_every_option(capsys):
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            _cli.main([command, "--help"])

    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert {option for option in options if f"{option}" not in page} == set()
