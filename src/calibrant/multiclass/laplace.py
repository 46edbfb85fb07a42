"""A multinomial model with blocks of Gaussian coefficients: posterior mode, Laplace evidence and learned scales.

The coefficients of a block B are N(0, σ_B²). With A = H + Λ, H the curvature of the log-likelihood at the mode and Λ
the precision of the prior, MacKay (Neural Computation 4, 1992) counts how many coefficients the data determine,
γ_B = |B| − tr(A⁻¹)_BB / σ_B², and sets σ_B² = ‖θ_B‖² / γ_B. An inverse-gamma prior adds a little to both.

Each determined coefficient fits these rows better than new ones by one nat on average (Akaike, IEEE Transactions on
Automatic Control 19, 1974; for penalised fits Moody, 1992), so the log-likelihood less Σ γ_B says how a model predicts.

Predictions average over a few equally likely coefficient vectors. A softmax is curved: averaged over a Gaussian around
the mode, small probabilities rise by about half their logit's variance, on the very rows that were fitted. The Gaussian
that is nearest to the posterior (in Kullback-Leibler divergence) lies elsewhere: its mean m maximises
E log p(y | m + s) − ½ mᵀΛm, at which the *averaged* probabilities, not those of the mode, balance the residuals against
the prior. With the deviations s held fixed this is concave in m. Its precision is the expected curvature; that at the
averaged probabilities bounds it from above, and takes the place of the curvature at the mode, which is far too small
where classes are nearly separated.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibrant._typing import Floats, Ints
from calibrant.multiclass.curvature import Curvature
from calibrant.multiclass.rows import Layout, Rows

SWEEPS, FIXED_SWEEPS = 12, 60  # while scales are learned, and where they are given
HALVINGS, CENTRE_HALVINGS = 27, 11  # of a Newton step, before it is given up
SCALE_STEPS = 12  # of MacKay's rule under one curvature
# The rule converges slowly, and blocks that can stand in for each other make it swing: its steps on the log scale are
# stretched while they keep their direction and shortened when they turn.
STRETCH, SHORTEN, LONGEST = 1.3, 0.5, 2.0
LARGEST_CHANGE = 3.0  # of a scale under one curvature
SCALE_LIMITS = 1e-3, 20.0
SETTLED = 0.02  # change of a log-scale at the end
LITTLE = 1e-4  # gain in log-posterior, a row, after which the curvature is not computed again
ENOUGH = 0.2  # gain in log-posterior at the end
SURE = 0.3  # change of the evidence at the end, in nats
SCALE_SETS_COST, LEAST_SCALE_SETS, BURN_IN = 2e9, 5, 5  # sets of scales that intervals draw, times D³
FREEDOM = 20.0  # Laplace's method is an approximation, so draws have the tails of Student's t with so many degrees
ROUNDING = 1e-3  # nats by which single precision may miss a gain
CENTRE_STEPS = 4  # of the centre of averaged predictions,
CENTRE_GAIN = 0.01  # and the nats that a step must gain for another


@dataclass(frozen=True)
class ScalePrior:
    """The typical size of each block's coefficients, and how many coefficients that guess is worth."""

    centers: Mapping[str, float]
    strength: float = 0.5  # infinite: the scales are given, not learned
    pivots: Mapping[str, Floats] = field(default_factory=dict)  # see `Features.pivots`

    @property
    def learns(self) -> bool:
        """Whether the data have a say."""
        return bool(np.isfinite(self.strength))


@dataclass(frozen=True)
class Start:
    """Coefficients and scales from which a search begins."""

    layout: Layout
    mean: Floats
    scales: dict[str, float]


@dataclass(frozen=True)
class Posterior(Start):
    """A Gaussian around the mode, the scale of each block, the logarithm of the evidence, and what to expect.

    `expected` is the log-likelihood that as many new rows can be expected to have at the mode.
    """

    curvature: Curvature  # with the prior's precision added
    precision: Floats  # of the prior
    evidence: float
    expected: float


@dataclass
class _State:
    """Where the search stands."""

    theta: Floats
    log_p: Any
    scales: dict[str, float]
    steps: dict[str, float] = field(default_factory=dict)  # last changes of log-scales as the rule had them
    pace: dict[str, float] = field(default_factory=dict)  # what they are multiplied by
    gain: float = np.inf
    value: float = -np.inf


