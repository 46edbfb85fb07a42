import numpy as np
import pytest

from calibrant import simulate
from calibrant.decisions import decision_curve
from calibrant.report.decision_figure import decision_figure


def test_curves_strategies_and_threshold():
    data = simulate.from_truth("D1", 500)
    cuts = np.linspace(0.2, 0.95, 16)
    curves = {
        "before": decision_curve(data.labels, data.scores, thresholds=cuts, name="before"),
        "after": decision_curve(data.labels, data.probabilities, thresholds=cuts, name="after"),
    }
    figure = decision_figure(curves, 0.8)
    traces = {trace["name"]: trace for trace in figure["data"]}
    assert set(traces) == {
        "acting on all",
        "acting on none",
        "threshold for the costs",
        "before calibration",
        "after calibration",
    }
    after = traces["after calibration"]
    assert after["y"] == pytest.approx(curves["after"].net_benefit, rel=1e-4)
    assert after["meta"]["low"] == pytest.approx(curves["after"].low, rel=1e-4)
    assert traces["threshold for the costs"]["x"] == [0.8, 0.8]
    low, high = figure["layout"]["yaxis"]["range"]
    assert low < 0 < high
    for trace in figure["data"]:
        assert low <= min(trace["y"])
        assert max(trace["y"]) <= high
    assert len(traces["before calibration"]["x"]) < len(cuts)  # it falls below the figure
    assert "threshold for the costs" not in [trace["name"] for trace in decision_figure(curves, None)["data"]]
