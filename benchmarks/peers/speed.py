"""Time to fit and to predict as many rows, of each peer as a ratio to calibrant's implementation of the same method.

    python -m benchmarks.peers.speed [--sizes 1000 10000 100000]

Above 1 the peer is slower. Rivals take turns and the best of the rounds counts; a call before the clock starts pays for
compilation. A peer that needs more than `--limit` seconds at one size is left out at larger ones.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.arena.methods import METHODS
from benchmarks.peers.calibrators import CALIBRATORS
from benchmarks.timing import seconds

ROUNDS, SLOW_ROUNDS, SLOW = 25, 2, 0.5  # calls of more than SLOW seconds have fewer rounds


def _peer(module: str, name: str, fit: str, predict: str) -> Callable[..., Any]:
    from importlib import import_module

    def run(s: np.ndarray, y: np.ndarray, new: np.ndarray) -> Any:
        model = getattr(import_module(module), name)()
        getattr(model, fit)(s, y)
        return getattr(model, predict)(new)

    return run


_netcal = partial(_peer, fit="fit", predict="transform")
_probcal = partial(_peer, "probcal", fit="fit", predict="predict_proba")

#: the method of calibrant, and the peers that have it
GROUPS: dict[str, dict[str, Callable[..., Any]]] = {
    "isotonic": {
        "scikit-learn": CALIBRATORS["scikit-learn isotonic"],
        "netcal": _netcal("netcal.binning", "IsotonicRegression"),
        "probcal": _probcal("IsotonicCalibrator"),
    },
    "platt": {"scikit-learn": METHODS["sklearn.CCV-sigmoid(logit)"], "probcal": _probcal("PlattCalibrator")},
    "temperature": {
        "scikit-learn": METHODS["sklearn.CCV-temperature"],
        "netcal": _netcal("netcal.scaling", "TemperatureScaling"),
        "probcal": _probcal("TemperatureCalibrator"),
    },
    "beta": {"betacal": METHODS["betacal.abm"], "probcal": _probcal("BetaCalibrator")},
    "histogram": {
        "netcal": _netcal("netcal.binning", "HistogramBinning"),
        "probcal": _probcal("HistogramBinningCalibrator"),
    },
    "venn_abers": {
        "venn-abers": METHODS["venn_abers.VennAbers"],
        "probmetrics": METHODS["probmetrics.ivap"],
        "probcal": _probcal("VennAbersCalibrator"),
    },
    "bbq": {"netcal": _netcal("netcal.binning", "BBQ"), "probcal": _probcal("BBQCalibrator")},
    "enir": {"netcal": _netcal("netcal.binning", "ENIR"), "probcal": _probcal("ENIRCalibrator")},
    "spline": {"splinecalib": METHODS["splinecalib.SplineCalib"], "probcal": _probcal("SplineCalibrator")},
    "ets": {"probmetrics": METHODS["probmetrics.ETS"]},
    "blend": {"probcal CalibratorSelector": METHODS["probcal.CalibratorSelector"]},
}


def rows(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    s = rng.beta(0.5, 0.5, n)
    return s, (rng.random(n) < s**1.5).astype(int), rng.beta(0.5, 0.5, n)


def _quietly(task: Callable[..., Any], data: tuple[np.ndarray, ...]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        task(*data)


def measure(group: str, sizes: list[int], limit: float) -> None:
    rivals = {"calibrant": METHODS[f"calibrant.{group}"]} | GROUPS[group]
    for n in sizes:
        data = rows(n)
        best = dict.fromkeys(rivals, float("inf"))
        for name in list(rivals):
            try:
                _quietly(rivals[name], data)
            except ImportError as error:
                print(f"{group}: {name} skipped, {error}", flush=True)
                del rivals[name], best[name]
        for turn in range(ROUNDS):
            for name, task in rivals.items():
                if turn < SLOW_ROUNDS or best[name] <= SLOW:
                    best[name] = min(best[name], seconds(partial(_quietly, task, data)))
        own = best.pop("calibrant")
        ratios = ", ".join(f"{name} {time / own:.3g}" for name, time in best.items())
        print(f"{group}, {n} rows: {ratios} times calibrant's {1e3 * own:.3g} ms", flush=True)
        rivals = {name: task for name, task in rivals.items() if name == "calibrant" or best[name] <= limit}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1000, 10_000, 100_000])
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--limit", type=float, default=1.0)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for group in options.groups:
            measure(group, options.sizes, options.limit)


if __name__ == "__main__":
    main()
