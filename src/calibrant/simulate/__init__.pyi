from calibrant.simulate.draws import TRUTHS as TRUTHS
from calibrant.simulate.draws import Simulation as Simulation
from calibrant.simulate.draws import Truth as Truth
from calibrant.simulate.draws import bayes_iso as bayes_iso
from calibrant.simulate.draws import binomial_process as binomial_process
from calibrant.simulate.draws import from_truth as from_truth
from calibrant.simulate.draws import temperature_logits as temperature_logits
