"""``*.chatreplay.json``: what the extension's debug view saved of its prompts, with full requests and tool calls.

One conversation a file: each prompt, then its log. A request is a message of the model's with the tokens it took; the messages
that were sent stand in ``extra``. A tool call is a message with the call and its result.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from convparse.blocks import Block, Unknown
from convparse.ledger import ALWAYS, Fields, Ledger, Place
from convparse.records import Usage
from convparse.sources._reading import json_of, keep, make_call, make_result, make_text, make_thinking, open_event, open_message
from convparse.sources._source import Unit
from convparse.sources.copilot.state import Draft, Home, State
from convparse.sources.copilot.tools import as_json, kind_of
from convparse.times import iso_time

ELEMENT: Final = "how many tokens the elements of a prompt took"
REPLAY: Final = Fields(
    "chatreplay",
    typed=frozenset({"prompts"}),
    kept=dict.fromkeys(("exportedAt", "totalPrompts", "totalLogEntries", "mcpServers"), ALWAYS),
)
PROMPT: Final = Fields(
    "prompt",
    "/prompts/*",
    typed=frozenset({"prompt", "logs"}),
    kept=dict.fromkeys(("hasSeen", "logCount", "promptId"), ALWAYS),
)
_LOGS: Final = "/prompts/*/logs/*"
REQUEST: Final = Fields(
    "prompt/request",
    _LOGS,
    typed=frozenset({"id", "kind", "response", "metadata"}),
    kept=dict.fromkeys(("type", "name", "requestMessages", "token", "isConversationRequest"), ALWAYS),
)
TOOL_CALL: Final = Fields(
    "prompt/toolCall",
    _LOGS,
    typed=frozenset({"id", "kind", "tool", "args", "time", "response", "thinking"}),
    kept=dict.fromkeys(("toolMetadata", "edits"), ALWAYS),
)


class _Log:
    """One entry of a log while it is read."""

    def __init__(self, state: State, place: Place, at: str, value: dict[str, Any], group: str) -> None:
        self.state = state
        self.place = place
        self.at = at
        self.value = value
        self.group = group
        self.extra: dict[str, Any] = {}

    def message(self, role: str, author: str, blocks: list[Block], id: str | None = None) -> Any:
        key = self.state.keys.count(None, role)
        entry = open_message(key, id, role, author, tuple(blocks))
        home = Home(self.state.path, self.place, tuple(self.at.split("/")[1:]))
        entry.origin, entry.turn_id = home.origin(), self.group
        return entry

    def note(self, code: str, record: str) -> None:
        self.state.ledger.part(code, self.place, _LOGS, record=record, pointer=self.at)


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The one draft of a file."""
    state = State(ledger)
    for value, place in units:
        draft = Draft(None)
        draft.entries.extend(_entries(state, value, place))
        yield draft


def _entries(state: State, value: Any, place: Place) -> Iterator[Any]:
    home = Home(state.path, place)
    prompts = value.get("prompts") if type(value) is dict else None
    if type(value) is not dict or type(prompts) is not list:
        state.ledger.part("unknown-record", place, record="chatreplay")
        yield open_event("chatreplay:1", "unknown", "chatreplay", None, json_of(value), origin=home.origin())
        return
    extra: dict[str, Any] = {}
    keep(extra, state.ledger.look(REPLAY, value, place), value, "")
    data = {pointer[1:]: item for pointer, item in extra.items()}
    yield open_event("chatreplay:1", "session-start", "chatreplay", None, json_of(data), origin=home.origin())
    for i, prompt in enumerate(prompts):
        yield from _prompt(state, prompt, place, f"/prompts/{i}")


def _prompt(state: State, prompt: Any, place: Place, at: str) -> Iterator[Any]:
    logs = prompt.get("logs") if type(prompt) is dict else None
    if type(prompt) is not dict or type(prompt.get("prompt")) is not str or type(logs) is not list:
        state.ledger.part("unexpected-type", place, "/prompts/*", record="prompt", pointer=at)
        log = _Log(state, place, at, {}, at)
        yield log.message("prompt", "harness", [Unknown("prompt", json_of(prompt))])
        return
    log = _Log(state, place, at, prompt, at)
    keep(log.extra, state.ledger.look(PROMPT, prompt, place), prompt, "")
    entry = log.message("user", "human", [make_text(prompt["prompt"])])
    entry.extra = json_of(log.extra) if log.extra else None
    yield entry
    for k, item in enumerate(logs):
        kind = item.get("kind") if type(item) is dict else None
        one = _Log(state, place, f"{at}/logs/{k}", item, at)
        if kind == "element":
            one.note("skipped-field", "prompt/element")
            continue
        reader = READERS.get(kind) if type(kind) is str else None
        found = reader(one) if reader is not None else None
        if found is None:
            one.note("unknown-record", f"prompt/{kind if type(kind) is str else type(item).__name__}")
            found = one.message("log", "harness", [Unknown(kind if type(kind) is str else "log", json_of(item))])
        yield found


