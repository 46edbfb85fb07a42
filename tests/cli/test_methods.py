"""methods: everything that the registry knows."""

import json

import pytest

from calibrant.calibrators import registry
from calibrant.cli.errors import Problem
from calibrant.cli.methods import check_method, method_names


def test_methods(cli):
    rows = json.loads(cli("methods", "--json").out)
    assert [row["name"] for row in rows] == method_names()
    assert sum(row["default"] for row in rows) == 1
    assert all(row["summary"] for row in rows)
    text = cli("methods").out
    assert "(default)" in text
    assert "bayes_iso" in text
    assert "`" not in text


def test_methods_of_other_packages(cli, data, tmp_path, monkeypatch):
    """Whatever the registry names is a method of the command line."""
    isotonic = registry.get("isotonic")
    mine = type("Mine", (isotonic,), {"__doc__": "A method from elsewhere.\n\nMore."})
    monkeypatch.setattr(registry, "names", lambda: ("platt", "mine"), raising=False)
    monkeypatch.setattr(registry, "get", lambda name: mine if name == "mine" else isotonic)
    monkeypatch.setattr(registry, "create", lambda _, **parameters: mine(**parameters))
    assert method_names() == ["platt", "mine"]
    assert "A method from elsewhere." in cli("methods").out
    fitted = cli("fit", data, "-m", "mine", "-o", tmp_path / "m.json")
    assert "Mine fitted to 400 rows" in fitted.err
    with pytest.raises(Problem, match="There is no method 'isotonic'"):
        check_method("isotonic")
