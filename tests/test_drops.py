"""Drops, accounts, and the ledger that folds and counts them."""

import time
from typing import Any

import attrs
import pytest

from convparse.blocks import Json
from convparse.drops import CODES, Account, Bin, Code, Drop
from convparse.ledger import ALWAYS, AnyOf, Fields, Ledger, escape
from convparse.limits import Limits
from convparse.records import Origin

USER = Fields("user", typed=frozenset({"type", "text"}), kept={"mode": "plain", "note": ALWAYS}, skipped={"ui": "colours"})
PART = Fields("user", "/parts/*", typed=frozenset({"type"}))


def drop(path: str = "/x/abc.jsonl", line: int | None = 7, **fields: Any) -> Drop:
    fields = {"code": "malformed-line", "fate": "lost", "message": "not valid JSON"} | fields
    return Drop(origin=fields.pop("origin", Origin(path, line)), **fields)


def ledger(**limits: int) -> Ledger:
    return Ledger("abc.jsonl", Limits(**limits))


def place(line: int) -> tuple[int, int, int]:
    """The place of a line, each of ten bytes."""
    return line, (line - 1) * 10, 10


# Codes


def test_every_code_has_one_line_in_lower_case():
    for code in CODES.values():
        assert code.summary == code.summary.strip().rstrip(".")
        assert not code.summary[0].isupper() or code.summary.startswith(("NUL", "NaN"))
        assert "\n" not in code.summary


def test_codes_are_slugs_and_former_names_are_not_in_use():
    assert [] == [name for name in CODES if name != escape(name) or name.lower() != name or " " in name]
    assert set() == CODES.keys() & {name for code in CODES.values() for name in code.former}


def test_only_skipped_units_fold():
    assert {"skipped"} == {code.fate for code in CODES.values() if code.folds}


def test_codes_cannot_be_added_to():
    with pytest.raises(TypeError):
        CODES["x"] = Code("lost", "x")  # type: ignore[index]


# How a drop reads


def test_a_drop_reads_as_place_fate_code_message_and_count():
    assert "abc.jsonl:7: lost malformed-line: not valid JSON (x3)" == str(drop(count=3))


def test_a_single_drop_has_no_count():
    assert "abc.jsonl:7: lost malformed-line: not valid JSON" == str(drop())


def test_record_and_pattern_stand_after_the_message():
    about = drop(code="unknown-field", fate="unknown", message="a field", record="user", pattern="/parts/*/x")

    assert "abc.jsonl:7: unknown unknown-field: a field user /parts/*/x" == str(about)


def test_a_row_reads_as_table_and_key():
    origin = Origin("/x/state.vscdb", table="ItemTable", key="composer:1")

    assert "state.vscdb:ItemTable:composer:1: lost malformed-line: not valid JSON" == str(drop(origin=origin))


def test_a_path_without_a_name_is_shown_as_it_is():
    assert "/: lost malformed-line: not valid JSON" == str(drop("/", None))
    assert ": lost malformed-line: not valid JSON" == str(drop("", None))


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({"path": "a\nb\x1b[31m.jsonl"}, r"a\nb\x1b[31m.jsonl:7: lost malformed-line: not valid JSON"),
        ({"record": "us\rer"}, r"abc.jsonl:7: lost malformed-line: not valid JSON us\rer"),
        ({"pattern": "/\u202e\x00"}, r"abc.jsonl:7: lost malformed-line: not valid JSON /\u202e\x00"),
        ({"message": "two\nlines"}, r"abc.jsonl:7: lost malformed-line: two\nlines"),
        ({"record": "\ud800"}, r"abc.jsonl:7: lost malformed-line: not valid JSON \ud800"),
        ({"record": "größe 値"}, "abc.jsonl:7: lost malformed-line: not valid JSON größe 値"),
    ],
)
def test_control_characters_are_escaped(fields: dict[str, Any], expected: str):
    assert expected == str(drop(**fields))


def test_a_repr_of_a_drop_is_short():
    assert len(repr(drop(detail=Json("x" * 200_000)))) < 800


# Bins and accounts


def test_bins_and_accounts_add_up():
    one = Account("a", 15, Bin(1, 10), lost=Bin(1, 5), stamp="1")
    other = Account("b", 7, folded=Bin(1, 3), skipped=Bin(1, 2), blank=Bin(2, 2))

    assert Account("a", 22, Bin(1, 10), Bin(1, 3), Bin(1, 5), Bin(1, 2), Bin(2, 2)) == one + other


