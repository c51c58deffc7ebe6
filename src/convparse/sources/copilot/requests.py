"""A request of a session, to records: what was asked; ``answers`` and ``endings`` read the rest of it.

What comes in: a request object and its reader. What goes out: a message of the person or of whoever made the request, one of
the model, and an event for its end; one more for an error. Undone requests have the state ``undone``, and where only the answer
behind a mark is undone, that is a message of its own. Token counts stand on the model's message. Nothing here looks at another
request.
"""

from collections.abc import Iterator
from typing import Any, Final

from convparse.blocks import Block, Injected, Text
from convparse.records import Context
from convparse.sources._reading import json_of, make_text, open_event, open_message
from convparse.sources.copilot.answers import Told, read_answers, read_model
from convparse.sources.copilot.attachments import read_variables
from convparse.sources.copilot.endings import ENDED, read_end
from convparse.sources.copilot.fields import AGENT, MESSAGE, MESSAGE_PART, MODE, REQUEST, VARIABLES
from convparse.sources.copilot.state import Home, Reader, State, add_extra, strings
from convparse.times import epoch_ms

Request = dict[str, Any]
_MACHINE: Final = ("isSystemInitiated", "hiddenFromTranscript", "requestHiddenFromTranscript")
_ASKED: Final = frozenset(
    "requestId agent modeInfo shouldBeRemovedOnSend isHidden slashCommand requestSource origin systemInitiatedLabel"
    " terminalExecutionId modelConfiguration attempt locationData id workingSet message variableData timestamp confirmation"
    " isSystemInitiated hiddenFromTranscript requestHiddenFromTranscript".split()
)
"""Fields that say something of the question; all others say it of the answer."""
_SPENT: Final = ("promptTokens", "completionTokens", "copilotCredits", "timeSpentWaiting", "responseTimestamp", "responseId")
_TRUNCATED: Final = ": value truncated for persistence"


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
    key = _key(state, id, session)
    context = _context(reader, value, place)
    undone, stop = _undone(reader, value)
    asked = _asked(reader, value, key, id, context)
    answers = list(read_answers(reader, value, key, id, context, told, stop))
    if not answers:
        _keep_unanswered(reader, value, asked)
    reader.extra = {}
    told.entries = [asked, *answers, *read_end(reader, value, key, answers)]
    find_truncations(reader, value)
    if undone:
        for entry in told.entries if stop is None else answers[1:]:
            entry.state = "undone"
    return told


def _keep_unanswered(reader: Reader, value: Request, asked: Any) -> None:
    """What stands in a request that has no answer goes with the question."""
    asked.model = read_model(reader, value)
    kept = {f"/{name}": value[name] for name in (*_SPENT, *ENDED) if value.get(name) is not None}
    add_extra(asked, {**reader.extra, **kept})


def _unknown(state: State, value: Any, home: Home, session: str | None) -> Any:
    key = state.keys.count(session, "request")
    return open_event(key, "unknown", "request", None, json_of(value), origin=home.origin())


def _key(state: State, id: str | None, session: str | None) -> str:
    if id is None:
        return state.keys.count(session, "request")
    return state.keys.of(id)


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


def find_truncations(reader: Reader, value: dict[str, Any]) -> None:
    """Name the marks that the editor put in place of texts too long for it."""
    for text, at in strings(value):
        if text.startswith("[") and _TRUNCATED in text[:120]:
            reader.note("copilot/truncated-value", at)
