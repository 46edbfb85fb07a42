"""What correlations alone say of the scores, without a label."""

import numpy as np
import pytest

from calibrant.panel.prior import holders


def correlations(loadings, n=None):
    """Of scores that share one factor, exactly or in n rows; a loading of 1 is a score that holds all of it."""
    loadings = np.array(loadings)
    if n is None:
        r = np.outer(loadings, loadings)
        np.fill_diagonal(r, 1.0)
        return r
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((n, len(loadings))) * np.sqrt(1.0 - loadings**2)
    return np.corrcoef(rng.standard_normal((n, 1)) * loadings + noise, rowvar=False)


def test_the_criterion_by_hand():
    """Nothing is shared, so no model has a deviance, and 3, 4 or 0 numbers cost √n each."""
    found = holders(np.eye(4), 100.0)
    np.testing.assert_allclose(found, 100.0**-1.5 / (4.0 * 100.0**-1.5 + 100.0**-2.0 + 1.0), rtol=1e-9)


def test_a_score_that_holds_all_that_others_share_is_found():
    found = holders(correlations([0.5, 1.0, 0.6, 0.4, 0.7], 200), 200.0)
    assert found[1] > 0.7
    assert np.delete(found, 1).max() < 1e-6


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("loadings", [[0.9] * 5, [0.5, 0.9, 0.6, 0.4, 0.7, 0.8], [0.0] * 6])
def test_nobody_holds_all_where_all_have_noise_or_nothing_is_shared(loadings, sign):
    turned = np.where(np.arange(len(loadings)) % 2 == 0, sign, 1.0) * loadings  # a score may count down
    assert holders(correlations(turned), 1000.0).sum() < 1e-3
    assert holders(correlations(turned, 300), 300.0).sum() < 0.01


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_a_copy_does_not_make_its_score_a_holder(noise):
    rng = np.random.default_rng(1)
    own = np.sqrt(0.5) * (rng.standard_normal((100, 1)) + rng.standard_normal((100, 4)))
    near = own[:, :1] + noise * rng.standard_normal((100, 1))
    found = holders(np.corrcoef(np.hstack((own, near)), rowvar=False), 100.0)
    assert found[[0, 4]].max() == 0.0
