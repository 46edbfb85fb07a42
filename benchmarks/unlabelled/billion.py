"""What a question about a billion rows costs, beside one about as many cells of a single row each.

python -m benchmarks.unlabelled.billion
"""

from __future__ import annotations

import time

import numpy as np

from calibrant import Blend, simulate
from calibrant.estimates import count_scores

CELLS = 100_000


def main() -> None:
    data = simulate.bayes_iso(CELLS + 500, rng=0)
    blend = Blend().fit(data.scores[:500], data.labels[:500])
    scores = data.scores[500:]
    for each in (1.0, 1e9 / CELLS):
        tally = count_scores(scores, np.full(CELLS, each))
        for what in ("mean", "accuracy", "auc"):
            blend.estimate(tally, what)
            start = time.process_time()
            answer = blend.estimate(tally, what)
            print(f"{answer.rows:.0e} rows, {len(tally)} cells: {time.process_time() - start:.3f} s CPU, {answer}")


if __name__ == "__main__":
    main()
