"""The comparison of readers: its words are each in one place, and this library has them all."""

import sys

from benchmarks import readers

import convparse


def test_every_word_stands_once_in_the_files():
    marked = readers.marked_session()

    data = (marked.healthy + marked.damaged).decode("utf-8", "replace")
    words = [word for group in readers.GROUPS for word in marked.words[group]]
    assert sorted(words) == sorted(readers.WORD.findall(data))
    assert [] == [group for group in readers.GROUPS if len(marked.words[group]) < 9]


def test_this_library_keeps_every_word_of_the_healthy_session_and_names_what_it_does_not_keep_of_the_other():
    marked = readers.marked_session()
    healthy, damaged = (convparse.parse_bytes(data, source="claude-code") for data in (marked.healthy, marked.damaged))

    kept = set(readers.WORD.findall("\n".join(readers.texts((healthy.conversations, healthy.loose)))))
    assert {word for group in readers.GROUPS if group != "da" for word in marked.words[group]} == kept
    kept = set(readers.WORD.findall("\n".join(readers.texts((damaged.conversations, damaged.loose)))))
    (missing,) = set(marked.words["da"]) - kept
    assert ["duplicate-key"] == [drop.code for drop in damaged.dropped if missing in drop.excerpt]


def test_a_reader_is_measured_in_a_process_of_its_own(tmp_path):
    marked = readers.marked_session()
    path = tmp_path / "a.jsonl"
    path.write_bytes(marked.healthy)

    assert sys.executable == readers.installed([sys.executable])["convparse"][0]
    words = readers.measured(sys.executable, "convparse", path)
    times = readers.measured(sys.executable, "convparse", path, path)
    assert words is not None
    assert times is not None
    assert set(marked.words["sa"]) <= set(words["words"])
    assert ([], True) == (times["words"], times["cpu"] > 0)


def test_a_reader_that_fails_is_told(tmp_path, capsys):
    assert None is readers.measured(sys.executable, "convparse", tmp_path / "none.jsonl")
    assert "convparse failed on none.jsonl: FileNotFoundError" in capsys.readouterr().err


def test_texts_are_found_in_slots_attributes_and_tables(tmp_path):
    import sqlite3

    class Slotted:
        __slots__ = ("one", "two")

    class Open:
        pass

    record, inside = Slotted(), Open()
    record.one, inside.other = inside, {"a": [("b", b"c")]}
    database = tmp_path / "a.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t (x, y)")
        connection.execute("INSERT INTO t VALUES ('d', 1)")
    connection.close()

    assert {"a", "b", "c", "other"} >= set(readers.texts(record)) >= {"a", "b", "c"}
    assert ["d"] == list(readers.texts(database))
