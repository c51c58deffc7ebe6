"""What every row of the chain has: ids, time, thread and circumstances.

A field of an unexpected type goes to ``extra`` under its pointer and is named; the rest of the row is read all the same.
"""

from typing import Any, Final

from convparse.ledger import Place
from convparse.records import Context
from convparse.sources.claude_code.content import odd
from convparse.sources.claude_code.state import STRING, Extra, State
from convparse.times import iso_time

Row = dict[str, Any]
_FLAG: Final = frozenset({bool, type(None)})
_NAMES: Final = ("uuid", "parentUuid", "timestamp", "sessionId", "agentId", "promptId")
_CONTEXT: Final = ("cwd", "gitBranch", "version", "permissionMode", "entrypoint", "effort")


def tidied(row: Row, record: str, place: Place, state: State, extra: Extra) -> Row:
    """The row without known fields of an unexpected type, which go to ``extra`` and are named."""
    wrong = [name for name in (*_NAMES, *_CONTEXT) if row.get(name).__class__ not in STRING]
    if row.get("isSidechain").__class__ not in _FLAG:
        wrong.append("isSidechain")
    for name in dict.fromkeys(wrong):
        odd(state, extra, place, record, f"/{name}", f"/{name}", row[name])
    return {key: value for key, value in row.items() if key not in wrong}


def is_tidy(row: Row) -> bool:
    """True if the fields that link a row to others have the types they should have."""
    get = row.get
    return (
        get("uuid").__class__ in STRING
        and get("parentUuid").__class__ in STRING
        and get("timestamp").__class__ in STRING
        and get("sessionId").__class__ in STRING
        and get("agentId").__class__ in STRING
        and get("promptId").__class__ in STRING
        and get("isSidechain").__class__ in _FLAG
    )


def read_context(row: Row, record: str, place: Place, state: State, extra: Extra) -> Context | None:
    """The circumstances a row tells; one shared record per change."""
    get = row.get
    facts = (get("cwd"), get("gitBranch"), get("version"), get("permissionMode"), get("entrypoint"), get("effort"))
    try:
        return state.contexts[facts]
    except (KeyError, TypeError):
        pass
    for name, fact in zip(_CONTEXT, facts, strict=True):
        if fact.__class__ not in STRING:
            odd(state, extra, place, record, f"/{name}", f"/{name}", fact)
    cwd, branch, version, mode, entrypoint, effort = (fact if type(fact) is str else None for fact in facts)
    context = Context(cwd, branch, version, mode, None, entrypoint, effort)
    if all(fact.__class__ in STRING for fact in facts):
        state.contexts[facts] = context
    return context if any(fact is not None for fact in facts) else None


def read_time(row: Row, record: str, place: Place, state: State) -> tuple[Any, ...]:
    """``(timestamp, timestamp_origin, timestamp_text)`` of a row."""
    text = row.get("timestamp")
    if text is None:
        return (None, None, None)
    when, text = iso_time(text)
    if when is None:
        state.ledger.part("bad-timestamp", place, "/timestamp", record=record)
        return (None, None, text)
    return (when, "recorded", text)


def read_group(row: Row, extra: Extra) -> tuple[str | None, bool]:
    """The id of the thread a row says it belongs to, and whether it is a side chain inside a main file (up to 2.0.0)."""
    session, agent, side = row.get("sessionId"), row.get("agentId"), row.get("isSidechain")
    other = row.get("session_id")
    if other is not None and other != session:
        extra["/session_id"] = other
    if agent is None:
        return session, side is True
    if side is False:
        extra["/isSidechain"] = side
    return agent, False


def read_key(row: Row, group: str | None, state: State, name: str) -> str:
    """The key of a row: its id, else made from its thread, its name and a count."""
    uuid = row.get("uuid")
    return state.key(uuid) if uuid is not None else state.count(group, name)
