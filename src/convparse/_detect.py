"""What a file is, and why: content decides, the path only breaks ties between identical formats, and says so."""

import errno
import os
import re
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from convparse._calls import path_of
from convparse.errors import UnknownSource
from convparse.reading.opening import open_regular
from convparse.sources import SOURCES
from convparse.sources._source import Head, Source

HEAD: Final = 256 << 10
_SQLITE: Final = b"SQLite format 3\x00"
_RECORDS: Final = 64


@attrs.frozen
class Detection:
    """What a file was found to be."""

    source: str
    variant: str
    reason: str
    """What in the content decided it."""
    certain: bool = True
    """False if another product writes the same and the path decided."""


def detect(path: str | os.PathLike[str]) -> Detection:
    """Which source and which of its formats a file or a session's folder is.

    Raises ``UnknownSource`` when no source knows it, ``OSError`` when it cannot be read.
    """
    given = path_of(path)
    head = read_head(session_file(given))
    if is_database(head):
        from convparse import _databases  # sqlite3 is imported only when a database is read

        return _databases.detect(given)
    return detect_head(head, list(SOURCES.values()), given)


def is_database(head: Head) -> bool:
    """True for an SQLite database, or what begins like one."""
    return head.data.startswith(_SQLITE)


def session_file(path: str) -> str:
    """The file to look at for a path: for one session's folder the transcript beside it, or the first file in it."""
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    given = Path(path)
    if not given.is_dir():
        return path
    if given.name and given.with_name(f"{given.name}.jsonl").is_file():
        return str(given.with_name(f"{given.name}.jsonl"))
    if (given / "events.jsonl").is_file():
        return str(given / "events.jsonl")
    inside = sorted(given.glob("subagents/**/*.jsonl"))[:1]
    if not inside:
        raise UnknownSource(
            f"{path} is a folder, but not one of a session; give a file, or the folder named like its transcript;"
            " discover([folder]) finds the sessions below a home or a product's folder"
        )
    return str(inside[0])


def read_head(path: str) -> Head:
    """The beginning of a file, as detection needs it."""
    file, status = open_regular(path)
    with file:
        data = file.read(HEAD)
    return head_of(data, Path(path).name, len(data) >= status.st_size)


def head_of(data: bytes, name: str, whole: bool) -> Head:
    """The same for bytes at hand."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    if whole:
        try:
            return Head(name, data, (orjson.loads(text),), whole)
        except orjson.JSONDecodeError:
            pass
    lines = text.split(b"\n", _RECORDS)[:_RECORDS]
    values = (_decoded(line) for line in (lines if whole else lines[:-1] or lines))
    return Head(name, data, tuple(value for value in values if value is not _MISSING), whole)


_MISSING: Final = object()


def _decoded(data: bytes) -> Any:
    """The JSON of a line, or of the first or last record of a damaged one."""
    text = data.strip(b"\x00")
    seam = _SEAM.search(text)
    for part in (text, *((text[: seam.start() + 1], text[seam.end() - 1 :]) if seam is not None else ())):
        try:
            return orjson.loads(part)
        except orjson.JSONDecodeError:
            continue
    return _MISSING


_SEAM: Final = re.compile(rb"\}\s*\{")


def detect_head(head: Head, sources: list[Source], path: str = "") -> Detection:
    """The first claim that is certain, else the first claim. ``path``: what an error calls the file."""
    claims = [(source, match) for source in sources if (match := source.detect(head)) is not None]
    claims.sort(key=lambda claim: not claim[1].certain)
    if not claims:
        raise UnknownSource(
            f"{path or head.name or 'the data'}: {_looks_like(head)}; known sources: {', '.join(SOURCES)}. Pass `source=`"
        )
    source, match = claims[0]
    return Detection(source.name, match.variant, match.reason, match.certain)


def _looks_like(head: Head) -> str:
    if not head.data:
        return "the file is empty"
    if is_database(head):
        return "an SQLite database that no source knows"
    return "no source knows its records" if head.records else "nothing in its beginning decodes as JSON"
