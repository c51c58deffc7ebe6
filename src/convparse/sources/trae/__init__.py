"""Trae: the editor's databases, the encrypted store, dumps, the memory library, terminal agents, ``trae-agent``.

``fields`` says what is known. ``editor`` selects rows, ``rows`` reads them (``messages``, ``steps``), ``resolve`` settles what
only the conversation can tell. The smaller formats have a module each; ``files`` finds and recognises them.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from convparse.ledger import Ledger
from convparse.sources._source import Source, Unit, Variant
from convparse.sources.codex import edits
from convparse.sources.codex import files as codex_files
from convparse.sources.codex import history as codex_history
from convparse.sources.codex import rows as codex_rows
from convparse.sources.trae import cli, editor, files, memory, resolve, rows, runtime, traex, trajectories
from convparse.sources.trae.fields import CODES, NEWEST, SKIPPED
from convparse.sources.trae.state import Draft


def _unread(units: Iterable[Unit], ledger: Ledger) -> Iterator[Draft]:
    """An encrypted database whose bytes were handed over: one unit, of which nothing can be had."""
    for _, place in units:
        ledger.unit("trae/encrypted-store", place)
    yield from ()


SOURCE: Final = Source(
    name="trae",
    product="Trae",
    newest=NEWEST,
    variants={
        "trajectory": Variant("document", trajectories.read, trajectories.resolve),
        "editor": Variant("sqlite", rows.read, resolve.resolve, store=editor.STORE),
        "encrypted-store": Variant("text", _unread, resolve.resolve),
        "runtime": Variant("document", runtime.read, runtime.resolve),
        "memory": Variant("jsonl", memory.read, memory.resolve, files.is_memory),
        "topics": Variant("text", memory.read_topics, memory.resolve),
        "cli-session": Variant("document", cli.read_session, cli.resolve),
        "cli-events": Variant("jsonl", cli.read_events, cli.resolve, files.is_event),
        "cli-traces": Variant("jsonl", cli.read_traces, cli.resolve, files.is_span),
        "traex": Variant("jsonl", codex_rows.read, traex.resolve_rollout, codex_files.is_line),
        "traex-zst": Variant("jsonl-zstd", codex_rows.read, traex.resolve_rollout, codex_files.is_line),
        "traex-history": Variant("jsonl", codex_history.read_history, traex.resolve_history, codex_files.is_prompt),
        "traex-index": Variant("jsonl", codex_history.read_index, traex.resolve_history, codex_files.is_name),
    },
    detect=files.detect,
    gather=files.gather,
    codes=CODES,
    skipped=SKIPPED,
    edits=edits.edits,
)
