import numpy as np
import pytest
from sklearn import metrics as sk

from calibrant.decisions import net_benefit
from calibrant.errors import InvalidInputError
from calibrant.estimates.quantities import QUANTITIES, Outcomes, find_quantity


@pytest.fixture
def rows():
    """Ninety rows with ties, their outcomes, and the same as cells of one value each."""
    rng = np.random.default_rng(5)
    values = np.sort(rng.integers(1, 10, 90) / 10)
    labels = rng.random(90) < values
    cells, inverse = np.unique(values, return_inverse=True)
    totals, positives = np.bincount(inverse).astype(float), np.bincount(inverse, labels)
    return values, labels, Outcomes(cells, cells >= 0.4, totals, positives[None, :], 0.4)


@pytest.mark.parametrize(
    ("what", "by_rows"),
    [
        ("mean", lambda y, _: y.mean()),
        ("positives", lambda y, _: y.sum()),
        ("accuracy", lambda y, p: sk.accuracy_score(y, p >= 0.4)),
        ("precision", lambda y, p: sk.precision_score(y, p >= 0.4)),
        ("recall", lambda y, p: sk.recall_score(y, p >= 0.4)),
        ("specificity", lambda y, p: sk.recall_score(~y, p < 0.4)),
        ("f1", lambda y, p: sk.f1_score(y, p >= 0.4)),
        ("auc", sk.roc_auc_score),
        ("brier_score", sk.brier_score_loss),
        ("log_loss", sk.log_loss),
        ("net_benefit", lambda y, p: net_benefit(y, p, thresholds=[0.4])[0]),
    ],
)
def test_cells_give_what_their_rows_give(rows, what, by_rows):
    values, labels, outcomes = rows
    assert QUANTITIES[what].compute(outcomes)[0] == pytest.approx(by_rows(labels, values), abs=1e-12)


def test_every_quantity_is_checked_above():
    marks = test_cells_give_what_their_rows_give.pytestmark[0].args[1]
    assert {what for what, _ in marks} == set(QUANTITIES)


def test_cells_of_one_value_are_a_tie():
    values = np.array([0.3, 0.3, 0.7])
    outcomes = Outcomes(values, values >= 0.5, np.array([1.0, 1.0, 1.0]), np.array([[0.0, 1.0, 1.0]]), 0.5)
    assert QUANTITIES["auc"].compute(outcomes).tolist() == [0.75]


def test_what_has_no_value_is_nan():
    values = np.array([0.1, 0.2])
    none = Outcomes(values, values >= 0.5, np.array([1.0, 1.0]), np.array([[0.0, 0.0]]), 0.5)
    assert np.isnan([QUANTITIES[what].compute(none)[0] for what in ("precision", "recall", "f1", "auc")]).all()


def test_an_unknown_quantity_is_refused():
    with pytest.raises(InvalidInputError, match="`quantity` must be one of mean, positives"):
        find_quantity("averages")
