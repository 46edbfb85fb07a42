"""Every version reads what earlier versions saved; see docs/stability.md."""

from pathlib import Path

import numpy as np
import pytest

import calibrant

FOLDER = Path(__file__).parent / "data" / "saved"
MODELS = sorted(path for path in FOLDER.rglob("*.json") if path.name != "tally.json")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_saved_model_still_gives_its_probabilities(path):
    model = calibrant.load(path)  # which replays the test vector in the file
    scores = np.full((2, len(model.classes)), 1.0 / len(model.classes)) if hasattr(model, "classes") else [0.2, 0.7]
    segment = {"segment": ["a", "b"]} if model.kind == "segments" else {}
    assert np.isfinite(model(scores, **segment)).all()


@pytest.mark.parametrize("version", [path.name for path in FOLDER.iterdir()])
def test_every_version_has_saved_every_kind(version):
    assert {"isotonic", "histogram", "beta", "platt", "blend_decision", "blend_matrix", "segmented", "tally"} <= {
        path.stem for path in (FOLDER / version).iterdir()
    }
    assert len(calibrant.engines.load(FOLDER / version / "tally.json")) > 1
