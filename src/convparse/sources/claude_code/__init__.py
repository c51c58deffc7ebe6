"""Claude Code: transcripts of the command line tool and its SDKs, saved stdout, prompt history.

``fields`` says what is known, ``rows`` reads, ``resolve`` settles what only the whole session can tell; ``stream`` and
``history`` are the smaller formats; ``files`` finds and recognises them.
"""

from typing import Final

from convparse.sources._source import Source, Variant
from convparse.sources.claude_code import edits, files, history, resolve, rows, stream
from convparse.sources.claude_code.fields import NEWEST, SKIPPED

SOURCE: Final = Source(
    name="claude-code",
    product="Claude Code",
    newest=NEWEST,
    variants={
        "transcript": Variant("jsonl", rows.read, resolve.resolve, files.is_row),
        "history": Variant("jsonl", history.read, history.resolve, files.is_prompt),
        "stream-json": Variant("jsonl", stream.read, stream.resolve, files.is_frame),
        "json": Variant("document", stream.read_document, stream.resolve, files.is_frame),
    },
    detect=files.detect,
    gather=files.gather,
    gathering=files.gathering,
    skipped=SKIPPED,
    edits=edits.edits,
)