def fit(rows: Rows, prior: ScalePrior, start: Start | None = None) -> Posterior:
    """Curvature at the current coefficients; under it, the scales; then a step to the new mode; and so on."""
    members, evidence = rows.layout.members, -np.inf
    theta, scales = np.zeros(len(rows.layout)), {b: prior.centers[b] for b in members}
    if start is not None:  # where a smaller model ended
        for b in members.keys() & start.scales.keys():
            theta[members[b]], scales[b] = start.mean[start.layout.group == b], start.scales[b]
    state = _State(theta, rows.log_probabilities(theta), scales)
    sweeps, little = SWEEPS if prior.learns else FIXED_SWEEPS, LITTLE * float(rows.weights.sum())
    for sweep in range(sweeps):
        p = np.exp(state.log_p)
        if state.gain > little:  # a shorter step leaves the curvature nearly as it was
            curvature = rows.second_derivatives(p)
        # Around θ the log-likelihood is, but for a constant, linear · t − ½ t' H t. In this form the mode under any
        # precision Λ is (H + Λ)⁻¹ linear, so scales can be tried without another pass over the rows.
        linear = curvature.times(state.theta) + rows.gradient(p)
        # The last two sweeps only find the mode.
        precision, target = _update_scales(curvature, linear, members, state, prior, sweep < sweeps - 2)
        _line_search(rows, state, target, precision)
        before, evidence = evidence, state.value + 0.5 * float(np.log(precision).sum() - curvature.log_determinant())
        # Scales of what the data do not need may go on falling; that changes nothing.
        if state.gain < ENOUGH and abs(evidence - before) < SURE:
            break
    determined = len(precision) - float(precision @ curvature.variances())
    expected = rows.log_likelihood(state.log_p) - determined
    return Posterior(rows.layout, state.theta, state.scales, curvature, precision, evidence, expected)


def _update_scales(
    curvature: Curvature, linear: Floats, members: dict[str, Ints], state: _State, prior: ScalePrior, learning: bool
) -> tuple[Floats, Floats]:
    """MacKay's rule in the quadratic approximation, no pass over rows; the precision and the mode under it."""
    before = dict(state.scales)
    precision = precision_of(members, state.scales)
    target = curvature.with_prior(precision).solve(linear)
    for _ in range(SCALE_STEPS if learning and prior.learns else 0):
        variances, moved = curvature.variances(), 0.0
        for b, places in members.items():
            # γ of the module's text: a coefficient whose posterior is as wide as its prior is not determined at all.
            old = state.scales[b]
            determined = max(len(places) - float(variances[places].sum()) / old**2, 0.0)
            size = float((target[places] ** 2).sum()) + prior.strength * prior.centers[b] ** 2
            step = 0.5 * float(np.log(size / (determined + prior.strength) / old**2))
            pace = STRETCH if step * state.steps.get(b, 0.0) >= 0.0 else SHORTEN
            state.pace[b] = min(state.pace.get(b, 1.0) * pace, LONGEST)
            state.steps[b] = step
            # The quadratic approximation holds near θ only, so scales may not run away under one curvature.
            nearest = np.clip(
                old * np.exp(state.pace[b] * step), before[b] / LARGEST_CHANGE, before[b] * LARGEST_CHANGE
            )
            state.scales[b] = float(np.clip(nearest, *SCALE_LIMITS))
            moved = max(moved, abs(np.log(state.scales[b] / old)))
        precision = precision_of(members, state.scales)
        target = curvature.with_prior(precision).solve(linear)
        if moved < SETTLED:
            break
    return precision, target


def precision_of(members: dict[str, Ints], scales: dict[str, float]) -> Floats:
    """1 / σ² of each coefficient."""
    precision = np.empty(sum(len(places) for places in members.values()))
    for b, places in members.items():
        precision[places] = 1.0 / scales[b] ** 2
    return precision


def draw(posterior: Posterior, centre: Floats, prior: ScalePrior, count: int, rng: np.random.Generator) -> Floats:
    """Coefficients (count, D) whose scales are unknown, by Gibbs sampling in the quadratic approximation at `centre`.

    Coefficients are Gaussian given their scales. A set of scales costs O(D³) and serves several draws where D is large.
    """
    curvature, members = copy(posterior.curvature), posterior.layout.members
    linear = curvature.times(centre) + posterior.precision * centre
    sets = int(np.clip(SCALE_SETS_COST / len(centre) ** 3, LEAST_SCALE_SETS, max(count, 1))) if prior.learns else 1
    sizes = [1] * (BURN_IN if prior.learns else 0) + [len(part) for part in np.array_split(np.arange(count), sets)]
    scales, theta, mean, drawn = posterior.scales, centre, centre, []
    for size in sizes:
        if prior.learns:
            scales, variances = _draw_scales(theta, scales, members, prior, rng)
            mean = curvature.with_prior(1.0 / variances).solve(linear)
        shifts = curvature.draw(rng.standard_normal((len(centre), size + 1))).T
        theta = mean + shifts[0]
        drawn.append(mean + shifts[1:] * np.sqrt(FREEDOM / rng.chisquare(FREEDOM, (size, 1))))
    return np.concatenate(drawn[-sets:])


