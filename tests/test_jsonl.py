"""Lines and documents: which values come out of damaged files, where, and that every byte is accounted for."""

import io
import json
import time
from itertools import pairwise

import attrs
import hypothesis.strategies as st
import orjson
import pytest
from hypothesis import given

from convparse.ledger import Ledger
from convparse.limits import Limits
from convparse.reading.documents import read_document
from convparse.reading.jsonl import iter_records

BOM = b"\xef\xbb\xbf"


def is_record(value):
    return isinstance(value.get("type"), str) and "id" in value


def balanced(read, data, size=None, unproven=frozenset(), **limits):
    size = len(data) if size is None else size
    ledger = Ledger("f", attrs.evolve(Limits(), **limits))
    more = (is_record, unproven) if read is iter_records else ()
    units = list(read(io.BufferedReader(io.BytesIO(data)), size, ledger, *more))
    assert size == sum(length for _, (_, _, length) in units) + sum(b.bytes for b in ledger.bins.values())
    return units, ledger


def lines(data, size=None, unproven=frozenset(), **limits):
    """The values with offset and length; the drops with record, line, offset, bytes and count."""
    units, ledger = balanced(iter_records, data, size, unproven, **limits)
    drops = [(d.code, d.record, d.origin.line, d.origin.offset, d.bytes, d.count) for d in ledger.close()]
    return [(value, offset, length) for value, (_, offset, length) in units], drops


def rec(name, **fields):
    return {"type": "t", "id": name, **fields}


def enc(*args, **fields):
    return orjson.dumps(rec(*args, **fields))


A, B, C = enc("a"), enc("b", m={"type": "n", "x": ["{", '{"']}), enc("c")
a, b, c = len(A), len(B), len(C)
VA, VB, VC = (json.loads(text) for text in (A, B, C))


def test_plain_lines_with_their_places():
    units, ledger = balanced(iter_records, A + b"\n" + B + b"\r\n\n" + C)

    assert [(VA, (1, 0, a + 1)), (VB, (2, a + 1, b + 2)), (VC, (4, a + b + 4, c))] == units
    assert ((), 1) == (ledger.close(), ledger.bins["blank"].bytes)


def test_separators_of_other_kinds_do_not_end_a_line():
    line = '{"a":"\u2028\u2029\x85"}'.encode()

    assert ([(json.loads(line), 0, len(line) + 1)], []) == lines(line + b"\n")
    assert ([], [("malformed-line", "", 1, 0, 2 * a + 6, 1)]) == lines(b'"' + A + b"\r" + A + b"\r x\n")


@pytest.mark.parametrize("value", [[1], 5, None, "x", True])
@pytest.mark.parametrize("before", [b"", BOM])
def test_values_that_are_no_objects_are_left_to_the_source(value, before):
    text = orjson.dumps(value) + b"\n"

    assert ([(value, len(before), len(text))], []) == lines(before + text)


@pytest.mark.parametrize("data, bytes_", [(b" \t\r\n\n  ", 7), (BOM, 3), (BOM + b"\r\n", 5), (b"\n", 1), (b"", 0)])
def test_blank_lines_are_no_drops(data, bytes_):
    units, ledger = balanced(iter_records, data)

    assert ([], (), bytes_) == (units, ledger.close(), ledger.bins["blank"].bytes)


def test_a_byte_order_mark_is_blank_at_the_beginning_only():
    values, drops = lines(BOM + A + b"\n" + BOM + A + b"\n")

    assert [(VA, 3, a + 1), (VA, a + 7, a + 1)] == values
    assert [("malformed-line", "", 2, a + 4, 3, 1)] == drops