def _request(log: _Log) -> Any:
    value = log.value
    response, about = value.get("response"), value.get("metadata")
    if type(about) is not dict or not (value.get("id") is None or type(value.get("id")) is str):
        return None
    response = response if type(response) is dict else {"value": response} if response is not None else {}
    said = response.get("message")
    keep(log.extra, log.state.ledger.look(REQUEST, value, log.place), value, "")
    blocks: list[Block] = []
    if type(said) is list and all(type(text) is str for text in said):
        blocks = [make_text("".join(said))] if any(said) else []
        log.extra["/response"] = {key: item for key, item in response.items() if key != "message"}
    elif response:
        log.extra["/response"] = response
    entry = log.message("assistant", "model", blocks, value.get("id"))
    model, stamp, usage = (about.get(key) for key in ("model", "startTime", "usage"))
    entry.model = model if type(model) is str else None
    when = iso_time(stamp) if type(stamp) is str else (None, None)
    entry.timestamp, entry.timestamp_text = when
    entry.timestamp_origin = "recorded" if when[0] is not None else None
    entry.usage = _usage(usage) if type(usage) is dict else None
    log.extra["/metadata"] = {
        key: item for key, item in about.items() if key not in ("model", "startTime") or type(item) is not str
    }
    entry.extra = json_of(log.extra)
    return entry


def _usage(usage: dict[str, Any]) -> Usage:
    details = [usage.get(key) for key in ("prompt_tokens_details", "completion_tokens_details")]
    cached = details[0].get("cached_tokens") if type(details[0]) is dict else None
    thought = details[1].get("reasoning_tokens") if type(details[1]) is dict else None
    numbers = [usage.get("prompt_tokens"), cached, usage.get("completion_tokens"), thought]
    given, read, written, thought = (number if type(number) is int else None for number in numbers)
    if given is not None and read is not None and read <= given:
        given -= read
    return Usage(given, read, output_tokens=written, reasoning_tokens=thought)


def _tool_call(log: _Log) -> Any:
    value = log.value
    id, tool, args, response, thinking = (value.get(key) for key in ("id", "tool", "args", "response", "thinking"))
    if type(tool) is not str or not (id is None or type(id) is str):
        return None
    keep(log.extra, log.state.ledger.look(TOOL_CALL, value, log.place), value, "")
    blocks: list[Block] = []
    thought = thinking.get("text") if type(thinking) is dict else None
    thought = "".join(thought) if type(thought) is list and all(type(t) is str for t in thought) else thought
    if type(thinking) is dict and type(thought) is str:
        blocks.append(make_thinking(thought, None, not thought))
        log.extra["/thinking"] = {key: item for key, item in thinking.items() if key != "text"}
    elif thinking is not None:
        log.extra["/thinking"] = thinking
    blocks.append(make_call(id, tool, kind_of(tool), as_json(args) if type(args) is str else json_of(args)))
    if type(response) is str:
        response = [response]
    if type(response) is list and all(type(text) is str for text in response):
        blocks.append(make_result(id, tuple(make_text(text) for text in response)))
    elif response is not None:
        blocks.append(make_result(id, (Unknown("response", json_of(response)),)))
    entry = log.message("assistant", "model", blocks, id)
    stamp = value.get("time")
    entry.timestamp, entry.timestamp_text = iso_time(stamp) if type(stamp) is str else (None, None)
    entry.timestamp_origin = "recorded" if entry.timestamp is not None else None
    if stamp is not None and type(stamp) is not str:
        log.extra["/time"] = stamp
    entry.extra = json_of(log.extra) if log.extra else None
    return entry


READERS: Final[Mapping[str, Callable[[_Log], Any]]] = MappingProxyType({"request": _request, "toolCall": _tool_call})
"""What reads each kind of log entry."""
