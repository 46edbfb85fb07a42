"""The page on the file format names every entry of a saved map, and no other."""

import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from calibrant import Blend, SegmentedCalibrator
from calibrant.maps.functions import MAP_FUNCTIONS
from calibrant.multiclass.scaling import VectorScaling

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "file-format.md"
HEADINGS = {"score": "One score", "matrix": "Several classes", "segments": "Segments"}


def section(heading):
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[1]


def entries(heading):
    """The names in the first column of the first table below a heading."""
    table = re.search(r"(?:^\|.*\n)+", section(heading), re.MULTILINE)[0]
    return {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    rng = np.random.default_rng(0)
    scores, matrix = rng.uniform(0.05, 0.95, 120), rng.dirichlet(np.ones(3), 120)
    y = rng.random(120) < scores
    fitted = {
        "score": Blend().fit(scores, y),
        "matrix": VectorScaling().fit(matrix, np.arange(120) % 3),
        "segments": SegmentedCalibrator("platt").fit(scores, y, segment=["a", "b"] * 60),
    }
    folder = tmp_path_factory.mktemp("maps")
    for kind, calibrator in fitted.items():
        calibrator.save(folder / f"{kind}.json")
    return {kind: json.loads((folder / f"{kind}.json").read_text(encoding="utf-8")) for kind in fitted}


@pytest.mark.parametrize("kind", HEADINGS)
def test_every_entry_is_on_the_page_and_no_other(documents, kind):
    document = documents[kind]
    assert document["kind"] == kind
    assert set(document) | {"posterior"} == entries("The document")
    assert set(document["map"]) == entries(HEADINGS[kind])
    parts = {*document["map"].get("members", [{}])[0], *document["test_vector"]} - {"scores", "probabilities"}
    assert [name for name in parts if f"`{name}`" not in section(HEADINGS[kind])] == []


def test_every_function_is_on_the_page_with_its_numbers():
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|[^|]*\|$", section("One score"), re.MULTILINE)
    described = {name: re.findall(r"`(\w+)`", numbers) for name, numbers in rows}
    assert described == {name: [field.name for field in fields(kind)] for name, kind in MAP_FUNCTIONS.items()}
