"""``python -m convparse``: the command line, as ``convparse`` is."""

import sys

from convparse._cli import main

if __name__ == "__main__":
    sys.exit(main())
