"""The recommendation follows proper scores, does nothing when nothing helps, and survives methods that break."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.metrics import log_loss

from calibrant import (
    HistogramBinning,
    Identity,
    IsotonicCalibration,
    PanelCalibrator,
    PlattScaling,
    Tally,
    compare,
    metrics,
    simulate,
)
from calibrant.calibrators import registry
from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.comparison.candidates import PanelView
from calibrant.comparison.problems import read_problem
from calibrant.errors import InvalidInputError

QUICK = ["platt", "isotonic", "beta"]


class Broken(Identity):
    def fit_map(self, tally):  # noqa: ARG002
        raise RuntimeError("disk on fire")


class Worried(Identity):
    def fit_map(self, tally):
        import warnings

        warnings.warn("not converged", UserWarning, stacklevel=1)
        return super().fit_map(tally)


def test_all_methods_by_default_and_do_nothing_among_them():
    data = simulate.from_truth("underconfident", 400)
    table = compare(data.scores, data.labels, cv=2)
    assert {result.name for result in table.results} == set(registry.METHODS["score"])
    losses = [r.log_loss.value for r in table.results if r.log_loss]
    assert losses == sorted(losses)


def test_a_miscalibrated_score_gets_a_method_and_a_calibrated_one_none():
    data = simulate.from_truth("underconfident", 3000)
    table = compare(data.scores, data.labels, methods=QUICK)
    assert table.recommended in QUICK
    assert "lower than that of the raw score" in table.reason
    rng = np.random.default_rng(0)
    scores = rng.beta(1, 1, 3000)
    honest = compare(scores, rng.random(3000) < scores, methods=QUICK)
    assert honest.recommended == "identity"
    assert honest.reason.startswith("do nothing")


def test_methods_that_the_rows_cannot_tell_apart_are_tied():
    data = simulate.from_truth("underconfident", 3000)
    table = compare(data.scores, data.labels, methods={"one": PlattScaling(), "two": PlattScaling()})
    assert {table.recommended, *table.tied} == {"one", "two"}
    assert f"cannot tell it from {', '.join(table.tied)}" in table.reason
    alone = compare(data.scores, data.labels, methods=["platt"])
    assert (alone.recommended, alone.tied) == ("platt", ())
    assert "the lowest of all" in alone.reason
    # Histogram binning into many bins is clearly worse than the raw score of a calibrated model; another copy is not.
    rng = np.random.default_rng(0)
    scores = rng.random(3000)
    rivals = {"copy": Identity(), "noisy": HistogramBinning(n_bins=500)}
    honest = compare(scores, rng.random(3000) < scores, methods=rivals)
    assert (honest.recommended, honest.tied) == ("identity", ("copy",))


def test_doing_nothing_is_rarely_beaten_by_chance():
    changed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scores = rng.beta(1, 2, 300)
        table = compare(scores, rng.random(300) < scores, methods=QUICK, rng=seed)
        changed += table.recommended != "identity"
    assert changed <= 4


def test_the_raw_score_has_exactly_its_own_scores():
    data = simulate.from_truth("D1", 500)
    row = compare(data.scores, data.labels, methods=["platt"], repeats=2)["identity"]
    assert row.log_loss.value == pytest.approx(metrics.log_loss(data.labels, data.scores))
    assert row.brier_score.value == pytest.approx(metrics.brier_score(data.labels, data.scores))
    assert row.log_loss_difference is None


def test_a_tally_is_the_same_as_its_rows_and_seeds_decide():
    data = simulate.from_truth("D1", 500)
    tally = Tally.from_arrays(data.scores, data.labels)
    first = compare(data.scores, data.labels, methods=["isotonic"])
    again = compare(tally, methods=["isotonic"])
    other = compare(tally, methods=["isotonic"], rng=1)
    assert first["isotonic"].log_loss == again["isotonic"].log_loss
    assert first["isotonic"].log_loss != other["isotonic"].log_loss


def test_large_data_are_joined_to_cells():
    rng = np.random.default_rng(0)
    scores = rng.random(50_000)
    table = compare(scores, rng.random(50_000) < scores**2, methods=["platt", "isotonic"])
    assert table.n_rows == 50_000
    assert table["isotonic"].log_loss.value == pytest.approx(0.5, abs=0.1)
    assert table.recommended in {"platt", "isotonic"}


def test_decision_scores_drop_what_needs_probabilities_with_a_reason():
    rng = np.random.default_rng(0)
    margin = rng.normal(size=500)
    y = rng.random(500) < 1 / (1 + np.exp(-2 * margin))
    table = compare(margin, y, methods=[*QUICK, "temperature"], space="decision")
    assert table.reference == "platt"
    assert "not probabilities" in table["identity"].note
    assert "needs probabilities" in table["beta"].note
    assert table["temperature"].log_loss is not None
    assert table.recommended == "platt"
    assert "platt" in table.headers[4]


def test_own_calibrators_failures_and_warnings_become_rows():
    data = simulate.from_truth("D1", 300)
    methods = {"mine": PlattScaling(target_correction=False), "broken": Broken(), "worried": Worried()}
    seen = []
    table = compare(data.scores, data.labels, methods=methods, progress=seen.append)
    assert seen == ["identity", "mine", "broken", "worried"]
    assert table["broken"].note == "failed (RuntimeError: disk on fire)"
    assert table["worried"].note == "not converged"
    assert table["worried"].log_loss_difference.value == 0.0
    assert table.results[-1].name == "broken"


def test_labels_of_any_kind_and_weights():
    data = simulate.from_truth("D1", 300)
    words = np.where(data.labels, "yes", "no")
    plain = compare(data.scores, data.labels, methods="platt")
    with pytest.raises(InvalidInputError, match="Say which one is the positive class"):
        compare(data.scores, words)
    named = compare(data.scores, words, methods="platt", pos_label="yes")
    assert named["platt"].log_loss == plain["platt"].log_loss
    doubled = compare(data.scores, words, methods="platt", pos_label="yes", sample_weight=np.full(300, 2.0))
    assert doubled.n_rows == 600


def test_swapped_classes_are_remarked_once():
    data = simulate.from_truth("D1", 300)
    table = compare(data.scores, ~data.labels.astype(bool), methods=["platt", "isotonic"])
    assert sum("Were the classes swapped?" in note for note in table.notes) == 1
    assert not any("swapped" in note for note in compare(data.scores, data.labels, methods="platt").notes)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.1, 0.9],), {}, "`y` must be given"),
        (([0.1, 0.9], [0, 1]), {}, "needs 2 rows of each class"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"cv": 1}, "`cv` must be an integer of at least 2"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"repeats": 0}, "`repeats`"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"level": 2}, "`level`"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"methods": ["nonsense"]}, "`method` must be one of"),
        (([-1, 2] * 3, [0, 1] * 3), {"methods": ["beta"], "space": "decision"}, "No method could be fitted"),
        (([-1, 2] * 3, [0, 1] * 3), {}, "space='decision'"),
        (([1, 97] * 3, [0, 1] * 3), {}, "divide percentages by 100"),
        (([0.1, 0.9] * 3, [0, 1] * 3), {"space": "odds"}, "`space` must be one of probability, decision"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(InvalidInputError, match=message):
        compare(*arguments, **options)


def test_no_more_folds_than_rows():
    scores, labels = np.linspace(0.1, 0.9, 20), np.arange(20) % 2
    with pytest.raises(InvalidInputError, match="`cv` must be at most the number of rows, 20; got 21"):
        compare(scores, labels, methods=["platt"], cv=21)
    assert compare(scores, labels, methods=["platt"], cv=20).n_rows == 20


def test_the_function_is_the_public_name():
    import calibrant
    import calibrant.comparison

    assert calibrant.compare is calibrant.comparison.compare


def test_names_and_objects_mixed():
    data = simulate.from_truth("D1", 300)
    mine = HistogramBinning(n_bins=3)
    methods = ["platt", mine, Worried(), HistogramBinning(n_bins=5), "platt"]
    table = compare(data.scores, data.labels, methods=methods)
    assert list(table.fits) == ["identity", "platt", "histogram", "Worried", "histogram 2"]
    assert table.fits["histogram"].calibrator is mine
    assert table.fit("histogram 2").n_bins == 5
    assert table["Worried"].title == getattr(Worried, "title", "Worried")
    assert compare(data.scores, data.labels, methods=mine)["histogram"].log_loss == table["histogram"].log_loss
    with pytest.raises(InvalidInputError, match="must be names of methods or calibrators; got 7"):
        compare(data.scores, data.labels, methods=[7])


def test_the_fit_of_the_recommended_method_is_made_once_and_equals_a_fit_to_the_rows(monkeypatch):
    data = simulate.from_truth("underconfident", 500)
    table = compare(data.scores, data.labels, methods=["platt"])
    fits = []
    monkeypatch.setattr(PlattScaling, "fit_map", counting(PlattScaling.fit_map, fits))
    assert table.fit() is table.fit("platt")
    assert len(fits) == 1
    assert np.array_equal(
        table.fit().predict([0.2, 0.7]), PlattScaling().fit(data.scores, data.labels).predict([0.2, 0.7])
    )
    with pytest.raises(InvalidInputError, match="`name` must be one of identity, platt"):
        table.fit("beta")


def counting(function, calls):
    def counted(self, tally):
        calls.append(self)
        return function(self, tally)

    return counted


def test_decision_scores_are_named_in_a_note():
    z = np.linspace(-2.0, 2.0, 60)
    table = compare(z, z + np.sin(9 * z) > 0, methods=["platt"], space="decision")
    assert table.notes[0] == "The scores are taken as decision scores."
    assert table.verdict.state == "not_probabilities"
    assert table.fits["platt"].calibrator.space == "decision"


def test_groups_stay_in_one_fold_and_differences_are_clustered():
    data = simulate.from_truth("underconfident", 150)
    scores, y, groups = (np.repeat(column, 10) for column in (data.scores, data.labels, np.arange(150)))
    plain, grouped = (compare(scores, y, methods=["platt", "isotonic"], groups=g) for g in (None, groups))
    # Copies of a row in both parts flatter the method that follows single rows; folds of groups do not.
    assert plain["isotonic"].log_loss_difference.value < grouped["isotonic"].log_loss_difference.value - 0.02
    widths = [one["identity"].log_loss.high - one["identity"].log_loss.low for one in (grouped, plain)]
    assert widths[0] == pytest.approx(np.sqrt(10) * widths[1], rel=0.05)
    widths = [one["platt"].log_loss_difference.high - one["platt"].log_loss_difference.low for one in (grouped, plain)]
    assert widths[0] > 2.5 * widths[1]
    assert grouped.verdict.p_value > plain.verdict.p_value


def test_groups_need_rows_and_name_the_columns():
    with pytest.raises(InvalidInputError, match="no longer knows"):
        compare(simulate.from_truth("D1", 50).tally, groups=[1, 2])
    with pytest.raises(InvalidInputError, match="`scores`"):
        compare([0.1, np.nan, 0.3, 0.9], [0, 1, 0, 1], groups=[1, 2, 3, 4])
    with pytest.raises(InvalidInputError, match="number of groups"):
        compare([0.1, 0.2, 0.3, 0.9], [0, 1, 0, 1], groups=[1, 1, 2, 2], cv=4)


@pytest.fixture
def matrix():
    """Too sure of itself by a temperature of ½."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet([1.0, 1.0, 1.0], size=300)
    y = np.array([rng.choice(3, p=row) for row in truth])
    return truth**2 / (truth**2).sum(axis=1, keepdims=True), y, truth


