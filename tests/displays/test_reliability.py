import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from calibrant import IsotonicCalibration, ReliabilityDisplay, SplineCalibration, simulate
from calibrant.calibrators.base import BayesianCalibrator
from calibrant.errors import InvalidInputError
from calibrant.maps.functions import Identity
from calibrant.maps.score import CalibrationMap
from calibrant.reliability import reliability


class Fake(BayesianCalibrator):
    """The identity with a band of width 0.2."""

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


@pytest.fixture
def agg():
    """Pyplot on a backend without windows, as it was afterwards."""
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.fixture(scope="module")
def data():
    return simulate.bayes_iso(1000, rng=0)


@pytest.fixture(scope="module")
def classified():
    X, y = make_classification(600, flip_y=0.2, random_state=0)
    return X, y, LogisticRegression().fit(X, y)


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_the_artists_show_the_numbers(ax, data):
    display = ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=ax)
    result = display.results[0]
    np.testing.assert_allclose(display.line_.get_xdata(), result.curve["score"])
    np.testing.assert_allclose(display.line_.get_ydata(), result.curve["probability"])
    np.testing.assert_allclose(display.points_.get_offsets()[:, 1], result.points["fraction"])
    assert display.band_ is None
    values, edges, _ = display.scores_.get_data()
    np.testing.assert_allclose(values, result.histogram["total"])
    assert (edges[0], edges[-1]) == (0.0, 1.0)
    assert display.identity_.get_xdata().tolist() == [0.0, 1.0]
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert display.ax_scores_ in ax.figure.axes
    assert texts(display) == ["CORP", "10 bins of 100 rows, 90 % interval", "perfectly calibrated"]
    assert (ax.get_ylabel(), display.ax_scores_.get_xlabel()) == ("Fraction of positives", "Predicted probability")
    ax.figure.draw_without_rendering()


def test_a_new_figure_is_made_without_axes(agg, data):
    display = ReliabilityDisplay(reliability(data.tally)).plot()
    assert display.figure_ is plt.gcf()
    display.figure_.canvas.draw()


def test_the_legend_stays_inside_a_figure_without_a_layout(data):
    figure = Figure(figsize=(11, 5))
    for ax in figure.subplots(1, 2):
        display = ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=ax, name="raw")
        figure.draw_without_rendering()
        assert display.legend_.get_window_extent().y1 <= figure.bbox.height


def test_no_setting_is_changed(agg, data):
    before = dict(mpl.rcParams)
    ReliabilityDisplay.from_predictions(data.labels, data.scores, scale="logit")
    assert dict(mpl.rcParams) == before


def test_a_posterior_gets_a_band(ax, data):
    display = ReliabilityDisplay.from_predictions(data.labels, data.scores, curve=Fake(), ax=ax, name="raw")
    assert texts(display)[0] == "raw (Fake, 90 % band)"
    band = display.band_.get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(0.0)
    assert band.max() == pytest.approx(display.results[0].curve["high"].max())


def test_without_a_curve_the_points_are_joined(ax, data):
    display = ReliabilityDisplay.from_predictions(data.labels, data.scores, curve=None, ax=ax)
    np.testing.assert_allclose(display.line_.get_xdata(), display.results[0].points["mean_score"])
    assert texts(display)[0] == "line between bins"


def test_several_models_share_the_axes(ax, data):
    models = {"a": data.scores, "b": np.sqrt(data.scores), "c": data.scores**2}
    display = ReliabilityDisplay.from_predictions(data.labels, models, ax=ax, curve_kwargs={"lw": 3})
    assert [to_rgba(line.get_color()) for line in display.line_] == [to_rgba(f"C{i}") for i in range(3)]
    assert [line.get_linewidth() for line in display.line_] == [3, 3, 3]
    assert texts(display) == ["a", "b", "c", "10 bins of 100 rows, 90 % interval", "perfectly calibrated"]
    assert display.legend_.get_title().get_text() == "Curves: CORP"
    assert [s.get_data().values.sum() for s in display.scores_] == pytest.approx([1, 1, 1])
    assert len(display.points_) == len(display.intervals_) == 3


def test_models_can_be_added_to_a_picture(ax, data):
    first = ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=ax, name="a")
    second = ReliabilityDisplay.from_predictions(data.labels, data.scores**2, ax=ax, name="b")
    assert second.ax_scores_ is first.ax_scores_
    assert second.identity_ is first.identity_
    assert second.line_.get_color() != first.line_.get_color()
    assert texts(second)[:2] == ["a (CORP)", "b (CORP)"]


