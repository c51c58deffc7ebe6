"""The environment of subprocesses that tests start."""

import os


def unmeasured() -> dict[str, str]:
    """This environment without what makes coverage measure subprocesses, which imports modules of its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
