"""The result of a parse: the conversations, what was dropped, and the account that balances."""

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

import attrs

from convparse._calls import check
from convparse.blocks import many
from convparse.drops import Account, Drop, Drops, plain
from convparse.errors import ContentDropped, ConvparseError, SourceChanged
from convparse.records import Conversation, Entry, Origin

if TYPE_CHECKING:
    from typing import Self


@attrs.frozen
class Snapshot:
    """How the bytes were taken: the only place where a clock is read."""

    method: str
    """``file``; ``bytes``; for databases ``direct``, ``in-place``, ``copy`` or ``locked-read``."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    wal: str | None = None
    """For databases: ``included``, ``none`` or ``ignored``."""
    wal_bytes: int | None = None
    tries: int = 1
    journal_mode: str | None = None
    """For databases: ``wal`` or ``rollback``, as their header says."""
    held: float | None = None
    """Seconds that a lock was held on the source; None if there was none."""
    copied_bytes: int = 0
    """Bytes of the private copy that was read and is gone."""


class _Keeper:
    """Room for what a later ``parse(after=…)`` goes on from: no field, so that it is never compared, copied or pickled."""

    __slots__ = ("_kept",)


@attrs.frozen
class ParseResult(_Keeper):
    """Everything one ``parse`` found."""

    source: str
    variant: str
    """Which of the source's formats the file has."""
    path: str
    conversations: tuple[Conversation, ...] = attrs.field(default=(), repr=many)
    loose: tuple[Entry, ...] = attrs.field(default=(), repr=many)
    """Entries that belong to no conversation."""
    dropped: tuple[Drop, ...] = attrs.field(default=(), converter=Drops, repr=many)
    """What is lost, altered or unknown. Empty for a healthy file."""
    skipped: tuple[Drop, ...] = attrs.field(default=(), converter=Drops, repr=many)
    """Recognised bookkeeping and exact repeats, by name."""
    accounts: tuple[Account, ...] = attrs.field(default=(), repr=many)
    """One for every file or database read."""
    snapshot: Snapshot | None = attrs.field(default=None, eq=False, repr=False)
    stamp: str = attrs.field(default="", eq=False, repr=False)
    """Opaque; changes when anything that ``parse`` would read changes."""

    @property
    def account(self) -> Account:
        """The sum of the accounts."""
        return sum(self.accounts, Account(self.path, 0))

    @property
    def roots(self) -> tuple[Conversation, ...]:
        """The conversations that no other one of this result started; of a circle that nobody else started, the first."""
        led: dict[str | None, list[str | None]] = {}
        for c in self.conversations:
            led.setdefault(c.id, []).extend(link.id for link in c.links if link.kind == "subagent")
        started = {child for id, children in led.items() for child in children if child != id}
        found = {c.id for c in self.conversations if c.id not in started}
        reached: set[str | None] = set()
        for id in (*tuple(found), *led):
            if id in reached:
                continue
            found.add(id)
            waiting = [id]
            while waiting:
                reached.add(one := waiting.pop())
                waiting += [child for child in led.get(one, ()) if child not in reached]
        return tuple(c for c in self.conversations if c.id in found)

    @property
    def conversation(self) -> Conversation:
        """The only root; ``ConvparseError`` listing the ids where there are none or several."""
        roots = self.roots
        if len(roots) != 1:
            ids = ", ".join(str(c.id) for c in roots[:10]) + (", …" if len(roots) > 10 else "")
            hint = f"choose one of `roots`: {ids}" if roots else "see `loose` and `dropped` for what there is"
            raise ConvparseError(f"{self.path} holds {len(roots)} root conversations, not one; {hint}")
        return roots[0]

    def children(self, conversation: Conversation) -> tuple[Conversation, ...]:
        """The conversations that this one started, its sub-agents, in the order of the links."""
        check(conversation, Conversation, "children")
        found = {c.id: c for c in self.conversations}
        started = dict.fromkeys(link.id for link in conversation.links if link.kind == "subagent")
        return tuple(found[child] for child in started if child in found)

    @property
    def lost(self) -> tuple[Drop, ...]:
        """The drops of fate ``lost``."""
        return Drops(drop for drop in self.dropped if drop.fate == "lost")

    def dropped_by_code(self) -> dict[str, tuple[Drop, ...]]:
        """The drops by code, in the order of their first appearance."""
        found: dict[str, list[Drop]] = {}
        for drop in self.dropped:
            found.setdefault(drop.code, []).append(drop)
        return {code: Drops(drops) for code, drops in found.items()}

    def raise_if(self, *fates: str, ignore: Iterable[str] = ()) -> "Self":
        """Raise ``ContentDropped`` if anything of these fates (all, if none is named) was dropped, but for codes to ignore.

        Returns the result itself otherwise, so that calls can be chained.
        """
        if unknown := set(fates) - {"lost", "altered", "unknown", "skipped"}:
            raise ConvparseError(f"no such fate: {', '.join(sorted(unknown))}; there are lost, altered, unknown and skipped")
        passed = frozenset({ignore} if isinstance(ignore, str) else ignore)
        found = [d for d in (*self.dropped, *self.skipped) if d.fate in (fates or ("lost", "altered", "unknown"))]
        if found := [d for d in found if d.code not in passed]:
            lines = "\n  ".join(str(drop) for drop in found[:20])
            more = f"\n  and {len(found) - 20} more" if len(found) > 20 else ""
            raise ContentDropped(f"{self.path}: {len(found)} kinds of drops\n  {lines}{more}")
        return self

    def since(self, old: "ParseResult") -> tuple[Entry, ...]:
        """The entries that are new in this result, or differ from those of the same key in ``old``."""
        check(old, ParseResult, "since")
        before = {entry.key: entry for entry in old._entries()}
        return tuple(entry for entry in self._entries() if before.get(entry.key) != entry)

    def _entries(self) -> Iterable[Entry]:
        for conversation in self.conversations:
            yield from conversation.entries
        yield from self.loose

    def read(self, origin: Origin) -> bytes:
        """The bytes at an origin of this result, as they stand in the file.

        Raises ``SourceChanged`` when the file is no longer the one that was parsed, ``ConvparseError`` where there is no run of
        bytes to read (databases, ``parse_bytes``), ``OSError`` when the file cannot be opened.
        """
        check(origin, Origin, "read", "; every entry and every drop has one as `origin`")
        stamps = {account.path: account.stamp for account in self.accounts}
        if origin.offset is None or origin.length is None or not stamps.get(origin.path):
            raise ConvparseError(f"{PurePath(origin.path).name}: no bytes of a file of this result stand behind this origin")
        with open(origin.path, "rb") as file:  # noqa: PTH123 - the descriptor that is compared is the one that is read
            if file_stamp(os.fstat(file.fileno())) != stamps[origin.path]:
                raise SourceChanged(f"{origin.path} has changed since it was parsed; parse it again")
            file.seek(origin.offset)
            return file.read(origin.length)

    def _repr_html_(self) -> str:
        from convparse import _html

        return _html.of_result(self)

    def __str__(self) -> str:
        account, messages = self.account, [m for c in self.conversations for m in c.messages]
        bins = ", ".join(f"{part.bytes} {name}" for name, part in account.bins.items() if part.units)
        fates = ", ".join(f"{sum(d.count for d in self.dropped if d.fate == fate)} {fate}" for fate in _dropped_fates(self))
        return "\n".join(
            (
                f"{self.source} {self.variant}: {plain(self.path)}",
                f"conversations: {len(self.conversations)} ({len(self.roots)} roots), loose entries: {len(self.loose)}",
                f"messages: {len(messages)}, tool calls: {sum(len(c.tool_calls()) for c in self.conversations)}",
                f"bytes: {account.size} = {bins or 'none'}",
                f"dropped: {fates or 'nothing'}",
            )
        )


def _dropped_fates(result: ParseResult) -> list[str]:
    return list(dict.fromkeys(drop.fate for drop in result.dropped))


def file_stamp(status: os.stat_result) -> str:
    """An opaque text that changes when the file does."""
    return f"{status.st_dev:x}.{status.st_ino:x}.{status.st_size:x}.{status.st_mtime_ns:x}"
