"""Rows that are messages: ``user``, ``assistant``, and prompts taken up in the middle of a turn."""

from typing import Any

from convparse._json import encode
from convparse.blocks import Block, Text, ToolResult
from convparse.ledger import Place
from convparse.sources.claude_code import tags
from convparse.sources.claude_code.authors import split_blocks, who
from convparse.sources.claude_code.content import keep, make_json, make_text, odd, read_block
from convparse.sources.claude_code.envelope import Row, is_tidy, read_context, read_group, read_key, read_time, tidied
from convparse.sources.claude_code.events import chain_event, unknown_row
from convparse.sources.claude_code.fields import ASSISTANT, ASSISTANT_MESSAGE, ATTACHMENT, USER, USER_MESSAGE
from convparse.sources.claude_code.state import STRING, Draft, Extra, State, open_event, open_message
from convparse.sources.claude_code.twins import put_twin
from convparse.sources.claude_code.usage import read_usage


def read_assistant(row: Row, place: Place, state: State) -> Draft:
    """A block of a model's response, or all of it (0.2.126)."""
    message = row.get("message")
    if type(message) is not dict:
        return unknown_row(row, place, state, "assistant")
    extra: Extra = {}
    if not is_tidy(row):
        row = tidied(row, "assistant", place, state, extra)
    shape = state.ledger.look(ASSISTANT, row, place)
    if shape.kept:
        keep(extra, shape, row, "")
    shape = state.ledger.look(ASSISTANT_MESSAGE, message, place)
    keep(extra, shape, message, "/message")
    id, model, stop, role = message.get("id"), message.get("model"), message.get("stop_reason"), message.get("role")
    if not (id.__class__ in STRING and model.__class__ in STRING and stop.__class__ in STRING and type(role) is str):
        id, model, stop, role = (
            _string(message, name, "assistant", place, state, extra) for name in ("id", "model", "stop_reason", "role")
        )
    requested, effort = row.get("requestedModel"), row.get("perTurnEffort")
    if requested is not None and requested != model:
        extra["/requestedModel"] = requested
    if effort is not None and effort != row.get("effort"):
        extra["/perTurnEffort"] = effort
    usage = read_usage(message["usage"], place, state, extra) if message.get("usage") is not None else None
    group, side = read_group(row, extra)
    uuid, parent = row.get("uuid"), row.get("parentUuid")
    when, when_origin, when_text = read_time(row, "assistant", place, state)
    context = read_context(row, "assistant", place, state, extra)
    entry = open_message(
        read_key(row, group, state, "assistant"),
        uuid,
        role or "assistant",
        "harness" if model == "<synthetic>" else "model",
        _blocks(message.get("content"), "assistant", place, state, extra),
        when,
        when_origin,
        when_text,
        parent,
        id or _request(row),
        state.turns.get(group),
        model,
        usage,
        stop,
        context,
        "active",
        False,
        (),
        state.origin(place),
    )
    facts = _assistant_facts(row, extra) if extra else None
    if extra:
        entry.extra = make_json(encode(extra))
    return Draft(entry, "assistant", place, group, uuid, parent, side, facts)


def _assistant_facts(row: Row, extra: Extra) -> dict[str, Any] | None:
    names = ("forkedFrom", "supersedesUuids", "requestSessionId")
    facts = {name: row[name] for name in names if row.get(name) is not None}
    usage = [extra[name] for name in ("/message/usage/iterations",) if name in extra]
    if usage:
        facts["iterations"] = usage[0]
    return facts or None


def _request(row: Row) -> str | None:
    request = row.get("requestId")
    return request if type(request) is str else None


def _string(value: Row, name: str, record: str, place: Place, state: State, extra: Extra) -> Any:
    item = value.get(name)
    if item.__class__ in STRING:
        return item
    odd(state, extra, place, record, f"/message/{name}", f"/message/{name}", item)
    return None


def _blocks(content: Any, record: str, place: Place, state: State, extra: Extra) -> tuple[Block, ...]:
    if type(content) is list:
        at = "/message/content/"
        return tuple([read_block(state, item, record, place, f"{at}{i}", extra) for i, item in enumerate(content)])
    if type(content) is str:
        return (make_text(content),)
    if content is not None:
        odd(state, extra, place, record, "/message/content", "/message/content", content)
    return ()


