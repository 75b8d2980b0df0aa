"""The batched environments with Gymnasium's VectorEnv interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float, Float32, UInt8

from seads.envs.embedding import Mode
from seads.envs.gym_env import (
    METADATA,
    check_render_mode,
    check_reset_options,
    make_embedded,
    seed_rows,
    spaces,
)
from seads.envs.interface import Step
from seads.errors import SeadsError
from seads.games.game import NO_MOVE, Split

AUTORESET = {"same_step": AutoresetMode.SAME_STEP, "disabled": AutoresetMode.DISABLED}


class SeadsVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """All rows of a batched environment; row i behaves as the single environment with its seed.

    `autoreset="same_step"` resets a finished row at once and puts its last observation and
    info into `final_obs` and `final_info`; `"disabled"` leaves that to the caller, who
    resets rows by `options={"reset_mask": mask}` (and may continue with the next skill by
    adding `"resume": True`). Gymnasium's next-step mode inserts transitions that nobody
    should learn from, so it is not offered.
    """

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        mode: Mode = "skill",
        split: Split = "train",
        depths: tuple[int, int] | None = None,
        autoreset: str = "same_step",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if autoreset not in AUTORESET:
            raise SeadsError(f"unknown autoreset {autoreset!r}; choose from {', '.join(AUTORESET)}")
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.metadata = {**METADATA, "autoreset_mode": AUTORESET[autoreset]}
        self.num_envs = num_envs
        self.batch = make_embedded(name, num_envs, mode, split, depths, options)
        self.single_observation_space, self.single_action_space = spaces(self.batch)
        self.observation_space: gymnasium.Space = batch_space(
            self.single_observation_space, num_envs
        )
        self.action_space: gymnasium.Space = batch_space(self.single_action_space, num_envs)
        self._renderer: Any = None

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Float32[np.ndarray, "rows obs"], dict[str, Any]]:
        """Reset all rows or those of `reset_mask`; an int seeds row i with `seed + i`."""
        options = check_reset_options(options, ("reset_mask", "symbol", "resume"))
        mask = self._check_mask(options.get("reset_mask"))
        seeds = self._check_seed(seed)
        super().reset(seed=seed if isinstance(seed, int) else None)
        rows = np.flatnonzero(mask)
        if options.get("resume"):
            observation = self.batch.resume(rows)
        else:
            seed_rows(self.batch, rows, [seeds[row] for row in rows])
            given = options.get("symbol")
            symbols = None if given is None else np.tile(np.asarray(given), (len(rows), 1))
            observation = self.batch.reset(rows=rows, symbols=symbols)
        symbol = np.where(mask[:, None], self.batch.symbols, False)
        return observation, {"symbol": symbol, "_symbol": mask}

    def step(
        self, actions: Float[np.ndarray, "rows act"]
    ) -> tuple[
        Float32[np.ndarray, "rows obs"],
        Float[np.ndarray, "rows"],
        Bool[np.ndarray, "rows"],
        Bool[np.ndarray, "rows"],
        dict[str, Any],
    ]:
        step = self.batch.step(actions)
        observation, done = step.observation, step.done
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP and done.any():
            final = np.full(self.num_envs, None, dtype=object)
            for row in np.flatnonzero(done):
                final[row] = step.observation[row].copy()
            info = _info(step, ~done)
            info |= {"final_obs": final, "_final_obs": done}
            info |= {"final_info": _info(step, done), "_final_info": done.copy()}
            rows = np.flatnonzero(done)
            observation = self.batch.reset(rows=rows)
            info["symbol"], info["_symbol"] = self.batch.symbols, np.ones_like(done)
        else:
            info = _info(step, np.ones_like(done))
        return observation, step.reward.astype(np.float64), step.terminated, step.truncated, info

    def render(self) -> tuple[UInt8[np.ndarray, "height width 3"], ...] | None:
        if self.render_mode is None:
            return None
        if self._renderer is None:
            from seads.envs.render import Renderer

            self._renderer = Renderer(self.batch)
        return tuple(self._renderer.frame(row) for row in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        if self._renderer is not None:
            self._renderer.close()
        self.batch.close()

    def _check_mask(self, mask: Any) -> Bool[np.ndarray, "rows"]:
        if mask is None:
            return np.ones(self.num_envs, bool)
        given = np.asarray(mask)
        if given.shape != (self.num_envs,) or given.dtype != np.bool_:
            raise ValueError(
                f"reset_mask is {given.dtype} {given.shape}; expected bool ({self.num_envs},)"
            )
        return given.copy()

    def _check_seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None or isinstance(seed, int | np.integer):
            return [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds were given for {self.num_envs} environments")
        return list(seed)


def _info(step: Step, rows: Bool[np.ndarray, "rows"]) -> dict[str, Any]:
    """The info of the picked rows in Gymnasium's vector form: an array and a mask per key."""
    info: dict[str, Any] = {
        "symbol": np.where(rows[:, None], step.symbol, False),
        "_symbol": rows.copy(),
    }
    moved = rows & (step.move != NO_MOVE)
    if moved.any():
        info["move"] = np.where(moved, step.move, 0)
        info["_move"] = moved
    return info
