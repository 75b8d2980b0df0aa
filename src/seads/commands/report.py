"""`seads report`: one page that shows what one or many runs became."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro


@dataclass(frozen=True)
class Options:
    """Which runs to show, and where to write the page."""

    runs: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN ...")] = ()
    """Run directories, or names of agents that `seads agents` lists."""
    out: Path = Path("report.html")
    """The page; it needs no other file and no network."""
    figures: Path | None = None
    """Also write each figure as PDF, PNG and SVG into this directory."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Write the page and say where."""
    from seads.jax_setup import prepare_jax

    prepare_jax()
    from seads.show.report import final_coverage, final_success, write_report

    runs, files = write_report(options.runs, options.out, options.figures)
    for record in runs:
        if record.remark:
            print(record.remark, file=sys.stderr)
    print(f"{options.out}: {len(runs)} run{'' if len(runs) == 1 else 's'}")
    if options.figures is not None:
        print(f"{options.figures}: {len(files) - 1} files of figures")
    playable = [
        source
        for source, record in zip(options.runs, runs, strict=True)
        if record.has_weights and ":" not in record.env
    ]
    print(f"next: seads play {playable[0]}" if playable else "next: seads play")
    return {
        "out": str(options.out),
        "figures": [str(path) for path in files[1:]],
        "runs": [
            {
                "run": str(record.path),
                "env": record.env,
                "preset": record.preset,
                "seed": record.seed,
                "env_steps": record.env_steps,
                "finished": record.remark is None,
                "coverage": final_coverage(record),
                "success": final_success(record, replan=True),
            }
            for record in runs
        ],
    }
