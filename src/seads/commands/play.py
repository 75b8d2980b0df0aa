"""`seads play`: set up boards in the browser and watch an agent solve them."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from seads.commands.real_arm import env_options
from seads.errors import SeadsError
from seads.terminal import tell, tell_next

if TYPE_CHECKING:
    from seads.show.play.server import PlayServer


@dataclass(frozen=True)
class Options:
    """Whom to watch, and where to serve the page."""

    run: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[RUN]")] = "lightsout-jaco"
    """Run directory, or the name of an agent that `seads agents` lists."""
    host: str = "127.0.0.1"
    """Address to listen on; beyond loopback the printed address holds a code that lets one in."""
    port: int = 8080
    """Port to listen on; if it is taken, the next free one; 0 for any."""
    planner: str = "auto"
    """auto, bfs, dijkstra, bidirectional, astar, or gf2, which adds flips up as equations."""
    seed: int = 0
    """Seed of the boards and start poses."""
    export: Path | None = None
    """Solve one board, write a replay to this HTML file, and serve nothing."""
    depth: int | None = None
    """With --export: draw a board of this solution depth."""
    board: str | None = None
    """With --export: start from this board, written as for `seads solve`."""
    arm_port: str | None = None
    """Serial line of a real arm, or of its twin (see `seads robot`); by default it is simulated."""
    calibration: Path | None = None
    """Where the tablet lies under that arm: a file of `seads robot calibrate`."""
    env_set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Options of the environment, such as pace=50 for a twin."""
    open: bool = True
    """Open the page in this machine's browser, if it has a screen."""
    json: bool = False
    """Print one JSON object (with --export)."""


def run(options: Options) -> dict[str, Any]:
    """Serve until Ctrl-C, or write a replay."""
    chosen = options.run
    if options.export is not None:
        return _export(chosen, options.export, options)
    if options.json:
        raise SeadsError("--json needs --export: a page in the browser has no result")
    if options.board is not None or options.depth is not None:
        raise SeadsError("--board and --depth are for --export; on the page you set up boards")
    from seads.show.play.server import PlayServer

    where = env_options(options.env_set, options.arm_port, options.calibration)
    server = PlayServer(chosen, options.host, options.port, options.planner, options.seed, where)
    try:
        _tell(chosen, server, options)
        server.wait()
    except KeyboardInterrupt:  # the way to end it, not an accident
        tell("")
        tell_next("report", chosen)
    finally:
        server.stop()
    return {}


def _tell(chosen: str, server: PlayServer, options: Options) -> None:
    """Say where the page is, and open it where there is a screen."""
    from seads.robot.board.access import is_loopback

    if not is_loopback(options.host):
        print(
            f"listening on {options.host}: everyone who is given the address with its code can "
            "play",
            file=sys.stderr,
        )
    if options.port not in (0, server.port):
        print(f"port {options.port} is in use; took {server.port}", file=sys.stderr, flush=True)
    print(f"{chosen}: {server.address} (Ctrl-C ends it)", flush=True)
    if not (options.open and show_in_browser(server.address)):
        print(f"open {server.address} in a browser", flush=True)
        if not _has_screen():
            print(no_browser_hint(server.port), file=sys.stderr, flush=True)


def show_in_browser(address: str) -> bool:
    """Open the page where there is a screen; False if there is none, or no browser."""
    import webbrowser

    return _has_screen() and webbrowser.open(address)


def no_browser_hint(port: int) -> str:
    """What to do on a machine that one only has a shell on."""
    return (
        "no screen here, so no browser: from the machine you sit at, "
        f"ssh -L {port}:127.0.0.1:{port} THIS-MACHINE, then open the address there"
    )


def _has_screen() -> bool:
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return named or sys.platform in ("darwin", "win32")


def _export(chosen: str, out: Path, options: Options) -> dict[str, Any]:
    from seads.show.play.server import export_replay

    if options.board is not None and options.depth is not None:
        raise SeadsError("--board and --depth contradict each other: give one of them")
    where = env_options(options.env_set, options.arm_port, options.calibration)
    status = export_replay(
        chosen, out, options.board, options.depth, options.planner, options.seed, where
    )
    print(f"{out}: {status.value}; open it in any browser")
    tell_next("play", chosen)
    return {"replay": str(out), "status": status.name.lower()}
