"""Print what probmetrics' ETS gives by likelihood: ``pip install probmetrics torch numba``, then run this file.

The numbers are kept in tests/calibrators/test_ensemble_temperature.py, because the package is not a dependency of the
tests.
"""

from __future__ import annotations

import numpy as np
from probmetrics.calibrators import ETSCalibrator


def table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Overconfident scores, some of them labelled by a coin, and their labels."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(1.5, 1.2, 400)
    scores = truth**2 / (truth**2 + (1.0 - truth) ** 2)
    coin = rng.random(400) < 0.1 * seed
    return scores, (rng.random(400) < np.where(coin, 0.5, truth)).astype(int)


def main() -> None:
    grid = np.linspace(0.05, 0.95, 7)
    for seed in (0, 1, 3):
        scores, labels = table(seed)
        peer = ETSCalibrator(loss="ce")
        peer.fit(np.column_stack((1.0 - scores, scores)), labels)
        found = peer.predict_proba(np.column_stack((1.0 - grid, grid)))[:, 1]
        print(f"    {seed}: ({float(peer.t_)!r}, {[float(w) for w in peer.w_]}, {[float(p) for p in found]}),")


if __name__ == "__main__":
    main()
