"""How much the map of Bayes-Iso, and of Blend, depends on chance, on the grid and on which label is called positive.

``python -m benchmarks.accuracy.bayes_iso_seeds`` takes a minute. With ``--before PATH``, the `src` folder of another
checkout, it measures that one too, in turns, and prints the ratio of the times.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

SIZES = (30, 100, 300, 1000, 3000)
SEEDS = range(10)
FINE = 24  # levels of a window with which those of the default are compared
TITLES = {
    "range": "two seeds",
    "deviation": "from mean",
    "spread": "spread",
    "grid": "finer grid",
    "exchange": "exchange",
    "blend": "Blend exch.",
}
TASKS = ("bayes_iso", "D1", "underconfident", "asymmetric", "rare", "nearly_calibrated")


def measure(n: int) -> dict[str, list[float]]:
    """For each data set: differences over seeds, under exchange of labels, and processor seconds of a fit."""
    from calibrant import BayesIso, Blend, simulate

    warnings.simplefilter("ignore")
    out: dict[str, list[float]] = {key: [] for key in (*TITLES, "time")}
    for task in TASKS:
        data = simulate.bayes_iso(n, rng=1) if task == "bayes_iso" else simulate.TRUTHS[task].sample(n, rng=1)
        maps, times = [], []
        for _ in SEEDS:
            begin = time.process_time()
            calibrator = BayesIso().fit(data.scores, data.labels)
            times.append(time.process_time() - begin)
            maps.append(calibrator.predict(data.scores))
        means = np.array(maps)
        out["grid"].append(grid_error(calibrator))
        out["deviation"].append(float(np.abs(means - means.mean(axis=0)).max()))
        out["spread"].append(float(means.std(axis=0, ddof=1).max()))
        out["range"].append(float(np.ptp(means, axis=0).max()))
        out["time"].append(float(np.median(times)))
        for name, make in (("exchange", BayesIso), ("blend", Blend)):
            p = make().fit(data.scores, data.labels).predict(data.scores)
            q = make().fit(1.0 - data.scores, ~data.labels.astype(bool)).predict(1.0 - data.scores)
            out[name].append(float(np.abs(p + q - 1.0).max()))
    return out


def grid_error(calibrator: object) -> float:
    """How far the mean at the cells is from that on a finer grid; of a checkout without a grid, unknown."""
    posterior = getattr(calibrator, "_posterior", None)
    if posterior is None:
        return float("nan")
    from calibrant.calibrators import bayes_iso_posterior as posterior

    fine = posterior.integrate(posterior.positives, posterior.totals, FINE)
    return float(np.abs(fine.mean - posterior.mean).max())


def measure_elsewhere(source: str, n: int) -> dict[str, list[float]]:
    command = "import json, sys; from benchmarks.accuracy.bayes_iso_seeds import measure; "
    command += "print(json.dumps(measure(int(sys.argv[1]))))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((source, str(Path.cwd())))}
    answer = subprocess.run(
        [sys.executable, "-c", command, str(n)], env=environment, check=True, capture_output=True, text=True
    )
    found: dict[str, list[float]] = json.loads(answer.stdout)
    return found


def show(name: str, n: int, found: dict[str, list[float]]) -> None:
    worst = {key: max(values) for key, values in found.items()}
    figures = " ".join(f"{worst[key]:12.4f}" for key in TITLES)
    print(f"{name:7} {n:6} {figures} {1e3 * float(np.mean(found['time'])):8.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="the `src` folder of another checkout")
    before = parser.parse_args().before
    print(f"Largest over scores and {len(TASKS)} data sets, ten seeds; the spread is a standard deviation over seeds")
    print(f"{'':7} {'rows':>6} " + " ".join(f"{title:>12}" for title in TITLES.values()) + f" {'ms':>8}")
    for n in SIZES:
        now = measure(n)
        if before:
            then = measure_elsewhere(before, n)
            show("before", n, then)
        show("now", n, now)
        if before:
            print(f"{'':7} {n:6} time ratio {np.mean(now['time']) / np.mean(then['time']):.2f}", flush=True)


if __name__ == "__main__":
    main()
