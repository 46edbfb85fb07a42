"""Measures and decisions: tests and intervals whose truth is simulated."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit

from benchmarks.audit import Row
from calibrant import CalibrationMap
from calibrant.decisions import value_of_calibration
from calibrant.maps.functions import Sigmoid
from calibrant.metrics import cutoff_calibration_interval, equivalence_test, refinement_by_recalibration

MORE = 4  # times as many runs: each costs little, and says of an interval only whether it holds


def row(finding: str, cell: str, runs: int, coverage: float, width: float = np.nan) -> Row:
    return Row(finding, cell, runs, float(coverage), float(width))


def equivalence(repeats: int, seed: int) -> list[Row]:
    """How often the bounds of the mean distance hold it; and how often the right conclusion is drawn."""
    curves: dict[str, Callable[[np.ndarray], np.ndarray]] = {"calibrated": np.array, "off by 0.1": lambda p: p + 0.1}
    right = {"calibrated": "calibrated", "off by 0.1": "not calibrated"}
    out = []
    for name, curve in curves.items():
        for n in (200, 20_000):
            held, said, width = [], [], []
            for number in range(repeats):
                rng = np.random.default_rng([seed, number])
                p = rng.uniform(0.2, 0.8, n)
                found = equivalence_test(rng.random(n) < curve(p), p, tolerance=0.05)
                held.append(found.low <= np.abs(curve(p) - p).mean() + 1e-12 <= found.high + 1e-12)
                said.append(found.conclusion == right[name])
                width.append(found.high - found.low)
            out.append(row("F6", f"{name}, {n} rows, bounds", repeats, np.mean(held), np.mean(width)))
            out.append(row("F6", f"{name}, {n} rows, told", repeats, np.mean(said)))
    return out


def changed_rows(repeats: int, seed: int) -> list[Row]:
    """The gain by a map that changes few decisions, where it is right and where it is too careful."""
    repeats = MORE * repeats
    map_ = CalibrationMap(Sigmoid(1.0, -0.4, "logit"), "probability", True)
    out = []
    for name, shift in (("right", -0.4), ("too weak", -1.5)):

        def draw(rng: np.random.Generator, size: int, shift: float = shift) -> tuple[np.ndarray, np.ndarray]:
            p = rng.beta(1.2, 3, size)
            return p, expit(logit(p) + shift)

        p, truth = draw(np.random.default_rng(10**6), 10**6)
        gain = np.mean(((p >= 0.2) & (map_(p) < 0.2)) * (1.0 - 5.0 * truth))
        for n in (50, 100, 200, 500):
            found = []
            for number in range(repeats):
                rng = np.random.default_rng([seed, number])
                p, truth = draw(rng, n)
                found.append(value_of_calibration(map_, rng.random(n) < truth, p, cost_fp=1, cost_fn=4).gain)
            held = [one.low <= gain <= one.high for one in found]
            out.append(row("F7", f"{name}, {n} rows", repeats, np.mean(held), np.mean([one.width for one in found])))
    return out


def recalibration(repeats: int, seed: int) -> list[Row]:
    """The gain by recalibration against its own expectation."""
    repeats = MORE * repeats
    out = []
    for name, slope in (("calibrated", 1.0), ("miscalibrated", 0.5)):
        for n in (200, 1000):
            found = []
            for number in range(repeats):
                rng = np.random.default_rng([seed, number])
                p = rng.beta(1.5, 1.5, n)
                found.append(refinement_by_recalibration(rng.random(n) < expit(slope * logit(p)), p).calibration)
            expected = np.mean([one.value for one in found])
            held = [one.low <= expected <= one.high for one in found]
            out.append(row("F10", f"{name}, {n} rows", repeats, np.mean(held), np.mean([one.width for one in found])))
    return out


def cutoff(repeats: int, seed: int) -> list[Row]:
    """The cutoff error of calibrated probabilities, which is 0."""
    repeats = MORE * repeats
    out = []
    for n in (50, 200, 500, 2000):
        found = []
        for number in range(repeats):
            rng = np.random.default_rng([seed, number])
            p = rng.beta(1, 2, n)
            found.append(cutoff_calibration_interval(rng.random(n) < p, p, rng=number, n_resamples=500))
        held = [one.low == 0.0 for one in found]
        out.append(row("F11", f"calibrated, {n} rows", repeats, np.mean(held), np.mean([one.width for one in found])))
    return out


PARTS = [("F6", equivalence), ("F7", changed_rows), ("F10", recalibration), ("F11", cutoff)]