def test_empty_bins_are_not_drawn(ax):
    display = ReliabilityDisplay.from_predictions([0, 1, 1], [0.05, 0.06, 0.95], ax=ax, n_bins=10, strategy="uniform")
    assert len(display.points_.get_offsets()) == 2


def test_rare_events_on_both_scales(data):
    rng = np.random.default_rng(0)
    scores = 1 / (1 + np.exp(7 - rng.normal(size=20000)))
    labels = rng.random(20000) < scores
    figure = Figure(layout="constrained")
    linear, logit = figure.subplots(1, 2)
    ReliabilityDisplay.from_predictions(labels, scores, ax=linear)
    assert linear.get_xlim()[1] < 0.3
    display = ReliabilityDisplay.from_predictions(labels, scores, ax=logit, scale="logit")
    assert logit.get_xscale() == logit.get_yscale() == "logit"
    assert logit.get_xlim() == logit.get_ylim()
    shown = len(display.points_.get_offsets()) + sum(len(artist.get_offsets()) for artist in display.beyond_)
    assert shown == 20
    assert display.scores_.get_data().values.sum() == 20000
    figure.draw_without_rendering()


def test_the_histogram_can_be_left_out(ax, data):
    display = ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=ax, histogram=False)
    assert display.ax_scores_ is display.scores_ is None
    assert ax.get_xlabel() == "Predicted probability"


def test_colours_follow_the_style_in_force(agg, data):
    with mpl.rc_context(), mpl.style.context("dark_background"):
        display = ReliabilityDisplay.from_predictions(data.labels, data.scores)
        assert display.points_.get_edgecolor()[0].tolist() == list(to_rgba("black"))
        first = mpl.rcParams["axes.prop_cycle"].by_key()["color"][0]
        assert to_rgba(display.line_.get_color()) == to_rgba(first)


def test_weights_reach_the_numbers(ax, data):
    weights = np.arange(1000.0)
    display = ReliabilityDisplay.from_predictions(data.labels, data.scores, sample_weight=weights, ax=ax)
    assert display.results[0].total == weights.sum()


def test_a_tally_is_enough(ax, data):
    assert ReliabilityDisplay.from_predictions(data.tally, ax=ax).results[0].total == 1000


def test_from_estimator(ax, classified):
    X, y, model = classified
    display = ReliabilityDisplay.from_estimator(model, X, y, ax=ax, n_bins=5)
    expected = reliability(y, model.predict_proba(X)[:, 1], n_bins=5, name="LogisticRegression")
    assert display.results[0].to_dict() == expected.to_dict()


def test_from_estimator_with_names_of_classes(ax, classified):
    X, y, _ = classified
    named = np.where(y == 1, "sick", "well")
    model = LogisticRegression().fit(X, named)
    display = ReliabilityDisplay.from_estimator(model, X, named, ax=ax, pos_label="sick", name="m")
    expected = reliability(named == "sick", model.predict_proba(X)[:, 0], name="m")
    assert display.results[0].to_dict() == expected.to_dict()
    with pytest.raises(InvalidInputError, match="`pos_label` must be one of the classes"):
        ReliabilityDisplay.from_estimator(model, X, named, ax=ax, pos_label="dead")


def test_from_a_calibrator(ax, data):
    calibrator = IsotonicCalibration().fit(data.scores, data.labels)
    display = ReliabilityDisplay.from_estimator(calibrator, data.scores, data.labels, ax=ax)
    assert display.results[0].name == "IsotonicCalibration"


def test_bad_estimators(ax, classified):
    X, y, _ = classified
    with pytest.raises(InvalidInputError, match="must have `predict_proba`"):
        ReliabilityDisplay.from_estimator(LinearSVC().fit(X, y), X, y, ax=ax)
    with pytest.raises(InvalidInputError, match="must know two classes"):
        ReliabilityDisplay.from_estimator(LogisticRegression().fit(X, np.arange(600) % 3), X, y, pos_label=1, ax=ax)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve_kwargs": [{}, {}]}, "list of 1 dicts"),
        ({"scale": "log"}, "`scale`"),
        ({"band": "wald"}, "`band`"),
    ],
)
def test_bad_options(ax, data, options, message):
    with pytest.raises(InvalidInputError, match=message):
        ReliabilityDisplay.from_predictions(data.labels, data.scores, ax=ax, **options)


