"""``parse_many``: many files over processes, in input order.

What comes in: paths or ``Found``, and what to do with each result. What goes out: a ``Done`` for every file, of a database for
every conversation. ``then`` runs where the result is made, and only its value travels.

Every worker has one file at a time and a pipe of its own, so that a worker that dies takes one file with it. Results wait for
those before them; no file is begun that is more than ``AHEAD`` files a worker ahead of what was taken, and a worker that reads
a database stands still when ``ROOM`` of its results wait. ``multiprocessing`` is imported only where processes are wanted. They
are started in the platform's usual way; any way will do, ``spawn`` too.

Never done: nothing is shared between workers, and no process is ended but the workers started here.
"""

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from convparse._calls import limits_of, path_of, stamps_of
from convparse._detect import is_database, read_head, session_file
from convparse._discover import Found
from convparse._parse import iter_conversations, parse
from convparse.errors import ConvparseError
from convparse.limits import Limits
from convparse.result import ParseResult
from convparse.sources import SOURCES, find
from convparse.sources._source import Source

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

AHEAD: Final = 4
"""Files for every worker that are begun before their turn."""
ROOM: Final = 4
"""Results of one database that wait before their turn."""

Then: TypeAlias = Callable[[ParseResult], Any]
Progress: TypeAlias = Callable[[int, int | None], object]
"""Told how many files are done, and of how many, where that is known."""


@attrs.frozen
class Done:
    """What came of one file, or of one conversation of a database."""

    found: Found
    """What was given; for a path a ``Found`` with that path, and an empty source where none was told."""
    conversation_id: str | None = None
    """The only root conversation of the result; None where there is none or several, and with an error."""
    value: Any = None
    """What ``then`` made of the result; without ``then`` the result."""
    error: Exception | None = None
    """Why there is no value: what ``parse`` or ``then`` raised, a problem that ``discover`` found, the end of a worker."""


def parse_many(
    paths: Iterable[str | os.PathLike[str] | Found],
    *,
    source: str | Source | None = None,
    then: Then | None = None,
    workers: int | None = None,
    progress: bool | Progress = False,
    subagents: bool = True,
    known: Iterable[str | None] = (),
    drafts: bool = False,
    excerpts: bool = True,
    limits: Limits | None = None,
) -> Iterator[Done]:
    """Parse many files, each as ``parse`` would, and databases one conversation at a time, in the order of ``paths``.

    ``then``: called with every result where it was made; its value comes back instead of the result, which costs as much
    to send as to parse. ``workers``: how many processes; None is one for every processor, 0 and 1 are this process.
    ``progress``: True shows a bar of ``tqdm`` where that is installed; a callable is told how many files are done, and of
    how many or None. ``known``: stamps of conversations of databases that are passed over; a file is passed over by not giving
    it. The other options are those of ``parse``. The source of a ``Found`` is taken unless ``source`` is given.

    What goes wrong with a file is in its ``Done.error``, and costs no other file. Raises ``ConvparseError`` for a ``then`` or a
    ``source`` that cannot be sent to other processes: one that is not at the top of a module which they can import.
    """
    _check(paths, then, workers)
    adapter = find(source)
    if adapter is not None and SOURCES.get(adapter.name) is adapter:
        source = adapter.name  # the workers have it, and it is too large to send
    work = _Work(source, then, subagents, excerpts, limits_of(limits), drafts, stamps_of(known))
    count = _processors() if workers is None else workers
    total = len(paths) if isinstance(paths, Sized) else None
    if count <= 1:
        return _told(_here(map(_found, paths), work), _progress(progress, total), total)
    return _told(_Crew(count, _packed(work), None).run(map(_found, paths)), _progress(progress, total), total)


def _check(paths: object, then: object, workers: object) -> None:
    """Refuse what would otherwise come to light file by file, or not at all."""
    if isinstance(paths, str | os.PathLike | Found):
        raise ConvparseError("paths is an iterable of paths; put the one path in a list")
    if then is not None and not callable(then):
        raise ConvparseError(f"then is a function of a result, not {type(then).__name__}")
    if workers is not None and (not isinstance(workers, int) or workers < 0):
        raise ConvparseError(f"workers is a number of processes, or None for one a processor, and not {workers!r}")


