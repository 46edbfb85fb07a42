import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Tally, metrics
from calibrant.errors import InvalidInputError
from calibrant.metrics.evaluation import number_repeated
from calibrant.metrics.samples import read_sample

METRICS = {
    name: getattr(metrics, name)
    for name in (
        "adaptive_calibration_error",
        "brier_score",
        "calibration_error_quantile",
        "calibration_slope",
        "debiased_calibration_error",
        "corp_decomposition",
        "expected_calibration_error",
        "hosmer_lemeshow_test",
        "integrated_calibration_index",
        "ks_calibration_error",
        "kuiper_test",
        "log_loss",
        "maximum_calibration_error",
        "roc_auc",
        "smooth_calibration_error",
        "spiegelhalter_test",
        "sweep_calibration_error",
        "tce_bpm",
    )
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def numbers(value):
    if isinstance(value, float):
        return [value]
    parts = [value] if isinstance(value, tuple) else vars(value).values()
    return [number for part in parts for number in numbers(part)]


def same(first, second, tolerance=1e-9):
    return np.allclose(numbers(first), numbers(second), rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    p = np.round(rng.beta(0.8, 1.2, 300), 2)
    return (rng.random(300) < p**1.2).astype(int), p, rng.integers(1, 4, 300)


@every_metric
def test_a_tally_in_place_of_the_arrays(metric, rows):
    y, p, _ = rows
    assert metric(Tally.from_arrays(p, y)) == metric(y, p)


@every_metric
def test_order_does_not_matter_and_a_weight_is_a_number_of_rows(metric, rows):
    y, p, w = rows
    assert same(metric(y, p, sample_weight=w), metric(np.repeat(y, w)[::-1], np.repeat(p, w)[::-1]))


@every_metric
def test_labels_may_have_any_names(metric, rows):
    y, p, _ = rows
    words = np.where(y == 1, "sick", "well")
    assert metric(words, p, pos_label="sick") == metric(y, p) == metric(2 * y - 1, p) == metric(y == 1, p)


@every_metric
def test_two_columns_of_probabilities_are_the_same(metric, rows):
    y, p, _ = rows
    assert metric(y, np.column_stack((1 - p, p))) == metric(y, p)


@every_metric
@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [0.2, np.nan], "NaN at index 1"),
        ([0, 1, 1], [0.2, 0.4], "as many rows"),
        ([], [], "at least one row"),
        ([0, 1, 2], [0.2, 0.4, 0.5], "two classes"),
        ([0, 1], None, "y_prob"),
    ],
)
def test_bad_input_is_refused(metric, y, p, message):
    with pytest.raises(InvalidInputError, match=message):
        metric(y, p)


@every_metric
def test_probabilities_outside_the_unit_interval_are_refused(metric):
    if metric is metrics.roc_auc:
        assert np.isfinite(metric([0, 1], [-3.0, 4.0]))
        return
    with pytest.raises(InvalidInputError, match=r"1\.5\)? at index 1"):
        metric([0, 1], [0.2, 1.5])
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]"):
        metric(Tally.from_arrays([0.2, 1.5], [0, 1]))


@every_metric
def test_an_empty_tally_is_refused(metric):
    with pytest.raises(InvalidInputError, match="empty"):
        metric(Tally.empty())


@every_metric
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_no_value_is_ever_nan(metric, data):
    n = data.draw(st.integers(1, 12))
    probability = st.sampled_from([0.0, 1e-300, 0.2, 0.5, 0.5000001, 0.9, 1.0])
    p = data.draw(st.lists(probability, min_size=n, max_size=n))
    y = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    try:
        value = metric(y, p)
    except InvalidInputError as error:
        known = ("classes", "overlap", "different", "strictly", "other than", "must span")
        assert any(word in str(error) for word in known)  # noqa: PT017
        return
    found = numbers(value)
    assert not np.isnan(found).any()
    assert np.isfinite(found).all() or metric is metrics.hosmer_lemeshow_test


def test_a_tally_comes_alone():
    tally = Tally.from_arrays([0.2, 0.4], [0, 1])
    with pytest.raises(InvalidInputError, match="pass it alone"):
        read_sample(tally, [0.1, 0.2])
    assert read_sample(tally).tally is tally


def test_repeated_names_get_numbers():
    assert number_repeated(["a", "b", "a", "a"]) == ["a", "b", "a 2", "a 3"]


def test_public_names_are_sorted_and_importable():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)
