import numpy as np
import pytest
from matplotlib.figure import Figure

from calibrant import simulate
from calibrant.displays.curves import MurphyDisplay
from calibrant.errors import InvalidInputError
from calibrant.metrics.scores import murphy_curve


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def data():
    return simulate.from_truth("D1", 500)


def test_the_artists_show_the_numbers(ax, data):
    display = MurphyDisplay.from_predictions(data.labels, data.scores, ax=ax)
    np.testing.assert_allclose(display.line_.get_ydata(), display.results[0].scores)
    assert display.legend_ is None
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Threshold θ", "Mean elementary score")
    assert ax.get_ylim()[1] > display.results[0].scores.max()
    ax.figure.draw_without_rendering()


def test_several_models_share_the_axes(ax, data):
    models = {"raw": data.scores, "true": data.probabilities}
    display = MurphyDisplay.from_predictions(data.labels, models, ax=ax, curve_kwargs={"lw": 3})
    assert [line.get_linewidth() for line in display.line_] == [3, 3]
    assert [text.get_text() for text in display.legend_.get_texts()] == ["raw", "true"]
    assert display.line_[0].get_color() != display.line_[1].get_color()


def test_numbers_first_then_the_picture(ax, data):
    display = MurphyDisplay([murphy_curve(data.tally), murphy_curve(data.tally, name="b")]).plot(ax)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["model 1", "b"]


def test_refuses_nothing_to_draw(data):
    with pytest.raises(InvalidInputError, match="empty list"):
        MurphyDisplay([])
    with pytest.raises(InvalidInputError, match="at least one model"):
        MurphyDisplay.from_predictions(data.labels, {})
