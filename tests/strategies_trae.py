"""Hypothesis strategies for Trae: sessions as the inline era keeps them, each with the texts that were put in; and odd values.

A strategy gives the rows of a database and every text a person or the model said, in the order of the product. ``damaged`` puts
any JSON into any place of a value.
"""

from typing import Any, Final

import attrs
from hypothesis import strategies as st
from tests.build_trae import MAIN, S1, T
from tests.leaves import put
from tests.strategies import Draw, odd_json, words


@attrs.frozen
class Talk:
    """The rows of a database, and what a parse of it must say."""

    rows: dict[str, Any]
    said: list[str]
    """The texts, in the product's order."""


@st.composite
def steps(draw: Draw, name: str) -> tuple[dict[str, Any], list[str]]:
    """A step of an agent and the texts that it says."""
    kind = draw(st.sampled_from(["tool", "text", "finish"]))
    thought = f"{name} thought {draw(words)}"
    step: dict[str, Any] = {"id": name, "thought": thought}
    if kind != "text":
        step |= {"toolName": "finish" if kind == "finish" else draw(st.sampled_from(["run_command", "Read", "odd"]))}
    if kind == "tool":
        step |= {draw(st.sampled_from(["params", "arguments", "input"])): {"of": name}, "status": "success"}
        if draw(st.booleans()):
            step["result"] = draw(st.sampled_from([{"output": f"{name} out"}, f"{name} out", {"exitCode": 0}]))
    return step, [thought]


@st.composite
def talks(draw: Draw) -> Talk:
    """One session whose messages stand in any order of the list."""
    turns: list[tuple[list[dict[str, Any]], list[str]]] = []
    for turn in range(draw(st.integers(1, 4))):
        asked = f"{turn} asked {draw(words)}"
        found: list[Any] = [draw(steps(f"{turn}.{n}")) for n in range(draw(st.integers(0, 3)))]
        answer = f"{turn} answer {draw(words)}"
        user = {"role": "user", "content": asked, "turnIndex": turn, "agentMessageId": f"u{turn}", "turnId": f"t{turn}"}
        task = {"guideline": {"planItems": [step for step, _ in found]}}
        agent = {
            "role": "assistant",
            "content": answer,
            "turnIndex": turn,
            "agentMessageId": f"a{turn}",
            "agentTaskContent": task,
        }
        agent |= {"timestamp": draw(st.sampled_from([0, T, T + turn, T // 1000, str(T)])), "turnId": f"t{turn}"}
        turns.append(([user, agent], [asked, *(text for _, texts in found for text in texts), answer]))
    order = draw(st.permutations(range(len(turns))))
    session = {"sessionId": S1, "messages": [message for turn in order for message in turns[turn][0]]}
    return Talk({MAIN: {"list": [session], "currentSessionId": S1}}, [text for _, texts in turns for text in texts])


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of every value inside a value, its own left out."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in inside for found in ((*path, key), *places(item, (*path, key)))]


ODD: Final = odd_json | st.sampled_from(
    [
        '{"planItems":["x"]}',
        '[{"toolName":"finish","params":{"summary":"s"}}]',
        {"text": "t"},
        [{"type": "text", "text": "t"}],
        0,
    ]
)


@st.composite
def damaged(draw: Draw, value: Any) -> Any:
    """A value with anything in some of its places."""
    for _ in range(draw(st.integers(1, 3))):
        value = put(value, draw(st.sampled_from(places(value))), draw(ODD))
        if not places(value):
            break
    return value
