from __future__ import annotations

import numpy as np
import pytest
from tests.planning.exact_network import exact_network
from tests.planning.planning_models import Faulty, Table, every_state, goal_bits, half_fields

from seads.games import make_game
from seads.planning import RulesModel, compile_model, operator_rows
from seads.planning.affine import PackedAffine, Preimages
from seads.planning.compile import walk
from seads.planning.packed import pack, unpack

RNG = np.random.default_rng


@pytest.mark.parametrize(
    ("name", "size", "flips"),
    [("lightsout", 5, True), ("tileswap", 3, False), ("lightsout", 9, True)],
)
def test_operators_equal_the_network_and_the_rules(name, size, flips):
    game = make_game(name, size=size)
    rules, goal = RulesModel(game), goal_bits(game)
    by_rules = compile_model(rules, goal[None])
    network = exact_network(by_rules)
    compiled = compile_model(network, goal[None], seed=1)
    states = walk(rules, goal[None], 400, RNG(5))
    expected = rules.successors(states)
    np.testing.assert_array_equal(network.successors(states), expected)
    np.testing.assert_array_equal(compiled.successors(states), expected)
    assert compiled.all_flips is flips
    assert compiled.invertible
    assert compiled.exact
    assert compiled.opaque == ()


def test_half_fields_compile_to_conditional_flips():
    model = half_fields(3)
    goal = np.zeros(9, bool)
    compiled = compile_model(model, goal[None])
    assert compiled.opaque == ()
    assert compiled.exact
    assert compiled.invertible
    rows = operator_rows(compiled)
    assert str(rows[0]) == "skill 0 flips 0, 1, 3 if 0 is off"
    assert str(rows[9]) == "skill 9 flips 0, 1, 3 if 0 is on"
    assert {row.kind for row in rows} == {"flips if"}
    every = every_state(9)
    np.testing.assert_array_equal(compiled.successors(every), model.successors(every))


def test_a_conjunction_stays_opaque_and_the_rest_compiles():
    def step(state, skill):
        if skill == 0:
            state[3] ^= state[0] & state[1]
        else:
            state[skill - 1] ^= True
        return state

    model = Table(6, 7, step)
    compiled = compile_model(model, np.zeros((1, 6), bool))
    assert compiled.opaque == (0,)
    every = every_state(6)
    np.testing.assert_array_equal(compiled.successors(every), model.successors(every))
    assert operator_rows(compiled)[0].kind == "opaque"


def test_any_parity_is_found():
    def step(state, skill):
        if skill == 0:
            state[0] ^= state[1] ^ state[2] ^ state[4] ^ True
        else:
            state[skill - 1] ^= True
        return state

    model = Table(6, 7, step)
    compiled = compile_model(model, np.zeros((1, 6), bool))
    assert compiled.opaque == ()
    text = str(operator_rows(compiled)[0])
    assert text == "skill 0 flips 0 if an even number of 1, 2, 4 is on"
    every = every_state(6)
    np.testing.assert_array_equal(compiled.successors(every), model.successors(every))


def test_rare_mistakes_of_the_model_do_not_hide_the_rule():
    game = make_game("lightsout", size=4)
    rules, goal = RulesModel(game), goal_bits(game)
    wrong = RNG(0).random((2**16, 16)) < 0.003
    states = every_state(16)
    faults = {(states[row].tobytes(), int(skill)) for row, skill in np.argwhere(wrong)}
    clean = compile_model(rules, goal[None])
    noisy = compile_model(Faulty(rules, faults), goal[None])
    for skill, operator in clean.operators.items():
        np.testing.assert_array_equal(noisy.operators[skill].always, operator.always)
        assert noisy.operators[skill].is_flip
    assert noisy.all_flips
    assert not noisy.exact


def test_swaps_and_empty_skills_are_named():
    game = make_game("tileswap", size=2)
    compiled = compile_model(RulesModel(game), goal_bits(game)[None])
    row = operator_rows(compiled, name_bit=lambda b: f"chip {b // 4} on {b % 4}")[0]
    assert row.kind == "exchanges"
    assert row.agreement == 1.0
    assert row.effect.startswith("exchanges chip 0 on 0 and chip 0 on 1, chip 1 on 0 and")
    idle = compile_model(Table(4, 2, lambda state, skill: state), np.zeros((1, 4), bool))
    assert [str(row) for row in operator_rows(idle)] == [
        "skill 0 does nothing",
        "skill 1 does nothing",
    ]


@pytest.mark.parametrize(("bits", "density"), [(9, 0.5), (81, 0.02), (169, 0.5), (130, 0.003)])
def test_packed_affine_maps_and_their_preimages(bits, density):
    rng = np.random.default_rng(bits)
    matrix = (rng.random((bits, bits)) < density) ^ np.eye(bits, dtype=bool)
    constant = rng.random(bits) < 0.5
    states = rng.random((64, bits)) < 0.5
    expected = ((states.astype(int) @ matrix.T.astype(int)) % 2).astype(bool) ^ constant
    forward = PackedAffine(matrix, constant)
    np.testing.assert_array_equal(unpack(forward(pack(states)), bits), expected)
    preimages = Preimages(matrix, constant)
    if preimages.enumerable:
        found, rows = preimages(pack(expected))
        assert len(found) == 64 * 2**preimages.kernel_size
        np.testing.assert_array_equal(forward(found), pack(expected)[rows])
        for row, state in enumerate(pack(states)):
            assert (found[rows == row] == state).all(axis=1).any()


@pytest.mark.parametrize("offset", [1, 40, 64, 70, -3, -64, -90])
def test_maps_of_few_diagonals(offset):
    rng = np.random.default_rng(0)
    matrix = np.diag(np.ones(150 - abs(offset), bool), offset)
    states = rng.random((20, 150)) < 0.5
    expected = (states.astype(int) @ matrix.T.astype(int)).astype(bool)
    image = PackedAffine(matrix, np.zeros(150, bool))(pack(states))
    np.testing.assert_array_equal(unpack(image, 150), expected)


def test_preimages_of_a_state_nothing_leads_to():
    matrix = np.diag([True, True, False])
    nothing, _ = Preimages(matrix, np.zeros(3, bool))(pack(np.array([[1, 0, 1]], bool)))
    assert len(nothing) == 0
    both, rows = Preimages(matrix, np.zeros(3, bool))(pack(np.array([[1, 0, 0]], bool)))
    assert sorted(both[:, 0].tolist()) == [1, 5]
    assert rows.tolist() == [0, 0]
