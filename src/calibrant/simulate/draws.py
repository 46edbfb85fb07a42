"""Simulations: any true map, named truths with exact errors, and logits of several classes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import beta, softmax

from calibrant import _validation
from calibrant._numerics import links
from calibrant._numerics.beta import expectation, sign_changes
from calibrant._typing import Floats, Ints
from calibrant.errors import InvalidInputError
from calibrant.tally import Tally

Seed: TypeAlias = int | np.random.Generator | None


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Scores and labels of rows whose truth is known.

    Attributes
    ----------
    scores : ndarray of shape (n,) or (n, K)
        Scores in [0, 1], or logits of several classes.
    labels : ndarray of shape (n,)
        0 or 1; of several classes 0 … K − 1.
    probabilities : ndarray of shape (n,) or (n, K)
        The true P(y = 1 | score) of each row, or those of all classes: what a perfect calibrator returns.

    Examples
    --------
    >>> from calibrant import simulate
    >>> data = simulate.bayes_iso(1000, rng=0)
    >>> data
    Simulation(1000 rows, 500 positive, mean |score − truth| 0.0982)
    >>> data.tally.total
    1000.0
    """

    scores: Floats
    labels: Ints
    probabilities: Floats

    def __post_init__(self) -> None:
        for column in (self.scores, self.labels, self.probabilities):
            column.setflags(write=False)

    @property
    def tally(self) -> Tally:
        """The counts of the simulated rows."""
        return Tally.from_arrays(self.scores, self.labels)

    @property
    def error(self) -> float:
        """Mean ``|score − truth|`` over the simulated rows: the calibration error that this sample really has."""
        return float(np.abs(self.scores - self.probabilities).mean())

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        if self.scores.ndim == 2:
            return f"Simulation({len(self)} rows, {self.scores.shape[1]} classes)"
        return f"Simulation({len(self)} rows, {self.labels.sum()} positive, mean |score − truth| {self.error:.4f})"


Sampler = Callable[[np.random.Generator, int], Floats]


def binomial_process(
    n: int, probability: Callable[[Floats], Floats], scores: tuple[float, float] | Sampler, *, rng: Seed = 0
) -> Simulation:
    """Draw scores, then each label with the true probability of its score.

    Parameters
    ----------
    n : int
        Number of rows.
    probability : callable
        The true map: an array of scores to P(y = 1 | score).
    scores : (float, float) or callable
        The two parameters of a Beta distribution, as in the paper, or a function ``scores(rng, n)``.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same rows.

    Returns
    -------
    Simulation

    References
    ----------
    Dong, Jiang, Pan, Yu 2025, "Combining Priors with Experience: Confidence Calibration Based on Binomial Process
    Modeling", Algorithm 3.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.binomial_process(5, lambda s: s**2, (2.0, 1.0), rng=0).probabilities.round(3).tolist()
    [0.979, 0.276, 0.343, 0.995, 0.008]
    """
    rows, generator = _validation.check_count("n", n), np.random.default_rng(rng)
    if callable(scores):
        drawn = _validation.check_scores(scores(generator, rows))
    else:
        a, b = scores
        if not (a > 0 and b > 0):
            raise InvalidInputError(f"`scores` must be two positive parameters of a Beta distribution; got {scores!r}.")
        drawn = generator.beta(a, b, rows)
    truth = np.array(_validation.check_scores(probability(drawn), "probability(scores)"))
    _validation.check_same_length(len(drawn), len(truth), "probability(scores)")
    _validation.check_unit_interval(truth, "probability(scores)")
    return Simulation(drawn, (generator.random(rows) < truth).astype(np.intp), truth)


