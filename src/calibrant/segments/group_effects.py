"""Effects of many groups at once: each group has its own few coefficients with a Gaussian prior of given scales.

The coefficients of group g are w = scales · v with v ~ N(0, 1), so that a scale of 0 takes a coefficient out without a
special case. Groups do not share coefficients: their Newton steps are done side by side, O(cells · D²) each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np

from calibrant._numerics import links
from calibrant._typing import Bools, Floats, Ints
from calibrant.maps.class_basis import multiply

MOST_STEPS = 40
MOST_HALVINGS = 12
SMALL_STEP = 1e-2  # in prior standard deviations; Newton's next error is about its square


@dataclass(frozen=True)
class Groups:
    """The cells of each group, with the columns of its coefficients and the counts of one score."""

    members: Any  # sparse (G, m) matrix of ones: a product with it sums over the cells of each group
    codes: Ints
    columns: Floats
    positives: Floats
    totals: Floats

    @classmethod
    def of(cls, codes: Ints, count: int, columns: Floats, positives: Floats, totals: Floats) -> Self:
        from scipy import sparse

        members = sparse.csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(count, len(codes)))
        return cls(members, codes, columns, positives, totals)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of groups, and of the coefficients of each."""
        return self.members.shape[0], self.columns.shape[1]

    @cached_property
    def products(self) -> Floats:
        """The products of the columns, those of the upper triangle."""
        rows, others = _triangle(self.columns.shape[1])
        return self.columns[:, rows] * self.columns[:, others]

    def part(self, rows: Bools, codes: Ints, count: int) -> Self:
        """Some of the cells, in groups with other numbers."""
        return self.of(codes, count, self.columns[rows], self.positives[rows], self.totals[rows])

    def effect(self, coefficients: Floats) -> Floats:
        """Columns · coefficients of the cell's group, (m,) or (n, K)."""
        return multiply(self.columns, coefficients[self.codes])

    def look(self, offset: Floats, scales: Floats, v: Floats) -> Point:
        """The log posterior density at v, and its derivatives."""
        positives, totals = self.positives, self.totals
        logits = offset + self.effect(scales * v)
        small = np.exp(-np.abs(logits))
        larger = 1.0 / (1.0 + small)
        p = np.where(logits >= 0.0, larger, small * larger)
        cells = positives * logits - totals * (np.maximum(logits, 0.0) - np.log(larger))
        # Value, gradient and the upper triangle of the curvature of each cell side by side: one sparse product sums all
        # of them over the cells of each group.
        size = len(scales)
        columns = np.empty((len(cells), 1 + size + self.products.shape[1]))
        columns[:, 0] = cells
        np.multiply(self.columns, (positives - totals * p)[:, None], out=columns[:, 1 : 1 + size])
        np.multiply(self.products, (totals * small * larger**2)[:, None], out=columns[:, 1 + size :])
        sums = self.members @ columns
        curvature = np.empty((len(v), size, size))
        rows, others = _triangle(size)
        curvature[:, rows, others] = curvature[:, others, rows] = sums[:, 1 + size :]
        return Point.of(v, scales, sums[:, 0], sums[:, 1 : 1 + size], curvature)


@dataclass(frozen=True)
class ClassGroups(Groups):
    """The same for the logits of K classes: a group has a bias for each class, and a slope in the column.

    `columns` is (n, K, 1), and `positives` (n, K) counts each class.
    """

    @property
    def shape(self) -> tuple[int, int]:
        return self.members.shape[0], self.columns.shape[1] + 1

    def look(self, offset: Floats, scales: Floats, v: Floats) -> Point:
        # The gradient of log p_k is X_k − X̄ with X_k = (e_k, u_k) and X̄ = Σ p_k X_k, so that the curvature of a row is
        # Σ p_k X_k X_k' − X̄ X̄'. Its first part is a diagonal, and what biases have in common with the slope.
        log_p = links.log_softmax(offset + self.effect(scales * v))
        u, mass = self.columns[:, :, 0], self.totals[:, None] * np.exp(log_p)
        left, slopes = self.positives - mass, mass * u
        value, slope = (self.positives * log_p).sum(axis=1), (left * u).sum(axis=1)
        sums = self.members @ np.column_stack((value, left, slope))
        mean = np.column_stack((mass, slopes.sum(axis=1)))  # X̄, times the row's weight
        curvature = np.zeros((*self.shape, len(scales)))
        for own, rows in zip(curvature, np.split(self.members.indices, self.members.indptr[1:-1]), strict=True):
            np.fill_diagonal(own, [*mass[rows].sum(axis=0), (slopes[rows] * u[rows]).sum()])
            own[-1, :-1] = own[:-1, -1] = slopes[rows].sum(axis=0)
            own[:] -= mean[rows].T @ (mean[rows] / self.totals[rows, None])
        return Point.of(v, scales, sums[:, 0], sums[:, 1:], curvature)


class GroupPosterior(NamedTuple):
    """Mode (G, D) and covariance (G, D, D) of the coefficients, and the log evidence (G,) of each group."""

    mode: Floats
    covariance: Floats
    evidence: Floats


@cache
def _triangle(size: int) -> tuple[Ints, Ints]:
    rows, others = np.triu_indices(size)
    return rows, others


class Point(NamedTuple):
    """The log posterior density at v for each group (G,), its gradient (G, D) and its curvature (G, D, D)."""

    v: Floats
    value: Floats
    gradient: Floats
    curvature: Floats

    @classmethod
    def of(cls, v: Floats, scales: Floats, value: Floats, gradient: Floats, curvature: Floats) -> Point:
        """Those of the likelihood in w = scales · v together with the prior."""
        prior = 0.5 * (v * v).sum(axis=1)
        return cls(v, value - prior, gradient * scales - v, curvature * scales[:, None] * scales + np.eye(len(scales)))


def fit_groups(groups: Groups, offset: Floats, scales: Floats, start: Floats | None = None) -> GroupPosterior:
    """Laplace's approximation for every group: logit P = offset + columns · w, w ~ N(0, diag(scales²)).

    Newton steps on v = w / scales, halved for those groups whose posterior density a full step would lower.
    """
    v = np.zeros(groups.shape)
    if start is not None:
        np.divide(start, scales, out=v, where=np.broadcast_to(scales > 0.0, v.shape))
    look = partial(groups.look, offset, scales)
    point = look(v)
    for _ in range(MOST_STEPS if scales.any() else 0):
        step = np.linalg.solve(point.curvature, point.gradient[:, :, None])[:, :, 0].astype(np.float64, copy=False)
        point = _advance(look, point, step)
        if np.abs(step).max(initial=0.0) < SMALL_STEP:
            break
    covariance = np.linalg.inv(point.curvature) * scales[:, None] * scales
    return GroupPosterior(scales * point.v, covariance, point.value - 0.5 * np.linalg.slogdet(point.curvature)[1])


def _advance(look: Callable[[Floats], Point], point: Point, step: Floats) -> Point:
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
