"""How many more labels an answer needs, by imagining them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints, RandomState
from calibrant.errors import InvalidInputError
from calibrant.estimates.estimation import estimate
from calibrant.estimates.rows import as_unlabelled, check_posterior, labelled_rows
from calibrant.tally import Tally, row_count

N_SIMULATIONS = 8
FIRST, STEP = 0.5, 2.0  # more labels to begin with, as a share of those there are, and the factor from trial to trial


@dataclass(frozen=True, eq=False)
class LabelsNeeded:
    """How many more labels make an interval as narrow as wanted.

    Attributes
    ----------
    quantity : str
        The number in question.
    width : float
        The wanted width of its interval.
    level : float
        The level of the interval.
    more : float
        How many more labels that takes, about; 0 if none, infinity if no number that was tried suffices.
    sizes : ndarray of shape (k,)
        The numbers of further labels that were tried, 0 first.
    widths : ndarray of shape (k,)
        The mean width of the interval with each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.estimates import LabelsNeeded
    >>> print(LabelsNeeded("mean", 0.1, 0.9, 120.0, np.array([0, 200]), np.array([0.14, 0.08])))
    about 120 more labels for an interval of width 0.1 (mean, level 0.9); the width is 0.14 now
    """

    quantity: str
    width: float
    level: float
    more: float
    sizes: Ints
    widths: Floats

    def __str__(self) -> str:
        wanted = f"for an interval of width {self.width:g} ({self.quantity}, level {self.level:g})"
        if self.more == 0:
            return f"no more labels {wanted}; the width is {self.widths[0]:.3g} now"
        if not np.isfinite(self.more):
            return (
                f"more than {self.sizes[-1]} labels {wanted}; with that many the width is {self.widths[-1]:.3g}, and "
                f"{self.widths[0]:.3g} now"
            )
        return f"about {row_count(self.more)} more labels {wanted}; the width is {self.widths[0]:.3g} now"


def labels_needed(
    calibrator: Any,
    unlabelled: ArrayLike | Tally,
    quantity: str = "mean",
    *,
    width: float,
    level: float = 0.9,
    most: int = 10_000,
    n_simulations: int = N_SIMULATIONS,
    rng: RandomState = 0,
    **options: Any,
) -> LabelsNeeded:
    """How many more labels, of rows drawn from the unlabelled ones, make the interval as narrow as wanted.

    A map is drawn from the posterior and taken for the truth; labels that it would give to rows drawn at random are
    added to those there are, the calibrator is fitted again, and the question asked again. The mean width over such
    simulations is found for growing numbers of labels, and interpolated.

    Parameters
    ----------
    calibrator : fitted Bayesian calibrator
        It remembers its labelled rows; a saved model cannot be fitted again.
    unlabelled : array-like of shape (n,) or Tally
        The rows that the answer is about, and of which some are to be labelled.
    quantity, level
        As for `estimate`.
    width : float
        The wanted width.
    most : int
        The largest number of further labels to try.
    n_simulations : int
        How often labels of each number are imagined.
    rng : int, Generator, RandomState or None
        The seed.
    **options
        Others of `estimate`: `threshold`, `sampling_noise`, `target`.

    Returns
    -------
    LabelsNeeded

    Examples
    --------
    >>> from calibrant import SplineCalibration, simulate
    >>> from calibrant.estimates import labels_needed
    >>> data = simulate.bayes_iso(2000, rng=0)
    >>> spline = SplineCalibration().fit(data.scores[:60], data.labels[:60])
    >>> plan = labels_needed(spline, data.scores[60:], "mean", width=0.1)
    >>> bool(50 < plan.more < 500)
    True
    """
    check_posterior(calibrator)
    rows = labelled_rows(calibrator)
    if rows is None or not hasattr(calibrator, "fit_tally"):
        name = type(calibrator).__name__
        raise InvalidInputError(f"`calibrator` must be a fitted one of one score that can be refitted; {name} is not.")
    wanted, most = _validation.check_number("width", width, "positive"), _validation.check_count("most", most)
    times = _validation.check_count("n_simulations", n_simulations)
    tally, generator = as_unlabelled(unlabelled), _validation.generator(rng)

    def width_of(model: Any) -> float:
        return estimate(model, tally, quantity, level=level, **options).width

    sizes, widths = [0], [width_of(calibrator)]
    trial = max(1.0, FIRST * rows.cells.total)
    while widths[-1] > wanted and sizes[-1] < most:
        sizes.append(min(round(trial), most))
        mean = np.mean([width_of(_imagine(calibrator, rows.cells, tally, sizes[-1], generator)) for _ in range(times)])
        widths.append(min(float(mean), widths[-1]))  # chance alone makes it grow
        trial *= STEP
    more = _interpolate(sizes, widths, rows.cells.total, wanted)
    return LabelsNeeded(quantity, wanted, level, more, np.array(sizes), np.array(widths))


def _imagine(calibrator: Any, labelled: Tally, unlabelled: Tally, n: int, rng: np.random.Generator) -> Any:
    """Fit again with n more rows, labelled by a map that is drawn from the posterior."""
    truth = np.clip(calibrator.sample_maps(unlabelled.scores, n_draws=1, random_state=rng)[0], 0.0, 1.0)
    drawn = rng.multinomial(n, unlabelled.totals / unlabelled.total)
    positives = rng.binomial(drawn, truth).astype(np.float64)
    kept = drawn > 0
    more = Tally(unlabelled.scores[kept], positives[kept], drawn[kept].astype(np.float64))
    return clone(calibrator).fit_tally(labelled + more)


def _interpolate(sizes: list[int], widths: list[float], n_labelled: float, wanted: float) -> float:
    """Return the number at which the width is reached, on straight lines between logarithms of labels and widths."""
    if widths[0] <= wanted:
        return 0.0
    if widths[-1] > wanted:
        return float("inf")
    labels = np.log(n_labelled + np.array(sizes[-2:]))
    logs = np.log(widths[-2:])
    # Widths fall, and what is interpolated must rise.
    return float(np.ceil(np.exp(np.interp(-np.log(wanted), -logs, labels)) - n_labelled))
