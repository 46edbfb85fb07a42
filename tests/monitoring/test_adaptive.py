import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from calibrant import (
    Blend,
    CalibrationMap,
    IsotonicCalibration,
    PanelCalibrator,
    PlattScaling,
    SegmentedCalibrator,
    SplineCalibration,
    Tally,
    load,
)
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps import functions
from calibrant.maps.files import write_model
from calibrant.maps.matrix import MatrixMap, MatrixMember
from calibrant.monitoring import AdaptiveCalibrator
from calibrant.monitoring import adaptive as adaptive_module
from calibrant.monitoring.adaptive import FORGETTING, Period
from calibrant.monitoring.forecast_pool import ForecastPool

from .rows import GRID, day, judges, shifted

IDENTITY = CalibrationMap(functions.Identity(), "probability", True)


def start(rng, n=2000, **options):
    return AdaptiveCalibrator(Blend().fit_tally(day(rng, n)), **options)


def test_weights_and_e_value_by_hand():
    """Two members, one period of one positive row, then a negative one: the formulas of the explanation page."""
    rows = Tally.from_arrays([0.5], [1])
    forecasts = np.array([[0.5], [0.8], [0.4]])  # of the reference first
    pool = ForecastPool.start(2)
    assert pool.share == pytest.approx(0.25 / (0.25 + 0.5 + 0.25))  # half of the half may begin now
    new = pool.updated(forecasts, rows)
    prior = np.array([2.0, 1.0]) / 3.0  # the second forgets more
    assert new.weights == pytest.approx(0.98 * np.array([1.6, 0.4]) / 2.0 + 0.02 * prior)
    ratio = (1.6 + 0.4) / 3.0 / 0.5
    assert math.exp(new.log_e_value) == pytest.approx(0.5 + 0.5 * (0.5 * ratio + 0.5))
    again = new.updated(forecasts, Tally.from_arrays([0.5], [0]))
    second = (1.0 - new.weights @ forecasts[1:, 0]) / 0.5
    expected = 0.5 + 0.5 * ((0.5 * ratio + 1 / 6) * second + 1 / 3)
    assert math.exp(again.log_e_value) == pytest.approx(expected)
    assert again.largest_log_e_value == new.log_e_value


def test_one_row_at_a_time_costs_at_most_ln_2_more_than_the_reference():
    """Labels that are always the ones the mixture likes less, the reference at 1/2, members far off."""
    rng, pool, excess, evidence = np.random.default_rng(0), ForecastPool.start(3), 0.0, 0.0
    reference = np.array([[0.5]])
    for _ in range(2000):
        forecasts = rng.random((3, 1)).clip(0.02, 0.98)
        mixed = (1 - pool.share) * reference[0] + pool.share * (pool.weights @ forecasts)
        label = int(mixed[0] < 0.5)
        issued = mixed[0] if label else 1 - mixed[0]
        excess += math.log(0.5) - math.log(issued)
        pool = pool.updated(np.vstack((reference, forecasts)), Tally.from_arrays([0.5], [label]))
        evidence = pool.log_e_value
        assert excess == pytest.approx(-evidence, abs=1e-9)  # the e-value is the gain of the forecasts
        assert excess <= math.log(2.0)
    assert excess > 0.4


def test_the_rate_drops_where_all_members_miss_by_more_than_chance():
    rng, pool = np.random.default_rng(1), ForecastPool.start(2)
    for _ in range(40):
        rows = day(rng, 200, shifted(rng.choice([-2.0, 2.0])))
        pool = pool.updated(np.array([rows.scores] * 3), rows)
    assert pool.rate_of(200, 0) < 0.1
    calm = ForecastPool.start(2)
    for _ in range(40):
        rows = day(rng)
        calm = calm.updated(np.array([rows.scores] * 3), rows)
    assert calm.rate_of(200, 0) > 0.6


def test_one_period_counts_at_most_nine_usual_ones():
    """Two members that expect 50 of 100, and 100 happen: a squared residual of 100, where 1 is usual."""
    rows, forecasts = Tally.from_arrays([0.5] * 100, [1] * 100), np.full((3, 1), 0.5)
    pool = ForecastPool.start(2).updated(forecasts, rows)
    assert pool.misses == pytest.approx([0.98 * 8 + 9] * 2)
    again = pool.updated(forecasts, rows)
    assert again.misses == pytest.approx([0.98 * 16.84 + 9 * 16.84 / 8.84] * 2)


