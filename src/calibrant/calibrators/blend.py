"""Blend: the score itself and four posteriors, weighted by how well each predicts rows that it has not seen."""

from dataclasses import replace
from typing import Any

import numpy as np

from calibrant import _limits, _validation
from calibrant._numerics import linear_pool, links, logistic
from calibrant._numerics.logistic import adjust_curves
from calibrant._numerics.piecewise import interpolate, nearest_monotone
from calibrant._typing import Floats, Ints
from calibrant.calibrators.abb import ABB
from calibrant.calibrators.base import BayesianCalibrator, quantile_ends
from calibrant.calibrators.bayes_iso import BayesIso
from calibrant.calibrators.bayes_temperature import BayesianTemperature
from calibrant.calibrators.decreases import Fall, pool_outside, pool_unsupported_decreases
from calibrant.calibrators.identity import HeldIdentity
from calibrant.calibrators.platt import PlattScaling
from calibrant.calibrators.spline import SplineCalibration
from calibrant.calibrators.ties import deviations, has_few_scores
from calibrant.intervals import Interval
from calibrant.maps.functions import Chain, Sigmoid
from calibrant.maps.score import CalibrationMap
from calibrant.maps.tabulate import tabulate_mixture
from calibrant.metrics.verdict import Verdict, judge_calibration
from calibrant.tally import Tally

# The Dirichlet prior of the weights, in rows of imagined evidence. With more rows than TURN the part of the simple maps
# fades, as there are rows that can speak for them; that of the spline and of ABB grows: curves and bins need rows.
IDENTITY_ROWS, BAYES_ISO_ROWS, ABB_ROWS, TURN = 0.3, 0.5, 0.05, 200.0
TEMPERATURE_AND_SPLINE = 1.5, 1.0
# Where curves are drawn: that a stiff map predicts well, as it has little noise, does not say that it is right.
DRAWN_TEMPERATURE_AND_SPLINE = 0.3, 6.0
# The score itself is one curve, sure of every digit: half of its share are curves of the spline, which lie around it.
IDENTITY, SPLINE, BAYES_ISO = 0, 2, 3
WEAK = 2.5  # deviation of the prior of level and slope, in logits, where the rows themselves have set both
INTERVAL_DRAWS = 2000
LIGHT = 0.1  # a weight below which a member does not decide whether the blend falls
LEVEL = 0.9  # of the gain on which the verdict rests
# The error of a member enters the blend times its weight, so Bayes-Iso has all of its cells only if it has weight.
FEW_CELLS, FEW_UP_TO = 21, 0.15
DESCRIPTIONS = {
    "identity": "the raw score",
    "temperature": "a temperature",
    "spline": "a smooth curve (spline)",
    "bayes_iso": "a rising curve (Bayes-Iso)",
    "abb": "steps (ABB)",
}


