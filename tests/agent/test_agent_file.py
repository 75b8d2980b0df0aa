"""An agent on disk: the same agent after a round trip, a sentence where it is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from seads.agent.arrays import read_arrays, to_arrays, write_arrays
from seads.agent.card import find, packaged
from seads.agent.model_kinds import make_model
from seads.agent.networks import make_policy
from seads.envs import make_env
from seads.errors import SeadsError
from seads.solving import Agent, Architecture, load


def small_agent(algorithm: str = "seads", model: str = "network") -> Agent:
    architecture = Architecture(algorithm, 28, 3, 25, 25, (4, 5), (6,), model)
    return Agent(
        "lightsout-cursor",
        {"observation": "raw"},
        architecture,
        {"env_steps": 7, "seed": 3},
        make_policy(28 + 25, 3, (4, 5), jax.random.key(1)),
        make_model(algorithm, model, 25, 25, (6,), jax.random.key(2), learns=False),
    )


def test_what_a_policy_does_not_see_is_remembered(tmp_path: Path) -> None:
    architecture = Architecture("seads", 28, 3, 25, 25, (4, 5), (6,), policy_sees_symbol=False)
    assert architecture.unseen == (2, 27)
    policy = make_policy(28 + 25, 3, (4, 5), jax.random.key(1), architecture.unseen)
    replace(small_agent(), architecture=architecture, policy=policy).save(tmp_path)
    again = load(tmp_path).policy
    seen = np.random.default_rng(0).normal(size=(3, 53)).astype(np.float32)
    other = seen.copy()
    other[:, 2:27] += 1.0
    np.testing.assert_array_equal(again(seen)[0], again(other)[0])
    other[:, 27] += 1.0  # the remaining time
    assert (np.asarray(again(seen)[1]) != np.asarray(again(other)[1])).any()


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [("seads", "network"), ("seads", "linear"), ("seads", "table"), ("vic", "network")],
)
@pytest.mark.parametrize("place", ["", "agent"])
def test_round_trip(algorithm: str, model: str, place: str, tmp_path: Path) -> None:
    agent = small_agent(algorithm, model)
    agent.save(tmp_path / place)
    again = load(tmp_path)
    assert (again.env, again.env_options) == (agent.env, agent.env_options)
    assert again.architecture == agent.architecture
    assert again.card["env_steps"] == 7
    ours, theirs = (to_arrays((one.policy, one.model)) for one in (agent, again))
    assert ours.keys() == theirs.keys()
    assert all((ours[name] == theirs[name]).all() for name in ours)
    assert type(again.model) is type(agent.model)


def test_an_agent_is_json_and_arrays_and_nothing_else(tmp_path: Path) -> None:
    small_agent().save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"card.json", "weights.safetensors"}
    header = (tmp_path / "weights.safetensors").read_bytes()
    size = int.from_bytes(header[:8], "little")
    names = json.loads(header[8 : 8 + size])  # safetensors: a JSON header, then plain numbers
    assert (
        names.keys() - {"__metadata__"}
        == to_arrays((small_agent().policy, small_agent().model)).keys()
    )


def test_an_agent_that_cannot_be_written_leaves_the_old_one_and_nothing_else(
    tmp_path: Path,
) -> None:
    small_agent().save(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(TypeError):
        replace(small_agent("vic"), card={"seed": object()}).save(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def scribble(path: Path) -> None:
    path.write_bytes(b"\xff" * 64)


def forget_one(path: Path) -> None:
    arrays = read_arrays(path)
    arrays.popitem()
    write_arrays(path, arrays)


def reshape_one(path: Path) -> None:
    arrays = read_arrays(path)
    name = next(iter(arrays))
    write_arrays(path, arrays | {name: np.zeros(3, np.float32)})


def pickled(path: Path) -> None:
    # protocol 0 of a pickle that would call os.system: must be refused, not run
    path.write_bytes(b"cos\nsystem\n(S'touch " + str(path.parent / "ran").encode() + b"'\ntR.")


@pytest.mark.parametrize("damage", [cut, scribble, forget_one, reshape_one, pickled, Path.unlink])
def test_damaged_weights_are_a_sentence(damage: Any, tmp_path: Path) -> None:
    small_agent().save(tmp_path)
    damage(tmp_path / "weights.safetensors")
    with pytest.raises(SeadsError):
        load(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (b"{", "is not an agent's card"),
        (b"[]", "is not an agent's card"),
        (b"{}", "is not an agent's card"),
        (b"\xff\xfe\xfa", "is not an agent's card"),
        (b'{"format": 1, "architecture": []}', "is not an agent's card"),
        (b'{"format": 2}', "has format 2; this version of seads reads format 1"),
    ],
)
def test_a_card_that_is_none(card: bytes, words: str, tmp_path: Path) -> None:
    small_agent().save(tmp_path)
    (tmp_path / "card.json").write_bytes(card)
    with pytest.raises(SeadsError) as error:
        load(tmp_path)
    assert words in str(error.value)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(SeadsError, match=r"holds no trained agent: .*`seads train ENV` makes one"):
        find(tmp_path)
    with pytest.raises(SeadsError, match="unknown run or agent"):
        find(tmp_path / "nowhere")


def test_a_run_before_its_first_checkpoint_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(SeadsError) as error:
        load(tmp_path)
    assert str(error.value).startswith(f"{tmp_path} holds no trained agent yet")
    assert str(error.value).endswith(f"`seads train --resume {tmp_path}`")


def test_a_directory_of_runs_names_them(tmp_path: Path) -> None:
    for name in ("b", "a"):
        small_agent().save(tmp_path / name / "agent")
    (tmp_path / "c").mkdir()
    with pytest.raises(SeadsError) as error:
        load(tmp_path)
    assert str(error.value).endswith(f"choose from {tmp_path / 'a'}, {tmp_path / 'b'}")


def test_packaged_agents_load_by_name() -> None:
    for name in packaged():
        agent = load(name)
        agent.check_fits(make_env(agent.env, 1, **agent.env_options).spec)


def test_an_agent_for_another_environment() -> None:
    agent = small_agent()
    agent.check_fits(make_env("lightsout-cursor", 1).spec)
    with pytest.raises(SeadsError, match="does not fit 'tileswap-cursor': observation_size is 84"):
        agent.check_fits(make_env("tileswap-cursor", 1).spec)
