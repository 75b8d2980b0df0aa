"""`seads report`: one page that shows what one or many runs became."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from seads.terminal import tell_next

if TYPE_CHECKING:
    from seads.show.report.records import RunRecord


@dataclass(frozen=True)
class Options:
    """Which runs to show, and where to write the page."""

    runs: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN ...")] = ()
    """Run directories, or names of agents that `seads agents` lists."""
    out: Path = Path("report.html")
    """The page; it needs no other file and no network."""
    figures: Path | None = None
    """Also write each figure as PDF, PNG and SVG into this directory."""
    results: Path = Path("runs")
    """Where `seads evaluate` leaves its results on packaged agents: in NAME/eval."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Write the page and say where."""
    from seads.jax_setup import prepare_jax

    prepare_jax()
    from seads.envs.own import is_own
    from seads.show.report import write_report

    runs, files = write_report(options.runs, options.out, options.figures, options.results)
    for record in runs:
        for remark in record.remarks:
            print(remark, file=sys.stderr)
    print(f"{options.out}: {len(runs)} run{'' if len(runs) == 1 else 's'}")
    if options.figures is not None:
        print(f"{options.figures}: {len(files) - 1} files of figures")
    playable = [
        record.evaluate_as or source
        for source, record in zip(options.runs, runs, strict=True)
        if record.has_weights and not is_own(record.env)
    ]
    tell_next("play", *playable[:1])
    return {
        "out": str(options.out),
        "figures": [str(path) for path in files[1:]],
        "runs": [_as_json(record) for record in runs],
    }


def _as_json(record: RunRecord) -> dict[str, Any]:
    """A run with its final values, each beside the env steps of the agent that it is of."""
    found = {"coverage": record.final("coverage"), "success": record.final("tasks")}
    return {
        "run": str(record.path),
        "env": record.env,
        "preset": record.preset,
        "seed": record.seed,
        "env_steps": record.env_steps,
        "finished": record.finished,
        **{name: one and one.value for name, one in found.items()},
        **{f"{name}_env_steps": one and one.env_steps for name, one in found.items()},
    }
