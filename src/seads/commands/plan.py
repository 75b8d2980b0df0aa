"""`seads plan`: the plan alone, for any board and any goal; what the skills do, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from seads.errors import SeadsError
from seads.terminal import tell_next

if TYPE_CHECKING:
    from seads.solving.agent import Agent
    from seads.solving.operators import SkillOperator


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
    """auto, bfs, dijkstra, bidirectional, astar, or gf2, which adds flips up as equations."""
    minimise: Literal["length", "steps", "risk"] = "length"
    """Number of skills, expected low-level steps, or the risk that one fails."""
    seconds: float = 60.0
    """Limit on the planning time."""
    memory_mb: float = 1024.0
    """Limit on the memory of a search."""
    operators: bool = False
    """Show what each skill does, as the operators that planning uses."""
    pddl: Path | None = None
    """Write domain.pddl and problem.pddl into this directory."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Plan from the board to the goal, show the operators, export them: whatever is asked for."""
    from seads.solving import load
    from seads.solving.operators import list_operators

    if options.board is None and not options.operators:
        raise SeadsError("which board? give --board, or --operators to see what the skills do")
    if options.board is None and options.pddl is not None:
        raise SeadsError("--pddl writes a problem with a start: give --board")
    agent = load(options.run)
    result: dict[str, Any] = {"env": agent.env}
    if options.operators:
        operators = list_operators(agent)
        print(operators_text(operators))
        result["operators"] = [one.to_json() for one in operators]
    if options.board is not None:
        result |= make_plan(agent, options.board, options)
        goal = [] if options.goal is None else ["--goal", result["goal"]]
        if result["status"] == "solved":
            tell_next("solve", options.run, "--board", result["board"], *goal)
        else:
            tell_next("plan", options.run, "--operators")
    else:
        tell_next("plan", options.run, *_example(agent))
    return result


def make_plan(agent: Agent, board: str, options: Options) -> dict[str, Any]:
    """Plan, show the plan, and return it for JSON."""
    from seads.planning.result import PlanStatus
    from seads.solving.symbolic_model import spare_skills
    from seads.solving.words import side_by_side

    found = agent.plan(
        board,
        options.goal,
        planner=options.planner,
        minimise=options.minimise,
        seconds=options.seconds,
        memory_mb=options.memory_mb,
    )
    start, goal = map(agent.boards.write, agent.task(board, options.goal))
    print(side_by_side(f"from\n{start}", f"to\n{goal}"), end="\n\n")
    print(found)
    no_way = found.status in (PlanStatus.UNSOLVABLE, PlanStatus.NO_COMBINATION)
    if no_way and (spare := int(spare_skills(agent).sum())):
        print(f"left out of planning, since they are spare: {spare} of {agent.num_skills} skills")
    result = found.to_json()
    if options.pddl is not None:
        from seads.solving.operators import export_pddl

        paths = export_pddl(agent, board, options.goal, folder=options.pddl)
        result["pddl"] = [str(path) for path in paths]
        print(f"written: {', '.join(result['pddl'])}")
    return result


def _example(agent: Agent) -> list[str]:
    """A task that can be planned for: one move away, or all bits of a world without a game."""
    import numpy as np

    from seads.solving.boards import GameReader

    boards = agent.boards
    if isinstance(boards, GameReader):
        moved = boards.game.play(boards.game.goal[None], np.array([0]))
        return ["--board", boards.line(boards.game.to_bits(moved)[0])]
    none = np.zeros(agent.architecture.num_bits, bool)
    return ["--board", boards.line(none), "--goal", boards.line(~none)]


def operators_text(operators: list[SkillOperator]) -> str:
    """A row for every skill; of very many, for those whose operator suits the model least."""
    from seads.tables import least, table_text

    rows: list[tuple[str, ...]] = []
    shown, rest = least([1.0 if one.kind == "spare" else one.agreement or 0.0 for one in operators])
    for one in (operators[row] for row in shown):
        name = one.move_name or "none"
        if one.move is not None and one.share < 1:
            name += f" ({one.share:.0%})"
        agreement = "" if one.agreement is None else f"{one.agreement:.1%}"
        rows.append((str(one.skill), name, one.effect, agreement))
    titles = ["skill", "is the move", "does", "agreement"]
    if all(one.move is None for one in operators):  # nobody knows the moves of one's own world
        del titles[1]
        rows = [(row[0], *row[2:]) for row in rows]
    return table_text(titles, rows, left=("is the move", "does")) + rest
