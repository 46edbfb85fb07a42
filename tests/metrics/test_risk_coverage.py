"""Risk–coverage curves against their definitions, row by row."""

import numpy as np
import pytest

from calibrant import Tally
from calibrant.errors import InvalidInputError
from calibrant.metrics.risk_coverage import aurc, coverage_at_risk, excess_aurc, risk_coverage_curve


def draw(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.random(n_rows)
    return rng.random(n_rows) < scores, scores


def test_the_area_is_the_mean_risk_over_all_numbers_of_rows() -> None:
    right, scores = draw(200)
    errors = np.cumsum(~right[np.argsort(-scores)])
    assert aurc(right, scores) == pytest.approx(np.mean(errors / np.arange(1, 201)))


def test_tied_rows_come_in_no_order() -> None:
    right, scores = draw(300)
    rng, tied = np.random.default_rng(1), np.round(scores, 1)
    orders = [np.lexsort((rng.random(300), -tied)) for _ in range(3000)]
    means = [np.mean(np.cumsum(~right[order]) / np.arange(1, 301)) for order in orders]
    assert aurc(right, tied) == pytest.approx(np.mean(means), abs=0.001)


def test_the_ideal_order_has_no_excess_and_the_worst_the_most() -> None:
    right, scores = draw(100)
    assert excess_aurc(right, right + 0.1 * scores) == pytest.approx(0.0, abs=1e-12)
    assert excess_aurc(right, -scores) > excess_aurc(right, scores) > 0.0
    assert excess_aurc(np.ones(5), np.arange(5)) == 0.0
    assert excess_aurc(np.zeros(5), np.arange(5)) == pytest.approx(0.0, abs=1e-12)


def test_coverage_at_a_risk_is_the_largest() -> None:
    right = np.array([1, 0, 1, 1, 1, 0, 0, 0])
    scores = -np.arange(8.0)
    assert coverage_at_risk(right, scores, risk=0.25) == 5 / 8
    assert coverage_at_risk(np.zeros(4), np.arange(4), risk=0.1) == 0.0
    with pytest.raises(InvalidInputError, match="`risk`"):
        coverage_at_risk(right, scores, risk=1.5)


def test_weights_are_numbers_of_rows_and_a_tally_is_enough() -> None:
    right, scores = draw(80)
    weights = np.random.default_rng(2).integers(1, 4, 80)
    again = np.repeat(right, weights), np.repeat(scores, weights)
    assert aurc(right, scores, sample_weight=weights) == pytest.approx(aurc(*again))
    assert aurc(Tally.from_arrays(scores, right)) == pytest.approx(aurc(right, scores))


def test_several_classes_are_judged_by_their_top_class() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.dirichlet([0.5] * 4, 250)
    labels = rng.integers(0, 4, 250)
    right, top = matrix.argmax(axis=1) == labels, matrix.max(axis=1)
    assert aurc(labels, matrix) == pytest.approx(aurc(right, top))
    groups = np.arange(250) % 50
    by_class = risk_coverage_curve(labels, matrix, groups=groups, n_resamples=20)
    assert by_class.aurc == risk_coverage_curve(right, top, groups=groups, n_resamples=20).aurc


def test_intervals_hold_the_area_of_the_population() -> None:
    truth = aurc(*draw(200_000, seed=9))
    held = [interval.low <= truth <= interval.high for interval in (curve_of(seed).aurc for seed in range(40))]
    assert sum(held) >= 31  # of 40 at 90 %: less has a probability of 1 %


def curve_of(seed: int):
    return risk_coverage_curve(*draw(400, seed), n_resamples=200, rng=seed)


def test_the_curve_has_what_was_asked_for() -> None:
    right, scores = draw(500)
    curve = risk_coverage_curve(right, scores, risk=0.2, n_resamples=100)
    kept = scores >= curve.thresholds[249]
    assert curve.coverages[249] == kept.mean() == 0.5
    assert curve.risks[249] == pytest.approx((~right[kept]).mean())
    at = curve.coverage_at_risk
    assert at.low <= at.value <= at.high
    assert at.value == coverage_at_risk(right, scores, risk=0.2)
    assert risk_coverage_curve(right, scores, n_resamples=10).coverage_at_risk is None
    assert list(curve.to_frame().columns) == ["thresholds", "coverages", "risks"]
    assert repr(curve).startswith("RiskCoverage(aurc=0.")
    assert repr(curve).endswith("total=500.0)")
