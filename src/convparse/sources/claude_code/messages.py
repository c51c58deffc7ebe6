"""Rows that are messages: ``user``, ``assistant``, and prompts taken up in the middle of a turn."""

from collections.abc import Iterator
from typing import Any

import attrs

from convparse.blocks import Answer, Block, Text, ToolResult
from convparse.ledger import Place, escape
from convparse.records import Author
from convparse.sources._reading import STRING, Extra, json_of, keep, make_origin, make_text, odd, open_event, open_message
from convparse.sources.claude_code import tags
from convparse.sources.claude_code.authors import split_blocks, who
from convparse.sources.claude_code.content import PLAIN, judge_block, read_block, read_result
from convparse.sources.claude_code.envelope import Row, read_envelope
from convparse.sources.claude_code.events import chain_event, unknown_row
from convparse.sources.claude_code.fields import ASSISTANT_MESSAGE, ATTACHMENT, MARKS, USER_MESSAGE
from convparse.sources.claude_code.state import Draft, State
from convparse.sources.claude_code.usage import read_usage

_MESSAGE = ASSISTANT_MESSAGE.typed.union(ASSISTANT_MESSAGE.kept)


def read_assistant(row: Row, place: Place, state: State) -> Draft:
    """A block of a model's response, or all of it (0.2.126)."""
    extra: Extra = {}
    shape = state.assistant(row, place)
    picked = shape.pick((*row.values(), None))
    message, requested, turn_effort, request = picked[13:17]
    if type(message) is not dict:
        return unknown_row(row, place, state, "assistant")
    if shape.kept:
        keep(extra, shape, row, "")
    get = message.get
    id, role, model, stop, raw = get("id"), get("role"), get("model"), get("stop_reason"), get("usage")
    if not (
        _MESSAGE.issuperset(message)
        and get("type") == "message"
        and get("stop_sequence") is get("stop_details") is get("container") is None
        and get("context_management") is get("diagnostics") is None
    ):
        keep(extra, state.look(ASSISTANT_MESSAGE)(message, place), message, "/message")
    if not (id.__class__ in STRING and model.__class__ in STRING and stop.__class__ in STRING and type(role) is str):
        id, model, stop, role = (
            _string(message, name, "assistant", place, state, extra) for name in ("id", "model", "stop_reason", "role")
        )
    if requested is not None and requested != model:
        extra["/requestedModel"] = requested
    if turn_effort is not None and turn_effort != picked[12]:
        extra["/perTurnEffort"] = turn_effort
    key, uuid, parent, when, when_origin, when_text, context, group, side = read_envelope(
        picked, "assistant", place, state, extra
    )
    entry = open_message(
        key,
        uuid,
        role or "assistant",
        "harness" if model == "<synthetic>" else "model",
        _blocks(get("content"), "assistant", place, state, extra),
        when,
        when_origin,
        when_text,
        parent,
        id or (request if type(request) is str else None),
        state.turns.get(group),
        model,
        read_usage(raw, place, state, extra) if raw is not None else None,
        stop,
        context,
        "active",
        False,
        (),
        make_origin(state.path, *place),
    )
    if shape.marked:
        _put_cost(entry, row["costUSD"], extra)
    facts = None
    if extra:
        facts = _assistant_facts(row, extra)
        entry.extra = json_of(extra)
    return Draft(entry, "assistant", place, group, uuid, parent, side, facts)


def _put_cost(entry: Any, cost: Any, extra: Extra) -> None:
    """What a response cost, as 0.2.126 to 1.0.17 recorded it."""
    if type(cost) in (int, float) and entry.usage is not None:
        entry.usage = attrs.evolve(entry.usage, cost=float(cost), cost_unit="USD")
    else:
        extra["/costUSD"] = cost


def _assistant_facts(row: Row, extra: Extra) -> dict[str, Any] | None:
    names = ("forkedFrom", "supersedesUuids", "requestSessionId")
    facts = {name: row[name] for name in names if row.get(name) is not None}
    usage = [extra[name] for name in ("/message/usage/iterations",) if name in extra]
    if usage:
        facts["iterations"] = usage[0]
    return facts or None


def _string(value: Row, name: str, record: str, place: Place, state: State, extra: Extra) -> Any:
    item = value.get(name)
    if item.__class__ in STRING:
        return item
    odd(state.ledger, extra, place, record, f"/message/{name}", item)
    return None


def _blocks(content: Any, record: str, place: Place, state: State, extra: Extra) -> tuple[Block, ...]:
    if type(content) is list:
        if len(content) == 1:
            return (read_block(state, content[0], record, place, "/message/content/0", extra),)
        at = "/message/content/"
        return tuple([read_block(state, item, record, place, f"{at}{i}", extra) for i, item in enumerate(content)])
    if type(content) is str:
        return (make_text(content),)
    if content is not None:
        odd(state.ledger, extra, place, record, "/message/content", content)
    return ()


