"""Several scores against the best of them, on real rows: what the panel adds it must not take away elsewhere."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import PanelCalibrator

DATA = Path(__file__).parents[1] / "data" / "panel"
SPACE = {"decile": "decision"}
SIZE = 250


def losses(train, y, test, truth):
    """The log-loss of each test row, and the one that the fit expected."""
    panel = PanelCalibrator(space=SPACE).fit(train, y)
    p = panel.predict(test)
    return -np.where(truth > 0, np.log(p), np.log1p(-p)), panel.log_loss_


# Of the eleven flare systems every third: a fit costs the square of their number.
@pytest.mark.parametrize(("name", "every"), [("battles_verdicts", 1), ("flares_C1", 3), ("recidivism", 1)])
def test_it_is_not_worse_than_the_best_score_by_leaving_rows_out(name, every):
    table = pd.read_parquet(DATA / f"{name}.parquet")
    scores, y = table.drop(columns="y").iloc[:, ::every], table["y"].to_numpy()
    numbers = scores.select_dtypes("number").columns
    scores[numbers] = scores[numbers].where(scores[numbers] >= 0.0)  # flare systems write -0.01 for a gap
    differences = []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(y))
        own, other = order[:SIZE], order[SIZE:]
        given = scores.iloc[own], y[own], scores.iloc[other], y[other]
        together, _ = losses(*given)
        alone = [losses(given[0][[one]], y[own], given[2][[one]], y[other]) for one in scores]
        differences.append(together - min(alone, key=lambda found: found[1])[0])
    mean = np.mean([each.mean() for each in differences])
    # Rows of both splits overlap, so their number is counted once.
    error = np.std(np.concatenate(differences)) / np.sqrt(len(y) - SIZE)
    assert mean < 0.5e-3 + 2.0 * error
