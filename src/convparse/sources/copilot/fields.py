"""What is known of VS Code's chat sessions, field by field: from 2024 to VS Code 1.138 (October 2026).

``Fields`` tables say of every key of an object whether a record is made from it, whether it is kept as JSON, or whether it is
left out by name and why. Reading, the docs and the tests share them; a key that no table has is ``unknown-field``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from convparse.ledger import ALWAYS, Fields

NEWEST: Final = "1.138"
NEWEST_SESSION: Final = 3
"""The newest ``version`` of a session object."""

SKIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "inputState": "what stands unsent in the input box, and its settings: read with `drafts=True` (since 1.107)",
        "hasPendingEdits": "whether the editor shows edits that are neither kept nor undone (since 1.107)",
        "isNew": "a switch of the editor (until 1.108)",
        "prepareToolInvocation": "a placeholder shown before a tool call (until 1.109)",
        "undoStop": "a mark for undoing edits, without content",
        "edit-fence": "the fences of code that the editor leaves around an edit",
        "reasoning-done": "the mark that a run of reasoning has ended",
    }
)
"""Operations and parts left out whole, each with the reason."""


def _kept(*keys: str, **silent: object) -> dict[str, object]:
    return {**dict.fromkeys(keys, ALWAYS), **silent}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SESSION: Final = Fields(
    "session",
    typed=_words("sessionId creationDate lastMessageDate customTitle computedTitle requests pendingRequests"),
    kept=_kept(
        *"version responderUsername initialLocation requesterUsername isImported welcomeMessage".split(),
        *"repoData workingDirectory permissionLevel".split(),
    ),
    skipped={
        **{key: SKIPPED[key] for key in ("inputState", "hasPendingEdits", "isNew")},
        "requesterAvatarIconUri": "a picture of the person (until 1.106)",
        "responderAvatarIconUri": "a picture of the product (until 1.109)",
    },
)
SESSION_AND_DRAFT: Final = attrs.evolve(
    SESSION,
    typed=SESSION.typed | {"inputState"},
    skipped={key: reason for key, reason in SESSION.skipped.items() if key != "inputState"},
)
DRAFT: Final = Fields(
    "inputState",
    typed=_words("inputText attachments"),
    kept=_kept("mode", "selectedModel", "permissionLevel", "modelConfiguration", selections=[], contrib={}),
)
OPERATION: Final = Fields(
    "operation",
    typed=_words("k v"),
    skipped={
        "kind": "how the editor wrote a change; what it did stands in the session",
        "i": "where the editor cut a list; what it did stands in the session",
    },
)
PENDING: Final = Fields("pendingRequest", typed=_words("id kind request"), kept=_kept(sendOptions={}))

REQUEST: Final = Fields(
    "request",
    typed=_words(
        "requestId timestamp message variableData agent modelId modeInfo confirmation shouldBeRemovedOnSend isHidden"
        " isSystemInitiated hiddenFromTranscript requestHiddenFromTranscript"
        " response responseId modelState isCanceled result responseErrorDetails timeSpentWaiting responseTimestamp elapsedMs"
        " promptTokens completionTokens copilotCredits"
    ),
    kept=_kept(
        *"slashCommand vote voteDownReason usedContext outputBuffer modelTotals sessionCopilotCredits requestSource".split(),
        *"origin systemInitiatedLabel terminalExecutionId modelConfiguration attempt locationData id".split(),
        followups=[],
        contentReferences=[],
        codeCitations=[],
        responseMarkdownInfo=[],
        editedFileEvents=[],
        workingSet=[],
        promptTokenDetails=[],
    ),
)
MESSAGE: Final = Fields("request", "/message", typed=_words("text"), kept=_kept("timestamp", parts=[]))
MESSAGE_PART: Final = Fields(
    "request",
    "/message/parts/*",
    typed=_words("kind text"),
    skipped={
        "range": "where in the typed text the part stands",
        "editorRange": "where in the input box the part stands",
        "cacheType": "how the prompt was cached",
    },
)
VARIABLES: Final = Fields("request", "/variableData", typed=_words("variables"))
VARIABLE: Final = Fields(
    "variable",
    "/variableData/variables/*",
    typed=_words("kind name value"),
    kept=_kept(
        *"id fullName modelDescription automaticallyAdded originLabel isRoot isFile isImage isOmitted icon mimeType".split(),
        *"omittedState isPartial references enabled isSelection uri code language copiedFrom pastedLines symbolKind".split(),
        *"fileName command output exitCode historyItem title toolReferences settingId resolved isURL isMarked".split(),
        *"isDirectory range isTool isDynamic hidden level prompt content".split(),
    ),
)
AGENT: Final = Fields(
    "request",
    "/agent",
    typed=_words("extensionVersion"),
    kept=_kept("id", "name"),
    skipped=dict.fromkeys(
        (
            "fullName description isDefault isCore isDynamic locations modes slashCommands disambiguation metadata when"
            " extensionId extensionDisplayName extensionPublisherId publisherDisplayName"
        ).split(),
        "how the chat participant describes itself",
    ),
)
MODE: Final = Fields(
    "request",
    "/modeInfo",
    typed=_words("permissionLevel"),
    kept=_kept(
        *"kind isBuiltin telemetryModeId modeId telemetryModeName modeName modeInstructions applyCodeBlockSuggestionId".split()
    ),
)
RESULT: Final = Fields(
    "request",
    "/result",
    typed=_words("metadata errorDetails usage"),
    kept=_kept("timings", "details", "nextQuestion"),
)
METADATA: Final = Fields(
    "request",
    "/result/metadata",
    typed=_words("toolCallRounds toolCallResults"),
    kept=_kept(
        *"agentId sessionId responseId resolvedModel promptTokens outputTokens maxToolCallsExceeded summary summaries".split(),
        *"command filterCategory renderedUserMessage renderedGlobalContext modelId".split(),
        codeBlocks=[],
    ),
    skipped={
        "cacheKey": "a key of the extension's own cache",
        "globalContextCacheKey": "a key of the extension's own cache",
        "modelMessageId": "an id in the extension's telemetry",
    },
)
ROUND: Final = Fields(
    "round",
    "/result/metadata/toolCallRounds/*",
    typed=_words("toolCalls response thinking"),
    kept=_kept(*"timestamp modelId phase phaseModelId summary compaction hookContext".split(), toolInputRetry=0),
    skipped={
        "id": "the round's id; the order says as much",
        "statefulMarker": "an opaque mark of the server's",
    },
)
ROUND_THINKING: Final = Fields(
    "round", "/result/metadata/toolCallRounds/*/thinking", typed=_words("text"), kept=_kept("id", "encrypted", "tokens")
)
CALL: Final = Fields(
    "round", "/result/metadata/toolCallRounds/*/toolCalls/*", typed=_words("id name arguments"), kept=_kept("type")
)
OUTPUT: Final = Fields(
    "toolCallResult",
    "/result/metadata/toolCallResults/*",
    typed=_words("content"),
    kept=_kept("toolResultMessage", "toolResultDetails", "toolMetadata", "hasError"),
    skipped={"$mid": "the editor's number for the type, which changed over versions"},
)
OUTPUT_PART: Final = Fields(
    "toolCallResult",
    "/result/metadata/toolCallResults/*/content/*",
    typed=_words("value mimeType data"),
    kept=_kept("audience"),
    skipped={"$mid": "the editor's number for the type, which changed over versions"},
)
URI: Final = Fields(
    "uri",
    typed=_words("scheme authority path query fragment"),
    skipped=dict.fromkeys("$mid external fsPath _sep".split(), "repeats the other fields for the editor"),
)

_MARKDOWN: Final = MappingProxyType(
    {
        **dict.fromkeys(
            "supportThemeIcons supportHtml supportAlertSyntax isTrusted".split(), "how the editor may show the text"
        ),
        "baseUri": "what relative links of the text are relative to",
        "uris": "what the links of the text lead to, again as objects",
    }
)
MARKDOWN: Final = Fields("markdown", "/response/*", typed=_words("value"), skipped=_MARKDOWN)


def _part(kind: str, typed: str, *kept: str, **silent: object) -> tuple[str, Fields]:
    return kind, Fields(kind, "/response/*", typed=_words("kind") | _words(typed), kept=_kept(*kept, **silent))


PARTS: Final[Mapping[str, Fields]] = MappingProxyType(
    dict(
        (
            _part("markdownContent", "content"),
            _part("markdownVuln", "content", "vulnerabilities"),
            _part("thinking", "value id", *"generatedTitle reasoningDurationMs metadata".split()),
            _part("inlineReference", "inlineReference name", "resolveId"),
            _part("textEditGroup", "uri", *"edits state isExternalEdit".split(), done=True),
            _part("notebookEditGroup", "uri", *"edits state isExternalEdit".split(), done=True),
            _part("externalEdit", "uri editKind diff", *"beforeContentUri afterContentUri undoStopId".split()),
            _part("workspaceEdit", "", "edits"),
            _part("warning", "content"),
            _part("info", "content"),
            _part("systemNotification", "content", "systemMessage"),
            _part("progressMessage", "content", "shimmer"),
            _part("progressTask", "content", "progress", "deferred"),
            _part("progressTaskSerialized", "content", "progress"),
            _part("progressTaskResult", "content"),
            _part("confirmation", "title message", *"data buttons isUsed".split()),
            _part("elicitation", "title message", *"subtitle originMessage state acceptedResult isHidden source".split()),
            _part("elicitationSerialized", "title message", *"subtitle state acceptedResult isHidden source".split()),
            _part("questionCarousel", "", *"questions data isUsed allowSkip message resolveId terminalId".split()),
            _part("planReview", "content title", *"actions data isUsed canProvideFeedback planUri resolveId".split()),
            _part("hook", "systemMessage stopReason", *"hookType toolDisplayName subAgentInvocationId".split()),
        )
    )
)
"""Parts of a response that blocks are made from, by their kind."""

TOOL: Final = Fields(
    "toolInvocationSerialized",
    "/response/*",
    typed=_words("kind toolId toolCallId"),
    kept=_kept(
        *"invocationMessage pastTenseMessage originMessage isConfirmed source presentation resultDetails".split(),
        *"toolSpecificData subAgentInvocationId fromSubAgent generatedTitle isAttachedToThinking confirmationMessages".split(),
        *"parameters".split(),
        isComplete=True,
    ),
)
RAW_PARTS: Final = _words(
    "codeblockUri command extensions pullRequest multiDiffData treeData mcpServersStarting disabledClaudeHooks"
    " autoModeResolution clearToPreviousToolInvocation usage changesSummary elicitation2 undoStopGroup"
)
"""Parts of a response that are known and kept as JSON."""
REPLACEABLE: Final = _words(
    "promptTokens completionTokens outputBuffer promptTokenDetails copilotCredits elapsedMs modelState timeSpentWaiting"
    " responseTimestamp responseId agent modelTotals sessionCopilotCredits responderUsername version usage isCanceled"
)
"""Fields of a session or request that count up while a turn runs: an earlier value is folded into the last."""
MODEL_STATES: Final = ("pending", "complete", "cancelled", "failed", "needs-input")
"""What ``modelState.value`` means."""
CONFIRMATIONS: Final[Mapping[Any, str]] = MappingProxyType({0: "denied", 5: "skipped"})
"""Values of ``isConfirmed.type`` that say that a tool did not run."""
