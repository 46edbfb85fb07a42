import numpy as np
import pytest
from matplotlib.figure import Figure

from calibrant.displays import axes
from calibrant.reliability import reliability

SCORES = [0.001, 0.002, 0.01, 0.02, 0.3, 0.4, 0.6, 0.9]
LABELS = [0, 0, 0, 1, 0, 1, 1, 1]


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.mark.parametrize(
    ("count", "text"), [(3, "3"), (2.5, "2.5"), (1234567, "1,234,567"), (99.6, "100"), (0.25, "0.25")]
)
def test_counts_as_text(count, text):
    assert axes.format_count(count) == text


def test_points_say_what_they_are():
    points = reliability(LABELS, SCORES, n_bins=2).points
    assert axes.points_label(points, 0.95) == "2 bins of 4 rows, 95 % interval"
    points = reliability([0, 1, 1], [0.4, 0.4, 0.9], n_bins=2).points
    assert axes.points_label(points, 0.9) == "2 bins of 1–2 rows, 90 % interval"
    assert axes.points_label(points[:1], 0.9).startswith("1 bin of 2")


def test_points_lie_where_the_numbers_say(ax):
    points = reliability(LABELS, SCORES, n_bins=4).points
    drawn = axes.draw_points(ax, points, color="C0", label="p")
    np.testing.assert_allclose(
        drawn["points"].get_offsets(), np.column_stack((points["mean_score"], points["fraction"]))
    )
    low, high = np.array(drawn["intervals"].get_segments()).transpose(1, 2, 0)
    np.testing.assert_allclose(low, (points["mean_score"], points["low"]))
    np.testing.assert_allclose(high, (points["mean_score"], points["high"]))
    assert drawn["beyond"] == []


def test_larger_bins_have_larger_markers(ax):
    points = reliability(LABELS, SCORES, n_bins=5, strategy="uniform").points
    sizes = axes.draw_points(ax, points, color="C0", label=None)["points"].get_sizes()
    assert (np.argsort(sizes) == np.argsort(points["total"])).all()
    assert sizes.max() == axes.LARGEST


def test_what_has_no_place_on_a_logit_axis_is_a_triangle_at_its_edge(ax):
    points = reliability(LABELS, SCORES, n_bins=4).points
    assert points["fraction"].tolist() == [0.0, 0.5, 0.5, 1.0]
    axes.set_logit(ax.xaxis, (0.005, 0.9))
    axes.set_logit(ax.yaxis, (0.005, 0.9))
    drawn = axes.draw_points(ax, points, color="C0", label=None)
    assert len(drawn["points"].get_offsets()) == 2
    below, above = (artist.get_offsets()[0].tolist() for artist in drawn["beyond"])
    assert below == [0.005, 0.005]
    assert above == [pytest.approx(0.75), 0.9]
    ax.figure.draw_without_rendering()


def test_a_band_only_where_there_is_one(ax):
    curve = reliability(LABELS, SCORES).curve
    assert axes.draw_band(ax, curve, color="C0") is None


@pytest.mark.parametrize("share", [True, False])
def test_bars(ax, share):
    bars = reliability(LABELS, SCORES).histogram
    axes.set_linear(ax, (0.0, 1.0))
    drawn = axes.draw_histogram(ax, bars, color="C0", fill=True, share=share)
    values, edges, _ = drawn.get_data()
    np.testing.assert_allclose(values.sum(), 1.0 if share else 8.0)
    assert (edges[0], edges[-1]) == (0.0, 1.0)
    assert ax.get_ylabel() == ("Share" if share else "Rows")


def test_bars_of_a_narrow_range_join_on_a_wide_axis(ax):
    narrow = reliability([0, 1, 1], [0.001, 0.01, 0.02]).histogram
    axes.set_linear(ax, (0.0, 1.0))
    edges, rows = axes.visible_bars(ax, narrow)
    assert edges.tolist() == [0.0, 1 / 32]
    assert rows.tolist() == [3.0]
    axes.set_linear(ax, (0.0, 1 / 32))
    assert len(axes.visible_bars(ax, narrow)[1]) == 32


def test_bars_beyond_a_logit_axis_count_in_the_outermost(ax):
    bars = reliability([0, 0, 1, 1], [0.0, 1e-6, 0.5, 1.0], scale="logit").histogram
    axes.set_logit(ax.xaxis, (0.01, 0.99))
    edges, rows = axes.visible_bars(ax, bars)
    assert (edges[0], edges[-1]) == (0.01, 0.99)
    assert (rows[0], rows[-1], rows.sum()) == (2.0, 1.0, 4.0)
    assert len(rows) == len(edges) - 1


def test_very_different_bars_are_drawn_on_a_log_axis(ax):
    scores = np.concatenate((np.full(5000, 0.01), np.linspace(0, 1, 60)))
    axes.set_linear(ax, (0.0, 1.0))
    axes.draw_histogram(ax, reliability(scores > 0.5, scores).histogram, color="C0", fill=True, share=False)
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "Rows, log"
    ax.figure.draw_without_rendering()
