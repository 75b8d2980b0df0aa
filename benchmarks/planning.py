"""Time, nodes per second and memory of every planner against the solution depth, as JSON.

python benchmarks/planning.py                      both games, an exact network of the paper's size
python benchmarks/planning.py --agent NAME         a trained agent's forward model
python benchmarks/planning.py --large              also 7×7, 9×9 and 13×13 LightsOut
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from seads.games import Game, make_game
from seads.planning import (
    Budget,
    Compiled,
    Costs,
    RulesModel,
    SymbolicModel,
    compile_model,
    plan,
)
from seads.planning.planners import quickest

# The deepest boards each planner is asked for; the others take minutes or all the memory.
DEEPEST = {
    "lightsout": {"auto": 15, "bfs": 7, "dijkstra": 5, "bidirectional": 13, "astar": 9},
    "tileswap": {"auto": 16, "bfs": 7, "dijkstra": 6, "bidirectional": 16, "astar": 16},
}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=["lightsout", "tileswap", "both"], default="both")
    parser.add_argument("--planners", nargs="*", default=["auto", "bfs", "bidirectional", "astar"])
    parser.add_argument("--boards", type=int, default=20, help="boards of each depth for auto")
    parser.add_argument("--agent", help="a trained agent or run directory, instead of both games")
    parser.add_argument("--large", action="store_true", help="add 7×7, 9×9, 13×13 LightsOut")
    options = parser.parse_args()

    report: dict[str, Any] = {
        "workers": len(os.sched_getaffinity(0)),
        "matmul_gflops": round(_matmul_rate(), 1),
    }
    if options.agent:
        game, network = _trained(options.agent)
        if game.num_fields <= 25:  # depths are counted for the boards of the paper
            report[options.agent] = _measure(game, network, options.planners, options.boards)
        else:
            report[options.agent] = _measure_large(game, {"network": network})
    else:
        for name in ["lightsout", "tileswap"] if options.game == "both" else [options.game]:
            game = make_game(name)
            report[name] = _measure(game, _exact(game), options.planners, options.boards)
    if options.large:
        for size in (7, 9, 13):
            game = make_game("lightsout", size=size)
            models: dict[str, SymbolicModel]
            models = {"rules": RulesModel(game), "network": _exact(game)}
            report[f"lightsout {size}×{size}"] = _measure_large(game, models)
    json.dump(report, sys.stdout, indent=1)
    print()


def _matmul_rate() -> float:
    """The most this machine does, in GFLOP/s: one large product on all cores."""
    left = np.random.default_rng(0).random((2048, 2048), np.float32)
    best = 0.0
    for _ in range(5):
        begin = time.perf_counter()
        np.matmul(left, left)
        best = max(best, 2 * 2048**3 / (time.perf_counter() - begin) / 1e9)
    return best


def _exact(game: Game) -> SymbolicModel:
    sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout: tests are not installed
    from tests.planning.exact_network import exact_network

    goal = game.to_bits(game.goal[None])
    return exact_network(compile_model(RulesModel(game), goal))


def _trained(name: str) -> tuple[Game, SymbolicModel]:
    from seads.envs.registry import lookup
    from seads.solving import load
    from seads.solving.symbolic_model import symbolic_model

    agent = load(name)
    return lookup(agent.env).make_game(), symbolic_model(agent)


def _measure(
    game: Game, network: SymbolicModel, planners: list[str], boards: int
) -> dict[str, Any]:
    goal = game.to_bits(game.goal[None])[0]
    begin = time.perf_counter()
    compiled = compile_model(network, goal[None])
    report: dict[str, Any] = {
        "compile_seconds": round(time.perf_counter() - begin, 3),
        "opaque_skills": list(compiled.opaque),
        "auto_is": quickest(compiled, Costs.length(compiled.num_skills)),
    }
    any_board = game.to_bits(game.draw(np.ones(1, int), "all", np.zeros(1, np.uint64)))[0]
    plan(any_board, goal, compiled)  # the first plan waits for JAX, whatever the board
    for planner in planners:
        by_depth: dict[int | str, Any] = {}
        seconds: list[float] = []
        for depth in range(1, DEEPEST[game.name].get(planner, 5) + 1):
            count = boards if planner == "auto" else 2
            by_depth[depth], spent = _depth(game, compiled, network, planner, depth, count)
            seconds += spent
            print(game.name, planner, depth, by_depth[depth], file=sys.stderr)
        by_depth["all"] = {
            "optimal": sum(row["optimal"] for row in by_depth.values()),
            "boards": len(seconds),
            "median_ms": round(1e3 * statistics.median(seconds), 2),
            "worst_ms": round(1e3 * max(seconds), 2),
        }
        report[planner] = by_depth
    return report


def _depth(
    game: Game, compiled: Compiled, network: Any, planner: str, depth: int, count: int
) -> tuple[dict[str, Any], list[float]]:
    """All boards of one depth, and their times; nothing is kept from one board to the next."""
    goal = game.to_bits(game.goal[None])[0]
    seeds = np.arange(count, dtype=np.uint64)
    starts = game.to_bits(game.draw(np.full(count, depth), "all", seeds))
    cold, cpu = [], []
    for start in starts:
        compiled.cache.clear()
        begin = time.process_time()
        cold.append(plan(start, goal, compiled, planner, Budget(seconds=300.0)))
        cpu.append(time.process_time() - begin)
    seconds = [found.seconds for found in cold]
    expanded, total = sum(found.expanded for found in cold), sum(seconds)
    row: dict[str, Any] = {
        "optimal": sum(found.solved and len(found) == depth for found in cold),
        "boards": count,
        "median_ms": round(1e3 * statistics.median(seconds), 2),
        "worst_ms": round(1e3 * max(seconds), 2),
        "median_cpu_ms": round(1e3 * statistics.median(cpu), 2),  # where others use the cores too
        "worst_cpu_ms": round(1e3 * max(cpu), 2),
        "nodes": expanded // count,
        "nodes_per_second": int(expanded / total),
        "memory_mb": round(max(found.memory_mb for found in cold), 1),
    }
    if planner == "auto":
        warm = [plan(start, goal, compiled, planner).seconds for start in starts]
        row["median_ms_warm"] = round(1e3 * statistics.median(warm), 2)
    if planner in ("bfs", "dijkstra"):
        row["network_gflops"] = round(_flops_per_state(network) * expanded / total / 1e9, 1)
        row["share_of_matmul"] = round(row["network_gflops"] / _matmul_rate(), 2)
    return row, seconds


def _flops_per_state(network: Any) -> int:
    """Of the multiplications that expand one state; the first layer's share of it is one for all
    skills."""
    if not hasattr(network.model, "mlp"):
        return 2 * network.model.weights.size
    first, *rest = (layer.weight for layer in network.model.mlp.layers)
    per_skill = sum(weight.size for weight in rest)
    return 2 * (network.num_bits * first.shape[1] + network.num_skills * per_skill)


def _measure_large(game: Game, models: dict[str, SymbolicModel]) -> dict[str, Any]:
    """Boards of any depth with each model, compiling included."""
    goal = game.to_bits(game.goal[None])[0]
    half = game.num_fields // 2
    starts = game.to_bits(game.draw(np.full(5, half), "all", np.arange(5, dtype=np.uint64)))
    report = {}
    for name, model in models.items():
        found = [plan(start, goal, model) for start in starts]
        compiled = compile_model(model, goal[None])
        again = [plan(start, goal, compiled) for start in starts]
        report[name] = {
            "solved": sum(f.solved for f in found),
            "surely_shortest": sum(f.minimal for f in found),
            "boards": len(found),
            "worst_ms_with_compiling": round(1e3 * max(f.seconds for f in found), 1),
            "worst_ms_compiled": round(1e3 * max(f.seconds for f in again), 1),
            "longest_plan": max(len(f) for f in found),
        }
    return report


if __name__ == "__main__":
    main()
