import numpy as np
import pytest
from matplotlib.figure import Figure

from calibrant.displays.forest import Series, draw_forest

NAMES = ["a", "b", "c"]


def series(label, **options):
    values = np.array([1.0, 2.0, 3.0])
    return Series(label, "C0", values, values - 0.5, values + 0.5, **options)


@pytest.mark.parametrize("upright", [False, True])
def test_rows_have_names_marks_and_intervals(upright):
    ax = Figure().subplots()
    assert not draw_forest(ax, NAMES, [series("before"), series("after", hollow=True)], label="points", upright=upright)
    names, values = (ax.xaxis, ax.yaxis) if upright else (ax.yaxis, ax.xaxis)
    assert [text.get_text() for text in names.get_ticklabels()] == NAMES
    assert values.get_label().get_text() == "points"
    lines, points, _, others = ax.collections
    assert len(lines.get_segments()) == 3
    places = [one.get_offsets()[:, 0 if upright else 1] for one in (points, others)]
    assert np.all(places[0] < places[1])  # beside each other, so that none is hidden
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before", "after"]


def test_the_first_row_is_at_the_top_and_zero_is_seen():
    ax = Figure().subplots()
    draw_forest(ax, NAMES, [series("gap")], label="points")
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert ax.get_xlim()[0] < 0.0
    assert ax.get_legend() is None


def test_rows_that_are_off_and_rows_without_a_value():
    ax = Figure().subplots()
    values = np.array([1.0, np.nan, 3.0])
    gaps = Series("gap", ["C0", "C1", "C2"], values, values - 0.5, values + 0.5, off=[True, False, False])
    draw_forest(ax, NAMES, [gaps], label="points")
    _, rest, off = ax.collections
    assert (rest.get_label(), off.get_label()) == ("gap", "gap, off")
    assert len(off.get_offsets()) == 1
    assert np.isfinite(ax.get_xlim()).all()


def test_one_wide_interval_is_cut():
    ax = Figure().subplots()
    wide = Series("gap", "C0", np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.5, -90.0]), np.array([1.5, 2.5, 90.0]))
    assert draw_forest(ax, NAMES, [wide], label="points")
    assert ax.get_xlim()[1] < 10.0


def test_many_rows_along_an_axis_have_some_names():
    ax = Figure().subplots()
    names = [f"2026-03-{i:02}" for i in range(1, 31)]
    values = np.arange(30.0)
    draw_forest(ax, names, [Series("gap", "C0", values, values - 1.0, values + 1.0)], label="points", upright=True)
    assert [text.get_text() for text in ax.get_xticklabels()][:2] == ["2026-03-01", "2026-03-04"]
