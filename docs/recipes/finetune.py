"""Chat examples to train a model on, one conversation a line: ``python finetune.py PATH…``. Take secrets out first."""

import json
import sys
from collections.abc import Iterator
from itertools import chain

import convparse


def example(conversation: convparse.Conversation) -> Iterator[dict[str, object]]:
    """The messages of the turns that came to their end: no turn that was interrupted, failed or undone, no thinking."""
    for number, turn in enumerate(conversation.turns()):
        if turn.status == "complete" and turn.prompts:
            yield {"role": "user", "content": "\n\n".join(prompt.text for prompt in turn.prompts)}
            for response in turn.responses:
                calls = [
                    (f"call-{number}-{place}", use)
                    for place, use in enumerate(turn.tool_calls)
                    if use.message in response.messages
                ]
                asked = {"tool_calls": [asked_for(name, use.call) for name, use in calls]} if calls else {}
                yield {"role": "assistant", "content": response.text, **asked}
                for name, use in calls:
                    yield {"role": "tool", "tool_call_id": name, "content": use.result.text if use.result else use.outcome}


def asked_for(name: str, call: convparse.ToolCall) -> dict[str, object]:
    """A call in the words of the chat format."""
    given = call.input.text if isinstance(call.input, convparse.Json) else json.dumps({"input": call.input})
    return {"id": name, "type": "function", "function": {"name": call.name, "arguments": given}}


if __name__ == "__main__":
    for found in chain.from_iterable(map(convparse.iter_conversations, sys.argv[1:])):
        for lines in map(list, map(example, found.conversations)):
            if lines:
                print(json.dumps({"messages": lines}))
