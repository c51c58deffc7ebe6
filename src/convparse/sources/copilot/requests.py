"""A request of a session, to records: what was asked, what was answered, and how it ended.

What comes in: a request object and its reader. What goes out: a message of the person or of whoever made the request, one of
the model, and an event for its end; one more for an error. Undone requests have the state ``undone``, and where only the answer
behind a mark is undone, that is a message of its own. Token counts stand on the model's message. Nothing here looks at another
request.
"""

from collections.abc import Iterator
from typing import Any, Final

from convparse.blocks import Block, Injected, Text, Thinking
from convparse.ledger import Place, escape
from convparse.records import Context, Usage
from convparse.sources._reading import json_of, make_text, open_event, open_message
from convparse.sources.copilot import tools
from convparse.sources.copilot.attachments import read_variables
from convparse.sources.copilot.fields import (
    AGENT,
    MESSAGE,
    MESSAGE_PART,
    METADATA,
    MODE,
    MODEL_STATES,
    REQUEST,
    RESULT,
    VARIABLES,
)
from convparse.sources.copilot.outputs import read_output
from convparse.sources.copilot.parts import MARK, Slot, read_parts
from convparse.sources.copilot.state import Home, Reader, State, strings
from convparse.times import epoch_ms

Request = dict[str, Any]
_EPOCH: Final = 1_000_000_000_000
"""A time in milliseconds is after 2001; a duration is shorter."""
_MACHINE: Final = ("isSystemInitiated", "hiddenFromTranscript", "requestHiddenFromTranscript")
_ASKED: Final = frozenset(
    "requestId agent modeInfo shouldBeRemovedOnSend isHidden slashCommand requestSource origin systemInitiatedLabel"
    " terminalExecutionId modelConfiguration attempt locationData id workingSet message variableData timestamp confirmation"
    " isSystemInitiated hiddenFromTranscript requestHiddenFromTranscript".split()
)
"""Fields that say something of the question; all others say it of the answer."""
_ENDED: Final = ("result", "modelState", "elapsedMs", "isCanceled", "responseErrorDetails")
_SPENT: Final = ("promptTokens", "completionTokens", "copilotCredits", "timeSpentWaiting", "responseTimestamp", "responseId")
_TRUNCATED: Final = ": value truncated for persistence"


class Told:
    """The records of one request."""

    __slots__ = ("calls", "children", "entries", "version")

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.children: dict[str, list[Any]] = {}
        """By the id of the call that started the sub-agent."""
        self.calls: dict[str, str | None] = {}
        """Those ids to the ids that the calls have in the records."""
        self.version: str | None = None


def read_request(state: State, value: Any, home: Home, session: str | None, place: str | None) -> Told:
    """The records of one request; ``place``: where in the editor it was asked."""
    told = Told()
    reader = Reader(state, home)
    if type(value) is not dict:
        reader.note("unexpected-type", "")
        told.entries.append(_unknown(state, value, home, session))
        return told
    reader.keep(REQUEST, value, "")
    id = reader.text(value, "requestId", "")
    key = _key(state, id, home.place, session)
    context = _context(reader, value, place)
    undone, stop = _undone(reader, value)
    told.version = context.version if context is not None else None
    asked = _asked(reader, value, key, id, context)
    answers = list(_answered(reader, value, key, id, context, told, stop))
    if not answers:
        _keep_unanswered(reader, value, asked)
    reader.extra = {}
    told.entries = [asked, *answers, *_ended(reader, value, key, answers)]
    _find_truncations(reader, value)
    if undone:
        for entry in told.entries if stop is None else answers[1:]:
            entry.state = "undone"
    return told


def _keep_unanswered(reader: Reader, value: Request, asked: Any) -> None:
    """What stands in a request that has no answer goes with the question."""
    asked.model = _model(reader, value)
    kept = {f"/{name}": value[name] for name in (*_SPENT, *_ENDED) if value.get(name) is not None}
    _add(asked, {**reader.extra, **kept})


def _add(entry: Any, extra: dict[str, Any]) -> None:
    if extra:
        entry.extra = json_of({**(entry.extra.value if entry.extra is not None else {}), **extra})


def _unknown(state: State, value: Any, home: Home, session: str | None) -> Any:
    key = state.keys.count(session, "request")
    return open_event(key, "unknown", "request", None, json_of(value), origin=home.origin())


def _key(state: State, id: str | None, place: Place, session: str | None) -> str:
    if id is None:
        return state.keys.count(session, "request")
    if id in state.keys.seen:
        return state.keys.again(id)
    return state.keys.of(id, place)


