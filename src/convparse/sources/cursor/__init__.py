"""Cursor: the editor's databases, transcripts of its agents, stores and stdout of ``cursor-agent``.

``fields`` says what is known. ``editor`` selects rows, ``rows`` reads them (``composers``, ``bubbles``, ``tools``,
``workspaces``), ``resolve`` settles what only the conversation can tell. The smaller formats have a module each; ``files``
finds and recognises them.
"""

from typing import Final

from convparse.sources._source import Source, Variant
from convparse.sources.cursor import agents, blobs, changes, editor, files, resolve, rows, stream, texts, transcripts
from convparse.sources.cursor.codes import CODES
from convparse.sources.cursor.fields import NEWEST, SKIPPED

SOURCE: Final = Source(
    name="cursor",
    product="Cursor",
    newest=NEWEST,
    variants={
        "agent-transcript": Variant("jsonl", transcripts.read, transcripts.resolve, files.is_line),
        "agent-text": Variant("text", texts.read, texts.resolve),
        "editor": Variant("sqlite", rows.read, resolve.resolve, store=editor.STORE),
        "agent-store": Variant("sqlite", blobs.read, blobs.resolve, store=agents.STORE),
        "stream-json": Variant("jsonl", stream.read, stream.resolve, files.is_frame),
        "json": Variant("document", stream.read, stream.resolve, files.is_frame),
    },
    detect=files.detect,
    gather=files.gather,
    codes=CODES,
    skipped=SKIPPED,
    edits=changes.edits,
)
