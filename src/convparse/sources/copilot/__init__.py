"""GitHub Copilot in VS Code: session files, mutation logs, exports, replays, the extension's transcripts.

``fields`` says what is known, ``sessions`` and ``requests`` read, with ``parts``, ``tools``, ``outputs`` and
``attachments`` for what a request holds; ``erased`` keeps what a log took away; ``resolve`` settles what only the whole
file can tell; ``files`` finds and recognises.
"""

from typing import Final

from convparse.drops import Code
from convparse.sources._source import Source, Variant
from convparse.sources.copilot import files, replays, resolve, sessions
from convparse.sources.copilot.fields import NEWEST, SKIPPED
from convparse.sources.copilot_cli import rows
from convparse.sources.copilot_cli.fields import SKIPPED as EVENTS_SKIPPED

SOURCE: Final = Source(
    name="copilot",
    product="GitHub Copilot in VS Code",
    newest=NEWEST,
    variants={
        "session": Variant(
            "document",
            sessions.read,
            resolve.resolve,
            files.is_session,
            read_drafts=sessions.read_with_drafts,
        ),
        "log": Variant(
            "mutation-log",
            sessions.read_log,
            resolve.resolve,
            files.is_operation,
            read_drafts=sessions.read_log_with_drafts,
        ),
        "transcript": Variant("jsonl-joined", rows.read, resolve.resolve_transcript, files.is_event),
        "chatreplay": Variant("document", replays.read, resolve.resolve, files.is_session),
    },
    detect=files.detect,
    gather=files.gather,
    codes={
        "copilot/stale-twin": Code("skipped", "the flat file of a session whose log is newer", folds=True),
        "copilot/truncated-value": Code("lost", "a text too long for the editor, cut when it was written"),
        "copilot-cli/repeated-reasoning": Code("skipped", "reasoning that a message of the file has too", folds=True),
        "copilot-cli/repeated-prompt": Code("skipped", "a system prompt that stands in the file before", folds=True),
        "copilot/unjoined-call": Code("altered", "a tool call shown whose arguments cannot be told from others'"),
    },
    skipped={**SKIPPED, **EVENTS_SKIPPED},
)
