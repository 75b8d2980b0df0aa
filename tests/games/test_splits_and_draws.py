"""The paper's board sets, the CRC32 split, and start boards drawn from both."""

import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seads.commands.envs import Options as EnvsOptions
from seads.commands.envs import run as run_envs
from seads.errors import SeadsError
from seads.games import Game, LightsOut, Split, TileSwap, make_game
from seads.games.splits import canonical
from seads.streams import row_seeds, uniforms

# paper, table of feasible boards by solution depth from 1
LIGHTS_OUT = [25, 300, 2300, 12650, 53130, 176176, 467104, 982335]
LIGHTS_OUT += [1596279, 1935294, 1684446, 1004934, 383670, 82614, 7350]
TILE_SWAP = [12, 88, 470, 1978, 6658, 18081, 38936, 65246]
TILE_SWAP += [83000, 76688, 48316, 18975, 4024, 382, 24, 1]
# paper, table of the splits' sizes for depths 1 to 5
SPLITS = {
    ("lightsout", "train"): [7, 99, 785, 4200, 17849],
    ("lightsout", "test"): [18, 201, 1515, 8450, 35281],
    ("tileswap", "train"): [7, 31, 179, 683, 2237],
    ("tileswap", "test"): [5, 57, 291, 1295, 4421],
}


@pytest.mark.parametrize(("game", "counts"), [(LightsOut(), LIGHTS_OUT), (TileSwap(), TILE_SWAP)])
def test_board_counts_are_the_papers(game, counts):
    assert list(game.depth_counts().values()) == [1, *counts]
    assert game.max_depth == len(counts)


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_split_sizes_are_the_papers(name, split):
    game = LightsOut() if name == "lightsout" else TileSwap()
    counts = game.depth_counts(split)
    assert [counts[depth] for depth in range(1, 6)] == SPLITS[name, split]


def test_a_command_prints_both_tables(capsys):
    found = {one["game"]: one["boards"] for one in run_envs(EnvsOptions(boards=True))}
    for name, counts in (("lightsout", LIGHTS_OUT), ("tileswap", TILE_SWAP)):
        assert list(found[name]["all"].values()) == counts
        for split in ("train", "test"):
            assert list(found[name][split].values())[:5] == SPLITS[name, split]
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["5", "53,130", "17,849", "35,281"] in rows
    assert ["16", "1", "1", "0"] in rows


@pytest.mark.parametrize(
    "game", [LightsOut(2), LightsOut(5), LightsOut(13), TileSwap(2), TileSwap(3), TileSwap(4)]
)
def test_split_is_crc32_of_the_canonical_string(game):
    noise = uniforms(row_seeds(2, 300), game.num_fields)
    values = noise.argsort(1) if game.name == "tileswap" else noise < 0.5
    boards = values.astype(np.uint8)
    expected = [zlib.crc32(game.canonical(board).encode()) for board in boards]
    assert game._split_hash.crc(boards).tolist() == expected
    train = np.array(expected) % 3 == 0
    assert (game.in_split(boards, "train") == train).all()
    assert (game.in_split(boards, "test") == ~train).all()
    assert game.in_split(boards, "all").all()


def test_canonical_strings_are_the_papers():
    assert canonical(np.array([1, 1, 0], np.uint8)) == "1,1,0"
    assert TileSwap(4).canonical(TileSwap(4).goal).endswith("9,10,11,12,13,14,15")


GAMES = [LightsOut(), LightsOut(4), TileSwap(), LightsOut(7), LightsOut(9), TileSwap(4)]


@pytest.mark.parametrize("split", ["train", "test", "all"])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.name}{game.size}")
def test_draws_have_the_depth_and_split_asked_for(game, split):
    depths = np.arange(200) % 5 + 1
    boards = game.draw(depths, split, row_seeds(0, 200))
    assert boards.dtype == np.uint8
    assert boards.shape == (200, game.num_fields)
    assert game.in_split(boards, split).all()
    if game.name == "lightsout" and game.size > 5:
        assert (game.depth(boards) <= depths).all()
        assert (game.depth(boards)[depths == 1] == 1).all()
    elif game.name == "lightsout" or game.size <= 3:
        assert (game.depth(boards) == depths).all()


@given(st.integers(0, 2**32), st.integers(0, 199), st.sampled_from(GAMES))
def test_a_row_does_not_depend_on_the_others(seed, row, game):
    depths = np.arange(200) % 5 + 1
    seeds = row_seeds(seed, 200)
    boards = game.draw(depths, "train", seeds)
    alone = game.draw(depths[row : row + 1], "train", seeds[row : row + 1])
    assert (alone[0] == boards[row]).all()
    assert len(np.unique(boards, axis=0)) > 50


