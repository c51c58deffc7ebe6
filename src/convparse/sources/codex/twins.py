"""Records that say the same thing twice or three times, made one.

What comes in: the drafts of a file, in file order. What goes out: the drafts without those that were folded into others. The
first record of a thing stands for it and keeps its place; the others' origins go into ``merged``. Its blocks are those of the
richest record; what another alone has goes to ``extra`` under ``merged/N`` and the pointer there.

Twins are known by their ids where these agree, else by equal texts in different grammars, the nearest first; two records of one
grammar are never twins, so that what is said twice stays two messages. Nothing is ever matched across the end of a turn.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from convparse.blocks import Text, Thinking
from convparse.ledger import Ledger, Place
from convparse.sources._reading import Extra
from convparse.sources.codex.authors import typed_text
from convparse.sources.codex.fields import PASSTHROUGH
from convparse.sources.codex.state import EVENT, ITEM, RESPONSE, Draft

_RANK: Final = {EVENT: 0, ITEM: 1, RESPONSE: 2}
_ID: Final = {RESPONSE: "/payload/id", ITEM: "/payload/item/id"}
_TURN: Final = {RESPONSE: f"/payload/{PASSTHROUGH}/turn_id", ITEM: "/payload/turn_id"}


_MARKS: Final = frozenset(
    "entered_review_mode EnteredReviewMode exited_review_mode ExitedReviewMode task_complete turn_aborted".split()
)


class Group:
    """One thing that was said, and the records of it so far."""

    __slots__ = ("first", "grammars", "parts", "rank")

    def __init__(self, first: Draft, parts: tuple[str, ...]) -> None:
        self.first = first
        self.parts = parts
        self.grammars: tuple[str, ...] = (first.grammar,)
        self.rank = _RANK[first.grammar]


Near: TypeAlias = dict[Any, list[Group]]
"""By their words, the last records that have them."""
NEAR: Final = 64
"""So many records of the same words are looked back on."""


def _note(near: Near, key: Any, group: Group) -> None:
    groups = near.setdefault(key, [])
    groups.append(group)
    if len(groups) > NEAR:
        del groups[0]


class Twins:
    """What is still open in a file while its drafts are gone through."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.late: list[Place] = []
        self.users: Near = {}
        self.last_user: Group | None = None
        self.said: Near = {}
        self.thought: Near = {}
        """Reasoning by its parts, as items tell it."""
        self.heard: Near = {}
        """Reasoning by the part that its event told."""
        self.unheard: Near = {}
        """Reasoning by the parts that no event has told yet."""
        self.ids: dict[tuple[str, str], Group] = {}
        self.reviewing = False
        self.reviewed: dict[tuple[str, tuple[str, ...]], Draft] = {}

    def fold(self, draft: Draft) -> bool:
        """True if the draft says again what an earlier one says, which then has it."""
        if draft.talk in FOLDS:
            if self.reviewing and draft.grammar == EVENT and self._repeats(draft):
                return True
            return FOLDS[draft.talk](self, draft)
        if draft.name in _MARKS:
            self._mark(draft.name)
        return False

    def _mark(self, name: str) -> None:
        if name in ("task_complete", "turn_aborted"):
            self.users.clear()
            self.last_user = None
        else:
            self.reviewing = name in ("entered_review_mode", "EnteredReviewMode")
            self.reviewed = {}

    def _repeats(self, draft: Draft) -> bool:
        """In a review inside a thread (0.104 to 0.150) every event stands twice."""
        first = self.reviewed.setdefault((draft.talk, draft.parts), draft)
        if draft.talk == "user":
            draft.facts = {"review": True}
        if first is draft or first.talk == "assistant":
            return False
        self.absorb(first, draft)
        return True

    def known(self, draft: Draft) -> Group | None:
        """The group that has a draft's id."""
        id = draft.entry.id
        return self.ids.get((draft.talk, id)) if id is not None else None

    def new(self, draft: Draft) -> Group:
        """A group of its own for a draft, known by its id."""
        group = Group(draft, draft.parts)
        if draft.entry.id is not None:
            self.ids[draft.talk, draft.entry.id] = group
        return group

    def absorb(self, first: Draft, other: Draft) -> None:
        """Fold a draft into another, but for its blocks; what repeats the draft will go there, too."""
        entry, late = first.entry, other.entry
        if self.reviewing and self.reviewed.get((other.talk, other.parts)) is other:
            self.reviewed[other.talk, other.parts] = first
        entry.merged = (*entry.merged, late.origin)
        if late.timestamp != entry.timestamp or late.timestamp_text != entry.timestamp_text:
            self.late.append(other.place)
        if more := own_facts(first, other):
            add_facts(first, more, len(entry.merged) - 1)

    def join(self, group: Group, other: Draft) -> None:
        """Fold a draft into a group, whose blocks become those of the richest record."""
        first = group.first
        rest = (other.facts or {}).get("rest")
        if _RANK[other.grammar] > group.rank:
            own = (first.facts or {}).get("rest")
            if own:
                first.extra.update(own)
            group.rank = _RANK[other.grammar]
            first.entry.blocks = other.entry.blocks
            first.facts = {**(first.facts or {}), **(other.facts or {})}
        elif rest:
            other.extra.update(rest)
        self.absorb(first, other)
        group.grammars = (*group.grammars, other.grammar)

    def late_times(self) -> None:
        """Name the times of the records that were folded, where they are others."""
        self.ledger.parts("codex/twin-time", self.late, "/timestamp", record="line")


