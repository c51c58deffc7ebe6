import sys
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
from benchmarks import ratio
from benchmarks.generate import write_session
from benchmarks.generate_codex import write_rollout

import convparse
from convparse.drops import Account, Bin

SIZE = 400_000


def rows(path):
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    path = tmp_path_factory.mktemp("benchmarks") / "session.jsonl"
    write_session(path, SIZE, 2500)
    return path


def test_the_same_arguments_give_the_same_bytes(session, tmp_path):
    write_session(tmp_path / "same", SIZE, 2500)
    write_session(tmp_path / "other", SIZE, 2500, seed=1)
    assert (tmp_path / "same").read_bytes() == session.read_bytes()
    assert (tmp_path / "other").read_bytes() != session.read_bytes()


@pytest.mark.parametrize("mean, size", [(1000, SIZE), (2500, SIZE), (10_000, 2 * SIZE), (50_000, 8 * SIZE)])
def test_lines_have_the_mean_length_that_was_asked_for(mean, size, tmp_path):
    lines = write_session(tmp_path / "a", size, mean)
    data = (tmp_path / "a").read_bytes()
    assert data.count(b"\n") == lines
    assert len(data) >= size
    assert len(data) / lines == pytest.approx(mean, rel=0.15)


def test_lines_are_compact_json(session):
    lines = session.read_bytes().splitlines()
    assert all(orjson.dumps(orjson.loads(line)) == line for line in lines)
    assert not session.read_bytes().isascii()


def test_parents_and_calls_are_there_before_they_are_named(session):
    seen, calls, results, times = {None}, set(), set(), []
    for row in rows(session):
        if row["type"] == "last-prompt":
            assert row["leafUuid"] in seen
        if "uuid" not in row:
            continue
        assert row["parentUuid"] in seen
        assert row["uuid"] not in seen
        seen.add(row["uuid"])
        times.append(row["timestamp"])
        for block in row.get("message", {}).get("content", ()):
            if isinstance(block, dict) and block["type"] == "tool_use":
                calls.add(block["id"])
            elif isinstance(block, dict) and block["type"] == "tool_result":
                assert block["tool_use_id"] in calls
                results.add(block["tool_use_id"])
    assert calls == results
    assert times == sorted(times)


@pytest.mark.parametrize("mean", [900, 2500, 10_000])
def test_a_rollout_is_healthy_and_all_in_it_is_told_twice(mean, tmp_path):
    lines = write_rollout(tmp_path / "a", 2 * SIZE, mean)
    assert (tmp_path / "a").stat().st_size / lines == pytest.approx(mean, rel=0.15)
    write_rollout(tmp_path / "same", 2 * SIZE, mean)
    assert (tmp_path / "same").read_bytes() == (tmp_path / "a").read_bytes()
    result = convparse.parse(tmp_path / "a")
    assert result.source == "codex"
    assert result.dropped == ()
    assert all(message.merged for message in result.conversation.messages if message.author != "tool")
    assert all(use.outcome in ("ok", "error") for use in result.conversation.tool_calls())


def test_every_case_is_measured_in_every_round_and_its_result_checked(session):
    checked = []

    def check(name, path, kept):
        checked.append((name, path, kept))

    times = ratio.measure(session, {"floor": ratio.floor, "keep": ratio.keep, "parse": lambda path: path.name}, 3, check=check)
    assert {name: len(found) for name, found in times.items()} == {"floor": 3, "keep": 3, "parse": 3}
    assert len(ratio.ratios(times, "keep")) == 3
    assert [kept for name, _, kept in checked if name == "parse"] == ["session.jsonl"] * 4
    assert all(path == session for _, path, _ in checked)


def test_a_ratio_is_taken_within_its_round():
    assert ratio.ratios({"floor": [1.0, 2.0], "parse": [3.0, 3.0]}, "parse") == [3.0, 1.5]


@pytest.mark.parametrize(
    "size, mapped, message", [(9, 9, None), (9, 8, "does not balance"), (8, 8, "8 bytes are accounted for, not 9")]
)
def test_a_parse_that_loses_bytes_fails(size, mapped, message, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b'{"a": 1}\n')
    account = Account(str(path), size, Bin(1, mapped))
    result = SimpleNamespace(account=account, accounts=(account,))
    if message is None:
        assert len(ratio.measure(path, {"floor": ratio.floor, "parse": lambda path: result}, 1)["parse"]) == 1
    else:
        with pytest.raises(AssertionError, match=message):
            ratio.measure(path, {"parse": lambda path: result}, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell")
def test_keeping_values_takes_memory(tmp_path):
    write_session(tmp_path / "a", 10 * SIZE, 2500)
    assert ratio.memory(tmp_path / "a", "keep")[0] > 5 * SIZE


def test_tables_are_aligned():
    assert ratio.table(["a", "bb"], [["1", "2"], ["333", "4"]]) == "  a  bb\n  1   2\n333   4"


def test_every_generator_writes_lines(tmp_path):
    for name, write in ratio.GENERATORS.items():
        path = Path(tmp_path, name)
        assert write(path, 10_000, 2000) == len(rows(path)) > 0
