"""Save one model of each kind with this version, for the test that every later version reads them.

python -m benchmarks.record.saved
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import calibrant
from calibrant import engines, simulate
from calibrant.calibrators import registry

METHODS = ("identity", "platt", "temperature", "beta", "isotonic", "histogram", "spline", "abb", "venn_abers")


def main() -> None:
    folder = Path("tests/data/saved") / calibrant.__version__
    folder.mkdir(parents=True, exist_ok=True)
    data = simulate.from_truth("asymmetric", 300, rng=0)
    for name in METHODS:
        registry.create(name).fit(data.scores, data.labels).save(folder / f"{name}.json")
    margins = np.log(data.scores / (1.0 - data.scores))
    calibrant.Blend(space="decision").fit(margins, data.labels).save(folder / "blend_decision.json")
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), 300)
    y = (truth.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    for method in (calibrant.MatrixBlend(), calibrant.VectorScaling(), calibrant.MatrixScaling()):
        method.fit(truth, y).save(folder / f"{method.name}_matrix.json")
    team = rng.choice(["a", "b"], 300)
    calibrant.SegmentedCalibrator("platt").fit(data.scores, data.labels, segment=team).save(folder / "segmented.json")
    engines.save(data.tally.coarsen(50), folder / "tally.json")
    print(f"{len(list(folder.iterdir()))} files in {folder}")


if __name__ == "__main__":
    main()
