"""Descriptors of files on which SQLite may hold locks.

POSIX takes all locks of a process from a file when *any* descriptor of it is closed: a careless ``open`` and ``close`` of a
database, anywhere in the process, tears the transaction that SQLite is reading. So whoever closes a file of this library asks
here, and a file with a living connection is closed when the last connection is gone. Whoever opens such a file again gets one
of the descriptors that wait, so that they do not pile up. Files are known by device and inode.
"""

import io
import os
import threading
from typing import Final, TypeAlias

import attrs

Identity: TypeAlias = tuple[int, int]


@attrs.define
class _Held:
    connections: int = 0
    waiting: list[int] = attrs.field(factory=list)


_lock: Final = threading.Lock()
_held: Final[dict[Identity, _Held]] = {}


def hold(identity: Identity) -> None:
    """Say that a connection to this file is about to be made."""
    with _lock:
        _held.setdefault(identity, _Held()).connections += 1


def release(identity: Identity) -> None:
    """Say that one is gone; closes what had to wait for the last."""
    with _lock:
        held = _held[identity]
        held.connections -= 1
        if not held.connections:
            del _held[identity]
            for descriptor in held.waiting:
                os.close(descriptor)


def reuse(identity: Identity) -> int | None:
    """A descriptor of this file that waits to be closed, for whoever would open another; None if there is none.

    So no more of them wait than were ever open at once, however long the connection lives.
    """
    with _lock:
        held = _held.get(identity)
        return held.waiting.pop() if held is not None and held.waiting else None


class File(io.FileIO):
    """A file that is closed when no connection of SQLite can be harmed by it."""

    def __init__(self, descriptor: int, status: os.stat_result) -> None:
        super().__init__(descriptor, "rb", closefd=False)
        self._descriptor = descriptor
        self._identity = (status.st_dev, status.st_ino)

    def close(self) -> None:
        """Close it, or leave that to the last connection."""
        if self.closed:
            return
        super().close()
        with _lock:
            held = _held.get(self._identity)
            if held is None:
                os.close(self._descriptor)
            else:
                held.waiting.append(self._descriptor)