def read_user(row: Row, place: Place, state: State) -> Draft:
    """A prompt, a tool's result, a text of the harness, or the summary after a compaction."""
    extra: Extra = {}
    shape = state.user(row, place)
    picked = shape.pick((*row.values(), None))
    message, turn, owner, twin = picked[13:17]
    if type(message) is not dict:
        return unknown_row(row, place, state, "user")
    if shape.kept:
        keep(extra, shape, row, "")
    if not USER_MESSAGE.typed.issuperset(message):
        keep(extra, state.look(USER_MESSAGE)(message, place), message, "/message")
    key, uuid, parent, when, when_origin, when_text, context, group, side = read_envelope(picked, "user", place, state, extra)
    if owner is not None and owner != parent:
        extra["/sourceToolAssistantUUID"] = owner
    if turn is not None:
        turn = _turn(turn, group, place, state, extra)
    role = message.get("role")
    if type(role) is not str:
        role = _string(message, "role", "user", place, state, extra) or "user"
    author, name, blocks = _said(row, picked, shape.marked, side, place, state, extra)
    facts = _user_facts(twin, blocks, extra)
    if turn is None and uuid is not None and key is not uuid:
        facts = {**(facts or {}), "follows": True}  # a row of this id stands before, maybe in another turn
    entry = open_message(
        key,
        uuid,
        role,
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
        make_origin(state.path, *place),
    )
    if extra:
        entry.extra = json_of(extra)
    if name == "summary-row":
        entry = _summary(entry)
    return Draft(entry, name, place, group, uuid, parent, side, facts)


def _said(
    row: Row, picked: tuple[Any, ...], marked: bool, side: bool, place: Place, state: State, extra: Extra
) -> tuple[Author | None, str, tuple[Block, ...]]:
    """Author, name and blocks of a user row; a result has what its twin says of it."""
    content, (twin, denial, summary) = picked[13].get("content"), picked[16:19]
    if summary is not None:
        extra["/isCompactSummary"] = summary
    if marked:
        extra.update({f"/{name}": row[name] for name in MARKS if row.get(name) is not None})
    if (twin is not None or denial is not None) and denial.__class__ in STRING and _is_result(content):
        blocks = _result(content, twin, denial, place, state, extra)
        if not marked:
            return "tool", "user", blocks
    else:
        blocks = _blocks(content, "user", place, state, extra)
        kept = {"/toolUseResult": twin, "/toolDenialKind": denial}
        extra.update({pointer: value for pointer, value in kept.items() if value is not None})
        if summary is True and all(type(block) is Text for block in blocks):
            return "harness", "summary-row", blocks
    author, blocks = who(row, blocks, marked, side or picked[4] is not None)
    return author, "user", blocks


def _turn(turn: Any, group: str | None, place: Place, state: State, extra: Extra) -> str | None:
    """The prompt id of a row, which later rows of its thread belong to."""
    if type(turn) is not str:
        odd(state.ledger, extra, place, "user", "/promptId", turn)
        return None
    state.turns[group] = turn
    return turn


def _summary(message: Any) -> Any:
    """The text that stands for what a compaction took away: an event, for no person wrote it."""
    data = {**message.extra.value, "/message/role": message.role, "/promptId": message.turn_id}
    return open_event(
        message.key,
        "compaction-summary",
        "user",
        "\n".join(block.text for block in message.blocks),
        json_of(data),
        message.id,
        message.timestamp,
        message.timestamp_origin,
        message.timestamp_text,
        message.parent_id,
        message.context,
        origin=message.origin,
    )


def _is_result(content: Any) -> bool:
    """True for the usual content of a row with a result: one block."""
    return type(content) is list and len(content) == 1 and type(content[0]) is dict and content[0].get("type") == "tool_result"


def _result(content: Any, twin: Any, denial: Any, place: Place, state: State, extra: Extra) -> tuple[Block, ...]:
    at, block = "/message/content/0", content[0]
    result = read_result(state, block, place, at, extra, twin, denial)
    if result is None:
        kept = {"/toolUseResult": twin, "/toolDenialKind": denial}
        extra.update({pointer: value for pointer, value in kept.items() if value is not None})
        return (read_block(state, block, "user", place, at, extra),)
    if not PLAIN["tool_result"].issuperset(block):
        judge_block(state, block, "tool_result", place, at, extra)
    answers = twin.get("answers") if type(twin) is dict else None
    return (result, *_answers(answers)) if type(answers) is dict else (result,)


def _answers(answers: Row) -> Iterator[Answer]:
    """What a person answered to ``AskUserQuestion``."""
    for question, answer in answers.items():
        if type(answer) is str:
            yield Answer(question, answer)


def _user_facts(twin: Any, blocks: tuple[Block, ...], extra: Extra) -> dict[str, Any] | None:
    facts: dict[str, Any] = {}
    if type(twin) is dict and type(twin.get("agentId")) is str:
        facts["agentId"] = twin["agentId"]
    for block in blocks:
        if type(block) is ToolResult and block.truncated:
            facts["persisted"] = True
    if "/forkedFrom" in extra:
        facts["forkedFrom"] = extra["/forkedFrom"]
    return facts or None


def read_queued_command(row: Row, place: Place, state: State) -> Draft:
    """A prompt, or a notification, that was taken up in the middle of a turn: here and often nowhere else (since 2.1.97)."""
    attachment = row["attachment"]
    draft = chain_event(row, place, state, ATTACHMENT, "attachment/queued_command", "queue")
    event = draft.entry
    prompt = attachment.get("prompt")
    rest = {key: value for key, value in attachment.items() if key not in ("prompt", "type")}
    extra: Extra = {f"/{escape(key)}": value for key, value in event.data.value.items() if key != "attachment"}
    extra |= {f"/attachment/{escape(key)}": value for key, value in rest.items()}
    blocks: tuple[Block, ...]
    if type(prompt) is str:
        blocks = (make_text(prompt),)
    elif type(prompt) is list:
        at = "/attachment/prompt/"
        blocks = tuple(read_block(state, item, "queued_command", place, f"{at}{i}", extra) for i, item in enumerate(prompt))
    else:
        odd(state.ledger, extra, place, "attachment/queued_command", "/attachment/prompt", prompt)
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
        json_of(extra) if extra else None,
    )
    return draft
