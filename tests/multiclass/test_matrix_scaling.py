import numpy as np
from scipy.special import softmax

from calibrant.multiclass.scaling import MatrixScaling, VectorScaling


def test_recovers_a_matrix_that_vector_scaling_cannot():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=8000)
    matrix = np.array([[1.0, 0.6, 0.0], [0.0, 1.0, -0.6], [0.4, 0.0, 0.8]])
    truth = softmax(np.log(p) @ matrix.T + [0.3, 0.0, -0.3], axis=1)
    y = (truth.cumsum(axis=1) < rng.random((8000, 1))).sum(axis=1)
    full, diagonal = (np.abs(m.fit(p, y).predict_proba(p) - truth).mean() for m in (MatrixScaling(), VectorScaling()))
    assert full < 0.02
    assert diagonal > 2.0 * full
