"""The precision of a Gaussian posterior of many coefficients: one matrix, or an arrow where there are too many."""

from typing import Self, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri

from calibrant._typing import Floats


class Dense:
    """All second derivatives of a log-likelihood; the precision of a Gaussian prior is added to them. O(D³)."""

    def __init__(self, curvature: Floats) -> None:
        self.curvature = curvature

    def times(self, theta: Floats) -> Floats:
        """The curvature of the likelihood alone times θ."""
        return self.curvature @ theta

    def with_prior(self, precision: Floats) -> Self:
        """Add a diagonal; what follows is about the sum A."""
        total = self.curvature + np.diag(precision)
        self.factor, failed = dpotrf(total, lower=1, clean=1)
        if failed:  # rounding: the curvature of the likelihood is positive semi-definite
            floor = 1e-10 * float(np.trace(total)) / len(total)
            self.factor, _ = dpotrf(total + floor * np.eye(len(total)), lower=1, clean=1)
        return self

    def solve(self, right: Floats) -> Floats:
        """The solution x of A x = right."""
        return dpotrs(self.factor, right, lower=1)[0]

    def variances(self) -> Floats:
        """The diagonal of the inverse: with A = F Fᵀ, sums of squares of F⁻¹, which cost half of A⁻¹."""
        inverse = dtrtri(self.factor, lower=1)[0]
        return np.einsum("ij,ij->j", inverse, inverse)

    def log_determinant(self) -> float:
        """The logarithm of |A|."""
        return 2.0 * float(np.log(np.diag(self.factor)).sum())

    def draw(self, normals: Floats) -> Floats:
        """Independent standard normals (D, draws) as draws from N(0, A⁻¹)."""
        return solve_triangular(self.factor, normals, lower=True, trans="T", check_finite=False)


class Arrow:
    """The same where classes meet through shared coefficients only: a Schur complement does it. O(K (S² C + C³))."""

    def __init__(self, shared: Floats, link: Floats, own: Floats) -> None:
        self.shared, self.link, self.own = shared, link, own

    def times(self, theta: Floats) -> Floats:
        shared, own = self._split(theta)
        top = self.shared @ shared + np.einsum("ksc,kc->s", self.link, own)
        rest = np.einsum("ksc,s->kc", self.link, shared) + np.einsum("kcd,kd->kc", self.own, own)
        return np.concatenate((top, rest.ravel()))

    def with_prior(self, precision: Floats) -> Self:
        # A = [[S, L], [L', D]] with D block-diagonal. Its inverse needs those of the small blocks of D and of the Schur
        # complement S − L D⁻¹ L', no larger than what classes share.
        first, rest = self._split(precision)
        own = self.own + rest[:, :, None] * np.eye(rest.shape[1])
        self.own_inverse = np.linalg.inv(own)
        self.carried = self.link @ self.own_inverse
        schur = self.shared + np.diag(first) - (self.carried @ np.swapaxes(self.link, 1, 2)).sum(axis=0)
        self.schur_inverse = np.linalg.inv(schur)
        self._log_determinant = float(np.linalg.slogdet(own)[1].sum() + np.linalg.slogdet(schur)[1])
        return self

    def solve(self, right: Floats) -> Floats:
        first, rest = self._split(right)
        shared = self.schur_inverse @ (first - np.einsum("ksc,kc->s", self.carried, rest))
        own = np.einsum("kcd,kd->kc", self.own_inverse, rest) - np.einsum("ksc,s->kc", self.carried, shared)
        return np.concatenate((shared, own.ravel()))

    def variances(self) -> Floats:
        through = np.einsum("ksc,ksc->kc", self.carried, self.schur_inverse @ self.carried)
        own = np.einsum("kcc->kc", self.own_inverse) + through
        return np.concatenate((np.diag(self.schur_inverse), own.ravel()))

    def log_determinant(self) -> float:
        return self._log_determinant

    def draw(self, normals: Floats) -> Floats:
        size, (n_classes, n_own) = len(self.shared), self.own.shape[:2]
        # What classes share is drawn from its own marginal, N(0, Schur⁻¹); then each class, given that: around
        # −D⁻¹ L' times the draw, with the covariance D⁻¹.
        shared = np.linalg.cholesky(self.schur_inverse) @ normals[:size]
        own = np.linalg.cholesky(self.own_inverse) @ normals[size:].reshape(n_classes, n_own, -1)
        own -= np.einsum("ksc,sj->kcj", self.carried, shared)
        return np.concatenate((shared, own.reshape(n_classes * n_own, -1)))

    def _split(self, theta: Floats) -> tuple[Floats, Floats]:
        size = len(self.shared)
        return theta[:size], theta[size:].reshape(self.own.shape[:2])


Curvature: TypeAlias = Dense | Arrow
