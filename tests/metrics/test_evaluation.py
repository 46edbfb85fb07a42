import json

import numpy as np
import pytest

import calibrant
from calibrant import evaluate, metrics, simulate
from calibrant.errors import InvalidInputError
from calibrant.metrics import Interval, Verdict
from calibrant.metrics.evaluation import Evaluation, MeasureRow
from calibrant.metrics.multiclass import class_wise_calibration_error, top_label_calibration_error

FAST = {"n_resamples": 40}


def test_the_table_holds_the_metrics_with_intervals():
    data = simulate.from_truth("D1", 1500, rng=0)
    table = evaluate(data.labels, data.scores, **FAST)
    tally = data.tally
    assert table["log_loss"].value == metrics.log_loss(tally)
    assert table["brier_score"].value == metrics.brier_score(tally)
    assert table["roc_auc"].value == metrics.roc_auc(tally)
    assert table["miscalibration"].value == metrics.corp_decomposition(tally).miscalibration
    assert table["ece"].value == metrics.expected_calibration_error(tally, strategy="quantile")
    assert table["smooth"].value == metrics.smooth_calibration_error(tally)
    assert table["kuiper_p_value"] == metrics.kuiper_test(tally).p_value
    assert table["slope"] == metrics.calibration_slope(tally).slope
    for row in table.rows[:-1]:
        (estimate,) = row.estimates
        assert estimate.low <= estimate.value <= estimate.high
    assert table.n_rows == 1500
    assert table.base_rate == data.labels.mean()
    assert evaluate(tally, **FAST) == table


def test_intervals_of_calibration_errors_leave_out_what_chance_adds_as_their_heading_says():
    errors = ("miscalibration", "ece", "smooth", "ks")
    tables = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = rng.beta(1.5, 1.5, 400)
        tables.append(evaluate(rng.random(400) < p, p, metrics=errors, rng=seed, n_resamples=100))
    assert "intervals leave out what chance adds to the values" in str(tables[0])
    for key in errors:  # of calibrated probabilities, whose errors are nothing but chance
        found = [table[key] for table in tables]
        assert np.mean([one.value for one in found]) > 0.002
        assert np.mean([one.low < 0.25 * one.value for one in found]) >= 0.8
        assert np.mean([one.high for one in found]) < 1.3 * np.mean([one.value for one in found])


def test_proper_scores_come_first():
    table = evaluate([0, 1, 0, 1], [0.2, 0.7, 0.6, 0.4], **FAST)
    assert [row.key for row in table.rows][:4] == ["log_loss", "brier_score", "refinement", "roc_auc"]


def test_intervals_of_many_rows_are_centred_on_the_uncoarsened_value():
    data = simulate.from_truth("underconfident", 30_000, rng=0)
    error = evaluate(data.labels, data.scores, n_resamples=100)["debiased"]
    assert error.low < simulate.TRUTHS["underconfident"].calibration_error() < error.high


def test_what_cannot_be_computed_is_said():
    table = evaluate([1, 1, 1], [0.2, 0.4, 0.9], **FAST)
    keys = [row.key for row in table.rows]
    assert "roc_auc" not in keys
    assert "slope" not in keys
    assert sum("both classes" in remark for remark in table.remarks) == 2
    with pytest.raises(InvalidInputError, match="log_loss, brier_score"):
        _ = table["roc_auc"]


def test_several_models_side_by_side():
    data = simulate.from_truth("D1", 1000, rng=0)
    table = evaluate(data.labels, {"raw": data.scores, "true": data.probabilities}, **FAST)
    assert table.models == ("raw", "true")
    assert table["log_loss"]["true"].value < table["log_loss"]["raw"].value
    assert table.to_dict()["models"]["raw"]["ece"]["value"] == table["ece"]["raw"].value
    assert "raw: Miscalibrated" in "\n".join(table.remarks)


