"""What is known of Copilot CLI's events, field by field: from 1.0.20 to 1.0.102, and the extension's own transcripts.

``Fields`` tables say of every key of an event's data whether a record is made from it, whether it is kept as JSON, or whether
it is left out by name and why. Event types without a table are known by name and kept as they are.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from convparse.ledger import ALWAYS, Fields

NEWEST: Final = "1.0.102"

SKIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {"model.messages_snapshot": "the whole conversation again, as a request had it (1.0.102)"}
)
"""Event types left out whole, each with the reason."""


def _kept(*keys: str, **silent: object) -> dict[str, object]:
    return {**dict.fromkeys(keys, ALWAYS), **silent}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENVELOPE: Final = Fields(
    "event",
    typed=_words("type data id timestamp parentId agentId"),
    kept=_kept("currentModel", "currentMode", ephemeral=False),
)
USER: Final = Fields(
    "user.message",
    "/data",
    typed=_words("content transformedContent attachments interactionId"),
    kept=_kept(
        *"agentMode source isAutopilotContinuation parentAgentTaskId delivery messageId turnId nativeDocumentPathFallbackPaths"
        " originatingMessageId renderedMessage".split(),
        supportedNativeDocumentMimeTypes=[],
    ),
)
ASSISTANT: Final = Fields(
    "assistant.message",
    "/data",
    typed=_words(
        "messageId content toolRequests interactionId model outputTokens reasoningText reasoningOpaque parentToolCallId"
        " apiCallId"
    ),
    kept=_kept(
        *"encryptedContent reasoningBlocks reasoningWireField serverTools chunkIndex chunkCount phase turnId".split(),
        *"originatingMessageId reasoningId generatedBy".split(),
        rte=False,
    ),
    skipped={
        "requestId": "the request's id in the service's logs",
        "serviceRequestId": "the request's id in the service's logs",
    },
)
REASONING: Final = Fields(
    "assistant.reasoning", "/data", typed=_words("content interactionId parentToolCallId"), kept=_kept("reasoningId", "turnId")
)
TOOL_REQUEST: Final = Fields(
    "assistant.message",
    "/data/toolRequests/*",
    typed=_words("toolCallId name arguments"),
    kept=_kept(*"mcpServerName mcpToolName intentionSummary toolTitle toolDescription".split(), type="function"),
)
TOOL_START: Final = Fields(
    "tool.execution_start",
    "/data",
    typed=_words("toolCallId toolName arguments parentToolCallId interactionId"),
    kept=_kept(*"model turnId mcpServerName mcpToolName toolTitle shellToolInfo toolDescription".split(), rte=False),
)
TOOL_COMPLETE: Final = Fields(
    "tool.execution_complete",
    "/data",
    typed=_words("toolCallId success result error interactionId parentToolCallId"),
    kept=_kept(
        *"model turnId shellExecution fileEdits isUserRequested toolTelemetry sandboxed toolDescription mcpMeta".split(),
        rte=False,
    ),
)
TOOL_USER: Final = Fields("tool.user_requested", "/data", typed=_words("toolCallId toolName arguments"))
SYSTEM: Final = Fields("system.message", "/data", typed=_words("content role interactionId"), kept=_kept("metadata", "name"))
PERMISSION: Final = Fields(
    "permission.completed", "/data", typed=_words("toolCallId result"), kept=_kept("requestId", "decisionSource")
)
ATTACHMENT: Final = Fields(
    "attachment",
    "/data/attachments/*",
    typed=_words("type path displayName filePath mimeType data assetId text"),
    kept=_kept(
        *"selection lineRange byteLength url number title state referenceType size uri name content range".split(),
        *"modelDescription id kind value".split(),
    ),
)

EVENTS: Final[Mapping[str, tuple[str, str | None, str | None]]] = MappingProxyType(
    {
        name: (kind, text, keys)
        for name, kind, text, keys in (
            ("assistant.turn_start", "step-start", None, "interactionId turnId parentToolCallId"),
            ("assistant.turn_end", "step-end", None, "turnId parentToolCallId status"),
            ("hook.start", "hook", None, "hookInvocationId hookType input"),
            ("hook.end", "hook", None, "hookInvocationId hookType success output error"),
            ("model.message", "model", None, None),
            ("model.model_call_started", "model", None, None),
            ("model.model_call_success", "model", None, None),
            ("model.response", "model", None, None),
            ("model.turn_ended", "model", None, None),
            ("model.turn_started", "model", None, None),
            (
                "permission.requested",
                "permission",
                None,
                "requestId permissionRequest promptRequest agentMode permissionMode ownerSessionId",
            ),
            ("session.binary_asset", "asset", None, "assetId type mimeType byteLength data description"),
            ("session.compaction_start", "compaction-start", None, None),
            ("session.compaction_complete", "compaction", "summaryContent", None),
            ("session.context_changed", "context", None, None),
            (
                "session.error",
                "error",
                "message",
                "errorType statusCode originatingMessageId stack providerCallId errorCode url",
            ),
            ("session.handoff", "handoff", None, None),
            ("session.info", "notice", "message", "infoType url tip"),
            ("session.mode_changed", "mode", "newMode", "previousMode"),
            ("session.mode_notice_delivered", "mode", "mode", ""),
            (
                "session.model_change",
                "model",
                "newModel",
                "previousModel contextTier reasoningEffort previousReasoningEffort source reasoningSummary",
            ),
            (
                "session.resume",
                "session-resume",
                None,
                "resumeTime eventCount selectedModel context alreadyInUse remoteSteerable eventsFileSizeBytes reasoningEffort"
                " contextTier sessionLimits sessionWasActive",
            ),
            (
                "session.shutdown",
                "session-end",
                None,
                "codeChanges conversationTokens currentModel currentTokens eventsFileSizeBytes modelMetrics sessionStartTime"
                " shutdownType systemTokens tokenDetails toolDefinitionsTokens totalApiDurationMs totalNanoAiu"
                " totalPremiumRequests accountingSnapshot providerModelMetrics usageAccountingWatermarks agentMetrics"
                " errorReason",
            ),
            (
                "session.start",
                "session-start",
                None,
                "sessionId version producer copilotVersion startTime context alreadyInUse remoteSteerable contextTier"
                " selectedModel reasoningEffort vscodeVersion detachedFromSpawningParentSessionId sessionLimits",
            ),
            ("session.task_complete", "task-complete", "summary", "success"),
            ("session.truncation", "truncation", None, None),
            ("session.usage_record", "usage", None, "usage"),
            ("session.warning", "notice", "message", "warningType url"),
            (
                "subagent.completed",
                "agent",
                None,
                "toolCallId agentName agentDisplayName model firstDispatchedModel modelSelectionSource totalToolCalls"
                " totalTokens durationMs",
            ),
            ("subagent.configured", "agent", None, "model reasoningEffort multiTurn"),
            ("subagent.failed", "error", "error", None),
            (
                "subagent.started",
                "agent",
                "agentDescription",
                "toolCallId agentName agentDisplayName model taskModelSource modelSelectionSource resumable agentType"
                " executionMode",
            ),
            ("system.notification", "notice", "content", "kind"),
        )
    }
)
"""Types that are events here: their kind, the key of what a person would read, and the keys that are known (None: all)."""
PLAIN: Final = _words(
    "assistant.intent assistant.usage custom_agent.started custom_agent.completed custom_agent.failed custom_agent.selected"
    " external_tool.requested external_tool.completed session.auto_mode_resolved session.autopilot_objective_changed"
    " session.canvas.recorded session.canvas.removed session.completion_receipt session.context_cleared session.idle"
    " session.imported_legacy session.permissions_changed session.plan_changed session.remote_steerable_changed"
    " session.schedule_created session.schedule_cancelled session.schedule_fired session.session_limits_changed"
    " session.snapshot_rewind session.title_changed session.todos_changed session.usage_checkpoint session.usage_info"
    " session.workspace_file_changed skill.invoked subagent.deselected subagent.selected tool.execution_partial_result"
    " tool.execution_progress tool_search.activated user_input.requested user_input.completed elicitation.requested"
    " elicitation.completed command.queued command.completed session.tools_updated session.custom_agents_updated"
    " session.skills_loaded assistant.fusion_phase_start assistant.fusion_phase_end"
)
"""Event types known by name, rare or never in files: kept whole, of the kind that the first part of their name says."""
TABLES: Final[Mapping[str, Fields]] = MappingProxyType(
    {
        name: Fields(name, "/data", typed=_words(text or ""), kept=_kept(*keys.split()))
        for name, (_, text, keys) in EVENTS.items()
        if keys is not None
    }
)
"""What is known of those whose keys are known."""
