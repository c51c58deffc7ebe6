"""What is known of Codex's records, field by field: from CLI 0.8 to 0.171, and the TypeScript CLI of spring 2025.

``Fields`` tables say of every key of an object whether a record is made from it, whether it is kept as JSON, or whether it is
left out by name and why. Reading, the docs and the tests share them; a key that no table has is ``unknown-field``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from convparse.drops import Code
from convparse.ledger import ALWAYS, Fields

NEWEST: Final = "0.171.0"

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        "codex/twin-time": Code("skipped", "the time at which a second record of the same thing was written"),
        "codex/repeated-history": Code("skipped", "a message of a compaction's new history that stands in the file before"),
        "codex/beyond-base": Code("skipped", "what a base file holds beyond the place where this thread leaves it"),
    }
)

SKIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {"state": "a mark that the state was saved, one or two a request (0.8 to 0.29)"}
)
"""Record types left out whole, each with the reason."""

PASSTHROUGH: Final = "internal_chat_message_metadata_passthrough"
_ORDINAL: Final = MappingProxyType(
    {"ordinal": "a line's number in its history, which the order of the file gives (since 0.148)"}
)


def _kept(keys: str, **silent: object) -> dict[str, object]:
    return {**dict.fromkeys(keys.split(), ALWAYS), **silent}


LINES: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        name: Fields(name, typed=frozenset({"type"}), picked=("timestamp", "payload", "metadata"), skipped=_ORDINAL)
        for name in (
            "session_meta response_item event_msg turn_context compacted world_state token_usage_record"
            " inter_agent_communication inter_agent_communication_metadata".split()
        )
    }
)
"""The envelope of every line, by its type (since 0.32)."""

PASSED: Final = Fields(
    "response_item",
    f"/payload/{PASSTHROUGH}",
    picked=("turn_id",),
    kept=_kept("create_time content_item_kinds content_item_metadata cell_id executed_tool_calls tool_calls_complete"),
)
METADATA: Final = Fields(
    "response_item",
    "/metadata",
    kept=_kept(
        "client_authored fallback_token_limit_override mcp_attribution retained_source user_input_order compaction_output"
        " inherited_user_message delivered_assistant_message harness_authored_configuration compaction_model_hash"
        " guardian_assessment guardian_history sender_user_messages history_sequence sampled_through_sequence"
        " model_search_state additional_context_tool_output"
    ),
)

_ITEMS: Final = (
    ("message", "role content", _kept("phase status encrypted_content metadata")),
    ("agent_message", "content", _kept("author recipient")),
    ("reasoning", "summary content encrypted_content", _kept("status duration_ms metadata", status="completed")),
    ("function_call", "name arguments call_id", _kept("namespace status encrypted_function_args metadata", namespace=None)),
    ("function_call_output", "call_id output", _kept("name namespace status metadata")),
    ("custom_tool_call", "name input call_id", _kept("status namespace metadata", status="completed", namespace=None)),
    ("custom_tool_call_output", "call_id output", _kept("name namespace status metadata")),
    ("local_shell_call", "action call_id", _kept("status metadata", status="completed")),
    ("web_search_call", "action status", _kept("call_id metadata")),
    ("tool_search_call", "call_id arguments", _kept("status execution metadata", status="completed")),
    ("tool_search_output", "call_id tools", _kept("status execution metadata", status="completed")),
    ("image_generation_call", "status revised_prompt result", _kept("metadata")),
)
"""Items of the Responses API that are messages: type, keys that records are made from, keys kept."""


def _items(at: str) -> Mapping[str, Fields]:
    return MappingProxyType(
        {
            kind: Fields(kind, at, frozenset({"type", *typed.split()}), kept, picked=("id", PASSTHROUGH))
            for kind, typed, kept in _ITEMS
        }
    )


ITEMS: Final[Mapping[str, Mapping[str, Fields]]] = MappingProxyType({at: _items(at) for at in ("/payload", "", "/items/*")})
"""The same items inside an envelope, as bare lines, and in a whole document: by where they stand."""

ITEM_EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ghost_snapshot": "snapshot",
        "compaction": "compaction",
        "compaction_summary": "compaction",
        "context_compaction": "compaction",
    }
)
"""Items of the Responses API that are events, and their kind."""
ITEM_EVENT: Final = _kept(f"id ghost_commit encrypted_content status metadata {PASSTHROUGH}")

HEADER: Final = Fields("header", kept=_kept("id timestamp instructions git"))
"""The first line of a file without envelopes (0.8 to 0.29)."""
DOCUMENT: Final = Fields("document", typed=frozenset({"items"}), picked=("session",))
SESSION: Final = Fields("document", "/session", kept=_kept("id timestamp instructions"))

_USAGE_NUMBERS: Final = (
    "input_tokens cached_input_tokens cache_write_input_tokens output_tokens reasoning_output_tokens total_tokens"
)
RECORDS: Final[Mapping[str, tuple[str, str | None, Fields]]] = MappingProxyType(
    {
        name: (kind, text, Fields(name, "/payload", typed=frozenset({text} if text else ()), kept=_kept(keys)))
        for name, kind, text, keys in (
            (
                "session_meta",
                "session",
                None,
                "id timestamp cwd originator cli_version instructions base_instructions git source model_provider"
                " forked_from_id forked_from_ordinal_exclusive agent_nickname agent_role agent_path thread_source session_id"
                " parent_thread_id multi_agent_version history_mode context_window dynamic_tools selected_capability_roots"
                " memory_mode history_base runtime_workspace_roots subagent_history_start_ordinal account_scoped"
                " creator_account_id creator_user_id attached_thread",
            ),
            (
                "turn_context",
                "context",
                None,
                "cwd approval_policy sandbox_policy model summary effort turn_id root_turn_id user_instructions"
                " developer_instructions base_instructions truncation_policy collaboration_mode personality current_date"
                " timezone realtime_active permission_profile active_permission_profile file_system_sandbox_policy"
                " workspace_roots multi_agent_version multi_agent_mode approvals_reviewer disabled_plugin_ids comp_hash"
                " final_output_json_schema network",
            ),
            ("world_state", "environment", None, "full state"),
            (
                "token_usage_record",
                "usage",
                None,
                "thread_id turn_id session_id root_turn_id response_id usage turn_token_usage thread_token_usage",
            ),
            ("inter_agent_communication", "agent", None, "author recipient content other_recipients trigger_turn"),
            ("inter_agent_communication_metadata", "agent", None, "trigger_turn"),
            (
                "compacted",
                "compaction",
                "message",
                "replacement_history replacement_history_metadata window_number window_id first_window_id previous_window_id"
                " guardian_history retained_context compaction_response_id latest_token_usage_record resume_metadata",
            ),
        )
    }
)
"""Lines that are events: their kind, the key of what a person would read, their fields."""

EVENTS: Final[Mapping[str, tuple[str, str | None, Fields]]] = MappingProxyType(
    {
        name: (kind, text, Fields(name, "/payload", frozenset({"type", *([text] if text else [])}), _kept(keys)))
        for name, kind, text, keys in (
            ("token_count", "usage", None, "info rate_limits"),
            (
                "task_started",
                "turn-start",
                None,
                "turn_id model_context_window collaboration_mode_kind started_at root_turn_id turn_attribution",
            ),
            (
                "task_complete",
                "turn-end",
                None,
                "turn_id last_agent_message completed_at duration_ms time_to_first_token_ms started_at root_turn_id error",
            ),
            ("turn_aborted", "turn-end", "reason", "turn_id completed_at duration_ms started_at root_turn_id"),
            ("thread_rolled_back", "rewind", None, "num_turns"),
            ("undo_completed", "undo", "message", "success"),
            ("thread_name_updated", "title", "thread_name", "thread_id"),
            ("thread_goal_updated", "goal", None, "threadId turnId goal"),
            ("thread_settings_applied", "context", None, "thread_settings thread_id"),
            ("context_compacted", "compaction", None, ""),
            ("entered_review_mode", "review", "user_facing_hint", "prompt target turn_id item_id"),
            ("exited_review_mode", "review", None, "review_output turn_id item_id"),
            ("sub_agent_activity", "agent", None, "event_id agent_thread_id agent_path kind occurred_at_ms"),
            (
                "guardian_assessment",
                "permission",
                "rationale",
                "action decision_source id risk_level status target_item_id turn_id user_authorization",
            ),
            ("error", "error", "message", "codex_error_info"),
            ("warning", "notice", "message", ""),
            ("stream_error", "error", "message", "codex_error_info additional_details"),
        )
    }
)
"""Events, by their type: their kind, the key of what a person would read, their fields."""

ENDS: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        name: Fields(name, "/payload", typed=frozenset({"type", "call_id", "callId"}), kept=_kept(keys))
        for name, keys in (
            (
                "exec_command_end",
                "process_id turn_id command cwd parsed_cmd source interaction_input stdout stderr aggregated_output exit_code"
                " duration formatted_output status",
            ),
            ("patch_apply_end", "turn_id stdout stderr success changes status auto_approved"),
            (
                "mcp_tool_call_end",
                "invocation duration result turn_id plugin_id action_name app_name connector_id link_id read_only_hint",
            ),
            ("web_search_end", "query action results"),
            ("view_image_tool_call", "path"),
            ("image_generation_end", "status revised_prompt result saved_path"),
            ("dynamic_tool_call_request", "turnId turn_id namespace tool arguments"),
            ("dynamic_tool_call_response", "turn_id namespace tool arguments content_items success error duration"),
            (
                "collab_agent_spawn_end",
                "sender_thread_id new_thread_id new_agent_nickname new_agent_role prompt model reasoning_effort status",
            ),
            (
                "collab_agent_interaction_end",
                "sender_thread_id receiver_thread_id receiver_agent_nickname receiver_agent_role prompt status",
            ),
            ("collab_waiting_end", "sender_thread_id agent_statuses statuses"),
            ("collab_close_end", "sender_thread_id receiver_thread_id receiver_agent_nickname receiver_agent_role status"),
            ("collab_resume_end", "sender_thread_id receiver_thread_id receiver_agent_nickname receiver_agent_role status"),
        )
    }
)
"""Events that tell of a call what its output does not: they are held whole as the result's ``full``."""