def _context(reader: Reader, value: Request, place: str | None) -> Context | None:
    agent, mode = reader.object(value, "agent", ""), reader.object(value, "modeInfo", "")
    reader.enter("agent")
    reader.keep(AGENT, agent, "/agent")
    reader.enter("modeInfo")
    reader.keep(MODE, mode, "/modeInfo")
    reader.enter()
    version = reader.text(agent, "extensionVersion", "/agent")
    level = reader.text(mode, "permissionLevel", "/modeInfo")
    if version is None and level is None and place is None:
        return None
    return Context(version=version, permission_mode=level, entrypoint=place)


def _undone(reader: Reader, value: Request) -> tuple[bool, str | None]:
    """Whether the request was undone, and the mark from which on, if only its end was."""
    for key in ("shouldBeRemovedOnSend", "isHidden"):
        mark = value.get(key)
        if mark is None or mark is False:
            continue
        reader.extra[f"/{key}"] = mark
        stop = mark.get("afterUndoStop") if type(mark) is dict else None
        return True, stop if type(stop) is str else None
    return False, None


# ---- what was asked --------------------------------------------------------------------------------------------------------


def _asked(reader: Reader, value: Request, key: str, id: str | None, context: Context | None) -> Any:
    rest = {pointer: item for pointer, item in reader.extra.items() if pointer.split("/")[1] not in _ASKED}
    reader.extra = {pointer: item for pointer, item in reader.extra.items() if pointer not in rest}
    blocks: list[Block] = list(_message(reader, value.get("message")))
    reader.enter("variableData")
    data = reader.object(value, "variableData", "")
    reader.keep(VARIABLES, data, "/variableData")
    blocks += read_variables(reader, reader.items(data, "variables", "/variableData"))
    reader.enter()
    machine = [name for name in (*_MACHINE, "confirmation") if value.get(name)]
    reader.extra.update({f"/{name}": value[name] for name in (*_MACHINE, "confirmation") if name in value})
    if machine:
        blocks = [Injected(machine[0], block.text) if type(block) is Text else block for block in blocks]
    stamp = reader.count(value, "timestamp")
    when, when_text = epoch_ms(stamp) if stamp else (None, None)
    if stamp and when is None:
        reader.note("bad-timestamp", "/timestamp")
    home = reader.root
    entry = open_message(
        key,
        id,
        "user",
        "harness" if machine else "human",
        tuple(blocks),
        when,
        "recorded" if when is not None else None,
        when_text,
        None,
        None,
        id,
        None,
        None,
        None,
        context,
        "active",
        False,
        (),
        home.origin(),
    )
    entry.merged = home.merged(home.written(_ASKED))
    entry.extra = json_of(reader.extra) if reader.extra else None
    reader.extra = rest
    return entry


def _message(reader: Reader, message: Any) -> Iterator[Block]:
    """What was typed; the parts are the same again, told apart by the editor."""
    reader.enter("message")
    if type(message) is str:
        yield make_text(message)
    elif type(message) is dict:
        reader.keep(MESSAGE, {key: item for key, item in message.items() if key != "parts"}, "/message")
        text = reader.text(message, "text", "/message")
        parts = reader.items(message, "parts", "/message")
        whole = [str(part.get("text")) for part in parts if type(part) is dict and part.get("kind") == "text"]
        same = len(whole) == len(parts) and "".join(whole) == text
        for i, part in enumerate(parts):
            if same:
                reader.keep(MESSAGE_PART, part, f"/message/parts/{i}")
            else:
                reader.extra[f"/message/parts/{i}"] = part
        if text is not None:
            yield make_text(text)
    elif message is not None:
        reader.odd(message, "/message")
    reader.enter()


# ---- what was answered -----------------------------------------------------------------------------------------------------


def _answered(
    reader: Reader, value: Request, key: str, id: str | None, context: Context | None, told: Told, stop: str | None
) -> Iterator[Any]:
    parts = _parts(reader, value.get("response"))
    if not parts and value.get("responseId") is None and value.get("result") is None:
        return
    runs = read_parts(reader, parts, stop)
    result = reader.object(value, "result", "")
    metadata = reader.object(result, "metadata", "/result")
    reader.enter("result")
    reader.keep(METADATA, metadata, "/result/metadata")
    items = [item for run in runs.values() for item in run]
    said = {block.text.strip() for block in items if type(block) is Text}
    thought = {block.text for block in items if type(block) is Thinking}
    calls = tools.read_rounds(reader, metadata, said, thought)
    outputs = dict(reader.object(metadata, "toolCallResults", "/result/metadata"))
    reader.enter()
    joined = tools.join(reader, calls, [item for item in items if isinstance(item, Slot)])
    cancelled = _is_cancelled(value, result)
    filled = {agent: tools.fill(reader, run, joined, outputs, cancelled) for agent, run in runs.items()}
    reader.enter("result")
    blocks = tools.with_hidden(reader, filled.pop(None), calls, outputs)
    _keep_outputs(reader, outputs)
    reader.enter()
    if cancelled:
        blocks.append(Injected("interrupted", _error_text(value, result) or ""))
    slots = {str(item.part.get("toolCallId")): item for item in items if isinstance(item, Slot)}
    yield from _answers(reader, value, key, id, context, blocks, None if stop is None else _cut(blocks))
    for agent, inside in filled.items():
        assert agent is not None
        told.children[agent] = _child(reader, agent, slots.get(agent), inside, key)
        call = joined.get(slots[agent].index) if agent in slots else None
        told.calls[agent] = call.id if call is not None else agent


