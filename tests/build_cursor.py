"""The fixtures of Cursor: databases with the real table definitions, and the smaller files; ``python -m tests.build_cursor``.

Every case is a conversation, with what must come of it beside it: one line an entry (role, author, state if it is not active,
blocks), and the codes of its drops. All cases of the editor stand in one database, ``state.vscdb``; ids are names of cases. No
words of anybody are in here.
"""

import base64
import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import attrs
from tests import cursor_cases
from tests.databases import Json, Rows, connected

FOLDER: Final = Path(__file__).parent / "fixtures" / "cursor"
AT: Final = "2026-08-17T06:30:44.209Z"
MS: Final = 1786948236174


@attrs.define
class Case:
    """A conversation of the editor, and what comes of it."""

    bubbles: dict[str, Any] = attrs.field(factory=dict)
    """By id, in the order in which they are saved."""
    head: dict[str, Any] | None = attrs.field(factory=dict)
    """What ``composerData`` holds beyond ids and the list of bubbles; None for no head at all."""
    listed: list[Any] | None = None
    """The list of bubbles; None for all, in the order in which they are saved."""
    rows: Rows = attrs.field(factory=list)
    entries: list[str] = attrs.field(factory=list)
    drops: dict[str, int] = attrs.field(factory=dict)
    links: list[list[str | None]] = attrs.field(factory=list)


def human(text: str, **more: Any) -> dict[str, Any]:
    """A person's bubble."""
    return {"_v": 3, "type": 1, "text": text, "createdAt": AT, **more}


def model(text: str = "", **more: Any) -> dict[str, Any]:
    """A bubble of the model."""
    return {"_v": 3, "type": 2, "text": text, "createdAt": AT, **more}


def tool(name: str, **more: Any) -> dict[str, Any]:
    """A tool's use."""
    return {"tool": 15, "name": name, "toolCallId": "call", "status": "completed", **more}


def dumps(value: Any) -> str:
    """JSON in a string."""
    return json.dumps(value, separators=(",", ":"))


def varint(number: int) -> bytes:
    """A number of protobuf."""
    head = b""
    while number > 127:
        head, number = head + bytes([number & 127 | 128]), number >> 7
    return head + bytes([number])


def proto(*fields: tuple[int, int | bytes]) -> bytes:
    """A message of protobuf."""
    return b"".join(
        varint(n << 3) + varint(v) if isinstance(v, int) else varint(n << 3 | 2) + varint(len(v)) + v for n, v in fields
    )


def blob(data: bytes) -> tuple[str, bytes]:
    """A blob and its name."""
    return sha256(data).hexdigest(), data


SYSTEM = blob(b'{"role":"system","content":"be good"}')
EXACT = blob(b'{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"Shell","result":"exactly this"}]}')
STATE = proto((1, bytes.fromhex(SYSTEM[0])), (1, bytes.fromhex(EXACT[0])))
ROOT = blob(STATE)
CONTENT = "composer.content."
EMPTY = CONTENT + sha256(b"").hexdigest()

