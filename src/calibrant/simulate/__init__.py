"""Data with a known truth: every simulation returns scores, labels and the true probability of each score."""

from calibrant.simulate.draws import MulticlassSimulation, Simulation, bayes_iso, binomial_process, temperature_logits
from calibrant.simulate.plane import circular, separable, xor
from calibrant.simulate.truths import TRUTHS, Truth, from_truth

__all__ = [
    "TRUTHS",
    "MulticlassSimulation",
    "Simulation",
    "Truth",
    "bayes_iso",
    "binomial_process",
    "circular",
    "from_truth",
    "separable",
    "temperature_logits",
    "xor",
]
