import numpy as np
import pytest
from matplotlib.figure import Figure

from calibrant.displays import axes
from calibrant.reliability import reliability


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def widths(*several):
    return [axes_.get_window_extent().width for axes_ in several]


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
@pytest.mark.parametrize("size", [(4, 9), (9, 4), (5.6, 6.8)])
def test_the_axes_below_are_as_wide_as_the_square_above(layout, size):
    figure = Figure(figsize=size, layout=layout)
    ax, other = figure.subplots(1, 2)
    below = axes.axes_below(ax)
    axes.set_square(ax, below)
    figure.draw_without_rendering()
    above_width, below_width = widths(ax, below)
    assert below_width == pytest.approx(above_width, rel=0.01)
    assert ax.get_window_extent().height == pytest.approx(above_width, rel=0.01)
    assert below.get_window_extent().y1 < ax.get_window_extent().y0
    assert below.get_window_extent().x1 < other.get_window_extent().x0


def test_the_axes_below_are_found_again(ax):
    assert axes.axes_below(ax) is axes.axes_below(ax)
    assert len(ax.figure.axes) == 2


def test_axes_placed_by_hand_are_split():
    figure = Figure()
    ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    below = axes.axes_below(ax)
    assert below.get_position().y0 == pytest.approx(0.1)
    assert below.get_position().y1 < ax.get_position().y0
    assert ax.get_position().y1 == pytest.approx(0.9)


def test_the_identity_is_drawn_once(ax):
    axes.set_linear(ax, (0.0, 1.0))
    first = axes.draw_identity(ax)
    assert axes.draw_identity(ax) is first
    assert len(ax.get_lines()) == 1


def test_linear_limits_only_grow(ax):
    axes.set_linear(ax, (0.0, 0.25))
    assert ax.get_xlim() == ax.get_ylim() == pytest.approx((-0.005, 0.255))
    axes.draw_identity(ax)
    axes.set_linear(ax, (0.0, 1.0))
    axes.set_linear(ax, (0.0, 0.25))
    assert ax.get_ylim() == pytest.approx((-0.02, 1.02))


def test_logit_limits_only_grow(ax):
    axes.set_logit(ax.xaxis, (0.01, 0.5))
    axes.set_logit(ax.xaxis, (0.1, 0.9))
    assert ax.get_xlim() == (0.01, 0.9)
    assert ax.get_xscale() == "logit"
    assert ax.get_yscale() == "linear"


def test_a_logit_axis_ends_where_the_data_do():
    low, high = axes.logit_limits(np.array([0.0, 1e-9, 0.2, 1.0]), 1000)
    assert low == pytest.approx(1e-4), "a thousand rows say nothing about 1e-9"
    assert 0.2 < high < 0.5


@pytest.mark.parametrize("values", [[], [0.0], [1.0], [0.0, 1.0], [0.5], [0.999999], [1e-12]])
@pytest.mark.parametrize("total", [0.1, 1, 100, 1e6])
def test_logit_limits_are_always_a_range(values, total):
    low, high = axes.logit_limits(np.array(values), total)
    assert 0.0 < low < high < 1.0


@pytest.mark.parametrize("limits", [(1e-6, 0.5), (0.02, 0.3), (0.05, 0.12), (0.001, 0.999), (0.7, 0.99999)])
def test_a_logit_axis_has_a_few_ticks(ax, limits):
    axes.set_logit(ax.xaxis, limits)
    ticks = [tick for tick in ax.get_xticks() if limits[0] <= tick <= limits[1]]
    assert 3 <= len(ticks) <= 14


def test_tick_texts_are_plain(ax):
    axes.set_logit(ax.xaxis, (1e-6, 1 - 1e-6))
    texts = ax.xaxis.get_major_formatter().format_ticks([1e-6, 1e-4, 0.01, 0.5, 0.9999, 1 - 1e-5])
    assert texts == ["1e-6", "0.0001", "0.01", "0.5", "0.9999", "1−1e-5"]


def test_what_must_be_seen():
    result = reliability([0, 0, 1, 1], [0.001, 0.002, 0.8, 0.9], n_bins=2)
    on_linear = axes.drawn_values(result.points, result.curve, "linear")
    columns = ("mean_score", "fraction", "low", "high")
    assert on_linear.tolist() == [value for name in columns for value in result.points[name]]
    on_logit = axes.drawn_values(result.points, None, "logit")
    assert on_logit.tolist() == [*result.points["mean_score"], *result.points["fraction"]]
    with_curve = axes.drawn_values(result.points, result.curve, "logit")
    assert set(result.curve["score"]) <= set(with_curve)


def test_a_legend_joins_equal_texts_and_puts_the_identity_last(ax):
    axes.draw_identity(ax)
    for _ in range(2):
        ax.plot([0, 1], [0, 1], label="same")
        ax.scatter([0], [0], label="points")
    ax.plot([0, 1], [0, 1], label="one")
    legend = axes.draw_legend(ax, "title")
    assert [text.get_text() for text in legend.get_texts()] == ["same", "one", "points", "perfectly calibrated"]
    assert legend.get_title().get_text() == "title"


@pytest.mark.parametrize(("layout", "lines"), [("constrained", 4), (None, 1)])
def test_a_legend_stands_above_the_axes_and_is_no_wider(layout, lines):
    figure = Figure(figsize=(6, 7), layout=layout)
    ax, _ = figure.subplots(1, 2)
    for i in range(lines):
        ax.plot([0, 1], [0, 1], label=f"a name that is much too long to be written in one line of a small legend {i}")
    legend = axes.draw_legend(ax)
    figure.draw_without_rendering()
    assert legend.get_window_extent().y0 >= ax.get_window_extent().y1 - 1
    assert legend.get_window_extent().y1 <= figure.bbox.height
    assert legend.get_window_extent().width <= 1.1 * ax.get_window_extent().width


def test_line_styles_by_any_name():
    assert axes.line_style({"c": "red", "lw": 3}) == {"color": "red", "linewidth": 3}
