"""Truthful calibration errors at 10⁶ rows as ratios to the library's ECE, from raw arrays, each with its own sort.

Run with ``python -m benchmarks.speed.truthful``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.timing import compare
from calibrant import metrics
from calibrant.metrics.cutoff import cutoff_calibration_error
from calibrant.metrics.finite_sample_band import finite_sample_band
from calibrant.metrics.two_bin import averaged_two_bin_error

N_ROWS = 10**6


def main() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(N_ROWS)
    y = rng.random(N_ROWS) < p
    ours = {
        "averaged two-bin error": (partial(averaged_two_bin_error, y, p), 1.2),
        "cutoff calibration error": (partial(cutoff_calibration_error, y, p), 1.2),
        "finite-sample band": (partial(finite_sample_band, y, p), None),
    }
    baseline = ("expected_calibration_error", partial(metrics.expected_calibration_error, y, p))
    compare(f"{N_ROWS:.0e} rows", baseline, ours, rounds=9)


if __name__ == "__main__":
    main()
