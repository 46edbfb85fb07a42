"""demo: the whole job on data that come along."""

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
