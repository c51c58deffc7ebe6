"""What the writer of a source needs beside the records: the parts of a ``Source``, the ledger's tables, and helpers for drafts.

Provisional until 1.0, as ``Source`` is: the names here stay while the modules behind them may move. Nothing is defined here.
"""

from convparse._make import close
from convparse.ledger import ALWAYS, AnyOf, Fields, Ledger, escape
from convparse.sources._reading import Keys, json_of, keep, odd, open_event, open_message
from convparse.sources._source import FilePart, Gathered, Head, Match, Resolved, Session, Source, Store, Unit, Variant
from convparse.times import NO_TIME, epoch_ms, iso_time

__all__ = [
    "ALWAYS",
    "NO_TIME",
    "AnyOf",
    "Fields",
    "FilePart",
    "Gathered",
    "Head",
    "Keys",
    "Ledger",
    "Match",
    "Resolved",
    "Session",
    "Source",
    "Store",
    "Unit",
    "Variant",
    "close",
    "epoch_ms",
    "escape",
    "iso_time",
    "json_of",
    "keep",
    "odd",
    "open_event",
    "open_message",
]
