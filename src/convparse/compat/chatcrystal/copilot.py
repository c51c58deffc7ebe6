"""Copilot: the session as the file's first value has it: a whole document, or the first line of a log and nothing after it.

What comes in: the beginning of the main file. What goes out: its conversation: a prompt and an answer for every request, the
answer's texts joined by newlines, its time one millisecond behind the prompt's. Where the parser stops it gives no message.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

from convparse.compat.chatcrystal.account import Ruled
from convparse.compat.chatcrystal.javascript import (
    ABSENT,
    Stops,
    either,
    elements,
    field,
    iso,
    searched,
    shown,
    sized,
    string,
    trim,
    truthy,
    within,
    word,
)
from convparse.compat.chatcrystal.records import LeftOut, ReferenceMessage
from convparse.compat.chatcrystal.units import UNREAD, bytes_of, every, main, parse
from convparse.records import Event, Message
from convparse.result import ParseResult

SMALL: Final = 100
"""Bytes below which a file is passed over."""
_CALLS: Final = ("toolInvocationSerialized", "prepareToolInvocation")


def rule(result: ParseResult, data: bytes | None) -> Ruled:
    """The conversation of a session's file."""
    ruled = Ruled(result)
    path = PurePath(main(result))
    if result.accounts[0].size < SMALL:
        return ruled.refuse("chatcrystal/small-file")
    whole = bytes_of(result, data)
    document = path.suffix == ".json"
    session = _session(parse((whole if document else whole.split(b"\n", 1)[0]).decode("utf-8", "replace")))
    requests = session.get("requests") if session is not None else None
    ruled.otherwise = "chatcrystal/not-a-message" if document else "chatcrystal/later-line"
    if session is None or not sized(requests):
        return ruled.add(path.stem, [])
    keys = _Keys(result)
    try:
        messages = list(_messages(elements(requests), keys))
    except Stops:
        return ruled.refuse("chatcrystal/stopped").add(path.stem, [])
    _account(ruled, keys, messages)
    return ruled.add(
        shown(either(session.get("sessionId"), path.stem)), messages, word(either(session.get("customTitle"), None))
    )


def _session(value: Any) -> dict[str, Any] | None:
    """The session that a snapshot holds."""
    if value is UNREAD or type(value) is not dict or value.get("kind", 0) != 0 or value.get("kind", 0) is False:
        return None
    inner = value.get("v")
    if inner is None:
        return value
    return inner if type(inner) is dict else None


class _Keys:
    """The keys of our messages, by the ids of requests."""

    def __init__(self, result: ParseResult) -> None:
        self._asked: dict[str | None, list[str]] = {}
        for entry in every(result):
            if isinstance(entry, Message) and entry.role == "user":
                self._asked.setdefault(entry.id, []).append(entry.key)
        self.seen: list[str] = []
        """The keys of the requests that were asked for."""

    def next(self, id: Any) -> str:
        """The key of the next request with an id; empty where there is none."""
        asked = self._asked.get(id if type(id) is str else None)
        self.seen.append(asked.pop(0) if asked else "")
        return self.seen[-1]


def _messages(requests: Any, keys: _Keys) -> Iterator[ReferenceMessage]:
    for request in requests:
        id, message = field(request, "requestId"), field(request, "message")
        key = keys.next(id)
        typed = message.get("text") if type(message) is dict else None
        asked = trim(string(typed)) if typed is not None else ""
        stamp: Any = request.get("timestamp", ABSENT) if type(request) is dict else ABSENT
        when = 0 if stamp is None else stamp
        if asked:
            own = shown(either(id, f"user-{within(stamp)}"))
            yield ReferenceMessage(own, None, "user", "user", asked, False, "```" in asked, None, iso(when), key)
        response = field(request, "response")
        if sized(response):
            text, thinking, tool, code = _answer(response)
            if text or thinking:
                own = f"resp-{within(id if truthy(id) else stamp)}"
                when = iso(when + 1 if isinstance(when, int | float) else when)
                yield ReferenceMessage(own, None, "assistant", "assistant", text, tool, code, thinking, when, f"{key}:response")


def _answer(response: Any) -> tuple[str, str | None, bool, bool]:
    """Text, reasoning, and whether there are a tool call and code."""
    texts, thoughts, tool, code = [], [], False, False
    for part in elements(response):
        kind, value = field(part, "kind"), field(part, "value")
        if kind == "thinking" and truthy(value):
            thoughts.append(shown(value))
        elif (kind == "text" or (type(part) is dict and "kind" not in part)) and truthy(value):
            said, fenced = searched(value)
            texts.append(said)
            code = code or fenced
        tool = tool or kind in _CALLS
    return trim("\n".join(texts)), "\n".join(thoughts) if thoughts else None, tool, code


def _account(ruled: Ruled, keys: _Keys, messages: list[ReferenceMessage]) -> None:
    """Requests without text, answers without text and reasoning; what was undone and what sub-agents did is in the answers."""
    seen = set(keys.seen)
    for conversation in ruled.result.conversations:
        task, work = (f"/{conversation.id}:{name}" for name in ("task", "work"))
        for entry in conversation.entries:
            if isinstance(entry, Event):
                ruled.pass_over((entry,), "chatcrystal/not-a-message")
            elif entry.key in seen:
                ruled.pass_over((entry,), "chatcrystal/empty")
            for ending in (":response", ":response:undone", task, work):
                request = entry.key.removesuffix(ending)
                if request in seen and request != entry.key:
                    ruled.pass_over((entry,), "chatcrystal/no-text")
                    ruled.within[entry.key] = f"{request}:response"
                    if ending == task:
                        ruled.rest[entry.key] = "chatcrystal/not-a-message"
                    elif any(origin is not None and origin.line != 1 for origin in (entry.origin, *entry.merged)):
                        ruled.rest[entry.key] = "chatcrystal/later-line"
    ruled.left += [LeftOut("chatcrystal/made-time", "time", m.key) for m in messages if m.type == "assistant"]
