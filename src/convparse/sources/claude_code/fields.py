"""What is known of Claude Code's records, field by field: from CLI 0.2.126 to 2.1.332.

``Fields`` tables say of every key of an object whether a record is made from it, whether it is kept as JSON, or whether it is
left out by name and why. Reading, the docs and the tests share them; a key that no table has is ``unknown-field``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from convparse.ledger import ALWAYS, AnyOf, Fields

NEWEST: Final = "2.1.332"

SKIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "api-request": "a request as it was sent, by hashes of messages that stand in the transcript (since 2.1.300)",
        "api-request-shape": "system prompt and tool schemas of requests (since 2.1.300)",
        "api-request-blob": "messages of requests; they repeat rows of the transcript (since 2.1.300)",
        "atis-latch": "a switch of the product, without content (since 2.1.235)",
        "attachment/prompt_snapshot": "system prompt and tool schemas, repeated whenever they change (since 2.1.278)",
        "file-history-snapshot": "names of backup copies; what was changed stands in the tool calls (since 2.0.0)",
        "file-history-delta": "names of backup copies; what was changed stands in the tool calls (since 2.1.263)",
        "tools-used": "names of the tools called so far; the calls stand in the transcript (since 2.1.312)",
    }
)
"""Record types left out whole, each with the reason."""

ENVELOPE: Final = tuple(
    "uuid parentUuid timestamp"
    " sessionId agentId isSidechain session_id cwd gitBranch version permissionMode entrypoint effort".split()
)
"""Keys of every row of the chain that records are made from, in the order in which ``envelope`` takes them."""
_TYPE: Final = frozenset({"type"})

ENVELOPE_SKIPPED: Final = MappingProxyType(
    {
        "userType": "always `external`",
        "slug": "name of the plan file, set by the product (2.0.64 to 2.1.217, later after compactions)",
    }
)
_KEPT: Final = dict.fromkeys(["forkedFrom", "sessionKind", "teamName", "agentName", "sidechainParentUuid"], ALWAYS)


def _kept(*keys: str, **silent: object) -> dict[str, object]:
    return {**dict.fromkeys(keys, ALWAYS), **silent}


MARKS: Final = frozenset("origin rowSource isMeta ownNote turnCompanion hookText".split())
"""Keys that tell who wrote a user row's text."""
USER: Final = Fields(
    "user",
    typed=_TYPE | MARKS,
    picked=(*ENVELOPE, "message", "promptId", "sourceToolAssistantUUID", "toolUseResult", "toolDenialKind", "isCompactSummary"),
    marks=MARKS,
    kept=_KEPT
    | _kept(
        *"classifierBoundary classifierMetaLines hookTextLead imagePasteIds interruptedByShutdown interruptedMessageId".split(),
        *"isVisibleInTranscriptOnly mcpMeta permissionDecision planContent project promptSource queueSkipAttachments".split(),
        *"queueTranscriptOnly refusalRetry refusedMessageId sandboxed sentAtMs sourceToolUseID".split(),
        *"summarizedTurnPromptUuids thinkingMetadata todos toolDenialBeforeRun toolEndsTurn turnAttributionKey".split(),
        *"turnOrigin turnPosition".split(),
    ),
    skipped=ENVELOPE_SKIPPED,
)
USER_MESSAGE: Final = Fields("user", "/message", typed=frozenset({"role", "content"}))

ASSISTANT: Final = Fields(
    "assistant",
    typed=_TYPE | {"costUSD"},
    picked=(*ENVELOPE, "message", "requestedModel", "perTurnEffort", "requestId"),
    marks=frozenset({"costUSD"}),
    kept=_KEPT
    | _kept(
        *"advisorModel apiError apiErrorParams apiErrorStatus apiErrorType attributionAgent attributionMcpServer".split(),
        *"attributionMcpTool attributionPlugin attributionSkill durationMs errorDetails".split(),
        *"failedResponseHadNoToolCall healsDistinctCarrier isAbortedMidStream refusedMessageId".split(),
        *"refusingModel requestSessionId serverClassifierContext serverClassifierRequest supersedesUuids".split(),
        *"thinkingDurationMs wireIngestContext wireToolInputs".split(),
        error=None,
        isApiErrorMessage=False,
        madeBy="model",
    ),
    skipped={
        **ENVELOPE_SKIPPED,
        "apiBlockIndex": "the block's place in its response, which the order of the rows gives (since 2.1.263)",
        "promptCacheRequested": "how long the prompt was to be cached (since 2.1.318)",
        "requestId": "the request's id in the API's logs; rows of one response share `message.id`",
        "requestRef": "names an `api-request` record, which is left out (since 2.1.300)",
        "thinkingDisplay": "how thinking was shown (since 2.1.300)",
        "toolInputStreamMs": "how long a tool's input took to arrive (since 2.1.324)",
    },
)
ASSISTANT_MESSAGE: Final = Fields(
    "assistant",
    "/message",
    typed=frozenset({"id", "role", "model", "content", "stop_reason", "usage"}),
    kept=_kept(
        type="message", stop_sequence=None, container=None, context_management=None, diagnostics=None, stop_details=None
    ),
)
NOWHERE: Final = (None, "", "not_available")
"""What ``inference_geo`` says when it says nothing."""
NO_TOOLS: Final = {"web_search_requests": 0, "web_fetch_requests": 0}
USAGE: Final = Fields(
    "assistant",
    "/message/usage",
    typed=frozenset(
        "input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens cache_creation output_tokens_details"
        " iterations".split()
    ),
    kept=_kept(
        fallback_credit=None,
        inference_geo=AnyOf(*NOWHERE),
        server_tool_use=AnyOf(None, NO_TOOLS),
        service_tier=AnyOf(None, "standard"),
        speed=AnyOf(None, "standard"),
    ),
)

