"""Arrow and Parquet: the same rows, a pinned schema, bounded batches, and files that are whole or not there."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.results import AT, EMPTY, EVERYTHING, fixture_results

from convparse import TABLES, ConvparseError, ParseResult, Usage, iter_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("convparse.export.arrow")

KINDS = {str: "large_string", int: "int64", float: "double", bool: "bool", datetime: "timestamp[us, tz=UTC]"}


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as Arrow can hold them."""
    return [
        {name: None if isinstance(value, int) and abs(value) >= 2**63 else value for name, value in row.items()} for row in rows
    ]


@pytest.mark.parametrize("table", TABLES)
def test_the_schema_is_that_of_the_columns(table: str):
    schema = arrow.arrow_schema(table)

    assert {field.name: str(field.type) for field in schema} == {name: KINDS[kind] for name, kind in TABLES[table].items()}
    assert schema.metadata == {b"convparse": b"1", b"table": table.encode()}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_rows(table: str):
    made = arrow.to_arrow(EVERYTHING, table)

    assert made.schema.equals(arrow.arrow_schema(table), check_metadata=True)
    assert made.to_pylist() == plain(list(iter_rows(EVERYTHING, table)))


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_rows_of_all_fixtures(table: str):
    results = fixture_results().values()

    assert arrow.to_arrow(iter(results), table).num_rows == sum(1 for result in results for _ in iter_rows(result, table))


def test_times_are_in_utc():
    (value,) = set(arrow.to_arrow(EVERYTHING, "tool_calls").column("timestamp").to_pylist())

    assert (value, value.utcoffset()) == (AT, UTC.utcoffset(None))


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70])
def test_a_number_over_64_bits_is_null_and_no_other(number: int):
    messages = [attrs.evolve(EVERYTHING.loose[1], usage=Usage(n)) for n in (number, 2**63 - 1, -(2**63), None)]
    made = arrow.to_arrow(ParseResult("x", "y", "", loose=tuple(messages)), "messages")

    assert [None, 2**63 - 1, -(2**63), None] == made.column("input_tokens").to_pylist()


def test_a_path_that_is_not_utf8_is_escaped():
    event = attrs.evolve(EVERYTHING.loose[0], origin=attrs.evolve(EVERYTHING.loose[0].origin, path="/a\udce9é"))
    made = arrow.to_arrow(ParseResult("x", "y", "", loose=(event, EVERYTHING.loose[0])), "events")

    assert ["/a\\udce9é", "/home/ada/a.jsonl"] == made.column("path").to_pylist()


def test_batches_have_the_rows_that_were_asked_for():
    (whole,) = arrow.iter_batches(EVERYTHING, "blocks")
    batches = list(arrow.iter_batches([EVERYTHING, EVERYTHING], "blocks", rows=7))

    assert [7] * (len(batches) - 1) == [batch.num_rows for batch in batches[:-1]]
    assert sum(batch.num_rows for batch in batches) == 2 * whole.num_rows
    assert [] == list(arrow.iter_batches([], "blocks"))
    assert arrow.to_arrow(EMPTY, "blocks").num_rows == 0


def test_results_are_looked_at_one_by_one():
    seen: list[int] = []

    def results() -> Iterator[ParseResult]:
        for number in range(10):
            seen.append(number)
            yield EVERYTHING

    batches = arrow.iter_batches(results(), "messages", rows=4)
    assert seen == []
    next(batches)
    assert seen == [0]


@pytest.mark.parametrize("rows", [2, 10_000])
def test_parquet_files_have_the_rows_of_every_table(tmp_path: Path, rows: int):
    paths = arrow.write_parquet(iter([EVERYTHING, EMPTY, EVERYTHING]), tmp_path / "new" / "folder", rows=rows)

    assert paths == {table: tmp_path / "new" / "folder" / f"{table}.parquet" for table in TABLES}
    for table, path in paths.items():
        made = pq.read_table(path)
        assert made.to_pylist() == plain([*iter_rows(EVERYTHING, table), *iter_rows(EVERYTHING, table)])
        assert made.schema.equals(arrow.arrow_schema(table), check_metadata=True)
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == {f"{table}.parquet" for table in TABLES}


@pytest.mark.parametrize("tables", ["turns", ["turns"]])
def test_only_the_tables_that_are_named_are_written(tmp_path: Path, tables: Any):
    assert arrow.write_parquet([], str(tmp_path), tables=tables) == {"turns": tmp_path / "turns.parquet"}
    assert pq.read_table(tmp_path / "turns.parquet").schema.equals(arrow.arrow_schema("turns"), check_metadata=True)


def test_after_an_error_what_was_there_is_still_there(tmp_path: Path):
    arrow.write_parquet(EVERYTHING, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def results() -> Iterator[ParseResult]:
        yield EMPTY
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        arrow.write_parquet(results(), tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_bad_calls_are_refused_before_anything_is_read(tmp_path: Path):
    for call in (lambda: arrow.to_arrow([], "turn"), lambda: arrow.write_parquet([], tmp_path / "new", tables=["turn"])):
        with pytest.raises(ConvparseError, match="no table 'turn'; there are: conversations"):
            call()
    for call in (lambda: arrow.iter_batches([], "turns", rows=0), lambda: arrow.write_parquet([], tmp_path / "new", rows=0)):
        with pytest.raises(ConvparseError, match="at least one row, not 0"):
            call()
    assert not (tmp_path / "new").exists()


def test_without_pyarrow_the_error_names_the_extra():
    code = "import sys; sys.modules['pyarrow'] = None\ntry: import convparse.export.arrow\nexcept ImportError as e: print(e)"

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert told == "convparse.export.arrow needs pyarrow: pip install 'convparse[arrow]'\n"


def test_pyarrow_is_loaded_only_when_it_is_used():
    code = "import sys, convparse, convparse.export; convparse.iter_rows; print('pyarrow' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_missing_extra_is_named_in_this_process_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "convparse.export.arrow")

    with pytest.raises(ImportError, match=r"pip install 'convparse\[arrow\]'"):
        __import__("convparse.export.arrow")