def test_all_methods_and_the_default_where_it_is_tied(matrix):
    scores, y, _ = matrix
    table = compare(scores, y, cv=3)
    assert {result.name for result in table.results} == {
        "identity",
        "temperature",
        "one_vs_rest",
        "top_label",
        "blend",
        "vector_scaling",
        "matrix_scaling",
        "dirichlet",
    }
    assert all(result.log_loss is not None for result in table.results)
    assert table.recommended == "blend"
    assert "temperature" in table.tied
    assert table.reason.startswith("blend: its log-loss is ")
    assert table.verdict.state == "needed"
    losses = [result.log_loss.value for result in table.results]
    assert losses == sorted(losses)


def test_scores_are_those_of_scikit_learn_on_rows_left_out(matrix):
    scores, y, _ = matrix
    table = compare(scores, y, methods="temperature", cv=4)
    raw, own = table["identity"], table.fits["temperature"].out_of_fold
    assert raw.log_loss.value == pytest.approx(log_loss(y, scores))
    assert raw.brier_score.value == pytest.approx(((np.eye(3)[y] - scores) ** 2).sum(axis=1).mean())
    assert table["temperature"].log_loss.value == pytest.approx(log_loss(y, own.probabilities))
    rng = np.random.default_rng(0)
    train, test = read_problem(scores, y).split(4, rng)[0]
    np.testing.assert_array_equal(train, np.setdiff1d(np.arange(len(y)), test))
    expected = TemperatureScaling().fit(scores[train], y[train]).predict_proba(scores[test])
    np.testing.assert_allclose(own.probabilities[test], expected)


