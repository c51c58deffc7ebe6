"""Opening a file so that nothing in its place can hang or flood the reader.

A path comes in, an open binary file and its status go out, or an ``OSError`` that says what stands there instead. Devices,
FIFOs and sockets are refused before they are opened, and again on the descriptor, should the path have changed in between.
``st_size`` of the status is the size at open, the bound of all reading: a file that grows is read to there and no further.
"""

import errno
import io
import os
import stat
from typing import BinaryIO, Final

from convparse.errors import ConvparseError
from convparse.reading.handles import File, reuse

BUFFER: Final = 256 << 10
_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
_KINDS: Final = (
    (stat.S_ISDIR, "a directory; give a file in it"),
    (stat.S_ISFIFO, "a named pipe; save its output to a file, or read it and call parse_bytes"),
    (stat.S_ISSOCK, "a socket; give a regular file"),
)


def open_regular(path: str) -> tuple[BinaryIO, os.stat_result]:
    """Open a regular file for reading, with its status at open."""
    file, status = open_raw(path)
    return io.BufferedReader(file, BUFFER), status


def read_beginning(path: str, size: int) -> bytes:
    """At most so many first bytes of a regular file."""
    with open_raw(path)[0] as file:
        return file.read(size) or b""


def open_raw(path: str) -> tuple[File, os.stat_result]:
    """The same without a buffer, for a file that may change and is read more than once."""
    if "\0" in path:
        raise ConvparseError(f"no file has a NUL in its name; correct the path {path!r}")
    there = os.stat(path)  # noqa: PTH116 - thousands are looked at by `discover`
    _refuse_others(path, there.st_mode)
    descriptor = reuse((there.st_dev, there.st_ino))
    if descriptor is None:
        descriptor = os.open(path, _FLAGS)
    else:
        os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        status = os.fstat(descriptor)
        _refuse_others(path, status.st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return File(descriptor, status), status


def _refuse_others(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    what = next((text for test, text in _KINDS if test(mode)), "a device; give a regular file")
    raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, f"not a regular file but {what}", path)
