"""What a log's operations took away, and what becomes of it.

Undo, retry and restoring a checkpoint cut requests off; the text of a streaming answer is written again and again; fields are
set anew. Requests that do not come back are kept where they stood, with the state ``undone``. Parts of an answer that come back
in other words are kept as ``superseded``, those that never come back as ``undone``. What later operations say again, or count
further, is folded and named.
"""

from collections.abc import Iterator
from typing import Any

import attrs

from convparse.reading.operations import Erased, Log, Node, Path
from convparse.sources._reading import json_of, open_event, open_message
from convparse.sources.copilot import sessions
from convparse.sources.copilot.answers import Told
from convparse.sources.copilot.fields import REPLACEABLE, SKIPPED
from convparse.sources.copilot.parts import Slot, read_parts
from convparse.sources.copilot.requests import read_request
from convparse.sources.copilot.state import Draft, Home, Reader, State
from convparse.sources.copilot.tools import fill

Request = dict[str, Any]


def says_again(old: Any, new: Any) -> bool:
    """True if a value holds all that an older one said: the same, more of it, or a text that goes on."""
    stack = [(old, new)]
    while stack:
        a, b = stack.pop()
        if a is None or a == "" or (type(a) in (list, dict) and not a):
            continue
        if type(a) is not type(b):
            return False
        if type(a) is str:
            if not b.startswith(a):
                return False
        elif type(a) is dict:
            stack.extend((item, b.get(key)) for key, item in a.items())
        elif type(a) is list:
            if len(a) > len(b):
                return False
            stack.extend(zip(a, b, strict=False))
        elif a != b:
            return False
    return True


@attrs.define(eq=False)
class _Kept:
    """A request that stays in the result, whether the log ends with it or it was undone."""

    value: Request
    told: Told
    at: tuple[int, int]
    """Where it goes: by the operation that wrote it, and by its index."""
    more: list[Any] = attrs.field(factory=list)
    """Entries for what was replaced in it."""
    calls: dict[str, Any] | None = None

    def call(self, id: str) -> Any:
        """The tool invocation of an id in its answer."""
        if self.calls is None:
            parts = self.value.get("response")
            tools = [part for part in (parts if type(parts) is list else ()) if type(part) is dict]
            self.calls = {tool["toolCallId"]: tool for tool in tools if type(tool.get("toolCallId")) is str}
        return self.calls.get(id)


class _Sorter:
    """Where everything that was taken away goes."""

    def __init__(self, state: State, log: Log, home: Home, draft: Draft) -> None:
        self.state = state
        self.log = log
        self.home = home
        self.draft = draft
        self.kept: dict[Any, _Kept] = {}
        """Requests by id; those without one by their identity."""
        self.owners: dict[int, Any] = {}
        """The id of the request that an object or list belongs to, by the identity of the latter."""
        self.head: list[Any] = []
        self.folded: list[tuple[int, Path, bool]] = []
        self._texts: set[str | None] | None = None
        self._waiting: dict[str, Any] | None = None

    def texts(self) -> set[str | None]:
        """What was asked in the requests that stay."""
        if self._texts is None:
            self._texts = {_text(kept.value) for kept in self.kept.values()} - {None}
        return self._texts

    def waiting(self, item: Any) -> Any:
        """The message of the same id that still waits."""
        if self._waiting is None:
            still = self.log.state.get("pendingRequests")
            items = [one for one in (still if type(still) is list else ()) if type(one) is dict]
            self._waiting = {one["id"]: one for one in items if type(one.get("id")) is str}
        id = item.get("id") if type(item) is dict else None
        return self._waiting.get(id) if type(id) is str else None

    def own(self, request: Any) -> Any:
        """Remember what belongs to a request; its id."""
        id = request.get("requestId")
        id = id if type(id) is str else ("", builtin_id(request))
        self.owners[builtin_id(request)] = id
        response = request.get("response")
        if type(response) is list:
            self.owners[builtin_id(response)] = id
        return id

    def home_of(self, node: Node, path: Path) -> Home:
        """The home of something that was taken away."""
        home = Home(self.home.path, self.home.place, path, self.log, node)
        home.used = self.home.used
        home.place = self.log.operations[node.operation].place
        return home

    def fold(self, node: Node, path: Path, *, differs: bool = False) -> None:
        """Something said again: named if it ``differs``, or if its operation turns out to stand for something else."""
        self.folded.append((node.operation, path, differs))

    def event(self, node: Node, path: Path, name: str, value: Any) -> Any:
        """A value that was replaced by another, kept as it was."""
        key = self.state.keys.count(self.draft.id, f"replaced:{name}")
        origin = self.home_of(node, path).origin()
        text = value if type(value) is str else None
        data = json_of(value) if text is None else None
        return open_event(key, "superseded", name, text, data, state="superseded", origin=origin)


