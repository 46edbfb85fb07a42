"""Words and numbers of the page: few digits, percent where it is a probability, thousands parted."""

import math
from types import SimpleNamespace

from calibrant.intervals import Interval
from calibrant.report.texts import TEXTS

MOST_NAMED = 5
LEAST_CHANGE = 1e-8  # of a log-loss
NOTHING = 1e-8  # a probability with more zeros than anybody reads


def outcome_of(top_label: bool) -> SimpleNamespace:
    """The words for a page about the highest score of each row, or about an event.

    Examples
    --------
    >>> from calibrant.report.wording import outcome_of
    >>> outcome_of(False).happened, outcome_of(True).happened
    ('happened', 'was right')
    """
    return SimpleNamespace(**{word: said[top_label] for word, said in TEXTS["words"].items()})


def short_title(title: str) -> str:
    """The title of a method in a sentence: without an explanation in brackets."""
    return title.partition(" (")[0]


def shortened(names: list[str], longest: int) -> list[str]:
    """Long names without their end, or their middle, or their beginning: whichever leaves most of them distinct.

    Examples
    --------
    >>> from calibrant.report.wording import shortened
    >>> shortened(["Ward in the north", "Ward in the south"], 9)
    ['Ward …rth', 'Ward …uth']
    """
    tail = longest // 3

    def cut(head: int, end: int) -> list[str]:
        return [n if len(n) <= longest else f"{n[:head]}…{n[len(n) - end :]}" for n in names]

    return max((cut(longest - 1, 0), cut(longest - tail - 1, tail), cut(0, longest - 1)), key=lambda one: len(set(one)))


def count(value: float) -> str:
    """A number of rows: "12,345"; weights that are not whole keep a digit."""
    return f"{value:,.0f}" if value == round(value) or value >= 1000 else f"{value:,.1f}"


def percent(value: float) -> str:
    """A probability in percent: "24 %", "3.1 %", "0.52 %", "0.0031 %"; near 100 as many digits as near 0.

    Examples
    --------
    >>> from calibrant.report.wording import percent
    >>> [percent(v) for v in (0.0, 0.000312, 0.0312, 0.238, 0.9996, 1.0)]
    ['0 %', '0.031 %', '3.1 %', '23.8 %', '99.960 %', '100 %']
    >>> [percent(v) for v in (1e-12, 1 - 1e-12)]
    ['under 0.000001 %', 'over 99.999999 %']
    """
    if 0.0 < min(value, 1.0 - value) < NOTHING:
        return "under 0.000001 %" if value < 0.5 else "over 99.999999 %"
    size = 100.0 * min(value, 1.0 - value)
    decimals = max(1 - math.floor(math.log10(size)), 1) if size > 0.0 else 0
    return f"{100.0 * value:.{decimals}f} %"


def points_estimate(interval: Interval, least: int = 0) -> tuple[str, str]:
    """A difference in percentage points and its interval, with the digits that the interval leaves certain.

    Examples
    --------
    >>> from calibrant.metrics import Interval
    >>> from calibrant.report.wording import points_estimate
    >>> points_estimate(Interval(0.077, 0.032, 0.186, 0.9)), points_estimate(Interval(0.0277, 0.0272, 0.0281, 0.9))
    (('8', '3 to 19'), ('2.77', '2.72 to 2.81'))
    """
    width = 100.0 * interval.width
    decimals = min(max(-math.floor(math.log10(width / 4.0)), least), 9) if width > 0.0 else 1
    value, low, high = (f"{100.0 * each:.{decimals}f}" for each in (interval.value, interval.low, interval.high))
    return value, f"{low} to {high}"


def number(value: float, size: float | None = None) -> str:
    """A measure with at least four decimals, more where its `size` (by default itself) is small; a true minus sign."""
    return _signed(value, _measure_decimals(abs(value) if size is None else size))


def estimate(interval: Interval, sign: str = "", decimals: int | None = None) -> tuple[str, str]:
    """A value and its interval, all with the same number of decimals: fewer where the interval is wide.

    Examples
    --------
    >>> from calibrant.metrics import Interval
    >>> from calibrant.report.wording import estimate
    >>> estimate(Interval(0.0031, -0.00012, 0.0058, 0.9))
    ('0.00310', '−0.00012 to 0.00580')
    >>> estimate(Interval(9.9291, 5.9021, 13.9561, 0.9))
    ('9.93', '5.90 to 13.96')
    """
    decimals = estimate_decimals(interval) if decimals is None else decimals
    value, low, high = (_signed(each, decimals, sign) for each in (interval.value, interval.low, interval.high))
    return value, f"{low} to {high}"


def estimate_decimals(interval: Interval) -> int:
    """Those of the largest of the three numbers, but no more than three digits of the width."""
    decimals = _measure_decimals(max(abs(interval.low), abs(interval.high), abs(interval.value)))
    width = interval.width
    return min(decimals, max(2 - math.floor(math.log10(width)), 0)) if width > 0.0 else decimals


def _measure_decimals(size: float) -> int:
    return 4 if size >= 0.01 or size == 0.0 else min(2 - math.floor(math.log10(size)), 8)


def _signed(value: float, decimals: int, sign: str = "") -> str:
    text = f"{value:{sign}.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-+")


def loss_change(before: float, after: float, least: float = LEAST_CHANGE) -> str:
    """What happens to the log-loss, with as many decimals as it takes to see it; a change below `least` is none.

    Examples
    --------
    >>> from calibrant.report.wording import loss_change
    >>> loss_change(0.5123, 0.4216), loss_change(0.5, 0.5)
    ('lowers the log-loss from 0.5123 to 0.4216', 'leaves the log-loss at 0.5000')
    >>> loss_change(0.421601, 0.42161)
    'raises the log-loss from 0.4216010 to 0.4216100'
    """
    size = abs(before - after)
    if size < least:
        return f"leaves the log-loss at {before:.4f}"
    decimals = max(4, 1 - math.floor(math.log10(size)))
    verb = "lowers" if after < before else "raises"
    return f"{verb} the log-loss from {before:.{decimals}f} to {after:.{decimals}f}"


def sentence_case(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def named(names: list[str]) -> str:
    """Names of the user, in quotation marks; the first few of many.

    Examples
    --------
    >>> from calibrant.report.wording import named
    >>> named(["north", "east", "south"])
    '“north”, “east” and “south”'
    """
    quoted = [f"“{name}”" for name in names]
    if len(names) > MOST_NAMED + 1:
        quoted = [*quoted[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return " and ".join([*([", ".join(quoted[:-1])] if len(quoted) > 1 else []), quoted[-1]])
