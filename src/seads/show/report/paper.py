"""What the paper reports: its numbers, for the environments and settings they were measured on."""

from __future__ import annotations

from typing import NamedTuple


class PaperValue(NamedTuple):
    """A number, how the paper writes it, and the env steps that it is of (section S.8.1)."""

    value: float
    text: str
    env_steps: int

    @property
    def unsure(self) -> float:
        """How far beside its mean the 95 % interval goes; 0 where the paper tells no deviation."""
        _, _, deviation = self.text.partition(" ± ")
        return 1.96 * float(deviation or 0) / AGENTS**0.5


class PaperResult(NamedTuple):
    """An environment at the end of the paper's training; None where the paper gives no number."""

    variant: str
    """SEADS, or the preset of an ablation."""
    coverage: PaperValue | None
    """Mean number of distinct moves (table S.1; larger boards: section S.4.2)."""
    success: PaperValue | None
    """Share of boards of depths 1 to 5 solved, with replanning (section 4; 3D: section S.4.1)."""


SEADS = "SEADS"
AGENTS = 10
"""That a mean of table S.1 is of."""
ENVIRONMENTS = (
    "lightsout-cursor", "tileswap-cursor", "lightsout-reacher", "tileswap-reacher",
    "lightsout-jaco", "tileswap-jaco",
)  # fmt: skip
TABLE_S1 = {
    SEADS: "24.94 ± 0.06, 11.99 ± 0.02, 24.3 ± 0.28, 11.81 ± 0.13, 23.64 ± 1.04, 11.54 ± 0.27",
    "no-second-best":
        "24.74 ± 0.42, 11.98 ± 0.03, 24.42 ± 0.32, 11.78 ± 0.11, 22.28 ± 0.92, 9.26 ± 1.17",
    "no-novelty":
        "24.83 ± 0.32, 11.99 ± 0.03, 23.75 ± 0.71, 11.81 ± 0.09, 20.24 ± 1.46, 11.58 ± 0.29",
    "no-relabelling":
        "24.72 ± 0.39, 12.0 ± 0.02, 16.58 ± 4.62, 3.62 ± 3.2, 19.26 ± 1.0, 11.53 ± 0.12",
    "no-model-relabelling":
        "24.9 ± 0.07, 11.99 ± 0.02, 22.73 ± 0.94, 11.77 ± 0.28, 11.5 ± 3.47, 8.64 ± 1.83",
    "no-sac-relabelling":
        "24.88 ± 0.09, 11.98 ± 0.03, 22.94 ± 1.51, 11.76 ± 0.15, 17.32 ± 2.54, 11.05 ± 0.48",
    "more-skills":
        "24.97 ± 0.03, 11.99 ± 0.02, 24.36 ± 0.36, 11.8 ± 0.12, 23.9 ± 0.47, 11.47 ± 0.41",
}  # fmt: skip
"""Coverage, mean ± standard deviation over ten agents, by preset and then environment."""
RED_CELLS = {
    "no-second-best": ("lightsout-jaco", "tileswap-jaco"),
    "no-novelty": ("lightsout-jaco",),
    "no-relabelling": ("lightsout-reacher", "tileswap-reacher", "lightsout-jaco"),
    "no-model-relabelling": ("lightsout-reacher", "lightsout-jaco", "tileswap-jaco"),
    "no-sac-relabelling": ("lightsout-cursor", "lightsout-reacher", "lightsout-jaco"),
}
"""Where table S.1 has an ablation in red: significantly worse than SEADS."""
SUCCESS = dict(zip(ENVIRONMENTS, (1.0, 1.0, 0.958, 0.955, 0.949, 0.988), strict=True))
SUCCESS["lightsout3d-jaco"] = 0.963
ROBOT = {
    "lightsout-robot-absolute": (100, 5_000, "pushes"),
    "lightsout-robot": (25, 165_000, "displacements"),
}
"""The real arm (S.5): how many boards, all of them solved, and after how many env steps."""
LARGER_BOARDS = {
    "lightsout-cursor-5x5": 24.9,
    "lightsout-cursor-7x7": 48.6,
    "lightsout-cursor-9x9": 76.8,
    "lightsout-cursor-13x13": 119.3,
}
"""Coverage of boards without gaps; of the one with gaps (5×5) the paper draws a curve alone."""


def paper_result(env: str, preset: str) -> PaperResult | None:
    """What the paper reports of its agent, or of the ablation of that name."""
    variant = preset if preset in TABLE_S1 else SEADS
    cells = dict(zip(ENVIRONMENTS, TABLE_S1[variant].split(", "), strict=True))
    # means of the last checkpoints below 500k (cursor) or 10M steps, and of the last common ones
    steps = (495_000, 476_000) if env in ENVIRONMENTS[:2] else (9_890_000, 9_340_000)
    coverage = success = None
    if env in cells:
        coverage = PaperValue(float(cells[env].split()[0]), cells[env], steps[0])
    elif env in LARGER_BOARDS and variant == SEADS:
        coverage = PaperValue(LARGER_BOARDS[env], str(LARGER_BOARDS[env]), 1_500_000)
    if env in SUCCESS and variant == SEADS:
        success = PaperValue(SUCCESS[env], f"{SUCCESS[env]:.1%}", steps[1])
    elif env in ROBOT and variant == SEADS:
        success = PaperValue(1.0, "100.0%", ROBOT[env][1])
    return PaperResult(variant, coverage, success) if coverage or success else None
