"""Metrics that a user brings along: any function of a tally, or of labels and probabilities of any shape."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from calibrant._typing import Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.metrics.samples import ClassSample
from calibrant.tally import Tally


def as_metric(function: Callable[..., float], shape: str = "score") -> Callable[[Any], float]:
    """Return a metric of a tally, or of the sample of a matrix, from a function of it or of labels and probabilities.

    The number of arguments that must be given tells which of the two it is. Labels and probabilities come with
    `sample_weight` if the function has that argument; otherwise each row is repeated as often as it was counted.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.user_metrics import as_metric
    >>> tally = Tally.from_arrays([0.2, 0.2, 0.9], [0, 1, 1])
    >>> as_metric(lambda y_true, y_prob: abs(y_true - y_prob).max())(tally)
    0.8
    """
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    # scikit-learn 1.6 makes the probabilities of `brier_score_loss` optional, for the sake of their older name.
    of_rows = len(needed) == 2 or [p.name for p in needed] == ["y_true"]
    if of_rows:
        unpack = _tally_rows if shape == "score" else _class_rows
        weighted = any(p.name == "sample_weight" for p in parameters)
        return lambda data: _call(function, *unpack(data), weighted=weighted)
    if len(needed) == 1 and shape == "score":
        return function
    kinds_taken = (
        "functions of a tally, or of labels and probabilities"
        if shape == "score"
        else ("functions of labels and of a matrix of probabilities, since these rows have several classes")
    )
    raise InvalidInputError(
        f"`metrics` must be {kinds_taken}; {name_of_metric(function)} takes {len(needed)} "
        f"argument{'' if len(needed) == 1 else 's'}."
    )


def name_of_metric(function: Any) -> str:
    """Return the name of a function, also of one whose options were fixed by ``functools.partial``."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def _tally_rows(tally: Tally) -> tuple[Ints, Floats, Floats]:
    """Labels, scores and counts of rows that are alike."""
    labels, scores = np.repeat([1, 0], len(tally)), np.tile(tally.scores, 2)
    counts = np.concatenate((tally.positives, tally.negatives))
    filled = counts > 0.0
    return labels[filled], scores[filled], counts[filled]


def _class_rows(sample: ClassSample) -> tuple[Any, Floats, Floats]:
    return sample.classes[sample.labels], sample.probabilities, sample.weights


def _call(function: Callable[..., float], labels: Any, scores: Floats, counts: Floats, *, weighted: bool) -> float:
    if weighted:
        return float(function(labels, scores, sample_weight=counts))
    rows = np.rint(counts).astype(np.int64)
    if not np.array_equal(rows, counts):
        raise InvalidInputError(
            f"{name_of_metric(function)} takes no `sample_weight`, so the weights must be whole numbers of rows."
        )
    return float(function(np.repeat(labels, rows), np.repeat(scores, rows, axis=0)))


def number_repeated(names: Iterable[str]) -> list[str]:
    """The names, with a number behind each that occurred before: "platt", "platt 2"."""
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return numbered
