"""What segments add to the logits of several classes: a bias for each class, and a slope in the pooled logarithms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Floats
from calibrant.errors import ModelFileError
from calibrant.maps.files import read_floats

LEAST_SPREAD = 1e-3


def multiply(columns: Floats, coefficients: Floats) -> Floats:
    """Columns · coefficients (…, n, D) of each row, (…, n); with several classes biases + slope · column, (…, n, K)."""
    if columns.ndim == 2:
        return np.einsum("ij,...ij->...i", columns, coefficients)
    return coefficients[..., :-1] + coefficients[..., -1:] * columns[:, :, 0]


@dataclass(frozen=True, eq=False)
class ClassBasis:
    """Columns of a line for K classes: which class it is, and u, the standardised logarithm of its pooled probability.

    A slope in u is a temperature: it multiplies all logarithms of a row alike.
    """

    centre: Floats
    spread: float

    @classmethod
    def learn(cls, pooled: Floats, totals: Floats) -> ClassBasis:
        """From the logarithms of pooled probabilities, (n, K), weighed by how open each entry is, p (1 − p)."""
        p = np.exp(pooled)
        mass = totals[:, None] * np.maximum(p * (1.0 - p), links.EPS)
        centre = np.average(pooled, axis=0, weights=mass)
        return cls(centre, max(float(np.sqrt(np.average((pooled - centre) ** 2, weights=mass))), LEAST_SPREAD))

    @property
    def sizes(self) -> dict[str, int]:
        """How many coefficients a segment has in each kind of term."""
        return {"line": len(self.centre) + 1}

    def logits(self, probabilities: Floats) -> Floats:
        """Of probabilities (…, K): their logarithms."""
        return np.log(links.clip(probabilities))

    def probabilities(self, logits: Floats) -> Floats:
        """The softmax of logits (…, K)."""
        return links.softmax(logits.reshape(-1, len(self.centre))).reshape(logits.shape)

    def join(self, against_rest: Floats) -> Floats:
        """Logits whose softmax has these log-odds of each class against the rest, as nearly as their sum allows."""
        return -np.logaddexp(0.0, -against_rest)

    def columns(self, kind: str, scores: Floats, pooled: Floats) -> Floats:  # noqa: ARG002 - as for one score
        """The column of the slope, (n, K, 1); that of a bias is 1 for its class and 0 for all others."""
        return ((pooled - self.centre) / self.spread)[:, :, None]

    def against_rest(self, logits: Floats, columns: Mapping[str, Floats]) -> tuple[Floats, dict[str, Floats]]:
        """The logit of each class against all others, (n, K), and the columns (n, K, K + 1) of what moves it."""
        # log (p_k / (1 − p_k)) = z_k − log Σ_{j ≠ k} exp z_j; the derivatives of the second part are the shares of the
        # other classes among themselves. Sums without k, and not differences from 1: p_k may round to 1.
        others = np.where(np.eye(len(self.centre), dtype=bool), -np.inf, logits[:, None, :])
        top = others.max(axis=2, keepdims=True)
        powers = np.exp(others - top)
        sums = powers.sum(axis=2, keepdims=True)
        shares = powers / sums
        away = np.eye(len(self.centre)) - shares
        moved = {kind: np.concatenate((away, own - shares @ own), axis=2) for kind, own in columns.items()}
        return logits - (top + np.log(sums))[:, :, 0], moved

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ClassBasis:
        """The basis with these fields."""
        basis = cls(read_floats(data, "centre"), float(data["spread"]))
        if basis.centre.ndim != 1 or len(basis.centre) < 2 or not basis.spread > 0.0:
            raise ModelFileError("The centres or the spread of these segments are damaged.")
        return basis
