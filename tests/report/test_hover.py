import pytest

from calibrant.report.hover import format_value, line_text, point_text


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (1234.0, ",", "1,234"),
        (0.00123, "+", "+0.00123"),
        (-0.5, ".2f", "−0.50"),
        (0.5, ",.0%", "50%"),
        (0.123, ",.3~%", "12.3%"),
        (100.0, ".4~g", "100"),
        (2.50, ".2~f", "2.5"),
        (0.0004, ".3p", "0.040\N{NO-BREAK SPACE}%"),
        (12345678.0, "", "12345678"),
        ("<b>", ".3p", "<b>"),
        (None, "", ""),
    ],
)
def test_formats(value, spec, text):
    assert format_value(value, spec) == text


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match=r"must be a format such as"):
        format_value(1.0, "$,.2f")


def test_values_are_never_read_as_templates():
    trace = {"x": [1.0], "y": [2.0], "text": ["%{x}<br>{{y}}"], "hovertemplate": "%{text}: %{y}"}
    assert point_text(trace, 0) == "%{x}<br>{{y}}: 2"


def test_a_point_has_its_own_values():
    trace = {
        "x": [1.0, 3.0],
        "y": [2.0, 4.0],
        "customdata": [[5.0], [0.25]],
        "meta": {"label": "wards"},
        "hovertemplate": "%{meta.label}<br>%{customdata[0]:.0%}<extra>hidden</extra>",
    }
    assert point_text(trace, 1) == "wards\n25%"
    assert point_text(trace | {"hoverinfo": "skip"}, 1) == ""


def test_without_a_template_a_point_shows_where_it_is():
    assert point_text({"name": "cost", "x": [1.5], "y": [20.0]}, 0) == "cost\n1.5: 20"


def test_a_line_leaves_places_to_the_script_and_keeps_braces_of_labels():
    template = "%{meta.label}<br>score %{customdata[0]:.3p} becomes %{customdata[1]:.3p} (%{customdata[2]:.3p}), %{x}"
    trace = {"x": [], "y": [], "meta": {"label": "a {x%} b"}, "hovertemplate": template}
    assert line_text(trace) == "a {{x%} b\nscore {x%} becomes {y%} ({low%}), {x#}"
    assert line_text(trace | {"customdata": [[1.0]]}) == ""  # only its points have these
    assert line_text(trace | {"hoverinfo": "skip"}) == ""
