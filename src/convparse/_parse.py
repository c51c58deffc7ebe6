"""``parse`` and its kin: find the source, open the files, run its two steps, close the account.

The only module that opens files for a source. Files are opened for reading, read up to the size they had, and never written.
"""

import io
import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

import attrs

from convparse import _after, _calls, _detect, _stamps
from convparse.drops import Account, Bin, Drop
from convparse.errors import ConvparseError
from convparse.ledger import Ledger
from convparse.limits import Limits
from convparse.reading import documents, joined, jsonl, mutation_log, racing, texts, zstd
from convparse.reading.decoding import Refused, decode_exact
from convparse.reading.opening import open_regular
from convparse.records import Conversation, Entry, Origin
from convparse.result import ParseResult, Snapshot, file_stamp
from convparse.sources import SOURCES, find
from convparse.sources._source import FilePart, Gathered, Source, Unit, Variant


def _read_jsonl(file: BinaryIO, size: int, ledger: Ledger, variant: Variant, source: Source) -> Iterator[Unit]:
    return jsonl.iter_records(file, size, ledger, variant.is_record, unproven=frozenset(source.skipped))


def _read_document(file: BinaryIO, size: int, ledger: Ledger, variant: Variant, source: Source) -> Iterator[Unit]:
    return documents.read_document(file, size, ledger)


def _read_joined(file: BinaryIO, size: int, ledger: Ledger, variant: Variant, source: Source) -> Iterator[Unit]:
    return joined.iter_joined(file, size, ledger, variant.is_record, unproven=frozenset(source.skipped))


def _read_mutation_log(file: BinaryIO, size: int, ledger: Ledger, variant: Variant, source: Source) -> Iterator[Unit]:
    return mutation_log.read_log(file, size, ledger)


def _read_racing(file: BinaryIO, size: int, ledger: Ledger, variant: Variant, source: Source) -> Iterator[Unit]:
    return racing.read_racing(file, size, ledger, variant.is_record)


def _read_zstd(file: BinaryIO, size: int, ledger: Ledger, variant: Variant, source: Source) -> Iterator[Unit]:
    yield from _read_jsonl(file, size, ledger, variant, source)
    if isinstance(file, zstd.Decoded) and (file.damaged or file.read(1) or file.damaged):
        ledger.part("broken-compression", (1, size, 0))


def _read_text(file: BinaryIO, size: int, ledger: Ledger, variant: Variant, source: Source) -> Iterator[Unit]:
    return texts.read_text(file, size, ledger)


CONTAINERS: Final[dict[str, Callable[[BinaryIO, int, Ledger, Variant, Source], Iterable[Unit]]]] = {
    "jsonl": _read_jsonl,
    "document": _read_document,
    "text": _read_text,
    "jsonl-joined": _read_joined,
    "mutation-log": _read_mutation_log,
    "racing-document": _read_racing,
    "jsonl-zstd": _read_zstd,
}


def parse(
    path: str | os.PathLike[str],
    source: str | Source | None = None,
    *,
    conversation_id: str | None = None,
    after: ParseResult | None = None,
    subagents: bool = True,
    drafts: bool = False,
    excerpts: bool = True,
    limits: Limits | None = None,
) -> ParseResult:
    """Read a file, or one session's folder, into records and an account of what was not carried over.

    ``path``: ``~`` is expanded; ``<id>.jsonl`` and the folder ``<id>`` both mean the session. ``source``: a name of ``SOURCES``
    or a ``Source``; None finds it from the content. ``conversation_id``: keep this conversation alone. ``after``: an earlier
    result of the same path; the answer is the whole, equal to a fresh parse, and only what was appended to logs is read, once
    for each earlier result. ``subagents=False`` leaves the files of sub-agents unread, and names them. ``drafts=True`` gives,
    as messages of state ``pending``, what stands unsent in an input box, where the source else leaves it out by name
    (Copilot). ``excerpts=False`` keeps the input's text out of the drops.

    Raises ``OSError`` if the path cannot be opened, ``UnknownSource`` if no source knows it or has the name given, and
    ``ConvparseError`` if there is no conversation of the id. Nothing in the content of a file raises.
    """
    given, bounds = _calls.path_of(path), _calls.limits_of(limits)
    if after is not None:
        _calls.check(after, ParseResult, "after")
    started = datetime.now(UTC)
    adapter = find(source)
    head = _detect.read_head(_detect.session_file(given))
    if _detect.is_database(head):
        from convparse import _databases  # sqlite3 is imported only when a database is read

        facts = _stamps.database_facts(given)
        result = _databases.parse(given, adapter, conversation_id, bounds, excerpts, drafts)
        return attrs.evolve(result, stamp=_database_stamp(result, adapter, facts))
    detection = _variant_of(head, adapter, given)
    adapter = adapter or SOURCES[detection.source]
    gathered = adapter.gather(given, detection.variant, subagents)
    stamp = _stamps.stamp_of(_stamps.files_of(gathered))
    run = _Run(adapter, bounds, excerpts, drafts)
    follow = _after.Following(after, adapter, run.limits, excerpts, drafts)
    for file, variant in gathered.logs:
        run.read_file(file, variant, given, follow)
    result = run.finish(given, detection.variant, gathered)
    result = attrs.evolve(result, snapshot=Snapshot("file", started, datetime.now(UTC)), stamp=stamp)
    return follow.hand_over(_only(result, conversation_id) if conversation_id is not None else result)


