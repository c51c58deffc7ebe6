"""A session as one page of HTML: ``python viewer.py PATH >page.html``. Nothing in it runs, and nothing is fetched."""

import sys
from collections.abc import Iterator
from html import escape

import convparse

HEAD = """<!doctype html><meta charset="utf-8"><title>Session</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>:root { color-scheme: light dark } body { font: 1em/1.5 sans-serif; max-width: 50em; margin: auto; padding: 1em }
pre { white-space: pre-wrap; overflow-wrap: anywhere } .human { border-left: .3em solid; padding-left: 1em }</style>"""


def page(result: convparse.ParseResult) -> Iterator[str]:
    """The turns of every conversation, calls folded away, and what was dropped."""
    yield HEAD
    for conversation in result.conversations:
        yield f"<h2>{escape(conversation.title or conversation.id or 'Untitled')}</h2>"
        for turn in conversation.turns():
            for message in turn.messages:
                if message.text:
                    yield f'<pre class="{message.author}">{escape(message.text)}</pre>'
                yield from (call(use) for use in turn.tool_calls if use.message is message)
    yield from (f"<p>{escape(str(drop))}</p>" for drop in result.dropped)


def call(use: convparse.ToolUse) -> str:
    """A call, its input and its output, folded."""
    given = use.call.input.text if isinstance(use.call.input, convparse.Json) else use.call.input
    about, output = f"{use.call.name}: {use.command or use.call.kind} ({use.outcome})", use.result.text if use.result else ""
    return f"<details><summary>{escape(about)}</summary><pre>{escape(given)}</pre><pre>{escape(output)}</pre></details>"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    print(*page(convparse.parse(sys.argv[1])), sep="\n")
