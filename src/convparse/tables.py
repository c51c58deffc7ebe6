"""The columns of every table that ``iter_rows`` gives: names, order and types, and nothing else.

Any value may be None. ``JSON`` in the documentation of a column means text that is JSON. A change of a name or type is a change
of the API; Arrow schemas are made from this.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Value: TypeAlias = str | int | float | bool | datetime | None
Row: TypeAlias = dict[str, Any]
"""Names of columns to a ``Value`` each; which type a column has, its table says."""
Columns: TypeAlias = Mapping[str, type]

# Groups of columns that several tables share.
PLACE: Final = {
    "path": str,
    "line": int,
    "offset": int,
    "length": int,
    "table_name": str,
    "row_key": str,
    "row_id": int,
    "pointer": str,
}
"""The fields of an ``Origin``, in their order; ``table`` and ``key`` are words of SQL."""
_TOKENS: Final = {
    "input_tokens": int,
    "cache_read_tokens": int,
    "cache_write_tokens": int,
    "cache_write_1h_tokens": int,
    "output_tokens": int,
    "reasoning_tokens": int,
    "cost": float,
    "cost_unit": str,
    "provisional": bool,
}
_CONTEXT: Final = dict.fromkeys(("cwd", "git_branch", "version", "permission_mode", "sandbox", "entrypoint", "effort"), str)
TIME: Final = {"timestamp": datetime, "timestamp_origin": str, "timestamp_text": str}
_IN_MESSAGE: Final = {"conversation_id": str, "source": str, "message_key": str, "block_index": int}

TABLES: Final[Mapping[str, Columns]] = MappingProxyType(
    {
        "conversations": {
            "conversation_id": str,
            "source": str,
            "variant": str,
            "title": str,
            "title_origin": str,
            "body": str,
            "newer": bool,
            "parent_id": str,
            "parent_call_id": str,
            "links": str,
            "stamp": str,
            "created_at": datetime,
            "updated_at": datetime,
            "first_at": datetime,
            "last_at": datetime,
            "messages": int,
            "prompts": int,
            "events": int,
            "turns": int,
            "tool_calls": int,
            "edits": int,
            **_TOKENS,
            **_CONTEXT,
            "path": str,
        },
        "turns": {
            "conversation_id": str,
            "source": str,
            "turn_index": int,
            "turn_id": str,
            "status": str,
            "duration": float,
            "model": str,
            "prompt": str,
            "answer": str,
            "first_at": datetime,
            "last_at": datetime,
            "messages": int,
            "tool_calls": int,
            "first_message_key": str,
            "last_message_key": str,
            **_TOKENS,
            **PLACE,
        },
        "messages": {
            "conversation_id": str,
            "source": str,
            "message_key": str,
            "entry_index": int,
            "message_id": str,
            "role": str,
            "author": str,
            "state": str,
            "inherited": bool,
            "text": str,
            "thinking": str,
            "has_tool_use": bool,
            "blocks": int,
            "parent_id": str,
            "response_id": str,
            "turn_id": str,
            "turn_index": int,
            "model": str,
            "stop_reason": str,
            **TIME,
            **_TOKENS,
            **_CONTEXT,
            "extra": str,
            **PLACE,
        },
        "blocks": {
            **_IN_MESSAGE,
            "part_index": int,
            "type": str,
            "kind": str,
            "call_id": str,
            "name": str,
            "text": str,
            "question": str,
            "signature": str,
            "hidden": bool,
            "json": str,
            "is_error": bool,
            "exit_code": int,
            "status": str,
            "duration": float,
            "truncated": bool,
            "media_type": str,
            "data": str,
            "uri": str,
            "file_path": str,
            "new_path": str,
            "diff": str,
            "before": str,
            "after": str,
            **PLACE,
        },
        "tool_calls": {
            **_IN_MESSAGE,
            "turn_index": int,
            "call_id": str,
            "name": str,
            "kind": str,
            "input": str,
            "input_is_json": bool,
            "command": str,
            "outcome": str,
            "output": str,
            "results": int,
            "is_error": bool,
            "exit_code": int,
            "status": str,
            "duration": float,
            "truncated": bool,
            "edits": int,
            "spawned": str,
            "state": str,
            "inherited": bool,
            "timestamp": datetime,
            "answered_at": datetime,
            **PLACE,
        },
        "edits": {
            **_IN_MESSAGE,
            "edit_index": int,
            "call_id": str,
            "kind": str,
            "file_path": str,
            "new_path": str,
            "diff": str,
            "before": str,
            "after": str,
            "state": str,
            "inherited": bool,
            "timestamp": datetime,
            **PLACE,
        },
        "events": {
            "conversation_id": str,
            "source": str,
            "event_key": str,
            "entry_index": int,
            "event_id": str,
            "kind": str,
            "name": str,
            "state": str,
            "inherited": bool,
            "text": str,
            "data": str,
            "duration": float,
            "parent_id": str,
            **TIME,
            **_CONTEXT,
            **PLACE,
        },
        "drops": {
            "source": str,
            "code": str,
            "fate": str,
            "record": str,
            "pattern": str,
            "count": int,
            "bytes": int,
            "lines": str,
            "message": str,
            "excerpt": str,
            "detail": str,
            **PLACE,
        },
    }
)
"""The tables of ``iter_rows``, and the columns of each with their types. Any value may be None."""


def tag_of(cls: type) -> str:
    """What a block or an entry is called in rows and in JSON: the name of its class with ``_`` between words."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__).lstrip("_")
