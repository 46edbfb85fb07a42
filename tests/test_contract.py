"""What holds for every method of every shape of scores; a new method is covered by being in the registry."""

import inspect
import pickle
import subprocess
import sys
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import calibrant
from calibrant import Tally
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError, NotFittedError

# A sampler that says on five rows that it has not converged is right to say so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

GRID = np.linspace(0.0, 1.0, 41)
NAMES = np.array(["ant", "bee", "cat", "dog"])
PREDICTING = ("predict", "predict_proba", "predict_interval", "sample_maps")


@dataclass(frozen=True)
class Rows:
    """Scores and labels and, where scores have segments, the segment of each row."""

    scores: np.ndarray
    y: np.ndarray
    keywords: dict = field(default_factory=dict)

    def take(self, index):
        return Rows(self.scores[index], self.y[index], {key: column[index] for key, column in self.keywords.items()})

    def __len__(self):
        return len(self.y)


@dataclass(frozen=True)
class Case:
    """A method for a shape of scores, with rows to fit it to."""

    shape: str
    method: str
    options: dict = field(default_factory=dict)

    @property
    def cls(self):
        return registry.get(self.method, self.shape)

    def make(self):
        calibrator = registry.create(self.method, self.shape, **self.options)
        return calibrator.set_params(random_state=0) if "random_state" in calibrator.get_params() else calibrator

    def fit(self, rows, sample_weight=None, **keywords):
        return self.make().fit(rows.scores, rows.y, sample_weight, **rows.keywords, **keywords)

    def rows(self, n=None, seed=0):
        if self.shape == "panel":
            return draw_panel(n or 100, seed)
        return draw_matrix(n or 200, seed) if self.shape == "matrix" else draw_scores(n or 60, seed, self.shape)

    @property
    def grid(self):
        """Rows to predict, extreme ones among them."""
        if self.shape == "matrix":
            corners = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]])
            return Rows(np.vstack((draw_matrix(40, 9).scores, corners)), np.zeros(43))
        if self.shape == "panel":
            missing = np.where(np.eye(3, dtype=bool), np.nan, 0.3)
            return Rows(np.vstack((draw_panel(30, 9).scores, np.zeros(3), np.ones(3), missing)), np.zeros(35))
        segment = {"segment": np.array(["a", "b", "c", "new"])[np.arange(41) % 4]}
        return Rows(GRID, np.zeros(41), segment if self.shape == "segments" else {})


def draw_scores(n, seed, shape="score"):
    """Overconfident scores with ties, and labels."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0.05, 0.95, n)
    scores = np.round(1.0 / (1.0 + np.exp(-1.6 * np.log(truth / (1.0 - truth)))), 2)
    labels = (rng.random(n) < truth).astype(int)
    return Rows(scores, labels, {"segment": np.array(["a", "b", "c"])[np.arange(n) % 3]} if shape == "segments" else {})


def draw_panel(n, seed):
    """Three scores, the second twice as noisy as the first, the third missing in some rows."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    scores = np.round(1.0 / (1.0 + np.exp(-truth[:, None] - rng.normal(size=(n, 3)) * [0.5, 1.0, 1.0])), 2)
    scores[np.arange(n) % 7 == 3, 2] = np.nan
    return Rows(scores, (rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * truth))).astype(int))


