import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.metrics.equivalence import equivalence_test
from calibrant.metrics.finite_sample_band import finite_sample_band


def rows(n, shift, seed):
    """Probabilities on a coarse grid whose truth is off by `shift`."""
    rng = np.random.default_rng(seed)
    p = rng.integers(2, 9, n) / 10
    return (rng.random(n) < p + shift).astype(int), p


@pytest.mark.parametrize("measure", ["mean", "max"])
@pytest.mark.parametrize("shift", [0.05, -0.05])
def test_errs_at_the_edge_of_the_tolerance_at_most_as_often_as_it_says(measure, shift):
    wrong = 0
    for seed in range(100):
        y, p = rows(4000, shift, seed)
        # The truth is just outside: off by more than the tolerance everywhere, so "calibrated" would be an error.
        wrong += equivalence_test(y, p, tolerance=0.0499, measure=measure).conclusion == "calibrated"
        # And just inside, where "not calibrated" would be one.
        wrong += equivalence_test(y, p, tolerance=0.0501, measure=measure).conclusion == "not calibrated"
    assert wrong <= 10


def test_concludes_both_ways_with_enough_rows():
    good, bad = rows(20_000, 0.0, 0), rows(20_000, 0.08, 0)
    assert equivalence_test(*good, tolerance=0.05).conclusion == "calibrated"
    assert equivalence_test(*bad, tolerance=0.03).conclusion == "not calibrated"
    assert equivalence_test(*rows(100, 0.0, 0), tolerance=0.05).conclusion == "undecided"
    assert equivalence_test(*good, tolerance=0.06, measure="max", between=(0.3, 0.7)).conclusion == "calibrated"


def test_bounds_come_from_the_band():
    y, p = rows(500, 0.02, 1)
    band = finite_sample_band(y, p, level=0.8)
    furthest = np.maximum(band.high - band.scores, band.scores - band.low)
    nearest = np.maximum(np.maximum(band.low - band.scores, band.scores - band.high), 0)
    share = band.totals / band.totals.sum()
    result = equivalence_test(y, p, tolerance=0.1, level=0.8)
    assert (result.low, result.high) == pytest.approx((share @ nearest, share @ furthest))
    largest = equivalence_test(y, p, tolerance=0.1, level=0.8, measure="max")
    assert (largest.low, largest.high) == pytest.approx((nearest.max(), furthest.max()))
    assert str(result).startswith("undecided within 0.1: the probabilities are off by 0.000 to ")


@pytest.mark.parametrize(
    "options", [{"tolerance": 0.0}, {"tolerance": 0.1, "measure": "median"}, {"tolerance": 0.1, "between": (0.95, 1.0)}]
)
def test_refuses_impossible_options(options):
    with pytest.raises(InvalidInputError):
        equivalence_test([0, 1], [0.2, 0.7], **options)
