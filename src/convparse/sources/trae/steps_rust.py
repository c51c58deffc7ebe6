"""Steps of the Rust port of ``trae-agent``, to drafts: response and results stand inside ``steps`` of an interaction.

What comes in: a run and one of its interactions. What goes out: one message of the model, and one for each result of a tool.
"""

from collections.abc import Iterator
from typing import Any

from convparse.sources._reading import Extra
from convparse.sources.trae.fields import RUST_INNER, RUST_STEP
from convparse.sources.trae.state import Draft, Opened
from convparse.sources.trae.steps_python import message, response_of, result_of, time_of
from convparse.sources.trae.times import NEVER


def read_rust(run: Opened, value: Any, at: str) -> Iterator[Draft]:
    """A step of the Rust port: response and results stand inside ``steps``."""
    if type(value) is not dict:
        yield run.state.odd_event(value, "llm_interaction", run.place, None, at)
        return
    extra: Extra = {}
    item = run.state.open(value, RUST_STEP, run.place, at, extra)
    when = time_of(item.first("timestamp", str, int, float))
    inner = item.first("steps", dict)
    model = item.text("model")
    if inner is None:
        if model is not None:
            extra[f"{at}/model"] = model
        yield message(run, at, "assistant", "model", [], when, extra)
        return
    step = run.state.open(inner, RUST_INNER, run.place, f"{at}/steps", extra)
    if model is not None:
        extra[f"{at}/model"] = model
    results = step.first("tool_results", list) or ()  # before the response is made, which holds what is odd
    yield response_of(run, step, "llm_response", when, extra)
    for number, result in enumerate(results):
        inside: Extra = {}
        here = f"{step.at}/tool_results/{number}"
        if type(result) is dict:
            yield message(run, here, "user", "tool", [result_of(run, result, here, inside)], NEVER, inside)
        else:
            yield run.state.odd_event(result, "tool_result", run.place, None, here)
