"""``store.db`` of ``cursor-agent``: which blobs make the conversation, and in what order.

The rule is the one by which the product writes its transcripts: the messages of every summary archive, in order, then those of
the root. Nothing is scanned for: what the root does not reach belongs to abandoned branches, and is counted. The product leaves
out system prompts and summaries; here they are marked.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from convparse._json import decode_shallow
from convparse.ledger import NOWHERE, Place
from convparse.reading.rows import Rows
from convparse.reading.tables import Record, Row, Table
from convparse.sources._source import Store, Unit
from convparse.sources.cursor import protobuf
from convparse.sources.cursor.protobuf import Fields, Malformed

BLOBS: Final = Table("blobs", "id", "data")
META: Final = Table("meta", "key", "value")
MESSAGES, TURNS, OLD_SUMMARY, ARCHIVES = 1, 8, 11, 13
"""Numbers of the root's fields that lead on."""


def ids(rows: Rows) -> Iterator[str]:
    """The one id."""
    yield ids_of(read_meta(rows))


def read_meta(rows: Rows) -> dict[str, Any]:
    """What row ``0`` of ``meta`` says: JSON, usually as hex."""
    row = rows.database.row(META, "0")
    value = decode_meta(row.value) if row is not None and row.value is not None and not row.problem else None
    return value if type(value) is dict else {}


def decode_meta(data: bytes) -> Any:
    """The JSON of a row of ``meta``; None for what is none."""
    for decode in (bytes, lambda text: bytes.fromhex(text.decode("ascii"))):
        try:
            return decode_shallow(decode(data))
        except ValueError:
            continue
    return None


def ranges(id: str) -> tuple[tuple[Table, str, bool], ...]:
    """The rows that change whenever the conversation does: its head, which names the root."""
    return ((META, "0", True),)


def units(rows: Rows, id: str, messages: bool) -> Iterator[Unit]:
    """The head, then the root, and what it leads to."""
    meta = read_meta(rows)
    if ids_of(meta) != id:
        return
    yield from rows.data(META, "0")
    if not messages:
        return
    walk = Walk(rows)
    root = meta.get("latestRootBlobId")
    if type(root) is str:
        yield from walk.root(root)
    left = sum(1 for _, key in rows.database.keys(BLOBS, "") if key not in walk.seen)
    if left:
        rows.ledger.family("cursor/unreachable-blobs", NOWHERE, left, record="blobs")


def ids_of(meta: dict[str, Any]) -> str:
    """The id that a head gives."""
    id = meta.get("agentId")
    return id if type(id) is str else ""


def bytes_of(row: Row) -> bytes:
    """The bytes of a blob: as they are, as hex in a text, or one zero for none at all."""
    data = row.value or b""
    if row.kind == "text":
        try:
            return bytes.fromhex(data.decode("ascii"))
        except ValueError:
            return data
    return b"" if data == b"\0" else data


class Walk:
    """The blobs reached from a root; in the editor's database their keys have a prefix."""

    def __init__(self, rows: Rows, table: Table = BLOBS, prefix: str = "") -> None:
        self.rows = rows
        self.table = table
        self.prefix = prefix
        self.seen: set[str] = set()
        self._walked: set[str] = set()
        self._said: dict[str, Place] = {}

    def blob(self, id: str) -> Row | None:
        """A blob by its hash, checked; None, and named, if it is not to be had."""
        row = self.rows.database.row(self.table, self.prefix + id)
        first = id not in self.seen
        if row is None:
            if first:
                self.rows.ledger.part("cursor/missing-blob", NOWHERE, record="blobs", excerpt=id.encode())
            self.seen.add(id)
            return None
        self.seen.add(id)
        if not self.rows.is_whole(row, "blobs"):
            return None
        row = row._replace(value=bytes_of(row))
        if first and sha256(row.value or b"").hexdigest() != id:
            self.rows.ledger.part("cursor/blob-hash", self.rows.place(row), record="blobs")
        return row

    def message(self, id: str, kind: str, **more: Any) -> Iterator[Unit]:
        """A blob that holds a message of protobuf, or is named; once, however often it is referred to."""
        row = self.blob(id) if id not in self._walked else None
        self._walked.add(id)
        if row is None:
            return
        place = self.rows.place(row)
        try:
            found = protobuf.fields(row.value or b"")
        except Malformed:
            yield Record("undecodable", id, row.value, row.kind), place
            return
        yield Record(kind, id, {"fields": found, **more}, row.kind), place

    def root(self, id: str) -> Iterator[Unit]:
        """The root, its archives, its messages, its turns."""
        for record, place in self.message(id, "root"):
            yield record, place
            if record.table == "root":
                yield from self.state(record.value["fields"])

    def state(self, found: Fields) -> Iterator[Unit]:
        """What the fields of a root lead to."""
        for archive in (*protobuf.hashes(found, OLD_SUMMARY), *protobuf.hashes(found, ARCHIVES)):
            yield from self.archive(archive)
        yield from self.said(protobuf.hashes(found, MESSAGES))
        for turn in protobuf.hashes(found, TURNS):
            yield from self.turn(turn)

    def archive(self, id: str) -> Iterator[Unit]:
        """What a compaction took away, then its summary."""
        for record, place in self.message(id, "archive"):
            found: Fields = record.value["fields"] if record.table == "archive" else {}
            yield from self.said(protobuf.hashes(found, 1))
            yield record, place
            self.seen.update(protobuf.hashes(found, 4))

    def said(self, ids: list[str]) -> Iterator[Unit]:
        """Messages, each as its bytes; said again, a message is only named."""
        for id in ids:
            if id in self._said:
                yield Record("again", id, None, ""), self._said[id]
                continue
            row = self.blob(id)
            if row is not None:
                self._said[id] = self.rows.place(row)
                yield Record("message", id, row.value, row.kind), self._said[id]

    def turn(self, id: str) -> Iterator[Unit]:
        """A turn with its prompt and steps, which say again what the messages say, and when."""
        for record, place in self.message(id, "turn"):
            inner = record.value["fields"].get(1, [b""])[0] if record.table == "turn" else b""
            try:
                agent = protobuf.fields(inner) if isinstance(inner, bytes) else {}
            except Malformed:
                agent = {}
            yield record, place
            for prompt in protobuf.hashes(agent, 1):
                yield from self.message(prompt, "prompt")
            for step in protobuf.hashes(agent, 2):
                yield from self.message(step, "step")


def beside(rows: Rows) -> Iterator[Unit]:
    """Nothing but other rows of ``meta``, and what else the database holds, counted."""
    count = rows.database.count(META, "", "\U0010ffff") - (rows.database.row(META, "0") is not None)
    if count > 0:
        rows.ledger.family("unread-rows", NOWHERE, count, record="meta")
    rows.rest(BLOBS, META)
    yield from ()


STORE: Final = Store(ids, ranges, units, beside)
