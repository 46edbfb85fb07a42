import json

import numpy as np
import pytest
from sklearn.base import clone

from calibrant import SplineCalibration, Tally, load
from calibrant._numerics import links
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.segments.calibrator import SegmentedCalibrator

SHIFTS = {"de": -0.3, "fr": 0.9, "us": 0.0}


def draw_rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    scores, country = rng.uniform(0.03, 0.97, n), rng.choice(list(SHIFTS), n)
    logits = links.logit(scores) + np.array([SHIFTS[name] for name in country])
    return scores, (rng.random(n) < links.expit(logits)).astype(int), country, rng.choice(["app", "web"], n)


@pytest.fixture(scope="module")
def fitted():
    scores, y, country, _ = draw_rows()
    return SegmentedCalibrator("spline").fit(scores, y, segment=country)


def test_known_shifts_come_back(fitted):
    scores = np.full(3, 0.5)
    truth = links.expit(np.array(list(SHIFTS.values())))
    np.testing.assert_allclose(fitted.predict(scores, segment=list(SHIFTS)), truth, atol=0.05)
    low, high = fitted.predict_interval(scores, segment=list(SHIFTS))
    assert ((low < truth) & (truth < high)).all()
    assert (high - low < 0.15).all()
    np.testing.assert_allclose(fitted.predict_proba(scores, segment=list(SHIFTS)).sum(axis=1), 1.0)


def test_a_new_segment_gets_the_pooled_map_and_a_wide_interval(fitted):
    np.testing.assert_allclose(fitted.predict([0.3], segment=["xx"]), fitted.pooled_.predict([0.3]))
    low, high = fitted.predict_interval([0.3, 0.3], segment=["xx", "us"])
    assert high[0] - low[0] > 2.0 * (high[1] - low[1])


def test_the_summary_is_about_segments_and_then_about_all_rows(fitted):
    assert fitted.summary().splitlines() == [
        fitted.segments_.summary(),
        f"All rows together: {fitted.pooled_.summary()}",
    ]
    scores, y, country, _ = draw_rows(300)
    blend = SegmentedCalibrator().fit(scores, y, segment=country)
    first, second, *_ = blend.summary().splitlines()
    assert first == blend.segments_.summary()
    assert second == f"All rows together: {blend.pooled_.summary().splitlines()[0]}"


def test_weights_are_repetitions():
    scores, y, country, device = draw_rows(400)
    weights = np.random.default_rng(1).integers(0, 3, 400)
    table = np.column_stack((country, device))
    weighted = SegmentedCalibrator("spline").fit(scores, y, weights, segment=table)
    rows = np.repeat(np.arange(400), weights)
    repeated = SegmentedCalibrator("spline").fit(scores[rows], y[rows], segment=table[rows])
    np.testing.assert_allclose(
        weighted.predict(scores, segment=table), repeated.predict(scores, segment=table), atol=1e-7
    )


def test_tallies_are_rows():
    scores, y, country, device = draw_rows(600)
    rows = SegmentedCalibrator("spline").fit(scores, y, segment={"country": country, "device": device})
    tallies = {}
    for place in sorted(set(zip(country.tolist(), device.tolist(), strict=True)), reverse=True):
        own = (country == place[0]) & (device == place[1])
        tallies[place] = Tally.from_arrays(scores[own], y[own])
    counted = SegmentedCalibrator("spline").fit_tallies(tallies, keys=["country", "device"])
    table = {"country": country, "device": device}
    np.testing.assert_allclose(rows.predict(scores, segment=table), counted.predict(scores, segment=table), atol=1e-7)
    assert [row.rows for row in rows.segments_] == [row.rows for row in counted.segments_]


def test_order_of_rows_and_names_of_segments_do_not_matter():
    scores, y, country, _ = draw_rows(600)
    one = SegmentedCalibrator("spline").fit(scores, y, segment=country)
    order = np.random.default_rng(2).permutation(600)
    renamed = np.array([{"de": 3, "fr": 1, "us": 2}[name] for name in country])
    other = SegmentedCalibrator("spline").fit(scores[order], y[order], segment=renamed[order])
    np.testing.assert_allclose(one.predict(scores, segment=country), other.predict(scores, segment=renamed), atol=1e-7)


def test_the_map_of_a_segment_is_an_ordinary_map(fitted, tmp_path):
    grid = np.linspace(0.0, 1.0, 501)
    for name in ("fr", "xx"):
        map_ = fitted.map_for(name)
        np.testing.assert_allclose(map_(grid), fitted.predict(grid, segment=np.full(501, name)), atol=2e-4)
    map_.save(tmp_path / "map.json")
    assert 0.0 < float(fitted.map_for("fr").inverse(0.5)) < float(fitted.map_for("de").inverse(0.5)) < 1.0


def test_draws_agree_with_intervals(fitted):
    draws = fitted.sample_maps([0.2, 0.7, 0.5], segment=["de", "fr", "xx"], n_draws=4000)
    low, high = fitted.predict_interval([0.2, 0.7, 0.5], segment=["de", "fr", "xx"])
    assert draws.shape == (4000, 3)
    np.testing.assert_allclose(np.quantile(draws, 0.05, axis=0), low, atol=0.02)
    np.testing.assert_allclose(np.quantile(draws, 0.95, axis=0), high, atol=0.02)