@pytest.mark.parametrize(
    "data, values, drops",
    [
        # NUL runs
        (b"\0\0\n" + A, [(VA, 3, a)], [("nul-padding", "", 1, 0, 3, 1)]),
        (b"\0\0" + A + b"\n", [(VA, 2, a + 1)], [("nul-padding", "", 1, 0, 2, 1)]),
        (A + b" \0\0\r\n", [(VA, 0, a + 1)], [("nul-padding", "", 1, a + 1, 4, 1)]),
        (A + b"\0\0", [(VA, 0, a)], [("nul-padding", "", 1, a, 2, 1)]),
        (b"\0 5\0\n", [(5, 2, 1)], [("nul-padding", "", 1, 0, 4, 2)]),
        # Records without a line end between them
        (A + B + C + b"\n", [(VA, 0, a), (VB, a, b), (VC, a + b, c + 1)], [("missing-newline", "", 1, a, 0, 2)]),
        (b'{"x":1} {"y":2}\n', [({"x": 1}, 0, 8), ({"y": 2}, 8, 8)], [("missing-newline", "", 1, 8, 0, 1)]),
        # Cut records
        (B[:-9] + A + b"\r\n", [(VA, b - 9, a + 2)], [("cut-record", "", 1, 0, b - 9, 1)]),
        (
            B[:20] + A + C[:4] + A,
            [(VA, 20, a), (VA, 24 + a, a)],
            [("cut-record", "", 1, 0, 24, 2), ("missing-newline", "", 1, 24 + a, 0, 1)],
        ),
        (B[:20] + b"\0\0" + A + b"\n", [(VA, 22, a + 1)], [("cut-record", "", 1, 0, 20, 1), ("nul-padding", "", 1, 20, 2, 1)]),
        (B[20:] + A + b"\n", [(VA, b - 20, a + 1)], [("malformed-line", "", 1, 0, b - 20, 1)]),
        (b"12" + A + b"\n", [(VA, 2, a + 1)], [("malformed-line", "", 1, 0, 2, 1)]),
        # Junk behind a record, and objects in the middle of a lost one
        (A + b",x\n", [(VA, 0, a)], [("malformed-line", "", 1, a, 3, 1)]),
        (A + b"5\n", [(VA, 0, a)], [("malformed-line", "", 1, a, 2, 1)]),
        (b'{"x":1},"y":2}\n', [], [("malformed-line", "", 1, 0, 15, 1)]),
        (b'{"x":' + A + b',"y":\n', [], [("malformed-line", "", 1, 0, a + 11, 1)]),
        (b'{"x":{"n":1}' + A + b"\n", [(VA, 12, a + 1)], [("cut-record", "", 1, 0, 12, 1)]),
        # Nothing to be had
        (b"xyz\n" + A + b"\n", [(VA, 4, a + 1)], [("malformed-line", "", 1, 0, 4, 1)]),
        (A + b"\n" + B[:-1], [(VA, 0, a + 1)], [("torn-tail", "", 2, a + 1, b - 1, 1)]),
        (A + B[:-1], [(VA, 0, a)], [("torn-tail", "", 1, a, b - 1, 1)]),
        (B[:20] + b"\0\0", [], [("torn-tail", "", 1, 0, 20, 1), ("nul-padding", "", 1, 20, 2, 1)]),
        (b'{"a":\n', [], [("malformed-line", "", 1, 0, 6, 1)]),
    ],
)  # fmt: skip
def test_damaged_lines(data, values, drops):
    assert (values, drops) == lines(data)


