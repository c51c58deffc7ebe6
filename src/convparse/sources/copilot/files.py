"""Which files are VS Code's chat, and which belong to one session.

``detect`` reads content, never names. ``gather`` is the one place of this source that looks at the file system: the flat twin
of a log, and the ``workspace.json`` of the storage folder that the session's own folder is in.
"""

from pathlib import Path
from typing import Any

from convparse.sources._source import Gathered, Head, Match

_SESSION = frozenset({"sessionId", "responderUsername", "creationDate", "initialLocation", "version", "requesterUsername"})


def is_operation(value: dict[str, Any]) -> bool:
    """True for an operation of a mutation log."""
    kind = value.get("kind")
    return type(kind) is int and 0 <= kind <= 3 and ("v" in value if kind == 0 else type(value.get("k")) is list)


def is_session(value: Any) -> bool:
    """True for a session object, flat or exported."""
    return type(value) is dict and type(value.get("requests")) is list and not _SESSION.isdisjoint(value)


def is_event(value: dict[str, Any]) -> bool:
    """True for an event of the extension's own transcript."""
    return type(value.get("type")) is str and type(value.get("data")) is dict and "parentId" in value


def detect(head: Head) -> Match | None:
    """Which of VS Code's formats a file has, if any."""
    records = [record for record in head.records if type(record) is dict]
    if len(head.records) == 1 and head.whole:
        only = head.records[0]
        if is_session(only):
            return Match("session", "an object with `requests`")
        if type(only) is list and only and any(is_session(item) for item in only):
            return Match("session", "an array of objects with `requests`")
        if type(only) is dict and type(only.get("prompts")) is list and "totalLogEntries" in only:
            return Match("chatreplay", "an object with `prompts` and `totalLogEntries`")
    if any(is_operation(record) for record in records) or _begins_log(head.data):
        return Match("log", "operations with `kind` and `k`")
    if any(record.get("type") == "session.start" and _is_extension(record) for record in records):
        return Match("transcript", "a `session.start` with `vscodeVersion`")
    if not head.whole and _begins_replay(head.data):
        return Match("chatreplay", "the beginning of an object with `totalLogEntries`")
    if not head.whole and _begins_session(head.data):
        return Match("session", "the beginning of an object with `requests`")
    return None


def _is_extension(record: dict[str, Any]) -> bool:
    data = record.get("data")
    return type(data) is dict and "vscodeVersion" in data


def _begins_log(data: bytes) -> bool:
    """A first snapshot may be longer than the head."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b'{"kind":0,"v":{', b'{"kind":0,"v": {'))


def _begins_replay(data: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") and b'"totalLogEntries"' in data[:4096] and b'"prompts"' in data


def _begins_session(data: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") and (
        b'"responderUsername"' in data[:4096] or (b'"requests"' in data and b'"requestId"' in data)
    )


def gather(path: str, variant: str, subagents: bool) -> Gathered:
    """The file, the twin that a log build left behind, and the folder's ``workspace.json``."""
    given = Path(path)
    logs = [(path, variant)]
    twin = given.with_suffix(".json")
    if variant == "log" and given.suffix == ".jsonl" and twin.is_file():
        logs.append((str(twin), "session"))
    notes = {}
    workspace = given.parent.parent / "workspace.json"
    if given.parent.name in ("chatSessions", "transcripts") and workspace.is_file():
        notes["workspace.json"] = str(workspace)
    return Gathered(tuple(logs), notes)