def test_ece_against_proper_scores_between_models():
    data = simulate.from_truth("asymmetric", 3000, rng=0)
    table = evaluate(data.labels, {"model": data.scores, "base rate": np.full(3000, data.labels.mean())}, **FAST)
    assert table.remarks[0].startswith("ECE prefers base rate, but the proper scores (log-loss, Brier) prefer model.")


def test_miscalibrated_scores_say_what_recalibration_gains():
    data = simulate.from_truth("D1", 2000)
    assert "would lower the Brier score by up to 0." in evaluate(data.labels, data.scores, **FAST).remarks[0]


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="at least one model"):
        evaluate([0, 1], {})
    with pytest.raises(InvalidInputError, match="`level`"):
        evaluate([0, 1], [0.2, 0.8], level=90)
    with pytest.raises(InvalidInputError, match="NaN at index 0"):
        evaluate([0, 1], {"a": [np.nan, 0.8]})


def test_the_top_level_name_is_the_same():
    assert calibrant.evaluate is metrics.evaluate


def test_groups_widen_every_interval_and_the_test_allows_for_them():
    data = simulate.from_truth("nearly_calibrated", 120, rng=3)
    rows = [np.repeat(column, 12) for column in (data.labels, data.scores, np.arange(120))]
    plain, grouped = (evaluate(*rows[:2], groups=groups, n_resamples=200) for groups in (None, rows[2]))
    for key in ("log_loss", "brier_score", "refinement", "roc_auc", "slope", "intercept"):
        # Folds that keep copies of a row together are honest, so recalibration gains less in them.
        assert grouped[key].value == pytest.approx(plain[key].value, abs=0.02 if key == "refinement" else 1e-9)
        assert grouped[key].high - grouped[key].low > 2.2 * (plain[key].high - plain[key].low), key
    assert grouped["kuiper_p_value"] > plain["kuiper_p_value"]


def test_refinement_stands_beside_corp():
    data = simulate.from_truth("underconfident", 3000)
    table = evaluate(data.labels, data.scores, **FAST)
    parts = metrics.refinement_by_recalibration(data.labels, data.scores, loss="brier")
    assert table["refinement"] == parts.refinement
    assert table["recalibration"] == parts.calibration
    assert table["recalibration"].value < table["miscalibration"].value


