import json

import numpy as np
import pandas as pd
import pytest

from calibrant import Tally, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics.validation import validation_summary
from calibrant.reliability import Reliability, reliability
from calibrant.reliability.result import finite_sample_table


@pytest.fixture(scope="module")
def data():
    return simulate.bayes_iso(2000, rng=0)


def same(a, b):
    return a.to_dict() == b.to_dict()


def test_arrays_and_tally_give_the_same(data):
    assert same(reliability(data.labels, data.scores), reliability(data.tally))


def test_it_says_what_it_is(data):
    result = reliability(data.labels, data.scores, name="raw", curve=None)
    assert isinstance(result, Reliability)
    assert (
        repr(result) == "Reliability(total=2000.0, base_rate=0.5, level=0.9, strategy=quantile, scale=linear, name=raw)"
    )
    assert (result.total, result.base_rate, result.level, result.curve) == (2000.0, 0.5, 0.9, None)


def test_tables_become_data_frames_and_json(data):
    result = reliability(data.labels, data.scores, n_bins=5)
    frame = pd.DataFrame(result.points)
    assert frame["total"].tolist() == [400.0] * 5
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["points"]["fraction"] == result.points["fraction"].tolist()
    assert plain["curve_name"] == "CORP"


def test_band_and_validation_are_there_when_asked_for(data):
    plain, result = reliability(data.tally), reliability(data.tally, band="finite_sample", validation=True, level=0.8)
    assert (plain.band, plain.validation) == (None, None)
    np.testing.assert_array_equal(result.band, finite_sample_table(data.tally, 0.8))
    assert result.validation == validation_summary(data.tally, level=0.8)
    stored = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert stored["validation"]["measures"]["slope"] == result.validation["slope"].to_dict()
    assert stored["band"]["high"] == result.band["high"].tolist()
    grouped = reliability(data.labels, data.scores, groups=np.arange(2000) // 10, validation=True)
    assert grouped.validation == validation_summary(data.labels, data.scores, groups=np.arange(2000) // 10)


def test_it_is_frozen(data):
    with pytest.raises(AttributeError):
        reliability(data.tally).total = 3


def test_a_weight_of_two_is_the_row_twice(data):
    scores, labels = data.scores[:300], data.labels[:300]
    twice = reliability(np.tile(labels, 2), np.tile(scores, 2), n_bins=6)
    assert same(reliability(labels, scores, sample_weight=np.full(300, 2.0), n_bins=6), twice)


def test_zero_weights_do_not_count(data):
    weights = np.where(np.arange(2000) < 500, 1.0, 0.0)
    kept = reliability(data.labels[:500], data.scores[:500])
    result = reliability(data.labels, data.scores, sample_weight=weights)
    np.testing.assert_allclose(result.points["total"], kept.points["total"])


def test_string_labels_need_a_positive_one():
    result = reliability(["no", "yes"], [0.2, 0.9], pos_label="yes", n_bins=2)
    assert result.points["fraction"].tolist() == [0.0, 1.0]
    with pytest.raises(InvalidInputError, match="`pos_label`"):
        reliability(["no", "yes"], [0.2, 0.9])


@pytest.mark.parametrize(
    ("y_true", "y_prob", "options", "message"),
    [
        ([0, 1], None, {}, "`y_prob` must be given"),
        ([0, 1], [0.2, 1.2], {}, r"`y_prob` must lie in \[0, 1\]"),
        ([0, 1], [0.2, np.nan], {}, "must be finite"),
        ([0, 1], [0.2], {}, "as many rows"),
        ([0, 2], [0.2, 0.3], {}, "bool"),
        ([], [], {}, "at least one row"),
        ([0, 1], [0.2, 0.3], {"scale": "log"}, "`scale`"),
        ([0, 1], [0.2, 0.3], {"sample_weight": [1, -1]}, "negative"),
        (Tally.empty(), None, {}, "tally is empty"),
        (Tally.from_arrays([0.1], [0]), [0.1], {}, "pass it alone"),
        (Tally.from_arrays([-2.0, 3.0], [0, 1]), None, {}, r"\[0, 1\]"),
    ],
)
def test_bad_input(y_true, y_prob, options, message):
    with pytest.raises(InvalidInputError, match=message):
        reliability(y_true, y_prob, **options)


@pytest.mark.parametrize("scores", [[0.4] * 5, [0.0] * 5, [1.0] * 5, [0, 0, 0, 1, 1]])
@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_nothing_is_nan_at_the_edges(scores, scale):
    for labels in ([0, 1, 0, 1, 1], [0] * 5, [1] * 5):
        result = reliability(labels, scores, scale=scale)
        for made in (result.points, result.curve, result.histogram):
            assert all(np.isfinite(made[column]).all() for column in made.dtype.names)
