from dataclasses import replace

import numpy as np
import pytest

from calibrant import PlattScaling, SplineCalibration, Tally, compare, evaluate, metrics
from calibrant._limits import REPORT_CELLS
from calibrant._numerics.links import expit, logit
from calibrant.calibrators.registry import DEFAULT_METHOD
from calibrant.calibrators.registry import get as registry_get
from calibrant.errors import InvalidInputError
from calibrant.report import data as module
from calibrant.report.data import make_report_data


def test_numbers_are_those_of_the_library(data, tally, comparison):
    assert data.before.evaluation["log_loss"].value == metrics.log_loss(tally)
    assert data.comparison is comparison
    fitted = registry_get("bayes_iso")().fit_tally(tally)
    assert np.array_equal(data.map["probability"], fitted.predict(data.map["score"]))
    judge = SplineCalibration().fit_tally(tally)
    assert data.before.error == metrics.metric_posterior(judge, tally, level=0.9)


def test_bands_come_with_posteriors_only(data, tally, comparison):
    assert "low" in data.map.dtype.names
    isotonic = make_report_data(tally, comparison=comparison, method="isotonic")
    assert "low" not in isotonic.map.dtype.names
    steps = isotonic.calibrator.map_.function.knots()
    assert set(steps[1:-1]) <= set(isotonic.map["score"])  # so that they are drawn upright
    assert data.before.diagram.curve_name == data.after.diagram.curve_name == "Bayesian spline"


def test_after_keeps_every_row_and_improves(data, tally):
    assert data.after.tally.total == tally.total
    assert data.after.tally.total_positive == tally.total_positive
    assert data.after.evaluation["log_loss"].value < data.before.evaluation["log_loss"].value


def test_after_is_cross_fitted():
    # Isotonic regression to pure noise looks perfect on its own rows and worse than doing nothing on others.
    rng = np.random.default_rng(0)
    noise = Tally.from_arrays(rng.random(300), rng.random(300) < 0.5)
    data = make_report_data(noise, comparison=compare(noise, methods=["isotonic"]), method="isotonic")
    own = noise.rescored(data.calibrator.predict(noise.scores))
    assert metrics.log_loss(own) < np.log(2.0) < data.after.evaluation["log_loss"].value


def test_the_page_shows_what_the_comparison_recommends(tally):
    table = compare(tally, methods=["platt", "isotonic", DEFAULT_METHOD])
    assert make_report_data(tally, comparison=table).name == table.recommended
    platt = replace(table, recommended="platt", tied=("isotonic",))
    assert make_report_data(tally, comparison=platt).name == "platt"
    assert make_report_data(tally, comparison=platt, method="isotonic").name == "isotonic"


def test_where_nothing_is_recommended_the_page_shows_the_default_or_the_best():
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    tally = Tally.from_arrays(scores, rng.random(200) < scores)
    table = compare(tally, methods=["platt", DEFAULT_METHOD])
    assert table.recommended == "identity"
    assert make_report_data(tally, comparison=table).name == DEFAULT_METHOD
    assert make_report_data(tally, comparison=compare(tally, methods=["platt"])).name == "platt"
    assert make_report_data(tally, comparison=compare(tally, methods=["identity"])).name == DEFAULT_METHOD


def test_the_verdict_is_that_of_the_comparison_with_the_size_of_the_error(data, comparison):
    assert data.verdict == replace(comparison.verdict, error=data.before.error)


def test_a_comparison_of_other_rows_is_refused(tally, comparison):
    with pytest.raises(InvalidInputError, match="`comparison` must be of the same rows"):
        make_report_data(tally + tally, comparison=comparison)


def test_a_calibrator_keeps_its_options(tally, comparison):
    data = make_report_data(tally, comparison=comparison, method=PlattScaling(target_correction=False))
    assert data.name == "platt"
    assert data.calibrator.target_correction is False
    assert np.array_equal(data.map["probability"], data.calibrator.predict(data.map["score"]))


def test_scores_that_are_no_probabilities():
    z = np.linspace(-3.0, 3.0, 200)
    tally = Tally.from_arrays(z, np.random.default_rng(0).random(200) < 1 / (1 + np.exp(-2 * z)))
    data = make_report_data(tally, methods=["platt"], space="decision")
    assert data.before is None
    assert data.calibrator.space != "probability"
    assert (data.map["score"][0], data.map["score"][-1]) == (-3.0, 3.0)
    with pytest.raises(InvalidInputError, match=r"\[0, 1\]"):
        make_report_data(tally)