FEW = {"n_resamples": 30}


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.5, 0.5, 1.0], size=400)
    y = (rng.random((400, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, p


def test_the_rows_of_several_classes_are_the_measures(matrix):
    y, p = matrix
    table = evaluate(y, p, **FEW)
    assert [row.key for row in table.rows] == [
        "log_loss",
        "brier_score",
        "accuracy",
        "top_label_ece",
        "top_label_smooth",
        "class_wise_ece",
        "full_calibration_p_value",
    ]
    assert table["log_loss"].value == metrics.log_loss(y, p)
    assert table["brier_score"].value == metrics.brier_score(y, p)
    options = {"strategy": "quantile"}
    assert table["class_wise_ece"].value == class_wise_calibration_error(y, p, **options)
    assert table["top_label_ece"].value == top_label_calibration_error(y, p, **options)
    assert all(row.estimates[0].low <= row.estimates[0].value <= row.estimates[0].high for row in table.rows[:-1])


def test_the_interval_of_a_mean_has_its_standard_error(matrix):
    y, p = matrix
    losses = -np.log(p[np.arange(len(y)), y])
    interval = evaluate(y, p, n_resamples=200)["log_loss"]
    half = 1.645 * losses.std() / np.sqrt(len(y))
    assert 0.75 * half < 0.5 * (interval.high - interval.low) < 1.25 * half


def test_a_sharpened_model_is_found_and_the_truth_is_not(matrix):
    y, p = matrix
    sharper = p**2 / (p**2).sum(axis=1, keepdims=True)
    table = evaluate(y, {"truth": p, "sharper": sharper}, **FEW)
    assert [verdict.state for verdict in table.verdicts] == ["no_evidence", "miscalibrated"]
    assert table["log_loss"]["truth"].value < table["log_loss"]["sharper"].value
    assert table.remarks[1].startswith("sharper: Miscalibrated beyond chance (test of full calibration, p")


def test_text_html_and_json_of_several_classes(matrix):
    y, p = matrix
    table = evaluate(y, p, **FEW)
    assert str(table).startswith("400 rows of 3 classes, the largest ")
    assert "of 3 classes" in table._repr_html_()
    assert set(json.loads(json.dumps(table.to_dict(), allow_nan=False))["models"]["model"]) == {
        row.key for row in table.rows
    }


def test_weights_count_rows_and_seeds_repeat(matrix):
    y, p = matrix
    weights = np.where(np.arange(400) < 100, 2.0, 1.0)
    twice = np.r_[np.arange(400), np.arange(100)]
    one, other = evaluate(y, p, sample_weight=weights, **FEW), evaluate(y[twice], p[twice], **FEW)
    for row in one.rows[:2]:
        assert one[row.key].value == pytest.approx(other[row.key].value)
    assert one.n_rows == other.n_rows == 500
    assert str(evaluate(y, p, **FEW)) == str(evaluate(y, p, **FEW))


def test_a_test_without_a_value_is_worded():
    assert Verdict(5, 0.5, None, shape="matrix").state == "undecided"
    assert "needs independent rows" in str(Verdict(5, 0.5, None, shape="matrix"))


def test_no_model_is_refused(matrix):
    with pytest.raises(InvalidInputError, match="at least one model"):
        evaluate(matrix[0], {})


def test_groups_are_resampled_together_and_the_test_of_independent_rows_is_left_out(matrix):
    y, truth = matrix[0][:100], matrix[1][:100]
    rows = np.repeat(truth, 9, axis=0), np.repeat(y, 9), np.repeat(np.arange(100), 9)
    plain, grouped = (evaluate(rows[1], rows[0], groups=groups, **FEW) for groups in (None, rows[2]))
    ratio = [(table["log_loss"].high - table["log_loss"].low) for table in (grouped, plain)]
    assert 2.4 < ratio[0] / ratio[1] < 3.8
    assert "full_calibration_p_value" not in [row.key for row in grouped.rows]
    assert grouped.verdict.p_value is None


def table(*models):
    one = Interval(0.25, 0.2, 0.3, 0.9)
    rows = (
        MeasureRow("log_loss", "proper scores", "log-loss", (one,) * len(models)),
        MeasureRow("auc", "order", "area under the curve", (None,) * len(models)),
        MeasureRow("p", "test", "p-value", (1e-9,) * len(models)),
    )
    return Evaluation(
        models, rows, 100.0, 0.25, 0.9, ("All is <well> & good.",), (Verdict(100.0, 0.25, 1e-9),) * len(models)
    )


def test_text_of_one_model():
    assert str(table("model")).splitlines() == [
        "100 rows, 25 % positive; 90 % intervals in brackets",
        "proper scores",
        "  log-loss              0.2500 [0.2000, 0.3000]",
        "order",
        "  area under the curve  –",
        "test",
        "  p-value               < 0.001",
        "- All is <well> & good.",
    ]


def test_text_of_several_models_has_a_head():
    lines = str(table("a", "long name of a model that is wider")).splitlines()
    assert lines[1].split() == ["a", "long", "name", "of", "a", "model", "that", "is", "wider"]
    assert lines[3].index("0.2500", 30) == lines[1].index("long")


def test_html_is_escaped():
    html = table("<script>alert('x')</script>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "All is &lt;well&gt; &amp; good." in html
    assert html.count("<tr>") == 1 + 3 + 3


def test_plain_values():
    plain = table("m").to_dict()
    assert plain["models"]["m"] == {
        "log_loss": {"value": 0.25, "low": 0.2, "high": 0.3},
        "auc": None,
        "p": 1e-9,
    }
