"""The `turnstone` program: `python -m turnstone train configs/mu_torere.toml`."""

from __future__ import annotations

import signal
import sys

from . import _turnstone
from ._program import MISSING


def main() -> int:
    """Runs the program with the arguments of the process and returns its exit code."""
    if not _turnstone._PROGRAM:
        print(f"error: {MISSING}", file=sys.stderr)
        return 1
    # The program installs handlers of its own where it stops cleanly.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _turnstone._main(["turnstone", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
