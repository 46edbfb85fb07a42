"""The prior of the additive model: which terms there are, how large each may be, and how likely that is beforehand."""

import math
from typing import Any

import numpy as np
from scipy import special

from calibrant._typing import Floats
from calibrant.maps.panel_features import CALIBRATED, RAW, Features

#: Centres of the prior: the mean of all logits; the same with a slope for what scores share; their sum. A number from 0
#: on is one score alone.
MEAN, TOGETHER, SUM = -1, -2, -3
# A score that holds all that the others share takes so much of the shares of MEAN and TOGETHER, if that is certain.
# Correlations say whether there is one, without labels; those of fewer scores are always those of a common factor.
TAKEN, FEWEST_SCORES = 0.95, 4
FACTOR_STEPS, LEAST_OWN, COPY = 100, 0.02, 0.65  # the last of a squared correlation
# Scales of the terms, each averaged over by evidence; 0 takes a term out.
TRUST = (0.1, 0.3, 1.0, 3.0)  # intercept, and slope of the centre around 1
SLOPES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)  # of single scores around the centre
SCALES = {
    "curve": (0.0, 0.15, 0.4, 1.0),
    "levels": (0.0, 0.15, 0.4, 1.0, 2.0),
    "missing": (0.0, 0.3, 1.0),
    "pair": (0.0, 0.1, 0.25, 0.6),
}
CANDIDATE_PAIR = SCALES["pair"][2]
#: The least scales for intervals.
OPEN = {"trust": 0.3, "slopes": 0.1, "curve": 0.2, "levels": 0.5, "missing": 0.3}
# Odds of a term against none. Of many curves or pairs, few are there; and few rows cannot show a pair.
ODDS_CURVE, EXPECTED_CURVES = 0.15, 0.6
ODDS_PAIR, EXPECTED_PAIRS, PAIR_ROWS = 0.2, 1.0, 500.0

# Logits of single fits have seen the labels, so the sum of them must not choose its scores by the same labels: it is
# told the shares of centres and slopes that the raw sum found, at least this much for each.
LEAST_TOLD = 1e-9

Setting = dict[Any, Any]
Told = dict[str, dict[Any, float]]


