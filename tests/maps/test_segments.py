from dataclasses import replace

import numpy as np
import pytest

from calibrant._numerics import links
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.functions import Identity, Sigmoid, Step
from calibrant.maps.keys import SegmentKeys
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import LINE, Basis, Effects, SegmentedMap, TermEffects

SCORES = np.array([0.2, 0.5, 0.8])


def shift_term(keys, levels, shifts, variance=0.0, wide=0.04, prior=0.25):
    count = len(shifts)
    mean = np.column_stack((shifts, np.zeros(count)))
    corner = np.zeros((count, 2, 2))
    corner[:, 0, 0] = 1.0
    effects = Effects(mean, variance * corner, wide * corner, np.diag([prior, 0.0]))
    return TermEffects(keys, LINE, np.array(levels).reshape(count, len(keys)), *effects, 0.9)


@pytest.fixture
def map_():
    keys = SegmentKeys(("country", "device"), ("strings", "strings"), (("de", "fr"), ("app", "web")))
    basis = Basis.learn(SCORES, links.logit(SCORES), np.ones(3))
    terms = (
        shift_term((0,), [0, 1], [-0.5, 0.5]),
        shift_term((1,), [0, 1], [0.1, -0.1]),
        shift_term((0, 1), [[0, 1], [1, 0]], [0.3, -0.3]),
        shift_term((), [[]], [0.05]),
    )
    return SegmentedMap(keys, CalibrationMap(Identity(), "probability", True), basis, 0.1 * np.ones((1, 3)), terms)


def test_effects_add_up(map_):
    codes = np.array([[0, 1], [1, 0], [0, 0]])
    shifts = np.array([-0.5 - 0.1 + 0.3 + 0.05, 0.5 + 0.1 - 0.3 + 0.05, -0.5 + 0.1 + 0.05])
    np.testing.assert_allclose(map_.logits(SCORES, codes), links.logit(SCORES) + shifts)


def test_a_row_of_new_segments_keeps_the_pooled_map_and_has_the_width_of_the_prior(map_):
    codes = np.full((3, 2), -1)
    np.testing.assert_allclose(map_.logits(SCORES, codes), links.logit(SCORES))
    centre, spread = map_.centre_and_spread(SCORES, codes)
    np.testing.assert_allclose(centre, links.logit(SCORES))
    np.testing.assert_allclose(spread, np.sqrt(0.01 + 3 * 0.25))


def test_a_known_key_counts_beside_a_new_one(map_):
    codes = np.tile([1, -1], (3, 1))
    np.testing.assert_allclose(map_.logits(SCORES, codes), links.logit(SCORES) + 0.55)
    _, spread = map_.centre_and_spread(SCORES, codes)
    np.testing.assert_allclose(spread, np.sqrt(0.01 + 0.04 + 2 * 0.25 + 0.04))


def test_unknown_effects_pull_the_mean_probability_to_one_half(map_):
    term = shift_term((0,), [0, 1], [0.0, 0.0], variance=0.5)
    vague = SegmentedMap(map_.keys, map_.pooled, map_.basis, map_.pooled_deviations, (term,))
    rng = np.random.default_rng(0)
    logits = vague.logits(np.array([0.2]), np.zeros((1, 2), int))
    drawn = links.expit(links.logit(np.array([0.2])) + np.sqrt(0.5) * rng.standard_normal(100_000)).mean()
    assert links.expit(logits)[0] == pytest.approx(drawn, abs=0.004)


def test_draws_have_the_moments_of_the_intervals(map_):
    codes = np.array([[0, 1], [-1, 0], [-1, -1]])
    draws = map_.draw(SCORES, codes, np.random.default_rng(0), 20_000)
    centre, spread = map_.centre_and_spread(SCORES, codes)
    np.testing.assert_allclose(draws.mean(axis=0), centre, atol=0.03)
    np.testing.assert_allclose(draws.std(axis=0), spread, rtol=0.03)


