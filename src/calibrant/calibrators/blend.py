"""Blend: the score itself and four posteriors, mixed by how well each foresees rows that it has not seen."""

from dataclasses import replace

import numpy as np

from calibrant import _limits, _validation
from calibrant._kernels import linear_pool, links
from calibrant._typing import ArrayLike, Floats, RandomState
from calibrant.calibrators.abb import ABB
from calibrant.calibrators.base import BayesianCalibrator, Calibrator, central_interval
from calibrant.calibrators.bayes_iso import BayesIso
from calibrant.calibrators.bayes_temperature import BayesianTemperature
from calibrant.calibrators.identity import Identity
from calibrant.calibrators.platt import PlattScaling
from calibrant.calibrators.spline import SplineCalibration
from calibrant.map_functions import Chain
from calibrant.maps import CalibrationMap
from calibrant.metrics.bootstrap import Interval
from calibrant.metrics.verdict import Verdict, judge_calibration
from calibrant.tabulate import tabulate_mixture
from calibrant.tally import Tally

SPACES = ("probability", "decision")
# The Dirichlet prior of the weights, in rows of imagined evidence. The part of the simple maps fades as rows come in
# that can speak for them; that of the spline grows: what a few hundred rows seem to prove against it is mostly chance.
SIMPLE_ROWS, SIMPLE_FADES_FROM = 0.3, 200.0
SPLINE_ROWS, ROWS_PER_SPLINE_ROW = 6.0, 200.0
BAYES_ISO_ROWS, ABB_ROWS = 0.3, 0.05
ABB_FROM_ROWS = 300  # fewer rows are too few for several bins
INTERVAL_DRAWS = 2000
LEVEL = 0.9  # of the gain on which the verdict rests
# A member's Monte-Carlo error enters the blend times its weight, so Bayes-Iso, which takes more than half of the time
# of a small fit, runs its chains in full only if it has weight.
FEW_CELLS, FEW_DRAWS, FEW_LIMITS, FEW_UP_TO = 64, 200, (1.3, 10.0), 0.15
DESCRIPTIONS = {
    "identity": "the raw score",
    "temperature": "a temperature",
    "spline": "a smooth curve (spline)",
    "bayes_iso": "a rising curve (Bayes-Iso)",
    "abb": "steps (ABB)",
}


