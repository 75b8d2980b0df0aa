"""Coverage of policies whose behaviour is known, and the shape of what the commands print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from jaxtyping import Array, Float

from seads import cli
from seads.agent.agent import Agent, Architecture
from seads.agent.networks import make_policy
from seads.agent.skill_model import Discriminator, NetworkForwardModel
from seads.envs import make_env
from seads.envs.interface import BatchedEnv
from seads.evaluation.coverage import (
    coverage,
    describe_skill,
    distinct_moves,
    name_effects,
    run_all_skills,
)
from seads.evaluation.results import checkpoint_agents, write_result
from seads.jax_setup import prepare_jax

prepare_jax()


class Pusher(eqx.Module):
    """Skill k drives the cursor to the middle of a field, by the shortest way, and pushes there."""

    fields: tuple[int, ...] = eqx.field(static=True)
    """The field of each skill; -1 never pushes."""

    def __call__(
        self, inputs: Float[Array, "rows inputs"]
    ) -> tuple[Float[Array, "rows 3"], Float[Array, "rows 3"]]:
        field = jnp.array(self.fields)[inputs[:, -len(self.fields) :].argmax(1)]
        middle = jnp.stack([field % 5, field // 5], -1) * 0.4 - 0.8  # the board is [-1, 1] squared
        wanted = (middle - inputs[:, :2]) / 0.4
        arrives = (jnp.abs(wanted) <= 1).all(1) & (field >= 0)
        actions = jnp.concatenate([wanted, jnp.where(arrives, 1.0, -1.0)[:, None]], 1)
        return jnp.arctanh(jnp.clip(actions, -0.99999, 0.99999)), jnp.zeros_like(actions)


MODEL = NetworkForwardModel(25, 25, (4,), jax.random.key(0))


@pytest.fixture(scope="module")
def env() -> Iterator[BatchedEnv]:
    with closing(make_env("lightsout-cursor", 100, split="test")) as made:
        yield made


def test_a_perfect_policy_covers_everything(env: BatchedEnv) -> None:
    found = coverage(env, Pusher(tuple(range(25))), MODEL, 25, starts=10)
    assert (found["mean"], found["of"], found["lowest"], found["std"]) == (25.0, 25, 25, 0.0)
    assert (found["starts"], found["distinct_favourites"], found["no_move"]) == (10, 25, 0.0)
    for k, skill in enumerate(found["skills"]):
        assert (skill["skill"], skill["move"], skill["share"]) == (k, k, 1.0)
        assert 1 <= skill["steps"] <= 5


@pytest.mark.parametrize(
    ("fields", "expected"),
    [((7,) * 25, 1.0), ((-1,) * 25, 0.0), ((3, 3, 4) + (-1,) * 22, 2.0)],
)
def test_policies_that_do_less(env: BatchedEnv, fields: tuple[int, ...], expected: float) -> None:
    found = coverage(env, Pusher(fields), MODEL, 25, starts=6)
    assert found["mean"] == expected
    assert found["no_move"] == pytest.approx(fields.count(-1) / 25)
    assert found["distinct_favourites"] == expected


def test_the_same_starts_for_all_skills_and_any_batch_size(env: BatchedEnv) -> None:
    policy = Pusher(tuple(range(25)))
    runs = run_all_skills(env, policy, 25, starts=5, seed=1)  # 4 starts fit at once: two rounds
    assert runs["moves"].shape == (5, 25)
    assert (runs["before"] == runs["before"][:, :1]).all()
    assert len({before.tobytes() for before in runs["before"][:, 0]}) == 5
    with closing(make_env("lightsout-cursor", 25, split="test")) as small:
        again = run_all_skills(small, policy, 25, starts=5, seed=1)
    assert all((runs[name] == again[name]).all() for name in runs)
    other = run_all_skills(env, policy, 25, starts=5, seed=2)
    assert (other["before"] != runs["before"]).any()


def test_starts_come_from_the_split_of_the_environment(env: BatchedEnv) -> None:
    from seads.games import make_game

    runs = run_all_skills(env, Pusher((-1,) * 25), 25, starts=8, seed=0)
    with closing(make_env("lightsout-cursor", 100, split="train")) as train_env:
        train = run_all_skills(train_env, Pusher((-1,) * 25), 25, starts=8, seed=0)
    boards = {before.tobytes() for before in runs["before"][:, 0]}
    assert boards.isdisjoint(before.tobytes() for before in train["before"][:, 0])
    assert make_game("lightsout", size=5).num_moves == 25


@given(
    arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=st.integers(-1, 5))
)
def test_distinct_moves_counts_like_a_set(moves: np.ndarray) -> None:
    assert distinct_moves(moves).tolist() == [len(set(row) - {-1}) for row in moves.tolist()]


def test_effects_count_where_nobody_names_the_moves() -> None:
    flips = np.zeros((2, 4, 3), bool)
    flips[0, 1, [0, 2]] = flips[0, 2, 1] = flips[1, 0, [0, 2]] = flips[1, 3, 1] = True
    unknown = np.full((2, 4), -1)
    named = name_effects(unknown, flips)
    assert ((named == -1) == ~flips.any(-1)).all()
    assert named[0, 1] == named[1, 0] != named[0, 2] == named[1, 3]
    assert distinct_moves(named).tolist() == [2, 2]
    assert (unknown == -1).all()
    known = np.array([[4, 0, -1, 7]])
    assert name_effects(known, known[..., None] >= 0) is known


def test_a_skills_description() -> None:
    described = describe_skill(2, np.array([4, 4, -1, 1]), np.array([1, 2, 10, 3]))
    assert described == {"skill": 2, "move": 4, "share": 0.5, "no_move": 0.25, "steps": 4.0}
    assert describe_skill(0, np.array([-1, -1]), np.array([10, 10]))["move"] is None


def test_model_accuracy_is_how_often_the_mode_is_right(env: BatchedEnv) -> None:
    # logits of a network of zeros are not above zero: no bit flips
    nothing = jax.tree.map(jnp.zeros_like, MODEL)
    assert coverage(env, Pusher((-1,) * 25), nothing, 25, 4)["model_accuracy"] == 1.0
    assert coverage(env, Pusher(tuple(range(25))), nothing, 25, 4)["model_accuracy"] == 0.0
    discriminator = Discriminator(25, 25, (4,), jax.random.key(0))
    assert "model_accuracy" not in coverage(env, Pusher((-1,) * 25), discriminator, 25, 4)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run directory with an untrained agent, and one more beside a checkpoint."""
    architecture = Architecture("seads", 28, 3, 25, 25, (4,), (4,))
    policy = make_policy(28 + 25, 3, (4,), jax.random.key(0))
    agent = Agent("lightsout-cursor", {}, architecture, policy, MODEL, {"env_steps": 12})
    agent.save(tmp_path / "agent")
    agent.save(tmp_path / "checkpoints" / "step_000000012" / "agent")
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


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
    assert "does not fit 'tileswap-cursor'" in capsys.readouterr().err


def test_agents_are_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["agents", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert isinstance(listed, list)
    for one in listed:
        assert one.keys() >= {"name", "env", "env_steps", "coverage", "success"}
    assert cli.main(["agents"]) == 0
    assert all(one["name"] in capsys.readouterr().out for one in listed[:1])


def test_results_go_to_runs_only(tmp_path: Path, run: Path) -> None:
    assert write_result(tmp_path / "agent", "x", {}, "seads") is None
    path = write_result(run, "x", {"a": 1}, "seads evaluate")
    assert path is not None
    assert json.loads(path.read_text()).items() >= {"a": 1, "command": "seads evaluate"}.items()
    assert [found.parent.name for found in checkpoint_agents(run)] == ["step_000000012"]
