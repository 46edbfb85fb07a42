import numpy as np

from calibrant import HistogramBinning, Tally, compare
from calibrant.report import figures
from calibrant.report.study import make_study


def test_numbers_are_those_of_the_study(study):
    figure = figures.reliability_figure(study.before, "@before", figures.shared_scale(study))
    points = figure["data"][-1]
    assert np.allclose(points["x"], study.before.linear.points["mean_score"], rtol=1e-5)
    assert np.allclose(points["meta"]["low"], study.before.linear.points["low"], rtol=1e-4)
    curve = figure["data"][1]
    assert np.allclose(curve["meta"]["high"], study.before.linear.curve["high"], rtol=1e-4)


def test_the_map_shows_one_method_and_holds_all(study):
    figure = figures.map_figure(study, figures.shared_scale(study))
    methods = {trace["meta"]["method"]: trace["visible"] for trace in figure["data"] if "method" in trace["meta"]}
    assert methods == {"bayes_iso": True, "platt": False, "isotonic": False}


def test_before_and_after_share_their_axes(study):
    scale = figures.shared_scale(study)
    assert scale["linear"] == [0.0, 1.0]
    assert scale["logit"][0] < scale["logit"][1]
    assert len(scale["ticks"]) == len(scale["texts"])
    assert all(scale["logit"][0] <= tick <= scale["logit"][1] for tick in scale["ticks"])


def test_segments_have_diagrams_with_few_places(segmented):
    drawn = figures.segment_diagrams(segmented, figures.shared_scale(segmented))
    assert len(drawn) == 3
    curve = next(trace for trace in drawn[0]["data"] if "low" in trace["meta"] and trace["mode"] == "lines")
    assert len(curve["x"]) <= figures.SEGMENT_PLACES
    whole = segmented.segments[0].diagram.curve["score"]
    assert (curve["x"][0], curve["x"][-1]) == (figures.rounded(whole[0]), figures.rounded(whole[-1]))


def test_a_histogram_for_each_side_with_all_rows(study):
    drawn = figures.scores_figures(study, figures.shared_scale(study))
    assert list(drawn) == ["before", "after"]
    for figure in drawn.values():
        for edges in figure["data"][0]["meta"]["bars"].values():
            assert sum(edges["total"]) == study.total


def test_points_have_the_reach_and_the_interval_of_their_group(study):
    points = figures.reliability_figure(study.before, "@before", figures.shared_scale(study))["data"][-1]
    table = study.before.linear.points
    assert np.allclose(np.add(points["x"], points["error_x"]["array"]), table["right"], atol=1e-4)
    assert np.allclose(np.subtract(points["y"], points["error_y"]["arrayminus"]), table["low"], atol=1e-4)


def test_bars_that_differ_much_get_a_logarithmic_axis():
    assert figures._needs_log(np.array([10_000.0, 5.0, 7.0]))
    assert not figures._needs_log(np.array([100.0, 5.0, 0.0, 7.0]))


def test_each_kind_of_axis_chooses_its_own_heights():
    # Rare events crowd at 0 on even axes, and spread well on stretched ones.
    rng = np.random.default_rng(0)
    scores = 1 / (1 + np.exp(-rng.normal(-6.0, 1.5, 4000)))
    tally = Tally.from_arrays(scores, rng.random(4000) < scores)
    study = make_study(tally, comparison=compare(tally, methods=["platt"]), method="platt")
    assert figures.log_axes(study) == {"linear": True, "logit": False}


def test_what_is_not_shown_does_not_choose_the_axis():
    tally = Tally.from_arrays(np.linspace(0.01, 0.99, 400), np.ones(400))
    study = make_study(tally, method="blend")
    assert figures._needs_log(study.after.linear.histogram["total"])  # all of them near 1
    assert figures.log_axes(study) == {"linear": False, "logit": False}


def test_steps_are_drawn_upright():
    tally = Tally.from_arrays([0.2] * 40 + [0.9] * 40, [0] * 36 + [1] * 4 + [0] * 8 + [1] * 32)
    study = make_study(tally, comparison=compare(tally, methods=["platt"]), method=HistogramBinning(n_bins=2))
    x = figures.map_figure(study, figures.shared_scale(study))["data"][1]["x"]
    y = figures.map_figure(study, figures.shared_scale(study))["data"][1]["y"]
    jumps = [(a, b) for a, b, low, high in zip(x, x[1:], y, y[1:], strict=False) if abs(high - low) > 0.1]
    assert jumps
    assert all(a == b for a, b in jumps)


def test_every_method_has_a_line_of_its_own():
    assert len({figures.line_of(place) for place in range(25)}) == 25
    assert figures.line_of(9) == ("@m0", "dash")
