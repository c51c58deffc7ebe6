"""What is known of Cursor's records, field by field: editor 0.43 to 3.26, ``cursor-agent`` to 2026.10.22.

``Fields`` tables say of every key of an object whether a record is made from it, whether it is kept as JSON, or whether it is
left out by name and why. ``FAMILIES`` and ``ITEMS`` say the same of the keys of a database. Reading, the docs and the tests
share them; a key that no table has is ``unknown-field`` or ``unread-rows``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from convparse.ledger import AnyOf, Fields

NEWEST: Final = "3.26.13"
NEWEST_V: Final = 18
"""The newest ``_v`` of composers that was seen; bubbles have 3."""

SILENT: Final = AnyOf(None, False, "", [])
"""What most of a bubble's hundred fields hold: nothing."""

SKIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agentKv:bubbleCheckpoint": "which state of the model's view was current at each bubble",
        "checkpointId": "states of files, kept so that edits can be undone; what was changed stands in the tool calls",
        "ofsContent": "the original contents of files, kept so that edits can be undone (usually empty)",
        "composer.content": "contents of files that no tool call of a conversation refers to",
        "composerVirtualRowHeights": "heights of bubbles on the screen",
        "inlineDiffsData": "which inline diffs are shown",
        "inlineDiffs": "which inline diffs are shown",
        "ItemTable": "state of the editor and its extensions; accounts and secrets among it are never looked at",
        "aiCodeTracking": "statistics of lines by day",
        "composer.composerHeaders": "switches of the index of conversations",
        "glass": "names of projects",
    }
)
"""Families of rows left out whole, each with the reason."""


def _kept(keys: str, silent: object = SILENT) -> dict[str, object]:
    return dict.fromkeys(keys.split(), silent)


# ---- bubbles ---------------------------------------------------------------------------------------------------------------

BUBBLE: Final = Fields(
    "bubble",
    picked=tuple(
        "type text richText thinking allThinkingBlocks toolFormerData createdAt modelInfo tokenCount requestId images"
        " codeBlocks attachedCodeChunks context errorDetails bubbleId isSimulatedMsg workspaceProjectDir startedAtMs"
        " timingInfo".split()
    ),
    kept=_kept(
        "_v afterCheckpointId agentMode attachedHumanChanges cachedConversationSummary capabilitiesRan"
        " capabilityStatuses capabilityType checkpointId completedAtMs contextWindowStatusAtCreation"
        " conversationState conversationSummary conversationTurnIndex currentFileLocationData"
        " editToolSupportsSearchAndReplace existedPreviousTerminalCommand existedSubsequentTerminalCommand"
        " gitStatusRaw isAgentic isChat isCapabilityIteration isNudge isPlanExecution isQuickSearchQuery"
        " isRefunded isThought kind originalText planUri pluginContext promptDryRunInfo serverBubbleId"
        " simulatedMessageMetadata simulatedMsgReason skipRendering subagentReturn subagentSpawnTaskToolCallId"
        " thinkingDurationMs thinkingStyle turnDurationMs unifiedMode usage usageUuid useWeb"
    )
    | _kept(
        "aiWebSearchResults allAttachedFileCodeChunksUris approximateLintErrors assistantSuggestedDiffs"
        " attachedFileCodeChunksMetadataOnly attachedFileCodeChunksUris attachedFolders"
        " attachedFoldersListDirResults attachedFoldersNew capabilities capabilityContexts codebaseContextChunks"
        " commits consoleLogs contextPieces cursorCommands cursorRules customModeSelections deletedFiles"
        " diffHistories diffsForCompressingFiles diffsSinceLastApply docsReferences documentationSelections"
        " editTrailContexts externalLinks fileDiffTrajectories fileLinks fileSelections gitDiffs"
        " gitPRDiffSelections humanChanges ideEditorsState intermediateChunks interpreterResults knowledgeItems"
        " lints mcpDescriptors multiFileLinterErrors notepads pastChats projectLayouts pullRequests"
        " recentLocationsHistory recentlyViewedFiles relevantFiles selectedImages statusUpdates"
        " suggestedCodeBlocks summarizedComposers supportedTools symbolLinks todos toolResults uiElementPicked"
        " unmergedChunks userResponsesToSuggestedCodeBlocks webCitations webReferences workspaceUris",
        [],
    ),
)
"""A bubble, in a row of its own or inside ``composerData.conversation``."""
MENTIONED: Final = frozenset(
    "consoleLogs diffHistory gitDiff gitDiffFromBranchToMain ideEditorsState uiElementSelections".split()
)
"""Keys of ``context.mentions`` that hold lists; the others hold objects."""
THINKING: Final = Fields(
    "bubble", "/thinking", picked=("text", "signature"), kept=_kept("redactedThinking isLastThinkingChunk")
)
TOKENS: Final = Fields("bubble", "/tokenCount", picked=("inputTokens", "outputTokens"))
TOOL: Final = Fields(
    "bubble",
    "/toolFormerData",
    picked=tuple("tool name toolCallId modelCallId params rawArgs result status userDecision error".split()),
    kept=_kept("toolIndex additionalData attachments toolCallBinary blockReadReason isReviewed startedAtMs completedAtMs"),
)

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: kind
        for kind, names in (
            ("read", "read_file read_file_v2 read_lints fetch_rules read_project Read ReadLints ls list_dir list_dir_v2 LS"),
            ("edit", "edit_file edit_file_v2 search_replace write apply_patch reapply edit_notebook edit_file_v2_edit"),
            ("edit", "edit_file_v2_write edit_file_v2_search_replace Write StrReplace EditNotebook edit multi_edit MultiEdit"),
            ("delete", "delete_file Delete delete"),
            (
                "search",
                "codebase_search grep grep_search ripgrep ripgrep_raw_search glob_file_search file_search Grep Glob glob",
            ),
            ("search", "semantic_search semantic_search_full search_symbols SemanticSearch sem_search"),
            ("execute", "run_terminal_cmd run_terminal_command run_terminal_command_v2 run_terminal_cmd_v2 Shell shell Bash"),
            ("fetch", "web_search web_fetch fetch WebSearch WebFetch fetch_pull_request"),
            ("think", "todo_write todo_read TodoWrite TodoRead create_plan CreatePlan update_current_step switch_mode"),
        )
        for name in names.split()
    }
)
"""Tools by what they do, in the Agent Client Protocol's words; all others are ``other``."""