def test_paired_differences_by_hand(matrix):
    scores, y, _ = matrix
    table = compare(scores, y, methods="temperature")
    own = table.fits["temperature"].out_of_fold.probabilities
    at = np.arange(len(y))
    gaps = np.log(scores[at, y]) - np.log(own[at, y])
    difference = table["temperature"].log_loss_difference
    assert difference.value == pytest.approx(gaps.mean())
    assert difference.high - difference.value == pytest.approx(1.6448536 * gaps.std() / np.sqrt(len(y)))


def test_calibrated_probabilities_are_left_alone(matrix):
    _, y, truth = matrix
    table = compare(truth, y, methods=["temperature", "blend"])
    assert table.recommended == "identity"
    assert table.reason.startswith("do nothing")
    assert table.verdict.state == "no_evidence"


def test_folds_share_out_every_class(matrix):
    scores, y, _ = matrix
    folds = [test for _, test in read_problem(scores, y).split(5, np.random.default_rng(0))]
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(len(y)))
    counts = np.array([np.bincount(y[fold], minlength=3) for fold in folds])
    assert (np.ptp(counts, axis=0) <= 1).all()


def test_repeats_do_not_make_intervals_shorter(matrix):
    scores, y, _ = matrix
    once, twice = (compare(scores, y, methods="temperature", repeats=r) for r in (1, 2))
    widths = [table["temperature"].log_loss.high - table["temperature"].log_loss.low for table in (once, twice)]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)
    assert "2 times" in twice.title


