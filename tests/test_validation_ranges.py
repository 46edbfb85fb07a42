import numpy as np
import pytest

from calibrant import BayesIso, IsotonicCalibration, MatrixBlend, PlattScaling, Tally, _validation
from calibrant.errors import InvalidInputError


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e-101, 1e17, 1e300])
def test_weights_that_are_no_numbers_of_rows_are_refused(weight):
    with pytest.raises(InvalidInputError, match="sum to at most 1e"):
        _validation.check_weights(np.full(20, weight), 20)
    with pytest.raises(InvalidInputError, match="sum to at most 1e"):
        _validation.check_weights(np.array([1.0, weight]), 2)


def test_zero_weights_beside_others_are_fine():
    assert _validation.check_weights([0.0, 1e-50, 3.0], 3).tolist() == [0.0, 1e-50, 3.0]


@pytest.mark.parametrize("scores", [[0.0, 5e-324], [-5e-310, 5e-310], [0.0, 9e-291]])
def test_scores_that_hardly_differ_are_refused(scores):
    with pytest.raises(InvalidInputError, match="Multiply them"):
        Tally.from_arrays(scores, [0, 1])
    assert len(Tally.from_arrays([scores[1]] * 2, [0, 1])) == 1


def test_nothing_and_equal_scores_have_no_range_to_refuse():
    _validation.check_range(np.empty(0))
    _validation.check_range(np.full(3, 1e-310))


@pytest.mark.parametrize("make", [BayesIso, IsotonicCalibration, lambda: PlattScaling(space="decision")])
def test_scores_just_wide_enough_are_calibrated(make):
    scores = np.linspace(0.0, 2e-290, 40)
    p = make().fit(scores, np.arange(40) % 3 == 0).predict(scores)
    assert np.isfinite(p).all()
    assert ((p >= 0.0) & (p <= 1.0)).all()


def test_logits_of_any_network_are_taken_and_larger_ones_refused():
    rng = np.random.default_rng(0)
    logits, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    assert np.isfinite(MatrixBlend(space="decision").fit(6e4 * logits / 4.0, y).predict_proba(logits)).all()
    with pytest.raises(InvalidInputError, match=r"within ±1e\+06; got 1e\+300"):
        MatrixBlend(space="decision").fit(np.where(logits > 1.0, 1e300, logits), y)
