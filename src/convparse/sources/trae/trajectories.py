"""Trajectories of ``trae-agent``: one document a run, by the Python program, its Rust and its TypeScript ports.

What comes in: one document, recognised by its shape. What goes out: one conversation. ``steps_python``, ``steps_rust`` and
``steps_ts`` read what the three programs write of their requests. Results of tools have the role ``user`` and are no prompts.
Times without a zone stay texts.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convparse.ledger import Ledger
from convparse.records import Conversation
from convparse.sources._reading import Extra, json_of, make_text
from convparse.sources._source import FilePart, Resolved, Session, Unit
from convparse.sources.trae import steps_python, steps_rust, steps_ts
from convparse.sources.trae.fields import RUN
from convparse.sources.trae.resolve import freeze
from convparse.sources.trae.state import Draft, Opened, State
from convparse.sources.trae.steps_python import message, time_of
from convparse.sources.trae.times import NEVER

_END: Final = ("end_time", "success", "final_result", "execution_time")


def read(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """The drafts of a run, in the order in which it went."""
    state = State(ledger)
    for value, place in units:
        if type(value) is not dict or RUN.typed.isdisjoint(value):
            yield state.odd_event(value, "document", place, None)
            continue
        extra: Extra = {}
        run = state.open(value, RUN, place, "", extra)
        inside = list(_entries(run))
        said = any(draft.facts.get("prompt") for draft in inside)
        ended = _ending(run)
        yield _head(run, ended)
        if not said and type(value.get("task")) is str and value["task"]:
            yield message(run, "/task", "task", "human", [make_text(value["task"])], NEVER, {}, prompt=True)
        yield from inside
        if ended is not None:
            yield ended


def _entries(run: Opened) -> Iterator[Draft]:
    """What the arrays tell, whichever of them there are."""
    interactions = run.first("llm_interactions", list)
    if type(run.value.get("llm_interaction")) is list:
        for number, item in enumerate(run.value["llm_interaction"]):
            yield from steps_rust.read_rust(run, item, f"/llm_interaction/{number}")
    elif run.value.get("llm_interaction") is not None:
        run.odd("llm_interaction")
    agent_steps, steps = run.first("agent_steps", list), run.first("steps", list)
    yield from steps_python.read_python(run, interactions or [], agent_steps or [])
    yield from steps_ts.read_steps(run, steps or [])


def _head(run: Opened, ended: Draft | None) -> Draft:
    """The run as such: what it was asked, with which model, how it went."""
    when, task = time_of(run.value.get("start_time")), run.value.get("task")
    data = {pointer[1:]: item for pointer, item in run.extra.items() if ended is None or pointer[1:] not in _END}
    event = run.state.event(
        "session",
        "trajectory",
        run.place,
        None,
        json_of(data) if data else None,
        text=task if type(task) is str else None,
        timestamp=when[0],
        timestamp_origin=when[1],
        timestamp_text=when[2],
    )
    agent = run.value.get("agent_id")
    return Draft(event, "head", run.place, None, {"id": agent if type(agent) is str else None, "made": when[0]})


def _ending(run: Opened) -> Draft | None:
    """The end of a run that ended; of one that did not, the values stay with its head."""
    end = run.value.get("end_time")
    if end in (None, "") or type(end) is bool:
        return None
    when, text, took = time_of(end), run.value.get("final_result"), run.value.get("execution_time")
    counted = type(took) in (int, float)
    data = {key: run.value[key] for key in _END if key in run.value}
    event = run.state.event(
        "turn-end",
        "final_result",
        run.place,
        None,
        json_of(data),
        "/end_time",
        text=text if type(text) is str and text else None,
        timestamp=when[0],
        timestamp_origin=when[1],
        timestamp_text=when[2],
        duration=took if counted else None,
    )
    return Draft(event, "end", run.place, None)


# ---- the conversation ------------------------------------------------------------------------------------------------------


def resolve(parts: list[FilePart], session: Session) -> Resolved:
    """One conversation a file; what is no run is loose."""
    conversations: list[Conversation] = []
    loose = []
    for part in parts:
        head = next((draft for draft in part.drafts if draft.name == "head"), None)
        entries = tuple(freeze(draft.entry) for draft in part.drafts)
        if head is None:
            loose += list(entries)
        else:
            body: Any = "complete" if any(draft.name == "end" for draft in part.drafts) else "partial"
            facts = head.facts
            conversations.append(Conversation(facts["id"], "trae", created_at=facts["made"], body=body, entries=entries))
    return conversations, loose
