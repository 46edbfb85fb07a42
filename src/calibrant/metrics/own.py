"""Metrics that a user brings along: any function of a tally, or of labels and probabilities."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calibrant.errors import InvalidInputError
from calibrant.metrics.base import Metric
from calibrant.tally import Tally


def as_metric(function: Callable[..., float]) -> Metric:
    """Return a metric of a tally from a function of a tally, or of labels and probabilities.

    The number of arguments that must be given tells which of the two it is. Labels and probabilities come with
    `sample_weight` if the function has that argument; otherwise each row is repeated as often as it was counted.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.own import as_metric
    >>> tally = Tally.from_arrays([0.2, 0.2, 0.9], [0, 1, 1])
    >>> as_metric(lambda y_true, y_prob: abs(y_true - y_prob).max())(tally)
    0.8
    """
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    # scikit-learn 1.6 makes the probabilities of `brier_score_loss` optional, for the sake of their older name.
    of_rows = len(needed) == 2 or [p.name for p in needed] == ["y_true"]
    if len(needed) == 1 and not of_rows:
        return function
    if of_rows:
        return partial(_of_rows, function, weighted=any(p.name == "sample_weight" for p in parameters))
    raise InvalidInputError(
        f"`metrics` must be functions of a tally, or of labels and probabilities; {name_of_metric(function)} takes "
        f"{len(needed)} arguments."
    )


def name_of_metric(function: Any) -> str:
    """Return the name of a function, also of one whose options were fixed by ``functools.partial``."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def _of_rows(function: Callable[..., float], tally: Tally, *, weighted: bool) -> float:
    labels = np.repeat([1, 0], len(tally))
    scores, counts = np.tile(tally.scores, 2), np.concatenate((tally.positives, tally.negatives))
    kept = counts > 0.0
    if weighted:
        return float(function(labels[kept], scores[kept], sample_weight=counts[kept]))
    rows = np.rint(counts).astype(np.int64)
    if not np.array_equal(rows, counts):
        raise InvalidInputError(
            f"{name_of_metric(function)} takes no `sample_weight`, so the weights must be whole numbers of rows."
        )
    return float(function(np.repeat(labels, rows), np.repeat(scores, rows)))
