"""Put a run's agent into the package, with what it measures at on its card.

    python tools/ship.py runs/lightsout-cursor lightsout-cursor

Evaluates the run's last agent as the paper does (100 test starts, 20 test boards of each depth
with and without replanning) through the command line, and copies it to src/seads/agents/NAME.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

AGENTS = Path(__file__).parents[1] / "src" / "seads" / "agents"
MEASUREMENTS = {
    "coverage": ["--what", "coverage"],
    "replan": ["--what", "tasks", "--replan"],
    "no_replan": ["--what", "tasks", "--no-replan"],
}


def main(run: Path, name: str) -> None:
    """Evaluate, copy, and write the card."""
    found = {key: evaluate(run, options) for key, options in MEASUREMENTS.items()}
    target = AGENTS / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(run / "agent", target)
    for pushes in run.glob("pushes.json"):  # a robot's run has them
        shutil.copy(pushes, target)
    card_path = target / "card.json"
    card = json.loads(card_path.read_text())
    coverage = found["coverage"]["coverage"]
    card |= {
        "coverage": coverage["mean"],
        "coverage_of": coverage["of"],
        "model_accuracy": coverage["model_accuracy"],
        "success": found["replan"]["tasks"]["success"],
        "success_by_depth": found["replan"]["tasks"]["by_depth"],
        "success_without_replanning": found["no_replan"]["tasks"]["success"],
        "measured_by": [" ".join(["seads evaluate", name, *o]) for o in MEASUREMENTS.values()],
    }
    card_path.write_text(json.dumps(card, indent=2) + "\n")
    print(f"{name}: coverage {card['coverage']}, success {card['success']}")


def evaluate(run: Path, options: list[str]) -> dict[str, Any]:
    """What `seads evaluate RUN --json` says."""
    command = [sys.executable, "-m", "seads.cli", "evaluate", str(run), "--json", *options]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