def test_an_account_balances_when_its_bins_hold_every_byte():
    assert Account("a", 15, Bin(1, 10), lost=Bin(1, 5)).balanced
    assert not Account("a", 16, Bin(1, 10), lost=Bin(1, 5)).balanced
    assert Account("a", 0).balanced


def test_bins_by_name():
    assert {"mapped": 1, "folded": 2, "lost": 3, "skipped": 4, "blank": 5} == {
        name: part.units for name, part in Account("a", 0, Bin(1), Bin(2), Bin(3), Bin(4), Bin(5)).bins.items()
    }


def test_the_stamp_of_an_account_is_no_part_of_it():
    assert Account("a", 0, stamp="1") == Account("a", 0, stamp="2")


# Units and parts


def test_drops_of_the_same_code_record_and_pattern_are_one():
    book = ledger()
    for line in (3, 5, 9):
        book.part("bad-timestamp", place(line), "/timestamp", record="user", excerpt=b"yesterday")

    assert (
        Drop(
            "bad-timestamp",
            "altered",
            Origin("abc.jsonl", 3, 20, 10, pointer="/timestamp"),
            "user",
            "/timestamp",
            3,
            0,
            (3, 5, 9),
            CODES["bad-timestamp"].summary,
            "yesterday",
        ),
    ) == book.close()


@pytest.mark.parametrize("other", [{"code": "unknown-field"}, {"record": "assistant"}, {"pattern": "/ts"}])
def test_drops_that_differ_in_code_record_or_pattern_stay_apart(other: dict[str, Any]):
    book = ledger()
    entry: dict[str, Any] = {"code": "bad-timestamp", "pattern": "/timestamp", "record": "user"}
    book.part(**entry, place=place(1))
    book.part(**entry | other, place=place(1))

    assert [1, 1] == [d.count for d in book.close()]


def test_an_empty_ledger_has_no_drops():
    assert () == ledger().close()


def test_a_unit_goes_to_the_bin_of_its_fate_with_its_bytes():
    book = ledger()
    book.unit("malformed-line", place(1), excerpt=b"{")
    book.unit("skipped-record", place(2), record="ping")
    book.unit("skipped-record", place(3), record="ping")
    book.unit("repeated-record", place(4), record="user")
    book.blank(3)

    assert {"folded": Bin(1, 10), "lost": Bin(1, 10), "skipped": Bin(2, 20), "blank": Bin(1, 3)} == book.bins
    assert [("malformed-line", 10), ("skipped-record", 20), ("repeated-record", 10)] == [
        (d.code, d.bytes) for d in book.close()
    ]


def test_a_part_leaves_the_bins_alone():
    book = ledger()
    book.part("bad-timestamp", place(1), "/timestamp")

    assert {Bin()} == set(book.bins.values())


def test_the_pointer_is_exact_where_the_pattern_is_not():
    book = ledger()
    book.part("unknown-block", place(1), "/content/*", pointer="/content/4")

    (found,) = book.close()

    assert ("/content/*", "/content/4") == (found.pattern, found.origin.pointer)


@pytest.mark.parametrize(("lines", "shown"), [(0, ()), (2, (1, 2)), (3, (1, 2, 3)), (5, (1, 2, 3))])
def test_many_places_at_once_are_one_drop_with_an_exact_count(lines: int, shown: tuple[int, ...]):
    book = ledger(lines=3)

    book.parts("unknown-field", [place(n + 1) for n in range(lines)], "/a", record="user")

    expected = [("user", "/a", lines, shown)] if lines else []
    assert expected == [(d.record, d.pattern, d.count, d.lines) for d in book.close()]


def test_a_family_of_units_counts_without_bytes():
    book = ledger()

    book.family("unread-rows", (0, 0, 0), 7, record="ItemTable/x.*")

    (found,) = book.close()
    assert ("unread-rows", "ItemTable/x.*", 7, 0, "lost") == (found.code, found.record, found.count, found.bytes, found.fate)
    assert Bin(7, 0) == book.bins["lost"]


def test_the_first_place_is_the_earliest_not_the_first_entered():
    book = ledger()
    book.part("missing-result", place(8), pointer="/b", excerpt=b"later")
    book.part("missing-result", place(2), pointer="/a", excerpt=b"earlier")
    book.part("missing-result", place(5), pointer="/c", excerpt=b"between")

    (found,) = book.close()

    assert (2, "/a", "earlier") == (found.origin.line, found.origin.pointer, found.excerpt)
    assert (2, 5, 8) == found.lines