def own_facts(first: Draft, other: Draft) -> Extra:
    """What a record says of itself that the one it is folded into does not: ids, its turn, whatever is beside its fields."""
    more = dict(other.opened())
    if other.id is not None and other.id != first.id and other.grammar in _ID:
        more[_ID[other.grammar]] = other.id
    if other.entry.turn_id != first.entry.turn_id and other.grammar in _TURN:
        more[_TURN[other.grammar]] = other.entry.turn_id
    return more


def add_facts(first: Draft, more: Extra, number: int) -> None:
    """Keep what the record ``merged[number]`` alone has."""
    extra = first.opened()
    known = {pointer.rpartition("/")[2]: value for pointer, value in extra.items()}
    for pointer, value in more.items():
        name = pointer.rpartition("/")[2]
        if name not in known or known[name] != value:
            extra[f"merged/{number}{pointer}"] = value


def _same_turn(a: Draft, b: Draft) -> bool:
    return a.entry.turn_id is None or b.entry.turn_id is None or a.entry.turn_id == b.entry.turn_id


def _same_id(a: Draft, b: Draft) -> bool:
    """False if both have ids of the API's own, and they differ; a migration gives items numbers for ids."""
    return a.id is None or b.id is None or a.id == b.id or _is_number(a.id) or _is_number(b.id)


def _is_number(id: str) -> bool:
    return id.rpartition("-")[2].isdigit() and "-" in id and len(id) < 16


def _fold_user(twins: Twins, draft: Draft) -> bool:
    text = typed_text(draft.entry.blocks)
    for group in reversed(twins.users.get(text, ())):
        if draft.grammar not in group.grammars and _same_turn(group.first, draft):
            _take_prompt(twins, group, draft)
            return True
    last = twins.last_user
    if last is not None and draft.grammar not in last.grammars and _starts(last, draft) and _same_turn(last.first, draft):
        _take_prompt(twins, last, draft)
        return True
    twins.last_user = Group(draft, draft.parts)
    _note(twins.users, text, twins.last_user)
    if draft.grammar != RESPONSE:
        _told(twins, draft)
    return False


def _take_prompt(twins: Twins, group: Group, draft: Draft) -> None:
    twins.join(group, draft)
    _told(twins, group.first)


def _told(twins: Twins, draft: Draft) -> None:
    """A prompt that a person sent: what the model said before it has all its records."""
    draft.facts = {**(draft.facts or {}), "told": True}
    for groups in (twins.said, twins.thought, twins.heard, twins.unheard):
        groups.clear()


def _starts(group: Group, draft: Draft) -> bool:
    """True if one of two records has only the first parts of the other: an item has no text of skills."""
    one, other = (group.first, draft) if draft.grammar != RESPONSE else (draft, group.first)
    text, whole = typed_text(other.entry.blocks), [block.text for block in one.entry.blocks if type(block) is Text]
    return bool(text) and any(text == "".join(whole[:n]) for n in range(1, len(whole)))


