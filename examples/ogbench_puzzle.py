"""OGBench's puzzle: a UR5e arm at 3×3 or 4×4 buttons with the rules of LightsOut.

    pip install 'seads[examples]'
    seads train ogbench_puzzle:factory --env-set size=3x3 --env-steps 3e5
    python ogbench_puzzle.py runs/ogbench_puzzle-factory-seads-default-seed0  # the benchmark
    python ogbench_puzzle.py agents/puzzle-4x4  # the same with an agent that comes along

Skills are learned from random boards and poses, without the benchmark's data set or its goals.

What came out with seed 0: 9.00 of 9 effects and 100 of the benchmark's 100 episodes after 298,659
steps (of 298400 asked for); with 4×4 buttons 16.00 of 16 and 100 of 100 after 398,428 (398400).
"""

import argparse
import os
from contextlib import closing
from functools import partial

# Nothing is drawn, and without a screen looking for one ends in a warning.
os.environ.setdefault("MUJOCO_GL", "disable")

import gymnasium
import numpy as np
import ogbench  # noqa: F401  (which makes its environments known to Gymnasium)

from seads.envs import wrap

ARM = 19
"""Numbers of an observation that are about the arm; then come four for each button."""
STEP_LIMIT = 50
"""Steps of a skill: twice what the way from one corner of the board to the other takes."""


def phi(observation):
    """Which buttons are lit: each tells [it is not, it is, how far pressed, how fast]."""
    return observation[ARM:].reshape(-1, 4)[:, 1]


def make(size):
    """Random boards and arm poses, and no end: skills follow each other without a reset."""
    return gymnasium.make(
        f"puzzle-{size}-v0",
        mode="data_collection",
        terminate_at_goal=False,
        max_episode_steps=-1,
        disable_env_checker=True,
    )


def factory(num_envs, size="4x4", vectorise="processes"):
    """What `seads train` learns on; pressing each button is one effect."""
    rows, columns = size.split("x")
    return wrap(
        partial(make, size),
        phi,
        num_envs,
        step_limit=STEP_LIMIT,
        num_moves=int(rows) * int(columns),
        vectorise=vectorise,
        name=f"puzzle-{size}",
    )


class Task(gymnasium.Wrapper):
    """The benchmark's own episode: its task, its limit of 500 steps, its verdict."""

    task_id, success = 1, False

    def reset(self, *, seed=None, options=None):
        self.success = False
        return self.env.reset(seed=seed, options={"task_id": self.task_id})

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.success = bool(info["success"])
        return observation, reward, terminated, truncated, info

    @property
    def goal(self):
        return self.unwrapped.task_infos[self.task_id - 1]["goal_button_states"].astype(bool)


def make_task(size):
    """An environment that plays the benchmark's tasks."""
    return Task(gymnasium.make(f"puzzle-{size}-v0", disable_env_checker=True))


def run_tasks(agent, episodes=20, num_envs=4, seed=0, max_skills=1000):
    """The benchmark: which of the episodes of each of the five tasks the agent solves."""
    # Not at the top: worker processes import this module and need nothing of it.
    from seads.solving import Solver, Solving
    from seads.streams import row_seeds

    size = agent.env_options.get("size", "4x4")
    make_one = partial(make_task, size)
    with closing(wrap(make_one, phi, num_envs, step_limit=STEP_LIMIT, vectorise="threads")) as env:
        rows = env.environments
        tasks = [task["init_button_states"] for task in rows[0].unwrapped.task_infos]
        # So many skills never fit into the benchmark's own limit, which is the only one then.
        solver = Solver(agent, np.array(tasks, bool), Solving(max_skills=max_skills))
        queue = np.repeat(np.arange(1, len(tasks) + 1), episodes)
        seeds = row_seeds(seed, len(queue))
        solved = []
        for first in range(0, len(queue), num_envs):
            # The last round may have fewer episodes than rows: repeat some and drop them again.
            picked = np.resize(np.arange(first, min(first + num_envs, len(queue))), num_envs)
            for row, task_id in zip(rows, queue[picked], strict=True):
                row.task_id = int(task_id)
            goals = np.array([row.goal for row in rows])
            solver.executor(env, agent, seeds[picked], goals).run()
            solved += [row.success for row in rows[: len(set(picked.tolist()))]]
    return np.reshape(solved, (len(tasks), episodes))


def main():
    parser = argparse.ArgumentParser(description="OGBench's five puzzle tasks, with replanning")
    parser.add_argument("run", help="a run on ogbench_puzzle:factory, or an agent of agents/")
    parser.add_argument("--episodes", type=int, default=20, help="episodes of each task")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from seads import load

    solved = run_tasks(load(options.run), options.episodes, seed=options.seed)
    for task, episodes in enumerate(solved, 1):
        print(f"task {task}: {episodes.sum()} of {len(episodes)} episodes")
    print(f"all tasks: {solved.mean():.1%} of {solved.size} episodes")


if __name__ == "__main__":
    main()
