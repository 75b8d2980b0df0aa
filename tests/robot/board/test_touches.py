"""The host's side: whose board it is, and what of the touches counts."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from seads.errors import SeadsError
from seads.games.game import NO_MOVE, Game
from seads.games.lights_out import LightsOut
from seads.games.tile_swap import TileSwap
from seads.robot.board.messages import read_message
from seads.robot.board.touches import UNREAD_KEPT, BadMessage, Counters, PageReport, TouchBoard

PAGE = "0" * 32


def board_with_page(game: Game | None = None) -> TouchBoard:
    board = TouchBoard(game or LightsOut(5))
    board.join(PageReport(PAGE))
    return board


def test_touches_play_the_game() -> None:
    game = LightsOut(4)
    board = board_with_page(game)
    expected = game.goal[None]
    for number, (x, y) in enumerate(np.random.default_rng(0).random((200, 2))):
        move = game.move_at(np.array([[x, y]]), expected)
        expected = game.play(expected, move)
        board.receive(PAGE, 2 * number + 1, "down", x, y)
        board.receive(PAGE, 2 * number + 2, "up", x, y)
        touch = board.wait_for_touch(0)
        assert touch is not None
        assert (touch.x, touch.y, touch.field, touch.kind) == (x, y, move[0], "down")
        assert np.array_equal(board.board, expected[0])
    assert board.counters == Counters(touches=200)


def test_a_touch_between_the_fields_counts_and_plays_nothing() -> None:
    board = board_with_page(LightsOut(5, tile_width=0.1))
    board.receive(PAGE, 1, "down", 0.0, 0.0)
    assert board.take_touches()[0].field == NO_MOVE
    assert board.counters.touches == 1
    assert not board.board.any()


def test_another_game_is_played_as_well() -> None:
    game = TileSwap(3)
    board = board_with_page(game)
    board.receive(PAGE, 1, "down", *game.point_of(2))
    played = game.play(game.goal[None], np.array([2]))[0]
    assert np.array_equal(board.board, played)
    assert not np.array_equal(board.board, game.goal)


def test_a_second_finger_and_a_cancelled_touch_are_counted_and_play_nothing() -> None:
    board = board_with_page()
    board.receive(PAGE, 1, "down", 0.1, 0.1)
    after_first = board.board
    board.receive(PAGE, 2, "second", 0.9, 0.9)
    board.receive(PAGE, 3, "cancel", 0.1, 0.1)
    assert [touch.kind for touch in board.take_touches()] == ["down", "second", "cancel"]
    assert np.array_equal(board.board, after_first)
    assert board.counters == Counters(touches=1, cancelled=1, dropped=1)


def test_an_event_that_comes_again_is_counted_once() -> None:
    board = board_with_page()
    for number in (1, 1, 2, 1, 2, 3):
        board.receive(PAGE, number, "down", 0.5, 0.5)
    assert board.counters == Counters(touches=3, duplicates=3)
    assert [touch.number for touch in board.take_touches()] == [1, 2, 3]
    with pytest.raises(BadMessage, match="event 5 of a page after 3"):
        board.receive(PAGE, 5, "down", 0.5, 0.5)
    assert board.counters.touches == 3


def test_a_page_that_comes_back_goes_on_with_its_numbers() -> None:
    board = board_with_page()
    board.receive(PAGE, 1, "down", 0.5, 0.5)
    board.leave(PAGE)
    assert not board.visible
    board.join(PageReport(PAGE, next=1, dropped=2))  # it had no connection for two
    board.join(PageReport(PAGE, next=1, dropped=2, visible=False))
    board.receive(PAGE, 1, "down", 0.5, 0.5)
    board.receive(PAGE, 2, "up", 0.5, 0.5)
    assert board.counters == Counters(touches=1, duplicates=1, dropped=2, reconnects=1)
    board.leave(PAGE)
    board.join(PageReport("1" * 32))  # loaded anew
    board.join(PageReport("2" * 32))  # one more, while the other is there
    assert board.counters.reconnects == 2


def test_a_page_whose_events_were_lost_goes_on_with_its_next() -> None:
    board = board_with_page()
    board.receive(PAGE, 1, "down", 0.5, 0.5)
    board.leave(PAGE)
    board.join(PageReport(PAGE, next=5))
    assert board.acknowledged(PAGE) == 4
    board.receive(PAGE, 5, "down", 0.5, 0.5)
    assert board.counters.touches == 2


def test_who_only_watches_is_no_screen_to_touch() -> None:
    board = TouchBoard(LightsOut(5))
    board.join(PageReport(PAGE, watching=True))
    assert (len(board.pages), board.visible) == (1, False)
    with pytest.raises(BadMessage, match="only watches"):
        board.receive(PAGE, 1, "down", 0.5, 0.5)
    board.join(PageReport("1" * 32))
    board.join(PageReport(PAGE, watching=True, visible=False))
    assert (len(board.pages), board.visible) == (2, True)
    board.join(PageReport("1" * 32, visible=False))
    assert (len(board.pages), board.visible) == (2, False)


def test_waiting_ends_with_the_event_or_in_time() -> None:
    board = board_with_page()
    assert board.wait_for_touch(0.01) is None
    later = threading.Timer(0.05, lambda: board.receive(PAGE, 1, "down", 0.3, 0.7))
    later.start()
    touch = board.wait_for_touch(20)
    later.join()
    assert touch is not None
    assert (touch.x, touch.y) == (0.3, 0.7)
    board.receive(PAGE, 2, "up", 0.3, 0.7)
    assert board.wait_for_touch(0) is None
    assert board.wait_for_touch(0, kinds=("up",)) is not None
    assert board.take_touches() == []


def test_unread_events_do_not_pile_up_unseen() -> None:
    board = board_with_page()
    for number in range(1, UNREAD_KEPT + 4):
        board.receive(PAGE, number, "down", 0.5, 0.5)
    assert len(board.take_touches()) == UNREAD_KEPT
    assert board.counters.unread == 3


@pytest.mark.parametrize("bits", [[0] * 24, [2] + [0] * 24, [256] + [0] * 24, [0.5] * 25, "1"])
def test_what_is_no_board_is_refused(bits: object) -> None:
    board = TouchBoard(LightsOut(5))
    with pytest.raises(SeadsError, match="board"):
        board.set_board(bits)
    assert not board.board.any()


def test_a_board_is_set_and_copied() -> None:
    board = TouchBoard(LightsOut(2))
    board.set_board([True, False, False, True])
    board.board[:] = 7
    assert board.board.tolist() == [1, 0, 0, 1]
    assert board.board.dtype == np.uint8


@pytest.mark.parametrize(
    "message",
    [
        "", "{", "[" * 900, "null", "7", '"a"', "{}", b"\xff\xfe", '{"number": 1}',
        '{"number": 1, "kind": "down", "x": NaN, "y": 0}',
        '{"number": 1, "kind": "down", "x": 1e999, "y": 0}',
        '{"number": 1, "kind": "down", "x": ' + "9" * 400 + ', "y": 0}',
        '{"number": 1, "kind": "down", "x": 1.01, "y": 0}',
        '{"number": 1, "kind": "down", "x": "0", "y": 0}',
        '{"number": 1, "kind": "down", "x": true, "y": 0}',
        '{"number": 0, "kind": "down", "x": 0, "y": 0}',
        '{"number": 1.5, "kind": "down", "x": 0, "y": 0}',
        '{"number": true, "kind": "down", "x": 0, "y": 0}',
        '{"number": 1, "kind": ["down"], "x": 0, "y": 0}',
        '{"number": 1, "kind": "tap", "x": 0, "y": 0}',
        '{"page": "x", "next": 1, "watching": false, "visible": true, "full_screen": false, '
        '"awake": false, "width": 1, "height": 1, "dropped": 0}',
        '{"page": "' + PAGE + '", "next": 0, "watching": false, "visible": true, '
        '"full_screen": false, "awake": false, "width": 1, "height": 1, "dropped": 0}',
        '{"page": "' + PAGE + '", "next": 1, "watching": 0, "visible": true, '
        '"full_screen": false, "awake": false, "width": 1, "height": 1, "dropped": 0}',
        '{"page": "' + PAGE + '", "next": 1, "watching": false, "visible": true, '
        '"full_screen": false, "awake": false, "width": 1, "height": 1, "dropped": -1}',
    ],
)  # fmt: skip
def test_messages_that_make_no_sense_are_refused(message: str | bytes) -> None:
    with pytest.raises(BadMessage) as refused:
        read_message(message)
    assert len(str(refused.value)) < 200
    assert "\n" not in str(refused.value)


def test_messages_that_make_sense_are_read() -> None:
    assert read_message('{"number": 3, "kind": "up", "x": -0.1, "y": 1.2}') == (3, "up", -0.1, 1.2)
    report = read_message(
        '{"page": "' + PAGE + '", "next": 4, "watching": false, "visible": true, '
        '"full_screen": true, "awake": false, "width": 8, "height": 6, "dropped": 1}'
    )
    assert report == PageReport(PAGE, 4, False, True, True, False, 8, 6, 1)
