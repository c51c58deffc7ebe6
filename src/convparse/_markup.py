"""HTML from texts: the pieces that every view of a record is built of.

What comes in: texts, figures, numbers of bytes. What goes out: ``Markup``, which is made here alone, so that the type checker
sees any text that was not escaped. Tags are balanced because ``element`` writes both, and only ``TAGS`` are written.

Never made here: scripts, links, images, anything that is fetched, a colour of the page. All colours of text are shades of the
one that the page has, so that light and dark themes fit without asking which it is: the theme of a notebook is not that of the
system, which is all that ``prefers-color-scheme`` would tell. The five hues stand on white and on black.
"""

import unicodedata
from collections.abc import Collection, Iterable
from html import escape
from typing import Final, NewType

from convparse.drops import Account

Markup = NewType("Markup", str)
"""HTML with balanced tags, in which every text is escaped."""

TAGS: Final = frozenset("b bdi details div li pre small span style summary table tbody td th thead tr ul".split())
NOTHING: Final = Markup("")
FOLD: Final = 280
"""A text of more characters is folded."""
FOLD_LINES: Final = 4
"""A text of more lines is folded."""
NAME: Final = 160
"""How many characters of a path, an id or a title are shown."""
BINS: Final = ("mapped", "folded", "skipped", "lost", "blank")
"""As they stand in the bar."""
HUES: Final = {"mapped": "#2a8c82", "folded": "#7d72c4", "skipped": "#7f8790", "lost": "#d1462f", "altered": "#b7791f"}

_STYLE: Final = """
.convparse { --cp-quiet: color-mix(in srgb, currentColor 70%, transparent);
  --cp-line: color-mix(in srgb, currentColor 20%, transparent); --cp-wash: color-mix(in srgb, currentColor 6%, transparent);
  --cp-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));
  max-width: 64em; padding: .25em 0; line-height: 1.45; text-align: left; overflow-wrap: anywhere; }
.convparse small, .convparse .cp-quiet { color: var(--cp-quiet); font-size: .88em; }
.convparse .cp-facts, .convparse ul.cp-figures { display: flex; flex-wrap: wrap; gap: .1em 1.4em; margin: .25em 0; padding: 0; }
.convparse ul.cp-figures li { list-style: none; margin: 0; padding: 0; font-variant-numeric: tabular-nums; }
.convparse .cp-bar { display: flex; gap: 2px; height: .7em; margin: .5em 0 .35em; border-radius: .2em; overflow: hidden;
  forced-color-adjust: none; print-color-adjust: exact; }
.convparse .cp-bar span { flex: 0 1 auto; min-width: 4px; box-sizing: border-box; }
.convparse .cp-key { display: inline-block; width: .7em; height: .7em; margin-right: .4em; border-radius: .15em;
  box-sizing: border-box; forced-color-adjust: none; print-color-adjust: exact; }
.convparse .cp-blank, .convparse .cp-unknown { border: 1px solid var(--cp-quiet); }
.convparse details { margin: .2em 0; padding: 0; border: 0; background: none; }
.convparse summary { cursor: pointer; }
.convparse summary:hover { background: var(--cp-wash); }
.convparse details[open] > summary .cp-peek { display: none; }
.convparse .cp-section { border-top: 1px solid var(--cp-line); padding-top: .3em; margin-top: .5em; }
.convparse .cp-scroll { overflow-x: auto; }
.convparse.convparse table { margin: .3em 0; border: 0; border-collapse: collapse; font-size: .92em; table-layout: auto; }
.convparse.convparse thead { border: 0; }
.convparse.convparse tbody tr, .convparse.convparse tbody tr:nth-child(n) { background: none; }
.convparse.convparse th, .convparse.convparse td { padding: .25em 1em .25em 0; border: 0; border-top: 1px solid var(--cp-line);
  text-align: left; vertical-align: top; max-width: 32em; white-space: normal; }
.convparse.convparse thead th { border-top: 0; color: var(--cp-quiet); font-weight: normal; white-space: nowrap; }
.convparse.convparse .cp-number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.convparse .cp-entry { display: flex; flex-wrap: wrap; gap: 0 1em; padding: .3em 0 .3em .7em; margin: .3em 0;
  border-left: 3px solid var(--cp-line); overflow: hidden; }
.convparse .cp-human { border-left-color: #2a8c82; }
.convparse .cp-off { border-left-style: dotted; }
.convparse .cp-who { flex: 0 0 10em; line-height: 1.3; }
.convparse .cp-said { flex: 1 1 20em; min-width: 0; }
.convparse .cp-block { margin: 0 0 .25em; }
.convparse .cp-text { white-space: pre-wrap; }
.convparse.convparse pre { margin: .25em 0; padding: .4em .6em; border: 0; border-radius: .2em; background: var(--cp-wash);
  color: inherit; font: inherit; line-height: 1.4; white-space: pre-wrap; max-height: 26em; overflow: auto; }
.convparse.convparse .cp-code, .convparse.convparse pre.cp-code { font-family: var(--cp-mono); font-size: .88em; }
.convparse .cp-tag { padding: 0 .4em; border: 1px solid var(--cp-line); border-radius: .6em; font-size: .82em;
  white-space: nowrap; }
""" + "".join(
    f".convparse .cp-key.cp-{name}, .convparse .cp-bar .cp-{name} {{ background: {hue}; }}\n"
    f".convparse .cp-tag.cp-{name} {{ border-color: {hue}; box-shadow: inset 0 0 0 1px {hue}; }}\n"
    for name, hue in HUES.items()
)


