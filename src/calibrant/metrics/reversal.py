"""Rows that are doubtful to learn from: of one class, very few, or ranked the wrong way round, as if swapped."""

import warnings

import numpy as np

from calibrant import _limits
from calibrant.metrics.scores import roc_auc
from calibrant.tally import Tally, row_count

__all__ = ["describe_doubts", "describe_reversal", "warn_of_reversal"]

CERTAIN = 3.0  # standard errors below one half: by chance in one of 740 samples that the scores say nothing about
DOUBTFUL_ROWS = 50.0
FEW_ROWS = 10.0  # of the rarer class: fewer prove nothing, and the error is not known well


def describe_doubts(tally: Tally) -> list[str]:
    """Say in sentences what speaks against learning from these rows.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.reversal import describe_doubts
    >>> describe_doubts(Tally.from_arrays([0.2, 0.7], [1, 1]))
    ['All 2 rows are positive, so there is little to learn from them; add rows of both classes.']
    """
    rarer, rows = min(tally.total_positive, tally.total - tally.total_positive), row_count(tally.total)
    if rarer == 0.0:
        kind = "positive" if tally.total_positive else "negative"
        return [f"All {rows} rows are {kind}, so there is little to learn from them; add rows of both classes."]
    few = (
        f"{rows} rows, {row_count(rarer)} of the rarer class, are very few: the result says more about the method's "
        "assumptions than about the data. Use a few hundred rows if you can."
    )
    reversal = describe_reversal(tally)
    return ([] if reversal is None else [reversal]) + ([few] if tally.total < DOUBTFUL_ROWS else [])


def describe_reversal(tally: Tally) -> str | None:
    """Say in a sentence that positive rows have the lower scores, if that is certain; None otherwise.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.reversal import describe_reversal
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 4
    >>> describe_reversal(Tally.from_arrays(scores, [0, 0, 0, 0, 1, 1, 1, 1] * 4)) is None
    True
    >>> print(describe_reversal(Tally.from_arrays(scores, [1, 1, 1, 1, 0, 0, 0, 0] * 4)))
    High scores go with the negative class (ROC AUC 0.00). Were the classes swapped? `pos_label` names the positive one.
    """
    if min(tally.total_positive, tally.total - tally.total_positive) < FEW_ROWS:
        return None
    if _ranks_rightly_on_average(tally):
        return None
    cells = tally.coarsen(_limits.LABELLED_CELLS)  # ties within cells count half, so the area hardly moves
    area = roc_auc(cells)
    if area >= 0.5 - CERTAIN * _chance_error(cells):
        return None
    return (
        f"High scores go with the negative class (ROC AUC {area:.2f}). Were the classes swapped? "
        "`pos_label` names the positive one."
    )


def warn_of_reversal(tally: Tally, stacklevel: int = 3) -> None:
    """Warn the caller's caller of scores that rank the wrong way round."""
    sentence = describe_reversal(tally)
    if sentence is not None:
        warnings.warn(sentence, UserWarning, stacklevel=stacklevel)


def _ranks_rightly_on_average(tally: Tally) -> bool:
    """Whether positive rows have the higher mean score: quick, and enough to say that nothing was swapped."""
    with np.errstate(over="ignore", invalid="ignore"):  # sums of the largest doubles are no numbers, and say nothing
        overall = (tally.scores * tally.totals).sum() / tally.total
        positive = (tally.scores * tally.positives).sum() / tally.total_positive
    return bool(np.isfinite(overall) and positive >= overall)


def _chance_error(tally: Tally) -> float:
    """The standard error of the area if scores and labels have nothing to do with each other (Mann–Whitney)."""
    n, positive = tally.total, tally.total_positive
    ties = float((tally.totals**3 - tally.totals).sum()) / max(n * (n - 1.0), 1.0)
    return float(np.sqrt(max(n + 1.0 - ties, 0.0) / (12.0 * positive * (n - positive))))
