"""What ``ItemTable`` keeps: indexes of conversations, old chat tabs, and in workspaces the prompts and generations of a folder.

Prompts survive the loss of the conversations that they began, and are then all that is left.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from convparse.ledger import Place, escape
from convparse.reading.tables import Record
from convparse.records import Context, Event
from convparse.sources._reading import Extra, json_of, keep, make_text, open_event, open_message
from convparse.sources._source import Session
from convparse.sources.cursor.bubbles import read_tab_bubble
from convparse.sources.cursor.composers import odd_value
from convparse.sources.cursor.editor import is_head, is_tab
from convparse.sources.cursor.fields import CHAT, GENERATIONS, HEADS, PROMPTS, TAB
from convparse.sources.cursor.state import Draft, State
from convparse.sources.cursor.times import NEVER, recorded


def head_event(state: State, value: Any, place: Place, group: str, index: str, at: str, head: Any) -> Draft:
    """What an index says of a conversation; the index may be stale, and the conversation itself decides."""
    told = head if type(head) is dict else {}
    when = recorded(told.get("createdAt"))
    when = when if when[0] is not None else NEVER
    name = told.get("name") if type(told.get("name")) is str else None
    event = open_event(
        state.keys.count(group, index), "index", index, name, json_of(value), group, *when, origin=state.origin(place, at)
    )
    return Draft(event, "index", place, group, None, {"head": told, "index": index})


def _read_heads(record: Record, place: Place, state: State) -> list[Draft]:
    """An index of conversations, without the heads that stand in their conversations."""
    value = record.value
    if type(value) is not dict:
        return [odd_value(state, value, place, None, record.key)]
    listed = value.get("allComposers")
    rest = {key: item for key, item in value.items() if key != "allComposers" or type(listed) is not list}
    if type(listed) is list:
        odd = {str(at): head for at, head in enumerate(listed) if not is_head(head)}
        rest |= {"allComposers": odd} if odd else {}
        for at in odd:
            state.ledger.part("unexpected-type", place, "/allComposers/*", record=record.key, pointer=f"/allComposers/{at}")
    return [_loose(state, "index", record.key, rest, place)]


def _loose(state: State, kind: str, name: str, value: Any, place: Place) -> Draft:
    event = open_event(state.keys.count(None, name), kind, name, None, json_of(value), origin=state.origin(place))
    return Draft(event, kind, place, None)


def read_pane(record: Record, place: Place, state: State) -> list[Draft]:
    """Which conversations were open in a window."""
    return [_loose(state, "index", record.key, record.value, place)]


# ---- chat tabs -------------------------------------------------------------------------------------------------------------


def _read_chat(record: Record, place: Place, state: State) -> list[Draft]:
    """The row of all chat tabs, without those that are conversations."""
    value = record.value
    if type(value) is not dict:
        return [odd_value(state, value, place, None, "chatdata")]
    listed = value.get("tabs")
    rest = {key: item for key, item in value.items() if key != "tabs" or type(listed) is not list}
    seen: set[str] = set()
    for at, tab in enumerate(listed if type(listed) is list else ()):
        if not is_tab(tab) or tab["tabId"] in seen:
            rest.setdefault("tabs", {})[str(at)] = tab
            state.ledger.part("unexpected-type", place, "/tabs/*", record="chatdata", pointer=f"/tabs/{at}")
        else:
            seen.add(tab["tabId"])
    return [_loose(state, "index", "chatdata", rest, place)]


def read_tab(record: Record, place: Place, state: State) -> list[Draft]:
    """A chat tab: its head and its bubbles."""
    number, tab = record.value
    id, at = tab["tabId"], f"/tabs/{number}"
    extra: Extra = {}
    keep(extra, state.look(TAB)(tab, place), tab, at)
    title = state.typed(tab.get("chatTitle"), str, extra, place, "tab", f"{at}/chatTitle", "/tabs/*/chatTitle")
    last = recorded(tab.get("lastSendTime"))
    if tab.get("lastSendTime") is not None:
        extra[f"{at}/lastSendTime"] = tab["lastSendTime"]
    bubbles = tab.get("bubbles")
    found: list[Draft] = []
    for place_in, bubble in enumerate(bubbles if type(bubbles) is list else ()):
        here = f"{at}/bubbles/{place_in}"
        odd = type(bubble) is not dict
        found.append(
            odd_value(state, bubble, place, id, "tab-bubble", here) if odd else read_tab_bubble(state, bubble, place, id, here)
        )
    if bubbles is not None and type(bubbles) is not list:
        state.typed(bubbles, list, extra, place, "tab", f"{at}/bubbles", "/tabs/*/bubbles")
    head = open_event(
        state.keys.count(id, "tab"),
        "session",
        "chatdata",
        title,
        json_of(extra) if extra else None,
        id,
        origin=state.origin(place, at),
    )
    facts = {"value": {}, "name": title, "made": None, "changed": last[0], "at": at, "inline": True, "tab": True}
    return [Draft(head, "head", place, id, None, facts), *found]


# ---- prompts and generations -----------------------------------------------------------------------------------------------


def _read_prompts(record: Record, place: Place, state: State) -> list[Draft]:
    """Prompts of a workspace, without their conversations: a list, or an object that holds it."""
    value = record.value
    at, listed = ("/prompts", value.get("prompts")) if type(value) is dict else ("", value)
    if type(listed) is not list:
        return [odd_value(state, value, place, None, PROMPTS)]
    rest = {key: item for key, item in value.items() if key != "prompts"} if type(value) is dict else {}
    head = _loose(state, "index", PROMPTS, rest, place)
    return [head, *(_prompt(state, item, place, f"{at}/{number}") for number, item in enumerate(listed))]


def _prompt(state: State, item: Any, place: Place, at: str) -> Draft:
    text = item.get("text") if type(item) is dict else None
    if type(text) is not str:
        return odd_value(state, item, place, None, "prompt", at)
    extra = {f"{at}/{escape(key)}": value for key, value in item.items() if key != "text"}
    message = open_message(
        state.keys.count(None, "prompt"), None, "prompt", "human", (make_text(text),), origin=state.origin(place, at)
    )
    message.extra = json_of(extra) if extra else None
    return Draft(message, "prompt", place, None)


def _read_generations(record: Record, place: Place, state: State) -> list[Draft]:
    """What was asked of the model, and when."""
    if type(record.value) is not list:
        return [odd_value(state, record.value, place, None, GENERATIONS)]
    head = _loose(state, "index", GENERATIONS, {}, place)
    return [head, *(_generation(state, item, place, f"/{number}") for number, item in enumerate(record.value))]


def _generation(state: State, item: Any, place: Place, at: str) -> Draft:
    if type(item) is not dict:
        return odd_value(state, item, place, None, "generation", at)
    when = recorded(item.get("unixMs"))
    text = item.get("textDescription")
    id = item.get("generationUUID")
    taken = {"textDescription"} if type(text) is str else set()
    taken |= {"generationUUID"} if type(id) is str else set()
    taken |= {"unixMs"} if when[0] is not None and when[2] is None else set()
    data = {key: value for key, value in item.items() if key not in taken}
    event = open_event(
        state.keys.count(None, "generation"),
        "generation",
        "generation",
        text if type(text) is str else None,
        json_of(data),
        id if type(id) is str else None,
        *(when if when[0] is not None else NEVER),
        origin=state.origin(place, at),
    )
    return Draft(event, "generation", place, None)


Handler = Callable[[Record, Place, State], list[Draft]]
ITEMS: Final[Mapping[str, Handler]] = MappingProxyType(
    {**dict.fromkeys(HEADS, _read_heads), CHAT: _read_chat, PROMPTS: _read_prompts, GENERATIONS: _read_generations}
)
"""What reads each key."""


# ---- folders ---------------------------------------------------------------------------------------------------------------


def workspace(session: Session) -> Event | None:
    """``workspace.json`` beside a database: the folder that its window had open."""
    found = session.document("workspace.json")
    if found is None:
        return None
    origin, value = found
    uri = next((value[key] for key in ("folder", "workspace") if key in value), None) if type(value) is dict else None
    folder = local_path(uri.get("path") if type(uri) is dict else uri)
    context = Context(cwd=folder) if folder is not None else None
    return Event("workspace", "workspace", "workspace.json", data=json_of(value), context=context, origin=origin)


def folder_of(identifier: Any) -> str | None:
    """The folder that a ``workspaceIdentifier`` names."""
    uri = identifier.get("uri") if type(identifier) is dict else None
    if type(uri) is not dict:
        return None
    remote = uri.get("scheme") not in (None, "file")
    names = ("external", "path") if remote else ("fsPath", "path", "external")
    return next((local_path(uri[name]) for name in names if type(uri.get(name)) is str), None)


def local_path(uri: Any) -> str | None:
    """The path of a ``file:`` URI, without a guess: any other URI stays as it is, for its host is part of the place."""
    if type(uri) is not str:
        return None
    if not uri.startswith("file:"):
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:  # brackets that hold no address
        return uri
    path = unquote(parts.path)
    if parts.netloc:
        return f"//{unquote(parts.netloc)}{path}"
    return path[1:] if path[2:3] == ":" else path