def test_intervals_know_of_a_jump_as_soon_as_labels_show_it():
    """One period after a jump the map still lags behind, and the interval reaches to the truth."""
    rng = np.random.default_rng(12)
    calm = start(rng)
    for _ in range(6):
        calm = calm.updated(day(rng, 400))
    jumped = calm.updated(day(rng, 400, shifted(1.2)))
    at = np.array([0.2, 0.5, 0.8])
    low, high = jumped.predict_interval(at)
    assert jumped.predict(at)[1] < shifted(1.2)(0.5) - 0.1
    assert ((low < shifted(1.2)(at)) & (shifted(1.2)(at) < high)).all()
    before = calm.predict_interval(at)
    assert (high - low > 1.5 * (before[1] - before[0])).all()
    assert ((before[0] < at) & (at < before[1])).all()
    history = jumped.history[-1]
    rows = day(np.random.default_rng(0), 400)
    mixed = calm.weights @ calm.forecasts(rows.scores)
    loss = -(rows.positives @ np.log(mixed) + rows.negatives @ np.log(1 - mixed)) / rows.total
    assert calm.updated(rows).history[-1].log_loss == pytest.approx(loss)
    assert history.log_loss > loss


def history_of(residuals, deviation=8.0):
    """Periods of 300 rows that missed their forecasts by so many standard deviations."""
    return tuple(
        Period(k, 300.0, 0.5 + one * deviation / 300.0, 0.5, 0.5, deviation, 0.7, 0.0)
        for k, one in enumerate(residuals)
    )


def moves_of(residuals, **options):
    adaptive = AdaptiveCalibrator(IDENTITY, history=history_of(residuals), **options)
    return adaptive._moves(np.random.default_rng(0))


@pytest.mark.parametrize("delay", [0, 2])
def test_moves_after_one_period_by_hand(delay, monkeypatch):
    """Five guesses of eleven say that nothing moves; the others shrink the residual, which may be a jump, over time."""
    monkeypatch.setattr(adaptive_module, "INTERVAL_DRAWS", 100_000)
    residual, deviation = 2.0, 8.0
    jump = 0.05 / math.sqrt(65.0)
    parts = [(5.0 * (math.exp(-2.0) + jump), 0.0, 0.0)]
    for off, lasting in (*[(0.2, 0.9)] * 3, (1.0, 0.9), (1.0, 0.0), (3.0, 0.0)):
        total = 1.0 + (deviation * off) ** 2
        usual = math.exp(-0.5 * residual**2 / total) / math.sqrt(total)
        gain = usual / (usual + jump) * deviation * off**2 / total
        mean = lasting * gain * residual
        variance = off**2 - lasting**2 * gain * deviation * off**2
        parts.append((usual + jump, mean, variance + (delay * mean) ** 2))
    weights, means, variances = np.array(parts).T
    mean = np.average(means, weights=weights)
    spread = math.sqrt(np.average(variances + means**2, weights=weights) - mean**2)
    moves = moves_of([residual], delay=delay)
    assert np.mean(moves == 0.0) == pytest.approx(weights[0] / weights.sum(), abs=0.01)
    assert moves.mean() == pytest.approx(mean, abs=0.02 * spread)
    assert moves.std() == pytest.approx(spread, rel=0.03)


def test_moves_follow_what_lasts_and_not_one_jump():
    calm, drift, restless = moves_of([0.0] * 12), moves_of([1.5] * 12), moves_of([4.0, -4.0] * 6)
    jump = moves_of([0.0] * 6 + [9.0] + [0.0] * 5)
    assert np.mean(calm == 0.0) > 0.9
    assert drift.mean() > 0.08
    assert abs(restless.mean()) < restless.std()
    assert restless.std() > 0.3
    assert np.mean(jump == 0.0) > 0.9
    assert moves_of([20.0, -20.0] * 6).std() > 1.0  # as where all rows of a period share their outcome


def without_chance(rows_of_score, shift):
    """As many positives as are expected."""
    totals = np.full(len(GRID), float(rows_of_score))
    return Tally(GRID, totals * shifted(shift)(GRID), totals)


