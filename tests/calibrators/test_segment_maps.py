import json

import numpy as np
import pytest

from calibrant._kernels import links
from calibrant.calibrators.segment_basis import LINE, Basis
from calibrant.calibrators.segment_maps import load_segments, save_segments, segment_map
from calibrant.calibrators.segment_model import SegmentModel, TermEffects
from calibrant.calibrators.segment_terms import Effects
from calibrant.errors import ModelFileError
from calibrant.map_functions import Identity, Step
from calibrant.maps import CalibrationMap
from calibrant.segment_keys import SegmentKeys


def make_model(function=None):
    scores = np.linspace(0.1, 0.9, 9)
    basis = Basis.learn(scores, links.logit(scores), np.ones(9))
    zeros = np.zeros((2, 2, 2))
    effects = Effects(np.array([[0.5, 0.2], [-0.5, 0.0]]), zeros, zeros, np.diag([0.3, 0.1]))
    pooled = CalibrationMap(function or Identity(), "probability", True)
    term = TermEffects((0,), LINE, np.array([[0], [1]]), effects, 1.0)
    return SegmentModel(SegmentKeys(("team",), ("strings",), (("a", "b"),)), pooled, basis, np.empty((0, 9)), (term,))


def test_the_map_of_a_segment_follows_the_model():
    model, grid = make_model(), np.linspace(0.0, 1.0, 2001)
    for code in (0, 1, -1):
        map_ = segment_map(model, np.array([code]), "SegmentedCalibrator")
        logits = model.logits(grid, np.full((2001, 1), code))
        np.testing.assert_allclose(map_(grid), links.expit(logits), atol=1e-4)
        assert map_.space == "probability"
        assert map_.monotone


def test_steps_of_the_pooled_map_stay_steps():
    model = make_model(Step([0.5], [0.2, 0.7]))
    map_ = segment_map(model, np.array([-1]), "SegmentedCalibrator")
    np.testing.assert_allclose(map_([0.1, 0.49, 0.51, 0.9]), [0.2, 0.2, 0.7, 0.7], atol=1e-4)


def test_files_are_checked(tmp_path):
    path = tmp_path / "model.json"
    save_segments(path, make_model(), {"missing": "error"})
    model, document = load_segments(path)
    assert document["missing"] == "error"
    np.testing.assert_array_equal(model.terms[0].effects.mean, make_model().terms[0].effects.mean)

    whole = path.read_text()
    for text, message in (
        (whole[:100], "not a calibrant model"),
        (json.dumps({"format": "other"}), "not a map that calibrant saved"),
        (json.dumps(json.loads(whole) | {"version": 99}), "file version 99"),
        (whole.replace("0.5", "0.6", 1), "checksum"),
    ):
        path.write_text(text)
        with pytest.raises(ModelFileError, match=message):
            load_segments(path)