def test_logits_give_the_same_comparison(matrix):
    scores, y, _ = matrix
    probability = compare(scores, y, methods=["temperature", "vector_scaling"])
    logits = compare(np.log(scores) + 5.0, y, methods=["temperature", "vector_scaling"], space="decision")
    for name in ("identity", "temperature", "vector_scaling"):
        assert logits[name].log_loss.value == pytest.approx(probability[name].log_loss.value, abs=1e-6)


def test_the_chosen_method_is_fitted_to_all_rows_and_knows_the_labels(matrix):
    scores, y, _ = matrix
    table = compare(scores, np.array(["x", "y", "z"])[y], methods=["blend"])
    assert table.fit().classes_.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(table.fit("identity").predict_proba(scores[:1]), scores[:1], atol=1e-12)


def test_the_out_of_fold_matrix_splits_the_score(matrix):
    scores, y, _ = matrix
    table = compare(scores, y, methods=["blend"])
    saved = metrics.log_loss(y, scores) - metrics.log_loss(y, table.fits["blend"].out_of_fold.probabilities)
    assert saved == pytest.approx(-table["blend"].log_loss_difference.value)


class BrokenMatrix(BaseEstimator):
    def fit(self, scores, y, sample_weight=None):  # noqa: ARG002 - it gets no further
        raise RuntimeError("out of order")

    def predict_proba(self, scores):
        return scores