@pytest.mark.parametrize("step", [0.05, 0.09])
def test_a_drift_is_inside_intervals_as_soon_as_a_label_can_show_it(step):
    """Every period moves a little, which none of them proves."""
    adaptive, at = AdaptiveCalibrator(Blend().fit_tally(without_chance(40, 0.0))), np.linspace(0.1, 0.9, 9)
    for month in range(1, 6):
        adaptive = adaptive.updated(without_chance(12, step * month))
        low, high = adaptive.predict_interval(at)
        truth = shifted(step * (month + 1))(at)
        assert ((low < truth) & (truth < high)).all()


def test_a_period_that_says_nothing_of_a_change_leaves_its_prior():
    class Anew:
        def left_out_log_loss(self):
            return 0.7

    (last,) = history_of([0.0])
    pool = ForecastPool.start(2)
    assert pool.probability_of_change(last, Anew(), 0) == pytest.approx(0.15)
    assert pool.probability_of_change(last._replace(log_loss=0.71), Anew(), 0) == pytest.approx(
        special.expit(special.logit(0.15) + 3.0)
    )


def test_a_last_period_of_one_class_has_no_refit_and_still_an_interval():
    adaptive = start(np.random.default_rng(0)).updated([0.2, 0.3, 0.4], [0, 0, 0])
    low, high = adaptive.predict_interval(0.3)
    assert 0.0 < low < adaptive.predict(0.3) < high < 1.0


def test_intervals_are_little_wider_in_calm_times_than_those_of_all_rows():
    rng = np.random.default_rng(14)
    rows = day(rng, 1000)
    adaptive = AdaptiveCalibrator(Blend().fit_tally(rows))
    for _ in range(8):
        new = day(rng, 400)
        adaptive, rows = adaptive.updated(new), rows + new
    at = np.linspace(0.1, 0.9, 9)
    low, high = adaptive.predict_interval(at)
    alone = SplineCalibration().fit_tally(rows).predict_interval(at)
    assert 0.8 < np.mean(high - low) / np.mean(alone[1] - alone[0]) < 1.4


def test_a_jump_is_followed_and_promoted():
    rng = np.random.default_rng(2)
    adaptive = start(rng)
    for _ in range(8):
        adaptive = adaptive.updated(day(rng, 300))
    assert not adaptive.promote()
    assert "keep the reference map" in str(adaptive)
    for _ in range(3):
        adaptive = adaptive.updated(day(rng, 300, shifted(1.0)))
    at = np.array([0.2, 0.5, 0.8])
    assert np.abs(adaptive.predict(at) - shifted(1.0)(at)).max() < 0.06
    assert adaptive.promote(alpha=1e-6)
    assert "a better map is available" in str(adaptive)
    assert "; it first reached 20 with the labels of period " in str(adaptive)
    last = replace(adaptive, history=adaptive.history[-1:])  # a long history is not kept whole
    assert str(last).endswith("; it had reached 20 by period 11, the first one kept.")
    assert adaptive.correction([0.5])[0] == pytest.approx(adaptive.predict([0.5])[0] - adaptive.reference(0.5))
    low, high = adaptive.predict_interval(at)
    assert ((low < shifted(1.0)(at)) & (shifted(1.0)(at) < high)).all()
    frame = adaptive.to_frame()
    assert list(frame["period"]) == list(range(1, 12))
    assert frame["observed"].iloc[-1] > frame["reference"].iloc[-1] + 0.1
    assert frame["residual"].iloc[8] > 4.0


@pytest.mark.parametrize("clustered", [False, True])
def test_a_right_reference_is_seldom_replaced(clustered):
    """400 series are in `benchmarks.accuracy.adaptive`."""
    rng, promoted = np.random.default_rng(3), 0
    for _ in range(8):
        adaptive = AdaptiveCalibrator(IDENTITY, method="platt", clustered=clustered)
        for _ in range(10):
            adaptive = adaptive.updated(day(rng, 100))
        promoted += adaptive.promote()
    assert promoted <= 2


def test_the_map_is_the_mixture_and_can_be_saved(tmp_path):
    rng = np.random.default_rng(4)
    adaptive = start(rng).updated(day(rng, 300, shifted(1.0)), period="May")
    scores = np.linspace(0.01, 0.99, 40)
    mixed = adaptive.weights @ adaptive.forecasts(scores)
    assert adaptive.weights.sum() == pytest.approx(1.0)
    assert len(adaptive.weights) == 1 + len(FORGETTING)
    assert adaptive.map_(scores) == pytest.approx(mixed, abs=3e-5)
    adaptive.map_.save(tmp_path / "map.json")
    assert load(tmp_path / "map.json") == adaptive.map_


