"""Task evaluation with an agent whose answers are known."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy.stats import binomtest
from tests.exact_agent import exact_agent

from seads.agent.agent import Agent
from seads.agent.skill_model import LinearForwardModel, NetworkForwardModel
from seads.envs import make_env
from seads.errors import SeadsError
from seads.evaluation.boards import BitReader, GameReader, goal_for
from seads.evaluation.statistics import summary, wilson_interval
from seads.evaluation.symbolic_model import NetworkModel, skill_costs, symbolic_model
from seads.evaluation.tasks import SkillRunner, Solver, Solving, draw_tasks, report
from seads.games import LightsOut, TileSwap
from seads.jax_setup import prepare_jax
from seads.planning import LinearModel, MLPModel
from seads.planning.executor import Execution, Reason

prepare_jax()
GAME = LightsOut(5)
ENV = "lightsout-cursor"


def solve(
    agent: Agent, solving: Solving, depths: list[int], per_depth: int = 3
) -> tuple[np.ndarray, list[Execution], Solver]:
    drawn, starts, seeds = draw_tasks(GAME, depths, per_depth, "test", seed=5)
    solver = Solver(agent, starts, solving)
    goals = np.zeros_like(starts)
    with closing(make_env(ENV, len(starts))) as env:
        return drawn, solver.solve(env, agent.policy, seeds, goals, starts), solver


@pytest.mark.parametrize("replan", [True, False])
def test_an_exact_agent_solves_every_board_optimally(replan: bool) -> None:
    depths, done, solver = solve(exact_agent(), Solving(replan=replan), [1, 3, 9])
    found = report(GAME, depths, done, solver)
    assert found["replan"] is replan
    assert found["success"] == 1.0
    assert found["by_depth"] == {"1": 1.0, "3": 1.0, "9": 1.0}
    assert sum(found["failures"].values()) == 0
    assert found["skill_effects"] == {"as_predicted": 39, "no_effect": 0, "wrong_effect": 0}
    for depth, one in found["depths"].items():
        assert one["planned_optimally"] == 1.0
        assert one["plan_length"]["mean"] == one["skills"]["mean"] == int(depth)
        assert one["boards"] == 3
    assert found["solution_length"]["min"] >= 1
    assert found["skill_length"]["max"] <= 10
    assert 0 < found["interval"][0] < found["interval"][1] == 1.0
    assert [task["depth"] for task in found["tasks"]] == [1] * 3 + [3] * 3 + [9] * 3
    first = found["tasks"][0]
    assert first["skills"] == GAME.solve(np.array([*map(int, first["board"].split(","))], np.uint8))
    json.dumps(found, allow_nan=False)


def test_a_failing_skill_is_reported_and_replanning_gets_around_it() -> None:
    clumsy = exact_agent(hesitant=range(25))
    _, plain, _ = solve(clumsy, Solving(replan=False), [1, 2])
    assert {one.reason for one in plain} == {Reason.NO_EFFECT}
    assert [one.env_steps for one in plain] == [10] * 3 + [20] * 3
    depths, again, solver = solve(clumsy, Solving(), [1, 2])
    # the second try samples its actions, and then presses
    assert [one.solved for one in again] == [True] * 6
    assert all(len(one.runs) > len(one.plans[0]) for one in again)
    found = report(GAME, depths, again, solver)
    assert found["skill_effects"]["no_effect"] >= 9
    assert found["depths"]["2"]["plans"]["mean"] > 1


def test_the_wrong_press_is_told_from_none() -> None:
    swapped = exact_agent(presses={k: (k + 1) % 25 for k in range(25)})
    depths, done, solver = solve(swapped, Solving(replan=False), [1])
    assert {one.reason for one in done} == {Reason.WRONG_EFFECT}
    found = report(GAME, depths, done, solver)
    assert found["failures"]["wrong_effect"] == 3
    assert found["success"] == 0.0
    assert found["solution_length"] is None
    assert found["interval"][0] == 0.0


def test_a_planning_limit_of_zero_fails_every_board() -> None:
    _, done, _ = solve(exact_agent(), Solving(seconds=0.0), [2])
    assert {one.reason for one in done} == {Reason.BUDGET}


def test_only_repeated_attempts_vary_and_only_if_asked_to() -> None:
    agent = exact_agent(hesitant=[12])
    symbol = np.zeros((1, 25), bool)
    skills, active = np.array([12]), np.array([True])
    for vary in (False, True):
        with closing(make_env(ENV, 1)) as env:
            seeds = np.array([7], np.uint64)
            runner = SkillRunner(env, agent.policy, 25, seeds, symbol, vary)
            assert not runner(skills, active)[0].any()
            tries = [runner(skills, active)[0].any() for _ in range(3)]
            assert any(tries) == vary


def test_a_depths_boards_do_not_depend_on_the_others() -> None:
    depths, boards, seeds = draw_tasks(GAME, [2, 4], 6, "test", seed=1)
    alone = draw_tasks(GAME, [4], 6, "test", seed=1)
    assert (boards[6:] == alone[1]).all()
    assert (seeds[6:] == alone[2]).all()
    assert len(set(seeds.tolist())) == 12
    assert (GAME.depth(GAME.from_bits(boards)) == depths).all()
    assert GAME.in_split(GAME.from_bits(boards), "test").all()
    assert (boards != draw_tasks(GAME, [2, 4], 6, "test", seed=2)[1]).any()


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
    assert type(symbolic) is {1: LinearModel, 3: MLPModel}.get(layers, NetworkModel)
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


@pytest.mark.parametrize(("successes", "trials"), [(0, 20), (1, 20), (10, 20), (20, 20), (99, 100)])
def test_wilson_interval(successes: int, trials: int) -> None:
    expected = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (3, 2), (-1, 2)])
def test_no_interval_of_nonsense(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="give no interval"):
        wilson_interval(successes, trials)


def test_summary() -> None:
    expected = {"mean": 4.0, "min": 1.0, "q1": 2.0, "median": 3.0, "q3": 4.0, "max": 10.0}
    assert summary([10, 1, 3, 2, 4]) == expected
    assert summary([]) is None


def test_boards_are_read_written_and_named() -> None:
    boards = GameReader(TileSwap(3))
    symbol = boards.read("102 345 678")
    assert boards.line(symbol) == "102/345/678"
    assert (boards.read(boards.line(symbol)) == symbol).all()
    move = boards.move_between(symbol, boards.goal)
    assert boards.move_name(move) == "swap row 1, column 1 with row 1, column 2"
    assert boards.move_between(symbol, symbol) is None
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
    assert (goal_for(boards, one_light, text) == one_light).all()
    with pytest.raises(SeadsError, match=r"no presses lead from board \.\.\.\.\./"):
        goal_for(boards, dark, text)
    bits = BitReader(3)
    assert (goal_for(bits, bits.read("000"), "0,1 1") == [False, True, True]).all()
    with pytest.raises(SeadsError, match="which goal"):
        goal_for(bits, bits.read("000"), None)
    with pytest.raises(SeadsError, match="found 2 bits; a state has 3"):
        bits.read("01")
    with pytest.raises(SeadsError, match="unexpected 'x' as bit 2"):
        bits.read("0x1")
