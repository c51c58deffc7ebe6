"""What is known of Trae's records, field by field, and of the keys of its databases.

``Fields`` tables say of every key of an object whether a record is made from it, whether it is kept as JSON, or whether it is
left out by name and why. Reading, the docs and the tests share them; a key that no table has is ``unknown-field``. No real
database of the inline era is public: those tables rest on published readers and fixtures.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from convparse.drops import Code
from convparse.ledger import ALWAYS, Fields
from convparse.sources.codex.fields import CODES as CODEX_CODES
from convparse.sources.codex.fields import SKIPPED as CODEX_SKIPPED

NEWEST: Final = "3.5.78"

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        "trae/encrypted-store": Code(
            "lost", "the encrypted database in which newer versions keep conversations; it is not opened"
        ),
        "trae/encrypted-body": Code("lost", "a conversation whose messages are in the encrypted database"),
        "trae/missing-body": Code("lost", "a conversation of which an id is here, and no message"),
        "trae/summary-only": Code("lost", "a conversation of which only summaries are here, written by a model"),
        "trae/earlier-time": Code(
            "altered", "a time before that of the message before; it stands as recorded, the order is the product's"
        ),
        "trae/list-alias": Code("altered", "the list of sessions stands under another name than the usual one"),
        "trae/unknown-role": Code("unknown", "a message whose role is not known; it has no author"),
        "trae/duplicate-session": Code(
            "altered", "a session that stands twice; what the second copy says otherwise is superseded"
        ),
        "trae/backup": Code("skipped", "a copy of the database that the product keeps; it can be parsed by its own path"),
        "trae/checkpoint": Code("skipped", "a session's checkpoints of files, a repository without words of the conversation"),
        "trae/other-agent": Code("skipped", "a file of another agent that the editor hosts; it can be parsed by its own path"),
        **CODEX_CODES,
    }
)
SKIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        **CODEX_SKIPPED,
        "ChatStore": "heights of turns on the screen",
        "chat.ChatSessionStore.index": "the editor's index of another agent's sessions, which lie in files of their own",
        "currentAgentData": "which agent is selected",
        "model_list_map": "a catalogue of models",
        "credentials": "keys that may hold tokens; their values are never selected",
        "ItemTable": "settings and states of the editor, which have nothing to do with conversations",
    }
)
"""Record types and families of keys left out whole, each with the reason."""


def _kept(keys: str, **silent: object) -> dict[str, object]:
    return {**dict.fromkeys(keys.split(), ALWAYS), **silent}


# ---- sessions and messages of the inline era -------------------------------------------------------------------------------

SESSION: Final = Fields(
    "session",
    "/list/*",
    typed=frozenset("sessionId messages title name createdAt updatedAt parentSessionId".split()),
    kept=_kept("isCurrent model sessionType remoteProjectId env"),
)
MESSAGE: Final = Fields(
    "message",
    "/list/*/messages/*",
    typed=frozenset(
        "role content query turnIndex turnId agentMessageId messageId id timestamp createdAt modelInfo modelType parsedQuery"
        " multiMedia agentTaskContent status".split()
    ),
    kept=_kept(
        "sessionId agentType agentName agentMessageType codeBlocks codeBlockDiff feedback contextResolvers agentRunId"
        " parentAgentRunIds hide"
    ),
)
TASK: Final = Fields(
    "agentTaskContent",
    "/list/*/messages/*/agentTaskContent",
    typed=frozenset("proposal proposalReasoningContent content text guideline".split()),
)
GUIDELINE: Final = Fields(
    "guideline", "/list/*/messages/*/agentTaskContent/guideline", typed=frozenset({"thought", "planItems"})
)
STEP: Final = Fields(
    "planItem",
    "/list/*/messages/*/agentTaskContent/guideline/planItems/*",
    typed=frozenset(
        "id thought reasoningContent toolName params arguments input result status content command exitCode"
        " toolCallInfo".split()
    ),
    kept=_kept("finish confirmInfo agentRunId parentAgentRunIds hide"),
)
CALL: Final = Fields(
    "toolCallInfo",
    "/list/*/messages/*/agentTaskContent/guideline/planItems/*/toolCallInfo",
    typed=frozenset("id name params result".split()),
)

# ---- runtime dumps ---------------------------------------------------------------------------------------------------------

RUNTIME_MESSAGE: Final = Fields(
    "runtime-message",
    "/*",
    typed=frozenset(
        "role content query message_id chat_session_id turn_id reply_to_message_id message_index created_at status token_usage"
        " references".split()
    ),
    kept=_kept(
        "agent_id agent_name agent_process_support agent_type chat_end_time chat_process_version chat_start_time"
        " context_metadata context_usage doc_references is_worktree merged_commit message_type model_smart_selection_meta"
        " revertible shallow_memento_type trace_id user_message_context version_code"
    ),
)
RUNTIME_CONTENT: Final = Fields(
    "runtime-content", "/*/content", typed=frozenset({"messages"}), kept=_kept("task_id user_message_id")
)
RUNTIME_ITEM: Final = Fields(
    "runtime-item", "/*/content/messages/*", typed=frozenset({"type", "plan_item", "proposal"}), kept=_kept("id")
)
PROPOSAL: Final = Fields(
    "proposal", "/*/content/messages/*/proposal", typed=frozenset({"content", "thought", "reasoning_content"}), kept=_kept("id")
)
PLAN_ITEM: Final = Fields(
    "plan_item",
    "/*/content/messages/*/plan_item",
    typed=frozenset("id thought reasoning_content tool_call_info".split()),
    kept=_kept(
        "agent_display_name agent_id agent_run_id agent_status confirm_info hide plan_type render_mode"
        " sub_agent_call_description timing"
    ),
)
CALL_INFO: Final = Fields(
    "tool_call_info",
    "/*/content/messages/*/plan_item/tool_call_info",
    typed=frozenset("id name params result".split()),
    kept=_kept("meta already_emitted_tool_call_event already_emitted_run_event"),
)

# ---- memory, TRAE CLI 1.x --------------------------------------------------------------------------------------------------

MEMORY: Final = Fields(
    "session_memory",
    typed=frozenset({"intent", "message_id"}),
    kept=_kept("actions outcome learned message_summary_time compact_summary_meta"),
)
CLI_SESSION: Final = Fields("session.json", typed=frozenset("id created_at updated_at metadata".split()))
CLI_METADATA: Final = Fields("session.json", "/metadata", kept=_kept("cwd model_name permission_mode title"))
CLI_EVENT: Final = Fields("event", typed=frozenset("id session_id created_at".split()))
CLI_EVENTS: Final[Mapping[str, str]] = MappingProxyType({"agent_start": "turn-start", "agent_end": "turn-end"})
CLI_MESSAGE: Final = Fields(
    "message", "/message/message", typed=frozenset("role content reasoning_content tool_calls tool_call_id name".split())
)
CLI_CALL: Final = Fields(
    "tool_call",
    "/tool_call",
    typed=frozenset("id call_id tool_call_id name tool_name arguments args input params result output status".split()),
)
SPAN: Final = Fields(
    "span",
    typed=frozenset({"startTime"}),
    kept=_kept("traceID spanID parentSpanID operationName duration tags logs references process"),
)

# ---- trajectories ----------------------------------------------------------------------------------------------------------

RUN: Final = Fields(
    "trajectory",
    typed=frozenset("llm_interactions llm_interaction agent_steps steps".split()),
    kept=_kept(
        "task start_time end_time provider model max_steps max_step success final_result execution_time total_steps error_count"
        " agent_id completed"
    ),
)
INTERACTION: Final = Fields(
    "llm_interaction",
    "/llm_interactions/*",
    typed=frozenset("timestamp model input_messages response".split()),
    kept=_kept("provider tools_available"),
)
RESPONSE: Final = Fields(
    "llm_response",
    "/llm_interactions/*/response",
    typed=frozenset("content model finish_reason usage tool_calls".split()),
)
INPUT: Final = Fields(
    "llm_message", "/llm_interactions/*/input_messages/*", typed=frozenset("role content tool_result tool_call".split())
)
RESULT: Final = Fields(
    "tool_result",
    "/agent_steps/*/tool_results/*",
    typed=frozenset("call_id success result error".split()),
    kept=_kept("id name"),
)
REQUESTED: Final = Fields(
    "tool_call",
    "/llm_interactions/*/response/tool_calls/*",
    typed=frozenset("call_id name arguments".split()),
    kept=_kept("id", id=None),
)
AGENT_STEP: Final = Fields(
    "agent_step",
    "/agent_steps/*",
    typed=frozenset("llm_messages llm_response tool_calls tool_results".split()),
    kept=_kept("step_number timestamp state reflection error lakeview_summary"),
)
RUST_STEP: Final = Fields(
    "llm_interaction",
    "/llm_interaction/*",
    typed=frozenset("timestamp model steps".split()),
    kept=_kept(
        "step_number provider request_summary response_summary request_content response_content token_usage"
        " llm_details tool_calls error_message"
    ),
)
RUST_INNER: Final = Fields(
    "steps",
    "/llm_interaction/*/steps",
    typed=frozenset("llm_response tool_results".split()),
    kept=_kept("step_number state thought tool_calls reflection error"),
)
TS_STEP: Final = Fields(
    "step",
    "/steps/*",
    typed=frozenset("task messages tool_calls tool_results timestamp llm_response_content".split()),
    kept=_kept("step_id completed reflection error state lakeview_summary"),
)

# ---- tools -----------------------------------------------------------------------------------------------------------------

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: kind
        for kind, names in {
            "read": "Read View view_file view_files view_folder LS list_dir read_file open_preview OpenPreview",
            "edit": "Write SearchReplace Edit MultiEdit edit_file edit_file_fast_apply edit_file_search_replace write_to_file"
            " create_file update_file str_replace_based_edit_tool json_edit_tool",
            "delete": "Delete DeleteFile delete_file",
            "move": "rename_file move_file",
            "search": "Grep Glob SearchCodebase search_codebase search_by_regex search_by_keyword ckg",
            "execute": "RunCommand run_command bash CheckCommandStatus check_command_status StopCommand stop_command",
            "think": "sequentialthinking sequential_thinking TodoWrite todo_write planner_tool",
            "fetch": "WebSearch web_search WebFetch web_fetch",
        }.items()
        for name in names.split()
    }
)
"""What a tool does, by its name."""

# ---- keys of state.vscdb ---------------------------------------------------------------------------------------------------

LISTS: Final = ("memento/icube-ai-agent-storage", "memento/icube-ai-ng-chat-storage", "memento/icube-ai-chat-storage")
"""Keys that hold lists of sessions, newest first; each may end in ``-`` and a user's id."""
HISTORY: Final = frozenset(
    {"icube-ai-agent-storage-input-history", "memento/icube-ai-agent-storage-input-history", "inputHistory"}
)
AGENTS: Final = "icube_session_agent_map"
RELATIONS: Final = "ai-chat:sessionRelation:"
"""Maps of sessions to models and modes; a user's id stands before it."""
PER_SESSION: Final = frozenset({"modelMap", "modeMap", "planModeMap"})
GLOBAL: Final = frozenset({"globalModelMap", "globalModeMap"})
ACTIVE: Final = "ai-chat-v2.lastActiveSessionId"
NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "all_session_badges_": "badge",
        "draft:session:": "draft",
        "revert:attachment-meta:v1:session:": "revert",
        "chat-suggest:cache:": "suggestion",
    }
)
"""Keys with a session's id behind them, and the kind of event that their values become."""
IGNORED: Final = ("ChatStore", "chat.ChatSessionStore.index", "currentAgentData")
"""Beginnings of keys that are counted and not read; ``SKIPPED`` has the reasons."""
CATALOGUE: Final = "_AI.agent.model.model_list_map"
