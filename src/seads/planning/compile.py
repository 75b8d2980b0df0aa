"""Compile a model into operators by asking it about many states."""

from __future__ import annotations

from collections import Counter

import numpy as np
from jaxtyping import Bool, Float

from seads.games.gf2 import eliminate
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled, Operator

FIT_STATES = 512
HELD_OUT_STATES = 256
WALKERS = 128
# A simpler rule wins unless a richer one explains this share of the states more.
SIMPLER_BY = 0.002
# A rule for a bit may be wrong in this share of the states used to find it.
MAX_ERROR = 0.05
# What a skill often flips is worth knowing if the model says so in this share of the states:
# networks that are right near the goal err far from it, and there plans have a choice of orders.
MIN_AGREEMENT = 0.25


def compile_model(
    model: SymbolicModel, samples: Bool[np.ndarray, "rows bits"], seed: int = 0
) -> Compiled:
    """Find the operator behind each skill; what no reliable one explains stays opaque.

    `samples` are states in which the skills will be used, such as start boards; more are
    reached from them by random walks through the model. An operator's agreement is how often
    it predicts the whole successor of states that were not used to find it. Where the simplest
    rule is not reliable, the bits that the skill flips most often are noted instead.
    """
    states = walk(model, samples, FIT_STATES + HELD_OUT_STATES, np.random.default_rng(seed))
    after = model.successors(states)
    fit, held_out = states[:FIT_STATES], states[FIT_STATES:]
    parities = _Parities(fit)
    operators: dict[int, Operator] = {}
    for skill in range(model.num_skills):
        fit_after, held_out_after = after[:FIT_STATES, skill], after[FIT_STATES:, skill]
        rule = _fit(fit, fit_after, parities)
        found = None if rule is None else _check(skill, *rule, held_out, held_out_after)
        if found is None or not found.reliable:
            found = _check(skill, *_often(fit ^ fit_after), held_out, held_out_after)
            if not found.always.any() or found.agreement < MIN_AGREEMENT:
                continue
        operators[skill] = found
    return Compiled(model, operators)


def _check(
    skill: int,
    decides: Bool[np.ndarray, "bits bits"],
    always: Bool[np.ndarray, "bits"],
    states: Bool[np.ndarray, "rows bits"],
    after: Bool[np.ndarray, "rows bits"],
) -> Operator:
    """The operator, with the share of these states on which it predicts the whole successor."""
    predicted = states ^ affine(decides, always, states)
    return Operator(skill, decides, always, float((predicted == after).all(axis=1).mean()))


def _often(
    flips: Bool[np.ndarray, "rows bits"],
) -> tuple[Bool[np.ndarray, "bits bits"], Bool[np.ndarray, "bits"]]:
    """The rule that flips those bits which flip together most often."""
    ((effect, _),) = Counter(row.tobytes() for row in flips).most_common(1)
    bits = flips.shape[1]
    return np.zeros((bits, bits), bool), np.frombuffer(effect, bool)


def walk(
    model: SymbolicModel,
    samples: Bool[np.ndarray, "rows bits"],
    count: int,
    rng: np.random.Generator,
) -> Bool[np.ndarray, "count bits"]:
    """`count` states met on random walks from the samples, near and far alike, in random order."""
    walkers = samples[rng.integers(len(samples), size=WALKERS)]
    met = [walkers]
    for _ in range(max(64, model.num_bits)):
        walkers = model.successor(walkers, rng.integers(model.num_skills, size=WALKERS))
        met.append(walkers)
    return rng.permutation(np.concatenate(met))[:count]


def affine(
    decides: Bool[np.ndarray, "bits bits"],
    always: Bool[np.ndarray, "bits"],
    states: Bool[np.ndarray, "rows bits"],
) -> Bool[np.ndarray, "rows bits"]:
    """Which bits flip in each state."""
    if not decides.any():
        return np.broadcast_to(always, states.shape)
    odd = (states.astype(np.float32) @ decides.T.astype(np.float32)).astype(np.int32) & 1
    return odd.astype(bool) ^ always


def _fit(
    states: Bool[np.ndarray, "rows bits"],
    after: Bool[np.ndarray, "rows bits"],
    parities: _Parities,
) -> tuple[Bool[np.ndarray, "bits bits"], Bool[np.ndarray, "bits"]] | None:
    """The simplest affine rule for one skill: (decides, always), or None.

    Tried for each bit: it always or never flips; it flips on the value of one bit; it takes
    the value of another bit; and at last any parity of bits.
    """
    bits = states.shape[1]
    flips = after ^ states
    decides, always = np.zeros((bits, bits), bool), flips.mean(axis=0) > 0.5
    wrong = (flips != always).mean(axis=0)
    open_bits = np.flatnonzero(wrong > 0)
    if not len(open_bits):
        return decides, always
    signs = 1.0 - 2.0 * states.astype(np.float32)
    flip_signs = 1.0 - 2.0 * flips[:, open_bits].astype(np.float32)
    on_one = _correlation(flip_signs, signs)
    takes = _correlation(flip_signs * signs[:, open_bits], signs)
    for row, bit in enumerate(open_bits):
        best: tuple[float, list[int], bool] = (float(wrong[bit]), [], bool(always[bit]))
        for correlation, also in ((on_one[row], None), (takes[row], bit)):
            source = int(np.abs(correlation).argmax())
            error = (1.0 - abs(correlation[source])) / 2
            if error < best[0] - SIMPLER_BY and source != also:
                deciding = [source] if also is None else [source, int(also)]
                best = (float(error), deciding, bool(correlation[source] < 0))
        if best[0] > MAX_ERROR:
            parity = parities.find(flips[:, bit])
            if parity is None:
                return None
            decides[bit], always[bit] = parity
        else:
            decides[bit, best[1]] = True
            always[bit] = best[2]
    return decides, always


def _correlation(
    left: Float[np.ndarray, "rows a"], right: Float[np.ndarray, "rows b"]
) -> Float[np.ndarray, "a b"]:
    return left.T @ right / len(left)


class _Parities:
    """Finds the parity of bits that gives a column of flips; eliminates once for all columns."""

    def __init__(self, states: Bool[np.ndarray, "rows bits"]) -> None:
        ones = np.ones((len(states), 1), bool)
        self._rows = np.concatenate([states, ones], axis=1).astype(np.uint8)
        self._inverse: np.ndarray | None = None
        # enough states to fix every unknown; all of them check the outcome
        self._used = min(len(states), 4 * self._rows.shape[1])

    def find(self, flips: Bool[np.ndarray, "rows"]) -> tuple[Bool[np.ndarray, "bits"], bool] | None:
        """(bits, constant) whose parity gives `flips` on nearly all states, or None."""
        unknowns = self._rows.shape[1]
        if self._inverse is None:
            size = max(self._used, unknowns)
            square = np.zeros((size, size), np.uint8)
            square[: self._used, :unknowns] = self._rows[: self._used]
            self._inverse = eliminate(square).inverse[:unknowns, : self._used]
        solution = self._inverse @ flips[: self._used].astype(np.uint8) & 1
        predicted = (self._rows.astype(np.int32) @ solution & 1).astype(bool)
        if (predicted != flips).mean() > MAX_ERROR:
            return None
        return solution[:-1].astype(bool), bool(solution[-1])
