"""``parse`` and its kin where no product matters: containers, side files, databases, bad luck between two looks at a file.

Most tests bring a source of their own, as a stranger would: every unit becomes a loose event whose data is the unit's value.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import convparse
from convparse import SOURCES, Event, Json, Origin, Source, UnknownSource, detect, iter_conversations, parse, parse_bytes
from convparse._parse import CONTAINERS
from convparse.reading.operations import Log
from convparse.sources._source import Gathered, Variant

PLAIN = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1", "message": {"role": "user", "content": "Go."}}


def lines(*values):
    return b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in values)


def plain(value):
    """A unit's value as JSON."""
    return value.decode() if isinstance(value, bytes) else value.state if isinstance(value, Log) else value


def loose(parts, session):
    """An event for every unit."""
    events = []
    for part in parts:
        for at, (value, place) in enumerate(part.drafts):
            events.append(Event(f"{part.path}:{at}", "unit", "unit", data=Json.of(value), origin=Origin(part.path, *place)))
    return [], events


def stranger(container="jsonl", gather=None, resolve=loose):
    """A source that no list knows."""
    variant = Variant(container, lambda units, ledger: ((plain(value), place) for value, place in units), resolve)
    return Source(
        "stranger",
        "Stranger",
        "1",
        {"units": variant},
        detect=lambda head: None,
        gather=gather or (lambda path, variant, subagents: Gathered(((path, variant),))),
    )


def values(result):
    return [event.data.value for event in result.loose]


def codes(result):
    return [(drop.code, Path(drop.origin.path).name) for drop in (*result.dropped, *result.skipped)]


# ---- containers


def zstd_frame(data):
    """A zstd frame (RFC 8878) of one raw block: single segment, its size in one byte."""
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + (len(data) << 3 | 1).to_bytes(3, "little") + data


@pytest.mark.parametrize(
    ("container", "data", "expected"),
    [
        ("jsonl", b'{"type":"a"}\n{"type":"b"}\n', [{"type": "a"}, {"type": "b"}]),
        ("jsonl-joined", b'{"type":"a","t":"x\ny"}\n', [{"type": "a", "t": "x\ny"}]),
        ("document", b'{"a":\n 1}\n', [{"a": 1}]),
        ("racing-document", b'{"a":\n 1}\n', [{"a": 1}]),
        ("racing-document", b'{"a":1}{"type":"b"}]}', [{"a": 1}, {"type": "b"}]),
        ("text", b"one\ntwo\n", ["one\ntwo\n"]),
        ("mutation-log", lines({"kind": 0, "v": {"a": 1}}, {"kind": 1, "k": ["a"], "v": 2}), [{"a": 2}]),
    ],
)
def test_a_source_names_the_container_that_its_files_are_read_with(container, data, expected):
    assert expected == values(parse_bytes(data, source=stranger(container)))


def test_compressed_lines_are_accounted_for_by_their_decoded_bytes():
    pytest.importorskip("backports.zstd")

    found = parse_bytes(zstd_frame(b'{"type":"a"}\n'), source=stranger("jsonl-zstd"))

    assert ([{"type": "a"}], 13) == (values(found), found.account.size)
    assert found.account.balanced
    assert found.dropped == ()


@pytest.mark.parametrize("cut", [3, 21])
def test_compressed_lines_that_break_off_are_named(cut):
    pytest.importorskip("backports.zstd")
    frame = zstd_frame(b'{"type":"a"}\n') + zstd_frame(b'{"type":"b"}\n')

    found = parse_bytes(frame[: len(frame) - cut], source=stranger("jsonl-zstd"))

    assert [{"type": "a"}] == values(found)
    assert ("broken-compression", "") in codes(found)
    assert found.account.balanced


def test_every_container_but_databases_is_in_the_table():
    used = {variant.container for source in SOURCES.values() for variant in source.variants.values()}

    assert used - {"sqlite"} <= set(CONTAINERS)


# ---- files that are gone, cannot be read, or were not asked for


@pytest.fixture
def path(tmp_path):
    (tmp_path / "main.jsonl").write_bytes(b'{"type":"a"}\n')
    return tmp_path / "main.jsonl"


def test_a_file_that_goes_away_after_the_first_look_raises(path):
    def gather(given, variant, subagents):
        Path(given).unlink()
        return Gathered(((given, variant),))

    with pytest.raises(FileNotFoundError):
        parse(path, stranger(gather=gather))


def test_another_file_of_the_session_that_cannot_be_opened_is_named(path):
    other = path.with_name("other.jsonl")

    found = parse(path, stranger(gather=lambda given, variant, subagents: Gathered(((given, variant), (str(other), variant)))))

    assert [{"type": "a"}] == values(found)
    assert [("unreadable-file", "other.jsonl")] == codes(found)
    assert ["FileNotFoundError"] == [drop.excerpt for drop in found.dropped]
    assert [True, True] == [account.balanced for account in found.accounts]


def with_note(path, ask, unread=()):
    """The result of a source that asks so for a side file ``note``."""
    gathered = Gathered(((str(path), "units"),), {"note": str(path.with_name("note"))}, unread)
    source = stranger(gather=lambda *_: gathered, resolve=lambda parts, session: ask(session) or loose(parts, session))
    return parse(path, source)


def test_a_side_file_that_cannot_be_opened_is_named_and_none(path):
    given = []

    found = with_note(path, lambda session: given.append((session.note("note"), session.document("note"))))

    assert [(None, None)] == given
    assert ("unreadable-file", "note") in codes(found)


