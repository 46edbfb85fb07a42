import numpy as np
import pytest
from scipy.special import expit

from calibrant import ABB, BayesIso, Blend, SplineCalibration, export, load, simulate
from calibrant.errors import ModelFileError
from calibrant.maps.files import WRONG
from calibrant.maps.posterior_table import LEVELS, N_DRAWS, PosteriorTable


@pytest.fixture(scope="module")
def fitted():
    data = simulate.bayes_iso(300, rng=0)
    calibrator = BayesIso().fit(data.scores, data.labels)
    return calibrator, PosteriorTable.of(calibrator, "probability")


def test_draws_at_the_nodes_are_those_of_the_calibrator(fitted):
    calibrator, table = fitted
    drawn = table.sample_maps(table.scores, N_DRAWS)
    expected = calibrator.sample_maps(table.scores, N_DRAWS)
    assert np.abs(np.sort(drawn, axis=0) - np.sort(expected, axis=0)).max() < 1e-4


def test_between_the_nodes_are_straight_lines_and_outside_constants():
    data = simulate.bayes_iso(40, rng=1)
    calibrator = ABB().fit(3.0 * data.scores, data.labels)
    table = PosteriorTable.of(calibrator, "decision")
    at = np.array([-100.0, *table.scores[:2], table.scores[:2].mean(), 100.0])
    drawn = table.sample_maps(at, 10)
    assert drawn[:, 0] == pytest.approx(drawn[:, 1])
    assert drawn[:, 3] == pytest.approx(drawn[:, 1:3].mean(axis=1))
    last = table.sample_maps(table.scores[-1:], 10)
    assert drawn[:, 4] == pytest.approx(last[:, 0])


def test_fewer_draws_are_distinct_and_more_are_repeated(fitted):
    _, table = fitted
    few = table.sample_maps([0.5], 50, random_state=1)
    assert few.shape == (50, 1)
    every = table.sample_maps([0.5], 2 * N_DRAWS, random_state=1)
    np.testing.assert_array_equal(every[:50], few)
    np.testing.assert_array_equal(every[:N_DRAWS], every[N_DRAWS:])


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_of_the_stored_levels_are_those_of_the_calibrator(fitted, level):
    calibrator, table = fitted
    at, predicted = table.scores, calibrator.predict(table.scores)
    low, high = calibrator.predict_interval(at, level)
    stored = table.interval(at, level, predicted)
    np.testing.assert_allclose(stored[0], np.minimum(low, predicted), atol=1e-9)  # a skew posterior's mean may lie
    np.testing.assert_allclose(stored[1], np.maximum(high, predicted), atol=1e-9)  # beyond its quantiles


def test_intervals_of_other_levels_lie_between_and_beyond(fitted):
    calibrator, table = fitted
    at = np.linspace(0.1, 0.9, 9)
    predicted = calibrator.predict(at)
    widths = [np.subtract(*table.interval(at, level, predicted)[::-1]) for level in (0.01, 0.3, 0.9, 0.92, 0.999)]
    assert (np.diff(widths, axis=0) > 0.0).all()
    assert widths[0].max() < 0.02


def test_a_table_survives_being_written(fitted):
    _, table = fitted
    again = PosteriorTable.from_dict(table.to_dict())
    np.testing.assert_array_equal(again.draws, table.draws)
    np.testing.assert_allclose(again.low, table.low, atol=1e-7)
    assert (again.labelled.cells, again.labelled.low) == (table.labelled.cells, table.labelled.low)


def test_it_takes_some_hundred_kilobytes():
    data = simulate.bayes_iso(3000, rng=2)
    written = PosteriorTable.of(Blend().fit(data.scores, data.labels), "probability").to_dict()
    assert len(str(written)) < 450_000


def far_too_sure(n_rows, spread, seed):
    """Scores as naive Bayes has them: logits are 20 to 60 times as large as they should be."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.0, spread, n_rows)
    new = rng.normal(0.0, spread, 3000)
    return logits, rng.random(n_rows) < expit(1.2 * logits / spread), new


@pytest.mark.parametrize(("n_rows", "spread"), [(300, 3.0), (300, 60.0), (3000, 20.0), (3000, 60.0)])
def test_intervals_of_a_saved_blend_are_those_of_the_fit_even_next_to_0_and_1(tmp_path, n_rows, spread):
    logits, y, new = far_too_sure(n_rows, spread, seed=5)
    for space, scores, at in (("probability", expit(logits), expit(new)), ("decision", logits, new)):
        blend = Blend(space=space).fit(scores, y)
        blend.save(tmp_path / "model.json")
        saved = load(tmp_path / "model.json")
        np.testing.assert_array_equal(saved(at), blend.predict(at))
        for level in (0.5, 0.9, 0.99):
            off = np.abs(np.array(saved.predict_interval(at, level)) - blend.predict_interval(at, level))
            assert off.max() < (1e-6 if space == "probability" else 5e-3), (space, level)


def test_sql_has_the_intervals_of_the_fit_even_next_to_0_and_1():
    duckdb = pytest.importorskip("duckdb")
    logits, y, new = far_too_sure(1000, 20.0, seed=6)
    blend, scores = Blend().fit(expit(logits), y), expit(new)
    columns = export.to_sql(blend.frozen_map(), level=0.9, column="score", dialect="duckdb")
    rows = duckdb.execute(f"SELECT {columns} FROM (SELECT unnest(?) AS score)", [scores.tolist()]).fetchnumpy()
    for name, end in zip(("probability_low", "probability_high"), blend.predict_interval(scores), strict=True):
        np.testing.assert_allclose(rows[name], end, atol=1e-4)


@pytest.mark.parametrize("method", [SplineCalibration, BayesIso])
def test_other_curves_come_near_the_intervals_of_the_fit(method):
    logits, y, new = far_too_sure(2000, 20.0, seed=7)
    fitted = method().fit(expit(logits), y)
    off = np.abs(np.array(fitted.frozen_map().predict_interval(expit(new))) - fitted.predict_interval(expit(new)))
    assert off.max() < 0.02
    assert off.mean() < 0.001


@pytest.mark.parametrize(
    "change",
    [
        {"draws": "!!!"},
        {"draws": "AAAA"},
        {"draws": 3},
        {"n_draws": 0},
        {"n_draws": 10**9},
        {"scores": [1.0, 0.0]},
        {"scores": []},
        {"levels": [0.9, 0.5]},
        {"levels": [0.0, 0.5, 0.8, 0.9, 0.95]},
        {"low": [[2.0]]},
        {"range": [0.0]},
        {"labelled": {"scores": [], "positives": [], "totals": []}},
    ],
    ids=str,
)
def test_damaged_tables_are_refused(fitted, change):
    _, table = fitted
    with pytest.raises((ModelFileError, *WRONG)):
        PosteriorTable.from_dict(table.to_dict() | change)


def test_low_ends_above_high_ones_are_refused(fitted):
    _, table = fitted
    written = table.to_dict()
    with pytest.raises(ModelFileError, match="damaged"):
        PosteriorTable.from_dict(written | {"low": written["high"], "high": written["low"]})


def test_scores_at_the_end_of_the_doubles_are_tabulated():
    calibrator = ABB().fit([-1.7e308, -1.0, 1.0, 1.7e308], [0, 1, 0, 1])
    table = PosteriorTable.from_dict(PosteriorTable.of(calibrator, "decision").to_dict())
    assert np.isfinite(table.sample_maps([-1.7e308, 0.0, 1.7e308], 5)).all()
