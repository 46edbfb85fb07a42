import json
from contextlib import suppress

import numpy as np
import pytest

import calibrant
from calibrant import BayesIso, IsotonicCalibration, simulate
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps import functions
from calibrant.maps.files import LARGEST_FILE, checksum, read_model


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "map.json"
    IsotonicCalibration().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]).save(path)
    return path


def forge(path, change):
    """Change a saved map and make its checksum again, which needs no secret."""
    document = json.loads(path.read_text())
    change(document)
    document["checksum"] = checksum({key: value for key, value in document.items() if key != "checksum"})
    path.write_text(json.dumps(document))


def test_a_sound_file_is_read(saved):
    assert read_model(saved)["version"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{}",
        "[1]",
        "null",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1e999}',
        f'{{"a": {"9" * 5000}}}',
        "\x00",
    ],
    ids=["deep", "empty", "list", "null", "nan", "infinity", "overflow", "long", "zero byte"],
)
def test_what_is_no_model_is_refused_in_a_sentence(tmp_path, text):
    path = tmp_path / "strange.json"
    path.write_text(text)
    with pytest.raises(ModelFileError, match=r"strange.json is"):
        calibrant.load(path)


def test_a_file_too_large_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(ModelFileError, match="too large for a model: 256 MB"):
        calibrant.load(path)


@pytest.mark.parametrize("version", [True, 0, -1, 2, "1", None, 1.0])
def test_a_version_must_be_one_that_is_known(saved, version):
    forge(saved, lambda document: document.update(version=version))
    with pytest.raises(ModelFileError, match="has file version"):
        calibrant.load(saved)


@pytest.mark.parametrize("entry", ["map", "test_vector"])
def test_a_missing_entry_is_named(saved, entry):
    forge(saved, lambda document: document.pop(entry))
    with pytest.raises(ModelFileError, match=entry):
        calibrant.load(saved)


@pytest.mark.parametrize("value", [None, 3, "text", [], {}, [[]], True])
@pytest.mark.parametrize(
    "place", ["map", "test_vector", "map.function", "map.function.x", "test_vector.scores", "map.space"]
)
def test_wrong_types_are_refused(saved, place, value):
    def change(document):
        *way, last = place.split(".")
        for name in way:
            document = document[name]
        document[last] = value

    forge(saved, change)
    with pytest.raises(ModelFileError):
        calibrant.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda function: function.update(y=[-3.0, *function["y"][1:]]),
        lambda function: function.update(y=[*function["y"][:-1], 7.0]),
        lambda function: function.update(y=function["y"][::-1]),
        lambda function: function.update(x=function["x"][::-1]),
        lambda function: function.update(x=function["x"][:-1]),
    ],
    ids=["below 0", "above 1", "falling, but said to rise", "unsorted", "of another length"],
)
def test_forged_numbers_are_refused(saved, change):
    def both(document):
        change(document["map"]["function"])
        function = functions.MapFunction.from_dict(document["map"]["function"])
        scores = np.array(document["test_vector"]["scores"])
        with suppress(ValueError):  # some of them numpy cannot even compute
            document["test_vector"]["probabilities"] = function(scores).tolist()

    forge(saved, both)
    with pytest.raises(ModelFileError):
        calibrant.load(saved)


@pytest.fixture(scope="module")
def posterior_text(tmp_path_factory):
    path = tmp_path_factory.mktemp("posterior") / "posterior.json"
    data = simulate.bayes_iso(60, rng=0)
    BayesIso().fit(data.scores, data.labels).save(path)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def saved_posterior(posterior_text, tmp_path):
    path = tmp_path / "posterior.json"
    path.write_text(posterior_text, encoding="utf-8")
    return path


def test_a_bayesian_model_keeps_its_posterior_unless_told_otherwise(tmp_path):
    data = simulate.bayes_iso(200, rng=0)
    calibrator = BayesIso().fit(data.scores, data.labels)
    for posterior in (True, False):
        path = tmp_path / f"{posterior}.json"
        calibrator.save(path, posterior=posterior)
        loaded = calibrant.load(path)
        assert loaded == calibrator.map_
        assert loaded.has_posterior == posterior
    with pytest.raises(InvalidInputError, match="need the posterior of a Bayesian method"):
        loaded.predict_interval([0.5])
    loaded = calibrant.load(tmp_path / "True.json")
    assert loaded.estimate(data.scores).value == pytest.approx(calibrator.estimate(data.scores).value, abs=1e-3)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "True.json").read_text()


@pytest.mark.parametrize("value", [None, 3, "text", [], {}, [[]], True, {"scores": 1}])
@pytest.mark.parametrize("entry", [None, "scores", "draws", "n_draws", "levels", "low", "labelled", "range"])
def test_wrong_types_in_a_posterior_are_refused(saved_posterior, entry, value):
    def change(document):
        if entry is None:
            document["posterior"] = value
        else:
            document["posterior"][entry] = value

    forge(saved_posterior, change)
    with pytest.raises(ModelFileError, match=r"posterior|A tally|damaged"):
        calibrant.load(saved_posterior)