@pytest.mark.parametrize("coding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_is_named_line_by_line(coding):
    values, drops = lines((A + b"\n" + B + b"\n").decode().encode(coding))

    assert [] == values
    assert ("malformed-line", 1, 2) == (drops[0][0], drops[0][2], drops[0][5])


def test_a_line_beyond_the_limit_is_passed_over_and_its_type_named():
    long = enc("x", text="y" * 300_000) + b"\n"

    values, drops = lines(A + b"\n" + long + C + b"\n", line_bytes=100)

    assert [(VA, 0, a + 1), (VC, a + 1 + len(long), c + 1)] == values
    assert [("oversized", "t", 2, a + 1, len(long), 1)] == drops


def test_the_limit_counts_the_line_end():
    assert ([(VA, 0, a + 1)], []) == lines(A + b"\n", line_bytes=a + 1)
    assert ([], [("oversized", "t", 1, 0, a + 1, 1)]) == lines(A + b"\n", line_bytes=a)
    assert ([], [("oversized", "t", 1, 0, b, 1)]) == lines(B, line_bytes=a)


def nested(depth):
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


@pytest.mark.parametrize("depth", [255, 1024, 1025, 5000])
def test_a_line_nested_too_deep_costs_only_itself(depth):
    line = nested(depth) + b"\n"

    values, drops = lines(A + b"\n" + line + C)

    assert [(VA, 0, a + 1), (VC, a + 1 + len(line), c)] == values
    assert [("too-deep", "", 2, a + 1, len(line), 1)] == drops


def test_depth_is_exact_and_can_be_lowered():
    line = nested(254)

    assert ([(json.loads(line), 0, len(line) + 1)], []) == lines(line + b"\n")
    for end in (b"\n", b"\r\n"):
        fits, deep = nested(3), nested(4)
        assert ([(json.loads(fits), 0, len(fits) + len(end))], []) == lines(fits + end, depth=3)
        assert ([], [("too-deep", "", 1, 0, len(deep) + len(end), 1)]) == lines(deep + end, depth=3)


def test_a_record_too_deep_in_the_middle_of_a_line_is_lost():
    deep = enc("d", x=json.loads(nested(5)))

    assert ([(VA, 0, a)], [("torn-tail", "", 1, a, len(deep) + 1, 1)]) == lines(A + deep + b"]", depth=4)
    assert ([(VA, 0, a)], [("too-deep", "", 1, a, len(deep), 1)]) == lines(A + deep, depth=4)


@pytest.mark.parametrize(
    "line, value, code",
    [
        (b'{"a":1,"a":2}\n', {"a": 2}, ["duplicate-key"]),
        (b'{"a":1, "b": 1.0}\n', {"a": 1, "b": 1.0}, []),
        (b'{"a":18446744073709551616}\n', {"a": 18446744073709551616}, []),
        (b'{"a":NaN}\n', {"a": None}, ["not-a-number"]),
        (b'{"a":"\\ud800"}\n', {"a": "\ufffd"}, ["lone-surrogate"]),
        (b'{"a":"\xff"}\n', {"a": "\ufffd"}, ["invalid-utf8"]),
        (b'{"a":"\0\t"}\n', {"a": "\0\t"}, ["lenient-json"]),
        (b'{"a":0.10000000000000000001}\n', {"a": 0.1}, ["number-precision"]),
    ],
)
def test_lines_that_need_the_exact_look(line, value, code):
    values, drops = lines(line)

    assert ([(value, 0, len(line))], code) == (values, [drop[0] for drop in drops])


def test_no_proof_is_spent_on_types_that_are_skipped():
    skipped, proved, odd = b'{"a":1,"a":2,"type":"p"}\n', b'{"a":1,"a":2,"type":"q"}\n', b'{"type":[]}\n5\n'

    values, drops = lines(skipped + proved + odd, unproven=frozenset({"p"}))

    assert [{"a": 2, "type": "p"}, {"a": 2, "type": "q"}, {"type": []}, 5] == [value for value, _, _ in values]
    assert [("duplicate-key", "", 2, len(skipped), 0, 1)] == drops


def test_a_file_that_grows_is_read_to_its_size_at_open():
    assert ([(VA, 0, a + 1)], []) == lines(A + b"\n" + B + b"\n", size=a + 1)
    assert ([(VA, 0, a + 1)], [("torn-tail", "", 2, a + 1, 5, 1)]) == lines(A + b"\n" + B + b"\n", size=a + 6)


def test_what_vanished_is_named():
    assert ([(VA, 0, a + 1)], [("vanished", "", 2, a + 1, 10, 1)]) == lines(A + b"\n", size=a + 11)
    assert ([], [("oversized", "t", 1, 0, b, 1), ("vanished", "", 2, b, 9, 1)]) == lines(B, size=b + 9, line_bytes=a)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":' * 200_000,
        b'{"' * 400_000,
        A * 20_000,
        (b'{"a":' + A) * 20_000,
        b"\0x" * 200_000,
        b'{"' + b'\\"' * 300_000,
        b"{" + b" " * 500_000,
        b'{"x":[' + b'{"n":1},' * 80_000,
        b"[" + b"1" * 1_000_000 + b".5," + b"1" * 1_000_000 + b"]",
        b'{"' + b"k" * 500_000 + b'":[' + b"[NaN]," * 100_000 + b"1]}",
    ],
    ids=["openers", "quotes", "glued", "cuts", "nuls", "escapes", "spaces", "nested", "digits", "pointers"],
)
def test_hostile_lines_take_linear_time(line):
    begin = time.process_time()

    lines(line + b"\n" + A)

    assert time.process_time() - begin < 3


