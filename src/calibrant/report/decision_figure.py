"""The decision curve of the page, before and after calibration."""

from collections.abc import Mapping

import numpy as np

from calibrant.decisions import DecisionCurve
from calibrant.report.figures import Figure, listed, scatter, titled

HOVER = (
    "%{meta.label}<br>threshold %{customdata[0]:.3p}<br>net benefit %{customdata[1]:.4f} "
    "(%{customdata[2]:.4f} to %{customdata[3]:.4f})<extra></extra>"
)
BELOW = 0.15  # how far the axis goes below 0, as a share of what is above
X_AXIS = {"tickformat": ",.3~%", "nticks": 6}


def decision_figure(curves: Mapping[str, DecisionCurve], threshold: float | None) -> Figure:
    """Net benefit with intervals, acting on all rows and on none, and the threshold that costs imply."""
    after = curves["after"]
    ends = listed([after.thresholds[0], after.thresholds[-1]])
    top = max(1e-6, float(after.treat_all.max()), *(float(curve.high.max()) for curve in curves.values()))
    bottom = -BELOW * top
    # Acting on all falls without bound; below the axes it says no more than that it is worse than acting on none.
    shown = after.treat_all >= bottom
    traces = [
        _strategy("acting on all", after.thresholds[shown], listed(after.treat_all[shown]), "dash"),
        _strategy("acting on none", ends, [0.0, 0.0], "dot"),
    ]
    if threshold is not None:
        traces.append(_strategy("threshold for the costs", [threshold] * 2, listed([bottom, top]), "solid"))
    traces += [_curve(curve, f"@{name}", bottom) for name, curve in curves.items()]
    layout = {
        "xaxis": titled("Act from this probability on", range=ends, **X_AXIS),
        "yaxis": titled("Net benefit", range=listed([bottom, 1.05 * top]), nticks=6),
    }
    return {"data": traces, "layout": layout, "meta": {"square": True, "both": False}}


def _strategy(label: str, x: object, y: list[float], dash: str) -> Figure:
    line = {"color": "@faint", "width": 1.5, "dash": dash}
    return scatter("lines", label, x, y) | {"line": line, "hoverinfo": "skip"}


def _curve(curve: DecisionCurve, color: str, bottom: float) -> Figure:
    """A curve, as far as it lies above the lower edge of the figure, with its band."""
    shown = curve.net_benefit >= bottom
    low, high = (listed(np.maximum(column[shown], bottom), 5) for column in (curve.low, curve.high))
    label = f"{curve.name} calibration"
    return scatter("lines", label, curve.thresholds[shown], listed(curve.net_benefit[shown], 5)) | {
        "line": {"color": color, "width": 2.5},
        "meta": {"label": label, "low": low, "high": high, "band": f"{color}/band"},
        "hovertemplate": HOVER,
    }
