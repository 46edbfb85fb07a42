"""Named truths: a true map, a Beta distribution of scores, and so an exact calibration error."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._numerics import beta_integral, links
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError
from calibrant.simulate.draws import Seed, Simulation, binomial_process


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
        kinks = beta_integral.sign_changes(self._gap)
        mean = beta_integral.expectation(lambda z: np.abs(self._gap(z)) ** p, self.a, self.b, kinks)
        return float(mean ** (1.0 / p))

    def base_rate(self) -> float:
        """The true share of positives."""
        return beta_integral.expectation(lambda z: links.expit(self.curve(z)), self.a, self.b, np.empty(0))

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
    if name not in TRUTHS:
        raise InvalidInputError(f"`name` must be one of {', '.join(TRUTHS)}; got {name!r}.")
    return TRUTHS[name].sample(n, rng=rng)
