"""``parse_many``: in input order, whatever happens to a file or a worker, here and in other processes."""

import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NoReturn

import attrs
import orjson
import pytest
from tests.environment import unmeasured

from convparse import (
    SOURCES,
    ConvparseError,
    Done,
    Found,
    Limits,
    ParseResult,
    Source,
    UnknownSource,
    _many,
    discover,
    parse,
    parse_many,
)
from convparse.extending import Variant

CONTEXTS = ("spawn", *(name for name in multiprocessing.get_all_start_methods() if name == "fork"))


def line(number: int) -> bytes:
    about = {"type": "user", "uuid": f"u{number}", "parentUuid": None, "sessionId": f"s{number}"}
    return orjson.dumps({**about, "message": {"role": "user", "content": f"text {number}"}}) + b"\n"


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"{number}.jsonl" for number in range(12)]
    for number, path in enumerate(made):
        path.write_bytes(line(number))
    return made


def editor(path: Path, count: int) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for number in range(count):
            head = {"_v": 3, "composerId": f"c{number:02}", "createdAt": 1_767_225_600_000, "fullConversationHeadersOnly": []}
            connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:c{number:02}", orjson.dumps(head)))
    connection.close()
    return path


# ---- what workers do, at the top of a module -------------------------------------------------------------------------------


def first_text(result: ParseResult) -> str:
    return result.conversation.messages[0].text


def stamp_of(result: ParseResult) -> str | None:
    return result.conversation.stamp if result.conversations else None


def whose(result: ParseResult) -> int:
    return os.getpid()


def kill_one(result: ParseResult) -> str:
    if result.path.endswith("3.jsonl"):
        os._exit(7)
    return first_text(result)


def fail_one(result: ParseResult) -> str:
    if result.path.endswith("3.jsonl"):
        raise ValueError("three")
    return first_text(result)


