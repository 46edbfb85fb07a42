"""How a comparison prints, escapes and travels as JSON."""

import json
from importlib import import_module

import pytest

from calibrant.comparison import Comparison, MethodResult
from calibrant.errors import InvalidInputError
from calibrant.metrics import Interval, Verdict


@pytest.fixture
def table():
    half = Interval(0.5, 0.4, 0.6, 0.9)
    lower = Interval(-0.1, -0.2, -0.05, 0.9)
    results = (
        MethodResult("<b>mine</b>", half, half, 0.01, lower, lower, 0.002, "warned <i>"),
        MethodResult("identity", half, half, 0.02),
        MethodResult("broken", note="failed (ValueError: no)"),
    )
    verdict = Verdict(100.0, 0.25, 0.5, Interval(0.1, -0.2, 0.3, 0.9))
    facts = ("identity", "do nothing: <chance>.", "identity", 100.0, 0.25, 0.9, 5, 2, ("<b>mine</b>",))
    return Comparison(results, *facts, ("<u>remark",), verdict)


def test_text(table):
    text = str(table)
    assert text.splitlines()[0] == (
        "100 rows, 25 % positive; 5-fold cross-validation, 2 times; 90 % intervals in brackets"
    )
    assert "log-loss − raw" in text
    assert "-0.1000 [-0.2000, -0.0500]" in text
    assert "Recommended: do nothing: <chance>." in text
    assert text.splitlines()[-1] == "- broken: failed (ValueError: no)"


def test_html_is_escaped_and_marks_the_recommended_method(table):
    html = table._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<u>" not in html
    assert "&lt;b&gt;mine" in html
    assert 'font-weight: bold">identity</th>' in html


def test_json_round_trip(table):
    plain = json.loads(json.dumps(table.to_dict()))
    assert plain["recommended"] == "identity"
    assert plain["results"][0]["log_loss_difference"] == {"value": -0.1, "low": -0.2, "high": -0.05}
    assert plain["results"][2]["log_loss"] is None
    assert plain["tied"] == ["<b>mine</b>"]
    assert (plain["verdict"]["state"], plain["verdict"]["gain"]["low"]) == ("no_evidence", -0.2)
    assert "fits" not in plain


def test_lookup(table):
    assert table["identity"].smooth_error == 0.02
    with pytest.raises(InvalidInputError, match="must be one of"):
        table["nonsense"]


def test_the_namespaces_list_their_names_in_order():
    for name in ("comparison", "monitoring", "reliability", "report"):
        module = import_module(f"calibrant.{name}")
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, one) for one in module.__all__)
