"""Results, conversations, drops and accounts as HTML, for notebooks.

What comes in: a record. What goes out: one element, the same for the same record, of bounded size whatever the record holds;
what is not shown is counted. Loaded when a notebook asks for it. Nothing is read, nothing is fetched, nothing runs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from convparse._markup import (
    NOTHING,
    Markup,
    bar,
    clipped,
    count,
    element,
    facts,
    folded,
    join,
    page,
    section,
    table,
    tag,
    text,
)
from convparse.blocks import (
    Answer,
    Attachment,
    Block,
    Edit,
    Image,
    Injected,
    Json,
    Reference,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from convparse.drops import Account, Drop
from convparse.records import Conversation, Entry, Event, Message, Usage
from convparse.result import ParseResult
from convparse.views import ToolUse, Turn

TEXTS: Final = 100_000
"""How many characters of entries a page shows."""
LONGEST: Final = 4_000
"""How many characters of one text are shown."""
BLOCKS: Final = 8
"""How many blocks of one message are shown."""
ENTRIES: Final = 30
"""How many entries a page shows: two thirds from the beginning, one from the end."""
CONVERSATIONS: Final = 12
TURNS: Final = 60
ROWS: Final = 60
"""How many rows a table of drops, or of files, has."""
FATES: Final = ("lost", "altered", "unknown", "skipped")
"""The worst first."""

_Outcomes: TypeAlias = Mapping[tuple[str, Block], str]
"""By the key of the message and the call in it."""
_Told: TypeAlias = tuple[str, str, str, bool]
"""What a block is called, more about it, what it says, and whether that is something like a program."""


# ---- pages -----------------------------------------------------------------------------------------------------------------


def of_result(result: ParseResult) -> Markup:
    """The account, what was dropped and skipped, and the conversations, both ends of each."""
    return page(
        element(
            "div", element("b", clipped(result.source)), text(" "), clipped(result.variant), text(" "), clipped(result.path)
        ),
        _figures(result),
        bar(result.account),
        _files(result.accounts),
        _drops("dropped", result.dropped),
        _drops("skipped", result.skipped),
        *_conversations(result),
    )


def of_conversation(conversation: Conversation) -> Markup:
    """The facts, the turns, and both ends of the entries."""
    uses = conversation.tool_calls()
    return page(
        element("div", _name(conversation)),
        _facts(conversation, uses),
        _turns(conversation.turns()),
        *_entries(conversation.entries, uses, ENTRIES, TEXTS),
    )


def of_drops(drops: Sequence[Drop]) -> Markup:
    """The list, the worst first."""
    return page(element("div", _by_fate(drops) if drops else text("no drops")), *_drop_table(drops))


def of_account(account: Account) -> Markup:
    """The bar, and the same in figures."""
    return page(element("div", element("b", clipped(account.path)), text(" "), count(account.size, "byte")), bar(account))


# ---- results ---------------------------------------------------------------------------------------------------------------


def _figures(result: ParseResult) -> Markup:
    talks = result.conversations
    return facts(
        count(len(talks), "conversation"),
        *_kinds(entry for talk in talks for entry in talk.entries),
        count(sum(len(talk.tool_calls()) for talk in talks), "tool call"),
        _tokens(sum((talk.usage for talk in talks), Usage())),
        count(result.account.size, "byte"),
    )


def _kinds(entries: Iterable[Entry]) -> list[Markup]:
    events = [isinstance(entry, Event) for entry in entries]
    return [count(events.count(False), "message"), count(sum(events), "event") if any(events) else NOTHING]


def _tokens(usage: Usage) -> Markup:
    read = [n for n in (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) if n is not None]
    told = [f"{sum(read):,} tokens read"] if read else []
    told += [] if usage.output_tokens is None else [f"{usage.output_tokens:,} tokens written"]
    return text(", ".join(told))


def _files(accounts: Sequence[Account]) -> Markup:
    if len(accounts) < 2:
        return NOTHING
    names = [name for name in Account("", 0).bins if any(account.bins[name].bytes for account in accounts)]
    rows = [
        [clipped(account.path), *(text(f"{number:,}") for number in (account.size, *(account.bins[n].bytes for n in names)))]
        for account in accounts[:ROWS]
    ]
    rest = accounts[ROWS:]
    more = [_more(count(len(rest), "more file"), count(sum(account.size for account in rest), "byte"))] if rest else []
    return section(count(len(accounts), "file"), table(["file", "bytes", *names], rows, numbers={"bytes", *names}), *more)


def _conversations(result: ParseResult) -> Iterator[Markup]:
    shown, rest = result.conversations[:CONVERSATIONS], result.conversations[CONVERSATIONS:]
    parts = max(1, len(shown) + bool(result.loose))
    entries, room = max(3, ENTRIES // parts), TEXTS // parts
    parents = {link.id: talk for talk in result.conversations for link in talk.links if link.kind == "subagent"}
    for talk in shown:
        parent = parents.get(talk.id or "")
        mark = NOTHING if parent is None else join(text(" "), tag("sub-agent"), text(" of "), _title(parent))
        uses = talk.tool_calls()
        inside = (_facts(talk, uses), *_entries(talk.entries, uses, entries, room))
        yield section(join(_name(talk), mark), *inside, opened=talk is shown[0])
    if rest:
        yield _more(count(len(rest), "more conversation"), *_kinds(entry for talk in rest for entry in talk.entries))
    if result.loose:
        heading = join(element("b", text("loose")), text(": in no conversation"))
        yield section(heading, facts(*_kinds(result.loose)), *_entries(result.loose, (), entries, room), opened=not shown)


def _more(*told: Markup) -> Markup:
    parts = [part for part in told if part]
    return element("div", text("… "), *(join(part, text(", ")) for part in parts[:-1]), parts[-1], cls="cp-quiet")


# ---- drops -----------------------------------------------------------------------------------------------------------------


def _drops(name: str, drops: Sequence[Drop]) -> Markup:
    if not drops:
        return element("div", element("b", text(name)), text(": nothing"), cls="cp-section")
    lost = any(drop.fate == "lost" for drop in drops)
    return section(join(element("b", text(name)), text(": "), _by_fate(drops)), *_drop_table(drops), opened=lost)


def _by_fate(drops: Sequence[Drop]) -> Markup:
    """How many places, and of how many kinds."""
    places: Counter[str] = Counter()
    for drop in drops:
        places[drop.fate] += drop.count
    told = [join(tag(f"{places[fate]:,} {fate}", fate), text(" ")) for fate in FATES if fate in places]
    return join(*told, count(len(drops), "kind"))


def _drop_table(drops: Sequence[Drop]) -> Iterator[Markup]:
    ranked = sorted(drops, key=lambda drop: FATES.index(drop.fate))
    if ranked:
        yield table(["", "what", "where", "times", "bytes"], map(_drop_row, ranked[:ROWS]), numbers={"times", "bytes"})
    if rest := ranked[ROWS:]:
        yield _more(count(len(rest), "more kind"), *(text(f"{n:,} {fate}") for fate, n in _kinds_by_fate(rest)))


def _kinds_by_fate(drops: Sequence[Drop]) -> list[tuple[str, int]]:
    return list(Counter(drop.fate for drop in drops).items())


def _drop_row(drop: Drop) -> list[Markup]:
    place = (drop.origin.line, drop.origin.table, drop.origin.key)
    where = ":".join([drop.origin.path.rpartition("/")[2], *(str(part) for part in place if part is not None)])
    excerpt = element("div", clipped(drop.excerpt), cls="cp-code cp-quiet") if drop.excerpt else NOTHING
    about = " ".join(part for part in (drop.record, drop.pattern) if part)
    return [
        tag(drop.fate, drop.fate),
        join(element("b", clipped(drop.code)), text(" "), clipped(drop.message), excerpt),
        join(clipped(where), element("div", clipped(about), cls="cp-code cp-quiet")),
        text(f"{drop.count:,}"),
        text(f"{drop.bytes:,}" if drop.bytes else ""),
    ]


# ---- conversations ---------------------------------------------------------------------------------------------------------


def _title(conversation: Conversation) -> Markup:
    return clipped(conversation.title or conversation.id or "no title", 60)


def _name(conversation: Conversation) -> Markup:
    named = clipped(conversation.id or "no id")
    if conversation.title is None:
        return element("b", named)
    return join(element("b", clipped(conversation.title)), text(" "), element("small", named))


def _facts(conversation: Conversation, uses: Sequence[ToolUse]) -> Markup:
    models = Counter(message.model for message in conversation.messages if message.model is not None)
    where = conversation.context
    return facts(
        NOTHING if conversation.body == "complete" else tag(f"body: {conversation.body}", "lost"),
        tag("newer than is known here", "altered") if conversation.newer else NOTHING,
        *_kinds(conversation.entries),
        _calls(uses),
        _tokens(conversation.usage),
        _span(conversation.first_at, conversation.last_at),
        *(clipped(model, 40) for model, _ in models.most_common(3)),
        count(len(models) - 3, "more model") if len(models) > 3 else NOTHING,
        *(clipped(part, 80) for part in (where and where.cwd, where and where.git_branch, where and where.version) if part),
    )


def _calls(uses: Sequence[ToolUse]) -> Markup:
    outcomes = Counter(use.outcome for use in uses)
    failed = "".join(f", {number:,} {outcome}" for outcome, number in outcomes.items() if outcome != "ok")
    return join(count(len(uses), "tool call"), text(failed)) if uses else NOTHING


def _span(first: datetime | None, last: datetime | None) -> Markup:
    if first is None or last is None:
        return NOTHING
    return text(_seconds(first) if first == last else f"{_seconds(first)} to {_seconds(last)}")


def _seconds(time: datetime) -> str:
    # Not astimezone(), which fails at both ends of the calendar.
    return time.isoformat(" ", "seconds").replace("+00:00", "Z")


def _turns(turns: Sequence[Turn]) -> Markup:
    if not turns:
        return NOTHING
    head = ["", "prompt", "answer", "calls", "written", "status"]
    rows = [
        [
            text(f"{number:,}"),
            clipped("\n".join(prompt.text for prompt in turn.prompts), 100),
            clipped(turn.answer, 100),
            text(f"{len(turn.tool_calls):,}"),
            text("" if turn.usage.output_tokens is None else f"{turn.usage.output_tokens:,}"),
            tag(turn.status, "" if turn.status in ("complete", "open") else "altered"),
        ]
        for number, turn in enumerate(turns[:TURNS], 1)
    ]
    rest = [_more(count(len(turns) - TURNS, "more turn"))] if len(turns) > TURNS else []
    return section(count(len(turns), "turn"), table(head, rows, numbers={"", "calls", "written"}), *rest)


# ---- entries ---------------------------------------------------------------------------------------------------------------


def _entries(entries: Sequence[Entry], uses: Sequence[ToolUse], most: int, room: int) -> Iterator[Markup]:
    """The first and the last, and how many stand between."""
    outcomes: _Outcomes = {(use.message.key, use.call): use.outcome for use in uses}
    last = most // 3 if len(entries) > most else 0
    first = most - last
    rooms = room // max(1, min(most, len(entries)))
    for number, entry in enumerate(entries[:first], 1):
        yield _entry(number, entry, outcomes, rooms)
    if between := entries[first : len(entries) - last]:
        yield _more(count(len(between), "entry between", "entries between"), *_kinds(between))
    for number, entry in enumerate(entries[len(entries) - last :], len(entries) - last + 1):
        yield _entry(number, entry, outcomes, rooms)


def _entry(number: int, entry: Entry, outcomes: _Outcomes, room: int) -> Markup:
    who = "event" if isinstance(entry, Event) else entry.author or entry.role
    time = "" if entry.timestamp is None else ("~" if entry.timestamp_origin == "derived" else "") + _seconds(entry.timestamp)
    marks = [] if entry.state == "active" else [text(" "), tag(entry.state, "altered")]
    name = element("div", element("b", clipped(who, 40)), element("small", text(f" {number:,}")), *marks)
    head = element("div", name, element("small", text(time)), cls="cp-who")
    said = [_event(entry, room)] if isinstance(entry, Event) else [*_blocks(entry, outcomes, room)]
    kinds = ["cp-entry", *(["cp-human"] if who == "human" else []), *(["cp-off"] if marks else [])]
    return element("div", head, element("div", *said, cls="cp-said"), cls=" ".join(kinds))


def _event(event: Event, room: int) -> Markup:
    mark = join(tag(event.kind), text(" "), element("small", clipped(event.name, 60)))
    return element("div", mark, folded(event.text or "", min(room, LONGEST)), cls="cp-block")


def _blocks(message: Message, outcomes: _Outcomes, room: int) -> Iterator[Markup]:
    shown = message.blocks[:BLOCKS]
    for block in shown:
        name, about, told, code = _TOLD[type(block)](block)
        mark = join(tag(name), text(" "), element("small", clipped(about)), text(" ")) if name else NOTHING
        outcome = outcomes.get((message.key, block), "ok") if isinstance(block, ToolCall) else "ok"
        failed = NOTHING if outcome == "ok" else tag(outcome, "altered")
        said = folded(told, min(LONGEST, room // len(shown)), code=code)
        yield element("div", mark, failed, said, cls="cp-block")
    if not shown:
        yield element("small", text("(empty)"))
    if len(message.blocks) > BLOCKS:
        yield _more(count(len(message.blocks) - BLOCKS, "more block"))


def _tool_call(block: ToolCall) -> _Told:
    return block.name, block.kind, _arguments(block.input) if isinstance(block.input, Json) else block.input, True


def _arguments(given: Json) -> str:
    """The members of an object, one under the other; what is too long to be looked at whole, as it stands."""
    value = given.value if len(given.utf8) <= TEXTS else None
    if not isinstance(value, dict):
        return given.text
    return "\n".join(f"{key}: {item if isinstance(item, str) else Json.of(item).text}" for key, item in value.items())


def _tool_result(block: ToolResult) -> _Told:
    parts = Counter(type(part).__name__.lower() for part in block.content if not isinstance(part, Text))
    told = (block.text, *(f"({number:,} {name})" for name, number in parts.items()))
    return "result", block.status or ("error" if block.is_error else ""), _lines(*told), True


def _image(block: Image) -> _Told:
    size = "" if block.data is None else f"{len(block.data):,} characters of base64"
    return "image", block.media_type or "", _lines(block.uri, size), False


def _edit(block: Edit) -> _Told:
    return "edit", block.kind, _lines(block.path, block.new_path, block.diff or block.after), True


def _lines(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)


_TOLD: Final[Mapping[type, Callable[[Any], _Told]]] = MappingProxyType(
    {
        Text: lambda block: ("", "", block.text, False),
        Injected: lambda block: ("injected", block.kind, block.text, False),
        Answer: lambda block: ("answer", block.question, block.text, False),
        Thinking: lambda block: ("thinking", "hidden" if block.hidden else "", block.text, False),
        ToolCall: _tool_call,
        ToolResult: _tool_result,
        Image: _image,
        Attachment: lambda block: (
            "attachment",
            block.kind,
            _lines(block.name, block.uri, block.media_type, block.text),
            False,
        ),
        Reference: lambda block: ("reference", block.kind, _lines(block.text, block.uri), False),
        Edit: _edit,
        Unknown: lambda block: ("unknown", block.kind, block.json.text, True),
    }
)