class Blend(BayesianCalibrator):
    """The default method: no family of maps is best at every sample size, so this one mixes five.

    Its members are the score itself, Bayesian temperature scaling with lapses, the Bayesian spline, Bayes-Iso and,
    from 300 rows on, the average over all binnings. Each member is fitted once; what its posterior says about every
    row when that row is left out follows without a refit, and the weights maximise the likelihood of the mixture on
    these predictions. Few rows keep the blend at the score or a gentle correction of it, many let it follow any shape.

    Parameters
    ----------
    space : {"probability", "decision"}
        What the scores are. Decision scores, such as margins, first become probabilities by Platt scaling; then the
        member "identity" is that logistic curve, since the score itself is not a probability.
    random_state : int, Generator, RandomState or None
        The seed of the draws of Bayes-Iso.

    Attributes
    ----------
    weights_ : dict of str to float
        The weight of each member; they sum to one.
    members_ : dict of str to Calibrator
        The fitted members.

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
    description = "the default: five of the others, mixed by how well each foresees rows left out; intervals"
    reference = "this library"
    space: str = "probability"

    def __init__(self, *, space: str = "probability", random_state: RandomState = 0) -> None:
        self.space = space
        self.random_state = random_state

    def fit_map(self, tally: Tally) -> CalibrationMap:
        _validation.check_choice("space", self.space, SPACES)
        self._to_probability: CalibrationMap | None = None
        self._draws: tuple[Floats, Floats] | None = None
        self._cells = tally.coarsen(_limits.BLEND_CELLS)
        self._at = self._cells.scores
        if self.space == "decision":
            self._to_probability = PlattScaling(space="decision").fit_tally(tally).map_
            tally = tally.rescored(self._to_probability(tally.scores))
            self._cells = tally.coarsen(_limits.BLEND_CELLS)
        self.members_ = {name: member.fit_tally(tally) for name, member in self._unfitted(tally.total).items()}
        weights = self._weigh(tally.total)
        if self.weights_["bayes_iso"] > FEW_UP_TO:
            self.members_["bayes_iso"] = BayesIso(random_state=self.random_state).fit_tally(tally)
            weights = self._weigh(tally.total)
        table = tabulate_mixture(weights, [member.map_.function for member in self.members_.values()])
        rising = bool((np.diff(table.y) >= 0.0).all())
        first = self._to_probability
        if first is None:
            return self._as_map(table, rising)
        return self._as_map(Chain((first.function, table)), rising and first.monotone)

    def _weigh(self, n_rows: float) -> Floats:
        likelihoods, counts = _left_out(self.members_, self._cells)
        prior = _prior_rows(n_rows)
        weights = linear_pool.pool_weights(likelihoods, counts, np.array([prior[name] for name in self.members_]))
        self.weights_ = dict(zip(self.members_, weights.tolist(), strict=True))
        self._gain = _gain(likelihoods @ weights, likelihoods[:, 0], counts)
        return weights

    def _unfitted(self, n_rows: float) -> dict[str, Calibrator]:
        few = BayesIso(random_state=self.random_state, max_cells=FEW_CELLS, n_draws=FEW_DRAWS)
        few._convergence = FEW_LIMITS
        members: dict[str, Calibrator] = {
            "identity": Identity(),
            "temperature": BayesianTemperature(),
            "spline": SplineCalibration(),
            "bayes_iso": few,
        }
        return members | {"abb": ABB(max_cells=_limits.BLEND_BINNING_CELLS)} if n_rows >= ABB_FROM_ROWS else members

    def sample_maps(self, scores: ArrayLike, n_draws: int = 100, random_state: RandomState = 0) -> Floats:
        """Draws of whole maps from the mixture of the members' posteriors, evaluated at `scores`, (n_draws, n).

        A member gives its share of the draws; the identity has one map, the score itself.
        """
        count, rng = _validation.check_count("n_draws", n_draws), _validation.generator(random_state)
        array = self._probabilities(scores)
        shares = rng.multinomial(count, list(self.weights_.values()))
        draws = [
            member.sample_maps(array, int(share), rng)
            if isinstance(member, BayesianCalibrator)
            else np.tile(array, (share, 1))
            for member, share in zip(self.members_.values(), shares, strict=True)
            if share
        ]
        return rng.permutation(np.concatenate(draws))

    def predict_interval(self, scores: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the central credible interval of each calibrated probability.

        They are quantiles of the mixture of the members' posteriors at up to 200 scores of the fit, joined by
        straight lines, and widened where needed to contain the prediction.
        """
        array, predicted = self._probabilities(scores), self.predict(scores)
        low, high = central_interval(array, level, self._cells.scores, *self._interval_draws())
        return np.minimum(low, predicted), np.maximum(high, predicted)

    def _interval_draws(self) -> tuple[Floats, Floats]:
        """Draws for lower and for upper ends at the cells of the fit, made when they are first wanted."""
        if self._draws is None:
            rng, at = _validation.generator(0), self._cells.scores
            found = []
            for name, member in self.members_.items():
                count = round(INTERVAL_DRAWS * self.weights_[name])
                if count and isinstance(member, BayesianCalibrator):
                    found.append(member.interval_draws(at, count, rng))
                elif count:
                    found.append((np.tile(at, (count, 1)),) * 2)
            lower, upper = (np.concatenate(draws) for draws in zip(*found, strict=True))
            self._draws = lower, upper
        return self._draws

    def summary(self) -> str:
        """Say in a few lines whether calibration was needed, which shape it took, and how sure it is."""
        self._fitted_map()
        low, high = self.predict_interval(self._at, level=0.9)
        width = float(np.average(high - low, weights=self._cells.totals))
        ranked = sorted(self.weights_.items(), key=lambda item: -item[1])
        shape = ", ".join(f"{DESCRIPTIONS[name]} {100 * weight:.0f} %" for name, weight in ranked if weight >= 0.005)
        lines = [
            _sentence(self._verdict(), *self._gain),
            f"Its shape: {shape}.",
            f"Its 90 % intervals are {width:.3f} wide on average.",
        ]
        if self._to_probability is not None:
            lines.append("The raw score is here what Platt scaling makes of it.")
        return "\n".join(lines)

    def _verdict(self) -> Verdict:
        verdict = judge_calibration(self._cells, Interval.normal(*self._gain, LEVEL))
        return verdict if self._to_probability is None else replace(verdict, probabilities=False)

    def _probabilities(self, scores: ArrayLike) -> Floats:
        array = self._fitted_map().check_scores(scores)
        return array if self._to_probability is None else self._to_probability(array)


def _prior_rows(n_rows: float) -> dict[str, float]:
    simple = SIMPLE_ROWS * min(1.0, SIMPLE_FADES_FROM / n_rows)
    spline = min(n_rows / ROWS_PER_SPLINE_ROW, SPLINE_ROWS)
    return {
        "identity": simple,
        "temperature": simple,
        "spline": spline,
        "bayes_iso": BAYES_ISO_ROWS,
        "abb": ABB_ROWS,
    }


def _left_out(members: dict[str, Calibrator], cells: Tally) -> tuple[Floats, Floats]:
    """Predictions of each member for the positive and negative rows of each cell, (2m, members), and their numbers."""
    columns = []
    for member in members.values():
        if isinstance(member, BayesianCalibrator):
            columns.append(np.concatenate(member.leave_one_out(cells)))
        else:
            p = links.clip(member.predict(cells.scores))
            columns.append(np.concatenate((p, 1.0 - p)))
    return np.column_stack(columns), np.concatenate((cells.positives, cells.negatives))


def _gain(blended: Floats, raw: Floats, counts: Floats) -> tuple[float, float]:
    """By how much the log-loss of left-out rows is lower than with the raw score, and the standard error of that."""
    gains = np.log(blended / raw)
    mean = float(np.average(gains, weights=counts))
    return mean, float(np.sqrt(np.average((gains - mean) ** 2, weights=counts) / counts.sum()))


def _sentence(verdict: Verdict, gain: float, error: float) -> str:
    changed = f"{abs(gain):.4f} {'lower' if gain > 0 else 'higher'} (± {error:.4f})"
    figures = f"on rows left out, the log-loss is {changed} than with the raw score."
    begins = {
        "needed": "Calibration was needed",
        "not_repaired": f"The raw scores are off {verdict.test}, but calibrating does not help beyond chance",
        "not_probabilities": "Calibration was needed, since the scores are not probabilities",
    }
    return f"{begins.get(verdict.state, 'The data do not show that calibration was needed')}: {figures}"
