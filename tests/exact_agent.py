"""An agent that needs no training: its cursor walks to a field and presses it, its model is right.

What a trained agent approximates, this one has by construction; faults are put in on purpose.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.networks import SkillPolicy, make_policy
from seads.agent.skill_model import Discriminator, NetworkForwardModel
from seads.envs.registry import describe, lookup
from seads.games import LightsOut
from seads.solving import Agent, Architecture

Module = TypeVar("Module")


def exact_agent(
    env: str = "lightsout-cursor",
    hesitant: Collection[int] = (),
    presses: dict[int, int] | None = None,
    algorithm: str = "seads",
    model_layers: int = 3,
    knowing: bool = True,
    name: str | None = None,
    **card: Any,
) -> Agent:
    """Skill k presses field k of a LightsOut board on the cursor.

    A `hesitant` skill goes there, but presses only when its actions are sampled; `presses`
    lets a skill press another field than its model says. The model of an agent that is not
    `knowing` says that no skill does anything. `name` is the environment's name on the card,
    if another one.
    """
    facts, game = describe(env), lookup(env).make_game()
    assert isinstance(game, LightsOut)
    fields = np.array([(presses or {}).get(k, k) for k in range(game.num_moves)])
    targets = np.array([game.point_of(int(field)) for field in fields])
    hidden = [game.num_moves] * (model_layers - 1)
    architecture = Architecture(
        algorithm,
        facts["observation_size"],
        facts["action_size"],
        facts["bits"],
        game.num_moves,
        (5,),
        tuple(hidden),
    )
    model: NetworkForwardModel | Discriminator = _model(game, model_layers, knowing)
    if algorithm == "vic":
        model = Discriminator(facts["bits"], game.num_moves, tuple(hidden), jax.random.key(0))
    policy = _policy(facts["observation_size"], targets, hesitant)
    return Agent(name or env, {}, architecture, {"env_steps": 0, **card}, policy, model)


def _policy(observation_size: int, targets: np.ndarray, hesitant: Collection[int]) -> SkillPolicy:
    """Go to the target; press when it is less than about 0.04 away."""
    skills = len(targets)
    first = np.zeros((observation_size + skills, 5))
    # units 0 to 3: the way to go, by axis and sign; the observation shows 2 * position - 1
    for axis in range(2):
        first[axis, 2 * axis] = -0.5
        first[observation_size:, 2 * axis] = targets[:, axis] - 0.5
        first[:, 2 * axis + 1] = -first[:, 2 * axis]
    first[[observation_size + k for k in hesitant], 4] = 1.0
    second = np.zeros((5, 6))
    second[[0, 1], 0] = second[[2, 3], 1] = 5.0, -5.0
    second[:4, 2] = -30.0
    second[4, 2] = -1.5
    # only the push is noisy when sampled
    bias = np.array([0.0, 0.0, 2.0, -20.0, -20.0, 0.0])
    like = make_policy(observation_size + skills, 3, (5,), jax.random.key(0))
    return _filled(like, [(first, np.zeros(5)), (second, bias)])


def _model(game: LightsOut, layers: int, knowing: bool) -> NetworkForwardModel:
    """Pass the skill on to the last layer, which knows what it flips."""
    effects = game.play(
        np.zeros((game.num_moves, game.num_fields), np.uint8), np.arange(game.num_moves)
    )
    count = game.num_moves
    skill_only = np.concatenate([np.zeros((game.num_bits, count)), np.eye(count)])
    weights = [(skill_only, np.zeros(count))]
    weights += [(np.eye(count), np.zeros(count))] * (layers - 2)
    weights += [(2.0 * effects * knowing, np.full(game.num_bits, -1.0))]
    like = NetworkForwardModel(game.num_bits, count, (count,) * (layers - 1), jax.random.key(0))
    return _filled(like, weights)


def _filled(module: Module, weights: list[tuple[np.ndarray, np.ndarray]]) -> Module:
    """The module with other weights; its leaves are the layers' weights and biases in order."""
    leaves = [jnp.asarray(array, jnp.float32) for pair in weights for array in pair]
    like, tree = jax.tree.flatten(module)
    assert [leaf.shape for leaf in like] == [leaf.shape for leaf in leaves]
    return jax.tree.unflatten(tree, leaves)
