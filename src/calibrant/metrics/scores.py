"""Proper scores of one score and of a matrix, at every threshold too; discrimination, and rows that rank doubtfully."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.metrics.reading import of_tally
from calibrant.metrics.samples import ClassSample, Column, Labels, ScoreSample, both_classes, read_problem, read_sample
from calibrant.tally import Tally, row_count

Loss = Callable[[float, Floats], Floats]  # of a label, 0 or 1, at each probability
ClassLoss = Callable[[Ints, Floats], Floats]  # of the column of each row's class in a matrix of probabilities
GRID = 199  # thresholds in the default grid, an even grid without its ends
CERTAIN = 3.0  # standard errors below one half: by chance in one of 740 samples that the scores say nothing about
DOUBTFUL_ROWS = 50.0
FEW_ROWS = 10.0  # of the rarer class: fewer prove nothing, and the error is not known well


def brier_loss(label: float, probabilities: Floats) -> Floats:
    """(label − p)²."""
    return np.square(label - probabilities)


def logarithmic_loss(label: float, probabilities: Floats) -> Floats:
    """−ln of the probability of what happened, clipped by the policy of `calibrant._numerics.links`."""
    clipped = links.clip(probabilities)
    return -np.log(clipped) if label else -np.log1p(-clipped)


def class_log_losses(labels: Ints, matrix: Floats) -> Floats:
    """−ln of the probability of each row's class, (n,), clipped by the policy of `calibrant._numerics.links`."""
    return -np.log(links.clip(matrix[np.arange(len(labels)), labels]))


def class_brier_losses(labels: Ints, matrix: Floats) -> Floats:
    """Σ over classes of (indicator − p)² for each row, (n,): from 0 to 2."""
    hit = matrix[np.arange(len(labels)), labels]
    return np.maximum(np.einsum("nk,nk->n", matrix, matrix) + 1.0 - 2.0 * hit, 0.0)


LOSSES: dict[str, Loss] = {"brier": brier_loss, "log": logarithmic_loss}
CLASS_LOSSES: dict[str, ClassLoss] = {"brier": class_brier_losses, "log": class_log_losses}


def mean_loss(tally: Tally, loss: Loss, probabilities: Floats | None = None) -> float:
    """The mean of ``loss(label, p)`` over the rows, p being the scores or other `probabilities` of the cells."""
    p = tally.scores if probabilities is None else probabilities
    return float((tally.positives @ loss(1.0, p) + tally.negatives @ loss(0.0, p)) / tally.total)


