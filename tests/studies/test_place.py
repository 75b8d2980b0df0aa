"""The lines of a study's file at which something is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from seads.errors import SeadsError
from seads.studies.place import Place
from seads.studies.runs import runs_of
from seads.studies.study import read_study

INLINE = """
evaluate = { starts = 2 }
groups = [  # ''' groups = [ { budget = 1 }
  { name = "a } , {", envs = ["lightsout-cursor-2x2"], seeds = [0], budget = 3000 },
  { name = '''b {''', envs = ["lightsout-cursor-2x2"], seeds = [0], # budget }, {
    settings = { n_step = 2, hidden = [8, 8] },
    budget = 3000 }, { name = "c", envs = ["lightsout-cursor-2x2"],
    seeds = [0], evaluate = { starts = 3 }, budget = 3000 },
]
"""


@pytest.mark.parametrize(
    ("number", "key", "line"),
    [(0, "name", 4), (0, "budget", 4), (1, "name", 5), (1, "hidden", 6), (1, "budget", 7),
     (2, "name", 7), (2, "envs", 7), (2, "budget", 8), (2, "starts", 8), (3, "starts", 2)],
)  # fmt: skip
def test_tables_of_an_inline_list_have_their_own_lines(
    number: int, key: str, line: int, tmp_path: Path
) -> None:
    place = Place(tmp_path, tuple(INLINE.splitlines()), 1).part("groups", number)
    assert f", line {line}: wrong" in str(place.wrong("wrong", key))


def test_what_is_wrong_in_an_inline_list_is_said_with_its_line(tmp_path: Path) -> None:
    rows = (
        f'  {{ envs = ["lightsout-cursor-{size}"], seeds = [0], budget = {budget} }},'
        for size, budget in (("2x2", 3000), ("5x5", 3000), ("7x7", 300))
    )
    text = "\n".join(("groups = [", *rows, "]"))
    study = tmp_path / "study.toml"
    study.write_text(text)
    with pytest.raises(SeadsError, match=r"line 4: budget=300 is less than one epoch"):
        runs_of(read_study(study))
