import numpy as np
import pytest
from matplotlib.figure import Figure

from calibrant import CalibrationMapDisplay, HistogramBinning, IsotonicCalibration, PlattScaling, Tally, simulate
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError, NotFittedError
from calibrant.maps.functions import Identity
from calibrant.maps.score import CalibrationMap
from calibrant.reliability import binned_points


class Fake(BayesianCalibrator):
    """The identity with a band of width 0.2."""

    space = "probability"

    def fit_map(self, tally):
        assert len(tally)
        return CalibrationMap(Identity(), "probability", True, "Fake")

    def draw_maps(self, scores, n_draws, rng):
        return np.tile(self.predict(scores), (n_draws, 1)) + 0 * rng.random()

    def interval_ends(self, scores, level):
        half = 0.1 * level
        return np.clip(self.predict(scores) - half, 0, 1), np.clip(self.predict(scores) + half, 0, 1)


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def data():
    return simulate.bayes_iso(1000, rng=0)


@pytest.fixture(scope="module")
def isotonic(data):
    return IsotonicCalibration().fit(data.scores, data.labels)


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_the_artists_show_the_map_and_the_data(ax, data, isotonic):
    display = CalibrationMapDisplay.from_calibrator(isotonic, data.scores, data.labels, ax=ax, space="probability")
    x, y = display.line_.get_data()
    np.testing.assert_allclose(y, isotonic.predict(x))
    assert (x[0], x[-1]) == (0.0, 1.0)
    points = binned_points(data.tally)
    np.testing.assert_allclose(display.points_.get_offsets()[:, 1], points["fraction"])
    assert display.scores_.get_data().values.sum() == 1000
    assert display.band_ is None
    assert display.identity_ in ax.get_lines()
    assert texts(display) == ["IsotonicCalibration", "10 bins of 100 rows, 90 % interval", "perfectly calibrated"]
    assert ax.get_ylabel() == "Calibrated probability"
    ax.figure.draw_without_rendering()


def test_a_tally_is_as_good_as_arrays(ax, data, isotonic):
    display = CalibrationMapDisplay.from_calibrator(isotonic, data.tally, ax=ax)
    assert display.points["total"].sum() == 1000


def test_a_posterior_gets_a_band(ax, data):
    calibrator = Fake().fit(data.scores, data.labels)
    display = CalibrationMapDisplay.from_calibrator(calibrator, data.scores, data.labels, ax=ax, level=0.5, name="F")
    np.testing.assert_allclose(np.ptp(display.band_.get_paths()[0].vertices[:, 0]), 1.0)
    inner = (display.curve["score"] > 0.1) & (display.curve["score"] < 0.9)
    np.testing.assert_allclose((display.curve["high"] - display.curve["low"])[inner], 0.1)
    assert texts(display)[0] == "F, 50 % band"


def test_jumps_are_drawn_where_they_are(ax, data):
    calibrator = HistogramBinning(n_bins=4).fit(data.scores, data.labels)
    display = CalibrationMapDisplay.from_calibrator(calibrator, data.scores, data.labels, ax=ax)
    x, y = display.line_.get_data()
    jumps = np.flatnonzero(np.diff(y))
    np.testing.assert_allclose(x[jumps], [0.25, 0.5, 0.75])
    assert (np.diff(x)[jumps] < 1e-12).all()


def test_without_data_only_the_map(ax, isotonic):
    display = CalibrationMapDisplay.from_calibrator(isotonic.map_, ax=ax, space="probability")
    assert display.points_ is display.scores_ is display.ax_scores_ is display.intervals_ is None
    assert texts(display) == ["IsotonicCalibration", "perfectly calibrated"]


def test_decision_scores_have_no_identity(ax):
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 3, 500)
    labels = rng.random(500) < 1 / (1 + np.exp(-scores))
    calibrator = PlattScaling(space="decision").fit(scores, labels)
    display = CalibrationMapDisplay.from_calibrator(calibrator, scores, labels, ax=ax)
    assert display.identity_ is None
    assert display.ax_scores_.get_xlabel() == "Score"
    assert display.line_.get_xdata().min() == scores.min()
    assert display.scores_.get_data().values.sum() == 500
    alone = CalibrationMapDisplay.from_calibrator(calibrator, ax=Figure().subplots())
    np.testing.assert_allclose(alone.line_.get_ydata()[[0, -1]], [0.01, 0.99])
    for scale in ("linear", "logit"):
        other = CalibrationMapDisplay.from_calibrator(calibrator, scores, labels, ax=Figure().subplots(), scale=scale)
        assert other.ax_.get_xscale() == "linear"
        other.figure_.draw_without_rendering()


@pytest.mark.parametrize("with_data", [True, False])
def test_logit_axes(ax, with_data):
    rng = np.random.default_rng(0)
    scores = rng.beta(1, 200, 5000)
    labels = rng.random(5000) < scores
    calibrator = IsotonicCalibration().fit(scores, labels)
    given = (scores, labels) if with_data else ()
    display = CalibrationMapDisplay.from_calibrator(calibrator, *given, ax=ax, scale="logit", space="probability")
    assert ax.get_xscale() == ax.get_yscale() == "logit"
    assert ax.get_xlim() == ax.get_ylim()
    display.figure_.draw_without_rendering()


def test_two_maps_over_the_same_data(ax, data, isotonic):
    first = CalibrationMapDisplay.from_calibrator(isotonic, data.scores, data.labels, ax=ax)
    platt = PlattScaling().fit(data.scores, data.labels)
    second = CalibrationMapDisplay.from_calibrator(platt, data.scores, data.labels, ax=ax, curve_kwargs={"ls": ":"})
    assert second.points_ is None, "the data are drawn once"
    assert second.line_.get_color() != first.line_.get_color()
    assert second.line_.get_linestyle() == ":"
    assert texts(second)[:2] == ["IsotonicCalibration", "PlattScaling"]


def test_one_score(ax):
    calibrator = IsotonicCalibration().fit([3.0, 3.0], [0, 1])
    display = CalibrationMapDisplay.from_calibrator(calibrator, [3.0, 3.0], [0, 1], ax=ax)
    display.figure_.draw_without_rendering()
    assert display.points_.get_offsets().tolist() == [[3.0, 0.5]]


def test_numbers_first(ax, data, isotonic):
    display = CalibrationMapDisplay.from_calibrator(isotonic, data.scores, data.labels, ax=ax)
    again = CalibrationMapDisplay(display.curve).plot(Figure().subplots())
    assert texts(again) == ["calibration map", "perfectly calibrated"]


@pytest.mark.parametrize(
    ("calibrator", "given", "options", "error", "message"),
    [
        (IsotonicCalibration(), (), {}, NotFittedError, "not fitted yet"),
        ("isotonic", (), {}, InvalidInputError, "`calibrator` must be a fitted calibrator"),
        (None, ([0.1, 0.2],), {}, InvalidInputError, "`y` must be given together with scores"),
        (None, (None, [0, 1]), {}, InvalidInputError, "Pass both `scores` and `y`"),
        (None, (Tally.empty(),), {}, InvalidInputError, "a tally with rows"),
        (None, ([0.1, np.nan], [0, 1]), {}, InvalidInputError, "must be finite"),
        (None, (), {"scale": "log"}, InvalidInputError, "`scale`"),
        (None, (), {"space": "logit"}, InvalidInputError, "`space`"),
    ],
)
def test_bad_input(ax, isotonic, calibrator, given, options, error, message):
    with pytest.raises(error, match=message):
        CalibrationMapDisplay.from_calibrator(isotonic if calibrator is None else calibrator, *given, ax=ax, **options)
