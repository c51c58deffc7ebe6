"""Where the products keep their files, as data: one table a source.

A *base* is a folder that a product keeps files in: environment variables that name it come first, then its places below a home
directory and below the folder for settings, caches or state of the platform. A *place* is a kind of file below a base: a
pattern of folders, one of names, and the variant that such a file has. In a pattern ``*`` is any one folder and ``**`` any
number of them.

Nothing here looks at a file system. Folders and files that hold credentials are in no place.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs


@attrs.frozen
class Base:
    """A folder that a product keeps files in."""

    variables: tuple[str, ...] = ()
    """Environment variables that name it, each with what follows below it: ``TRAE_HOME/cli``."""
    home: tuple[str, ...] = ()
    """Its places below a home directory, on every platform."""
    settings: tuple[str, ...] = ()
    """Below ``~/.config``, ``~/Library/Application Support`` or ``%APPDATA%``."""
    cache: tuple[str, ...] = ()
    """Below ``~/.cache``, ``~/Library/Caches`` or ``%LOCALAPPDATA%``."""
    state: tuple[str, ...] = ()
    """Below ``$XDG_STATE_HOME``, where that is set."""
    shared: tuple[str, ...] = ()
    """Below folders that all share, as ``/tmp``: servers of editors in containers."""
    named: bool = False
    """A folder given as a root is this base only by its name: other products have files of the same names."""


@attrs.frozen
class Place:
    """A kind of file below a base."""

    variant: str
    base: Base
    folder: str
    """The pattern of folders below the base; empty for the base itself."""
    name: str
    """A regular expression for the whole name; its group ``id`` is the conversation."""
    form: str = "lines"
    """``lines``, ``object``, ``text``, ``zstd`` or ``database``: what its first bytes must look like."""
    id_from: str = ""
    """``folder`` where the folder's name is the conversation."""
    chained: bool = False
    """True where one session may build on the file of another, which stays a session of its own if its id is another."""
    problem: str | None = None
    """What is found is passed over for this reason."""


FORKS: Final = (
    *("Code", "Code - Insiders", "Code - Exploration", "Code - OSS", "VSCodium", "VSCodium - Insiders"),
    *("Cursor", "Cursor Nightly", "Windsurf", "Windsurf - Next", "Trae", "Trae CN", "TRAE SOLO", "TRAE SOLO CN"),
    *("Positron", "Kiro", "Antigravity"),
)
"""Editors with the chat store of VS Code, by the folder of their settings."""
_SERVERS: Final = (
    *(".vscode-server/data", ".vscode-server-insiders/data", ".vscode-remote/data", ".vscodium-server/data"),
    *(".cursor-server/data", ".windsurf-server/data"),
)
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

CLAUDE: Final = Base(("CLAUDE_CONFIG_DIR",), (".claude", ".config/claude"))
CODEX: Final = Base(("CODEX_HOME",), (".codex",))
EDITORS: Final = Base(
    ("VSCODE_PORTABLE/user-data",),
    _SERVERS,
    FORKS,
    shared=_SERVERS,
)
COPILOT: Final = Base(("COPILOT_HOME",), (".copilot",), state=(".copilot",))
JETBRAINS: Final = Base(settings=("github-copilot",), cache=("github-copilot",), named=True)
CURSOR_EDITOR: Final = Base(settings=("Cursor", "Cursor Nightly"), named=True)
CURSOR: Final = Base(("CURSOR_DATA_DIR", "CURSOR_CONFIG_DIR"), (".cursor",), ("cursor",))
TRAE_EDITOR: Final = Base(settings=("Trae", "Trae CN", "TRAE SOLO", "TRAE SOLO CN"), named=True)
TRAE: Final = Base(home=(".trae", ".trae-cn"))
TRAEX: Final = Base(("TRAE_CLI_HOME", "TRAE_HOME/cli"), (".trae/cli",))
TRAE_CLI: Final = Base(cache=("trae-cli", "trae-cli/cache"))
GEMINI: Final = Base(("GEMINI_CLI_HOME/.gemini",), (".gemini",))

_ROLLOUT: Final = rf"rollout-.*?(?P<id>{_UUID})(?:_{_UUID})?\.jsonl"
_DATABASE: Final = r"state\.vscdb"


def _rollouts(base: Base, name: str) -> tuple[Place, ...]:
    tops = ("sessions/**", "archived_sessions/**")
    return (
        *(Place(name, base, top, _ROLLOUT, chained=True) for top in tops),
        *(Place(f"{name}-zst", base, top, rf"{_ROLLOUT}\.zst", "zstd", chained=True) for top in tops),
    )