def test_a_method_that_fails_is_noted(matrix):
    scores, y, _ = matrix
    table = compare(scores, y, methods={"mine": BrokenMatrix(), "blend": TemperatureScaling()})
    assert table["mine"].note == "failed (RuntimeError: out of order)"
    assert table.results[-1].name == "mine"
    assert table.recommended == "blend"  # a user's name that is also the binary default


def test_weights_of_zero_are_left_out_and_progress_is_told(matrix):
    scores, y, _ = matrix
    seen = []
    weights = np.where(np.arange(len(y)) < 200, 1.0, 0.0)
    table = compare(scores, y, methods="temperature", sample_weight=weights, progress=seen.append)
    assert table.n_rows == 200
    assert seen == ["identity", "temperature"]
    assert table["identity"].log_loss.value == pytest.approx(log_loss(y[:200], scores[:200]))


def test_text_and_json_of_several_classes(matrix):
    scores, y, _ = matrix
    table = compare(scores, y, methods="temperature")
    assert str(table).startswith("300 rows of 3 classes, the largest ")
    assert "top SmoothECE" in str(table)
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False))["n_classes"] == 3


def test_too_few_rows_of_several_classes_are_refused(matrix):
    scores, y, _ = matrix
    with pytest.raises(InvalidInputError, match="at least two rows for each of the 5 folds"):
        compare(scores[:6], y[:6] % 3)


def test_groups_of_several_classes_stay_in_one_fold_and_intervals_allow_for_them(matrix):
    scores, y, _ = matrix
    rows = np.repeat(scores, 9, axis=0), np.repeat(y, 9), np.repeat(np.arange(len(y)), 9)
    plain, grouped = (compare(*rows[:2], methods="temperature", groups=g) for g in (None, rows[2]))
    widths = [table["identity"].log_loss.high - table["identity"].log_loss.low for table in (grouped, plain)]
    assert widths[0] == pytest.approx(3 * widths[1], rel=0.03)
    assert grouped.verdict.p_value is None
    for fit, judge in read_problem(*rows[:2], groups=rows[2]).split(5, np.random.default_rng(0)):
        assert not set(rows[2][judge]) & set(rows[2][fit])
        assert len(fit) + len(judge) == len(rows[2])


def test_crossfit_predicts_only_what_was_left_out():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 40, 300) / 40
    tally = Tally.from_arrays(scores, rng.random(300) < scores)
    problem = read_problem(tally)
    parts = problem.split(5, np.random.default_rng(1))
    found = problem.crossfit(IsotonicCalibration(), parts)
    expected = [IsotonicCalibration().fit_tally(p.train).predict(p.test.scores) for p in parts]
    np.testing.assert_array_equal(found.probabilities, np.tile(np.concatenate(expected), 2))
    assert found.counts.sum() == tally.total


def test_a_registered_method_for_matrices_is_compared_by_its_name(matrix, monkeypatch):
    from calibrant.multiclass.scaling import VectorScaling

    class Mine(VectorScaling):
        name = "mine"

    monkeypatch.setattr(registry, "_REGISTERED", {})
    registry.register(Mine)
    scores, y, _ = matrix
    table = compare(scores, y, methods=["mine", "vector_scaling"])
    assert table["mine"].log_loss == table["vector_scaling"].log_loss
    with pytest.raises(InvalidInputError, match="mine"):
        compare(scores[:, 0], y == 0, methods=["mine"])


