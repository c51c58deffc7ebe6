"""Colours for the text of the command line, by ``rich``; imported only where a terminal shows it.

What comes in: the text that ``_show`` makes, without control characters. What goes out: the same text, coloured. Nothing in it
is read as markup, no line is wrapped or cut, and a text that looks like a heading is coloured like one: colours prove nothing.
"""

from typing import Final, TextIO

from rich.console import Console
from rich.text import Text

STYLES: Final = (
    r"(?P<bold>^(?:conversation|loose|dropped|skipped)\b.*$)",
    r"^bytes: .*?(?P<red>\d+ lost)",
    r"^ *\d+  (?P<dim>.{21,26}?)  (?P<cyan>\S+)",
    r"-> (?:(?P<green>ok)|(?P<red>error|denied)|(?P<yellow>interrupted|missing|unknown))$",
    r"^  \S.*?: (?:(?P<red>lost)|(?P<yellow>altered)|(?P<magenta>unknown)) [\w/-]+: ",
    r"^(?P<cyan>[a-z-]+) {2,}\S.*?(?P<yellow>\(passed over: [a-z-]+\))?$",
)
"""What is coloured; the groups are named by their styles."""


def paint(text: str, stream: TextIO) -> None:
    """Write the text to a terminal, and a line end."""
    shown = Text(text)
    for pattern in STYLES:
        shown.highlight_regex(f"(?m){pattern}")
    Console(file=stream, highlight=False).print(shown, soft_wrap=True)