CASES: Final[dict[str, Case]] = {
    # The nine cases.
    "text": Case({"u": human("hello"), "a": model("\n\nhi")}, entries=["user human: hello", "assistant model: \n\nhi"]),
    "tool-only": Case(
        {
            "a": model(
                toolFormerData=tool("run_terminal_cmd", params='{"command":"ls"}', result='{"output":"a.py","exitCode":101}')
            )
        },
        entries=['assistant model: run_terminal_cmd({"command":"ls"}) =>completed 101 a.py'],
    ),
    "thinking-only": Case(
        {"a": model(thinking={"text": "hm", "signature": "s"}, capabilityType=30)}, entries=["assistant model: ~hm~"]
    ),
    "mixed": Case(
        {
            "a": model(
                "so", thinking={"text": "hm"}, toolFormerData=tool("read_file_v2", params='{"targetFile":"a"}', result='"x"')
            )
        },
        entries=['assistant model: ~hm~ so read_file_v2({"targetFile":"a"}) =>completed None "x"'],
    ),
    "empty": Case({"u": human(""), "a": model("")}, entries=["user human:", "assistant model:"]),
    "duplicate-text": Case(
        {"u": human("again"), "v": human("again"), "a": model("same"), "b": model("same")},
        entries=["user human: again", "user human: again", "assistant model: same", "assistant model: same"],
    ),
    "missing-time": Case({"u": {"type": 1, "text": "when?"}}, entries=["user human: when?"]),
    "bad-json": Case(
        {"u": human("a"), "x": "{not json", "a": model("b")},
        entries=["user human: a", "missing: None", "assistant model: b"],
        drops={"malformed-value": 1, "cursor/missing-bubble": 1},
    ),
    "unknown-version": Case(
        {"u": human("a", _v=9, brandNew={"x": 1})}, {"_v": 99}, entries=["user human: a"], drops={"unknown-field": 1}
    ),
    # Order, and what lists name.
    "order-of-the-list": Case(
        {"z": model("second"), "a": human("first"), "m": human("third", createdAt="2020-01-01T00:00:00.000Z")},
        listed=["a", "z", "m"],
        entries=["user human: first", "assistant model: second", "user human: third"],
    ),
    "orphans": Case(
        {"x": human("edited away"), "u": human("kept"), "y": model("of the other branch")},
        listed=["u"],
        entries=["user human: kept", "user human orphan: edited away", "assistant model orphan: of the other branch"],
    ),
    "missing-bubble": Case(
        {"u": human("a")},
        listed=["u", {"bubbleId": "gone", "type": 2, "grouping": {"textPreview": "it bega", "hasText": True}}],
        entries=["user human: a", "missing: it bega"],
        drops={"cursor/missing-bubble": 1},
    ),
    "null-and-empty-rows": Case(
        {"u": human("a"), "n": None, "e": ""},
        entries=["user human: a", "missing: None", "missing: None"],
        drops={"null-value": 1, "empty-value": 1, "cursor/missing-bubble": 2},
    ),
    "listed-twice": Case(
        {"u": human("a"), "a": model("b")},
        listed=["u", "a", "u"],
        entries=["user human: a", "assistant model: b"],
        drops={"cursor/duplicate-header": 1},
    ),
    "emptied-list": Case(
        {"u": human("a"), "a": model("b")},
        {"status": "aborted"},
        listed=[],
        entries=["user human: a", "assistant model: b"],
        drops={"cursor/lost-order": 1},
    ),
    "no-head": Case({"u": human("a")}, None, entries=["user human: a"]),
    "inline": Case(
        {},
        {
            "_v": 1,
            "conversation": [
                {"type": 1, "bubbleId": "o1", "text": "q"},
                {
                    "type": 2,
                    "bubbleId": "o2",
                    "text": "a",
                    "timingInfo": {"clientStartTime": 5209.1, "clientRpcSendTime": MS + 0.5},
                },
            ],
        },
        entries=["user human: q", "assistant model: a"],
    ),
    "id-mismatch": Case({"u": human("a", bubbleId="other")}, entries=["user human: a"], drops={"cursor/key-id-mismatch": 1}),
    "newline\nin the id": Case({"u": human("a")}, entries=["user human: a"]),
    # What bubbles hold.
    "unknown-bubble": Case(
        {"u": {"type": 7, "text": "new kind"}}, entries=["type-7 None: new kind"], drops={"cursor/unknown-bubble": 1}
    ),
    "simulated": Case({"u": human("not typed", isSimulatedMsg=True)}, entries=["user harness: not typed"]),
    "summary-mark": Case({"m": model(capabilityType=22)}, entries=["compaction: None"]),
    "summary-object": Case(
        {"u": human("a"), "v": human("b")},
        {"latestConversationSummary": {"summary": {"summary": "what was", "truncationLastBubbleIdInclusive": "u"}}},
        entries=["user human: a", "compaction-summary: what was", "user human: b"],
    ),
    "summary-text": Case(
        {"u": human("a")},
        {"latestConversationSummary": dumps({"summary": "old form"})},
        entries=["user human: a", "compaction-summary: old form"],
    ),
    "old-thinking": Case(
        {"a": model("so", allThinkingBlocks=[{"thinking": "one"}, {"text": "two", "signature": "s"}, {"x": 1}])},
        entries=["assistant model: ~one~ ~two~ so"],
    ),
    "thinking-as-text": Case({"a": model(thinking="plain")}, entries=["assistant model: ~plain~"]),
    "redacted-thinking": Case(
        {"a": model(thinking={"text": "", "signature": "", "redactedThinking": "xx"})}, entries=["assistant model: ~~"]
    ),
    "rich-text-alone": Case(
        {
            "u": human(
                "",
                richText=dumps(
                    {
                        "root": {
                            "children": [
                                {
                                    "type": "paragraph",
                                    "children": [{"type": "text", "text": "see "}, {"type": "mention", "mentionName": "a.py"}],
                                },
                                {
                                    "type": "paragraph",
                                    "children": [{"text": "and more"}, {"type": "linebreak"}, {"text": "end"}],
                                },
                            ]
                        }
                    }
                ),
            ),
            "v": human("", richText="bare"),
            "w": human(
                "",
                richText=dumps(
                    {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "new"}]}]}
                ),
            ),
        },
        entries=["user human: see a.py\nand more\nend", "user human: bare", "user human: new"],
        drops={"cursor/rich-text": 3},
    ),
    "images": Case(
        {"u": human("look", images=[{"uuid": "i", "dimension": {"width": 1, "height": 2}}, {"path": "/w/i.png", "uuid": "j"}])},
        entries=["user human: look [image None] [image /w/i.png]"],
        drops={"cursor/image-stripped": 1},
    ),
    "attachments": Case(
        {
            "u": human(
                "fix it",
                attachedCodeChunks=[{"relativeWorkspacePath": "a.py", "lines": ["x = 1", "y"], "startLineNumber": 7}],
                context={
                    "fileSelections": [{"uri": {"fsPath": "/w/b.py", "path": "/w/b.py"}}],
                    "folderSelections": [{"relativePath": "src"}],
                    "selections": [{"rawText": "chosen", "uri": {"path": "/w/c.py"}}],
                },
            )
        },
        entries=[
            "user human: fix it [code a.py None: x = 1\ny] [file None /w/b.py: None] [folder None src: None] "
            "[selection None /w/c.py: chosen]"
        ],
    ),
    "code-blocks": Case(
        {"a": model("", codeBlocks=[{"languageId": "py", "content": "x = 1", "uri": {"path": "/w/a.py"}, "codeBlockIdx": 0}])},
        entries=["assistant model: [code-block py /w/a.py: x = 1]"],
    ),
    "error-on-an-empty-bubble": Case(
        {"u": human("a"), "a": model(errorDetails={"generationUUID": "g", "error": "{}", "message": "overloaded"})},
        entries=["user human: a", "assistant model:", "error: overloaded"],
    ),
    "usage-and-model": Case(
        {"a": model("b", tokenCount={"inputTokens": 900, "outputTokens": 42}, modelInfo={"modelName": "m-2"}, requestId="r")},
        entries=["assistant model: b"],
    ),
    # Tools.
    "tool-stub": Case(
        {"a": model(toolFormerData={"additionalData": {"status": "error"}})},
        entries=["assistant model:"],
        drops={"cursor/tool-stub": 1},
    ),
    "tool-in-flight": Case(
        {"a": model(toolFormerData=tool("web_search", status="loading", rawArgs='{"query":"ca'))},
        entries=['assistant model: web_search({"query":"ca)'],
        drops={"missing-result": 1},
    ),
    "tool-rejected": Case(
        {"a": model(toolFormerData=tool("run_terminal_cmd", params={"command": "rm"}, userDecision="rejected"))},
        entries=['assistant model: run_terminal_cmd({"command":"rm"}) =>rejected None'],
    ),
    "tool-error": Case(
        {"a": model(toolFormerData=tool("grep", status="error", error=dumps({"clientVisibleErrorMessage": "no such folder"})))},
        entries=["assistant model: grep() =>error None no such folder"],
    ),
    "tool-cancelled": Case(
        {"a": model(toolFormerData=tool("mcp-server-tool", params="{}", status="cancelled"))},
        entries=["assistant model: mcp-server-tool({}) =>cancelled None"],
    ),
    "tool-on-a-human-bubble": Case(
        {"u": human("", toolFormerData=tool("read_file", params="{}", result="plain text"))},
        entries=["user human: read_file({}) =>completed None plain text"],
    ),
    "tool-without-name": Case(
        {"a": model(toolFormerData={"tool": 39, "status": "completed", "params": "not json", "result": "1 2"})},
        entries=["assistant model: tool-39(not json) =>completed None 1 2"],
    ),
    "old-tools": Case(
        {"a": model("", _v=2)},
        {"capabilities": [{"type": 15, "data": {"bubbleDataMap": dumps({"a": tool("list_dir", params="{}", result="a b")})}}]},
        entries=["assistant model: list_dir({}) =>completed None a b"],
    ),
    "edit": Case(
        {
            "a": model(
                toolFormerData=tool(
                    "edit_file_v2",
                    params=dumps({"relativeWorkspacePath": "/w/a.py"}),
                    result=dumps({"beforeContentId": EMPTY, "afterContentId": CONTENT + "1" * 64}),
                )
            )
        },
        rows=[("cursorDiskKV", CONTENT + "1" * 64, "x = 1\n")],
        entries=[
            'assistant model: edit_file_v2({"relativeWorkspacePath":"/w/a.py"}) =>completed None '
            "±create /w/a.py '' 'x = 1\\n'"
        ],
    ),
    "edit-cleaned-up": Case(
        {
            "a": model(
                toolFormerData=tool(
                    "edit_file_v2",
                    params=dumps({"relativeWorkspacePath": "/w/a.py"}),
                    result=dumps({"beforeContentId": CONTENT + "2" * 64, "afterContentId": CONTENT + "3" * 64}),
                )
            )
        },
        entries=['assistant model: edit_file_v2({"relativeWorkspacePath":"/w/a.py"}) =>completed None'],
        drops={"cursor/missing-content": 2},
    ),
    # Beside bubbles.
    "context-and-diffs": Case(
        {"u": human("a"), "v": human("b")},
        rows=[
            ("cursorDiskKV", "messageRequestContext:context-and-diffs:u", Json({"terminalFiles": ["t"]})),
            ("cursorDiskKV", "codeBlockDiff:context-and-diffs:d", Json({"newModelDiffWrtV0": [{"modified": ["x"]}]})),
        ],
        entries=["user human: a", "context: None", "user human: b", "edit: None"],
    ),
    "drafts": Case(
        {"u": human("a")},
        {"text": "not sent", "queueItems": [{"id": "q", "text": "next"}, {"richText": "rich next"}]},
        entries=[
            "user human: a",
            "draft human pending: not sent",
            "queued human pending: next",
            "queued human pending: rich next",
        ],
    ),
    "keys-are-never-carried-over": Case(
        {"u": human("a")},
        {"blobEncryptionKey": "SECRET", "speculativeSummarizationEncryptionKey": "SECRET"},
        entries=["user human: a"],
    ),
    # Sub-agents.
    "parent": Case(
        {
            "a": model(toolFormerData=tool("task_v2", toolCallId="t1\nfc", params='{"prompt":"p"}', result="{}")),
            "b": model(
                toolFormerData=tool(
                    "task_v2", toolCallId="t2", params="{}", result="{}", additionalData={"subagentComposerId": "child"}
                )
            ),
            "c": model(
                toolFormerData=tool(
                    "task_v2",
                    toolCallId="t3",
                    params="{}",
                    result="{}",
                    additionalData={
                        "composerData": dumps(
                            {
                                "composerId": "inside",
                                "fullConversationHeadersOnly": [{"bubbleId": "n", "type": 1}, {"bubbleId": "m", "type": 2}],
                                "conversationMap": {"m": dumps(model("deep answer")), "n": dumps(human("deep task"))},
                            }
                        )
                    },
                )
            ),
        },
        {"subComposerIds": ["best"], "isBestOfNParent": True},
        entries=[
            'assistant model: task_v2({"prompt":"p"}) =>completed None',
            "assistant model: task_v2({}) =>completed None",
            "assistant model: task_v2({}) =>completed None",
        ],
        links=[
            ["subagent", "child", "t2"],
            ["subagent", "inside", "t3"],
            ["subagent", "task-t1\nfc", "t1\nfc"],
            ["fork", "best", None],
        ],
    ),
    "task-t1\nfc": Case({"u": model("by the task")}, None, entries=["assistant model: by the task"]),
    "child": Case(
        {"u": human("do it")},
        {"subagentInfo": {"parentComposerId": "parent", "toolCallId": "t2", "subagentTypeName": "explore"}},
        entries=["user human: do it"],
        links=[["base", "parent", "t2"]],
    ),
    # The model's view.
    "model-view": Case(
        {"u": human("a")},
        rows=[
            ("cursorDiskKV", "agentKv:checkpoint:model-view", ROOT[0]),
            ("cursorDiskKV", f"agentKv:blob:{ROOT[0]}", ROOT[1].hex()),
            ("cursorDiskKV", f"agentKv:blob:{SYSTEM[0]}", SYSTEM[1]),
            ("cursorDiskKV", f"agentKv:blob:{EXACT[0]}", EXACT[1]),
        ],
        entries=["user human: a", "model-view: None", "model-view: None", "model-view: None", "model-view: None"],
    ),
    "model-view-in-the-head": Case(
        {"u": human("a")},
        {"conversationState": "~" + base64.b64encode(STATE).decode()},
        entries=["user human: a", "model-view: None", "model-view: None"],
    ),
}


