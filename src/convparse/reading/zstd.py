"""Text in zstd frames, as an ordinary binary file.

A compressed file comes in; a file of its decoded bytes and their number go out. The number is had by decoding once, so that
what is read later is bounded by it; neither pass holds more than a block. Damage ends the file where it stands and is told by
``damaged``; nothing is raised for any bytes.
"""

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO, Final

from convparse.errors import ConvparseError

_BLOCK: Final = 256 << 10
_MODULES: Final = ("compression.zstd", "backports.zstd")


def opened(file: BinaryIO) -> tuple["Decoded", int]:
    """The decoded file, and how many bytes it has."""
    reader = _reader()
    size = 0
    counted = _Frames(file, reader)
    while block := counted.read(_BLOCK):
        size += len(block)
    file.seek(0)
    return Decoded(_Frames(file, reader)), size


def _reader() -> Callable[[BinaryIO], Any]:
    for name in _MODULES:
        try:
            module = import_module(name)
        except ImportError:
            continue
        return lambda file: module.ZstdFile(file, "rb")
    raise ConvparseError("a zstd file is read by Python 3.14 or later, or with: pip install 'convparse[zstd]'")


class _Frames(io.RawIOBase):
    """The decoded bytes; the first damage is the end."""

    def __init__(self, file: BinaryIO, reader: Callable[[BinaryIO], Any]) -> None:
        super().__init__()
        self._decoder = reader(file)
        self.damaged = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.damaged:
            return 0
        try:
            data: bytes = self._decoder.read1(len(buffer))
        except Exception:  # noqa: BLE001 - the module's own error, EOFError, OSError: all say that the bytes are damaged
            self.damaged = True
            return 0
        buffer[: len(data)] = data
        return len(data)


class Decoded(io.BufferedReader):
    """The decoded file."""

    def __init__(self, frames: _Frames) -> None:
        super().__init__(frames, _BLOCK)
        self._frames = frames

    @property
    def damaged(self) -> bool:
        """True once reading has come to damage."""
        return self._frames.damaged