def test_a_loaded_map_has_the_maps_of_its_segments(fitted, tmp_path):
    path = tmp_path / "segments.json"
    fitted.save(path)
    assert load(path).map_for("fr") == fitted.map_for("fr")
    document = json.loads(path.read_text())
    document["map"]["terms"][0]["mean"][0][0] += 0.1
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)


def test_decision_scores(tmp_path):
    scores, y, country, _ = draw_rows(1500)
    margins = 3.0 * links.logit(scores) + 2.0
    calibrator = SegmentedCalibrator("spline", space="decision").fit(margins, y, segment=country)
    truth = links.expit(links.logit(scores) + np.array([SHIFTS[name] for name in country]))
    assert np.abs(calibrator.predict(margins, segment=country) - truth).mean() < 0.04
    np.testing.assert_allclose(
        calibrator.map_for("fr")(margins[:50]), calibrator.predict(margins[:50], segment=["fr"] * 50), atol=2e-4
    )
    calibrator.save(tmp_path / "segments.json")
    loaded = load(tmp_path / "segments.json")
    np.testing.assert_array_equal(
        loaded.predict(margins, segment=country), calibrator.predict(margins, segment=country)
    )


def test_segments_of_one_class_and_of_one_row_are_fine():
    scores, y, country, _ = draw_rows(400)
    country = country.astype(object)
    country[np.flatnonzero(y == 1)[:20]] = "winners"
    country[0] = "single"
    calibrator = SegmentedCalibrator("spline").fit(scores, y, segment=country)
    p = calibrator.predict([0.5, 0.5, 0.5], segment=["winners", "single", "us"])
    assert ((p > 0.0) & (p < 1.0)).all()
    assert p[0] > p[2]


def test_bad_input_has_one_clear_sentence():
    scores, y = [0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]
    make = SegmentedCalibrator("spline")
    for segment, message in (
        (None, "`segment` must be given"),
        (["a"] * 4, "at least two segments; got 1, 'a'. Use the calibrator alone"),
        ([1, 2, 3, 4], "fewer segments than rows; got 4 segments of 4 rows"),
        (["a", "b"], "as many rows as the scores"),
        (np.array(["a", None, "b", "b"], object), "must have no missing values"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            make.fit(scores, y, segment=segment)
    with pytest.raises(InvalidInputError, match="at least one tally with rows"):
        make.fit_tallies({"a": Tally.empty()})
    with pytest.raises(InvalidInputError, match="`space` must be one of"):
        SegmentedCalibrator("spline", space="logit").fit(scores, y, segment=["a", "a", "b", "b"])


def test_bad_input_to_predict(fitted):
    with pytest.raises(InvalidInputError, match="`segment` must be given"):
        fitted.predict([0.5])
    with pytest.raises(InvalidInputError, match="held strings in the fit and holds numbers now"):
        fitted.predict([0.5], segment=[1])
    with pytest.raises(InvalidInputError, match="must name the 2 parts of a segment; got 1 names"):
        fitted.map_for(("fr", "app"))


def test_missing_values_can_be_a_segment():
    scores, y, country, _ = draw_rows(400)
    country = np.where(country == "us", None, country)
    calibrator = SegmentedCalibrator("spline", missing="segment").fit(scores, y, segment=country)
    assert [row.segment for row in calibrator.segments_] == ["de", "fr", None]
    assert calibrator.predict([0.5], segment=[None]).shape == (1,)


def test_it_is_an_estimator():
    calibrator = SegmentedCalibrator(SplineCalibration(), missing="segment")
    assert clone(calibrator).get_params()["missing"] == "segment"
    scores, y, country, _ = draw_rows(300)
    copy = clone(calibrator).fit(scores, y, segment=country)
    assert copy.calibrator is not copy.pooled_
    assert not hasattr(copy.calibrator, "map_")


def test_intervals_cover():
    """A light version of benchmarks/accuracy/segment_intervals.py."""
    sizes = np.repeat([20, 100, 1000], [20, 10, 3])
    inside = {20: [], 100: [], 1000: [], "new": []}
    grid = np.linspace(0.1, 0.9, 9)
    for seed in range(4):
        rng = np.random.default_rng([seed, 3])
        shifts = 0.4 * rng.standard_normal(len(sizes) + 1)
        segment = np.repeat(np.arange(len(sizes)), sizes)
        scores = rng.uniform(0.02, 0.98, len(segment))
        y = (rng.random(len(segment)) < links.expit(0.8 * links.logit(scores) + shifts[segment])).astype(int)
        calibrator = SegmentedCalibrator("spline").fit(scores, y, segment=segment)
        for g, shift in enumerate(shifts):
            low, high = calibrator.predict_interval(grid, segment=np.full(9, g))
            truth = links.expit(0.8 * links.logit(grid) + shift)
            inside[sizes[g] if g < len(sizes) else "new"].append(np.mean((low <= truth) & (truth <= high)))
    for size in (20, 100, 1000):
        assert 0.8 < np.mean(inside[size]) <= 1.0
    assert np.mean(inside["new"]) > 0.5
