"""The replay of mutation logs: every rule with a log of its own, and hostile logs, which cost only themselves."""

import io
import json
import time

import pytest

from convparse.ledger import Ledger
from convparse.limits import Limits
from convparse.reading.mutation_log import is_operation, read_log
from convparse.reading.operations import HOLES

STATE = {"version": 3, "requests": [{"requestId": "r", "response": [{"value": "a"}, {"value": "b"}, {"value": "c"}]}]}
PARTS = ["requests", 0, "response"]


def line(kind, path=None, **more):
    return {"kind": kind} | ({"k": path} if path is not None else {}) | more


def encoded(*operations):
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in operations)


def replay(data, **limits):
    """The log, and the codes of its drops with their counts."""
    ledger = Ledger("log", Limits(**limits))
    logs = [log for log, _ in read_log(io.BytesIO(data), len(data), ledger)]
    return (logs[0] if logs else None), {drop.code: drop.count for drop in ledger.close()}


def state(*operations):
    log, _ = replay(encoded(line(0, v=STATE), *operations))
    return log.state


def with_parts(*parts):
    return {"version": 3, "requests": [{"requestId": "r", "response": list(parts)}]}


A, B, C, Z = ({"value": name} for name in "abcz")
EQUAL = {
    "nothing after the snapshot": ((), STATE),
    "the last line has no end": ((b'{"kind":1,"k":["t"],"v":"x"}',), STATE | {"t": "x"}),
    "line ends of Windows": ((b'{"kind":1,"k":["t"],"v":1}\r\n',), STATE | {"t": 1}),
    "blank lines": ((b"\n\n", line(1, ["t"], v=1), b"\n"), STATE | {"t": 1}),
    "a second snapshot": ((line(0, v={"requests": []}), line(1, ["t"], v=1)), {"requests": [], "t": 1}),
    "a push on what is not there": ((line(2, ["pendingRequests"], v=[1]),), STATE | {"pendingRequests": [1]}),
    "a push that appends": ((line(2, PARTS, v=[Z]),), with_parts(A, B, C, Z)),
    "a push that cuts first": ((line(2, PARTS, v=[Z], i=1),), with_parts(A, Z)),
    "a push that only cuts": ((line(2, PARTS, i=1),), with_parts(A)),
    "a push beyond the end": ((line(2, PARTS, v=[Z], i=5),), with_parts(A, B, C, None, None, Z)),
    "a push with null for its index": ((line(2, PARTS, v=[Z], i=None),), with_parts(Z)),
    "a push of nothing": ((line(2, ["requests"]),), STATE),
    "a push on null": ((line(1, ["x"], v=None), line(2, ["x"], v=[1])), STATE | {"x": [1]}),
    "a push on an empty text": ((line(1, ["x"], v=""), line(2, ["x"], v=[1])), STATE | {"x": [1]}),
    "a push into a list": ((line(2, [*PARTS, 3], v=[1]),), with_parts(A, B, C, [1])),
    "a push of no list": ((line(2, ["requests"], v={"a": 1}),), STATE),
    "a push of no list that cuts": ((line(2, PARTS, v={"a": 1}, i=1),), with_parts(A)),
    "a push on the root": ((line(2, [], v=[1]),), STATE | {"undefined": [1]}),
    "a set": ((line(1, ["requests", 0, "vote"], v=0),), {"version": 3, "requests": [STATE["requests"][0] | {"vote": 0}]}),
    "a set of null": ((line(1, ["customTitle"], v=None),), STATE | {"customTitle": None}),
    "a set of nothing": ((line(1, ["version"]),), {"requests": STATE["requests"]}),
    "a set on the root": ((line(1, [], v={"z": 1}),), STATE),
    "a set inside a part": ((line(1, [*PARTS, 0, "value"], v="x"),), with_parts({"value": "x"}, B, C)),
    "a set by an index that is a text": ((line(1, [*PARTS, "0"], v=Z),), with_parts(Z, B, C)),
    "a set behind the end of a list": ((line(1, [*PARTS, 4], v=Z),), with_parts(A, B, C, None, Z)),
    "a set of a list's length": ((line(1, [*PARTS, "length"], v=1),), with_parts(A)),
    "a set by a number on an object": ((line(1, [7], v=1),), STATE | {"7": 1}),
    "a set by a fraction on an object": ((line(1, [1.5], v=1),), STATE | {"1.5": 1}),
    "a set by a whole fraction": ((line(1, [*PARTS, 0.0], v=Z),), with_parts(Z, B, C)),
    "a set by true, and by false": ((line(1, [True], v=1), line(1, [False], v=2)), STATE | {"true": 1, "false": 2}),
    "a set by null": ((line(1, [None], v=3),), STATE | {"null": 3}),
    "a delete": ((line(3, ["requests"]),), {"version": 3}),
    "a delete in a list": ((line(3, [*PARTS, 1]),), with_parts(A, None, C)),
    "a delete of what is not there": ((line(3, ["nope"]),), STATE),
    "a delete on the root": ((line(3, []),), STATE),
    "a delete, and a push anew": ((line(3, ["requests"]), line(2, ["requests"], v=[Z])), {"version": 3, "requests": [Z]}),
    "keys that nobody knows": ((line(1, ["t"], v=1, ts=5),), STATE | {"t": 1}),
    "a line separator inside a text": ((line(1, ["t"], v="a\u2028b"),), STATE | {"t": "a\u2028b"}),
    "a byte that is not UTF-8": ((b'{"kind":1,"k":["t"],"v":"a\xffb"}\n',), STATE | {"t": "a\ufffdb"}),
    "a line of a carriage return": ((b"\r\n", line(1, ["t"], v=1)), STATE | {"t": 1}),
    "a key that stands twice": ((b'{"kind":1,"k":["t"],"v":1,"v":2}\n',), STATE | {"t": 2}),
    "a property that every object has": ((line(1, ["__proto__", "x"], v=1), line(1, ["__proto__"], v=1)), STATE),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_where_vs_code_gives_a_value_this_one_is_equal(name):
    operations, expected = EQUAL[name]

    assert state(*operations) == expected


SNAPSHOT = line(0, v=STATE)
GOES_ON = {
    "torn": ((SNAPSHOT, b'{"kind":1,"k":["customTi'), STATE, {"torn-tail": 1}),
    "a byte order mark": ((b"\xef\xbb\xbf", SNAPSHOT), STATE, {}),
    "white space": ((SNAPSHOT, b"   \n"), STATE, {}),
    "two on one line": ((json.dumps(SNAPSHOT).encode(), line(1, ["t"], v=1)), STATE | {"t": 1}, {"missing-newline": 1}),
    "NUL bytes at the end": ((SNAPSHOT, b"\0\0\0\0"), STATE, {"nul-padding": 1}),
    "bad": ((SNAPSHOT, b"{bad}\n", line(1, ["t"], v=1)), STATE | {"t": 1}, {"malformed-line": 1, "uncertain-place": 1}),
    "a parent that is not there": ((SNAPSHOT, line(1, ["requests", 4, "vote"], v=1)), STATE, {"missing-target": 1}),
    "a path through a text": ((SNAPSHOT, line(1, ["requests", 0, "requestId", "x"], v=1)), STATE, {"missing-target": 1}),
    "a path deep into a text": ((SNAPSHOT, line(1, ["version", "x", "y", "z"], v=1)), STATE, {"missing-target": 1}),
    "a path through a list's name": ((SNAPSHOT, line(1, ["requests", "x", "y"], v=1)), STATE, {"missing-target": 1}),
    "a push on a text": ((SNAPSHOT, line(1, ["x"], v="s"), line(2, ["x"], v=[1])), STATE | {"x": "s"}, {"missing-target": 1}),
    "a push on an object": ((SNAPSHOT, line(1, ["x"], v={}), line(2, ["x"], v=[1])), STATE | {"x": {}}, {"missing-target": 1}),
    "a push by a list's name": ((SNAPSHOT, line(2, ["requests", "x"], v=[1])), STATE, {"malformed-operation": 1}),
    "a negative index": ((SNAPSHOT, line(2, PARTS, i=-1)), STATE, {"malformed-operation": 1}),
    "a fractional index": ((SNAPSHOT, line(2, PARTS, v=[Z], i=1.5)), STATE, {"malformed-operation": 1}),
    "an index that is a text": ((SNAPSHOT, line(2, PARTS, v=[Z], i="1")), STATE, {"malformed-operation": 1}),
    "a name on a list": ((SNAPSHOT, line(1, ["requests", "00"], v=1)), STATE, {"malformed-operation": 1}),
    "an index that is an object": ((SNAPSHOT, line(1, [{}], v=1)), STATE, {"malformed-operation": 1}),
    "a path that is none": ((SNAPSHOT, line(1, "x", v=1)), STATE, {"malformed-operation": 1}),
    "half a pair": ((SNAPSHOT, b'{"kind":1,"k":["t"],"v":"a\\ud800b"}\n'), STATE | {"t": "a\ufffdb"}, {"lone-surrogate": 1}),
    "no snapshot": ((line(1, ["t"], v=1),), {"t": 1}, {"missing-snapshot": 1}),
    "a snapshot of nothing": ((line(0), line(1, ["a"], v=1)), {"a": 1}, {"missing-snapshot": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", GOES_ON)
def test_where_vs_code_gives_up_this_one_goes_on_and_says_so(name):
    operations, expected, codes = GOES_ON[name]
    log, found = replay(encoded(*operations))

    assert (log.state, found) == (expected, codes)


@pytest.mark.parametrize(
    "record", [line(7, ["x"]), {"k": ["x"], "v": 1}, line("1", ["x"], v=1), line(True, ["x"], v=1), [1], STATE]
)
def test_what_is_no_operation_is_handed_on(record):
    log, codes = replay(encoded(SNAPSHOT, record))

    assert [value for value, _ in log.others] == [record]
    assert (log.state, codes) == (STATE, {})


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf\n"])
def test_an_empty_log_gives_nothing(data):
    assert replay(data)[0] is None


def test_after_an_operation_that_was_passed_over_the_list_is_uncertain_until_the_next_snapshot():
    bad, later, other = line(1, ["requests", 4, "vote"], v=1), line(2, PARTS, v=[Z]), line(1, ["t"], v=1)

    assert replay(encoded(SNAPSHOT, later, bad, other))[1] == {"missing-target": 1}
    assert replay(encoded(SNAPSHOT, bad, later, later))[1] == {"missing-target": 1, "uncertain-place": 2}
    assert replay(encoded(SNAPSHOT, bad, SNAPSHOT, later))[1] == {"missing-target": 1}


def test_a_snapshot_of_nothing_after_operations_is_no_end():
    log, codes = replay(encoded(line(1, ["t"], v=1), line(0), line(1, ["u"], v=2)))

    assert (log.state, codes) == ({"u": 2}, {"missing-snapshot": 1})


def test_a_log_of_nothing_but_refused_operations_has_no_value():
    log, codes = replay(encoded(line(1, ["a", "b"], v=1)))

    assert (log.state, codes) == (None, {"missing-snapshot": 1, "missing-target": 1})


def test_lists_with_holes():
    assert state(line(2, [*PARTS, 5], v=[1]), line(2, PARTS, i=4), line(2, [*PARTS, 1], v=[2])) == with_parts(A, B, C, None)
    assert state(line(1, [*PARTS, 4], v=1), line(2, [*PARTS, 3], v=[2]), line(2, PARTS, i=4)) == with_parts(A, B, C, [2])


def test_requests_are_found_without_a_snapshot():
    first, second = ({"requestId": name, "response": []} for name in "ab")
    log, codes = replay(encoded(line(2, ["requests"], v=[first]), line(2, ["requests"], v=[second], i=3)))

    assert log.state == {"requests": [first, None, None, second]}
    assert log.headless
    assert codes == {"missing-snapshot": 1, "uncertain-place": 1}


# ---- who wrote what --------------------------------------------------------------------------------------------------------


def test_every_value_knows_the_operation_that_wrote_it():
    log, _ = replay(encoded(SNAPSHOT, line(2, PARTS, v=[Z, Z], i=2), line(1, ["requests", 0, "vote"], v=1)))
    request = log.node.at("requests").at(0)
    parts = request.at("response")

    assert [parts.at(n).operation for n in range(4)] == [0, 0, 1, 1]
    assert log.pointer(parts.at(3), ("requests", 0, "response", 3)) == "/v/1"
    assert log.pointer(parts.at(0), ("requests", 0, "response", 0)) == "/v/requests/0/response/0"
    assert log.pointer(request.at("vote"), ("requests", 0, "vote")) == "/v"
    assert set(log.node.operations()) == {0, 1, 2}


def test_what_is_taken_away_is_kept():
    log, _ = replay(encoded(SNAPSHOT, line(2, PARTS, i=1), line(1, ["version"], v=4), line(3, [*PARTS, 0]), line(0, v={})))

    assert [(erased.path, erased.value, erased.by) for erased in log.erased[:4]] == [
        ((*PARTS, 1), B, 1),
        ((*PARTS, 2), C, 1),
        (("version",), 3, 2),
        ((*PARTS, 0), A, 3),
    ]
    assert log.erased[4].value == {"version": 4, "requests": [{"requestId": "r", "response": [None]}]}


def test_what_can_stand_as_an_operation():
    assert is_operation(SNAPSHOT)
    assert is_operation(line(3, []))
    assert not is_operation({"kind": "thinking", "value": "x"})
    assert not is_operation({"kind": 2})


# ---- hostile logs ----------------------------------------------------------------------------------------------------------

LONG = ["x"] * 100_000
HOSTILE = {
    "an index of a trillion": (line(1, ["requests", 10**12], v=1), {"missing-target": 1}),
    "an index of a billion": (line(1, ["requests", 10**9], v=1), {"missing-target": 1}),
    "a length of a billion": (line(2, ["requests"], v=[Z], i=10**9), {"uncertain-place": 1}),
    "a length of a trillion": (line(2, ["requests"], v=[Z], i=10**12), {"malformed-operation": 1}),
    "a set of a length of a billion": (line(1, ["requests", "length"], v=10**9), {"missing-target": 1}),
    "a set of a length that is none": (line(1, ["requests", "length"], v="x"), {"malformed-operation": 1}),
    "a push at a billion": (line(2, ["requests", 10**9], v=[Z]), {"missing-target": 1}),
    "a path of a hundred thousand keys": (line(1, LONG, v=1), {"malformed-operation": 1}),
    "an index as a long text": (line(1, ["requests", "1" * 5000], v=1), {"malformed-operation": 1}),
    "an index that overflows": (line(1, ["requests", 1e300], v=1), {"malformed-operation": 1}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_operation_is_named_and_costs_nothing(name):
    operation, codes = HOSTILE[name]
    started = time.perf_counter()
    log, found = replay(encoded(SNAPSHOT, operation))

    assert found == codes
    assert len(log.state["requests"]) <= 2
    assert time.perf_counter() - started < 1


def test_all_lists_of_a_log_together_have_few_empty_places():
    log, codes = replay(encoded(line(0, v={}), *(line(2, [f"l{n}"], v=[1], i=HOLES // 2) for n in range(50))))

    assert sum(len(items) for items in log.state.values()) <= HOLES + 50
    assert codes == {"uncertain-place": 50}


def test_operations_beyond_the_limit_are_lost():
    log, codes = replay(encoded(SNAPSHOT, *(line(1, ["t"], v=n) for n in range(10))), operations=5)

    assert (log.state["t"], codes) == (3, {"too-many-operations": 6})


def tail_rewrites(count):
    """A list whose tail is cut off and written again, over and over."""
    items = [{"value": "x" * 20}] * 20
    return encoded(line(0, v={"requests": []}), *(line(2, ["requests"], v=items, i=n % 7) for n in range(count)))


def one_by_one(count):
    """A list filled by one operation and cut item by item by all others."""
    return encoded(line(0, v={"requests": [0] * count}), *(line(2, ["requests"], i=count - n) for n in range(count)))


@pytest.mark.parametrize("make", [tail_rewrites, one_by_one])
def test_a_replay_is_linear(make):
    def seconds(count):
        data = make(count)
        started = time.process_time()
        replay(data)
        return time.process_time() - started

    seconds(100)
    assert min(seconds(8_000) for _ in range(2)) < 8 * 3 * min(seconds(1_000) for _ in range(2)) + 0.1
