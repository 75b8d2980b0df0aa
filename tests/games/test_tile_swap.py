"""TileSwap: rules, touch places, symbols and text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seads.errors import SeadsError
from seads.games import NO_MOVE, TileSwap
from seads.streams import row_seeds, uniforms

boards_of_any_size = st.integers(2, 5).flatmap(lambda size: st.permutations(range(size**2)))


def game_and_board(chips: list[int]) -> tuple[TileSwap, np.ndarray]:
    return TileSwap(round(len(chips) ** 0.5)), np.array(chips, np.uint8)


@given(boards_of_any_size, st.data())
def test_swaps_undo_themselves_and_move_two_chips(chips, data):
    game, board = game_and_board(chips)
    move = np.array([data.draw(st.integers(0, game.num_moves - 1))])
    after = game.play(board[None], move)
    assert (after[0] != board).sum() == 2
    assert (game.play(after, move)[0] == board).all()
    assert (game.play(board[None], np.array([NO_MOVE]))[0] == board).all()


def test_moves_are_all_neighbours_in_a_fixed_order():
    game = TileSwap()
    after = game.play(np.tile(game.goal, (12, 1)), np.arange(12))
    pairs = [np.flatnonzero(board != game.goal).tolist() for board in after]
    sideways = [[0, 1], [1, 2], [3, 4], [4, 5], [6, 7], [7, 8]]
    downwards = [[0, 3], [1, 4], [2, 5], [3, 6], [4, 7], [5, 8]]
    assert pairs == sideways + downwards
    assert game.move_name(6) == "swap row 1, column 1 with row 2, column 1"
    assert [TileSwap(size).num_moves for size in (2, 4)] == [4, 24]


@given(boards_of_any_size)
def test_bits_and_text_round_trip(chips):
    game, board = game_and_board(chips)
    bits = game.to_bits(board[None])
    assert bits.shape == (1, game.num_bits)
    assert (game.from_bits(bits)[0] == board).all()
    for text in (game.format(board), game.canonical(board)):
        assert (game.parse(text) == board).all()


def test_bits_say_which_chip_lies_where():
    board = np.array([1, 0, 2, 3, 4, 5, 6, 8, 7], np.uint8)
    lit = np.flatnonzero(TileSwap().to_bits(board[None])[0])
    field_of_chip = [1, 0, 2, 3, 4, 5, 6, 8, 7]
    assert lit.tolist() == [chip * 9 + field for chip, field in enumerate(field_of_chip)]
    # a cycle of three tells chips from fields
    cycle = np.array([1, 2, 0, 3, 4, 5, 6, 7, 8], np.uint8)
    assert np.flatnonzero(TileSwap().to_bits(cycle[None])[0])[:3].tolist() == [2, 9, 19]


def test_bits_that_describe_no_board_are_refused():
    game = TileSwap()
    good = game.to_bits(np.tile(game.goal, (2, 1)))
    twice, missing = good.copy(), good.copy()
    twice[1, [0, 1]] = [False, True]  # chips 0 and 1 both on field 1
    missing[1, 0] = False
    spread = good.copy()
    spread[1, [1, 10]] = [True, False]  # chip 0 on fields 0 and 1, chip 1 on none
    for bits in (twice, missing, spread):
        with pytest.raises(SeadsError, match="bits of row 1 describe no board"):
            game.from_bits(bits)


def test_a_touch_swaps_the_nearest_pair_within_half_a_field():
    game = TileSwap()
    middles = np.array([game.point_of(move) for move in range(12)])
    boards = np.tile(game.goal, (12, 1))
    assert middles[0].tolist() == pytest.approx([1 / 3, 1 / 6])
    assert middles[6].tolist() == pytest.approx([1 / 6, 1 / 3])
    reach = 1 / 6
    for share in (0.0, 0.3, 1.0):
        for sign_x in (-1, 1):
            for sign_y in (-1, 1):
                way = np.array([sign_x * share, sign_y * (1 - share)]) * reach
                assert (game.move_at(middles + 0.999 * way, boards) == np.arange(12)).all()
                assert (game.move_at(middles + 1.001 * way, boards) != np.arange(12)).all()


def test_corners_border_triangles_and_points_beyond_do_nothing():
    game = TileSwap()
    near = [[0, 0], [1, 1], [1 / 6, 0.02], [0.02, 0.5], [1 / 3, -0.01], [1.01, 1 / 3]]
    points = np.array([*near, [np.nan, 0.5], [np.inf, 0.5]])
    boards = np.tile(game.goal, (len(points), 1))
    assert (game.move_at(points, boards) == NO_MOVE).all()


def test_share_of_the_board_that_reacts():
    # twelve rhombi of two quarter fields each cover 12 * 2 * (1/36) = 2/3 of the board
    game = TileSwap()
    points = uniforms(row_seeds(3, 20_000), 2)
    moves = game.move_at(points, np.tile(game.goal, (20_000, 1)))
    assert abs((moves >= 0).mean() - 2 / 3) < 0.01
    assert len(np.unique(moves)) == 13


@pytest.mark.parametrize(
    "text", ["102345678", "1 0 2\n3 4 5\n6 7 8", "1,0,2,3,4,5,6,7,8", "102/345/678"]
)
def test_parse_reads_what_people_type(text):
    assert TileSwap().parse(text).tolist() == [1, 0, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("size", "text", "message"),
    [
        (3, "10x345678", "'x' at position 3"),
        (3, "10²345678", "'²' at position 3"),
        (3, "10234567", "found 8 fields; a 3x3 board has 9"),
        (3, "102345679", "chip 9 at position 9 does not exist; chips are 0 to 8"),
        (3, "112345678", "chip 1 lies on 2 fields and chip 0 on none"),
        (3, "10/2345/678", "row 1 has 2 fields"),
        (4, "0 1 16", "chip 16 at position 5"),
        (4, "9" * 5000, "does not exist"),
        (4, "0 1 -2", "'-' at position 5"),
    ],
)
def test_parse_says_what_is_wrong(size, text, message):
    with pytest.raises(SeadsError, match=message):
        TileSwap(size).parse(text)


def test_format_is_an_aligned_grid():
    assert TileSwap(4).format(TileSwap(4).goal).splitlines()[1:3] == [" 4  5  6  7", " 8  9 10 11"]


def test_solutions_are_shortest_and_solve():
    game = TileSwap()
    depths = np.array([0, 1, 3, 5, 9, 16])
    for board, depth in zip(game.draw(depths, "all", row_seeds(1, 6)), depths, strict=True):
        moves = game.solve(board)
        assert len(moves) == depth
        for move in moves:
            board = game.play(board[None], np.array([move]))[0]
        assert (board == game.goal).all()


def test_large_boards_have_no_exact_depths():
    game = TileSwap(4)
    for ask in (lambda: game.depth(game.goal[None]), game.depth_counts):
        with pytest.raises(SeadsError, match="for tileswap 4x4: choose a size of at most 3"):
            ask()


@pytest.mark.parametrize("size", [1, 17])
def test_bad_sizes_are_refused(size):
    with pytest.raises(SeadsError, match="board size"):
        TileSwap(size)


def test_moves_and_boards_that_do_not_exist_are_refused():
    game = TileSwap()
    for wrong in (-2, 12):
        with pytest.raises(SeadsError, match=f"move {wrong} does not exist; moves are 0 to 11"):
            game.play(game.goal[None], np.array([wrong]))
    with pytest.raises(SeadsError, match="chip 0 lies on 9 fields"):
        game.depth(np.zeros((1, 9), np.uint8))
    with pytest.raises(SeadsError, match="9 fields, not 8"):
        game.solvable(game.goal[:8])
    game.check_reachable(game.goal[::-1], game.goal)
    assert game.solvable(game.goal[::-1])
