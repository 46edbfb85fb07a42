"""The few most likely tokens, as chat interfaces return them, as a column of logits for each option."""
# ruff: noqa: N803 - X is how scikit-learn calls what is transformed

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from calibrant import _validation
from calibrant._numerics.links import log_softmax
from calibrant._typing import ArrayLike, Floats
from calibrant.errors import InvalidInputError

LARGEST = 1e-6  # above 0 a log-probability is no rounding
SMALLEST_REST = 1e-9  # what rounding leaves of a row whose tokens have all the probability


class TopKReader(TransformerMixin, BaseEstimator):
    """Logits of some options from the k most likely tokens of each row, with one parameter for what was not returned.

    A token that was not returned is at most as likely as the least likely of those returned, and as all that is left
    for others. An option among them gets the logarithm of this bound, less the tail: how far below the bound such
    options lie, learned together with a temperature by how often they are right. The columns are scores for methods
    of several classes with ``space="decision"``, which learn the temperature again, and what each option is worth.

    Spaces around tokens do not count, nor do capitals, unless two options differ in nothing else: " A", "A" and "a" are
    the option A, and their probabilities are added up.

    Parameters
    ----------
    options : sequence of str
        The tokens that stand for the classes, such as A, B, C, D: the columns. There are three or more, sorted where
        labels are these words.
    tail : float, optional
        How far below the bound, in nats; by default it is learned.

    Attributes
    ----------
    tail_ : float
        The tail of the fit.

    Examples
    --------
    >>> from calibrant.engines import TopKReader
    >>> rows = [{"A": -0.1, "B": -3.0, "The": -4.0}, {"C": -0.2, " a": -2.0, "B": -4.0}]
    >>> TopKReader(["A", "B", "C"], tail=1.0).fit_transform(rows).round(1).tolist()
    [[-0.1, -3.0, -5.0], [-2.0, -4.0, -0.2]]
    """

    def __init__(self, options: Sequence[str], *, tail: float | None = None) -> None:
        self.options = options
        self.tail = tail

    def fit(self, X: Sequence[Mapping[str, float]], y: ArrayLike | None = None) -> Self:
        """Learn the tail.

        Parameters
        ----------
        X : sequence of dict of str to float
            The log-probability of each token that was returned.
        y : array-like of shape (n,), optional
            The right option of each row, or its number; not needed where `tail` is given.

        Returns
        -------
        self
        """
        if len(self.options) < 3:
            raise InvalidInputError(
                f"`options` must be three or more; got {len(self.options)}. With two, the difference of their "
                "log-probabilities is one decision score."
            )
        if self.tail is not None:
            self.tail_ = _validation.check_number("tail", self.tail, "not_negative")
            return self
        if y is None:
            raise InvalidInputError("`y` must be the right option of each row, or `tail` be given.")
        named = _validation.as_array(y, "y").dtype.kind in "UO"
        if named and list(self.options) != sorted(self.options):
            raise InvalidInputError("`options` must be sorted, as methods take columns for the sorted labels of `y`.")
        right = _validation.find_columns(y, self.options if named else range(len(self.options)))
        returned, bounds = self._read(X)
        _validation.check_same_length(len(returned), len(right), "y")

        def loss(parameters: Floats) -> float:
            """Minus the posterior density: the tail is about 1, within a factor of e."""
            inverse_temperature, tail = np.exp(parameters)
            chosen = log_softmax(inverse_temperature * _fill(returned, bounds, tail))[np.arange(len(right)), right]
            return float(0.5 * parameters[1] ** 2 - chosen.sum())

        self.tail_ = float(np.exp(minimize(loss, np.zeros(2), method="Nelder-Mead").x[1]))
        return self

    def transform(self, X: Sequence[Mapping[str, float]]) -> Floats:
        """The logits of the options, (n, K)."""
        check_is_fitted(self)
        return _fill(*self._read(X), self.tail_)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:  # noqa: ARG002 - X has none
        """The options, so that `set_output` can make tables with a column for each."""
        return np.array(self.options, dtype=object)

    def _read(self, rows: Sequence[Mapping[str, float]]) -> tuple[Floats, Floats]:
        """The log-probabilities of the options, -inf where they were not returned, and the bound on what was not."""
        matrix, bounds = np.empty((len(rows), len(self.options))), np.empty(len(rows))
        read = _reading(self.options)
        names = [read(option) for option in self.options]
        for i, row in enumerate(rows):
            values = np.array(list(row.values()), dtype=np.float64)
            if not len(values) or not (values <= LARGEST).all():
                raise InvalidInputError(
                    f"Each row must have the log-probability, at most 0, of at least one token; row {i} has "
                    f"{dict(row)!r}. Take logarithms of probabilities."
                )
            left = max(1.0 - float(np.exp(values).sum()), SMALLEST_REST)
            bounds[i] = min(float(values.min()), np.log(left))
            tokens = np.array([read(token) for token in row])
            matrix[i] = [np.logaddexp.reduce(values[tokens == name]) for name in names]
        return matrix, bounds


def _fill(returned: Floats, bounds: Floats, tail: float) -> Floats:
    return np.where(np.isneginf(returned), (bounds - tail)[:, None], returned)


def _reading(options: Sequence[str]) -> Callable[[str], str]:
    """How tokens are read: as loosely as keeps the options apart."""
    readings: list[Callable[[str], str]] = [lambda token: token.strip().casefold(), str.strip]
    return next((read for read in readings if len(set(map(read, options))) == len(options)), str)
