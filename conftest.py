"""Every Python block in README.md and docs/*.md is a test, run from the root of the repository."""

import os
from pathlib import Path
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parent


def enter_root(namespace: dict[str, Any]) -> None:
    """Run what follows where the README's paths mean something."""
    namespace["_came_from"] = Path.cwd()
    os.chdir(ROOT)


def leave_root(namespace: dict[str, Any]) -> None:
    """Go back to where the tests were started."""
    os.chdir(namespace["_came_from"])


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/*.md"],
    path=str(ROOT),
    setup=enter_root,
    teardown=leave_root,
).pytest()
