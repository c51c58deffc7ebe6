"""``python -m convparse PATH``: what a session file holds, and what of it was not carried over."""

import argparse
import contextlib
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

import convparse
from convparse._show import plain, render, render_drops


def main(arguments: Sequence[str] | None = None) -> int:
    """Show one file. The exit status is 0, 1 with ``--check`` when content was lost, or 2 when nothing could be read."""
    options = _options().parse_args(arguments)
    try:
        result = convparse.parse(options.path, options.source, subagents=options.subagents)
    except (convparse.ConvparseError, OSError) as error:
        _write(f"convparse: {plain(' '.join(str(error).split()))}\n", sys.stderr)
        return 2
    width = shutil.get_terminal_size((100, 24)).columns
    text = render_drops(result) if options.drops_only else render(result, messages=options.messages, width=width)
    _write(f"{text}\n", sys.stdout)
    return 1 if options.check and result.lost else 0


def _options() -> argparse.ArgumentParser:
    about = "What a session file holds, and what of it was not carried over."
    status = "Exit status: 0; with --check 1 when content was lost; 2 when PATH could not be read."
    parser = argparse.ArgumentParser(prog="convparse", description=about, epilog=status, allow_abbrev=False)
    parser.add_argument("path", metavar="PATH", help="a session file, or the folder of one session")
    parser.add_argument("--source", metavar="NAME", help="the product that wrote it; by default found from the content")
    parser.add_argument("--messages", metavar="N", type=_count, default=10, help="messages of each conversation (default: 10)")
    parser.add_argument("--drops-only", action="store_true", help="only what was dropped and skipped")
    parser.add_argument("--no-subagents", dest="subagents", action="store_false", help="leave the files of sub-agents unread")
    parser.add_argument("--check", action="store_true", help="exit with status 1 when content was lost")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"not a number: {text!r}")
    return int(text)


def _write(text: str, stream: TextIO) -> None:
    # Whatever the terminal cannot encode is escaped; a reader that has gone away, as in `| head`, is no error.
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        with contextlib.suppress(BrokenPipeError):
            stream.close()


if __name__ == "__main__":
    sys.exit(main())
