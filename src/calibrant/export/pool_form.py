"""A map of several classes as plain arrays and ramps: the one description from which it is written elsewhere.

A curve that is straight between knots is a sum of ramps, each rising from 0 to 1 between two neighbouring knots; so
no language needs a search, and every member of the pool is linear in the same few features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibrant._typing import Floats
from calibrant.export.expression_graph import LARGEST
from calibrant.maps.matrix import MatrixMap, MatrixMember

__all__ = ["NEAR_ZERO", "PoolForm", "Ramps"]

# Where a language has no expm1: from here on 1 − exp(x) loses digits, and a short series does not.
NEAR_ZERO = -1e-3


@dataclass(frozen=True, eq=False)
class Ramps:
    """Functions that rise from 0 at `starts` to 1 at `starts` + `widths`."""

    starts: Floats
    widths: Floats

    @classmethod
    def between(cls, *knots: Floats) -> Self:
        """One ramp for each pair of neighbours, for each set of knots in turn."""
        starts, widths = [k[:-1] for k in knots], [np.diff(k) for k in knots]
        return cls(np.concatenate([np.zeros(0), *starts]), np.concatenate([np.zeros(0), *widths]))


@dataclass(frozen=True, eq=False)
class PoolForm:
    """Arrays of a map with M members and K classes; arrays of size 0 are parts that no member has.

    With ℓ the tempered log-probabilities and u = ℓ clipped to [low, high], the logit of class k in member m is

    slope_m ℓ_k + bias_mk + Σ_j curves_mkj · ramp_j(ℓ_k) + (vector_mk + Σ_j gate_mj · gate_ramp_j(confidence)) · u_k
    + Σ_i matrix_mki u_i + Σ_i confusion_mki exp ℓ_i.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.maps.matrix import MatrixMap, MatrixMember
    >>> from calibrant.export.pool_form import PoolForm
    >>> map_ = MatrixMap((0, 1), "decision", 1.0, (MatrixMember(1.0, bias=np.array([1.0, 0.0])),))
    >>> form = PoolForm.from_map(map_)
    >>> form.slope.tolist(), form.bias.tolist()
    ([1.0], [[1.0, 0.0]])
    """

    space: str
    floor: float
    inverse_temperature: float
    low: float
    high: float
    ramps: Ramps
    gate_ramps: Ramps
    weights: Floats  # (M,)
    slope: Floats  # (M,)
    bias: Floats  # (M, K)
    curves: Floats  # (M, K, ramps)
    vector: Floats  # (M, K)
    gate: Floats  # (M, gate ramps)
    matrix: Floats  # (M, K, K)
    confusion: Floats  # (M, K, K)

    @classmethod
    def from_map(cls, map_: MatrixMap) -> Self:
        """Collect the members' coefficients."""
        members, n_classes = map_.members, len(map_.classes)
        has_curves = any(m.curve.size for m in members), any(m.class_curves.size for m in members)
        knots = [k for k, has in zip((map_.curve_knots, map_.class_knots), has_curves, strict=True) if has]
        gates = [map_.gate_knots] if any(m.gate.size for m in members) else []
        return cls(
            map_.space,
            map_.floor,
            map_.inverse_temperature,
            max(map_.low, -LARGEST),
            min(map_.high, LARGEST),
            Ramps.between(*knots),
            Ramps.between(*gates),
            np.array([m.weight for m in members]),
            np.array([1.0 + m.slope for m in members]),
            np.array([_bias(m, n_classes) for m in members]),
            np.array([_curves(m, map_, has_curves) for m in members]),
            np.array([_filled(m.vector, (n_classes,)) + (m.gate[0] if m.gate.size else 0.0) for m in members]),
            np.array([np.diff(_filled(m.gate, map_.gate_knots.shape)) for m in members]) if gates else np.zeros(0),
            _stacked([m.matrix for m in members], n_classes),
            _stacked([m.confusion for m in members], n_classes),
        )


def _filled(values: Floats, shape: tuple[int, ...]) -> Floats:
    return values if values.size else np.zeros(shape)


def _bias(member: MatrixMember, n_classes: int) -> Floats:
    """The intercepts, with the heights at which the curves begin."""
    own = member.class_curves[:, 0] if member.class_curves.size else 0.0
    common = member.curve[0] if member.curve.size else 0.0
    return _filled(member.bias, (n_classes,)) + own + common


def _curves(member: MatrixMember, map_: MatrixMap, has_curves: tuple[bool, bool]) -> Floats:
    """The rises of the common curve, then of the class's own, (K, ramps)."""
    n_classes = len(map_.classes)
    common = np.tile(np.diff(_filled(member.curve, map_.curve_knots.shape)), (n_classes, 1))
    own = np.diff(_filled(member.class_curves, (n_classes, len(map_.class_knots))), axis=1)
    kept = [part for part, has in zip((common, own), has_curves, strict=True) if has]
    return np.concatenate([np.zeros((n_classes, 0)), *kept], axis=1)


def _stacked(matrices: list[Floats], n_classes: int) -> Floats:
    if not any(one.size for one in matrices):
        return np.zeros(0)
    return np.array([_filled(one, (n_classes, n_classes)) for one in matrices])
