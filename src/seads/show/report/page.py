"""The report's page: its frame, its sections and its tables; all text from files is escaped."""

from __future__ import annotations

import html
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seads import __version__
from seads.show.report.style import to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>seads report: {title}</title>
<style>
:root {{ color-scheme: light; --ink: #1f2430; --soft: #5c6470; --line: #e3e5e8; --blue: #0072b2; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: #f6f7f9; color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }}
header, main, footer {{ max-width: 74rem; margin: 0 auto; padding: 0 1.25rem; }}
header {{ padding-top: 2.5rem; }}
h1 {{ font-size: 1.7rem; line-height: 1.25; margin: 0 0 .75rem; }}
h2 {{ font-size: 1.15rem; margin: 0 0 .75rem; }}
nav {{ display: flex; flex-wrap: wrap; gap: .4rem .5rem; margin-bottom: 1rem; }}
nav a {{ color: var(--blue); background: #fff; border: 1px solid var(--line); border-radius: 1rem;
  padding: .15rem .75rem; font-size: .88rem; text-decoration: none; }}
nav a:hover, nav a:focus {{ border-color: var(--blue); }}
section {{ background: #fff; border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.25rem; margin: 0 0 1.25rem; overflow-x: auto; }}
figure {{ margin: 0; text-align: center; }}
figure svg {{ max-width: 100%; height: auto; }}
.caption {{ color: var(--soft); font-size: .9rem; margin: .75rem 0 0; max-width: 48rem; }}
.remark {{ background: #fff4e5; border-left: 4px solid #e69f00; border-radius: .3rem;
  padding: .5rem .9rem; margin: 0 0 .75rem; }}
table {{ border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }}
th {{ text-align: left; color: var(--soft); font-weight: 600; }}
th, td {{ padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }}
td:first-child {{ white-space: nowrap; }}
.number {{ text-align: right; }}
details summary {{ cursor: pointer; color: var(--blue); margin-top: .75rem; }}
code {{ background: #f0f2f4; padding: .1rem .35rem; border-radius: .25rem; font-size: .88em; }}
footer {{ color: var(--soft); font-size: .85rem; padding-bottom: 2.5rem; }}
@media print {{ body {{ background: #fff; }} nav {{ display: none; }}
  section {{ break-inside: avoid; }} }}
</style>
</head>
<body>
<header><h1>{title}</h1>{remarks}<nav>{links}</nav></header>
<main>{sections}</main>
<footer>Written by seads {version}.</footer>
</body>
</html>
"""


@dataclass(frozen=True)
class Section:
    """A heading with a figure, a table or both."""

    name: str
    """Of the link to it, and of the figure's files."""
    heading: str
    caption: str = ""
    figure: Figure | None = None
    body: str = ""
    """HTML; the other parts are text."""


def page(title: str, remarks: Sequence[str], sections: Sequence[Section]) -> str:
    """The whole page as text."""
    links, parts = [], []
    for section in sections:
        name, heading = html.escape(section.name), html.escape(section.heading)
        links.append(f'<a href="#{name}">{heading}</a>')
        drawn = "" if section.figure is None else f"<figure>{to_svg(section.figure)}</figure>"
        caption = f'<p class="caption">{html.escape(section.caption)}</p>'
        parts.append(
            f'<section id="{name}"><h2>{heading}</h2>{drawn}{section.body}'
            f"{caption if section.caption else ''}</section>"
        )
    return PAGE.format(
        title=html.escape(title),
        links="".join(links),
        remarks="".join(f'<p class="remark">{html.escape(remark)}</p>' for remark in remarks),
        sections="".join(parts),
        version=__version__,
    )


def table(
    titles: Sequence[str], rows: Sequence[Sequence[object]], numbers: Container[int] = ()
) -> str:
    """An HTML table; the columns in `numbers` are set to the right."""

    def cell(tag: str, column: int, value: object) -> str:
        kind = ' class="number"' if column in numbers else ""
        return f"<{tag}{kind}>{html.escape(str(value))}</{tag}>"

    head = "".join(cell("th", i, title) for i, title in enumerate(titles))
    body = "".join(
        f"<tr>{''.join(cell('td', i, value) for i, value in enumerate(row))}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def details(summary: str, body: str) -> str:
    """HTML that is folded away until someone asks for it."""
    return f"<details><summary>{html.escape(summary)}</summary>{body}</details>"
