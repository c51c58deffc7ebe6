"""The lines of a log, to drafts, in file order; and messages in the lists that some lines hold.

A line is a message, or it changes what was written before: ``$set`` (facts of the session, or the whole list of messages),
``$rewindTo``, ``$patch``; or it says which session this is, at the beginning and again when a session is taken up in the same
minute (0.61). A message that was written before gives no record of its own where the earlier one says the same; where it says
something else it is a version of its own. Never looked at: any line but what ``State`` remembers of those before.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from convparse.ledger import Ledger, Place
from convparse.records import Event
from convparse.sources._reading import json_of, open_event
from convparse.sources._source import Unit
from convparse.sources.gemini_cli.fields import HEADER, LINE, PATCH, SET, UPDATED, tables
from convparse.sources.gemini_cli.messages import MESSAGES, is_summary, read_unknown, responses
from convparse.sources.gemini_cli.state import TOLD, Draft, Record, Row, State, Version
from convparse.sources.gemini_cli.versions import SAID, compared, covers, differences, same
from convparse.times import iso_time


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a log, in file order."""
    state = State(ledger)
    for value, place in units:
        yield read_line(value, place, state)


def read_line(value: Any, place: Place, state: State) -> Draft:
    """The draft of one line, in the order in which the product asks what it is."""
    if type(value) is not dict:
        return _unknown(value, "line", place, state, "not-an-object")
    if type(value.get("$rewindTo")) is str:
        return _rewind(value, place, state)
    if type(value.get("$patch")) is dict:
        return _patch(value, place, state)
    if is_message(value):
        return read_message(value, place, state)
    if type(value.get("$set")) is dict:
        return _set(value, place, state)
    if type(value.get("sessionId")) is str:
        return read_header(value, place, state)
    return _unknown(value, _name_of(value), place, state, "unknown-record")


def is_message(row: Row) -> bool:
    """True for what the product takes for a message, and for a message without an id."""
    kind = row.get("type")
    return type(row.get("id")) is str or (type(kind) is str and kind in MESSAGES and "content" in row)


def _name_of(row: Row) -> str:
    name = row.get("type")
    return name if type(name) is str else next((key for key in row if key.startswith("$")), "line")


def _unknown(value: Any, name: str, place: Place, state: State, code: str) -> Draft:
    record = Record(value, name, place, state)
    return read_unknown(record, state.keys.count(state.session, name), code)


# ---- messages --------------------------------------------------------------------------------------------------------------


def read_message(row: Row, place: Place, state: State) -> Draft:
    """A message on a line of its own; one that is written again is folded into the first, if it says no less."""
    id = row.get("id")
    if type(id) is not str:
        name = _name_of(row)
        return _made(Record(row, name, place, state), state.keys.count(state.session, name))
    before = state.versions.get(id)
    is_more, is_less = compared(row, before.raw) if before is not None else (False, False)
    if before is not None and is_less:
        state.ledger.part("repeated-record", place, record=_name_of(row))
        return Draft(None, _name_of(row), place, "repeat", before.key, {"origin": state.origin(place)})
    record = Record(row, _name_of(row), place, state)
    if before is None or not is_more:
        return new_message(record, id, before)
    key = state.keys.of(id)
    draft = _made(record, key)
    if _facts(draft) != before.facts:
        return _remember(draft, record, before)
    state.versions[id] = Version(before.key, row, before.facts)
    entry = draft.entry
    if isinstance(entry, Event):
        return Draft(None, draft.name, place, "repeat", before.key, {"origin": entry.origin})
    more = {"blocks": entry.blocks, "usage": entry.usage, "origin": entry.origin}
    return Draft(None, draft.name, place, "extend", before.key, draft.facts | more)


def new_message(record: Record, id: str, before: Version | None = None) -> Draft:
    """A message, or a version of one that says something else."""
    return _remember(_made(record, record.state.keys.of(id)), record, before)


def _made(record: Record, key: str) -> Draft:
    kind = record.row.get("type")
    handler = MESSAGES.get(kind) if type(kind) is str else None
    return read_unknown(record, key) if handler is None else handler(record, key)


def _facts(draft: Draft) -> tuple[Any, ...]:
    """What no later version of a message may change."""
    entry = draft.entry
    own = ("name", "text", "data") if isinstance(entry, Event) else ("role", "model", "extra")
    return (type(entry), draft.step, *(getattr(entry, name) for name in ("timestamp", "timestamp_text", *own)))


def _remember(draft: Draft, record: Record, before: Version | None) -> Draft:
    if before is not None:
        draft.facts["before"] = before.key
    if draft.step != TOLD:
        version = record.state.versions[record.row["id"]] = Version(draft.key, record.row, _facts(draft))
        for call, (part, _) in draft.facts.get("responses", {}).items():
            record.state.responses.setdefault(call, (version, part))
    return draft


# ---- what changes the list -------------------------------------------------------------------------------------------------


def _change(row: Row, name: str, kind: str, place: Place, state: State) -> Draft:
    key = state.keys.count(state.session, name)
    entry = open_event(key, kind, name, None, json_of(row), origin=state.origin(place))
    return Draft(entry, name, place, kind, key)


def _rewind(row: Row, place: Place, state: State) -> Draft:
    """From this message on, all was taken back; if it is not known, everything."""
    Record(row, "$rewindTo", place, state).keep(LINE["$rewindTo"], row)
    draft = _change(row, "$rewindTo", "rewind", place, state)
    known = state.versions.get(row["$rewindTo"])
    draft.facts = {"to": known.key if known is not None else None}
    return draft


