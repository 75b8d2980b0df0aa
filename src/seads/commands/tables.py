"""`seads tables`: the paper's tables and figures from the runs of studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from seads.errors import SeadsError
from seads.files import write_text_aside

SOME_FAILED = 1


@dataclass(frozen=True)
class Options:
    """Which runs, and where the tables go."""

    sources: Annotated[
        tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="DIR ...")
    ] = ()
    """Directories of runs, as `seads sweep` makes them, or of results.csv files."""
    out: Path = Path("tables")
    """Where results.csv, tables and figures are written."""
    figures: bool = True
    """Draw the figures, too; they need the extra plots."""
    replace: bool = False
    """Of runs with the same name in several places, those of the first count."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Collect the results, write them, and make what can be made of them."""
    from seads.show.tables.claims import claims_page
    from seads.show.tables.tables import all_tables
    from seads.studies.collecting import collect
    from seads.training.runner import full_disk_in_words

    if not options.sources:
        raise SeadsError("which runs? give directories of runs, such as runs/main")
    results = collect(options.sources, replace=options.replace)
    page = options.out / "claims.md"
    tables: dict[str, list[str]] = {}
    figures: dict[str, list[str]] = {}
    remarks: list[str] = []
    with full_disk_in_words(options.out, "give the same command again", intact=""):
        written = results.write(options.out)
        for table in all_tables(results):
            tables[table.number] = [str(path) for path in table.write(options.out)]
        write_text_aside(page, claims_page(results))
        if options.figures:
            from seads.show.tables.figures import write_figures

            figures, remarks = write_figures(results, options.sources, options.out)
    if late := results.beyond_common():
        remarks.append(
            "boards solved by later agents than the last common ones of all seeds (a sweep of the "
            f"whole study in one directory solves them there): {', '.join(late)}"
        )
    unfinished = [one.run for one in results.runs if one.status != "finished"]
    if unfinished:
        more = ", …" if len(unfinished) > 3 else ""
        remarks.append(f"unfinished ({len(unfinished)}): {', '.join(unfinished[:3])}{more}")
    for remark in remarks:
        print(remark)
    for name, why in results.failed.items():
        print(f"{name} failed: {why}")
    print(f"{options.out}: {len(results.runs)} runs, {len(tables)} tables, {len(figures)} figures")
    print(f"next: read {page}")
    return {
        "results": str(written[0]),
        "runs": len(results.runs),
        "tables": tables,
        "figures": figures,
        "claims": str(page),
        "remarks": remarks,
        "failed": [{"run": name, "why": why} for name, why in results.failed.items()],
        "exit_status": SOME_FAILED if results.failed else 0,
    }
