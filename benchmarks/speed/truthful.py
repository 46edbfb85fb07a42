"""Truthful calibration errors at 10⁶ rows as ratios to the library's ECE.

From a tally that is there already, and from raw arrays, each with its own sort.

Run with ``python -m benchmarks.speed.truthful``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.timing import compare
from calibrant import Tally, metrics
from calibrant.metrics import averaged_two_bin_error, cutoff_calibration_error
from calibrant.metrics.calibration_band import finite_sample_band

N_ROWS = 10**6


def main() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(N_ROWS)
    y = rng.random(N_ROWS) < p
    for title, data in {"a ready tally": (Tally.from_arrays(p, y),), "arrays": (y, p)}.items():
        ours = {
            "averaged two-bin error": (partial(averaged_two_bin_error, *data), 1.2),
            "cutoff calibration error": (partial(cutoff_calibration_error, *data), 1.2),
            "finite-sample band": (partial(finite_sample_band, *data), None),
        }
        baseline = ("expected_calibration_error", partial(metrics.expected_calibration_error, *data))
        compare(f"{N_ROWS:.0e} rows, from {title}", baseline, ours, rounds=9)


if __name__ == "__main__":
    main()
