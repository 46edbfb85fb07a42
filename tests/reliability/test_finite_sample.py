import numpy as np
import pytest

from calibrant import Tally, simulate
from calibrant.metrics.finite_sample_band import finite_sample_band
from calibrant.reliability.finite_sample import finite_sample_table


def test_steps_of_two_scores():
    tally = Tally.from_dict({"scores": [0.2, 0.6], "positives": [1, 9], "totals": [10, 10]})
    band, corners = finite_sample_band(tally), finite_sample_table(tally)
    assert corners["score"].tolist() == [0.2, 0.2, 0.6, 0.6]
    assert corners["low"] == pytest.approx([band.low[0], band.low[0], band.low[0], band.low[1]])
    assert corners["high"] == pytest.approx([band.high[0], band.high[1], band.high[1], band.high[1]])


def test_the_corners_follow_the_band_everywhere():
    data = simulate.from_truth("underconfident", 1500)
    band, corners = finite_sample_band(data.tally, level=0.8), finite_sample_table(data.tally, level=0.8)
    assert len(corners) < 3 * len(band.scores)
    assert (np.diff(corners["score"]) >= 0).all()
    middles = band.scores[:-1] + 0.5 * np.diff(band.scores)
    low, high = band(middles)
    place = np.searchsorted(corners["score"], middles)
    np.testing.assert_allclose(corners["low"][place - 1], low)
    np.testing.assert_allclose(corners["high"][place], high)


def test_one_score_is_one_point():
    corners = finite_sample_table(Tally.from_arrays([0.4, 0.4], [0, 1]))
    assert corners["score"].tolist() == [0.4]
