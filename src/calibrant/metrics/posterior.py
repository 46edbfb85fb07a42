"""The posterior of a metric, given a calibrator that has a posterior over maps."""

from functools import partial

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import HasPosterior, RandomState
from calibrant.errors import InvalidInputError
from calibrant.intervals import Interval
from calibrant.metrics.binned import expected_calibration_error
from calibrant.metrics.samples import Metric, as_tally
from calibrant.tally import Tally


def metric_posterior(
    calibrator: HasPosterior,
    tally: Tally,
    metric: Metric | None = None,
    *,
    level: float = 0.9,
    n_draws: int = 200,
    rng: RandomState = 0,
) -> Interval:
    """The value that a metric of the raw scores would have without label noise, given what is known of the true map.

    Each map drawn from the calibrator's posterior is taken for the truth: every cell of the tally gets the share of
    positives that the map says, and the metric is computed on that. The noise of single labels is gone; uncertainty
    about the map remains, and as distances are never negative it keeps the posterior of a calibrated model above 0
    until there are many rows.

    Parameters
    ----------
    calibrator : fitted Bayesian calibrator
        Anything with `sample_maps`, such as ABB or BayesIso, fitted on these scores (or on others of the same model).
    tally : Tally
        The scores whose calibration is judged. Above 2048 distinct scores it is coarsened.
    metric : callable, optional
        A metric of a tally; by default the mean ``|score − truth|``, without bins.
    level : float
        Level of the credible interval.
    n_draws : int
        Number of maps drawn.
    rng : int, numpy.random.Generator, RandomState or None
        The seed or generator of the maps drawn.

    Returns
    -------
    Interval
        The posterior mean with the central credible interval.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Tally, metrics
    >>> class Shrinks:  # a posterior of two maps
    ...     def sample_maps(self, scores, n_draws=100, random_state=0):
    ...         return np.array([scores, 0.5 + 0.5 * (scores - 0.5)])
    >>> print(metrics.metric_posterior(Shrinks(), Tally.from_arrays([0.1, 0.9], [0, 1]), level=0.5))
    0.1000 [0.0500, 0.1500]
    """
    if not hasattr(calibrator, "sample_maps"):
        raise InvalidInputError(
            f"`calibrator` must have a posterior over maps (`sample_maps`); {type(calibrator).__name__} has none. Use "
            "a Bayesian method such as ABB or BayesIso."
        )
    _validation.check_level(level)
    cells = as_tally(tally).coarsen(_limits.POSTERIOR_CELLS)
    judge = partial(expected_calibration_error, strategy="cells") if metric is None else metric
    maps = calibrator.sample_maps(cells.scores, n_draws=n_draws, random_state=rng)
    values = [judge(Tally(cells.scores, np.clip(truth, 0.0, 1.0) * cells.totals, cells.totals)) for truth in maps]
    low, high = np.quantile(values, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    return Interval(float(np.mean(values)), float(low), float(high), level)
