"""What is wrong with the arguments of a call, said before anything is opened.

An argument comes in; it goes out as the library needs it, or a ``ConvparseError`` says what to give instead.
"""

import os
from collections.abc import Iterable
from typing import Any, Final

from convparse.errors import ConvparseError
from convparse.limits import Limits

_USUAL: Final = Limits()


def path_of(path: str | os.PathLike[str]) -> str:
    """The text of a path, ``~`` expanded."""
    text: Any = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        hint = "os.fsdecode makes a str of it" if isinstance(path, bytes) else "parse_bytes reads bytes from elsewhere"
        raise ConvparseError(f"a path is a str or a PathLike of one, not {type(path).__name__}; {hint}")
    return os.path.expanduser(text)


def bytes_of(data: bytes | bytearray | memoryview) -> bytes:
    """Bytes, as they are."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ConvparseError(f"data is bytes, not {type(data).__name__}; parse reads files, and text becomes bytes by encode()")
    return bytes(data)


def limits_of(limits: Limits | None) -> Limits:
    """The limits given, or the usual ones."""
    if limits is not None and not isinstance(limits, Limits):
        raise ConvparseError(f"limits is a Limits, not {type(limits).__name__}; Limits(line_bytes=2**30) sets one of them")
    return limits or _USUAL


def stamps_of(known: Iterable[str | None]) -> frozenset[str]:
    """The stamps of conversations that are passed over; None is nobody's."""
    if isinstance(known, str):
        raise ConvparseError("known is an iterable of stamps; put the one stamp in a list")
    return frozenset(stamp for stamp in known if stamp is not None)


def check(given: object, wanted: type, what: str, hint: str = "") -> None:
    """Refuse what is not of a type."""
    if not isinstance(given, wanted):
        article = "an" if wanted.__name__[0] in "AEIO" else "a"
        raise ConvparseError(f"{what} takes {article} {wanted.__name__}, not {type(given).__name__}{hint}")
