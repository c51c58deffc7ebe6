"""Incremental parsing: whatever was read before, and whatever became of the file since, the result is that of a fresh parse."""

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import attrs
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies_copilot, strategies_gemini
from tests.strategies import DAMAGE, Generated, claude_code_sessions, examples, mutated
from tests.strategies_codex import codex_sessions

import convparse
from convparse import SOURCES, Limits, Message, ParseResult, _after, _parse
from convparse.reading import jsonl
from convparse.reading.opening import open_regular

HERE = Path(__file__).parent


def kept(result: ParseResult) -> bool:
    found = getattr(result, "_kept", None)
    return found is not None and bool(found.files)


def row(number: int, kind: str = "user", **more: Any) -> bytes:
    """A line of Claude Code."""
    about = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number > 1 else None, "sessionId": "s", "type": kind}
    return orjson.dumps({**about, "message": {"role": "user", "content": f"text {number}"}, **more}) + b"\n"


def cursor_lines(count: int) -> bytes:
    lines = ({"role": "user", "message": {"content": [{"type": "text", "text": f"text {n}"}]}} for n in range(count))
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


ROWS = b"".join(map(row, range(1, 9)))
SILENT = b'{"type":"atis-latch","sessionId":"s"}\n'
"""A line that Claude Code's reader leaves out without a draft."""


NEW = ParseResult("", "", "")
"""As ``after`` of a first parse: nothing to go on from, but something is to be kept."""


def parse(path: Path, *source: str, after: ParseResult | None = None, **options: Any) -> ParseResult:
    """A parse by somebody who follows the file: only those pay for what is kept."""
    return convparse.parse(path, *source, after=NEW if after is None else after, **options)


