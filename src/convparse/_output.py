"""Standard output: terminals, pipes and files, of any encoding.

What comes in: text for people, without control characters, or data: JSON and CSV. What goes out: bytes. What a stream cannot
encode is escaped. Data is UTF-8 wherever it goes, and nothing in it can steer a terminal. A reader that has gone away, as in
``| head``, is no error: ``gone`` says so, and nothing more is written.

Never done here: nothing is parsed, and no exit status is decided.
"""

import codecs
import contextlib
import errno
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Final, TextIO

import attrs

from convparse._show import plain

_SUSPECT: Final = re.compile(r"[^ -~]+")


@attrs.define(eq=False)
class Output:
    """A stream, and what became of it."""

    stream: TextIO | None
    """None where the process was started without one; then it is as if the reader had gone."""
    gone: bool = False
    """True when nobody reads any more."""
    error: OSError | None = None
    """Why it could not be written to, where that is not the reader's doing."""

    @property
    def is_terminal(self) -> bool:
        """True where a person looks at it."""
        return self.stream is not None and self.stream.isatty()

    def text(self, text: str) -> None:
        """Lines for people; coloured where the terminal has colours, they are wanted, and ``rich`` is installed."""
        self._send(lambda stream: _painter(stream)(encodable(text, stream), stream))
        self.flush()

    def json(self, data: bytes) -> None:
        """A JSON document on a line of its own; what does not print is escaped, and the value stays the same."""
        may_stand = str.isprintable if self._is_utf8() else _is_printable_ascii
        self.write(f"{_escaped(data.decode(), may_stand)}\n")

    def cell(self, text: str) -> str:
        """A cell of CSV as it may be written: verbatim, but escaped on a terminal."""
        if not self.is_terminal:
            return text
        return plain(text) if self._is_utf8() else plain(text).encode("ascii", "backslashreplace").decode()

    def write(self, data: str) -> None:
        """Data, as it stands."""
        self._send(lambda stream: stream.buffer.write(data.encode("utf-8", "surrogateescape")))

    def flush(self) -> None:
        """Send what was held back."""
        self._send(lambda stream: stream.flush())

    def _is_utf8(self) -> bool:
        return codecs.lookup((self.stream and self.stream.encoding) or "utf-8").name == "utf-8"

    def _send(self, send: Callable[[TextIO], object]) -> None:
        if self.stream is None or self.gone:
            return
        try:
            send(self.stream)
        except OSError as error:
            # Windows calls a pipe that was closed an invalid argument.
            is_closed = isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)
            self.gone, self.error = True, None if is_closed else error
            _discard(self.stream)


def encodable(text: str, stream: TextIO) -> str:
    """The text with whatever the stream cannot encode escaped."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _is_printable_ascii(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _escaped(text: str, may_stand: Callable[[str], bool]) -> str:
    if may_stand(text):
        return text
    return _SUSPECT.sub(lambda run: "".join(c if may_stand(c) else json.dumps(c)[1:-1] for c in run[0]), text)


def _discard(stream: TextIO) -> None:
    """Lead what is still held back nowhere, so that it does not fail once more when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _painter(stream: TextIO) -> Callable[[str, TextIO], object]:
    if stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        with contextlib.suppress(ImportError):
            from convparse._rich import paint

            return paint
    return _plain_lines


def _plain_lines(text: str, stream: TextIO) -> None:
    stream.write(f"{text}\n")
