"""Every export of every shape: it is written, or refused in one sentence that says what serves instead."""

import numpy as np
import pytest

from calibrant import PanelCalibrator, PlattScaling, SegmentedCalibrator, export
from calibrant.errors import InvalidInputError, MissingExtraError
from calibrant.export.parity import OFFERED, SHAPES
from calibrant.multiclass.scaling import VectorScaling


@pytest.fixture(scope="module")
def maps():
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.ones(3), 60)
    scores = rng.uniform(0.1, 0.9, 60)
    y = rng.random(60) < scores
    return {
        "score": PlattScaling().fit(scores, y).map_,
        "matrix": VectorScaling().fit(matrix, np.arange(60) % 3).map_,
        "panel": PanelCalibrator().fit({"a": scores, "b": scores[::-1]}, y).map_,
        "segments": SegmentedCalibrator("platt").fit(scores, y, segment=["a", "b"] * 30).map_,
    }


def writer(name):
    try:
        return getattr(export, name)
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", OFFERED)
def test_each_shape_is_written_or_refused(maps, name, shape):
    write = writer(name)
    if shape in OFFERED[name]:
        try:
            assert write(maps[shape])
        except MissingExtraError as error:
            pytest.skip(str(error))
        return
    others = [other for other, shapes in OFFERED.items() if shape in shapes]
    instead = f"Export it to .*`{others[0]}`" if others else r"Save it: `calibrant\.load`"
    sentence = rf"is written for maps of .*; this is a map of {SHAPES[shape]}\. {instead}"
    with pytest.raises(InvalidInputError, match=sentence):
        write(maps[shape])


@pytest.mark.parametrize("name", OFFERED)
def test_a_calibrator_in_place_of_its_map_is_named(name):
    write = writer(name)
    fitted = PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    with pytest.raises(InvalidInputError, match=r"map of a fitted calibrator; got PlattScaling\. Pass its `map_`\."):
        write(fitted)
    with pytest.raises(InvalidInputError, match=r"got str\. `calibrant\.load` reads one from a file\."):
        write("map.json")
