"""replay and adapt: a history, and what the next period adds to it."""

import json

import numpy as np
import pytest
from scipy.special import expit

from calibrant import Blend, load
from calibrant.monitoring import AdaptiveCalibrator, walk_forward


@pytest.fixture
def history(tmp_path):
    """Scores, labels and months of a history with a jump, and the file that holds it."""
    rng = np.random.default_rng(0)
    month = np.repeat([f"2026-{m:02}" for m in range(1, 9)], 200)
    z = rng.normal(size=1600)
    labels = (rng.random(1600) < expit(z + 1.5 * (month >= "2026-05"))).astype(int)
    path = tmp_path / "history.csv"
    rows = [f"{m},{float(s)!r},{y}" for m, s, y in zip(month, expit(z), labels, strict=True)]
    path.write_text("\n".join(["month,score,label", *rows]) + "\n")
    return path, expit(z), labels, month


def test_a_replay_says_what_the_library_says_and_goes_on(cli, history, tmp_path):
    path, scores, labels, month = history
    state = tmp_path / "state.json"
    text = cli("replay", path, "--time", "month", "--delay", "1", "--save", state)
    found = walk_forward(scores, labels, month, delay=1)
    assert text.code == 0, text.err
    assert text.out == f"{found}\n"
    ways = json.loads(cli("replay", path, "--time", "month", "--delay", "1", "--json").out)["ways"]
    assert ways == [result.to_dict() for result in found.results]
    since = json.loads(cli("replay", path, "--time", "month", "--json").out)["promoted_since"]
    assert since in ("2026-05", "2026-06")
    assert f"; it first reached 20 with the labels of period {since}." in cli("replay", path, "--time", "month").out
    new = tmp_path / "new.csv"
    new.write_text("score,label\n" + "0.5,1\n" * 30 + "0.4,0\n" * 20)
    again = cli("adapt", state, new, "--period", "2026-09", "--fail", "-o", tmp_path / "map.json")
    assert again.code == 4
    assert "a better map is available" in again.out
    after = found.adaptive.updated([0.5] * 30 + [0.4] * 20, [1] * 30 + [0] * 20, "2026-09")
    assert AdaptiveCalibrator.load(state).history[-1] == after.history[-1]
    assert (tmp_path / "map.json").exists()


def test_days_are_joined_and_the_number_of_periods_is_said(cli, refused, history, tmp_path):
    path, scores, labels, month = history
    days = [f"{m}-{1 + row % 28:02}" for row, m in enumerate(month)]
    rows = [f"{d},{float(s)!r},{y}" for d, s, y in zip(days, scores, labels, strict=True)]
    by_day = tmp_path / "days.csv"
    by_day.write_text("\n".join(["day,score,label", *rows]) + "\n")
    joined = cli("replay", by_day, "--time", "day", "--every", "month", "-o", tmp_path / "map.json")
    assert joined.code == 0, joined.err
    assert joined.out == f"{walk_forward(scores, labels, month)}\n"
    assert "8 periods, one for each month, 200 rows on average" in joined.err
    assert load(tmp_path / "map.json") == walk_forward(scores, labels, month).adaptive.map_
    months = cli("replay", path, "--time", "month")
    assert "8 periods, one for each value of 'month', 200 rows on average" in months.err
    assert "write it with -o map.json" in months.err
    assert "map_" not in months.out + months.err
    for wrong, message in {"label": "--every needs dates in --time", "moon": "--time must name a column"}.items():
        assert message in refused("replay", by_day, "--time", wrong, "--every", "month", "-s", "score", "-l", "label")


def test_adapt_begins_with_a_model(cli, refused, history, tmp_path):
    path, scores, labels, _ = history
    Blend().fit(scores, labels).save(tmp_path / "model.json")
    state = tmp_path / "state.json"
    assert "begin it with --model" in refused("adapt", state, path)
    begin = ("--model", tmp_path / "model.json", "-o", tmp_path / "map.json", "--clustered", "--fail")
    begun = cli("adapt", state, path, *begin)
    assert begun.code == 0, begun.err
    assert "After 1 period keep the reference map" in begun.out
    assert AdaptiveCalibrator.load(state).clustered
    assert "leave out --model" in refused("adapt", state, path, "--model", tmp_path / "model.json")


def test_one_score_and_several_periods_are_needed(refused, history, tmp_path):
    path, classes = history[0], tmp_path / "classes.csv"
    classes.write_text("cat,dog,label,month\n" + "0.3,0.7,dog,1\n0.8,0.2,cat,2\n" * 4)
    assert "one score column" in refused("replay", classes, "--time", "month", "--score", "cat,dog")
    assert "at least two periods" in refused("replay", path, "--time", "month", "--first", "7")


def test_times_that_nobody_joined_are_refused(refused, tmp_path):
    path = tmp_path / "seconds.csv"
    path.write_text("score,label,at\n" + "".join(f"0.5,{i % 2},{i}\n" for i in range(2001)))
    message = refused("replay", path, "--time", "at")
    assert "--time 'at' has more than 2000 values" in message
    assert "--every" in message
