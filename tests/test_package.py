import importlib.metadata
import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from tests.environment import unmeasured

import convparse

ROOT = Path(__file__).parents[1]
FIXTURE = "tests/fixtures/claude_code/first_look.jsonl"


def sh_blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_installed_version_is_the_one_in_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["version"] == importlib.metadata.version("convparse")


def test_public_names_are_sorted_and_there():
    names = list(convparse.__all__)

    # Constants, then classes, then functions: the order that the linter keeps.
    assert sorted(names, key=lambda name: (not name.isupper(), name[0].islower(), name)) == names
    assert [name for name in names if not hasattr(convparse, name)] == []
    assert {"CODES", "SOURCES", "ConvparseError", "ParseResult", "detect", "parse", "parse_bytes"} <= set(names)


def test_the_types_ship():
    assert (resources.files("convparse") / "py.typed").is_file()


@pytest.mark.parametrize(
    "used, watched, expected",
    [
        ("convparse", "m.partition('.')[0] in {'attr', 'attrs', 'cattrs', 'convparse', 'orjson'}", "convparse"),
        ("convparse.parse", "m in {'argparse', 'cattrs', 'sqlite3'}", ""),
    ],
)
def test_nothing_is_loaded_before_it_is_used(used, watched, expected):
    code = f"import sys, convparse; {used}; print(*sorted(m for m in sys.modules if {watched}))"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=unmeasured())

    assert (found.stdout, found.stderr) == (f"{expected}\n", "")


def test_readme_begins_with_the_command_that_shows_a_fixture():
    install = "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/python -m convparse"

    assert f"{install} {FIXTURE}\n" == sh_blocks()[0]
    assert (ROOT / FIXTURE).is_file()


def test_readme_goes_on_with_the_command_that_passes_the_tests():
    assert sh_blocks()[1] == ".venv/bin/pip install -e '.[test]' && .venv/bin/python -m pytest -q -n auto --dist loadfile\n"


def test_documents_link_only_to_files_that_are_there():
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    links = {(page, link) for page in pages for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))}

    assert links
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []
