"""Whether one version of a message says what another says.

A log has the same message several times: first as it was begun and again with its tool calls, or its tokens; and after a
resume once more as part of a list, often poorer than before. ``covers(new, old)`` is true if nothing in the old version is
missing from the new one, so that one record can stand for both. What says nothing (null, an empty text or list) is never
missing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from convparse.blocks import Json
from convparse.sources._reading import json_of

Row = Mapping[str, Any]
SAID: Final = ("type", "content", "displayContent", "thoughts", "tokens", "model", "toolCalls")
"""Fields that say something of a message itself; the others only tell of its writing."""
SIGNATURE: Final = "thoughtSignature"


def covers(new: Row, old: Row, keys: Iterable[str], *, signed: bool = True) -> bool:
    """True if the new version says everything that the old one says under these keys; without ``signed`` but signatures."""
    return all(_is_said(key, old, new, signed) for key in keys)


def compared(new: Row, old: Row) -> tuple[bool, bool]:
    """Whether the new version says everything that the old one says, and the other way round."""
    unlike = [key for key in {**new, **old} if not same(new.get(key), old.get(key))]
    return covers(new, old, unlike), covers(old, new, unlike)


def differences(new: Row, old: Row) -> dict[str, Any]:
    """What a version has beside ``SAID``, and the signatures of its parts, as far as the other one has them not."""
    found = {key: item for key, item in new.items() if key not in SAID and (key not in old or not same(item, old[key]))}
    if not same(new.get("content"), old.get("content")):
        signed = [{SIGNATURE: part[SIGNATURE]} if _is_signed(part) else {} for part in parts_of(new.get("content"))]
        found |= {"content": signed} if any(signed) else {}
    return found


def same(a: Any, b: Any) -> bool:
    """True for the same JSON: 1, 1.0 and true are equal, and not the same."""
    return a is b or (type(a) is type(b) and a == b and (type(a) is str or json_of(a) == json_of(b)))


def is_silent(value: Any) -> bool:
    """True for what says nothing."""
    return value is None or value == "" or (type(value) is list and not value)


def parts_of(content: Any) -> list[Any]:
    """A content as a list of parts; a text alone is one part."""
    if type(content) is list:
        return content
    return [] if is_silent(content) else [{"text": content} if type(content) is str else content]


def _is_said(key: str, old: Row, new: Row, signed: bool) -> bool:
    value, other = old.get(key), new.get(key)
    if is_silent(value) or same(value, other):
        return True
    if key == "content":
        return _rest(old, new, signed) == _rest(new, old, signed)
    return key == "toolCalls" and _are_said(value, other)


def _are_said(calls: Any, others: Any) -> bool:
    """True if of every call all fields stand in one of the same id, and no two in the same."""
    if type(calls) is not list or type(others) is not list:
        return False
    by_id = {other["id"]: other for other in others if _has_id(other)}
    return len({call["id"] for call in calls if _has_id(call)}) == len(calls) and all(
        call["id"] in by_id and all(same(item, by_id[call["id"]].get(key)) for key, item in call.items()) for call in calls
    )


def _has_id(call: Any) -> bool:
    return type(call) is dict and type(call.get("id")) is str


def _is_signed(part: Any) -> bool:
    return type(part) is dict and SIGNATURE in part


def _rest(row: Row, other: Row, signed: bool) -> list[Json]:
    """The parts of a content, without calls that the other version has among its tool calls, each once."""
    calls = other.get("toolCalls")
    known = Counter(_call(call) for call in (calls if type(calls) is list else ()) if _has_id(call))
    parts = parts_of(row.get("content"))
    if not signed:
        parts = [{k: v for k, v in part.items() if k != SIGNATURE} if _is_signed(part) else part for part in parts]
    found = []
    for part in parts:
        asked = _asked(part)
        if asked is not None and known[asked]:
            known[asked] -= 1
        else:
            found.append(json_of(part))
    return found


def _call(call: Row) -> Json:
    return json_of([call.get("id"), call.get("name"), call.get("args")])


def _asked(part: Any) -> Json | None:
    """The call of a part that holds one and nothing else."""
    call = part.get("functionCall") if type(part) is dict and len(part) == 1 else None
    return _call(call) if type(call) is dict and call.keys() == {"id", "name", "args"} else None