@pytest.mark.parametrize("periods", [0, 3])
def test_a_saved_state_goes_on_where_it_was(periods, tmp_path):
    rng = np.random.default_rng(5)
    adaptive = start(rng, delay=2, clustered=True)
    for _ in range(periods):
        adaptive = adaptive.updated(day(rng, 300))
    path = tmp_path / "state.json"
    adaptive.save(path)
    assert path.stat().st_size < 100_000
    loaded, new = AdaptiveCalibrator.load(path), day(rng, 300)
    assert repr(loaded) == repr(adaptive)
    assert loaded.predict_interval(0.5) == adaptive.predict_interval(0.5)
    assert loaded.updated(new).history[-1] == adaptive.updated(new).history[-1]


def test_scores_of_any_kind_and_a_reference_without_rows():
    rng = np.random.default_rng(6)
    z = rng.normal(size=1500)
    labels = rng.random(1500) < special.expit(2.0 * z)
    by_margin = AdaptiveCalibrator(Blend(space="decision").fit(z, labels))
    no_rows = AdaptiveCalibrator(PlattScaling(space="decision").fit(z, labels).map_)
    with pytest.raises(InvalidInputError, match="with rows of both classes"):
        no_rows.predict_interval([0.0])
    assert no_rows.predict(z) == pytest.approx(no_rows.reference(z), abs=3e-5)
    for _ in range(4):
        z = rng.normal(size=500)
        labels = np.where(rng.random(500) < special.expit(2.0 * z + 1.5), "bad", "good")
        by_margin, no_rows = (old.updated(z, labels, pos_label="bad") for old in (by_margin, no_rows))
    for adaptive in (by_margin, no_rows):
        assert adaptive.predict([0.0])[0] == pytest.approx(special.expit(1.5), abs=0.06)
        assert adaptive.map_.space == "decision"
        low, high = adaptive.predict_interval([0.0])
        assert low[0] < special.expit(1.5) < high[0]


def test_several_scores_are_adapted_behind_their_panel(tmp_path):
    """After a jump forecasts are those of somebody who knows its size; the state needs no rows."""
    panel = PanelCalibrator().fit(*judges(500, 0))
    adaptive = AdaptiveCalibrator(panel)
    assert adaptive._tallies[0].total == 500  # rows that the panel predicted without each of them
    for month in range(3):
        adaptive = adaptive.updated(*judges(500, 1 + month), month)
    assert not adaptive.promote(1e-4)
    adaptive.save(tmp_path / "state.json")
    assert (tmp_path / "state.json").stat().st_size < 250_000
    again = AdaptiveCalibrator.load(tmp_path / "state.json")
    for month in range(3, 6):
        adaptive, again = (one.updated(*judges(500, 1 + month, 1.5), month) for one in (adaptive, again))
    assert again.history == adaptive.history
    assert adaptive.promote(1e-6)
    new, _ = judges(1000, 90)
    p, knowing = panel.predict(new), PanelCalibrator().fit(*judges(4000, 91, 1.5)).predict(new)
    assert np.abs(adaptive.predict(new) - knowing).mean() < 0.05 < np.abs(p - knowing).mean()
    np.testing.assert_array_equal(adaptive.correction(new), adaptive.predict(new) - p)
    assert adaptive.weights @ adaptive.forecasts(new) == pytest.approx(adaptive.predict(new), abs=3e-5)
    low, high = adaptive.predict_interval(new)
    assert np.mean((low < knowing) & (knowing < high)) > 0.6
    tally = Tally.from_arrays(panel.predict(new), np.arange(1000) % 2)
    assert adaptive.updated(tally).history[-1] == adaptive.updated(new, np.arange(1000) % 2).history[-1]


def test_a_panel_of_few_rows_does_not_seem_better_than_it_is():
    """Refits begin with predictions of rows left out: on rows of the fit probabilities would be too near to 0 and 1."""
    scores, y = judges(60, 3)
    noise = np.random.default_rng(0).random((4, 60))
    panel = PanelCalibrator().fit(scores | {f"noise {j}": column for j, column in enumerate(noise)}, y)
    left_out = panel.left_out_
    loss = -(left_out.positives @ np.log(left_out.scores) + left_out.negatives @ np.log1p(-left_out.scores)) / 60
    assert loss == pytest.approx(panel.log_loss_, abs=1e-6)
    single = PanelCalibrator().fit({"anna": scores["anna"]}, y)
    left_out = single.left_out_
    loss = -(left_out.positives @ np.log(left_out.scores) + left_out.negatives @ np.log1p(-left_out.scores)) / 60
    assert loss == pytest.approx(single.log_loss_, abs=2e-3)
    assert AdaptiveCalibrator(panel)._tallies[0] == panel.left_out_


