from dataclasses import replace

import numpy as np
import pytest

from calibrant import PlattScaling, SplineCalibration, Tally, compare, metrics
from calibrant._limits import REPORT_CELLS
from calibrant.calibrators.registry import DEFAULT_METHOD, METHODS
from calibrant.calibrators.registry import get as registry_get
from calibrant.errors import InvalidInputError
from calibrant.report.study import make_study


def test_numbers_are_those_of_the_library(study, tally, comparison):
    assert study.before.evaluation["log_loss"].value == metrics.log_loss(tally)
    assert study.comparison is comparison
    assert list(study.maps) == ["bayes_iso", "platt", "isotonic"]
    assert np.array_equal(
        study.maps["platt"]["probability"], PlattScaling().fit_tally(tally).predict(study.maps["platt"]["score"])
    )
    judge = SplineCalibration().fit_tally(tally)
    assert study.before.error == metrics.metric_posterior(judge, tally).interval(0.9)


def test_bands_come_with_posteriors_only(study):
    assert "low" in study.maps["bayes_iso"].dtype.names
    assert "low" not in study.maps["isotonic"].dtype.names
    assert study.before.linear.curve_name == study.after.linear.curve_name == "SplineCalibration"


def test_after_keeps_every_row_and_improves(study, tally):
    assert study.after.tally.total == tally.total
    assert study.after.tally.total_positive == tally.total_positive
    assert study.after.evaluation["log_loss"].value < study.before.evaluation["log_loss"].value


def test_after_is_cross_fitted():
    # Isotonic regression to pure noise looks perfect on its own rows and worse than doing nothing on others.
    rng = np.random.default_rng(0)
    noise = Tally.from_arrays(rng.random(300), rng.random(300) < 0.5)
    study = make_study(noise, comparison=compare(noise, methods=["isotonic"]), method="isotonic")
    own = noise.rescored(study.calibrator.predict(noise.scores))
    assert metrics.log_loss(own) < np.log(2.0) < study.after.evaluation["log_loss"].value


@pytest.mark.parametrize("method", ["bpm", "spline"])
def test_a_class_of_one_row_cannot_be_held_back_from_a_method_that_needs_it(method):
    # BPM needs both classes, so no fold can do without the only positive row; the spline can.
    lonely = Tally.from_arrays(np.linspace(0.1, 0.9, 30), np.arange(30) == 20)
    study = make_study(lonely, method=method)
    own = lonely.rescored(study.calibrator.predict(lonely.scores))
    assert study.unseen is (method != "bpm")
    assert np.array_equal(study.after.tally.scores, own.scores) is not study.unseen
    assert any("judged on the rows that it was fitted to" in text for text in study.notes) is not study.unseen


def test_the_page_shows_what_the_comparison_recommends(tally):
    table = compare(tally, methods=["platt", "isotonic", DEFAULT_METHOD])
    assert make_study(tally, comparison=table).name == table.recommended
    platt = replace(table, recommended="platt", tied=("isotonic",))
    assert make_study(tally, comparison=platt).name == "platt"
    assert make_study(tally, comparison=platt, method="isotonic").name == "isotonic"


def test_where_nothing_is_recommended_the_page_shows_the_default_or_the_best():
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    tally = Tally.from_arrays(scores, rng.random(200) < scores)
    table = compare(tally, methods=["platt", DEFAULT_METHOD])
    assert table.recommended == "identity"
    assert make_study(tally, comparison=table).name == DEFAULT_METHOD
    assert make_study(tally, comparison=compare(tally, methods=["platt"], space="decision")).name == "platt"
    assert make_study(tally, comparison=compare(tally, methods=["identity"])).name == DEFAULT_METHOD


def test_the_verdict_is_that_of_the_comparison_with_the_size_of_the_error(study, comparison):
    assert study.verdict == replace(comparison.verdict, error=study.before.error)


def test_a_comparison_of_other_rows_is_refused(tally, comparison):
    with pytest.raises(InvalidInputError, match="`comparison` must be of the same rows"):
        make_study(tally + tally, comparison=comparison)


def test_a_calibrator_keeps_its_options(tally, comparison):
    study = make_study(tally, comparison=comparison, method=PlattScaling(target_correction=False))
    assert study.name == "platt"
    assert study.calibrator.target_correction is False
    shown = study.maps["platt"]
    assert np.array_equal(shown["probability"], study.calibrator.predict(shown["score"]))


def test_scores_that_are_no_probabilities():
    z = np.linspace(-3.0, 3.0, 200)
    tally = Tally.from_arrays(z, np.random.default_rng(0).random(200) < 1 / (1 + np.exp(-2 * z)))
    study = make_study(tally, comparison=compare(tally, methods=["platt"], space="decision"))
    assert study.before is None
    assert study.calibrator.space != "probability"
    assert (study.maps[study.name]["score"][0], study.maps[study.name]["score"][-1]) == (-3.0, 3.0)


def test_one_class_is_reported_with_a_note():
    study = make_study(Tally.from_arrays(np.linspace(0.1, 0.9, 30), np.ones(30)), method="bayes_iso")
    assert study.comparison is None
    assert "Methods are not compared" in study.notes[0]


def test_a_method_that_needs_both_classes_says_so():
    needy = next(name for name in METHODS if not registry_get(name).accepts_single_class)
    with pytest.raises(InvalidInputError, match="both classes"):
        make_study(Tally.from_arrays([0.2, 0.4, 0.6], [1, 1, 1]), method=needy)


def test_too_few_rows():
    with pytest.raises(InvalidInputError, match="at least 2 rows"):
        make_study(Tally.from_arrays([0.3], [1]))


def test_same_data_same_numbers(study, tally, comparison):
    again = make_study(tally, comparison=comparison, method="bayes_iso")
    assert again.before.evaluation == study.before.evaluation
    assert again.after.error == study.after.error
    assert np.array_equal(again.maps["bayes_iso"], study.maps["bayes_iso"])


def test_many_distinct_scores_are_joined():
    rng = np.random.default_rng(0)
    scores = rng.random(REPORT_CELLS + 5000)
    tally = Tally.from_arrays(scores, rng.random(len(scores)) < scores)
    study = make_study(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    assert len(study.before.tally) <= REPORT_CELLS
    assert study.total == tally.total


def test_sides_are_those_that_can_be_judged(study, unbounded, one_sided):
    assert list(study.sides) == ["before", "after"]
    assert list(unbounded.sides) == ["after"]
    assert list(one_sided.sides) == ["before"]
