import numpy as np
import pytest

import calibrant
from calibrant import evaluate, metrics, simulate
from calibrant.errors import InvalidInputError

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