class Prior:
    """Settings of all scales, and what each says about the coefficients of the columns.

    `calibrated`: slopes on the logits of what scores say alone, categorical ones included; otherwise on readings that
    labels have not touched, with categorical scores as shrunk effects of their levels. `told` has the shares of centres
    and slopes that another sum found.
    """

    def __init__(
        self, features: Features, calibrated: bool, base: float, n_rows: float, told: Told | None = None
    ) -> None:
        self.told = told or {}
        self.features, self.calibrated, self.base = features, calibrated, base
        self.size = size = len(features.scores) if calibrated else features.n_numeric
        count, taken = len(features.scores), np.zeros(size)
        if not calibrated and size >= FEWEST_SCORES:
            taken = TAKEN * holders(features.correlations[RAW[-1], :size, :size], n_rows)
        shares = np.append(0.5 / max(size, 1) + 0.4 * taken, (0.2, *[0.2 * (1.0 - taken.sum())] * 2))
        self.centres = dict(zip((*range(size), SUM, TOGETHER, MEAN), np.log(shares).tolist(), strict=True))
        self.log_odds = {
            "curve": math.log(min(ODDS_CURVE, EXPECTED_CURVES / count)),
            "pair": math.log(min(ODDS_PAIR, 2.0 * EXPECTED_PAIRS / (count * max(count - 1, 1)))),
        }
        self.log_odds["pair"] += math.log(min(1.0, n_rows / PAIR_ROWS))
        # In the order in which the search tries them: a curve of the right score must not keep the wrong centre.
        self.options: dict[Any, tuple[Any, ...]] = {
            "centre": tuple(range(SUM, size)) if size > 1 else (MEAN,),
            "reading": (CALIBRATED,) if calibrated else RAW if features.n_numeric else RAW[:1],
            "slopes": (SLOPES[:-1] if calibrated else SLOPES) if size > 1 else (0.0,),
            "trust": TRUST[:-1] if calibrated else TRUST,
        }
        self.options |= {
            key: SCALES[_kind(key)]
            for key in sorted(features.places, key=lambda key: key[0] != "pair")
            if _kind(key) in SCALES
        }

    def first(self) -> Setting:
        """Where the search begins: the mean, with some freedom for single scores, levels and gaps."""
        levels = 0.0 if self.calibrated else 0.4
        wanted = {"centre": MEAN, "slopes": 0.2, "trust": 1.0, "missing": 0.3, "levels": levels}
        chosen = {key: wanted.get(_kind(key)) for key in self.options}
        return {key: chosen[key] if chosen[key] in options else options[0] for key, options in self.options.items()}

    def near(self, setting: Setting, key: Any, everything: bool) -> tuple[Any, ...]:
        """The values of a scale that are tried next; of many, only the neighbours."""
        options = self.options[key]
        if key in ("centre", "reading") or (everything and len(options) <= 4):
            return options
        place = options.index(setting[key])
        return options[max(0, place - 1) : place + 2]

    def log_share(self, setting: Setting) -> float:
        """How likely a setting is before any label is seen, up to a constant."""
        total = 0.0
        for key, value in setting.items():
            kind = _kind(key)
            if kind in self.told and value < self.features.n_numeric:
                total += math.log(max(self.told[kind].get(value, 0.0), LEAST_TOLD))
            elif kind == "centre":
                total += self.centres[value]
                total += math.log(self._together(setting["reading"]) / self.size) if value == SUM else 0.0
            elif kind in ("slopes", "levels"):
                total += math.log(0.5 if value == 0 else 0.1)
            elif kind in self.log_odds and value > 0:
                total += self.log_odds[kind]
        return total

    def _together(self, reading: int) -> float:
        """κ = J / (1 + (J − 1) mean correlation): 1 for copies of one score, J for scores with nothing in common."""
        k = self.size
        r = self.features.correlations[reading][:k, :k]
        return float(k / (1.0 + (k - 1) * max(0.0, (r.sum() - k) / (k * (k - 1)))))

    def columns(self, setting: Setting) -> tuple[Floats, Floats]:
        """The mean of all coefficients, and directions (size, d) whose multiples, N(0, 1) each, are added to it."""
        features, k, reading = self.features, self.size, setting["reading"]
        centre, parts, level = np.zeros(features.size), [], self.base
        if k:
            place, choice = features.places["reading", reading], setting["centre"]
            centre[place] = np.eye(k)[choice] if choice >= 0 else 1.0 / k
            if choice in (SUM, TOGETHER):
                centre[place] *= k if choice == SUM else self._together(reading)
            else:
                level = float(features.centre[reading, :k] @ centre[place])
            parts.append(setting["trust"] * centre[:, None])
            if setting["slopes"] > 0.0:
                unit = np.ones(k) if self.calibrated else features.spread[reading, :k]
                parts.append(self._block(place, setting["slopes"] / unit))
        parts.append(self._block(features.places["one"], setting["trust"]))
        parts += [self._block(place, setting[key]) for key, place in features.places.items() if setting.get(key)]
        centre[0] = level
        return centre, np.concatenate(parts, axis=1)

    def _block(self, place: slice, scale: Any) -> Floats:
        out = np.zeros((self.features.size, place.stop - place.start))
        out[place] = np.eye(place.stop - place.start) * scale
        return out

    def opened(self, setting: Setting) -> Setting:
        """The setting with every scale raised to a modest one, for intervals: what is not shown may yet be there."""
        return {key: max(value, OPEN.get(_kind(key), value)) for key, value in setting.items()}


def holders(r: Floats, n_rows: float) -> Floats:
    """The probability of each score that it holds all that the others share, from their correlations alone.

    If it does, the others have nothing in common given it: Σ ln(1 − r²) over them is the logarithm of the determinant.
    The alternatives are a common factor that every score has with noise, fitted by expectation and maximisation, and
    nothing in common. The Bayesian information criterion compares them, all likely alike; a holder has one number less
    than a factor. The likeness of copies would pass for what all share, so a score with a copy is no holder.
    """
    count = len(r)
    loadings, own = 0.7 * np.sign(r[(r**2).sum(axis=1).argmax()]), np.full(count, 0.5)
    for _ in range(FACTOR_STEPS):
        weights = loadings / own / (1.0 + loadings @ (loadings / own))
        pull = r @ weights
        loadings = pull / (1.0 - weights @ loadings + weights @ pull)
        own = np.maximum(1.0 - loadings * pull, LEAST_OWN)
    factor = np.log(own).sum() + np.log1p(loadings @ (loadings / own))  # of the determinant
    shared = (r - np.eye(count)) ** 2
    held = np.where(shared.max(axis=1) < COPY, np.log1p(-shared).sum(axis=1), np.inf)
    price = math.log(n_rows) * np.append(np.full(count, count - 1.0), (count, 0.0))
    return np.asarray(special.softmax(-0.5 * (n_rows * np.append(held, (factor, 0.0)) + price))[:count])


def _kind(key: Any) -> str:
    return str(key if isinstance(key, str) else key[0])
