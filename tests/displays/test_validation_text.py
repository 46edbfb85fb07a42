from matplotlib.figure import Figure

from calibrant import ReliabilityDisplay, simulate
from calibrant.displays.validation_text import draw_validation_text
from calibrant.metrics.validation import validation_summary


def test_writes_the_summary_into_the_diagram():
    data = simulate.from_truth("D1", 300)
    ax = Figure().subplots()
    ReliabilityDisplay.from_predictions(data.tally, ax=ax)
    summary = validation_summary(data.tally)
    text = draw_validation_text(ax, summary)
    assert text.get_text() == str(summary)
    assert text.get_transform() == ax.transAxes
    assert text in ax.texts


def test_stands_where_the_points_do_not():
    ax = Figure().subplots()
    labels = [0, 0, 0, 1, 1, 0, 0, 1, 1, 0] * 2
    above = draw_validation_text(ax, validation_summary(labels, [0.2] * 10 + [0.25] * 10))
    below = draw_validation_text(ax, validation_summary(labels, [0.6] * 10 + [0.7] * 10))
    assert above.get_position()[0] > 0.5 > below.get_position()[0]
    assert above.get_position()[1] < 0.5 < below.get_position()[1]
