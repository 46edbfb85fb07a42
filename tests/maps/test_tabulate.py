import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit

from calibrant import Blend
from calibrant.maps.functions import Identity, Linear, LogitLinear, Step
from calibrant.maps.tabulate import mix, tabulate_logits, tabulate_mixture, tabulate_scores

sys.path.insert(0, str(Path(__file__).parents[2]))  # benchmarks are not installed

from benchmarks.papers.planes import circular

SCORES = np.concatenate((np.linspace(0, 1, 5001), 10.0 ** -np.arange(1, 13), 1 - 10.0 ** -np.arange(1, 13)))


def test_a_mixture_by_hand():
    mixture = mix([0.25, 0.75], (Identity(), Step([0.5], [0.0, 1.0])))
    np.testing.assert_allclose(mixture(np.array([0.2, 0.6])), [0.05, 0.9], atol=1e-15)


def test_the_identity_is_two_points():
    table = tabulate_mixture(np.array([1.0]), (Identity(),))
    assert len(table.x) == 2
    assert table(SCORES) == pytest.approx(SCORES, abs=1e-12)


def test_a_mixture_of_many_kinds_is_met_to_the_stated_distance():
    lines = Linear(np.array([0.1, 0.3, 0.32, 0.9]), np.array([0.0, 0.2, 0.7, 1.0]))
    curve = LogitLinear(np.array([-3.0, 0.0, 4.0]), np.array([-1.0, 0.5, 2.0]), 0.3, 0.8)
    weights, parts = np.array([0.2, 0.5, 0.3]), (Identity(), lines, curve)
    table = tabulate_mixture(weights, parts)
    assert np.abs(table(SCORES) - mix(weights, parts)(SCORES)).max() < 2e-5
    assert len(table.x) < 1000


def test_a_closer_table_has_more_pieces():
    mixture = mix([0.6, 0.4], (Identity(), lambda s: s**3))
    tables = [tabulate_logits(mixture, tolerance=t) for t in (1e-4, 1e-6)]
    assert len(tables[0].x) < len(tables[1].x)
    for table, tolerance in zip(tables, (1e-4, 1e-6), strict=True):
        assert np.abs(table(SCORES) - mixture(SCORES)).max() < 2.0 * tolerance


def test_any_function_of_decision_scores_is_met_to_the_stated_distance():
    nodes = np.linspace(-7.0, 9.0, 20)
    table = tabulate_scores(lambda x: expit(np.sin(x) + 0.3 * x), nodes)
    x = np.linspace(-7.0, 9.0, 20_001)
    assert np.abs(table(x) - expit(np.sin(x) + 0.3 * x)).max() < 1e-5
    assert len(table.x) < 2000
    np.testing.assert_array_equal(table(np.array([-99.0, 99.0])), table(np.array([-7.0, 9.0])))


def test_nodes_at_the_limits_of_doubles_are_kept_as_they_are():
    for nodes in (np.array([-1.7e308, 0.0, 1.7e308]), np.array([0.0, 5e-324, 1.0])):
        table = tabulate_scores(lambda x: np.where(x > 0.0, 0.9, 0.2), nodes)
        np.testing.assert_allclose(table(nodes), [0.2, 0.2 if nodes[1] == 0.0 else 0.9, 0.9])


def test_tiny_probabilities_keep_their_size():
    curve = LogitLinear(np.array([-30.0, 0.0, 30.0]), np.array([-15.0, 0.3, 18.0]), 0.5, 0.5)
    weights, parts, tiny = np.array([0.9, 0.1]), (curve, Identity()), 10.0 ** -np.linspace(3, 14, 200)
    expected = logit(mix(weights, parts)(tiny))
    assert logit(tabulate_mixture(weights, parts)(tiny)) == pytest.approx(expected, abs=2e-3)


def test_the_table_of_a_real_blend_is_its_mixture():
    data = circular(3000, rng=0)  # where the steps of ABB have a large weight
    blend = Blend().fit(data.scores, data.labels)
    assert blend.weights_["abb"] > 0.1
    mixed = sum(blend.weights_[name] * member.predict(SCORES) for name, member in blend.members_.items())
    weights = np.array(list(blend.weights_.values()))
    table = tabulate_mixture(weights, [member.map_.function for member in blend.members_.values()])
    assert np.abs(table(SCORES) - mixed).max() < 2e-5
    assert len(table.x) < 3000


def test_a_rising_mixture_stays_rising():
    parts = (Linear(np.array([0.2, 0.8]), np.array([0.1, 0.9])), Linear(SCORES[:5001], expit(SCORES[:5001])))
    assert (np.diff(tabulate_mixture(np.array([0.5, 0.5]), parts).y) >= 0).all()