class Log:
    """A file that is written to in place."""

    def __init__(self, path: Path, source: str = "claude-code") -> None:
        self.path = path
        self.source = source

    def write(self, data: bytes) -> None:
        with self.path.open("r+b" if self.path.exists() else "wb") as file:
            file.write(data)
            file.truncate()

    def parse(self, old: ParseResult | None = None, **options: Any) -> ParseResult:
        """A parse after an earlier one, proved by a fresh one."""
        result = parse(self.path, self.source, after=old, **options)
        fresh = parse(self.path, self.source, **options)
        assert result == fresh
        assert result.stamp == fresh.stamp
        assert result.account.balanced
        return result


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "s.jsonl")


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records every reading of a log decoded."""
    counts: list[int] = []
    read = jsonl.iter_records

    def counted(*args: Any, **options: Any) -> Iterator[Any]:
        units = list(read(*args, **options))
        counts.append(len(units))
        return iter(units)

    monkeypatch.setattr(jsonl, "iter_records", counted)
    return counts


# ---- equal, whatever happens -----------------------------------------------------------------------------------------------


def joined_events(draw: Any) -> bytes:
    return strategies_copilot.lines(draw(strategies_copilot.events()))


SESSIONS: dict[str, tuple[str, Callable[[Any], bytes]]] = {
    "claude-code": ("claude-code", lambda draw: draw(claude_code_sessions()).data),
    "claude-code, broken": ("claude-code", lambda draw: draw(mutated(claude_code_sessions()))),
    "codex": ("codex", lambda draw: draw(codex_sessions()).data),
    "codex, broken": ("codex", lambda draw: draw(mutated(codex_sessions()))),
    "copilot": ("copilot", joined_events),
    "gemini": ("gemini-cli", lambda draw: strategies_gemini.as_lines(draw(strategies_gemini.odd_sessions()))),
    "cursor": ("cursor", lambda draw: cursor_lines(draw(st.integers(0, 9)))),
}
every_kind = pytest.mark.parametrize("kind", SESSIONS)


@every_kind
@examples(40)
@given(drawn=st.data())
def test_a_file_that_grows_gives_what_a_fresh_parse_gives(kind: str, drawn: st.DataObject) -> None:
    """At any splits, ends of lines among them."""
    source, make = SESSIONS[kind]
    data = make(drawn.draw)
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    cuts = drawn.draw(st.lists(st.integers(0, len(data)) | st.sampled_from([0, *ends]), min_size=1, max_size=4))
    with TemporaryDirectory() as folder:
        log = Log(Path(folder, "s.jsonl"), source)
        old = None
        for cut in (*sorted(cuts), len(data)):
            log.write(data[:cut])
            old = log.parse(old)


@examples(60)
@given(drawn=st.data())
def test_a_file_that_was_rewritten_gives_what_a_fresh_parse_gives(drawn: st.DataObject) -> None:
    """In place, by anything: the same session damaged, cut, or another one."""
    one = drawn.draw(claude_code_sessions()).data
    other = drawn.draw(
        st.just(one).flatmap(lambda data: mutated(st.just(Generated([data])))) | st.just(one[: len(one) // 2] + ROWS)
    )
    with TemporaryDirectory() as folder:
        log = Log(Path(folder, "s.jsonl"))
        log.write(one)
        old = log.parse()
        log.write(other)
        new = log.parse(old)
        log.write(other + ROWS)
        log.parse(new)


@examples(60)
@given(
    damage=st.lists(st.sampled_from([*DAMAGE, SILENT.strip(), row(9).strip()]), max_size=3), end=st.sampled_from([b"", b"\n"])
)
def test_damage_at_a_seam_is_named_as_ever(damage: list[bytes], end: bytes) -> None:
    with TemporaryDirectory() as folder:
        log = Log(Path(folder, "s.jsonl"))
        log.write(ROWS + b"\n".join(damage) + end)
        old = log.parse()
        log.write(ROWS + b"\n".join(damage) + end + row(10))
        log.parse(old)


# ---- only what was appended ------------------------------------------------------------------------------------------------


def test_only_what_was_appended_is_decoded(log: Log, decoded: list[int]) -> None:
    log.write(ROWS)
    old = parse(log.path)
    log.write(ROWS + row(9))
    new = parse(log.path, after=old)

    assert decoded == [8, 1]
    assert [entry.key for entry in new.since(old)] == ["u9"]
    assert new == parse(log.path)


def test_nothing_is_decoded_of_a_file_that_stayed_the_same(log: Log, decoded: list[int]) -> None:
    log.write(ROWS)
    old = parse(log.path)

    assert parse(log.path, after=parse(log.path, after=old)) == old
    assert decoded == [8, 0, 0]


def test_a_torn_line_is_read_again_when_it_is_whole(log: Log, decoded: list[int]) -> None:
    log.write(ROWS + row(9)[:30])
    old = parse(log.path)
    log.write(ROWS + row(9))
    new = parse(log.path, after=old)

    assert [drop.code for drop in old.dropped] == ["torn-tail"]
    assert new.dropped == ()
    assert decoded == [0, 8, 0, 1]


def test_a_new_line_changes_what_was_settled(log: Log) -> None:
    """A rewind undoes rows that were read before; the earlier result stays as it was."""
    log.write(ROWS)
    old = log.parse()
    before = pickle.dumps(old)
    log.write(ROWS + row(9, parentUuid="u4"))
    new = log.parse(old)

    states = {message.key: message.state for message in new.conversation.messages}
    assert [key for key, state in states.items() if state == "undone"] == ["u5", "u6", "u7", "u8"]
    assert pickle.dumps(old) == before
    assert [entry.key for entry in new.since(old)] == ["u5", "u6", "u7", "u8", "u9"]


def test_files_of_sub_agents_are_read_on_too(tmp_path: Path, decoded: list[int]) -> None:
    log = Log(tmp_path / "s.jsonl")
    log.write(ROWS)
    (tmp_path / "s" / "subagents").mkdir(parents=True)
    agent = Log(tmp_path / "s" / "subagents" / "agent-a1.jsonl")
    agent.write(row(1, agentId="a1", isSidechain=True))
    old = parse(log.path)
    agent.write(agent.path.read_bytes() + row(2, agentId="a1", isSidechain=True))
    other = Log(tmp_path / "s" / "subagents" / "agent-a2.jsonl")
    other.write(row(1, agentId="a2", isSidechain=True))
    new = parse(log.path, after=old)

    assert decoded == [8, 1, 0, 1, 1]
    assert new == parse(log.path)
    assert {c.id for c in new.conversations} == {"s", "a1", "a2"}


def test_one_conversation_can_be_followed(log: Log, decoded: list[int]) -> None:
    log.write(ROWS)
    old = parse(log.path, conversation_id="s")
    log.write(ROWS + row(9))

    assert len(parse(log.path, after=old, conversation_id="s").conversation.entries) == 9
    assert decoded == [8, 1]


# ---- what is read from the beginning ---------------------------------------------------------------------------------------


def replaced(log: Log) -> None:
    other = log.path.with_name("other")
    other.write_bytes(log.path.read_bytes() + row(9))
    other.replace(log.path)


CHANGES: dict[str, Callable[[Log], None]] = {
    "replaced by a longer one": replaced,
    "cut": lambda log: log.write(ROWS[: -len(row(8))]),
    "emptied": lambda log: log.write(b""),
    "changed at its beginning": lambda log: log.write(ROWS.replace(b"text 1", b"TEXT 1") + row(9)),
    "changed at its end": lambda log: log.write(ROWS.replace(b"text 8", b"TEXT 8") + row(9)),
    "a mark of byte order behind it": lambda log: log.write(ROWS + b"\xef\xbb\xbf" + row(9)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_another_is_read_from_the_beginning(change: str, log: Log, decoded: list[int]) -> None:
    log.write(ROWS)
    old = parse(log.path, "claude-code")
    del decoded[:]
    CHANGES[change](log)
    parse(log.path, "claude-code", after=old)
    count = sum(decoded)
    del decoded[:]
    log.parse(old)

    assert count == decoded[-1]


@pytest.mark.parametrize("end", [SILENT, row(9)[:-1], b"\xef\xbb\xbf" + row(9)[:-1]], ids=["silent", "no line end", "mark"])
def test_an_end_that_cannot_be_parked_is_read_from_the_beginning(end: bytes, log: Log, decoded: list[int]) -> None:
    log.write(ROWS + end)
    old = log.parse()
    assert not kept(old)
    log.write(ROWS + end + b"\n" + row(10))
    new = log.parse(old)

    assert kept(new)


def test_what_is_kept_is_handed_over(log: Log, decoded: list[int]) -> None:
    """There is one reader: a second parse after the same result begins anew."""
    log.write(ROWS)
    old = parse(log.path)
    first, second = parse(log.path, after=old), parse(log.path, after=old)

    assert first == second
    assert decoded == [8, 0, 8]


@pytest.mark.parametrize("options", [{"excerpts": False}, {"limits": Limits(patterns=7)}], ids=["excerpts", "limits"])
def test_other_options_begin_anew(options: dict[str, Any], log: Log, decoded: list[int]) -> None:
    log.write(ROWS)
    parse(log.path, after=parse(log.path), **options)

    assert decoded == [8, 8]


def test_a_source_from_elsewhere_is_read_from_the_beginning(log: Log, decoded: list[int]) -> None:
    """Nothing is known of how its reader behaves."""
    source = attrs.evolve(SOURCES["claude-code"], product="mine")
    log.write(ROWS)
    parse(log.path, source, after=parse(log.path, source))

    assert decoded == [8, 8]


def test_a_result_that_was_pickled_is_equal_and_keeps_nothing(log: Log, decoded: list[int]) -> None:
    log.write(ROWS)
    old = parse(log.path)
    again = pickle.loads(pickle.dumps(old))

    assert kept(old)
    assert not kept(again)
    assert parse(log.path, after=again) == old
    assert decoded == [8, 8]


def test_a_result_from_elsewhere_costs_nothing_but_time(log: Log, tmp_path: Path) -> None:
    other = Log(tmp_path / "other.jsonl")
    other.write(row(1, sessionId="other"))
    log.write(ROWS)

    log.parse(other.parse())


def test_a_document_is_read_whole(tmp_path: Path) -> None:
    log = Log(tmp_path / "s.json", "claude-code")
    log.write(b'[{"type":"result","session_id":"s","subtype":"success","result":"done"}]')

    assert not kept(log.parse(log.parse()))


def test_a_file_that_shrinks_while_it_is_read_is_not_kept(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write(ROWS)

    def longer(path: str) -> tuple[Any, Any]:
        file, status = open_regular(path)
        names = ("st_dev", "st_ino", "st_mtime_ns")
        return file, SimpleNamespace(st_size=status.st_size + 500, **{name: getattr(status, name) for name in names})

    monkeypatch.setattr(_parse, "open_regular", longer)
    monkeypatch.setattr(_after, "_end_of_lines", lambda file, start, size: size)
    result = parse(log.path)

    assert [drop.code for drop in result.dropped] == ["vanished"]
    assert result.account.balanced
    assert not kept(result)


# ---- records over several lines --------------------------------------------------------------------------------------------


def event(number: int, text: str = "hi") -> bytes:
    about = {"type": "user.message", "id": f"e{number}", "parentId": None, "timestamp": "2026-03-01T10:00:00.000Z"}
    return orjson.dumps({**about, "data": {"content": text}}) + b"\n"


def test_a_record_over_several_lines_keeps_its_line_number(tmp_path: Path, decoded: list[int]) -> None:
    log = Log(tmp_path / "events.jsonl", "copilot-cli")
    begun = event(1) + event(2, "a@b").replace(b"@", b"\n") + event(3)
    log.write(begun)
    old = parse(log.path, "copilot-cli")
    log.write(begun + event(4) + event(5, "c@d").replace(b"@", b"\n"))
    new = parse(log.path, "copilot-cli", after=old)

    assert decoded == [3, 2]
    assert new == parse(log.path, "copilot-cli")
    assert [e.origin.line for c in new.conversations for e in c.entries if e.origin] == [1, 2, 4, 5, 6]


@pytest.mark.parametrize("cut", [10, -1], ids=["torn", "without its line end"])
def test_the_beginning_of_a_record_over_several_lines_is_not_kept(cut: int, tmp_path: Path) -> None:
    log = Log(tmp_path / "events.jsonl", "copilot-cli")
    begun = event(1) + event(2, "a@b").replace(b"@", b"\n")
    log.write(begun[:cut])
    old = log.parse()
    log.write(begun + event(3))

    assert not kept(old)
    assert kept(log.parse(old))


# ---- what resolve must not change ------------------------------------------------------------------------------------------


def files() -> list[Path]:
    found = [
        path
        for name in ("claude_code", "codex", "copilot", "cursor", "gemini_cli")
        for path in (HERE / "fixtures" / name).rglob("*.jsonl")
    ]
    assert found
    return sorted(found)


def test_every_fixture_can_be_followed_line_by_line(tmp_path: Path) -> None:
    """Resolved again and again, what was kept stays as it was read."""
    followed = 0
    for path in files():
        data = path.read_bytes()
        source = path.relative_to(HERE / "fixtures").parts[0].replace("_", "-")
        lines = data.splitlines(keepends=True)
        log = Log(tmp_path / path.name, source)
        half = b"".join(lines[: len(lines) // 2])
        log.write(half)
        old = parse(log.path, source)
        for end in (half, half + b"".join(lines[len(lines) // 2 : -1]), data):
            log.write(end)
            old = log.parse(old)
            followed += kept(old)
    assert followed > len(files())


@pytest.mark.parametrize(
    "drafts", [[(1, 2)], [Message("k", None, "user", "human"), 3], [object()]], ids=["tuples", "two kinds", "without slots"]
)
def test_drafts_of_another_make_are_not_kept(drafts: list[Any]) -> None:
    assert not _after._Drafts().add(drafts)


def test_what_is_kept_takes_part_in_nothing(log: Log) -> None:
    log.write(ROWS)
    one, other = parse(log.path), parse(log.path)
    parse(log.path, after=other)

    assert kept(one)
    assert not kept(other)
    assert (one, hash(one), repr(one)) == (other, hash(other), repr(other))
    assert attrs.evolve(one) == one
    assert not kept(attrs.evolve(one))