def brier_score(y_true: Labels, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """Mean squared difference of probability and outcome, from 0 (best) to 1.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,) or (n, K)
        Probabilities of the positive class; or a column for each of three or more classes, whose rows sum to 1. Then
        it is the squared distance of the whole row from the class that happened, from 0 to 2.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.brier_score([0, 1, 1], [0.5, 0.5, 1.0]), 4)
    0.1667
    >>> metrics.brier_score([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    0.375
    """
    return mean_of("brier", read_problem(y_true, y_prob, sample_weight, pos_label))


def mean_of(loss: str, sample: ScoreSample | ClassSample) -> float:
    """The mean loss over the rows of any shape."""
    if isinstance(sample, ClassSample):
        return sample.mean(CLASS_LOSSES[loss](sample.labels, sample.probabilities))
    return mean_loss(sample.tally, LOSSES[loss])


def log_loss(y_true: Labels, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """Mean −ln of the probability that was given to what happened, in nats.

    It is always finite: probabilities are moved to [ε, 1 − ε] first, where ε = 2.2e-16 is the spacing of doubles at
    1, so one row that was called impossible and happened costs 36.04. The parameters are those of `brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.log_loss([0, 1], [0.5, 0.5]), 4), round(metrics.log_loss([1], [0.0]), 2)
    (0.6931, 36.04)
    >>> round(metrics.log_loss([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), 4)
    0.6931
    """
    return mean_of("log", read_problem(y_true, y_prob, sample_weight, pos_label))


def roc_auc(y_true: Labels, y_prob: Column = None, *, sample_weight: Column = None, pos_label: Any = None) -> float:
    """Area under the ROC curve: how often a positive row scores above a negative one, ties counting half.

    Rows of one class only have no such area and raise `InvalidInputError`. The parameters are those of `brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    tally = read_sample(y_true, y_prob, sample_weight, pos_label, space="decision").tally
    both_classes(tally, "The area under the ROC curve")
    negatives = tally.negatives
    below = np.cumsum(negatives) - 0.5 * negatives
    return float(tally.positives @ below / (tally.total_positive * negatives.sum()))


@of_tally
def brier_skill_score(tally: Tally, *, reference: float | Tally | None = None) -> float:
    """1 − Brier score / Brier score of a reference: 1 is perfect, 0 no better than the reference.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    reference : float or Tally, optional
        One probability for all rows, such as a climatological frequency that was known beforehand, or the tally of
        another forecast of the same rows. By default the share of positives in these rows, which a forecaster could not
        have known: it makes the reference a little too good.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    Examples
    --------
    >>> from calibrant.metrics import brier_skill_score
    >>> round(brier_skill_score([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.76
    >>> from calibrant import Tally
    >>> brier_skill_score([0, 1], [0.4, 0.6], reference=Tally.from_arrays([0.4, 0.6], [0, 1]))
    0.0
    """
    if isinstance(reference, Tally):
        baseline = mean_loss(reference, brier_loss)
    else:
        value = tally.base_rate if reference is None else reference
        if np.ndim(value) or not 0.0 <= value <= 1.0:
            raise InvalidInputError(f"`reference` must be a tally, or a number from 0 to 1; got {reference!r}.")
        baseline = mean_loss(tally, brier_loss, np.full(len(tally), value))
    if not baseline > 0.0:
        raise InvalidInputError("`reference` must make some error; its Brier score is 0 and no skill can be measured.")
    return 1.0 - mean_loss(tally, brier_loss) / baseline


@dataclass(frozen=True, eq=False)
class MurphyCurve:
    """Mean elementary scores of one model.

    Attributes
    ----------
    thresholds : ndarray of shape (t,)
        Between 0 and 1, increasing.
    scores : ndarray of shape (t,)
        Mean elementary score at each threshold; lower is better.
    name : str or None
        Of the model, for legends.

    Examples
    --------
    >>> from calibrant.metrics.scores import murphy_curve
    >>> curve = murphy_curve([0, 1], [0.2, 0.6], thresholds=[0.1, 0.5, 0.9])
    >>> curve.scores.round(3).tolist()
    [0.1, 0.0, 0.1]
    """

    thresholds: Floats
    scores: Floats
    name: str | None = None


@of_tally
def murphy_curve(tally: Tally, *, thresholds: ArrayLike | None = None, name: str | None = None) -> MurphyCurve:
    """Mean elementary scores over the thresholds, for one model.

    The elementary score at θ is the regret, up to a constant factor, of someone who acts where p > θ, for whom acting
    in vain costs θ and failing to act costs 1 − θ: 2 θ for a false alarm, 2 (1 − θ) for a missed event and 0 otherwise.
    Every proper score is a mixture of elementary scores over θ, with the mean over θ uniform on [0, 1] being the Brier
    score; so a model whose curve is nowhere above another's is at least as good under every proper score.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    thresholds : array-like of shape (t,), optional
        Increasing, strictly between 0 and 1; by default 0.005, 0.01, …, 0.995.
    name : str, optional
        Of the model.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    MurphyCurve

    References
    ----------
    Ehm, Gneiting, Jordan, Krüger 2016, "Of quantiles and expectiles: consistent scoring functions, Choquet
    representations and forecast rankings".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> from calibrant.metrics.scores import murphy_curve
    >>> data = simulate.from_truth("D1", 1000)
    >>> curve = murphy_curve(data.labels, data.scores)
    >>> round(float(curve.scores.mean()), 2) == round(metrics.brier_score(data.labels, data.scores), 2)
    True
    """
    cuts = check_thresholds(thresholds) if thresholds is not None else np.arange(1, GRID + 1) / (GRID + 1)
    found, alarms = acted_on(tally, cuts, side="right")  # where p > θ
    scores = 2.0 * (cuts * alarms + (1.0 - cuts) * (tally.total_positive - found)) / tally.total
    return MurphyCurve(cuts, scores, name)


def check_thresholds(thresholds: ArrayLike, *, allow_zero: bool = False) -> Floats:
    """Increasing thresholds strictly between 0 and 1, or from 0 on; one number is a list of one."""
    cuts = np.atleast_1d(_validation.as_floats(thresholds, "thresholds"))
    if cuts.ndim == 1 and len(cuts) and (np.diff(cuts) > 0.0).all():
        above = cuts[0] >= 0.0 if allow_zero else cuts[0] > 0.0
        if above and cuts[-1] < 1.0:
            return cuts
    least = "from 0 to below 1" if allow_zero else "strictly between 0 and 1"
    raise InvalidInputError(f"`thresholds` must be increasing numbers {least}, at least one; got {thresholds!r}.")


def describe_doubts(tally: Tally) -> list[str]:
    """Say in sentences what speaks against learning from these rows.

    Examples
    --------
    >>> from calibrant import Tally
    >>> from calibrant.metrics.scores import describe_doubts
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
    >>> from calibrant.metrics.scores import describe_reversal
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


def acted_on(tally: Tally, thresholds: ArrayLike, side: Literal["left", "right"] = "left") -> tuple[Floats, Floats]:
    """Weighted numbers of positive and of negative rows at or, with `side="right"`, only above each threshold."""
    first = np.searchsorted(tally.scores, thresholds, side=side)
    columns = (tally.positives, tally.negatives)
    positives, negatives = (np.append(np.cumsum(column[::-1])[::-1], 0.0)[first] for column in columns)
    return positives, negatives


def benefit(true_positives: Floats, false_positives: Floats, total: Any, thresholds: Floats) -> Floats:
    """The formula; the last axis is that of the thresholds."""
    return (true_positives - false_positives * (thresholds / (1.0 - thresholds))) / total
