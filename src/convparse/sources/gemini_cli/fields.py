"""What is known of Gemini CLI's files, field by field: the documents up to 0.24 and the logs up to 0.61.

``Fields`` tables say of every key of an object whether a record is made from it or whether it is kept as JSON. A message stands
by itself on a line of a log, in the list of an update, or in the list of a document: ``tables`` gives the tables of a place.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

import attrs

from convparse.ledger import ALWAYS, Fields

NEWEST: Final = "0.61.0"

UPDATED: Final = "$set/lastUpdated"
SKIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {UPDATED: "the time, written after every message; the last one is `Conversation.updated_at`"}
)
"""Record types left out whole, each with the reason."""

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys("read_file read_many_files list_directory get_internal_docs".split(), "read"),
        **dict.fromkeys("write_file replace edit".split(), "edit"),
        **dict.fromkeys("glob grep grep_search search_file_content google_web_search".split(), "search"),
        "run_shell_command": "execute",
        "web_fetch": "fetch",
        **dict.fromkeys("save_memory write_todos enter_plan_mode exit_plan_mode".split(), "think"),
    }
)
"""Tools by what they do, in the Agent Client Protocol's words; all others are ``other``."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _kept(text: str, **silent: object) -> dict[str, object]:
    return {**dict.fromkeys(text.split(), ALWAYS), **silent}


HEADER: Final = Fields(
    "metadata",
    typed=_words("sessionId startTime lastUpdated summary messages"),
    kept=_kept("projectHash kind directories memoryScratchpad activeExtensionName"),
)
SET: Final = Fields(
    "$set",
    "/$set",
    typed=_words("lastUpdated summary messages sessionId startTime"),
    kept=_kept("projectHash kind directories memoryScratchpad activeExtensionName"),
)
PATCH: Final = Fields("$patch", "/$patch", kept=_kept("id content toolCalls updates removeIds orderIds"))
LINE: Final[Mapping[str, Fields]] = MappingProxyType(
    {name: Fields(name, typed=frozenset({name})) for name in ("$set", "$rewindTo", "$patch")}
)
"""Lines that change what was written before hold one key."""
CHECKPOINT: Final = Fields(
    "checkpoint", typed=_words("history clientHistory"), kept=_kept("authType toolCall commitHash messageId filePath")
)
PROMPT: Final = Fields("prompt", "/*", typed=_words("message timestamp"), kept=_kept("sessionId messageId", type="user"))


@attrs.frozen
class Tables:
    """The tables of messages that stand at one kind of place."""

    message: Fields
    answer: Fields
    thought: Fields
    tokens: Fields
    content: Fields
    text: Fields
    part: Fields
    call: Fields
    response: Fields


@cache
def tables(name: str, at: str, content: str = "/content") -> Tables:
    """The tables of messages of a type that stand at a place, given as a pattern, their parts under a key."""
    parts = f"{at}{content}/*"
    return Tables(
        Fields(name, at, typed=_words("id timestamp type content"), kept=_kept("displayContent", displayContent=None)),
        Fields(
            name,
            at,
            typed=_words("id timestamp type content thoughts tokens model toolCalls"),
            kept=_kept("displayContent", displayContent=None),
        ),
        Fields(name, f"{at}/thoughts/*", typed=_words("subject description"), kept=_kept("timestamp")),
        Fields(name, f"{at}/tokens", typed=_words("input output cached thoughts total"), kept=_kept("", tool=0)),
        Fields(name, at, typed=_words("role parts")),
        Fields(name, parts, typed=_words("text thought"), kept=_kept("thoughtSignature")),
        Fields(
            name,
            parts,
            typed=_words("functionCall functionResponse inlineData fileData"),
            kept=_kept("thoughtSignature videoMetadata"),
        ),
        Fields(name, f"{parts}/functionCall", typed=_words("id name args")),
        Fields(name, f"{parts}/functionResponse", typed=_words("id name response"), kept=_kept("parts")),
    )
