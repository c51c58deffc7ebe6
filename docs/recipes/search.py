"""Full-text search over all sessions: ``python search.py INDEX.db WORD…`` reads what is new, and writes hits as JSON lines."""

import json
import sqlite3
import sys
from collections.abc import Iterable

import convparse

TABLES = """CREATE TABLE IF NOT EXISTS files (path PRIMARY KEY, stamp);
CREATE VIRTUAL TABLE IF NOT EXISTS said USING fts5 (path UNINDEXED, conversation UNINDEXED, message UNINDEXED, text)"""
SEARCH = "SELECT path, conversation, message, snippet(said, 3, '[', ']', '…', 20) FROM said WHERE said MATCH ? ORDER BY rank"


def texts(result: convparse.ParseResult) -> list[tuple[object, ...]]:
    """Conversation, message and words of every block."""
    rows = convparse.iter_rows(result, "blocks")
    return [(row["conversation_id"], row["message_key"], row["text"] or row["json"] or row["diff"]) for row in rows]


def search(index: sqlite3.Connection, found: Iterable[convparse.Found], words: Iterable[str]) -> list[tuple[str | None, ...]]:
    """Where all the words stand, the best first. Files with new stamps are read before, and none is remembered that fails."""
    index.executescript(TABLES)
    known = dict(index.execute("SELECT path, stamp FROM files"))
    new = [one for one in found if one.problem is None and known.get(one.path) != one.stamp]
    with index:
        index.executemany("DELETE FROM said WHERE path = ?", [(one.path,) for one in new])
        index.executemany("REPLACE INTO files VALUES (?, ?)", [(one.path, one.stamp) for one in new])
        for done in convparse.parse_many(new, then=texts):
            index.executemany("INSERT INTO said VALUES (?, ?, ?, ?)", [(done.found.path, *row) for row in done.value or ()])
            index.executemany("DELETE FROM files WHERE path = ?", [(done.found.path,)] if done.error else [])
    return index.execute(SEARCH, [" ".join('"{}"'.format(word.replace('"', '""')) for word in words)]).fetchall()


if __name__ == "__main__":
    for hit in search(sqlite3.connect(sys.argv[1]), convparse.discover(), sys.argv[2:]):
        print(json.dumps(hit))
