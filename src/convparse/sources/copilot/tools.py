"""Tool calls of a request, from both sides at once: the editor's parts, and the rounds that the extension kept for the model.

The parts say when a call was shown, whether it was allowed and what it looked like; the rounds have the model's own words:
name, arguments, output. A part and a call of a round belong together if they have the same id, if they have it but for the
ending ``__vscode-<n>`` (1.109), or, before that, if they are the same in number for one tool, in their order. What cannot
be joined stands for itself and is named. Every call comes out once, with its result behind it.
"""

import re
from bisect import bisect_left
from typing import Any, Final

import attrs
import orjson

from convparse.blocks import Block, Json, Part, Text, ToolCall, ToolResult
from convparse.ledger import escape
from convparse.reading.decoding import deeper
from convparse.sources._reading import json_of, make_call, make_result
from convparse.sources.copilot.fields import CALL, CONFIRMATIONS, ROUND, ROUND_THINKING, TOOL
from convparse.sources.copilot.outputs import read_output, shown_output
from convparse.sources.copilot.parts import Item, Slot
from convparse.sources.copilot.state import Reader

_DEPTH: Final = 200
"""Levels of arguments that are taken for JSON."""
_SUFFIX: Final = re.compile(r"__vscode-\d+$")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMES: Final = {
    "copilot_createNewJupyterNotebook": "create_new_jupyter_notebook",
    "copilot_editNotebook": "edit_notebook_file",
    "copilot_fetchWebPage": "fetch_webpage",
    "copilot_findFiles": "file_search",
    "copilot_findTestFiles": "test_search",
    "copilot_findTextInFiles": "grep_search",
    "copilot_getVSCodeAPI": "get_vscode_api",
    "copilot_insertEdit": "insert_edit_into_file",
    "copilot_listDirectory": "list_dir",
    "copilot_multiReplaceString": "multi_replace_string_in_file",
    "copilot_replaceString": "replace_string_in_file",
    "copilot_runVscodeCommand": "run_vscode_command",
    "copilot_searchCodebase": "semantic_search",
}
"""The editor's names of tools that the model knows by quite another name."""
KINDS: Final = {
    **dict.fromkeys("read_file get_errors get_terminal_output terminal_last_command read_notebook_cell_output".split(), "read"),
    **dict.fromkeys("view_image get_changed_files copilot_getNotebookSummary read_project_structure view".split(), "read"),
    **dict.fromkeys(
        "apply_patch create_file create_directory edit_notebook_file insert_edit_into_file multi_replace_string_in_file"
        " replace_string_in_file edit_files".split(),
        "edit",
    ),
    **dict.fromkeys(
        "file_search grep_search semantic_search list_dir list_code_usages search_workspace_symbols test_search"
        " github_repo".split(),
        "search",
    ),
    **dict.fromkeys("run_in_terminal runTests run_task create_and_run_task run_notebook_cell".split(), "execute"),
    **dict.fromkeys("fetch_webpage vscode_fetchWebPage_internal open_simple_browser".split(), "fetch"),
    **dict.fromkeys("think manage_todo_list".split(), "think"),
}
"""Tools by what they do, in the Agent Client Protocol's words; all others are ``other``."""


@attrs.define(eq=False)
class Call:
    """A call that a round has."""

    id: str | None
    name: str
    arguments: Json | str
    said: str
    """What the model wrote before it, in the same round."""
    slot: Slot | None = None


def model_name(tool: str) -> str:
    """The model's name of a tool that the editor names so."""
    if tool in _NAMES:
        return _NAMES[tool]
    return _CAMEL.sub("_", tool.removeprefix("copilot_")).lower() if tool.startswith("copilot_") else tool


def read_rounds(reader: Reader, metadata: dict[str, Any], said: set[str], thought: set[str]) -> list[Call]:
    """The calls of all rounds; what the rounds say beyond the parts is kept."""
    calls: list[Call] = []
    for i, item in enumerate(reader.items(metadata, "toolCallRounds", "/result/metadata")):
        at = f"/result/metadata/toolCallRounds/{i}"
        if type(item) is not dict:
            reader.odd(item, at, "round")
            continue
        reader.keep(ROUND, item, at)
        text = reader.text(item, "response", at, "round") or ""
        if text and text.strip() not in said:
            reader.extra[f"{at}/response"] = text
        _round_thinking(reader, item.get("thinking"), f"{at}/thinking", thought)
        for k, call in enumerate(reader.items(item, "toolCalls", at, "round")):
            found = _read_call(reader, call, f"{at}/toolCalls/{k}", text)
            calls.extend([found] if found is not None else [])
    return calls


