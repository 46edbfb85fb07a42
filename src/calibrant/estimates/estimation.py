"""Numbers about rows without labels: every map drawn from the posterior is pushed through their tally."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from calibrant import _validation
from calibrant._typing import Floats, RandomState
from calibrant.errors import InvalidInputError
from calibrant.estimates.quantities import QUANTITIES, Outcomes, find_quantity
from calibrant.estimates.rows import (
    Cells,
    as_unlabelled,
    check_posterior,
    count_labels,
    draw_levelled_maps,
    make_cells,
    outside,
)
from calibrant.intervals import Interval, plain
from calibrant.tally import row_count


@dataclass(frozen=True, eq=False)
class Answer(Interval):
    """What all results have: the quantity, what to mind, and the draws that the interval is taken from."""

    quantity: str
    warning: str
    draws: Floats = field(repr=False)

    @classmethod
    def from_draws(cls, quantity: str, value: float, draws: Floats, level: float, **facts: Any) -> Self:
        """The central interval of the draws, stretched to hold the value; worlds without one do not count."""
        if not np.isfinite(value):
            raise InvalidInputError(
                f"`quantity`={quantity!r} has no value on these rows: nothing is called positive, or all of them are "
                "of one class. Choose another threshold, or another quantity."
            )
        low, high = np.nanquantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
        low, high = min(float(low), value), max(float(high), value)
        return cls(value=value, low=low, high=high, level=level, quantity=quantity, draws=draws, **facts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws, ready for JSON."""
        return {entry.name: plain(getattr(self, entry.name)) for entry in fields(self) if entry.repr}

    def describe(self, name: str, suffix: str, more: str = "") -> str:
        """The value with its interval in words: whole rows without decimals, everything else with four."""
        digits = 0 if self.quantity == "positives" else 4
        value, low, high = (f"{number:.{digits}f}" for number in (self.value, self.low, self.high))
        text = f"{name} {value} [{low}, {high}], level {self.level:g}{suffix}"
        return "\n".join(filter(None, (text, more, self.warning)))


@dataclass(frozen=True, eq=False)
class Estimate(Answer):
    """A number about rows whose labels are unknown, with its interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Posterior probability inside the interval.
    quantity : str
        The name of the number.
    warning : str
        What to mind, or an empty text.
    draws : ndarray of shape (d,)
        The number in each possible world, from which the interval is taken.
    rows : float
        Number of unlabelled rows.
    outside : float or None
        Share of them whose score lies outside the range of the labelled scores; None where that is not known.
    counted : Interval or None
        Of the mean outcome: what counting the labelled rows alone gives, if these rows are like them.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> data = simulate.from_truth("D1", 300)
    >>> answer = BayesIso().fit(data.scores, data.labels).estimate(data.scores, "mean")
    >>> bool(answer.low < answer.value < answer.high), answer.outside
    (True, 0.0)
    """

    rows: float
    outside: float | None
    counted: Interval | None = None

    @property
    def against_counting(self) -> str:
        """Whether the interval is narrower than that of counting, in a sentence; empty where that is not known."""
        if self.counted is None:
            return ""
        does = "narrow" if self.width < self.counted.width else "do not narrow"
        return (
            f"The scores {does} the interval: counting the labels alone, if they are of rows like these, would give "
            f"{self.counted}, {self.counted.width / self.width:.2f} times as wide."
        )

    def __str__(self) -> str:
        return self.describe(QUANTITIES[self.quantity].title, f", {row_count(self.rows)} rows", self.against_counting)


@dataclass(frozen=True, eq=False)
class Difference(Answer):
    """By how much a number differs between two sets of rows.

    Attributes
    ----------
    value, low, high : float
        The first minus the second, and the ends of its interval.
    level : float
        Posterior probability inside the interval.
    quantity : str
        The name of the number.
    warning : str
        What to mind, or an empty text.
    draws : ndarray of shape (d,)
        The difference in each possible world.
    first_higher : float
        Posterior probability that the number of the first set is the higher one.
    outside : tuple of float or None
        Shares of the rows of each set whose scores lie outside the labelled range.

    Examples
    --------
    >>> from calibrant import BayesIso, simulate
    >>> data = simulate.from_truth("D1", 300)
    >>> judge = BayesIso().fit(data.scores, data.labels)
    >>> answer = judge.estimate_difference(data.scores[150:], data.scores[:150])
    >>> 0 <= answer.first_higher <= 1
    True
    """

    first_higher: float
    outside: tuple[float | None, float | None]

    def __str__(self) -> str:
        name = f"difference of {QUANTITIES[self.quantity].title}"
        return self.describe(name, f"; the first is higher with probability {self.first_higher:.2f}")


N_DRAWS = 400  # the ends of a 90 % interval then vary by 5 % of its width


