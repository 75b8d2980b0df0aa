"""Three forward models side by side: which counts, and that each learns as it would alone."""

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
from seads.agent.skill_model import (
    ForwardModel,
    LinearForwardModel,
    NetworkForwardModel,
    TableForwardModel,
)

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


def by_a_bit(before: np.ndarray, skills: np.ndarray) -> np.ndarray:
    """Skill k flips bit k where bit 3 is set, else bit k + 1."""
    return np.eye(4, dtype=bool)[skills + ~before[:, 3]]


def by_parity(before: np.ndarray, skills: np.ndarray) -> np.ndarray:
    """Skill k flips bit k where bits 2 and 3 differ, else bit k + 1: no linear map says that."""
    return np.eye(4, dtype=bool)[skills + (before[:, 2] == before[:, 3])]


@eqx.filter_jit
def step(model: Any, state: Any, batch: Any) -> tuple[Any, Any]:
    """One update, compiled once for a kind of model."""
    gradient = eqx.filter_grad(lambda m: m.loss(*batch))(model)
    return sac.descend(model, gradient, state, model.optimiser(SETTINGS), 1.0)


@eqx.filter_jit
def judged(model: EitherForwardModel, before: Any, after: Any) -> EitherForwardModel:
    return model.judged(before, after)


def taught(model: Any, batches: list[tuple[np.ndarray, ...]]) -> Any:
    """The model after an update for each batch."""
    state = model.optimiser(SETTINGS).init(eqx.filter(model, eqx.is_array))
    for batch in batches:
        model, state = step(model, state, batch)
    return model


def test_each_learns_as_it_would_alone() -> None:
    model = fresh()
    batches = [data(plain, 32, seed) for seed in range(5)]
    all_three = taught(model, batches)
    for alone, together in zip(model.models, all_three.models, strict=True):
        for got, want in zip(
            jax.tree.leaves(together), jax.tree.leaves(taught(alone, batches)), strict=True
        ):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    assert not np.any(all_three.leads)


@pytest.mark.parametrize(("effect", "best"), [(plain, 0), (by_a_bit, 1), (by_parity, 2)])
def test_new_episodes_choose(effect: Any, best: int) -> None:
    model = fresh()
    for epoch in range(60):
        new = data(effect, 32, 1000 + epoch)
        model = judged(model, new[0], new[2])
        model = taught(model, [data(effect, 64, 100 * epoch + i) for i in range(8)])
    assert int(model.best) == best
    kinds = (TableForwardModel, LinearForwardModel, NetworkForwardModel)
    assert isinstance(model.shipped, kinds[best])
    before, skills, after = data(effect, 50, 9)
    flips = model.shipped.flip_logits(before, skills) > 0
    assert (flips == (before ^ after)).all()
    expected = model.shipped.evidence(before, after)
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

    models = (Certain(logit=-50.0), Certain(logit=-50.0), Certain(logit=2.0))
    model = eqx.tree_at(lambda m: m.models, fresh(), models)
    before = jnp.zeros((2, 4), bool)
    after = jnp.array([[True] * 4, [False] * 4])
    lead = 4 * (np.log(1 / (1 + np.exp(-2.0))) - np.log(0.5))
    judged = model.judged(before, after)
    np.testing.assert_allclose(judged.leads, [0, 0, 0.02 * lead], rtol=1e-4)
    assert not np.any(model.judged(before[1:], after[1:]).leads)


def test_the_plainest_that_is_not_clearly_behind_counts() -> None:
    def best(*leads: float) -> int:
        return int(eqx.tree_at(lambda m: m.leads, fresh(), jnp.array(leads)).best)

    assert best(0.0, 0.09, 0.05) == 0
    assert best(0.0, 0.5, 0.55) == 1
    assert best(0.0, 0.5, 0.65) == 2
    assert best(0.0, -3.0, 0.11) == 2


def test_what_is_shipped_needs_only_be_right() -> None:
    """169 bits: a table that is 98 % sure of each is as good as a map that is surer."""
    model = fresh(169)
    before = jax.random.bernoulli(jax.random.key(1), 0.5, (8, 169))
    flips = jnp.zeros((8, 169), bool).at[:, :5].set(True)

    def after(table: float, linear: float) -> EitherForwardModel:
        """Judged by enough episodes, with logits that far on the right side."""
        sign = jnp.broadcast_to(jnp.where(flips[0], 1.0, -1.0), (3, 169))
        zero = jnp.zeros_like(model.linear.grow)
        asked = eqx.tree_at(
            lambda m: (m.table.bias, m.linear.bias, m.linear.grow, m.linear.shrink),
            model,
            (table * sign, linear * sign, zero, zero),
        )
        for _ in range(200):
            asked = judged(asked, before, before ^ flips)
        return asked

    def shipped(table: float, linear: float) -> type:
        return type(after(table, linear).shipped)

    assert abs(after(table=4.0, linear=9.0).leads_if_sure[1]) < 1e-3
    assert shipped(table=3.75, linear=9.0) is TableForwardModel
    assert shipped(table=3.0, linear=9.0) is LinearForwardModel
    assert int(after(table=4.0, linear=9.0).best) == 1, "while learning, sureness counts"