# ---- texts -----------------------------------------------------------------------------------------------------------------


def text(value: str) -> Markup:
    """The whole text, escaped."""
    return Markup(escape(visible(value)))


def visible(value: str) -> str:
    """The text with everything written out that would not be seen or would move what stands beside it."""
    value = value.replace("\r\n", "\n")
    return value if value.isprintable() else "".join(c if _is_shown(c) else _written_out(c) for c in value)


def _is_shown(char: str) -> bool:
    # The joiners of emoji and of several scripts are no danger, nor is what only a newer Unicode or a special font knows.
    return char.isprintable() or char in "\n\t\u200c\u200d" or unicodedata.category(char) in ("Zs", "Co", "Cn")


def _written_out(char: str) -> str:
    return char.encode("unicode_escape").decode()


def clipped(value: str, room: int = NAME) -> Markup:
    """The beginning, whose direction does not reach what stands beside it; it is cut where it shows three dots."""
    return element("bdi", text(value if len(value) <= room else f"{value[:room]}…"))


def folded(value: str, room: int, *, code: bool = False) -> Markup:
    """A short text as it is; of a long one the first line, and behind it at most ``room`` characters; the rest is counted."""
    if not value:
        return NOTHING
    if len(value) <= min(FOLD, room) and value.count("\n") < FOLD_LINES:
        return element("div", text(value.strip("\n")), cls="cp-text cp-code" if code else "cp-text", dir="auto")
    peek = element("span", clipped(value.lstrip()[: 4 * NAME]), cls="cp-code cp-peek" if code else "cp-peek")
    summary = element("summary", peek, Markup(" "), element("small", count(len(value), "character")))
    # The parser takes the first line end after `<pre>` away.
    body = element("pre", Markup("\n"), text(value[:room]), **({"cls": "cp-code"} if code else {}), dir="auto")
    rest = [element("small", count(len(value) - room, "more character"), text(" not shown"))] if len(value) > room else []
    return element("details", summary, body, *rest)


def count(number: int, one: str, many: str = "") -> Markup:
    """``1 message``, ``1,234 messages``."""
    return text(f"{number:,} {one if number == 1 else many or f'{one}s'}")


# ---- elements --------------------------------------------------------------------------------------------------------------


def element(tag: str, *inside: Markup, **attributes: str) -> Markup:
    """One element; ``cls`` is its class."""
    assert tag in TAGS
    named = {"class" if name == "cls" else name: value for name, value in attributes.items()}
    told = "".join(f' {name}="{text(value)}"' for name, value in named.items())
    return Markup(f"<{tag}{told}>{''.join(inside)}</{tag}>")


def page(*inside: Markup) -> Markup:
    """The outermost element, with the style that it needs."""
    return element("div", element("style", Markup(_STYLE)), *inside, cls="convparse")


def join(*parts: Markup) -> Markup:
    """One behind the other."""
    return Markup("".join(parts))


def facts(*told: Markup) -> Markup:
    """Short facts beside each other, without those that are empty."""
    return element("div", *(element("span", fact) for fact in told if fact), cls="cp-facts cp-quiet")


def tag(word: str, kind: str = "") -> Markup:
    """A word in a frame."""
    return element("span", clipped(word, 40), cls=f"cp-tag cp-{kind}" if kind else "cp-tag")


def section(summary: Markup, *inside: Markup, opened: bool = False) -> Markup:
    """A part of the page that folds."""
    return element("details", element("summary", summary), *inside, cls="cp-section", **({"open": ""} if opened else {}))


def table(head: Iterable[str], rows: Iterable[Iterable[Markup]], numbers: Collection[str]) -> Markup:
    """A table; the columns in ``numbers`` stand to the right."""
    names = list(head)
    kinds = [{"cls": "cp-number"} if name in numbers else {} for name in names]
    heading = element("tr", *(element("th", text(name), **kind) for name, kind in zip(names, kinds, strict=True)))
    body = (element("tr", *(element("td", cell, **kind) for cell, kind in zip(row, kinds, strict=True))) for row in rows)
    return element("div", element("table", element("thead", heading), element("tbody", *body)), cls="cp-scroll")


# ---- the account -----------------------------------------------------------------------------------------------------------


def bar(account: Account) -> Markup:
    """Where the bytes went: a bar, and the same in figures."""
    bins = {name: account.bins[name] for name in BINS if account.bins[name].bytes}
    accounted = sum(part.bytes for part in bins.values())
    whole = max(account.size, accounted)
    parts = (element("span", cls=f"cp-{name}", style=f"width:{100 * part.bytes / whole:.3f}%") for name, part in bins.items())
    figures = [
        element(
            "li",
            element("span", cls=f"cp-key cp-{name}"),
            text(f"{name} {share(part.bytes, whole)} "),
            element("small", count(part.bytes, "byte"), text(" in "), count(part.units, "unit")),
        )
        for name, part in bins.items()
    ]
    if not account.balanced:
        missing = account.size - accounted
        figures.append(element("li", tag("does not balance", "lost"), text(f" {missing:+,} bytes")))
    drawn = [element("div", *parts, cls="cp-bar", role="img", **{"aria-label": "Where the bytes went"})] if bins else []
    return join(*drawn, element("ul", *figures, cls="cp-figures"))


def share(part: int, whole: int) -> str:
    """Per cent, with one place; never 0 or 100 for what is only nearly so."""
    if part == whole:
        return "100 %"
    tenths = round(1000 * part / whole)
    return "< 0.1 %" if tenths == 0 else "> 99.9 %" if tenths == 1000 else f"{tenths / 10:.1f} %"
