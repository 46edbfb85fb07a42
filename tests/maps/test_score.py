import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import ABB, CalibrationMap, load
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.functions import Beta, Identity, Linear, Sigmoid, Step

STEP = CalibrationMap(Step([0.2, 0.5], [0.1, 0.3, 0.9]), "decision", True, "test")
LINEAR = CalibrationMap(Linear([0.1, 0.6, 0.9], [0.2, 0.2, 0.8]), "decision", True, "test")
SIGMOID = CalibrationMap(Sigmoid(2.0, -0.5, "logit"), "probability", True, "test")
HUMP = CalibrationMap(Linear([0.0, 0.5, 1.0], [0.1, 0.9, 0.3]), "decision", False, "test")
MONOTONE = {
    "step": STEP,
    "linear": LINEAR,
    "sigmoid": SIGMOID,
    "identity": CalibrationMap(Identity(), "probability", True),
}


def test_call_checks_scores():
    assert STEP([0.1, 0.3, 0.7]).tolist() == [0.1, 0.3, 0.9]
    assert STEP([]).tolist() == []
    assert STEP([[0.9, 0.1]]).tolist() == [0.1]
    with pytest.raises(InvalidInputError, match="NaN at index 1"):
        STEP([0.1, np.nan])
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]; got .*1.5.* at index 1"):
        SIGMOID([0.5, 1.5])


def test_inverse_by_hand():
    assert STEP.inverse(0.3) == np.nextafter(0.2, 1)
    assert STEP.inverse(0.1) == -np.inf
    assert STEP.inverse(0.95) == np.inf
    assert LINEAR.inverse(0.2) == -np.inf  # flat at the bottom: every score reaches it
    assert LINEAR.inverse(0.5) == pytest.approx(0.75)
    assert SIGMOID.inverse(0.0) == 0.0
    assert SIGMOID.inverse([[0.5]]).shape == (1, 1)
    with pytest.raises(InvalidInputError, match="`probabilities`"):
        STEP.inverse(1.2)


def test_inverse_of_a_flat_piece_is_its_left_end():
    flat = CalibrationMap(Linear([0.0, 0.4, 0.6, 1.0], [0.0, 0.5, 0.5, 1.0]), "decision", True)
    assert flat.inverse(0.5) == pytest.approx(0.4)


def test_inverse_of_a_hump_is_where_it_first_reaches():
    assert HUMP.inverse(0.5) == pytest.approx(0.25)
    assert HUMP.inverse(0.95) == np.inf
    turning = CalibrationMap(Beta(2.0, -1.0, 0.0), "probability", False)
    p = float(turning([0.1])[0])
    assert turning.inverse(p) == pytest.approx(0.1)


@pytest.mark.parametrize("name", MONOTONE)
@settings(deadline=None)
@given(p=st.floats(0, 1))
def test_inverse_is_the_lowest_score_that_reaches(name, p):
    map_ = MONOTONE[name]
    threshold = float(map_.inverse(p))
    if np.isfinite(threshold):
        assert map_([threshold])[0] >= p
        below = np.nextafter(threshold, -np.inf)
        if map_.space == "decision" or below >= 0:
            assert map_([below])[0] < p


def test_equality_and_hash():
    same = CalibrationMap(Step(np.array([0.2, 0.5]), [0.1, 0.3, 0.9]), "decision", True, "another name")
    assert same == STEP
    assert hash(same) == hash(STEP)
    assert STEP != LINEAR
    assert STEP != "step"


def test_then_composes():
    both = SIGMOID.then(LINEAR)
    scores = np.linspace(0, 1, 50)
    assert np.array_equal(both(scores), LINEAR(SIGMOID(scores)))
    assert both.space == "probability"
    assert both.monotone


@pytest.mark.parametrize("map_", [STEP, LINEAR, SIGMOID, HUMP, SIGMOID.then(LINEAR)])
def test_save_and_load(map_, tmp_path):
    path = tmp_path / "map.json"
    map_.save(path)
    again = load(path)
    assert again == map_
    assert again.method == map_.method
    assert np.array_equal(again(np.linspace(0, 1, 101)), map_(np.linspace(0, 1, 101)))
    assert [p.name for p in tmp_path.iterdir()] == ["map.json"]


