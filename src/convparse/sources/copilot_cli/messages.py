"""Events that are messages: prompts, answers, tools and their results, and what a person typed into a refusal.

What comes in: an event. What goes out: a draft with an open message. The arguments of a call stand in the answer that asked for
it; ``tool.execution_start`` says them again, and is a call of its own only where no answer does.
"""

import re
from typing import Any, Final

from convparse.blocks import Answer, Attachment, Block, Image, Injected, Json, Part, Text
from convparse.ledger import escape
from convparse.records import Author, Usage
from convparse.sources._reading import json_of, make_call, make_result, make_text, make_thinking, open_event, open_message
from convparse.sources.copilot.tools import as_json
from convparse.sources.copilot_cli.fields import (
    ASSISTANT,
    ATTACHMENT,
    PERMISSION,
    REASONING,
    SYSTEM,
    TOOL_COMPLETE,
    TOOL_REQUEST,
    TOOL_START,
    TOOL_USER,
    USER,
)
from convparse.sources.copilot_cli.state import Draft, Event

KINDS: Final = {
    **dict.fromkeys("view read_file read_agent read_bash read_powershell list_agents".split(), "read"),
    **dict.fromkeys("edit create apply_patch str_replace_editor write".split(), "edit"),
    **dict.fromkeys("glob grep rg web_search search_code_subagent tool_search".split(), "search"),
    **dict.fromkeys("bash powershell local_shell write_bash stop_bash shell".split(), "execute"),
    **dict.fromkeys("web_fetch fetch_copilot_cli_documentation".split(), "fetch"),
    **dict.fromkeys("update_todo report_intent think exit_plan_mode".split(), "think"),
}
"""Tools by what they do, in the Agent Client Protocol's words; all others are ``other``."""
_TAG: Final = re.compile(r"<([a-z_-]+)")
_EXIT: Final = re.compile(r"<[^<>]*completed with exit code (-?\d{1,9})>\s*$")
_RESUMED: Final = "resumed"


def message(event: Event, role: str, author: Author | None, blocks: list[Block], **facts: Any) -> Draft:
    """The draft of a message; what no field is made from is its ``extra``."""
    entry = open_message(
        event.key,
        event.id,
        role,
        author,
        tuple(blocks),
        event.when,
        event.recorded,
        event.when_text,
        event.parent,
        context=event.state.context,
        origin=event.state.origin(event.place, event.at),
    )
    entry.turn_id = event.turn()
    for name in ("model", "usage", "response_id"):
        setattr(entry, name, facts.pop(name, None))
    entry.extra = json_of(event.extra) if event.extra else None
    return Draft(entry, event.name, event.place, event.group, facts)


# ---- what was asked --------------------------------------------------------------------------------------------------------


def read_user(event: Event) -> Draft:
    """A prompt, or what the product put in the place of one."""
    event.keep(USER, event.data, "/data")
    text, sent = event.string(event.data, "content"), event.string(event.data, "transformedContent")
    source = event.data.get("source")
    own = event.data.get("isAutopilotContinuation") is True or (source is not None and source != "user")
    author: Author = "human"
    if event.group is not None or (type(source) is str and source.startswith("agent-")):
        author = "model"
    elif own:
        author = "harness"
    blocks = _sent(event, text, sent)
    if author == "harness":
        word = source if type(source) is str else "autopilot"
        blocks = [Injected(word, block.text) if isinstance(block, Text) else block for block in blocks]
    blocks += _attachments(event)
    return message(event, "user", author, blocks)


def _sent(event: Event, text: str | None, sent: str | None) -> list[Block]:
    """What was typed, with what was put around it."""
    if sent is None or sent == text:
        return [make_text(text)] if text is not None else []
    if not text:
        return [Injected(_word(sent), sent)] if sent else []
    at = sent.find(text)
    if at < 0:
        event.extra["/data/transformedContent"] = sent
        return [make_text(text)]
    before, after = sent[:at], sent[at + len(text) :]
    blocks: list[Block] = [Injected(_word(before), before)] if before else []
    blocks.append(make_text(text))
    return [*blocks, Injected(_word(after), after)] if after else blocks


def _word(text: str) -> str:
    tag = _TAG.search(text[:200])
    return tag[1] if tag else "transformed"


def _attachments(event: Event) -> list[Block]:
    given = event.data.get("attachments")
    if given is None:
        return []
    if type(given) is not list:
        event.odd(given, "/data/attachments")
        return []
    blocks: list[Block] = []
    for i, item in enumerate(given):
        at = f"/data/attachments/{i}"
        block = _attachment(event, item, at) if type(item) is dict else None
        if block is None:
            event.odd(item, at, "/data/attachments/*")
        else:
            blocks.append(block)
    return blocks