def test_a_side_file_is_read_once_and_counts_where_a_record_comes_from_it(path):
    path.with_name("note").write_bytes(b'{"b":2}')
    given = []

    def ask(session):
        given.extend([session.note("note"), session.note("note"), session.note("none")])
        (origin, data), _, _ = given
        return [], [Event("n", "note", "note", data.decode(), origin=origin)]

    found = with_note(path, ask)

    assert [b'{"b":2}', b'{"b":2}', None] == [note and note[1] for note in given]
    assert [(13, 0), (7, 7)] == [(a.size, a.mapped.bytes) for a in found.accounts]


def test_a_side_file_that_was_read_for_nothing_is_named(path):
    path.with_name("note").write_bytes(b'{"b":2}')

    found = with_note(path, lambda session: session.note("note") and None)

    assert [("unread-file", "note")] == codes(found)
    assert [7] == [drop.bytes for drop in found.dropped]
    assert [True, True] == [account.balanced for account in found.accounts]


def test_a_side_file_that_was_not_asked_for_is_named(path):
    path.with_name("note").write_bytes(b'{"b":2}')

    found = with_note(path, lambda session: None)

    assert [("unread-file", "note")] == codes(found)


def test_an_unread_file_that_is_gone_is_named_without_bytes(path):
    found = with_note(path, lambda session: None, unread=((str(path.with_name("gone")), "skipped-file"),))

    assert [("unread-file", 0), ("skipped-file", 0)] == [(drop.code, drop.bytes) for drop in (*found.dropped, *found.skipped)]


def test_entries_without_bytes_of_their_own_count_for_nothing():
    def resolve(parts, session):
        nowhere, at_line = Event("n", "made", "made"), Origin("f", 1)
        return [], [*loose(parts, session)[1], nowhere, Event("l", "made", "made", merged=(at_line,), origin=at_line)]

    found = parse_bytes(b'{"type":"a"}\n', source=stranger(resolve=resolve), name="f")

    assert (3, 1, 13) == (len(found.loose), found.account.mapped.units, found.account.mapped.bytes)
    assert found.account.balanced


# ---- detection


def test_the_beginning_of_a_large_file_tells_what_it_is():
    data = lines(PLAIN) + lines({**PLAIN, "uuid": "u2", "message": {"role": "user", "content": "x" * (300 << 10)}})

    assert "transcript" == parse_bytes(data).variant


def test_one_line_longer_than_the_beginning_tells_nothing():
    with pytest.raises(UnknownSource, match="nothing in its beginning decodes as JSON"):
        parse_bytes(lines({**PLAIN, "message": {"role": "user", "content": "x" * (300 << 10)}}))


def test_the_folder_of_a_session_with_its_events_in_it_means_them(tmp_path):
    event = {"type": "session.start", "data": {"sessionId": "c1"}, "id": "e1", "timestamp": "2026-09-01T08:00:01.000Z"}
    (tmp_path / "events.jsonl").write_bytes(lines({**event, "parentId": None}))

    assert ("copilot-cli", "events") == (detect(tmp_path).source, detect(tmp_path).variant)


def test_the_list_of_sources_shows_their_names():
    assert f"<sources: {', '.join(SOURCES)}>" == repr(SOURCES)
    assert len(SOURCES) == len(list(SOURCES))


# ---- databases


@pytest.fixture
def database(tmp_path):
    """A store of Cursor's with one conversation."""
    file = tmp_path / "state.vscdb"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        row = {"_v": 3, "composerId": "c1", "name": "Rivers", "fullConversationHeadersOnly": [], "conversationMap": {}}
        connection.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c1', ?)", [json.dumps(row)])
    return file


def test_a_database_is_detected_by_its_tables(database):
    assert ("cursor", "editor") == (detect(database).source, detect(database).variant)


def test_bytes_of_a_database_are_read_like_the_file(database):
    found = parse_bytes(database.read_bytes(), name=str(database))

    assert [("c1", "Rivers")] == [(c.id, c.title) for c in found.conversations]
    assert [(c.id, c.title) for c in parse(database).conversations] == [(c.id, c.title) for c in found.conversations]
    assert "bytes" == found.snapshot.method


def test_a_database_gives_its_conversations_one_by_one_and_then_the_rest(database):
    found = list(iter_conversations(database))

    assert [["c1"], []] == [[c.id for c in result.conversations] for result in found]


def test_conversations_that_are_known_are_passed_over(database):
    first = next(iter(iter_conversations(database)))

    again = list(iter_conversations(database, known=[first.conversation.stamp]))

    assert [[]] == [[c.id for c in result.conversations] for result in again]


def test_a_file_that_is_no_database_gives_the_one_result_of_parse(tmp_path):
    file = tmp_path / "s1.jsonl"
    file.write_bytes(lines(PLAIN))

    assert [parse(file)] == list(iter_conversations(file))


def test_a_database_that_no_source_knows_is_refused(tmp_path):
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE talk (words TEXT)")

    with pytest.raises(UnknownSource, match="an SQLite database that no source knows"):
        detect(file)


# ---- the package


def test_the_version_is_that_of_the_installed_distribution(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} 1.2.3")

    assert "convparse 1.2.3" == convparse.__version__


@pytest.mark.parametrize("name", convparse.__all__)
def test_a_public_name_is_listed_and_there_whenever_its_module_is_loaded(name):
    assert name in dir(convparse)
    assert getattr(convparse, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'convparse' has no attribute 'pars'"):
        convparse.pars  # noqa: B018 - the look-up raises
