"""demo, methods, simulate: what to learn from."""

import json

import pytest

from calibrant.calibrators import registry
from calibrant.cli.errors import Problem
from calibrant.cli.options import check_method, method_names


def test_demo(cli, refused, tmp_path, monkeypatch):
    pytest.importorskip("jinja2", reason="the report needs the extra report")
    from calibrant.cli import learn

    quick = learn.run_comparison
    monkeypatch.setattr(learn, "run_comparison", lambda tally: quick(tally, methods=["platt", "isotonic"]))
    page = tmp_path / "demo.html"
    result = cli("demo", "-o", page)
    assert result.code == 0, result.err
    assert "Recommended: platt" in result.out
    assert "<html" in page.read_text(encoding="utf-8")
    assert "is a folder" in refused("demo", "-o", tmp_path)


def test_methods(cli):
    rows = json.loads(cli("methods", "--json").out)
    assert [row["name"] for row in rows] == method_names()
    assert [row["name"] for row in rows if row["default"]] == ["blend"]
    assert {row["name"] for row in rows if row["several classes"]} == set(method_names(several=True))
    assert all(row["summary"] for row in rows)
    text = cli("methods").out
    assert "(default)" in text
    assert "bayes_iso" in text
    assert "`" not in text


def test_methods_of_other_packages(cli, data, tmp_path, monkeypatch):
    """Whatever the registry names is a method of the command line."""
    isotonic = registry.get("isotonic")
    mine = type("Mine", (isotonic,), {"__doc__": "A method from elsewhere.\n\nMore."})
    names = {"score": ("platt", "mine"), "matrix": ()}
    monkeypatch.setattr(registry, "names", lambda shape="score": names[shape])
    monkeypatch.setattr(registry, "get", lambda name, _shape="score": mine if name == "mine" else isotonic)
    monkeypatch.setattr(registry, "create", lambda _, **parameters: mine(**parameters))
    assert method_names(several=False) == ["platt", "mine"]
    assert "A method from elsewhere." in cli("methods").out
    fitted = cli("fit", data, "-m", "mine", "-o", tmp_path / "m.json")
    assert "Mine fitted to 400 rows" in fitted.err
    with pytest.raises(Problem, match="There is no method 'isotonic'"):
        check_method("isotonic")


def test_simulate(cli, refused, tmp_path):
    first = cli("simulate", "wave", "-n", "5", "--seed", "3")
    assert first.out.splitlines()[0] == "score,label,truth"
    assert len(first.out.splitlines()) == 6
    assert cli("simulate", "wave", "-n", "5", "--seed", "3").out == first.out
    assert cli("simulate", "xor", "-n", "50", "-o", tmp_path / "xor.parquet").code == 0
    assert "hump" in cli("simulate", "--list").out
    assert refused("simulate", "wav") == "There is no simulation 'wav'. Did you mean 'wave'?"
    assert "Did you mean 'D1'?" in refused("simulate", "d1")
    assert "There are D1, underconfident" in refused("simulate", "zzz")
    assert "--rows must be an integer of at least 1" in refused("simulate", "wave", "-n", "0")