def rows_of(id: str, case: Case) -> Rows:
    """The rows of a case."""
    rows: Rows = [
        ("cursorDiskKV", f"bubbleId:{id}:{bid}", Json({"bubbleId": bid, **bubble}) if isinstance(bubble, dict) else bubble)
        for bid, bubble in case.bubbles.items()
    ]
    if case.head is not None:
        listed = list(case.bubbles) if case.listed is None else case.listed
        headers = [{"bubbleId": item, "type": 1} if isinstance(item, str) else item for item in listed]
        head: dict[str, Any] = {"_v": 17, "composerId": id}
        if "conversation" not in case.head:
            head["fullConversationHeadersOnly"] = headers
        rows.append(("cursorDiskKV", f"composerData:{id}", Json(head | case.head)))
    return rows + case.rows


INDEX: Final = {
    "allComposers": [
        {"type": "head", "composerId": "text", "name": "Named by the index", "createdAt": MS, "lastUpdatedAt": MS + 5},
        {"type": "head", "composerId": "elsewhere", "name": "Opened elsewhere", "createdAt": MS},
        "not a head",
    ]
}
BESIDE: Final[Rows] = [
    ("ItemTable", "composer.composerHeaders", Json(INDEX)),
    ("ItemTable", "composer.composerHeaders.tableGateEnabled", "true"),
    ("ItemTable", "cursorAuth/accessToken", "SECRET"),
    ("ItemTable", "secret://x", "SECRET"),
    ("ItemTable", "interactive.sessions", "[]"),
    ("composerHeaders", "in-the-table", Json({"type": "head", "composerId": "in-the-table", "name": "From the table"})),
    ("cursorDiskKV", None, "a row without a key"),
    ("cursorDiskKV", None, "another"),
    ("cursorDiskKV", "composerData:taken-away", None),
    ("cursorDiskKV", "checkpointId:text:1", '{"files":[]}'),
    ("cursorDiskKV", "ofsContent:text:file:///a:b", ""),
    ("cursorDiskKV", "agentKv:blob:" + "0" * 64, b"\0"),
    ("cursorDiskKV", "brandNew:1", "{}"),
    ("cursorDiskKV", "brandNew:2", "{}"),
]
EDITOR: Final[Rows] = [row for id, case in CASES.items() for row in rows_of(id, case)] + BESIDE