SAID: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        "user_message": Fields(
            "user_message",
            "/payload",
            typed=frozenset({"type", "message"}),
            kept=_kept(
                "client_id",
                kind="plain",
                images=[],
                local_images=[],
                text_elements=[],
                audio=[],
                local_audio=[],
            ),
        ),
        "agent_message": Fields(
            "agent_message", "/payload", typed=frozenset({"type", "message"}), kept=_kept("phase", memory_citation=None)
        ),
        "agent_reasoning": Fields("agent_reasoning", "/payload", typed=frozenset({"type", "text"})),
        "agent_reasoning_raw_content": Fields("agent_reasoning_raw_content", "/payload", typed=frozenset({"type", "text"})),
    }
)
"""Events that repeat what a person or the model said."""

ITEM_COMPLETED: Final = Fields(
    "item_completed",
    "/payload",
    typed=frozenset({"type", "item"}),
    picked=("turn_id",),
    kept=_kept("thread_id started_at_ms completed_at_ms"),
)
COMPLETED: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        name: Fields(f"item_completed/{name}", "/payload/item", frozenset({"type", "id", *typed.split()}), _kept(keys))
        for name, typed, keys in (
            ("UserMessage", "content", "client_id"),
            ("AgentMessage", "content", "phase memory_citation"),
            ("Plan", "text", ""),
            ("Reasoning", "summary_text raw_content", ""),
            (
                "CommandExecution",
                "",
                "process_id command cwd parsed_cmd source interaction_input status stdout stderr aggregated_output exit_code"
                " duration formatted_output",
            ),
            ("FileChange", "", "changes status stdout stderr auto_approved"),
            ("McpToolCall", "", "server tool arguments readOnlyHint status result error duration plugin_id"),
            ("DynamicToolCall", "", "namespace tool arguments status content_items success error duration"),
            (
                "CollabAgentToolCall",
                "",
                "tool status sender_thread_id receiver_thread_ids receiver_agents prompt model reasoning_effort agents_states",
            ),
            ("WebSearch", "", "query action results"),
            ("ImageView", "", "path"),
            ("ImageGeneration", "", "status revised_prompt result saved_path"),
            ("Sleep", "", "duration_ms status"),
            ("Extension", "", "kind query action results status"),
            ("SubAgentActivity", "", "model reasoning_effort kind agent_thread_id agent_path occurred_at_ms"),
            ("ContextCompaction", "", ""),
            ("EnteredReviewMode", "", "target user_facing_hint prompt"),
            ("ExitedReviewMode", "", "review_output"),
            ("HookPrompt", "", "fragments hook_run_id text"),
        )
    }
)
"""What ``item_completed`` may hold (since 0.148)."""
COMPLETED_EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "SubAgentActivity": "agent",
        "ContextCompaction": "compaction",
        "EnteredReviewMode": "review",
        "ExitedReviewMode": "review",
        "HookPrompt": "hook",
    }
)

BLOCKS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "input_text": frozenset({"type", "text"}),
        "output_text": frozenset({"type", "text"}),
        "text": frozenset({"type", "text"}),
        "Text": frozenset({"type", "text"}),
        "input_image": frozenset({"type", "image_url"}),
        "encrypted_content": frozenset({"type", "encrypted_content"}),
    }
)
"""Content blocks, and the keys that records are made from."""
BLOCK: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        name: Fields(name, "/payload/content/*", typed=typed, kept=_kept(kept, annotations=[], text_elements=[], logprobs=[]))
        for name, typed, kept in (
            *((name, BLOCKS[name], "") for name in ("input_text", "output_text", "text", "Text", "encrypted_content")),
            ("input_image", BLOCKS["input_image"], "detail file_id"),
        )
    }
)
