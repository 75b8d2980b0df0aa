"""Which skills are worth using after which: of all orders with one effect, one is enough."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType

import numpy as np
from jaxtyping import Bool

from seads.planning.packed import Words, pack

# What each skill does to packed states; all of it affine over GF(2).
Moves = dict[int, Callable[[Words], Words]]

# Sequences of skills that are compared; longer ones leave out little more.
MAX_LENGTH = 3
# Words of memory above which the effects of all sequences of one length are not compared.
MAX_WORDS = 2**19
# Entries of the table above which it is not made.
MAX_ENTRIES = 2**23


def distinct_orders(
    moves: Moves, num_bits: int, num_skills: int
) -> Bool[np.ndarray, "before last skills"]:
    """Entry [a, b, c]: whether to use c after a and b; index -1 is for no skill.

    c is of no use after a and b if the three do what three skills earlier in lexicographic
    order, or fewer skills do; likewise c after b alone. Of all shortest ways to a state, the
    first in that order has no such piece, and all its beginnings are first ways, too. So a
    search that keeps the first way to every state needs no others.
    """
    worth = any_order(moves, num_skills)
    # an affine map is known by what it does to zero and to every single bit
    points = pack(np.concatenate([np.zeros((1, num_bits), bool), np.eye(num_bits, dtype=bool)]))
    if (num_skills + 1) ** 2 * num_skills > MAX_ENTRIES:
        return worth
    worth = np.tile(worth, (num_skills + 1, num_skills + 1, 1))
    seen = {points.tobytes()}
    sequences: list[tuple[int, ...]] = [()]
    effects = points[None]
    for _ in range(MAX_LENGTH):
        if effects.size * len(moves) > MAX_WORDS:
            break
        states = effects.reshape(-1, points.shape[1])
        after = {k: moves[k](states).reshape(effects.shape) for k in sorted(moves)}
        longer: list[tuple[int, ...]] = []
        kept: list[Words] = []
        for row, sequence in enumerate(sequences):
            for skill, images in after.items():
                effect = images[row].tobytes()
                if effect in seen:
                    worth[_ending_in(*sequence, skill)] = False
                else:
                    seen.add(effect)
                    longer.append((*sequence, skill))
                    kept.append(images[row])
        sequences, effects = longer, np.array(kept, np.uint64).reshape(-1, *points.shape)
    return worth


def _ending_in(*skills: int) -> tuple[EllipsisType | int, ...]:
    return ..., *skills


def any_order(moves: Moves, num_skills: int) -> Bool[np.ndarray, "1 1 skills"]:
    """Every skill that has a move, after whatever came before."""
    worth = np.zeros((1, 1, num_skills), bool)
    worth[..., list(moves)] = True
    return worth
