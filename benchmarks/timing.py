"""Times as ratios inside one run: rivals take turns, the best of several rounds counts."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["compare", "seconds"]

Task = Callable[[], object]


def seconds(task: Task) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def compare(
    title: str,
    baseline: tuple[str, Task],
    candidates: dict[str, tuple[Task, float | None]],
    rounds: int = 5,
) -> dict[str, float]:
    """Print each candidate's best time as a ratio to the baseline's best time; return the ratios.

    A candidate is (task, limit); the limit is the ratio that it promises to stay under, or None. Every task runs
    once before the clock starts, so that compilation and caches do not count.
    """
    name, base = baseline
    tasks = {name: base} | {key: task for key, (task, _) in candidates.items()}
    for task in tasks.values():
        task()
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for key, task in tasks.items():
            best[key] = min(best[key], seconds(task))
    print(f"\n{title}")
    print(f"  {name:<44} {1e3 * best[name]:10.2f} ms")
    ratios = {}
    for key, (_, limit) in candidates.items():
        ratios[key] = best[key] / best[name]
        verdict = "" if limit is None else f"  limit {limit:g}  {'ok' if ratios[key] <= limit else 'MISSED'}"
        print(f"  {key:<44} {1e3 * best[key]:10.2f} ms  ratio {ratios[key]:7.3f}{verdict}")
    return ratios
