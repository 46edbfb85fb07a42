"""The numbers that can be asked for, each a function of how many rows of each cell are positive."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from calibrant import _validation
from calibrant._numerics import links
from calibrant._typing import Bools, Floats


class Outcomes(NamedTuple):
    """Outcomes of rows in cells, which are sorted by what the model says of their rows.

    Attributes
    ----------
    values : ndarray of shape (m,)
        What the model says of the rows of each cell, never decreasing: its probability or its score.
    called : ndarray of shape (m,)
        Whether it calls them positive.
    totals : ndarray of shape (m,)
        Numbers of rows.
    positives : ndarray of shape (d, m)
        Numbers of positive rows, in each of d possible worlds.
    threshold : float
        From which value on rows are called positive.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.estimates.quantities import QUANTITIES, Outcomes
    >>> values, positives = np.array([0.2, 0.8]), np.array([[1.0, 3.0]])
    >>> outcomes = Outcomes(values, values >= 0.5, np.array([4.0, 4.0]), positives, 0.5)
    >>> {name: QUANTITIES[name].compute(outcomes).tolist() for name in ("mean", "accuracy", "recall")}
    {'mean': [0.5], 'accuracy': [0.75], 'recall': [0.75]}
    """

    values: Floats
    called: Bools
    totals: Floats
    positives: Floats
    threshold: float

    @property
    def true_positives(self) -> Floats:
        """Positive rows that are called positive, (d,)."""
        return self.positives @ self.called.astype(np.float64)

    @property
    def true_negatives(self) -> Floats:
        """Negative rows that are not called positive, (d,)."""
        return self.negatives @ (~self.called).astype(np.float64)

    @property
    def n_positive(self) -> Floats:
        """Positive rows, (d,)."""
        return self.positives.sum(axis=1)

    @property
    def negatives(self) -> Floats:
        """Numbers of negative rows, in each world, (d, m)."""
        return self.totals - self.positives

    @property
    def n_negative(self) -> Floats:
        """Negative rows, (d,)."""
        return self.n_rows - self.n_positive

    @property
    def n_called(self) -> float:
        """Rows that are called positive."""
        return float(self.totals[self.called].sum())

    @property
    def n_rows(self) -> float:
        """All rows."""
        return float(self.totals.sum())


Compute: TypeAlias = Callable[[Outcomes], Floats]


class Quantity(NamedTuple):
    """A number that can be asked for.

    Attributes
    ----------
    title : str
        How tables and sentences call it.
    compute : callable
        Its value in each possible world; NaN where it has none.
    decides : bool
        Whether it depends on a threshold.
    probabilities : bool
        Whether the judged numbers must be probabilities.

    Examples
    --------
    >>> from calibrant.estimates.quantities import QUANTITIES
    >>> QUANTITIES["precision"].decides, QUANTITIES["auc"].decides
    (True, False)
    """

    title: str
    compute: Compute
    decides: bool = False
    probabilities: bool = False


def _ratio(numerator: Floats, denominator: Floats | float) -> Floats:
    """Return the quotient, or NaN where nothing is counted."""
    below = np.broadcast_to(np.asarray(denominator, dtype=np.float64), numerator.shape)
    return np.divide(numerator, below, out=np.full(numerator.shape, np.nan), where=below > 0.0)


def _auc(outcomes: Outcomes) -> Floats:
    """Share of the pairs of a positive and a negative row that are in the right order; a tie counts half."""
    starts = np.flatnonzero(np.diff(outcomes.values, prepend=-np.inf))  # cells of one value are one tie
    positive, negative = (np.add.reduceat(rows, starts, axis=1) for rows in (outcomes.positives, outcomes.negatives))
    below = np.cumsum(negative, axis=1) - 0.5 * negative
    return _ratio((positive * below).sum(axis=1), outcomes.n_positive * outcomes.n_negative)


def _brier(outcomes: Outcomes) -> Floats:
    values = outcomes.values
    return _ratio(outcomes.positives @ (1.0 - values) ** 2 + outcomes.negatives @ values**2, outcomes.n_rows)


def _log_loss(outcomes: Outcomes) -> Floats:
    p = links.clip(outcomes.values)
    loss = outcomes.positives @ -np.log(p) + outcomes.negatives @ -np.log1p(-p)
    return _ratio(loss, outcomes.n_rows)


def _net_benefit(outcomes: Outcomes) -> Floats:
    false_positives = outcomes.n_called - outcomes.true_positives
    odds = outcomes.threshold / (1.0 - outcomes.threshold)
    return _ratio(outcomes.true_positives - odds * false_positives, outcomes.n_rows)


QUANTITIES: dict[str, Quantity] = {
    "mean": Quantity("mean outcome", lambda o: _ratio(o.n_positive, o.n_rows)),
    "positives": Quantity("positive rows", lambda o: o.n_positive),
    "accuracy": Quantity("accuracy", lambda o: _ratio(o.true_positives + o.true_negatives, o.n_rows), decides=True),
    "precision": Quantity("precision", lambda o: _ratio(o.true_positives, o.n_called), decides=True),
    "recall": Quantity("recall", lambda o: _ratio(o.true_positives, o.n_positive), decides=True),
    "specificity": Quantity("specificity", lambda o: _ratio(o.true_negatives, o.n_negative), decides=True),
    "f1": Quantity("F1", lambda o: _ratio(2.0 * o.true_positives, o.n_called + o.n_positive), decides=True),
    "auc": Quantity("area under the curve", _auc),
    "brier_score": Quantity("Brier score", _brier, probabilities=True),
    "log_loss": Quantity("log-loss", _log_loss, probabilities=True),
    "net_benefit": Quantity("net benefit", _net_benefit, decides=True, probabilities=True),
}


def find_quantity(name: str) -> Quantity:
    """Return the quantity of a name."""
    return QUANTITIES[_validation.check_choice("quantity", name, tuple(QUANTITIES))]
