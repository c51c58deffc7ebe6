"""What the exact decoding gives, and what it says about it: code, pattern, pointer and excerpt, written out by hand."""

import json
import sys

import attrs
import hypothesis.strategies as st
import pytest
from hypothesis import given

from convparse.ledger import Ledger
from convparse.limits import Limits
from convparse.reading import decoding
from convparse.reading.decoding import Refused, decode_exact, deeper, exact, type_of

PLACE = (7, 100, 20)


def decode(line, **limits):
    ledger = Ledger("f", attrs.evolve(Limits(), **limits))
    value = decode_exact(line, ledger, PLACE)
    drops = ledger.close()
    assert all((drop.origin.line, drop.origin.offset, drop.origin.length, drop.bytes) == (*PLACE, 0) for drop in drops)
    return value, [(d.code, d.pattern, d.origin.pointer, d.excerpt, d.count) for d in drops]


@pytest.mark.parametrize(
    "line, value",
    [
        (b' { "a" : [ 1 , 2 ] } \r\n', {"a": [1, 2]}),
        (rb'{"a":"\/\u0041\n"}', {"a": "/A\n"}),
        (rb'{"a":"\ud83d\ude00"}', {"a": "😀"}),
        (rb'{"a":"\\ud83d \\\\udc80"}', {"a": "\\ud83d \\\\udc80"}),
        (b"[1.0, 1e0, 10.50, -0.0, 0e99999999999999999999, 0.00E5]", [1.0, 1.0, 10.5, -0.0, 0.0, 0.0]),
        (b"[0.1000000000000000000, 1.7976931348623157e308]", [0.1, 1.7976931348623157e308]),
        (b"18446744073709551616", 18446744073709551616),
        (b"-9" + b"9" * 307, -int("9" * 308)),
        ('{"a":"\u2028\x7f\x85"}'.encode(), {"a": "\u2028\x7f\x85"}),
        (b'[[{"a":[]}],{},true,false,null]', [[{"a": []}], {}, True, False, None]),
    ],
)
def test_what_is_only_written_differently_is_no_finding(line, value):
    assert (value, []) == decode(line)


@pytest.mark.parametrize(
    "line, value, drops",
    [
        (rb'{"a":["x","\ud83dy"]}', {"a": ["x", "\ufffdy"]}, [("lone-surrogate", "/a/*", "/a/1", "\ufffdy", 1)]),
        (rb'["\udc80\ud83d\ud83d\ude00"]', ["\ufffd\ufffd😀"], [("lone-surrogate", "/*", "/0", "\ufffd\ufffd😀", 1)]),
        (b'{"a":"x\xffy\xf0\x9f\x98"}', {"a": "x\ufffdy\ufffd"}, [("invalid-utf8", "/a", "/a", "x\ufffdy", 1)]),
        (b"NaN", None, [("not-a-number", "", "", "NaN", 1)]),
        (
            b'[NaN,{"a":Infinity},{"a":-Infinity},-1e999]',
            [None, {"a": None}, {"a": None}, None],
            [("not-a-number", "/*", "/0", "NaN", 2), ("not-a-number", "/*/a", "/1/a", "Infinity", 2)],
        ),
        (b"[1.00000000000000000001]", [1.0], [("number-precision", "/*", "/0", "1.00000000000000000001", 1)]),
        (b'{"a":1e-999}', {"a": 0.0}, [("number-precision", "/a", "/a", "1e-999", 1)]),
        (b'{"a":1e-99999999999999999999}', {"a": 0.0}, [("number-precision", "/a", "/a", "1e-99999999999999999999", 1)]),
        (b'{"a/b":1,"c":2,"a/b":3}', {"a/b": 3, "c": 2}, [("duplicate-key", "/a~1b", "/a~1b", "1", 1)]),
        (
            b'[0,{"k":{"x":["y",NaN]},"k":1,"k":2}]',
            [0, {"k": 2}],
            [("duplicate-key", "/*/k", "/1/k", '{"x": ["y", null]}', 2)],
        ),
        (
            rb'{"\ud800":1,"\ud801":2}',
            {"\ufffd": 2},
            [("duplicate-key", "/\ufffd", "/\ufffd", "1", 1), ("lone-surrogate", "/\ufffd", "/\ufffd", "", 2)],
        ),
        (b'{"a":"x\ty\0z","b": \t"c"}', {"a": "x\ty\0z", "b": "c"}, [("lenient-json", "/a", "/a", "x\\ty\\x00z", 1)]),
        (
            b'{"a":"\t\xff\\udc09\\udcff\\ud83d\xff"}',
            {"a": "\t\ufffd\ufffd\ufffd\ufffd\ufffd"},
            [(code, "/a", "/a", "\\t", 1) for code in ("invalid-utf8", "lenient-json", "lone-surrogate")],
        ),
    ],
)
def test_every_finding_has_its_pointer(line, value, drops):
    got, found = decode(line)

    assert json.dumps(value) == json.dumps(got)
    assert sorted(drops) == sorted(found)


