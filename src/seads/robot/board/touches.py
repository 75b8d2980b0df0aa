"""The true board and every touch of it: the host's side, whatever the touches come through."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from jaxtyping import UInt8
from msgspec import Meta
from numpy.typing import ArrayLike

from seads.errors import SeadsError
from seads.games.game import NO_MOVE, Game
from seads.reading import Count

Kind = Literal["down", "up", "cancel", "second", "button"]
"""What happened at the screen; only "down" plays a move.

"cancel": the system took the touch away. "second": another finger while one was down.
"button": the page's own button for full screen was under it.
"""
PageName = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Number = Annotated[int, Meta(ge=1, le=2**53)]
"""Of an event."""
UNREAD_KEPT = 4096
PAGES_KEPT = 256


class BadMessage(ValueError):
    """What a page said makes no sense; the message is the line for the log."""


@dataclass(frozen=True)
class Touch:
    """One event at the screen: where, in the unit square with its origin at the top left."""

    number: int
    """Counts all events of all pages from 1."""
    x: float
    y: float
    field: int
    """The move that it played, or `NO_MOVE`."""
    kind: Kind
    time: float
    """Seconds of `time.monotonic` when the host learned of it."""
    page: str = ""


@dataclass(frozen=True)
class Counters:
    """What happened since the start; nothing that a page did is missing here."""

    touches: int = 0
    """Touches that counted, whether they met a field or not."""
    duplicates: int = 0
    """Events that came a second time with the same number, and were not played again."""
    cancelled: int = 0
    """Touches that the system took away."""
    dropped: int = 0
    """Second fingers, touches of the page's button and touches without a connection."""
    reconnects: int = 0
    """Times that a page came back, or the first of all came after the last had gone."""
    unread: int = 0
    """Events that nobody took before too many newer ones had come; they were played."""


@dataclass(frozen=True)
class PageReport:
    """What a page says of itself when it opens and whenever it changes."""

    page: PageName
    """Its own random name, the same for as long as it is not loaded anew."""
    next: Number = 1
    """The number of the next event that it will send."""
    watching: bool = False
    """Shows the board, but is not touched."""
    visible: bool = True
    full_screen: bool = False
    awake: bool = False
    """Whether the browser promised to keep the screen on."""
    width: Count = 0
    height: Count = 0
    dropped: Count = 0
    """How many touches it had no connection for, since it was loaded."""


@dataclass
class _Page:
    report: PageReport
    acknowledged: int
    connected: bool = True