class OddError(Exception):
    """Can be pickled, and not be loaded."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__("odd")


def fail_oddly(result: ParseResult) -> NoReturn:
    raise OddError(1, 2)


def give_no_data(result: ParseResult) -> object:
    return lambda: None


class Unloadable:
    def __reduce__(self) -> Any:
        return (int, ("no number",))


def give_unloadable(result: ParseResult) -> object:
    return Unloadable()


def run(items: list[Any], context: str, work: _many._Work, count: int = 2) -> list[Done]:
    crew = _many._Crew(count, _many._packed(work), multiprocessing.get_context(context))
    return [item for item in crew.run(map(_many._found, items)) if item is not None]


def work(then: Any = None, source: Any = None) -> _many._Work:
    return _many._Work(source, then, True, True, None)


# ---- in this process -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 1])
def test_without_workers_everything_happens_here(paths: list[Path], workers: int) -> None:
    done = list(parse_many(paths, then=lambda result: (result.conversation.id, os.getpid()), workers=workers))

    assert [item.value for item in done] == [(f"s{number}", os.getpid()) for number in range(12)]
    assert [item.found.path for item in done] == list(map(str, paths))
    assert [item.conversation_id for item in done] == [f"s{number}" for number in range(12)]
    assert all(item.error is None for item in done)


def test_without_then_the_whole_result_comes_back(paths: list[Path]) -> None:
    assert [item.value for item in parse_many(paths, workers=0)] == [parse(path) for path in paths]
    assert [item.value for item in parse_many(paths, workers=2)] == [parse(path) for path in paths]


def test_nothing_is_read_before_it_is_asked_for(paths: list[Path]) -> None:
    seen: list[Path] = []

    def given() -> Iterator[Path]:
        for path in paths:
            seen.append(path)
            yield path

    results = parse_many(given(), workers=0)
    assert seen == []
    next(results)
    assert seen == paths[:1]


def test_a_bad_file_costs_only_itself(paths: list[Path], tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no session")
    done = list(parse_many([paths[0], tmp_path / "nothing", text, "a\0b", paths[1]], workers=0))

    assert [type(item.error) for item in done] == [type(None), FileNotFoundError, UnknownSource, ConvparseError, type(None)]
    assert [item.value is None for item in done] == [False, True, True, True, False]


def test_what_discover_passed_over_is_told(paths: list[Path]) -> None:
    found = Found("claude-code", str(paths[0]), problem="foreign")
    (done,) = parse_many([found], workers=0)

    assert done.found is found
    assert str(done.error) == f"{paths[0]} is passed over: foreign"


def test_what_is_discovered_can_be_parsed(tmp_path: Path, paths: list[Path]) -> None:
    project = tmp_path / ".claude" / "projects" / "-p"
    project.mkdir(parents=True)
    for path in paths[:3]:
        path.rename(project / path.name)
    found = list(discover([tmp_path]))
    done = list(parse_many(found, workers=0))

    assert [item.found for item in done] == found
    assert [item.value.stamp for item in done] == [item.stamp for item in found]


def test_the_source_of_what_was_found_is_taken_unless_another_is_given(paths: list[Path]) -> None:
    found = Found("codex", str(paths[0]))

    assert [item.value.source for item in parse_many([found], workers=0)] == ["codex"]
    assert [item.value.source for item in parse_many([found], source="claude-code", workers=0)] == ["claude-code"]


def test_a_source_that_is_none_is_refused_at_once(paths: list[Path]) -> None:
    with pytest.raises(UnknownSource):
        parse_many(paths, source="nobody")


def test_options_reach_parse(paths: list[Path]) -> None:
    paths[0].write_bytes(line(0) + b"garbage\n")
    folder = paths[0].with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a.jsonl").write_bytes(line(1).replace(b'"type"', b'"agentId":"a","type"'))
    (done,) = parse_many(paths[:1], excerpts=False, subagents=False, limits=Limits(line_bytes=100), workers=0)

    assert done.value == parse(paths[0], excerpts=False, subagents=False, limits=Limits(line_bytes=100))


def test_a_database_gives_one_conversation_at_a_time(tmp_path: Path, paths: list[Path]) -> None:
    path = editor(tmp_path / "state.vscdb", 30)
    for done in (list(parse_many([paths[0], path, paths[1]], workers=workers)) for workers in (0, 2)):
        assert [item.conversation_id for item in done] == ["s0", *(f"c{n:02}" for n in range(30)), None, "s1"]
        assert all(len(item.value.conversations) == 1 for item in done if item.conversation_id is not None)


# ---- over processes --------------------------------------------------------------------------------------------------------


def test_workers_are_other_processes_and_the_order_is_kept(paths: list[Path]) -> None:
    done = list(parse_many(paths, then=first_text, workers=3))

    assert [item.value for item in done] == [f"text {number}" for number in range(12)]
    assert os.getpid() not in {item.value for item in parse_many(paths, then=whose, workers=2)}


def test_there_is_a_worker_for_every_processor(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    assert len({item.value for item in parse_many(paths, then=whose)} - {os.getpid()}) in (1, 2)
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert {item.value for item in parse_many(paths, then=whose)} == {os.getpid()}


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_worker_that_dies_costs_one_file(paths: list[Path], context: str) -> None:
    done = run(paths, context, work(kill_one))

    assert [item.value for item in done] == [None if number == 3 else f"text {number}" for number in range(12)]
    assert str(done[3].error) == f"the worker that read {paths[3]} ended with exit code 7"


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_file_on_which_then_fails_costs_only_itself(paths: list[Path], context: str) -> None:
    done = run(paths, context, work(fail_one))

    assert [item.value for item in done] == [None if number == 3 else f"text {number}" for number in range(12)]
    assert repr(done[3].error) == "ValueError('three')"


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (fail_oddly, "raised: OddError: odd"),
        (give_no_data, "gave what cannot be sent to another process: "),
        (give_unloadable, "invalid literal for int"),
    ],
)
def test_what_cannot_travel_is_told(paths: list[Path], then: Any, words: str) -> None:
    done = run(paths[:3], CONTEXTS[-1], work(then))

    assert len(done) == 3
    assert all(words in str(item.error) for item in done)


def test_a_then_that_cannot_be_sent_is_refused_at_once(paths: list[Path]) -> None:
    with pytest.raises(ConvparseError, match="Define them at the top of a module, not inside a function or as a lambda"):
        parse_many(paths, then=lambda result: None, workers=2)
    with pytest.raises(ConvparseError, match="`then` and `source` are sent to other processes"):
        parse_many(paths, source=attrs.evolve(SOURCES["claude-code"], edits=lambda use: ()), workers=2)


def test_a_source_of_the_library_is_sent_by_its_name(paths: list[Path]) -> None:
    done = list(parse_many(paths, source=SOURCES["claude-code"], then=first_text, workers=2))

    assert list(parse_many(paths, source="claude-code", then=first_text, workers=0)) == done


def test_a_source_from_elsewhere_can_be_sent() -> None:
    ours = SOURCES["claude-code"]
    variant = ours.variants["transcript"]
    plain = Source("mine", "Mine", "1", {"one": Variant("jsonl", variant.read, variant.resolve)}, ours.detect, ours.gather)

    assert pickle.loads(pickle.dumps(plain)) == plain
    assert (plain.variants["one"].is_record({"type": 1}), plain.variants["one"].is_record({})) == (True, False)


def test_a_then_that_workers_cannot_load_is_told(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """As with one that was typed at a prompt."""
    packed = pickle.dumps(work(first_text)).replace(b"first_text", b"worst_text")
    crew = _many._Crew(2, packed, multiprocessing.get_context(CONTEXTS[-1]))

    with pytest.raises(ConvparseError, match="a worker cannot load `then` or `source`"):
        list(crew.run(map(_many._found, paths)))
    assert crew._workers[0].process.exitcode is not None


def test_no_more_files_are_begun_than_a_few_for_every_worker(paths: list[Path]) -> None:
    seen: list[Path] = []

    def given() -> Iterator[Path]:
        for path in paths * 10:
            seen.append(path)
            yield path

    results = parse_many(given(), then=first_text, workers=2)
    next(results)
    assert len(seen) <= 2 * _many.AHEAD
    assert len(list(results)) == 119


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_worker_stands_still_when_its_results_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database behind a file that takes long does not fill the memory."""
    path = editor(tmp_path / "state.vscdb", 400)
    crew = _many._Crew(2, _many._packed(work(first_slow)), multiprocessing.get_context(CONTEXTS[-1]))
    slow = tmp_path / "slow.jsonl"
    slow.write_bytes(line(1))
    os.mkfifo(tmp_path / "gate")
    results = crew.run(map(_many._found, [slow, path]))
    taken: list[_many._Worker] = []
    take, receive = crew._take, crew._receive

    def counted(worker: _many._Worker) -> None:
        taken.append(worker)
        take(worker)

    def opened(first: _many._Job) -> None:
        if len(taken) == _many.ROOM:
            (tmp_path / "gate").write_bytes(b"x")
        receive(first)

    monkeypatch.setattr(crew, "_take", counted)
    monkeypatch.setattr(crew, "_receive", opened)
    first = next(results)

    assert first is not None
    assert first.value == "slow"
    assert len(taken) == _many.ROOM + 1
    assert sum(item is not None for item in results) == 401


