"""Hypothesis strategies for Copilot: mutation logs with the state that a plain reference replay gives, and whole sessions.

The reference follows JavaScript step by step and keeps no account. It knows four ends: a value, or that VS Code gives up.
"""

import json
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st
from tests.strategies import odd_json, words


class GaveUp(Exception):  # noqa: N818 - what VS Code does
    """Where VS Code throws and shows an empty session."""


UNDEFINED: Final = object()


def reference(operations: list[dict[str, Any]]) -> Any:
    """The value that VS Code's code leaves; ``GaveUp`` where it throws. Undefined becomes null in a list, else nothing."""
    state: Any = UNDEFINED
    for operation in operations:
        if operation["kind"] == 0:
            state = json.loads(json.dumps(operation["v"]))
            continue
        if state is UNDEFINED:
            raise GaveUp
        path = operation["k"]
        if operation["kind"] == 2:
            _push(state, path, operation)
        elif path:
            value = operation.get("v", UNDEFINED) if operation["kind"] == 1 else UNDEFINED
            _assign(_walk(state, path), path[-1], json.loads(json.dumps(value)) if value is not UNDEFINED else value)
    return _plain(state)


def _walk(state: Any, path: list[Any]) -> Any:
    for key in path[:-1]:
        state = _member(state, key)
    if state is UNDEFINED or state is None:
        raise GaveUp
    return state


def _member(holder: Any, key: Any) -> Any:
    if holder is UNDEFINED or holder is None:
        raise GaveUp
    if isinstance(holder, list):
        at = int(key) if str(key).isdigit() and str(int(key)) == str(key) else -1
        return holder[at] if 0 <= at < len(holder) else UNDEFINED
    return holder.get(str(key), UNDEFINED) if isinstance(holder, dict) else UNDEFINED


def _assign(holder: Any, key: Any, value: Any) -> None:
    if isinstance(holder, dict):
        holder[str(key)] = value
    elif isinstance(holder, list):
        if str(key).isdigit() and str(int(key)) == str(key):
            holder.extend([UNDEFINED] * (int(key) + 1 - len(holder)))
            holder[int(key)] = value
    else:
        raise GaveUp


def _push(state: Any, path: list[Any], operation: dict[str, Any]) -> None:
    path = path or ["undefined"]
    holder = _walk(state, path)
    items = _member(holder, path[-1])
    if items is UNDEFINED or not (items or isinstance(items, list | dict)):
        items = []
    if not isinstance(items, list):
        raise GaveUp
    if "i" in operation:
        length = operation["i"]
        if not isinstance(length, int) or length < 0:
            raise GaveUp
        del items[length:]
        items.extend([UNDEFINED] * (length - len(items)))
    items.extend(json.loads(json.dumps(operation.get("v", []))))
    _assign(holder, path[-1], items)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [None if item is UNDEFINED else _plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not UNDEFINED}
    return None if value is UNDEFINED else value


# ---- sessions --------------------------------------------------------------------------------------------------------------

ids: Final = st.sampled_from(["q1", "q2", "q3", "q4"])
tools: Final = st.builds(
    lambda id, name, more: {"kind": "toolInvocationSerialized", "toolCallId": id, "toolId": name, **more},
    st.sampled_from(["c1", "c2", "c3"]),
    st.sampled_from(["copilot_readFile", "run_in_terminal"]),
    st.sampled_from([{}, {"pastTenseMessage": "Did"}, {"isComplete": True, "isConfirmed": {"type": 0}}]),
)
parts: Final = st.one_of(
    words.map(lambda text: {"value": text}),
    words.map(lambda text: {"kind": "thinking", "value": text, "id": "t"}),
    words.map(lambda text: {"kind": "inlineReference", "inlineReference": {"scheme": "file", "path": f"/{text}"}}),
    st.just({"value": "\n```\n"}),
    st.just({"kind": "textEditGroup", "uri": {"scheme": "file", "path": "/a"}, "edits": []}),
    tools,
    st.builds(lambda kind, value: {"kind": kind, "x": value}, words, odd_json),
)
requests: Final = st.builds(
    lambda id, text, response, more: {"requestId": id, "message": {"text": text}, "response": response, **more},
    ids,
    words,
    st.lists(parts, max_size=4),
    st.dictionaries(st.sampled_from(["vote", "result", "modelState", "zz"]), odd_json, max_size=2),
)
sessions: Final = st.builds(
    lambda found, more: {"version": 3, "sessionId": "s", "requests": found, "pendingRequests": [], **more},
    st.lists(requests, max_size=3),
    st.dictionaries(st.sampled_from(["customTitle", "inputState", "zz"]), odd_json, max_size=2),
)
keys: Final = st.sampled_from(["requests", "response", "customTitle", "inputState", "zz", "message", "text", "0", 0, 1, 2, 5])
paths: Final = st.one_of(
    st.just(["requests"]),
    st.just(["customTitle"]),
    st.tuples(st.integers(0, 3)).map(lambda at: ["requests", at[0], "response"]),
    st.tuples(st.integers(0, 3)).map(lambda at: ["requests", at[0], "result"]),
    st.lists(keys, max_size=4),
)


