"""What was answered to a request: a message of the model's, and what its sub-agents did.

What comes in: a request and its reader. What goes out: one open message with all blocks, in the order of the screen; two where
only the end of an answer was undone. What the request says of its answer beyond that is the message's ``extra``.
"""

from collections.abc import Iterator
from typing import Any, Final

from convparse.blocks import Block, Injected, Text, Thinking
from convparse.ledger import escape
from convparse.records import Context, Usage
from convparse.sources._reading import make_text, open_message
from convparse.sources.copilot import tools
from convparse.sources.copilot.endings import ENDED, error_text
from convparse.sources.copilot.fields import METADATA, MODEL_STATES
from convparse.sources.copilot.outputs import read_output
from convparse.sources.copilot.parts import MARK, Slot, read_parts
from convparse.sources.copilot.state import Home, Reader, add_extra
from convparse.times import epoch_ms

Request = dict[str, Any]
_EPOCH: Final = 1_000_000_000_000
"""A time in milliseconds is after 2001; a duration is shorter."""


class Told:
    """The records of one request."""

    __slots__ = ("calls", "children", "entries")

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.children: dict[str, list[Any]] = {}
        """By the id of the call that started the sub-agent."""
        self.calls: dict[str, str | None] = {}
        """Those ids to the ids that the calls have in the records."""


def read_answers(
    reader: Reader, value: Request, key: str, id: str | None, context: Context | None, told: Told, stop: str | None
) -> Iterator[Any]:
    """The messages of the answer; none where there is none yet. ``stop``: the mark from which on it was undone."""
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
        blocks.append(Injected("interrupted", error_text(value, result) or ""))
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
    model = read_model(reader, value)
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
            entry.merged = home.merged(home.operations() - home.written(ENDED))
            add_extra(entry, reader.extra)
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


def _usage(reader: Reader, value: Request) -> Usage | None:
    """Tokens of a request: its own fields (since 1.117), or the result's (early 2026), or the extension's."""
    result = value.get("result")
    result = result if type(result) is dict else {}
    usage, metadata = reader.object(result, "usage", "/result"), result.get("metadata")
    given, written = reader.count(value, "promptTokens"), reader.count(value, "completionTokens")
    kept = {f"/result/usage/{escape(key)}": item for key, item in usage.items()}
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


def read_model(reader: Reader, value: Request) -> str | None:
    """The model asked for; where the product was to choose, the one it chose."""
    model = reader.text(value, "modelId", "")
    if model is None or model.endswith("/auto"):
        if model is not None:
            reader.extra["/modelId"] = model
        chosen = reader.extra.get("/result/metadata/resolvedModel")
        return chosen if type(chosen) is str else model
    return model
