"""Drops: what is not in the result as it stood in the file, each with its place, its reason and what became of it.

``CODES`` is the registry: a code fixes the fate, and its text is a sentence for people, not part of the API. A source adds its
own codes as ``vendor/slug``. Nothing here knows a product or a container.
"""

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import attrs

from convparse.blocks import Json, short
from convparse.records import Origin

Fate: TypeAlias = Literal["lost", "altered", "unknown", "skipped"]
"""``lost``: not to be had; ``altered``: in the result, changed or less exact; ``unknown``: in the result raw, not understood;
``skipped``: recognised bookkeeping or an exact repeat, still at its place."""


@attrs.frozen
class Code:
    """One kind of drop."""

    fate: Fate
    summary: str
    """One line, lower case, no full stop."""
    folds: bool = False
    """True if a whole unit of this code counts as ``folded``: it says again what stands elsewhere in the result."""
    former: tuple[str, ...] = ()
    """Names that this code had in earlier versions."""


CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        # Damage that containers report.
        "malformed-line": Code("lost", "not valid JSON"),
        "torn-tail": Code("lost", "the last line is cut: it has no line end and does not decode"),
        "cut-record": Code("lost", "a record is cut short and another follows on the same line"),
        "nul-padding": Code("lost", "NUL bytes where text should be"),
        "oversized": Code("lost", "larger than the limit"),
        "too-deep": Code("lost", "nested deeper than the limit"),
        "broken-compression": Code("lost", "compressed data that cannot be decoded from here on"),
        "vanished": Code("lost", "the file became shorter while it was read"),
        "not-a-database": Code("lost", "not an SQLite database, or an encrypted one"),
        "busy-database": Code("lost", "no consistent state of the database could be had while another program wrote to it"),
        "malformed-database": Code("lost", "the database is damaged; what can still be read of it is in the result"),
        "wal-ignored": Code("lost", "the write-ahead log does not fit the database; the main file was read alone"),
        "refused-table": Code("lost", "a view, a virtual table or the like where a table should be"),
        "unreadable-row": Code("lost", "a row that the database lists and cannot give"),
        "malformed-value": Code("lost", "a value that is not valid JSON"),
        "null-value": Code("lost", "a row whose value was taken away (NULL)"),
        "empty-value": Code("lost", "a row whose value is empty"),
        "odd-key": Code("lost", "rows whose key is NULL, bytes or a number; they belong to nothing"),
        "too-many-rows": Code("lost", "rows over the limit"),
        "unread-rows": Code("lost", "rows of a family that this version does not read, counted"),
        "duplicate-key": Code("lost", "a key stands twice in one object; the last one counts"),
        "missing-newline": Code("altered", "several records on one line, read as one each"),
        "invalid-utf8": Code("altered", "bytes that are not UTF-8, replaced by U+FFFD"),
        "lone-surrogate": Code("altered", "half of a surrogate pair, replaced by U+FFFD"),
        "not-a-number": Code("altered", "NaN or an infinity, read as null"),
        "number-precision": Code("altered", "a number with more digits than a float holds"),
        "lenient-json": Code("altered", "control characters inside a string, kept as they are"),
        # What the replay of a mutation log reports.
        "missing-snapshot": Code("lost", "operations before any snapshot; they are applied to an empty session"),
        "missing-target": Code("lost", "an operation on a place that is not there"),
        "malformed-operation": Code("lost", "an operation that is not well formed"),
        "too-many-operations": Code("lost", "an operation beyond the limit"),
        "uncertain-place": Code("altered", "a place that an operation which could not be applied may have changed"),
        "idle-operation": Code("skipped", "an operation that changes nothing"),
        "replaced-value": Code("skipped", "a value that a later operation replaces, or says again", folds=True),
        # What a source meets in a record.
        "not-an-object": Code("unknown", "a record that is not an object"),
        "unknown-record": Code("unknown", "a record type that is not known"),
        "unknown-field": Code("unknown", "a field that is not known"),
        "unknown-block": Code("unknown", "a content block of a type that is not known"),
        "unexpected-type": Code("unknown", "a known field with a value of an unexpected type"),
        "bad-timestamp": Code("altered", "a time that cannot be read; its text is kept"),
        "duplicate-id": Code("altered", "an id that stands twice on different records; the key has a number added"),
        "cyclic-parent": Code("altered", "parents that lead in a circle, cut where it closes"),
        # What is recorded nowhere.
        "missing-parent": Code("lost", "the record that this one continues is not in the file"),
        "missing-result": Code("lost", "a tool call without a result"),
        "missing-arguments": Code("lost", "a tool call whose arguments are not recorded"),
        "orphan-result": Code("lost", "a tool result whose call is not recorded"),
        "missing-output": Code("lost", "an output kept in a file of its own, which is not there"),
        "hidden-narration": Code("lost", "text that was shown while working, recorded as hidden reasoning only"),
        "prompt-not-recorded": Code("lost", "a prompt that was queued and taken up, whose text is not recorded"),
        "usage-not-recorded": Code("lost", "a model request whose tokens are not recorded"),
        "provisional-usage": Code("lost", "a response whose final token count was never recorded"),
        "unreadable-file": Code("lost", "a file of the session that cannot be read"),
        "unread-file": Code("lost", "a file of the session that this version does not read"),
        # Recognised and left out, or said before.
        "skipped-record": Code("skipped", "a record of bookkeeping"),
        "skipped-field": Code("skipped", "a field of bookkeeping"),
        "skipped-file": Code("skipped", "a file of bookkeeping"),
        "skipped-rows": Code("skipped", "rows of bookkeeping, counted by family"),
        "repeated-record": Code("skipped", "a record that stands in the file before", folds=True),
        "inherited-usage": Code("skipped", "token counts of a copied row; they are counted where it was made"),
        "repeated-usage": Code("skipped", "token counts that the response's last row gives"),
        # What the document of an export lacks.
        "export-no-field": Code("lost", "the format has no field for it"),
        "export-not-active": Code("lost", "a message that is not active; the format holds one line of talk"),
        "export-not-allowed": Code("lost", "the rules of the format do not allow it here"),
        "export-joined": Code("altered", "text that is joined to the text before it"),
        "export-moved": Code("altered", "it stands elsewhere in the order"),
        "export-reworded": Code("altered", "the format has other words, or another shape, for it"),
        "export-stand-in": Code(
            "altered", "not recorded, or not unique, and demanded by the format: a stand-in is in its place"
        ),
    }
)


