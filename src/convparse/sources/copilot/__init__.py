"""GitHub Copilot in VS Code: session files, mutation logs, exports, replays, the extension's transcripts.

``fields`` says what is known, ``sessions`` and ``requests`` read, with ``parts``, ``tools``, ``outputs`` and ``attachments`` for
what a request holds; ``erased`` keeps what a log took away; ``resolve`` settles what only the whole file can tell; ``files``
finds and recognises.
"""

from typing import Final

from convparse.drops import Code
from convparse.sources._source import Source, Variant
from convparse.sources.copilot import files, resolve, sessions
from convparse.sources.copilot.fields import NEWEST, SKIPPED

SOURCE: Final = Source(
    name="copilot",
    product="GitHub Copilot in VS Code",
    newest=NEWEST,
    variants={
        "session": Variant("document", sessions.read, resolve.resolve, files.is_session),
        "log": Variant("mutation-log", sessions.read_log, resolve.resolve, files.is_operation),
    },
    detect=files.detect,
    gather=files.gather,
    codes={
        "copilot/stale-twin": Code("skipped", "the flat file of a session whose log is newer", folds=True),
        "copilot/truncated-value": Code("lost", "a text too long for the editor, cut when it was written"),
        "copilot/unjoined-call": Code("altered", "a tool call shown whose arguments cannot be told from others'"),
    },
    skipped=SKIPPED,
)