def test_same_data_same_numbers(data, tally, comparison):
    again = make_report_data(tally, comparison=comparison, method="bayes_iso")
    assert again.before.evaluation == data.before.evaluation
    assert again.after.error == data.after.error
    assert np.array_equal(again.map, data.map)


def test_many_distinct_scores_are_joined():
    rng = np.random.default_rng(0)
    scores = rng.random(REPORT_CELLS + 5000)
    tally = Tally.from_arrays(scores, rng.random(len(scores)) < scores)
    data = make_report_data(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    assert len(data.before.tally) <= REPORT_CELLS
    assert data.tally.total == tally.total


def test_several_classes_are_shown_by_their_predicted_class(classes, class_rows, class_comparison):
    scores, y = class_rows
    right = np.array(["ant", "bee", "cow"])[scores.argmax(axis=1)] == y
    assert classes.top_label
    assert classes.tally.base_rate == right.mean()
    assert classes.before.error.value > classes.after.error.value
    assert (np.diff(classes.map["score"]) > 0).all()
    assert (classes.map["probability"] < classes.map["score"]).mean() > 0.9  # they were too sure
    best = make_report_data(scores, y, comparison=class_comparison)
    assert best.name in ("temperature", "vector_scaling")
    assert best.calibrate


def test_what_several_classes_refuse(class_rows, class_comparison):
    scores, y = class_rows
    with pytest.raises(InvalidInputError, match=r"`method` must be one of .*temperature.*; got 'dirichlet'"):
        make_report_data(scores, y, comparison=class_comparison, method="dirichlet")
    with pytest.raises(InvalidInputError, match="at least one method"):
        make_report_data(scores, y, comparison=compare(scores, y, methods=["identity"]))
    with pytest.raises(InvalidInputError):
        make_report_data(scores)


def test_a_method_that_does_not_exist_is_not_taken_for_too_few_rows(tally):
    with pytest.raises(InvalidInputError, match="plat"):
        make_report_data(tally, methods=["plat"])


@pytest.mark.parametrize("positives", [0, 1, 20])
def test_rows_that_cannot_be_compared_are_refused(positives):
    with pytest.raises(InvalidInputError, match="needs 2 rows of each class"):
        make_report_data(np.linspace(0.1, 0.9, 20), np.arange(20) < positives)


def test_a_method_that_cannot_be_fitted_is_refused(unbounded):
    with pytest.raises(InvalidInputError, match=r"No method could be fitted|can be fitted"):
        make_report_data(unbounded.rows, comparison=unbounded.comparison, space="decision", method="histogram")


ENDS = ("value", "low", "high")


def test_measures_and_decisions_allow_for_groups():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 20)
    scores = np.round(rng.random(600), 2)
    y = rng.random(600) < expit(2.0 * logit(scores.clip(0.01, 0.99)) + rng.normal(0, 1, 30)[group])
    data = make_report_data(scores, y, methods=["platt"], groups=group)
    expected = evaluate(y, scores, groups=group, n_resamples=module.RESAMPLES)
    # Replicates of one seed draw groups, so they are the same whatever the order of the rows.
    for key in ("log_loss", "ece", "slope"):
        found = data.before.evaluation[key]
        assert [found.value, found.low, found.high] == pytest.approx([getattr(expected[key], x) for x in ENDS])
    alone = make_report_data(scores, y, methods=["platt"])
    widths = [one["intercept"].width for one in (data.after.evaluation, alone.after.evaluation)]
    assert widths[0] > 1.3 * widths[1]  # rows of one group share a shift
    assert data.after.sample.groups.number == 30
    three = np.column_stack((scores, 0.5 * (1 - scores), 0.5 * (1 - scores)))
    labels = np.where(y, 0, rng.integers(1, 3, 600))
    classes = make_report_data(three, labels, methods=["temperature"], groups=group)
    top = evaluate(three.argmax(axis=1) == labels, three.max(axis=1), groups=group)
    assert classes.before.evaluation["slope"].width == pytest.approx(top["slope"].width)


def test_what_is_shown_of_scores_that_are_no_probabilities(data, unbounded):
    assert list(data.assessments) == ["before", "after"]
    assert list(unbounded.assessments) == ["after"]