def _patch(row: Row, place: Place, state: State) -> Draft:
    """What the model is shown of earlier messages from now on; what they said stands where it was said."""
    record = Record(row, "$patch", place, state)
    record.keep(LINE["$patch"], row)
    record.keep(PATCH, row["$patch"], "/$patch")
    draft = _change(row, "$patch", "patch", place, state)
    removed = row["$patch"].get("removeIds")
    known = [state.versions.get(id) for id in (removed if type(removed) is list else ()) if type(id) is str]
    draft.facts = {"removed": [version.key for version in known if version is not None]}
    return draft


def _set(row: Row, place: Place, state: State) -> Draft:
    """Facts of the session, or the whole list of messages anew."""
    given = row["$set"]
    updated = given.get("lastUpdated")
    when = iso_time(updated)[0] if type(updated) is str else None
    if when is not None and len(row) == len(given) == 1:
        state.ledger.unit("skipped-record", place, record=UPDATED)
        return Draft(None, UPDATED, place, TOLD, "", {"updated": when})
    record = Record(row, "$set", place, state)
    record.keep(LINE["$set"], row)
    return read_facts(record, given, "/$set")


def read_header(row: Row, place: Place, state: State) -> Draft:
    """Which session this is, and what is said of it as a whole."""
    return read_facts(Record(row, "metadata", place, state), row, "")


def read_facts(record: Record, given: Row, at: str) -> Draft:
    """An event of what is said of a session, and inside of it the messages of its list."""
    state = record.state
    record.keep(HEADER if record.name == "metadata" else SET, given, at)
    id, title = (record.string(given, key, at) for key in ("sessionId", "summary"))
    if state.session is None:
        state.session = id
    state.is_agent = state.is_agent or given.get("kind") == "subagent"
    key = state.keys.count(state.session, record.name)
    updated, start = (record.time(given, name, at) for name in ("lastUpdated", "startTime"))
    when, text = start if record.name == "metadata" else updated
    messages = given.get("messages")
    listed: list[Draft] = []
    told: list[Row] = []
    if type(messages) is list:
        for i, item in enumerate(messages):
            listed.append(_listed(item, f"{at}/messages/{i}", f"{at}/messages/*", record, told))
    elif messages is not None:
        record.odd(messages, f"{at}/messages")
    rest = _rest(given, record, when, title, told)
    data = {**{k: v for k, v in record.row.items() if k != "$set"}, "$set": rest} if at else rest
    kind = _kind(record, listed, type(messages) is list, title)
    entry = open_event(key, kind, record.name, title, json_of(data) if data != {"$set": {}} else None, None, when)
    entry.timestamp_origin, entry.timestamp_text = "recorded" if when is not None else None, text
    entry.origin = record.origin()
    facts: dict[str, Any] = {"id": id, "title": title, "start": start[0], "updated": updated[0]}
    if type(messages) is list:
        facts |= {"list": [draft.key for draft in listed], "is_compaction": kind == "compaction"}
    step = "list" if type(messages) is list else TOLD
    return Draft(entry, record.name, record.place, step, key, facts, tuple(listed))


def _kind(record: Record, listed: list[Draft], is_list: bool, title: str | None) -> str:
    if any(is_summary(draft) for draft in listed):
        return "compaction"
    if record.name == "metadata":
        return "session-start"
    return "history" if is_list else "update" if title is None else "title"


def _rest(given: Row, record: Record, when: Any, title: str | None, told: list[Row]) -> Row:
    """What is said beside what the event's own fields hold; of the list what stands nowhere else."""
    rest = {key: item for key, item in given.items() if key != "summary" or title is None}
    if when is not None:
        rest.pop("startTime" if record.name == "metadata" else "lastUpdated")
    if type(given.get("messages")) is list:
        rest["messages"] = told
        if record.name == "metadata" and not any(len(item) > 1 for item in told):
            del rest["messages"]  # all of them are new
    return rest


def _listed(item: Any, at: str, pattern: str, outer: Record, told: list[Row]) -> Draft:
    """A message of a list: a new one, a version, or one that is known; of that one ``told`` gets what differs."""
    state = outer.state
    name = _name_of(item) if type(item) is dict else "line"
    record = Record(item, name, outer.place, state, at, pattern)
    id = item.get("id") if type(item) is dict else None
    if type(id) is not str:
        told.append({})
        key = state.keys.count(state.session, name)
        is_row = type(item) is dict
        draft = _made(record, key) if is_row else read_unknown(record, key, "not-an-object")
        draft.step = "listed" if draft.step == "say" else draft.step
        return draft
    before = state.versions.get(id) or _twin(item, state)
    if before is not None and covers(before.raw, item, SAID, signed=False):
        told.append({"id": id, **differences(item, before.raw)})
        state.versions.setdefault(id, before)
        known = tables(name, pattern)
        state.ledger.look(known.answer if name == "gemini" else known.message, item, outer.place)
        return Draft(None, name, outer.place, "repeat", before.key, {"origin": record.origin()})
    told.append({"id": id})
    draft = new_message(record, id, before)
    draft.step = "listed" if draft.step == "say" else draft.step
    return draft


def _twin(item: Row, state: State) -> Version | None:
    """The message with the same results of tools: after a resume they stand in the list once more, under new ids (0.61)."""
    content = item.get("content")
    parts = responses(content)
    if not parts or type(content) is not list or len(parts) != len(content):
        return None
    found = [state.responses.get(id) for id in parts]
    told = [twin for twin, (part, _) in zip(found, parts.values(), strict=True) if twin is not None and same(twin[1], part)]
    first = told[0][0] if len(told) == len(found) else None
    if first is None or state.versions.get(first.raw["id"]) is not first or any(version is not first for version, _ in told):
        return None
    return first
