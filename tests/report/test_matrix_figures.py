import json

import numpy as np

from calibrant import Tally
from calibrant.metrics import Interval
from calibrant.report.matrix_figures import class_figure, pairs_figure
from calibrant.report.matrix_sections import Pair


def test_a_class_has_a_curve_before_and_after():
    rng = np.random.default_rng(0)
    p = rng.random(300) * 0.5
    y = rng.random(300) < p
    figure = class_figure(Tally.from_arrays(p**2, y), Tally.from_arrays(p, y))
    _perfect, before, after = figure["data"]
    assert (before["line"]["color"], after["line"]["color"]) == ("@before", "@after")
    assert before["x"][-1] <= 0.25 < after["x"][-1]
    middle = np.argmin(np.abs(np.array(before["x"]) - 0.04))
    assert before["y"][middle] > 0.12  # the truth is 0.2
    assert before["meta"]["low"][middle] < before["y"][middle] < before["meta"]["high"][middle]
    assert figure["layout"]["xaxis"]["range"] == figure["layout"]["yaxis"]["range"]
    json.dumps(figure, allow_nan=False)


def test_pairs_by_hand():
    pairs = [
        Pair("ant", "bee", 5.0, Interval(0.6, 0.5, 0.9, 0.9), 0.1, 0.4),
        Pair("x" * 50, "y", 2.0, Interval(0.5, 0.1, 0.9, 0.9), 0.5, 0.5),
    ]
    figure = pairs_figure(pairs)
    before, after = figure["data"]
    np.testing.assert_allclose(before["x"], [-50.0, 0.0])
    np.testing.assert_allclose(after["x"], [-20.0, 0.0], atol=1e-9)
    # The share is uncertain: where it is high, predicted minus right is low.
    np.testing.assert_allclose([before["error_x"]["array"][0], before["error_x"]["arrayminus"][0]], [10.0, 30.0])
    names = figure["layout"]["yaxis"]["ticktext"]
    assert names[0] == "ant → bee"
    assert len(names[1]) == 40
    assert figure["meta"]["rows"] == 2
    json.dumps(figure, allow_nan=False)
