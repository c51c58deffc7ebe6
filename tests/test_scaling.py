"""The work of docs/scaling on engines, against the same in one process: the same files, the same report."""

import os
import pickle
import sys
import weakref
from itertools import chain
from pathlib import Path

import pytest
from benchmarks import database

from convparse import TABLES as COLUMNS
from convparse import Found, discover, iter_conversations, iter_rows, parse_bytes

pq = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")

from docs.scaling.to_parquet import Told, results_of, write_part  # noqa: E402

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests/fixtures"
FILES = [
    *(("claude-code", f"claude_code/{name}.jsonl") for name in ("readme", "compaction", "reminder_tags")),
    *(("codex", f"codex/{name}.jsonl") for name in ("aborted", "call_kinds")),
    ("copilot", "copilot/version_1.json"),
    ("copilot-cli", "copilot_cli/sub_agents.jsonl"),
]
BAD = ("s3://bucket/bad", b"nothing known")
TABLES = ("messages", "tool_calls")


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    """Files of several products, a database, and the bytes of one of each."""
    folder = tmp_path_factory.mktemp("store")
    stored = folder / "state.vscdb"
    database.build(stored, 1, 400, "delete")
    files = [Found(source, str(FIXTURES / name)) for source, name in FILES]
    objects = [("s3://bucket/a", Path(files[0].path).read_bytes()), ("s3://bucket/db", stored.read_bytes())]
    return [*files, Found("cursor", str(stored)), *objects, BAD]


def parts_of(items, size=3):
    return [items[at : at + size] for at in range(0, len(items), size)]


def rows_in(folder, table):
    """All rows of a table, with their source, in an order of no meaning."""
    found = []
    for path in folder.glob(f"product=*/part=*/{table}.parquet"):
        source = path.parts[-3].removeprefix("product=")
        found += [(source, *row.values()) for row in pq.ParquetFile(path).read().to_pylist()]
    return sorted(found, key=repr)


def rows_of(items, table):
    """The same from the results themselves."""
    return sorted(
        ((result.source, *row.values()) for result in results_of(items, []) for row in iter_rows(result, table)), key=repr
    )


def bytes_in(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.parquet")}


@pytest.fixture(scope="module")
def here(items, tmp_path_factory):
    """What one process writes and tells."""
    folder = tmp_path_factory.mktemp("here")
    return folder, list(chain.from_iterable(write_part(part, str(folder), TABLES) for part in parts_of(items)))


def test_every_row_of_every_item_is_written_once(items, here):
    folder, _ = here

    for table in TABLES:
        assert len(rows_in(folder, table)) > 10
        assert rows_of(items, table) == rows_in(folder, table)
    assert {"claude-code", "codex", "copilot", "copilot-cli", "cursor"} == {
        path.name.removeprefix("product=") for path in folder.iterdir()
    }


def test_the_folder_is_one_data_set(here):
    folder, _ = here
    paths = [str(path) for path in folder.glob("product=*/part=*/messages.parquet")]

    table = pq.read_table(paths, partitioning="hive")

    assert table["source"].to_pylist() == table["product"].to_pylist()
    assert len(set(table["source"].to_pylist())) == 5


def test_the_report_says_what_became_of_every_item(items, here):
    _, report = here
    told = {item.name: item for item in report}

    assert [item[0] if isinstance(item, tuple) else item.path for item in items] == list(told)
    assert Told(items[0].path, 1, Path(items[0].path).stat().st_size, 85, None) == told[items[0].path]
    assert (6, 0) == (told[items[7].path].results, told[items[7].path].lost)  # five conversations, and what belongs to none
    assert (0, 0, 0) == told["s3://bucket/bad"][1:4]
    assert told["s3://bucket/bad"].error.startswith("UnknownSource: s3://bucket/bad: ")


def test_a_file_that_is_gone_costs_only_itself(items, tmp_path):
    report = write_part([Found("codex", str(tmp_path / "gone.jsonl")), items[0]], str(tmp_path / "out"))

    assert [True, False] == [item.error is not None and item.error.startswith("FileNotFoundError") for item in report]
    assert rows_of(items[:1], "messages") == rows_in(tmp_path / "out", "messages")


def test_a_part_that_is_done_again_writes_the_same_files(items, tmp_path):
    first = write_part(items, str(tmp_path))
    written = bytes_in(tmp_path)

    assert first == write_part(items, str(tmp_path))
    assert written == bytes_in(tmp_path)


def test_dask_writes_the_same_files_as_one_process(items, here, tmp_path):
    bag = pytest.importorskip("dask.bag")
    folder, expected = here

    parts = bag.from_sequence(items, partition_size=3)
    report = parts.map_partitions(write_part, str(tmp_path), TABLES).compute(scheduler="processes", num_workers=2)

    assert expected == report
    assert bytes_in(folder) == bytes_in(tmp_path)


def test_what_comes_back_is_small(here):
    _, report = here

    assert all(len(pickle.dumps(item)) < len(item.name) + len(item.error or "") + 120 for item in report)


def test_a_result_is_let_go_before_the_one_after_the_next(items):
    results = results_of(items[:4], [])
    first = weakref.ref(next(results))
    next(results)

    assert first() is None


def test_the_bytes_of_an_object_give_what_the_file_gives(items):
    (of_file,) = iter_conversations(items[0].path, items[0].source)
    of_bytes = parse_bytes(Path(items[0].path).read_bytes(), source="claude-code", name=items[0].path)

    assert of_file.conversations == of_bytes.conversations
    assert of_file.dropped == of_bytes.dropped


@pytest.mark.filterwarnings("default")
def test_spark_gives_the_same_rows_as_one_process(items, tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    from docs.scaling.on_spark import write
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(entry or os.curdir for entry in sys.path))
    (tmp_path / "stored").mkdir()
    stored = [(f"file:{tmp_path}/stored/{Path(name).name}", data) for name, data in items[8:]]
    for name, data in stored:
        Path(name.removeprefix("file:")).write_bytes(data)
    options = {"spark.ui.enabled": "false", "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    try:
        write(session, items[:8], f"{tmp_path}/stored", str(tmp_path / "out"))
    finally:
        session.stop()

    table = dataset.dataset(tmp_path / "out", partitioning="hive").to_table().to_pylist()
    written = [(row["source"], *(row[name] for name in COLUMNS["messages"])) for row in table if row["error"] is None]
    assert rows_of([*items[:8], *stored], "messages") == sorted(written, key=repr)
    (bad,) = [row for row in table if row["error"] is not None]
    assert (stored[-1][0], True) == (bad["path"], bad["error"].startswith(f"UnknownSource: {stored[-1][0]}: "))


def test_the_page_shows_the_code_that_is_tested():
    page = (ROOT / "docs/scaling.md").read_text("utf-8")

    for name in ("to_parquet", "on_spark"):
        assert (ROOT / f"docs/scaling/{name}.py").read_text("utf-8") in page


def test_parts_are_of_about_the_size_asked_for_the_largest_first(tmp_path):
    from benchmarks.scale import parts_of

    project = tmp_path / ".claude/projects/-p"
    project.mkdir(parents=True)
    for name, lines in (("a", 2), ("b", 9), ("c", 3), ("d", 1)):
        (project / f"{name}.jsonl").write_bytes(b'{"type":"mode","mode":"plan","sessionId":"x"}\n' * lines)

    names = [[Path(found.path).stem for found in part] for part in parts_of(str(tmp_path), 46 * 5)]

    assert [["b"], ["c", "a"], ["d"]] == names
    assert 4 == len(list(discover([tmp_path])))
