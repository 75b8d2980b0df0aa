"""The arm's line and speeds, measured on its twin, as JSON.

python benchmarks/robot.py                     round trips a second; pushes and steps, in real time
python benchmarks/robot.py --pace 20           the same on a faster clock, less exactly
python benchmarks/robot.py --epochs 3          only what epochs of training take beside the arm
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from seads.robot import kinematics, protocol
from seads.robot.board.page_client import PageScreen
from seads.robot.calibration import CORNERS, FULL_HEIGHT, Calibration, Touched
from seads.robot.guarded_arm import GuardedArm
from seads.robot.kinematics import Speed
from seads.robot.line import Line
from seads.robot.protocol import Dialect
from seads.robot.pushing import HOVER, PRESS, PUSH_HEIGHT
from seads.robot.screen import RecordingScreen
from seads.robot.tablet import Tablet
from seads.robot.touching import Pen
from seads.robot.twin.firmware import Twin
from seads.robot.twin.terminal import AS_FAST_AS_IT_GOES, TwinThread

SPEEDS = {"gentle": Speed(1.3), "fast": Speed(10.0)}
"""The maker's advice, and the most."""
DOWN = -PRESS / FULL_HEIGHT


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pace", type=float, default=1.0, help="the twin's clock")
    parser.add_argument("--round-trips", type=int, default=5000)
    parser.add_argument("--moves", type=int, default=20, help="pushes and steps of each speed")
    parser.add_argument("--epochs", type=int, default=0, help="measure epochs of training alone")
    options = parser.parse_args()
    report: dict[str, Any] = {"workers": len(os.sched_getaffinity(0)), "pace": options.pace}
    if options.epochs:
        for name in ("lightsout-robot-absolute", "lightsout-robot"):
            report[name] = _training(name, options.epochs, options.pace)
        json.dump(report, sys.stdout, indent=1)
        print()
        return
    report["round_trips_per_second"] = {
        dialect.name: _round_trips(dialect, options.round_trips) for dialect in Dialect
    }
    report["pushes_per_second_at_top_speed"] = _top_speed(100)
    for name, speed in SPEEDS.items():
        for dialect in Dialect:
            key = f"{name} {dialect.name}"
            if dialect is Dialect.FW3 and name == "fast":
                continue  # its acceleration is its own
            report[key] = _durations(dialect, speed, options.moves, options.pace)
            print(key, report[key], file=sys.stderr)
    json.dump(report, sys.stdout, indent=1)
    print()


