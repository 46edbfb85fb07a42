import numpy as np
from scipy.special import log_softmax, softmax

from calibrant.maps.matrix import MatrixMap
from calibrant.multiclass.feature_fit import write_formula
from calibrant.multiclass.features import Features
from calibrant.multiclass.rows import Rows

BLOCKS = ("slope", "curve", "gate", "bias", "vector", "class_curve", "matrix", "confusion", "joint")


def test_the_formula_computes_what_the_fit_computed():
    rng = np.random.default_rng(3)
    ell = log_softmax(2.0 * rng.normal(size=(80, 4)), axis=1)
    features = Features.from_rows(ell, np.ones(80))
    for blocks in (BLOCKS, ("bias",), ("slope", "matrix"), ("curve", "vector"), ("gate", "confusion"), ("joint",)):
        rows = Rows(features, ell, np.zeros(80, dtype=int), np.ones(80), blocks)
        theta = rng.normal(size=len(rows.layout))
        member = write_formula(theta, rows.layout, features)
        map_ = MatrixMap(
            (0, 1, 2, 3),
            "decision",
            1.0,
            (member,),
            0.0,
            features.low,
            features.high,
            features.curve.knots,
            features.class_curve.knots,
            features.gate.knots,
            features.joint.landmarks * features.spread + features.center,
            features.joint.reach * features.spread,
        )
        expected = np.exp(rows.log_probabilities(theta))
        np.testing.assert_allclose(softmax(member.logits(map_, ell), axis=1), expected, atol=1e-12)
        np.testing.assert_allclose(map_(ell), expected, atol=1e-12)
