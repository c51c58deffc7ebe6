"""The comparison of readers: its words are each in one place, and this library has them all."""

import sys

import pytest
from benchmarks import readers
from benchmarks.words import GROUPS, MARKED

import convparse


@pytest.fixture(params=MARKED)
def marked(request):
    return request.param, MARKED[request.param]()


def test_every_word_stands_in_the_files(marked):
    source, (healthy, damaged, words) = marked

    found = readers.WORD.findall((healthy + damaged).decode("utf-8", "replace"))
    given = [word for group in GROUPS for word in words[group]]
    assert set(given) == set(found)
    assert len(set(given)) == len(given)
    assert source == "codex" or len(given) == len(found)
    assert [group for group in GROUPS if len(words[group]) < 9] == ([] if source == "claude-code" else ["tw", "be"])


def test_this_library_keeps_every_word_of_the_healthy_session_and_names_what_it_does_not_keep_of_the_other(marked):
    source, (healthy, damaged, words) = marked
    whole, broken = (convparse.parse_bytes(data, source=source) for data in (healthy, damaged))

    kept = set(readers.WORD.findall("\n".join(readers.texts((whole.conversations, whole.loose)))))
    assert {word for group in GROUPS if group != "da" for word in words[group]} == kept
    kept = set(readers.WORD.findall("\n".join(readers.texts((broken.conversations, broken.loose)))))
    (missing,) = set(words["da"]) - kept
    assert ["duplicate-key"] == [drop.code for drop in broken.dropped if missing in drop.excerpt]


def test_a_reader_is_measured_in_a_process_of_its_own(tmp_path):
    marked = MARKED["claude-code"]()
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
    assert "/none.jsonl: FileNotFoundError" in capsys.readouterr().err


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