def _attachment(event: Event, item: dict[str, Any], at: str) -> Block | None:
    words = [item.get(key) for key in ("type", "displayName", "path", "filePath", "mimeType", "data", "text", "assetId")]
    if not all(word is None or type(word) is str for word in words):
        return None
    kind, name, path, file, media_type, data, text, asset = words
    event.keep(ATTACHMENT, item, at)
    if path is not None and file is not None and path != file:
        event.extra[f"{at}/filePath"] = file
    if asset is not None:
        event.extra[f"{at}/assetId"] = asset
        told, data = event.state.assets.get(asset, (None, data))
        media_type = media_type if media_type is not None else told
    if data is not None and (media_type or "").startswith("image/"):
        event.extra.update({f"{at}/{key}": item[key] for key in ("type", "displayName", "text") if item.get(key) is not None})
        return Image(media_type, data, path if path is not None else file)
    return Attachment(kind or "file", name, media_type, text, data, path if path is not None else file)


def read_system(event: Event) -> Draft:
    """The system prompt, which some versions write again at every resume."""
    event.keep(SYSTEM, event.data, "/data")
    text, role = event.string(event.data, "content"), event.string(event.data, "role")
    if text is not None and text in event.state.prompts:
        event.state.ledger.unit("copilot-cli/repeated-prompt", event.place, record=event.name)
        return Draft(None, event.name, event.place, event.group)
    if text is not None:
        event.state.prompts.add(text)
    return message(event, role or "system", "harness", [Injected("system-prompt", text)] if text is not None else [])


# ---- what was answered -----------------------------------------------------------------------------------------------------


def read_assistant(event: Event) -> Draft:
    """A model's message: its reasoning, its words, the tools it asks for."""
    data = event.data
    event.keep(ASSISTANT, data, "/data")
    text, thought, opaque, id, call, model = (
        event.string(data, key) for key in ("content", "reasoningText", "reasoningOpaque", "messageId", "apiCallId", "model")
    )
    blocks: list[Block] = []
    if thought or opaque or data.get("encryptedContent") is not None:
        blocks.append(make_thinking(thought or "", opaque, not thought))
    if text:
        blocks.append(make_text(text))
    blocks += _requests(event)
    if call is not None and id is not None:
        event.extra["/data/messageId"] = id
    written = data.get("outputTokens")
    usage = None
    if type(written) is int:
        usage = Usage(output_tokens=written)
    elif written is not None:
        event.odd(written, "/data/outputTokens")
    # Since 1.0.102 the program itself asks what became of a background agent: no model, no API call.
    own = model is None and call is None and not text and thought is None and len(blocks) == 1 and _is_check(data)
    return message(event, "assistant", "harness" if own else "model", blocks, model=model, usage=usage, response_id=call or id)


def read_reasoning(event: Event) -> Draft:
    """Reasoning by itself; where a message has the same, ``resolve`` folds it."""
    event.keep(REASONING, event.data, "/data")
    text = event.string(event.data, "content")
    return message(event, "assistant", "model", [make_thinking(text, None, not text)] if text is not None else [])


def _is_check(data: dict[str, Any]) -> bool:
    requests = data.get("toolRequests")
    first = requests[0] if type(requests) is list and requests else None
    return type(first) is dict and first.get("name") == "read_agent"


def _requests(event: Event) -> list[Block]:
    given = event.data.get("toolRequests")
    if given is None:
        return []
    if type(given) is not list:
        event.odd(given, "/data/toolRequests")
        return []
    blocks: list[Block] = []
    for i, item in enumerate(given):
        at = f"/data/toolRequests/{i}"
        id, name = (item.get(key) for key in ("toolCallId", "name")) if type(item) is dict else (0, 0)
        if type(name) is not str or (id is not None and type(id) is not str):
            event.odd(item, at, "/data/toolRequests/*")
            continue
        event.keep(TOOL_REQUEST, item, at)
        arguments = _arguments(item)
        if id is not None:
            event.state.calls[id] = (name, arguments)
        blocks.append(make_call(id, name, KINDS.get(name, "other"), arguments))
    return blocks


def _arguments(item: dict[str, Any]) -> Json | str:
    given = item.get("arguments")
    return as_json(given) if type(given) is str else json_of(given if "arguments" in item else {})


# ---- tools -----------------------------------------------------------------------------------------------------------------


