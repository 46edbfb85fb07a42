import numpy as np
import pytest

from calibrant import Identity, Tally
from calibrant.errors import InvalidInputError
from calibrant.estimates.quantities import QUANTITIES
from calibrant.estimates.rows import Cells, as_unlabelled, check_threshold, count_scores, make_cells


def test_scores_are_counted_with_their_weights():
    tally = count_scores([0.5, 0.2, 0.5, 0.9], [1, 2, 3, 0])
    assert tally.scores.tolist() == [0.2, 0.5]
    assert tally.totals.tolist() == [2.0, 4.0]
    assert tally.positives.tolist() == [0.0, 0.0]


def test_no_scores_are_refused():
    with pytest.raises(InvalidInputError, match="at least one row"):
        count_scores([])


def test_a_tally_is_taken_as_it_is():
    tally = Tally.from_arrays([0.1, 0.9], [0, 1])
    assert as_unlabelled(tally) is tally


def test_cells_keep_rows_and_decisions_when_they_are_merged():
    rng = np.random.default_rng(0)
    tally = count_scores(rng.random(5000))
    model = Identity().fit([0.1, 0.9], [0, 1])
    cells = make_cells(model, tally, [QUANTITIES["accuracy"]], "scores", 0.3)
    assert len(cells.scores) <= 512 < len(tally)
    assert cells.totals.sum() == 5000
    assert cells.totals[cells.called].sum() == tally.totals[tally.scores >= 0.3].sum()
    assert (np.diff(cells.values) > 0).all()


def test_losses_of_scores_need_probabilities():
    model = Identity().fit([0.1, 0.9], [0, 1])
    with pytest.raises(InvalidInputError, match="Brier score of scores"):
        make_cells(model, count_scores([-1.0, 2.0]), [QUANTITIES["brier_score"]], "scores", None)


def test_the_threshold_of_scores_may_be_any_number():
    assert check_threshold([QUANTITIES["accuracy"]], "scores", -3.0) == -3.0
    assert check_threshold([QUANTITIES["accuracy"]], "probabilities", None) == 0.5


def test_outcomes_have_the_moments_of_bernoulli_rows():
    rng = np.random.default_rng(2)
    totals, p = np.array([3.0, 1e8, 0.25]), np.array([0.3, 0.5, 0.6])
    cells = Cells(p, p, totals, p >= 0.5, 0.5)
    drawn = cells.outcomes(np.tile(p, (20_000, 1)), rng).positives
    assert drawn.mean(axis=0) == pytest.approx(totals * p, rel=0.02)
    expected = [3 * 0.3 * 0.7, 1e8 * 0.25, 0.25**2 * 0.6 * 0.4]
    assert drawn.var(axis=0) == pytest.approx(expected, rel=0.05)
    assert set(drawn[:, 2]) == {0.0, 0.25}