ATTACHMENT: Final = Fields(
    "attachment",
    typed=_TYPE,
    picked=ENVELOPE,
    kept=_KEPT | _kept("attachment", "rendered", "renderedInHumanTurn", "renderedRole", "renderedBesideToolResult"),
    skipped=ENVELOPE_SKIPPED,
)
PROGRESS: Final = Fields(
    "progress",
    typed=_TYPE,
    picked=ENVELOPE,
    kept=_KEPT | _kept("data", "toolUseID", "parentToolUseID"),
    skipped=ENVELOPE_SKIPPED,
)
SYSTEM: Final = Fields(
    "system",
    typed=frozenset({"type", "subtype", "content", "durationMs"}),
    picked=ENVELOPE,
    kept=_KEPT
    | _kept(
        *"level isMeta toolUseID logicalParentUuid compactMetadata microcompactMetadata hookCount hookInfos hookErrors".split(),
        *"hookAdditionalContext preventedContinuation stopReason hasOutput failedHookErrorIndexes messageCount".split(),
        *"pendingBackgroundAgentCount commandRun contextUsage error retryInMs retryAttempt maxRetries cause source".split(),
        *"direction scope trigger originalModel fallbackModel requestId apiRefusalCategory apiRefusalExplanation".split(),
        *"refusedUserMessageUuid retractedMessageUuids preventContinuation promptSubmitEnding modelRestriction url".split(),
    ),
    skipped=ENVELOPE_SKIPPED,
)

_SHARED: Final = frozenset({"type", "sessionId", "timestamp"})
RECORDS: Final[Mapping[str, tuple[str, str | None, Fields]]] = MappingProxyType(
    {
        name: (kind, text, Fields(name, typed=_SHARED | ({text} if text else set()), kept=_kept(*keys.split())))
        for name, kind, text, keys in (
            ("agent-color", "agent", "agentColor", ""),
            ("agent-name", "agent", "agentName", ""),
            ("agent-setting", "agent", "agentSetting", ""),
            ("ai-title", "title", "aiTitle", ""),
            ("artifact-autoreact-ledger", "artifact", None, "v artifacts"),
            ("artifact-comment-monitor", "artifact", None, "v artifacts"),
            ("bridge-session", "bridge", None, "bridgeSessionId lastSequenceNum ownerAccountUuid ownerOrganizationUuid"),
            ("content-replacement", "replacement", None, "replacements"),
            ("continued-in", "continuation", "continuedInSessionId", ""),
            (
                "cost-state",
                "cost",
                None,
                "totalCostUSD totalAPIDuration totalAPIDurationWithoutRetries totalToolDuration totalDuration totalLinesAdded"
                " totalLinesRemoved startTime hasUnknownModelCost modelUsage",
            ),
            ("custom-title", "title", "customTitle", ""),
            ("fork-context-ref", "fork", None, "agentId parentSessionId parentLastUuid contextLength"),
            ("frame-link", "link", "frameUrl", "path title"),
            ("history-suppression", "history", "cause", ""),
            ("last-prompt", "bookmark", "lastPrompt", "leafUuid explicit rewound"),
            ("launched", "workflow", None, ""),
            ("mode", "mode", "mode", ""),
            ("permission-mode", "mode", "permissionMode", ""),
            ("pr-link", "link", "prUrl", "prNumber prRepository"),
            ("queue-operation", "queue", "content", "operation reason commandUuid deliveryId"),
            ("relocated", "move", "relocatedCwd", ""),
            ("result", "workflow", "result", "key agentId toolsUsed remoteControlDeviceReport"),
            ("failed", "workflow", None, "key agentId error"),
            ("saved_hook_context", "hook", None, "content hookName hookEvent toolUseID"),
            ("started", "workflow", None, "key agentId label"),
            ("summary", "title", "summary", "leafUuid cwd"),
            ("tag", "tag", "tag", ""),
            ("worktree-state", "move", None, "worktreeSession"),
        )
    }
)
"""Records beside the chain: their kind as an event, the key of what a person would read, their fields."""

SUBTYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agents_killed": "agent",
        "api_error": "error",
        "api_refusal": "refusal",
        "away_summary": "summary",
        "bridge_status": "bridge",
        "compact_boundary": "compaction",
        "informational": "notice",
        "local_command": "command",
        "microcompact_boundary": "compaction",
        "model_consent_fallback": "refusal",
        "model_refusal_fallback": "refusal",
        "model_refusal_no_fallback": "refusal",
        "scheduled_task_fire": "schedule",
        "stop_hook_summary": "hook",
        "turn_duration": "turn-end",
    }
)
"""Subtypes of ``system`` rows and their kind as an event."""

ATTACHMENTS: Final[Mapping[str, tuple[str, str | None]]] = MappingProxyType(
    {
        "agent_listing_delta": ("tools", None),
        "agent_mention": ("mention", "agentType"),
        "already_read_file": ("file", None),
        "audio_transcript": ("file", None),
        "auto_mode": ("mode", None),
        "auto_mode_exit": ("mode", None),
        "batching_reminder_sent": ("reminder", "text"),
        "budget_usd": ("budget", None),
        "command_permissions": ("permission", None),
        "compact_file_reference": ("file", "displayPath"),
        "date": ("environment", "date"),
        "date_change": ("environment", "newDate"),
        "deferred_tools_delta": ("tools", None),
        "deferred_tools_record": ("tools", None),
        "directory": ("file", None),
        "dynamic_skill": ("tools", None),
        "edited_text_file": ("file", "snippet"),
        "environment": ("environment", None),
        "file": ("file", None),
        "goal_status": ("goal", "condition"),
        "hook_additional_context": ("hook", None),
        "hook_blocking_error": ("hook", None),
        "hook_cancelled": ("hook", None),
        "hook_non_blocking_error": ("hook", "stderr"),
        "hook_success": ("hook", "content"),
        "hook_system_message": ("hook", "content"),
        "instructions": ("instructions", None),
        "invoked_skills": ("tools", None),
        "max_turns_reached": ("limit", None),
        "mcp_instructions_delta": ("instructions", None),
        "model": ("model", "text"),
        "nested_memory": ("instructions", None),
        "plan_mode": ("mode", None),
        "plan_mode_exit": ("mode", None),
        "read_truncation_notice": ("truncation", "banner"),
        "remote_session_change": ("environment", None),
        "session_context": ("environment", None),
        "silent_turn_reminder": ("reminder", "text"),
        "skill_listing": ("tools", "content"),
        "structured_output": ("output", None),
        "task_reminder": ("reminder", None),
        "task_status": ("agent", "description"),
        "teammate_mailbox": ("agent", None),
        "thinking_drop": ("truncation", None),
        "thinking_stripped": ("truncation", None),
        "thread_state": ("environment", None),
        "todo_reminder": ("reminder", None),
        "token_usage": ("reminder", None),
        "total_tokens_reminder": ("reminder", "text"),
        "ultra_effort_enter": ("mode", None),
        "ultra_effort_exit": ("mode", None),
        "unknown_command_fallback": ("notice", "commandName"),
    }
)
"""Attachment types, their kind as an event, and the key of what a person would read."""

PROGRESSES: Final = frozenset(
    "agent_progress bash_progress hook_progress mcp_progress query_update search_results_received waiting_for_task".split()
)
"""Types of ``progress`` rows (2.1.12 to 2.1.72)."""

BLOCKS: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        record: Fields(record, "/message/content/*", typed=frozenset(keys.split()), kept=kept)
        for record, keys, kept in (
            ("text", "type text", _kept(citations=None)),
            ("thinking", "type thinking signature", {}),
            ("redacted_thinking", "type data", {}),
            ("tool_use", "type id name input", _kept(caller={"type": "direct"})),
            ("server_tool_use", "type id name input", _kept(caller={"type": "direct"})),
            ("mcp_tool_use", "type id name input", _kept("server_name")),
            ("tool_result", "type tool_use_id content is_error", {}),
            ("web_search_tool_result", "type tool_use_id content", {}),
            ("web_fetch_tool_result", "type tool_use_id content", {}),
            ("advisor_tool_result", "type tool_use_id content", {}),
            ("mcp_tool_result", "type tool_use_id content is_error", {}),
            ("image", "type source", {}),
            ("document", "type source title", _kept("context", citations=None)),
        )
    }
)
"""Content blocks of ``user`` and ``assistant`` rows."""
SOURCE: Final = Fields("block", "/message/content/*/source", typed=frozenset("type data media_type url text".split()))
