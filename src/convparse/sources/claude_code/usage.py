"""Token counts of a response, as its rows repeat them.

The three inputs of Anthropic's API are disjoint already. What is said beyond a ``Usage`` goes to ``extra``: attempts that were
refused and taken over by another model stand only in ``iterations`` (since 2.1.217), and ``spent_on_refusals`` adds them up.
"""

from operator import itemgetter
from typing import Any, Final

from convparse.ledger import Place
from convparse.records import Usage
from convparse.sources._reading import Extra, keep, make_usage, odd
from convparse.sources.claude_code.fields import NO_TOOLS, NOWHERE, USAGE
from convparse.sources.claude_code.state import State

_AT: Final = "/message/usage"
_NUMBERS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
_POINTERS: Final = tuple(f"{_AT}/{name}" for name in _NUMBERS)
_KNOWN: Final = USAGE.typed.union(USAGE.kept)
_STANDARD: Final = (None, "standard")
_same: Final = itemgetter(*_NUMBERS, "cache_creation")


def read_usage(raw: Any, place: Place, state: State, extra: Extra) -> Usage | None:
    """A row's token counts; None where they are of an unexpected make, which is named."""
    if type(raw) is not dict:
        odd(state.ledger, extra, place, "assistant", _AT, raw)
        return None
    last, usage, beside = state.usage
    if raw != last:
        beside = {}
        usage = _usage(raw, place, state, beside)
        state.usage = (raw if not beside else {}, usage, beside)
    if beside:
        extra.update(beside)
    return usage


def _usage(raw: dict[str, Any], place: Place, state: State, extra: Extra) -> Usage:
    get = raw.get
    given, read = get("input_tokens"), get("cache_read_input_tokens")
    written, output = get("cache_creation_input_tokens"), get("output_tokens")
    if not (type(given) is type(read) is type(written) is type(output) is int):
        given, read, written, output = _numbers((given, read, written, output), place, state, extra)
    hour = thought = None
    nested, details, attempts = get("cache_creation"), get("output_tokens_details"), get("iterations")
    if nested is not None:
        hour = nested.get("ephemeral_1h_input_tokens") if type(nested) is dict and len(nested) == 2 else None
        if type(hour) is not int or nested.get("ephemeral_5m_input_tokens") != (written or 0) - hour:
            written, hour = _cache(nested, written, extra)
    if details is not None:
        thought = details.get("thinking_tokens") if type(details) is dict and len(details) == 1 else None
        if type(thought) is not int:
            thought, extra[f"{_AT}/output_tokens_details"] = None, details
    if attempts is not None and attempts != [] and not _repeats(attempts, raw):
        extra[f"{_AT}/iterations"] = attempts
    if not (
        _KNOWN.issuperset(raw)
        and get("service_tier") in _STANDARD
        and get("speed") in _STANDARD
        and get("inference_geo") in NOWHERE
        and get("server_tool_use", NO_TOOLS) == NO_TOOLS
        and get("fallback_credit") is None
    ):
        keep(extra, state.look(USAGE)(raw, place), raw, _AT)
    return make_usage(given, read, written, hour, output, thought)


def _numbers(numbers: tuple[Any, ...], place: Place, state: State, extra: Extra) -> list[int | None]:
    tidy: list[int | None] = []
    for pointer, number in zip(_POINTERS, numbers, strict=True):
        if number is not None and type(number) is not int:
            odd(state.ledger, extra, place, "assistant", pointer, number)
        tidy.append(number if type(number) is int else None)
    return tidy


def _cache(nested: Any, written: int | None, extra: Extra) -> tuple[int | None, int | None]:
    """Tokens written to the cache, and the part kept an hour, where the split does not add up to the flat number.

    Before 2.1.152 the flat number may be 0 while the split is not.
    """
    if type(nested) is dict and len(nested) == 2:
        hour, minutes = nested.get("ephemeral_1h_input_tokens"), nested.get("ephemeral_5m_input_tokens")
        if type(hour) is int and type(minutes) is int:
            if written is not None:
                extra[f"{_AT}/cache_creation_input_tokens"] = written
            if written is None or written < hour + minutes:
                return hour + minutes, hour
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