def bayes_iso(n: int, *, rng: Seed = 0) -> Simulation:
    """Negatives from Beta(1, 3), positives from ½ Beta(1.5, 3) + ½ Beta(30, 3), half of the rows positive.

    The true map rises, is nearly flat, and rises again. A perfect calibrator has a Brier score of about .162 and a
    log-loss of about .473.

    Parameters
    ----------
    n : int
        Number of rows; n // 2 are positive.
    rng : int, numpy.random.Generator or None
        The seed or generator; the same seed gives the same rows.

    Returns
    -------
    Simulation

    References
    ----------
    Allikivi and Kull 2019, "Non-parametric Bayesian Isotonic Calibration", section 4.1.

    Examples
    --------
    >>> from calibrant import simulate
    >>> data = simulate.bayes_iso(6, rng=0)
    >>> data.labels.tolist(), data.scores.round(3).tolist()
    ([1, 1, 0, 1, 0, 0], [0.953, 0.375, 0.129, 0.955, 0.001, 0.217])
    """
    rows, generator = _validation.check_count("n", n), np.random.default_rng(rng)
    n_positive = rows // 2
    negatives = generator.beta(1, 3, rows - n_positive)
    low = generator.random(n_positive) < 0.5
    positives = np.where(low, generator.beta(1.5, 3, n_positive), generator.beta(30, 3, n_positive))
    order = generator.permutation(rows)
    scores = np.concatenate((negatives, positives))[order]
    labels = np.repeat((0, 1), (rows - n_positive, n_positive))[order]
    # All three densities share the factor (1 − s)², which cancels.
    density = 0.5 * scores**0.5 / beta(1.5, 3) + 0.5 * scores**29 / beta(30, 3)
    return Simulation(scores, labels, density / (density + 1.0 / beta(1, 3)))


def temperature_logits(
    n: int, *, n_classes: int = 10, temperature: float = 2.0, sharpness: float = 2.0, rng: Seed = 0
) -> Simulation:
    """Logits that are `temperature` times too large (overconfident) or too small (below 1).

    The true logits are independent normal numbers with standard deviation `sharpness`; each label is drawn with the
    softmax of its row; the returned logits are the true ones times `temperature`.

    Parameters
    ----------
    n : int
        Number of rows.
    n_classes : int
        Number of classes, at least 2.
    temperature : float
        The temperature that a perfect temperature scaling finds.
    sharpness : float
        Standard deviation of the true logits: 0 is chance level, 2 makes about 53 % of ten-class rows right.
    rng : int, numpy.random.Generator or None
        The seed or generator.

    Returns
    -------
    Simulation
        Its scores are the logits, (n, n_classes), and its probabilities the true ones of all classes.

    Examples
    --------
    >>> from calibrant import simulate
    >>> data = simulate.temperature_logits(1000, n_classes=4, temperature=1.5)
    >>> data.scores.shape, bool((data.scores.argmax(axis=1) == data.probabilities.argmax(axis=1)).all())
    ((1000, 4), True)
    """
    rows, generator = _validation.check_count("n", n), np.random.default_rng(rng)
    _validation.check_count("n_classes", n_classes, 2)
    _validation.check_number("temperature", temperature, "positive")
    _validation.check_number("sharpness", sharpness, "not_negative")
    true_logits = sharpness * generator.standard_normal((rows, n_classes))
    probabilities = softmax(true_logits, axis=1)
    # The label is the first class whose cumulative probability exceeds a uniform number; the last ends at 1.
    reached = np.cumsum(probabilities, axis=1)[:, :-1] <= generator.random(rows)[:, None]
    return Simulation(temperature * true_logits, reached.sum(axis=1), probabilities)


@dataclass(frozen=True)
class Truth:
    """A known truth for Algorithm 3: scores ~ Beta(a, b), logit P(y = 1 | s) = curve(logit s).

    Attributes
    ----------
    curve : callable
        The true logit as a function of the logit of the score.
    a, b : float
        Parameters of the Beta distribution of the scores.
    monotone : bool
        Whether the true map never decreases.
    formula : str
        The curve in words, z = logit s.

    Examples
    --------
    >>> from calibrant import simulate
    >>> truth = simulate.TRUTHS["D1"]
    >>> round(truth.calibration_error(), 6), truth([0.5, 0.9]).round(4).tolist()
    (0.130714, [0.2932, 0.549])
    """

    curve: Callable[[Floats], Floats]
    a: float
    b: float
    monotone: bool
    formula: str

    def __call__(self, scores: Floats) -> Floats:
        """The true P(y = 1 | score)."""
        return links.expit(self.curve(links.logit(np.asarray(scores, dtype=np.float64))))

    def calibration_error(self, p: float = 1.0) -> float:
        """The true L^p calibration error, ``(E |S − P(y = 1 | S)|^p)^(1/p)``, by quadrature to about ten digits."""
        if not (np.isfinite(p) and p >= 1):
            raise InvalidInputError(f"`p` must be a finite number of at least 1; got {p!r}.")
        kinks = sign_changes(self._gap)
        mean = expectation(lambda z: np.abs(self._gap(z)) ** p, self.a, self.b, kinks)
        return float(mean ** (1.0 / p))

    def base_rate(self) -> float:
        """The true share of positives."""
        return expectation(lambda z: links.expit(self.curve(z)), self.a, self.b, np.empty(0))

    def sample(self, n: int, *, rng: Seed = 0) -> Simulation:
        """`n` rows by Algorithm 3."""
        return binomial_process(n, self, (self.a, self.b), rng=rng)

    def _gap(self, z: Floats) -> Floats:
        return links.expit(self.curve(z)) - links.expit(z)


