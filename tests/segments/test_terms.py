import numpy as np
import pytest
from scipy.special import expit

from calibrant.maps.segments import CURVE, LINE
from calibrant.segments.group_effects import Groups
from calibrant.segments.terms import ODD, SETTINGS, Term


def make_term(effects, rows, seed=0, none=0.5):
    """A line term of segments whose true shifts are `effects`, updated once."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(effects)), rows)
    u = rng.standard_normal(len(codes))
    offset = u.copy()
    y = (rng.random(len(codes)) < 1.0 / (1.0 + np.exp(-offset - np.array(effects)[codes]))).astype(float)
    columns = np.column_stack((np.ones(len(u)), u))
    term = Term(LINE, none, Groups.of(codes, len(effects), columns, y, np.ones(len(y))))
    term.update(offset, everything=True)
    return term


def test_the_first_setting_is_no_difference_and_priors_sum_to_one():
    for settings in SETTINGS.values():
        assert not settings.scales[0].any()
        prior = np.exp(settings.log_prior(0.7))
        assert prior[0] == pytest.approx(0.7)
        assert prior.sum() == pytest.approx(1.0)


def test_an_odd_segment_has_larger_scales():
    settings = SETTINGS[LINE]
    for s in np.flatnonzero(settings.shares)[1:]:
        np.testing.assert_allclose(settings.scales[settings.odd[s]], ODD * settings.scales[s], rtol=1e-6)
    assert (SETTINGS[CURVE].odd == np.arange(len(SETTINGS[CURVE].odd))).all()


def test_segments_that_do_not_differ_stay_where_they_are():
    term = make_term(np.zeros(30), 100, seed=1)
    assert term.difference < 0.3
    assert np.abs(term.effects.mean).max() < 0.05


def test_the_scale_of_shifts_comes_back():
    rng = np.random.default_rng(5)
    for scale in (0.1, 0.3, 0.9):
        term = make_term(scale * rng.standard_normal(80), 400)
        assert term.difference > 0.9
        assert np.sqrt(term.effects.prior[0, 0]) == pytest.approx(scale, rel=0.35)


def test_the_scale_of_strong_slopes_comes_back():
    """Per standard deviation of the pooled logit: 0.4 a logit is 0.6 where logits have a spread of 1.5."""
    for scale in (0.6, 1.5):
        rng = np.random.default_rng(3)
        codes, u = np.repeat(np.arange(60), 400), rng.standard_normal(60 * 400)
        y = (rng.random(len(u)) < expit(u + (scale * rng.standard_normal(60))[codes] * u)).astype(float)
        columns = np.column_stack((np.ones(len(u)), u))
        term = Term(LINE, 0.5, Groups.of(codes, 60, columns, y, np.ones(len(y))))
        term.update(u, everything=True)
        assert np.sqrt(term.effects.prior[1, 1]) == pytest.approx(scale, rel=0.3)


def test_an_odd_segment_is_not_pulled_in():
    effects = np.zeros(40)
    effects[7] = 2.0
    term = make_term(effects, 300)
    assert term.effects.mean[7, 0] > 1.5
    assert np.abs(np.delete(term.effects.mean[:, 0], 7)).max() < 0.25


def test_intervals_have_a_more_open_mind_than_means():
    term = make_term(np.zeros(10), 50, none=0.9)
    assert (term.effects.wide[:, 0, 0] > term.effects.covariance[:, 0, 0]).all()
    assert (np.linalg.eigvalsh(term.effects.wide) > -1e-12).all()


def test_a_quick_look_tells_noise_from_differences():
    rng = np.random.default_rng(0)
    codes, ones = np.repeat(np.arange(20), 200), np.ones((4000, 1))
    columns = np.column_stack((ones, rng.standard_normal(4000)))
    shifts = np.repeat(0.5 * rng.standard_normal(20), 200)
    for effect, promising in ((0.0 * shifts, False), (shifts, True)):
        y = (rng.random(4000) < 1.0 / (1.0 + np.exp(-effect))).astype(float)
        assert Term(LINE, 0.9, Groups.of(codes, 20, columns, y, np.ones(4000))).promises(np.zeros(4000)) is promising


def test_values_and_clear():
    term = make_term([-1.0, 1.0], 300)
    assert term.values()[0] < 0.0 < term.values()[-1]
    term.clear()
    assert not term.values().any()


def test_very_many_segments_are_sampled_for_their_scales():
    rng = np.random.default_rng(1)
    shifts = 0.5 * rng.standard_normal(1500)
    term = make_term(shifts, 40)
    assert np.sqrt(term.effects.prior[0, 0]) == pytest.approx(0.5, rel=0.35)
    assert np.corrcoef(term.effects.mean[:, 0], shifts)[0, 1] > 0.75
    usable = term._worth_a_look(np.zeros(60_000))
    assert 0 < usable.sum() < np.isfinite(term.log_prior).sum()