# Properties.

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBERS = st.integers(-(2**63), 2**64 - 1)
RECORDS = st.builds(
    lambda name, text, more: rec(name, text=text, more=more), TEXT, TEXT, st.dictionaries(TEXT, NUMBERS, max_size=2)
)
DAMAGE = st.one_of(
    st.sampled_from([b"", b"xyz", b"\0\0", A[:9], b'{"', b"{" * 70, b"[", b"\xff\xfe", b"\xf0\x9f", b'"', b"}", b"  "]),
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")),
)
SCRAPS = st.lists(
    st.sampled_from([A, B, C, A[:9], B[:30], B[30:], BOM, b"\0", b"\n", b"\r\n", b" ", b"{", b"}", b'"', b"\\", b",", b"\xff"])
    | st.binary(max_size=4),
    max_size=12,
).map(b"".join)  # fmt: skip


@given(st.binary() | SCRAPS, st.sampled_from([{}, {"line_bytes": 20}, {"depth": 1}]))
def test_any_bytes_balance(data, limits):
    values, _ = lines(data, **limits)

    assert all(begin + length <= following for (_, begin, length), (_, following, _) in pairwise(values))


@given(SCRAPS, st.integers(0, 300))
def test_any_bytes_balance_at_any_size(data, size):
    lines(data, size=size)


@given(st.lists(st.tuples(RECORDS, DAMAGE)), st.sampled_from([b"\n", b"\r\n"]))
def test_the_neighbours_of_damage_come_back(pairs, end):
    data, wanted = b"", []
    for record, damage in pairs:
        text = orjson.dumps(record) + end
        wanted.append((record, len(data), len(text)))
        data += text + damage + end

    values, _ = lines(data)

    assert wanted == [unit for unit in values if unit in wanted]
    assert all(record == orjson.loads(data[offset : offset + length]) for record, offset, length in wanted)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_file_cut_at_any_byte_gives_the_whole_records_before(end):
    texts = [A, B, enc("é😀", text="x\n{"), C]
    data = b"".join(text + end for text in texts)
    starts = [sum(len(text) + len(end) for text in texts[:n]) for n in range(len(texts))]

    for cut in range(len(data) + 1):
        values, drops = lines(data[:cut])
        whole = [json.loads(text) for text, start in zip(texts, starts, strict=True) if start + len(text) <= cut]
        assert whole == [value for value, _, _ in values]
        assert [("torn-tail", 1)] * len(drops) == [(drop[0], drop[5]) for drop in drops]
        assert len(drops) <= 1


# Documents.


def document(data, size=None, **limits):
    units, ledger = balanced(read_document, data, size, **limits)
    return units, [(d.code, d.record, d.origin.line, d.origin.offset, d.bytes) for d in ledger.close()]


@pytest.mark.parametrize(
    "data, units, drops",
    [
        (b'{"a":1}', [({"a": 1}, (1, 0, 7))], []),
        (b'{\n  "a": [1.0]\n}\n', [({"a": [1.0]}, (1, 0, 17))], []),
        (BOM + b"[]\n", [([], (1, 3, 3))], []),
        (b"", [], []),
        (BOM + b" \n", [], []),
        (b"[1]\n\0\0\n", [([1], (1, 0, 4))], [("nul-padding", "", 2, 4, 3)]),
        (b"\0\0", [], [("nul-padding", "", 1, 0, 2)]),
        (b'{"a":\n', [], [("malformed-line", "", 1, 0, 6)]),
        (b'{"a":1,"a":2}', [({"a": 2}, (1, 0, 13))], [("duplicate-key", "", 1, 0, 0)]),
        (b"NaN", [(None, (1, 0, 3))], [("not-a-number", "", 1, 0, 0)]),
        ("\ufeff[]\n".encode("utf-16-le"), [], [("malformed-line", "", 1, 0, 8)]),
    ],
)
def test_documents(data, units, drops):
    assert (units, drops) == document(data)


def test_documents_have_limits():
    assert ([], [("oversized", "t", 1, 0, a)]) == document(A, document_bytes=a - 1)
    assert ([], [("too-deep", "", 1, 0, 6)]) == document(b"[[[]]]", depth=2)
    assert ([([1], (1, 0, 3))], [("vanished", "", 1, 3, 4)]) == document(b"[1]", size=7)
    assert ([([1], (1, 0, 3))], []) == document(b"[1]xyz", size=3)


@given(st.binary() | SCRAPS)
def test_any_document_balances(data):
    document(data)
