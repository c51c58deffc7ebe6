"""The tables of ``iter_rows`` for Arrow and Parquet, with pinned schemas. Needs ``pip install 'convparse[arrow]'``.

What comes in: results, one or any number, each looked at once. What goes out: record batches of at most so many rows, tables,
or Parquet files written batch by batch, so that memory holds the rows of one batch and one result at a time.

The schema of a table depends on nothing but its columns. What Arrow cannot hold is changed the least: an integer over 64 bits
becomes null, half of a surrogate pair (in the path of a file whose name is not UTF-8) its escape. Times are in UTC.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from convparse.errors import ConvparseError
from convparse.result import ParseResult
from convparse.rows import iter_rows
from convparse.tables import TABLES, Row

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise ImportError("convparse.export.arrow needs pyarrow: pip install 'convparse[arrow]'", name="pyarrow") from error

VERSION: Final = "1"
"""The number of the schemas, in their metadata under ``convparse``; every change of ``TABLES`` is a new one."""
BATCH: Final = 10_000
"""Rows of a batch, unless told otherwise."""

_TYPES: Final[dict[type, pa.DataType]] = {
    str: pa.large_string(),  # one text may have 64 MiB, and a batch more than the 2 GiB that plain strings can hold
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us", tz="UTC"),
}


def arrow_schema(table: str) -> pa.Schema:
    """The schema of a table of ``TABLES``; every column may be null."""
    if table not in TABLES:
        raise ConvparseError(f"there is no table {table!r}; there are: {', '.join(TABLES)}")
    fields = [pa.field(name, _TYPES[kind]) for name, kind in TABLES[table].items()]
    return pa.schema(fields, metadata={"convparse": VERSION, "table": table})


def iter_batches(results: ParseResult | Iterable[ParseResult], table: str, *, rows: int = BATCH) -> Iterator[pa.RecordBatch]:
    """The rows of a table as record batches of ``rows`` rows, the last one shorter."""
    schema = arrow_schema(table)
    _check(rows)
    return _batches(_each(results), table, schema, rows)


def to_arrow(results: ParseResult | Iterable[ParseResult], table: str) -> pa.Table:
    """All rows of a table, in memory."""
    return pa.Table.from_batches(iter_batches(results, table), arrow_schema(table))


def write_parquet(
    results: ParseResult | Iterable[ParseResult],
    folder: str | os.PathLike[str],
    *,
    tables: Iterable[str] = tuple(TABLES),
    rows: int = BATCH,
) -> dict[str, Path]:
    """Write ``TABLE.parquet`` for every table into a folder, in one pass over the results; the paths, by table.

    A row group has ``rows`` rows or those of one result, whichever is more. Files take their names, in place of earlier ones,
    when all are complete: an error, here or in the results, leaves what was there.
    """
    schemas = {table: arrow_schema(table) for table in ([tables] if isinstance(tables, str) else tables)}
    _check(rows)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    drafts = {table: place / f".{table}.parquet.{os.getpid()}.part" for table in schemas}
    try:
        _write_drafts(_each(results), schemas, drafts, rows)
        return {table: draft.replace(place / f"{table}.parquet") for table, draft in drafts.items()}
    finally:
        for draft in drafts.values():
            with suppress(FileNotFoundError):
                draft.unlink()


def _check(rows: int) -> None:
    if rows < 1:
        raise ConvparseError(f"a batch has at least one row, not {rows}")


def _each(results: ParseResult | Iterable[ParseResult]) -> Iterable[ParseResult]:
    return (results,) if isinstance(results, ParseResult) else results


def _write_drafts(results: Iterable[ParseResult], schemas: dict[str, pa.Schema], drafts: dict[str, Path], rows: int) -> None:
    with ExitStack() as stack:
        writers = {
            table: stack.enter_context(pq.ParquetWriter(drafts[table], schema, compression="zstd"))
            for table, schema in schemas.items()
        }
        waiting: dict[str, list[Row]] = {table: [] for table in schemas}
        for result in results:
            for table, found in waiting.items():
                found += iter_rows(result, table)
                if len(found) >= rows:
                    writers[table].write_batch(_batch(found, schemas[table]))
                    found.clear()
        for table, found in waiting.items():
            writers[table].write_batch(_batch(found, schemas[table]))


def _batches(results: Iterable[ParseResult], table: str, schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
    found = (row for result in results for row in iter_rows(result, table))
    while batch := list(islice(found, rows)):
        yield _batch(batch, schema)


def _batch(rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
    kinds = zip(schema.names, schema.types, strict=True)
    return pa.RecordBatch.from_arrays([_column([row[name] for row in rows], kind) for name, kind in kinds], schema=schema)


def _column(values: list[Any], kind: pa.DataType) -> "pa.Array[Any]":
    try:
        return pa.array(values, kind)
    except (OverflowError, UnicodeEncodeError, pa.ArrowInvalid):
        return pa.array([_held(value) for value in values], kind)


def _held(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value if not isinstance(value, int) or -(2**63) <= value < 2**63 else None
