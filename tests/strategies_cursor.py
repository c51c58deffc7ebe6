"""Hypothesis strategies: databases of Cursor's editor as they are found, each with a model of what was put in.

The texts of a database are all different, so that each can be looked for.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
from hypothesis import strategies as st
from tests.databases import Json, Rows
from tests.strategies import odd_json, words

Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]


@attrs.define
class Stored:
    """A database, and what is in it."""

    rows: Rows = attrs.field(factory=list)
    ids: list[str] = attrs.field(factory=list)
    """The conversations that have rows of their own or stand in an index."""
    texts: list[str] = attrs.field(factory=list)
    """What anybody wrote, thought or was told; all different."""
    prompts: list[str] = attrs.field(factory=list)
    calls: list[str] = attrs.field(factory=list)
    bubbles: int = 0
    orphans: int = 0
    missing: int = 0
    serial: int = 0

    def text(self, draw: Draw) -> str:
        """A new text."""
        self.serial += 1
        made = f"{draw(words)} text-{self.serial}"
        self.texts.append(made)
        return made


IDS = ("11111111-1111-4111-8111-111111111111", "task-call_a\nfc_b", "empty-state-draft", "ünï", "b", "a%_b")
TOOLS = (
    "read_file_v2",
    "run_terminal_command_v2",
    "edit_file_v2",
    "glob_file_search",
    "mcp-server-tool",
    "task_v2",
    "brand_new",
)
NOISE = (
    ("checkpointId:x:y", '{"files":[]}'),
    ("ofsContent:x:file:///a:b", ""),
    ("agentKv:blob:" + "0" * 64, b"\0"),
    ("agentKv:checkpoint:x", "00"),
    ("brandNewFamily:x", "{}"),
    ("noColonAtAll", "{}"),
    ("composerVirtualRowHeights:x", "{}"),
    (None, "x"),
    (None, "y"),
    (b"\xffkey", "z"),
)
ITEMS = (
    ("cursorAuth/accessToken", "SECRET"),
    ("secret://x", "SECRET"),
    ("workbench.view", "{}"),
    ("composer.composerHeaders.tableGateEnabled", "true"),
    ("interactive.sessions", "[]"),
)


@st.composite
def editors(draw: Draw) -> Stored:
    """A global database: conversations of every era, orphans, holes, families that are not read."""
    made = Stored()
    for id in draw(st.lists(st.sampled_from(IDS), unique=True, max_size=3)):
        made.ids.append(id)
        _conversation(draw, made, id)
    for key, value in draw(st.lists(st.sampled_from(NOISE), max_size=4)):
        made.rows.append(("cursorDiskKV", key, value))
    for key, value in draw(st.lists(st.sampled_from(ITEMS), max_size=3)):
        made.rows.append(("ItemTable", key, value))
    _index(draw, made)
    made.rows = draw(st.permutations(made.rows))
    keys: dict[Any, tuple[str, Any, Any]] = {}
    for number, (table, key, value) in enumerate(made.rows):
        keys[(table, key) if key is not None else number] = (table, key, value)
    made.rows = list(keys.values())
    return made


def _conversation(draw: Draw, made: Stored, id: str) -> None:
    era = draw(st.sampled_from(["inline", "split", "split", "split", "no head", "emptied"]))
    bubbles = [_bubble(draw, made, f"b{n}") for n in range(draw(st.integers(1 if era == "no head" else 0, 5)))]
    if era == "no head":
        made.rows += [("cursorDiskKV", f"bubbleId:{id}:{bid}", Json(bubble)) for bid, bubble in bubbles]
        made.bubbles += len(bubbles)
        return
    head: dict[str, Any] = {"_v": draw(st.sampled_from([1, 3, 10, 16, 17, 99])), "composerId": id, "status": "completed"}
    if draw(st.booleans()):
        head |= {"name": made.text(draw), "createdAt": 1786948236174, "lastUpdatedAt": 1786948236297, "unifiedMode": "agent"}
    if draw(st.booleans()):
        head |= {"text": made.text(draw), "modelConfig": {"modelName": "m", "maxMode": True}, "todos": ['{"content":"x"}']}
    if draw(st.booleans()):
        head |= {
            "latestConversationSummary": {"summary": {"summary": made.text(draw), "truncationLastBubbleIdInclusive": "b0"}}
        }
    if draw(st.booleans()):
        head |= {"queueItems": [{"text": made.text(draw), "id": "q"}], "brandNew": draw(odd_json), "subComposerIds": ["b"]}
    if era == "inline":
        head["conversation"] = [dict(bubble, bubbleId=bid) for bid, bubble in bubbles]
        made.bubbles += len(bubbles)
    else:
        listed = [] if era == "emptied" else [bubble for bubble in bubbles if draw(st.integers(0, 4))]
        head["fullConversationHeadersOnly"] = [{"bubbleId": bid, "type": bubble["type"]} for bid, bubble in listed]
        if listed and draw(st.booleans()):
            head["fullConversationHeadersOnly"].insert(
                1, {"bubbleId": "gone", "type": 2, "grouping": {"textPreview": made.text(draw)}}
            )
            made.missing += 1
        made.orphans += len(bubbles) - len(listed) if listed else 0
        made.bubbles += len(bubbles)
        for bid, bubble in bubbles:
            made.rows.append(("cursorDiskKV", f"bubbleId:{id}:{bid}", Json(bubble)))
            if draw(st.integers(0, 3)) == 0:
                made.rows.append(("cursorDiskKV", f"messageRequestContext:{id}:{bid}", Json({"notepads": [made.text(draw)]})))
    made.rows.append(("cursorDiskKV", f"composerData:{id}", Json(head)))


def _bubble(draw: Draw, made: Stored, bid: str) -> tuple[str, dict[str, Any]]:
    kind = draw(st.sampled_from(["human", "text", "thinking", "tool", "text and tool", "empty", "mark", "error", "new"]))
    bubble: dict[str, Any] = {"_v": 3, "type": 1 if kind == "human" else 7 if kind == "new" else 2, "bubbleId": bid, "text": ""}
    bubble |= {"lints": [], "capabilities": [], "context": {"mentions": {}, "selections": []}, "isAgentic": draw(st.booleans())}
    bubble["createdAt"] = draw(
        st.sampled_from(["2026-08-17T06:30:44.209Z", "2026-01-01T00:00:00Z", "yesterday", 1786948236174, None])
    )
    if kind in ("human", "text", "text and tool", "new"):
        bubble["text"] = made.text(draw)
    if kind == "human":
        made.prompts.append(bubble["text"])
        bubble |= {"attachedCodeChunks": [{"relativeWorkspacePath": "a.py", "lines": [made.text(draw)], "startLineNumber": 3}]}
        bubble |= {"images": [{"uuid": "i", "dimension": {"width": 3, "height": 4}}], "richText": '{"root":{"children":[]}}'}
    if kind == "thinking":
        bubble |= {"thinking": {"text": made.text(draw), "signature": "s"}, "capabilityType": 30, "thinkingDurationMs": 900}
    if "tool" in kind:
        bubble["toolFormerData"] = _tool(draw, made)
        bubble["capabilityType"] = 15
    if kind == "mark":
        bubble["capabilityType"] = 22
    if kind == "error":
        bubble["errorDetails"] = {"error": "{}", "message": made.text(draw), "generationUUID": "g"}
    if draw(st.booleans()):
        bubble |= {"tokenCount": {"inputTokens": 9, "outputTokens": 4}, "modelInfo": {"modelName": "m"}, "requestId": "r"}
        bubble |= {"timingInfo": {"clientStartTime": 5209.5, "clientRpcSendTime": 1786948236174.5}, "workspaceProjectDir": "/w"}
    if draw(st.integers(0, 4)) == 0:
        bubble |= {"brandNew": draw(odd_json), "a/b": draw(odd_json)}
    return bid, bubble


def _tool(draw: Draw, made: Stored) -> dict[str, Any]:
    made.serial += 1
    call = f"call_{made.serial}\nfc"
    if draw(st.integers(0, 5)) == 0:
        return {"additionalData": {"status": "error"}}
    made.calls.append(call)
    tool = {
        "tool": 15,
        "name": draw(st.sampled_from(TOOLS)),
        "toolCallId": call,
        "toolIndex": 0,
        "modelCallId": draw(st.sampled_from(["", "m1"])),
    }
    params: Any = {"command": made.text(draw), "targetFile": "/w/a.py"}
    result: Any = {"output": made.text(draw), "exitCode": draw(st.integers(0, 2))}
    spaced = draw(st.booleans())
    tool["params"] = draw(st.sampled_from([params, json.dumps(params, ensure_ascii=not spaced)]))
    tool["rawArgs"] = draw(st.sampled_from(["", '{"command":"cu']))
    tool["result"] = draw(st.sampled_from([result, json.dumps(result, ensure_ascii=False), result["output"]]))
    tool["status"] = draw(st.sampled_from(["completed", "error", "cancelled", "brand new"]))
    if draw(st.booleans()):
        tool |= {"userDecision": draw(st.sampled_from(["accepted", "rejected"])), "error": '{"clientVisibleErrorMessage":"no"}'}
    if draw(st.booleans()):
        tool |= {"additionalData": {"n": [1, {"a": "b"}]}, "brandNew": 1}
    return tool


def _index(draw: Draw, made: Stored) -> None:
    heads = [
        {"type": "head", "composerId": id, "name": f"named {id}", "createdAt": 1786948236174}
        for id in (*made.ids, "listed-only")
    ]
    if draw(st.booleans()):
        made.ids.append("listed-only")
        made.rows.append(("ItemTable", "composer.composerHeaders", Json({"allComposers": heads, "selected": "x"})))
    if draw(st.booleans()):
        made.rows += [("composerHeaders", head["composerId"], Json(head)) for head in heads[:-1]]
    if draw(st.booleans()):
        tab = {"tabId": "tab", "chatTitle": made.text(draw), "lastSendTime": 1700000000000}
        tab["bubbles"] = [
            {"type": "user", "text": made.text(draw), "id": "u"},
            {"type": "ai", "rawText": made.text(draw), "id": "a"},
        ]
        made.prompts.append(tab["bubbles"][0]["text"])
        made.bubbles += 2
        made.ids.append("tab")
        made.rows.append(("ItemTable", "workbench.panel.aichat.view.aichat.chatdata", Json({"tabs": [tab]})))
    if draw(st.booleans()):
        made.rows.append(("ItemTable", "aiService.prompts", Json([{"text": made.text(draw), "commandType": 4}])))
        generation = {"unixMs": 1700000000000, "generationUUID": "g", "type": "composer", "textDescription": made.text(draw)}
        made.rows.append(("ItemTable", "aiService.generations", Json([generation])))


@st.composite
def odd_editors(draw: Draw) -> Rows:
    """A database in which some values are of any other make, or no JSON at all."""
    rows = draw(editors()).rows
    for _ in range(draw(st.integers(1, 4)) if rows else 0):
        at = draw(st.integers(0, len(rows) - 1))
        table, key, value = rows[at]
        if isinstance(value, Json):
            from tests.leaves import put, walk

            paths = [path for path, _ in walk(value.value) if path]
            path = draw(st.sampled_from(paths)) if paths else ()
            other = draw(odd_json)
            new = put(value.value, path[: draw(st.integers(1, len(path)))], other) if path else other
            rows[at] = (table, key, draw(st.sampled_from([Json(new), None, "", b"\xff", "{", "[1]"])))
    return rows
