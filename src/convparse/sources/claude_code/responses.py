"""Token counts, once per response.

The rows of one response repeat its usage, often not next to each other, and only the last holds the final numbers. Forks, fork
agents and resumed files copy rows: what was counted in one file of a session is not counted again in another.
"""

import attrs

from convparse.ledger import Ledger
from convparse.records import Usage
from convparse.sources.claude_code.state import Draft
from convparse.sources.claude_code.usage import spent_on_refusals

_AT = "/message/usage"


def settle_usage(threads: list[tuple[Ledger, list[Draft], str | None]]) -> None:
    """Leave usage on the last row of each response alone, in the first thread that has it."""
    counted: dict[str, int] = {}
    for number, (ledger, drafts, _) in enumerate(threads):
        last: dict[str, Draft] = {}
        stopped: set[str] = set()
        for draft in drafts:
            if draft.name == "system/compact_boundary":
                ledger.part("usage-not-recorded", draft.place, record=draft.name)
            entry = draft.entry
            if draft.name != "assistant" or entry is None or entry.usage is None:
                continue
            response = entry.response_id or entry.key
            if entry.stop_reason is not None:
                stopped.add(response)
            if entry.inherited or counted.setdefault(response, number) != number:
                _silence(draft, ledger, "inherited-usage")
                entry.inherited = True
                continue
            if response in last:
                _silence(last[response], ledger, "repeated-usage")
            last[response] = draft
        for response, draft in last.items():
            _finish(draft, response in stopped, ledger)


def _silence(draft: Draft, ledger: Ledger, code: str) -> None:
    draft.entry.usage = None
    ledger.part(code, draft.place, _AT, record="assistant")


def _finish(draft: Draft, stopped: bool, ledger: Ledger) -> None:
    entry = draft.entry
    spent = spent_on_refusals((draft.facts or {}).get("iterations"))
    if spent is not None:
        entry.usage = entry.usage + spent
    if not stopped and entry.usage != Usage() and entry.model != "<synthetic>":
        entry.usage = attrs.evolve(entry.usage, provisional=True)
        ledger.part("provisional-usage", draft.place, _AT, record="assistant")