@st.composite
def operations(draw: st.DrawFn) -> dict[str, Any]:
    """One operation, as VS Code writes them or not at all so."""
    kind = draw(st.sampled_from([1, 1, 2, 2, 2, 3, 0]))
    if kind == 0:
        return {"kind": 0, "v": draw(sessions)}
    path = draw(paths)
    made: dict[str, Any] = {"kind": kind, "k": path}
    if kind == 1 and draw(st.integers(0, 4)):
        made["v"] = draw(odd_json)
    if kind == 2:
        if draw(st.booleans()):
            made["i"] = draw(st.integers(-1, 6))
        if draw(st.integers(0, 3)):
            made["v"] = draw(st.lists(requests if path == ["requests"] else parts, max_size=3))
    return made


class MadeLog(NamedTuple):
    """A log, and what VS Code makes of it."""

    operations: list[dict[str, Any]]
    state: Any
    gave_up: bool

    @property
    def data(self) -> bytes:
        return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in self.operations)


def made(operations: list[dict[str, Any]]) -> MadeLog:
    try:
        return MadeLog(operations, reference(operations), False)
    except GaveUp:
        return MadeLog(operations, None, True)


logs: Final = st.builds(
    lambda first, rest: made([{"kind": 0, "v": first}, *rest]), sessions, st.lists(operations(), max_size=8)
)


# ---- the command line ------------------------------------------------------------------------------------------------------

_DATA: Final = {
    "session.start": {"sessionId": "s1", "copilotVersion": "1.0.102", "startTime": "2026-09-01T08:00:00.000Z"},
    "user.message": {"content": "Hi", "transformedContent": "<a>Hi</a>", "interactionId": "i"},
    "assistant.message": {
        "content": "Ho",
        "toolRequests": [{"toolCallId": "c1", "name": "bash", "arguments": {"command": "ls"}}],
    },
    "tool.execution_start": {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls"}},
    "tool.execution_complete": {"toolCallId": "c1", "success": True, "result": {"content": "a"}},
    "session.usage_record": {"usage": {"apiCallId": "m", "inputTokens": 5, "outputTokens": 1}},
    "session.shutdown": {"shutdownType": "routine"},
    "system.message": {"content": "Be kind.", "role": "system"},
    "permission.completed": {"requestId": "r", "result": {"kind": "denied", "feedback": "no"}},
    "abort": {"reason": "user_abort"},
    "brand.new": {"x": 1},
}


@st.composite
def events(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The events of a session, with odd values among them."""
    found = []
    for number, name in enumerate(draw(st.lists(st.sampled_from(sorted(_DATA)), min_size=1, max_size=8))):
        data = dict(_DATA[name])
        if draw(st.integers(0, 3)) == 0:
            data[draw(st.sampled_from([*data, "zz"]))] = draw(odd_json)
        if name == "user.message" and draw(st.booleans()):
            data["content"] = draw(words)
        event = {"type": name, "data": data, "id": f"e{number}", "timestamp": "2026-09-01T08:00:00.000Z", "parentId": None}
        if draw(st.integers(0, 5)) == 0:
            event[draw(st.sampled_from([*event, "agentId"]))] = draw(odd_json)
        found.append(event)
    return found


def lines(events: list[dict[str, Any]]) -> bytes:
    """The bytes of a file of events."""
    return b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events)
