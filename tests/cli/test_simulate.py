"""demo, simulate: data to learn from."""

import pytest


def test_demo(cli, refused, tmp_path, monkeypatch):
    pytest.importorskip("jinja2", reason="the report needs the extra report")
    monkeypatch.setattr("calibrant.cli.compare.compared_methods", lambda *_: ["platt", "isotonic"])
    page = tmp_path / "demo.html"
    result = cli("demo", "-o", page)
    assert result.code == 0, result.err
    assert "Recommended: platt" in result.out
    assert "<html" in page.read_text(encoding="utf-8")
    assert "is a folder" in refused("demo", "-o", tmp_path)


def test_simulate(cli, refused, tmp_path):
    first = cli("simulate", "wave", "-n", "5", "--seed", "3")
    assert first.out.splitlines()[0] == "score,label,truth"
    assert len(first.out.splitlines()) == 6
    assert cli("simulate", "wave", "-n", "5", "--seed", "3").out == first.out
    written = cli("simulate", "xor", "-n", "50", "-o", tmp_path / "xor.parquet")
    assert "50 rows of the simulation xor written to" in written.err
    assert refused("simulate", "wav") == "There is no simulation 'wav'. Did you mean 'wave'?"
    assert "Did you mean 'D1'?" in refused("simulate", "d1")
    assert "There are D1, underconfident" in refused("simulate", "zzz")
    assert "--rows must be an integer of at least 1" in refused("simulate", "wave", "-n", "0")
