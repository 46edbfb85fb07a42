from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn.metrics import brier_score_loss, log_loss

from calibrant import Blend, PanelCalibrator, PlattScaling, SplineCalibration, Tally
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.samples import number_times
from calibrant.monitoring import AdaptiveCalibrator, walk_forward

from .rows import judges


def history(rng, n_periods=8, n_rows=250, jump=4, size=1.5):
    period = np.repeat(np.arange(n_periods), n_rows)
    z = rng.normal(size=len(period))
    return special.expit(z), rng.random(len(z)) < special.expit(z + size * (period >= jump)), period


@pytest.mark.parametrize("delay", [0, 2])
def test_each_period_is_predicted_from_what_was_known(delay):
    scores, y, period = history(np.random.default_rng(0))
    found = walk_forward(scores, y, period, delay=delay)
    tallies = [Tally.from_arrays(scores[period == t], y[period == t]) for t in range(8)]
    reference = Blend().fit_tally(tallies[0])
    adaptive = AdaptiveCalibrator(reference, tallies[0], delay=delay)
    all_rows, mixed = [], []
    for t in range(1, 8):
        known = sum(tallies[1 : max(t - delay, 1)], tallies[0])
        refit = SplineCalibration().fit_tally(known.rescored(reference.predict(known.scores)))
        all_rows.append(refit.predict(reference.predict(scores[period == t])))
        mixed.append(adaptive.weights @ adaptive.forecasts(scores[period == t]))
        if t > delay:
            adaptive = adaptive.updated(tallies[t - delay])
    seen, static = y[period > 0], Blend().fit_tally(tallies[0]).predict(scores[period > 0])
    assert found["static"].log_loss.value == pytest.approx(log_loss(seen, static))
    assert found["static"].brier_score.value == pytest.approx(brier_score_loss(seen, static))
    assert found["adaptive"].log_loss.value == pytest.approx(log_loss(seen, np.concatenate(mixed)))
    # Refits are fitted to tallies of few cells, so all rows at once agree nearly.
    assert found["all rows"].log_loss.value == pytest.approx(log_loss(seen, np.concatenate(all_rows)), abs=5e-4)
    assert len(found.adaptive.history) == 7
    assert found.adaptive.history[-1].period == 7


def test_adapting_pays_after_a_jump_and_not_without():
    rng = np.random.default_rng(1)
    found = walk_forward(*history(rng, 12))
    assert found["adaptive"].log_loss_difference.high < 0.0
    assert "Adapting pays" in str(found)
    assert repr(found) == "WalkForward(11 periods, 2750 rows, delay 0, 5 ways)"
    assert found.to_frame().shape == (5, 13)
    assert {name: len(losses) for name, losses in found.log_losses.items()} == dict.fromkeys(
        found.to_frame()["name"], 11
    )
    calm = walk_forward(*history(rng, 6, 1000, size=0.0), n_reference=2)
    assert calm.periods == (2, 3, 4, 5)
    assert "keep the map" in str(calm)


def test_a_small_sure_gain_is_no_reason_to_replace_a_map_that_the_e_value_keeps():
    found = walk_forward(*history(np.random.default_rng(1), 6, 1000, size=0.0), n_reference=2)
    gained = replace(found["adaptive"], log_loss_difference=Interval(-0.0001, -0.0002, -0.00005, 0.9))
    found = replace(found, results=(*found.results[:-1], gained))
    assert not found.adaptive.promote()
    assert "changed the log-loss by -0.0001 per row: keep the map, and go on watching." in found.advice


@pytest.mark.parametrize("delay", [0, 1])
def test_several_scores_are_replayed_behind_a_panel_of_the_first_periods(delay):
    parts = [judges(300, t, 1.5 * (t >= 4)) for t in range(8)]
    scores = {name: np.concatenate([part[name] for part, _ in parts]) for name in parts[0][0]}
    y, period = np.concatenate([labels for _, labels in parts]), np.repeat(np.arange(8), 300)
    found = walk_forward(scores, y, period, n_reference=2, delay=delay)
    first = {name: column[period < 2] for name, column in scores.items()}
    panel = PanelCalibrator().fit(first, y[period < 2])
    adaptive, mixed = AdaptiveCalibrator(panel, delay=delay), []
    for t in range(2, 8):
        mixed.append(adaptive.weights @ adaptive.forecasts(parts[t][0]))
        if t - delay >= 2:
            adaptive = adaptive.updated(*parts[t - delay])
    static = np.concatenate([panel.predict(part) for part, _ in parts[2:]])
    seen = y[period >= 2]
    assert found["static"].log_loss.value == pytest.approx(log_loss(seen, static))
    assert found["adaptive"].log_loss.value == pytest.approx(log_loss(seen, np.concatenate(mixed)))
    assert found["adaptive"].log_loss_difference.value < -0.02
    given = walk_forward(scores, y, period, n_reference=2, delay=delay, reference=PanelCalibrator(space="decision"))
    assert given["static"].log_loss.value != found["static"].log_loss.value