def _round_thinking(reader: Reader, value: Any, at: str, thought: set[str]) -> None:
    if value is None:
        return
    if type(value) is not dict:
        reader.odd(value, at, "round")
        return
    reader.keep(ROUND_THINKING, value, at)
    text = value.get("text")
    whole = "".join(text) if type(text) is list and all(type(word) is str for word in text) else text
    if type(whole) is not str:
        if text is not None:
            reader.odd(text, f"{at}/text", "round")
    elif whole and whole not in thought:
        reader.extra[f"{at}/text"] = text


def _read_call(reader: Reader, call: Any, at: str, said: str) -> Call | None:
    if type(call) is not dict or type(call.get("name")) is not str or not _is_text(call.get("id")):
        reader.odd(call, at, "round")
        return None
    reader.keep(CALL, call, at)
    return Call(call.get("id"), call["name"], _arguments(call.get("arguments")), said)


def _is_text(value: Any) -> bool:
    return value is None or type(value) is str


def _arguments(value: Any) -> Json | str:
    """Arguments as they were written: JSON in a string, or text that is none."""
    if type(value) is not str:
        return json_of(value)
    return as_json(value)


def as_json(text: str) -> Json | str:
    """A text as JSON if it is JSON."""
    try:
        value = orjson.loads(text)
    except ValueError:
        return text
    return Json(text) if type(value) in (dict, list) and not deeper(value, _DEPTH) else text


def join(reader: Reader, calls: list[Call], slots: list[Slot]) -> dict[int, Call]:
    """Which call of the rounds each part is, by the part's index."""
    joined: dict[int, Call] = {}
    exact = {call.id: call for call in reversed(calls) if call.id is not None}
    bare = {_SUFFIX.sub("", call.id): call for call in reversed(calls) if call.id is not None}
    for slot in slots:
        id = slot.part.get("toolCallId")
        if type(id) is not str:
            continue
        call = exact.get(id) or bare.get(_SUFFIX.sub("", id))
        if call is not None and call.slot is None:
            call.slot, joined[slot.index] = slot, call
    _join_in_order(calls, slots, joined)
    for slot in slots:
        if calls and slot.index not in joined and not _is_nested(slot.part):
            reader.note("copilot/unjoined-call", slot.at, "toolInvocationSerialized")
    return joined


def _is_nested(part: dict[str, Any]) -> bool:
    """True for a call of a sub-agent's: no round of this conversation has it."""
    return part.get("fromSubAgent") is True or type(part.get("subAgentInvocationId")) is str


def _join_in_order(calls: list[Call], slots: list[Slot], joined: dict[int, Call]) -> None:
    """Before 1.109 a part's id is another's: the calls of one tool are joined in their order, where both sides have as many."""
    parts: dict[str, list[Slot]] = {}
    wanted: dict[str, list[Call]] = {}
    for slot in slots:
        tool = slot.part.get("toolId")
        if slot.index not in joined and type(tool) is str and not _is_nested(slot.part):
            parts.setdefault(model_name(tool), []).append(slot)
    for call in calls:
        if call.slot is None:
            wanted.setdefault(model_name(call.name), []).append(call)
    for name, free in parts.items():
        others = wanted.get(name, [])
        if len(others) == len(free):
            for slot, call in zip(free, others, strict=True):
                call.slot, joined[slot.index] = slot, call


def fill(reader: Reader, items: list[Item], joined: dict[int, Call], outputs: dict[str, Any], cancelled: bool) -> list[Block]:
    """The blocks with every slot filled: a call, and its result if there is one."""
    blocks: list[Block] = []
    for item in items:
        if not isinstance(item, Slot):
            blocks.append(item)
            continue
        reader.enter("response", item.index)
        blocks.extend(_shown_call(reader, item, joined.get(item.index), outputs, cancelled))
        reader.enter()
    return blocks


def _shown_call(reader: Reader, slot: Slot, call: Call | None, outputs: dict[str, Any], cancelled: bool) -> list[Block]:
    part, at = slot.part, slot.at
    id, tool = (reader.text(part, key, at, "toolInvocationSerialized") for key in ("toolCallId", "toolId"))
    full = reader.judged(TOOL, part, at)
    if call is None:
        given = _given(part)
        if given is None:
            reader.note("missing-arguments", at, "toolInvocationSerialized")
        made = make_call(id, tool or "", kind_of(tool or ""), given if given is not None else json_of({}))
    else:
        made = make_call(call.id, call.name, kind_of(call.name), call.arguments)
        if id is not None and id != call.id:
            full["toolCallId"] = id
        if tool is not None and tool != call.name:
            full["toolId"] = tool
    result = _result(reader, part, call, made, full, outputs, cancelled)
    if result is None:
        reader.extra.update({f"{at}/{escape(key)}": value for key, value in full.items()})
        return [made]
    return [made, result]