def _round_trips(dialect: Dialect, count: int) -> dict[str, int]:
    """Questions a second on the bare line, and through the process that guards it."""
    with TwinThread(Twin(RecordingScreen(), dialect), AS_FAST_AS_IT_GOES) as twin:
        with Line(twin.port) as line:
            line.wait_for(protocol.Ready, 5.0)
            begin = time.perf_counter()
            for _ in range(count):
                line.request(protocol.POSITION, 1.0)
            bare = count / (time.perf_counter() - begin)
        time.sleep(0.1)
        with GuardedArm(twin.port, _calibration().envelope()) as arm:
            begin = time.perf_counter()
            for _ in range(count // 5):
                arm.get_observation()
            guarded = count / 5 / (time.perf_counter() - begin)
    return {"line": round(bare), "guarded": round(guarded)}


def _top_speed(count: int) -> float:
    """Pushes a second when the twin's clock costs nothing: the most a run on it can have."""
    screen = RecordingScreen()
    with TwinThread(Twin(screen), AS_FAST_AS_IT_GOES) as twin:
        calibration = _calibration()
        with GuardedArm(twin.port, calibration.envelope(), pace=1e9) as arm:
            pen = Pen(arm, calibration, screen)
            begin = time.perf_counter()
            for x, y in np.random.default_rng(0).random((count, 2)):
                pen.push(x, y)
            return round(count / (time.perf_counter() - begin), 1)


def _durations(dialect: Dialect, speed: Speed, count: int, pace: float) -> dict[str, Any]:
    """Seconds of a push, a step, and a step with a push: by the planner, and by the clock."""
    rng = np.random.default_rng(0)
    calibration, screen = _calibration(), RecordingScreen()
    measured: dict[str, list[float]] = {"push": [], "step": [], "step_and_push": []}
    predicted: dict[str, list[float]] = {name: [] for name in measured}
    real = speed if dialect is Dialect.FW4 else Speed(1.25)

    def note(name: str, way: list[tuple[float, float, float]], begin: float) -> None:
        measured[name].append((time.perf_counter() - begin) * pace)
        points = calibration.points(np.array(way))
        predicted[name].append(float(kinematics.duration(points[:-1], points[1:], real).sum()))

    twin = TwinThread(Twin(screen, dialect), pace)
    guarded = GuardedArm(twin.port, calibration.envelope(speed), pace=pace)
    with twin, guarded as arm:
        pen = Pen(arm, calibration, screen)
        pen.go(0.5, 0.5, PUSH_HEIGHT)
        here = (0.5, 0.5)
        for x, y in rng.random((count, 2)):
            begin = time.perf_counter()
            pen.push(x, y)
            high, low = (x, y, PUSH_HEIGHT), (x, y, DOWN)
            note("push", [(*here, PUSH_HEIGHT), high, low, high], begin)
            here = (x, y)
        pen.go(*here, HOVER)
        for number in range(2 * count):
            moved = np.clip(np.array(here) + rng.uniform(-0.2, 0.2, 2), 0.0, 1.0)
            x, y = (float(value) for value in moved)
            begin = time.perf_counter()
            pen.go(x, y, HOVER)
            way = [(*here, HOVER), (x, y, HOVER)]
            if number % 2:
                pen.push(x, y, HOVER, first=False)
                way += [(x, y, DOWN), (x, y, HOVER)]
            note("step_and_push" if number % 2 else "step", way, begin)
            here = (x, y)
    found: dict[str, Any] = {}
    for name in measured:
        planned, seconds = np.mean(predicted[name]), np.mean(measured[name])
        found[name] = {
            "predicted_seconds": round(float(planned), 3),
            "measured_seconds": round(float(seconds), 3),
            "overhead": round(float(seconds / planned - 1.0), 4),
        }
    return found


def _training(name: str, epochs: int, pace: float) -> dict[str, Any]:
    """Seconds of training epochs at the twin beside those in which its joints really moved.

    What the learner needs before it begins, and its compiled code, come from a reckoned arm, so
    that every epoch measured here learns as those of a run do: while the arm moves.
    """
    from seads.training import configure
    from seads.training.loop import Trainer

    with closing(Trainer(configure(name))) as reckoned:
        ready = reckoned.begin()
        learning: dict[str, float] = {}
        while not learning:
            ready, learning = reckoned.epoch(ready)

    moved: list[float] = []

    def note(kind: str, when: float, **rest: Any) -> None:
        if kind == "stood":
            moved.append(rest["seconds"])

    with socket.create_server(("127.0.0.1", 0)) as one:
        page = int(one.getsockname()[1])
    screen = PageScreen(f"http://127.0.0.1:{page}/")
    with TwinThread(Twin(screen, log=note), pace) as twin, TemporaryDirectory() as folder:
        file = Path(folder) / "calibration.json"
        _calibration().save(file)
        where = dict(port=twin.port, calibration=str(file), board_port=page, pace=pace)
        with closing(Trainer(configure(name, env_options=where))) as trainer:
            here = trainer.begin()
            progress = replace(ready, pending=here.pending, standing=here.standing)
            moved.clear()
            begin, steps = time.perf_counter(), progress.env_steps
            for _ in range(epochs):
                progress, _ = trainer.epoch(progress)
            seconds = (time.perf_counter() - begin) * pace
        screen.close()
    return {
        "env_steps": progress.env_steps - steps,
        "arm_seconds": round(sum(moved), 2),
        "seconds": round(seconds, 2),
        "overhead": round(seconds / sum(moved) - 1.0, 4),
    }


def _calibration() -> Calibration:
    """Of the twin's own tablet."""
    corners = Tablet.lying().points(np.array([[*corner, 0.0] for corner in CORNERS]))
    tips = [(float(x), float(y), float(z)) for x, y, z in corners]
    return Calibration.fit([Touched(c, t) for c, t in zip(CORNERS, tips, strict=True)])


if __name__ == "__main__":
    main()