def test_drops_stand_by_place_then_code_record_and_pattern():
    book = ledger()
    book.part("unknown-field", place(2), "/b", record="user")
    book.part("unknown-field", place(2), "/a", record="user")
    book.part("unknown-field", place(2), "/z", record="ask")
    book.part("bad-timestamp", place(2), "/t", record="user")
    book.part("unknown-field", place(1), "/y", record="user")

    assert ["/y", "/t", "/z", "/a", "/b"] == [d.pattern for d in book.close()]


def test_two_places_on_one_line_count_twice_and_name_the_line_once():
    book = ledger()
    book.part("bad-timestamp", place(4), "/t")
    book.part("bad-timestamp", place(4), "/t")

    (found,) = book.close()

    assert (2, (4,)) == (found.count, found.lines)


def test_a_source_brings_codes_of_its_own():
    book = Ledger("abc.jsonl", codes={"acme/odd": Code("altered", "an odd thing")})
    book.part("acme/odd", place(1))
    book.part("bad-timestamp", place(2))

    assert [("acme/odd", "altered", "an odd thing"), ("bad-timestamp", "altered", CODES["bad-timestamp"].summary)] == [
        (d.code, d.fate, d.message) for d in book.close()
    ]


def test_a_code_that_is_not_registered_is_refused():
    with pytest.raises(KeyError):
        ledger().unit("no-such-code", place(1))


# Excerpts


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"plain", "plain"),
        (b"a\tb\x1b[0m\x00", r"a\tb\x1b[0m\x00"),
        (b"x" * 200, "x" * 12),
        ("xxxxxxxxxxx€".encode(), "x" * 11),
        (b"a\xffb", "a�b"),
    ],
)
def test_an_excerpt_is_bounded_and_escaped(data: bytes, expected: str):
    book = ledger(excerpt=12)
    book.unit("malformed-line", place(1), excerpt=data)

    assert expected == book.close()[0].excerpt


def test_excerpts_can_be_left_out():
    book = Ledger("abc.jsonl", excerpts=False)
    book.unit("malformed-line", place(1), excerpt=b"secret")

    assert "" == book.close()[0].excerpt


# Shapes


def test_a_shape_says_what_to_keep_and_what_is_unknown():
    shape = ledger().look(USER, {"type": 1, "mode": 2, "odd": 3, "ui": 4, "note": 5}, place(1))

    assert (("mode", "plain"), ("odd", ALWAYS), ("note", ALWAYS)) == shape.kept
    assert (("odd",), ("ui",)) == (shape.unknown, shape.skipped)


@pytest.mark.parametrize(("value", "silent"), [(None, True), ("", True), ("eu", False), (0, False)])
def test_any_of_several_values_may_say_nothing(value: Any, silent: bool):
    fields = Fields("user", kept={"place": AnyOf(None, "")})

    shape = ledger().look(fields, {"place": value}, place(1))

    assert ("place",) == tuple(key for key, _ in shape.kept)
    assert (shape.kept[0][1] == value) is silent


def test_an_object_of_known_keys_drops_nothing():
    book = ledger()
    book.look(USER, {"type": "user", "text": "a"}, place(1))
    book.look(USER, {"type": "user", "mode": "plan"}, place(2))

    assert () == book.close()


def test_the_same_keys_are_judged_once():
    book = ledger()

    assert book.look(USER, {"odd": 1}, place(1)) is book.look(USER, {"odd": 2}, place(2))


def test_unknown_and_skipped_keys_are_counted_over_all_shapes():
    book = ledger()
    for line in (1, 2, 3):
        book.look(USER, {"type": 0, "odd": 0, "ui": 0}, place(line))
    book.look(USER, {"odd": 0}, place(4))

    assert [("skipped-field", "/ui", 3, (1, 2, 3)), ("unknown-field", "/odd", 4, (1, 2, 3, 4))] == [
        (d.code, d.pattern, d.count, d.lines) for d in book.close()
    ]


def test_a_key_inside_a_list_is_named_by_its_pattern():
    book = ledger()
    book.look(PART, {"type": 0, "a/b~*": 0}, place(6))

    (found,) = book.close()

    assert ("/parts/*/a~1b~0*", "user", 6) == (found.pattern, found.record, found.origin.line)
    assert found.origin.pointer.endswith("/a~1b~0*")


def test_objects_of_one_line_name_it_once():
    book = ledger()
    for line in (1, 1, 1, 2):
        book.look(PART, {"odd": 0}, place(line))

    assert [(4, (1, 2))] == [(d.count, d.lines) for d in book.close()]


