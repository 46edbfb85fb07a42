"""Several classes: each against the rest, the top label alone, and what a recalibration of the matrix takes away."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant.metrics.binned import expected_calibration_error
from calibrant.metrics.samples import ClassSample, Column, read_classes
from calibrant.metrics.scores import CLASS_LOSSES, Decomposition
from calibrant.tally import Tally


def class_wise_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    metric: Callable[..., float] = expected_calibration_error,
    sample_weight: Column = None,
    **options: Any,
) -> float:
    """The mean over classes of a binary metric of that class's column.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels. The columns of `y_prob` belong to the sorted labels, or, where some have no rows, to 0 … K − 1.
    y_prob : array-like of shape (n, K)
        Class probabilities; rows sum to 1.
    metric : callable
        Any metric of this module that takes a tally; by default `expected_calibration_error`. With
        ``adaptive_calibration_error`` it is the ACE of Nixon et al.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    **options
        Passed on to `metric`.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.class_wise_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), 4)
    0.1778
    """
    sample = read_classes(y_true, y_prob, sample_weight)
    return float(np.mean([metric(tally, **options) for tally in class_tallies(sample)]))


def top_label_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    metric: Callable[..., float] = expected_calibration_error,
    sample_weight: Column = None,
    **options: Any,
) -> float:
    """A binary metric of the highest class probability against whether that class was right.

    The parameters are those of `class_wise_calibration_error`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.top_label_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), 4)
    0.2667
    """
    sample = read_classes(y_true, y_prob, sample_weight)
    return float(metric(top_label_tally(sample.labels, sample.probabilities, sample.weights), **options))


def class_tallies(sample: ClassSample) -> Iterator[Tally]:
    """Each class against the rest."""
    for k in range(sample.n_classes):
        yield Tally.from_arrays(sample.probabilities[:, k], sample.labels == k, sample.weights)


def top_label(y_true: ArrayLike, y_prob: ArrayLike) -> tuple[Bools, Floats]:
    """Whether the most probable class of each row was right, and its probability."""
    sample = read_classes(y_true, y_prob)
    top = sample.probabilities.argmax(axis=1)
    return top == sample.labels, sample.probabilities[np.arange(len(top)), top]


def top_label_tally(labels: Ints, probabilities: Floats, weights: Floats | None = None) -> Tally:
    """The probability of the most probable class of each checked row, and whether it was right."""
    top = probabilities.argmax(axis=1)
    return Tally.from_arrays(probabilities[np.arange(len(top)), top], top == labels, weights)


def decomposition_by_recalibration(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    recalibrated: ArrayLike,
    *,
    loss: str = "log",
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    """Split a proper score of several classes by a recalibration of the same rows.

    miscalibration = score − score of the recalibrated matrix; discrimination = score of the class frequencies − score
    of the recalibrated matrix; uncertainty = score of the class frequencies. For two classes CORP takes isotonic
    regression, which is optimal among monotone maps. For several there is no such map, so the parts belong to the
    recalibration that is given: take one for rows that it was not fitted to, as the comparison of several classes
    does, and miscalibration estimates, without flattery, what recalibrating gains. It can then be negative by chance.

    Parameters
    ----------
    y_true, y_prob, sample_weight
        As for `log_loss`, with a column for each class.
    recalibrated : array-like of shape (n, K)
        The same rows after recalibration.
    loss : {"log", "brier"}
        The proper score.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> from calibrant.metrics import decomposition_by_recalibration
    >>> raw, better = [[0.9, 0.1, 0.0]] * 2 + [[0.0, 0.1, 0.9]], [[0.5, 0.5, 0.0]] * 2 + [[0.0, 0.1, 0.9]]
    >>> parts = decomposition_by_recalibration([0, 1, 2], raw, better, loss="brier")
    >>> round(parts.score, 3), round(parts.miscalibration, 3)
    (0.553, 0.213)
    """
    _validation.check_choice("loss", loss, list(CLASS_LOSSES))
    sample = read_classes(y_true, y_prob, sample_weight)
    better = read_classes(sample.labels, recalibrated).probabilities
    frequencies = np.bincount(sample.labels, sample.weights, sample.n_classes) / sample.weights.sum()
    constant = np.broadcast_to(frequencies, better.shape)
    score, after, least = (
        sample.mean(CLASS_LOSSES[loss](sample.labels, matrix)) for matrix in (sample.probabilities, better, constant)
    )
    return Decomposition(score, score - after, least - after, least)
