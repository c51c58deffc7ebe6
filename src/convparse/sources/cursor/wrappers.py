"""The tags around a person's words in agents' transcripts and stores.

Only what the product itself writes is taken for a tag: ``<user_query>`` from the first opening to the last closing one, since
nothing inside is escaped, and blocks of context around it. What cannot be cut exactly stays whole.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from convparse.blocks import Block
from convparse.sources._reading import make_injected, make_text, make_thinking

_OPEN: Final = "<user_query>"
_CLOSE: Final = "</user_query>"
_TAG: Final = re.compile(r"<([a-z][a-z_]*)(?: [^<>]*)?>.*?</\1>\s*", re.DOTALL)
_KNOWN: Final = frozenset(
    "timestamp image_files user_info project_layout rules attached_files system_reminder git_status workspace cursor_rules"
    " open_and_recently_viewed_files agent_transcripts additional_data current_file agent_skills mcp_file_system".split()
)
REDACTED: Final = "[REDACTED]"


def person(text: str) -> tuple[list[Block], bool]:
    """A person's text: what the product put around it, and the words themselves; False if the blocks do not say all of it."""
    begin, end = text.find(_OPEN), text.rfind(_CLOSE)
    before, rest = _tags(text[:begin] if 0 <= begin <= end else text)
    if not 0 <= begin <= end:
        return [*before, *([make_text(rest)] if rest or not before else [])], True
    if rest:
        return [make_text(text)], True
    inner, after = text[begin + len(_OPEN) : end], text[end + len(_CLOSE) :]
    usual = len(inner) > 1 and inner[0] == inner[-1] == "\n"
    blocks = [*before, make_text(inner[1:-1] if usual else inner)]
    return [*blocks, *([make_injected("after-query", after)] if after else [])], usual


def _tags(text: str) -> tuple[list[Block], str]:
    """The known tags that a text begins with, white space and all, and what is left of it."""
    blocks: list[Block] = []
    at = 0
    while (tag := _TAG.match(text, at)) is not None and tag[1] in _KNOWN:
        blocks.append(make_injected(tag[1], tag[0]))
        at = tag.end()
    return blocks, text[at:]


def model(text: str) -> list[Block]:
    """The model's text: encrypted reasoning at its end prints as a mark, plain reasoning cannot be told from prose."""
    if not text.endswith(REDACTED):
        return [make_text(text)]
    said = text[: -len(REDACTED)]
    hidden = make_thinking("", None, True)
    return [make_text(said), hidden] if said else [hidden]


_STAMP: Final = re.compile(
    r"<timestamp>\w+, (\w{3}) (\d\d?), (\d{4}), (\d\d?):(\d\d) ([AP]M) \(UTC(?:([+-])(\d\d?)(?::(\d\d))?)?\)</timestamp>",
    re.ASCII,
)
_MONTHS: Final = {name: number for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}


def stamp(text: str) -> Any:
    """The time that a prompt begins with, to the minute, as the three facts of a record."""
    found = _STAMP.match(text)
    if found is None or found[1] not in _MONTHS:
        return None, None, None
    sign = -1 if found[7] == "-" else 1
    offset = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0)) * sign
    hour = int(found[4]) % 12 + (12 if found[6] == "PM" else 0)
    try:
        zone = timezone(offset) if offset else UTC
        when = datetime(int(found[3]), _MONTHS[found[1]], int(found[2]), hour, int(found[5]), tzinfo=zone)
    except ValueError:
        return None, None, None
    return when, "recorded", found[0][11:-12]
