import numpy as np
import pytest
from scipy.special import softmax

import calibrant
from calibrant import TemperatureScaling
from calibrant.multiclass.scaling import MatrixTemperature


def draw(n_classes):
    rng = np.random.default_rng(n_classes)
    logits = 4.0 * rng.standard_normal((300, n_classes))
    return logits, np.argmax(logits / 2.5 + rng.gumbel(size=logits.shape), axis=1)


@pytest.mark.parametrize("space", ["probability", "decision"])
def test_it_is_temperature_scaling(space):
    logits, y = draw(4)
    scores = logits if space == "decision" else softmax(logits, axis=1)
    ours = MatrixTemperature(space=space).fit(scores, y)
    other = TemperatureScaling(space="decision" if space == "decision" else space).fit(scores, y)
    assert ours.temperature_ == pytest.approx(other.temperature_, rel=1e-9)
    np.testing.assert_allclose(ours.predict_proba(scores), other.predict_proba(scores), rtol=1e-9)


def test_two_columns_of_logits():
    logits, y = draw(2)
    ours = MatrixTemperature(space="decision").fit(logits, y)
    other = TemperatureScaling(space="decision").fit(logits[:, 1] - logits[:, 0], y)
    assert ours.temperature_ == pytest.approx(other.temperature_, rel=1e-6)


def test_the_map_is_saved(tmp_path):
    logits, y = draw(3)
    fitted = MatrixTemperature(space="decision").fit(logits, np.array(["a", "b", "c"])[y])
    fitted.save(tmp_path / "m.json")
    map_ = calibrant.load(tmp_path / "m.json")
    assert (map_.classes, map_.method) == (("a", "b", "c"), "MatrixTemperature")
    np.testing.assert_array_equal(map_(logits), fitted.predict_proba(logits))
