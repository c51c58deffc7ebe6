"""Builds the fixtures of Trae: ``python -m tests.build_trae`` from the repository writes ``tests/fixtures/trae``.

Databases have the product's own table. Everything is invented; ids have the form of the product's, whose first eight digits are
a time. ``VALUES`` and ``DOCUMENTS`` are what the tests of the laws change leaf by leaf.
"""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "fixtures" / "trae"
TABLE: Final = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
MAIN: Final = "memento/icube-ai-agent-storage"
OLD: Final = "memento/icube-ai-chat-storage-7467774676505887761"
NG: Final = "memento/icube-ai-ng-chat-storage-7467774676505887761"
S1, S2, S3, S4, S5, S6 = (f"67f0c0de00a1b2c3d4e5f60{n}" for n in range(1, 7))
T: Final = 1_743_831_262_000
"""2025-04-05T05:34:22Z, the time in the ids, in milliseconds."""
CLI: Final = "0f4a6c2e-93b1-4d57-8a10-5b7d9e3f2c61"
THREAD: Final = "019b2a77-5d1e-7b90-a3c4-1f2e3d4c5b6a"

Value = str | bytes | int | None


def database(rows: Mapping[str, Any], extra: str = "") -> bytes:
    """The bytes of a database; values that are no text or bytes are written as JSON text."""
    stored = {key: value if isinstance(value, str | bytes) or value is None else text(value) for key, value in rows.items()}
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(TABLE)
        connection.executescript(extra)
        connection.executemany("INSERT INTO ItemTable VALUES (?, ?)", stored.items())
        connection.commit()
        return connection.serialize()


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def user(turn: int | None, id: str, content: Any, **more: Any) -> dict[str, Any]:
    index = {} if turn is None else {"turnIndex": turn, "turnId": f"t{turn}"}
    return {"role": "user", "content": content, "sessionId": S1, **index, "agentMessageId": id, **more}


def agent(turn: int | None, id: str, task: Any, **more: Any) -> dict[str, Any]:
    return {**user(turn, id, ""), "role": "assistant", "agentTaskContent": task, "status": "completed", **more}


# ---- 1: the inline era -----------------------------------------------------------------------------------------------------

STEPS: Final = [
    {"id": "p1", "toolName": "search_codebase", "thought": "Find uses.", "reasoningContent": "grep", "params": {"query": "foo"}}
    | {"result": {"content": "a.py:1"}, "status": "success"},
    {"id": "p2", "toolName": "run_command", "thought": "Run tests.", "arguments": '{"command":"pytest -q"}'}
    | {"result": {"output": "1 failed", "exitCode": 1}, "status": "failed"},
    {"id": "p3", "toolName": "edit_file", "thought": "Patch it.", "input": {"path": "a.py"}, "status": "running"},
    "A step that is a text.",
    {"toolCallInfo": {"id": "c4", "name": "RunCommand", "params": {"command": "ls"}, "result": {"status": "canceled"}}}
    | {"confirmInfo": {"confirm_status": "confirmed"}, "agentRunId": "r1", "parentAgentRunIds": ["r0"], "hide": False},
    {"id": "p5", "toolName": "finish", "thought": "Renamed foo to bar.", "finish": True, "status": "success"},
]
TASK: Final = {
    "proposalReasoningContent": "Look for uses first.",
    "proposal": "I will rename it.",
    "guideline": {"thought": "Three steps.", "planItems": STEPS},
}
SESSION: Final = {
    "sessionId": S1,
    "isCurrent": True,
    "title": "Rename foo",
    "createdAt": T,
    "updatedAt": T + 90_000,
    "messages": [
        user(0, "u0", "Rename foo to bar", timestamp=T, status="completed", parsedQuery=["Rename foo to bar"], multiMedia=[]),
        agent(0, "a0", TASK, timestamp=T, agentType="builder", agentMessageType="task")
        | {"modelInfo": {"config_name": "demo-model", "display_model_name": "Demo", "model_name": "demo"}},
        user(1, "u1", "see #file:a.py", timestamp=T + 60_000)
        | {"parsedQuery": ["see ", {"type": "file", "relatePath": "a.py", "filePath": "/p/a.py"}]}
        | {"multiMedia": [{"resource_id": "r1", "resource_type": "image"}]},
        agent(1, "a1", {"guideline": {"planItems": []}}, timestamp=0, content="Fixed."),
    ],
}
VALUES: Final[dict[str, Any]] = {
    MAIN: {"list": [SESSION], "currentSessionId": S1},
    OLD: {"list": [{"sessionId": S2, "name": "Old chat", "createdAt": T // 1000, "messages": [
        {"id": "m1", "role": "user", "content": {"text": "hello"}, "createdAt": T // 1000},
        {"id": "m2", "role": "agent", "content": [{"type": "text", "text": "hi"}], "createdAt": str(T), "modelType": "old"},
        {"id": "m3", "role": "system", "content": "note", "createdAt": "2025-04-05T05:34:22.5Z"},
    ]}]},
    "icube-ai-agent-storage-input-history": [
        {"inputText": "Rename foo to bar", "parsedQuery": ["Rename foo to bar"], "multiMedia": []},
        {"inputText": "", "parsedQuery": ["see ", {"type": "file", "relatePath": "b.py"}],
         "multiMedia": [{"resource_id": "r2", "resource_type": "image"}],
         "files": [{"id": "f1", "name": "b.txt", "size": 3, "type": "text/plain", "resourceUri": "file:///b.txt"}]},
    ],
    "icube_session_agent_map": {S1: "builder", S3: "solo_coder"},
    "7467774676505887761_ai-chat:sessionRelation:modelMap": {S3: {"solo_coder": "1_0_demo-model"}},
    f"draft:session:{S4}:work": {"text": "not sent yet"},
}  # fmt: skip

