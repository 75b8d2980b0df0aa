"""LightsOut: rules, tiles, symbols and text."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seads.errors import SeadsError
from seads.games import NO_MOVE, LightsOut
from seads.games.lights_out_depths import press_solver
from seads.streams import row_seeds, uniforms


def random_boards(size: int, rows: int, seed: int = 0) -> np.ndarray:
    return (uniforms(row_seeds(seed, rows), size * size) < 0.5).astype(np.uint8)


boards_of_any_size = st.integers(2, 7).flatmap(
    lambda size: st.lists(st.integers(0, 1), min_size=size**2, max_size=size**2)
)


def game_and_board(fields: list[int]) -> tuple[LightsOut, np.ndarray]:
    return LightsOut(round(len(fields) ** 0.5)), np.array(fields, np.uint8)


@given(boards_of_any_size, st.data())
def test_presses_commute_and_undo_themselves(fields, data):
    game, board = game_and_board(fields)
    first, second = (data.draw(st.integers(0, game.num_moves - 1)) for _ in range(2))

    def press(*moves):
        boards = board[None]
        for move in moves:
            boards = game.play(boards, np.array([move]))
        return boards[0].tolist()

    assert press(first, second) == press(second, first)
    assert press(first, first) == board.tolist()
    assert press(first) != board.tolist()
    assert press(NO_MOVE) == board.tolist()


def test_press_toggles_a_plus_shape():
    game = LightsOut()
    boards = game.play(np.tile(game.goal, (3, 1)), np.array([0, 12, 22]))
    lit = [np.flatnonzero(board).tolist() for board in boards]
    assert lit == [[0, 1, 5], [7, 11, 12, 13, 17], [17, 21, 22, 23]]
    assert not game.goal.any()


@given(boards_of_any_size)
def test_bits_and_text_round_trip(fields):
    game, board = game_and_board(fields)
    bits = game.to_bits(board[None])
    assert bits.dtype == bool
    assert bits.shape == (1, game.num_bits)
    assert (game.from_bits(bits)[0] == board).all()
    for text in (game.format(board), game.canonical(board)):
        assert (game.parse(text) == board).all()


@pytest.mark.parametrize(
    "text", ["10 01", "1,0,0,1", "1001", "#..#", "10\n01\n", "#./01", " 10 / 01 / "]
)
def test_parse_reads_what_people_type(text):
    assert LightsOut(2).parse(text).tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10/2 1", "'2' at position 4"),
        ("", "found 0 fields"),
        ("101", "found 3 fields"),
        ("1000/0100", "found 8 fields; a 2x2 board has 4"),
        ("100/1", "row 1 has 3 fields; each row has 2"),
        ("1٠01", "at position 2"),
    ],
)
def test_parse_says_what_is_wrong(text, message):
    with pytest.raises(SeadsError, match=message):
        LightsOut(2).parse(text)


def test_format_is_a_grid():
    assert LightsOut(2).format(np.array([1, 0, 0, 1], np.uint8)) == "# .\n. #"


GEOMETRIES = [
    {"size": 5},
    {"size": 2},
    {"size": 5, "tile_width": 1 / 13},
    {"size": 5, "tile_width": 1 / 13, "relative_spacing": 1.0},
    {"size": 9, "tile_width": 1 / 13, "relative_spacing": 0.5},
    {"size": 13, "tile_width": 1 / 13, "relative_spacing": 1.0},
]


@pytest.mark.parametrize("options", GEOMETRIES)
def test_a_tile_is_pressed_inside_its_edges_only(options):
    game = LightsOut(**options)
    half = game.tile_width / 2
    middles = np.array([game.point_of(move) for move in range(game.num_moves)])
    moves = np.arange(game.num_moves)
    boards = np.tile(game.goal, (game.num_moves, 1))
    for dx, dy in itertools.product((-0.999 * half, 0.999 * half), repeat=2):
        assert (game.move_at(middles + np.array([dx, dy]), boards) == moves).all()
    for shift in ((1.001 * half, 0), (-1.001 * half, 0), (0, 1.001 * half), (0, -1.001 * half)):
        assert (game.move_at(middles + shift, boards) != moves).all()


def test_tiles_of_a_spaced_board_lie_where_documented():
    packed = LightsOut(5, tile_width=1 / 13)
    spread = LightsOut(5, tile_width=1 / 13, relative_spacing=1.0)
    points = np.array([[4.5 / 13, 4.5 / 13], [0.5 / 13, 0.5 / 13], [1, 1], [0, 1], [2 / 13, 0.01]])
    boards = np.tile(packed.goal, (5, 1))
    assert packed.move_at(points, boards).tolist() == [0, -1, -1, -1, -1]
    assert spread.move_at(points, boards).tolist() == [-1, 0, 24, 20, -1]
    # one tile, one gap of 8/13 / 4 = 2/13, the next tile
    assert spread.point_of(1) == pytest.approx((3.5 / 13, 0.5 / 13))


@pytest.mark.parametrize("spacing", [0.0, 0.3, 1.0])
def test_thirteen_tiles_leave_nothing_to_spread(spacing):
    game, full = LightsOut(13, 1 / 13, spacing), LightsOut(13)
    points = uniforms(row_seeds(0, 2000), 2)
    boards = np.tile(game.goal, (2000, 1))
    moves = game.move_at(points, boards)
    assert (moves == full.move_at(points, boards)).all()
    assert (moves >= 0).all()


def test_whole_board_is_closed_and_nothing_lies_beyond():
    game = LightsOut()
    points = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [-0.01, 0.5], [0.5, 1.01], [np.nan, 0.5]])
    points = np.vstack([points, [np.inf, 0.5], [np.nan, np.nan]])
    moves = game.move_at(points, np.tile(game.goal, (len(points), 1)))
    assert moves.tolist() == [0, 4, 20, 24, -1, -1, -1, -1, -1]


def test_a_border_belongs_to_the_later_tile():
    game = LightsOut()
    borders = np.array([0.2, 0.4, 0.6, 0.8])
    sideways = np.stack([borders, np.full(4, 0.1)], axis=1)
    boards = np.tile(game.goal, (4, 1))
    assert game.move_at(sideways, boards).tolist() == [1, 2, 3, 4]
    assert game.move_at(sideways[:, ::-1], boards).tolist() == [5, 10, 15, 20]


def test_half_fields_switch_on_above_and_off_below():
    game = LightsOut(half_fields=True)
    x, y = game.point_of(7)
    points = np.array([[x, y - 0.05], [x, y + 0.05]] * 2)
    boards = np.zeros((4, 25), np.uint8)
    boards[2:, 7] = 1
    assert game.move_at(points, boards).tolist() == [7, NO_MOVE, NO_MOVE, 7]
    for board in random_boards(5, 5):
        points = np.array([game.point_of(move) for move in range(25)])
        points[:, 1] += np.where(board == 1, 0.05, -0.05)
        assert game.move_at(points, np.tile(board, (25, 1))).tolist() == list(range(25))


@pytest.mark.parametrize(
    "options",
    [
        {"size": 1},
        {"size": 65},
        {"relative_spacing": -0.1},
        {"relative_spacing": 1.1},
        {"relative_spacing": float("nan")},
        {"tile_width": 0.21},
        {"tile_width": 0.0},
        {"tile_width": float("nan")},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(SeadsError, match=next(iter(options)).split("_")[-1]):
        LightsOut(**options)


def test_moves_that_do_not_exist_are_refused():
    game = LightsOut()
    for wrong in (-2, 25):
        with pytest.raises(SeadsError, match=f"move {wrong} does not exist; moves are 0 to 24"):
            game.play(game.goal[None], np.array([wrong]))
    for ask in (game.point_of, game.move_name):
        for wrong in (-1, 25):
            with pytest.raises(SeadsError, match=f"move {wrong} does not exist"):
                ask(wrong)
    assert game.move_name(7) == "press row 2, column 3"


def test_bits_of_another_board_are_refused():
    with pytest.raises(SeadsError, match="25 fields, not 24"):
        LightsOut().from_bits(np.zeros((1, 24), bool))


# Solutions


def breadth_first_depths(size: int) -> dict[tuple[int, ...], int]:
    game = LightsOut(size)
    depths = {tuple(game.goal.tolist()): 0}
    frontier = game.goal[None]
    while len(frontier):
        moves = np.tile(np.arange(game.num_moves), len(frontier))
        after = game.play(np.repeat(frontier, game.num_moves, axis=0), moves)
        depth = depths[tuple(frontier[0].tolist())] + 1
        new = {tuple(b) for b in after.tolist()} - depths.keys()
        depths |= dict.fromkeys(new, depth)
        frontier = np.array(sorted(new), np.uint8)
    return depths


@pytest.mark.parametrize("size", [2, 3, 4])
def test_depths_match_breadth_first_search(size):
    game, depths = LightsOut(size), breadth_first_depths(size)
    every = ((np.arange(2**size**2)[:, None] >> np.arange(size**2)) & 1).astype(np.uint8)
    expected = [depths.get(tuple(board), -1) for board in every.tolist()]
    assert game.depth(every).tolist() == expected
    counts = np.bincount(list(depths.values())).tolist()
    assert list(game.depth_counts().values()) == counts


@pytest.mark.parametrize("size", [5, 7, 9, 13])
def test_solutions_solve_and_are_no_longer_than_the_scramble(size):
    game = LightsOut(size)
    scrambles = random_boards(size, 20, seed=size)
    scrambles[:5] &= random_boards(size, 5, seed=99)
    boards = (scrambles @ game._effects[:-1]) & 1
    presses = press_solver(size).presses(boards)
    assert ((presses @ game._effects[:-1] & 1) == boards).all()
    assert (presses.sum(1) <= scrambles.sum(1)).all()
    assert (game.depth(boards) == presses.sum(1)).all()
    board = boards[:1]
    for move in game.solve(boards[0]):
        board = game.play(board, np.array([move]))
    assert not board.any()
    assert len(game.solve(boards[0])) == game.depth(boards[:1])[0]


def test_unsolvable_boards_are_called_so():
    game = LightsOut()
    board = game.goal.copy()
    board[0] = 1
    assert game.depth(board[None])[0] == -1
    assert not game.solvable(board)
    for ask in (lambda b: game.check_reachable(b, game.goal), game.solve):
        with pytest.raises(SeadsError, match=r"#\.+/.*: only one in 4 of all 5x5 LightsOut boards"):
            ask(board)
    pressed = game.play(game.goal[None], np.array([3]))[0]
    assert game.solvable(pressed)
    game.check_reachable(pressed, game.goal)
    # One unsolvable board may well lead to another.
    game.check_reachable(board, game.play(board[None], np.array([3]))[0])
    with pytest.raises(SeadsError, match=r"no presses lead from board \.+.* to goal #"):
        game.check_reachable(game.goal, board)
    assert (LightsOut(7).depth(random_boards(7, 50)) >= 0).all()


def test_depths_need_few_quiet_patterns():
    with pytest.raises(SeadsError, match="LightsOut 30x30: 20 independent quiet patterns"):
        LightsOut(30).depth(np.zeros((1, 900), np.uint8))
