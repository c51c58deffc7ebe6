"""Token counts, once per response.

The rows of one response repeat its usage, often not next to each other, and only the last holds the final numbers. Forks, fork
agents and resumed files copy rows: what was counted in one file of a session is not counted again in another.
"""

from collections.abc import Sequence

import attrs

from convparse.ledger import Ledger
from convparse.records import Usage
from convparse.sources.claude_code.state import Draft
from convparse.sources.claude_code.usage import spent_on_refusals

_AT = "/message/usage"


def settle_usage(threads: Sequence[tuple[Ledger, list[Draft]]]) -> None:
    """Leave usage on the last row of each response alone, in the first thread that has it."""
    counted: set[str] = set()
    for ledger, drafts in threads:
        last: dict[str, Draft] = {}
        copied: list[Draft] = []
        repeated: list[Draft] = []
        stopped: set[str] = set()
        for draft in drafts:
            if draft.name == "assistant":
                entry = draft.entry
                if entry.usage is not None:
                    response = entry.response_id or entry.key
                    if entry.inherited or response in counted:
                        entry.inherited = True
                        copied.append(draft)
                        continue
                    if entry.stop_reason is not None:
                        stopped.add(response)
                    if response in last:
                        repeated.append(last[response])
                    last[response] = draft
            elif draft.name == "system/compact_boundary":
                ledger.part("usage-not-recorded", draft.place, record=draft.name)
        _silence(copied, ledger, "inherited-usage")
        _silence(repeated, ledger, "repeated-usage")
        for response, draft in last.items():
            if response not in stopped or draft.facts is not None:
                _finish(draft, response in stopped, ledger)
        counted.update(last)


def _silence(drafts: list[Draft], ledger: Ledger, code: str) -> None:
    """Take usage away and name it, and what the row says of its cost, which is a part of it here."""
    priced = [draft.place for draft in drafts if draft.entry.usage.cost is not None]
    for draft in drafts:
        draft.entry.usage = None
    ledger.parts(code, [draft.place for draft in drafts], _AT, record="assistant")
    ledger.parts(code, priced, "/costUSD", record="assistant")


def _finish(draft: Draft, stopped: bool, ledger: Ledger) -> None:
    entry = draft.entry
    spent = spent_on_refusals((draft.facts or {}).get("iterations"))
    if spent is not None:
        entry.usage = entry.usage + spent
    if not stopped and entry.usage != Usage() and entry.model != "<synthetic>":
        entry.usage = attrs.evolve(entry.usage, provisional=True)
        ledger.part("provisional-usage", draft.place, _AT, record="assistant")
