"""What a new game gets for nothing: a few small games that write the abstract methods alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.games.small_games import Ring, RowOfLights

from seads.errors import SeadsError
from seads.games import GAMES, NO_MOVE, Game, LightsOut, TileSwap
from seads.games.look import FieldBox
from seads.games.reachable import MOST_BOARDS
from seads.games.text import grid_rows, read_fields
from seads.show.tables.fixed import fixed_tables
from seads.streams import row_seeds


def boards_of(game: Game) -> np.ndarray:
    """Every board of zeros and ones."""
    codes = np.arange(2**game.num_fields)[:, None]
    return ((codes >> np.arange(game.num_fields)) & 1).astype(np.uint8)


def test_depths_are_exact_where_boards_are_few():
    game = RowOfLights(5)
    every = boards_of(game)
    depths = game.depth(every)
    # Presses add up, so the depth is the fewest of the presses that make the board.
    presses = boards_of(game)
    made = presses @ np.array(
        [game.play(game.goal[None], np.array([m]))[0] for m in range(5)], np.int64
    )
    fewest: dict[tuple[int, ...], int] = {}
    for pressed, board in zip(presses, made & 1, strict=True):
        key = tuple(board.tolist())
        fewest[key] = min(fewest.get(key, 9), int(pressed.sum()))
    assert depths.tolist() == [fewest.get(tuple(board.tolist()), -1) for board in every]
    assert (depths == -1).any(), "an unsolvable board is among them"
    for board, depth in zip(every, depths, strict=True):
        assert game.solvable(board) == (depth >= 0)
        if depth < 0:
            with pytest.raises(SeadsError, match="no moves solve the board"):
                game.solve(board)
            continue
        moves = game.solve(board)
        assert len(moves) == depth
        for move in moves:
            board = game.play(board[None], np.array([move]))[0]
        assert np.array_equal(board, game.goal)


def test_moves_that_do_not_undo_themselves_are_counted_to_the_goal():
    game = Ring(7)
    places = np.arange(7)
    boards = np.eye(7, dtype=np.uint8)[places]
    # One step forward a move, so the place right after the goal is the farthest from it.
    assert game.depth(boards).tolist() == [0, 6, 5, 4, 3, 2, 1]
    assert game.max_depth == 6


@pytest.mark.parametrize("split", ["train", "test", "all"])
def test_start_boards_are_of_the_depth_and_split(split):
    game = RowOfLights(8)
    depths = np.resize(game.depths(split), 60)
    boards = game.draw(depths, split, row_seeds(0, 60))
    assert np.array_equal(game.depth(boards), depths)
    assert game.in_split(boards, split).all()
    counts = game.depth_counts(split)
    assert game.deepest(split) == max(depth for depth, count in counts.items() if count)
    assert game.exact_depths
    assert game.depth_means == "solution depth"
    low, high = game.start_depths
    assert set(range(low, high + 1)) <= set(game.depths("train"))


def test_larger_games_draw_by_moves():
    game = RowOfLights(20)
    assert MOST_BOARDS < 2**20
    assert not game.exact_depths
    assert game.depth_means == "distinct moves from the goal"
    assert (game.max_depth, game.deepest("test")) == (20, 20)
    assert game.depths("test") == [1, 2, 3, 4, 5, 10, 20]
    assert game.start_depths == (1, 5)
    boards = game.draw(np.full(20, 3), "test", row_seeds(0, 20))
    assert game.in_split(boards, "test").all()
    assert game.known_depths(boards) is None
    assert game.solvable(boards[0]), "as far as anybody knows"
    game.check_reachable(boards[0], game.goal)
    for ask in (lambda: game.depth(boards), game.depth_counts, lambda: game.solve(boards[0])):
        with pytest.raises(SeadsError, match=r"not available for row 1x20: .* more than 10,000"):
            ask()


def test_a_game_without_training_boards_says_so():
    with pytest.raises(SeadsError, match="no board of ring falls into the training split"):
        _ = Ring(2).start_depths


def test_words_and_looks_follow_from_shape_and_bits():
    game = RowOfLights(4)
    board = game.parse("#..#")
    assert game.line(board) == "#..#"
    assert np.array_equal(game.parse(game.line(board)), board)
    assert [game.bit_name(bit) for bit in (0, 3)] == ["r1c1", "r1c4"]
    assert game.fields[1] == FieldBox(0.375, 0.5, 0.25, 1.0)
    assert [face.lit for face in game.faces(board)] == [True, False, False, True]
    assert game.mark(2) == game.fields[2]
    assert [game.press(field) for field in range(4)] == [0, 1, 2, 3]
    assert (game.fields_per_edit, game.edit_words) == (1, "fields")
    assert game.line(game.edit(board, 1)) == "##.#"
    assert game.zones == ()
    with pytest.raises(SeadsError, match="field 4 is not there; choose 0 to 3"):
        game.edit(board, 4)
    ring = Ring(5)
    assert (ring.size, ring.touch, ring.solved_word) == (5, "point", "Solved")


def test_its_boards_are_counted_beside_the_papers(monkeypatch):
    class LongRing(Ring):
        def __init__(self):
            super().__init__(20)

    monkeypatch.setitem(GAMES, "row", RowOfLights)
    monkeypatch.setitem(GAMES, "ring", LongRing)
    tables = {table.number: table for table in fixed_tables()}
    for number, deepest in (("S.2", 19), ("S.3", 5)):
        table = tables[number]
        assert table.columns == ("", *map(str, range(1, deepest + 1)))
        assert {len(row) for row in table.rows} == {1 + deepest}
    boards = {row[0]: row[1:] for row in tables["S.2"].rows}
    assert boards["row, here"][:4] == ["5", "7", "3", "0"]
    assert boards["ring, here"] == ["1"] * 19
    assert boards["tileswap, here"][15:] == ["1", "0", "0", "0"]
    assert boards["tileswap, paper"][15:] == ["1", "", "", ""]
    starts = {row[0]: row[1:] for row in tables["S.3"].rows}
    split = np.array([starts[f"row, {one}, here"] for one in ("train", "test")], int)
    assert split.sum(0).tolist() == [5, 7, 3, 0, 0]


def test_moves_are_told_from_states():
    game = RowOfLights(4)
    before = game.to_bits(game.goal[None])[0]
    after = game.to_bits(game.play(game.goal[None], np.array([2])))[0]
    assert game.move_between(before, after) == 2
    assert game.move_between(before, before) is None
    chips = TileSwap()
    with pytest.raises(SeadsError, match="describe no board"):
        chips.move_between(np.zeros(81, bool), np.zeros(81, bool))


def test_the_papers_games_look_as_they_should():
    lights, chips = LightsOut(), TileSwap()
    assert lights.bit_name(7) == "r2c3"
    assert chips.bit_name(3 * 9 + 1) == "3 on r1c2"
    assert [chips.line(chips.goal), TileSwap(4).line(TileSwap(4).goal)[:8]] == [
        "012/345/678",
        "0,1,2,3/",
    ]
    assert [face.chip for face in chips.faces(chips.goal)] == list("012345678")
    assert len(chips.zones) == 12
    for move, outline in enumerate(chips.zones):
        assert np.mean(outline, axis=0).tolist() == pytest.approx(list(chips.point_of(move)))
        inside = 0.99 * np.array(outline) + 0.01 * np.array(chips.point_of(move))
        assert (chips.move_at(inside, np.tile(chips.goal, (4, 1))) == move).all()
    assert chips.mark(0).width == pytest.approx(0.2 / 3)
    assert lights.mark(7) == lights.fields[7]
    assert (lights.fields_per_edit, chips.fields_per_edit) == (1, 2)
    assert chips.edit(chips.goal, 0, 8).tolist() == [8, 1, 2, 3, 4, 5, 6, 7, 0]
    with pytest.raises(SeadsError, match="which other field"):
        chips.edit(chips.goal, 0)
    assert chips.press(4) == NO_MOVE
    assert (lights.solved_word, chips.solved_word) == ("Empty", "In order")
    spaced = LightsOut(5, 1 / 13, 1.0)
    assert spaced.fields[1] == pytest.approx((3.5 / 13, 0.5 / 13, 1 / 13, 1 / 13))
    half = LightsOut(half_fields=True)
    board = half.edit(half.goal, 3)
    assert [face.half for face in half.faces(board)][2:4] == ["upper", "lower"]


def test_known_depths_are_none_where_they_are_not_known():
    game = LightsOut()
    assert game.known_depths(game.goal[None]) is not None
    assert TileSwap(4).known_depths(TileSwap(4).goal[None]) is None
    assert LightsOut(7).depths("test") == [1, 2, 3, 4, 5, 10, 20, 40]
    assert 0 not in game.depths("all")
    assert game.deepest("all") == 15
    assert read_fields("1 0/0 1", (2, 2), lambda word, _: [int(word)]).tolist() == [1, 0, 0, 1]
    assert grid_rows(["1", "10"], 1) == " 1\n10"
