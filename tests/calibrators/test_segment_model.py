import numpy as np
import pytest

from calibrant._kernels import links
from calibrant.calibrators.segment_basis import LINE, Basis
from calibrant.calibrators.segment_model import SegmentModel, TermEffects
from calibrant.calibrators.segment_terms import Effects
from calibrant.errors import ModelFileError
from calibrant.map_functions import Identity
from calibrant.maps import CalibrationMap
from calibrant.segment_keys import SegmentKeys

SCORES = np.array([0.2, 0.5, 0.8])


def shift_term(keys, levels, shifts, variance=0.0, wide=0.04, prior=0.25):
    count = len(shifts)
    mean = np.column_stack((shifts, np.zeros(count)))
    corner = np.zeros((count, 2, 2))
    corner[:, 0, 0] = 1.0
    effects = Effects(mean, variance * corner, wide * corner, np.diag([prior, 0.0]))
    return TermEffects(keys, LINE, np.array(levels).reshape(count, len(keys)), effects, 0.9)


@pytest.fixture
def model():
    keys = SegmentKeys(("country", "device"), ("strings", "strings"), (("de", "fr"), ("app", "web")))
    basis = Basis.learn(SCORES, links.logit(SCORES), np.ones(3))
    terms = (
        shift_term((0,), [0, 1], [-0.5, 0.5]),
        shift_term((1,), [0, 1], [0.1, -0.1]),
        shift_term((0, 1), [[0, 1], [1, 0]], [0.3, -0.3]),
        shift_term((), [[]], [0.05]),
    )
    return SegmentModel(keys, CalibrationMap(Identity(), "probability", True), basis, 0.1 * np.ones((1, 3)), terms)


def test_effects_add_up(model):
    codes = np.array([[0, 1], [1, 0], [0, 0]])
    shifts = np.array([-0.5 - 0.1 + 0.3 + 0.05, 0.5 + 0.1 - 0.3 + 0.05, -0.5 + 0.1 + 0.05])
    np.testing.assert_allclose(model.logits(SCORES, codes), links.logit(SCORES) + shifts)


def test_a_row_of_new_segments_keeps_the_pooled_map_and_has_the_width_of_the_prior(model):
    codes = np.full((3, 2), -1)
    np.testing.assert_allclose(model.logits(SCORES, codes), links.logit(SCORES))
    centre, spread = model.centre_and_spread(SCORES, codes)
    np.testing.assert_allclose(centre, links.logit(SCORES))
    np.testing.assert_allclose(spread, np.sqrt(0.01 + 3 * 0.25))


def test_a_known_key_counts_beside_a_new_one(model):
    codes = np.tile([1, -1], (3, 1))
    np.testing.assert_allclose(model.logits(SCORES, codes), links.logit(SCORES) + 0.55)
    _, spread = model.centre_and_spread(SCORES, codes)
    np.testing.assert_allclose(spread, np.sqrt(0.01 + 0.04 + 2 * 0.25 + 0.04))


def test_unknown_effects_pull_the_mean_probability_to_one_half(model):
    term = shift_term((0,), [0, 1], [0.0, 0.0], variance=0.5)
    vague = SegmentModel(model.keys, model.pooled, model.basis, model.wobble, (term,))
    rng = np.random.default_rng(0)
    logits = vague.logits(np.array([0.2]), np.zeros((1, 2), int))
    drawn = links.expit(links.logit(np.array([0.2])) + np.sqrt(0.5) * rng.standard_normal(100_000)).mean()
    assert links.expit(logits)[0] == pytest.approx(drawn, abs=0.004)


def test_draws_have_the_moments_of_the_intervals(model):
    codes = np.array([[0, 1], [-1, 0], [-1, -1]])
    draws = model.draw(SCORES, codes, np.random.default_rng(0), 20_000)
    centre, spread = model.centre_and_spread(SCORES, codes)
    np.testing.assert_allclose(draws.mean(axis=0), centre, atol=0.03)
    np.testing.assert_allclose(draws.std(axis=0), spread, rtol=0.03)


def test_rows_of_one_segment_share_their_draw(model):
    codes = np.array([[0, -1], [0, -1], [1, -1]])
    effect = model.terms[0].draw(np.tile([1.0, 0.0], (3, 1)), codes, np.random.default_rng(0), 5)
    np.testing.assert_array_equal(effect[:, 0], effect[:, 1])
    assert (effect[:, 0] != effect[:, 2]).all()


def test_through_plain_values(model):
    same = SegmentModel.from_dict(model.to_dict())
    codes = np.array([[0, 1], [1, -1], [-1, -1]])
    np.testing.assert_array_equal(same.logits(SCORES, codes), model.logits(SCORES, codes))
    for one, other in zip(same.centre_and_spread(SCORES, codes), model.centre_and_spread(SCORES, codes), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ModelFileError, match="not a model of segments"):
        SegmentModel.from_dict({"keys": {}})
