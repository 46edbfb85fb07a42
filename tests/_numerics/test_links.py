import numpy as np
import pytest
from scipy import special

from calibrant._numerics import links


def test_logit_and_expit_are_inverse():
    p = np.array([1e-12, 0.1, 0.5, 0.999])
    assert links.expit(links.logit(p)) == pytest.approx(p, rel=1e-12)


def test_both_ends_are_finite_and_symmetric():
    z = links.logit(np.array([0.0, 1.0]))
    assert np.isfinite(z).all()
    assert z[0] == pytest.approx(-z[1])
    assert links.expit(np.array([-1e9, 1e9])).tolist() == [0.0, 1.0]


def test_log_odds_features_add_up_to_the_logit():
    p = np.array([0.0, 0.2, 0.7, 1.0])
    log_p, minus_log_rest = links.log_odds_features(p)
    assert log_p + minus_log_rest == pytest.approx(links.logit(p))


def test_both_agree_with_scipy_and_rise():
    p = np.concatenate(
        (10.0 ** np.linspace(-300, -1, 2000), np.linspace(0.1, 0.9, 2001), 1 - np.logspace(-16, -1, 500))
    )
    p = np.sort(p)
    z = links.logit(p)
    assert z == pytest.approx(special.logit(links.clip(p)), rel=1e-14, abs=3e-16)
    assert (np.diff(z) >= 0).all()
    x = np.concatenate((np.linspace(-800, 800, 4001), [-np.inf, np.inf]))
    assert links.expit(x) == pytest.approx(special.expit(x), rel=1e-14, abs=0)


def test_one_number_and_a_whole_array_agree():
    p = np.random.default_rng(0).random(1001)
    assert [float(links.logit(np.array(x))) for x in p] == links.logit(p).tolist()
    assert [float(links.expit(np.array(x))) for x in p] == links.expit(p).tolist()


def test_platt_targets_by_hand():
    # Three positives become 4/5 each, two negatives 1/4 each.
    corrected = links.platt_targets(np.array([2.0, 1.0]), np.array([2.0, 3.0]))
    assert corrected == pytest.approx([2 * 4 / 5, 4 / 5 + 2 / 4])


def test_platt_targets_of_one_class_stay_inside():
    assert links.platt_targets(np.array([3.0]), np.array([3.0])) == pytest.approx([3 * 4 / 5])


def test_rows_tied_at_an_end_prove_no_more_than_the_rule_of_succession():
    scores = np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    low, high = links.provable_ends(scores, np.array([8.0, 10.0, 10.0, 10.0, 18.0]))
    assert low == pytest.approx(1 / 10)
    assert high == pytest.approx(1 - 1 / 20)
    assert links.provable_ends(scores[1:4], np.ones(3)) == (0.0, 1.0)


def test_few_tied_rows_hold_few_others():
    scores = np.concatenate(([0.0], np.linspace(0.01, 0.99, 99)))
    low, high = links.provable_ends(scores, np.ones(100))
    assert low == pytest.approx(0.01)
    assert high == 1.0
    assert links.provable_ends(np.array([0.0]), np.array([3.0])) == (0.2, 1.0)
    low, high = links.provable_ends(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    assert low < high
