"""Which files are Gemini CLI's, and which belong to one session.

``detect`` reads content, never names. ``gather`` is the one place of this source that looks at the file system: a session's
sub-agents lie in a folder beside it that is named by its id, theirs in turn in a folder of the same place.
"""

import re
from pathlib import Path
from typing import Any, Final

import orjson

from convparse.sources._source import Gathered, Head, Match

ROOT: Final = ".project_root"
_HEAD: Final = 1 << 12
_CHAIN: Final = 1_000
_SAFE: Final = re.compile(rb"[0-9A-Za-z_-][0-9A-Za-z_.-]{0,127}")
_CHANGES: Final = ("$set", "$rewindTo", "$patch")
_TYPES: Final = frozenset({"gemini", "user", "info", "error", "warning"})
_SESSION: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sessionId"\s*:\s*"([^"\\]{1,200})"\s*,\s*"projectHash"\s*:')
_CHECKPOINT: Final = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"history"\s*:\s*)?\[\s*\{\s*"role"\s*:\s*"user"\s*,\s*"parts"\s*:'
)
_PROMPTS: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"sessionId"\s*:\s*"[^"]{1,200}"\s*,\s*"messageId"\s*:')


def is_record(value: dict[str, Any]) -> bool:
    """True for what can stand as a line of a log."""
    return _is_header(value) or _is_message(value) or any(key in value for key in _CHANGES)


def _is_header(value: dict[str, Any]) -> bool:
    return type(value.get("sessionId")) is str and type(value.get("projectHash")) is str


def _is_message(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return type(kind) is str and kind in _TYPES and "content" in value and "timestamp" in value and "id" in value


def detect(head: Head) -> Match | None:
    """Which of Gemini CLI's formats a file has, if any."""
    if any(type(record) is dict and _is_forked(record.get("messages")) for record in head.records):
        return None
    if len(head.records) == 1 and head.whole and (match := _detect_whole(head.records[0])) is not None:
        return match
    for record in head.records:
        if type(record) is dict and _is_line(record):
            return Match("log", "lines with `sessionId` and `projectHash`, or that change such")
    if _SESSION.match(head.data) and _is_json(head.data.split(b"\n", 1)[0]):
        return Match("log", "a first line with `sessionId` and `projectHash`")
    for pattern, variant in ((_SESSION, "session"), (_PROMPTS, "prompts"), (_CHECKPOINT, "checkpoint")):
        if pattern.match(head.data):
            return Match(variant, f"the beginning of a {variant}")
    return None


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        return False
    return True


def _is_line(record: dict[str, Any]) -> bool:
    if _is_header(record) or (len(record) == 1 and next(iter(record)) in _CHANGES):
        return True
    return record.get("type") == "gemini" and _is_message(record)


def _detect_whole(value: Any) -> Match | None:
    if type(value) is dict:
        if _is_header(value) and type(value.get("messages")) is list:
            return Match("session", "an object with `projectHash` and `messages`")
        if _is_talk(value.get("clientHistory")) or ("history" in value and _is_talk(value["history"])):
            return Match("checkpoint", "a `history` of roles and parts")
        return Match("log", "one line of a log") if _is_line(value) else None
    if type(value) is list and value and all(type(item) is dict for item in value):
        if all("sessionId" in item and "messageId" in item and "message" in item for item in value):
            return Match("prompts", "prompts with `sessionId` and `messageId`")
        if _is_talk(value):
            return Match("checkpoint", "a list of roles and parts")
    return None


def _is_forked(messages: Any) -> bool:
    """True for Qwen Code, whose first versions wrote the same but for the name of the model's messages."""
    return type(messages) is list and any(type(message) is dict and message.get("type") == "qwen" for message in messages)


def _is_talk(value: Any) -> bool:
    return type(value) is list and bool(value) and type(value[0]) is dict and {"role", "parts"} <= value[0].keys()


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """A session, its sub-agents and theirs, and the file that names the folder of the project."""
    given = Path(path)
    if variant not in ("log", "session"):
        return Gathered(((path, variant),))
    chats = next((folder for folder in (given.parent, given.parent.parent) if folder.name == "chats"), None)
    if chats is None:
        return Gathered(((path, variant),))
    root = chats.parent / ROOT
    notes = {ROOT: str(root)} if root.is_file() else {}
    agents = _agents(given, chats)
    if not subagents:
        return Gathered(((path, variant),), notes, tuple((agent, "skipped-file") for agent in agents))
    return Gathered(((path, variant), *((agent, "log") for agent in agents)), notes)


def _agents(given: Path, chats: Path) -> list[str]:
    """The files of a session's sub-agents, and of their own."""
    found: dict[str, None] = {}
    waiting = [given]
    while waiting and len(found) < _CHAIN:
        id = _id_of(waiting.pop(0))
        folder = chats / id if id is not None else None
        if folder is None or not folder.is_dir():
            continue
        for agent in sorted(folder.glob("*.jsonl")):
            if agent.is_file() and agent != given and str(agent) not in found:
                found[str(agent)] = None
                waiting.append(agent)
    return list(found)


def _id_of(path: Path) -> str | None:
    """The id of a session, as its first line or its document says."""
    try:
        with path.open("rb") as file:
            match = _SESSION.match(file.read(_HEAD))
    except OSError:
        return None
    return match[1].decode() if match is not None and _SAFE.fullmatch(match[1]) else None
