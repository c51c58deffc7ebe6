"""What a parse may cost. What a limit keeps out is named in ``dropped``, with its place and length."""

import attrs

from convparse.errors import ConvparseError


@attrs.frozen
class Limits:
    """Bounds on one parse. Every one can be raised: ``attrs.evolve(Limits(), line_bytes=2**30)``."""

    line_bytes: int = 64 << 20
    """Bytes of one line or database value; an accepted line may cost some twenty times its length while it is decoded."""
    document_bytes: int = 256 << 20
    """Bytes of a file that is one JSON document."""
    database_bytes: int = 512 << 20
    """Bytes of a database that ``parse`` reads whole; beyond that, name a conversation or use ``iter_conversations``."""
    side_bytes: int = 64 << 20
    """Bytes of one file beside a session, such as a persisted tool output."""
    depth: int = 254
    """Levels of nesting."""
    operations: int = 1_000_000
    """Operations of a mutation log."""
    rows: int = 50_000_000
    """Rows of a database."""
    sqlite_steps: int = 1_000_000_000
    """Steps of SQLite's virtual machine for one query."""
    patterns: int = 1_000
    """Different drops kept for one file; beyond that, patterns are shortened to a common prefix."""
    lines: int = 20
    """Line numbers kept for one drop; its ``count`` is exact all the same."""
    excerpt: int = 120
    """Bytes of an excerpt."""

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(Limits):
            value = getattr(self, field.name)
            if not isinstance(value, int) or value < 0:
                raise ConvparseError(
                    f"Limits.{field.name} is a whole number from 0 on, and not {value!r}; give a large one for no limit"
                )
