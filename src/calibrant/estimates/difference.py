"""The difference between two sets of unlabelled rows that one model scored: two systems, or two periods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant import _validation
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.estimates.answer import N_DRAWS, draw_worlds
from calibrant.estimates.cells import as_unlabelled, make_cells
from calibrant.estimates.quantities import QUANTITIES, find_quantity
from calibrant.estimates.result import ends, format_interval
from calibrant.estimates.source import HasPosterior, check_posterior, outside
from calibrant.tally import Tally

__all__ = ["Difference", "estimate_difference"]


@dataclass(frozen=True, eq=False)
class Difference:
    """By how much a number differs between two sets of rows.

    Attributes
    ----------
    what : str
        The name of the number.
    value, low, high : float
        The first minus the second, and the ends of its interval.
    level : float
        Posterior probability inside the interval.
    first_higher : float
        Posterior probability that the number of the first set is the higher one.
    outside : tuple of float or None
        Shares of the rows of each set whose scores lie outside the labelled range.
    warning : str
        What to mind, or an empty text.
    draws : ndarray of shape (d,)
        The difference in each possible world.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> data = simulate.from_truth("D1", 300)
    >>> judge = BayesIso().fit(data.scores, data.labels)
    >>> answer = judge.estimate_difference(data.scores[150:], data.scores[:150])
    >>> 0 <= answer.first_higher <= 1
    True
    """

    what: str
    value: float
    low: float
    high: float
    level: float
    first_higher: float
    outside: tuple[float | None, float | None]
    warning: str
    draws: Floats = field(repr=False)

    @property
    def width(self) -> float:
        """The length of the interval."""
        return self.high - self.low

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws, ready for JSON."""
        names = ("what", "value", "low", "high", "level", "first_higher", "outside", "warning")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        head = (
            f"difference of {QUANTITIES[self.what].title} {format_interval(self.what, self.value, self.low, self.high)}"
        )
        text = f"{head}, level {self.level:g}; the first is higher with probability {self.first_higher:.2f}"
        return f"{text}\n{self.warning}" if self.warning else text


def estimate_difference(
    model: HasPosterior,
    first: ArrayLike | Tally,
    second: ArrayLike | Tally,
    what: str = "mean",
    *,
    threshold: float | None = None,
    level: float = 0.9,
    finite: bool = True,
    of: str = "probabilities",
    n_draws: int = N_DRAWS,
    random_state: RandomState = 0,
) -> Difference:
    """Compare two sets of unlabelled rows on the same maps, so that what is uncertain about both alike cancels.

    Parameters
    ----------
    model : fitted Bayesian calibrator, or a saved one with its posterior
        The judge of both sets.
    first, second : array-like of shape (n,) or Tally
        Their scores. The outcomes of different rows count as independent.
    what, threshold, level, finite, of, n_draws, random_state
        As for `estimate`.

    Returns
    -------
    Difference

    Examples
    --------
    >>> from calibrant import Blend, simulate
    >>> from calibrant.estimates import estimate_difference
    >>> data = simulate.bayes_iso(3000, rng=0)
    >>> judge = Blend().fit(data.scores[:200], data.labels[:200])
    >>> answer = estimate_difference(judge, data.scores[data.scores > 0.4], data.scores)
    >>> bool(answer.low > 0), answer.first_higher
    (True, 1.0)
    """
    check_posterior(model)
    level, count = _validation.check_level(level), _validation.check_count("n_draws", n_draws)
    quantity, rng = find_quantity(what), _validation.generator(random_state)
    tallies = [as_unlabelled(scores) for scores in (first, second)]
    cells = [make_cells(model, tally, [quantity], of, threshold) for tally in tallies]
    # One call for both sets: some methods draw differently at different scores.
    maps = np.clip(model.sample_maps(np.concatenate([c.scores for c in cells]), count, rng), 0.0, 1.0)
    both = np.split(maps, [len(cells[0].scores)], axis=1)
    values = [quantity.compute(own.outcomes(model.predict(own.scores)[None, :])) for own in cells]
    pairs = zip(cells, both, strict=True)
    worlds = [quantity.compute(draw_worlds(own, part, rng if finite else None)) for own, part in pairs]
    value, draws = float(values[0][0] - values[1][0]), worlds[0] - worlds[1]
    low, high = ends(what, value, draws, level)
    sure = draws[np.isfinite(draws)]
    higher = float((sure > 0.0).mean() + 0.5 * (sure == 0.0).mean())
    shares, warnings = zip(*(outside(model, tally) for tally in tallies), strict=True)
    warning = " ".join(f"{name}: {text}" for name, text in zip(("First", "Second"), warnings, strict=True) if text)
    return Difference(what, value, low, high, level, higher, (shares[0], shares[1]), warning, draws)