# ---- composers -------------------------------------------------------------------------------------------------------------

COMPOSER: Final = Fields(
    "composerData",
    typed=frozenset("composerId name createdAt lastUpdatedAt conversation text richText queueItems".split()),
    kept=_kept(
        "_v activeCustomMode activeTabsShouldBeReactive addedFiles agentBackend agentSessionId allAttachedFileCodeChunksUris"
        " allThinkingBlocks applied applyAgentBackendTypeRestrictions branches browserChipManuallyDisabled"
        " browserChipManuallyEnabled canvasPillCollapsed capabilities capabilityContexts checkpoints codeBlockData"
        " codebaseSearchSettings committedToBranch context contextTokenLimit contextTokensUsed contextUsagePercent"
        " conversationCheckpointLastUpdatedAt conversationMap conversationState createdFromBackgroundAgent createdOnBranch"
        " debugModeSuggestionUsed draftTarget editingBubbleId filesChangedCount firstPrompt forceMode"
        " fullConversationHeadersOnly generatingBubbleIds gitGraphFileSuggestions gitHubPromptDismissed gitWorktree"
        " glassMetaParentAgent hasBlockingPendingActions hasBeenInSidebar hasChangedContext hasLoaded hasPendingPlan"
        " hasUnreadMessages initialText isAgentic isApplyingWorktree isArchived isBestOfNParent isBestOfNSubcomposer"
        " isContinuationInProgress isCreatingWorktree isDraft isEphemeral isFileListExpanded isNAL isProject isQueueExpanded"
        " isReadingLongFile isSpec isSpecSubagentDone isTodosExpanded isUndoingWorktree isWorktree lastFocusedAt"
        " latestChatGenerationUUID latestCheckpointId latestConversationSummary linesAddedRemoved modelConfig"
        " newlyCreatedFiles newlyCreatedFolders numSubComposers originalFileStates originalModelLines"
        " pendingCreateWorktree pendingExitedCustomMode planModeSuggestionUsed plans projectLayout"
        " promptTokenBreakdown referencedPlans removedFiles selectedTabIndex skipCodeBlockIdx status stopHookLoopCount"
        " subComposerIds subagentComposerIds subagentInfo subtitle summarizedConversation tabs todos tokenCount totalLinesAdded"
        " totalLinesRemoved trackedGitRepos type unifiedMode usageData userResponsesToSuggestedCodeBlocks"
        " workspaceIdentifier worktreeStartedReadOnly yoloMode"
    ),
    skipped={
        "blobEncryptionKey": "a key; it is never carried over",
        "speculativeSummarizationEncryptionKey": "a key; it is never carried over",
    },
)
"""The head of a conversation."""

TAB: Final = Fields("tab", typed=frozenset({"tabId", "chatTitle", "bubbles", "lastSendTime"}), kept={})
TAB_BUBBLE: Final = Fields(
    "tab-bubble",
    typed=frozenset("type text rawText id modelType".split()),
    kept=_kept("selections image messageType delegate initText context fileSelections terminalSelections codeBlocks"),
)
"""A bubble of the chat tabs of 2023 and 2024."""

# ---- keys ------------------------------------------------------------------------------------------------------------------

READ: Final = ("composerData", "bubbleId", "messageRequestContext", "codeBlockDiff", "codeBlockPartialInlineDiffFates")
"""Families of ``cursorDiskKV`` that belong to a conversation, which the key names after the first colon."""
CONTENT: Final = "composer.content."
FAMILIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "checkpointId:": "skipped-rows",
        "ofsContent:": "skipped-rows",
        "composerVirtualRowHeights:": "skipped-rows",
        "inlineDiffsData": "skipped-rows",
        "inlineDiffs-": "skipped-rows",
        "inlineDiff:": "unread-rows",
        "agentKv:blob:": "cursor/unreachable-blobs",
        "agentKv:bubbleCheckpoint:": "skipped-rows",
        "agentKv:checkpoint:": "unread-rows",
        "agentKv:": "unread-rows",
        "cloudAgent:": "unread-rows",
    }
)
"""Families of ``cursorDiskKV`` that are counted."""
HEADS: Final = ("composer.composerHeaders", "composer.composerData")
"""Keys of ``ItemTable`` that list conversations, of a whole installation and of a workspace."""
CHAT: Final = "workbench.panel.aichat.view.aichat.chatdata"
PANES: Final = "workbench.panel.composerChatViewPane"
PROMPTS: Final = "aiService.prompts"
GENERATIONS: Final = "aiService.generations"
ITEMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "composer.composerHeaders.": "skipped-rows",
        "glass.": "skipped-rows",
        "aiCodeTracking": "skipped-rows",
        "composer.": "unread-rows",
        "aiService.": "unread-rows",
        "cloudAgent": "unread-rows",
        "interactive.": "unread-rows",
        "workbench.backgroundComposer": "unread-rows",
        "workbench.panel.aichat": "unread-rows",
    }
)
"""Families of ``ItemTable`` that belong to conversations and are counted; all others are ``ItemTable`` in ``SKIPPED``."""