def test_intervals_take_periods_as_draws():
    """Against a jackknife over periods."""
    scores, y, period = history(np.random.default_rng(2), 15)
    found = walk_forward(scores, y, period)
    sums, rows = found.log_losses["static"] * found.rows, found.rows
    leave_out = (sums.sum() - sums) / (rows.sum() - rows)
    error = np.sqrt((len(rows) - 1) / len(rows) * ((leave_out - leave_out.mean()) ** 2).sum())
    interval = found["static"].log_loss
    assert interval.width == pytest.approx(2 * 1.7709 * error * np.sqrt(14 / 13), rel=0.1)


@pytest.mark.parametrize("kind", ["text", "dates", "periods"])
def test_time_may_be_text_or_dates(kind):
    scores, y, period = history(np.random.default_rng(3), 4, 100)
    order = np.random.default_rng(0).permutation(400)  # rows need no order
    dates = pd.Series(pd.to_datetime("2026-01-15") + pd.to_timedelta(31 * period, unit="D"))
    times = {"text": [f"2026-{t + 1:02}" for t in period], "dates": dates, "periods": dates.dt.to_period("M")}
    found = walk_forward(scores[order], y[order], np.asarray(times[kind])[order], reference=PlattScaling())
    assert found.periods[0].startswith("2026-02")
    expected = walk_forward(scores, y, period, reference=PlattScaling())
    assert found["adaptive"].log_loss.value == pytest.approx(expected["adaptive"].log_loss.value)


@pytest.mark.parametrize(
    ("every", "first", "last", "number"),
    [
        ("day", "2025-12-29", "2026-04-07", 100),
        ("week", "2025-12-29", "2026-04-06", 15),
        ("month", "2025-12", "2026-04", 5),
        ("quarter", "2025-10", "2026-04", 3),
        ("year", "2025", "2026", 2),
    ],
)
@pytest.mark.parametrize("kind", ["text", "dates", "objects"])
def test_dates_are_joined_to_longer_periods(every, first, last, number, kind):
    """A hundred days from a Monday on."""
    days = np.datetime64("2025-12-29") + np.arange(100)
    given = {"text": days.astype(str), "dates": days.astype("datetime64[s]"), "objects": days.astype(object)}[kind]
    names, codes = number_times(given, 100, every)
    assert (names[0], names[-1], len(names)) == (first, last, number)
    assert (np.diff(codes) >= 0).all()


def test_a_replay_by_month_is_that_of_months():
    rng = np.random.default_rng(4)
    scores, y, period = history(rng, 5, 100)
    days = np.datetime64("2026-01") + period + np.timedelta64(0, "D") + rng.integers(0, 28, len(period))
    found = walk_forward(scores, y, days, every="month", reference=PlattScaling())
    assert found.periods == ("2026-02", "2026-03", "2026-04", "2026-05")
    expected = walk_forward(scores, y, period, reference=PlattScaling())
    assert found["adaptive"].log_loss.value == pytest.approx(expected["adaptive"].log_loss.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": [1, 1, 1, 2]}, "at least two periods after the 1 of the reference; got 2"),
        ({"time": [1, 2, 3]}, "time"),
        ({"time": [1.0, 2.0, np.nan, 3.0]}, "must be known for every row"),
        (
            {"time": np.array(["2026-01", "2026-02", "NaT", "2026-03"], dtype="datetime64[ns]")},
            "must be known for every",
        ),
        ({"time": [1, "a", None, 2.0]}, "`time` must"),
        ({"delay": -1}, "`delay` must"),
        ({"every": "month"}, "`every` needs dates in `time`, such as 2026-01-31; got"),
        ({"every": "month", "time": ["May", "June", "July", "May"]}, "`every` needs dates"),
        ({"every": "fortnight"}, "`every` must be one of"),
        ({"n_reference": 0}, "`n_reference` must"),
    ],
)
def test_what_cannot_be_replayed_is_refused(change, message):
    good = {"scores": [0.1, 0.4, 0.6, 0.9], "y": [0, 1, 0, 1], "time": [1, 2, 3, 4]}
    with pytest.raises(InvalidInputError, match=message):
        walk_forward(**good | change)
