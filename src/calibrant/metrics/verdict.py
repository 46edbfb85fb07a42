"""What an evaluation says in words: whether the calibration error is more than chance, and measures agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibrant.metrics.base import Seed
from calibrant.metrics.binned import expected_calibration_error
from calibrant.metrics.bootstrap import Interval
from calibrant.metrics.corp import corp_decomposition
from calibrant.tally import Tally, row_count

__all__ = ["compare", "judge"]

N_CALIBRATED = 200
CHANCE = 0.95

Column = Mapping[str, Interval | float]


def judge(tally: Tally, cells: Tally, column: Column, rng: Seed) -> str:
    """One sentence on one model: ECE and CORP's miscalibration, each against what chance alone gives.

    Labels are drawn with the scores as their true probabilities (consistency resampling), which shows both measures
    as a perfectly calibrated model with these scores would have them.
    """
    error, cost, brier = (_value(column[key]) for key in ("ece", "miscalibration", "brier_score"))
    chance_error, chance_cost = _by_chance(cells, rng)
    share = 100.0 * cost / brier if brier > 0.0 else 0.0
    gain = f"{cost:.4f} ({share:{'.0f' if share >= 10.0 else '.2g'}} %)" if share else f"{cost:.4f}"
    if error > chance_error and cost > chance_cost:
        return f"Miscalibrated beyond chance: a monotone recalibration would lower the Brier score by up to {gain}."
    if error > chance_error:
        return (
            f"ECE and the Brier score disagree: ECE {error:.4f} is more than chance gives (up to {chance_error:.4f}), "
            "but no monotone recalibration would lower the Brier score by more than chance. Trust the proper score, "
            "or look for a true map that is not monotone."
        )
    if cost > chance_cost:
        return (
            f"ECE and the Brier score disagree: ECE {error:.4f} is within chance (up to {chance_error:.4f}), but a "
            f"monotone recalibration would lower the Brier score by up to {gain}, more than chance gives. Trust the "
            "proper score: the bins hide the error."
        )
    return (
        f"No sign of miscalibration in {row_count(tally.total)} rows: a perfectly calibrated model with these scores "
        f"would show an ECE up to {chance_error:.4f} by chance."
    )


def _value(estimate: Interval | float) -> float:
    return estimate.value if isinstance(estimate, Interval) else estimate


def _by_chance(cells: Tally, rng: Seed) -> tuple[float, float]:
    generator = np.random.default_rng(rng)
    # Weights that are not whole numbers become shares of the next whole number of rows.
    rows = np.ceil(cells.totals)
    errors, costs = [], []
    for _ in range(N_CALIBRATED):
        positives = generator.binomial(rows.astype(np.int64), cells.scores) * (cells.totals / rows)
        sample = Tally(cells.scores, positives, cells.totals)
        errors.append(expected_calibration_error(sample, strategy="quantile"))
        costs.append(corp_decomposition(sample).miscalibration)
    return float(np.quantile(errors, CHANCE)), float(np.quantile(costs, CHANCE))


def compare(names: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """A warning where calibration error and proper scores prefer different models."""
    if len(names) < 2:
        return []
    best = {
        key: names[int(np.argmin([_value(column[key]) for column in columns]))]
        for key in ("log_loss", "brier_score", "ece")
    }
    proper = {best["log_loss"], best["brier_score"]}
    if best["ece"] in proper:
        return []
    winners = " and ".join(sorted(proper))
    text = (
        f"ECE prefers {best['ece']}, but the proper scores (log-loss, Brier) prefer {winners}. Trust the proper "
        "scores: a low ECE can come from scores that say little."
    )
    return [text]