def test_the_finite_sample_band_takes_the_place_of_the_posterior(ax, data):
    display = ReliabilityDisplay.from_predictions(data.tally, ax=ax, band="finite_sample", curve="platt")
    corners = display.band_.get_paths()[0].vertices
    assert set(display.results[0].band["high"]) <= set(corners[:, 1])
    assert display.line_.get_label().endswith("90 % finite-sample band")


def test_the_numbers_of_a_validation_are_written(ax, data):
    display = ReliabilityDisplay.from_predictions(data.tally, ax=ax, validation=True)
    assert display.validation_.get_text() == display.results[0].validation.caption()
    models = {"a": data.scores, "b": data.scores}
    with pytest.raises(InvalidInputError, match="one model"):
        ReliabilityDisplay.from_predictions(data.labels, models, ax=ax, validation=True)


def test_bad_results(ax, data):
    with pytest.raises(InvalidInputError, match="empty list"):
        ReliabilityDisplay([])
    with pytest.raises(InvalidInputError, match="same `scale`"):
        ReliabilityDisplay([reliability(data.tally), reliability(data.tally, scale="logit")])
    for y_prob, name in (({}, None), ({"a": data.scores}, "b")):
        with pytest.raises(InvalidInputError, match="A dict for `y_prob`"):
            ReliabilityDisplay.from_predictions(data.labels, y_prob, name=name, ax=ax)


@pytest.mark.parametrize("scale", ["linear", "logit"])
@pytest.mark.parametrize("scores", [[0.4] * 4, [0.0] * 4, [1.0] * 4, [0.0, 0.0, 1.0, 1.0]])
def test_odd_data_can_be_drawn(ax, scale, scores):
    for labels in ([0, 1, 0, 1], [0] * 4, [1] * 4):
        ReliabilityDisplay.from_predictions(labels, scores, scale=scale, ax=ax)
    ax.figure.draw_without_rendering()


def draw_classes(n=400, n_classes=3):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(n_classes), n)
    return (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), p


def test_each_class_against_the_rest_those_furthest_off_first(ax):
    y, p = draw_classes()
    wrong = p[:, [0, 2, 1]]  # the last two columns are mixed up
    display = ReliabilityDisplay.from_predictions(np.array(list("abc"))[y], wrong, each_class=True, ax=ax)
    assert {result.name for result in display.results[:2]} == {"b", "c"}
    np.testing.assert_array_equal(display.results[2].points, reliability(y == 0, wrong[:, 0]).points)
    assert display.points_ == [None] * 3
    assert display.ax_.get_ylabel() == "Fraction of positives"
    many = ReliabilityDisplay.from_predictions(
        *draw_classes(n_classes=15), each_class=True, classes=[f"class {k}" for k in range(15)], ax=ax
    )
    assert len(many.results) == 8
    assert all(result.name.startswith("class ") for result in many.results)


def test_classes_of_a_classifier(ax):
    features, species = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[species]
    model = LogisticRegression().fit(features[:, :2], names)
    display = ReliabilityDisplay.from_estimator(model, features[:, :2], names, each_class=True, ax=ax)
    assert {result.name for result in display.results} == set(names)
    top = ReliabilityDisplay.from_estimator(model, features[:, :2], names, ax=Figure().subplots())
    assert top.top_label
    assert top.ax_.get_ylabel() == "Fraction of right predictions"
    with pytest.raises(InvalidInputError, match="`y` must hold the labels of the columns"):
        ReliabilityDisplay.from_estimator(model, features[:, :2], species)


def test_the_predicted_class_of_several_models(ax):
    y, p = draw_classes()
    display = ReliabilityDisplay.from_predictions(
        y, {"raw": p, "sharp": p**3 / (p**3).sum(axis=1, keepdims=True)}, ax=ax
    )
    assert repr(display) == "ReliabilityDisplay(raw, sharp)"
    assert display.ax_scores_.get_xlabel() == "Probability of the predicted class"


def test_what_each_class_refuses(ax):
    y, p = draw_classes()
    with pytest.raises(InvalidInputError, match="`classes` must name the 3 columns; got 2 names"):
        ReliabilityDisplay.from_predictions(y, p, each_class=True, classes=["a", "b"], ax=ax)
    with pytest.raises(InvalidInputError, match="`each_class` needs the probabilities of one model"):
        ReliabilityDisplay.from_predictions(y == 0, p[:, 0], each_class=True, ax=ax)


