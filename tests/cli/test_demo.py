"""demo: from training to the page."""

import pytest


def test_demo(cli, refused, tmp_path, monkeypatch):
    pytest.importorskip("plotly", reason="the report needs the extra report")
    pytest.importorskip("jinja2", reason="the report needs the extra report")
    from calibrant.cli import demo

    quick = demo.run_comparison
    monkeypatch.setattr(
        demo, "run_comparison", lambda tally: quick(tally, lambda _: None, methods=["platt", "isotonic"])
    )
    page = tmp_path / "demo.html"
    result = cli("demo", "-o", page)
    assert result.code == 0, result.err
    assert "Recommended: platt" in result.out
    assert "<html" in page.read_text(encoding="utf-8")
    assert "is a folder" in refused("demo", "-o", tmp_path)
