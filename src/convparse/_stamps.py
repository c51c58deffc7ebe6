"""The stamp of a session: an opaque text that changes when anything that ``parse`` would read changes.

What comes in: what ``gather`` found of a session. What goes out: a hash of what the file system says of each file, in no order;
of a database also its header, its write-ahead log (size, time, and the salt that a new beginning changes) and its journal.
Files that are only named count too, for their sizes stand in the result. Nothing else is read of any file.

A stamp is taken before anything is read: what changes meanwhile makes the next one differ.
"""

import os
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from convparse.reading.opening import read_beginning
from convparse.result import file_stamp
from convparse.sources._source import Gathered

_HEADER: Final = 100
_LOG_HEADER: Final = 32


def files_of(gathered: Gathered) -> tuple[str, ...]:
    """All files of a session, those among them that are only named."""
    return (*(path for path, _ in gathered.logs), *gathered.notes.values(), *(path for path, _ in gathered.unread))


def stamp_of(files: Iterable[str], database: bytes = b"") -> str:
    """The stamp of a session of these files; ``database``: the facts of the database, which then is none of the files."""
    hashed = blake2b(database, digest_size=16)
    told = sorted(f"{_name(file)}\0{_status(file)}\0" for file in set(files))
    hashed.update("".join(told).encode("utf-8", "surrogateescape"))
    return hashed.hexdigest()


def _name(file: str) -> str:
    """The name of a file, and that of its folder."""
    folder, name = os.path.split(os.path.abspath(file))  # noqa: PTH100 - thousands are looked at by `discover`
    return f"{os.path.basename(folder)}/{name}"  # noqa: PTH119


def database_facts(path: str) -> bytes:
    """What can be seen of a database without reading it; it changes when a transaction is written."""
    log, journal = f"{path}-wal", f"{path}-journal"
    told = "\0".join(_status(file) for file in (path, log, journal)).encode()
    return told + _beginning(path, _HEADER) + _beginning(log, _LOG_HEADER)


def database_stamp(path: str, facts: bytes, gathered: Gathered) -> str:
    """The stamp of a database and what stands beside it."""
    return stamp_of((file for file in files_of(gathered) if file != path), facts)


def _status(path: str) -> str:
    try:
        return file_stamp(os.stat(path))  # noqa: PTH116 - a path stays the text that was given
    except OSError as error:
        return type(error).__name__


def _beginning(path: str, size: int) -> bytes:
    try:
        return read_beginning(path, size)
    except OSError:
        return b""
