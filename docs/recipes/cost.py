"""What every turn cost, by model, at your prices: ``python cost.py PRICES.json PATH…`` writes JSON lines.

PRICES.json has for every model what a million tokens cost, by the names of the columns. Those of the cache that lasts an hour
and of reasoning are parts of others, so a price for them is what they cost on top:
``{"claude-opus-5": {"input_tokens": 5, "cache_read_tokens": 0.5, "cache_write_tokens": 6.25, "output_tokens": 25}}``
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import convparse

TOKENS = [name for name in convparse.TABLES["messages"] if name.endswith("_tokens")]


def costs(result: convparse.ParseResult, prices: Mapping[str, Mapping[str, float]]) -> Iterator[dict[str, object]]:
    """A row for every turn and model; no turn is what was undone or belongs to none, no cost what has no price."""
    sums: dict[tuple[object, object, object], Counter[str]] = {}
    for row in convparse.iter_rows(result, "messages"):
        tokens = {name: value for name in TOKENS if isinstance(value := row[name], int)}
        if tokens:
            sums.setdefault((row["conversation_id"], row["turn_index"], row["model"]), Counter()).update(tokens)
    for (conversation, turn, model), counts in sums.items():
        price = prices.get(str(model))
        cost = None if price is None else sum(count * price.get(name, 0) for name, count in counts.items()) / 1e6
        yield {"conversation": conversation, "turn": turn, "model": model, "cost": cost, **counts}


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for found in chain.from_iterable(map(convparse.iter_conversations, sys.argv[2:])):
        for line in costs(found, given):
            print(json.dumps(line))
