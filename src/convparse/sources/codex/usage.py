"""Token counts, once per response.

Records of usage (since 0.153) name their response and are taken first. Before, a count is emitted at the start of a turn and
after every response, so that one whose total is the last one's says nothing new; the total starts anew when a session is
resumed (up to 0.73), and is never used. A count goes to the last message of the model before it; where the product writes the
counts before the items of a response (up to 0.58), to the first message after it. Cached tokens are part of the input as
Codex counts it.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from convparse._json import encode
from convparse.ledger import Ledger, Place
from convparse.records import Usage
from convparse.sources._reading import make_usage
from convparse.sources.codex.state import Draft

_NUMBERS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens")


Counts: TypeAlias = tuple[int | None, ...]
"""The five numbers of ``_NUMBERS``."""


def read_counts(raw: Any) -> Counts | None:
    """The numbers of a record of token counts; None if it is of another make."""
    if type(raw) is not dict:
        return None
    counts = tuple([number if type(number := raw.get(name)) is int else None for name in _NUMBERS])
    return None if counts[0] is None or counts[3] is None else counts


def usage_of(counts: Counts) -> Usage:
    """The numbers as usage."""
    given, read, written, output, thought = counts
    fresh = (given or 0) - (read or 0) - (written or 0)
    return make_usage(max(fresh, 0), read, written, None, output, thought)


def read_usage(raw: Any) -> Usage | None:
    """A record of token counts; None if it is of another make."""
    counts = read_counts(raw)
    return None if counts is None else usage_of(counts)


def count_facts(info: Any) -> tuple[Counts | None, bytes | None] | None:
    """What a count says: its numbers, and the total."""
    if type(info) is not dict:
        return None
    total = info.get("total_token_usage")
    return read_counts(info.get("last_token_usage")), None if total is None else encode(total)


def record_facts(record: dict[str, Any]) -> tuple[Counts | None, str | None, str | None]:
    """What a record of usage says: its numbers, and of which response and thread."""
    response, thread = record.get("response_id"), record.get("thread_id")
    return (
        read_counts(record.get("usage")),
        response if type(response) is str else None,
        thread if type(thread) is str else None,
    )


def _said(counts: Counts) -> Counts:
    """Three numbers that a count and a record of one response share; versions differ in the others."""
    return counts[0], counts[1], counts[3]


_COUNTED = frozenset({"token_count", "token_usage_record", "task_complete", "turn_aborted"})


class Counter:
    """What has been counted so far in a file."""

    def __init__(self) -> None:
        self.last: Any = None
        """The last message of the model, if nothing was counted since."""
        self.holder: Any = None
        """The last message that usage was put on."""
        self.waiting: Usage | None = None
        self.total: Any = None
        self.records: dict[Counts, int] = {}
        """What the records of usage said, and how many of them no count has repeated yet."""
        self.responses: set[str] = set()

    def count(self, usage: Usage) -> None:
        """Put usage on the message it belongs to, once there is one."""
        if self.last is not None:
            self._hold(self.last, usage)
        else:
            self.waiting = usage if self.waiting is None else self.waiting + usage

    def _hold(self, entry: Any, usage: Usage) -> None:
        entry.usage = usage if entry.usage is None else entry.usage + usage
        self.holder, self.last, self.waiting = entry, None, None

    def said(self, entry: Any) -> None:
        """A message of the model."""
        if self.waiting is not None:
            self._hold(entry, self.waiting)
        else:
            self.last = entry

    def close(self) -> None:
        """The end of a turn: what no message came for was spent on something unsaid, as a compaction is."""
        if self.waiting is not None and self.holder is not None:
            self._hold(self.holder, self.waiting)


def settle(drafts: Sequence[Draft], ledger: Ledger, thread: str | None) -> None:
    """Put the usage of each response on one message."""
    counter = Counter()
    copied: dict[str, list[Place]] = {}
    for draft in drafts:
        entry = draft.entry
        if draft.grammar:
            if entry.author == "human":
                counter.close()
            elif entry.author == "model" and not entry.inherited and entry.role == "assistant":
                counter.said(entry)
        elif draft.name in _COUNTED:
            if entry.inherited and draft.name in ("token_count", "token_usage_record"):
                copied.setdefault(draft.name, []).append(draft.place)
            _count(draft, counter, ledger, thread)
    counter.close()
    for name, places in copied.items():
        ledger.parts("inherited-usage", places, "/payload", record=name)


def _count(draft: Draft, counter: Counter, ledger: Ledger, thread: str | None) -> None:
    if draft.name == "token_count":
        _count_event(draft, counter)
    elif draft.name == "token_usage_record":
        _count_record(draft, counter, thread)
    else:
        counter.close()
        if draft.name == "turn_aborted" and not draft.entry.inherited:
            ledger.part("usage-not-recorded", draft.place, record=draft.name)


def _count_record(draft: Draft, counter: Counter, thread: str | None) -> None:
    counts, response, named = draft.facts
    if draft.entry.inherited or counts is None or response in counter.responses or named not in (None, thread):
        return
    if response is not None:
        counter.responses.add(response)
    said = _said(counts)
    counter.records[said] = counter.records.get(said, 0) + 1
    counter.count(usage_of(counts))


def _count_event(draft: Draft, counter: Counter) -> None:
    if draft.facts is None:
        return
    counts, total = draft.facts
    repeated = total is not None and total == counter.total
    counter.total = total
    if counts is None or repeated or draft.entry.inherited:
        return
    said = _said(counts)
    if counter.records.get(said):
        counter.records[said] -= 1
    else:
        counter.count(usage_of(counts))