class TouchBoard:
    """Owns the board of one game: touches come in, moves are played, everyone else looks.

    Safe to use from several threads. Pages number their events; an event that comes again
    with the same number (its page never heard that it had arrived) is counted once.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._board = game.goal.copy()
        self._counters = Counters()
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._unread: deque[Touch] = deque(maxlen=UNREAD_KEPT)
        self._number = 0
        self._playing = True
        self._changed = threading.Condition()

    @property
    def board(self) -> UInt8[np.ndarray, "fields"]:
        """The true board, as a copy."""
        with self._changed:
            return self._board.copy()

    def set_board(self, bits: ArrayLike) -> None:
        """Put another board on the screen; raises SeadsError where the game has no such board."""
        given = np.asarray(bits)
        if given.shape != (self.game.num_fields,) or given.dtype.kind not in "bui":
            raise SeadsError(
                f"a board of {self.game.name} is {self.game.num_fields} whole numbers, "
                f"not {given.dtype} of shape {given.shape}"
            )
        board = given.astype(np.uint8)
        known = self.game.from_bits(self.game.to_bits(board[None]))[0]
        if not np.array_equal(known, given):
            raise SeadsError(f"{given.tolist()} is no board of {self.game.name}")
        with self._changed:
            self._board = board
            self._notify()

    @contextmanager
    def not_playing(self) -> Iterator[None]:
        """Within it touches are felt and counted, but the board stays: an arm feels its way."""
        self._playing = False
        try:
            yield
        finally:
            self._playing = True

    @property
    def counters(self) -> Counters:
        """What happened so far."""
        with self._changed:
            return self._counters

    @property
    def pages(self) -> list[PageReport]:
        """The pages that are open, those that only watch included."""
        with self._changed:
            return [page.report for page in self._pages.values() if page.connected]

    @property
    def visible(self) -> bool:
        """Whether there is a screen to touch and none that can be touched is hidden or locked."""
        players = [page for page in self.pages if not page.watching]
        return bool(players) and all(page.visible for page in players)

    def wait_for_page(self, timeout: float) -> bool:
        """Wait until the board can be seen and touched; False if it cannot by then."""
        with self._changed:
            return self._changed.wait_for(lambda: self.visible, timeout)

    def wait_for_touch(self, timeout: float, kinds: Collection[str] = ("down",)) -> Touch | None:
        """Take the oldest unread event of these kinds; None if there is none by then."""

        def oldest() -> Touch | None:
            return next((touch for touch in self._unread if touch.kind in kinds), None)

        with self._changed:
            found = self._changed.wait_for(oldest, timeout)
            if found is not None:
                self._unread.remove(found)
            return found

    def take_touches(self) -> list[Touch]:
        """Take all unread events, oldest first."""
        with self._changed:
            taken = list(self._unread)
            self._unread.clear()
            return taken

    def join(self, report: PageReport) -> None:
        """A page opened, came back, or says that something about it changed."""
        with self._changed:
            page = self._pages.get(report.page)
            players = [p.connected for p in self._pages.values() if not p.report.watching]
            returned = page is not None and not page.connected
            reopened = page is None and bool(players) and not any(players)
            if not report.watching and (returned or reopened):
                self._count("reconnects")
            if page is None:
                self._forget_old_pages()
                page = self._pages[report.page] = _Page(replace(report, dropped=0), report.next - 1)
            # events that were sent into a connection that was lost will not come any more
            page.acknowledged = max(page.acknowledged, report.next - 1)
            self._count("dropped", max(0, report.dropped - page.report.dropped))
            page.report, page.connected = report, True
            self._notify()

    def leave(self, name: str) -> None:
        """A page closed, or its connection was lost; it may come back."""
        with self._changed:
            self._pages[name].connected = False
            self._pages.move_to_end(name)
            self._notify()

    def acknowledged(self, name: str) -> int:
        """The number of the last event of a page that was counted."""
        with self._changed:
            return self._pages[name].acknowledged

    def receive(self, name: str, number: int, kind: Kind, x: float, y: float) -> None:
        """An event of a page; raises BadMessage where it is impossible."""
        with self._changed:
            page = self._pages[name]
            if page.report.watching:
                raise BadMessage("a touch from a page that only watches")
            if number > page.acknowledged + 1:
                raise BadMessage(f"event {number} of a page after {page.acknowledged}")
            if number <= page.acknowledged:
                self._count("duplicates")
            else:
                page.acknowledged = number
                self._happened(name, kind, x, y)
            self._notify()

    def _happened(self, name: str, kind: Kind, x: float, y: float) -> None:
        move = NO_MOVE
        if kind == "down":
            if self._playing:
                boards = self._board[None]
                moves = self.game.move_at(np.array([[x, y]]), boards)
                self._board, move = self.game.play(boards, moves)[0], int(moves[0])
            self._count("touches")
        elif kind == "cancel":
            self._count("cancelled")
        elif kind != "up":
            self._count("dropped")
        self._number += 1
        if len(self._unread) == UNREAD_KEPT:
            self._count("unread")
        self._unread.append(Touch(self._number, x, y, move, kind, time.monotonic(), name))

    def _forget_old_pages(self) -> None:
        gone = [name for name, page in self._pages.items() if not page.connected]
        for name in gone[: max(0, len(self._pages) + 1 - PAGES_KEPT)]:
            del self._pages[name]

    def _count(self, what: str, times: int = 1) -> None:
        self._counters = replace(self._counters, **{what: getattr(self._counters, what) + times})

    def _notify(self) -> None:
        """Something changed; called with the lock held."""
        self._changed.notify_all()
