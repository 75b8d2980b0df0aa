"""Two forward models side by side: which counts, and that both learn as they would alone."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seads.agent import sac
from seads.agent.either_model import EitherForwardModel
from seads.agent.settings import AgentSettings
from seads.agent.skill_model import ForwardModel, LinearForwardModel, NetworkForwardModel

SETTINGS = AgentSettings(model_learning_rate=0.01)


def fresh(num_bits: int = 4, num_skills: int = 3) -> EitherForwardModel:
    return EitherForwardModel(num_bits, num_skills, (32,), jax.random.key(0))


def data(effect: Any, count: int = 600, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Transitions of skills whose flips `effect(boards, skills)` says."""
    rng = np.random.default_rng(seed)
    before = rng.random((count, 4)) < 0.5
    skills = rng.integers(3, size=count)
    return before, skills, before ^ effect(before, skills)


def plain(before: np.ndarray, skills: np.ndarray) -> np.ndarray:
    """Skill k flips bit k."""
    return np.eye(4, dtype=bool)[skills]


def by_parity(before: np.ndarray, skills: np.ndarray) -> np.ndarray:
    """Skill k flips bit k where bits 2 and 3 differ, else bit k + 1: no linear map says that."""
    return np.eye(4, dtype=bool)[skills + (before[:, 2] == before[:, 3])]


@eqx.filter_jit
def step(model: Any, state: Any, batch: Any) -> tuple[Any, Any]:
    """One update, compiled once for a kind of model."""
    gradient = eqx.filter_grad(lambda m: m.loss(*batch))(model)
    return sac.descend(model, gradient, state, model.optimiser(SETTINGS), 1.0)


def taught(model: Any, batches: list[tuple[np.ndarray, ...]]) -> Any:
    """The model after an update for each batch."""
    state = model.optimiser(SETTINGS).init(eqx.filter(model, eqx.is_array))
    for batch in batches:
        model, state = step(model, state, batch)
    return model


def test_each_learns_as_it_would_alone() -> None:
    model = fresh()
    batches = [data(plain, 32, seed) for seed in range(5)]
    both = taught(model, batches)
    for alone, together in ((model.linear, both.linear), (model.network, both.network)):
        for got, want in zip(
            jax.tree.leaves(together), jax.tree.leaves(taught(alone, batches)), strict=True
        ):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    assert float(both.lead) == 0


@pytest.mark.parametrize(
    ("effect", "better"), [(plain, LinearForwardModel), (by_parity, NetworkForwardModel)]
)
def test_new_episodes_choose(effect: Any, better: type) -> None:
    model = fresh()
    for epoch in range(60):
        new = data(effect, 32, 1000 + epoch)
        model = model.judged(new[0], new[2])
        model = taught(model, [data(effect, 64, 100 * epoch + i) for i in range(8)])
    assert isinstance(model.chosen, better)
    before, _, after = data(effect, 50, 9)
    expected = model.chosen.evidence(before, after)
    for got, want in zip(model.evidence(before, after), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_the_lead_by_hand() -> None:
    """One changed episode of two counts; a coin for each bit is the worst there is."""

    class Certain(ForwardModel):
        num_skills: int = 1
        logit: float = 0.0

        def all_flip_logits(self, before: Any) -> Any:
            return jnp.full((len(before), 1, before.shape[1]), self.logit)

        def flip_logits(self, before: Any, skills: Any) -> Any:
            return jnp.full(before.shape, self.logit)

        def optimiser(self, settings: Any) -> Any:
            raise AssertionError

    model = eqx.tree_at(
        lambda m: (m.linear, m.network), fresh(), (Certain(logit=-50.0), Certain(logit=2.0))
    )
    before = jnp.zeros((2, 4), bool)
    after = jnp.array([[True] * 4, [False] * 4])
    lead = 4 * (np.log(1 / (1 + np.exp(-2.0))) - np.log(0.5))
    assert float(model.judged(before, after).lead) == pytest.approx(0.02 * lead, rel=1e-4)
    unchanged = model.judged(before[1:], after[1:])
    assert float(unchanged.lead) == 0
