import numpy as np

from calibrant import IsotonicCalibration, PlattScaling, Tally
from calibrant.metrics import log_loss
from calibrant.report.segments import MOST_CURVES, calibrated_segments, segment_results


def rows(n, shift, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.0, n).round(1)
    return Tally.from_arrays(1 / (1 + np.exp(-z)), rng.random(n) < 1 / (1 + np.exp(-z - shift)))


def test_largest_first_and_the_shifted_one_is_off():
    study = segment_results({"small": rows(200, 0.0, 0), "off": rows(900, 1.5, 1)}, PlattScaling(), 0.9, 5)
    assert [one.name for one in study] == ["off", "small"]
    assert study[0].before.off
    assert not study[1].before.off
    assert study[0].before.low < study[0].before.happened < study[0].before.high
    assert study[0].total == 900


def test_one_map_for_all_moves_the_gaps_together():
    study = segment_results({"a": rows(1000, 1.0, 0), "b": rows(1000, 1.0, 1)}, PlattScaling(), 0.9, 5)
    for one in study:
        assert abs(one.after.predicted - one.after.happened) < 0.3 * abs(one.before.predicted - one.before.happened)


def test_cross_fitting_is_honest_on_pure_noise():
    # Isotonic regression looks better than a coin on the rows it was fitted to, and worse on those it was not.
    rng = np.random.default_rng(0)
    parts = {name: Tally.from_arrays(rng.random(80), rng.random(80) < 0.5) for name in "ab"}
    whole = parts["a"] + parts["b"]
    own = whole.rescored(IsotonicCalibration().fit_tally(whole).predict(whole.scores))
    held_out = calibrated_segments(parts, IsotonicCalibration(), 5)
    assert {name: one.total for name, one in held_out.items()} == {"a": 80.0, "b": 80.0}
    assert log_loss(own) < np.log(2.0) < log_loss(held_out["a"] + held_out["b"])


def test_scores_that_are_no_probabilities_have_only_an_after():
    tally = Tally.from_arrays(np.linspace(-3, 3, 100), np.linspace(-3, 3, 100) > 0.1)
    study = segment_results({"a": tally}, IsotonicCalibration(), 0.9, 5)[0]
    assert study.before is None
    assert 0.0 <= study.after.predicted <= 1.0


def test_tiny_and_empty_segments_do_no_harm():
    parts = {"one": Tally.from_arrays([0.5], [1]), "none": Tally.empty(), "many": rows(300, 0.0, 0)}
    study = segment_results(parts, PlattScaling(), 0.9, 5)
    assert [one.name for one in study] == ["many", "one"]
    assert study[1].after is None


def test_only_the_largest_have_diagrams():
    parts = {f"s{i:02d}": Tally.from_arrays([0.2, 0.8], [0, 1], [1.0 + i, 1.0]) for i in range(MOST_CURVES + 3)}
    study = segment_results(parts, IsotonicCalibration(), 0.9, 2)
    assert [one.diagram is not None for one in study] == [True] * MOST_CURVES + [False] * 3
