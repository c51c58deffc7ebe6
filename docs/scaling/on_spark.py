"""Session files, databases and objects of a store to Parquet on Spark, with ``mapInPandas``."""

from collections.abc import Iterable, Iterator

import pandas
import pyarrow as pa
from docs.scaling.to_parquet import Told, results_of
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from convparse import Found
from convparse.export import arrow

TABLE = "messages"
COLUMNS = arrow.arrow_schema(TABLE).append(pa.field("error", pa.string()))
"""Those of the table, and why an item gives no rows, which stands in a row of its own."""


def write(spark: SparkSession, founds: Iterable[Found], objects: str, folder: str) -> None:
    """Write the rows of files that all workers have, and of objects, as ``s3a://sessions/*``, partitioned by source."""
    rows = [(found.source, found.path, None) for found in founds]
    files = spark.createDataFrame(rows, "source string, path string, content binary")
    stored = spark.read.format("binaryFile").load(objects).selectExpr("'' source", "path", "content")
    found = files.union(stored).mapInPandas(rows_of, from_arrow_schema(COLUMNS))
    found.write.partitionBy("source").parquet(folder)


def rows_of(frames: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
    """The rows of items: ``source`` and ``path`` of files, ``path`` and ``content`` of objects."""
    for frame in frames:
        report: list[Told] = []
        rows = zip(frame["source"], frame["path"], frame["content"], strict=True)
        items = [Found(source, path) if data is None else (path, bytes(data)) for source, path, data in rows]
        for batch in arrow.iter_batches(results_of(items, report), TABLE, rows=1000):
            yield batch.to_pandas(integer_object_nulls=True).assign(error=None)
        errors = [{"path": told.name, "error": told.error} for told in report if told.error is not None]
        yield pa.Table.from_pylist(errors, COLUMNS).to_pandas(integer_object_nulls=True)
