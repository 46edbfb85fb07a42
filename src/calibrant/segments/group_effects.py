"""Effects of many groups at once: each group has its own few coefficients with a Gaussian prior of given scales.

The coefficients of group g are w = scales · v with v ~ N(0, 1), so that a scale of 0 takes a coefficient out without a
special case. Groups do not share coefficients: their Newton steps are done side by side, O(cells · D²) each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from calibrant._typing import Floats, Ints

MOST_STEPS = 40
MOST_HALVINGS = 12
SMALL_STEP = 1e-2  # in prior standard deviations; Newton's next error is about its square


@dataclass(frozen=True)
class Groups:
    """The cells of each group: its number, the columns of its coefficients and their products, and the counts."""

    members: Any  # sparse (G, m) matrix of ones: a product with it sums over the cells of each group
    codes: Ints
    columns: Floats
    products: Floats
    positives: Floats
    totals: Floats

    @classmethod
    def of(cls, codes: Ints, count: int, columns: Floats, positives: Floats, totals: Floats) -> Groups:
        from scipy import sparse

        m, size = columns.shape
        members = sparse.csr_matrix((np.ones(m), (codes, np.arange(m))), shape=(count, m))
        rows, others = _triangle(size)
        return cls(members, codes, columns, columns[:, rows] * columns[:, others], positives, totals)

    def effect(self, coefficients: Floats) -> Floats:
        """Columns · coefficients of the cell's group, (m,)."""
        return np.einsum("ij,ij->i", self.columns, coefficients[self.codes])


class GroupPosterior(NamedTuple):
    """Mode (G, D) and covariance (G, D, D) of the coefficients, and the log evidence (G,) of each group."""

    mode: Floats
    covariance: Floats
    evidence: Floats


@cache
def _triangle(size: int) -> tuple[Ints, Ints]:
    rows, others = np.triu_indices(size)
    return rows, others


class _Point(NamedTuple):
    """The log posterior density at v for each group (G,), its gradient (G, D) and its curvature (G, D, D)."""

    v: Floats
    value: Floats
    gradient: Floats
    curvature: Floats


def fit_groups(groups: Groups, offset: Floats, scales: Floats, start: Floats | None = None) -> GroupPosterior:
    """Laplace's approximation for every group: logit P = offset + columns · w, w ~ N(0, diag(scales²)).

    Newton steps on v = w / scales, halved for those groups whose posterior density a full step would lower.
    """
    v = np.zeros((groups.members.shape[0], len(scales)))
    if start is not None:
        np.divide(start, scales, out=v, where=np.broadcast_to(scales > 0.0, v.shape))
    look = partial(_look, groups, offset, scales)
    point = look(v)
    for _ in range(MOST_STEPS if scales.any() else 0):
        step = np.linalg.solve(point.curvature, point.gradient[:, :, None])[:, :, 0].astype(np.float64, copy=False)
        point = _advance(look, point, step)
        if np.abs(step).max(initial=0.0) < SMALL_STEP:
            break
    covariance = np.linalg.inv(point.curvature) * scales[:, None] * scales
    return GroupPosterior(scales * point.v, covariance, point.value - 0.5 * np.linalg.slogdet(point.curvature)[1])


def _look(groups: Groups, offset: Floats, scales: Floats, v: Floats) -> _Point:
    positives, totals = groups.positives, groups.totals
    logits = offset + groups.effect(scales * v)
    small = np.exp(-np.abs(logits))
    larger = 1.0 / (1.0 + small)
    p = np.where(logits >= 0.0, larger, small * larger)
    cells = positives * logits - totals * (np.maximum(logits, 0.0) - np.log(larger))
    # Value, gradient and the upper triangle of the curvature of each cell side by side: one sparse product sums all of
    # them over the cells of each group.
    size = len(scales)
    columns = np.empty((len(cells), 1 + size + groups.products.shape[1]))
    columns[:, 0] = cells
    np.multiply(groups.columns, (positives - totals * p)[:, None], out=columns[:, 1 : 1 + size])
    np.multiply(groups.products, (totals * small * larger**2)[:, None], out=columns[:, 1 + size :])
    sums = groups.members @ columns
    curvature = np.empty((len(v), size, size))
    rows, others = _triangle(size)
    curvature[:, rows, others] = curvature[:, others, rows] = sums[:, 1 + size :]
    return _Point(
        v,
        sums[:, 0] - 0.5 * (v * v).sum(axis=1),
        sums[:, 1 : 1 + size] * scales - v,
        curvature * scales[:, None] * scales + np.eye(size),
    )


def _advance(look: Callable[[Floats], _Point], point: _Point, step: Floats) -> _Point:
    """Go the step; where that lowers the density, half of it, and so on; at last stay."""
    # Each group has its own share of the step; groups for which the full step helped are computed again with it, which
    # is cheaper than taking the others out.
    share = np.ones(len(step))
    for number in range(MOST_HALVINGS + 1):
        moved = look(point.v + share[:, None] * step)
        worse = moved.value < point.value - 1e-9 * (1.0 + np.abs(point.value))
        if not worse.any():
            break
        share = np.where(worse, 0.5 * share if number < MOST_HALVINGS - 1 else 0.0, share)
    return moved
