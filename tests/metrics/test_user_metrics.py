from functools import partial

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from calibrant import evaluate, metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.evaluation import as_metric, name_of_metric
from calibrant.metrics.samples import read_sample


def mean_score(tally):
    return float(np.average(tally.scores, weights=tally.totals))


def hit_rate(y_true, y_prob):
    return float(np.mean((y_prob > 0.5) == y_true))


def test_functions_of_a_tally_of_rows_and_of_weighted_rows():
    data = simulate.from_truth("D1", 300)
    assert as_metric(mean_score)(data.tally) == pytest.approx(data.scores.mean())
    assert as_metric(hit_rate)(data.tally) == pytest.approx(hit_rate(data.labels, data.scores))
    weighted = read_sample(data.labels, data.scores, np.full(300, 0.5)).tally
    assert as_metric(brier_score_loss)(weighted) == pytest.approx(metrics.brier_score(data.labels, data.scores))
    with pytest.raises(InvalidInputError, match="hit_rate takes no `sample_weight`"):
        as_metric(hit_rate)(weighted)
    with pytest.raises(InvalidInputError, match="takes 3 arguments"):
        as_metric(lambda a, b, c: a + b + c)


def test_rows_of_the_table_are_named_after_the_functions_and_have_intervals():
    data = simulate.from_truth("D1", 300)
    library = partial(metrics.expected_calibration_error, n_bins=3)
    chosen = ["ece", hit_rate, library, brier_score_loss, mean_score, hit_rate]
    table = evaluate(data.labels, data.scores, metrics=chosen, n_resamples=50)
    keys = [row.key for row in table.rows]
    assert keys == ["ece", "hit_rate", "expected_calibration_error", "brier_score_loss", "mean_score", "hit_rate 2"]
    own = table["hit_rate"]
    assert own.low < own.value < own.high
    assert table["brier_score_loss"].value == pytest.approx(metrics.brier_score(data.labels, data.scores))
    assert "metrics of the user" in str(table)
    assert evaluate(data.labels, data.scores, metrics="slope", n_resamples=2)["slope"].value > 0.0
    with pytest.raises(InvalidInputError, match="`metrics` must be one of log_loss, brier_score"):
        evaluate(data.labels, data.scores, metrics=["nonsense"])


def test_names():
    assert name_of_metric(partial(partial(hit_rate))) == "hit_rate"

    class Scorer:
        def __call__(self, tally):
            return tally.total

    assert name_of_metric(Scorer()) == "Scorer"
