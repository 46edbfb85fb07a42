import numpy as np
import pytest
from matplotlib.figure import Figure

from calibrant.decisions import acceptance
from calibrant.displays import AcceptanceDisplay


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    scores = rng.beta(4, 1.2, 800)
    return rng.random(800) < scores, scores


def test_the_artists_show_the_numbers(rows):
    gate = acceptance(*rows, precision=0.85)
    display = AcceptanceDisplay(gate).plot(Figure().subplots())
    np.testing.assert_allclose(display.line_.get_xdata(), gate.curve.shares)
    np.testing.assert_allclose(display.line_.get_ydata(), gate.curve.precision)
    assert set(display.wanted_.get_ydata()) == {0.85}
    assert set(display.gate_.get_xdata()) == {gate.share}
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert "precision by the labelled rows, 90 % interval" in texts
    assert f"gate: scores from {gate.threshold:.3g}" in texts


def test_without_a_gate_or_a_wanted_precision_there_is_no_line(rows):
    assert AcceptanceDisplay(acceptance(*rows, precision=0.99)).plot(Figure().subplots()).gate_ is None
    assert AcceptanceDisplay(acceptance(*rows, budget=0.3)).plot(Figure().subplots()).wanted_ is None