def _rows_over_time(rng, shape, n=600):
    """Rows in random order of twelve months, in which a score comes to mean more; and the months."""
    month = rng.permutation(np.repeat(np.arange(12), n // 12))
    if shape == "score":
        scores = rng.random(n)
        return scores, rng.random(n) < scores ** np.where(month < 6, 1.0, 0.5), month
    scores = rng.dirichlet(np.ones(3), n)
    return scores, (scores.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=2), month


@pytest.mark.parametrize("shape", ["score", "matrix"])
def test_over_time_no_row_is_judged_by_a_fit_that_has_seen_its_month_or_a_later_one(shape):
    scores, y, month = _rows_over_time(np.random.default_rng(0), shape)
    problem = read_problem(scores, y, time=month)
    folds = problem.split(5, np.random.default_rng(0))
    assert len(folds) == 5
    judged = 0
    for number, fold in enumerate(folds):
        if shape == "score":
            when = dict(zip(scores, month, strict=True))
            fit, judge = ([when[score] for score in part.scores] for part in (fold.train, fold.test))
        else:
            fit, judge = month[fold[0]], month[fold[1]]
        assert max(fit) < min(judge)
        assert len(fit) == 100 * (number + 1)
        judged += len(judge)
    assert judged == 500
    # What is judged does not depend on rows to come: change the labels of the last block.
    method = "platt" if shape == "score" else "temperature"
    later = np.where(month >= 10, np.random.default_rng(1).permutation(y), y)
    before, after = (
        compare(scores, labels, methods=[method], time=month).fits[method].out_of_fold for labels in (y, later)
    )
    assert sorted(before.probabilities.ravel()) == pytest.approx(sorted(after.probabilities.ravel()))


def test_over_time_the_losses_are_those_of_an_expanding_window():
    scores, y, month = _rows_over_time(np.random.default_rng(2), "score")
    found = compare(scores, y, methods=["platt"], time=[f"2026-{m + 1:02}" for m in month], cv=5)
    predicted = np.full(len(y), 0.5)  # the first months are not judged
    for start in range(2, 12, 2):
        block = (month >= start) & (month < start + 2)
        predicted[block] = PlattScaling().fit(scores[month < start], y[month < start]).predict(scores[block])
    judged = month >= 2
    assert found["platt"].log_loss.value == pytest.approx(log_loss(y[judged], predicted[judged]))
    assert found["identity"].log_loss.value == pytest.approx(log_loss(y[judged], scores[judged]))
    assert "5 blocks of time, each judged by fits to the rows before it" in str(found)
    # The ten months that were judged are ten draws.
    losses = -np.log(np.where(y, predicted, 1 - predicted))
    sums = np.array([(losses[month == m] - losses[judged].mean()).sum() for m in range(2, 12)])
    width = 2 * stats.t.ppf(0.95, 9) * np.sqrt(10 / 9 * (sums @ sums)) / judged.sum()
    assert found["platt"].log_loss.width == pytest.approx(width)


def test_over_time_groups_keep_the_intervals():
    scores, y, month = _rows_over_time(np.random.default_rng(3), "score")
    patients = np.arange(600) % 40
    by_month, by_patient = (
        compare(scores, y, methods=["platt"], time=month, groups=groups)["platt"].log_loss
        for groups in (None, patients)
    )
    assert by_month.value == pytest.approx(by_patient.value)
    assert by_month.width != pytest.approx(by_patient.width, rel=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": [1, 1, 2, 2, 3, 3, 4, 4]}, "more than 5 different values, for 5 blocks"),
        ({"time": [1, 2, 3]}, "time"),
        ({"time": range(8), "repeats": 2}, "`repeats` must be 1 with `time`"),
        ({"scores": Tally.from_arrays([0.1, 0.9] * 4, [0, 1] * 4), "y": None, "time": range(8)}, "`time` needs labels"),
    ],
)
def test_a_time_that_gives_no_order_is_refused(change, message):
    with pytest.raises(InvalidInputError, match=message):
        compare(**{"scores": [0.1, 0.9] * 4, "y": [0, 1] * 4} | change)


@pytest.fixture(scope="module")
def judges():
    """Two scores of a truth, one of them missing at times, a verdict that adds to them, and one that says nothing."""
    rng = np.random.default_rng(5)
    truth = rng.normal(size=400)
    right = rng.random(400) < 1.0 / (1.0 + np.exp(-2.0 * truth))
    scores = {name: 1.0 / (1.0 + np.exp(-truth - rng.normal(size=400))) for name in ("anna", "ben")}
    scores["ben"][rng.random(400) < 0.2] = np.nan
    scores["verdict"] = np.where(rng.random(400) < 0.6, right, rng.random(400) < 0.5)
    return scores | {"coin": rng.choice(["heads", "tails"], 400)}, right


@pytest.fixture(scope="module")
def judged(judges):
    return compare(*judges, cv=3)


def test_several_scores_are_compared_with_each_alone_and_with_their_mean(judges, judged):
    names = [result.name for result in judged.results]
    assert set(names) == {"panel", "mean_logit", "anna alone", "ben alone", "verdict alone", "coin alone"}
    assert (judged.recommended, judged.reference, names[0], names[-1]) == ("panel", "panel", "panel", "coin alone")
    assert judged["anna alone"].log_loss_difference.low > 0.0
    assert judged.verdict.state == "not_probabilities"
    assert str(judged.verdict).startswith("Several scores of a row are not one probability")
    assert judged.title.startswith("400 rows, ")
    json.dumps(judged.to_dict())
    (worth,) = [note for note in judged.notes if note.startswith("Were a score missing in every row")]
    order = [part.split()[0] for part in worth.partition(": ")[2].split(", ")]
    assert set(order[:2]) == {"anna", "verdict"}
    assert order[-1] == "coin"
    assert judged.fit().predict(judges[0]).shape == (400,)


def test_predictions_of_several_scores_are_of_fits_that_did_not_see_the_row(judges, judged):
    """By hand, fold by fold."""
    scores, y = judges
    problem = judged.fits["panel"].problem
    expected = np.empty(400)
    for train, test in problem.split(3, np.random.default_rng(0)):
        fitted = PanelCalibrator().fit({name: column[train] for name, column in scores.items()}, y[train])
        expected[test] = fitted.predict({name: column[test] for name, column in scores.items()})
    np.testing.assert_allclose(judged.fits["panel"].out_of_fold.probabilities, expected, atol=1e-12)
    np.testing.assert_allclose(judged["panel"].log_loss.value, log_loss(y, expected))


def test_several_scores_take_weights_groups_and_time(judges):
    scores, y = judges
    rows = {name: column[:150] for name, column in scores.items() if name != "ben"}
    weights, groups = np.repeat([1.0, 0.0, 1.0], 50), np.arange(150) // 5
    how = {"cv": 2, "methods": ["panel", "anna alone"]}
    table = compare(rows, y[:150], sample_weight=weights, groups=groups, **how)
    kept = {name: column[weights > 0.0] for name, column in rows.items()}
    same = compare(kept, y[:150][weights > 0.0], groups=groups[weights > 0.0], **how)
    assert table.n_rows == same.n_rows == 100.0
    assert table["panel"].log_loss == same["panel"].log_loss
    assert "20 groups" in table.notes[0]
    over_time = compare(rows, y[:150], time=groups, **how)
    assert 90.0 < over_time.fits["panel"].out_of_fold.tally().total < 110.0


class LastScore(PanelCalibrator):
    """The last score alone."""

    name = "last_score"

    def fit(self, X, y, sample_weight=None, *, pos_label=None):
        last = list(X)[-1]
        return super().fit({last: X[last]}, y, sample_weight, pos_label=pos_label)


def test_a_foreign_method_of_several_scores_takes_part(judges):
    scores, y = judges
    table = compare(scores, y, cv=2, methods={"mine": LastScore(), "coin": PanelView("coin")})
    assert table["mine"].log_loss == table["coin"].log_loss


def test_a_data_frame_of_several_scores_says_what_to_pass(judges):
    scores, y = judges
    with pytest.raises(InvalidInputError, match=r"several scores of a row, pass a dictionary of columns, such as dict"):
        compare(pd.DataFrame(scores), y)
    with pytest.raises(InvalidInputError, match="`space` must be one of probability, decision; got 'logit'"):
        compare(scores, y, space={"anna": "logit"})
    with pytest.raises(InvalidInputError, match="needs at least two rows for each of the 5 folds"):
        compare({"anna": [0.1] * 30}, [0] * 30)