class Blend(BayesianCalibrator):
    """The default method: no family of maps is best at every sample size, so this one mixes five.

    Its members are the score itself, Bayesian temperature scaling with lapses, the Bayesian spline, Bayes-Iso and
    the average over all binnings. Each member is fitted once; what its posterior says about every
    row when that row is left out follows without a refit, and the weights maximise the likelihood of the mixture on
    these predictions. Few rows keep the blend at the score or a gentle correction of it, many let it follow any shape.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are. Decision scores, such as margins, first become probabilities by Platt scaling; then the
        member "identity" is that logistic curve, since the score itself is not a probability.
    monotone : bool
        Whether the map, and every curve of its posterior, may never fall. Otherwise it falls where the posterior is
        sure of it: where the 90 % interval of the difference between the ends of a falling stretch lies below zero.

    Attributes
    ----------
    weights_ : dict of str to float
        The weight of each member; they sum to one.
    members_ : dict of str to Calibrator
        The fitted members.
    falls_ : tuple of Fall
        Where the map falls: `low` and `high` scores and the posterior `probability` of the fall. Falls that are not
        certain were pooled.

    Examples
    --------
    >>> from calibrant import Blend, simulate
    >>> data = simulate.bayes_iso(2000, rng=0)
    >>> blend = Blend().fit(data.scores, data.labels)
    >>> print(blend.summary().splitlines()[0])  # doctest: +ELLIPSIS
    Calibration was needed: on rows left out, the log-loss is ... lower ... than with the raw score.
    >>> low, high = blend.predict_interval([0.5], level=0.9)
    >>> bool(low[0] < blend.predict([0.5])[0] < high[0])
    True
    """

    name = "blend"
    title = "Blend (average of methods)"
    description = "the default: five other methods, weighted by their leave-one-out predictions; intervals"
    reference = "this library"
    space: str = "probability"

    def __init__(self, *, space: str = "probability", monotone: bool = False) -> None:
        self.space = space
        self.monotone = monotone

    def fit_map(self, tally: Tally) -> CalibrationMap:
        self._to_probability: CalibrationMap | None = None
        self._draws: tuple[Floats, Floats] | None = None
        self._ends: dict[float, tuple[Floats, Floats]] = {}
        self._cells = tally.coarsen(_limits.BLEND_CELLS)
        self.interval_cells = self._cells  # of scores as they came
        # Of the rows themselves: merged cells of a scale have many rows each, and are no answers.
        self._few_scores = len(tally) == len(self._cells) and has_few_scores(tally)
        if self.space == "decision":
            self._to_probability = self._fit_logistic(tally)
            tally = tally.rescored(self._to_probability(tally.scores))
            self._cells = tally.coarsen(_limits.BLEND_CELLS)
        self.members_ = {name: member.fit_tally(tally) for name, member in self._unfitted().items()}
        weights = self._weigh(tally)
        table = tabulate_mixture(weights, [member.map_.function for member in self.members_.values()])
        self.falls_: tuple[Fall, ...] = ()
        if self.monotone:
            table = pool_outside(table, tally, ())
        else:
            table, self.falls_ = pool_unsupported_decreases(table, tally, self._draw_pool)
        first, rising = self._to_probability, not self.falls_
        if first is None:
            return self._as_map(table, rising)
        # Falls were found on the scale of the logistic curve; users know the scores that went into it.
        ends = [(*first.inverse(fall[:2]).tolist(), fall.probability) for fall in self.falls_]
        self.falls_ = tuple(Fall(*end) for end in ends) if first.monotone else ()
        return self._as_map(Chain((first.function, table)), rising and first.monotone)

    def _fit_logistic(self, tally: Tally) -> CalibrationMap:
        """The logistic curve of decision scores; the base rate where it would fall and must not."""
        fitted: CalibrationMap = PlattScaling(space="decision").fit_tally(tally).map_
        if fitted.monotone or not self.monotone:
            return fitted
        return self._as_map(Sigmoid(0.0, float(links.logit(np.array(tally.base_rate))), "identity"), monotone=True)

    def _weigh(self, tally: Tally) -> Floats:
        cells, n_rows = self._cells, tally.total  # a cell stands for its positives, then for its negatives
        likelihoods = np.column_stack([np.concatenate(each.leave_one_out(cells)) for each in self.members_.values()])
        counts = np.concatenate((cells.positives, cells.negatives))
        prior_rows = _prior_rows(n_rows, *TEMPERATURE_AND_SPLINE)
        weights = linear_pool.pool_weights(likelihoods, counts, prior_rows)
        # Bayes-Iso costs the cube of its cells, and with little weight nobody sees the difference.
        if weights[BAYES_ISO] > FEW_UP_TO:
            self.members_["bayes_iso"] = BayesIso().fit_tally(tally)
            likelihoods[:, BAYES_ISO] = np.concatenate(self.members_["bayes_iso"].leave_one_out(cells))
            weights = linear_pool.pool_weights(likelihoods, counts, prior_rows)
        drawn_rows = _prior_rows(n_rows, *DRAWN_TEMPERATURE_AND_SPLINE)
        self._shares = linear_pool.pool_weights(likelihoods, counts, drawn_rows)
        if self.space == "probability":  # behind Platt's curve each draw has a line of its own
            moved = 0.5 * self._shares[IDENTITY]
            self._shares[[IDENTITY, SPLINE]] += -moved, moved
        self.weights_ = dict(zip(self.members_, weights.tolist(), strict=True))
        raw = links.clip(cells.scores)
        self._gain = _gain(likelihoods @ weights, np.concatenate((raw, 1.0 - raw)), counts)
        self._left_out_loss = float(-np.average(np.log(likelihoods @ weights), weights=counts))
        return weights

    def _unfitted(self) -> dict[str, Any]:
        return {
            "identity": HeldIdentity(),
            "temperature": BayesianTemperature(),
            "spline": SplineCalibration(),
            "bayes_iso": BayesIso(max_cells=FEW_CELLS),
            "abb": ABB(max_cells=_limits.BLEND_BINNING_CELLS),
        }

    def draw_maps(self, scores: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of whole maps from the mixture of the members' posteriors, by their weights, (n_draws, n)."""
        return self._draw(self._probabilities(scores), n_draws, rng)[0]

    def _draw(self, scores: Floats, count: int, rng: np.random.Generator) -> Floats:
        """Curves, and those whose lower and whose upper quantiles are ends of intervals; mostly the same, (3, d, n)."""
        # Whether a curve falls, and what the labels say about its level, shows where rows were.
        at, own = np.unique(np.concatenate((self._cells.scores, scores)), return_inverse=True)
        shares = rng.multinomial(count, self._shares).tolist()
        pairs = zip(self.members_.values(), shares, strict=True)
        drawn = np.concatenate([_curves(member, at, n, rng) for member, n in pairs if n], axis=1)
        if self._to_probability is not None:
            drawn = self._with_drawn_line(drawn, at, own[: len(self._cells)], rng)
        if self._few_scores:
            drawn = self._with_deviations(drawn, at, own[: len(self._cells)], rng)
        if self.monotone:
            drawn = nearest_monotone(drawn)
        return drawn[:, rng.permutation(count)][:, :, own[len(self._cells) :]]

    def _with_drawn_line(self, drawn: Floats, at: Floats, rows: Ints, rng: np.random.Generator) -> Floats:
        """Draw level and slope anew, given each curve: those of Platt's curve were learned from the rows, too."""
        z, logits, cells = links.logit(at), links.logit(drawn), self._cells
        centre, spread = logistic.standardise(z[rows], cells.totals)
        line = np.stack(((z - centre) / spread, np.ones(len(z)))).T
        noise = rng.standard_normal((len(logits[0]), line.shape[1]))
        given = (logits[0][:, rows], line[rows], cells.positives, cells.totals)
        drawn_lines = adjust_curves(*given, scale=WEAK, noise=noise)
        return links.expit(logits + drawn_lines @ line.T)

    def _with_deviations(self, drawn: Floats, at: Floats, rows: Ints, rng: np.random.Generator) -> Floats:
        """Let each of few scores be off the curve by what its own rows say; between scores by what lies between."""
        logits = links.logit(drawn)
        off = deviations(logits[0][:, rows], self._cells, rng)
        return links.expit(logits + interpolate(at, at[rows], off))

    def _draw_pool(self, scores: Floats, count: int) -> Floats:
        """Weighted means of one curve of each member: what the members' own doubts make of their average.

        Weights are not the probabilities of members to be right, so a light member, which is a curve in few draws of
        the mixture, must not have a veto there. It has no say at all: where the others are nearly flat, a step of it
        would pass for a fall that is certain.
        """
        rng, pooled = _validation.generator(0), np.zeros((count, len(scores)))
        for name, member in self.members_.items():
            if self.weights_[name] > LIGHT:
                pooled += self.weights_[name] * _curves(member, scores, count, rng)[0]
        return pooled

    def left_out_log_loss(self) -> float:
        """Mean log-loss of the rows of the fit, each predicted by the weighted members without it.

        The logistic curve of decision scores has seen these rows; as Akaike has it, that costs one nat a parameter.
        """
        self._fitted_map()
        return self._left_out_loss + (0.0 if self._to_probability is None else 2.0 / self._cells.total)

    def interval_ends(self, scores: Floats, level: float) -> tuple[Floats, Floats]:
        """Quantiles of the mixture of the members' posteriors at up to 200 scores of the fit, joined by lines."""
        if level not in self._ends:
            self._ends[level] = quantile_ends(level, *self._interval_draws())
        array = self._probabilities(scores)
        low, high = (interpolate(array, self._cells.scores, ends) for ends in self._ends[level])
        return low, high

    def _interval_draws(self) -> tuple[Floats, Floats]:
        """Draws for lower and for upper ends at the cells of the fit, made when they are first wanted."""
        if self._draws is None:
            _, lower, upper = self._draw(self._cells.scores, INTERVAL_DRAWS, _validation.generator(0))
            self._draws = lower, upper
        return self._draws

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the draws of intervals, megabytes that are drawn again where they are wanted."""
        state: dict[str, Any] = super().__getstate__()
        return state | {"_draws": None} if "_draws" in state else state

    def summary(self) -> str:
        """Say in a few lines whether calibration was needed, which shape it took, and how sure it is."""
        self._fitted_map()
        if self.matrix_ is not None:
            return str(self.matrix_.summary())
        low, high = self.predict_interval(self.interval_cells.scores, level=0.9)
        width = float(np.average(high - low, weights=self.interval_cells.totals))
        ranked = sorted(self.weights_.items(), key=lambda item: -item[1])
        words = DESCRIPTIONS if self._to_probability is None else DESCRIPTIONS | {"identity": "Platt scaling as it is"}
        shape = ", ".join(f"{words[name]} {100 * weight:.0f} %" for name, weight in ranked if weight >= 0.005)
        lines = [
            _sentence(self._verdict(), *self._gain),
            f"Its shape: {shape}.",
            f"Its 90 % intervals are {width:.3f} wide on average.",
            self._describe_falls(),
        ]
        return "\n".join(lines)

    def _describe_falls(self) -> str:
        if self.map_.monotone:
            return "It never falls."
        if not self.falls_:
            return "It falls, because Platt scaling found that high scores go with the negative class."
        falls = "; ".join(f"{low:.3g} to {high:.3g} ({sure:.3g})" for low, high, sure in self.falls_)
        return f"It falls at scores of {falls}; posterior probability of each fall in brackets."

    def _verdict(self) -> Verdict:
        verdict = judge_calibration(self._cells, Interval.normal(*self._gain, LEVEL))
        return verdict if self._to_probability is None else replace(verdict, probabilities=False)

    def _probabilities(self, scores: Floats) -> Floats:
        return scores if self._to_probability is None else self._to_probability(scores)


def _prior_rows(n_rows: float, temperature: float, spline: float) -> Floats:
    """Rows of imagined evidence for each member."""
    simple, few = min(1.0, TURN / n_rows), n_rows / TURN
    rows = [IDENTITY_ROWS * simple, temperature * simple, min(few, spline), BAYES_ISO_ROWS, ABB_ROWS * min(few, 1.0)]
    return np.array(rows)


def _curves(member: Any, scores: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Curves of the posterior, and those for lower and for upper ends; of a member without one, its map, (3, d, n)."""
    lower, upper = member.interval_draws(scores, count, rng)
    # Where a bin has rows of one class only, an end of 0 or 1 is no draw.
    return np.stack((np.where(lower > 0.0, lower, upper), lower, upper))


def _gain(blended: Floats, raw: Floats, counts: Floats) -> tuple[float, float]:
    """By how much the log-loss of left-out rows is lower than with the raw score, and the standard error of that."""
    gains = np.log(blended / raw)
    mean = float(np.average(gains, weights=counts))
    return mean, float(np.sqrt(np.average((gains - mean) ** 2, weights=counts) / counts.sum()))


def _sentence(verdict: Verdict, gain: float, error: float) -> str:
    lower = f"{abs(gain):.4f} {'lower' if gain > 0 else 'higher'} (standard error {error:.4f})"
    if verdict.state == "not_probabilities":
        begin = "The scores are not probabilities, so a map is needed"
        if verdict.improves:
            return f"{begin}: on rows left out, the log-loss is {lower} than with Platt scaling alone."
        assert verdict.gain is not None
        done = "better" if verdict.gain.high < 0.0 else "as well"
        return f"{begin}; Platt scaling alone would have done {done} (on rows left out, the log-loss is {lower})."
    begins = {
        "needed": "Calibration was needed",
        "not_repaired": f"The raw scores are off {verdict.test}, but calibrating does not help beyond chance",
    }
    begin = begins.get(verdict.state, "The data do not show that calibration was needed")
    return f"{begin}: on rows left out, the log-loss is {lower} than with the raw score."
