import numpy as np
import pytest

import calibrant
from calibrant import BayesIso, SplineCalibration, simulate
from calibrant.errors import InvalidInputError
from calibrant.estimates import labels_needed
from calibrant.estimates.label_budget import _imagine, _interpolate


@pytest.fixture(scope="module")
def fitted():
    data = simulate.bayes_iso(3000, rng=0)
    return SplineCalibration().fit(data.scores[:80], data.labels[:80]), data


def test_the_number_of_labels_that_is_promised_is_about_right(fitted):
    """With as many labels as were asked for, the interval has about the width that was asked for."""
    spline, data = fitted
    plan = labels_needed(spline, data.scores[80:], "mean", width=0.1)
    n = 80 + int(plan.more)
    widths = []
    for seed in range(6):
        rows = np.random.default_rng(seed).permutation(3000)
        refitted = SplineCalibration().fit(data.scores[rows[:n]], data.labels[rows[:n]])
        widths.append(refitted.estimate(data.scores[rows[n:]]).width)
    assert np.mean(widths) == pytest.approx(0.1, rel=0.2)


def test_widths_shrink_and_the_sentence_says_how_many(fitted):
    spline, data = fitted
    plan = labels_needed(spline, data.scores[80:], "accuracy", width=0.06, n_simulations=3)
    assert (np.diff(plan.widths) <= 0).all()
    assert plan.sizes[0] == 0
    assert str(plan).startswith(
        f"about {plan.more:.0f} more labels for an interval of width 0.06 (accuracy, level 0.9)"
    )


def test_none_are_needed_for_what_is_there(fitted):
    spline, data = fitted
    plan = labels_needed(spline, data.scores[80:], width=0.5)
    assert plan.more == 0
    assert str(plan).startswith("no more labels")


def test_what_cannot_be_reached_is_said(fitted):
    spline, data = fitted
    plan = labels_needed(spline, data.scores[80:], width=0.001, most=100, n_simulations=2)
    assert plan.more == np.inf
    assert "more than 100 labels" in str(plan)


def test_imagined_rows_are_added_to_those_there_are(fitted):
    spline, data = fitted
    model = _imagine(spline, spline.labelled_.cells, data.tally, 40, np.random.default_rng(0))
    assert model.labelled_.cells.total == 120
    assert model is not spline


def test_between_trials_the_width_follows_a_power_of_the_labels():
    assert _interpolate([0, 300], [0.2, 0.1], 100.0, 0.2 / np.sqrt(2)) == pytest.approx(100.0, abs=1.0)


def test_a_saved_model_cannot_be_fitted_again(tmp_path):
    data = simulate.bayes_iso(100, rng=0)
    BayesIso().fit(data.scores, data.labels).save(tmp_path / "model.json")
    with pytest.raises(InvalidInputError, match="can be refitted"):
        labels_needed(calibrant.load(tmp_path / "model.json"), data.scores, width=0.1)
