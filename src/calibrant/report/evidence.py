"""What the rows prove: whether there is an error, whether it matters, and whether calibrating helps."""

from __future__ import annotations

from calibrant.metrics.bootstrap import Interval
from calibrant.report.study import Side, Study

__all__ = [
    "behind_best",
    "evidence",
    "gain",
    "has",
    "improves",
    "is_large",
    "is_small",
    "is_tied",
    "one_outcome",
    "segments_off",
]

CLEAR, SOME = 0.001, 0.05  # p-values of Kuiper's test
SMALL_POINTS, SMALL_SHARE = 0.01, 0.1  # an average error below both is small
LARGE_POINTS = 0.1


def evidence(found: Study) -> int:
    """0 none, 1 some, 2 clear: from Kuiper's test, and from whether calibrating improves on the raw score."""
    side = found.before
    if side is None:
        return 0
    p_value = side.evaluation["kuiper_p_value"] if has(side, "kuiper_p_value") else 1.0
    improved = improves(found)
    if p_value < CLEAR or (p_value < SOME and improved):
        return 2
    return int(p_value < SOME or improved)


def improves(found: Study) -> bool:
    """Whether calibrating lowers the log-loss of the raw score by more than chance.

    The comparison asks for more than a single interval of any method but the default, because it picks the best of
    many. The method of the page may have been asked for, which is no such choice; its own interval is enough.
    """
    if found.comparison is None:
        return False
    change = gain(found)
    return found.comparison.recommended != "identity" or (change is not None and change.high < 0.0)


def gain(found: Study) -> Interval | None:
    """The change of the log-loss against the raw score, paired by row."""
    if found.comparison is None or found.comparison.reference != "identity":
        return None
    return next((r.log_loss_difference for r in found.comparison.results if r.name == found.name), None)


def is_small(error: float, base_rate: float) -> bool:
    """Whether an average error would hardly matter: under a point and under a tenth of the rarer class."""
    return error < SMALL_POINTS and error < SMALL_SHARE * min(base_rate, 1.0 - base_rate)


def is_large(error: float) -> bool:
    """Whether an average error is so large that the probabilities say little."""
    return error > LARGE_POINTS


def one_outcome(found: Study) -> bool:
    """Whether all rows turned out the same."""
    return found.base_rate in (0.0, 1.0)


def segments_off(found: Study, side: str) -> list[str]:
    """The names of the segments that are off, `side` being "before" or "after" calibration."""
    gaps = {segment.name: getattr(segment, side) for segment in found.segments}
    return [name for name, gap in gaps.items() if gap is not None and gap.off]


def behind_best(found: Study) -> tuple[float, float] | None:
    """How much higher the log-loss of the method shown is than that of the recommended one, and as a share of it."""
    comparison = found.comparison
    if comparison is None or comparison.recommended in ("identity", found.name):
        return None
    losses = {r.name: r.log_loss.value for r in comparison.results if r.log_loss is not None}
    if found.name not in losses or losses[comparison.recommended] <= 0.0:
        return None
    difference = losses[found.name] - losses[comparison.recommended]
    return difference, difference / losses[comparison.recommended]


def is_tied(found: Study) -> bool:
    """Whether these rows cannot tell the method shown from the recommended one."""
    return found.comparison is not None and found.name in found.comparison.tied


def has(side: Side, key: str) -> bool:
    """Whether a measure could be computed."""
    return any(row.key == key and row.estimates[0] is not None for row in side.evaluation.rows)
