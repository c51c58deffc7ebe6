"""``composerData``, the head of a conversation, and what else is said about it; to drafts.

The head becomes an event that holds what no bubble says: mode, model, files, todos, the list of bubbles. Bubbles inside it
(until 0.46, and in the copies of sub-agents) are messages, with their pointer. What is typed and was not sent is ``pending``.
"""

from typing import Any

from convparse._json import decode_shallow
from convparse.ledger import Place, escape
from convparse.sources._reading import Extra, json_of, keep, make_text, open_event, open_message
from convparse.sources.cursor.bubbles import hollow, read_bubble
from convparse.sources.cursor.fields import COMPOSER
from convparse.sources.cursor.richtext import plain_text
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.times import recorded

Composer = dict[str, Any]


def read_composer(state: State, value: Composer, place: Place, group: str, at: str = "") -> list[Draft]:
    """The head's draft, then those of what stands inside it."""
    extra: Extra = {}
    shape = state.look(COMPOSER)(value, place)
    keep(extra, shape, value, at)
    if hollow(value.get("context")):
        extra.pop(f"{at}/context", None)
    own = value.get("composerId")
    if own is not None and own != group:
        extra[f"{at}/composerId"] = own
        state.ledger.part("cursor/key-id-mismatch", place, "/composerId", record="composerData", pointer=f"{at}/composerId")
    name = state.typed(value.get("name"), str, extra, place, "composerData", f"{at}/name", "/name")
    made, changed = (_time(state, value, key, place, at, extra) for key in ("createdAt", "lastUpdatedAt"))
    inline = _inline(state, value, place, group, at, extra)
    waiting = _waiting(state, value, place, group, at, extra)
    facts = {
        "value": {key: item for key, item in value.items() if key != "conversation"},
        "name": name or None,
        "made": made[0],
        "changed": changed[0],
        "at": at,
        "inline": any(draft.name == "bubble" for draft in inline),
    }
    data = {pointer.removeprefix(f"{at}/"): item for pointer, item in extra.items()}
    head = open_event(
        state.keys.count(group, "composerData"),
        "session",
        "composerData",
        name,
        json_of(data) if data else None,
        group,
        *made,
        origin=state.origin(place, at),
    )
    return [Draft(head, "head", place, group, None, facts), *inline, *_summary(state, value, place, group, at), *waiting]


def _time(state: State, value: Composer, key: str, place: Place, at: str, extra: Extra) -> Any:
    when = recorded(value.get(key))
    if key == "lastUpdatedAt" or (when[0] is None and when[2] is not None):
        if value.get(key) is not None:
            extra[f"{at}/{key}"] = value[key]
        if when[0] is None and when[2] is not None:
            state.ledger.part("bad-timestamp", place, f"/{key}", record="composerData", pointer=f"{at}/{key}")
    return when


def _inline(state: State, value: Composer, place: Place, group: str, at: str, extra: Extra) -> list[Draft]:
    """Bubbles inside the head, in their order."""
    found: list[Draft] = []
    conversation = value.get("conversation")
    if conversation is not None and type(conversation) is not list:
        state.typed(conversation, list, extra, place, "composerData", f"{at}/conversation", "/conversation")
    for number, bubble in enumerate(conversation if type(conversation) is list else ()):
        here = f"{at}/conversation/{number}"
        if type(bubble) is dict:
            found.append(read_bubble(state, bubble, place, group, None, here))
        else:
            found.append(odd_value(state, bubble, place, group, "bubble", here))
    mapped = value.get("conversationMap")
    for id, item in mapped.items() if type(mapped) is dict else ():
        bubble = _loads(item)
        if type(bubble) is dict:
            here = f"{at}/conversationMap/{escape(id)}{'/»' if type(item) is str else ''}"
            found.append(read_bubble(state, bubble, place, group, id, here))
            found[-1].name = "mapped-bubble"
    return found


def _loads(item: Any) -> Any:
    if type(item) is not str:
        return item
    try:
        return decode_shallow(item)
    except ValueError:
        return None


def _summary(state: State, value: Composer, place: Place, group: str, at: str) -> list[Draft]:
    """The text that stands for what a compaction took away; it is a text, an object, or JSON in a text."""
    raw = value.get("latestConversationSummary")
    told = _loads(raw) if type(raw) is str and raw.startswith("{") else raw
    inner = told.get("summary") if type(told) is dict else told
    facts = {"after": next((told[k] for k in _LAST if type(told.get(k)) is str), None) if type(told) is dict else None}
    if type(inner) is dict:
        facts["after"] = next((inner[k] for k in _LAST if type(inner.get(k)) is str), facts["after"])
        inner = inner.get("summary")
    if type(inner) is not str or not inner:
        return []
    event = open_event(
        state.keys.count(group, "summary"),
        "compaction-summary",
        "latestConversationSummary",
        inner,
        json_of(raw),
        origin=state.origin(place, f"{at}/latestConversationSummary"),
    )
    return [Draft(event, "summary", place, group, facts["after"])]


_LAST = ("truncationLastBubbleIdInclusive", "lastBubbleId")


def _waiting(state: State, value: Composer, place: Place, group: str, at: str, extra: Extra) -> list[Draft]:
    """What was typed and not sent: the input box, and the queue behind it."""
    found = [_pending(state, value, "draft", place, group, at, extra)]
    queue = value.get("queueItems")
    if type(queue) is not list and queue not in (None, ""):
        state.typed(queue, list, extra, place, "composerData", f"{at}/queueItems", "/queueItems")
    for number, item in enumerate(queue if type(queue) is list else ()):
        here = f"{at}/queueItems/{number}"
        extra[here] = item
        found.append(_pending(state, item, "queued", place, group, here, {}) if type(item) is dict else None)
    return [draft for draft in found if draft is not None]


def _pending(state: State, value: Any, name: str, place: Place, group: str, at: str, extra: Extra) -> Draft | None:
    text, rich = (
        state.typed(value.get(key), str, extra, place, "composerData", f"{at}/{key}", f"/{key}") for key in ("text", "richText")
    )
    if rich:
        extra[f"{at}/richText"] = rich
    said = text or (plain_text(rich) if rich else "")
    if not said:
        return None
    message = open_message(
        state.keys.count(group, name),
        None,
        name,
        "human",
        (make_text(said),),
        state="pending",
        origin=state.origin(place, f"{at}/text" if text else f"{at}/richText"),
    )
    return Draft(message, "pending", place, group)


def odd_value(state: State, value: Any, place: Place, group: str | None, name: str, at: str = "") -> Draft:
    """A value that is not what should stand there, held whole."""
    state.ledger.part("not-an-object", place, "/*" if at else "", record=name, pointer=at)
    event = open_event(
        state.keys.count(group, f"odd-{name}"), "unknown", name, None, json_of(value), origin=state.origin(place, at)
    )
    return Draft(event, "bubble" if at else "odd", place, group)