def draw_matrix(n, seed):
    """Four classes, scores too sure of themselves, some of them exact zeros."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(4, 0.5), size=n)
    labels = np.array([rng.choice(4, p=p) for p in truth])
    scores = np.where(truth < 1e-4, 0.0, truth**1.7)
    return Rows(scores / scores.sum(axis=1, keepdims=True), labels)


CASES = [
    *(Case("score", name) for name in registry.METHODS["score"]),
    *(Case("matrix", name) for name in registry.METHODS["matrix"]),
    Case("matrix", "dirichlet", {"regularisation": "odir"}),
    Case("segments", "segmented", {"calibrator": "spline"}),
    Case("panel", "panel"),
]
ONE_SCORE = [case for case in CASES if case.shape == "score"]
MATRIX = [case for case in CASES if case.shape == "matrix"]
ONE_PER_ROW = [case for case in CASES if case.shape in ("score", "segments")]
NEVER_MISSING = [case for case in CASES if case.shape != "panel"]
BAYESIAN = [case for case in CASES if case.cls.bayesian]
WITH_INTERVALS = [case for case in CASES if hasattr(case.cls, "predict_interval")]
WITH_LEVELS = [case for case in WITH_INTERVALS if "level" in inspect.signature(case.cls.predict_interval).parameters]


def over(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: "-".join((case.shape, case.method, *case.options)))


def ask(method, fitted, rows, **options):
    """What a calibrator or a map answers about rows."""
    return np.asarray(getattr(fitted, method)(rows.scores, **rows.keywords, **options))


def predict(fitted, rows):
    return ask("predict", fitted, rows)


def assert_probabilities(p, shape):
    assert p.shape == shape
    assert p.dtype == np.float64
    assert np.isfinite(p).all()
    assert p.min(initial=0.0) >= 0.0
    assert p.max(initial=0.0) <= 1.0


def assert_same(case, calibrator, other, rows=None):
    """Two calibrators predict the same, as far as iterations stop at the same place."""
    rows = case.grid if rows is None else rows
    tolerance = 1e-9 if case.shape == "score" else 1e-6
    np.testing.assert_allclose(predict(calibrator, rows), predict(other, rows), rtol=0, atol=tolerance)


# Output


@over(CASES)
def test_predictions_are_probabilities(case):
    calibrator, grid = case.fit(case.rows()), case.grid
    p, proba = predict(calibrator, grid), ask("predict_proba", calibrator, grid)
    assert_probabilities(proba, (len(grid), len(calibrator.classes_)))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(p, proba if case.shape == "matrix" else proba[:, 1])
    for method in ("predict", "predict_proba"):
        np.testing.assert_array_equal(ask(method, calibrator.map_, grid), ask(method, calibrator, grid))


@over(CASES)
def test_facts_are_declared(case):
    calibrator, cls = case.fit(case.rows()), case.cls
    for fact in ("name", "title", "description", "reference"):
        assert isinstance(vars(cls)[fact], str), f"{cls.__name__} must state its {fact}"
        assert vars(cls)[fact].strip()
        assert "\n" not in vars(cls)[fact]
    assert not cls.description.endswith(".")
    assert (cls.name, cls.shape, calibrator.map_.kind) == (case.method, case.shape, case.shape)
    assert cls.bayesian == hasattr(cls, "sample_maps")
    assert isinstance(cls.bayesian, bool)
    assert isinstance(cls.measures_only, bool)
    assert calibrator.space in ("probability", "decision")
    assert calibrator.map_.method == cls.__name__
    assert ".." not in calibrator.summary()


@pytest.mark.parametrize("shape", registry.METHODS)
def test_titles_and_descriptions_tell_methods_apart(shape):
    classes = [registry.get(name, shape) for name in registry.METHODS[shape]]
    for fact in ("name", "title", "description"):
        assert len({getattr(cls, fact) for cls in classes}) == len(classes)
    assert [cls.name for cls in classes if cls.measures_only] == (["bpm"] if shape == "score" else [])


# The same data in other clothes


@over(CASES)
def test_weights_are_repetitions(case):
    rows = case.rows()
    counts = np.arange(len(rows)) % 4
    assert_same(case, case.fit(rows, counts), case.fit(rows.take(np.repeat(np.arange(len(rows)), counts))))


@over(CASES)
def test_row_order_does_not_matter(case):
    rows = case.rows()
    weights = 0.25 * (np.arange(len(rows)) % 5 + 1)  # sums of quarters are exact in any order
    order = np.random.default_rng(1).permutation(len(rows))
    assert_same(case, case.fit(rows, weights), case.fit(rows.take(order), weights[order]))


@pytest.mark.parametrize(
    "relabel",
    [lambda y: 2 * y - 1, lambda y: y > 0, lambda y: y + 4.0],
    ids=["-1 and 1", "bool", "4 and 5"],
)
@over(CASES)
def test_labels_count_by_their_order(case, relabel):
    rows = case.rows()
    labels = relabel(rows.y)
    if case.shape == "matrix" and labels.dtype == bool:
        labels = np.array([False, True, 2, 3], dtype=float)[rows.y]
    renamed = case.fit(replace(rows, y=labels))
    np.testing.assert_array_equal(predict(renamed, case.grid), predict(case.fit(rows), case.grid))
    assert renamed.classes_.tolist() == np.unique(labels).tolist()


@over(CASES)
def test_text_labels(case):
    rows = case.rows()
    named, keywords = replace(rows, y=NAMES[rows.y]), {}
    if case.shape != "matrix":
        with pytest.raises(InvalidInputError, match="Say which one is the positive class"):
            case.fit(named)
        keywords = {"pos_label": "bee"}
    fitted = case.fit(named, **keywords)
    np.testing.assert_array_equal(predict(fitted, case.grid), predict(case.fit(rows), case.grid))
    assert fitted.classes_.tolist() == NAMES[: len(fitted.classes_)].tolist()


@over(CASES)
def test_float32_is_float64_of_the_same_values(case):
    rows = case.rows()
    single = replace(rows, scores=rows.scores.astype(np.float32))
    double = replace(rows, scores=single.scores.astype(float))
    p = predict(case.fit(single), single)
    np.testing.assert_allclose(p, predict(case.fit(double), double), rtol=0, atol=1e-6 * (case.shape == "matrix"))
    assert p.dtype == np.float64


def with_another_index(values):
    index = np.random.default_rng(2).permutation(len(values))
    return pd.DataFrame(values, index=index) if values.ndim == 2 else pd.Series(values, index=index)


def pyarrow_of(values):
    return pa.table(dict(zip("abcd", values.T, strict=False))) if values.ndim == 2 else pa.array(values)


@pytest.mark.parametrize(
    "dress",
    [
        lambda values: values.tolist(),
        with_another_index,
        lambda values: pl.DataFrame(values) if values.ndim == 2 else pl.Series(values),
        pyarrow_of,
        lambda values: pyarrow_of(values) if values.ndim == 2 else pa.chunked_array([values[:20], values[20:]]),
    ],
    ids=["list", "pandas", "polars", "pyarrow", "pyarrow chunks"],
)
@over(CASES)
def test_any_column_type(case, dress):
    def dressed(rows):
        return Rows(dress(rows.scores), dress(rows.y), {key: dress(column) for key, column in rows.keywords.items()})

    rows, grid = case.rows(), case.grid
    fitted = case.fit(dressed(rows), dress(np.ones(len(rows))))
    np.testing.assert_allclose(predict(fitted, dressed(grid)), predict(case.fit(rows), grid), rtol=0, atol=1e-12)


@over(ONE_PER_ROW)
def test_one_column_and_two_columns(case):
    rows, grid = case.rows(), case.grid
    plain = predict(case.fit(rows), grid)
    for dress in (lambda s: s[:, None], lambda s: np.column_stack((1.0 - s, s))):
        fitted = case.fit(replace(rows, scores=dress(rows.scores)))
        np.testing.assert_array_equal(predict(fitted, replace(grid, scores=dress(grid.scores))), plain)


# Fitting and keeping


@over(CASES)
def test_fitting_twice_gives_the_same(case):
    rows = case.rows()
    calibrator = case.fit(rows)
    first, other = predict(calibrator, case.grid), case.rows(seed=5)
    calibrator.fit(other.scores, other.y, **other.keywords)
    calibrator.fit(rows.scores, rows.y, **rows.keywords)
    np.testing.assert_array_equal(predict(calibrator, case.grid), first)


@over(CASES)
def test_inputs_and_parameters_stay_untouched(case):
    rows, before, weights, calibrator = case.rows(), case.rows(), np.ones(len(case.rows())), case.make()
    parameters = {key: repr(value) for key, value in calibrator.get_params().items()}
    predict(calibrator.fit(rows.scores, rows.y, weights, **rows.keywords), rows)
    assert {key: repr(value) for key, value in calibrator.get_params().items()} == parameters
    np.testing.assert_array_equal(rows.scores, before.scores)
    np.testing.assert_array_equal(rows.y, before.y)
    np.testing.assert_array_equal(weights, 1.0)


@over(CASES)
def test_clone_and_pickle(case):
    rows, calibrator = case.rows(), case.fit(case.rows())
    fresh = clone(calibrator)
    assert not hasattr(fresh, "map_")
    for other in (fresh.fit(rows.scores, rows.y, **rows.keywords), pickle.loads(pickle.dumps(calibrator))):
        np.testing.assert_array_equal(predict(other, case.grid), predict(calibrator, case.grid))


@over(CASES)
def test_saved_and_loaded_maps_are_exact(case, tmp_path):
    calibrator = case.fit(case.rows())
    calibrator.save(tmp_path / "map.json")
    loaded = calibrant.load(tmp_path / "map.json")
    assert loaded == calibrator.map_
    assert hash(loaded) == hash(calibrator.map_)
    assert type(calibrator.map_).load(tmp_path / "map.json") == loaded
    np.testing.assert_array_equal(predict(loaded, case.grid), predict(calibrator, case.grid))
    assert loaded.has_posterior == case.cls.bayesian
    if case.cls.bayesian:
        found, wanted = (ask("predict_interval", each, case.grid) for each in (loaded, calibrator))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=0.02)
        assert np.abs(found - wanted).mean() < 0.003
        draws = ask("sample_maps", loaded, case.grid, n_draws=7)
        assert draws.shape == (7, *predict(loaded, case.grid).shape)


@over(CASES)
def test_a_map_without_posterior_refuses_intervals_in_a_sentence(case, tmp_path):
    calibrator = case.fit(case.rows())
    calibrator.save(tmp_path / "map.json", posterior=False)
    loaded = calibrant.load(tmp_path / "map.json")
    assert loaded == calibrator.map_
    if case.shape == "segments":  # what its intervals need is what it predicts with
        assert loaded.has_posterior
        return
    assert not loaded.has_posterior
    for method in ("predict_interval", "sample_maps"):
        with pytest.raises(InvalidInputError, match="Intervals and draws need the posterior of a Bayesian method"):
            ask(method, loaded, case.grid)


def test_predicting_with_any_saved_map_needs_numpy_alone(tmp_path):
    for case in CASES:
        case.fit(case.rows()).save(tmp_path / f"{case.shape}-{case.method}.json")
    program = (
        "import sys, pathlib, calibrant\n"
        "SCORES = {'score': [0.1, 0.9], 'matrix': [[0.1, 0.2, 0.3, 0.4]], 'segments': [0.1, 0.9],\n"
        "          'panel': [[0.1, 0.9, 0.5]]}\n"
        "for path in pathlib.Path(sys.argv[1]).iterdir():\n"
        "    map_ = calibrant.load(path)\n"
        "    keywords = {'segment': ['a', 'x']} if map_.kind == 'segments' else {}\n"
        "    map_.predict(SCORES[map_.kind], **keywords)\n"
        "    if map_.has_posterior:\n"
        "        map_.predict_interval(SCORES[map_.kind], **keywords)\n"
        "    assert not {'scipy', 'sklearn'} & set(sys.modules), path\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# Intervals and posterior draws


@over(WITH_INTERVALS)
def test_intervals_surround_the_prediction(case):
    calibrator, grid = case.fit(case.rows(200)), case.grid
    p, (low, high) = predict(calibrator, grid), ask("predict_interval", calibrator, grid)
    assert_probabilities(low, p.shape)
    assert_probabilities(high, p.shape)
    assert ((low <= p) & (p <= high)).all()
    assert (low < high).mean() > 0.5
    np.testing.assert_array_equal(ask("predict_interval", calibrator, grid), (low, high))


@over([case for case in WITH_INTERVALS if case.shape == "score"])
def test_a_number_has_an_interval_of_numbers(case):
    calibrator = case.fit(case.rows(200))
    low, high = calibrator.predict_interval([0.3])
    for number in (0.3, np.float64(0.3), np.array(0.3)):
        ends = calibrator.predict_interval(number)
        assert [type(end) for end in ends] == [float, float]
        assert ends == (low[0], high[0])


@over(WITH_LEVELS)
def test_a_higher_level_gives_a_wider_interval(case):
    calibrator, grid = case.fit(case.rows(200)), case.grid
    inner, outer = (ask("predict_interval", calibrator, grid, level=level) for level in (0.5, 0.95))
    assert (outer[0] <= inner[0] + 1e-12).all()
    assert (inner[1] <= outer[1] + 1e-12).all()
    assert (outer[1] - outer[0]).mean() > (inner[1] - inner[0]).mean()
    for level in (0.0, 1.0, -0.5, 90, float("nan")):
        with pytest.raises(InvalidInputError, match="`level`"):
            ask("predict_interval", calibrator, grid, level=level)


@over(BAYESIAN)
def test_posterior_draws(case):
    calibrator, grid = case.fit(case.rows(200)), case.grid
    draws = ask("sample_maps", calibrator, grid, n_draws=30, random_state=3)
    assert_probabilities(draws, (30, *predict(calibrator, grid).shape))
    np.testing.assert_array_equal(ask("sample_maps", calibrator, grid, n_draws=30, random_state=3), draws)
    assert not np.array_equal(ask("sample_maps", calibrator, grid, n_draws=30, random_state=4), draws)
    if case.shape == "matrix":
        np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    if case.shape == "score" and calibrator.monotone:
        assert np.diff(draws, axis=1).min() >= -1e-12
    with pytest.raises(InvalidInputError, match="`n_draws`"):
        ask("sample_maps", calibrator, grid, n_draws=0)


# What is refused, and how the message reads


def spoiled(values, bad, index=2):
    out = np.array(values, dtype=object if bad is None else float)
    out[index] = bad
    return out


N = 60
WEIGHTS = np.ones(N)
BAD_FITS = {
    "NaN score": (
        lambda rows: {"scores": spoiled(rows.scores, np.nan)},
        "`scores` must be finite; got NaN",
    ),
    "infinite score": (
        lambda rows: {"scores": spoiled(rows.scores, np.inf)},
        "`scores` must be finite; got inf",
    ),
    "missing score": (
        lambda rows: {"scores": spoiled(rows.scores, None)},
        "`scores` must be finite; got NaN",
    ),
    "text scores": (lambda rows: {"scores": rows.scores.astype(str)}, "`scores` must be numbers"),
    "complex scores": (lambda rows: {"scores": rows.scores * 1j}, "Complex data not supported: `scores`"),
    "sparse scores": (
        lambda rows: {"scores": sparse.csr_array(rows.scores.reshape(N, -1))},
        "`scores` must be a dense array",
    ),
    "cube of scores": (lambda rows: {"scores": rows.scores.reshape(2, -1, 3)}, "`scores` must have shape"),
    "scalar score": (lambda _: {"scores": 0.5}, "`scores` must have shape"),
    "rows that do not sum to 1": (
        lambda rows: {"scores": np.column_stack((rows.scores, rows.scores))},
        "`scores`.*sum to 1",
    ),
    "NaN label": (lambda rows: {"y": spoiled(rows.y, np.nan)}, "`y` must be finite"),
    "missing label": (
        lambda rows: {"y": spoiled(rows.y, None)},
        "`y` must have no missing labels; got None at index 2",
    ),
    "too many classes": (lambda _: {"y": np.arange(N) % 5}, "`y` must have .*; got 5 distinct"),
    "too many words": (lambda _: {"y": np.array(list("abcde"))[np.arange(N) % 5]}, "`y` must have .*; got 5 distinct"),
    "mixed labels": (
        lambda _: {"y": np.array([0, "a", 1] * (N // 3), dtype=object)},
        "`y` must hold labels of one type",
    ),
    "table of labels": (lambda _: {"y": np.zeros((N, 2))}, "`y` must have shape"),
    "too few labels": (lambda rows: {"y": rows.y[:4]}, "`y` must have as many rows"),
    "no labels": (lambda _: {"y": None}, "requires y to be passed"),
    "nothing": (lambda rows: {"scores": rows.scores[:0], "y": []}, "`scores` must have .*at least one row"),
    "negative weight": (lambda _: {"sample_weight": spoiled(WEIGHTS, -1.0)}, "`sample_weight` must not be negative"),
    "NaN weight": (lambda _: {"sample_weight": spoiled(WEIGHTS, np.nan)}, "`sample_weight` must be finite; got NaN"),
    "infinite weight": (
        lambda _: {"sample_weight": spoiled(WEIGHTS, np.inf)},
        "`sample_weight` must be finite; got inf",
    ),
    "all weights zero": (lambda _: {"sample_weight": 0.0 * WEIGHTS}, "`sample_weight` must have a positive entry"),
    "too few weights": (lambda _: {"sample_weight": WEIGHTS[:5]}, "`sample_weight` must have as many rows"),
    "table of weights": (lambda _: {"sample_weight": np.ones((N, 2))}, "`sample_weight` has shape"),
}


# A panel's scores may be missing, text, or any two columns; tests/panel says what it refuses of them.
FINE_IN_A_PANEL = ("NaN score", "infinite score", "missing score", "text scores", "rows that do not sum to 1")


@pytest.mark.parametrize("wrong", list(BAD_FITS))
@over(CASES)
def test_fit_refuses(case, wrong):
    if case.shape == "panel" and wrong in FINE_IN_A_PANEL:
        return
    change, message = BAD_FITS[wrong]
    rows, calibrator = case.rows(N), case.make()
    given = {"scores": rows.scores, "y": rows.y} | rows.keywords | change(rows)
    with pytest.raises(InvalidInputError, match=message.replace("scores", "X") if case.shape == "panel" else message):
        calibrator.fit(given.pop("scores"), **given)
    assert not hasattr(calibrator, "map_")


@pytest.mark.parametrize("outside", [-0.1, 1.0 + 1e-6, 17.0])
@over(NEVER_MISSING)
def test_scores_are_what_space_says(case, outside):
    rows, calibrator = case.rows(N), case.make()
    wrong = replace(rows, scores=spoiled(rows.scores, outside))
    if calibrator.space == "decision":
        case.fit(wrong)
        return
    message = r"`scores` must (lie in|be class probabilities in) \[0, 1\]"
    with pytest.raises(InvalidInputError, match=message):
        case.fit(wrong)
    with pytest.raises(InvalidInputError, match=message):
        predict(case.fit(rows), wrong)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda scores: spoiled(scores, np.nan), "`scores` must be finite; got NaN"),
        (lambda scores: spoiled(scores, -np.inf), "`scores` must be finite; got -inf"),
        (lambda scores: scores.astype(str), "`scores` must be numbers"),
        (lambda scores: np.ones((len(scores), 3)) / 3.0, "`scores` must have"),
    ],
    ids=["NaN", "infinite", "text", "another number of columns"],
)
@over(NEVER_MISSING)
def test_predict_refuses(case, spoil, message):
    calibrator, rows = case.fit(case.rows(N)), case.rows(N)
    wrong = replace(rows, scores=spoil(rows.scores))
    for method in PREDICTING:
        if hasattr(calibrator, method):
            with pytest.raises(InvalidInputError, match=message):
                ask(method, calibrator, wrong)


@over(CASES)
def test_an_unfitted_calibrator_says_so(case, tmp_path):
    calibrator = case.make()
    calls = [
        lambda method=method: ask(method, calibrator, case.grid) for method in PREDICTING if hasattr(case.cls, method)
    ]
    for call in (*calls, calibrator.summary, lambda: calibrator.save(tmp_path / "map.json")):
        with pytest.raises(NotFittedError, match=r"is not fitted yet; call `fit`"):
            call()
    assert not (tmp_path / "map.json").exists()


# One score


@over(ONE_SCORE)
def test_extreme_scores_have_probabilities(case):
    calibrator = case.fit(case.rows())
    everywhere = [calibrator.map_.function.knots(), np.empty(0)]
    if calibrator.map_.space == "decision":
        everywhere.append(np.array([-1e300, -1e6, -1.0, 2.0, 1e6, 1e300]))
    else:
        everywhere = [scores[(scores >= 0.0) & (scores <= 1.0)] for scores in everywhere]
        everywhere.append(np.array([0.0, 5e-324, 1e-17, 1.0 - 1e-16, 1.0]))
    for scores in everywhere:
        assert_probabilities(calibrator.predict(scores), scores.shape)


@over(ONE_SCORE)
def test_declared_monotonicity(case):
    for seed in range(3):
        calibrator = case.fit(case.rows(seed=seed))
        if calibrator.monotone or calibrator.map_.monotone:
            assert np.diff(calibrator.predict(np.linspace(0.0, 1.0, 2001))).min() >= -1e-12


@over(ONE_SCORE)
def test_a_matrix_goes_to_the_method_of_the_same_name_or_is_refused(case):
    rows = draw_matrix(90, 4)
    if case.method not in registry.names("matrix"):
        with pytest.raises(InvalidInputError, match="`scores` must be one score for each row"):
            case.fit(rows)
        return
    fitted, direct = case.fit(rows), Case("matrix", case.method).fit(rows)
    for method in PREDICTING:
        if hasattr(direct, method):
            np.testing.assert_array_equal(ask(method, fitted, rows), ask(method, direct, rows))
    assert fitted.map_ == direct.map_
    assert fitted.summary() == direct.summary()


@over(ONE_SCORE)
def test_shards_are_the_whole(case):
    rows, parts = case.rows(), Tally.empty()
    for begin in range(0, len(rows), 17):
        part = rows.take(slice(begin, begin + 17))
        parts = parts + Tally.from_arrays(part.scores, part.y)
    np.testing.assert_array_equal(case.make().fit_tally(parts).predict(GRID), case.fit(rows).predict(GRID))
    with pytest.raises(InvalidInputError, match="the tally is empty"):
        case.make().fit_tally(Tally.empty())


ODD = {
    "one row": ([0.3], [1]),
    "two rows": ([0.3, 0.6], [0, 1]),
    "two rows, wrong way round": ([0.3, 0.6], [1, 0]),
    "constant": (np.full(20, 0.4), np.arange(20) % 2),
    "two tied groups": (np.repeat([0.2, 0.8], 10), np.tile([0, 0, 1, 0, 1], 4)),
    "separable": (np.linspace(0.1, 0.9, 30), np.arange(30) >= 15),
    "separable, wrong way round": (np.linspace(0.1, 0.9, 30), np.arange(30) < 15),
    "zeros and ones": (np.tile([0.0, 1.0], 10), np.tile([0, 1, 1, 1], 5)),
    "neighbouring doubles": ([0.5, np.nextafter(0.5, 1.0), 0.5, np.nextafter(0.5, 1.0)], [0, 1, 1, 0]),
    "negatives alone": (draw_scores(60, 0).scores, np.zeros(60, int)),
    "positives alone": (draw_scores(60, 0).scores, np.ones(60, int)),
}


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
@pytest.mark.parametrize("odd", list(ODD))
@over(ONE_SCORE)
def test_odd_data_work_or_are_refused(case, odd):
    scores, y = ODD[odd]
    calibrator = case.make()
    if not calibrator.accepts_single_class and len(set(y)) == 1:
        with pytest.raises(InvalidInputError, match="both classes"):
            calibrator.fit(scores, y)
        return
    calibrator.fit(scores, y)
    assert_probabilities(calibrator.predict(GRID), GRID.shape)
    assert_probabilities(calibrator.predict(scores), np.shape(scores))


@over(ONE_SCORE)
def test_one_positive_in_100000(case):
    scores = np.random.default_rng(0).beta(1.0, 20.0, 100_000)
    y = np.zeros(100_000, dtype=int)
    y[np.argsort(scores)[-50]] = 1
    assert_probabilities(case.make().fit(scores, y).predict(GRID), GRID.shape)


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=2))
@over(ONE_SCORE)
def test_any_small_data(case, data):
    scores, y, weights = map(np.array, zip(*data, strict=True))
    calibrator = case.make()
    if not calibrator.accepts_single_class and y.all() | (~y).all():
        return
    p = calibrator.fit(scores, y, weights).predict(np.sort(scores))
    assert_probabilities(p, scores.shape)
    if calibrator.monotone:
        assert np.diff(p).min(initial=0.0) >= -1e-12


# A matrix


@over(MATRIX)
def test_a_map_of_classes_is_better_than_the_scores(case):
    rows = case.rows(300, seed=7)
    p = predict(case.fit(rows), rows)
    assert (p > 0.0).all()
    loss, raw = (-np.log(np.maximum(q[np.arange(300), rows.y], 1e-6)).mean() for q in (p, rows.scores))
    assert loss < raw or case.method == "identity"


@over(MATRIX)
def test_the_order_of_classes_does_not_matter(case):
    rows, grid, order = case.rows(), case.grid, np.array([2, 0, 3, 1])
    moved = case.fit(Rows(rows.scores[:, order], np.argsort(order)[rows.y]))
    p, q = predict(case.fit(rows), grid), predict(moved, replace(grid, scores=grid.scores[:, order]))
    np.testing.assert_allclose(q, p[:, order], atol=1e-6)


@over(MATRIX)
def test_logits_and_probabilities_are_the_same_scores(case):
    rows = case.rows()
    positive = np.maximum(rows.scores, 1e-5) / np.maximum(rows.scores, 1e-5).sum(axis=1, keepdims=True)
    p = case.make().fit(positive, rows.y).predict(positive)
    logits = case.make().set_params(space="decision").fit(np.log(positive) + 3.0, rows.y)
    np.testing.assert_allclose(logits.predict(np.log(positive) - 2.0), p, atol=1e-6)


@over(MATRIX)
def test_a_class_without_rows_has_a_probability(case):
    rows = case.rows(300, seed=7)
    p = predict(case.fit(rows.take(rows.y != 3)), rows)
    assert (p[:, 3] > 0.0).all()
    assert p[:, 3].mean() < rows.scores[:, 3].mean() or case.method in ("identity", "temperature")
