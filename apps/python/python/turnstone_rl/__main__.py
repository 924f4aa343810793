"""The `turnstone` program: `python -m turnstone_rl train configs/mu_torere.toml`."""

from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
from pathlib import Path

from . import _turnstone
from ._program import MISSING


def main() -> int:
    """Runs the program with the arguments of the process and returns its exit code."""
    if not _turnstone._PROGRAM:
        print(f"error: {MISSING}", file=sys.stderr)
        return 1
    # The program installs handlers of its own where it stops cleanly.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    arguments = sys.argv[1:]
    name = next((each for each in arguments[1:] if each.startswith("open_spiel:")), None)
    if arguments[:1] != ["train"] or name is None:
        return _turnstone._main(["turnstone", *arguments])
    # A game of OpenSpiel in place of a config: `train open_spiel:hex`.
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, re.sub(r"\W+", "_", name).strip("_") + ".toml")
        config.write_text(f"[game]\nname = {json.dumps(name)}\n", encoding="utf-8")
        return _turnstone._main(["turnstone", *(str(config) if each == name else each for each in arguments)])


if __name__ == "__main__":
    sys.exit(main())
