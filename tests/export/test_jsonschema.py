import json
from dataclasses import fields

import pytest

from calibrant import CalibrationMap, forms
from calibrant.export import schema

MAPS = [
    CalibrationMap(forms.Step([0.5], [0.1, 0.9]), "probability", True, "steps"),
    CalibrationMap(forms.Chain((forms.Mixture([0.5, 0.5], (forms.Identity(), forms.Beta(1, 2, 3))), forms.Identity()))),
]


def test_every_form_is_described_with_all_its_numbers():
    described = schema()["$defs"]
    assert set(described) == {*forms.FORMS, "function"}
    for name, form in forms.FORMS.items():
        assert described[name]["required"] == ["form", *(field.name for field in fields(form))]


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
