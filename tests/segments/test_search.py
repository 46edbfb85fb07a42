from dataclasses import replace

import numpy as np
import pytest

from calibrant.maps.keys import SegmentKeys
from calibrant.maps.segments import CURVE, LINE, Basis
from calibrant.segments.search import Cells, fit_terms


def simulate_cells(effect, n=6000, seed=0):
    """Cells of two keys with 4 and 3 segments; `effect` gives the true deviation on the logit scale."""
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.uniform(0.02, 0.98, n))
    pooled = np.log(scores / (1.0 - scores))
    codes = np.column_stack((rng.integers(0, 4, n), rng.integers(0, 3, n)))
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-pooled - effect(scores, codes)))).astype(float)
    keys = SegmentKeys(("a", "b"), ("numbers", "numbers"), ((0, 1, 2, 3), (0, 1, 2)))
    return Cells(keys, scores, y, np.ones(n), codes, pooled), Basis.learn(scores, pooled, np.ones(n))


def test_a_useless_key_goes_and_a_useful_one_stays():
    terms = fit_terms(*simulate_cells(lambda _, codes: np.array([-0.5, -0.2, 0.2, 0.5])[codes[:, 0]]))
    assert terms[(0,), LINE][0].difference > 0.99
    assert terms[(1,), LINE][0].difference < 0.3
    assert ((0, 1), LINE) not in terms
    np.testing.assert_allclose(terms[(0,), LINE][0].effects.mean[:, 0], [-0.5, -0.2, 0.2, 0.5], atol=0.2)


def test_a_pair_of_keys_has_effects_of_its_own():
    terms = fit_terms(*simulate_cells(lambda _, codes: np.where((codes[:, 0] + codes[:, 1]) % 2 == 0, 0.5, -0.5)))
    term, levels = terms[(0, 1), LINE]
    assert term.difference > 0.99
    assert levels.shape == (12, 2)
    even = levels.sum(axis=1) % 2 == 0
    assert term.effects.mean[even, 0].min() > 0.0 > term.effects.mean[~even, 0].max()


def test_a_large_segment_shows_its_shape():
    def wave(scores, codes):
        return np.where(codes[:, 1] == 1, 0.9 * np.cos(3.0 * np.pi * scores), 0.0)

    terms = fit_terms(*simulate_cells(wave))
    assert terms[(1,), CURVE][0].difference > 0.99


def test_the_order_of_keys_and_rows_does_not_matter():
    cells, basis = simulate_cells(lambda _, codes: 0.4 * (codes[:, 0] % 2) - 0.3 * (codes[:, 1] == 2), n=2000)
    order = np.random.default_rng(1).permutation(2000)
    turned = replace(
        cells,
        scores=cells.scores[order],
        pooled=cells.pooled[order],
        codes=cells.codes[order][:, ::-1],
        positives=cells.positives[order],
    )
    one, other = fit_terms(cells, basis), fit_terms(turned, basis)
    for k in range(2):
        np.testing.assert_allclose(one[(k,), LINE][0].effects.mean, other[(1 - k,), LINE][0].effects.mean, atol=1e-8)


def test_a_key_with_one_segment_has_no_term():
    cells, basis = simulate_cells(lambda scores, _: 0.0 * scores, n=500)
    single = replace(cells, codes=cells.codes * [1, 0])
    assert ((1,), LINE) not in fit_terms(single, basis)


@pytest.mark.parametrize("n", [300, 3000])
def test_where_nothing_differs_nothing_changes(n):
    cells, basis = simulate_cells(lambda scores, _: 0.0 * scores, n=n, seed=4)
    moved = sum(term.values() for term, _ in fit_terms(cells, basis).values())
    assert np.sqrt(np.mean(moved**2)) < 0.06