def rewrite(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["map"]["function"]["values"].__setitem__(0, 0.2), "damaged"),
        (lambda d: d.update(format="another"), "not a model that calibrant saved"),
        (lambda d: d.update(version=99), "file version 99.*newer calibrant"),
        (lambda d: d.update(checksum="sha256:0"), "damaged"),
        (lambda d: d.pop("map"), "damaged"),
    ],
)
def test_changed_files_are_refused(change, message, tmp_path):
    path = tmp_path / "map.json"
    STEP.save(path)
    rewrite(path, change)
    with pytest.raises(ModelFileError, match=message):
        load(path)


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickle", b"[1, 2]", b'"text"', b"{}"])
def test_foreign_files_are_refused(content, tmp_path):
    path = tmp_path / "map.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"map\.json"):
        load(path)


def test_truncated_files_are_refused(tmp_path):
    path = tmp_path / "map.json"
    STEP.save(path)
    text = path.read_text()
    for length in range(0, len(text) - 1, 37):
        path.write_text(text[:length])
        with pytest.raises(ModelFileError):
            load(path)


def test_a_map_that_computes_otherwise_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "map.json"
    STEP.save(path)
    monkeypatch.setattr(Step, "__call__", lambda _, scores: scores * 0 + 0.5)
    with pytest.raises(ModelFileError, match="other probabilities"):
        load(path)


@pytest.mark.parametrize("entry", ["space", "monotone", "method"])
def test_damaged_descriptions_are_refused(entry):
    with pytest.raises(ModelFileError, match="damaged"):
        CalibrationMap.from_dict(STEP.to_dict() | {entry: 3})
    incomplete = STEP.to_dict()
    del incomplete[entry]
    with pytest.raises(ModelFileError, match=entry):
        CalibrationMap.from_dict(incomplete)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "map.json"
    STEP.save(path)
    before = path.read_text()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        LINEAR.save(path)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["map.json"]


def test_a_single_number_gives_a_number():
    map_ = CalibrationMap(Linear([0.0, 1.0], [0.2, 0.6]), "probability", True, "Mine")
    for number in (0.5, np.float32(0.5), np.array(0.5)):
        assert map_(number) == 0.4
        assert type(map_(number)) is float
        assert type(map_.inverse(number)) is float
        assert map_.inverse(number) == map_.inverse([0.5])[0]
    assert map_(1) == 0.6
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]"):
        map_(1.5)


def test_a_long_map_has_a_short_text():
    many = np.linspace(0.0, 1.0, 500)
    assert repr(CalibrationMap(Linear(many, many), "probability", True, "Mine")) == (
        "CalibrationMap(Mine, 0 … 1 → 0 … 1, 500 knots, never falls)"
    )
    assert repr(Linear(many, many)) == "Linear(x=[500 numbers], y=[500 numbers])"
    assert repr(Step([0.5], [0.1, 0.8])) == "Step(edges=[0.5], values=[0.1, 0.8])"
    assert "may fall" in repr(CalibrationMap(Sigmoid(-1.0, 0.0, "identity"), "decision", False, "Mine"))


def test_a_map_with_an_edge_at_one_can_be_loaded_again(tmp_path):
    map_ = CalibrationMap(Step(np.array([0.5, 1.0]), np.array([0.1, 0.6, 0.9])), space="probability")
    map_.save(tmp_path / "map.json")
    assert load(tmp_path / "map.json")([0.2, 1.0]).tolist() == [0.1, 0.6]


def test_a_loaded_map_with_a_posterior_answers_like_the_map(tmp_path):
    fitted = ABB().fit(np.linspace(0.01, 0.99, 40), np.arange(40) % 3 > 0)
    fitted.save(tmp_path / "map.json")
    loaded = load(tmp_path / "map.json")
    assert repr(loaded) == repr(fitted.map_)
    low, high = loaded.predict_interval([0.4])
    assert loaded.predict_interval(0.4) == (low[0], high[0])
