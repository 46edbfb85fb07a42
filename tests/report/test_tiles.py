from dataclasses import replace

from calibrant.report.tiles import make_tiles, mean_prediction


def test_error_prediction_and_method(with_facts):
    study = with_facts(p_value=0.0001, error=(0.06, 0.05, 0.07), recommended="platt")
    error, predicted, method = make_tiles(study)
    assert error.value.startswith("6.0 → ")
    assert error.remark == "before → after calibration"
    assert predicted.label == "Predicted → happened"
    assert predicted.value.startswith(f"{100 * mean_prediction(study.before):.1f} % → ")
    assert method.value == "Bayes-Iso"
    assert "not seen" in method.remark
    assert make_tiles(replace(study, top_label=True))[1].label == "Predicted → right"
    assert "not seen" not in make_tiles(replace(study, unseen=False))[2].remark


def test_where_nothing_is_to_be_done_no_method_is_named(with_facts):
    error, _, method = make_tiles(with_facts(p_value=0.5, error=(0.004, 0.002, 0.008)))
    assert "→" not in error.value
    assert method.value == "None needed"
    assert make_tiles(with_facts(p_value=0.0001, error=(0.06, 0.05, 0.07)))[2].value == "None yet"


def test_one_outcome_has_neither_error_nor_method(one_sided):
    (only,) = make_tiles(one_sided)
    assert only.value == "25.0 % → 0 %"


def test_scores_that_are_no_probabilities_have_an_error_after_only(unbounded):
    error, predicted, _ = make_tiles(unbounded)
    assert error.label == "Average error after calibration"
    assert "after" in predicted.remark


def test_too_few_rows_have_no_method_yet(study):
    assert make_tiles(replace(study, comparison=None))[2].value == "None yet"
