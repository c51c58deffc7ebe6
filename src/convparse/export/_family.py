"""Which conversation stands inside which: sub-agents under the one that started them, for formats that are a tree.

What comes in: conversations that are being read. What goes out: the children of each, and those that are nobody's. A
conversation that several name as theirs goes to the first, and links that lead in a circle are cut where it closes, so that
every conversation stands in the tree once.
"""

from collections.abc import Iterable, Iterator, Mapping

from convparse.export._account import Given


def family(given: Iterable[Given]) -> tuple[list[Given], dict[Given, list[Given]]]:
    """The roots, and the children of every conversation, in the order of the links."""
    talks = list(given)
    by_id = {talk.record.id: talk for talk in talks if talk.record.id is not None}
    parents: dict[Given, Given] = {}
    children: dict[Given, list[Given]] = {talk: [] for talk in talks}
    for talk in talks:
        for link in talk.record.links:
            child = by_id.get(link.id) if link.kind == "subagent" else None
            if child is not None and child not in parents and child not in _line(talk, parents):
                parents[child] = talk
                children[talk].append(child)
    return [talk for talk in talks if talk not in parents], children


def lineage(roots: Iterable[Given], children: Mapping[Given, list[Given]]) -> Iterator[Given]:
    """Every conversation, each before its children."""
    waiting = list(roots)[::-1]
    while waiting:
        talk = waiting.pop()
        yield talk
        waiting += children[talk][::-1]


def _line(talk: Given, parents: dict[Given, Given]) -> Iterable[Given]:
    """The conversation and those above it."""
    while True:
        yield talk
        if talk not in parents:
            return
        talk = parents[talk]
