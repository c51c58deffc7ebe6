"""Token counts of a response, as its rows repeat them.

The three inputs of Anthropic's API are disjoint already. What is said beyond a ``Usage`` goes to ``extra``: attempts that were
refused and taken over by another model stand only in ``iterations`` (since 2.1.217), and ``spent_on_refusals`` adds them up.
"""

from operator import itemgetter
from typing import Any, Final

from convparse._make import maker
from convparse.ledger import Place
from convparse.records import Usage
from convparse.sources.claude_code.content import keep, odd
from convparse.sources.claude_code.fields import USAGE
from convparse.sources.claude_code.state import Extra, State

make_usage = maker(Usage)
_NUMBER: Final = frozenset({int, type(None)})
_AT: Final = "/message/usage"
_NUMBERS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
_same: Final = itemgetter(*_NUMBERS, "cache_creation")


def read_usage(raw: Any, place: Place, state: State, extra: Extra) -> Usage | None:
    """A row's token counts; None where they are of an unexpected make, which is named."""
    if type(raw) is not dict:
        odd(state, extra, place, "assistant", _AT, _AT, raw)
        return None
    shape = state.ledger.look(USAGE, raw, place)
    if shape.kept:
        keep(extra, shape, raw, _AT)
    if not all(raw.get(name).__class__ in _NUMBER for name in _NUMBERS):
        raw = _numbers(raw, place, state, extra)
    return _usage(raw, place, state, extra)


def _numbers(raw: dict[str, Any], place: Place, state: State, extra: Extra) -> dict[str, Any]:
    wrong = [name for name in _NUMBERS if raw.get(name).__class__ not in _NUMBER]
    for name in wrong:
        odd(state, extra, place, "assistant", f"{_AT}/{name}", f"{_AT}/{name}", raw[name])
    return {key: value for key, value in raw.items() if key not in wrong}


def _usage(raw: dict[str, Any], place: Place, state: State, extra: Extra) -> Usage:
    get = raw.get
    written, hour = get("cache_creation_input_tokens"), None
    nested = get("cache_creation")
    if nested is not None:
        written, hour = _cache(nested, written, extra)
    details, thought = get("output_tokens_details"), None
    if details is not None:
        thought = details.get("thinking_tokens") if type(details) is dict and len(details) == 1 else None
        if type(thought) is not int:
            thought, extra[f"{_AT}/output_tokens_details"] = None, details
    attempts = get("iterations")
    if attempts and not _repeats(attempts, raw):
        extra[f"{_AT}/iterations"] = attempts
    return make_usage(get("input_tokens"), get("cache_read_input_tokens"), written, hour, get("output_tokens"), thought)


def _cache(nested: Any, written: int | None, extra: Extra) -> tuple[int | None, int | None]:
    """Tokens written to the cache, and the part kept an hour.

    Before 2.1.152 the flat number may be 0 while the split is not.
    """
    if type(nested) is dict and len(nested) == 2:
        hour, minutes = nested.get("ephemeral_1h_input_tokens"), nested.get("ephemeral_5m_input_tokens")
        if type(hour) is int and type(minutes) is int:
            if written is not None and written != hour + minutes:
                extra[f"{_AT}/cache_creation_input_tokens"] = written
            if written is None or written < hour + minutes:
                return hour + minutes, hour
            if written > hour + minutes:
                extra[f"{_AT}/cache_creation"] = nested
            return written, hour
    extra[f"{_AT}/cache_creation"] = nested
    return written, None


def _repeats(attempts: Any, raw: dict[str, Any]) -> bool:
    """True if the only attempt says just what the numbers above it say."""
    if type(attempts) is not list or len(attempts) != 1 or type(attempts[0]) is not dict:
        return False
    only = attempts[0]
    try:
        return len(only) == 6 and only["type"] == "message" and bool(_same(only) == _same(raw))
    except KeyError:
        return False


def spent_on_refusals(attempts: Any) -> Usage | None:
    """What the attempts before a fallback cost: the numbers above ``iterations`` count the last attempt only."""
    if type(attempts) is not list or not all(type(attempt) is dict for attempt in attempts):
        return None
    kinds = [attempt.get("type") for attempt in attempts]
    if "fallback_message" not in kinds:
        return None
    spent = Usage()
    for attempt, kind in zip(attempts, kinds, strict=True):
        if kind == "message":
            spent += _attempt(attempt)
    return spent


def _attempt(attempt: dict[str, Any]) -> Usage:
    numbers = [attempt.get(name) for name in _NUMBERS]
    given, read, written, output = (number if type(number) is int else None for number in numbers)
    nested = attempt.get("cache_creation")
    hour = nested.get("ephemeral_1h_input_tokens") if type(nested) is dict else None
    return Usage(given, read, written, hour if type(hour) is int else None, output)