def test_segments_are_adapted_behind_their_map(tmp_path):
    rng = np.random.default_rng(8)

    def rows(n, shift):
        scores, team = rng.random(n), rng.choice(["a", "b"], n)
        return scores, rng.random(n) < shifted(shift)(np.where(team == "a", scores, scores**2)), team

    scores, y, team = rows(2000, 0.0)
    segmented = SegmentedCalibrator("platt").fit(scores, y, segment=team)
    tallies = {name: Tally.from_arrays(scores[team == name], y[team == name]) for name in ("a", "b")}
    adaptive = AdaptiveCalibrator(segmented, tallies)
    for _ in range(4):
        scores, y, team = rows(400, 1.0)
        adaptive = adaptive.updated(scores, y, segment=team)
    adaptive.save(tmp_path / "state.json")
    adaptive = AdaptiveCalibrator.load(tmp_path / "state.json")
    at, names = [0.5, 0.7], ["a", "b"]
    truth = shifted(1.0)(np.array([0.5, 0.49]))
    assert adaptive.predict(at, names) == pytest.approx(truth, abs=0.06)
    low, high = adaptive.predict_interval(at, segment=names)
    assert ((low < truth) & (truth < high)).all()
    assert adaptive.predict(0.5, "a") == adaptive.predict(at, names)[0]
    with pytest.raises(InvalidInputError, match="`segment`"):
        adaptive.updated(scores, y)


def test_members_without_rows_of_both_classes_are_the_reference():
    adaptive = AdaptiveCalibrator(IDENTITY).updated([0.2, 0.3, 0.4], [0, 0, 0])
    assert adaptive.predict([0.3])[0] == pytest.approx(0.3, abs=3e-5)
    assert adaptive.updated(Tally.empty()) is adaptive


def test_late_labels_are_learnt_more_slowly_where_periods_move_together():
    pool = ForecastPool(np.array([0.5, 0.5]), np.array([80.0, 80.0]))
    rows, forecasts = Tally.from_arrays([0.5] * 50, [1] * 50), np.array([[0.5], [0.6], [0.5]])
    early, late = (pool.updated(forecasts, rows, delay=delay).weights for delay in (0, 3))
    assert early[0] > late[0] > 0.5


def test_what_cannot_be_adapted_is_refused(tmp_path):
    rng = np.random.default_rng(7)
    panel = PanelCalibrator().fit(*judges(60, 0))
    halves = MatrixMap((0, 1, 2), "decision", 0.5, (MatrixMember(1.0),))
    isotonic = AdaptiveCalibrator(IsotonicCalibration().fit_tally(day(rng)), day(rng), "isotonic")
    IDENTITY.save(tmp_path / "map.json")
    start(rng).save(tmp_path / "state.json")
    refused = {
        "of one probability for each row": lambda: AdaptiveCalibrator(halves),
        "`segment` is for a reference with segments": lambda: start(rng).predict([0.5], ["a"]),
        "`map_` is for a reference of one score": lambda: AdaptiveCalibrator(panel).map_,
        "`delay` must": lambda: AdaptiveCalibrator(IDENTITY, delay=-1),
        "`method` must be one of": lambda: AdaptiveCalibrator(IDENTITY, method="splin"),
        "must count whole rows": lambda: start(rng).updated(day(rng).scaled(0.5)),
        "`period` must be new": lambda: start(rng).updated(day(rng), period="May").updated(day(rng), period="May"),
        "`alpha` must lie between 0 and 1": lambda: start(rng).promote(2.0),
        "such as 'spline'": lambda: isotonic.predict_interval([0.5]),
    }
    for message, call in refused.items():
        with pytest.raises(InvalidInputError, match=message):
            call()
    with pytest.raises(ModelFileError, match="holds no adaptive calibrator"):
        AdaptiveCalibrator.load(tmp_path / "map.json")
    write_model(tmp_path / "damaged.json", {"kind": "adaptive calibrator", "_pool": {}})
    with pytest.raises(ModelFileError, match="not a sound model"):
        AdaptiveCalibrator.load(tmp_path / "damaged.json")
