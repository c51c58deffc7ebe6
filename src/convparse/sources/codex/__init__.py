"""Codex: rollouts of the command line tool, its app server and editors, of every generation; saved stdout; prompt history.

``fields`` says what is known, ``rows`` reads lines and ``items`` what stands in them, ``twins`` and ``pairs`` make one what was
written several times, ``threads`` and ``usage`` settle what only the whole file can tell, ``resolve`` brings it together.
"""

from typing import Final

from convparse.sources._source import Source, Variant
from convparse.sources.codex import document, edits, files, history, resolve, rows, stream
from convparse.sources.codex.fields import CODES, NEWEST, SKIPPED

SOURCE: Final = Source(
    name="codex",
    product="Codex",
    newest=NEWEST,
    variants={
        "rollout": Variant("jsonl", rows.read, resolve.resolve, files.is_line),
        "rollout-zst": Variant("jsonl-zstd", rows.read, resolve.resolve, files.is_line),
        "bare": Variant("jsonl", rows.read, resolve.resolve, files.is_bare),
        "document": Variant("racing-document", document.read, document.resolve_document, files.is_item),
        "exec-json": Variant("jsonl", stream.read, stream.resolve, files.is_streamed),
        "history": Variant("jsonl", history.read_history, history.resolve, files.is_prompt),
        "index": Variant("jsonl", history.read_index, history.resolve, files.is_name),
    },
    detect=files.detect,
    gather=files.gather,
    gathering=files.gathering,
    codes=CODES,
    skipped=SKIPPED,
    edits=edits.edits,
)