def _parts(reader: Reader, response: Any) -> list[Any]:
    """The parts; a text where very old versions wrote no list."""
    if type(response) is str:
        return [response]
    if type(response) is list:
        return response
    if response is not None:
        reader.odd(response, "/response")
    return []


def _keep_outputs(reader: Reader, outputs: dict[str, Any]) -> None:
    """Outputs of calls that are nowhere."""
    for name, output in outputs.items():
        content = read_output(reader, name, output)
        reader.extra[f"/result/metadata/toolCallResults/{escape(name)}"] = output
        if content is not None:
            pattern = reader.pattern("/result/metadata/toolCallResults") + "/*"
            reader.state.ledger.part("orphan-result", reader.home.place, pattern, record="toolCallResult")


def _cut(blocks: list[Block]) -> int:
    """Takes out the mark from which on an answer was undone; how many blocks stand before it, none if it is nowhere."""
    at = next((i for i, block in enumerate(blocks) if block is MARK), None)
    if at is not None:
        del blocks[at]
    return at or 0


def _child(reader: Reader, agent: str, slot: Slot | None, blocks: list[Block], key: str) -> list[Any]:
    """What a sub-agent was told, and what it did, as far as the parts show it."""
    home = reader.root.at("response", slot.index) if slot is not None else reader.root.at("response")
    data = slot.part.get("toolSpecificData") if slot is not None else None
    prompt = data.get("prompt") if type(data) is dict else None
    messages = []
    for name, role, inside in (
        ("task", "user", [make_text(prompt)] if type(prompt) is str else []),
        ("work", "assistant", blocks),
    ):
        if inside:
            origin = home.origin()
            messages.append(open_message(f"{key}/{agent}:{name}", None, role, "model", tuple(inside), origin=origin))
    return messages


def _answers(
    reader: Reader,
    value: Request,
    key: str,
    id: str | None,
    context: Context | None,
    blocks: list[Block],
    cut: int | None,
) -> Iterator[Any]:
    home = reader.root
    response_id = reader.text(value, "responseId", "")
    when = _answer_time(reader, value)
    state = _state_word(reader, value)
    usage = _usage(reader, value)
    model = _model(reader, value)
    for n, some in enumerate([blocks] if cut is None else [blocks[:cut], blocks[cut:]]):
        entry = open_message(
            f"{key}:response" if not n else f"{key}:response:undone",
            response_id,
            "assistant",
            "model",
            tuple(some),
            when,
            "recorded" if when is not None else None,
            None,
            None,
            response_id or key,
            id,
            model,
            usage if not n else None,
            state,
            context,
            "active",
            False,
            (),
            None,
        )
        entry.origin = _answer_origin(home, value.get("response"))
        if not n:
            entry.merged = home.merged(home.operations() - home.written(_ENDED))
            _add(entry, reader.extra)
        yield entry


def _answer_origin(home: Home, parts: Any) -> Any:
    """In a log, the operation that wrote the first part."""
    if home.log is None:
        return home.origin()
    return home.at("response", 0).origin() if type(parts) is list and parts else home.at("response").origin()


def _answer_time(reader: Reader, value: Request) -> Any:
    """When the answer began: its own field, or what logs write into ``timeSpentWaiting``."""
    waited, stamp = reader.count(value, "timeSpentWaiting"), reader.count(value, "responseTimestamp")
    if waited is not None and waited < _EPOCH and waited:
        reader.extra["/timeSpentWaiting"] = waited
    if stamp and waited and waited > _EPOCH and waited != stamp:
        reader.extra["/timeSpentWaiting"] = waited
    stamp = stamp or (waited if waited is not None and waited > _EPOCH else None)
    return epoch_ms(stamp)[0] if stamp else None


def _state_word(reader: Reader, value: Request) -> str | None:
    state = reader.object(value, "modelState", "")
    number = state.get("value")
    if type(number) is int and 0 <= number < len(MODEL_STATES):
        return MODEL_STATES[number]
    if number is not None:
        reader.odd(number, "/modelState/value")
    if value.get("isCanceled") is not None:
        reader.extra["/isCanceled"] = value["isCanceled"]
    return "cancelled" if value.get("isCanceled") is True else None


