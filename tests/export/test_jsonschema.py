import json
from dataclasses import fields

import pytest

from calibrant import BayesIso, CalibrationMap, simulate
from calibrant.export import schema
from calibrant.maps import functions

MAPS = [
    CalibrationMap(functions.Step([0.5], [0.1, 0.9]), "probability", True, "steps"),
    CalibrationMap(
        functions.Chain(
            (
                functions.Chain((functions.Identity(), functions.Beta(1, 2, 3))),
                functions.Identity(),
            )
        )
    ),
]


def test_every_function_is_described_with_all_its_numbers():
    described = schema()["$defs"]
    assert set(described) == {*functions.MAP_FUNCTIONS, "function"}
    for name, function in functions.MAP_FUNCTIONS.items():
        assert described[name]["required"] == ["kind", *(field.name for field in fields(function))]


def test_the_schema_is_json():
    assert json.loads(json.dumps(schema())) == schema()


@pytest.mark.parametrize("map_", MAPS)
def test_saved_maps_follow_the_schema(map_, tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="a validator of JSON Schema is not installed")
    map_.save(tmp_path / "map.json")
    jsonschema.validate(json.loads((tmp_path / "map.json").read_text(encoding="utf-8")), schema())


@pytest.mark.parametrize("map_", MAPS)
def test_saved_maps_have_the_entries_that_the_schema_requires(map_, tmp_path):
    map_.save(tmp_path / "map.json")
    document = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert set(document) == set(schema()["required"])
    assert set(document["map"]) == set(schema()["properties"]["map"]["required"])


def test_a_saved_posterior_follows_the_schema(tmp_path):
    data = simulate.bayes_iso(60, rng=0)
    BayesIso().fit(data.scores, data.labels).save(tmp_path / "map.json")
    document = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    described = schema()["properties"]["posterior"]
    assert set(document["posterior"]) == set(described["required"])
    jsonschema = pytest.importorskip("jsonschema", reason="a validator of JSON Schema is not installed")
    jsonschema.validate(document, schema())
