import numpy as np
import pytest

from calibrant import IsotonicCalibration, PlattScaling, Tally, load, simulate
from calibrant._numerics import links
from calibrant.adjust import anchor
from calibrant.errors import InvalidInputError


@pytest.mark.parametrize("mean", [0.001, 0.2, 0.93])
@pytest.mark.parametrize("method", [PlattScaling, IsotonicCalibration])
def test_reaches_the_mean_by_one_shift(method, mean):
    data = simulate.from_truth("D1", 500)
    map_ = method().fit(data.scores, data.labels).map_
    anchored = anchor(map_, data.scores, mean)
    assert anchored(data.scores).mean() == pytest.approx(mean, rel=1e-9)
    inside = (map_(data.scores) > 1e-6) & (map_(data.scores) < 1 - 1e-6)
    shifts = links.logit(anchored(data.scores)) - links.logit(map_(data.scores))
    assert np.ptp(shifts[inside]) < 1e-6
    assert anchored.monotone


def test_weights_and_tallies(tmp_path):
    data = simulate.from_truth("D1", 200)
    map_ = PlattScaling().fit(data.scores, data.labels).map_
    weights = np.arange(200.0)
    anchored = anchor(map_, data.scores, 0.1, sample_weight=weights)
    assert np.average(anchored(data.scores), weights=weights) == pytest.approx(0.1)
    again = anchor(map_, Tally.from_arrays(data.scores, data.labels, weights), 0.1)
    np.testing.assert_allclose(again(data.scores), anchored(data.scores), atol=1e-12)
    anchored.save(tmp_path / "map.json")
    assert load(tmp_path / "map.json") == anchored


def test_one_score_goes_to_the_mean():
    map_ = PlattScaling().fit([0.2, 0.4, 0.6], [0, 1, 1]).map_
    assert anchor(map_, [0.3, 0.3], 0.05)([0.3])[0] == pytest.approx(0.05)


def test_refuses_impossible_means_and_empty_portfolios():
    map_ = PlattScaling().fit([0.2, 0.4, 0.6], [0, 1, 1]).map_
    with pytest.raises(InvalidInputError, match="`mean`"):
        anchor(map_, [0.3], 1.0)
    with pytest.raises(InvalidInputError, match="at least one row"):
        anchor(map_, [], 0.5)
    with pytest.raises(InvalidInputError, match="without `sample_weight`"):
        anchor(map_, Tally.from_arrays([0.3], [1]), 0.5, sample_weight=[1.0])
