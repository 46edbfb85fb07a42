"""Segments of several classes, and several labels as segments."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from calibrant import Blend, SegmentedCalibrator, load
from calibrant._numerics import links
from calibrant.errors import InvalidInputError
from calibrant.multiclass.scaling import VectorScaling

SITES = np.array(["a", "b", "c", "d"])
HOT = np.array([1.5, 1.0, 0.7, 1.0])
BIAS = np.array([[0.0, 0.0, 0.0], [0.9, 0.0, -0.5], [0.0, 0.0, 0.0], [-0.6, 0.4, 0.0]])


def truth_of(scores, site):
    return links.softmax(0.8 * HOT[site, None] * np.log(scores) + BIAS[site])


def draw_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    scores, site = links.softmax(rng.normal(0.0, 2.0, (n, 3))), rng.integers(0, 4, n)
    y = (truth_of(scores, site).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return scores, y, site


@pytest.fixture(scope="module")
def fitted():
    scores, y, site = draw_classes(3000)
    return SegmentedCalibrator("vector_scaling").fit(scores, y, segment=SITES[site])


def test_temperatures_and_biases_come_back(fitted):
    scores, _, site = draw_classes(500, seed=1)
    truth = truth_of(scores, site)
    predicted = fitted.predict_proba(scores, segment=SITES[site])
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)
    assert np.abs(predicted - truth).mean() < 0.02
    low, high = fitted.predict_interval(scores, segment=SITES[site])
    assert 0.8 < np.mean((low <= truth) & (truth <= high)) <= 1.0
    assert ((low <= predicted) & (predicted <= high)).all()
    (term,) = (term for term in fitted.map_.terms if term.keys == (0,))
    hot = 1.0 + term.mean[:, -1] / fitted.map_.basis.spread
    np.testing.assert_allclose(hot / hot.mean(), HOT / HOT.mean(), atol=0.15)


def losses_of_a_truth(seed):
    """Expected log-loss above the truth's on other rows of twelve segments: of our model, one for all, one for each."""
    rng = np.random.default_rng(seed)
    hot, bias = np.exp(rng.normal(0.0, 0.25, 12)), rng.normal(0.0, 0.5, (12, 3))
    site, z = np.arange(6720) % 12, rng.normal(0.0, 2.0, (6720, 3))
    scores, truth = links.softmax(z), links.softmax(0.8 * hot[site, None] * z + bias[site])
    y = (truth.cumsum(axis=1) < rng.random((6720, 1))).sum(axis=1)
    own, left = slice(0, 720), slice(720, None)
    ours = SegmentedCalibrator("vector_scaling").fit(scores[own], y[own], segment=site[own])
    each = np.empty((6720, 3))
    for g in range(12):
        rows = site[own] == g
        each[site == g] = VectorScaling().fit(scores[own][rows], y[own][rows]).predict(scores[site == g])
    predicted = (
        ours.predict(scores[left], segment=site[left]),
        VectorScaling().fit(scores[own], y[own]).predict(scores[left]),
        each[left],
    )
    return [float((truth[left] * np.log(truth[left] / q)).sum(axis=1).mean()) for q in predicted]


def test_it_beats_one_for_all_and_one_for_each():
    ours, pooled, each = np.mean([losses_of_a_truth(seed) for seed in range(3)], axis=0)
    assert ours < 0.9 * each
    assert ours < 0.5 * pooled


def test_segments_without_a_difference_keep_the_pooled_map():
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(3), 1500)
    y, group = (p.cumsum(axis=1) < rng.random((1500, 1))).sum(axis=1), rng.integers(0, 20, 1500)
    fitted = SegmentedCalibrator("temperature").fit(p, y, segment=group)
    assert fitted.segments_.differences["segment"] < 0.1
    assert np.abs(fitted.predict(p, segment=group) - fitted.predict(p, segment=np.roll(group, 1))).max() < 0.02
    with pytest.raises(InvalidInputError, match="posterior"):
        fitted.predict_interval(p[:1], segment=group[:1])  # of a pooled temperature