CHATDATA: Final = {
    "tabs": [
        {
            "tabId": "tab-1",
            "chatTitle": "From 2023",
            "lastSendTime": 1700000000000,
            "bubbles": [
                {"type": "user", "text": "asked long ago", "id": "u"},
                {"type": "ai", "text": "cut", "rawText": "the whole answer", "id": "a", "modelType": "m-0"},
                {"type": "oracle", "text": "new"},
                "odd",
            ],
        },
        {"no": "id"},
    ]
}
WORKSPACE: Final[Rows] = [
    ("ItemTable", "workbench.panel.aichat.view.aichat.chatdata", Json(CHATDATA)),
    ("ItemTable", "aiService.prompts", Json([{"text": "all that is left", "commandType": 4}, 7])),
    (
        "ItemTable",
        "aiService.generations",
        Json([{"unixMs": MS, "generationUUID": "g", "type": "composer", "textDescription": "asked"}, 7]),
    ),
    (
        "ItemTable",
        "composer.composerData",
        Json({"allComposers": [{"composerId": "text", "createdAt": MS, "name": "n"}], "selectedComposerIds": ["text"]}),
    ),
    ("ItemTable", "workbench.panel.composerChatViewPane.1", Json({"workbench.panel.aichat.view.text": {"isHidden": False}})),
]

