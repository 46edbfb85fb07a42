import json
import subprocess
import sys

import numpy as np
import pytest

import calibrant
from calibrant import SegmentedCalibrator
from calibrant.errors import ModelFileError
from calibrant.maps.files import checksum
from calibrant.maps.loading import load
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap
from calibrant.maps.segments import SegmentedMap


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    scores, country = rng.uniform(0.02, 0.98, 1500), rng.choice(["de", "fr", "us"], 1500)
    device = np.where(rng.random(1500) < 0.1, None, rng.choice(["app", "web"], 1500))
    y = rng.random(1500) < np.where(country == "fr", scores**0.5, scores)
    return scores, y, {"country": country, "device": device}


@pytest.fixture
def saved(tmp_path, rows):
    scores, y, segment = rows
    path = tmp_path / "segments.json"
    SegmentedCalibrator("spline", missing="segment").fit(scores, y, segment=segment).save(path)
    return path


def forge(path, change):
    """Change a saved map and make its checksum again, which needs no secret."""
    document = json.loads(path.read_text())
    change(document)
    document["checksum"] = checksum({key: value for key, value in document.items() if key != "checksum"})
    path.write_text(json.dumps(document))


def test_each_kind_of_file_gives_its_map(tmp_path, saved):
    calibrant.PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).save(tmp_path / "binary.json")
    matrix = calibrant.MatrixScaling().fit(
        np.eye(3).repeat(4, axis=0) * 0.4 + 0.2, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0]
    )
    matrix.save(tmp_path / "matrix.json")
    kinds = [type(load(path)) for path in (tmp_path / "binary.json", tmp_path / "matrix.json", saved)]
    assert kinds == [CalibrationMap, MatrixMap, SegmentedMap]


def test_a_map_of_segments_comes_back_whole(saved, rows):
    scores, y, segment = rows
    fitted, loaded = SegmentedCalibrator("spline", missing="segment").fit(scores, y, segment=segment), load(saved)
    np.testing.assert_array_equal(loaded(scores, segment), fitted.predict(scores, segment=segment))
    np.testing.assert_array_equal(
        loaded.predict_interval(scores, 0.8, segment=segment), fitted.predict_interval(scores, 0.8, segment=segment)
    )
    np.testing.assert_array_equal(
        loaded.sample_maps(scores, 5, segment=segment), fitted.sample_maps(scores, 5, segment=segment)
    )
    assert loaded.map_for(("fr", None)) == fitted.map_for(("fr", None))
    assert loaded.missing == "segment"


def test_loading_and_predicting_segments_needs_numpy_alone(saved):
    use = (
        f"import sys, calibrant; map_ = calibrant.load({str(saved)!r}); "
        "segment = {'country': ['fr'], 'device': ['web']}; map_([0.5], segment); "
        "map_.predict_interval([0.5], segment=segment); map_.map_for(('fr', 'web')); "
        "print([name for name in ('scipy', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", use], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def places(value, way=()):
    """All places in a document that hold a dictionary, and the first of each list."""
    yield way
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*way, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*way, 0))


def replaced(document, way, value):
    *before, last = way
    for name in before:
        document = document[name]
    document[last] = value


def value_at(document, way):
    for name in way:
        document = document[name]
    return document


def test_wrong_types_anywhere_are_refused(saved):
    whole = saved.read_text()
    document = json.loads(whole)
    ways = [way for part in ("map", "test_vector") for way in places(document[part], (part,))]
    for way in ways:
        for value in (None, "text", [], {}, [[]]):
            sound = value_at(document, way)
            if type(sound) in {type(value), str} or sound == []:  # a value of the right type may be sound
                continue
            saved.write_text(whole)
            forge(saved, lambda changed, way=way, value=value: replaced(changed, way, value))
            with pytest.raises(ModelFileError):
                load(saved)


def test_no_code_and_no_other_class_comes_from_a_file(saved):
    forge(saved, lambda document: document["map"].update(pooled={"function": {"kind": "os.system"}}))
    with pytest.raises(ModelFileError):
        load(saved)
