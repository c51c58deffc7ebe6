"""The second law: change any one leaf of a valid unit, and the records change, or a drop names its place.

Over every fixture, leaf by leaf, and over generated sessions. What once broke the law stands in ``ONCE_SILENT``, each with the
smallest file that did.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leaves import (
    EVERY_LINE,
    Leaf,
    changed,
    covers,
    decoded,
    encoded,
    leaves,
    names,
    pointer_of,
    put,
    resolve,
    same,
    unnoticed,
    walk,
    with_leaf,
)  # fmt: skip
from tests.strategies import claude_code_sessions, examples, with_odd_values

import convparse

FIXTURES: Final = Path(__file__).parent / "fixtures"
CASES: Final = sorted(path for path in FIXTURES.rglob("*.json*") if not path.name.endswith((".expected.json", ".meta.json")))
MOST: Final = 400
"""Leaves of one fixture that are changed; a larger one is looked at in strides."""

Rows = dict[int, Any]
Meant = Callable[[Leaf, Rows], bool]
_ROW: Final = (
    b'{"type":"assistant","uuid":"a","parentUuid":null,"sessionId":"s","version":"2.1.300","message":{"id":"m","role":"assistant",'
    b'"content":[],"stop_reason":"end_turn","usage":{"output_tokens":1,"iterations":[]}}}\n'
)


def _repeats(leaf: Leaf, rows: Rows) -> bool:
    """True for what a row of the same id before it is not compared by."""
    row = rows[leaf.line]
    id = row.get("uuid") if isinstance(row, dict) else None
    before = [r for at, r in rows.items() if at != leaf.line and isinstance(r, dict) and id is not None and r.get("uuid") == id]
    said = ("uuid", "parentUuid", "type", "timestamp", "attachment", "subtype")
    return (
        bool(before)
        and leaf.path[0] not in said
        and leaf.path[:2] not in [("message", key) for key in ("id", "role", "content")]
    )


ONCE_SILENT: Final[dict[str, tuple[bytes, Meant]]] = {
    "the session of a sub-agent's row": (
        b'{"type":"user","uuid":"a","parentUuid":null,"sessionId":"parent","agentId":"b","isSidechain":true,'
        b'"message":{"role":"user","content":"Look."}}\n',
        lambda leaf, rows: leaf.pointer == "/sessionId" and "agentId" in rows[leaf.line],
    ),
    "the session of a side chain that stands alone": (
        b'{"type":"user","uuid":"a","parentUuid":null,"sessionId":"parent","isSidechain":true,'
        b'"message":{"role":"user","content":"Look."}}\n',
        lambda leaf, rows: leaf.pointer == "/sessionId" and rows[leaf.line].get("isSidechain") is True,
    ),
    "the session of a sub-agent's frame": (
        b'{"type":"user","uuid":"a","session_id":"s","parent_tool_use_id":"c","message":{"role":"user","content":"Look."}}\n'
        * 2,
        lambda leaf, rows: leaf.pointer == "/session_id" and bool(rows[leaf.line].get("parent_tool_use_id")),
    ),
    "an empty list that becomes an empty object": (
        _ROW,
        lambda leaf, rows: leaf.pointer == "/message/usage/iterations" and leaf.value == [],
    ),
    "what a row appended again says otherwise": (_ROW * 2, _repeats),
}
"""By what they lose: the smallest file, and which leaves are meant, with the rows by line."""


def silent(data: bytes, chosen: list[Leaf], at: float = 1.0) -> list[tuple[Leaf, bytes]]:
    """The chosen leaves that nobody would miss, with their lines."""
    lines = data.split(b"\n")
    return [(leaf, lines[leaf.line - 1]) for leaf in unnoticed(data, chosen, at, "claude-code")]


@pytest.mark.parametrize("path", CASES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_no_leaf_of_a_fixture_is_silent(path: Path) -> None:
    data = path.read_bytes()
    every = leaves(data)
    stride = -(-len(every) // MOST) or 1
    assert silent(data, every[::stride]) == []


@pytest.mark.parametrize("path", CASES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_the_first_character_matters_as_the_last_does(path: Path) -> None:
    data = path.read_bytes()
    texts = [leaf for leaf in leaves(data) if isinstance(leaf.value, str) and len(leaf.value) > 1]
    stride = -(-len(texts) // (MOST // 4)) or 1
    assert silent(data, texts[::stride], at=0.0) == []


@examples(200)
@given(drawn=st.data())
def test_no_leaf_of_a_generated_session_is_silent(drawn: st.DataObject) -> None:
    data = drawn.draw(claude_code_sessions()).data
    check_some(data, drawn)


@examples(200)
@given(drawn=st.data())
def test_no_leaf_of_a_session_with_odd_values_is_silent(drawn: st.DataObject) -> None:
    data = drawn.draw(with_odd_values(claude_code_sessions(damage=False)))
    check_some(data, drawn)


def check_some(data: bytes, drawn: st.DataObject) -> None:
    every = leaves(data)
    if every:
        chosen = drawn.draw(st.lists(st.sampled_from(every), max_size=8, unique_by=lambda leaf: (leaf.line, leaf.path)))
        assert silent(data, chosen, drawn.draw(st.sampled_from([0.0, 0.5, 1.0]))) == []


@examples(40)
@given(drawn=st.data())
def test_no_key_vanishes(drawn: st.DataObject) -> None:
    """What stands under a key that no version writes is in the records word for word."""
    session = drawn.draw(claude_code_sessions(damage=False, skip=("skip", "again")))
    inner = [(at, path[:-1]) for at, row in enumerate(session.rows) for path, _ in walk(row) if isinstance(path[-1], str)]
    if not inner:
        return
    at, path = drawn.draw(st.sampled_from(inner))
    rows = list(session.rows)
    holder = resolve(rows[at], pointer_of(path))
    rows[at] = put(rows[at], path, {**holder, "brandNewKey": "what nobody wrote"})
    data = b"".join(encoded(row) + b"\n" for row in rows)
    result = convparse.parse_bytes(data, source="claude-code", limits=EVERY_LINE)
    named = [drop for drop in (*result.dropped, *result.skipped) if names(drop, at + 1, pointer_of((*path, "brandNewKey")))]
    assert "what nobody wrote" in _raw(result) or any(drop.fate != "unknown" for drop in named)


def _raw(result: convparse.ParseResult) -> str:
    """All JSON of a result."""
    found: list[str] = []

    def visit(value: Any) -> None:
        if isinstance(value, convparse.Json):
            found.append(value.text)
        elif isinstance(value, tuple):
            for item in value:
                visit(item)
        elif hasattr(value, "__attrs_attrs__"):
            for field in value.__attrs_attrs__:
                visit(getattr(value, field.name))

    visit(result.conversations)
    visit(result.loose)
    return "\n".join(found)


@pytest.mark.parametrize("name", ONCE_SILENT)
def test_what_was_once_silent_is_not(name: str) -> None:
    data, is_meant = ONCE_SILENT[name]
    rows = {number: row for number, _, row in decoded(data)}
    meant = [leaf for leaf in leaves(data) if is_meant(leaf, rows)]
    assert meant
    assert unnoticed(data, meant, source="claude-code") == []


# ---- the helper itself -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    ["word", "", "é", "\u2028", "😀", "…", "2026-01-01T00:00:00Z", "~", "\ud7ff", 0, 7, 9, 10, -1, 1.5, 1e300, 0.0, 2**70],
)
def test_a_changed_leaf_is_another_of_the_same_length(value: Any) -> None:
    for at in (0.0, 0.5, 1.0):
        other = changed(value, at)
        assert other != value
        assert type(other) is type(value)
        assert value == "" or len(encoded(other)) == len(encoded(value))


def test_true_null_and_empty_become_something_else() -> None:
    assert [changed(value) for value in (True, False, None, [], {})] == [False, True, "x", {}, []]


def test_every_leaf_has_its_place() -> None:
    data = b'{"a":[1,{"b/c":"x"}],"~":{},"d":null}\nnot JSON\n\n[2]\n'
    found = [(leaf.line, leaf.pointer, leaf.value) for leaf in leaves(data)]
    assert found == [(1, "/a/0", 1), (1, "/a/1/b~1c", "x"), (1, "/~0", {}), (1, "/d", None), (4, "/0", 2)]
    rows = {number: row for number, _, row in decoded(data)}
    assert all(resolve(rows[line], pointer) == value for line, pointer, value in found)
    assert with_leaf(data, leaves(data)[1]) == data.replace(b'"x"', b'"y"')
    assert json.loads(with_leaf(b'{"a":1}\r\n', leaves(b'{"a":1}\r\n')[0])) == {"a": 2}


def test_patterns_cover_what_is_below_them() -> None:
    assert covers("/a/*", "/a/7/b")
    assert covers("", "/a")
    assert not covers("/a/*", "/a")
    assert not covers("/a", "/ab")


def test_places_are_no_facts() -> None:
    a, b = (convparse.Message("k", None, "user", None, origin=convparse.Origin(path)) for path in "ab")
    assert a != b
    assert same(a, b)
    assert not same(a, convparse.Message("k", None, "user", None, (convparse.Text("x"),), origin=a.origin))
