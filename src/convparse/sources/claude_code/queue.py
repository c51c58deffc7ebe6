"""Prompts that a person queued while the model was busy.

``queue-operation`` rows are events. Their text most often comes again as a user row or a ``queued_command``; where it does not,
the queue is the only place a person's words are kept, and a message is made of it, once. What comes in: the drafts of one
thread. What goes out: for a draft's position, the message that stands behind its event.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from convparse.blocks import Block, Injected, Text
from convparse.ledger import Ledger
from convparse.records import Event, Message, State
from convparse.sources._reading import open_message
from convparse.sources.claude_code import tags
from convparse.sources.claude_code.state import Draft


def unsaid(drafts: Sequence[Draft], ledger: Ledger) -> dict[int, Any]:
    """The queued prompts that no other row gives, as open messages, by the position of the operation that does."""
    operations = [(at, draft) for at, draft in enumerate(drafts) if draft.name == "queue-operation"]
    said = Counter(text for draft in drafts if draft.name in _SAYING for text in _said(draft.entry))
    blocked = [draft.entry.text or "" for draft in drafts if draft.name == "system/informational" and _blocks_prompt(draft)]
    waiting = _Waiting()
    fates: dict[int, State] = {}
    for at, draft in operations:
        operation, texts = _facts(draft).get("operation"), _texts(draft)
        if operation == "enqueue":
            waiting.add(at, texts[0] if texts else None)
            fates[at] = "pending"
        elif operation in ("dequeue", "remove"):
            taken, text = waiting.take(texts[0] if texts else None)
            if taken is None or (text is None and texts):
                fates[at] = "active"
                if taken is not None:
                    del fates[taken]
            else:
                fates[taken] = "withdrawn" if text and any(text in notice for notice in blocked) else "active"
        elif operation == "popAll":
            waiting = _Waiting()
    _name_unrecorded(drafts, operations, ledger)
    return dict(_messages(drafts, fates, said))


def _facts(draft: Draft) -> dict[str, Any]:
    return draft.facts or {}


def _blocks_prompt(draft: Draft) -> bool:
    data = draft.entry.data if isinstance(draft.entry, Event) else None
    return data is not None and "promptSubmitEnding" in data.value


def _texts(draft: Draft) -> list[str]:
    """The texts of an operation's content: a string, or a list of blocks (since 2.1.63, from programs)."""
    entry = draft.entry
    if isinstance(entry, Event) and entry.text is not None:
        return [entry.text]
    content = _facts(draft).get("content")
    items = content if type(content) is list else []
    return [item["text"] for item in items if type(item) is dict and type(item.get("text")) is str]


_SAYING: Final = frozenset({"user", "attachment/queued_command"})


def _said(entry: Message) -> Iterator[str]:
    """What a row says, in the forms in which the queue may have it."""
    if entry.author == "tool":
        return
    texts = [block.text for block in entry.blocks if isinstance(block, Text | Injected)]
    yield from {"".join(texts).strip(), *(text.strip() for text in texts)}
    parts = {b.kind: _inner(b) for b in entry.blocks if type(b) is Injected}
    if "command-name" in parts:
        yield f"{parts['command-name']} {parts.get('command-args', '')}".strip()
    if "bash-input" in parts:
        yield f"!{parts['bash-input']}"


def _inner(block: Injected) -> str:
    return block.text.strip().removeprefix(f"<{block.kind}>").removesuffix(f"</{block.kind}>")


class _Waiting:
    """The prompts in the queue, the oldest first."""

    def __init__(self) -> None:
        self.order: OrderedDict[int, str | None] = OrderedDict()
        self.texts: dict[str | None, deque[int]] = {}

    def add(self, at: int, text: str | None) -> None:
        self.order[at] = text
        self.texts.setdefault(text, deque()).append(at)

    def take(self, text: str | None) -> tuple[int | None, str | None]:
        """Take out the prompt of that text, else one without text, else (if no text is asked for) the oldest."""
        for wanted in (text, None):
            waiting = self.texts.get(wanted, deque())
            while waiting:
                at = waiting.popleft()
                if at in self.order:
                    return at, self.order.pop(at)
        return self.order.popitem(last=False) if self.order and text is None else (None, None)


def _messages(drafts: Sequence[Draft], fates: dict[int, State], said: Counter[str]) -> Iterator[tuple[int, Any]]:
    for at, state in fates.items():
        event, texts = drafts[at].entry, [text for text in _texts(drafts[at]) if not _repeats(text, said)]
        if isinstance(event, Event) and texts:
            pieces = tuple(piece for text in texts for piece in tags.split(text))
            human = any(type(piece) is Text for piece in pieces)
            yield at, _message(event, pieces, state if human else "active", human)


def _repeats(text: str, said: Counter[str]) -> bool:
    text = text.strip()
    if said[text] > 0:
        said[text] -= 1
        return True
    return False


def _message(event: Event, blocks: tuple[Block, ...], state: State, human: bool) -> Any:
    return open_message(
        f"{event.key}:prompt",
        None,
        "queue-operation",
        "human" if human else "harness",
        blocks,
        event.timestamp,
        event.timestamp_origin,
        event.timestamp_text,
        state=state,
        origin=event.origin,
    )


def _name_unrecorded(drafts: Sequence[Draft], operations: list[tuple[int, Draft]], ledger: Ledger) -> None:
    """Name prompts that were taken up without their text being written anywhere (2.0.76 to 2.1.72)."""
    given = sum(draft.name == "attachment/queued_command" for draft in drafts)
    texts = sum(bool(_texts(draft)) for _, draft in operations)
    removed = [draft for _, draft in operations if _facts(draft).get("operation") == "remove" and not _texts(draft)]
    for draft in removed[given:] if not texts else []:
        ledger.part("prompt-not-recorded", draft.place, record="queue-operation")
