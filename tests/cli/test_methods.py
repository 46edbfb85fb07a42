"""Methods by their names: listed, and refused where they do not suit."""

import json

from calibrant.calibrators import registry
from calibrant.cli.methods import check_methods, method_names


def test_methods(cli):
    rows = json.loads(cli("methods", "--json").out)
    assert [row["name"] for row in rows] == method_names()
    assert [row["name"] for row in rows if row["default"]] == ["blend"]
    assert {row["name"] for row in rows if row["several classes"]} == set(method_names("matrix"))
    assert all(row["summary"] for row in rows)
    text = cli("methods").out
    assert "(default)" in text
    assert "bayes_iso" in text
    assert "`" not in text


def test_methods_of_other_packages(cli, data, tmp_path, monkeypatch):
    """Whatever the registry names is a method of the command line."""
    isotonic = registry.get("isotonic")
    mine = type("Mine", (isotonic,), {"__doc__": "A method from elsewhere.\n\nMore."})
    names = {"score": ("platt", "mine"), "matrix": (), "panel": ()}
    monkeypatch.setattr(registry, "names", lambda shape="score": names[shape])
    monkeypatch.setattr(registry, "get", lambda name, _shape="score": mine if name == "mine" else isotonic)
    assert method_names("score") == ["platt", "mine"]
    assert "A method from elsewhere" in cli("methods").out
    fitted = cli("fit", data, "-m", "mine", "-o", tmp_path / "m.json")
    assert "Mine fitted to 400 rows" in fitted.err


def test_names_that_are_not_there_or_for_another_shape(refused, data):
    check_methods(["dirichlet", None])
    assert refused("fit", data, "-m", "sigmoid").endswith("got 'sigmoid'. It is called 'platt' here.")
    assert "or a calibrator" not in refused("fit", data, "-m", "isotonc")
    assert refused("fit", data, "-m", "isotonc").endswith("got 'isotonc'. Did you mean 'isotonic'?")
    message = refused("fit", data, "-m", "dirichlet")
    assert message.startswith("--method must be one of ")
    assert message.endswith("'dirichlet' takes a column for each class, and these are one score for each row.")