@attrs.frozen
class Drop:
    """Everything of one code, file, record type and pattern that is not in the result as it stood in the file."""

    code: str
    fate: Fate
    origin: Origin
    """The first place."""
    record: str = ""
    """The product's name of the record type; empty for damage that a container reports."""
    pattern: str = ""
    """JSON Pointer with ``*`` for indices and data keys, ``»`` where it enters JSON held in a string; empty: the whole unit."""
    count: int = 1
    bytes: int = 0
    """Bytes of whole units; a part of a unit has 0 here, since the unit is accounted for elsewhere."""
    lines: tuple[int, ...] = ()
    """The first line numbers (for databases, row ids), ascending, at most ``Limits.lines``; ``count`` is exact."""
    message: str = ""
    """For people; not part of the API."""
    excerpt: str = ""
    """The beginning of the first, escaped; empty with ``excerpts=False``."""
    detail: Json | None = attrs.field(default=None, repr=short)

    def __str__(self) -> str:
        place = PurePath(self.origin.path).name or self.origin.path
        for part in (self.origin.line, self.origin.table, self.origin.key):
            place += "" if part is None else f":{part}"
        about = "".join(f" {part}" for part in (self.record, self.pattern) if part)
        times = f" (x{self.count})" if self.count > 1 else ""
        return plain(f"{place}: {self.fate} {self.code}: {self.message}{about}{times}")


class Drops(tuple[Drop, ...]):
    """Drops: a tuple like any, compared, hashed and pickled as one, that notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from convparse import _html

        return _html.of_drops(self)


def plain(text: str) -> str:
    """A text that can be shown anywhere: what does not print is escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


@attrs.frozen
class Bin:
    """So many units, so many bytes."""

    units: int = 0
    bytes: int = 0

    def __add__(self, other: "Bin") -> "Bin":
        return Bin(self.units + other.units, self.bytes + other.bytes)


@attrs.frozen
class Account:
    """Where the bytes of one file went. A unit is in the first bin that fits."""

    path: str
    size: int
    """Decoded bytes."""
    mapped: Bin = Bin()
    """Units that are some record's ``origin``."""
    folded: Bin = Bin()
    """Units in some record's ``merged``, or named repeats."""
    lost: Bin = Bin()
    skipped: Bin = Bin()
    blank: Bin = Bin()
    """Byte order marks, blank lines and the like: nothing was said there."""
    stamp: str = attrs.field(default="", eq=False, repr=False)

    @property
    def bins(self) -> dict[str, Bin]:
        """The bins by name."""
        return {name: getattr(self, name) for name in ("mapped", "folded", "lost", "skipped", "blank")}

    @property
    def balanced(self) -> bool:
        """True if the bins hold every byte of the file, once."""
        return sum(part.bytes for part in self.bins.values()) == self.size

    def __add__(self, other: "Account") -> "Account":
        return Account(
            self.path,
            self.size + other.size,
            self.mapped + other.mapped,
            self.folded + other.folded,
            self.lost + other.lost,
            self.skipped + other.skipped,
            self.blank + other.blank,
        )

    def _repr_html_(self) -> str:
        from convparse import _html

        return _html.of_account(self)