# ---- 2, 3, 9: the stub era, the encrypted store, another agent -------------------------------------------------------------

USER: Final = "7467774676505887761"
STUB: Final[dict[str, Any]] = {
    MAIN: {"list": [{"isCurrent": True, "sessionId": S1, "messages": []}], "currentSessionId": S2},
    "icube_session_agent_map": {S1: "solo_coder"},
    f"{USER}_ai-chat:sessionRelation:modelMap": {S3: {"solo_coder": "1_0_demo-model"}},
    f"{USER}_ai-chat:sessionRelation:globalModelMap": {"solo_coder": "1_0_demo-model"},
    f"{USER}_AI.agent.model.model_list_map": {"solo_coder": []},
    "ai-chat-v2.lastActiveSessionId": S1,
    f"all_session_badges_{S4}": {"unread": 1},
    f"draft:session:{S5}:work": "typed and never sent",
    "icube-ai-agent-storage-input-history": [{"inputText": "only this is left", "parsedQuery": [], "multiMedia": []}],
    "ChatStore": {"state": {"turnsHeight": {"t0": 120}}},
    "chat.ChatSessionStore.index": {"version": 1, "entries": {}},
    "currentAgentData_x": {"id": "solo_coder"},
    "iCubeAuthInfo://icube.cloudide": '{"token":"never"}',
    "workbench.view.debug": "{}",
    "icube-ai-unknown": "{}",
}
CIPHER: Final = bytes((n * 167 + 41) % 256 for n in range(512))
CHAT: Final = '{"kind":0,"v":{"version":3,"sessionId":"s","creationDate":1743831262000,"requests":[]}}\n'
PROFILE: Final[dict[str, str | bytes]] = {
    "User/globalStorage/state.vscdb": database(STUB),
    "User/globalStorage/state.vscdb.backup": database({MAIN: {"list": []}}),
    "User/globalStorage/storage.json": '{"credential":"never opened"}',
    "User/globalStorage/emptyWindowChatSessions/e.jsonl": CHAT,
    "User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/ui_messages.json": "[]",
    "User/workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb": database({MAIN: {"list": [
        {"sessionId": S6, "messages": []}]}}),
    "User/workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json": '{"folder":"file:///d%3A/proj%20x"}',
    "User/workspaceStorage/0123456789abcdef0123456789abcdef/chatSessions/s.jsonl": CHAT,
    "User/workspaceStorage/0123456789abcdef0123456789abcdef/long-text/a/b/pasted.txt": "a long text\n",
    "User/workspaceStorage/0123456789abcdef0123456789abcdef/paste-files/p.png": b"\x89PNG\r\n\x1a\n",
    "ModularData/ai-agent/database.db": CIPHER,
    "ModularData/ai-agent/database.db-wal": CIPHER[:64],
    f"ModularData/ai-agent/snapshot/{S2}/v2/checkpoints": "a bare repository\n",
}  # fmt: skip

