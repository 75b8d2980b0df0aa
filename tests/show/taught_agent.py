"""An agent that knows LightsOut with a cursor without having been trained: weights set by hand."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.agent import Agent, Architecture
from seads.agent.networks import MLP, SkillPolicy, make_policy
from seads.agent.skill_model import NetworkForwardModel
from seads.envs.registry import describe, lookup

HIDDEN = 25
SHARP = 2.5
"""How eagerly the cursor moves: one step takes it all the way when it is near."""


def taught_agent(misses: dict[int, int] | None = None, knowing: bool = True) -> Agent:
    """Skill k presses field k, or another field where `misses` says so; the model says k.

    The model of an agent that is not `knowing` says that no skill does anything.
    """
    env = "lightsout-cursor"
    game = lookup(env).make_game()
    facts = describe(env)
    fields, observation = game.num_fields, facts["observation_size"]
    hidden = (max(4, HIDDEN, fields),) * 2
    shape = Architecture("seads", observation, 3, fields, fields, hidden, hidden)
    policy = make_policy(observation + fields, 3, hidden, jax.random.key(0))
    model = NetworkForwardModel(fields, fields, hidden, jax.random.key(0))
    pressed = [(misses or {}).get(skill, skill) for skill in range(fields)]
    targets = np.array([game.point_of(field) for field in pressed]) * 2 - 1

    first = np.zeros((observation + fields, hidden[0]))
    for axis in (0, 1):
        for side, sign in enumerate((1.0, -1.0)):
            unit = 2 * axis + side
            first[axis, unit] = -sign
            first[observation:, unit] = sign * targets[:, axis]
    last = np.zeros((hidden[1], 6))
    last[0:2, 0] = last[2:4, 1] = (SHARP, -SHARP)
    last[:4, 2] = -30.0
    last_bias = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0])
    policy = SkillPolicy(_with(policy.mlp, first, last, last_bias))

    effects = game.play(np.zeros((fields, fields), np.uint8), np.arange(fields)).astype(float)
    first = np.zeros((2 * fields, hidden[0]))
    first[fields:, :fields] = np.eye(fields)
    last = np.zeros((hidden[1], fields))
    last[:fields] = 2 * effects if knowing else 0.0
    taught = _with(model.mlp, first, last, -np.ones(fields))
    model = eqx.tree_at(lambda m: m.mlp, model, taught)
    return Agent(env, {}, shape, policy, model, {"env_steps": 0, "seed": 0})


def _with(mlp: MLP, first: np.ndarray, last: np.ndarray, last_bias: np.ndarray) -> MLP:
    """The network with these weights, its second layer passing on what is positive."""
    passing = np.eye(first.shape[1], last.shape[0])
    weights = [first, passing, last]
    biases = [np.zeros(first.shape[1]), np.zeros(last.shape[0]), last_bias]
    return eqx.tree_at(
        lambda m: [x for layer in m.layers for x in (layer.weight, layer.bias)],
        mlp,
        [jnp.asarray(x, jnp.float32) for pair in zip(weights, biases, strict=True) for x in pair],
    )
