"""``toolFormerData``: a tool's call and its result, both in one bubble; to blocks.

Parameters and results are JSON held in strings, and sometimes plain text: what decodes becomes JSON, and where that does not
say the same as the string, the string is kept. A stub that holds a status only is named.
"""

from typing import Any, Final

import orjson

from convparse.blocks import Block, Json
from convparse.ledger import Place
from convparse.sources._reading import Extra, json_of, keep, make_call, make_result, make_text
from convparse.sources.cursor.fields import KINDS, TOOL
from convparse.sources.cursor.state import State

_AT: Final = "/toolFormerData"
_OPEN: Final = frozenset({None, "", "loading", "running", "started", "pending"})
_OUTPUT: Final = ("output", "contents", "result", "content")


def read_tool(state: State, value: Any, place: Place, at: str, extra: Extra) -> tuple[tuple[Block, ...], str | None]:
    """The blocks of a tool's use, and the id of the model's call that it is part of."""
    if type(value) is not dict:
        state.typed(value, dict, extra, place, "bubble", at + _AT, _AT)
        return (), None
    shape = state.look(TOOL)(value, place)
    keep(extra, shape, value, at + _AT)
    tool, name, call_id, model_call, params, raw, result, status, decision, error = shape.pick((*value.values(), None))[:10]
    if tool is None and name is None:
        state.ledger.part("cursor/tool-stub", place, _AT, record="bubble", pointer=at + _AT)
        extra.update({f"{at}{_AT}/{key}": value[key] for key in TOOL.picked if value.get(key) is not None})
        return (), None
    name, call_id, model_call, status, decision = (
        state.typed(item, str, extra, place, "bubble", f"{at}{_AT}/{key}", f"{_AT}/{key}")
        for key, item in (
            *(("name", name), ("toolCallId", call_id), ("modelCallId", model_call), ("status", status)),
            ("userDecision", decision),
        )
    )
    if tool is not None:
        extra[f"{at}{_AT}/tool"] = tool
    given = _arguments(params, raw, at, extra)
    blocks: list[Block] = [make_call(call_id, name or f"tool-{tool}", kind_of(name), given)]
    if result is None and error is None and status in _OPEN and decision != "rejected":
        if status is not None:
            extra[f"{at}{_AT}/status"] = status
        if decision is not None:
            extra[f"{at}{_AT}/userDecision"] = decision
        state.ledger.part("missing-result", place, _AT, record="bubble", pointer=at + _AT)
    else:
        blocks.append(_result(call_id, result, status, decision, error, at, extra))
    return tuple(blocks), model_call or None


def kind_of(name: str | None) -> str:
    """What a tool does."""
    return KINDS.get(name or "", "other")


def decoded(text: str) -> tuple[Any, bool]:
    """The value of JSON held in a string, and whether it says all that the string does; ``(None, False)`` for other text."""
    try:
        value = orjson.loads(text)
        return value, orjson.dumps(value) == text.encode()
    except (ValueError, TypeError):
        return None, False


def _arguments(params: Any, raw: Any, at: str, extra: Extra) -> Json | str:
    """What the tool was called with: ``params``, else ``rawArgs``, which is often cut."""
    chosen, other = ("params", "rawArgs") if params not in (None, "") else ("rawArgs", "params")
    value, rest = (params, raw) if chosen == "params" else (raw, params)
    if rest not in (None, ""):
        extra[f"{at}{_AT}/{other}"] = rest
    if type(value) is not str:
        return "" if value is None else json_of(value)
    found, same = decoded(value)
    if type(found) not in (dict, list):
        return value
    if not same:
        extra[f"{at}{_AT}/{chosen}"] = value
    return json_of(found)


def _result(call_id: str | None, result: Any, status: Any, decision: Any, error: Any, at: str, extra: Extra) -> Block:
    full, value = None, result
    if type(result) is str:
        value, same = decoded(result)
        if type(value) not in (dict, list):
            value = result
        elif not same:
            extra[f"{at}{_AT}/result"] = result
    if type(value) is not str and value is not None:
        full = json_of(value)
    parts = [*_said(value), *_said_error(error)]
    if error is not None:
        extra[f"{at}{_AT}/error"] = error
    word = "rejected" if decision == "rejected" else status
    if decision is not None:
        extra[f"{at}{_AT}/userDecision"] = decision
    if word is not status and status is not None:
        extra[f"{at}{_AT}/status"] = status
    failed = True if error is not None or status == "error" else False if status == "completed" else None
    return make_result(call_id, tuple(make_text(part) for part in parts), failed, exit_code(value), None, word, False, full)


def _said(value: Any) -> list[str]:
    if type(value) is str:
        return [value]
    found = [value[key] for key in _OUTPUT if type(value.get(key)) is str] if type(value) is dict else []
    return found[:1]


def _said_error(error: Any) -> list[str]:
    value = decoded(error)[0] if type(error) is str else error
    if type(value) is dict:
        names = ("clientVisibleErrorMessage", "modelVisibleErrorMessage", "message")
        return [value[name] for name in names if type(value.get(name)) is str][:1]
    return [error] if type(error) is str else []


def exit_code(value: Any) -> int | None:
    """The exit code of a command; ``completed`` says only that it ran."""
    for name in ("exitCode", "exitCodeV2", "exit_code"):
        code = value.get(name) if type(value) is dict else None
        if type(code) is int:
            return code
    return None