# ---- 4: runtime ------------------------------------------------------------------------------------------------------------

RUNTIME: Final = {
    "messages": [
        {
            "message_id": "a1", "chat_session_id": S1, "turn_id": "t1", "reply_to_message_id": "u1", "role": "assistant",
            "message_type": "task", "message_index": 2, "created_at": T // 1000 + 1, "chat_start_time": T + 1_100,
            "chat_end_time": T + 4_000, "status": "completed",
            "token_usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "reasoning_tokens": 5,
                            "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10},
            "content": text({"task_id": "k", "user_message_id": "u1", "messages": [
                {"id": "i0", "type": "proposal", "proposal": {"content": {"reasoning_content": "Hm.", "thought": "I look."}}},
                {"id": "i1", "type": "plan_item", "plan_item": {
                    "id": "q1", "reasoning_content": "Read it.", "thought": "Reading.", "hide": False,
                    "tool_call_info": {"id": "c1", "name": "Read", "params": {"path": "a.txt"},
                                       "result": {"status": "success", "data": {"text": "abc\n"}, "is_truncated": False}},
                    "timing": {"tool_call_started_at_ms": T + 2_000, "tool_call_finished_at_ms": T + 3_000}}},
                {"id": "i2", "type": "plan_item", "plan_item": {
                    "id": "q2", "tool_call_info": {"id": "c2", "name": "Finish", "params": {"summary": "It says abc."},
                                                   "result": {"status": "success"}}}},
            ]}),
        },
        {
            "message_id": "u1", "chat_session_id": S1, "turn_id": None, "role": "user", "message_type": "general",
            "message_index": 1, "created_at": T // 1000, "content": "Read", "status": "completed",
            "query": [{"type": "text", "data": {"content": "Read a.txt, please"}}],
        },
    ],
    "productVersion": "3.3.104",
}  # fmt: skip

# ---- 5: memory -------------------------------------------------------------------------------------------------------------

MEMORY: Final = {
    "intent": "Rename foo", "actions": ["searched", "renamed"], "outcome": "done", "learned": ["tests use bar"],
    "message_summary_time": "2025-04-05 13:34:22", "message_id": "m1",
    "compact_summary_meta": {"trigger": "auto", "mode": "async", "summary_digest": "d", "created_at_ms": T},
}  # fmt: skip
LOCAL: Final = {key: value for key, value in MEMORY.items() if key != "compact_summary_meta"}
TOPICS: Final = (
    f"# Topics\n[session_id: {S1} | topic_summary_time: 2025-04-05 13:34:22]\nRenaming\n"
    f"[session_id: auto | topic_summary_time: 2025-04-06 09:00:00]Everything else[session_id: {S2} | topic_summary_time: x]Old"
)

# ---- 6: TRAE CLI 2 ---------------------------------------------------------------------------------------------------------

ROLLOUT: Final = [
    {"timestamp": "2026-08-01T18:07:04.550Z", "type": "session_meta",
     "payload": {"id": THREAD, "timestamp": "2026-08-01T18:07:03.636Z", "cwd": "/p", "originator": "codex-tui",
                 "cli_version": "0.200.19", "model_provider": "trae"}},
    {"timestamp": "2026-08-01T18:07:04.580Z", "type": "response_item",
     "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Rename foo"}]}},
    {"timestamp": "2026-08-01T18:07:04.590Z", "type": "event_msg",
     "payload": {"type": "user_message", "message": "Rename foo"}},
    {"timestamp": "2026-08-01T18:07:05.100Z", "type": "event_msg",
     "payload": {"type": "agent_reasoning_raw_content", "text": "Where is it?"}},
    {"timestamp": "2026-08-01T18:07:06.100Z", "type": "response_item",
     "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Renamed."}]}},
]  # fmt: skip

# ---- 7: trae-agent ---------------------------------------------------------------------------------------------------------

_USAGE: Final = {"input_tokens": 900, "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 400,
                 "reasoning_tokens": 20}  # fmt: skip
