"""One number about unlabelled rows: every map drawn from the posterior is pushed through their tally."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.estimates.cells import Cells, as_unlabelled, make_cells
from calibrant.estimates.quantities import QUANTITIES, Outcomes, find_quantity
from calibrant.estimates.result import Estimate, ends
from calibrant.estimates.source import HasPosterior, check_posterior, draw_outcomes, outside
from calibrant.tally import Tally

__all__ = ["estimate", "estimate_several"]

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
    >>> bool(answer.low < answer.value < answer.high)
    True
    """
    answers = estimate_several(
        model,
        scores,
        (what,),
        threshold=threshold,
        level=level,
        finite=finite,
        of=of,
        n_draws=n_draws,
        random_state=random_state,
    )
    return answers[what]


def estimate_several(
    model: HasPosterior,
    scores: ArrayLike | Tally,
    what: Iterable[str] = tuple(QUANTITIES),
    *,
    threshold: float | None = None,
    level: float = 0.9,
    finite: bool = True,
    of: str = "probabilities",
    n_draws: int = N_DRAWS,
    random_state: RandomState = 0,
) -> dict[str, Estimate]:
    """Answer several questions about the same rows in the same possible worlds.

    Parameters
    ----------
    model, scores
        As for `estimate`.
    what : iterable of str
        The questions; all of them unless stated.
    threshold, level, finite, of, n_draws, random_state
        As for `estimate`; the threshold holds for those questions that depend on one.

    Returns
    -------
    dict of str to Estimate

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> from calibrant.estimates import estimate_several
    >>> data = simulate.from_truth("D1", 300)
    >>> answers = estimate_several(BayesIso().fit(data.scores, data.labels), data.scores, ["mean", "auc"])
    >>> list(answers)
    ['mean', 'auc']
    """
    check_posterior(model)
    level, count = _validation.check_level(level), _validation.check_count("n_draws", n_draws)
    quantities = {name: find_quantity(name) for name in what}
    tally, rng = as_unlabelled(scores), _validation.generator(random_state)
    cells = make_cells(model, tally, list(quantities.values()), of, threshold)
    maps = np.clip(model.sample_maps(cells.scores, n_draws=count, random_state=rng), 0.0, 1.0)
    worlds = draw_worlds(cells, maps, rng if finite else None)
    fitted = cells.outcomes(model.predict(cells.scores)[None, :])
    share, warning = outside(model, tally)
    answers = {}
    for name, quantity in quantities.items():
        value, draws = float(quantity.compute(fitted)[0]), quantity.compute(worlds)
        low, high = ends(name, value, draws, level)
        answers[name] = Estimate(name, value, low, high, level, tally.total, share, warning, draws)
    return answers


def draw_worlds(cells: Cells, maps: Floats, rng: np.random.Generator | None) -> Outcomes:
    """Return the expected outcomes under each map; with a generator, outcomes drawn from it."""
    return cells.outcomes(maps) if rng is None else cells.with_positives(draw_outcomes(maps, cells.totals, rng))
