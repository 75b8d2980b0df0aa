"""Skill maps: paths and touches of skills whose ways are known."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from tests.exact_agent import exact_agent
from tests.show.sample_runs import untrained_agent

from seads.envs import make_env
from seads.envs.registry import lookup
from seads.evaluation.skill_maps import follow_skills


def test_paths_lead_to_the_fields_that_were_taught() -> None:
    agent = exact_agent(presses={3: 4})
    with closing(make_env(agent.env, 25)) as env:
        found = follow_skills(env, agent, starts=4, seed=1).to_json()
    again = found["skills"]
    assert [one["move"] for one in again] == [*range(3), 4, *range(4, 25)]
    assert all(one["share"] == 1.0 for one in again)
    game = lookup(agent.env).make_game()
    for one in again:
        assert len(one["runs"]) == 4
        for run in one["runs"]:
            assert run["path"][-1] == run["touch"]
            assert run["pushes"] == []
            np.testing.assert_allclose(run["touch"], game.point_of(one["move"]), atol=0.1)
    starts = {tuple(one["runs"][0]["path"][0]) for one in again}
    assert len(starts) == 1, "all skills begin at the same start"


@pytest.mark.parametrize("name", ["tileswap-reacher"])
def test_the_tool_of_an_arm_is_followed(name: str) -> None:
    agent = untrained_agent(name)
    with closing(make_env(name, agent.num_skills)) as env:
        found = follow_skills(env, agent, starts=1, seed=0).to_json()
    (run,) = found["skills"][0]["runs"]
    steps = np.abs(np.diff(np.array(run["path"]), axis=0)).max(1)
    assert 0 < steps.max() < 0.2, "an arm moves, and it does not jump"
    assert len(run["path"]) <= env.spec.step_limit + 1
