"""The terminal agent TRAE CLI 2 (``traecli`` 0.200): rollouts in Codex's format, read by Codex's adapter under Trae's name."""

from collections.abc import Callable

import attrs

from convparse.sources._source import FilePart, Resolved, Session
from convparse.sources.codex import history, resolve


def _renamed(read: Callable[[list[FilePart], Session], Resolved]) -> Callable[[list[FilePart], Session], Resolved]:
    def renamed(parts: list[FilePart], session: Session) -> Resolved:
        conversations, loose = read(parts, session)
        return [attrs.evolve(conversation, source="trae", newer=False) for conversation in conversations], loose

    return renamed


resolve_rollout = _renamed(resolve.resolve)
resolve_history = _renamed(history.resolve)
