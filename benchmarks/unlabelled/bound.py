"""How much scores can tell about rows without labels: the semiparametric bound of the error, relative to labels alone.

python -m benchmarks.unlabelled.bound FOLDER

The error of counting labels has two parts: outcomes vary at a given score, and scores vary. Knowing the scores of all
rows removes the second part and nothing of the first, so no estimator whose map is free can have, with many labels, an
error below √(E[p (1 − p)] / (p̄ (1 − p̄))) of counting. Only what is assumed of the map's shape can do more.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.unlabelled import splits
from benchmarks.unlabelled.splits import THRESHOLD, Run
from calibrant import Blend


def bounds(run: Run) -> dict[str, tuple[float, float]]:
    """The two standard deviations, by score and overall, of each question that is a share of rows."""
    scores, labels = np.append(run.scores, run.hidden_scores), np.append(run.labels, run.hidden_labels)
    p, called = Blend().fit(scores, labels).predict(scores), scores >= THRESHOLD
    shares = {"mean": p, "accuracy": np.where(called, p, 1.0 - p), "precision": p[called]}
    spread = {what: len(scores) / max(len(share), 1) for what, share in shares.items()}
    return {
        what: (np.sqrt(spread[what] * np.mean(q * (1.0 - q))), np.sqrt(spread[what] * q.mean() * (1.0 - q.mean())))
        for what, q in shares.items()
        if len(q)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    rows = [
        {"what": what, "given scores": given, "overall": overall}
        for run in splits.runs(parser.parse_args().folder, splits.JUDGED, (max(splits.SIZES),), 1)
        for what, (given, overall) in bounds(run).items()
    ]
    table = pd.DataFrame(rows).groupby("what").mean()
    print((table["given scores"] / table["overall"]).round(3).to_string())


if __name__ == "__main__":
    main()
