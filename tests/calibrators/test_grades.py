"""Grades in [0, 1] instead of labels: the map gives their mean, with intervals as wide as grades vary."""

import numpy as np
import pytest

from calibrant import Blend, PlattScaling, SplineCalibration
from calibrant._numerics.grades import grade_dispersion
from calibrant.calibrators import VennAbers
from calibrant.errors import InvalidInputError


def draw(n_rows: int, kappa: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, grades whose variance is p (1 − p) / (kappa + 1), and their means."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.02, 0.98, n_rows)
    means = scores**1.5
    return scores, rng.beta(kappa * means, kappa * (1.0 - means)), means


def test_the_dispersion_is_that_of_the_grades() -> None:
    for kappa in (0.5, 3.0):
        scores, grades, _ = draw(20_000, kappa)
        assert grade_dispersion(scores, grades) == pytest.approx(1.0 / (kappa + 1.0), rel=0.05)


def test_labels_are_grades_without_a_gain() -> None:
    scores, grades, _ = draw(300, 1.0)
    labels = (grades > 0.5).astype(float)
    assert grade_dispersion(scores, labels) == 1.0
    graded, plain = (PlattScaling().fit(scores, labels, graded=kind) for kind in (True, False))
    np.testing.assert_allclose(graded.predict(scores), plain.predict(scores), rtol=1e-12)


def test_a_row_counts_as_many_labels_as_its_grade_is_worth() -> None:
    grades = np.array([0.5, 0.5, 0.5, 0.5, 1.0])  # by hand: (0 + 0 + 0 + ¼ + 1) / (½ + ½ + ½ + ½ + 1)
    worth = 3.0 / 1.25
    spline = SplineCalibration().fit(np.arange(1, 6) / 6, grades, graded=True)
    assert spline.labelled_.cells.total == pytest.approx(5 * worth)
    assert spline.labelled_.cells.total_positive == pytest.approx(3 * worth)


@pytest.mark.parametrize("kappa", [1.0, 4.0])
def test_intervals_hold_the_mean_grade_as_often_as_they_say(kappa: float) -> None:
    at, held, mean_held, runs = np.linspace(0.1, 0.9, 9), [], [], 40
    for seed in range(runs):
        scores, grades, _ = draw(1500, kappa, seed)
        spline = SplineCalibration().fit(scores[:300], grades[:300], graded=True)
        low, high = spline.predict_interval(at)
        held.append((low <= at**1.5) & (at**1.5 <= high))
        answer = spline.estimate(scores[300:], "mean")
        mean_held.append(answer.low <= grades[300:].mean() <= answer.high)
    assert 0.84 < np.mean(held) < 0.98
    assert np.mean(mean_held) > 0.9 - 2.0 * np.sqrt(0.09 / runs)


def test_intervals_are_narrower_than_those_of_parts_of_labels() -> None:
    from calibrant import Tally

    scores, grades, _ = draw(300, 4.0)
    parts = Blend().fit_tally(Tally.from_arrays(scores, grades, graded=True)).predict_interval([0.5])
    worth = Blend().fit(scores, grades, graded=True).predict_interval([0.5])
    assert worth[1] - worth[0] < 0.75 * (parts[1] - parts[0])


def test_equal_grades_do_not_pass_for_knowledge() -> None:
    low, high = (
        SplineCalibration().fit(np.linspace(0.1, 0.9, 20), np.full(20, 0.5), graded=True).predict_interval([0.5])
    )
    assert high[0] - low[0] > 0.05


def test_what_cannot_use_grades_refuses() -> None:
    scores, grades, _ = draw(50, 1.0)
    with pytest.raises(InvalidInputError, match="VennAbers needs labels of two kinds"):
        VennAbers().fit(scores, grades, graded=True)
    with pytest.raises(InvalidInputError, match="Grades are for one score"):
        Blend().fit(np.column_stack((scores, scores, scores)) / 3.0, grades, graded=True)
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        Blend().fit(scores, 5.0 * grades, graded=True)
