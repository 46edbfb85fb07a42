"""Proper scores of whole probability matrices, and how much of them a recalibration takes away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant._validation.arrays import as_numpy
from calibrant.metrics.scores import Decomposition

__all__ = [
    "MATRIX_LOSSES",
    "matrix_accuracy",
    "matrix_brier_losses",
    "matrix_brier_score",
    "matrix_decomposition",
    "matrix_log_loss",
    "matrix_log_losses",
    "read_classes",
]


def read_classes(
    y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[Ints, Floats, Floats]:
    """Checked column of each label, probabilities (n, K), and weights (n,)."""
    matrix = _validation.check_class_matrix(as_numpy(y_prob), probabilities=True)
    labels, _ = _validation.encode_classes(as_numpy(y_true), matrix.shape[1])
    _validation.check_same_length(len(matrix), len(labels), "y_true")
    weights = _validation.check_weights(sample_weight, len(matrix))
    # Half-precision rows can exceed 1 within the tolerance.
    return labels, np.minimum(matrix, 1.0), np.ones(len(matrix)) if weights is None else weights


def matrix_log_losses(labels: Ints, matrix: Floats) -> Floats:
    """−ln of the probability of each row's class, (n,), clipped by the policy of `calibrant._numerics.links`."""
    out: Floats = -np.log(links.clip(matrix[np.arange(len(labels)), labels]))
    return out


def matrix_brier_losses(labels: Ints, matrix: Floats) -> Floats:
    """Σ over classes of (indicator − p)² for each row, (n,): from 0 to 2."""
    own = matrix[np.arange(len(labels)), labels]
    out: Floats = np.einsum("nk,nk->n", matrix, matrix) + 1.0 - 2.0 * own
    return np.maximum(out, 0.0)


MATRIX_LOSSES: dict[str, Callable[[Ints, Floats], Floats]] = {"log": matrix_log_losses, "brier": matrix_brier_losses}


def matrix_log_loss(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean −ln of the probability that was given to the class that happened, in nats.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels. The columns of `y_prob` belong to the sorted labels, or, where some have no rows, to 0 … K − 1.
    y_prob : array-like of shape (n, K)
        Class probabilities; rows sum to 1.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant.metrics.matrix_measures import matrix_log_loss
    >>> round(matrix_log_loss([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), 4)
    0.6931
    """
    labels, matrix, weights = read_classes(y_true, y_prob, sample_weight)
    return float(np.average(matrix_log_losses(labels, matrix), weights=weights))


def matrix_brier_score(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean squared distance of the row of probabilities from the class that happened, from 0 (best) to 2.

    It is the sum over all classes, so for two classes it is twice the binary Brier score. The parameters are those of
    `matrix_log_loss`.

    Examples
    --------
    >>> from calibrant.metrics.matrix_measures import matrix_brier_score
    >>> matrix_brier_score([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    0.375
    """
    labels, matrix, weights = read_classes(y_true, y_prob, sample_weight)
    return float(np.average(matrix_brier_losses(labels, matrix), weights=weights))


def matrix_accuracy(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """The share of rows whose most probable class is theirs; the parameters are those of `matrix_log_loss`.

    Examples
    --------
    >>> from calibrant.metrics.matrix_measures import matrix_accuracy
    >>> matrix_accuracy([0, 1, 2, 0], [[0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.1, 0.1, 0.8]])
    0.75
    """
    labels, matrix, weights = read_classes(y_true, y_prob, sample_weight)
    return float(np.average(matrix.argmax(axis=1) == labels, weights=weights))


def matrix_decomposition(
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
        As for `matrix_log_loss`.
    recalibrated : array-like of shape (n, K)
        The same rows after recalibration.
    loss : {"log", "brier"}
        The proper score.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> from calibrant.metrics.matrix_measures import matrix_decomposition
    >>> raw, better = [[0.9, 0.1, 0.0]] * 2 + [[0.0, 0.1, 0.9]], [[0.5, 0.5, 0.0]] * 2 + [[0.0, 0.1, 0.9]]
    >>> parts = matrix_decomposition([0, 1, 2], raw, better, loss="brier")
    >>> round(parts.score, 3), round(parts.miscalibration, 3)
    (0.553, 0.213)
    """
    _validation.check_choice("loss", loss, list(MATRIX_LOSSES))
    labels, matrix, weights = read_classes(y_true, y_prob, sample_weight)
    _, better, _ = read_classes(labels, recalibrated)
    shares = np.bincount(labels, weights, matrix.shape[1]) / weights.sum()
    constant = np.broadcast_to(shares, matrix.shape)
    score, after, least = (
        float(np.average(MATRIX_LOSSES[loss](labels, one), weights=weights)) for one in (matrix, better, constant)
    )
    return Decomposition(score, score - after, least - after, least)
