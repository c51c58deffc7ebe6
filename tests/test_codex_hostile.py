"""What an independent reading of the format expects of rollouts, and what once came out otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

import convparse
from convparse import Drop, ParseResult

Row = dict[str, Any]
PARENT = "019aaaaa-0000-7000-8000-00000000000a"
CHILD = "019aaaaa-0000-7000-8000-00000000000b"


def lines(*rows: Row) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def codex(*rows: Row) -> ParseResult:
    result = convparse.parse_bytes(lines(*rows), source="codex")
    assert result.account.balanced
    return result


def at(second: int, kind: str, payload: Any) -> Row:
    return {"timestamp": f"2026-09-01T08:{second // 60:02}:{second % 60:02}.000Z", "type": kind, "payload": payload}


def header(second: int = 0, id: str = "th", **more: Any) -> Row:
    when = f"2026-09-01T08:{second // 60:02}:{second % 60:02}.000Z"
    return at(second, "session_meta", {"id": id, "timestamp": when, "cwd": "/c", "cli_version": "0.98.0", **more})


def message(second: int, role: str, text: str) -> Row:
    kind = "output_text" if role == "assistant" else "input_text"
    return at(second, "response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})


def prompt(second: int, text: str) -> tuple[Row, Row]:
    return message(second, "user", text), at(second, "event_msg", {"type": "user_message", "message": text})


def answer(second: int, text: str) -> tuple[Row, Row]:
    return at(second, "event_msg", {"type": "agent_message", "message": text}), message(second, "assistant", text)


def count(second: int, total: int) -> Row:
    total_usage = {"input_tokens": total, "cached_input_tokens": 0, "output_tokens": total // 10}
    last = {"input_tokens": 10, "cached_input_tokens": 0, "output_tokens": 1}
    info = {"total_token_usage": total_usage, "last_token_usage": last}
    return at(second, "event_msg", {"type": "token_count", "info": info})


def turn(second: int, number: int) -> tuple[Row, ...]:
    return (*prompt(second, f"P{number}"), *answer(second + 5, f"A{number}"), count(second + 5, 10 * number))


@pytest.mark.parametrize("kind", [{"x": "CANARY"}, ["CANARY"]])
def test_a_content_kind_that_is_no_word_does_not_raise(kind: object) -> None:
    """Every field may have another type; the kind that is a word still tells who wrote its part."""
    said, told = prompt(1, "Hi")
    said["payload"]["content"].append({"type": "input_text", "text": "context"})
    said["payload"]["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": ["user.text", kind]}
    result = codex(header(), said, told, *answer(2, "Yes"))
    (first, *_) = result.conversation.messages
    assert (first.author, first.text) == ("human", "Hi")
    assert "CANARY" in convparse.to_json(result).decode()


@pytest.mark.parametrize(
    "picture", [{"type": "local_image", "path": "/x.png"}, {"type": "image", "image_url": "https://x/y.png"}]
)
@pytest.mark.parametrize("field", ["detail", "name", "newKey"])
def test_a_field_of_a_picture_in_a_completed_item_is_kept_or_named(picture: Row, field: str) -> None:
    """The second law: ``detail`` is known of the twin's ``input_image`` and must not vanish in the item."""
    content = [{"type": "text", "text": "Hi"}, {**picture, field: "CANARY"}]
    item = {"type": "UserMessage", "id": "i1", "content": content}
    result = codex(header(), at(1, "event_msg", {"type": "item_completed", "thread_id": "th", "turn_id": "t", "item": item}))

    def names(drop: Drop) -> bool:
        return 2 in drop.lines and drop.pattern.endswith("/" + field)

    held = "CANARY" in str(convparse.to_json(result))
    assert held or any(map(names, (*result.dropped, *result.skipped)))


def test_a_second_header_of_the_same_thread_inherits_nothing() -> None:
    """Only a header with another id is a copied ancestor's (its own, then the parent's).

    Here nothing was forked: no ``forked_from_id``, no sub-agent, and one id throughout.
    """
    result = codex(header(), *turn(10, 1), *turn(30, 2), header(60), *turn(70, 3))
    conversation = result.conversation
    assert [m.text for m in conversation.messages if m.inherited] == []
    assert conversation.usage.input_tokens == 30


def test_a_second_header_of_the_same_thread_keeps_usage_of_rows_of_one_time() -> None:
    """The same where all rows carry one time: what a batch writer or a converter makes is no burst of copies."""
    rows = [header(), *turn(10, 1), *turn(30, 2), header(60), *turn(70, 3)]
    result = codex(*({**row, "timestamp": "2026-09-01T08:00:00.000Z"} for row in rows))
    assert [m.text for m in result.conversation.messages if m.inherited] == []
    assert result.conversation.usage.input_tokens == 30


def _write(folder: Path, id: str, *rows: Row, start: int = 0) -> Path:
    path = folder / f"rollout-2026-09-01T08-00-00-{id}.jsonl"
    path.write_bytes(lines(*({**row, "ordinal": number} for number, row in enumerate(rows, start))))
    return path


def test_a_base_that_cannot_be_read_leaves_the_body_partial(tmp_path: Path) -> None:
    """The inherited history is not in the result; that its file exists makes nothing complete."""
    (tmp_path / f"rollout-2026-09-01T08-00-00-{PARENT}.jsonl").write_bytes(b"\xff\xfe garbage\n")
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 5, "end_byte_offset": 1}
    own = header(10, CHILD, history_mode="paginated", history_base=base)
    path = _write(tmp_path, CHILD, own, *turn(11, 1), start=5)
    result = convparse.parse(path)
    assert [m.text for m in result.conversation.messages] == ["P1", "A1"]
    assert result.conversation.body == "partial"


def test_a_base_beyond_the_limit_of_files_is_named(tmp_path: Path) -> None:
    """Reverting a reverted thread chains. Where the chain is cut, a link or a drop says what is missing."""
    start = 0
    ids = [f"019aaaaa-0000-7000-8000-{number:012x}" for number in range(100)]
    path = tmp_path
    for number, id in enumerate(ids):
        more: Row = {"history_mode": "paginated"}
        if number:
            more["history_base"] = {"thread_id": ids[number - 1], "end_ordinal_exclusive": start, "end_byte_offset": 1}
        rows = (header(0, id, **more), *turn(1, number))
        path = _write(tmp_path, id, *rows, start=start)
        start += len(rows)
    result = convparse.parse(path)
    read = {account.path for account in result.accounts}
    missing = next(id for id in reversed(ids) if not any(id in name for name in read))
    said = [link.id for link in result.conversation.links if link.kind == "base"]
    assert missing in said or any(missing in str(drop) for drop in result.dropped)


def printed(text: str) -> ParseResult:
    call = {"type": "function_call", "name": "exec", "arguments": "{}", "call_id": "c1"}
    output = {"type": "function_call_output", "call_id": "c1", "output": text}
    return codex(header(), *prompt(1, "P"), at(2, "response_item", call), at(3, "response_item", output))


def test_only_ascii_digits_are_an_exit_code() -> None:
    """The product writes ASCII; what else looks like a digit is a program's text."""
    (use,) = printed("Exit code: \u0663\nWall time: 1 seconds\nOutput:\nx").conversation.tool_calls()
    assert use.result is not None
    assert use.result.exit_code is None
