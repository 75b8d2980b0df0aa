"""`seads plan`: the plan alone, for any board and any goal; what the skills do, as a table."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from seads.errors import SeadsError

if TYPE_CHECKING:
    import numpy as np

    from seads.agent import Agent
    from seads.evaluation.boards import Reader
    from seads.planning import Compiled

MOVE_SAMPLES = 64
"""States in which a skill's predicted effect is compared with the game's moves."""


@dataclass(frozen=True)
class Options:
    """From where to where, and how to plan."""

    run: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """Run directory, or the name of an agent that `seads agents` lists."""
    board: str | None = None
    """Start, row by row: '.#... ###.. ...' for LightsOut, '102 345 678' for TileSwap."""
    goal: str | None = None
    """Where to get to, written like the board; the solved board by default."""
    planner: str = "auto"
    """auto, bfs, dijkstra, bidirectional, astar or gf2."""
    minimise: Literal["length", "steps", "risk"] = "length"
    """Number of skills, expected low-level steps, or the risk that one fails."""
    seconds: float = 60.0
    """Limit on the planning time."""
    operators: bool = False
    """Show what each skill does, as the operators that planning uses."""
    pddl: Path | None = None
    """Write domain.pddl and problem.pddl into this directory."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Plan from the board to the goal, show the operators, export them: whatever is asked for."""
    from seads.jax_setup import prepare_jax

    prepare_jax()
    from seads.agent import load
    from seads.evaluation.boards import reader_for

    if options.board is None and not options.operators:
        raise SeadsError("which board? give --board, or --operators to see what the skills do")
    if options.board is None and options.pddl is not None:
        raise SeadsError("--pddl writes a problem with a start: give --board")
    agent = load(options.run)
    boards = reader_for(agent)
    result: dict[str, Any] = {"env": agent.env}
    if options.operators:
        result["operators"] = list_operators(agent, boards)
        _show_operators(result["operators"])
    if options.board is not None:
        result |= make_plan(agent, boards, options)
        goal = "" if options.goal is None else f" --goal {result['goal']!r}"
        solvable = f"solve {options.run} --board {result['board']!r}{goal}"
        solved = result["status"] == "solved"
        print(f"next: seads {solvable if solved else f'plan {options.run} --operators'}")
    else:
        goal = " --goal BOARD" if boards.goal is None else ""
        print(f"next: seads plan {options.run} --board BOARD{goal}")
    return result


def make_plan(agent: Agent, boards: Reader, options: Options) -> dict[str, Any]:
    """Plan, show the plan, and return it for JSON."""
    import numpy as np

    from seads.evaluation.boards import goal_for
    from seads.evaluation.tasks import Solver, Solving
    from seads.planning import compile_model
    from seads.show.solution import move_names, plan_text, side_by_side

    if options.board is None:
        raise SeadsError("which board? give --board")
    start = boards.read(options.board)
    goal = goal_for(boards, start, options.goal)
    solving = Solving(options.planner, minimise=options.minimise, seconds=options.seconds)
    solver = Solver(agent, np.array([start, goal]), solving)
    found = solver.plan(start, goal)
    print(side_by_side("from\n" + boards.write(start), "to\n" + boards.write(goal)), end="\n\n")
    print(plan_text(found, boards))
    result: dict[str, Any] = {
        "status": found.status.name.lower(),
        "skills": list(found.skills),
        "moves": move_names(found, boards),
        "seconds": found.seconds + solver.compile_seconds,
        "compile_seconds": solver.compile_seconds,
        "planner": options.planner,
        "used": found.planner,
        "minimise": options.minimise,
        "cost": found.cost if found.solved else None,
        "minimal": found.minimal,
        "expanded": found.expanded,
        "message": found.verdict,
        "board": boards.line(start),
        "goal": boards.line(goal),
    }
    if options.pddl is not None:
        from seads.planning.pddl import write_pddl

        compiled = compile_model(solver.network, np.array([start, goal]))
        paths = write_pddl(start, goal, compiled, options.pddl, agent.env)
        result["pddl"] = [str(path) for path in paths]
        print(f"written: {', '.join(result['pddl'])}")
    return result


def list_operators(agent: Agent, boards: Reader) -> list[dict[str, Any]]:
    """What each skill does, and which game move that is."""
    import numpy as np

    from seads.evaluation.symbolic_model import symbolic_model
    from seads.planning import compile_model, operator_rows
    from seads.planning.compile import walk

    network = symbolic_model(agent)
    zero = np.zeros(network.num_bits, bool)
    samples = (zero if boards.goal is None else boards.goal)[None]
    compiled = compile_model(network, samples)
    states = walk(network, samples, MOVE_SAMPLES, np.random.default_rng(0))
    found = []
    for row in operator_rows(compiled, boards.bit_name):
        move, share = _usual_move(compiled, states, row.skill, boards)
        found.append(
            {
                "skill": row.skill,
                "move": move,
                "move_name": None if move is None else boards.move_name(move),
                "share": share,
                "kind": row.kind,
                "effect": row.effect,
                "agreement": None if math.isnan(row.agreement) else row.agreement,
            }
        )
    return found


def _usual_move(
    compiled: Compiled, states: np.ndarray, skill: int, boards: Reader
) -> tuple[int | None, float]:
    """The move that the model's prediction is in most states, and in what share of them."""
    import numpy as np

    after = compiled.model.successor(states, np.full(len(states), skill))
    votes: Counter[int] = Counter()
    for one, other in zip(states, after, strict=True):
        try:
            move = boards.move_between(one, other)
        except SeadsError:  # a walk through a poor model can leave the boards
            continue
        if move is not None:
            votes[move] += 1
    if not votes:
        return None, 0.0
    (move, count), *_ = votes.most_common(1)
    return move, count / len(states)


def _show_operators(operators: list[dict[str, Any]]) -> None:
    from rich.console import Console

    from seads.commands.table import plain_table

    words = ("is the move", "does")
    table = plain_table(("skill", *words, "agreement"), left=words)
    for one in operators:
        name = one["move_name"] or "none"
        if one["move"] is not None and one["share"] < 1:
            name += f" ({one['share']:.0%})"
        agreement = "" if one["agreement"] is None else f"{one['agreement']:.1%}"
        table.add_row(str(one["skill"]), name, one["effect"], agreement)
    Console().print(table)