CLAUDE_CODE_PLACES: Final = (
    Place("transcript", CLAUDE, "projects/*", r"(?:agent-)?(?P<id>.+)\.jsonl"),
    Place("transcript", CLAUDE, "projects/*/*/subagents/**", r"agent-(?P<id>.+)\.jsonl"),
    Place("history", CLAUDE, "", r"history\.jsonl"),
)
CODEX_PLACES: Final = (
    *_rollouts(CODEX, "rollout"),
    Place("document", CODEX, "sessions/**", rf"rollout-.*?(?P<id>{_UUID})\.json", "object"),
    Place("history", CODEX, "", r"history\.jsonl"),
    Place("index", CODEX, "", r"session_index\.jsonl"),
)
COPILOT_PLACES: Final = (
    Place("log", EDITORS, "User/workspaceStorage/*/chatSessions", r"(?P<id>.+)\.jsonl"),
    Place("session", EDITORS, "User/workspaceStorage/*/chatSessions", r"(?P<id>.+)\.json", "object"),
    Place("log", EDITORS, "User/globalStorage/emptyWindowChatSessions", r"(?P<id>.+)\.jsonl"),
    Place("session", EDITORS, "User/globalStorage/emptyWindowChatSessions", r"(?P<id>.+)\.json", "object"),
    Place("session", EDITORS, "User/globalStorage/transferredChatSessions", r"(?P<id>.+)\.json", "object"),
    Place("transcript", EDITORS, "User/workspaceStorage/*/GitHub.copilot-chat/transcripts", r"(?P<id>.+)\.jsonl"),
    Place("", JETBRAINS, "**", r"copilot-.*-nitrite\.db|\d+\.xd", problem="unsupported"),
)
COPILOT_CLI_PLACES: Final = (
    Place("events", COPILOT, "session-state/*", r"events\.jsonl", id_from="folder"),
    Place("events", COPILOT, "session-state", r"(?P<id>.+)\.jsonl"),
    Place("history", COPILOT, "history-session-state", r"session_(?P<id>.+)_\d+\.json", "object"),
    Place("", COPILOT, "jb/*", r"partition-\d+\.jsonl", id_from="folder", problem="unsupported"),
)
CURSOR_PLACES: Final = (
    Place("editor", CURSOR_EDITOR, "User/globalStorage", _DATABASE, "database"),
    Place("editor", CURSOR_EDITOR, "User/workspaceStorage/*", _DATABASE, "database"),
    Place("agent-transcript", CURSOR, "projects/**/agent-transcripts/**", r"(?P<id>.+)\.jsonl"),
    Place("agent-text", CURSOR, "projects/**/agent-transcripts/**", r"(?P<id>.+)\.txt", "text"),
    Place("agent-store", CURSOR, "chats/**", r"store\.db", "database", "folder"),
    Place("agent-store", CURSOR, "acp-sessions/*", r"store\.db", "database", "folder"),
    Place("agent-store", CURSOR, "projects/*/sdk-agent-store/*/agents/*", r"store\.db", "database"),
)
GEMINI_CLI_PLACES: Final = (
    Place("log", GEMINI, "tmp/*/chats", r"session-.*\.jsonl"),
    Place("session", GEMINI, "tmp/*/chats", r"session-.*\.json", "object"),
    Place("log", GEMINI, "tmp/*/chats/*", r"(?P<id>.+)\.jsonl"),
    Place("checkpoint", GEMINI, "tmp/*", r"checkpoint(?:-.*)?\.json", "object"),
    Place("checkpoint", GEMINI, "tmp/*/checkpoints", r".+\.json", "object"),
    Place("prompts", GEMINI, "tmp/*", r"logs\.json", "object"),
)
TRAE_PLACES: Final = (
    Place("editor", TRAE_EDITOR, "User/globalStorage", _DATABASE, "database"),
    Place("editor", TRAE_EDITOR, "User/workspaceStorage/*", _DATABASE, "database"),
    Place("editor", TRAE_EDITOR, "ModularData/ai-agent", r"database\.db", "database"),
    Place("memory", TRAE, "memory/projects/*/*", r"session_memory_(?P<id>.+)\.jsonl"),
    *_rollouts(TRAEX, "traex"),
    Place("traex-history", TRAEX, "", r"history\.jsonl"),
    Place("traex-index", TRAEX, "", r"session_index\.jsonl"),
    Place("cli-events", TRAE_CLI, "sessions/*", r"events\.jsonl", id_from="folder"),
)

PLACES: Final[Mapping[str, tuple[Place, ...]]] = MappingProxyType(
    {
        "claude-code": CLAUDE_CODE_PLACES,
        "codex": CODEX_PLACES,
        "copilot": COPILOT_PLACES,
        "copilot-cli": COPILOT_CLI_PLACES,
        "cursor": CURSOR_PLACES,
        "gemini-cli": GEMINI_CLI_PLACES,
        "trae": TRAE_PLACES,
    }
)
"""The places of every source."""