FIRST = blob(b'{"role":"user","content":"<user_query>\\nfirst\\n</user_query>"}')
ONE = blob(b'{"role":"assistant","content":[{"type":"reasoning","text":"r","signature":"s"},{"type":"text","text":"one"}]}')
SUMMARY = blob(b'{"role":"user","content":"summary","providerOptions":{"cursor":{"isSummary":true}}}')
INFO = blob(b'{"role":"user","content":"<user_info>x</user_info>"}')
SECOND = blob(
    b'{"role":"user","content":[{"type":"text","text":"<user_query>\\nsecond\\n</user_query>"}],"providerOptions":{"cursor":{"requestId":"req-2"}}}'
)
CALL = blob(
    b'{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c\\nfc","toolName":"Shell","args":{"command":"ls"}}]}'
)
RESULT = blob(b'{"role":"tool","content":[{"type":"tool-result","toolCallId":"c\\nfc","toolName":"Shell","result":"ok"}]}')
HIDDEN = blob(b'{"role":"assistant","content":[{"type":"redacted-reasoning","data":"xx"},{"type":"text","text":"two"}]}')
ABANDONED = blob(b'{"role":"assistant","content":[{"type":"text","text":"ABANDONED BRANCH"}]}')
ARCHIVE = blob(
    proto((1, bytes.fromhex(FIRST[0])), (1, bytes.fromhex(ONE[0])), (2, b"summary of turn one"), (4, bytes.fromhex(SUMMARY[0])))
)
PROMPT = blob(proto((1, b"second"), (2, b"msg-2")))
STEP = blob(proto((2, proto((57, b"c\nfc"), (59, MS), (60, MS + 900)))))
TURN = blob(proto((1, proto((1, bytes.fromhex(PROMPT[0])), (2, bytes.fromhex(STEP[0])), (3, b"req-2")))))
CLI_ROOT = blob(
    proto(
        *((1, bytes.fromhex(item[0])) for item in (SYSTEM, INFO, SUMMARY, SECOND, CALL, RESULT, HIDDEN)),
        (8, bytes.fromhex(TURN[0])),
        (13, bytes.fromhex(ARCHIVE[0])),
        (26, MS),
    )
)
CLI_META: Final = {
    "agentId": "agent-1",
    "latestRootBlobId": CLI_ROOT[0],
    "name": "New Agent",
    "mode": "default",
    "createdAt": MS,
    "isRunEverything": False,
    "blobEncryptionKey": "SECRET",
}
STORE: Final[Rows] = [
    ("meta", "0", dumps(CLI_META).encode().hex()),
    *(
        ("blobs", *item)
        for item in (
            *(SYSTEM, INFO, FIRST, ONE, SUMMARY, SECOND, CALL, RESULT, HIDDEN, ABANDONED),
            *(ARCHIVE, PROMPT, STEP, TURN, CLI_ROOT),
        )
    ),
]


def write(path: Path, rows: Rows, tables: tuple[str, ...] = ("ItemTable", "cursorDiskKV", "composerHeaders")) -> None:
    """A database of these rows, in the smallest pages."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    db = connected(rows, tables)
    db.execute("PRAGMA page_size=1024")
    db.execute("VACUUM")
    path.write_bytes(db.serialize())
    db.close()


def main() -> None:
    """Write all databases."""
    write(FOLDER / "state.vscdb", EDITOR)
    write(FOLDER / "workspace" / "state.vscdb", WORKSPACE)
    (FOLDER / "workspace" / "workspace.json").write_text('{"folder":"file:///c%3A/Users/u/my%20project"}')
    write(FOLDER / "chat" / "store.db", STORE, ())
    (FOLDER / "chat" / "meta.json").write_text(
        '{"schemaVersion":1,"createdAtMs":1786948236174,"hasConversation":true,"cwd":"/w/project"}'
    )
    for kind, ending, cases in cursor_cases.kinds():
        for name, case in cases.items():
            path = FOLDER / "cases" / kind / f"{name}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(case.data)


if __name__ == "__main__":
    main()
