"""`python -m seads.robot.twin`: the twin alone, without the rest of the command line."""

from __future__ import annotations

import sys

from seads.errors import SeadsError
from seads.robot.twin.program import TwinSettings, run_twin

if __name__ == "__main__":
    import tyro

    try:
        run_twin(tyro.cli(TwinSettings), lambda words: print(words, flush=True))
    except SeadsError as error:
        print(f"seads: {error}", file=sys.stderr)
        sys.exit(2)