def first_slow(result: ParseResult) -> str:
    gate = Path(result.path).with_name("gate")
    if result.path.endswith("slow.jsonl"):
        gate.read_bytes()
        return "slow"
    return "quick"


def test_whoever_stops_early_leaves_no_process_behind(paths: list[Path]) -> None:
    results = parse_many(paths, then=first_text, workers=2)
    next(results)
    results.close()  # type: ignore[attr-defined]

    assert [child for child in multiprocessing.active_children() if child.daemon] == []


def test_multiprocessing_is_imported_only_where_it_is_used() -> None:
    program = (
        "import sys, convparse; list(convparse.parse_many([], workers=0)); list(convparse.parse_many([], workers=2));"
        "sys.exit('multiprocessing' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False, env=unmeasured()).returncode == 0


# ---- the worker's side, seen from here -------------------------------------------------------------------------------------


class Pipe:
    """A connection to nowhere: gives files, takes messages."""

    def __init__(self, *items: Any) -> None:
        self.items = list(items)
        self.sent: list[Any] = []

    def recv(self) -> Any:
        item = self.items.pop(0) if self.items else EOFError()
        if isinstance(item, BaseException):
            raise item
        return item

    def recv_bytes(self) -> Any:
        return self.recv()

    def send_bytes(self, data: bytes) -> None:
        self.sent.append(pickle.loads(data))

    def send(self, item: Any) -> NoReturn:
        raise BrokenPipeError

    def poll(self) -> NoReturn:
        raise BrokenPipeError

    def close(self) -> None:
        pass


@pytest.mark.parametrize("end", [EOFError(), KeyboardInterrupt(), OSError()], ids=repr)
def test_a_worker_ends_when_there_is_nobody(paths: list[Path], end: BaseException) -> None:
    pipe = Pipe(_many._found(paths[0]), _many._found("nothing"), end)
    _many.serve(pipe, _many._packed(work(first_text)))  # type: ignore[arg-type]

    assert [item.value if item is not None else None for item in pipe.sent] == ["text 0", None, None, None]


def test_a_worker_tells_what_it_cannot_load() -> None:
    pipe = Pipe()
    _many.serve(pipe, b"nothing")  # type: ignore[arg-type]

    assert pipe.sent[0].startswith("UnpicklingError: ")


@pytest.mark.parametrize("then", [fail_oddly, give_no_data])
def test_a_worker_tells_what_it_cannot_send(paths: list[Path], then: Any) -> None:
    pipe = Pipe(_many._found(paths[0]))
    _many.serve(pipe, _many._packed(work(then)))  # type: ignore[arg-type]

    assert isinstance(pipe.sent[0].error, ConvparseError)


def test_a_pipe_that_breaks_is_the_end_of_a_worker(paths: list[Path]) -> None:
    """However the system tells it."""
    process = SimpleNamespace(join=lambda: None, exitcode=1)
    crew = _many._Crew(1, b"", None)
    job = _many._Job(_many._found(paths[0]))
    worker = _many._Worker(process, Pipe(), job)  # type: ignore[arg-type]
    crew._workers.append(worker)
    crew._take(worker)

    assert job.is_over
    assert "exit code 1" in str(job.results[0].error)
    assert crew._workers == []
    assert not _many._has_sent(Pipe())  # type: ignore[arg-type]


def test_a_worker_that_died_idle_is_replaced_and_costs_nothing(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    crew = _many._Crew(1, b"", None)
    process = SimpleNamespace(join=lambda: None)
    crew._workers.append(_many._Worker(process, Pipe()))  # type: ignore[arg-type]
    sent: list[Found] = []

    def start() -> _many._Worker:
        worker = _many._Worker(process, SimpleNamespace(send=sent.append))  # type: ignore[arg-type]
        crew._workers.append(worker)
        return worker

    monkeypatch.setattr(crew, "_start", start)
    waiting = deque(_many._Job(_many._found(path)) for path in paths[:2])
    crew._assign(waiting)

    assert [found.path for found in sent] == [str(paths[0])]
    assert len(waiting) == len(crew._workers) == 1


def test_what_is_not_wanted_yet_stays_where_it_is(paths: list[Path]) -> None:
    """And a worker that is dead without a word is buried, though its pipe is still open."""
    crew = _many._Crew(3, b"", None)
    theirs = []
    readable, written = os.pipe()
    quiet = [os.pipe() for _ in range(2)]
    for at, is_dead in enumerate((False, False, True)):
        ours, other = multiprocessing.Pipe()
        theirs.append(other)
        alive = SimpleNamespace(join=lambda: None, exitcode=9, is_alive=lambda dead=is_dead: not dead)
        alive.sentinel = readable if is_dead else quiet[at][0]
        crew._workers.append(_many._Worker(alive, ours, _many._Job(_many._found(paths[at]))))  # type: ignore[arg-type]
    first, full, dead = (worker.job for worker in crew._workers)
    assert first is not None
    assert full is not None
    assert dead is not None
    full.results.extend(Done(full.found) for _ in range(_many.ROOM))
    for end in theirs[:2]:
        end.send_bytes(pickle.dumps(None))
    os.close(written)
    crew._receive(first)

    assert (first.is_over, full.is_over, dead.is_over) == (True, False, True)
    assert "exit code 9" in str(dead.results[0].error)
    for end in (*theirs, *(worker.connection for worker in crew._workers)):
        end.close()
    for descriptor in (readable, *quiet[0], *quiet[1]):
        os.close(descriptor)


# ---- progress --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 2])
def test_a_callable_is_told_how_far_it_is(paths: list[Path], workers: int) -> None:
    told: list[tuple[int, int | None]] = []
    list(parse_many(paths[:3], then=first_text, workers=workers, progress=lambda done, total: told.append((done, total))))
    list(parse_many(iter(paths[:1]), then=first_text, workers=workers, progress=lambda done, total: told.append((done, total))))

    assert told == [(1, 3), (2, 3), (3, 3), (1, None)]


class Bar:
    """What tqdm does."""

    made: ClassVar[list["Bar"]] = []

    def __init__(self, total: int | None, unit: str) -> None:
        self.about = (total, unit)
        self.count = 0
        self.closed = False
        Bar.made.append(self)

    def update(self, count: int) -> None:
        self.count += count

    def close(self) -> None:
        self.closed = True


def test_tqdm_shows_a_bar_where_it_is_installed(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace())
    monkeypatch.setattr(Bar, "made", [])
    list(parse_many(paths, workers=0, progress=True))

    assert [(bar.about, bar.count, bar.closed) for bar in Bar.made] == [((12, "file"), 12, True)]


def test_without_tqdm_there_is_no_bar(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)

    assert len(list(parse_many(paths, workers=0, progress=True))) == 12


@pytest.mark.parametrize("workers", [0, 2])
def test_known_conversations_of_a_database_are_passed_over(tmp_path: Path, workers: int) -> None:
    database = editor(tmp_path / "state.vscdb", 3)
    stamps = [done.value for done in parse_many([database], then=stamp_of, workers=workers)]
    with sqlite3.connect(database) as connection:
        later = "CAST(replace(value, '1767225600000', '1767225600001') AS BLOB)"
        connection.execute(f"UPDATE cursorDiskKV SET value = {later} WHERE key = 'composerData:c01'")
    connection.close()
    again = parse_many([database], known=filter(None, stamps), workers=workers, then=stamp_of)
    assert len(set(stamps)) == 4
    assert [(done.conversation_id, done.value in stamps) for done in again] == [("c01", False), (None, True)]
