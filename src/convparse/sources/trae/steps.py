"""What an agent did: ``agentTaskContent`` of stored messages, and the plan items of the running program, to blocks.

What comes in: the object, or a string where an object is expected. What goes out: blocks in the order in which they happened:
reasoning, proposal, then of every step its reasoning, its words, its call and its result; the words of the step ``finish`` are
the answer. A call without a result stays without one, and is named.
"""

from collections.abc import Iterable
from typing import Any, Final

import orjson

from convparse.blocks import Block, Json, Text
from convparse.ledger import Place, escape
from convparse.sources._reading import Extra, json_of, make_call, make_result, make_text, make_thinking
from convparse.sources.trae.fields import CALL, CALL_INFO, GUIDELINE, KINDS, PLAN_ITEM, STEP, TASK
from convparse.sources.trae.state import Opened, State, equal

_FINISH: Final = frozenset({"finish", "response"})
_FAILED: Final = frozenset({"failed", "error", "failure"})
_DONE: Final = frozenset({"success", "completed"})
_OUTPUT: Final = ("output", "content", "text", "stdout", "message")


def decoded(text: str) -> tuple[Any, bool]:
    """The object or list that a string holds as JSON, and whether it says all that the string does; None for other text."""
    try:
        value = orjson.loads(text)
        return (value, orjson.dumps(value) == text.encode()) if type(value) in (dict, list) else (None, False)
    except (ValueError, TypeError):
        return None, False


def opened(value: Any, at: str, extra: Extra) -> tuple[Any, str]:
    """A value that may be JSON held in a string, and its pointer, which then goes on behind a ``»``."""
    if type(value) is not str:
        return value, at
    found, same = decoded(value)
    if found is None:
        return value, at
    if not same:
        extra[at] = value
    return found, f"{at}/»"


def add_text(blocks: list[Block], text: str | None) -> None:
    """Put a text behind the others, unless one of them is the same."""
    if text and not any(type(block) is Text and block.text == text for block in blocks):
        blocks.append(make_text(text))


# ---- agentTaskContent ------------------------------------------------------------------------------------------------------


def read_task(message: Opened, extra: Extra) -> list[Block]:
    """The blocks of a message's agent task."""
    state, place = message.state, message.place
    value, at = opened(message.value.get("agentTaskContent"), f"{message.at}/agentTaskContent", extra)
    if type(value) is str:
        return [make_text(value)] if value else []
    if type(value) is not dict:
        if value is not None:
            message.odd("agentTaskContent")
        return []
    task = state.open(value, TASK, place, at, extra)
    blocks: list[Block] = []
    thought = task.text("proposalReasoningContent")
    if thought:
        blocks.append(make_thinking(thought))
    add_text(blocks, task.text("proposal"))
    content = value.get("content")
    if type(content) is dict and "guideline" in content:
        extra.update({f"{at}/content/{escape(key)}": item for key, item in content.items() if key != "guideline"})
        blocks += _guideline(state, content["guideline"], place, f"{at}/content/guideline", extra)
    else:
        add_text(blocks, task.text("content"))
    add_text(blocks, task.text("text"))
    return blocks + _guideline(state, value.get("guideline"), place, f"{at}/guideline", extra)


def _guideline(state: State, value: Any, place: Place, at: str, extra: Extra) -> list[Block]:
    value, at = opened(value, at, extra)
    blocks: list[Block] = []
    if type(value) is list:
        return _steps(state, value, place, at, extra)
    if type(value) is str:
        add_text(blocks, value)
        return blocks
    if type(value) is not dict:
        if value is not None:
            extra[at] = value
            state.ledger.part("unexpected-type", place, GUIDELINE.at, record="guideline", pointer=at)
        return blocks
    guideline = state.open(value, GUIDELINE, place, at, extra)
    add_text(blocks, guideline.text("thought"))
    items, here = opened(value.get("planItems"), f"{at}/planItems", extra)
    if type(items) is str:
        add_text(blocks, items)
    elif type(items) is list:
        blocks += _steps(state, items, place, here, extra)
    elif items is not None:
        guideline.odd("planItems")
    return blocks


def _steps(state: State, items: list[Any], place: Place, at: str, extra: Extra) -> list[Block]:
    blocks: list[Block] = []
    for number, item in enumerate(items):
        here = f"{at}/{number}"
        if type(item) is dict:
            blocks += read_step(state.open(item, STEP, place, here, extra))
        elif type(item) is str:
            blocks += [make_text(item)] if item else []
        else:
            extra[here] = item
            state.ledger.part("unexpected-type", place, STEP.at, record="planItem", pointer=here)
    return blocks


# ---- one step --------------------------------------------------------------------------------------------------------------


def read_step(step: Opened) -> list[Block]:
    """The blocks of one step, in either spelling."""
    blocks: list[Block] = []
    runtime = step.fields is PLAN_ITEM
    thought = step.text("reasoning_content" if runtime else "reasoningContent")
    if thought:
        blocks.append(make_thinking(thought))
    add_text(blocks, step.text("thought"))
    if not runtime:
        add_text(blocks, step.text("content"))
    name, fields = ("tool_call_info", CALL_INFO) if runtime else ("toolCallInfo", CALL)
    info, call = step.value.get(name), None
    if type(info) is dict:
        call = step.state.open(info, fields, step.place, f"{step.at}/{name}", step.extra)
    elif info is not None:
        step.odd(name)
    return blocks + _use(step, call, blocks)


