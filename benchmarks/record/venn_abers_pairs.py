"""Print what the venn-abers package gives on a small table: ``pip install venn-abers``, then run this file.

The numbers are kept in tests/calibrators/test_venn_abers.py, because the package is not a dependency of the tests.
"""

from __future__ import annotations

import numpy as np
from venn_abers import VennAbers


def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibration scores with ties, their labels, and test scores on, between and beyond them."""
    rng = np.random.default_rng(7)
    scores = np.round(rng.random(40), 1) * 0.9 + 0.05
    labels = (rng.random(40) < scores).astype(int)
    tests = np.concatenate((np.linspace(0.0, 1.0, 12), np.unique(scores)))
    return scores, labels, tests


def main() -> None:
    scores, labels, tests = table()
    peer = VennAbers()
    peer.fit(np.column_stack((1.0 - scores, scores)), labels)
    merged, pairs = peer.predict_proba(np.column_stack((1.0 - tests, tests)))
    for name, values in (("P0", pairs[:, 0]), ("P1", pairs[:, 1]), ("MERGED", merged[:, 1])):
        print(f"{name} = {[float(v) for v in values]}")


if __name__ == "__main__":
    main()
