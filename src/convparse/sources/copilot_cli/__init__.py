"""GitHub Copilot CLI: the events of a session, and the whole-session objects of its first versions.

``fields`` says what is known, ``rows`` and ``messages`` read, ``resolve`` settles what only the whole file can tell;
``history`` is the oldest format; ``files`` finds and recognises.
"""

from typing import Final

from convparse.drops import Code
from convparse.sources._source import Source, Variant
from convparse.sources.copilot_cli import edits, files, history, resolve, rows
from convparse.sources.copilot_cli.fields import NEWEST, SKIPPED

SOURCE: Final = Source(
    name="copilot-cli",
    product="GitHub Copilot CLI",
    newest=NEWEST,
    variants={
        "events": Variant("jsonl-joined", rows.read, resolve.resolve, files.is_event),
        "history": Variant("document", history.read, history.resolve, files.is_event),
    },
    detect=files.detect,
    gather=files.gather,
    codes={
        "copilot-cli/repeated-reasoning": Code("skipped", "reasoning that a message of the file has too", folds=True),
        "copilot-cli/repeated-prompt": Code("skipped", "a system prompt that stands in the file before", folds=True),
    },
    skipped=SKIPPED,
    edits=edits.edits,
)
