"""An agent's model made ready to plan with, its boards in words, and skills tried again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from tests.exact_agent import exact_agent

from seads.agent.needs import Need
from seads.agent.skill_model import LinearForwardModel, NetworkForwardModel
from seads.envs import EmbeddedEnv, make_env
from seads.errors import SeadsError
from seads.games import LightsOut, TileSwap
from seads.games.game import NO_MOVE
from seads.jax_setup import prepare_jax
from seads.solving import Executor, Solver, Solving, load, solve
from seads.solving.boards import GameReader, Reader, goal_for
from seads.solving.execution import Effect
from seads.solving.operators import list_operators
from seads.solving.symbolic_model import skill_costs, skill_needs, symbolic_model

prepare_jax()
GAME = LightsOut(5)
ENV = "lightsout-cursor"


@pytest.mark.parametrize("replan", [True, False])
def test_only_repeated_attempts_vary_and_only_if_replanning(replan: bool) -> None:
    agent = exact_agent(hesitant=[12])
    start = GAME.to_bits(GAME.play(GAME.goal[None], np.array([12])))
    goal, seeds = np.zeros(25, bool), np.array([7], np.uint64)
    solver = Solver(agent, start, Solving(replan=replan, max_skills=4))
    with closing(make_env(ENV, 1)) as env:
        env.reset(seeds, symbols=start)
        one = solver.execution(start[0], goal)
        Executor(env, agent.policy, 25, [one], seeds).run()
    assert (one.runs[0].after == one.runs[0].before).all()
    assert one.solved is replan


def test_a_skill_starts_from_the_board_that_the_screen_shows() -> None:
    """Somebody touches it between two skills, and the environment looks when it goes on."""
    agent, seeds = exact_agent(), np.array([7], np.uint64)
    start = GAME.to_bits(GAME.play(GAME.goal[None], np.array([12])))
    solver = Solver(agent, start, Solving())
    with closing(make_env(ENV, 1)) as env:
        assert isinstance(env, EmbeddedEnv)
        env.reset(seeds, symbols=start)
        touches = iter([3])

        def look(rows: np.ndarray, boards: np.ndarray) -> np.ndarray:
            return GAME.play(boards, np.array([next(touches, NO_MOVE)]))

        env.manipulator.look = look  # type: ignore[method-assign]
        one = solver.execution(start[0], np.zeros(25, bool))
        Executor(env, agent.policy, 25, [one], seeds).run()
    touched = GAME.play(GAME.from_bits(start), np.array([3]))
    np.testing.assert_array_equal(one.runs[0].before, GAME.to_bits(touched)[0])
    assert one.runs[0].effect is Effect.WRONG_EFFECT
    assert one.skills == (12, 3)
    assert one.solved


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_the_symbolic_model_is_the_mode_of_the_forward_model(layers: int) -> None:
    key = jax.random.key(3)
    hidden = (16,) * (layers - 1)
    fresh = NetworkForwardModel(4, 4, hidden, key) if hidden else LinearForwardModel(4, 4, key)
    # a fresh model has biases of zero and logits of exactly zero, on which rounding decides
    leaves, structure = jax.tree.flatten(fresh)
    keys = jax.random.split(jax.random.key(4), len(leaves))
    leaves = [
        x + (0.1 if hidden else 2.0) * jax.random.normal(k, x.shape)
        for x, k in zip(leaves, keys, strict=True)
    ]
    model = jax.tree.unflatten(structure, leaves)
    symbolic = symbolic_model(replace(exact_agent("lightsout-cursor-2x2"), model=model))
    states = np.unpackbits(np.arange(16, dtype=np.uint8)[:, None], axis=1)[:, 4:].astype(bool)
    expected = states[:, None] ^ (np.asarray(model.all_flip_logits(states)) > 0)
    assert expected.any()
    assert (symbolic.successors(states) == expected).all()
    skills = np.arange(16) % 4
    assert (symbolic.successor(states, skills) == expected[np.arange(16), skills]).all()


def test_an_agent_without_forward_model_is_refused() -> None:
    with pytest.raises(SeadsError, match="no forward model"):
        symbolic_model(exact_agent(algorithm="vic"))


def test_costs_come_from_the_card() -> None:
    statistics = [{"skill": k, "episodes": 9, "steps": 1.0 + k, "success": 0.5} for k in range(25)]
    agent = exact_agent(skills=statistics)
    assert skill_costs(agent, "length").is_length
    assert skill_costs(agent, "steps").per_skill.tolist() == [1.0 + k for k in range(25)]
    assert skill_costs(agent, "risk").per_skill == pytest.approx([np.log(2)] * 25)
    with pytest.raises(SeadsError, match="no statistics of its skills"):
        skill_costs(exact_agent(), "risk")
    with pytest.raises(SeadsError, match="'riks'; did you mean 'risk'"):
        skill_costs(agent, "riks")


def test_steps_and_risk_change_the_plan() -> None:
    # of the four ways to solve a 5x5 board, the shortest uses the skills made expensive here
    start = GAME.to_bits(GAME.play(GAME.goal[None], np.array([0])))[0]
    dear = [
        {"skill": k, "episodes": 9, "steps": 1000.0 if k == 0 else 1.0, "success": 0.9}
        for k in range(25)
    ]
    agent = exact_agent(skills=dear)
    goal = np.zeros(25, bool)
    short = Solver(agent, start[None], Solving()).plan(start, goal)
    cheap = Solver(agent, start[None], Solving(minimise="steps")).plan(start, goal)
    assert short.skills == (0,)
    assert 0 not in cheap.skills
    assert cheap.cost == len(cheap) > 1


def test_boards_are_read_written_and_named() -> None:
    boards = GameReader(TileSwap(3))
    symbol = boards.read("102 345 678")
    assert boards.line(symbol) == "102/345/678"
    assert (boards.read(boards.line(symbol)) == symbol).all()
    move = boards.move(symbol, boards.goal)
    assert boards.move_name(move) == "swap row 1, column 1 with row 1, column 2"
    assert boards.move(symbol, symbol) is None
    assert boards.write(np.zeros(81, bool)).startswith("(no such board)")
    assert boards.bit_name(10) == "1 on r1c2"
    assert GameReader(GAME).bit_name(7) == "r2c3"


def test_goals_are_checked_against_the_start() -> None:
    boards = GameReader(GAME)
    one_light = np.eye(25, dtype=bool)[0]
    dark = np.zeros(25, bool)
    with pytest.raises(SeadsError, match="no presses solve the board"):
        goal_for(boards, one_light, None)
    # unsolvable itself, but reachable from another unsolvable board
    text = boards.line(one_light)
    assert (goal_for(boards, one_light, boards.read(text)) == one_light).all()
    with pytest.raises(SeadsError, match=r"no presses lead from board \.\.\.\.\./"):
        goal_for(boards, dark, boards.read(text))
    bits = Reader(3)
    assert (goal_for(bits, bits.read("000"), bits.read("0,1 1")) == [False, True, True]).all()
    with pytest.raises(SeadsError, match="which goal"):
        goal_for(bits, bits.read("000"), None)
    with pytest.raises(SeadsError, match="found 2 bits; a state has 3"):
        bits.read("01")
    with pytest.raises(SeadsError, match="unexpected 'x' as bit 2"):
        bits.read("0x1")


def test_a_plan_and_a_solution_print_well() -> None:
    agent = exact_agent()
    cross = ".#... ###.. .#... ..... ....."
    found = agent.plan(cross)
    assert found.skills == (6,)
    assert found.moves == ("press row 2, column 2",)
    assert str(found).splitlines()[1] == "  1. skill 6: press row 2, column 2"
    # a board may be given as text, or as bits
    assert agent.plan(agent.symbol(cross).tolist()).skills == (6,)
    done = solve(agent, cross, seed=3)
    assert done.solved
    assert (done.skills, done.depth) == ((6,), 1)
    assert str(done).splitlines()[0] == "lightsout-cursor, board of solution depth 1"
    assert str(done).splitlines()[-1].startswith("solved with 1 skill, ")
    assert (done.runs[0].after == 0).all()
    with pytest.raises(SeadsError, match=r"a board of \(3,\); give text, 25 bits"):
        agent.plan([0, 1, 1])
    with pytest.raises(SeadsError, match="contradict each other"):
        solve(agent, cross, depth=2)


def test_a_packaged_agent_solves_by_name() -> None:
    agent = load("tileswap-cursor")
    # chips by their numbers, as a list of fields
    found = agent.plan([1, 0, 2, 3, 4, 5, 6, 7, 8])
    assert agent.plan(np.array([[1, 0, 2], [3, 4, 5], [6, 7, 8]])).skills == found.skills
    with pytest.raises(SeadsError, match="chip 1 lies on 2 fields"):
        agent.plan([1, 1, 2, 3, 4, 5, 6, 7, 8])
    assert found.moves == ("swap row 1, column 1 with row 1, column 2",)
    assert solve(agent, depth=2).solved
    assert str(agent).startswith("12 skills on tileswap-cursor, trained for ")


def test_a_spare_skill_is_called_so_and_not_idle() -> None:
    agent = exact_agent(skills=[{"own": skill != 3} for skill in range(25)])
    spare = list_operators(agent)[3]
    assert (spare.kind, spare.agreement, spare.move) == ("spare", None, None)
    assert str(spare) == "skill 3 is spare: no effect of its own, left out of planning"
    assert {one.kind for one in list_operators(agent) if one.skill != 3} == {"flips"}


def with_needs(skill: int, needs: list[Need]) -> list[dict[str, Any]]:
    """What a card says of 25 skills, of which one needs something."""
    facts = {"episodes": 10, "steps": 3.0, "success": 0.9, "own": True}
    return [facts | {"skill": k} | ({"needs": needs} if k == skill else {}) for k in range(25)]


def test_a_skill_is_planned_only_where_it_has_what_it_needs() -> None:
    """Skill 0, which presses the first field, needs the last one lit."""
    agent = exact_agent(skills=with_needs(0, [(24, True)]))
    corner = GAME.to_bits(GAME.play(GAME.goal[None], np.array([0])))[0]
    far = GAME.to_bits(GAME.play(GAME.from_bits(corner[None]), np.array([24])))[0]
    assert agent.plan(far).skills == (0, 24), "while it is lit"
    assert len(exact_agent().plan(corner).skills) == 1
    around = agent.plan(corner).skills
    assert len(around) == 3
    assert around[1] == 0
    first = list_operators(agent)[0]
    assert first.kind == "flips"
    assert first.effect.endswith("; needs r5c5 on")
    with pytest.raises(SeadsError, match="skill 0 needs bit 25; allowed: 0 to 24"):
        exact_agent(skills=with_needs(0, [(25, True)])).plan(corner)


def test_needs_come_back_from_a_file(tmp_path: Path) -> None:
    exact_agent(skills=with_needs(7, [(3, False)])).save(tmp_path)
    needs = skill_needs(load(tmp_path))
    assert needs.of_skill(7) == [(3, False)]
    assert needs.asked.sum() == 1