@pytest.mark.parametrize("split", ["train", "test", "all"])
@pytest.mark.parametrize("game", [LightsOut(), TileSwap(), LightsOut(7)])
def test_draws_are_uniform(game, split):
    rows = 60_000
    depth = 1 if game.size == 7 else 2
    boards = game.draw(np.full(rows, depth), split, row_seeds(5, rows))
    counts = np.unique(boards, axis=0, return_counts=True)[1]
    if game.size != 7:
        assert len(counts) == game.depth_counts(split)[2]
    expected = rows / len(counts)
    freedom = len(counts) - 1
    chi_square = ((counts - expected) ** 2 / expected).sum()
    # six standard deviations: one board missing or counted twice is hundreds of them
    assert chi_square < freedom + 6 * np.sqrt(2 * freedom)


def test_large_boards_press_that_many_distinct_fields():
    # 13x13 has no quiet patterns, so a board tells which fields were pressed
    game = LightsOut(13)
    depths = np.array([0, 1, 5, 40, 168])
    assert (game.depth(game.draw(depths, "all", row_seeds(0, 5))) == depths).all()
    assert game.max_depth == 169


@pytest.mark.parametrize(
    ("game", "split", "depth", "message"),
    [
        (LightsOut(), "all", 16, "depth 16; choose from 0, 1, .*, 15"),
        (LightsOut(), "all", -1, "depth -1; choose from 0, 1"),
        (LightsOut(), "train", 0, "depth 0; choose from 1, 2"),
        (TileSwap(), "test", 0, "depth 0; choose from 1, 2"),
        (TileSwap(), "test", 16, "depth 16; choose from 1, .*, 15$"),
        (LightsOut(7), "all", 50, "depth 50 is not possible on this board; choose from 0 to 49"),
        (LightsOut(7), "all", -1, "depth -1"),
    ],
)
def test_impossible_draws_are_refused(game: Game, split: Split, depth: int, message: str) -> None:
    with pytest.raises(SeadsError, match=message):
        game.draw(np.array([1, depth]), split, row_seeds(0, 2))


def test_large_board_draw_ends_where_the_set_is_empty():
    game = LightsOut(7)
    empty: Split = "test" if game.in_split(game.goal[None], "train")[0] else "train"
    with pytest.raises(SeadsError, match="is 0 distinct moves from the goal"):
        game.draw(np.array([0]), empty, row_seeds(0, 1))


def test_no_rows_are_no_boards():
    for game in (LightsOut(), TileSwap(), LightsOut(7)):
        assert game.draw(np.zeros(0, int), "all", row_seeds(0, 0)).shape == (0, game.num_fields)


# In a process of its own: there the annotations are not checked, as for a user.
WRONG_TYPES = """
import numpy as np
from seads.games import LightsOut, TileSwap
from seads.streams import row_seeds
one, two, depths = row_seeds(0, 1), row_seeds(0, 2), np.array([1, 2])
for ask in (
    lambda: LightsOut(2.5),
    lambda: TileSwap("3"),
    lambda: LightsOut().draw(depths, "validation", two),
    lambda: LightsOut(7).draw(depths, "validation", two),
    lambda: TileSwap().in_split(TileSwap().goal[None], "validation"),
    lambda: TileSwap().depth_counts("validation"),
    lambda: LightsOut().draw(depths, "all", one),
    lambda: LightsOut(7).draw(depths, "all", one),
):
    try:
        ask()
    except ValueError as error:
        print(error)
    else:
        print("accepted")
"""


def test_inputs_of_the_wrong_type_are_refused():
    done = subprocess.run(
        [sys.executable, "-c", WRONG_TYPES], capture_output=True, text=True, check=True
    )
    split = "unknown split 'validation'; choose from train, test, all"
    shapes = "a draw needs a depth and a seed for each row, not shapes (2,) and (1,)"
    size = "board size {} is not a whole number"
    expected = [size.format("2.5"), size.format("'3'"), *[split] * 4, *[shapes] * 2]
    assert done.stdout.splitlines() == expected


def test_names_and_options_of_games():
    assert make_game("lightsout", size=7).num_moves == 49
    with pytest.raises(SeadsError, match=r"did you mean 'lightsout'.*lightsout, tileswap"):
        make_game("lights-out")
    with pytest.raises(SeadsError, match="unknown game 'chess'; choose from lightsout, tileswap"):
        make_game("chess")
    with pytest.raises(
        SeadsError, match="lightsout has no option 'sice'; choose from size, tile_width"
    ):
        make_game("lightsout", sice=3)


def test_importing_games_computes_nothing():
    code = (
        "import seads.games.lights_out_depths as l, seads.games.tile_swap as t, sys;"
        "from seads.games import make_game; make_game('lightsout'); make_game('tileswap');"
        "print(l.board_sets.cache_info().currsize, t.all_boards.cache_info().currsize,"
        "'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0", "False"]