def read_user(row: Row, place: Place, state: State) -> Draft:
    """A prompt, a tool's result, a text of the harness, or the summary after a compaction."""
    message = row.get("message")
    if type(message) is not dict:
        return unknown_row(row, place, state, "user")
    extra: Extra = {}
    if not is_tidy(row):
        row = tidied(row, "user", place, state, extra)
    shape = state.ledger.look(USER, row, place)
    if shape.kept:
        keep(extra, shape, row, "")
    shape = state.ledger.look(USER_MESSAGE, message, place)
    if shape.kept:
        keep(extra, shape, message, "/message")
    group, side = read_group(row, extra)
    uuid, parent = row.get("uuid"), row.get("parentUuid")
    if row.get("sourceToolAssistantUUID") not in (None, parent):
        extra["/sourceToolAssistantUUID"] = row["sourceToolAssistantUUID"]
    turn = row.get("promptId")
    if turn is not None:
        state.turns[group] = turn
    role = _string(message, "role", "user", place, state, extra)
    blocks = _blocks(message.get("content"), "user", place, state, extra)
    when, when_origin, when_text = read_time(row, "user", place, state)
    context = read_context(row, "user", place, state, extra)
    facts = _user_facts(row, blocks)
    if row.get("isCompactSummary") is True and not any(type(block) is ToolResult for block in blocks):
        text = "\n".join(block.text for block in blocks if type(block) is Text)
        rest = [block for block in blocks if type(block) is not Text]
        data = {"message": message} if rest else {"message": {"role": role}}
        entry: Any = open_event(
            read_key(row, group, state, "user"),
            "compaction-summary",
            "user",
            text,
            make_json(encode({**data, "promptId": turn, **extra})),
            uuid,
            when,
            when_origin,
            when_text,
            parent,
            context,
            origin=state.origin(place),
        )
        return Draft(entry, "summary-row", place, group, uuid, parent, side, facts)
    author, blocks = who(row, blocks, side or row.get("agentId") is not None, extra)
    blocks = put_twin(row, blocks, extra)
    entry = open_message(
        read_key(row, group, state, "user"),
        uuid,
        role or "user",
        author,
        blocks,
        when,
        when_origin,
        when_text,
        parent,
        None,
        turn if turn is not None else state.turns.get(group),
        None,
        None,
        None,
        context,
        "active",
        False,
        (),
        state.origin(place),
    )
    if extra:
        entry.extra = make_json(encode(extra))
    return Draft(entry, "user", place, group, uuid, parent, side, facts)


def _user_facts(row: Row, blocks: tuple[Block, ...]) -> dict[str, Any] | None:
    facts = {name: row[name] for name in ("forkedFrom",) if row.get(name) is not None}
    result = row.get("toolUseResult")
    if type(result) is dict and type(result.get("agentId")) is str:
        facts["agentId"] = result["agentId"]
    return facts or None


def read_queued_command(row: Row, place: Place, state: State) -> Draft:
    """A prompt, or a notification, that was taken up in the middle of a turn: here and often nowhere else (since 2.1.97)."""
    attachment = row["attachment"]
    draft = chain_event(row, place, state, ATTACHMENT, "attachment/queued_command", "queue")
    event = draft.entry
    prompt = attachment.get("prompt")
    rest = {key: value for key, value in attachment.items() if key not in ("prompt", "type")}
    extra: Extra = {f"/{key}": value for key, value in event.data.value.items() if key != "attachment"}
    extra |= {f"/attachment/{key}": value for key, value in rest.items()}
    blocks: tuple[Block, ...]
    if type(prompt) is str:
        blocks = (make_text(prompt),)
    elif type(prompt) is list:
        at = "/attachment/prompt/"
        blocks = tuple(read_block(state, item, "queued_command", place, f"{at}{i}", extra) for i, item in enumerate(prompt))
    else:
        odd(state, extra, place, "attachment/queued_command", "/attachment/prompt", "/attachment/prompt", prompt)
        blocks = ()
    origin = attachment.get("origin")
    kind = origin.get("kind") if type(origin) is dict else None
    mode = attachment.get("commandMode")
    human = attachment.get("isMeta") is not True and kind in (None, "human") and mode in (None, "prompt", "bash")
    if human:
        blocks = split_blocks(blocks, typed=True)
    else:
        word = kind if type(kind) is str else mode if type(mode) is str else "meta"
        blocks = tuple(tags.injected(block.text, word) if type(block) is Text else block for block in blocks)
    draft.entry = open_message(
        event.key,
        event.id,
        "queued_command",
        ("model" if row.get("agentId") is not None else "human") if human else "harness",
        blocks,
        event.timestamp,
        event.timestamp_origin,
        event.timestamp_text,
        event.parent_id,
        None,
        state.turns.get(draft.group),
        None,
        None,
        None,
        event.context,
        "active",
        False,
        (),
        event.origin,
        make_json(encode(extra)) if extra else None,
    )
    return draft
