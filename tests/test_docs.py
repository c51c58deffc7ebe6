"""The documentation says what the code says: every code, every record type of Claude Code and every public name is in it."""

import re
from pathlib import Path

import attrs
import pytest

import convparse
from convparse import CODES, SOURCES, Limits, extending
from convparse.sources.claude_code import fields

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {path.name: path.read_text("utf-8") for path in sorted(DOCS.glob("*.md"))}


def sections(page):
    """The headings of the third level, each with its text."""
    parts = re.split(r"^### (.+)$", page, flags=re.MULTILINE)
    texts = (re.split(r"^## ", text, flags=re.MULTILINE)[0] for text in parts[2::2])
    return dict(zip(parts[1::2], texts, strict=True))


def table_rows(page):
    """The cells of every line of a table."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in page.splitlines() if line.startswith("| ")]


def test_every_code_has_a_section_and_every_section_is_a_code():
    page = PAGES["diagnostics.md"]

    assert sorted(re.findall(r"^### (.+)$", page, re.MULTILINE)) == sorted(CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_section_begins_with_the_fate(code):
    assert sections(PAGES["diagnostics.md"])[code].strip().startswith(f"{CODES[code].fate.capitalize()}. ")


@pytest.mark.parametrize("vendor", ["codex", "copilot", "copilot-cli", "cursor", "trae"])
def test_the_page_of_a_source_has_its_own_codes(vendor):
    codes = {name: code for source in SOURCES.values() for name, code in source.codes.items()}
    section = PAGES[f"{vendor}.md"].split("\n## Codes of its own\n")[1].split("\n## ")[0]

    assert {cells[0].strip("`"): (cells[1], cells[2]) for cells in table_rows(section) if "/" in cells[0]} == {
        name: (code.fate, code.summary) for name, code in codes.items() if name.startswith(f"{vendor}/")
    }
    assert {name.partition("/")[0] for name in codes} == {"codex", "copilot", "copilot-cli", "cursor", "trae"}


def test_the_model_has_every_limit():
    section = PAGES["model.md"].split("\n## Limits\n")[1].split("\n## ")[0]
    told = {cells[0].strip("`"): cells[1].replace(",", "").split(" ") for cells in table_rows(section)[1:]}

    assert {name: int(number) << (20 if unit == ["MiB"] else 0) for name, (number, *unit) in told.items()} == attrs.asdict(
        Limits()
    )


def test_claude_code_has_a_row_for_every_record_and_its_fate():
    rows = {cells[0]: cells[1] for cells in table_rows(PAGES["claude-code.md"]) if len(cells) == 4}

    def told(kind, text):
        return f"event `{kind}`" + (f", text from `{text}`" if text else "")

    expected = {f"`{name}`": told(kind, text) for name, (kind, text, _) in fields.RECORDS.items()}
    expected |= {f"`system/{name}`": told(kind, None) for name, kind in fields.SUBTYPES.items()}
    expected |= {f"`attachment/{name}`": told(kind, text) for name, (kind, text) in fields.ATTACHMENTS.items()}
    expected |= {f"`progress/{name}`": told("progress", None) for name in fields.PROGRESSES}
    expected |= {f"`{name}`": "skipped" for name in fields.SKIPPED}
    others = {"record", "`user`", "`assistant`", "`attachment/queued_command`", "`system` without a subtype", "any other"}
    assert {name: fate for name, fate in rows.items() if name not in others} == expected


def test_claude_code_names_every_field_that_is_left_out():
    rows = {(cells[0], cells[1]): cells[2] for cells in table_rows(PAGES["claude-code.md"]) if len(cells) == 3}

    for table in (fields.USER, fields.ASSISTANT):
        for key, reason in table.skipped.items():
            assert rows[f"`{table.record}`", f"`/{key}`"] == reason


def test_every_public_name_is_in_the_documentation():
    text = "\n".join(PAGES.values())

    assert [name for name in convparse.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_every_name_for_writers_of_sources_is_on_their_page():
    assert [name for name in extending.__all__ if f"`{name}" not in PAGES["extending.md"]] == []


def test_the_index_lists_every_page():
    links = re.findall(r"\]\(([\w-]+\.md)\)", PAGES["index.md"])

    assert sorted(links) == sorted(set(PAGES) - {"index.md"})


def test_links_to_sections_lead_somewhere():
    for name, page in PAGES.items():
        for target, section in re.findall(r"\]\(([\w-]*(?:\.md)?)#([\w-]+)\)", page):
            headings = re.findall(r"^#+ (.+)$", PAGES[target or name], re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_lists_every_source():
    readme = (DOCS.parent / "README.md").read_text("utf-8")

    assert [name for name in convparse.SOURCES if f"`{name}`" not in readme] == []
