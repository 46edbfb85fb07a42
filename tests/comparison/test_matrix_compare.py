import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import log_loss

from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.comparison import matrix_compare
from calibrant.comparison.matrix_compare import compare_matrix
from calibrant.errors import InvalidInputError
from calibrant.metrics.groups import number_groups
from calibrant.metrics.matrix_measures import matrix_decomposition


@pytest.fixture
def data():
    """Too sure of itself by a temperature of ½."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet([1.0, 1.0, 1.0], size=300)
    y = np.array([rng.choice(3, p=row) for row in truth])
    return truth**2 / (truth**2).sum(axis=1, keepdims=True), y, truth


def test_all_methods_and_the_default_where_it_is_tied(data):
    scores, y, _ = data
    table = compare_matrix(scores, y, cv=3)
    assert {result.name for result in table.results} == {
        "identity",
        "temperature",
        "one_vs_rest",
        "top_label",
        "matrix_blend",
        "vector_scaling",
        "matrix_scaling",
        "dirichlet",
    }
    assert all(result.log_loss is not None for result in table.results)
    assert table.recommended == "matrix_blend"
    assert "temperature" in table.tied
    assert table.reason.startswith("matrix_blend: its log-loss is ")
    assert table.verdict.state == "needed"
    losses = [result.log_loss.value for result in table.results]
    assert losses == sorted(losses)


def test_scores_are_those_of_scikit_learn_on_rows_left_out(data):
    scores, y, _ = data
    table = compare_matrix(scores, y, methods="temperature", cv=4)
    raw, own = table["identity"], table.fits["temperature"].out_of_fold
    assert raw.log_loss.value == pytest.approx(log_loss(y, scores))
    assert raw.brier_score.value == pytest.approx(((np.eye(3)[y] - scores) ** 2).sum(axis=1).mean())
    assert table["temperature"].log_loss.value == pytest.approx(log_loss(y, own.probabilities))
    rng = np.random.default_rng(0)
    test = next(matrix_compare._folds(matrix_compare.Rows(scores, y, np.ones(len(y))), 4, rng))
    train = np.setdiff1d(np.arange(len(y)), test)
    expected = TemperatureScaling().fit(scores[train], y[train]).predict_proba(scores[test])
    np.testing.assert_allclose(own.probabilities[test], expected)


def test_paired_differences_by_hand(data):
    scores, y, _ = data
    table = compare_matrix(scores, y, methods="temperature")
    own = table.fits["temperature"].out_of_fold.probabilities
    at = np.arange(len(y))
    gaps = np.log(scores[at, y]) - np.log(own[at, y])
    difference = table["temperature"].log_loss_difference
    assert difference.value == pytest.approx(gaps.mean())
    assert difference.high - difference.value == pytest.approx(1.6448536 * gaps.std() / np.sqrt(len(y)))


def test_calibrated_probabilities_are_left_alone(data):
    _, y, truth = data
    table = compare_matrix(truth, y, methods=["temperature", "matrix_blend"])
    assert table.recommended == "identity"
    assert table.reason.startswith("do nothing")
    assert table.verdict.state == "no_evidence"


def test_folds_share_out_every_class(data):
    scores, y, _ = data
    rows = matrix_compare.Rows(scores, y, np.ones(len(y)))
    folds = list(matrix_compare._folds(rows, 5, np.random.default_rng(0)))
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(len(y)))
    counts = np.array([np.bincount(y[fold], minlength=3) for fold in folds])
    assert (np.ptp(counts, axis=0) <= 1).all()


def test_repeats_do_not_make_intervals_shorter(data):
    scores, y, _ = data
    once, twice = (compare_matrix(scores, y, methods="temperature", repeats=r) for r in (1, 2))
    widths = [table["temperature"].log_loss.high - table["temperature"].log_loss.low for table in (once, twice)]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)
    assert "2 times" in twice.title


def test_logits_give_the_same_comparison(data):
    scores, y, _ = data
    probability = compare_matrix(scores, y, methods=["temperature", "vector_scaling"])
    logits = compare_matrix(np.log(scores) + 5.0, y, methods=["temperature", "vector_scaling"], space="logits")
    for name in ("identity", "temperature", "vector_scaling"):
        assert logits[name].log_loss.value == pytest.approx(probability[name].log_loss.value, abs=1e-6)


def test_the_chosen_method_is_fitted_to_all_rows_and_knows_the_labels(data):
    scores, y, _ = data
    table = compare_matrix(scores, np.array(["x", "y", "z"])[y], methods=["matrix_blend"])
    assert table.fit().classes_.tolist() == ["x", "y", "z"]
    assert table.fit("identity").predict_proba(scores[:1]).tolist() == scores[:1].tolist()


def test_the_out_of_fold_matrix_splits_the_score(data):
    scores, y, _ = data
    table = compare_matrix(scores, y, methods=["matrix_blend"])
    parts = matrix_decomposition(y, scores, table.fits["matrix_blend"].out_of_fold.probabilities)
    assert parts.miscalibration == pytest.approx(-table["matrix_blend"].log_loss_difference.value)


class Broken(BaseEstimator):
    def fit(self, scores, y, sample_weight=None):  # noqa: ARG002 - it gets no further
        raise RuntimeError("out of order")

    def predict_proba(self, scores):
        return scores


def test_a_method_that_fails_is_noted(data):
    scores, y, _ = data
    table = compare_matrix(scores, y, methods={"mine": Broken(), "blend": TemperatureScaling()})
    assert table["mine"].note == "failed (RuntimeError: out of order)"
    assert table.results[-1].name == "mine"
    assert table.recommended == "blend"  # a user's name that is also the binary default


def test_weights_of_zero_are_left_out_and_progress_is_told(data):
    scores, y, _ = data
    seen = []
    weights = np.where(np.arange(len(y)) < 200, 1.0, 0.0)
    table = compare_matrix(scores, y, methods="temperature", sample_weight=weights, progress=seen.append)
    assert table.n_rows == 200
    assert seen == ["identity", "temperature"]
    assert table["identity"].log_loss.value == pytest.approx(log_loss(y[:200], scores[:200]))


def test_text_and_json(data):
    scores, y, _ = data
    table = compare_matrix(scores, y, methods="temperature")
    assert str(table).startswith("300 rows of 3 classes, the largest ")
    assert "top SmoothECE" in str(table)
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False))["n_classes"] == 3


def test_too_few_rows_are_refused(data):
    scores, y, _ = data
    with pytest.raises(InvalidInputError, match="at least two rows for each of the 5 folds"):
        compare_matrix(scores[:6], y[:6] % 3)


def test_groups_stay_in_one_fold_and_intervals_allow_for_them(data):
    scores, y, _ = data
    rows = np.repeat(scores, 9, axis=0), np.repeat(y, 9), np.repeat(np.arange(len(y)), 9)
    plain, grouped = (compare_matrix(*rows[:2], methods="temperature", groups=g) for g in (None, rows[2]))
    widths = [table["identity"].log_loss.high - table["identity"].log_loss.low for table in (grouped, plain)]
    assert widths[0] == pytest.approx(3 * widths[1], rel=0.03)
    assert grouped.verdict.p_value is None
    checked = matrix_compare.Rows(rows[0], rows[1], np.ones(len(rows[1])), number_groups(rows[2], len(rows[2])))
    for fold in matrix_compare._folds(checked, 5, np.random.default_rng(0)):
        assert not set(rows[2][fold]) & set(np.delete(rows[2], fold))
