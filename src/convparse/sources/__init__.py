"""The sources: one module or small package a product, siblings that read alike. Loaded when first asked for."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from convparse.errors import UnknownSource
from convparse.sources._source import Source

_MODULES: Final = {
    "claude-code": "claude_code",
    "copilot": "copilot",
    "copilot-cli": "copilot_cli",
    "cursor": "cursor",
    "gemini-cli": "gemini_cli",
    "trae": "trae",
    "codex": "codex",
}
"""Where each source is. Codex comes last: another product writes its format with a provider of its own."""


class _Sources(Mapping[str, Source]):
    """Names to sources; a source's module is imported when it is looked up."""

    def __getitem__(self, name: str) -> Source:
        source = import_module(f"convparse.sources.{_MODULES[name]}").SOURCE
        assert isinstance(source, Source)
        return source

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __repr__(self) -> str:
        return f"<sources: {', '.join(self)}>"


SOURCES: Final[Mapping[str, Source]] = _Sources()


def find(source: str | Source | None) -> Source | None:
    """The source of that name; ``UnknownSource`` listing the names there are."""
    if source is None or isinstance(source, Source):
        return source
    if source not in SOURCES:
        raise UnknownSource(f"there is no source {source!r}; there are: {', '.join(SOURCES)}")
    return SOURCES[source]
