import json

import numpy as np
import pytest

from calibrant.errors import InvalidInputError
from calibrant.metrics.matrix_evaluation import MatrixVerdict, evaluate_matrix
from calibrant.metrics.matrix_measures import matrix_brier_score, matrix_log_loss
from calibrant.metrics.multiclass import class_wise_calibration_error, top_label_calibration_error


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.5, 0.5, 1.0], size=400)
    y = (rng.random((400, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, p


def evaluate(*args, **options):
    return evaluate_matrix(*args, **({"n_resamples": 30, "n_simulations": 99} | options))


def test_the_rows_are_the_measures(data):
    y, p = data
    table = evaluate(y, p)
    assert [row.key for row in table.rows] == [
        "log_loss",
        "brier_score",
        "accuracy",
        "top_label_ece",
        "top_label_smooth",
        "class_wise_ece",
        "full_calibration_p_value",
    ]
    assert table["log_loss"].value == matrix_log_loss(y, p)
    assert table["brier_score"].value == matrix_brier_score(y, p)
    options = {"strategy": "quantile"}
    assert table["class_wise_ece"].value == class_wise_calibration_error(y, p, **options)
    assert table["top_label_ece"].value == top_label_calibration_error(y, p, **options)
    assert all(row.estimates[0].low <= row.estimates[0].value <= row.estimates[0].high for row in table.rows[:-1])


def test_the_interval_of_a_mean_has_its_standard_error(data):
    y, p = data
    losses = -np.log(p[np.arange(len(y)), y])
    interval = evaluate(y, p, n_resamples=200)["log_loss"]
    half = 1.645 * losses.std() / np.sqrt(len(y))
    assert 0.75 * half < 0.5 * (interval.high - interval.low) < 1.25 * half


def test_a_sharpened_model_is_found_and_the_truth_is_not(data):
    y, p = data
    sharper = p**2 / (p**2).sum(axis=1, keepdims=True)
    table = evaluate(y, {"truth": p, "sharper": sharper})
    assert [verdict.state for verdict in table.verdicts] == ["no_evidence", "miscalibrated"]
    assert table["log_loss"]["truth"].value < table["log_loss"]["sharper"].value
    assert table.remarks[1].startswith("sharper: Miscalibrated beyond chance (test of full calibration, p")


def test_text_html_and_json(data):
    y, p = data
    table = evaluate(y, p)
    assert str(table).startswith("400 rows of 3 classes, the largest ")
    assert "of 3 classes" in table._repr_html_()
    assert set(json.loads(json.dumps(table.to_dict(), allow_nan=False))["models"]["model"]) == {
        row.key for row in table.rows
    }


def test_weights_count_rows_and_seeds_repeat(data):
    y, p = data
    weights = np.where(np.arange(400) < 100, 2.0, 1.0)
    twice = np.r_[np.arange(400), np.arange(100)]
    one, other = evaluate(y, p, sample_weight=weights), evaluate(y[twice], p[twice])
    for row in one.rows[:2]:
        assert one[row.key].value == pytest.approx(other[row.key].value)
    assert one.n_rows == other.n_rows == 500
    assert str(evaluate(y, p)) == str(evaluate(y, p))


def test_a_test_without_a_value_is_worded():
    assert MatrixVerdict(5, 0.5, None).state == "undecided"
    assert "has no value" in str(MatrixVerdict(5, 0.5, None))


def test_no_model_is_refused(data):
    with pytest.raises(InvalidInputError, match="at least one model"):
        evaluate(data[0], {})


def test_groups_are_resampled_together_and_the_test_of_independent_rows_is_left_out(data):
    y, truth = data[0][:100], data[1][:100]
    rows = np.repeat(truth, 9, axis=0), np.repeat(y, 9), np.repeat(np.arange(100), 9)
    plain, grouped = (evaluate(rows[1], rows[0], groups=groups) for groups in (None, rows[2]))
    ratio = [(table["log_loss"].high - table["log_loss"].low) for table in (grouped, plain)]
    assert 2.4 < ratio[0] / ratio[1] < 3.8
    assert "full_calibration_p_value" not in [row.key for row in grouped.rows]
    assert grouped.verdict.p_value is None
