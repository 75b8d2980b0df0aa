"""Lower bounds on the cost to the goal, derived from compiled operators alone.

Two kinds, both admissible; the larger one counts:

- Potentials: a weight for each bit that differs from the goal, such that no skill can remove
  more weight than it costs. The best weights for a start are a linear program.
- Patterns: some bits are decided by themselves alone (a light, a chip with all its fields).
  Forgetting all other bits leaves a small puzzle whose exact costs never exceed the true ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from seads.planning.costs import Costs
from seads.planning.operators import Compiled, Operator, OperatorSet
from seads.planning.packed import Words, pack, unpack
from seads.planning.tree import SearchTree

MAX_PATTERN_STATES = 20_000
MAX_PATTERNS = 4

Heuristic = Callable[[Words], Float[np.ndarray, "rows"]]


def derive(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: Compiled,
    costs: Costs,
    in_time: Callable[[], bool] = lambda: True,
) -> Heuristic:
    """A lower bound for each packed state; infinity where the goal is out of reach.

    With an opaque skill nothing can be promised, and the bound is zero. When `in_time` turns
    false no more patterns are looked for, and the bound is looser.
    """
    if model.opaque:
        return lambda words: np.zeros(len(words))
    weights = _potentials(start ^ goal, model, costs.search)
    tables = _patterns(goal, model, costs, in_time)
    target = pack(goal)

    def bound(words: Words) -> Float[np.ndarray, "rows"]:
        differs = unpack(words ^ target, model.num_bits)
        # a hair below, so that rounding in the linear program cannot overestimate
        lower = (differs @ weights) * (1 - 1e-9) - 1e-9
        for table in tables:
            lower = np.maximum(lower, table(words))
        return np.maximum(lower, 0.0)

    return bound


def _potentials(
    differs: Bool[np.ndarray, "bits"], model: Compiled, price: Float[np.ndarray, "skills"]
) -> Float[np.ndarray, "bits"]:
    from scipy.optimize import linprog  # slow to import, and only A* needs it

    touches = [op.decides.any(axis=1) | op.always for op in model.operators.values()]
    limits = price[list(model.operators)]
    usable = np.isfinite(limits)
    if not usable.any():
        return np.zeros(len(differs))
    # Bits no skill can change get no weight here: the patterns rule them out.
    touched = np.array(touches)[usable]
    bounds = [(0, None) if some else (0, 0) for some in touched.any(axis=0)]
    answer = linprog(-differs.astype(float), A_ub=touched, b_ub=limits[usable], bounds=bounds)
    if answer.status != 0:
        return np.zeros(len(differs))
    # The solver keeps its constraints up to a tolerance; scaling makes them hold exactly.
    weights = np.maximum(answer.x, 0.0)
    excess = float(np.max(touched @ weights / limits[usable], initial=1.0))
    return weights / max(excess, 1.0)


def _patterns(
    goal: Bool[np.ndarray, "bits"], model: Compiled, costs: Costs, in_time: Callable[[], bool]
) -> list[Heuristic]:
    """Pattern tables for the goal, kept with the model for the next start if all are there."""
    key = ("patterns", pack(goal).tobytes() + costs.per_skill.tobytes())
    tables = model.cache.get(key)
    if not isinstance(tables, list):
        tables = _build_patterns(goal, model, costs, in_time)
        if in_time():
            model.cache[key] = tables
    return tables


def _build_patterns(
    goal: Bool[np.ndarray, "bits"], model: Compiled, costs: Costs, in_time: Callable[[], bool]
) -> list[Heuristic]:
    if not model.invertible:
        return []
    groups = _independent_groups(model)
    tables: list[Heuristic] = []
    while groups and len(tables) < MAX_PATTERNS and in_time():
        chosen: np.ndarray = np.zeros(0, np.int64)
        best: Heuristic | None = None
        while groups and in_time():
            wider = np.union1d(chosen, groups[0])
            table = _pattern(wider, goal, model, costs)
            if table is None:
                break
            chosen, best = wider, table
            groups = groups[1:]
        if best is None:
            groups = groups[1:]  # this group alone is too large
        else:
            tables.append(best)
    return tables


def _independent_groups(model: Compiled) -> list[np.ndarray]:
    """Smallest sets of bits whose next values depend on no bit outside the set."""
    needs = np.eye(model.num_bits, dtype=bool)
    for operator in model.operators.values():
        needs |= operator.decides
    while True:
        wider = (needs.astype(np.float32) @ needs.astype(np.float32)) > 0
        if (wider == needs).all():
            break
        needs = wider
    distinct = {row.tobytes(): np.flatnonzero(row) for row in needs}
    return sorted(distinct.values(), key=lambda group: (len(group), group[0]))


def _pattern(
    bits: np.ndarray, goal: Bool[np.ndarray, "bits"], model: Compiled, costs: Costs
) -> Heuristic | None:
    """Exact costs of the puzzle made of these bits, or None if it has too many states."""
    operators = {
        k: Operator(k, op.decides[np.ix_(bits, bits)], op.always[bits])
        for k, op in model.operators.items()
    }
    puzzle = OperatorSet(len(bits), model.num_skills, operators)
    if not puzzle.invertible:
        return None
    tree = SearchTree(pack(goal[bits])[None])
    level = tree.level
    while len(level):
        before, rows, skills = puzzle.retreat(tree.words[level.start : level.stop])
        tree.add(before, level.start + rows, skills)
        if len(tree) > MAX_PATTERN_STATES:
            return None
        level = tree.next_level()
    exact = _exact_costs(tree, puzzle, costs.search)

    def table(words: Words) -> Float[np.ndarray, "rows"]:
        node = tree.find(pack(unpack(words, model.num_bits)[:, bits]))
        return np.where(node >= 0, exact[node], np.inf)

    return table


def _exact_costs(
    tree: SearchTree, puzzle: OperatorSet, price: Float[np.ndarray, "skills"]
) -> Float[np.ndarray, "nodes"]:
    """The cheapest cost from every node to the goal, which is node 0."""
    after = puzzle.step(tree.words)
    follow = tree.find(after.reshape(-1, after.shape[-1])).reshape(len(tree), -1)
    steps = np.where(follow >= 0, price, np.inf)
    cost = np.full(len(tree), np.inf)
    cost[0] = 0.0
    while True:
        relaxed = np.minimum(cost, (steps + cost[follow]).min(axis=1))
        if (relaxed == cost).all():
            return cost
        cost = relaxed