def read_tool_start(event: Event) -> Draft:
    """A tool begins: an event where the answer has the call, else the call itself."""
    data = event.data
    event.keep(TOOL_START, data, "/data")
    id, name = event.string(data, "toolCallId"), event.string(data, "toolName")
    arguments = _arguments(data)
    asked = event.state.calls.get(id) if id is not None else None
    if asked is None:
        if id is not None:
            event.state.calls[id] = (name or "", arguments)
        call = make_call(id, name or "", KINDS.get(name or "", "other"), arguments)
        return message(event, "assistant", "model", [call])
    turn = event.turn()
    kept = {pointer.removeprefix("/data/"): item for pointer, item in event.extra.items()}
    kept["toolCallId"] = id
    if name is not None and name != asked[0]:
        kept["toolName"] = name
    if not _same(arguments, asked[1]) and "arguments" in data:
        kept["arguments"] = data["arguments"]
    if turn is not None:
        kept.setdefault("interactionId", turn)
    entry = open_event(
        event.key,
        "tool-start",
        event.name,
        None,
        json_of(kept),
        event.id,
        event.when,
        event.recorded,
        event.when_text,
        event.parent,
        event.state.context,
        origin=event.state.origin(event.place, event.at),
    )
    return Draft(entry, event.name, event.place, event.group)


def _same(one: Json | str, other: Json | str) -> bool:
    if isinstance(one, Json) and isinstance(other, Json):
        return one.text == other.text or one.value == other.value
    return one == other


def read_tool_user(event: Event) -> Draft:
    """A command that the person ran (``!cmd``)."""
    event.keep(TOOL_USER, event.data, "/data")
    id, name = event.string(event.data, "toolCallId"), event.string(event.data, "toolName")
    arguments = _arguments(event.data)
    if id is not None:
        event.state.calls[id] = (name or "", arguments)
    call = make_call(id, name or "", KINDS.get(name or "", "execute"), arguments)
    return message(event, "tool.user_requested", "human", [call])


def read_tool_complete(event: Event) -> Draft:
    """What came of a tool."""
    data = event.data
    event.keep(TOOL_COMPLETE, data, "/data")
    id, success = event.string(data, "toolCallId"), data.get("success")
    if success is not None and type(success) is not bool:
        event.odd(success, "/data/success")
    result, error = data.get("result"), data.get("error")
    content, full = _content(result)
    code = word = None
    if error is not None:
        text, word = (error.get("message"), error.get("code")) if type(error) is dict else (error, None)
        if not content and type(text) is str:
            content = [make_text(text)]
            error = {key: item for key, item in error.items() if key != "message"} if type(error) is dict else None
        if error and "error" not in full:
            full["error"] = error
        elif error:
            event.extra["/data/error"] = error
    shell = data.get("shellExecution")
    code = shell.get("exitCode") if type(shell) is dict else None
    if type(code) is not int:
        last = content[-1] if content else None
        trailer = _EXIT.search(last.text[-200:]) if isinstance(last, Text) else None
        code = int(trailer[1]) if trailer else None
    status = "interrupted" if data.get("model") == _RESUMED else word if type(word) is str else None
    for key in ("shellExecution", "fileEdits", "toolTelemetry"):
        if f"/data/{key}" in event.extra and key not in full:
            full[key] = event.extra.pop(f"/data/{key}")
    failed = None if type(success) is not bool else not success
    made = make_result(id, tuple(content), failed, code, None, status, False, json_of(full) if full else None)
    return message(event, "tool", "tool", [made])


def _content(result: Any) -> tuple[list[Part], dict[str, Any]]:
    """What the model saw, and the rest of a result."""
    if result is None:
        return [], {}
    if type(result) is not dict:
        return ([make_text(result)], {}) if type(result) is str else ([], {"result": result})
    rest = dict(result)
    parts: list[Part] = []
    if type(result.get("content")) is str:
        parts.append(make_text(rest.pop("content")))
    binary = result.get("binaryResultsForLlm")
    if type(binary) is list and all(type(b) is dict and _is_picture(b) for b in binary):
        parts.extend(Image(b["mimeType"], b["data"]) for b in binary)
        rest["binaryResultsForLlm"] = [{k: v for k, v in b.items() if k not in ("mimeType", "data")} for b in binary]
    return parts, rest


def _is_picture(item: dict[str, Any]) -> bool:
    return type(item.get("data")) is str and str(item.get("mimeType")).startswith("image/")


def read_permission(event: Event) -> Draft | None:
    """What a person typed into a refusal stands here and nowhere else (1.0.102); None for any other decision."""
    result = event.data.get("result")
    text = result.get("feedback") if type(result) is dict else None
    if type(result) is not dict or type(text) is not str or not text:
        return None
    event.keep(PERMISSION, event.data, "/data")
    id = event.string(event.data, "toolCallId")
    event.extra.update({f"/data/result/{escape(key)}": item for key, item in result.items() if key != "feedback"})
    if id is not None:
        event.extra["/data/toolCallId"] = id
    return message(event, event.name, "human", [Answer("", text)])


def read_abort(event: Event) -> Draft:
    """A turn was stopped."""
    reason = event.string(event.data, "reason")
    event.extra.update({f"/data/{escape(key)}": item for key, item in event.data.items() if key != "reason"})
    return message(event, "abort", "harness", [Injected("interrupted", reason or "")])