def _found(path: str | os.PathLike[str] | Found) -> Found:
    return path if isinstance(path, Found) else Found("", path_of(path))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- the work --------------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Work:
    """What is done with every file."""

    source: str | Source | None
    then: Then | None
    subagents: bool
    excerpts: bool
    limits: Limits | None
    drafts: bool = False
    known: frozenset[str] = frozenset()

    def do(self, found: Found) -> Iterator[Done]:
        """What comes of one file; nothing that goes wrong with it is raised."""
        try:
            if found.problem is not None:
                raise ConvparseError(f"{found.path} is passed over: {found.problem}")
            for result in self._results(found):
                roots = result.roots
                id = roots[0].id if len(roots) == 1 else None
                yield Done(found, id, result if self.then is None else self.then(result))
        except Exception as error:  # noqa: BLE001 - a bad file, or `then` with it, costs only itself
            yield Done(found, error=error)

    def _results(self, found: Found) -> Iterator[ParseResult]:
        source = self.source or found.source or None
        options: dict[str, Any] = {"drafts": self.drafts, "excerpts": self.excerpts, "limits": self.limits}
        if is_database(read_head(session_file(found.path))):
            yield from iter_conversations(found.path, source, known=self.known, **options)
        else:
            yield parse(found.path, source, subagents=self.subagents, **options)


_Item: TypeAlias = Done | None
"""A result, or None after the last one of a file."""


def _here(founds: Iterable[Found], work: _Work) -> Iterator[_Item]:
    for found in founds:
        yield from work.do(found)
        yield None


def _told(items: Iterator[_Item], progress: Progress | None, total: int | None) -> Iterator[Done]:
    """The results; whoever wants to know is told when a file is done."""
    done = 0
    with closing(items):  # type: ignore[type-var]
        for item in items:
            if item is not None:
                yield item
                continue
            done += 1
            if progress is not None:
                progress(done, total)


def _progress(wanted: bool | Progress, total: int | None) -> Progress | None:
    if not isinstance(wanted, bool):
        return wanted
    if not wanted:
        return None
    try:
        tqdm: Any = import_module("tqdm.auto")
    except ImportError:
        return None
    bar = tqdm.tqdm(total=total, unit="file")

    def advance(done: int, total: int | None) -> None:
        bar.update(1)
        if done == total:
            bar.close()

    return advance


# ---- a worker --------------------------------------------------------------------------------------------------------------


def _packed(work: _Work) -> bytes:
    try:
        return pickle.dumps(work)
    except Exception as error:
        raise ConvparseError(
            f"`then` and `source` are sent to other processes, and this cannot be: {error}. "
            "Define them at the top of a module, not inside a function or as a lambda; or give workers=0"
        ) from error


def serve(connection: "Connection[Any, Any]", packed: bytes) -> None:
    """What a worker does: take a file, send what comes of it, None after the last; until there is no more to take."""
    try:
        work: _Work = pickle.loads(packed)  # noqa: S301 - from the process that started this one
    except Exception as error:  # noqa: BLE001 - told where it can be told
        connection.send_bytes(pickle.dumps(f"{type(error).__name__}: {error}"))
        return
    try:
        while True:
            found = connection.recv()
            for done in work.do(found):
                connection.send_bytes(_sendable(done))
            connection.send_bytes(pickle.dumps(None))
    except (EOFError, OSError, KeyboardInterrupt):  # nobody is there any more
        return


def _sendable(done: Done) -> bytes:
    """A result as bytes; what cannot be sent is told instead."""
    try:
        data = pickle.dumps(done)
        if done.error is not None:
            pickle.loads(data)  # noqa: S301 - many an exception can be sent and not be received
    except Exception as error:  # noqa: BLE001
        told = done.error if done.error is not None else error
        what = "raised" if done.error is not None else "gave what cannot be sent to another process"
        return pickle.dumps(Done(done.found, error=ConvparseError(f"{done.found.path} {what}: {type(told).__name__}: {told}")))
    return data


