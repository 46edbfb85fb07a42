"""Axes of a figure: where a value stands in percent of the plotting area, and which values are written beside it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from calibrant.report.hover import format_value

MARGIN = 0.02  # of an axis of probabilities, so that points at its ends can be seen
NARROW, WIDE, HEIGHT = 250.0, 400.0, 220.0  # the least size of the plotting area in pixels, on phones and elsewhere
LETTER, LINE, GAP = 7.0, 18.0, 10.0  # pixels
TICKS = 7
TINY = 1e-12
FORWARD: dict[str, Callable[[float], float]] = {
    "linear": float,
    "logit": lambda p: math.log(max(p, TINY) / max(1.0 - p, TINY)),
    "log": lambda value: math.log10(max(value, TINY)),
}


@dataclass(frozen=True)
class Tick:
    """A tick at a place in percent; `narrow` and `wide` say on which screens there is room for it."""

    place: float
    text: str
    narrow: bool = True
    wide: bool = True
    short: str = ""


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, both after the transformation that `kind` names; `low` may be the larger one.

    Examples
    --------
    >>> from calibrant.report.axis import Axis
    >>> Axis("log", 0.0, 4.0).place(100.0)
    50.0
    """

    kind: str
    low: float
    high: float
    ticks: tuple[Tick, ...] = ()
    title: str = ""
    zero: bool = False

    def place(self, value: float) -> float:
        """Where a value stands: 0 and 100 are the ends, values beyond them lie outside."""
        return 100.0 * (FORWARD[self.kind](value) - self.low) / (self.high - self.low)

    def inside(self, value: float) -> float:
        """The same, at the nearer end for values beyond it."""
        return min(max(self.place(value), 0.0), 100.0)


def make_axis(
    options: dict[str, Any],
    values: Sequence[Any],
    *,
    upright: bool = False,
    zero_based: bool = False,
    width: float = WIDE,
) -> Axis:
    """The axis that the options of a layout ask for, wide enough for the values where they give no range.

    `width` is the least number of pixels that it has for its ticks where the screen is not narrow.
    """
    kind = "log" if options.get("type") == "log" else "linear"
    low, high = options.get("range") or _range(kind, values, zero_based)
    plain = Axis(kind, low, high, (), (options.get("title") or {}).get("text", ""), bool(options.get("zeroline")))
    if "tickvals" in options:
        at, texts = options["tickvals"], [str(text) for text in options.get("ticktext") or options["tickvals"]]
        if upright:  # rows, which are as high as their names
            ticks = tuple(Tick(plain.place(value), text) for value, text in zip(at, texts, strict=True))
            return replace(plain, ticks=ticks)
    elif kind == "log":
        at = log_ticks(low, high)
        texts = [format_value(value, ",.4~g") for value in at]
    else:
        at = even_ticks(min(low, high), max(low, high), int(options.get("nticks", TICKS)))
        usual = _usual_format(at)
        texts = [format_value(value, options.get("tickformat") or (usual if value else "")) for value in at]
    return with_ticks(plain, at, texts, upright=upright, width=width)


def probability_axis(options: dict[str, Any], scale: dict[str, Any], *, stretched: bool, upright: bool = False) -> Axis:
    """An axis of probabilities with the ends that the diagrams of a page share, even or stretched."""
    title = (options.get("title") or {}).get("text", "")
    if stretched:
        low, high = scale["logit"]
        expits = [1.0 / (1.0 + math.exp(-tick)) for tick in scale["ticks"]]
        return with_ticks(Axis("logit", low, high, (), title), expits, scale["texts"], upright=upright)
    low, high = scale["linear"]
    margin = MARGIN * (high - low)
    at = even_ticks(low, high, TICKS)
    texts = [format_value(value, ",.3~%") for value in at]
    return with_ticks(Axis("linear", low - margin, high + margin, (), title), at, texts, upright=upright)


def with_ticks(
    axis: Axis, at: Sequence[float], texts: Sequence[str], *, upright: bool = False, width: float = WIDE
) -> Axis:
    """The axis with those ticks for which there is room."""
    places = [axis.place(value) for value in at]
    middle = next((i for i, text in enumerate(texts) if text in ("50%", "0")), 0)
    sizes = {"narrow": HEIGHT, "wide": HEIGHT} if upright else {"narrow": min(NARROW, width), "wide": width}
    fit = {key: roomy_ticks(places, texts, pixels, middle, upright=upright) for key, pixels in sizes.items()}
    ticks = tuple(
        Tick(round(place, 2), text, i in fit["narrow"], i in fit["wide"])
        for i, (place, text) in enumerate(zip(places, texts, strict=True))
        if (i in fit["narrow"] or i in fit["wide"]) and -0.01 <= place <= 100.01
    )
    return replace(axis, ticks=ticks)


def roomy_ticks(
    places: Sequence[float], texts: Sequence[str], pixels: float, middle: int, *, upright: bool = False
) -> set[int]:
    """As many ticks, evenly chosen around the middle one, as have room for their texts.

    Examples
    --------
    >>> from calibrant.report.axis import roomy_ticks
    >>> sorted(roomy_ticks([0, 10, 20, 30, 40], ["1990", "1991", "1992", "1993", "1994"], 250.0, 0))
    [0, 2, 4]
    """
    lengths = [LINE if upright else LETTER * len(text) for text in texts]
    kept: list[int] = []
    for every in range(1, max(len(places), 1) + 1):
        kept = [i for i in range(len(places)) if (i - middle) % every == 0]
        gap = 0.0 if upright else GAP
        if all(
            abs(places[b] - places[a]) * pixels / 100 >= (lengths[a] + lengths[b]) / 2 + gap for a, b in pairwise(kept)
        ):
            break
    return set(kept)


def even_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers at even distances, at most so many.

    Examples
    --------
    >>> from calibrant.report.axis import even_ticks
    >>> even_ticks(0.0, 1.0, 7), even_ticks(-3.0, 12.0, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0])
    """
    if not high > low:
        return [low]
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (size * factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0, 50.0)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [round(number * step, 12) + 0.0 for number in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two logarithms, with 2 and 5 between them where they would be few."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    for steps in ((1.0,), (1.0, 2.0, 5.0)):
        inside = [s * 10.0**p for p in powers for s in steps if low - 1e-9 <= math.log10(s) + p <= high + 1e-9]
        if len(inside) >= 3:
            break
    return inside


def _range(kind: str, values: Sequence[Any], zero_based: bool) -> tuple[float, float]:
    """Ends with some room around the values."""
    finite = np.array([v for v in values if v is not None and math.isfinite(v) and (kind != "log" or v > 0)], float)
    if not len(finite):
        return 0.0, 1.0
    low, high = (FORWARD[kind](float(end)) for end in (finite.min(), finite.max()))
    margin = 0.05 * (high - low) or 0.5
    if kind == "log":
        return low - max(margin, 0.3), high + margin
    return (min(low, 0.0), max(high, 0.0) + margin) if zero_based else (low - margin, high + margin)


def _usual_format(at: Sequence[float]) -> str:
    step = abs(at[1] - at[0]) if len(at) > 1 else 0.0
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step else 2
    texts = [f"{value:.{decimals}f}" for value in at]
    exact = all(math.isclose(float(text), value, abs_tol=1e-3 * step) for text, value in zip(texts, at, strict=True))
    return f",.{decimals if exact else decimals + 1}f"
