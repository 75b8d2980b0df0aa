"""Put a run's agent where others find it, with what it measures at on its card.

    python tools/ship.py runs/lightsout-cursor lightsout-cursor
    PYTHONPATH=examples python tools/ship.py runs/puzzle puzzle-3x3    # of an example's environment

Evaluates the run's last agent as the paper does (100 test starts, 20 test boards of each depth
with and without replanning) through the command line, and copies it to src/seads/agents/NAME. That
of an example goes to examples/agents/NAME; its tasks are the example's own `run_tasks`.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGED, OF_EXAMPLES = ROOT / "src" / "seads" / "agents", ROOT / "examples" / "agents"


def main(run: Path, name: str) -> None:
    """Evaluate, copy, and write the card."""
    card = json.loads((run / "agent" / "card.json").read_text())
    of_example = ":" in card["env"]
    measured = measure_example(run, name, card["env"]) if of_example else measure(run, name)
    target = (OF_EXAMPLES if of_example else PACKAGED) / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(run / "agent", target)
    for pushes in run.glob("pushes.json"):  # a robot's run has them
        shutil.copy(pushes, target)
    card.pop("seal", None)  # which says that it was trained on its reader's machine
    (target / "card.json").write_text(json.dumps(card | measured, indent=2) + "\n")
    print(f"{target}: coverage {measured['coverage']}, success {measured['success']}")


def measure(run: Path, name: str) -> dict[str, Any]:
    """The paper's protocol."""
    coverage = evaluate(run, name, "--what", "coverage")
    replan = evaluate(run, name, "--what", "tasks", "--replan")
    no_replan = evaluate(run, name, "--what", "tasks", "--no-replan")
    return {
        **of_coverage(coverage),
        "success": replan["tasks"]["success"],
        "success_by_depth": replan["tasks"]["by_depth"],
        "success_without_replanning": no_replan["tasks"]["success"],
        "measured_by": [one["command"] for one in (coverage, replan, no_replan)],
    }


def measure_example(run: Path, name: str, env: str) -> dict[str, Any]:
    """Coverage, and what the example's own tasks say."""
    from seads import load

    module = env.partition(":")[0]
    coverage = evaluate(run, f"agents/{name}", "--what", "coverage", "--allow", env)
    solved = importlib.import_module(module).run_tasks(load(run))
    return {
        **of_coverage(coverage),
        "success": float(solved.mean()),
        "measured_by": [coverage["command"], f"python {module}.py agents/{name}"],
    }


def of_coverage(found: dict[str, Any]) -> dict[str, Any]:
    """What a card says of the moves."""
    coverage = found["coverage"]
    return {
        "coverage": coverage["mean"],
        "coverage_of": coverage["of"],
        "model_accuracy": coverage["model_accuracy"],
    }


def evaluate(run: Path, name: str, *options: str) -> dict[str, Any]:
    """What `seads evaluate RUN --json` says, and the command that does it for the shipped agent."""
    command = [sys.executable, "-m", "seads.cli", "evaluate", str(run), "--json", *options]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout) | {"command": " ".join(["seads evaluate", name, *options])}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