def _use(step: Opened, info: Opened | None, said: list[Block]) -> list[Block]:
    """The call of a step and its result, or the answer that it is."""
    own = step.first("id", str)
    id, name = (info.text("id"), info.text("name")) if info is not None else (None, None)
    if id is not None and own is not None and id != own:
        step.extra[f"{step.at}/id"] = own
    id = id if id is not None else own
    tool = step.text("toolName")
    if name is not None and tool is not None and tool != name:
        step.extra[f"{step.at}/toolName"] = tool
    name = name if name is not None else tool
    given = _arguments(step, info)
    code = step.first("exitCode", int)
    result, other = step.value.get("result"), None if info is None else info.value.get("result")
    if result is None:
        result = other
    elif info is not None and other is not None and not equal(result, other):
        step.extra[f"{info.at}/result"] = other
    status = step.text("status")
    if name is None and given is None and result is None and code is None:
        step.extra.update(_told(step, info, ("id", "status")))
        return []
    if (name or "").lower() in _FINISH:
        return _answer(step, info, said)
    blocks: list[Block] = [make_call(id, name or "", KINDS.get(name or "", "other"), "" if given is None else given)]
    if result is None and code is None:
        step.name("missing-result", "")
        if status is not None:
            step.extra[f"{step.at}/status"] = status
        return blocks
    return [*blocks, _result(step, id, result, status, code)]


def _arguments(step: Opened, info: Opened | None) -> Json | str | None:
    """What a tool was called with: JSON, also where a string holds it."""
    found: tuple[str, Any] | None = None
    places = [(step, key) for key in ("params", "arguments", "input")] if step.fields is STEP else []
    for holder, key in ([(info, "params")] if info is not None else []) + places:
        value = holder.value.get(key)
        if value is None:
            continue
        if found is None:
            found = f"{holder.at}/{key}", value
        elif not equal(value, found[1]):
            step.extra[f"{holder.at}/{key}"] = value
    command = step.text("command") if step.fields is STEP else None
    if found is None:
        return None if command is None else json_of({"command": command})
    at, value = found
    if command is not None and not (type(value) is dict and value.get("command") == command):
        step.extra[f"{step.at}/command"] = command
    if type(value) is str:
        inner, same = decoded(value)
        if inner is None:
            return value
        if not same:
            step.extra[at] = value
        return json_of(inner)
    return json_of(value)


def _told(step: Opened, info: Opened | None, keys: Iterable[str]) -> Extra:
    """What a step and its call say under these keys, each at its place."""
    holders = [holder for holder in (step, info) if holder is not None]
    given = ((f"{holder.at}/{key}", holder.value.get(key)) for holder in holders for key in keys)
    return {at: value for at, value in given if value is not None}


def _answer(step: Opened, info: Opened | None, said: list[Block]) -> list[Block]:
    """The last step says what is to be said; its parameters may hold the words."""
    holder, at = (info, info.at) if info is not None and info.value.get("params") is not None else (step, step.at)
    params = holder.value.get("params") if holder is not None else None
    words = params.get("summary") if type(params) is dict else None
    blocks: list[Block] = []
    if type(words) is str and words and not any(type(b) is Text and b.text == words for b in said):
        blocks.append(make_text(words))
    if params is not None and not (type(words) is str and len(params) == 1):
        step.extra[f"{at}/params"] = params
    told = _told(step, info, ("id", "name", "toolName", "status", "result", "exitCode", "command", "arguments", "input"))
    step.extra.update({at: value for at, value in told.items() if not (at == f"{step.at}/toolName" and value == "finish")})
    return blocks


def _result(step: Opened, id: str | None, result: Any, status: str | None, code: int | None) -> Block:
    value = result
    if type(result) is str:
        inner, same = decoded(result)
        value = inner if inner is not None and same else result
    word = value.get("status") if type(value) is dict else None
    if type(word) is str and status is not None and word != status:
        step.extra[f"{step.at}/status"] = status
    word = word if type(word) is str else status
    parts = tuple(make_text(text) for text in said_by(value))
    full = json_of(value) if type(value) is not str and value is not None else None
    inside = exit_code(value)
    if code is not None and inside is not None and code != inside:
        step.extra[f"{step.at}/exitCode"] = code
    cut = type(value) is dict and value.get("is_truncated") is True
    known = code if code is not None else inside
    return make_result(id, parts, _failed(word, value), known, _duration(step.value.get("timing")), word, cut, full)


def _failed(word: str | None, value: Any) -> bool | None:
    if type(value) is dict and type(value.get("error_message")) is str and value["error_message"]:
        return True
    return True if word in _FAILED else False if word in _DONE else None


def _duration(timing: Any) -> float | None:
    """Seconds between the start and the end of a call, in milliseconds of the same clock."""
    if type(timing) is not dict:
        return None
    begin, end = timing.get("tool_call_started_at_ms"), timing.get("tool_call_finished_at_ms")
    return (end - begin) / 1_000 if type(begin) is int and type(end) is int and end >= begin else None


def said_by(value: Any) -> list[str]:
    """The text that a result gives the model, as far as its makes are known."""
    if type(value) is str:
        return [value] if value else []
    if type(value) is not dict:
        return []
    data = value.get("data")
    inner: dict[str, Any] = data if type(data) is dict else value
    found = [inner[key] for key in _OUTPUT if type(inner.get(key)) is str and inner[key]][:1]
    if not found and type(data) is str:
        found = [data]
    error = value.get("error_message")
    return found + ([error] if type(error) is str and error else [])


def exit_code(value: Any) -> int | None:
    """The exit code that a result records."""
    inner = value.get("data", value) if type(value) is dict else None
    for holder in (value, inner):
        for name in ("exitCode", "exit_code"):
            code = holder.get(name) if type(holder) is dict else None
            if type(code) is int:
                return code
    return None
