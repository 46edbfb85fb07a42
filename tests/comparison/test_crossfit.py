import numpy as np

from calibrant import IsotonicCalibration, Tally
from calibrant.comparison.crossfit import crossfit
from calibrant.metrics.folds import split_tally


def test_crossfit_predicts_only_what_was_left_out():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 40, 300) / 40
    tally = Tally.from_arrays(scores, rng.random(300) < scores)
    parts = split_tally(tally, 5, 1)
    found = crossfit(IsotonicCalibration(), parts, 1)
    expected = [IsotonicCalibration().fit_tally(p.train).predict(p.test.scores) for p in parts]
    np.testing.assert_array_equal(found.probabilities, np.concatenate(expected))
    assert found.totals.sum() == tally.total
