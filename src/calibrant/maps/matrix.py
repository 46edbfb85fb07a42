"""The fitted map of several classes: a linear pool of closed formulas that numpy alone evaluates."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from calibrant import _validation
from calibrant._numerics.links import log_odds, log_softmax, softmax
from calibrant._typing import ArrayLike, Bools, Floats, RandomState
from calibrant._validation import ROW_SUM_TOLERANCE, as_numpy, read_matrix
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.base import FrozenMap, ends_like
from calibrant.maps.files import plain_fields

SHOWN_CLASSES = 5
CHUNK_ENTRIES = 4_000_000  # of a score matrix worked on at once
SAVED_NUMBERS = 500_000  # of draws in a file: four bytes each
LEAST_DRAWS = 50
INTERVAL_ENTRIES = 20_000_000  # draws × rows × classes held at once
EMPTY = np.zeros(0)


def _empty() -> Floats:
    return EMPTY


@dataclass(frozen=True, eq=False)
class MatrixMember:
    """One formula: the logits that are added to the tempered log-probabilities ℓ.

    slope · ℓ_k + curve(ℓ_k) + gate(confidence) · u_k + bias_k + vector_k · u_k + class_curves_k(ℓ_k) + (matrix u)_k
    + (confusion exp ℓ)_k + (joint n)_k, where u is ℓ clipped to the map's bounds, the confidence is the log-odds of the
    largest probability and n how near u is to each landmark. An empty array is a part that the member does not have.
    """

    weight: float
    slope: float = 0.0
    curve: Floats = field(default_factory=_empty)  # values at the map's knots
    gate: Floats = field(default_factory=_empty)
    bias: Floats = field(default_factory=_empty)  # (K,)
    vector: Floats = field(default_factory=_empty)  # (K,)
    class_curves: Floats = field(default_factory=_empty)  # (K, knots)
    matrix: Floats = field(default_factory=_empty)  # (K, K), row k for the logit of class k
    confusion: Floats = field(default_factory=_empty)  # (K, K)
    joint: Floats = field(default_factory=_empty)  # (K, landmarks)

    def logits(self, shape: MatrixMap, ell: Floats, near: Floats | None = None) -> Floats:
        """The corrected logits, (n, K); `near` is `shape.near(ell)`, where many members need it."""
        u = np.clip(ell, shape.low, shape.high)
        z = (1.0 + self.slope) * ell
        if self.curve.size:
            z += np.interp(ell, shape.curve_knots, self.curve)
        if self.gate.size:
            z += np.interp(log_odds(ell.max(axis=1)), shape.gate_knots, self.gate)[:, None] * u
        if self.bias.size:
            z += self.bias
        if self.vector.size:
            z += self.vector * u
        for k, values in enumerate(self.class_curves):
            z[:, k] += np.interp(ell[:, k], shape.class_knots, values)
        if self.matrix.size:
            z += u @ self.matrix.T
        if self.confusion.size:
            z += np.exp(ell) @ self.confusion.T
        if self.joint.size:
            z += (shape.near(ell) if near is None else near) @ self.joint.T
        return z

    def permuted(self, order: np.ndarray[Any, Any]) -> MatrixMember:
        """The member for columns in another order: new column j is old column `order[j]`."""
        own = {name: getattr(self, name) for name in ("bias", "vector", "class_curves", "joint")}
        pairs = {name: getattr(self, name) for name in ("matrix", "confusion")}
        moved = {name: a[order] for name, a in own.items() if a.size}
        moved |= {name: a[np.ix_(order, order)] for name, a in pairs.items() if a.size}
        return replace(self, **moved)


PARTS = tuple(f.name for f in fields(MatrixMember))


@dataclass(frozen=True, eq=False, repr=False)
class MatrixMap(FrozenMap):
    """A fitted calibration of K classes: call it on an (n, K) matrix to get probabilities.

    The scores' logarithms are multiplied by `inverse_temperature` and normalised to ℓ; each member corrects ℓ by a
    closed formula; the probabilities are the members' softmaxes, averaged by weight.

    Parameters
    ----------
    classes : tuple
        The labels of the columns.
    space : {"probability", "decision"}
        What its scores are: class probabilities, or decision scores such as logits.
    inverse_temperature : float
        Above 1 the scores were not sure enough of themselves.
    members : tuple of MatrixMember
        The formulas, their weights adding up to one.
    floor : float
        What smaller probabilities, such as exact zeros, are read as.
    low, high : float
        Bounds of the ℓ that enter linearly.
    curve_knots, class_knots, gate_knots : ndarray
        Where the curves of the members have their values.
    landmarks : ndarray of shape (m, K)
        Clipped ℓ of some rows, from which functions of all classes together are built.
    reach : float
        The distance to a landmark at which it has lost 40 % of its say.
    method : str
        The name of the method that made it.
    columns : tuple of str
        The names of the score columns, where it was fitted to a table; otherwise empty.
    draws : tuple of MatrixMember
        Formulas drawn from the posterior, for intervals; empty where there is none.

    Examples
    --------
    >>> from calibrant.maps.matrix import MatrixMap, MatrixMember
    >>> halved = MatrixMap((0, 1, 2), "decision", 0.5, (MatrixMember(1.0),))
    >>> halved([[0.0, 0.0, 2.0]]).round(3).tolist()
    [[0.212, 0.212, 0.576]]
    """

    kind: ClassVar[str] = "matrix"
    tolerance: ClassVar[float] = 1e-9

    classes: tuple[Any, ...]
    space: str
    inverse_temperature: float
    members: tuple[MatrixMember, ...]
    floor: float = 1e-300
    low: float = -np.inf
    high: float = np.inf
    curve_knots: Floats = field(default_factory=_empty)
    class_knots: Floats = field(default_factory=_empty)
    gate_knots: Floats = field(default_factory=_empty)
    landmarks: Floats = field(default_factory=_empty)
    reach: float = 1.0
    method: str = ""
    columns: tuple[str, ...] = ()
    draws: tuple[MatrixMember, ...] = ()

    def __call__(self, scores: ArrayLike) -> Floats:
        """Calibrated probabilities of all classes, (n, K)."""
        matrix = self.check(scores)
        out = np.empty(matrix.shape)
        for rows in chunks(matrix):
            ell = self.tempered(matrix[rows])
            near = self.near(ell)
            out[rows] = sum(member.weight * softmax(member.logits(self, ell, near)) for member in self.members)
        return out

    def accepts(self, matrix: Floats) -> Bools:
        """Tell which rows are finite and, where probabilities are due, such that sum to 1."""
        if self.space == "decision":
            return np.all(np.isfinite(matrix), axis=1)
        with np.errstate(invalid="ignore"):  # NaN is neither at least 0 nor near 1
            return (matrix.min(axis=1) >= 0.0) & (np.abs(matrix.sum(axis=1) - 1.0) <= ROW_SUM_TOLERANCE)

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.classes[:SHOWN_CLASSES])) + ", …" * (len(self.classes) > SHOWN_CLASSES)
        return (
            f"MatrixMap({self.method}, {len(self.classes)} classes ({shown}), {self.space}, "
            f"temperature {1.0 / self.inverse_temperature:.3g})"
        )

    def check(self, scores: ArrayLike) -> np.ndarray[Any, Any]:
        """The scores as a matrix with this map's columns."""
        shape = np.shape(as_numpy(scores))
        if len(shape) == 2 and shape[1] != len(self.classes):  # first, since without a column no row sums to 1
            raise InvalidInputError(f"`scores` must have the {len(self.classes)} columns of the fit; got {shape[1]}.")
        return read_matrix(scores, self.space)

    def tempered(self, matrix: Floats) -> Floats:
        """ℓ: the logarithms of the probabilities after the temperature."""
        return log_softmax(self.inverse_temperature * log_scores(matrix, self.space, self.floor))

    def near(self, ell: Floats) -> Floats:
        """How near rows are to the landmarks, (n, m); nothing where there are none."""
        if not self.landmarks.size:
            return EMPTY
        return nearness(np.clip(ell, self.low, self.high), self.landmarks, self.reach)

    @property
    def has_posterior(self) -> bool:
        """Whether it has intervals and draws."""
        return len(self.draws) > 0

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each class probability, (n, K) each."""
        self.need_posterior()
        tail = 0.5 * (1.0 - _validation.check_level(level))
        matrix = self.check(scores)
        low, high = np.empty(matrix.shape), np.empty(matrix.shape)
        for rows in chunks(matrix, INTERVAL_ENTRIES // len(self.draws)):
            low[rows], high[rows] = np.quantile(self._apply(self.draws, matrix[rows]), [tail, 1.0 - tail], axis=0)
        predicted = self(scores)  # the mean of a skew posterior can lie beyond its quantiles
        return ends_like(scores, (np.minimum(low, predicted), np.maximum(high, predicted)))

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of the whole map at `scores`, (n_draws, n, K): some of the stored ones, or all several times."""
        self.need_posterior()
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        chosen = np.resize(rng.permutation(len(self.draws)), count)
        return self._apply([self.draws[i] for i in chosen], self.check(scores))

    def _apply(self, members: Sequence[MatrixMember], matrix: Floats) -> Floats:
        """What each of these formulas makes of checked scores, (members, n, K)."""
        ell = self.tempered(matrix)
        near = self.near(ell)
        return np.array([softmax(member.logits(self, ell, near)) for member in members])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return plain_fields(self, "draws")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The map that `to_dict` described."""
        values = {f.name: data[f.name] for f in fields(cls) if f.name != "draws"}
        values |= {name: _array(values[name]) for name in ("curve_knots", "class_knots", "gate_knots", "landmarks")}
        values |= {"classes": tuple(values["classes"]), "columns": tuple(values["columns"])}
        values |= {"low": _bound(values["low"], -np.inf), "high": _bound(values["high"], np.inf)}
        values["members"] = tuple(
            MatrixMember(**{name: _array(member[name]) for name in PARTS}) for member in values["members"]
        )
        named = len(values["columns"]) in (0, len(values["classes"]))
        if values["space"] not in _validation.SPACES or not values["members"] or not named:
            raise ModelFileError("The entries `space`, `members` or `columns` of this map are damaged.")
        return cls(**values)

    def posterior_to_dict(self) -> dict[str, Any] | None:
        """As many draws as a file should hold, each part of them as text in base64, float32, low byte first."""
        if not self.draws:
            return None
        largest = max(sum(np.size(getattr(draw, name)) for name in PARTS) for draw in self.draws)
        count = min(len(self.draws), max(LEAST_DRAWS, SAVED_NUMBERS // largest))
        saved = [self.draws[i] for i in np.linspace(0, len(self.draws) - 1, count).astype(int)]
        alike: dict[Any, list[MatrixMember]] = {}  # draws of one model have the same parts
        for draw in saved:
            alike.setdefault(tuple(np.shape(getattr(draw, name)) for name in PARTS), []).append(draw)
        return {"models": [{name: _encode(name, draws) for name in PARTS} for draws in alike.values()]}

    def with_posterior(self, data: Mapping[str, Any]) -> MatrixMap:
        """The map with the draws that `posterior_to_dict` described."""
        draws: list[MatrixMember] = []
        for model in data["models"]:
            parts = {name: _decode(model[name]) for name in PARTS}
            draws += [MatrixMember(**{name: parts[name][i] for name in parts}) for i in range(len(parts["weight"]))]
        if not draws or not np.isfinite(self._apply(draws, self.check(self.test_vector()["scores"]))).all():
            raise ModelFileError("The draws of this map are damaged.")
        return replace(self, draws=tuple(draws))

    def test_vector(self) -> dict[str, Any]:
        """A few rows from undecided to sure, with what the map makes of them."""
        logits = np.outer([0.0, 1.0, 3.0, 9.0], np.cos(np.arange(len(self.classes))))
        scores = logits if self.space == "decision" else softmax(logits)
        return {"scores": scores.tolist(), "probabilities": self(scores).tolist()}


def _encode(name: str, draws: Sequence[MatrixMember]) -> dict[str, Any]:
    values = np.array([getattr(draw, name) for draw in draws])
    return {"shape": list(values.shape), "values": base64.b64encode(values.astype("<f4").tobytes()).decode()}


def _decode(part: Mapping[str, Any]) -> Floats:
    numbers = np.frombuffer(base64.b64decode(part["values"], validate=True), dtype="<f4")
    return numbers.reshape(part["shape"]).astype(np.float64)


def nearness(u: Floats, landmarks: Floats, reach: float) -> Floats:
    """How near rows (n, K) are to landmarks (m, K): exp(−|u − c|² / 2 reach²), (n, m)."""
    squares = (u**2).sum(axis=1)[:, None] - 2.0 * (u @ landmarks.T) + (landmarks**2).sum(axis=1)
    return np.exp(np.maximum(squares, 0.0) / (-2.0 * reach**2))


def chunks(matrix: np.ndarray[Any, Any], entries: int = CHUNK_ENTRIES) -> Iterator[slice]:
    """The rows in slices of at most so many entries."""
    step = max(1, entries // matrix.shape[1])
    return (slice(start, start + step) for start in range(0, len(matrix), step))


def log_scores(matrix: Floats, space: str, floor: float) -> Floats:
    """Logarithms of probabilities, or logits, as doubles."""
    matrix = np.asarray(matrix, dtype=np.float64)
    return np.log(np.maximum(matrix, floor)) if space == "probability" else matrix


def _array(value: Any) -> Any:
    return np.array(value, dtype=np.float64) if isinstance(value, list) else float(value)


def _bound(value: float | None, unbounded: float) -> float:
    return unbounded if value is None else float(value)
