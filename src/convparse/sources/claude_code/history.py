"""``history.jsonl``: the prompts a person typed, over all projects. They belong to no conversation and come back as ``loose``.

A line is ``{display, pastedContents, timestamp, project, sessionId?}``; the time is in whole milliseconds since 1970.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convparse.blocks import Attachment, Block, Text, Unknown
from convparse.ledger import ALWAYS, Fields, Ledger, Place, escape
from convparse.records import Context, Entry, Message
from convparse.sources._reading import STRING, Extra, json_of, keep, odd
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.claude_code.state import Draft, State
from convparse.times import epoch_ms

PROMPT: Final = Fields(
    "prompt", typed=frozenset({"display", "pastedContents", "project", "timestamp"}), kept={"sessionId": ALWAYS}
)
PASTE: Final = Fields(
    "prompt", "/pastedContents/*", typed=frozenset({"content", "mediaType", "type"}), kept={"id": ALWAYS, "contentHash": ALWAYS}
)


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """One draft a prompt."""
    state = State(ledger)
    for value, place in units:
        yield Draft(_message(value, place, state), "prompt", place, None)


def _message(value: Any, place: Place, state: State) -> Message:
    key = state.keys.count(None, "prompt")
    if type(value) is not dict or type(value.get("display")) is not str:
        state.ledger.part("unknown-record" if type(value) is dict else "not-an-object", place, record="prompt")
        return Message(key, None, "prompt", None, (Unknown("prompt", json_of(value)),), origin=state.origin(place))
    extra: Extra = {}
    keep(extra, state.ledger.look(PROMPT, value, place), value, "")
    blocks: list[Block] = [Text(value["display"]), *_pastes(value.get("pastedContents"), place, state, extra)]
    when, text = None, None
    if type(value.get("timestamp")) is int:
        when, text = epoch_ms(value["timestamp"])
        if when is None:
            state.ledger.part("bad-timestamp", place, "/timestamp", record="prompt")
    elif value.get("timestamp") is not None:
        odd(state.ledger, extra, place, "prompt", "/timestamp", value["timestamp"])
    project = value.get("project")
    if project is not None and type(project) is not str:
        odd(state.ledger, extra, place, "prompt", "/project", project)
    return Message(
        key,
        None,
        "prompt",
        "human",
        tuple(blocks),
        when,
        "recorded" if when is not None else None,
        text,
        context=Context(project) if type(project) is str else None,
        origin=state.origin(place),
        extra=json_of(extra) if extra else None,
    )


def _pastes(pasted: Any, place: Place, state: State, extra: Extra) -> Iterator[Attachment]:
    if type(pasted) is not dict:
        if pasted is not None:
            odd(state.ledger, extra, place, "prompt", "/pastedContents", pasted)
        return
    for name, item in pasted.items():
        at = f"/pastedContents/{escape(name)}"
        kind, media_type, content = (item.get(key) if type(item) is dict else None for key in ("type", "mediaType", "content"))
        if type(kind) is not str or media_type.__class__ not in STRING or content.__class__ not in STRING:
            odd(state.ledger, extra, place, "prompt", at, item, "/pastedContents/*")
            continue
        keep(extra, state.ledger.look(PASTE, item, place), item, at)
        is_text = kind == "text"
        if content is None:
            state.ledger.part("missing-output", place, "/pastedContents/*", record="prompt", pointer=at)
        yield Attachment(f"pasted-{kind}", name, media_type, content if is_text else None, None if is_text else content)


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """Loose prompts, in file order."""
    loose: list[Entry] = [draft.entry for part in parts for draft in part.drafts]
    return [], loose
