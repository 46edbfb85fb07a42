import numpy as np
import pytest

from calibrant import PlattScaling, Tally, metrics
from calibrant.report.pooling_section import PoolingResult, judge_pooling, pooling_section


def tallies(shifts, n, seed=0):
    rng = np.random.default_rng(seed)
    found = {}
    for name, shift in shifts.items():
        z = rng.normal(0.0, 1.5, n)
        found[name] = Tally.from_arrays(1 / (1 + np.exp(-z)), rng.random(n) < 1 / (1 + np.exp(-z - shift)))
    return found


def test_segments_that_differ_are_worth_maps_of_their_own():
    parts = tallies({"north": 1.0, "south": -1.0, "west": 0.0}, 1500)
    result = judge_pooling(parts, ["region"], PlattScaling())
    assert result.low > 0.0
    assert result.gain == pytest.approx(result.losses["pooled"] - result.losses["segmented"])
    assert result.losses["before"] == pytest.approx(metrics.log_loss(sum(parts.values(), Tally.empty())), abs=1e-9)
    north = next(one for one in result.segments if one.name == "north")
    assert abs(north.predicted["segmented"] - north.happened) < 0.02 < abs(north.predicted["pooled"] - north.happened)
    assert result.summary.startswith("2 of 3 segments of region differ")
    assert "maps by segment lower the log-loss from" in result.verdict(0.9)


def test_segments_that_do_not_differ_are_not_worth_it():
    result = judge_pooling(tallies(dict.fromkeys("abcdef", 0.0), 300), ["g"], PlattScaling())
    assert abs(result.gain) < 0.002
    assert "lower the log-loss" not in result.verdict(0.9)


def test_the_section_has_words_a_figure_and_tables():
    section = pooling_section(tallies({("<b>", 1): 1.0, ("x", None): -1.0}, 500), ["a", "b"], PlattScaling())
    assert section.name == "pooling"
    assert len(section.sentences) == 2
    (drawn,) = section.figures
    assert [trace["name"] for trace in drawn.figure["data"]] == ["before calibration", "one map for all", "by segment"]
    assert set(drawn.figure["data"][0]["y"]) == {"<b> · 1", "x · (missing)"}
    assert drawn.legend[-1] == ("after", "by segment")
    losses, segments = section.tables
    assert [row[0] for row in losses.rows] == ["Before calibration", "One map for all", "By segment"]
    assert {row[0] for row in segments.rows} == {"<b> · 1", "x · (missing)"}


def test_decision_scores_have_no_before():
    rng = np.random.default_rng(1)
    z = rng.normal(0.0, 3.0, 800)
    parts = {k: Tally.from_arrays(z, rng.random(800) < 1 / (1 + np.exp(-z - k))) for k in (0, 1)}
    assert list(judge_pooling(parts, ["k"], PlattScaling()).losses) == ["pooled", "segmented"]


def test_what_cannot_be_judged_gives_no_section():
    assert pooling_section({"only": Tally.from_arrays([0.1, 0.9], [0, 1])}, ["g"], PlattScaling()) is None


def test_harm_is_said():
    text = PoolingResult((), {"pooled": 0.5, "segmented": 0.6}, -0.1, -0.2, -0.05, "").verdict(0.9)
    assert "one map for all is better here" in text


def test_the_interval_of_the_gain_is_written_with_a_true_minus_and_no_minus_zero():
    text = PoolingResult((), {"pooled": 0.5, "segmented": 0.5}, 0.00002, -0.00004, 0.0001, "").verdict(0.9)
    assert text.endswith("from 0.5000 to 0.5000 (90 % interval of the gain: −0.000040 to 0.000100).")


def test_figures_of_many_segments_say_that_they_show_the_largest():
    parts = tallies({f"s{i:02}": 0.0 for i in range(22)}, 60)
    assert pooling_section(parts, ["g"], PlattScaling()).figures[0].caption.endswith("the 20 largest of 22 segments")


def test_segments_that_do_not_differ_are_not_called_a_gain():
    # Stratified folds would keep each segment's share of positives, and with it what chance made of the segment.
    def no_difference(seed):
        return judge_pooling(tallies({f"s{i:02}": 0.0 for i in range(40)}, 25, seed), ["g"], PlattScaling())

    assert sum(no_difference(seed).low > 0.0 for seed in range(6)) <= 1
