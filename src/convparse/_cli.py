"""The command line: ``convparse show``, ``drops``, ``list`` and ``rows``.

What comes in: arguments, and for ``-`` the bytes of standard input. What goes out: text or data on standard output, complaints
of one line each on standard error, and an exit status: 0; 1 if content was lost; 2 if the call was bad or a file could not be
read, which costs no other file. ``_options`` reads the arguments, ``_show`` makes the text, ``_output`` knows the terminal.
"""

import csv
import json
import os
import shutil
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Final

import attrs
import orjson

import convparse
from convparse._detect import session_file
from convparse._discover import Found
from convparse._options import COMMANDS, nearest, options_of
from convparse._output import Output
from convparse._show import plain, render, render_drops, render_found
from convparse.result import ParseResult
from convparse.tables import TABLES, Value

INTERRUPTED: Final = 130
"""The exit status of what was stopped from the keyboard, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say, and give the exit status; ``SystemExit`` for arguments that make no sense."""
    run = _Run(options_of(sys.argv[1:] if arguments is None else arguments), Output(sys.stdout))
    try:
        _DO[run.options.command](run)
        run.out.flush()
    except convparse.ConvparseError as error:
        run.complain(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    if run.out.error is not None:
        run.complain(f"the output cannot be written: {run.out.error.strerror}")
    return run.status


@attrs.define(eq=False)
class _Run:
    """One call of the command: its options, its output, and the exit status so far."""

    options: Namespace
    out: Output
    status: int = 0

    def results(self, read: Callable[[str, Namespace, str | None], Iterator[ParseResult]]) -> Iterator[ParseResult]:
        """What the paths hold, one after the other, as long as anybody reads."""
        for path, source in chain.from_iterable(map(self._files, self.options.paths)):
            try:
                for result in read(path, self.options, source):
                    self._count(result)
                    yield result
                    if self.out.gone:
                        return
            except OSError as error:
                told = (error.strerror or str(error)).replace("read it and call parse_bytes", "give - and read it from there")
                self.complain(f"{path}: {told}{_hint(path)}")
            except convparse.ConvparseError as error:
                self.complain(str(error).replace("Pass `source=`", "Give --source"))

    def _files(self, path: str) -> Iterator[tuple[str, str | None]]:
        """The path itself, or the sessions below a folder that is not one session's; each with its source, if that is known."""
        if not _is_folder_of_sessions(path):
            yield path, self.options.source
            return
        found = _found([path], self.options.source)
        files = [(one.path, one.source) for one in found if one.problem is None]
        yield from files
        if not files:
            told = "give a session's file or folder, a home directory, or the folder of a product"
            self.complain(f"{path}: there are no sessions below this folder that could be read; {told}")

    def _count(self, result: ParseResult) -> None:
        if not self.options.exit_zero and any(drop.code not in self.options.ignore for drop in result.lost):
            self.status = max(self.status, 1)

    def complain(self, message: str) -> None:
        """Say in one line what is wrong with the call."""
        self.status = 2
        Output(sys.stderr).text(plain(f"convparse: {' '.join(message.split())}"))


def _hint(path: str) -> str:
    if os.path.lexists(path):
        return ""
    return f"; did you mean `rows {path}`?" if path in TABLES else nearest(path, COMMANDS)


# ---- reading ---------------------------------------------------------------------------------------------------------------


def _found(roots: list[str] | None, source: str | None) -> Iterator[Found]:
    return (found for found in convparse.discover(roots) if source in (None, found.source))


def _is_folder_of_sessions(path: str) -> bool:
    given = os.path.expanduser(path)
    try:
        return os.path.isdir(given) and not session_file(given)  # noqa: PTH112 - a path stays the text that was given
    except convparse.UnknownSource:
        return True


def _whole(path: str, options: Namespace, source: str | None) -> Iterator[ParseResult]:
    """A file as one result."""
    chosen = {"conversation_id": options.conversation, "drafts": options.drafts}
    if path != "-":
        yield convparse.parse(path, source, subagents=options.subagents, **chosen)
    elif sys.stdin is None:
        raise convparse.ConvparseError("-: there is no standard input")
    else:
        data = sys.stdin.buffer.read()
        yield convparse.parse_bytes(data, source=source, name="<stdin>", **chosen)


def _one_by_one(path: str, options: Namespace, source: str | None) -> Iterator[ParseResult]:
    """A database as a result for every conversation, in memory for one of them."""
    if path == "-" or options.conversation is not None:
        return _whole(path, options, source)
    return convparse.iter_conversations(path, source, subagents=options.subagents, drafts=options.drafts)


# ---- the commands ----------------------------------------------------------------------------------------------------------


def _show(run: _Run) -> None:
    width = shutil.get_terminal_size((100, 24)).columns
    _write_results(run, lambda result: render(result, messages=run.options.limit, width=width))


def _drops(run: _Run) -> None:
    alone = len(run.options.paths) == 1 and not _is_folder_of_sessions(run.options.paths[0])
    _write_results(run, lambda result: ("" if alone else f"{plain(result.path)}\n") + render_drops(result))


def _write_results(run: _Run, page: Callable[[ParseResult], str]) -> None:
    for number, result in enumerate(run.results(_whole)):
        if run.options.json:
            shown = result if run.options.command == "show" else attrs.evolve(result, conversations=(), loose=())
            run.out.json(convparse.to_json(shown))
        else:
            run.out.text(f"\n{page(result)}" if number else page(result))


def _list(run: _Run) -> None:
    options = run.options
    counts = Counter[bool]()
    for one in islice(_found(options.roots or None, options.source), options.limit):
        counts[one.problem is None] += 1
        if options.json:
            run.out.json(_encode(attrs.asdict(one)))
        else:
            run.out.text(render_found(one))
        if run.out.gone:
            return
    if not options.json:
        run.out.text(f"{counts[True]} found, {counts[False]} passed over")


def _rows(run: _Run) -> None:
    options = run.options
    columns = options.columns or list(TABLES[options.table])
    if unknown := [name for name in columns if name not in TABLES[options.table]]:
        hint = nearest(unknown[0], TABLES[options.table]) or f"; it has {', '.join(TABLES[options.table])}"
        raise convparse.ConvparseError(f"the table {options.table} has no column {unknown[0]!r}{hint}")
    write = _WRITERS[options.format](run.out, columns)
    rows = (row for result in run.results(_one_by_one) for row in convparse.iter_rows(result, options.table))
    for row in islice(rows, options.limit):
        write([row[name] for name in columns])
        if run.out.gone:
            return


_DO: Final[Mapping[str, Callable[[_Run], None]]] = {"show": _show, "drops": _drops, "list": _list, "rows": _rows}


# ---- rows ------------------------------------------------------------------------------------------------------------------


def _json_lines(out: Output, columns: Sequence[str]) -> Callable[[Sequence[Value]], None]:
    return lambda row: out.json(_encode({name: _told(value) for name, value in zip(columns, row, strict=True)}))


def _csv(out: Output, columns: Sequence[str]) -> Callable[[Sequence[Value]], None]:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    return lambda row: writer.writerow([out.cell(_cell(value)) for value in row])


_WRITERS: Final = {"jsonl": _json_lines, "csv": _csv}


def _told(value: Value) -> str | int | float | bool | None:
    return value.isoformat() if isinstance(value, datetime) else value


def _cell(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(_told(value))


def _encode(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # an integer over 64 bits, or a path that is not UTF-8
        return json.dumps(value, separators=(",", ":")).encode()
