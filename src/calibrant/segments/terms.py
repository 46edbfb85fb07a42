"""One term of the model of segments: the effects of a key, of a pair of keys, or of all rows, with unknown scales.

A term averages over a few settings of its scales, by evidence. One of the settings is "no difference", so that a key
which carries nothing goes away by itself.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from calibrant._typing import Bools, Floats, Ints
from calibrant.maps.segments import CURVE, LINE, WAVES, Effects
from calibrant.segments.group_effects import ClassGroups, GroupPosterior, Groups, fit_groups

# Scales on the logit scale with their prior shares: small differences are more common than large ones, and segments
# that differ in their slopes are rarer than those that are only shifted.
INTERCEPTS = {0.0: 1.0, 0.06: 0.5, 0.1: 0.5, 0.18: 0.5, 0.3: 0.5, 0.54: 0.5, 0.9: 0.3, 1.62: 0.3}
SLOPES = {0.0: 1.0, 0.12: 0.4, 0.36: 0.3, 0.6: 0.15, 1.08: 0.15, 1.8: 0.1}  # per standard deviation of the pooled logit
CURVES = {0.0: 1.0, 0.1: 1.0, 0.2: 1.0, 0.4: 1.0, 0.8: 1.0}
ODD = 3.0  # an odd segment has scales this much larger
ODD_SHARE = 0.05
OPEN_MIND = 0.2  # the prior probability of no difference for intervals
# Laplace's method is an approximation: intervals have the variance of Student's t with 20 degrees, as for matrices.
STUDENT = 20.0 / 18.0
MANY_SEGMENTS = 1000  # from which on
SAMPLE_SEGMENTS = 500  # say which settings are worth a look at all,
SMALLEST_IN_SAMPLE = 1e-6  # which are those with this weight there
SMALLEST_WEIGHT = 1e-3  # settings below are not looked at again


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a kind of term: the scales of its columns (S, D), and for each setting that of an odd segment.

    The first setting is "no difference"; a setting without an odd companion points to itself. `quick` are the few
    settings of a first look.
    """

    scales: Floats
    odd: Ints
    shares: Floats
    quick: tuple[int, ...]

    def log_prior(self, none: float) -> Floats:
        """The probability `none` for no difference, the rest by share; settings of odd segments only have none."""
        prior = (1.0 - none) * self.shares / self.shares[1:].sum()
        prior[0] = none
        with np.errstate(divide="ignore"):
            return np.log(prior)


def _line() -> Settings:
    """Scales of intercepts and slopes, both from 0 on; an odd segment has both scales ODD times as large."""
    pairs = [(a, b) for a in INTERCEPTS for b in SLOPES]
    companions = [(round(ODD * a, 6), round(ODD * b, 6)) for a, b in pairs[1:]]
    extra = [pair for pair in companions if pair not in pairs]
    settings = pairs + extra
    odd = [0] + [settings.index(pair) for pair in companions] + [-1] * len(extra)
    shares = [INTERCEPTS[a] * SLOPES[b] for a, b in pairs] + [0.0] * len(extra)
    quick = tuple(settings.index(pair) for pair in ((0.0, 0.0), (0.18, 0.0), (0.54, 0.0), (0.18, 0.36)))
    return Settings(np.array(settings), np.array(odd), np.array(shares), quick)


def _curve() -> Settings:
    """Waves over the ranks of the scores, the faster the smaller."""
    levels, shares = np.array(list(CURVES)), np.array(list(CURVES.values()))
    return Settings(levels[:, None] * (1.0 / WAVES), np.arange(len(levels)), shares, (0, 1, 3))


SETTINGS = {LINE: _line(), CURVE: _curve()}


