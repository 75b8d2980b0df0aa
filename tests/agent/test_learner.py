"""An epoch of the learner: what it draws, its scan against a loop, and that it compiles once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.agent.written_episodes import SHAPES, draw_batches, filled, hand_written

from seads.agent import learner as learner_module
from seads.agent import sac
from seads.agent.batches import draw_episodes
from seads.agent.learner import initial_state, learn, update_model, update_sac
from seads.agent.networks import SkillPolicy
from seads.agent.reward import skill_reward
from seads.agent.rollout import act
from seads.agent.scoring import score
from seads.agent.settings import AgentSettings
from seads.agent.skill_model import ForwardModel, NetworkForwardModel
from seads.envs.interface import symbol_columns

Tiny = Callable[..., AgentSettings]


@pytest.mark.parametrize(
    ("decay", "before", "rate_of_average"), [(0.0, 3, 0.25), (0.2, 99, 0.02), (0.0, 1249, 0.01)]
)
def test_scan_is_the_plain_loop(
    tiny: Tiny, decay: float, before: int, rate_of_average: float
) -> None:
    settings = tiny(
        sac_steps=4,
        model_steps=3,
        learning_rate=2e-3,
        alpha_fall=2.0,
        model="network",
        board_decay=decay,
    )
    state = dataclasses.replace(initial_state(SHAPES, settings, 0), rounds=jnp.float32(before))
    buffer = filled(hand_written([1, 3, 2, 4] * 4, changed=True))
    for_model, batches, _ = draw_batches(state.model, buffer, settings)
    key, rate = jax.random.key(5), jnp.float32(1e-3)
    result, model_loss = update_model(state, for_model, rate, settings)
    result, _ = update_sac(result, batches, key, rate, settings)

    # half the learning rate is left: half of the model's, and a quarter of the entropy weight
    alpha = settings.alpha / 4
    model, optimiser, losses = state.model, state.model_optimiser, []
    for i in range(3):
        batch = (for_model.before[i], for_model.skills[i], for_model.after[i])
        loss, gradient = eqx.filter_value_and_grad(lambda m, b=batch: m.loss(*b))(model)
        adam = model.optimiser(settings)
        model, optimiser = sac.descend(model, gradient, optimiser, adam, 0.5)
        assert isinstance(model, NetworkForwardModel)
        model = model.forget_board(jnp.float32(decay / 2))
        losses.append(float(loss))
    noise = jax.random.normal(key, (4, 2, 8, 1))
    one_update = eqx.filter_jit(sac.update)
    ours = state.sac
    for i in range(4):
        skill = np.eye(2, dtype=np.float32)[batches.skills[i]]
        transitions = sac.Transitions(
            np.concatenate([batches.observations[i], skill], 1),
            batches.actions[i],
            batches.rewards[i],
            np.concatenate([batches.next_observations[i], skill], 1),
            batches.discounts[i],
        )
        ours, _ = one_update(ours, transitions, noise[i], rate, alpha, settings.tau)
    average = sac.move_towards(state.average, (ours.policy, model), rate_of_average)

    expected = learner_module.LearnerState(
        ours, model, optimiser, average, state.scale, state.rounds + 1
    )
    for got, want, start in zip(*map(jax.tree.leaves, (result, expected, state)), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-6)
        assert got.shape == start.shape
        assert got.dtype == start.dtype
    assert float(model_loss) == pytest.approx(np.mean(losses), rel=1e-5)


def test_compiled_once(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over several epochs every program is traced in the first one only."""
    traced: Counter[str] = Counter()

    def counted(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def count(*args: Any, **kwargs: Any) -> Any:
            traced[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, count)

    counted(sac, "update")
    counted(ForwardModel, "evidence")
    counted(SkillPolicy, "__call__")
    # sizes that no other test uses, so that nothing is compiled yet
    settings = tiny(sac_batch=7, model_batch=5, hidden=(11,), model_hidden=(13,))
    state = initial_state(SHAPES, settings, 0)
    buffer = filled(hand_written([1, 3, 2, 4] * 4, changed=True))
    after_first: Counter[str] = Counter()
    for epoch in range(4):
        rng, key = np.random.default_rng(epoch), jax.random.key(epoch)
        state, _ = learn(state, buffer, settings, rng, key, 1e-3 / (epoch + 1))
        rows = np.zeros((6, 6), np.float32), np.zeros((6, 2), np.float32)
        act(state.sac.policy, *rows, np.full((6, 1), epoch, np.float32))
        if epoch == 0:
            after_first = traced.copy()
            assert after_first.keys() == {"update", "evidence", "__call__"}
    assert traced == after_first


@pytest.mark.parametrize("shared", [True, False])
def test_the_paper_scores_soft_actor_critics_episodes_with_the_updated_model(
    tiny: Tiny, shared: bool
) -> None:
    """One large step of the model turns its mind: the rewards of the same epoch say so."""
    episodes = hand_written([1] * 16, changed=True)
    found = {}
    for again in (False, True):
        settings = tiny(
            score_again=again,
            shared_sample=shared,
            model="network",
            model_learning_rate=0.5,
            relabel_sac=0.0,
            weaker_rivals=True,
        )
        state = initial_state(SHAPES, settings, 0)
        buffer, rng = filled(episodes), np.random.default_rng(0)
        updated, metrics = learn(state, buffer, settings, rng, jax.random.key(0), 3e-4)
        found[again] = metrics["reward"]
        judge = updated.model if again else state.model
        posterior, novelty = score(judge, episodes.before, episodes.after)
        rewards = skill_reward(
            posterior, novelty, episodes.skills, episodes.changed, clip_novelty=True
        )
        drawn = draw_episodes(state.model, filled(episodes), settings, np.random.default_rng(0))
        which = drawn.episodes.observations[:, 0, 0].astype(int)  # each carries its number
        rewarded = rewards[which[drawn.for_sac]]
        assert metrics["reward"] == pytest.approx(rewarded.mean(), rel=1e-4)
        first, _ = score(state.model, episodes.before, episodes.after)
        labelled = drawn.for_model  # relabelled for the model by what it knew before
        np.testing.assert_allclose(drawn.posterior[labelled], first[which[labelled]], atol=1e-5)
    assert abs(found[True] - found[False]) > 0.1


@pytest.mark.parametrize("seen", [True, False])
def test_policy_and_critics_see_the_board_or_do_not(tiny: Tiny, seen: bool) -> None:
    state = initial_state(SHAPES, tiny(policy_sees_symbol=seen), seed=0)
    size = SHAPES.observation_size + SHAPES.num_skills
    inputs = np.random.default_rng(0).random((4, size), np.float32)
    begin, end = symbol_columns(SHAPES.observation_size, SHAPES.num_bits)
    actions = jnp.zeros((4, SHAPES.action_size))

    def answers(inputs: np.ndarray) -> tuple[Any, Any]:
        return state.sac.policy(inputs)[0], state.sac.critics(inputs, actions)

    for column in range(size):
        changed = inputs.copy()
        changed[:, column] += 1
        matters = seen or not begin <= column < end
        for before, after in zip(answers(inputs), answers(changed), strict=True):
            assert np.array_equal(before, after) != matters


def test_a_fallen_learning_rate_brings_the_discount_nearer_to_one(tiny: Tiny) -> None:
    """As if that discount had been the setting all along."""
    episodes, rate = hand_written([1, 3, 2, 4] * 4, changed=True), 1e-4
    falls = tiny(gamma=0.99, gamma_fall=2.0, learning_rate=3e-4, n_step=2)
    learned = []
    for settings in (
        falls,
        dataclasses.replace(falls, gamma=falls.discount(rate), gamma_fall=0.0),
        dataclasses.replace(falls, gamma_fall=0.0),
    ):
        state = initial_state(SHAPES, settings, 0)
        rng, key = np.random.default_rng(0), jax.random.key(0)
        learned.append(learn(state, filled(episodes), settings, rng, key, rate)[1])
    assert learned[0] == learned[1] != learned[2]
