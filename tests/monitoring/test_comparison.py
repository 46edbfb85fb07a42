from itertools import combinations

import numpy as np
import pytest

from calibrant import CalibrationMap, IsotonicCalibration, Tally, simulate
from calibrant.errors import InvalidInputError
from calibrant.maps import functions
from calibrant.monitoring import adjust_e_values, compare_tallies
from calibrant.monitoring.e_values import alarm_sentence, alarming
from calibrant.monitoring.named_tallies import ALL, NEW, TOP, name_of

from .rows import day, matrix, segments, shifted


@pytest.mark.parametrize("weighted", [False, True])
def test_adjusted_values_are_the_smallest_means_over_sets(weighted):
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 7):
        values = np.exp(rng.normal(0.0, 2.0, size))
        weights = rng.random(size) if weighted else np.ones(size)
        for one, adjusted in enumerate(adjust_e_values(values, weights if weighted else None)):
            others = [i for i in range(size) if i != one]
            sets = [[one, *some] for count in range(size) for some in combinations(others, count)]
            assert adjusted == pytest.approx(min(np.average(values[s], weights=weights[s]) for s in sets))


def test_names_are_given_where_they_can_be():
    adjusted = {"a": 30.0, "b": 12.0, "c": 50.0}
    assert alarming(adjusted, 60.0, 0.05) == ["c", "a"]
    assert alarming(adjusted, 60.0, 0.018) == [ALL]  # 1 / alpha = 56: the mean reaches it, no single one does
    assert alarming(adjusted, 60.0, 0.01) == []
    assert alarm_sentence([], 19.2, 0.05) == "No alarm: the e-value is 19.2; it alarms at 20."
    later = alarm_sentence([], 0.29, 0.05, largest=19.2)
    assert later == "No alarm: the e-value is 0.29, at most 19.2 so far; it alarms at 20."
    assert "the probabilities of 0, 1, 2, 3, 4, 5 and 2 more no longer hold" in alarm_sentence([*range(8)], 90.0, 0.05)


def test_each_part_of_a_matrix_is_the_test_of_two_classes():
    rng = np.random.default_rng(0)
    p, y = matrix(rng, 500)
    p = p**1.5 / (p**1.5).sum(axis=1, keepdims=True)
    change = compare_tallies((p, y), (p, y))
    tallies = {str(k): Tally.from_arrays(p[:, k], y == k) for k in range(3)}
    tallies = {TOP: Tally.from_arrays(p.max(axis=1), p.argmax(axis=1) == y)} | tallies
    alone = {name: compare_tallies(tally, tally).e_value for name, tally in tallies.items()}
    for name, e_value in alone.items():
        assert change.changes[name].e_value == pytest.approx(e_value)
    each = [alone[str(k)] for k in range(3)]
    assert change.e_value == pytest.approx(0.5 * alone[TOP] + 0.5 * np.mean(each))
    assert change.p_value == pytest.approx(min(1.0, 1.0 / change.e_value))
    assert "Predicted class right" in str(change)


def test_the_e_value_depends_on_the_sum_alone():
    rng = np.random.default_rng(4)
    a, b = day(rng, 200, shifted(0.1)), day(rng, 200, shifted(0.1))
    parts = compare_tallies(a, a).e_value, compare_tallies(a, a + b).e_value
    assert parts[1] == compare_tallies(b, b + a).e_value != parts[0]


def test_a_fitted_calibrator_is_taken_as_its_map():
    reference, current = day(np.random.default_rng(0)), day(np.random.default_rng(1))
    calibrator = IsotonicCalibration().fit_tally(reference)
    by_map = compare_tallies(reference, current, map_=calibrator.map_)
    assert compare_tallies(reference, current, map_=calibrator).e_value == by_map.e_value


def test_nothing_moved():
    tally = day(np.random.default_rng(6), 1000)
    result = compare_tallies(tally, tally).whole
    assert result.score_shift == 0.0
    assert result.population_stability_index == 0.0
    assert result.base_rate_change.low < 0.0 < result.base_rate_change.high
    assert result.rows == (1000.0, 1000.0)


