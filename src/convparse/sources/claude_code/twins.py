"""``toolUseResult``: what the product itself kept of a tool's result, beside what the model saw."""

from typing import Any

from convparse._json import encode
from convparse.blocks import Block, Text, ToolResult
from convparse.sources.claude_code.content import make_json, make_result
from convparse.sources.claude_code.state import STRING, Extra


def put_twin(row: dict[str, Any], blocks: tuple[Block, ...], extra: Extra) -> tuple[Block, ...]:
    """The blocks with ``toolUseResult``, the product's richer twin, put to the one result of the row."""
    twin, denial = row.get("toolUseResult"), row.get("toolDenialKind")
    if twin is None and denial is None:
        return blocks
    at = [i for i, block in enumerate(blocks) if type(block) is ToolResult]
    if len(at) != 1 or denial.__class__ not in STRING:
        extra.update({f"/{name}": row[name] for name in ("toolUseResult", "toolDenialKind") if row.get(name) is not None})
        return blocks
    result = blocks[at[0]]
    assert isinstance(result, ToolResult)
    return (*blocks[: at[0]], settle_result(result, twin, denial), *blocks[at[0] + 1 :])


def settle_result(result: ToolResult, twin: Any, denial: str | None) -> ToolResult:
    """A result with what its twin says: status, exit code and duration."""
    status, duration, text = denial, None, ""
    if type(twin) is dict:
        if status is None:
            word = twin.get("status")
            status = word if type(word) is str else "interrupted" if twin.get("interrupted") is True else None
        took = twin.get("durationMs", twin.get("totalDurationMs"))
        duration = took / 1000 if type(took) is int else None
    if result.content and type(result.content[0]) is Text:
        text = result.content[0].text
    exit_code = _exit_code(text) if result.is_error else None
    truncated = text.startswith("<persisted-output>")
    full = None if twin is None else make_json(encode(twin))
    return make_result(result.call_id, result.content, result.is_error, exit_code, duration, status, truncated, full)


def _exit_code(text: str) -> int | None:
    """The code that Bash writes before the output of a failed command: ``Exit code 1``."""
    head = text.removeprefix("Error: ")[:24]
    if not head.startswith("Exit code "):
        return None
    digits = head[10:].split("\n", 1)[0]
    return int(digits) if digits.isascii() and digits.isdigit() else None
