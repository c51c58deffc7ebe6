"""What ChatCrystal's rules leave out of sessions, by kind of content and by reason: the tables of ``docs/chatcrystal.md``.

Every file below the paths that is of a format which those rules read is parsed and projected; files that belong to another
session's folder are read with it. A cell says how much is in the projection, of how much there is in the records.

``python -m benchmarks.reference PATH …``
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import convparse
from convparse import ConvparseError, Event, Message, ParseResult
from convparse.compat import chatcrystal
from convparse.compat.chatcrystal import CODES, Projection
from convparse.tables import tag_of

Counts: TypeAlias = Counter[tuple[str, str]]
"""By source and kind or code."""
KINDS: Final = {
    "prompts": "messages of a person",
    "text": "texts of a person or the model",
    "injected": "texts that the product put in",
    "thinking": "reasoning",
    "tool_call": "tool calls",
    "tool_result": "results of tools",
    "other": "answers, pictures, files, references, edits",
    "event": "events",
    "usage": "token counts",
}
_BLOCKS: Final = frozenset({"text", "injected", "thinking", "tool_call", "tool_result"})
_BESIDE: Final = frozenset({"subagents", "tool-results", "ModularData"})
"""Folders whose files belong to a session elsewhere."""


class Sums:
    """What was found in all files so far."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.there: Counts = Counter()
        self.told: Counts = Counter()
        self.reasons: Counts = Counter()
        self.twice: Counter[str] = Counter()

    def add(self, result: ParseResult) -> None:
        """Count one file."""
        projection = chatcrystal.project(result)
        if any(item.code == "chatcrystal/other-format" for item in projection.left_out):
            return
        source = result.source
        self.files[source] += 1
        self.reasons.update((source, item.code) for item in projection.left_out)
        keys = Counter(message.key for message in projection.messages)
        self.twice[source] += sum(count - 1 for count in keys.values())
        for kind, told in _contents(result, projection):
            self.there[source, kind] += 1
            self.told[source, kind] += told


def _contents(result: ParseResult, projection: Projection) -> Iterator[tuple[str, bool]]:
    """Everything in the records, by kind, and whether it is in the projection; a call whose name is not told is not."""
    said = {message.key for message in projection.messages}
    missing = {(item.key, item.block) for item in projection.left_out if item.what not in ("time", "sub-agent")}
    elsewhere = {item.key for item in projection.left_out if item.code == "chatcrystal/other-conversation"}
    for entry in (entry for talk in result.conversations for entry in talk.entries):
        if entry.key in elsewhere:
            continue  # counted with the file that it stands in
        if isinstance(entry, Event):
            yield "event", entry.key in said
            continue
        if entry.author == "human":
            yield "prompts", entry.key in said
        if entry.usage is not None:
            yield "usage", False
        yield from ((kind, (entry.key, number) not in missing) for number, kind in enumerate(_kinds(entry)))


def _kinds(message: Message) -> Iterator[str]:
    tags = (tag_of(type(block)) for block in message.blocks)
    yield from (tag if tag in _BLOCKS else "other" for tag in tags)


def sessions(paths: Iterable[Path]) -> Iterator[ParseResult]:
    """The sessions below the paths, each once."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not _BESIDE.intersection(file.parts):
                try:
                    yield convparse.parse(file)
                except ConvparseError:
                    continue


def table(sums: Sums) -> str:
    """The two tables in Markdown: what is told, of what there is; and how often each reason stands."""
    sources = sorted(sums.files)
    lines = [_row("", sources), _row("---", ["---:"] * len(sources)), _row("files", [sums.files[s] for s in sources])]
    for kind, name in KINDS.items():
        lines.append(_row(name, [_part(sums.told[s, kind], sums.there[s, kind]) for s in sources]))
    lines.append(_row("messages given a second time", [sums.twice[s] or "" for s in sources]))
    lines += ["", _row("reason", sources), _row("---", ["---:"] * len(sources))]
    found = [code for code in CODES if any(sums.reasons[s, code] for s in sources)]
    lines += [_row(f"`{code}`", [sums.reasons[s, code] or "" for s in sources]) for code in found]
    return "\n".join(lines)


def _part(told: int, there: int) -> str:
    return f"{told:,} of {there:,}" if there else ""


def _row(name: str, cells: Iterable[object]) -> str:
    return f"| {' | '.join([name, *(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in cells)])} |"


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="What ChatCrystal's rules leave out of the sessions below some paths.")
    parser.add_argument("paths", nargs="+", type=Path)
    sums = Sums()
    for result in sessions(parser.parse_args(arguments).paths):
        sums.add(result)
    print(table(sums))


if __name__ == "__main__":
    main()
