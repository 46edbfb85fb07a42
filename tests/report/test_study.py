from dataclasses import replace

import numpy as np
import pytest

from calibrant import PlattScaling, SplineCalibration, Tally, compare, metrics
from calibrant.calibrators.registry import DEFAULT_METHOD, METHODS
from calibrant.calibrators.registry import get as registry_get
from calibrant.errors import InvalidInputError
from calibrant.report.study import MOST_CELLS, study


def test_numbers_are_those_of_the_library(found, tally, comparison):
    assert found.before.evaluation["log_loss"].value == metrics.log_loss(tally)
    assert found.comparison is comparison
    assert list(found.maps) == ["bayes_iso", "platt", "isotonic"]
    assert np.array_equal(
        found.maps["platt"]["probability"], PlattScaling().fit_tally(tally).predict(found.maps["platt"]["score"])
    )
    judge = SplineCalibration().fit_tally(tally)
    assert found.before.error == metrics.metric_posterior(judge, tally).interval(0.9)


def test_bands_come_with_posteriors_only(found):
    assert "low" in found.maps["bayes_iso"].dtype.names
    assert "low" not in found.maps["isotonic"].dtype.names
    assert found.before.linear.curve_name == found.after.linear.curve_name == "SplineCalibration"


def test_after_keeps_every_row_and_improves(found, tally):
    assert found.after.tally.total == tally.total
    assert found.after.tally.total_positive == tally.total_positive
    assert found.after.evaluation["log_loss"].value < found.before.evaluation["log_loss"].value


def test_after_is_cross_fitted():
    # Isotonic regression to pure noise looks perfect on its own rows and worse than doing nothing on others.
    rng = np.random.default_rng(0)
    noise = Tally.from_arrays(rng.random(300), rng.random(300) < 0.5)
    found = study(noise, comparison=compare(noise, methods=["isotonic"]), method="isotonic")
    own = noise.rescored(found.calibrator.predict(noise.scores))
    assert metrics.log_loss(own) < np.log(2.0) < found.after.evaluation["log_loss"].value


@pytest.mark.parametrize("method", ["bpm", "spline"])
def test_a_class_of_one_row_cannot_be_held_back_from_a_method_that_needs_it(method):
    # BPM needs both classes, so no fold can do without the only positive row; the spline can.
    lonely = Tally.from_arrays(np.linspace(0.1, 0.9, 30), np.arange(30) == 20)
    found = study(lonely, method=method)
    own = lonely.rescored(found.calibrator.predict(lonely.scores))
    assert found.unseen is (method != "bpm")
    assert np.array_equal(found.after.tally.scores, own.scores) is not found.unseen
    assert any("judged on the rows that it was fitted to" in text for text in found.notes) is not found.unseen


def test_the_default_gives_way_to_a_method_that_is_clearly_better(tally):
    table = compare(tally, methods=["platt", "isotonic", DEFAULT_METHOD])
    table = replace(table, recommended="platt", tied=("isotonic",))
    assert study(tally, comparison=table).name == "platt"
    assert study(tally, comparison=table, method="isotonic").name == "isotonic"
    for stays in (replace(table, tied=(DEFAULT_METHOD,)), replace(table, recommended="identity", tied=())):
        assert study(tally, comparison=stays).name == DEFAULT_METHOD
    without = replace(table, results=tuple(r for r in table.results if r.name != DEFAULT_METHOD))
    assert study(tally, comparison=without).name == DEFAULT_METHOD


def test_a_calibrator_keeps_its_options(tally, comparison):
    found = study(tally, comparison=comparison, method=PlattScaling(target_correction=False))
    assert found.name == "platt"
    assert found.calibrator.target_correction is False


def test_scores_that_are_no_probabilities():
    z = np.linspace(-3.0, 3.0, 200)
    tally = Tally.from_arrays(z, np.random.default_rng(0).random(200) < 1 / (1 + np.exp(-2 * z)))
    found = study(tally, comparison=compare(tally, methods=["platt"]))
    assert found.before is None
    assert found.calibrator.space != "probability"
    assert (found.maps[found.name]["score"][0], found.maps[found.name]["score"][-1]) == (-3.0, 3.0)


def test_one_class_is_reported_with_a_note():
    found = study(Tally.from_arrays(np.linspace(0.1, 0.9, 30), np.ones(30)), method="bayes_iso")
    assert found.comparison is None
    assert "Methods are not compared" in found.notes[0]


def test_a_method_that_needs_both_classes_says_so():
    needy = next(name for name in METHODS if not registry_get(name).accepts_single_class)
    with pytest.raises(InvalidInputError, match="both classes"):
        study(Tally.from_arrays([0.2, 0.4, 0.6], [1, 1, 1]), method=needy)


def test_too_few_rows():
    with pytest.raises(InvalidInputError, match="at least 2 rows"):
        study(Tally.from_arrays([0.3], [1]))


def test_same_data_same_numbers(found, tally, comparison):
    again = study(tally, comparison=comparison, method="bayes_iso")
    assert again.before.evaluation == found.before.evaluation
    assert again.after.error == found.after.error
    assert np.array_equal(again.maps["bayes_iso"], found.maps["bayes_iso"])


def test_many_distinct_scores_are_joined():
    rng = np.random.default_rng(0)
    scores = rng.random(MOST_CELLS + 5000)
    tally = Tally.from_arrays(scores, rng.random(len(scores)) < scores)
    found = study(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    assert len(found.before.tally) <= MOST_CELLS
    assert found.total == tally.total