def test_a_new_segment_gets_the_pooled_map_and_a_wide_interval(fitted):
    scores = np.array([[0.5, 0.3, 0.2]] * 2)
    pooled = fitted.pooled_.predict(fitted.map_.pooled(scores[:1]))
    np.testing.assert_allclose(fitted.predict(scores[:1], segment=["new"]), pooled, atol=1e-12)
    low, high = fitted.predict_interval(scores, segment=["new", "a"])
    assert (high - low)[0].min() > 1.5 * (high - low)[1].max()
    assert fitted.sample_maps(scores, 5, segment=["new", "a"]).shape == (5, 2, 3)


def test_draws_agree_with_intervals(fitted):
    scores, _, site = draw_classes(40, seed=5)
    drawn = fitted.sample_maps(scores, 2000, segment=SITES[site])
    np.testing.assert_allclose(drawn.sum(axis=2), 1.0)
    ends = np.quantile(drawn, [0.05, 0.95], axis=0)
    np.testing.assert_allclose(ends, fitted.predict_interval(scores, segment=SITES[site]), atol=0.03)


def test_weights_are_repetitions_and_the_order_of_classes_does_not_matter():
    scores, y, site = draw_classes(300, seed=6)
    weights = np.random.default_rng(1).integers(0, 3, 300)
    weighted = SegmentedCalibrator("vector_scaling").fit(scores, y, weights, segment=site)
    rows = np.repeat(np.arange(300), weights)
    repeated = SegmentedCalibrator("vector_scaling").fit(scores[rows], y[rows], segment=site[rows])
    expected = weighted.predict(scores, segment=site)
    np.testing.assert_allclose(repeated.predict(scores, segment=site), expected, atol=1e-6)
    order = [2, 0, 1]
    moved = SegmentedCalibrator("vector_scaling").fit(scores[:, order], np.argsort(order)[y], weights, segment=site)
    np.testing.assert_allclose(moved.predict(scores[:, order], segment=site), expected[:, order], atol=1e-6)


def test_a_saved_map_predicts_the_same_with_its_intervals(fitted, tmp_path):
    scores, _, site = draw_classes(50, seed=7)
    fitted.save(tmp_path / "map.json")
    loaded = load(tmp_path / "map.json")
    assert loaded == fitted.map_
    np.testing.assert_allclose(
        loaded.predict(scores, segment=SITES[site]), fitted.predict(scores, segment=SITES[site]), atol=1e-12
    )
    np.testing.assert_allclose(
        loaded.predict_interval(scores, segment=SITES[site]),
        fitted.predict_interval(scores, segment=SITES[site]),
        atol=1e-5,
    )
    fitted.save(tmp_path / "small.json", posterior=False)
    assert not load(tmp_path / "small.json").has_posterior


def test_logits_are_scores_too():
    scores, y, site = draw_classes(500, seed=8)
    probabilities = SegmentedCalibrator("vector_scaling").fit(scores, y, segment=site)
    logits = SegmentedCalibrator("vector_scaling", space="decision").fit(np.log(scores) + 5.0, y, segment=site)
    np.testing.assert_allclose(
        logits.predict(np.log(scores) - 1.0, segment=site), probabilities.predict(scores, segment=site), atol=1e-9
    )


def test_the_table_has_a_line_for_each_class(fitted):
    assert len(fitted.segments_) == 12
    first = fitted.segments_.to_records()[0]
    assert (first["segment"], first["label"]) == ("a", 0)
    shares = [row.base_rate for row in fitted.segments_ if row.segment == "b"]
    assert sum(shares) == pytest.approx(1.0)
    (raised,) = (row for row in fitted.segments_ if (row.segment, row.label) == ("b", 0))
    assert raised.differs
    assert raised.shift > 0.5
    assert "b, class 0" in fitted.summary()


