"""Which rows to label next, so that an answer gains the most."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, Ints, RandomState
from calibrant.estimates.answer import draw_worlds
from calibrant.estimates.cells import as_unlabelled, make_cells
from calibrant.estimates.quantities import find_quantity
from calibrant.estimates.source import HasPosterior, check_posterior
from calibrant.tally import Tally

__all__ = ["Proposal", "which_to_label"]

N_DRAWS = 1000
CELLS = 200  # among which rows are chosen
RIDGE = 1e-6  # of the variance of a probability: drawn covariances are nearly singular


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rows worth labelling.

    Attributes
    ----------
    rows : ndarray of int
        The positions of the rows among the scores that were given; empty where a tally was.
    scores, counts : ndarray of shape (m,)
        How many rows to label around each score.
    removed : float
        The share of the variance of the answer that these labels are expected to remove.
    removed_at_random : float
        The share that as many rows drawn at random are expected to remove.

    Examples
    --------
    >>> from calibrant import SplineCalibration, simulate
    >>> from calibrant.estimates import which_to_label
    >>> data = simulate.bayes_iso(1000, rng=0)
    >>> spline = SplineCalibration().fit(data.scores[:50], data.labels[:50])
    >>> plan = which_to_label(spline, data.scores[50:], budget=20)
    >>> len(plan.rows), bool(0 < plan.removed < 1)
    (20, True)
    """

    rows: Ints = field(repr=False)
    scores: Floats
    counts: Ints
    removed: float
    removed_at_random: float


def which_to_label(
    model: HasPosterior,
    unlabelled: ArrayLike | Tally,
    budget: int,
    what: str = "mean",
    *,
    threshold: float | None = None,
    of: str = "probabilities",
    random_state: RandomState = 0,
) -> Proposal:
    """Choose rows whose labels are expected to remove the most variance from an answer.

    Rows are chosen by their scores alone, one after the other. The map at all scores and the answer count as jointly
    normal with the moments of the posterior, and a label as a measurement of the map with variance p (1 − p); each
    choice is the one that removes the most variance given those before it. Labels chosen so can be added to the others
    without weights: given the score, a row was not chosen by its outcome.

    Parameters
    ----------
    model : fitted Bayesian calibrator, or a saved one with its posterior
        The model that answers.
    unlabelled : array-like of shape (n,) or Tally
        The rows that the answer is about, and that can be labelled.
    budget : int
        How many to choose; all of them if there are fewer.
    what, threshold, of
        The question, as for `estimate`.
    random_state : int, Generator, RandomState or None
        The seed of the draws and of the choice among rows of one cell.

    Returns
    -------
    Proposal

    Examples
    --------
    >>> from calibrant import SplineCalibration, simulate
    >>> from calibrant.estimates import which_to_label
    >>> data = simulate.bayes_iso(1000, rng=0)
    >>> spline = SplineCalibration().fit(data.scores[:50], data.labels[:50])
    >>> plan = which_to_label(spline, data.scores[50:], budget=50, what="auc")
    >>> plan.removed > plan.removed_at_random
    True
    """
    check_posterior(model)
    count, quantity = _validation.check_count("budget", budget), find_quantity(what)
    tally, rng = as_unlabelled(unlabelled), _validation.generator(random_state)
    cells = make_cells(model, tally, [quantity], of, threshold, most=CELLS)
    maps = np.clip(model.sample_maps(cells.scores, n_draws=N_DRAWS, random_state=rng), 0.0, 1.0)
    answers = quantity.compute(draw_worlds(cells, maps, None))
    known = np.isfinite(answers)
    joint = np.cov(np.column_stack((maps[known], answers[known])), rowvar=False)
    noise = (maps * (1.0 - maps)).mean(axis=0)
    chosen, removed = _choose(joint, noise, cells.totals, count)
    random = _remove_at_random(joint, noise, cells.totals, count)
    picked = chosen > 0
    order = np.argsort(cells.scores[picked])
    rows = np.empty(0, dtype=np.intp)
    if not isinstance(unlabelled, Tally):
        rows = _pick_rows(_validation.check_scores(unlabelled), cells.scores, chosen, rng)
    return Proposal(rows, cells.scores[picked][order], chosen[picked][order], removed, random)


def _choose(joint: Floats, noise: Floats, totals: Floats, budget: int) -> tuple[Ints, float]:
    """Choose cells one label at a time; the last row of `joint` is the answer. O(budget · cells²)."""
    covariance = joint.copy()
    chosen = np.zeros(len(noise), dtype=np.intp)
    before = covariance[-1, -1]
    for _ in range(budget):
        variance = covariance.diagonal()[:-1] + noise + RIDGE
        gain = np.where(chosen + 1.0 <= totals + 1e-9, covariance[-1, :-1] ** 2 / variance, -1.0)
        best = int(gain.argmax())
        if gain[best] < 0.0:
            break
        chosen[best] += 1
        column = covariance[:, best]
        covariance = covariance - np.outer(column, column) / variance[best]
    return chosen, 1.0 - float(covariance[-1, -1] / before) if before > 0.0 else 0.0


def _remove_at_random(joint: Floats, noise: Floats, totals: Floats, budget: int) -> float:
    """The share of variance that labels in proportion to the rows of each cell remove."""
    each = budget * totals / totals.sum()
    inner, answer = joint[:-1, :-1], joint[-1, :-1]
    precision = np.linalg.solve(inner + np.diag((noise + RIDGE) / each), answer)
    return float(answer @ precision / joint[-1, -1]) if joint[-1, -1] > 0.0 else 0.0


def _pick_rows(scores: Floats, cells: Floats, chosen: Ints, rng: np.random.Generator) -> Ints:
    """Pick rows of the chosen cells: those whose scores are nearest, and of equally near ones any."""
    taken = np.zeros(len(scores), dtype=bool)
    shuffled = rng.permutation(len(scores))
    for cell in np.flatnonzero(chosen):
        free = shuffled[~taken[shuffled]]
        count = min(int(chosen[cell]), len(free))
        nearest = np.argpartition(np.abs(scores[free] - cells[cell]), count - 1)[:count]
        taken[free[nearest]] = True
    return np.flatnonzero(taken)