def parse_bytes(
    data: bytes | bytearray | memoryview,
    *,
    source: str | Source | None = None,
    name: str | os.PathLike[str] = "",
    conversation_id: str | None = None,
    drafts: bool = False,
    excerpts: bool = True,
    limits: Limits | None = None,
) -> ParseResult:
    """Read bytes from elsewhere like the one file they came from. ``name`` stands for the path in origins and drops."""
    data, name, bounds = _calls.bytes_of(data), os.fspath(name), _calls.limits_of(limits)
    adapter = find(source)
    head = _detect.head_of(data[: _detect.HEAD], name, len(data) <= _detect.HEAD)
    if _detect.is_database(head):
        from convparse import _databases

        return _databases.parse_bytes(data, name, adapter, conversation_id, bounds, excerpts, drafts)
    detection = _variant_of(head, adapter, name)
    adapter = adapter or SOURCES[detection.source]
    run = _Run(adapter, bounds, excerpts, drafts)
    run.read_stream(io.BytesIO(data), len(data), name, detection.variant, "")
    result = run.finish(name, detection.variant, Gathered(()))
    result = attrs.evolve(result, snapshot=Snapshot("bytes"))
    return _only(result, conversation_id) if conversation_id is not None else result


def iter_conversations(
    path: str | os.PathLike[str],
    source: str | Source | None = None,
    *,
    known: Iterable[str | None] = (),
    messages: bool = True,
    subagents: bool = True,
    drafts: bool = False,
    excerpts: bool = True,
    limits: Limits | None = None,
) -> Iterator[ParseResult]:
    """One conversation of a database at a time, all from one snapshot, in memory for one of them.

    Each result holds one conversation and accounts for its rows; the last one holds what belongs to none. ``known``: stamps of
    conversations that are passed over. ``messages=False``: heads only, ``body="unread"``, without stamps. A file that is no
    database gives the one result that ``parse`` gives.

    Raises what ``parse`` raises, at once for a bad call and a path that cannot be opened, and ``SourceChanged`` if a database
    that is read in place changes meanwhile: what came before stands, and ``known`` takes up from there.
    """
    given, bounds, seen = _calls.path_of(path), _calls.limits_of(limits), _calls.stamps_of(known)
    adapter = find(source)
    if _detect.is_database(_detect.read_head(_detect.session_file(given))):
        return _stored(given, adapter, seen, messages, bounds, excerpts, drafts)
    return (parse(at, source, subagents=subagents, drafts=drafts, excerpts=excerpts, limits=bounds) for at in (given,))


def _stored(
    path: str, adapter: Source | None, known: frozenset[str], messages: bool, limits: Limits, excerpts: bool, drafts: bool
) -> Iterator[ParseResult]:
    from convparse import _databases

    facts = _stamps.database_facts(path)
    for result in _databases.each(path, adapter, known, messages, limits, excerpts, drafts):
        yield attrs.evolve(result, stamp=_database_stamp(result, adapter, facts))


