"""One number about unlabelled rows: every map drawn from the posterior is pushed through their tally."""

from __future__ import annotations

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.estimates.cells import Cells, as_unlabelled, make_cells
from calibrant.estimates.quantities import Quantity, find_quantity
from calibrant.estimates.result import Estimate, ends
from calibrant.estimates.source import HasPosterior, check_posterior, draw_outcomes, outside
from calibrant.tally import Tally

__all__ = ["estimate"]

N_DRAWS = 400  # the ends of a 90 % interval then vary by 5 % of its width


def estimate(
    model: HasPosterior,
    scores: ArrayLike | Tally,
    what: str = "mean",
    *,
    threshold: float | None = None,
    level: float = 0.9,
    finite: bool = True,
    of: str = "probabilities",
    n_draws: int = N_DRAWS,
    random_state: RandomState = 0,
) -> Estimate:
    """Say something about rows without labels, from a posterior over maps.

    The labelled rows of the model and these rows must have the same relation of scores and outcomes; their scores may
    be distributed differently.

    Parameters
    ----------
    model : fitted Bayesian calibrator, or a saved one with its posterior
        Anything with `predict` and `sample_maps`.
    scores : array-like of shape (n,) or Tally
        The unlabelled scores, or their tally (see `count_scores`); its labels are not looked at.
    what : str
        "mean" (the share of positives), "positives" (their number), "accuracy", "precision", "recall", "specificity",
        "f1", "auc", "brier_score", "log_loss" or "net_benefit".
    threshold : float, optional
        Rows from this value on are called positive; 0.5 unless stated. Net benefit must be told.
    level : float
        Posterior probability inside the interval.
    finite : bool
        Whether the number is that of these very rows, whose outcomes are random given their probabilities, or what is
        to be expected at these scores. The former has the wider interval.
    of : {"probabilities", "scores"}
        Whose accuracy, area, loss …: that of the calibrated probabilities, or of the scores as they came.
    n_draws : int
        How many maps are drawn.
    random_state : int, Generator, RandomState or None
        The seed of the draws.

    Returns
    -------
    Estimate

    Notes
    -----
    The value is that of the fitted map. Above 512 distinct scores neighbours are merged, so a billion rows cost
    what their cells cost.

    Examples
    --------
    >>> from calibrant import Blend, simulate
    >>> from calibrant.estimates import estimate
    >>> data = simulate.bayes_iso(3000, rng=0)
    >>> blend = Blend().fit(data.scores[:200], data.labels[:200])
    >>> answer = estimate(blend, data.scores[200:], "accuracy", threshold=0.5)
    >>> truth = ((blend.predict(data.scores[200:]) >= 0.5) == data.labels[200:]).mean()
    >>> bool(answer.low < truth < answer.high)
    True
    """
    check_posterior(model)
    level, count = _validation.check_level(level), _validation.check_count("n_draws", n_draws)
    quantity, tally = find_quantity(what), as_unlabelled(scores)
    rng = _validation.generator(random_state)
    cells = make_cells(model, tally, quantity, of, threshold)
    maps = np.clip(model.sample_maps(cells.scores, n_draws=count, random_state=rng), 0.0, 1.0)
    value = expected(quantity, cells, model.predict(cells.scores))
    draws = possible(quantity, cells, maps, rng if finite else None)
    low, high = ends(what, value, draws, level)
    return Estimate(what, value, low, high, level, tally.total, *outside(model, tally), draws)


def expected(quantity: Quantity, cells: Cells, probabilities: Floats) -> float:
    """Return the number at given probabilities of the cells, (m,)."""
    return float(quantity.compute(cells.outcomes(probabilities[None, :]))[0])


def possible(quantity: Quantity, cells: Cells, maps: Floats, rng: np.random.Generator | None) -> Floats:
    """Return the number under each map, (d,); with a generator, that of outcomes drawn from the map."""
    if rng is None:
        return quantity.compute(cells.outcomes(maps))
    return quantity.compute(cells.with_positives(draw_outcomes(maps, cells.totals, rng)))
