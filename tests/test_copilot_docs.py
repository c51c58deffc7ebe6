"""The pages on Copilot name what the tables have, neither more nor less."""

from pathlib import Path

from convparse import SOURCES
from convparse.sources.copilot import fields
from convparse.sources.copilot_cli.fields import EVENTS, SKIPPED
from convparse.sources.copilot_cli.rows import ROWS

DOCS = Path(__file__).parents[1] / "docs"


def rows(name: str) -> list[list[str]]:
    lines = (DOCS / name).read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]


def test_every_event_has_its_fate() -> None:
    told = {cells[0].strip("`"): cells[1] for cells in rows("copilot-cli.md") if len(cells) == 2}
    own = {name for name in ROWS if name not in EVENTS}

    assert {name: told[name] for name in EVENTS} == {name: f"event `{kind}`" for name, (kind, _, _) in EVENTS.items()}
    assert own <= set(told)
    assert all(told[name] for name in SKIPPED)


def test_every_reason_stands_there() -> None:
    for page, table in (("copilot.md", fields.SKIPPED), ("copilot-cli.md", SKIPPED)):
        told = {tuple(cells) for cells in rows(page)}
        assert {(f"`{name}`", reason) for name, reason in table.items()} <= told


def test_every_variant_stands_there() -> None:
    for page, source in (("copilot.md", "copilot"), ("copilot-cli.md", "copilot-cli")):
        assert {f"`{name}`" for name in SOURCES[source].variants} <= {cells[0] for cells in rows(page)}
