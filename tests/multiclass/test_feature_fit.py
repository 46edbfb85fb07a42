from functools import partial

import numpy as np
import pytest
from scipy.special import log_softmax

from calibrant.maps import matrix
from calibrant.multiclass import feature_fit
from calibrant.multiclass.feature_fit import FeatureFit


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    p = rng.dirichlet([0.3, 1.0, 2.0], size=200)
    return p, np.array([rng.choice(3, p=q) for q in p])


def test_classes_are_ordered_by_their_scores(rows):
    p, y = rows
    found = FeatureFit.from_rows(p[:, [2, 0, 1]], y, np.ones(200), "probability")
    assert found.order.tolist() == [1, 2, 0]
    assert found.labels(np.array([0, 1, 2])).tolist() == [2, 0, 1]


def test_tempered_scores_are_normalised_powers(rows, monkeypatch):
    p, y = rows
    found = FeatureFit.from_rows(p, y, np.ones(200), "probability")
    expected = log_softmax(found.inverse_temperature * np.log(p), axis=1)[:, found.order]
    monkeypatch.setattr(feature_fit, "chunks", partial(matrix.chunks, entries=50))
    np.testing.assert_allclose(found.tempered(p), expected, atol=1e-12)
    assert found.tempered(p, np.float32).dtype == np.float32
    assert FeatureFit.from_rows(p, y, np.ones(200), "probability", adapted=False).inverse_temperature == 1.0
