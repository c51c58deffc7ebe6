"""A file that is plain text: one unit, which the source cuts into runs of bytes that join without gaps."""

from collections.abc import Iterator
from typing import BinaryIO

from convparse.ledger import Ledger, Place


def read_text(file: BinaryIO, size: int, ledger: Ledger) -> Iterator[tuple[bytes, Place]]:
    """The bytes of a file with their place, or nothing."""
    if size > ledger.limits.document_bytes:
        ledger.unit("oversized", (1, 0, size), excerpt=file.read(ledger.limits.excerpt))
        return
    data = file.read(size)
    if data:
        yield data, (1, 0, len(data))
    if len(data) < size:
        ledger.unit("vanished", (data.count(b"\n") + 1, len(data), size - len(data)))