def _draw_scales(
    theta: Floats, scales: Mapping[str, float], members: dict[str, Ints], prior: ScalePrior, rng: np.random.Generator
) -> tuple[dict[str, float], Floats]:
    """Scales given the coefficients, and the prior variance of each coefficient under them.

    A squared scale is (‖θ_B‖² + ν c²) / χ² with |B| + ν degrees of freedom, c the prior's centre and ν its strength.
    """
    own, bias = theta.copy(), members.get("bias", np.empty(0, np.intp))
    if len(bias):
        # What a bias owes to the pivots of slopes says nothing about the scale of biases: it is drawn and taken away.
        share = scales["bias"] ** 2 / (scales["bias"] ** 2 + _pivot_variances(scales, prior.pivots))
        own[bias] = share * theta[bias] + scales["bias"] * np.sqrt(1.0 - share) * rng.standard_normal(len(bias))
    new = {}
    for b, places in members.items():
        size = float((own[places] ** 2).sum()) + prior.strength * prior.centers[b] ** 2
        new[b] = float(np.clip(np.sqrt(size / rng.chisquare(len(places) + prior.strength)), *SCALE_LIMITS))
    variances = 1.0 / precision_of(members, new)
    variances[bias] += _pivot_variances(new, prior.pivots)
    return new, variances


def _pivot_variances(scales: Mapping[str, float], pivots: Mapping[str, Floats]) -> Floats | float:
    return sum(scales[b] ** 2 * squares for b, squares in pivots.items() if b in scales)


def _line_search(rows: Rows, state: _State, target: Floats, precision: Floats) -> None:
    """Go from θ towards the target as far as the posterior rises."""
    here = rows.log_likelihood(state.log_p) - 0.5 * float(precision @ state.theta**2)
    for share in 0.5 ** np.arange(HALVINGS):
        theta = state.theta + share * (target - state.theta)
        log_p = rows.log_probabilities(theta)
        there = rows.log_likelihood(log_p) - 0.5 * float(precision @ theta**2)
        if there >= here - ROUNDING:
            state.theta, state.log_p, state.value, state.gain = theta, log_p, there, there - here
            return
    state.value, state.gain = here, 0.0


def spread_draws(posterior: Posterior, count: int, rng: np.random.Generator) -> Floats:
    """Deviations from the mean in pairs s and −s, (count, D), with the posterior's covariance in expectation."""
    half = posterior.curvature.draw(rng.standard_normal((len(posterior.mean), count // 2))).T
    return np.concatenate((half, -half))


def tighten(rows: Rows, posterior: Posterior, deviations: Floats) -> Posterior:
    """The posterior with the curvature at the probabilities that the deviations average to."""
    average = _expected(rows, posterior, posterior.mean, deviations)[1]
    return replace(posterior, curvature=rows.second_derivatives(average).with_prior(posterior.precision))


def centre(rows: Rows, posterior: Posterior, deviations: Floats) -> Floats:
    """The mean around which the deviations fit the rows best, from the mode by damped Newton steps. O(draws n K M)."""
    mean = posterior.mean
    value, average = _expected(rows, posterior, mean, deviations)
    for _ in range(CENTRE_STEPS):
        step = posterior.curvature.solve(rows.gradient(average) - posterior.precision * mean)
        for share in 0.5 ** np.arange(CENTRE_HALVINGS):
            new, new_average = _expected(rows, posterior, mean + share * step, deviations)
            if new >= value:
                break
        else:
            break
        gain, mean, value, average = new - value, mean + share * step, new, new_average
        if gain < CENTRE_GAIN:
            break
    return mean


def _expected(rows: Rows, posterior: Posterior, mean: Floats, deviations: Floats) -> tuple[float, Floats]:
    """The expected log-posterior around `mean`, and the averaged probabilities of the rows."""
    value, average = rows.average(mean + deviations)
    return value - 0.5 * float(posterior.precision @ mean**2), average