builtin_id = id


def with_undone(state: State, log: Log, home: Home, draft: Draft, told: list[Told]) -> Iterator[Any]:
    """The entries of all requests, those that were undone where they stood."""
    sorter = _Sorter(state, log, home, draft)
    requests = log.state.get("requests")
    present = [item for item in enumerate(requests if type(requests) is list else ()) if item[1] is not None]
    written = 0
    for (at, request), records in zip(present, told, strict=True):
        node = log.node.at("requests").at(at)
        written = max(written, node.operation)
        id = sorter.own(request) if type(request) is dict else ("", at)
        id = id if id not in sorter.kept else ("", at)
        sorter.kept[id] = _Kept(request if type(request) is dict else {}, records, (written, at))
    taken = list(_expanded(log))
    _keep_undone(sorter, taken)
    for erased in taken:
        _sort(sorter, erased)
    yield from sorter.head
    for kept in sorted(sorter.kept.values(), key=lambda kept: kept.at):
        yield from kept.told.entries
        yield from kept.more
    yield from _rewinds(sorter, taken)
    _name_folded(sorter)


def _expanded(log: Log) -> Iterator[Erased]:
    """What was taken away, a whole session by its fields and a list of requests or parts by its items."""
    for erased in log.erased:
        if not erased.path and type(erased.value) is dict:
            for key, item in erased.value.items():
                one = Erased(erased.value, (key,), item, erased.node.at(key), erased.by)
                yield from _items(one)
        else:
            yield from _items(erased)


def _items(erased: Erased) -> Iterator[Erased]:
    listed = len(erased.path) in (1, 3) and erased.path[-1] in ("requests", "pendingRequests", "response")
    if not listed or type(erased.value) is not list:
        yield erased
        return
    for at, item in enumerate(erased.value):
        if item is not None:
            yield Erased(erased.value, (*erased.path, at), item, erased.node.at(at), erased.by, at)


def _is_request(erased: Erased) -> bool:
    return len(erased.path) == 2 and erased.path[0] == "requests" and type(erased.value) is dict


def _keep_undone(sorter: _Sorter, taken: list[Erased]) -> None:
    """Read the requests that never come back: of each its last state."""
    last: dict[Any, Erased] = {}
    for erased in taken:
        if _is_request(erased):
            id = sorter.own(erased.value)
            if id not in sorter.kept:
                last[id] = erased
    for id, erased in last.items():
        home = sorter.home_of(erased.node, erased.path)
        told = read_request(sorter.state, erased.value, home, sorter.draft.id, sorter.draft.place)
        for entry in told.entries:
            entry.state = "undone"
        sessions.take_children(sorter.draft, told)
        sorter.kept[id] = _Kept(erased.value, told, (erased.node.operation, int(erased.path[1])))


def _sort(sorter: _Sorter, erased: Erased) -> None:
    """Fold or keep one thing that was taken away."""
    path, first = erased.path, erased.path[0] if erased.path else ""
    if type(first) is str and first in SKIPPED:
        sorter.fold(erased.node, path)
    elif _is_request(erased):
        _sort_request(sorter, erased)
    elif first == "pendingRequests" and len(path) == 2:
        _sort_pending(sorter, erased)
    elif len(path) == 1:
        _sort_field(sorter, erased, sorter.log.state.get(path[0]), f"session/{path[0]}", sorter.head)
    else:
        owner = sorter.owners.get(builtin_id(erased.holder))
        kept = sorter.kept.get(owner)
        if kept is None:
            _sort_field(sorter, erased, _at(sorter.log.state, path), "value", sorter.head)
        elif type(erased.holder) is list:
            _sort_part(sorter, erased, kept)
        else:
            key = path[-1]
            _sort_field(sorter, erased, kept.value.get(str(key)), f"request/{key}", kept.more)


def _at(value: Any, path: Path) -> Any:
    for key in path:
        if type(value) is dict:
            value = value.get(str(key))
        elif type(value) is list and type(key) is int and 0 <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def _sort_field(sorter: _Sorter, erased: Erased, new: Any, name: str, entries: list[Any]) -> None:
    key = erased.path[-1] if erased.path else ""
    again = says_again(erased.value, new)
    if again or (type(key) is str and key in REPLACEABLE):
        sorter.fold(erased.node, erased.path, differs=not again)
    else:
        entries.append(sorter.event(erased.node, erased.path, name, erased.value))