def test_closing_twice_counts_once():
    book = ledger()
    book.look(USER, {"odd": 0}, place(1))

    assert book.close() == book.close()


def test_shapes_and_parts_of_one_pattern_are_one_drop():
    book = ledger()
    book.part("unknown-field", place(9), "/odd", record="user")
    book.look(USER, {"odd": 0}, place(2))

    (found,) = book.close()

    assert (2, 2, (2, 9)) == (found.count, found.origin.line, found.lines)


@pytest.mark.parametrize("key, token", [("a", "a"), ("a/b", "a~1b"), ("~", "~0"), ("~1/", "~01~1"), ("", "")])
def test_keys_are_escaped_as_rfc_6901_says(key: str, token: str):
    assert token == escape(key)


# Bounds


MANY = 10_000


def test_line_numbers_are_capped_and_the_count_is_not():
    book = ledger(lines=5)
    for line in range(1, MANY + 1):
        book.part("bad-timestamp", place(line), "/t")
        book.look(USER, {"odd": 0}, place(line))

    assert [(MANY, (1, 2, 3, 4, 5))] * 2 == [(d.count, d.lines) for d in book.close()]


def test_the_cap_holds_where_drops_of_many_shapes_meet():
    book = ledger(lines=3)
    for line in range(1, 11):
        book.look(USER, {"odd": 0, f"more{line}": 0}, place(line))

    assert (10, (1, 2, 3)) == next((d.count, d.lines) for d in book.close() if d.pattern == "/odd")


@pytest.mark.parametrize("cap", [1, 10, 1000])
def test_patterns_are_capped_and_the_count_is_not(cap: int):
    book = ledger(patterns=cap)
    for line in range(1, MANY + 1):
        book.part("unknown-field", place(line), f"/key{line}", record="user")

    found = book.close()

    assert cap + 1 == len(found)
    assert MANY == sum(d.count for d in found)
    assert (MANY - cap, "", "") == next((d.count, d.pattern, d.record) for d in found if not d.pattern)


def test_at_the_cap_patterns_shorten_to_a_prefix_that_is_known():
    book = ledger(patterns=2)
    for pattern in ("/a", "/b/c", "/a/x/y", "/b/c/z", "/a/x"):
        book.part("unknown-field", place(1), pattern, record="user")

    assert {"/a": 3, "/b/c": 2} == {d.pattern: d.count for d in book.close()}


def test_at_the_cap_a_pattern_shortens_to_the_whole_record_where_that_is_known():
    book = ledger(patterns=1)
    book.part("unknown-field", place(1), record="user")
    book.part("unknown-field", place(2), "/a/b", record="user")

    assert [("user", "", 2)] == [(d.record, d.pattern, d.count) for d in book.close()]


def test_record_names_are_capped_and_bytes_are_not():
    book = ledger(patterns=10)
    for line in range(1, MANY + 1):
        book.unit("skipped-record" if line % 2 else "malformed-line", place(line), record=f"type{line}")

    found = book.close()

    assert 12 == len(found)
    assert (MANY, MANY * 10) == (sum(d.count for d in found), sum(d.bytes for d in found))


def test_shapes_are_capped_and_the_count_is_not():
    book = ledger(patterns=10)
    for line in range(1, MANY + 1):
        shape = book.look(USER, {"odd": 0, f"key{line}": 0}, place(line))

        assert 1 == shape.count
        assert ("odd", f"key{line}") == shape.unknown

    found = book.close()

    assert len(found) <= 11
    assert 2 * MANY == sum(d.count for d in found)


def test_a_shape_over_the_cap_counts_every_time():
    book = ledger(patterns=1)
    for keys in (["a"], ["b"], ["b"], ["a"], ["b"]):
        book.look(USER, dict.fromkeys(keys), place(1))

    assert 5 == sum(d.count for d in book.close())


def test_an_object_of_very_many_keys_costs_linear_time():
    value = dict.fromkeys((f"key{n}" for n in range(80_000)), 0)
    book = ledger()
    start = time.perf_counter()
    shape = book.look(USER, value, place(1))
    found = book.close()

    assert time.perf_counter() - start < 5  # comparing every key with every other took half a minute
    assert (80_000, 1001, 80_000) == (len(shape.kept), len(found), sum(d.count for d in found))


def test_limits_of_a_ledger_default_to_those_of_a_parse():
    assert Limits() == Ledger("abc.jsonl").limits
    assert attrs.evolve(Limits(), lines=2) == ledger(lines=2).limits