_CALL: Final = {"call_id": "c1", "name": "bash", "arguments": {"command": "ls"}, "id": "fc_1"}
_DONE: Final = {"call_id": "c2", "name": "task_done", "arguments": {}, "id": None}
_GAVE: Final = {"call_id": "c1", "success": True, "result": "a.py\n", "error": "a warning", "id": "fc_1"}
_FIRST: Final = {"content": "I look.", "model": "gpt-4o", "finish_reason": "tool_calls", "usage": _USAGE, "tool_calls": [_CALL]}
_LAST: Final = {**_FIRST, "content": "One file.", "tool_calls": [_DONE]}
_SMALL: Final = {"input_tokens": 900, "output_tokens": 50}
PYTHON: Final = {
    "task": "List the files", "start_time": "2026-11-30T19:07:13.534886", "end_time": "2026-11-30T19:07:13.848314",
    "provider": "openai", "model": "gpt-4o", "max_steps": 6,
    "llm_interactions": [
        {"timestamp": "2026-11-30T19:07:13.803740", "provider": "openai", "model": "gpt-4o",
         "input_messages": [{"role": "system", "content": "You are an agent."},
                            {"role": "user", "content": "[Problem statement]: List the files"}],
         "response": _FIRST, "tools_available": ["bash", "task_done"]},
        {"timestamp": "2026-11-30T19:07:13.817371", "provider": "openai", "model": "gpt-4o",
         "input_messages": [{"role": "user", "content": None, "tool_result": _GAVE}],
         "response": _LAST, "tools_available": ["bash", "task_done"]},
    ],
    "agent_steps": [
        {"step_number": 1, "timestamp": "2026-11-30T19:07:13.804405", "state": "completed",
         "llm_messages": [{"role": "user", "content": None, "tool_result": _GAVE}],
         "llm_response": {**_FIRST, "usage": _SMALL}, "tool_calls": [_CALL], "tool_results": [_GAVE],
         "reflection": None, "error": None},
        {"step_number": 2, "timestamp": "2026-11-30T19:07:13.818442", "state": "completed",
         "llm_messages": [{"role": "user", "content": None, "tool_result": _GAVE}],
         "llm_response": {**_LAST, "usage": _SMALL}, "tool_calls": None, "tool_results": None,
         "reflection": None, "error": None},
    ],
    "success": True, "final_result": "One file.", "execution_time": 0.313428,
}  # fmt: skip
FAILED: Final = {
    "task": "List the files", "start_time": "2026-11-30T19:07:28.533802", "end_time": "2026-11-30T19:07:29.381127",
    "provider": "openai", "model": "gpt-4o", "max_steps": 6, "llm_interactions": [],
    "agent_steps": [
        {"step_number": 1, "timestamp": "2026-11-30T19:07:29.369103", "state": "completed",
         "llm_messages": [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "List the files"}],
         "llm_response": None, "tool_calls": None, "tool_results": None, "reflection": None, "error": "no JSON in the reply"}],
    "success": False, "final_result": None, "execution_time": 0.847325,
}  # fmt: skip
KILLED: Final = {**PYTHON, "end_time": "", "success": False, "final_result": None, "execution_time": 0.0,
                 "llm_interactions": PYTHON["llm_interactions"][:1], "agent_steps": []}  # type: ignore[index]  # fmt: skip
RUST: Final = {
    "task": "List the files", "start_time": "1758699178", "end_time": "1758699193", "provider": "openai_compatible",
    "model": "gpt-4", "max_step": 5,
    "llm_interaction": [
        {"step_number": 1, "timestamp": "1758699178.875185", "request_summary": "Step 1", "response_summary": "1 message",
         "token_usage": None, "model": "gpt-4", "provider": "openai_compatible", "llm_details": None,
         "steps": {"step_number": 1, "state": "THINKING", "thought": None,
                   "llm_response": {"content": [{"type": "text", "text": "One file."}], "usage": _USAGE,
                                    "model": "gpt-4", "finish_reason": "Stop", "tool_calls": None},
                   "tool_calls": None, "tool_results": [_GAVE], "reflection": None, "error": None},
         "tool_calls": [], "error_message": None}],
    "success": False, "final_result": "", "execution_time": 15.078018, "total_steps": 1, "error_count": 0,
}  # fmt: skip
_SYSTEM: Final = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "List the files"}]
_TS_CALL: Final = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
_TS_SAID: Final = [{"role": "assistant", "content": "", "tool_calls": [_TS_CALL]},
                   {"role": "tool", "content": '{"message":"a.py"}', "tool_call_id": "c1"}]  # fmt: skip
