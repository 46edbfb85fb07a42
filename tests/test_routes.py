"""The table "I have …" of README and of the documentation's first page: its lines run, and no page is forgotten."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibrant
from calibrant.calibrators import registry
from calibrant.calibrators.platt import PlattScaling

ROOT = Path(__file__).parents[1]
ROUTE = re.compile(r"^\| (.+?) \| `(.+?)` \| \[.+?\]\((.+?)\) \|$", re.MULTILINE)


def routes_of(page, prefix):
    text = (ROOT / page).read_text(encoding="utf-8").partition("| I have … |")[2]
    return [(need, line, target.removeprefix(prefix)) for need, line, target in ROUTE.findall(text)]


ROUTES = routes_of("README.md", "docs/")


def test_readme_and_the_first_page_have_the_same_table():
    assert routes_of("docs/index.md", "") == ROUTES


def test_every_guide_is_reached():
    """But for the installation, which is no task."""
    guides = {f"howto/{path.name}" for path in (ROOT / "docs" / "howto").glob("*.md")}
    assert guides - {target.partition("#")[0] for _, _, target in ROUTES} == {"howto/install.md"}


class MyMethod(PlattScaling):
    """A method of the reader's own."""

    name = "my_method"


@pytest.fixture(scope="module")
def names():
    """What the lines call their arrays and models."""
    rng = np.random.default_rng(0)
    data, several = calibrant.simulate.from_truth("asymmetric", 600), calibrant.simulate.temperature_logits(400, rng=0)
    X = np.column_stack((data.scores, rng.random(600)))
    proba = np.exp(several.scores) / np.exp(several.scores).sum(axis=1, keepdims=True)
    calibrator = calibrant.Blend().fit(data.scores, data.labels)
    return {name: getattr(calibrant, name) for name in calibrant.__all__} | {
        "FrozenEstimator": FrozenEstimator,
        "MyMethod": MyMethod,
        "model": GaussianNB().fit(X, data.labels),
        "booster": LogisticRegression(),
        "X": X,
        "y": data.labels,
        "scores": data.scores,
        "labels": data.labels,
        "tally": data.tally,
        "confidence": data.scores,
        "right": data.labels,
        "matrix": proba,
        "logits": several.scores,
        "classes": several.labels,
        "judges": {"anna": data.scores, "ben": data.scores**2},
        "country": rng.choice(["de", "fr"], 600),
        "month": np.repeat(np.arange(12), 50),
        "unlabelled": rng.random(300),
        "calibrator": calibrator,
        "map_": calibrator.map_,
    }


@pytest.mark.parametrize("line", [line for _, line, _ in ROUTES], ids=[n for n, _, _ in ROUTES])
def test_line_runs(line, names, tmp_path, monkeypatch):
    if line.startswith("calibrant "):
        pytest.skip("the commands of the tutorial are run with the page")
    if "engines" in line:
        pytest.importorskip("duckdb", reason="files are read with the extra tables")
        rows = np.column_stack((names["scores"], names["labels"]))
        np.savetxt(tmp_path / "data.csv", rows, "%.6f,%d", header="score,label", comments="")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    eval(line, dict(names))