def _fold_answer(twins: Twins, draft: Draft) -> bool:
    text = "".join(draft.parts)
    groups = twins.said.get(text, [])
    known = twins.known(draft)
    candidates = (known,) if known is not None and known in groups else reversed(groups)
    found = next((g for g in candidates if draft.grammar not in g.grammars and _same_id(g.first, draft)), None)
    if found is None:
        _note(twins.said, text, twins.new(draft))
        return False
    twins.join(found, draft)
    return True


def _fold_thought(twins: Twins, draft: Draft) -> bool:
    if draft.grammar == EVENT:
        return _fold_thought_event(twins, draft)
    known = twins.known(draft)
    if known is not None and _grows(known, draft):
        _take_thought(twins, known, draft)
        return True
    if draft.parts:
        for group in reversed(twins.thought.get(draft.parts, ())):
            same = group.parts == draft.parts and _same_id(group.first, draft)
            if same and draft.grammar not in group.grammars:
                _take_thought(twins, group, draft)
                return True
        covering = _covering(twins, draft)
        if covering:
            _cover(twins, covering, draft)
            return True
    group = twins.new(draft)
    _note(twins.thought, draft.parts, group)
    _leave_open(twins, group, draft.parts)
    return False


def _leave_open(twins: Twins, group: Group, parts: Sequence[str]) -> None:
    """Note what an event may still tell."""
    for part in parts:
        _note(twins.unheard, part, group)


def _grows(group: Group, draft: Draft) -> bool:
    """True for the same reasoning of one id, told in another grammar, or again with more parts (migrated files)."""
    if draft.grammar in group.grammars:
        return draft.grammar == ITEM and group.parts == draft.parts[: len(group.parts)]
    return group.parts == draft.parts


def _take_thought(twins: Twins, group: Group, draft: Draft) -> None:
    first = group.first
    told = [b for b in draft.entry.blocks if type(b) is Thinking and not b.hidden]
    own = [b for b in first.entry.blocks if type(b) is not Thinking or (b.hidden and b.signature is not None)]
    hidden = [b for b in draft.entry.blocks if type(b) is Thinking and b.hidden and b not in own]
    first.entry.blocks = (*told, *own, *(b for b in hidden if b.signature is not None or not (told or own)))
    if draft.parts != group.parts:
        _leave_open(twins, group, draft.parts[len(group.parts) :])
        group.parts = draft.parts
        _note(twins.thought, draft.parts, group)
    group.grammars = (*group.grammars, draft.grammar)
    twins.absorb(first, draft)


def _fold_thought_event(twins: Twins, draft: Draft) -> bool:
    (part,) = draft.parts
    if open_groups := twins.unheard.get(part):
        twins.absorb(open_groups.pop().first, draft)
        return True
    _note(twins.heard, part, Group(draft, draft.parts))
    return False


def _covering(twins: Twins, draft: Draft) -> list[Group]:
    """The events that told parts of a reasoning, in their order."""
    found: dict[int, Group] = {}
    for part in reversed(draft.parts):
        for group in reversed(twins.heard.get(part, ())):
            if draft.grammar not in group.grammars and id(group) not in found:
                found[id(group)] = group
                break
    return sorted(found.values(), key=lambda group: group.first.place[1])


def _cover(twins: Twins, groups: Sequence[Group], draft: Draft) -> None:
    told = [part for group in groups for part in group.parts]
    more = []
    for block in draft.entry.blocks:
        if type(block) is Thinking and not block.hidden and block.text in told:
            told.remove(block.text)
        else:
            more.append(block)
    first = groups[0].first
    first.entry.blocks = (*first.entry.blocks, *more)
    _leave_open(twins, groups[0], [block.text for block in more if block.text])
    for group in groups:
        group.grammars = (*group.grammars, draft.grammar)
    if draft.id is not None:
        twins.ids[draft.talk, draft.id] = groups[0]
    twins.absorb(first, draft)


FOLDS: Final[dict[str, Callable[[Twins, Draft], bool]]] = {
    "user": _fold_user,
    "assistant": _fold_answer,
    "reasoning": _fold_thought,
}
"""What looks for the twin of each kind of talk."""


def fold(drafts: Sequence[Draft], ledger: Ledger) -> list[Draft]:
    """The drafts that stand for something."""
    twins = Twins(ledger)
    left = [draft for draft in drafts if not twins.fold(draft)]
    twins.late_times()
    return left
