"""From class scores to the features of a multinomial model: a temperature first, then corrections of its logarithms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._numerics.bins import weighted_quantiles
from calibrant._numerics.links import log_odds
from calibrant._numerics.piecewise import second_differences
from calibrant._typing import ArrayLike, Floats, Ints
from calibrant.multiclass.joint import Joint

LEAST_GAP = 1e-3  # knots that are closer than this become one
TINY = 1e-300
SHARED_KNOTS, CLASS_KNOTS, GATE_KNOTS = 12, 5, 4
TAIL = 0.005  # of the mass q (1 − q) beyond the outer knots
# Two more knots of the common curve among the rare, low probabilities, each at most so many nats below the next: a
# model that lapses gives them more than they say, whichever they are.
RARE, REACH = (0.00005, 0.0005), 4.0
EVERY_ENTRY = 1e-4  # mass that an entry has in any case
LEAST_SPREAD = 1e-3
QUANTILE_ENTRIES = 400_000  # from twice as many on, knots come from a sample of rows
# Blocks with a coefficient for each pair of classes: of the other classes' logarithms, and of their probabilities.
PAIRS = ("matrix", "confusion")
# Blocks of coefficients: one set for all classes, or one for each class.
SHARED, OWN = ("slope", "curve", "gate"), ("bias", "vector", "class_curve", *PAIRS, "joint")
JOINT_UP_TO = 30  # classes whose rows have functions of all classes together


@dataclass(frozen=True)
class Curve:
    """Functions that are straight between knots and constant beyond them.

    With independent N(0, 1) coefficients their sum has Gaussian second differences, no constant and no line, and unit
    variance on average over the knots: a scale in front of it is the typical height of the curve.
    """

    knots: Floats
    values: Floats  # (knots, functions)

    @classmethod
    def over(cls, knots: ArrayLike) -> Self:
        """The curves over these knots. O(knots³)."""
        knots = np.asarray(knots, dtype=np.float64)
        apart = knots[np.diff(knots, prepend=-np.inf) > LEAST_GAP]
        m = len(apart)
        if m < 3:
            return cls(apart, np.zeros((m, 0)))
        bend = second_differences(apart)
        line = np.linalg.qr(np.column_stack((np.ones(m), apart - apart.mean())))[0]
        root = bend.T @ np.linalg.inv(bend @ bend.T)  # a square root of the penalty's pseudo-inverse
        root -= line @ (line.T @ root)
        root /= np.sqrt((root**2).sum(axis=1).mean())
        left, size, _ = np.linalg.svd(root, full_matrices=False)
        return cls(apart, left * size)

    def with_line(self, share: float = 0.5) -> Curve:
        """The same, `share` as high, with a standardised line in front."""
        if len(self.knots) < 2:
            return self
        line = (self.knots - self.knots.mean()) / self.knots.std()
        return Curve(self.knots, np.column_stack((line, share * self.values)))

    @property
    def size(self) -> int:
        """How many functions there are."""
        return int(self.values.shape[1])

    def __call__(self, x: Floats) -> Floats:
        """The functions at x, (functions, n), in the precision of x."""
        if len(self.knots) < 2 or not self.size:
            return np.zeros((self.size, len(x)), dtype=x.dtype)
        knots, values = self.knots.astype(x.dtype), self.values.T.astype(x.dtype)
        below = np.clip((x - knots[:-1, None]) / np.diff(knots)[:, None], 0.0, 1.0)  # the share of each piece below x
        return np.asarray(values[:, :1] + np.diff(values) @ below)


def floor_for_zeros(p: Floats) -> float:
    """What an exact zero among probabilities is read as: half the smallest positive entry."""
    if p.min() > TINY:
        return TINY
    return max(TINY, 0.5 * float(p[p > TINY].min()))


@dataclass(frozen=True)
class Features:
    """How logarithms of class probabilities become features: fixed by the rows of the fit.

    `low` and `high` bound the logarithms that enter linearly; `center` and `spread` standardise them, `mean` and
    `deviation` the probabilities.
    """

    curve: Curve
    class_curve: Curve
    gate: Curve
    low: float
    high: float
    center: Floats
    spread: float
    slope_spread: float
    mean: Floats
    deviation: float
    joint: Joint | None = None

    @classmethod
    def from_rows(cls, ell: Floats, weights: Floats, *, adapted: bool = True) -> Self:
        """Knots, bounds and spreads for log-probabilities (n, K).

        Unless they are `adapted` to the rows, the linear terms are neither bounded nor standardised: then their
        coefficients are those of the published formulas.
        """
        part, w = sample_rows(ell, ell.argmax(axis=1), weights, QUANTILE_ENTRIES)
        some = ell[part]
        flat, q = some.ravel(), np.exp(some).ravel()
        mass = np.repeat(w, ell.shape[1]) * (q * (1.0 - q) + EVERY_ENTRY)  # knots go where probability is at stake
        # One sort gives the quantiles for three sets of knots, which are then taken apart again.
        at = [np.linspace(TAIL, 1.0 - TAIL, count) for count in (SHARED_KNOTS, CLASS_KNOTS)]
        quantiles = weighted_quantiles(flat, mass, np.concatenate((RARE, *at)))
        rare, knots, class_knots = np.split(quantiles, [len(RARE), len(RARE) + SHARED_KNOTS])
        rare = np.maximum(rare, knots[0] - REACH * np.arange(len(RARE), 0, -1))
        sure = log_odds(some.max(axis=1))
        gate = Curve.over(weighted_quantiles(sure, w, np.linspace(0.02, 0.98, GATE_KNOTS))).with_line()
        low, high, center, spread, joint = -np.inf, np.inf, np.zeros(ell.shape[1]), 1.0, None
        if adapted:
            low, high = _bounds(knots[0], knots[-1])
            center, spread = _standard(np.clip(ell, low, high), weights)
            if ell.shape[1] <= JOINT_UP_TO:
                joint = Joint.from_rows((np.clip(some, low, high) - center) / spread, w)
        middle = np.average(flat, weights=mass)
        slope_spread = float(np.sqrt(np.average((flat - middle) ** 2, weights=mass)))
        return cls(
            Curve.over(np.concatenate((rare, knots))),
            Curve.over(class_knots),
            gate,
            low,
            high,
            center,
            spread,
            max(slope_spread, LEAST_SPREAD),
            *_standard(np.exp(ell), weights),
            joint,
        )

    def sizes(self, blocks: tuple[str, ...]) -> dict[str, int]:
        """How many coefficients each block has, those of a class counted once."""
        others, joint = len(self.center) - 1, self.joint.size if self.joint else 0
        linear = {"slope": 1, "bias": 1, "vector": 1, "matrix": others, "confusion": others, "joint": joint}
        curves = {"curve": self.curve.size, "gate": self.gate.size, "class_curve": self.class_curve.size}
        return {name: size for name, size in (linear | curves).items() if name in blocks}

    def pivots(self) -> dict[str, Floats]:
        """By how much the squared bias of each class changes with the squared slopes of a block, (K,).

        Slopes turn around the mean score of a class. Had they another pivot, up to a logarithm (or a probability) of 0,
        biases would be so much larger: intervals allow for that.
        """
        logs, shares = (self.center / self.spread) ** 2, (self.mean / self.deviation) ** 2
        return {"vector": logs, "matrix": logs.sum() - logs, "confusion": shares.sum() - shares}

    def of_class(self, ell: Floats, k: int, blocks: tuple[str, ...], common: dict[str, Floats]) -> Floats:
        """Features of class k, (M, n): shared ones, and its own; `common` is `of_rows(ell, blocks)`."""
        log_p = ell[:, k]
        parts: dict[str, Callable[[], Floats]] = {
            "slope": lambda: log_p[None] / self.slope_spread,
            "curve": lambda: self.curve(log_p),
            "gate": lambda: common["gate"] * (np.clip(log_p, self.low, self.high) / self.spread),
            "bias": lambda: np.ones((1, len(log_p)), dtype=ell.dtype),
            "vector": lambda: common["scaled"][k, None],
            "class_curve": lambda: self.class_curve(log_p),
            "matrix": lambda: np.delete(common["scaled"], k, axis=0),
            "confusion": lambda: np.delete(common["shares"], k, axis=0),
            "joint": lambda: common["joint"],
        }
        return np.concatenate([parts[b]() for b in (*SHARED, *OWN) if b in blocks])

    def of_rows(self, ell: Floats, blocks: tuple[str, ...]) -> dict[str, Floats]:
        """What these blocks need that all classes of a row have in common, in the precision of ℓ.

        Standardised logarithms (K, n), standardised probabilities (K, n), gates and joint functions (functions, n).
        """
        lines = np.ascontiguousarray(ell.T)
        center, mean = (one.astype(ell.dtype)[:, None] for one in (self.center, self.mean))
        out = {"scaled": (np.clip(lines, self.low, self.high) - center) / self.spread}
        if "gate" in blocks:
            out["gate"] = self.gate(log_odds(lines.max(axis=0)))
        if "confusion" in blocks:
            out["shares"] = (np.exp(lines) - mean) / self.deviation
        if "joint" in blocks and self.joint:
            out["joint"] = self.joint(out["scaled"].T)
        return out


def repeated_entries(weights: Floats, n_classes: int) -> float:
    """How many entries the score matrix would have if rows of weight 2 came twice; lighter rows count as one."""
    return max(len(weights), float(weights.sum())) * n_classes


def sample_rows(
    scores: np.ndarray[Any, Any], labels: Ints, weights: Floats, entries: float
) -> tuple[Ints | slice, Floats]:
    """About as many rows as have so many entries, and their weights; all rows if there are not twice as many. O(n K).

    Which rows they are depends neither on the order of the rows nor on that of the classes.
    """
    every = repeated_entries(weights, scores.shape[1]) // entries
    if every < 2.0:
        return slice(None), weights
    # Rows in the order of the score of the label, which makes the sample even, too; where that is equal, of what else
    # does not depend on the order of classes. Then every k-th unit of weight, so that a row of weight 2 is two rows.
    own = scores[np.arange(len(labels)), labels]
    order = np.lexsort((np.einsum("ij,ij->i", scores, scores), scores.max(axis=1), own))
    below = np.cumsum(weights[order])
    repeats = max(len(weights), float(below[-1]))
    count = int(np.ceil(repeats / every))
    places = np.searchsorted(below, (np.arange(count) + 0.5) * (below[-1] / count))
    rows, times = np.unique(places, return_counts=True)
    return order[rows], times * (below[-1] / repeats)


def _standard(values: Floats, weights: Floats) -> tuple[Floats, float]:
    """The mean of each column and one common standard deviation around them."""
    center = np.average(values, axis=0, weights=weights)
    spread = float(np.sqrt(np.average(((values - center) ** 2).mean(axis=1), weights=weights)))
    return center, max(spread, LEAST_SPREAD)


def _bounds(low: float, high: float) -> tuple[float, float]:
    return (float(low), float(high)) if high - low >= LEAST_SPREAD else (float(high) - 1.0, float(high) + 1.0)
