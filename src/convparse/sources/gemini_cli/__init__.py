"""Gemini CLI: the logs of its sessions, the documents of its first versions, checkpoints, and the log of prompts.

``fields`` says what is known; ``rows`` reads lines, ``messages`` and ``parts`` what stands in them, ``documents`` whole files;
``versions`` compares what was written several times; ``resolve`` follows the product's list of messages and pairs calls with
results.
"""

from typing import Final

from convparse.sources._source import Source, Variant
from convparse.sources.gemini_cli import documents, edits, files, resolve, rows
from convparse.sources.gemini_cli.fields import NEWEST, SKIPPED

SOURCE: Final = Source(
    name="gemini-cli",
    product="Gemini CLI",
    newest=NEWEST,
    variants={
        "log": Variant("jsonl", rows.read, resolve.resolve, files.is_record),
        "session": Variant("document", documents.read_session, resolve.resolve, files.is_record),
        "checkpoint": Variant("document", documents.read_checkpoint, resolve.resolve, files.is_record),
        "prompts": Variant("document", documents.read_prompts, documents.resolve_prompts, files.is_record),
    },
    detect=files.detect,
    gather=files.gather,
    skipped=SKIPPED,
    edits=edits.edits,
)
