from calibrant.metrics import Interval, Verdict
from calibrant.metrics.table import Evaluation, Row


def table(*models):
    one = Interval(0.25, 0.2, 0.3, 0.9)
    rows = (
        Row("log_loss", "proper scores", "log-loss", (one,) * len(models)),
        Row("auc", "order", "area under the curve", (None,) * len(models)),
        Row("p", "test", "p-value", (1e-9,) * len(models)),
    )
    return Evaluation(
        models, rows, 100.0, 0.25, 0.9, ("All is <well> & good.",), (Verdict(100.0, 0.25, 1e-9),) * len(models)
    )


def test_text():
    assert repr(table("model")).splitlines() == [
        "100 rows, 25 % positive; 90 % intervals in brackets",
        "proper scores",
        "  log-loss              0.2500 [0.2000, 0.3000]",
        "order",
        "  area under the curve  –",
        "test",
        "  p-value               < 0.001",
        "- All is <well> & good.",
    ]


def test_text_of_several_models_has_a_head():
    lines = repr(table("a", "long name of a model that is wider")).splitlines()
    assert lines[1].split() == ["a", "long", "name", "of", "a", "model", "that", "is", "wider"]
    assert lines[3].index("0.2500", 30) == lines[1].index("long")


def test_html_is_escaped():
    html = table("<script>alert('x')</script>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "All is &lt;well&gt; &amp; good." in html
    assert html.count("<tr>") == 1 + 3 + 3


def test_plain_values():
    plain = table("m").to_dict()
    assert plain["models"]["m"] == {
        "log_loss": {"value": 0.25, "low": 0.2, "high": 0.3},
        "auc": None,
        "p": 1e-9,
    }