@pytest.mark.parametrize("length", [309, sys.get_int_max_str_digits() + 1])
def test_what_no_float_can_hold_is_an_infinity(length):
    """A duration of so many milliseconds is no number of seconds, and a cost of so many dollars none of cents."""
    digits = b"9" * length

    value, drops = decode(b'{"a":' + digits + b"}")

    assert {"a": None} == value
    assert [("not-a-number", "/a", "/a", "9" * 120, 1)] == drops


@pytest.mark.parametrize(
    "line", [b"", b"{", b'{"a":1}x', b'"\\x"', b"\xff", b'{"a":\x01 1}', b'"a\\\n"', b"[1,]", b"01", b'"\\"\\"']
)
def test_a_text_that_is_no_json_is_refused(line):
    with pytest.raises(Refused) as caught:
        exact(line, 254)

    assert "malformed-line" == caught.value.code


@pytest.mark.parametrize("extra", [b"", b",NaN", b',{"a":1,"a":2}'])
def test_depth_is_exact_on_both_ways(extra):
    fits = b"[" * 254 + b"1" + b"]" * 253 + extra + b"]"

    value, _ = exact(fits, 254)

    assert not deeper(value, 254)
    assert deeper(value, 253)
    with pytest.raises(Refused, match="too-deep"):
        exact(b"[" + fits + b"]", 254)


def test_depth_beyond_any_stack_is_refused():
    with pytest.raises(Refused, match="too-deep"):
        exact(b"[" * 200_000 + b"]" * 200_000, 254)


@pytest.mark.parametrize("value, depth", [(1, 0), ([], 1), ({"a": [1], "b": {}}, 2)])
def test_deeper_counts_levels(value, depth):
    assert not deeper(value, depth)
    assert depth == 0 or deeper(value, depth - 1)


def test_a_lost_value_deeper_than_the_stack_has_no_excerpt(monkeypatch):
    def refuse(*_, **__):
        raise RecursionError

    monkeypatch.setattr(decoding.json, "dumps", refuse)

    assert [("duplicate-key", "/a", "/a", "", 1)] == decode(b'{"a":[],"a":2}')[1]


def test_findings_beyond_the_bound_are_counted_for_the_whole():
    line = b"{" + b",".join(b'"k%d":NaN' % n for n in range(1005)) + b"}"

    _, findings = exact(line, 254)

    assert 1001 == len(findings)
    assert ("not-a-number", "", "", b"NaN", 5) == findings[-1]


def test_a_pointer_beyond_the_bound_is_cut_to_a_value_around():
    key = b"k" * 3000

    _, findings = exact(b'{"a":{"' + key + b'":NaN}}', 254)

    assert [("not-a-number", "/a", "/a", b"NaN", 1)] == findings


@pytest.mark.parametrize(
    "head, name",
    [
        (b'{"type":"user","message":{', "user"),
        (b'{"message":{"type":"message","x":[{"type":"text"}]},"a":"{" , "type" : "assistant"', "assistant"),
        (b'{"message":{"type":"message","x":"aaaa', ""),
        (b'{"type":5,"x":"y"}', ""),
        (b'{"a":"\\"type\\":","type":"t"', "t"),
        (b'{"x":"type"', ""),
        (b"\xff\0", ""),
    ],
)
def test_type_of_reads_the_outermost_object(head, name):
    assert name == type_of(head)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda items: st.lists(items, max_size=4) | st.dictionaries(st.text(), items, max_size=4),
    max_leaves=12,
)


@given(JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_any_value_comes_back_whatever_its_form(value, ascii_only, indent):
    assert (value, []) == exact(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode(), 254)


@given(JSON.map(lambda value: {"k": value, "bad": float("nan")}))
def test_one_finding_changes_nothing_else(value):
    got, findings = exact(json.dumps(value).encode(), 254)

    assert {**value, "bad": None} == got
    assert [("not-a-number", "/bad", "/bad", b"NaN", 1)] == findings


@given(st.binary() | st.text(alphabet='{}[]":,\\udc8\x00\t\n1e.-N').map(str.encode))
def test_any_bytes_are_decoded_or_refused(data):
    try:
        value, _ = exact(data, 254)
    except Refused as refused:
        assert refused.code in ("malformed-line", "too-deep")  # noqa: PT017
    else:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