def test_through_plain_values(map_):
    same = SegmentedMap.from_dict(map_.to_dict())
    codes = np.array([[0, 1], [1, -1], [-1, -1]])
    np.testing.assert_array_equal(same.logits(SCORES, codes), map_.logits(SCORES, codes))
    for one, other in zip(same.centre_and_spread(SCORES, codes), map_.centre_and_spread(SCORES, codes), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ModelFileError, match="`missing`"):
        SegmentedMap.from_dict(map_.to_dict() | {"missing": "drop"})


def one_key(function=None):
    scores = np.linspace(0.1, 0.9, 9)
    basis = Basis.learn(scores, links.logit(scores), np.ones(9))
    zeros = np.zeros((2, 2, 2))
    effects = Effects(np.array([[0.5, 0.2], [-0.5, 0.0]]), zeros, zeros, np.diag([0.3, 0.1]))
    pooled = CalibrationMap(function or Identity(), "probability", True)
    term = TermEffects((0,), LINE, np.array([[0], [1]]), *effects, 1.0)
    keys = SegmentKeys(("team",), ("strings",), (("a", "b"),))
    return SegmentedMap(keys, pooled, basis, np.empty((0, 9)), (term,))


def test_it_is_called_with_scores_and_segments(map_):
    segment = {"device": ["web", "app"], "country": ["de", "mt"]}  # names count, not their order; Malta is new
    shifts = np.array([-0.5 - 0.1 + 0.3 + 0.05, 0.1 + 0.05])
    expected = links.expit(links.logit(np.array([0.2, 0.5])) + shifts)
    np.testing.assert_allclose(map_([0.2, 0.5], segment), expected)
    np.testing.assert_array_equal(map_.predict([0.2, 0.5], segment=segment), map_([0.2, 0.5], segment))
    for scores, given, message in (
        ([0.5], None, "`segment` must be given"),
        ([1.5], segment, "scores"),
        ([0.5], ["de"], "keys of the fit, country, device"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            map_(scores, given)


def test_one_score_gives_one_number(map_):
    rows = map_([0.4], [("de", "web")]), *map_.predict_interval([0.4], segment=[("de", "web")])
    numbers = map_(0.4, ("de", "web")), *map_.predict_interval(0.4, segment=("de", "web"))
    assert all(isinstance(number, float) for number in numbers)
    assert numbers == tuple(row[0] for row in rows)


def test_chunks_change_nothing(map_, monkeypatch):
    scores, codes = np.linspace(0.0, 1.0, 101), np.tile([1, 0], (101, 1))
    whole = map_.probabilities(scores, codes)
    monkeypatch.setattr("calibrant.maps.segments.CHUNK_ROWS", 7)
    np.testing.assert_array_equal(map_.probabilities(scores, codes), whole)


def test_the_map_of_a_segment_follows_the_formula():
    map_, grid = one_key(), np.linspace(0.0, 1.0, 2001)
    for name in ("a", "b", "new"):
        own = map_.map_for(name)
        np.testing.assert_allclose(own(grid), map_(grid, [name] * 2001), atol=2e-5)
        assert own.space == "probability"
        assert own.monotone


def test_steps_of_the_pooled_map_stay_steps():
    map_ = one_key(Step([0.5], [0.2, 0.7]))
    np.testing.assert_allclose(map_.map_for("new")([0.1, 0.49, 0.51, 0.9]), [0.2, 0.2, 0.7, 0.7])
    np.testing.assert_allclose(map_.map_for("b")([0.1, 0.51]), links.expit(links.logit(np.array([0.2, 0.7])) - 0.5))


def test_decision_scores_are_mapped_first():
    first = CalibrationMap(Sigmoid(1.0, 0.0, "identity"), "decision", True)
    map_ = replace(one_key(), first=first)
    assert map_.space == "decision"
    np.testing.assert_allclose(map_([0.0, 3.0], ["new", "b"]), links.expit(np.array([0.0, 2.5])))
    np.testing.assert_allclose(map_.map_for("b")([3.0]), links.expit(np.array([2.5])), atol=1e-5)
    low, high = map_.predict_interval([0.0], segment=["a"])
    np.testing.assert_allclose([low, high], 2 * [map_([0.0], ["a"])])


def test_the_text_is_short(map_):
    assert repr(map_) == "SegmentedMap(, country: 2 segments, device: 2 segments)"