class Term:
    """The posterior of one term, given all others."""

    def __init__(self, kind: str, none: float, groups: Groups) -> None:
        self.kind, self.none, self.groups = kind, none, groups
        self.settings = SETTINGS[kind]
        if isinstance(groups, ClassGroups):  # the biases of all classes have the scale of an intercept
            scales = np.repeat(self.settings.scales, [groups.shape[1] - 1, 1], axis=1)
            self.settings = replace(self.settings, scales=scales)
        self.log_prior = self.settings.log_prior(none)
        self.posteriors: dict[int, GroupPosterior] = {}
        self.weights = np.exp(self.log_prior)
        count, size = groups.shape
        zeros = np.zeros((count, size, size))
        self.effects = Effects(np.zeros((count, size)), zeros, zeros, np.zeros((size, size)))

    @property
    def difference(self) -> float:
        """The probability that the segments differ at all."""
        return float(1.0 - self.weights[0])

    def values(self) -> Floats:
        """The mean effect of each cell."""
        return self.groups.effect(self.effects.mean)

    def clear(self) -> None:
        """Back to no effect, as long as the term has not entered."""
        self.effects = self.effects._replace(mean=np.zeros_like(self.effects.mean))

    def promises(self, offset: Floats) -> bool:
        """A quick look at a few settings: whether any of them has more evidence than no difference."""
        fits = [fit_groups(self.groups, offset, self.settings.scales[s]).evidence.sum() for s in self.settings.quick]
        return bool(max(fits[1:]) > fits[0])

    def update(self, offset: Floats, *, everything: bool) -> None:
        """Average over the settings given the rest of the model; O(settings · cells · D²)."""
        chosen = np.flatnonzero(self._worth_a_look(offset) if everything else self.weights > SMALLEST_WEIGHT)
        needed = sorted({*chosen.tolist(), *self.settings.odd[chosen].tolist(), 0})
        modes = {s: posterior.mode for s, posterior in self.posteriors.items()}
        self.posteriors = {s: fit_groups(self.groups, offset, self.settings.scales[s], modes.get(s)) for s in needed}
        self.average(chosen)

    def _worth_a_look(self, offset: Floats) -> Bools:
        """All settings; with very many segments, those that a sample of the segments does not rule out."""
        count = len(self.effects.mean)
        if count <= MANY_SEGMENTS:
            return np.isfinite(self.log_prior)
        # Every step-th segment, with its number among those: segments are in the order of their names, not of what
        # they are like, and no random number is needed.
        step = count // SAMPLE_SEGMENTS
        sampled = self.groups.codes % step == 0
        codes = self.groups.codes[sampled] // step
        sample = Term(self.kind, self.none, self.groups.part(sampled, codes, -(-count // step)))
        sample.update(offset[sampled], everything=True)
        return sample.weights > SMALLEST_IN_SAMPLE

    def average(self, chosen: Ints) -> None:
        """Weights of the settings by evidence, and the moments of the mixture."""
        # Segments are independent given the setting, so a setting's evidence is the sum over segments, each of which
        # may be odd or not. Two mixtures come of it: one by the prior as it is, for predictions, and one by a prior
        # that is more open to a difference, for intervals. The second must be an interval around the mean of the first:
        # E[(w − mean)(w − mean)'] = second moment − mean other' − other mean' + mean mean'.
        evidence = np.full(len(self.log_prior), -np.inf)
        odd: dict[int, Floats] = {}
        for s in chosen.tolist():
            total = own = self.posteriors[s].evidence
            odd[s] = np.zeros(len(own))
            if self.settings.odd[s] != s:
                other = np.log(ODD_SHARE) + self.posteriors[int(self.settings.odd[s])].evidence
                total = np.logaddexp(np.log1p(-ODD_SHARE) + own, other)
                odd[s] = np.exp(other - total)  # the probability that a segment is odd
            evidence[s] = total.sum()
        self.weights = softmax(evidence + self.log_prior)
        mean, second = self._moments(self.weights, odd)
        weights = softmax(evidence + self.settings.log_prior(OPEN_MIND))
        other_mean, wide = self._moments(weights, odd)
        square, crossed = mean[:, :, None] * mean[:, None, :], mean[:, :, None] * other_mean[:, None, :]
        wide = wide - crossed - np.swapaxes(crossed, 1, 2) + square
        has_odd = self.settings.odd != np.arange(len(self.settings.odd))
        squares = self.settings.scales**2 * np.where(has_odd, 1.0 - ODD_SHARE + ODD_SHARE * ODD**2, 1.0)[:, None]
        self.effects = Effects(mean, second - square, STUDENT * wide, STUDENT * np.diag(weights @ squares))

    def _moments(self, weights: Floats, odd: dict[int, Floats]) -> tuple[Floats, Floats]:
        """First and second moments of the coefficients, mixed over the settings and over being odd."""
        parts = [(s, weights[s] * (1.0 - share)) for s, share in odd.items()]
        parts += [(int(self.settings.odd[s]), weights[s] * share) for s, share in odd.items() if share.any()]
        mean, second = np.zeros_like(self.effects.mean), np.zeros_like(self.effects.covariance)
        for s, share in parts:
            mode, covariance, _ = self.posteriors[s]
            mean += share[:, None] * mode
            second += share[:, None, None] * (covariance + mode[:, :, None] * mode[:, None, :])
        return mean, second
