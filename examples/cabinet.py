"""A cursor at a cabinet: two drawers, each locked and unlocked by a button.

    seads train cabinet:factory --env-steps 2e5
    seads evaluate runs/cabinet-factory-seads-default-seed0 --what coverage
    seads plan runs/cabinet-factory-seads-default-seed0 --operators  # and what skills need
    python cabinet.py runs/cabinet-factory-seads-default-seed0  # drawers as a coin says
    python cabinet.py agents/cabinet  # the same with an agent that comes along

A drawer moves with the cursor that holds its handle, but only while it is unlocked, and no skill
sees the lock: two effects are easy and always possible, four take more and are possible sometimes.
From a random start 3.5 of the 6 effects are possible on average.

What came out with seed 0: a skill for each effect, those of the drawers known to need their lock
open; 3.19 effects from each of 100 starts, on average, after 200,035 steps, and 84 of 100 goals
reached. Seeds 1, 2: the same skills and needs; 2.90 and 2.96 effects, 54 and 54 goals.
"""

import argparse
from contextlib import closing

import gymnasium
import numpy as np

from seads.envs import wrap

BUTTONS = np.array([[0.15, 0.1], [0.85, 0.1]])
"""Where a push toggles each drawer's lock."""
RAILS = np.array([0.5, 0.85])
"""How high each drawer's handle is; how far to the right it is tells how far the drawer is out."""


class Cabinet(gymnasium.Env):
    """Observed: the cursor, how far out the drawers are, and whether they are unlocked."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (6,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cursor, self.out = self.np_random.random((2, 2))
        self.unlocked = self.np_random.random(2) < 0.5
        return self._observation(), {}

    def step(self, action):
        move, push = 0.1 * np.asarray(action[:2], float), action[2]
        handles = np.stack([self.out, RAILS], 1)
        held = (np.abs(handles - self.cursor).max(1) < 0.08) & self.unlocked & (push > 0.3)
        self.out = np.where(held, np.clip(self.out + move[0], 0, 1), self.out)
        self.cursor = np.clip(self.cursor + move, 0, 1)
        pressed = (np.abs(BUTTONS - self.cursor).max(1) < 0.1) & (push > 0.6)
        self.unlocked = self.unlocked ^ pressed
        return self._observation(), 0.0, False, False, {}

    def _observation(self):
        return np.concatenate([self.cursor, self.out, self.unlocked]).astype(np.float32)


def phi(observation):
    """Which drawers are unlocked, which are open, which are closed; one may be in between."""
    out, unlocked = observation[2:4], observation[4:] > 0.5
    return np.concatenate([unlocked, out > 0.75, out < 0.25])


def factory(num_envs):
    """What `seads train` learns on; each bit can change alone, which is one effect."""
    return wrap(Cabinet, phi, num_envs, step_limit=20, num_moves=6)


def run_tasks(agent, starts=100, seed=0, max_skills=40):
    """From random starts: have each drawer open or closed, and locked or not, as a coin says."""
    # Not at the top: worker processes import this module and need nothing of it.
    from seads.solving import Solver, Solving
    from seads.streams import row_seeds

    unlocked, are_open = np.random.default_rng(seed).random((2, starts, 2)) < 0.5
    goals = np.concatenate([unlocked, are_open, ~are_open], 1)
    with closing(factory(starts)) as env:
        solver = Solver(agent, goals, Solving(max_skills=max_skills))
        executor = solver.executor(env, agent, row_seeds(seed, starts), goals)
        executor.run()
    return np.array([one.solved for one in executor.executions])


def main():
    parser = argparse.ArgumentParser(
        description="drawers and locks as a coin says, with replanning"
    )
    parser.add_argument("run", help="a run on cabinet:factory")
    parser.add_argument("--starts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from seads import load

    solved = run_tasks(load(options.run), options.starts, options.seed)
    print(f"{solved.sum()} of {len(solved)} goals reached")


if __name__ == "__main__":
    main()
