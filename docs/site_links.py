"""For the site: links to files outside of docs/ (code, README) become the names of these files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_OUTWARD = re.compile(r"(?<!!)\[([^\]]*)\]\(\.\./([^)#]+)(#[^)]*)?\)")
_ROOT = Path(__file__).parents[1]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page; a file that is not there fails a strict build."""

    def name(link: re.Match[str]) -> str:
        text, path = link.group(1), link.group(2)
        if not (_ROOT / path).exists():
            return link.group(0)  # left as it is, so that mkdocs warns of it
        return text if text.strip("`") == path else f"{text} (`{path}`)"

    return _OUTWARD.sub(name, markdown)
