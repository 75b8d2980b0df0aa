"""A page whose viewer does not wait while an agent loads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.exact_agent import exact_agent
from tests.show.play.browser import wait
from tests.show.play.thin_viewer import ThinViewer

from seads.errors import SeadsError
from seads.show.play.server import PlayServer
from seads.show.play.session import PlaySession

PATIENCE = 120
OTHER, TAUGHT = "lightsout-cursor", "lightsout-cursor-2x2"


class Loading:
    """Agents of a server, the first of which loads until it is let go."""

    def __init__(self, server: PlayServer) -> None:
        self._get_agent = server._get_agent
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.fails = False

    def __call__(self, name: str) -> Any:
        if name != OTHER:
            self.begun.set()
            assert self.go_on.wait(PATIENCE)
            if self.fails:
                raise SeadsError("its file is damaged")
        return self._get_agent(name)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayServer]:
    home = tmp_path_factory.mktemp("taught") / "taught-cursor"
    exact_agent(TAUGHT).save(home)
    served = PlayServer(str(home), port=18650)
    yield served
    served.stop()


@pytest.fixture
def loading(server: PlayServer, monkeypatch: pytest.MonkeyPatch) -> Loading:
    slow = Loading(server)
    monkeypatch.setattr(server, "_get_agent", slow)
    return slow


def opened(server: PlayServer, loading: Loading) -> Any:
    """The page of the only tab, whose agent is loading."""
    assert loading.begun.wait(PATIENCE)
    wait(lambda: len(server.pages) == 1, "a page")
    (page,) = server.pages.values()
    return page


@pytest.mark.parametrize("fails", [False, True])
def test_the_agent_that_was_chosen_last_is_shown(
    server: PlayServer, loading: Loading, fails: bool
) -> None:
    loading.fails = fails
    with ThinViewer(server.address):
        page = opened(server, loading)
        page._agent.value = OTHER
        loading.go_on.set()
        wait(lambda: page.session is not None, "an agent")
        assert page.session.agent.env == OTHER
    wait(lambda: not server.pages, "the page to be closed")


def test_a_page_closes_while_a_step_waits_and_frees_its_game_after_it(
    server: PlayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step at an arm waits for minutes where its screen is locked."""
    monkeypatch.setattr("seads.show.play.page.PATIENCE", 0.1)
    closed: list[PlaySession] = []
    monkeypatch.setattr(PlaySession, "close", lambda session: closed.append(session))
    begun, go_on = threading.Event(), threading.Event()

    def tick(session: PlaySession) -> None:
        begun.set()
        assert go_on.wait(PATIENCE)

    with ThinViewer(server.address):
        wait(lambda: any(page.session for page in server.pages.values()), "a game")
        (page,) = server.pages.values()
        game = page.session
        assert game is not None
        monkeypatch.setattr(PlaySession, "tick", tick)
        page._go(lambda session: session.solve())
        assert begun.wait(PATIENCE)
        with monkeypatch.context() as patience:
            patience.setattr(page._thread, "join", lambda timeout: None)  # it is over at once
            page.close()
        assert game not in closed
        go_on.set()
        page._thread.join(PATIENCE)
        assert closed.count(game) == 1
    wait(lambda: not server.pages, "the page to be closed")


def test_an_agent_that_comes_after_its_tab_has_gone_is_closed(
    server: PlayServer, loading: Loading, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[PlaySession] = []
    monkeypatch.setattr(PlaySession, "close", lambda session: closed.append(session))
    with ThinViewer(server.address):
        page = opened(server, loading)
        with monkeypatch.context() as patience:
            patience.setattr(page._thread, "join", lambda timeout: None)  # it is over at once
            page.close()
        loading.go_on.set()
        page._thread.join(PATIENCE)
        assert page.session is None
        # another test's page, of the other agent, may be closed just now
        assert [one.agent.env for one in closed if one.agent.env != OTHER] == [TAUGHT]
    wait(lambda: not server.pages, "the page to be closed")
