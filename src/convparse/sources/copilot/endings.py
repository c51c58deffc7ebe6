"""How a request ended: an event for its end, and one for an error, whose text is shown but stands in no part of the answer."""

from collections.abc import Iterator
from typing import Any, Final

from convparse.sources._reading import json_of, open_event
from convparse.sources.copilot.fields import RESULT
from convparse.sources.copilot.state import Home, Reader, add_extra
from convparse.times import epoch_ms

Request = dict[str, Any]
ENDED: Final = ("result", "modelState", "elapsedMs", "isCanceled", "responseErrorDetails")
"""Fields that say it."""


def error_text(value: Request, result: Request) -> str | None:
    """The text of an error."""
    details = result.get("errorDetails", value.get("responseErrorDetails"))
    text = details.get("message") if type(details) is dict else None
    return text if type(text) is str else None


def read_end(reader: Reader, value: Request, key: str, answers: list[Any]) -> Iterator[Any]:
    """The events of a request's end; what a turn that goes on says of itself goes to its answer."""
    result = value.get("result")
    result = result if type(result) is dict else {}
    state = value.get("modelState")
    state = state if type(state) is dict else {}
    reader.extra = {}
    reader.enter("result")
    reader.keep(RESULT, result, "/result")
    reader.enter()
    done, took = reader.count(state, "completedAt", "/modelState"), reader.count(value, "elapsedMs")
    when = epoch_ms(done)[0] if done else None
    if done and when is None:
        reader.note("bad-timestamp", "/modelState/completedAt")
        reader.extra["/modelState/completedAt"] = done
    data = dict(reader.extra)
    data.update({f"/modelState/{name}": item for name, item in state.items() if name != "completedAt"})
    details = result.get("errorDetails", value.get("responseErrorDetails"))
    at = "/result/errorDetails" if "errorDetails" in result else "/responseErrorDetails"
    home = reader.root
    if details is not None:
        yield _error(reader, details, at, key, when)
    if result or done or took is not None or (state and state.get("value") not in (0, 4)):
        yield _end(reader, home, key, data, when, took)
    elif data and answers:
        add_extra(answers[0], data)


def _error(reader: Reader, details: Any, at: str, key: str, when: Any) -> Any:
    text = details.get("message") if type(details) is dict else None
    rest = {name: item for name, item in details.items() if name != "message"} if type(text) is str else details
    cancelled = type(details) is dict and details.get("code") == "canceled"
    return open_event(
        f"{key}:error",
        "cancelled" if cancelled else "error",
        "errorDetails",
        text if type(text) is str else None,
        json_of(rest) if rest else None,
        None,
        when,
        "recorded" if when is not None else None,
        origin=reader.root.at(*at.split("/")[1:]).origin(),
    )


def _end(reader: Reader, home: Home, key: str, data: dict[str, Any], when: Any, took: int | None) -> Any:
    later = [name for name in ("result", "modelState", "elapsedMs") if home.written((name,))]
    entry = open_event(
        f"{key}:end",
        "turn-end",
        "result",
        None,
        json_of(data) if data else None,
        None,
        when,
        "recorded" if when is not None else None,
        duration=took / 1000 if took is not None else None,
        origin=(home.at(later[0]) if later else home).origin(),
    )
    entry.merged = home.merged(home.written(ENDED))
    return entry
