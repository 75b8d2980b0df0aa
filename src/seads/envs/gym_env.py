"""A single environment with Gymnasium's interface, and the ids under which to make one.

`import seads` registers every id, so `gymnasium.make("seads/LightsOutCursor-v0")` works
after it, and `gymnasium.make("seads:seads/LightsOutCursor-v0")` without it.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from jaxtyping import Float32, Int, UInt8

from seads.envs.embedding import EmbeddedEnv, Mode
from seads.envs.registry import make_env
from seads.errors import SeadsError
from seads.games.game import NO_MOVE, Split

METADATA = {"render_modes": ["rgb_array"], "render_fps": 10}


class SeadsEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """One row of a batched environment.

    `reset` takes `options={"symbol": bits}` to start from a given board, and in skill mode
    `options={"resume": True}` to start the next skill where the last one ended. `info` has
    the symbol and, after a game move, the move. In skill mode rewards are zero; in task
    mode solving the board gives 1.
    """

    metadata = METADATA

    def __init__(
        self,
        name: str,
        mode: Mode = "skill",
        split: Split = "train",
        depths: tuple[int, int] | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.batch = make_embedded(name, 1, mode, split, depths, options)
        self.observation_space, self.action_space = spaces(self.batch)
        self._renderer: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32[np.ndarray, "obs"], dict[str, Any]]:
        super().reset(seed=seed)
        options = check_reset_options(options, ("symbol", "resume"))
        if options.get("resume"):
            observation = self.batch.resume()
        else:
            given = options.get("symbol")
            symbols = None if given is None else np.asarray(given)[None]
            seed_rows(self.batch, np.array([0]), [seed])
            observation = self.batch.reset(symbols=symbols)
        return observation[0], {"symbol": self.batch.symbols[0]}

    def step(
        self, action: np.ndarray
    ) -> tuple[Float32[np.ndarray, "obs"], float, bool, bool, dict[str, Any]]:
        step = self.batch.step(np.asarray(action)[None])
        info: dict[str, Any] = {"symbol": step.symbol[0]}
        if step.move[0] != NO_MOVE:
            info["move"] = int(step.move[0])
        return (
            step.observation[0],
            float(step.reward[0]),
            bool(step.terminated[0]),
            bool(step.truncated[0]),
            info,
        )

    def render(self) -> UInt8[np.ndarray, "height width 3"] | None:
        if self.render_mode is None:
            return None
        if self._renderer is None:
            from seads.envs.render import Renderer

            self._renderer = Renderer(self.batch)
        return self._renderer.frame(0)

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        self.batch.close()


def seed_rows(env: EmbeddedEnv, rows: Int[np.ndarray, "picked"], given: list[int | None]) -> None:
    """Start new series of episodes in the picked rows that are given a seed."""
    seeded = [
        (row, seed % 2**64) for row, seed in zip(rows, given, strict=True) if seed is not None
    ]
    if seeded:
        env.start_series(
            np.array([seed for _, seed in seeded], np.uint64), np.array([row for row, _ in seeded])
        )


def make_embedded(
    name: str,
    num_envs: int,
    mode: Mode,
    split: Split,
    depths: tuple[int, int] | None,
    options: dict[str, Any],
) -> EmbeddedEnv:
    """A table environment; those of users are Gymnasium environments already."""
    env = make_env(name, num_envs, mode=mode, split=split, depths=depths, **options)
    if not isinstance(env, EmbeddedEnv):
        raise SeadsError(f"{name!r} is no environment of the table")
    # Unseeded rows differ from run to run, as Gymnasium has it.
    env.start_series(np.random.default_rng().integers(0, 2**64, num_envs, np.uint64))
    return env


def spaces(env: EmbeddedEnv) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """The observation and action space of one row: the body is unbounded, bits and time are not."""
    body = env.manipulator.observation_size
    low = np.zeros(env.spec.observation_size, np.float32)
    high = np.ones(env.spec.observation_size, np.float32)
    low[:body], high[:body] = -np.inf, np.inf
    action_low = np.array(env.spec.action_low, np.float32)
    action_high = np.array(env.spec.action_high, np.float32)
    return (
        gymnasium.spaces.Box(low, high, dtype=np.float32),
        gymnasium.spaces.Box(action_low, action_high, dtype=np.float32),
    )


def check_render_mode(render_mode: str | None) -> None:
    if render_mode not in (None, "rgb_array"):
        raise SeadsError(f"unknown render_mode {render_mode!r}; choose from rgb_array, None")


def check_reset_options(options: dict[str, Any] | None, known: tuple[str, ...]) -> dict[str, Any]:
    """The options of a reset; raises on one that would be ignored."""
    for key in options or {}:
        if key not in known:
            raise SeadsError(f"unknown reset option {key!r}; choose from {', '.join(known)}")
    return options or {}
