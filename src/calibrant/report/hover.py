"""What a figure shows of a point, a bar or a place on a line: templates such as ``"%{x} of %{customdata[0]:.3p}"``."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from calibrant.report.wording import percent

FIELD = re.compile(r"%\{([a-z]+(?:\.[a-z]+)?)(?:\[(\d+)\])?(?::([^}]*))?\}")
FORMAT = re.compile(r"(\+?)(,?)(?:\.(\d+))?(~?)([efgp%]?)")
ON_LINE = ("x", "y", "low", "high")  # what is known at any place of a line
EXTRA = re.compile(r"<extra>.*?</extra>", re.DOTALL)


def format_value(value: Any, spec: str = "") -> str:
    r"""A value by a format such as ``"+.2f"``, ``","``, ``".0%"``, ``".4~g"`` or ``".3p"``; words stay as they are.

    A tilde takes zeros off the end; ``p`` writes a probability as the rest of the page does.

    Examples
    --------
    >>> from calibrant.report.hover import format_value
    >>> [format_value(0.125, spec) for spec in (".3p", ".0%", "+.1f", ".3~%")]
    ['12.5\xa0%', '12%', '+0.1', '12.5%']
    >>> format_value(12000.0, ","), format_value(-0.5), format_value("ward")
    ('12,000', '−0.5', 'ward')
    """
    if isinstance(value, str) or value is None:
        return value or ""
    match = FORMAT.fullmatch(spec)
    if match is None:
        raise ValueError(f"`spec` must be a format such as '+,.2f' or '.3p'; got {spec!r}.")
    sign, comma, digits, trim, kind = match.groups()
    if kind == "p":
        return percent(float(value)).replace(" ", "\N{NO-BREAK SPACE}")
    text = f"{float(value):{sign}{comma}.{digits or (6 if kind else 12)}{kind or 'g'}}"
    if trim:
        text = re.sub(r"(\.\d*?)0+(?=\D*$)", r"\1", text)
        text = re.sub(r"\.(?=\D*$)", "", text)
    return text.replace("-", "−")


def point_text(trace: Mapping[str, Any], place: int) -> str:
    r"""The text of the point at a place of a trace, with a line for each line of its template; none where it is off.

    Examples
    --------
    >>> from calibrant.report.hover import point_text
    >>> point_text({"x": [2.0], "y": [0.25], "hovertemplate": "at %{x}<br>%{y:.0%}<extra></extra>"}, 0)
    'at 2\n25%'
    """
    if trace.get("hoverinfo") == "skip":
        return ""
    known = {key: _at(trace.get(key), place) for key in ("x", "y", "text", "customdata")} | _labels(trace)
    return _filled(_template(trace), lambda name, index, spec: _known(known, name, index, spec))


def line_text(trace: Mapping[str, Any]) -> str:
    """The text of any place on a line, with ``{x%}``, ``{y#}``, ``{low%}`` … for what the page's script fills in.

    Braces of other texts are doubled. Empty where the template needs what only the points of the line have.
    """
    if trace.get("hoverinfo") == "skip" or trace.get("customdata") is not None:
        return ""
    labels = _labels(trace)

    def on_line(name: str, index: int | None, spec: str) -> str:
        if name in labels:
            return str(labels[name]).replace("{", "{{")
        key = ON_LINE[index] if name == "customdata" and index is not None else name
        return f"{{{key}{'%' if spec[-1:] in ('p', '%') and spec else '#'}}}"

    return _filled(_template(trace), on_line)


def _template(trace: Mapping[str, Any]) -> str:
    given = trace.get("hovertemplate")
    return EXTRA.sub("", str(given)) if given is not None else "%{meta.label}<br>%{x:.4~g}: %{y:.4~g}"


def _filled(template: str, value: Any) -> str:
    """The lines of a template with values in it; a value is never read as a template."""
    parts = re.split(r"<br>", template)
    lines = [FIELD.sub(lambda m: value(m[1], None if m[2] is None else int(m[2]), m[3] or ""), part) for part in parts]
    return "\n".join(line for line in lines if line)


def _known(known: Mapping[str, Any], name: str, index: int | None, spec: str) -> str:
    value = known.get(name, "")
    if index is not None:
        value = value[index] if isinstance(value, Sequence) and index < len(value) else ""
    return format_value(value, spec)


def _at(values: Any, place: int) -> Any:
    return values[place] if isinstance(values, list | tuple) and place < len(values) else values


def _labels(trace: Mapping[str, Any]) -> dict[str, Any]:
    meta = trace.get("meta") or {}
    label = meta.get("label", trace.get("name", ""))
    return {"meta.label": label, "name": trace.get("name", label)}