def test_what_is_for_one_score_is_refused(fitted):
    scores, y, site = draw_classes(100)
    with pytest.raises(InvalidInputError, match="several classes"):
        fitted.map_for("a")
    with pytest.raises(InvalidInputError, match="pos_label"):
        SegmentedCalibrator().fit(scores, y, segment=site, pos_label=1)
    with pytest.raises(InvalidInputError, match="3 columns"):
        fitted.predict(scores[:, :2], segment=SITES[site])
    with pytest.raises(InvalidInputError, match="segment"):
        fitted.predict(scores)


SHIFTS = np.array([-1.0, 0.0, 0.3, 1.0, 0.0])


def draw_labels(n, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(-0.5, 1.5, (n, 5))
    truth = links.expit(0.8 * z + SHIFTS)
    return links.expit(z), (rng.random((n, 5)) < truth).astype(int), truth


@pytest.fixture(scope="module")
def labelled():
    scores, y, _ = draw_labels(400)
    return SegmentedCalibrator("spline").fit(scores, y)


def test_a_label_is_a_segment(labelled):
    scores, y, _ = draw_labels(400)
    long = SegmentedCalibrator("spline").fit(scores.ravel(), y.ravel(), segment=np.tile(np.arange(5), 400))
    np.testing.assert_allclose(
        labelled.predict(scores).ravel(), long.predict(scores.ravel(), segment=np.tile(np.arange(5), 400))
    )
    assert labelled.predict_proba(scores).shape == (400, 5)
    assert labelled.sample_maps(scores, 3).shape == (3, 400, 5)
    np.testing.assert_allclose(labelled.predict([0.4], segment=[3]), labelled.map_for(3)(0.4), atol=2e-5)


def test_labels_recover_their_truth_and_beat_one_for_all_and_one_for_each(labelled):
    scores, y, truth = draw_labels(2000, seed=1)
    predicted = labelled.predict(scores)
    assert np.abs(predicted - truth).mean() < 0.025
    low, high = labelled.predict_interval(scores)
    assert 0.8 < np.mean((low <= truth) & (truth <= high)) <= 1.0
    small, few, _ = draw_labels(100, seed=2)
    own = SegmentedCalibrator().fit(small, few)
    each = np.column_stack([Blend().fit(small[:, k], few[:, k]).predict(scores[:, k]) for k in range(5)])
    ours = log_loss(y.ravel(), own.predict(scores).ravel())
    assert ours < log_loss(y.ravel(), own.pooled_.predict(scores.ravel()))
    assert ours < log_loss(y.ravel(), each.ravel())


def test_columns_of_a_table_are_found_by_their_names(labelled, tmp_path):
    scores, y, _ = draw_labels(400)
    names = ["news", "art", "music", "law", "war"]  # not in the order of their letters
    tables = [pd.DataFrame(array, columns=names) for array in (scores, y)]
    named = SegmentedCalibrator("spline").fit(*tables)
    expected = labelled.predict(scores)
    np.testing.assert_allclose(named.predict(tables[0][sorted(names)]), expected)
    np.testing.assert_allclose(named.predict(scores), expected)
    named.save(tmp_path / "labels.json")
    np.testing.assert_allclose(load(tmp_path / "labels.json").predict(scores), expected, atol=1e-12)
    assert {row.segment for row in named.segments_} == set(names)


def test_labels_go_with_other_keys_and_weights():
    scores, y, _ = draw_labels(300)
    site, weights = SITES[np.arange(300) % 2], np.arange(300) % 3
    both = SegmentedCalibrator("spline").fit(scores, y, weights, segment=site)
    assert both.map_.keys.names == ("label", "segment")
    rows = np.repeat(np.arange(300), weights)
    again = SegmentedCalibrator("spline").fit(scores[rows], y[rows], segment={"segment": site[rows]})
    np.testing.assert_allclose(both.predict(scores, segment=site), again.predict(scores, segment=site), atol=1e-6)
    with pytest.raises(InvalidInputError, match="5 labels; got 4"):
        both.predict(scores[:, :4], segment=site)
    with pytest.raises(InvalidInputError, match="segment"):
        both.predict(scores)