def kind_of(name: str) -> str:
    """What a tool does."""
    return KINDS.get(model_name(name), "other")


def _given(part: dict[str, Any]) -> Json | str | None:
    """Arguments, where the editor's side kept any of its own."""
    data, details = part.get("toolSpecificData"), part.get("resultDetails")
    if type(data) is dict:
        kind = data.get("kind")
        if kind == "input" and "rawInput" in data:
            return json_of(data["rawInput"])
        if kind == "terminal":
            return _command(data)
        if kind == "simpleToolInvocation" and type(data.get("input")) is str:
            return as_json(data["input"])
        if kind == "subagent":
            return json_of({key: data[key] for key in ("description", "agentName", "prompt") if key in data})
        if kind == "todoList" and "todoList" in data:
            return json_of({"todoList": data["todoList"]})
    if type(details) is dict and type(details.get("input")) is str:
        return as_json(details["input"])
    return as_json(part["parameters"]) if type(part.get("parameters")) is str else None


def _command(data: dict[str, Any]) -> Json | None:
    """What ran in the terminal: as the person changed it, else as the tool did, else as the model wrote it."""
    line = data.get("commandLine")
    lines = [line.get(key) for key in ("userEdited", "toolEdited", "original")] if type(line) is dict else [data.get("command")]
    ran = next((text for text in lines if type(text) is str), None)
    return json_of({"command": ran}) if ran is not None else None


def _result(
    reader: Reader,
    part: dict[str, Any],
    call: Call | None,
    made: ToolCall,
    full: dict[str, Any],
    outputs: dict[str, Any],
    cancelled: bool,
) -> ToolResult | None:
    name = call.id if call is not None and call.id in outputs else made.id
    told = outputs.pop(name) if name is not None and name in outputs else None
    content: tuple[Part, ...] | None = read_output(reader, name, told) if name is not None and told is not None else None
    shown = content is None
    if content is None:
        content = shown_output(part)
    code, duration = _exit(part)
    details = part.get("resultDetails")
    error = details.get("isError") if type(details) is dict else None
    confirmed = part.get("isConfirmed")
    status = (
        CONFIRMATIONS.get(confirmed.get("type")) if type(confirmed) is dict and type(confirmed.get("type")) is int else None
    )
    if status is None and part.get("isConfirmed") is False and type(confirmed) is bool and shown and not content:
        status = "denied"
    if status is None and shown and not content and code is None:
        if cancelled:
            status = "cancelled"
        elif part.get("isComplete") is False or (part.get("pastTenseMessage") is None and call is None):
            return None
    return make_result(made.id, content, error if type(error) is bool else None, code, duration, status, False, json_of(full))


def _exit(part: dict[str, Any]) -> tuple[int | None, float | None]:
    """Exit code and seconds of a command."""
    data = part.get("toolSpecificData")
    state = data.get("terminalCommandState") if type(data) is dict else None
    if type(state) is not dict:
        return None, None
    code, took = state.get("exitCode"), state.get("duration")
    return code if type(code) is int else None, took / 1000 if type(took) is int or type(took) is float else None


def with_hidden(reader: Reader, blocks: list[Block], calls: list[Call], outputs: dict[str, Any]) -> list[Block]:
    """The blocks with the calls that only the rounds have: behind the call before, or behind what their round said."""
    if all(call.slot is not None for call in calls):
        return blocks
    ids = {block.id: i for i, block in reversed(list(enumerate(blocks))) if isinstance(block, ToolCall)}
    texts: dict[str, list[int]] = {}
    for i, block in enumerate(blocks):
        if isinstance(block, Text):
            texts.setdefault(block.text.strip(), []).append(i)
    more: dict[int, list[Block]] = {}
    behind = 0
    for call in calls:
        if call.slot is not None:
            behind = max(behind, _end_of(blocks, ids[call.id])) if call.id in ids else behind
            continue
        places = texts.get(call.said.strip(), ())
        behind = next((place + 1 for place in places[bisect_left(places, behind) :]), behind)
        more.setdefault(behind, []).extend(_hidden_call(reader, call, outputs))
    filled: list[Block] = []
    for i in range(len(blocks) + 1):
        filled.extend(more.get(i, ()))
        filled.extend(blocks[i : i + 1])
    return filled


def _hidden_call(reader: Reader, call: Call, outputs: dict[str, Any]) -> list[Block]:
    blocks: list[Block] = [make_call(call.id, call.name, kind_of(call.name), call.arguments)]
    if call.id is not None and call.id in outputs:
        blocks.append(make_result(call.id, read_output(reader, call.id, outputs.pop(call.id)) or ()))
    return blocks


def _end_of(blocks: list[Block], at: int) -> int:
    return at + 2 if at + 1 < len(blocks) and isinstance(blocks[at + 1], ToolResult) else at + 1
