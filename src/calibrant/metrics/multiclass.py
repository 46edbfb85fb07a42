"""Several classes: each against the rest, the top label alone, and a test of the whole row of probabilities."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import ArrayLike, Bools, Floats, Ints
from calibrant.metrics.binned import expected_calibration_error
from calibrant.metrics.cumulative import CalibrationTest
from calibrant.metrics.reading import of_classes
from calibrant.metrics.samples import ClassSample, Seed, read_classes
from calibrant.tally import Tally

MOST_ENTRIES = 2_000_000  # of the matrix; with more, every k-th row is tested
PAIRS_UP_TO = 30  # classes for which pairs of classes are looked at


@of_classes
def class_wise_calibration_error(
    sample: ClassSample, /, *, metric: Callable[..., float] = expected_calibration_error, **options: Any
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
    return float(np.mean([metric(tally, **options) for tally in class_tallies(sample)]))


@of_classes
def top_label_calibration_error(
    sample: ClassSample, /, *, metric: Callable[..., float] = expected_calibration_error, **options: Any
) -> float:
    """A binary metric of the highest class probability against whether that class was right.

    The parameters are those of `class_wise_calibration_error`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> round(metrics.top_label_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), 4)
    0.2667
    """
    return float(metric(top_label_tally(sample.labels, sample.probabilities, sample.weights), **options))


def class_tallies(sample: ClassSample) -> Iterator[Tally]:
    """Each class against the rest."""
    for k in range(sample.n_classes):
        yield Tally.from_arrays(sample.probabilities[:, k], sample.labels == k, sample.weights)


def top_label(y_true: ArrayLike, y_prob: ArrayLike) -> tuple[Bools, Floats]:
    """Whether the most probable class of each row was right, and its probability."""
    sample = read_classes(y_true, y_prob)
    return sample.probabilities.argmax(axis=1) == sample.labels, sample.probabilities.max(axis=1)


def top_label_tally(labels: Ints, probabilities: Floats, weights: Floats | None = None) -> Tally:
    """The probability of the most probable class of each checked row, and whether it was right."""
    return Tally.from_arrays(probabilities.max(axis=1), probabilities.argmax(axis=1) == labels, weights)


@of_classes
def full_calibration_test(sample: ClassSample, *, n_simulations: int = 499, rng: Seed = 0) -> CalibrationTest:
    """Test whether labels are distributed as each row of probabilities says.

    For calibrated probabilities every sum over rows of a function of the row times (indicator − p) varies around 0.
    Four families of such sums are squared and added up: one common slope of ln p (temperature), the frequency of each
    class, the slope of ln p of each class, and p of one class against the indicator of another (for at most 30
    classes). Labels that are drawn from the probabilities themselves say how large each family is by chance; the
    statistic is the largest of the four, as a cube root, in standard deviations. Its level is exact, whatever the
    number of rows. Errors that are orthogonal to all these sums are not seen.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels; the columns belong to the sorted labels, or to 0 … K − 1.
    y_prob : array-like of shape (n, K)
        Class probabilities. Of more than two million entries every k-th row is taken.
    n_simulations : int
        How many sets of labels to draw; the p-value is at least 1 / (n_simulations + 1).
    rng : int, numpy.random.Generator or None
        The seed or generator of the draws.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; a row is one independent draw whatever its weight.

    Returns
    -------
    CalibrationTest

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics.multiclass import full_calibration_test
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1.0, 1.0, 1.0], size=500)
    >>> y = np.array([rng.choice(3, p=row) for row in p])
    >>> sharper = p**2 / (p**2).sum(axis=1, keepdims=True)
    >>> full_calibration_test(y, p).p_value > 0.05, full_calibration_test(y, sharper).p_value
    (True, 0.002)
    """
    _validation.check_count("n_simulations", n_simulations)
    labels, matrix, weights = sample.labels, sample.probabilities, sample.weights
    some = slice(None, None, max(1, -(-matrix.size // MOST_ENTRIES)))
    gaps = _Gaps(matrix[some], weights[some])
    generator = np.random.default_rng(rng)
    drawn = (gaps.families(gaps.draw(generator)) for _ in range(n_simulations))
    # The cube root of a sum of squares is nearly normal, however many squares there are.
    sums = np.cbrt([gaps.families(labels[some]), *drawn])
    # The observed labels are standardised together with the drawn ones, so that under calibration all are alike.
    spread = sums.std(axis=0)
    statistics = ((sums - sums.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)).max(axis=1)
    as_large = int((statistics[1:] >= statistics[0]).sum())
    return CalibrationTest(float(statistics[0]), (1 + as_large) / (1 + n_simulations))


class _Gaps:
    """Sums of a function of the row times (indicator − p): what does not depend on the labels is computed once."""

    def __init__(self, matrix: Floats, weights: Floats) -> None:
        self.matrix = matrix / matrix.sum(axis=1, keepdims=True)
        self.weights = weights
        self.cumulative = self.matrix.cumsum(axis=1)
        self.logs = np.log(links.clip(self.matrix))
        p, w = self.matrix, weights[:, None]
        self.frequencies = (w * p).sum(axis=0)
        self.slopes = (w * p * self.logs).sum(axis=0)
        spread = np.square(w) * p * (1.0 - p)
        self.frequency_variances = _positive(spread.sum(axis=0))
        self.slope_variances = _positive((spread * np.square(self.logs)).sum(axis=0))
        self.has_pairs = p.shape[1] <= PAIRS_UP_TO
        if self.has_pairs:
            self.pairs = (w * p).T @ p
            self.pair_variances = _positive(spread.T @ np.square(p))

    def draw(self, generator: np.random.Generator) -> Ints:
        """Labels from the probabilities."""
        return (generator.random((len(self.matrix), 1)) > self.cumulative[:, :-1]).sum(axis=1)

    def families(self, labels: Ints) -> list[float]:
        """The sum of squared gaps of each family; the first has one gap."""
        n_classes, hits = self.matrix.shape[1], self.logs[np.arange(len(labels)), labels]
        frequencies = np.bincount(labels, self.weights, n_classes) - self.frequencies
        slopes = np.bincount(labels, self.weights * hits, n_classes) - self.slopes
        out = [
            float(slopes.sum()) ** 2,
            float((np.square(frequencies) / self.frequency_variances).sum()),
            float((np.square(slopes) / self.slope_variances).sum()),
        ]
        if self.has_pairs:
            indicators = np.zeros(self.matrix.shape)
            indicators[np.arange(len(labels)), labels] = self.weights
            pairs = indicators.T @ self.matrix - self.pairs
            out.append(float((np.square(pairs) / self.pair_variances).sum()))
        return out


def _positive(variances: Floats) -> Floats:
    return np.where(variances > 0.0, variances, 1.0)
