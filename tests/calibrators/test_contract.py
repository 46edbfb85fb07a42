"""What holds for every method of the registry; a new method is covered by being listed there."""

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import calibrant
from calibrant import Tally
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError

# A sampler that says on five rows that it has not converged is right to say so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
GRID = np.linspace(0.0, 1.0, 41)


FACTS = ("name", "title", "description", "reference")
CLASSES = {name: registry.get(name) for name in registry.METHODS["score"]}
WITH_INTERVALS = [name for name, cls in CLASSES.items() if hasattr(cls, "predict_interval")]
WITH_LEVELS = [
    name for name in WITH_INTERVALS if "level" in inspect.signature(CLASSES[name].predict_interval).parameters
]
WITH_POSTERIOR = [name for name, cls in CLASSES.items() if cls.bayesian]


@pytest.fixture(params=list(CLASSES))
def name(request):
    return request.param


def make(name):
    calibrator = registry.create(name)
    if "random_state" in calibrator.get_params():
        calibrator.set_params(random_state=0)
    return calibrator


def rows(n=60, seed=0):
    """Overconfident scores with ties, and labels."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0.05, 0.95, n)
    logits = np.log(truth / (1.0 - truth))
    scores = np.round(1.0 / (1.0 + np.exp(-1.6 * logits)), 2)
    return scores, (rng.random(n) < truth).astype(int)


def assert_probabilities(p, n):
    assert p.shape == (n,)
    assert p.dtype == np.float64
    assert np.isfinite(p).all()
    assert p.min(initial=0.0) >= 0.0
    assert p.max(initial=0.0) <= 1.0


# Output


def test_predictions_are_probabilities_everywhere(name):
    scores, y = rows()
    calibrator = make(name).fit(scores, y)
    everywhere = [scores, GRID, calibrator.map_.function.knots()]
    if calibrator.map_.space == "decision":
        everywhere.append(np.array([-1e300, -1e6, -1.0, 2.0, 1e6, 1e300]))
    else:
        everywhere = [x[(x >= 0.0) & (x <= 1.0)] for x in everywhere]
        everywhere.append(np.array([0.0, 5e-324, 1e-17, 1.0 - 1e-16, 1.0]))
    for x in everywhere:
        assert_probabilities(calibrator.predict(x), len(x))


def test_predict_proba_has_both_classes(name):
    calibrator = make(name).fit(*rows())
    proba = calibrator.predict_proba(GRID)
    np.testing.assert_array_equal(proba[:, 1], calibrator.predict(GRID))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-15)


def test_predict_of_nothing_is_nothing(name):
    assert make(name).fit(*rows()).predict(np.empty(0)).shape == (0,)


def test_declared_monotonicity(name):
    for seed in range(3):
        calibrator = make(name).fit(*rows(seed=seed))
        if calibrator.monotone or calibrator.map_.monotone:
            fine = np.linspace(0.0, 1.0, 2001)
            assert np.diff(calibrator.predict(fine)).min() >= -1e-12


def test_facts_are_declared(name):
    calibrator, cls = make(name), CLASSES[name]
    for fact in FACTS:
        assert isinstance(vars(cls)[fact], str), f"{cls.__name__} must state its {fact}"
        assert vars(cls)[fact].strip()
        assert "\n" not in vars(cls)[fact]
    assert cls.name == name
    for fact in ("monotone", "bayesian", "accepts_single_class", "measures_only"):
        assert isinstance(getattr(calibrator, fact), bool)
    assert calibrator.space in ("probability", "decision")
    assert cls.bayesian == hasattr(cls, "sample_maps")
    assert calibrator.fit(*rows()).map_.method == cls.__name__


def test_titles_and_descriptions_tell_methods_apart():
    for fact in FACTS[:3]:
        assert len({getattr(cls, fact) for cls in CLASSES.values()}) == len(CLASSES)
    assert [name for name, cls in CLASSES.items() if cls.measures_only] == ["bpm"]


MATRIX = np.random.default_rng(4).dirichlet(np.ones(3), 90)


@pytest.mark.parametrize("name", [name for name in CLASSES if name in registry.names("matrix")])
def test_methods_for_matrices_give_a_column_for_each_class(name):
    labels = MATRIX.argmax(axis=1) * (np.arange(90) % 4 > 0)
    proba = make(name).fit(MATRIX, labels).predict_proba(MATRIX)
    assert proba.shape == MATRIX.shape
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in registry.names("matrix")])
def test_other_methods_refuse_matrices(name):
    with pytest.raises(InvalidInputError, match="`scores` must be one score for each row"):
        make(name).fit(MATRIX, MATRIX[:, 0] > 0.3)


# The same data in other clothes


def test_weight_two_is_the_row_twice(name):
    scores, y = rows()
    counts = np.arange(len(y)) % 3 + 1
    weighted = make(name).fit(scores, y, counts).predict(GRID)
    repeated = make(name).fit(np.repeat(scores, counts), np.repeat(y, counts)).predict(GRID)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-9)


def test_weight_zero_is_no_row(name):
    scores, y = rows()
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0)
    absent = make(name).fit(scores[weights > 0], y[weights > 0]).predict(GRID)
    np.testing.assert_allclose(make(name).fit(scores, y, weights).predict(GRID), absent, rtol=0, atol=1e-9)


def test_row_order_does_not_matter(name):
    scores, y = rows()
    weights = 0.25 * (np.arange(len(y)) % 5 + 1)  # sums of quarters are exact in any order
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = make(name).fit(scores[order], y[order], weights[order]).predict(GRID)
    np.testing.assert_allclose(make(name).fit(scores, y, weights).predict(GRID), shuffled, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "relabel",
    [lambda y: 2 * y - 1, lambda y: y.astype(bool), lambda y: y + 4.0],
    ids=["-1 and 1", "bool", "4 and 5"],
)
def test_the_larger_number_is_positive(name, relabel):
    scores, y = rows()
    np.testing.assert_array_equal(
        make(name).fit(scores, relabel(y)).predict(GRID), make(name).fit(scores, y).predict(GRID)
    )


def test_text_labels_need_their_positive_class(name):
    scores, y = rows()
    labels = np.where(y, "bad", "good")
    with pytest.raises(InvalidInputError, match="Say which one is the positive class"):
        make(name).fit(scores, labels)
    fitted = make(name).fit(scores, labels, pos_label="bad")
    np.testing.assert_array_equal(fitted.predict(GRID), make(name).fit(scores, y).predict(GRID))
    assert fitted.classes_.tolist() == ["good", "bad"]


def test_float32_is_float64_of_the_same_values(name):
    scores, y = rows()
    single = scores.astype(np.float32)
    from_single = make(name).fit(single, y)
    np.testing.assert_array_equal(
        from_single.predict(single), make(name).fit(single.astype(float), y).predict(single.astype(float))
    )
    assert from_single.predict(single).dtype == np.float64


def shuffled_index(values):
    return pd.Series(values, index=np.random.default_rng(2).permutation(len(values)))


@pytest.mark.parametrize(
    "dress",
    [list, shuffled_index, pl.Series, pa.array, lambda v: pa.chunked_array([v[:20], v[20:]])],
    ids=["list", "pandas", "polars", "pyarrow", "pyarrow chunks"],
)
def test_any_column_type(name, dress):
    scores, y = rows()
    dressed = make(name).fit(dress(scores), dress(y), dress(np.ones(len(y))))
    np.testing.assert_allclose(
        dressed.predict(dress(GRID)), make(name).fit(scores, y).predict(GRID), rtol=0, atol=1e-12
    )


def test_one_column_and_two_columns(name):
    scores, y = rows()
    plain = make(name).fit(scores, y).predict(GRID)
    np.testing.assert_array_equal(make(name).fit(scores[:, None], y).predict(GRID[:, None]), plain)
    both, grid = np.column_stack((1.0 - scores, scores)), np.column_stack((1.0 - GRID, GRID))
    np.testing.assert_array_equal(make(name).fit(both, y).predict(grid), plain)


def test_shards_are_the_whole(name):
    scores, y = rows()
    parts = Tally.empty()
    for begin in range(0, len(y), 17):
        parts = parts + Tally.from_arrays(scores[begin : begin + 17], y[begin : begin + 17])
    np.testing.assert_array_equal(make(name).fit_tally(parts).predict(GRID), make(name).fit(scores, y).predict(GRID))


# Fitting and keeping


def test_fitting_twice_gives_the_same(name):
    scores, y = rows()
    calibrator = make(name).fit(scores, y)
    first = calibrator.predict(GRID)
    calibrator.fit(*rows(seed=5))
    np.testing.assert_array_equal(calibrator.fit(scores, y).predict(GRID), first)


def test_inputs_and_parameters_stay_untouched(name):
    scores, y = rows()
    weights = np.ones(len(y))
    kept = scores.copy(), y.copy(), weights.copy()
    calibrator = make(name)
    parameters = {key: repr(value) for key, value in calibrator.get_params().items()}
    calibrator.fit(scores, y, weights).predict(scores)
    assert {key: repr(value) for key, value in calibrator.get_params().items()} == parameters
    for now, before in zip((scores, y, weights), kept, strict=True):
        np.testing.assert_array_equal(now, before)


def test_clone_and_pickle(name):
    calibrator = make(name).fit(*rows())
    fresh = clone(calibrator)
    assert not hasattr(fresh, "map_")
    np.testing.assert_array_equal(fresh.fit(*rows()).predict(GRID), calibrator.predict(GRID))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(calibrator)).predict(GRID), calibrator.predict(GRID))


def test_saved_and_loaded_maps_are_exact(name, tmp_path):
    calibrator = make(name).fit(*rows())
    calibrator.save(tmp_path / "map.json")
    loaded = calibrant.load(tmp_path / "map.json")
    assert loaded == calibrator.map_
    np.testing.assert_array_equal(loaded(GRID), calibrator.predict(GRID))


# Little or odd data

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
}


@pytest.mark.filterwarnings("ignore:High scores go with the negative class")
@pytest.mark.parametrize("case", list(ODD))
def test_odd_data_work(name, case):
    scores, y = ODD[case]
    calibrator = make(name)
    if not calibrator.accepts_single_class and len(set(y)) == 1:
        with pytest.raises(InvalidInputError, match="both classes"):
            calibrator.fit(scores, y)
        return
    calibrator.fit(scores, y)
    assert_probabilities(calibrator.predict(GRID), len(GRID))
    assert_probabilities(calibrator.predict(scores), len(scores))


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_works_or_says_so(name, label):
    calibrator, (scores, y) = make(name), rows()
    if calibrator.accepts_single_class:
        assert_probabilities(calibrator.fit(scores, np.full_like(y, label)).predict(GRID), len(GRID))
    else:
        with pytest.raises(InvalidInputError, match="both classes"):
            calibrator.fit(scores, np.full_like(y, label))


def test_one_positive_in_100000(name):
    scores = np.random.default_rng(0).beta(1.0, 20.0, 100_000)
    y = np.zeros(100_000, dtype=int)
    y[np.argsort(scores)[-50]] = 1
    assert_probabilities(make(name).fit(scores, y).predict(GRID), len(GRID))


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=2))
def test_any_small_data(name, data):
    scores, y, weights = map(np.array, zip(*data, strict=True))
    calibrator = make(name)
    if not calibrator.accepts_single_class and y.all() | (~y).all():
        return
    p = calibrator.fit(scores, y, weights).predict(np.sort(scores))
    assert_probabilities(p, len(p))
    if calibrator.monotone:
        assert np.diff(p).min(initial=0.0) >= -1e-12


# Intervals and posterior draws


@pytest.mark.parametrize("name", WITH_INTERVALS)
def test_intervals(name):
    calibrator = make(name).fit(*rows(200))
    low, high = calibrator.predict_interval(GRID)
    assert_probabilities(low, len(GRID))
    assert_probabilities(high, len(GRID))
    assert (low <= high).all()
    p = calibrator.predict(GRID)
    assert ((low <= p) & (p <= high)).mean() >= 0.8
    np.testing.assert_array_equal(calibrator.predict_interval(GRID), (low, high))
    assert all(end.shape == (0,) for end in calibrator.predict_interval(np.empty(0)))


@pytest.mark.parametrize("name", WITH_INTERVALS)
def test_a_number_has_an_interval_of_numbers(name):
    calibrator = make(name).fit(*rows(200))
    low, high = calibrator.predict_interval([0.3])
    for number in (0.3, np.float64(0.3), np.array(0.3)):
        ends = calibrator.predict_interval(number)
        assert [type(end) for end in ends] == [float, float]
        assert ends == (low[0], high[0])


@pytest.mark.parametrize("name", WITH_LEVELS)
def test_a_higher_level_gives_a_wider_interval(name):
    calibrator = make(name).fit(*rows(200))
    inner, outer = calibrator.predict_interval(GRID, level=0.5), calibrator.predict_interval(GRID, level=0.95)
    assert (outer[0] <= inner[0] + 1e-12).all()
    assert (inner[1] <= outer[1] + 1e-12).all()
    assert (outer[1] - outer[0]).mean() > (inner[1] - inner[0]).mean()
    for level in (0.0, 1.0, -0.5, 90, float("nan")):
        with pytest.raises(InvalidInputError, match="`level`"):
            calibrator.predict_interval(GRID, level=level)


@pytest.mark.parametrize("name", WITH_POSTERIOR)
def test_posterior_draws(name):
    calibrator = make(name).fit(*rows(200))
    draws = calibrator.sample_maps(GRID, n_draws=30, random_state=3)
    assert draws.shape == (30, len(GRID))
    assert_probabilities(draws.ravel(), draws.size)
    np.testing.assert_array_equal(calibrator.sample_maps(GRID, n_draws=30, random_state=3), draws)
    assert not np.array_equal(calibrator.sample_maps(GRID, n_draws=30, random_state=4), draws)
    if calibrator.monotone:
        assert np.diff(draws, axis=1).min() >= -1e-12
    with pytest.raises(InvalidInputError, match="`n_draws`"):
        calibrator.sample_maps(GRID, n_draws=0)


# Cost


def test_predicting_with_any_saved_map_needs_numpy_alone(tmp_path):
    for name in CLASSES:
        make(name).fit(*rows()).save(tmp_path / f"{name}.json")
    program = (
        "import sys, pathlib, calibrant\n"
        "for path in pathlib.Path(sys.argv[1]).iterdir():\n"
        "    calibrant.load(path)([0.1, 0.9])\n"
        "    assert not {'scipy', 'sklearn'} & set(sys.modules), path\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