def _sort_request(sorter: _Sorter, erased: Erased) -> None:
    """An earlier state of a request that stays: what it said that the later one does not."""
    kept = sorter.kept[sorter.owners[builtin_id(erased.value)]]
    if kept.value is erased.value:
        return
    for key, item in erased.value.items():
        node, path = erased.node.at(key), (*erased.path, key)
        one = Erased(erased.value, path, item, node, erased.by)
        if key == "response" and type(item) is list:
            for part in _items(one):
                _sort_part(sorter, part, kept)
        else:
            _sort_field(sorter, one, kept.value.get(key), f"request/{key}", kept.more)


def _sort_part(sorter: _Sorter, erased: Erased, kept: _Kept) -> None:
    """A part of an answer: folded if the answer says it again, else kept beside it."""
    parts, at, part = kept.value.get("response"), erased.path[-1], erased.value
    parts = parts if type(parts) is list else []
    assert type(at) is int
    twin = parts[at] if at < len(parts) else None
    if says_again(part, twin) or part in (None, ""):
        sorter.fold(erased.node, erased.path)
        return
    id = part.get("toolCallId") if type(part) is dict else None
    same = kept.call(id) if type(id) is str else None
    if same is not None:
        if says_again(part, same):
            sorter.fold(erased.node, erased.path)
        else:
            kept.more.append(sorter.event(erased.node, erased.path, "request/response/tool", part))
        return
    kept.more.append(_replaced_part(sorter, erased, kept, at, "undone" if twin is None else "superseded"))


def _replaced_part(sorter: _Sorter, erased: Erased, kept: _Kept, at: int, how: str) -> Any:
    """A message of one part that is no longer in its answer."""
    array, request = Node(erased.node.operation), Node(erased.node.operation)
    array.below, request.below = {at: erased.node}, {"response": array}
    reader = Reader(sorter.state, sorter.home_of(request, erased.path[:-2]))
    runs = read_parts(reader, [erased.value], first=at)
    items = [item for run in runs.values() for item in run]
    blocks = fill(reader, items, {}, {}, cancelled=False) if any(type(i) is Slot for i in items) else items
    first = kept.told.entries[0]
    key = sorter.state.keys.count(first.key, "replaced")
    origin = sorter.home_of(erased.node, erased.path).origin()
    message = open_message(key, None, "assistant", "model", tuple(blocks), state=how, origin=origin)
    message.turn_id = getattr(first, "turn_id", None)
    message.extra = json_of(reader.extra) if reader.extra else None
    return message


def _sort_pending(sorter: _Sorter, erased: Erased) -> None:
    """A message that waited: folded if it was sent, else kept as undone."""
    request = erased.value.get("request") if type(erased.value) is dict else None
    request = request if type(request) is dict else {}
    kept = sorter.kept.get(request.get("requestId")) if type(request.get("requestId")) is str else None
    sent = kept is not None and says_again(request.get("message"), kept.value.get("message"))
    again = says_again(erased.value, sorter.waiting(erased.value))
    if again or sent or _text(request) in sorter.texts():
        sorter.fold(erased.node, erased.path, differs=not again)
    else:
        home = sorter.home_of(erased.node, erased.path)
        sorter.head.extend(sessions.read_pending(sorter.state, erased.value, home, sorter.draft.id, "undone"))


def _text(request: Request) -> str | None:
    message = request.get("message")
    text = message.get("text") if type(message) is dict else message
    return text if type(text) is str and text else None


def _rewinds(sorter: _Sorter, taken: list[Erased]) -> Iterator[Any]:
    """An event for every cut that stands for nothing else: what was taken back, and how much of it."""
    cuts: dict[int, list[Erased]] = {}
    for erased in taken:
        if erased.cut:
            cuts.setdefault(erased.by, []).append(erased)
    for by, gone in cuts.items():
        if by not in sorter.home.used:
            path = gone[0].path[:-1]
            key = sorter.state.keys.count(sorter.draft.id, "cut")
            origin = sorter.home_of(Node(by), path).origin()
            origin = attrs.evolve(origin, pointer="")
            data = json_of({"path": list(path), "kept": gone[0].first, "removed": len(gone)})
            yield open_event(key, "rewind" if path == ("requests",) else "cut", "push", None, data, origin=origin)


def _name_folded(sorter: _Sorter) -> None:
    for operation, path, differs in sorter.folded:
        if differs or operation in sorter.home.used:
            pattern = "".join("/*" if type(key) is int else f"/{key}" for key in path)
            code = "skipped-field" if path and path[0] in SKIPPED else "replaced-value"
            place = sorter.log.operations[operation].place
            sorter.state.ledger.part(code, place, pattern, record=str(path[0]) if path else "session")
