import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from calibrant import simulate
from calibrant.decisions import decision_curve
from calibrant.displays.curves import DecisionCurveDisplay
from calibrant.errors import InvalidInputError


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def data():
    return simulate.from_truth("D1", 500)


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_the_artists_show_the_numbers(ax, data):
    display = DecisionCurveDisplay.from_predictions(data.labels, data.scores, ax=ax)
    result = display.results[0]
    np.testing.assert_allclose(display.line_.get_xdata(), result.thresholds)
    np.testing.assert_allclose(display.line_.get_ydata(), result.net_benefit)
    np.testing.assert_allclose(display.treat_all_.get_ydata(), result.treat_all)
    assert set(display.treat_none_.get_ydata()) == {0.0}
    heights = display.band_.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((result.low.min(), result.high.max()))
    assert texts(display) == ["model, 90 % bootstrap interval", "treat all", "treat none"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Threshold probability", "Net benefit")
    assert ax.get_ylim()[0] > -0.2 * ax.get_ylim()[1]  # treating all falls out of the picture
    ax.figure.draw_without_rendering()


def test_several_models_and_no_intervals(ax, data):
    models = {"raw": data.scores, "true": data.probabilities}
    display = DecisionCurveDisplay.from_predictions(
        data.labels, models, ax=ax, n_resamples=0, curve_kwargs={"lw": 3}, thresholds=[0.2, 0.4]
    )
    assert display.band_ == [None, None]
    assert [line.get_linewidth() for line in display.line_] == [3, 3]
    assert texts(display) == ["raw", "true", "treat all", "treat none"]
    np.testing.assert_allclose(display.line_[1].get_ydata(), display.results[1].net_benefit)
    assert ax.get_xlim() == (0.2, 0.4)


def test_colours_follow_the_style_in_force(data):
    with mpl.rc_context(), mpl.style.context("dark_background"):
        display = DecisionCurveDisplay.from_predictions(data.tally, ax=Figure().subplots())
        first = mpl.rcParams["axes.prop_cycle"].by_key()["color"][0]
        assert to_rgba(display.line_.get_color()) == to_rgba(first)


def test_a_new_figure_is_made_without_axes(data):
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    try:
        display = DecisionCurveDisplay(decision_curve(data.tally, n_resamples=20)).plot()
        assert display.figure_ is plt.gcf()
    finally:
        plt.close("all")
        plt.switch_backend(before)


def test_from_estimator(ax):
    X, y = make_classification(300, flip_y=0.2, random_state=0)
    model = LogisticRegression().fit(X, y)
    display = DecisionCurveDisplay.from_estimator(model, X, y, ax=ax, n_resamples=0)
    expected = decision_curve(y, model.predict_proba(X)[:, 1], n_resamples=0, name="LogisticRegression")
    assert display.results[0].to_dict() == expected.to_dict()


def test_refuses_nothing_to_draw(data):
    with pytest.raises(InvalidInputError, match="empty list"):
        DecisionCurveDisplay([])
    with pytest.raises(InvalidInputError, match="at least one model"):
        DecisionCurveDisplay.from_predictions(data.labels, {})