def test_the_numbers_of_a_validation_cover_nothing(ax, data):
    display = ReliabilityDisplay.from_predictions(data.tally, ax=ax, validation=True)
    display.figure_.draw_without_rendering()
    assert display.validation_.get_window_extent().y0 >= display.ax_.get_window_extent().y1


def test_remarks_of_a_validation_are_no_wider_than_the_axes(agg):
    rng = np.random.default_rng(0)
    scores, groups = rng.random(300), rng.integers(0, 12, 300)
    labels = rng.random(300) < scores
    display = ReliabilityDisplay.from_predictions(labels, scores, validation=True, groups=groups, curve="spline")
    display.figure_.draw_without_rendering()
    assert "fewer than 30 groups" in display.validation_.get_text().replace("\n", " ")
    assert display.validation_.get_window_extent().x1 <= display.figure_.bbox.x1
    assert display.ax_.get_window_extent().width > 0.5 * display.figure_.bbox.width


def test_the_legend_calls_a_method_by_its_title(ax, data):
    display = ReliabilityDisplay.from_predictions(data.tally, ax=ax, curve="spline")
    assert display.line_.get_label() == f"{SplineCalibration.title}, 90 % band"


def centres(seed=0):
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(10), 60)
    z = rng.normal(-0.5, 1.2, 600)
    return rng.random(600) < 1 / (1 + np.exp(-z - rng.normal(0, 0.8, 10)[centre])), 1 / (1 + np.exp(-z)), centre


def test_groups_widen_the_band_and_have_faint_curves():
    y, p, centre = centres()
    options = {"curve": "spline", "level": 0.95}
    alone = reliability(y, p, **options).curve
    display = ReliabilityDisplay.from_predictions(
        y, p, ax=Figure().subplots(), groups=centre, each_group=True, **options
    )
    found = display.results[0].curve
    assert (found["probability"] == alone["probability"]).all()
    assert (found["low"] <= alone["low"]).all()
    assert (found["high"] - found["low"]).mean() > 1.3 * (alone["high"] - alone["low"]).mean()
    assert len(display.groups_) == len(display.results[0].groups) == 10
    first = display.results[0].groups[0]
    own = p[centre == 0]
    assert (first["score"].min(), first["score"].max()) == pytest.approx((own.min(), own.max()))
    assert display.groups_[0].get_label() == "10 groups, each by itself"
    with pytest.raises(InvalidInputError, match="`each_group` needs"):
        reliability(y, p, each_group=True)


def test_spikes_are_the_rows_with_and_without_the_event():
    y, p, _ = centres()
    display = ReliabilityDisplay.from_predictions(y, p, ax=Figure().subplots(), histogram="spikes")
    ends = np.array([segment[1][1] for segment in display.scores_.get_segments()])
    assert (ends[ends > 0].sum(), -ends[ends < 0].sum()) == (y.sum(), (~y).sum())
    with pytest.raises(InvalidInputError, match="place for one model"):
        ReliabilityDisplay.from_predictions(y, {"a": p, "b": p}, ax=Figure().subplots(), histogram="spikes")


@pytest.mark.parametrize(("columns", "width"), [(1, 3.35), (2, 6.9)])
def test_a_figure_for_a_paper_is_as_wide_as_its_columns(tmp_path, columns, width):
    y, p, centre = centres()
    options = {"curve": "spline", "validation": True, "histogram": "spikes", "points": False, "groups": centre}
    display = ReliabilityDisplay.from_predictions(y, p, columns=columns, **options)
    assert display.figure_.get_size_inches()[0] == width
    display.save(tmp_path / "figure.pdf")
    written = (tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in written
    assert b"/Type3" not in written
    frame = display.legend_.get_window_extent()
    assert frame.x1 <= display.figure_.bbox.x1 + 1
    assert frame.y1 <= display.figure_.bbox.y1 + 1
    assert display.ax_scores_.get_tightbbox().y0 >= -1
    place = display.ax_.get_window_extent()
    assert frame.y0 >= place.y1 - 1 if columns == 1 else frame.x0 >= place.x1 - 1
    with pytest.raises(InvalidInputError, match="`columns` must be 1 or 2"):
        display.plot(columns=3)
