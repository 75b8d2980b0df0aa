"""Coverage of policies whose behaviour is known, and the shape of what the commands print."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.agent.test_effects import flipping
from tests.exact_agent import exact_agent

from seads import cli
from seads.agent.needs import Needs
from seads.agent.networks import make_policy
from seads.agent.skill_model import NetworkForwardModel
from seads.envs import make_env
from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError
from seads.evaluation import measure as measuring
from seads.evaluation.coverage import (
    SkillRuns,
    SkillSummary,
    measure_coverage,
    model_accuracy,
    name_effects,
    run_all_skills,
)
from seads.evaluation.measure import Measuring, solving_of
from seads.evaluation.results import agent_at, checkpoint_agents, write_result
from seads.jax_setup import prepare_jax
from seads.solving import Agent, Architecture

prepare_jax()


EXACT = exact_agent()
IDLE = exact_agent(hesitant=range(25))
"""Its skills press only when their actions are sampled: never, without exploration."""


@pytest.fixture(scope="module")
def env() -> Iterator[BatchedEnv]:
    with closing(make_env("lightsout-cursor", 100, split="test")) as made:
        yield made


def runs_of(moves: np.ndarray) -> SkillRuns:
    """Runs of which only the moves matter."""
    bits = np.zeros((*moves.shape, 1), bool)
    return SkillRuns(moves, np.ones_like(moves), bits, bits)


def test_a_perfect_policy_covers_everything() -> None:
    scores = measure_coverage(EXACT, starts=10)
    found = scores.to_json()
    assert (found["mean"], found["of"], found["lowest"], found["std"]) == (25.0, 25, 25, 0.0)
    assert (found["starts"], found["distinct_favourites"], found["no_move"]) == (10, 25, 0.0)
    assert found["model_accuracy"] == 1.0
    for k, skill in enumerate(scores.runs.skills):
        assert (skill.skill, skill.move, skill.share) == (k, k, 1.0)
        assert 1 <= skill.steps <= 10


@pytest.mark.parametrize(
    ("presses", "idle", "expected"),
    [
        (dict.fromkeys(range(25), 7), (), 1.0),
        ({}, range(25), 0.0),
        ({0: 3, 1: 3, 2: 4}, range(3, 25), 2.0),
    ],
)
def test_policies_that_do_less(
    presses: dict[int, int], idle: Collection[int], expected: float
) -> None:
    scores = measure_coverage(exact_agent(presses=presses, hesitant=idle), starts=6)
    assert scores.mean == expected
    found = scores.to_json()
    assert found["no_move"] == pytest.approx(len(idle) / 25)
    assert found["distinct_favourites"] == expected


def test_the_same_starts_for_all_skills_and_any_batch_size(env: BatchedEnv) -> None:
    policy = EXACT.policy
    runs = run_all_skills(env, policy, 25, starts=5, seed=1)  # 4 starts fit at once: two rounds
    assert runs.moves.shape == (5, 25)
    assert (runs.before == runs.before[:, :1]).all()
    assert len({before.tobytes() for before in runs.before[:, 0]}) == 5
    with closing(make_env("lightsout-cursor", 25, split="test")) as small:
        again = run_all_skills(small, policy, 25, starts=5, seed=1)
    for name in ("moves", "lengths", "before", "after"):
        assert (getattr(runs, name) == getattr(again, name)).all()
    other = run_all_skills(env, policy, 25, starts=5, seed=2)
    assert (other.before != runs.before).any()


def test_starts_come_from_the_split_of_the_environment(env: BatchedEnv) -> None:
    runs = run_all_skills(env, IDLE.policy, 25, starts=8, seed=0)
    with closing(make_env("lightsout-cursor", 100, split="train")) as train_env:
        train = run_all_skills(train_env, IDLE.policy, 25, starts=8, seed=0)
    boards = {before.tobytes() for before in runs.before[:, 0]}
    assert boards.isdisjoint(before.tobytes() for before in train.before[:, 0])


@given(
    arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=st.integers(-1, 5))
)
def test_distinct_moves_counts_like_a_set(moves: np.ndarray) -> None:
    assert runs_of(moves).distinct.tolist() == [len(set(row) - {-1}) for row in moves.tolist()]


def test_effects_count_where_nobody_names_the_moves() -> None:
    flips = np.zeros((2, 4, 3), bool)
    flips[0, 1, [0, 2]] = flips[0, 2, 1] = flips[1, 0, [0, 2]] = flips[1, 3, 1] = True
    unknown = np.full((2, 4), -1)
    named = name_effects(unknown, flips)
    assert ((named == -1) == ~flips.any(-1)).all()
    assert named[0, 1] == named[1, 0] != named[0, 2] == named[1, 3]
    assert runs_of(named).distinct.tolist() == [2, 2]
    assert (unknown == -1).all()
    known = np.array([[4, 0, -1, 7]])
    assert name_effects(known, known[..., None] >= 0) is known


def test_a_skills_description() -> None:
    bits = np.zeros((4, 2, 1), bool)
    moves, lengths = (
        np.array([[4, -1], [4, -1], [-1, -1], [1, -1]]),
        np.array([[1], [2], [10], [3]]),
    )
    runs = SkillRuns(moves, np.tile(lengths, 2), bits, bits)
    assert runs.skill(0) == SkillSummary(0, move=4, share=0.5, no_move=0.25, steps=4.0)
    assert runs.skill(1).move is None


def test_model_accuracy_is_how_often_the_mode_is_right() -> None:
    idle, unknowing = exact_agent(hesitant=range(25)), exact_agent(knowing=False)
    assert measure_coverage(unknowing, 4).model_accuracy == 0.0
    assert measure_coverage(idle, 4).model_accuracy == 0.0
    assert measure_coverage(exact_agent(presses={3: 4}), 4).model_accuracy == 24 / 25
    vic = measure_coverage(exact_agent(algorithm="vic"), 4)
    assert vic.model_accuracy is None
    assert "model_accuracy" not in vic.to_json()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run directory with an untrained agent, and one more beside a checkpoint."""
    architecture = Architecture("seads", 28, 3, 25, 25, (4,), (4,))
    policy = make_policy(28 + 25, 3, (4,), jax.random.key(0))
    model = NetworkForwardModel(25, 25, (4,), jax.random.key(0))
    agent = Agent("lightsout-cursor", {}, architecture, {"env_steps": 12}, policy, model)
    agent.save(tmp_path / "agent")
    agent.save(tmp_path / "checkpoints" / "step_000000012" / "agent")
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(("asked", "limit"), [(None, 1.0), (7.0, 7.0)])
def test_points_of_a_curve_are_planned_for_briefly_unless_asked(
    run: Path, asked: float | None, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []
    really = measuring.measure

    def measured(agent: Agent, part: str, how: Measuring, on_plan: Any) -> Any:
        limits.append(how.solving.seconds)
        return really(agent, "coverage", how, on_plan)

    monkeypatch.setattr(measuring, "measure", measured)
    how = Measuring(starts=2, solving=solving_of("auto", True, "length", asked, 100.0))
    assert [one["env_steps"] for one in measuring.measure_along(run, "tasks", how)] == [12]
    assert limits == [limit]


def test_evaluate_prints_and_writes_json(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(run), "--what", "coverage", "--starts", "4", "--checkpoints", "--json"]
    assert cli.main(["evaluate", *arguments]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["env"], printed["env_steps"]) == ("lightsout-cursor", 12)
    assert printed["coverage"].keys() >= {
        "mean",
        "of",
        "starts",
        "seed",
        "skills",
        "model_accuracy",
    }
    assert (printed["coverage"]["of"], printed["coverage"]["starts"]) == (25, 4)
    assert printed["curve"] == [{"env_steps": 12, "coverage": printed["coverage"]["mean"]}]
    (written,) = (run / "eval").glob("*.json")
    kept = json.loads(written.read_text())
    assert kept["coverage"] == printed["coverage"]
    assert kept["command"].startswith("seads")


def test_evaluate_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", str(tmp_path / "nowhere")]) == 2
    assert "unknown run or agent" in capsys.readouterr().err


def test_no_checkpoints_is_said_before_anything_is_measured(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for source, sentence in (
        (run / "agent", "has no checkpoints to draw a curve from"),
        (run / "nowhere", "unknown run or agent"),
    ):
        assert cli.main(["evaluate", str(source), "--checkpoints"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert sentence in captured.err
        assert captured.err.count("\n") == 1


def test_an_agent_that_does_not_fit_its_environment(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = json.loads((run / "agent" / "card.json").read_text())
    (run / "agent" / "card.json").write_text(json.dumps(card | {"env": "tileswap-cursor"}))
    assert cli.main(["evaluate", str(run), "--what", "coverage"]) == 2
    told = capsys.readouterr().err
    assert "boards of 'tileswap-cursor' have 81 bits, its networks are made for 25" in told


def test_agents_are_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["agents", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert isinstance(listed, list)
    for one in listed:
        assert one.keys() >= {"name", "env", "env_steps", "coverage", "success"}
    assert cli.main(["agents"]) == 0
    assert all(one["name"] in capsys.readouterr().out for one in listed[:1])


def test_where_results_go(tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert write_result(str(run / "agent"), "x", {}, "seads") is None
    path = write_result(str(run), "x", {"a": 1}, "seads evaluate")
    assert path is not None
    assert json.loads(path.read_text()).items() >= {"a": 1, "command": "seads evaluate"}.items()
    assert [found.parent.name for found in checkpoint_agents(run)] == ["step_000000012"]
    # those of an agent that comes with the package, where it was asked for
    monkeypatch.chdir(tmp_path)
    path = write_result("lightsout-cursor", "x", {"a": 1}, "seads evaluate")
    assert path == Path("runs/lightsout-cursor/eval/x.json")
    assert path.is_file()


def test_the_last_checkpoint_below_a_budget(run: Path) -> None:
    assert agent_at(str(run), None) == run / "agent"
    kept = run / "checkpoints" / "step_000000012" / "agent"
    assert agent_at(str(run), 12) == agent_at(str(run), 100) == kept
    with pytest.raises(SeadsError, match="at most 11 env steps; the first is at 12"):
        agent_at(str(run), 11)
    with pytest.raises(SeadsError, match="unknown run or agent"):
        agent_at(str(run / "nowhere"), 11)


def test_nothing_is_expected_of_a_skill_that_lacks_what_it_needs() -> None:
    """Two starts, one skill: it flips bit 0, and needs bit 1."""
    before = np.array([[[False, True]], [[False, False]]])
    after = np.array([[[True, True]], [[False, False]]])
    moves = np.zeros((2, 1), int)
    runs = SkillRuns(moves, np.ones_like(moves), before, after)
    model = flipping([[0]], num_bits=2)
    assert model_accuracy(model, Needs.of([[]], 2), runs) == 0.5
    assert model_accuracy(model, Needs.of([[(1, True)]], 2), runs) == 1.0