def estimate(model: Any, scores: Any, quantity: str = "mean", **options: Any) -> Estimate:
    """Say something about rows without labels, from a posterior over maps.

    The labelled rows of the model and these rows must have the same relation of scores and outcomes; their scores may
    be distributed differently.

    Parameters
    ----------
    model : fitted Bayesian calibrator, or a saved one with its posterior
        Anything with `predict` and `sample_maps`.
    scores : array-like of shape (n,), Tally, or table
        The unlabelled scores, or their tally (see `count_scores`); its labels are not looked at. Of a model of several
        scores, a table of them.
    quantity : str
        "mean" (the share of positives), "positives" (their number), "accuracy", "precision", "recall", "specificity",
        "f1", "auc", "brier_score", "log_loss" or "net_benefit".
    threshold : float, optional
        Rows from this value on are called positive; 0.5 unless stated. Net benefit must be told.
    level : float
        Posterior probability inside the interval.
    sampling_noise : bool
        Whether the interval is for these very rows, whose outcomes are random given their probabilities, or for what
        is to be expected at these scores. The former is wider.
    target : {"probabilities", "scores"}
        Whose accuracy, area, loss …: that of the calibrated probabilities, or of the scores as they came.
    n_draws : int
        How many maps are drawn.
    rng : int, Generator, RandomState or None
        The seed of the draws.

    Returns
    -------
    Estimate

    Notes
    -----
    The value is that of the fitted map, at the level that the labelled rows ask for: on the logit scale every map is
    shifted towards as many positives as they have, by a fraction that grows with their number. So a judge that is
    generous to all does not carry its prejudice into the answer. Above 512 distinct scores neighbours are merged, so a
    billion rows cost what their cells cost.

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
    return estimate_several(model, scores, (quantity,), **options)[quantity]


def estimate_several(
    model: Any, scores: Any, quantities: Iterable[str] = tuple(QUANTITIES), **options: Any
) -> dict[str, Estimate]:
    """Estimate several numbers about the same rows in the same possible worlds.

    Parameters
    ----------
    model, scores
        As for `estimate`.
    quantities : iterable of str
        Their names; all of them unless stated.
    threshold, level, sampling_noise, target, n_draws, rng
        As for `estimate`; the threshold holds for those quantities that depend on one.

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
    return estimate_sets(model, [scores], quantities, **options)[0]


def estimate_difference(model: Any, first: Any, second: Any, quantity: str = "mean", **options: Any) -> Difference:
    """Compare two sets of unlabelled rows on the same maps, so that what is uncertain about both alike cancels.

    Parameters
    ----------
    model : fitted Bayesian calibrator, or a saved one with its posterior
        The judge of both sets.
    first, second : array-like of shape (n,), Tally, or table
        Their scores. The outcomes of different rows count as independent.
    quantity, threshold, level, sampling_noise, target, n_draws, rng
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
    one, other = (each[quantity] for each in estimate_sets(model, [first, second], (quantity,), **options))
    draws = one.draws - other.draws
    finite = draws[np.isfinite(draws)]
    named = {"First": one.warning, "Second": other.warning}
    return Difference.from_draws(
        quantity,
        one.value - other.value,
        draws,
        one.level,
        warning=" ".join(f"{name}: {text}" for name, text in named.items() if text),
        first_higher=float((finite > 0.0).mean() + 0.5 * (finite == 0.0).mean()),
        outside=(one.outside, other.outside),
    )


def estimate_sets(
    model: Any,
    sets: Sequence[Any],
    quantities: Iterable[str],
    *,
    threshold: float | None = None,
    level: float = 0.9,
    sampling_noise: bool = True,
    target: str = "probabilities",
    n_draws: int = N_DRAWS,
    rng: RandomState = 0,
) -> list[dict[str, Estimate]]:
    """Estimate several numbers about several sets of rows in the same possible worlds; for arguments see `estimate`."""
    level, generator = _validation.check_level(level), _validation.generator(rng)
    chosen = {name: find_quantity(name) for name in quantities}
    check_posterior(model)
    # A model that draws in chunks of rows, such as a panel, reads them itself.
    rows = [scores if hasattr(model, "draw_chunks") else as_unlabelled(scores) for scores in sets]
    cells = [make_cells(model, each, list(chosen.values()), target, threshold) for each in rows]
    pushed = _push_through(model, cells, n_draws, generator, sampling_noise=sampling_noise)
    answers: list[dict[str, Estimate]] = []
    for each, (fitted, worlds) in zip(rows, pushed, strict=True):
        share, warning = outside(model, each)
        facts: dict[str, Any] = {"rows": fitted.n_rows, "outside": share, "warning": warning}
        counted = count_labels(model, level, fitted.n_rows if sampling_noise else np.inf)
        found = {}
        for name, one in chosen.items():
            facts["counted"] = counted if name == "mean" else None
            found[name] = Estimate.from_draws(name, float(one.compute(fitted)[0]), one.compute(worlds), level, **facts)
        answers.append(found)
    return answers


def _push_through(
    model: Any, sets: Sequence[Cells], n_draws: int, rng: np.random.Generator, *, sampling_noise: bool
) -> list[tuple[Outcomes, Outcomes]]:
    """Return the outcomes under the fitted map, and in possible worlds, of each set of rows."""
    count = _validation.check_count("n_draws", n_draws)
    if sets[0].table is not None:
        seed = int(rng.integers(2**31))  # the same maps for all sets
        averaged = [cells.average(model.draw_chunks(cells.table, count, seed)) for cells in sets]
        drawn = [(maps[0], maps[1:]) for maps in averaged]
    else:
        # One call for all sets: some methods draw differently at different scores.
        fitted, maps = draw_levelled_maps(model, np.concatenate([cells.scores for cells in sets]), count, rng)
        ends = np.cumsum([len(cells.scores) for cells in sets])[:-1]
        drawn = list(zip(np.split(fitted, ends), np.split(maps, ends, axis=1), strict=True))
    return [
        (cells.outcomes(own[None, :]), cells.outcomes(worlds, rng if sampling_noise else None))
        for cells, (own, worlds) in zip(sets, drawn, strict=True)
    ]


class EstimateMethods:
    """A base of models with `predict` and `sample_maps`: the functions as their methods."""

    estimate = estimate
    estimate_difference = estimate_difference