def test_shift_of_scores_and_base_rate_by_hand():
    reference = Tally.from_arrays([0.2] * 50 + [0.8] * 50, [0] * 90 + [1] * 10)
    current = Tally.from_arrays([0.2] * 20 + [0.8] * 80, [0] * 50 + [1] * 50)
    result = compare_tallies(reference, current).whole
    assert result.score_shift == pytest.approx(0.3)
    p, q = np.array([50.5, 50.5]) / 101, np.array([20.5, 80.5]) / 101
    assert result.population_stability_index == pytest.approx(((q - p) * np.log(q / p)).sum())
    assert result.base_rates == (0.1, 0.5)
    assert result.mean_predicted == pytest.approx(0.68)
    change = result.base_rate_change
    rates = np.array([11, 51]) / 102
    half = 1.644854 * np.sqrt((rates * (1 - rates) / 102).sum())
    assert (change.value, change.level) == (pytest.approx(0.4), 0.9)
    assert (change.low, change.high) == pytest.approx((np.diff(rates)[0] - half, np.diff(rates)[0] + half))


def test_a_map_turns_scores_into_what_is_tested():
    map_ = CalibrationMap(functions.Sigmoid(1.0, 0.5, "logit"), "probability", True)
    current = day(np.random.default_rng(5), 3000, shifted(0.5))
    assert compare_tallies(current, current, map_=map_).p_value > 0.05
    assert compare_tallies(current, current).p_value < 1e-6


def test_segments_are_named_and_printed():
    rng = np.random.default_rng(4)
    names = [("de", 1), ("fr", None)]
    reference = segments(rng, 500, names)
    current = segments(rng, 500, names, {("fr", None): 1.0}) | {("mt", 1): day(rng, 10)}
    change = compare_tallies(reference, current)
    assert change.alarms() == [("fr", None)]
    assert change.p_value < 0.05
    assert set(change.changes) == {*names, NEW}
    assert change.whole.rows == (1000.0, 1010.0)
    lines = str(change).splitlines()
    assert lines[4].split() == ["rows", "now", "predicted", "happened", "e-value"]
    assert lines[5].startswith("fr · (missing)")
    assert lines[-1].startswith("ALARM: the probabilities of fr · (missing) no longer hold")
    assert name_of("de") == "de"


def test_many_names_are_shown_in_part():
    rows = matrix(np.random.default_rng(3), 100, 30)
    assert "… and 11 more" in str(compare_tallies(rows, rows))


def test_a_comparison_is_shown_in_words():
    data = simulate.from_truth("D1", 500)
    result = compare_tallies(data.tally, data.tally)
    assert str(result).startswith("Rows: 500 in the reference, 500 now.")
    assert repr(result).startswith("TallyComparison(500 rows, now 500, 1 tests, e-value ")


def test_refusals():
    rng = np.random.default_rng(4)
    three, four = matrix(rng, 50), matrix(rng, 50, 4)
    with pytest.raises(InvalidInputError, match=r"of the shape that is watched.*got 3"):
        compare_tallies(three, four)
    with pytest.raises(InvalidInputError, match="`classes` must name the 3 columns"):
        compare_tallies(three, three, classes=["a"])
    with pytest.raises(InvalidInputError, match="`current` must have at least one row"):
        compare_tallies(day(rng), Tally.empty())
    with pytest.raises(InvalidInputError, match="`reference` must have at least one row"):
        compare_tallies({}, {"a": day(rng)})
    with pytest.raises(InvalidInputError, match="`factor` must be a positive number"):
        day(rng).scaled(0.0)


def test_scaled_tallies_count_old_rows_less():
    old, new = Tally.from_arrays([1, 2], [0, 0]), Tally.from_arrays([2, 3], [1, 1])
    total = old.scaled(0.5) + new
    calibrator = IsotonicCalibration(target_correction=False).fit_tally(total)
    assert total.scores.tolist() == [1, 2, 3]
    assert total.totals.tolist() == [0.5, 1.5, 1.0]
    assert calibrator.predict([2])[0] == pytest.approx(1 / 1.5)