# ---- all workers -----------------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class _Job:
    found: Found
    results: deque[Done] = attrs.field(factory=deque)
    is_over: bool = False


@attrs.define(eq=False)
class _Worker:
    process: "BaseProcess"
    connection: "Connection[Any, Any]"
    job: _Job | None = None


class _Crew:
    """So many workers, started when there is something to do for them."""

    def __init__(self, count: int, packed: bytes, context: "BaseContext | None") -> None:
        self._count = count
        self._packed = packed
        self._context = context
        self._workers: list[_Worker] = []

    def run(self, founds: Iterator[Found]) -> Iterator[_Item]:
        """The results of all files in their order, None after those of one."""
        jobs: deque[_Job] = deque()
        waiting: deque[_Job] = deque()
        try:
            while True:
                while len(jobs) < AHEAD * self._count and (found := next(founds, None)) is not None:
                    jobs.append(_Job(found))
                    waiting.append(jobs[-1])
                if not jobs:
                    return
                self._assign(waiting)
                while jobs[0].results:
                    yield jobs[0].results.popleft()
                if jobs[0].is_over:
                    jobs.popleft()
                    yield None
                else:
                    self._receive(jobs[0])
        finally:
            self._stop()

    def _assign(self, waiting: deque[_Job]) -> None:
        while waiting:
            worker = next((worker for worker in self._workers if worker.job is None), None)
            if worker is None:
                if len(self._workers) == self._count:
                    return
                worker = self._start()
            try:
                worker.connection.send(waiting[0].found)
            except OSError:  # it died while it had nothing to do, which is no fault of the file
                self._leave(worker)
            else:
                worker.job = waiting.popleft()

    def _start(self) -> _Worker:
        import multiprocessing

        context = self._context or multiprocessing.get_context()
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self._packed), daemon=True)  # type: ignore[attr-defined]
        process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]

    def _receive(self, first: _Job) -> None:
        """Wait until something comes from a worker whose results are wanted, or one has died."""
        from multiprocessing.connection import wait

        busy = [worker for worker in self._workers if worker.job is not None]
        wanted = [worker for worker in busy if worker.job is first or len(worker.job.results) < ROOM]  # type: ignore[union-attr]
        wait([*(worker.connection for worker in wanted), *(worker.process.sentinel for worker in busy)])
        for worker in busy:
            if _has_sent(worker.connection):
                if worker in wanted or not worker.process.is_alive():
                    self._take(worker)
            elif not worker.process.is_alive():
                self._bury(worker)

    def _take(self, worker: _Worker) -> None:
        job = worker.job
        assert job is not None
        try:
            data = worker.connection.recv_bytes()
        except (EOFError, OSError):  # it died while it sent
            self._bury(worker)
            return
        try:
            item: Done | str | None = pickle.loads(data)  # noqa: S301 - from a process started here
        except Exception as error:  # noqa: BLE001 - a value whose class this process does not find
            item = Done(job.found, error=error)
        if isinstance(item, str):
            raise ConvparseError(
                f"a worker cannot load `then` or `source` ({item}): define them in a module that other processes can import, "
                "or give workers=0"
            )
        if item is None:
            worker.job, job.is_over = None, True
        else:
            job.results.append(item)

    def _bury(self, worker: _Worker) -> None:
        job = worker.job
        assert job is not None
        self._leave(worker)
        told = f"the worker that read {job.found.path} ended with exit code {worker.process.exitcode}"
        job.results.append(Done(job.found, error=ConvparseError(told)))
        job.is_over = True

    def _leave(self, worker: _Worker) -> None:
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)

    def _stop(self) -> None:
        for worker in self._workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()


def _has_sent(connection: "Connection[Any, Any]") -> bool:
    try:
        return connection.poll()
    except OSError:  # Windows tells of a broken pipe here
        return False
