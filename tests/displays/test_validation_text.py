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
