"""Real files, where they are at hand: VS Code's own replay of small logs, and sessions of many versions.

The files are no part of the repository; without them this module is skipped. In the logs among them the words of paths were
replaced as if they were text, which ``readable`` takes back.
"""

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest

import convparse
from convparse import Message, Reference, Text
from convparse.ledger import Ledger
from convparse.reading.mutation_log import read_log

SAMPLES = Path(__file__).parents[2] / "shared" / "samples"
if not SAMPLES.is_dir():
    pytest.skip("no samples at hand", allow_module_level=True)

VSCODE = SAMPLES / "copilot"
CASES = json.loads((VSCODE / "oracle" / "edge_cases.json").read_text())
WORDS = dict(
    pair.split("=")
    for pair in (
        "wibifuti=requests jobicote=response hebevaLunaf=customTitle webicozujIzagokib=responderUsername dujasIkara=inputState"
        " lecetUbihezakujiga=modelConfiguration detahamafeDotev=permissionLevel vikujesiRaneb=selectedModel"
        " patibujIvuliwucuh=contentReferences begukejovuGotuju=completionTokens lohumaSinuju=promptTokens"
        " jebifeZamuja=outputBuffer detaraFeherAcesoso=promptTokenDetails newacorOrumala=copilotCredits"
        " wutUdocucuDonik=hasPendingEdits firojopeHizejehuNugi=responseMarkdownInfo dotohurim=followups manuwAzela=modelState"
        " gukiduzIs=elapsedMs sunociginub=attachments gumacUkip=inputText joziwekesu=selections"
    ).split()
)


def readable(data: bytes) -> bytes:
    lines = []
    for line in data.split(b"\n"):
        value: Any = json.loads(line) if line.strip() else None
        if isinstance(value, dict) and isinstance(value.get("k"), list):
            value["k"] = [WORDS.get(key, key) if isinstance(key, str) else key for key in value["k"]]
            line = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        lines.append(line)
    return b"\n".join(lines)


def parse(path: Path) -> convparse.ParseResult:
    data = path.read_bytes()
    return convparse.parse_bytes(readable(data) if path.name.startswith("log_") else data, name=path.name)


def replay(data: bytes) -> tuple[Any, bool]:
    ledger = Ledger("log")
    states = [log.state for log, _ in read_log(io.BytesIO(data), len(data), ledger)]
    return (states[0] if states else None), bool(ledger.close())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_where_vs_code_gives_a_state_ours_is_equal_or_says_that_it_is_not(case: Any) -> None:
    state, said = replay(base64.b64decode(case["input_base64"]))
    if case["outcome"] == "ok":
        assert state == case["state"] or (said and case["name"] == "lone surrogate escape")


def test_there_are_all_fifty_cases() -> None:
    assert len(CASES) == 50


@pytest.mark.parametrize("name", ["log_oracle_vscode1128_compacted.jsonl", "log_oracle_vscode1128_lifecycle.jsonl"])
def test_logs_of_vs_codes_own_code_replay_equal(name: str) -> None:
    expected = json.loads((VSCODE / "oracle" / f"{name}.replayed.json").read_text())

    assert replay((VSCODE / name).read_bytes()) == (expected, False)


FILES = sorted(
    path
    for path in (*VSCODE.rglob("*.json*"), *(SAMPLES / "copilot-cli").rglob("*.jsonl"))
    if "oracle" not in path.parts and path.name != "budi_workspace.json"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES))[-60:])
def test_every_sample_balances(path: Path) -> None:
    result = parse(path)

    assert result.source == path.relative_to(SAMPLES).parts[0]
    assert all(account.balanced for account in result.accounts)
    assert "unknown-field" not in result.dropped_by_code()


def test_the_longest_real_log_gives_its_one_request_with_every_call() -> None:
    path = VSCODE / "log_traceforge_copilot_vscode.jsonl"
    state, _ = replay(readable(path.read_bytes()))
    ((request),) = state["requests"]
    result = parse(path)
    uses = result.conversation.tool_calls()

    assert len(request["response"]) == 52
    assert [message.author for message in result.conversation.messages] == ["human", "model"]
    assert len(uses) == sum(part.get("kind") == "toolInvocationSerialized" for part in request["response"]) == 14
    assert all(use.call.input.value and use.result is not None and use.result.text for use in uses)  # type: ignore[union-attr]
    assert result.dropped == ()


SENTENCES = {
    "export_digitarald_plan.json": ["`KaduCikoTumo` ru sapum.ts to velawid", "dehoco piceb ru index.ts for jezed"],
    "export_p47_services.json": ["Luzanag docs/helm-values-propagation.md with a summary of var jibekasipu."],
    "export_reddit_condenser_gpt5mini.json": ["the current README.md to hiz dinu's", "I'ci add ge dotuv.html that buhesavuvi"],
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_with_references_read_as_on_screen(name: str) -> None:
    messages = [message for message in parse(VSCODE / name).conversation.messages if message.author == "model"]
    text = "\n".join(message.text for message in messages)

    assert [sentence for sentence in SENTENCES[name] if sentence not in text] == []
    assert any(isinstance(block, Reference) for message in messages for block in message.blocks)


@pytest.mark.parametrize("path", [p for p in FILES if p.parent == VSCODE], ids=lambda path: path.name)
def test_no_text_is_a_stray_fence(path: Path) -> None:
    texts = [b.text for c in parse(path).conversations for m in c.messages for b in m.blocks if type(b) is Text]

    assert [text for text in texts if text.strip() and not text.strip().strip("`")] == []


def test_usage_of_the_command_line_adds_up() -> None:
    checked = 0
    for path in sorted((SAMPLES / "copilot-cli" / "lab").rglob("1.0.102*/*/events.jsonl")):
        result = parse(path)
        recorded = [
            json.loads(line)["data"]["usage"]
            for line in path.read_bytes().split(b"\n")
            if b'"type":"session.usage_record"' in line
        ]
        messages = [message for c in result.conversations for message in c.messages if message.usage is not None]
        if any(message.inherited for c in result.conversations for message in c.messages):
            continue
        counted = sum((message.usage for message in messages), convparse.Usage())
        given = [counted.input_tokens, counted.cache_read_tokens, counted.cache_write_tokens]
        assert sum(number or 0 for number in given) == sum(usage["inputTokens"] for usage in recorded)
        assert (counted.output_tokens or 0) == sum(usage["outputTokens"] for usage in recorded)
        checked += bool(recorded)

    assert checked > 20


def test_messages_of_sub_agents_are_conversations_of_their_own() -> None:
    path = next(p for p in FILES if b"agent_idle" in p.read_bytes() and p.name == "events.jsonl")
    result = parse(path)
    (child,) = result.children(result.conversation)

    assert child.messages[0].author == "model"
    assert all(isinstance(entry, Message) or entry.kind for entry in child.entries)
