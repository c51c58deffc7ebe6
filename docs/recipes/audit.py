"""What was run, fetched and changed: ``python audit.py REGEX PATH…`` writes JSON lines, and ends with 1 if REGEX is in any."""

import json
import re
import sys
from collections.abc import Iterator
from itertools import chain

import convparse

KINDS = ("execute", "fetch", "delete", "move")
ABOUT = ("timestamp", "state", "inherited", "conversation_id", "path", "line", "row_key")


def audit(result: convparse.ParseResult, regex: str) -> Iterator[dict[str, object]]:
    """A row for every command, fetch and change of a file, in messages of any state: what was taken back had been done."""
    calls = list(convparse.iter_rows(result, "tool_calls"))
    outcomes = {(row["message_key"], row["block_index"]): row["outcome"] for row in calls}
    done = [(row["kind"], row["command"] or row["input"], row) for row in calls if row["kind"] in KINDS]
    done += [(f"edit: {row['kind']}", row["file_path"], row) for row in convparse.iter_rows(result, "edits")]
    done += [("edit: move", row["new_path"], row) for row in convparse.iter_rows(result, "edits") if row["new_path"]]
    for kind, target, row in done:
        found = re.search(regex, str(target))
        yield {
            "kind": kind,
            "target": target,
            "outcome": outcomes.get((row["message_key"], row["block_index"])),
            "found": found and found[0],
            **{name: row[name] for name in ABOUT},
        }


if __name__ == "__main__":
    results = chain.from_iterable(map(convparse.iter_conversations, sys.argv[2:]))
    lines = [line for result in results for line in audit(result, sys.argv[1])]
    for line in lines:
        print(json.dumps(line, default=str))
    sys.exit(any(line["found"] is not None for line in lines))