def _database_stamp(result: ParseResult, adapter: Source | None, facts: bytes) -> str:
    gathered = (adapter or SOURCES[result.source]).gather(result.path, result.variant, True)
    return _stamps.database_stamp(result.path, facts, gathered)


def _variant_of(head: Any, adapter: Source | None, path: str) -> _detect.Detection:
    if adapter is None:
        return _detect.detect_head(head, list(SOURCES.values()), path)
    match = adapter.detect(head)
    if match is not None:
        return _detect.Detection(adapter.name, match.variant, match.reason, match.certain)
    return _detect.Detection(adapter.name, next(iter(adapter.variants)), "the source was given", False)


def _only(result: ParseResult, id: str) -> ParseResult:
    found = tuple(c for c in result.conversations if c.id == id)
    if not found:
        ids = ", ".join(str(c.id) for c in result.conversations[:10])
        raise ConvparseError(f"{result.path} has no conversation {id!r}; it has: {ids or 'none'}")
    return attrs.evolve(result, conversations=found)


class _Run:
    """One parse: the files read so far, their ledgers, and the side files that ``resolve`` may ask for."""

    def __init__(self, source: Source, limits: Limits, excerpts: bool, drafts: bool = False) -> None:
        self.source = source
        self.limits = limits
        self.excerpts = excerpts
        self.drafts = drafts
        self.parts: list[FilePart] = []
        self.sizes: dict[str, tuple[int, str]] = {}
        self.notes: dict[str, tuple[Origin, bytes]] = {}
        self.documents: dict[str, tuple[Origin, Any] | None] = {}
        self.ledgers: dict[str, Ledger] = {}
        self.gathered = Gathered(())

    def ledger(self, path: str, size: int, stamp: str) -> Ledger:
        ledger = self.ledgers[path] = Ledger(path, self.limits, excerpts=self.excerpts, codes=self.source.codes)
        self.sizes[path] = (size, stamp)
        return ledger

    def read_file(self, path: str, variant: str, given: str, follow: _after.Following) -> None:
        """Read one file as units, or what was appended to it. Only the given path raises ``OSError``; another is named."""
        try:
            file, status = open_regular(path)
        except OSError as error:
            if path in (given, f"{given}.jsonl"):
                raise
            self.unreadable(path, error)
            return
        with file:
            part = follow.read(file, status, path, variant, self.container(variant))
            if part is None:
                self.read_stream(file, status.st_size, path, variant, file_stamp(status))
                return
        self.parts.append(part)
        self.ledgers[path] = part.ledger
        self.sizes[path] = (status.st_size, file_stamp(status))

    def container(self, variant: str) -> Callable[[BinaryIO, int, Ledger], Iterable[Unit]]:
        """What reads the units of a variant's files."""
        shape = self.source.variants[variant]
        read = CONTAINERS[shape.container]
        return lambda file, size, ledger: read(file, size, ledger, shape, self.source)

    def read_stream(self, file: BinaryIO, size: int, path: str, variant: str, stamp: str) -> None:
        if self.source.variants[variant].container == "jsonl-zstd":
            (file, size), stamp = zstd.opened(file), f"zstd:{stamp}"  # no offset is one of the file's own
        ledger = self.ledger(path, size, stamp)
        units = self.container(variant)(file, size, ledger)
        self.parts.append(
            FilePart(path, variant, ledger, list(self.source.variants[variant].reader(self.drafts)(units, ledger)))
        )

    def unreadable(self, path: str, error: OSError) -> None:
        self.ledger(path, 0, "").part("unreadable-file", (0, 0, 0), excerpt=type(error).__name__.encode())

    def names(self) -> Iterable[str]:
        """The names of the side files there are."""
        return tuple(self.gathered.notes)

    def note(self, name: str) -> tuple[Origin, bytes] | None:
        """A side file, read whole when it is first asked for."""
        path = self.gathered.notes.get(name)
        if path is None:
            return None
        if path not in self.ledgers:
            self._read_note(name, path)
        return self.notes.get(name)

    def document(self, name: str) -> tuple[Origin, Any] | None:
        """A side file that is one JSON document, with the same care as any other; damage is named once."""
        if name not in self.documents:
            note = self.note(name)
            self.documents[name] = None if note is None else self._decode_note(*note)
        return self.documents[name]

    def _decode_note(self, origin: Origin, data: bytes) -> tuple[Origin, Any] | None:
        ledger, place = self.ledgers[origin.path], (0, 0, len(data))
        try:
            return origin, decode_exact(data.removeprefix(jsonl.BOM).strip(), ledger, place)
        except Refused as refusal:
            ledger.unit(refusal.code, place, excerpt=data[: self.limits.excerpt])
            return None

    def _read_note(self, name: str, path: str) -> None:
        try:
            file, status = open_regular(path)
            with file:
                if status.st_size > self.limits.side_bytes:
                    self.ledger(path, status.st_size, file_stamp(status)).unit("oversized", (0, 0, status.st_size))
                    return
                data = file.read(status.st_size)
        except OSError as error:
            self.unreadable(path, error)
            return
        ledger = self.ledger(path, len(data), file_stamp(status))
        try:
            data.decode()
        except UnicodeDecodeError as error:
            ledger.part("invalid-utf8", (0, 0, len(data)), excerpt=data[error.start : error.start + 16])
        self.notes[name] = (Origin(path, None, 0, len(data)), data)

    def finish(self, path: str, variant: str, gathered: Gathered) -> ParseResult:
        """Settle the file facts and close every account."""
        self.gathered = gathered
        conversations, loose = self.source.variants[variant].resolve(self.parts, self)
        units = _units(conversations, loose)
        for name in gathered.notes:
            self._name_unused(gathered.notes[name], units)
        for file, code in gathered.unread:
            size = _size(file)
            self.ledger(file, size, "").unit(code, (0, 0, size))
        accounts = tuple(self._account(file, units) for file in self.ledgers)
        drops = [drop for ledger in self.ledgers.values() for drop in ledger.close()]
        return ParseResult(
            self.source.name,
            variant,
            path,
            tuple(conversations),
            tuple(loose),
            _of(drops, kept=True),
            _of(drops, kept=False),
            accounts,
            stamp="|".join(stamp for _, stamp in self.sizes.values()),
        )

    def _name_unused(self, path: str, units: "_Units") -> None:
        if path not in self.ledgers:
            size = _size(path)
            self.ledger(path, size, "").unit("unread-file", (0, 0, size))
        elif not (
            path in units.mapped or path in units.folded or self.sizes[path][1] == "" or self.ledgers[path].bins["lost"].units
        ):
            self.ledgers[path].unit("unread-file", (0, 0, self.sizes[path][0]))

    def _account(self, path: str, units: "_Units") -> Account:
        size, stamp = self.sizes[path]
        bins = self.ledgers[path].bins
        mapped = units.mapped.get(path, {})
        folded = {at: length for at, length in units.folded.get(path, {}).items() if at not in mapped}
        return Account(
            path,
            size,
            Bin(len(mapped), sum(mapped.values())),
            bins["folded"] + Bin(len(folded), sum(folded.values())),
            bins["lost"],
            bins["skipped"],
            bins["blank"],
            stamp,
        )


@attrs.frozen
class _Units:
    """The units that records stand for: by file, their places and lengths."""

    mapped: dict[str, dict[Any, int]]
    folded: dict[str, dict[Any, int]]


def _at(origin: Origin) -> Any:
    """A unit's place in its file: an offset, or table and row id."""
    return origin.offset if origin.table is None else (origin.table, origin.rowid)


def _units(conversations: list[Conversation], loose: list[Entry]) -> _Units:
    units = _Units({}, {})
    path, file = "", units.mapped.setdefault("", {})
    for entries in (*(c.entries for c in conversations), loose):
        for entry in entries:
            origin = entry.origin
            if origin is not None and origin.length is not None:
                if origin.path != path:
                    path, file = origin.path, units.mapped.setdefault(origin.path, {})
                file[_at(origin)] = origin.length
            for other in entry.merged:
                if other.length is not None:
                    units.folded.setdefault(other.path, {})[_at(other)] = other.length
    return units


def _of(drops: list[Drop], *, kept: bool) -> tuple[Drop, ...]:
    return tuple(drop for drop in drops if (drop.fate != "skipped") is kept)


def _size(path: str) -> int:
    try:
        return Path(path).lstat().st_size
    except OSError:
        return 0
