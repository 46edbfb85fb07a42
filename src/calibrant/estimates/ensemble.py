"""Answers from several calibrated models whose probabilities are averaged, such as those of cross-fitting."""

from collections.abc import Sequence

import numpy as np

from calibrant import _limits, _validation
from calibrant._typing import Floats, HasPosterior, Ints, RandomState
from calibrant.estimates import rows
from calibrant.estimates.estimation import Estimate
from calibrant.estimates.quantities import find_quantity


def estimate_ensemble(
    members: Sequence[tuple[HasPosterior, Floats]],
    probabilities: Floats,
    quantity: str = "mean",
    *,
    threshold: float | None = None,
    level: float = 0.9,
    sampling_noise: bool = True,
    n_draws: int = 400,
    rng: RandomState = 0,
) -> Estimate:
    """Say something about unlabelled rows that several models score, each with a posterior over its own map.

    What is judged are the averaged probabilities. Every possible world is a draw of one model's map; the models give
    equal shares of the worlds, so the interval also covers how much they differ.

    Parameters
    ----------
    members : sequence of (model, scores)
        Each model with its own scores of the rows, (n,).
    probabilities : ndarray of shape (n,)
        The averaged probabilities of the rows.
    quantity, threshold, level, sampling_noise, n_draws, rng
        As for `estimate`.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import ABB
    >>> from calibrant.estimates.ensemble import estimate_ensemble
    >>> scores = np.linspace(0.0, 1.0, 50)
    >>> models = [ABB().fit(scores, scores > cut) for cut in (0.4, 0.6)]
    >>> averaged = np.mean([model.predict(scores) for model in models], axis=0)
    >>> answer = estimate_ensemble([(model, scores) for model in models], averaged)
    >>> round(answer.value, 1)
    0.5
    """
    level, count = _validation.check_level(level), _validation.check_count("n_draws", n_draws)
    asked, generator = find_quantity(quantity), _validation.generator(rng)
    limit = rows.check_threshold([asked], "probabilities", threshold)
    cells, owner = rows.merge_rows(probabilities, limit)
    each = -(-count // len(members))
    fitted, worlds, shares = [], [], []
    for model, scores in members:
        rows.check_posterior(model)
        shares.append(rows.outside(model, rows.count_scores(scores)))
        own, maps = _average_in_cells((model, scores), owner, cells.totals, each, generator)
        fitted.append(own)
        worlds.append(asked.compute(cells.outcomes(maps, generator if sampling_noise else None)))
    draws = np.concatenate(worlds)
    value = float(asked.compute(cells.outcomes(np.mean(fitted, axis=0)[None, :]))[0])
    share, warning = max(shares, key=lambda pair: pair[0] or 0.0)
    facts = {"rows": float(len(probabilities)), "outside": share, "warning": warning}
    return Estimate.from_draws(quantity, value, draws, level, **facts)


def _average_in_cells(
    member: tuple[HasPosterior, Floats], owner: Ints, totals: Floats, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The fitted map of a model, (m,), and draws of it, (n_draws, m), averaged over the rows of each cell."""
    from scipy.sparse import coo_array

    model, scores = member
    distinct, inverse = np.unique(scores, return_inverse=True)
    counts = np.bincount(inverse, minlength=len(distinct)).astype(np.float64)
    group = rows.join(counts, _limits.ESTIMATE_CELLS)[inverse]
    means = np.bincount(group, scores) / np.bincount(group)
    # Entry (group of scores, cell) is the share of the cell's rows that have a score of the group.
    shares = coo_array((1.0 / totals[owner], (group, owner)), shape=(len(means), len(totals))).tocsr()
    fitted, maps = rows.draw_levelled_maps(model, means, n_draws, rng)
    return np.clip(fitted @ shares, 0.0, 1.0), np.clip(maps @ shares, 0.0, 1.0)