def _line(slope: float, intercept: float) -> Callable[[Floats], Floats]:
    return lambda z: slope * z + intercept


def _beta(a: float, b: float, c: float) -> Callable[[Floats], Floats]:
    # a ln s − b ln(1 − s) + c, with ln s = −ln(1 + e^−z) and ln(1 − s) = −ln(1 + e^z).
    return lambda z: c - a * np.logaddexp(0.0, -z) + b * np.logaddexp(0.0, z)


#: D1 is the one truth of Dong et al. 2025 whose parameters are public; the other six differ from it and from each
#: other in shape and sharpness. True errors, L1 and L2:
#:
#: =================  ================================  ===================  ======  ======  ======
#: name               true logit, z = logit s           scores               rate    L1      L2
#: =================  ================================  ===================  ======  ======  ======
#: D1                 0.49 z − 0.88                     Beta(1.1233, .1147)  0.7773  0.1307  0.1852
#: underconfident     1.8 z + 0.3                       Beta(2, 2)           0.5458  0.0943  0.1052
#: asymmetric         0.5 ln s − 1.5 ln(1 − s) − 0.4    Beta(0.5, 0.5)       0.5643  0.0643  0.0703
#: rare               0.8 z + 0.3                       Beta(0.3, 30)        0.0266  0.0167  0.0260
#: nearly_calibrated  0.97 z + 0.02                     Beta(3, 1.5)         0.6673  0.0039  0.0046
#: hump               2 − 0.9 z²                        Beta(1, 1)           0.5518  0.3630  0.4477
#: wave               z + 1.2 sin 2z                    Beta(0.8, 0.8)       0.5000  0.1064  0.1264
#: =================  ================================  ===================  ======  ======  ======
TRUTHS: dict[str, Truth] = {
    "D1": Truth(_line(0.49, -0.88), 1.1233, 0.1147, True, "0.49 z − 0.88"),
    "underconfident": Truth(_line(1.8, 0.3), 2.0, 2.0, True, "1.8 z + 0.3"),
    "asymmetric": Truth(_beta(0.5, 1.5, -0.4), 0.5, 0.5, True, "0.5 ln s − 1.5 ln(1 − s) − 0.4"),
    "rare": Truth(_line(0.8, 0.3), 0.3, 30.0, True, "0.8 z + 0.3"),
    "nearly_calibrated": Truth(_line(0.97, 0.02), 3.0, 1.5, True, "0.97 z + 0.02"),
    "hump": Truth(lambda z: 2.0 - 0.9 * z**2, 1.0, 1.0, False, "2 − 0.9 z²"),
    "wave": Truth(lambda z: z + 1.2 * np.sin(2.0 * z), 0.8, 0.8, False, "z + 1.2 sin 2z"),
}


def from_truth(name: str, n: int, *, rng: Seed = 0) -> Simulation:
    """Rows of one of the named truths in `TRUTHS`.

    Parameters
    ----------
    name : str
        D1, underconfident, asymmetric, rare, nearly_calibrated, hump or wave.
    n : int
        Number of rows.
    rng : int, numpy.random.Generator or None
        The seed or generator.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.from_truth("hump", 10, rng=0).labels.tolist()
    [1, 0, 0, 0, 0, 1, 0, 1, 0, 0]
    """
    return TRUTHS[_validation.check_choice("name", name, tuple(TRUTHS))].sample(n, rng=rng)
