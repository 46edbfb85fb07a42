import numpy as np
import pytest

from calibrant import Tally
from calibrant.decisions.resampling import draw_counts, draw_grouped_counts
from calibrant.errors import InvalidInputError
from calibrant.metrics.grouped_rows import check_grouped_rows

CUTS = np.array([0.3, 0.6])


def test_replicates_have_the_rows_and_moments_of_a_bootstrap():
    tally = Tally.from_arrays([0.1, 0.3, 0.5, 0.9], [0, 1, 0, 1], sample_weight=np.full(4, 25))
    positives, negatives = draw_counts(tally, CUTS, 4000, 0)
    assert positives.shape == negatives.shape == (4000, 3)
    assert (positives.sum(axis=1) + negatives.sum(axis=1) == 100).all()
    assert positives.mean(axis=0) == pytest.approx([0, 25, 25], abs=0.3)
    assert negatives.mean(axis=0) == pytest.approx([25, 25, 0], abs=0.3)
    assert positives[:, 1].var() == pytest.approx(100 * 0.25 * 0.75, rel=0.1)


def test_groups_are_drawn_whole():
    rows = check_grouped_rows([0, 1, 1, 0, 1], [0.1, 0.9, 0.5, 0.5, 0.5], [0, 0, 1, 1, 2])
    positives, negatives = draw_grouped_counts(rows, CUTS, 500, 0)
    first, second = negatives[:, 0], negatives[:, 1]
    assert (positives[:, 2] == first).all()  # the two rows of the first group
    assert (positives[:, 1] == second + (3 - first - second)).all()  # the others
    assert first.mean() == pytest.approx(1, abs=0.1)


def test_refuses_weights_that_are_no_numbers_of_rows():
    with pytest.raises(InvalidInputError, match="numbers of rows"):
        draw_counts(Tally.from_arrays([0.1, 0.9], [0, 1], sample_weight=[0.2, 0.2]), CUTS, 10, 0)
