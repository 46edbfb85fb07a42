"""The fitted map of several classes: a linear pool of closed formulas that numpy alone evaluates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from calibrant._files import AnyPath
from calibrant._numerics.softmax import log_odds, log_softmax, softmax
from calibrant._typing import ArrayLike, Bools, Floats
from calibrant._validation import ROW_SUM_TOLERANCE
from calibrant._validation.arrays import as_numpy, read_matrix
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.maps.files import write_model

__all__ = ["MatrixMap", "MatrixMember"]

FORMAT = "calibrant-matrix-map"
VERSION = 1
SPACES = ("probability", "logits")
SHOWN_CLASSES = 5
CHUNK_ENTRIES = 4_000_000  # of a score matrix evaluated at once
REPLAY_TOLERANCE = 1e-9
EMPTY = np.zeros(0)


def _empty() -> Floats:
    return EMPTY


@dataclass(frozen=True, eq=False)
class MatrixMember:
    """One formula: the logits that are added to the tempered log-probabilities ℓ.

    slope · ℓ_k + curve(ℓ_k) + gate(confidence) · u_k + bias_k + vector_k · u_k + class_curves_k(ℓ_k) + (matrix u)_k
    + (confusion exp ℓ)_k, where u is ℓ clipped to the map's bounds and the confidence is the log-odds of the largest
    probability. An empty array is a part that the member does not have.
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

    def logits(self, shape: MatrixMap, ell: Floats) -> Floats:
        """The corrected logits, (n, K)."""
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
        return z

    def permuted(self, order: np.ndarray[Any, Any]) -> MatrixMember:
        """The member for columns in another order: new column j is old column `order[j]`."""
        own = {name: getattr(self, name) for name in ("bias", "vector", "class_curves")}
        pairs = {name: getattr(self, name) for name in ("matrix", "confusion")}
        moved = {name: a[order] for name, a in own.items() if a.size}
        moved |= {name: a[np.ix_(order, order)] for name, a in pairs.items() if a.size}
        return replace(self, **moved)


@dataclass(frozen=True, eq=False, repr=False)
class MatrixMap:
    """A fitted calibration of K classes: call it on an (n, K) matrix to get probabilities.

    The scores' logarithms are multiplied by `inverse_temperature` and normalised to ℓ; each member corrects ℓ by a
    closed formula; the probabilities are the members' softmaxes, averaged by weight.

    Parameters
    ----------
    classes : tuple
        The labels of the columns.
    space : {"probability", "logits"}
        What it accepts.
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
    method : str
        The name of the method that made it.
    columns : tuple of str
        The names of the score columns, where it was fitted to a table; otherwise empty.

    Examples
    --------
    >>> from calibrant.maps.matrix import MatrixMap, MatrixMember
    >>> halved = MatrixMap((0, 1, 2), "logits", 0.5, (MatrixMember(1.0),))
    >>> halved([[0.0, 0.0, 2.0]]).round(3).tolist()
    [[0.212, 0.212, 0.576]]
    """

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
    method: str = ""
    columns: tuple[str, ...] = ()

    def __call__(self, scores: ArrayLike) -> Floats:
        """Calibrated probabilities of all classes, (n, K)."""
        matrix = self.check(scores)
        out = np.empty(matrix.shape)
        step = max(1, CHUNK_ENTRIES // matrix.shape[1])
        for start in range(0, len(matrix), step):
            rows = slice(start, start + step)
            ell = self.tempered(matrix[rows])
            out[rows] = sum(member.weight * softmax(member.logits(self, ell)) for member in self.members)
        return out

    def accepts(self, matrix: Floats) -> Bools:
        """Tell which rows are finite and, where probabilities are due, such that sum to 1."""
        finite: Bools = np.all(np.isfinite(matrix), axis=1)
        if self.space == "logits":
            return finite
        with np.errstate(invalid="ignore"):
            shares: Bools = (matrix.min(axis=1) >= 0.0) & (np.abs(matrix.sum(axis=1) - 1.0) <= ROW_SUM_TOLERANCE)
        return finite & shares

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

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        plain = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "members"}
        plain["classes"] = np.asarray(self.classes).tolist()
        plain["members"] = [
            {f.name: _plain(getattr(member, f.name)) for f in fields(member)} for member in self.members
        ]
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The map that `to_dict` described."""
        try:
            values = {f.name: data[f.name] for f in fields(cls) if f.name != "columns"}
            members = tuple(
                MatrixMember(**{f.name: _array(member[f.name]) for f in fields(MatrixMember)})
                for member in values.pop("members")
            )
            values = {name: _array(value) if name.endswith("knots") else value for name, value in values.items()}
            values |= {"classes": tuple(values["classes"]), "columns": tuple(map(str, data.get("columns", ())))}
            values |= {"low": _bound(values["low"], -np.inf), "high": _bound(values["high"], np.inf)}
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"This is not a map of several classes, or it is damaged: {error!r}.") from error
        named = len(values["columns"]) in (0, len(values["classes"]))
        if values["space"] not in SPACES or not members or not named:
            raise ModelFileError("The entries `space`, `members` or `columns` of this map are damaged.")
        return cls(members=members, **values)

    def save(self, path: AnyPath) -> None:
        """Write versioned JSON with a checksum and a test vector; `calibrant.load` reads it."""
        write_model(path, FORMAT, VERSION, {"map": self.to_dict(), "test_vector": self._test_vector()})

    def _test_vector(self) -> dict[str, Any]:
        """A few rows from undecided to sure, with what the map makes of them."""
        n_classes = len(self.classes)
        logits = np.outer([0.0, 1.0, 3.0, 9.0], np.cos(np.arange(n_classes)))
        scores = logits if self.space == "logits" else softmax(logits)
        return {"scores": scores.tolist(), "probabilities": self(scores).tolist()}


def log_scores(matrix: Floats, space: str, floor: float) -> Floats:
    """Logarithms of probabilities, or logits, as doubles."""
    matrix = np.asarray(matrix, dtype=np.float64)
    return np.log(np.maximum(matrix, floor)) if space == "probability" else matrix


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _array(value: Any) -> Any:
    return np.array(value, dtype=np.float64) if isinstance(value, list) else float(value)


def _bound(value: float | None, unbounded: float) -> float:
    return unbounded if value is None else float(value)