def _is_cancelled(value: Request, result: Request) -> bool:
    state, details = value.get("modelState"), result.get("errorDetails")
    if type(state) is dict and state.get("value") == 2:
        return True
    if type(details) is dict and details.get("code") == "canceled":
        return True
    return value.get("isCanceled") is True


def _error_text(value: Request, result: Request) -> str | None:
    details = result.get("errorDetails", value.get("responseErrorDetails"))
    text = details.get("message") if type(details) is dict else None
    return text if type(text) is str else None


def _usage(reader: Reader, value: Request) -> Usage | None:
    """Tokens of a request: its own fields (since 1.117), or the result's (early 2026), or the extension's."""
    result = value.get("result")
    result = result if type(result) is dict else {}
    usage, metadata = reader.object(result, "usage", "/result"), result.get("metadata")
    given, written = reader.count(value, "promptTokens"), reader.count(value, "completionTokens")
    kept = {f"/result/usage/{key}": item for key, item in usage.items()}
    if given is None and written is None and usage:
        given, written = (reader.count(usage, key, "/result/usage") for key in ("promptTokens", "completionTokens"))
        kept = {p: v for p, v in kept.items() if p not in ("/result/usage/promptTokens", "/result/usage/completionTokens")}
    reader.extra.update(kept)
    if given is None and written is None and type(metadata) is dict:
        numbers = [metadata.get(key) for key in ("promptTokens", "outputTokens")]
        given, written = (number if type(number) is int else None for number in numbers)
    credits = value.get("copilotCredits")
    if credits is not None and type(credits) not in (int, float):
        reader.odd(credits, "/copilotCredits")
        credits = None
    if given is None and written is None and credits is None:
        return None
    unit = "copilot-credits" if credits is not None else None
    return Usage(given, output_tokens=written, cost=credits, cost_unit=unit)


def _model(reader: Reader, value: Request) -> str | None:
    """The model asked for; where the product was to choose, the one it chose."""
    model = reader.text(value, "modelId", "")
    if model is None or model.endswith("/auto"):
        if model is not None:
            reader.extra["/modelId"] = model
        chosen = reader.extra.get("/result/metadata/resolvedModel")
        return chosen if type(chosen) is str else model
    return model


# ---- how it ended ----------------------------------------------------------------------------------------------------------


def _ended(reader: Reader, value: Request, key: str, answers: list[Any]) -> Iterator[Any]:
    result = value.get("result")
    result = result if type(result) is dict else {}
    state = value.get("modelState")
    state = state if type(state) is dict else {}
    reader.extra = {}
    reader.enter("result")
    reader.keep(RESULT, result, "/result")
    reader.enter()
    data = dict(reader.extra)
    data.update({f"/modelState/{name}": item for name, item in state.items() if name != "completedAt"})
    details = result.get("errorDetails", value.get("responseErrorDetails"))
    at = "/result/errorDetails" if "errorDetails" in result else "/responseErrorDetails"
    done = reader.count(state, "completedAt", "/modelState")
    when = epoch_ms(done)[0] if done else None
    took = reader.count(value, "elapsedMs")
    home = reader.root
    if details is not None:
        yield _error(reader, details, at, key, when)
    if result or done or took is not None or (state and state.get("value") not in (0, 4)):
        yield _end(reader, home, key, data, when, took)
    elif data and answers:
        _add(answers[0], data)


def _error(reader: Reader, details: Any, at: str, key: str, when: Any) -> Any:
    text = details.get("message") if type(details) is dict else None
    rest = {name: item for name, item in details.items() if name != "message"} if type(text) is str else details
    cancelled = type(details) is dict and details.get("code") == "canceled"
    return open_event(
        f"{key}:error",
        "cancelled" if cancelled else "error",
        "errorDetails",
        text if type(text) is str else None,
        json_of(rest) if rest else None,
        None,
        when,
        "recorded" if when is not None else None,
        origin=reader.root.at(*at.split("/")[1:]).origin(),
    )


def _end(reader: Reader, home: Home, key: str, data: dict[str, Any], when: Any, took: int | None) -> Any:
    later = [name for name in ("result", "modelState", "elapsedMs") if home.written((name,))]
    entry = open_event(
        f"{key}:end",
        "turn-end",
        "result",
        None,
        json_of(data) if data else None,
        None,
        when,
        "recorded" if when is not None else None,
        duration=took / 1000 if took is not None else None,
        origin=(home.at(later[0]) if later else home).origin(),
    )
    entry.merged = home.merged(home.written(_ENDED))
    return entry


def _find_truncations(reader: Reader, value: Request) -> None:
    """Name the marks that the editor put in place of texts too long for it."""
    for text, at in strings(value):
        if text.startswith("[") and _TRUNCATED in text[:120]:
            reader.note("copilot/truncated-value", at)
