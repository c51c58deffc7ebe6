"""The arguments of the command line.

What comes in: words. What goes out: a namespace with ``command`` and that command's options, checked as far as they can be
without opening a file. Wrong ones end the process with status 2, ``--help`` and ``--version`` with 0.
"""

import difflib
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Sequence
from typing import Final

from convparse.drops import CODES
from convparse.sources import SOURCES
from convparse.tables import TABLES

COMMANDS: Final = {
    "show": "what a session holds, and what of it was not carried over",
    "drops": "only what was not carried over",
    "list": "the sessions on this machine, or below some folders",
    "rows": "a table of what a session holds, for other programs",
}
_ABOUT: Final = "Read what AI coding assistants leave on disk, with an account of everything that was not carried over."
_COMMAND: Final = "`convparse PATH` is `convparse show PATH`."
_PATH: Final = "a session's file or folder; a home directory or folder of a product for all below it; - for standard input"
_STATUS: Final = "Exit status: 0; 1 if content was lost; 2 if the call was bad or a file could not be read."


def options_of(arguments: Sequence[str]) -> Namespace:
    """The options that the arguments give."""
    given = list(arguments)
    parser = _parser()
    if not given:
        parser.error(f"nothing to show: give a PATH, or one of the commands {', '.join(COMMANDS)}; --help tells more")
    if given[0] not in (*COMMANDS, "-h", "--help", "--version"):
        given.insert(0, "show")
    options = parser.parse_args(given)
    if options.version:
        sys.stdout.write(f"convparse {_version()}\n")
        parser.exit()
    return options


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow, and seldom asked for

    try:
        return version("convparse")
    except PackageNotFoundError:  # run from its source, not installed
        return "unknown"


# ---- the commands ----------------------------------------------------------------------------------------------------------


def _parser() -> ArgumentParser:
    parser = ArgumentParser("convparse", description=_ABOUT, epilog=f"{_COMMAND} {_STATUS}", allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for (name, about), add in zip(COMMANDS.items(), (_add_show, _add_drops, _add_list, _add_rows), strict=True):
        add(commands.add_parser(name, help=about, description=f"Show {about}.", allow_abbrev=False))
    return parser


def _add_show(parser: ArgumentParser) -> None:
    _add_files(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--limit", metavar="N", type=_count, default=10, help="messages of each conversation (10), or `all`")
    form.add_argument("--json", action="store_true", help="the whole result as JSON, one document a line")


def _add_drops(parser: ArgumentParser) -> None:
    _add_files(parser)
    parser.add_argument("--json", action="store_true", help="the result without its conversations as JSON, one document a line")


def _add_list(parser: ArgumentParser) -> None:
    about = "a home directory, or a folder of a product; without any, all places where products keep sessions"
    parser.add_argument("roots", metavar="FOLDER", nargs="*", help=about)
    parser.add_argument("--source", metavar="NAME", choices=tuple(SOURCES), help=f"one of {', '.join(SOURCES)}")
    parser.add_argument("--limit", metavar="N", type=_count, default=sys.maxsize, help="how many")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def _add_rows(parser: ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", choices=tuple(TABLES), help=f"one of {', '.join(TABLES)}")
    _add_files(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="JSON lines, or CSV with a heading")
    form.add_argument("--json", dest="format", action="store_const", const="jsonl", help="JSON lines, which is the default")
    parser.add_argument("--columns", metavar="NAME,...", type=_words, help="these columns alone, in this order")
    parser.add_argument("--limit", metavar="N", type=_count, default=sys.maxsize, help="rows in all; the rest is not read")


def _add_files(parser: ArgumentParser) -> None:
    parser.epilog = _STATUS
    parser.add_argument("paths", metavar="PATH", nargs="+", help=_PATH)
    about = f"the product that wrote it, one of {', '.join(SOURCES)}; without it found from the content"
    parser.add_argument("--source", metavar="NAME", choices=tuple(SOURCES), help=about)
    parser.add_argument("--conversation", metavar="ID", help="this conversation alone")
    parser.add_argument("--no-subagents", dest="subagents", action="store_false", help="leave the files of sub-agents unread")
    parser.add_argument("--drafts", action="store_true", help="give what was typed and never sent, too")
    parser.add_argument(
        "--ignore", metavar="CODE,...", type=_codes, default=(), help="losses that do not count for the exit status"
    )
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 even if content was lost")


# ---- values ----------------------------------------------------------------------------------------------------------------


def _count(text: str) -> int:
    if text == "all":
        return sys.maxsize
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is neither a number nor `all`")
    return int(text)


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _codes(text: str) -> list[str]:
    known = {*CODES, *(code for source in SOURCES.values() for code in source.codes)}
    for code in _words(text):
        if code not in known:
            raise ArgumentTypeError(f"there is no code {code!r}{nearest(code, known)}")
    return _words(text)


def nearest(word: str, known: Iterable[str]) -> str:
    """A question whether another word was meant, where one is like it; else nothing."""
    found = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean `{found[0]}`?" if found else ""