TYPESCRIPT: Final = {
    "agent_id": "agent-001", "task": "List the files", "start_time": T,
    "steps": [
        {"step_id": "s1", "task": "List the files", "messages": _SYSTEM, "tool_calls": [_TS_CALL],
         "tool_results": [{"success": True, "result": {"message": "a.py"}}], "completed": False, "timestamp": T + 1,
         "llm_response_content": ""},
        {"step_id": "s2", "task": "List the files", "messages": _SYSTEM + _TS_SAID, "tool_calls": [],
         "tool_results": [], "completed": True, "timestamp": "2025-04-05T05:34:23.000Z", "llm_response_content": "One file."},
        {"step_id": "s3", "task": "Again", "messages": [_SYSTEM[0], {"role": "user", "content": "Again"}],
         "tool_calls": [], "tool_results": [], "completed": True, "timestamp": T + 3_000, "llm_response_content": "Still one."},
    ],
    "completed": True, "success": True, "end_time": T + 4_000,
}  # fmt: skip

# ---- 8: TRAE CLI 1.x -------------------------------------------------------------------------------------------------------

CLI_SESSION: Final = {
    "id": CLI, "created_at": "2026-07-07T20:57:03.162922+08:00", "updated_at": "2026-07-07T21:58:38.438473+08:00",
    "metadata": {"cwd": "/p", "model_name": "M-5", "permission_mode": "default", "title": "Rename"},
}  # fmt: skip


def event(number: int, **payload: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "session_id": CLI, "created_at": f"2026-07-07T20:57:0{number}.5+08:00", **payload}


EVENTS: Final = [
    event(1, agent_start={}),
    event(2, message={"message": {"role": "user", "content": "Rename foo"}}),
    event(
        3,
        message={"message": {"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": [_TS_CALL]}},
    ),
    event(4, message={"message": {"role": "tool", "content": "a.py", "tool_call_id": "c1"}, "seen": True}),
    event(5, tool_call={"id": "c2", "name": "Read", "arguments": {"path": "a.py"}, "result": "foo = 1", "status": "success"}),
    event(6, token_refresh={"left": 1}),
    event(7, agent_end={"reason": "done"}),
]


def span(id: str, **usage: int) -> dict[str, Any]:
    tags = [{"key": f"usage.{key}", "type": "int64", "value": value} for key, value in usage.items()]
    kind = {"key": "span.category", "type": "string", "value": "model.real_call"}
    return {"traceID": "t1", "spanID": id, "operationName": "call", "startTime": 1783429023825200, "duration": 2500000,
            "tags": [kind, *tags]}  # fmt: skip


SPANS: Final = [
    span("a", input_tokens=22503, output_tokens=641, cache_read_tokens=5944, reasoning_tokens=0),
    span("b", input_tokens=22503, output_tokens=641, cache_read_tokens=5944, reasoning_tokens=578),
    span("c"),
]

DOCUMENTS: Final[dict[str, Any]] = {
    "runtime/dump.json": RUNTIME,
    "trajectories/python.json": PYTHON,
    "trajectories/failed.json": FAILED,
    "trajectories/killed.json": KILLED,
    "trajectories/rust.json": RUST,
    "trajectories/typescript.json": TYPESCRIPT,
    f"cli/{CLI}/session.json": CLI_SESSION,
}
LINES: Final[dict[str, list[Any]]] = {
    f"memory/session_memory_{S1}.jsonl": [MEMORY, LOCAL],
    f"traex/rollout-2026-08-01T18-07-04-{THREAD}.jsonl": ROLLOUT,
    f"cli/{CLI}/events.jsonl": EVENTS,
    f"cli/{CLI}/traces.jsonl": SPANS,
}
BINARY: Final[dict[str, str | bytes]] = {
    "inline/state.vscdb": database(VALUES),
    "inline/workspace.json": '{"folder":"file:///home/u/proj%20x"}',
    "memory/topics.md": TOPICS,
    "memory/project_memory.md": "# Project\nTests use bar.\n",
    **{f"profile/Trae CN/{name}": data for name, data in PROFILE.items()},
}


def files() -> dict[str, bytes]:
    """Every fixture by name."""
    found = {name: text(value).encode() for name, value in DOCUMENTS.items()}
    found |= {name: "".join(f"{text(value)}\n" for value in values).encode() for name, values in LINES.items()}
    return found | {name: data.encode() if isinstance(data, str) else data for name, data in BINARY.items()}


if __name__ == "__main__":
    for name, data in files().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
